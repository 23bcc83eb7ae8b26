//! Follows a run: shows its log as it grows, until the run has ended.

use std::fs::File;
use std::io::BufRead as _;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_core::App;
use consort_core::dispatch::RunRecord;
use consort_core::host::NewsTopic;
use consort_core::host::Processes as _;
use consort_core::project::ProjectId;
use consort_host::Machine;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;

use super::RunDir;
use super::directory::RunLine;
use super::orphans;
use crate::error::CommandError;
use crate::output;
use crate::world::World;

/// Interval between two looks at the log.
const TICK: Duration = Duration::from_millis(100);

/// Interval between two questions to the store without a notification: the supervisor that ends a run wakes
/// us.
const STORE: Duration = Duration::from_secs(1);

/// Time within which a second Ctrl-C forces the end.
const SECOND: Duration = Duration::from_secs(3);

/// A flag that Ctrl-C sets, instead of ending the process.
pub(crate) struct Interrupts(Arc<AtomicBool>);

impl Interrupts {
    pub(crate) fn listen() -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
        }
        Self(flag)
    }

    /// Tells whether there was a Ctrl-C since the last call.
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// A timer that says when to ask the store about runs: on a notification about their project, and now and
/// then without one.
pub(crate) struct PollTimer {
    news: Option<Listener>,
    asked: Option<Instant>,
}

impl PollTimer {
    pub(crate) fn begin(world: &World, project: Option<&ProjectId>) -> Self {
        let topic = project.cloned().map(NewsTopic::Project);
        Self { news: Listener::open(&world.paths.listeners(), topic.as_ref()).ok(), asked: None }
    }

    /// Tells whether the store is to be asked now; if so, it counts as asked.
    pub(crate) fn take(&mut self) -> bool {
        let is_due = self.asked.is_none_or(|asked| asked.elapsed() >= STORE);
        if is_due {
            self.asked = Some(Instant::now());
        }
        is_due
    }

    /// Sleeps until there is a notification, or for a tick.
    pub(crate) fn pause(&mut self, tick: Duration) {
        match self.news.as_mut().map(|news| news.wait(None, tick)) {
            Some(Ok(WakeReason::Notified)) => self.asked = None,
            Some(Ok(_)) => {}
            Some(Err(_)) | None => std::thread::sleep(tick),
        }
    }
}

/// A reader of a run's log, from its beginning.
pub(crate) struct EventReader {
    dir: RunDir,
    file: Option<BufReader<File>>,
    /// A line that is not whole yet.
    part: String,
}

impl EventReader {
    pub(crate) fn new(dir: RunDir) -> Self {
        Self { dir, file: None, part: String::new() }
    }

    /// Returns the lines that were added since the last call.
    pub(crate) fn more(&mut self) -> Vec<RunLine> {
        if self.file.is_none() {
            self.file = File::open(self.dir.events()).ok().map(BufReader::new);
        }
        let Some(file) = &mut self.file else { return Vec::new() };
        let mut lines = Vec::new();
        while let Ok(1..) = file.read_line(&mut self.part) {
            if !self.part.ends_with('\n') {
                break;
            }
            lines.extend(serde_json::from_str::<RunLine>(&self.part).ok());
            self.part.clear();
        }
        lines
    }
}

/// Shows the log until the run has ended, and returns the run. With `interrupts`, Ctrl-C stops the run, and a
/// second one within three seconds ends it at once.
pub(crate) fn to_the_end(
    world: &World,
    app: &mut App,
    run: &RunRecord,
    interrupts: Option<&Interrupts>,
    show: &mut dyn FnMut(&RunLine),
) -> Result<RunRecord, CommandError> {
    let dir = RunDir::of(&world.paths, run.id);
    let machine = Machine::new(&world.paths.data);
    let mut due = PollTimer::begin(world, run.project.as_ref());
    let (mut reader, mut stopped) = (EventReader::new(dir.clone()), None::<Instant>);
    loop {
        reader.more().iter().for_each(&mut *show);
        if interrupts.is_some_and(Interrupts::take) {
            let again = stopped.is_some_and(|first| first.elapsed() < SECOND);
            let told = if again { "Ending it at once." } else { "Stopping. Ctrl-C again ends it at once." };
            output::note(told);
            stopped = Some(Instant::now());
            dir.ask_to_stop(again).map_err(|error| CommandError::file("cannot write", &dir.path, error))?;
        }
        if due.take() {
            app.close_if_replaced();
            let now = app.run_by_id(run.id)?;
            if now.state.has_ended() {
                reader.more().iter().for_each(&mut *show);
                return Ok(now);
            }
            let is_here = machine.is_here(&now.owner.machine);
            if is_here && !machine.is_alive(&now.owner.process) {
                orphans::reap(&world.paths, app)?;
            }
        }
        due.pause(TICK);
    }
}
