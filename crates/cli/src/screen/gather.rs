//! Gathers everything that the screen shows, in a thread of its own: woken by the journal, and once a second
//! for changes that are not recorded there. Only changes are sent.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::io;
use std::io::PipeReader;
use std::io::PipeWriter;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::time::Instant;

use consort_core::Timestamp;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::Entry;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;
use consort_core::presence::SessionId;
use consort_host::env;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;
use consort_tui::DetailTab;
use consort_tui::Event;
use consort_tui::FeedLine;
use consort_tui::Interest;
use consort_tui::News;
use consort_tui::Panel;

use super::agents;
use super::board;
use super::detail;
use super::event_sender::Wakes;
use super::lines::ChangedLines;
use super::messages;
use super::queue;
use super::runs::RunList;
use crate::commands::journal::sentence::sentence;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::OpenWorld;
use crate::world::World;
use crate::world::caller_facts;

/// Interval between two looks: ages and activity change without a notification.
const TICK: Duration = Duration::from_secs(1);

/// Interval between two looks after several looks without a change, and how many of these it takes.
const SLOW_TICK: Duration = Duration::from_secs(3);
const QUIET: u32 = 5;

/// Interval between two looks at the radar.
const COMPARE: i64 = Timestamp::MINUTE;

/// Interval at which rarely changing data is read again while it is shown.
const SOMETIMES: i64 = 3 * Timestamp::SECOND;

/// Most entries of the journal that are shown at first, and that are read at once later.
const FIRST: usize = 300;
const MOST: usize = 2_000;

/// After a look that changes caused, the thread rests for several times as long as it took, but never for
/// long: new entries are to be seen at once.
const DUTY: u32 = 10;
const LONGEST_REST: Duration = Duration::from_millis(20);

/// An action of an agent, by the journal.
pub(super) struct AgentAction {
    pub(super) who: SessionId,
    pub(super) at: Timestamp,
    pub(super) what: String,
}

/// A request of the screen to the thread.
pub(super) enum ScreenRequest {
    Look(Interest),
    MarkRead(String),
    /// Look now: an action was carried out.
    Now,
    /// A key was pressed.
    Touched,
}

/// A handle of the gathering thread, for the screen.
pub(super) struct Gathering {
    requests: Sender<ScreenRequest>,
    pipe: PipeWriter,
}

impl Gathering {
    pub(super) fn begin(world: &World, wakes: Wakes) -> io::Result<Self> {
        let (requests, asked) = mpsc::channel();
        let (reader, pipe) = io::pipe()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let (overrides, cwd) = (world.overrides.clone(), world.cwd.clone());
        let gather = move || {
            let opened = World::new(overrides).map(|world| World { cwd, ..world });
            let result = opened.and_then(|world| {
                let opened = world.open()?;
                Gatherer::new(&world, opened, wakes.clone()).run(&asked, reader)
            });
            if let Err(error) = result {
                wakes.send(Event::News(vec![News::Trouble(Some(error.in_a_line()))]));
            }
        };
        std::thread::Builder::new().name("gather".into()).spawn(gather)?;
        Ok(Self { requests, pipe })
    }

    pub(super) fn ask(&mut self, request: ScreenRequest) {
        if self.requests.send(request).is_ok() {
            let _ = self.pipe.write(&[1]);
        }
    }
}

/// The rooms that have changed, by the journal.
#[derive(Clone, Copy, Default)]
struct Changed {
    messages: bool,
    claims: bool,
    tasks: bool,
    presence: bool,
    radar: bool,
    runs: bool,
    config: bool,
}

impl Changed {
    const ALL: Self = Self {
        messages: true,
        claims: true,
        tasks: true,
        presence: true,
        radar: true,
        runs: true,
        config: true,
    };

    fn note(&mut self, entry: &Entry) {
        for kept in &entry.changes {
            match &kept.change {
                Change::Messages(_) => self.messages = true,
                Change::Claims(_) => self.claims = true,
                Change::Tasks(_) => self.tasks = true,
                Change::Presence(_) => self.presence = true,
                Change::Convergence(_) => self.radar = true,
                Change::Dispatch(_) => self.runs = true,
                _ => {}
            }
        }
    }
}

struct Gatherer<'w> {
    world: &'w World,
    opened: OpenWorld,
    wakes: Wakes,
    caller: CallerFacts,
    interest: Interest,
    seq: Seq,
    names: HashMap<SessionId, String>,
    /// The latest actions of agents, oldest first.
    done: VecDeque<AgentAction>,
    lines: ChangedLines,
    runs: RunList,
    agents: agents::Agents,
    /// The last news sent of each variant of [`News`].
    sent: HashMap<std::mem::Discriminant<News>, News>,
    last_key: Timestamp,
    compared: Timestamp,
    sometimes: Timestamp,
    is_first: bool,
    /// Number of looks in a row that have found nothing new.
    quiet: u32,
}

impl<'w> Gatherer<'w> {
    fn new(world: &'w World, opened: OpenWorld, wakes: Wakes) -> Self {
        let caller = caller_facts(&opened.app);
        let last_key = opened.app.host().now();
        Self {
            world,
            caller,
            wakes,
            interest: Interest::default(),
            seq: 0,
            names: HashMap::new(),
            done: VecDeque::new(),
            lines: ChangedLines::begin(),
            runs: RunList::default(),
            agents: agents::Agents::default(),
            sent: HashMap::new(),
            last_key,
            compared: Timestamp(0),
            sometimes: Timestamp(0),
            is_first: true,
            quiet: 0,
            opened,
        }
    }

    fn run(mut self, asked: &Receiver<ScreenRequest>, mut pipe: PipeReader) -> CommandResult {
        let dir = self.world.paths.listeners();
        let cannot_wait = |error| CommandError::file("cannot wait in", &dir, error);
        // Opened before the first look, so that no change falls between the two.
        let mut listener = Listener::open(&dir, None).map_err(cannot_wait)?;
        let mut changed = Changed::ALL;
        loop {
            let began = Instant::now();
            let looked = self.look(changed);
            let took = began.elapsed();
            let trouble = looked.as_ref().err().map(CommandError::in_a_line);
            self.send(vec![News::Trouble(trouble)]);
            changed = if looked.is_ok() { Changed::default() } else { Changed::ALL };
            self.quiet += 1;
            let is_slow = self.quiet > QUIET && !self.is_live();
            let tick = if is_slow { SLOW_TICK } else { TICK };
            match listener.wait(Some(pipe.as_fd()), tick).map_err(cannot_wait)? {
                WakeReason::Other => {
                    let _ = pipe.read(&mut [0; 256]);
                }
                // A rest lets many changes be looked at together.
                WakeReason::Notified => {
                    let rest = (took * DUTY).min(took + LONGEST_REST);
                    std::thread::sleep(rest.saturating_sub(began.elapsed()));
                }
                WakeReason::TimedOut => {}
            }
            loop {
                match asked.try_recv() {
                    Ok(request) => self.take(request),
                    Err(mpsc::TryRecvError::Empty) => break,
                    Err(mpsc::TryRecvError::Disconnected) => return Ok(()),
                }
            }
        }
    }

    /// Tells whether the screen shows something that changes without the journal: a pane or an open run.
    fn is_live(&self) -> bool {
        let shows_pane = self.interest.agent.is_some() && self.interest.tab == DetailTab::Pane;
        shows_pane || self.runs.is_any_open()
    }

    fn take(&mut self, request: ScreenRequest) {
        match request {
            ScreenRequest::Look(interest) => {
                self.interest = interest;
                self.sometimes = Timestamp(0);
            }
            // A message that cannot be marked now stays unread, and is marked when it is looked at again.
            ScreenRequest::MarkRead(from) => drop(messages::mark_read(&mut self.opened.app, &from)),
            ScreenRequest::Now => self.sometimes = Timestamp(0),
            ScreenRequest::Touched => self.last_key = self.opened.app.host().now(),
        }
    }

    /// Looks once. The parts that a person sees first are sent first: agents, and the queue.
    fn look(&mut self, mut changed: Changed) -> CommandResult {
        if self.opened.app.close_if_replaced() {
            self.seq = 0;
            self.names.clear();
            self.done.clear();
            self.send(vec![News::FeedBegins]);
            changed = Changed::ALL;
        }
        let now = self.opened.app.host().now();
        // Agents whose own dialog would be hidden may ask here while somebody looks.
        self.opened.app.note_question_list_drawn(self.last_key);
        // The journal is read before anything else: entries recorded meanwhile are seen with the next look.
        let feed = match self.is_first {
            true => {
                self.seq = self.opened.app.journal_last_seq()?;
                Vec::new()
            }
            false => self.read_journal(&mut changed)?,
        };
        let mut first = vec![News::Now(now)];
        if changed.runs || self.runs.is_any_open() {
            first.push(News::Runs(self.runs.read(self.world, &mut self.opened)?));
        }
        let agents = self.agents.read(
            self.world,
            &mut self.opened,
            &self.lines,
            &self.runs,
            changed.tasks || changed.presence,
        )?;
        let is_due = now.since(self.sometimes) >= SOMETIMES;
        // In tmux the person may attach only after the start, so the caller has to be proven again.
        if is_due && matches!(self.caller.proof, Proof::None(_)) {
            self.caller = caller_facts(&self.opened.app);
        }
        // The radar is slow, so the first look leaves it out.
        if !self.is_first && (changed.radar || self.is_radar_due(now)) {
            self.compare(now);
        }
        let pairs = self.pairs();
        let queue = {
            let OpenWorld { app, project, .. } = &mut self.opened;
            queue::read(self.world, app, (&self.caller, &project.id), (&self.runs, &pairs))?
        };
        // The queue and the agents go out together with the runs.
        first.extend([News::Queue(queue), News::Agents(agents)]);
        self.send(first);
        if changed.messages {
            let messages = messages::read(&mut self.opened)?;
            self.send(vec![News::Messages(messages)]);
        }
        if changed.claims || is_due {
            let reservations = board::reservations(&mut self.opened, &self.caller)?;
            self.send(vec![News::Reservations(reservations)]);
        }
        if changed.tasks || changed.presence || (is_due && self.interest.panel == Panel::Tasks) {
            let tasks = board::tasks(&mut self.opened)?;
            self.send(vec![News::Tasks(tasks)]);
        }
        if changed.config || (is_due && self.interest.panel == Panel::Settings) {
            let settings = board::settings(self.world, &mut self.opened)?;
            self.send(vec![News::Settings(settings)]);
        }
        let known = (&self.runs, &self.done);
        if let Some(detail) = detail::read(self.world, &mut self.opened, &self.interest, known, is_due)? {
            self.send(vec![News::Detail(detail)]);
        }
        if is_due {
            self.sometimes = now;
        }
        if self.is_first {
            self.is_first = false;
            let feed = self.first_entries()?;
            self.wakes.send(Event::News(vec![News::Feed(feed)]));
        } else if !feed.is_empty() {
            self.wakes.send(Event::News(vec![News::Feed(feed)]));
        }
        Ok(())
    }

    /// Sends the news that differs from what was last sent.
    fn send(&mut self, news: Vec<News>) {
        let mut differing = Vec::new();
        for one in news {
            let kind = std::mem::discriminant(&one);
            if self.sent.get(&kind) != Some(&one) {
                if !matches!(one, News::Now(_)) {
                    self.quiet = 0;
                }
                self.sent.insert(kind, one.clone());
                differing.push(one);
            }
        }
        if !differing.is_empty() {
            self.wakes.send(Event::News(differing));
        }
    }

    /// Reads the entries that were added to the journal, and notes which rooms they change.
    fn read_journal(&mut self, changed: &mut Changed) -> Result<Vec<FeedLine>, CommandError> {
        let last = self.opened.app.journal_last_seq()?;
        if last == self.seq {
            return Ok(Vec::new());
        }
        let request = TailRequest { after: Some(self.seq), limit: MOST, ..TailRequest::default() };
        let entries = self.opened.app.journal_tail(&request)?;
        entries.iter().for_each(|entry| changed.note(entry));
        self.seq = entries.last().map_or(last, |entry| entry.seq);
        self.told(&entries)
    }

    fn first_entries(&mut self) -> Result<Vec<FeedLine>, CommandError> {
        let mut entries =
            self.opened.app.journal_tail(&TailRequest { limit: FIRST, ..TailRequest::default() })?;
        entries.retain(|entry| entry.seq <= self.seq);
        self.told(&entries)
    }

    fn told(&mut self, entries: &[Entry]) -> Result<Vec<FeedLine>, CommandError> {
        let mut lines = Vec::new();
        for entry in entries {
            if entry.changes.iter().any(|kept| matches!(kept.change, Change::Presence(_))) {
                // A name may have changed.
                self.names.clear();
            }
            let text = sentence(&mut self.opened.app, entry, &mut self.names)?;
            if let Actor::Agent(who) = &entry.actor {
                self.done.push_back(AgentAction { who: who.clone(), at: entry.at, what: text.clone() });
            }
            lines.push(FeedLine { seq: entry.seq, at: entry.at, text });
        }
        self.done.drain(..self.done.len().saturating_sub(MOST));
        Ok(lines)
    }

    fn is_radar_due(&self, now: Timestamp) -> bool {
        let every = if self.interest.panel == Panel::Radar { SOMETIMES } else { COMPARE };
        now.since(self.compared) >= every
    }

    /// Reads the radar and sends it. A failure here does not stop the screen.
    fn compare(&mut self, now: Timestamp) {
        self.compared = now;
        if let Ok(radar) = self.opened.app.radar(&self.opened.project.id, &env::get) {
            let (pairs, headings) = board::radar(&radar);
            self.send(vec![News::Radar(pairs, headings)]);
        }
    }

    /// Returns the pairs of the radar that were sent last.
    fn pairs(&self) -> Vec<consort_tui::Pair> {
        let radar = std::mem::discriminant(&News::Radar(Vec::new(), Vec::new()));
        match self.sent.get(&radar) {
            Some(News::Radar(pairs, _)) => pairs.clone(),
            _ => Vec::new(),
        }
    }
}
