//! Carries out one attempt of a run: starts the CLI, reads its output until it ends or is ended, and returns
//! the outcome.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use consort_agents::AgentCli;
use consort_agents::Headless;
use consort_agents::flags::unknown_option;
use consort_agents::prices;
use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::DispatchError;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::Progress;
use consort_core::dispatch::Retrying;
use consort_core::dispatch::RunBounds;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::should_park;
use consort_core::host::Clock as _;
use consort_host::Machine;
use consort_host::Worker;
use consort_host::WorkerCommand;
use consort_host::WorkerProcessEvent;
use consort_host::env;

use super::RunDir;
use super::Work;
use super::directory::EventLog;
use super::directory::RunNote;
use super::directory::private;
use super::environment;
use super::flags;
use super::stillness::Stillness;
use super::worker_output;
use super::worker_output::Complaints;
use super::worker_output::FinalOutput;
use crate::commands::with;
use crate::connect;
use crate::error::CommandError;
use crate::world::World;

/// Interval at which a worker is checked: whether it has ended, or has to be ended.
const TICK: Duration = Duration::from_millis(200);

/// Interval between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Time that a worker has to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(3);

/// Longest time the rest of a worker's output is read after its end, if something cannot be ended that may
/// still write more.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A run in progress, as its supervisor knows it.
pub(super) struct Job<'a> {
    pub(super) world: &'a World,
    pub(super) run: RunRecord,
    pub(super) dir: RunDir,
    pub(super) work: Work,
    pub(super) cli: &'static dyn AgentCli,
    pub(super) machine: Machine,
    pub(super) log: EventLog,
    pub(super) deadline: Option<Instant>,
    /// The money that it may spend before it asks for more.
    pub(super) reserved: Cost,
    /// The usage of earlier attempts.
    pub(super) used: Usage,
    /// The directory that it works in.
    pub(super) cwd: std::path::PathBuf,
}

/// The outcome of an attempt.
pub(super) struct Attempt {
    pub(super) end: RunEnd,
    pub(super) result: String,
}

impl Job<'_> {
    pub(super) fn now(&self) -> Timestamp {
        self.machine.now()
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let now = self.now();
        self.log.tell(now, RunNote::Note(note.into()));
    }

    /// Starts the work with `prompt`, or goes on with it in the session `resume`; tries once more without an
    /// option that the CLI refuses.
    pub(super) fn attempt(&mut self, prompt: &str, resume: Option<&str>) -> Result<Attempt, CommandError> {
        let attempt = self.try_once(prompt, resume)?;
        let unknown = attempt.end.failure.as_ref().filter(|failure| failure.kind == FailureKind::Argument);
        let Some(flag) = unknown.and_then(|failure| unknown_option(&failure.message)) else {
            return Ok(attempt);
        };
        // The option is left out now and from now on.
        if let Some(program) = connect::find_program(self.cli.program()) {
            flags::forget(&self.world.paths, self.cli, &program, &flag);
        }
        self.note(format!("{} does not know {flag}: once more without it", self.cli.title()));
        self.try_once(prompt, resume)
    }

    fn try_once(&mut self, prompt: &str, resume: Option<&str>) -> Result<Attempt, CommandError> {
        let (command, session) = self.command(prompt, resume)?;
        let (sender, heard) = mpsc::sync_channel(worker_output::MOST_WAITING_PARTS);
        let mut worker = Worker::start(&command, sender)
            .map_err(|error| CommandError::file("cannot start", &command.program, error))?;
        let mut hearing = Hearing {
            reader: self.cli.reader(),
            progress: Progress::default(),
            complaints: Complaints::default(),
            is_silent: false,
            is_answered: false,
            retrying: None,
            stillness: Stillness::default(),
        };
        // A CLI may print its session only at its end, which it may not live to see.
        if let Some(session) = session {
            self.take(&mut hearing, WorkerEvent::Session(session));
        }
        let cut = self.hear_until_the_end(&mut worker, &heard, &mut hearing);
        let (dir, late) = (self.dir.clone(), FinalOutput::default());
        let left = worker.end(&self.machine, PATIENCE, &|| {
            late.take(&heard);
            dir.asked_to_stop() == Some(true)
        });
        late.into_heard().into_iter().for_each(|heard| self.hear(&mut hearing, heard));
        for process in left {
            self.note(format!("process {} ({}) cannot be ended", process.pid, process.program));
        }
        let end = Instant::now() + LAST_WORDS;
        while !hearing.is_silent
            && let Ok(heard) = heard.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.hear(&mut hearing, heard);
        }
        hearing.complaints.write(&self.dir.complaints());
        let mut exit = worker.exit_if_ended().cloned().unwrap_or_default();
        exit.stderr = hearing.complaints.text().to_owned();
        let config_dir = self.world.config_dir(self.cli);
        let read = |path: &Path| fs::read_to_string(path).ok();
        let last = hearing.reader.end(&exit, self.now(), &config_dir, &read);
        // A worker's report of its own failure is of no interest if we ended it.
        let is_meant = |event: &WorkerEvent| cut.is_none() || !matches!(event, WorkerEvent::Failed(_));
        for event in last.into_iter().filter(is_meant) {
            self.take(&mut hearing, event);
        }
        let state = match cut {
            Some(Cut::Failed(failure)) => {
                self.take(&mut hearing, WorkerEvent::Failed(failure));
                None
            }
            Some(Cut::As(state)) => Some(state),
            None => None,
        };
        let mut end = hearing.progress.end(&exit, state);
        end.usage = self.usage(&hearing.progress);
        Ok(Attempt { end, result: hearing.progress.result().unwrap_or_default().to_owned() })
    }

    /// Builds the worker's command, and returns the session that it will have, if that was chosen.
    fn command(
        &mut self,
        prompt: &str,
        resume: Option<&str>,
    ) -> Result<(WorkerCommand, Option<String>), CommandError> {
        let program = connect::find_program(self.cli.program()).ok_or_else(|| {
            CommandError::user(
                format!("{} is not on PATH", self.cli.title()),
                format!("install it, so that `{}` can be called", self.cli.program()),
            )
        })?;
        let flags = flags::of(&self.world.paths, self.cli, &program);
        let spec = &self.run.spec;
        let config_dir = self.world.config_dir(self.cli);
        let mut named = self.cli.named_variables(&config_dir, &|path| fs::read_to_string(path).ok());
        named.extend(self.work.variables.iter().cloned());
        let mut variables = environment::of_worker(self.cli, &named);
        let headless = self.cli.headless(&Headless {
            prompt,
            system: self.work.system.as_deref(),
            model: spec.model.as_deref(),
            reasoning: self.work.reasoning.as_deref(),
            safety: spec.safety,
            is_root: rustix::process::geteuid().is_root(),
            max_turns: self.work.max_turns,
            budget: spec.cap,
            resume,
            dir: &self.dir.path,
            knows: &|flag| flags.knows(flag),
            environment: &|name| variables.get(name).cloned(),
        });
        let cannot = |path: &Path| {
            let path = path.to_owned();
            move |error| CommandError::file("cannot write", &path, error)
        };
        for (path, text) in &headless.files {
            path.parent().map_or(Ok(()), connect::private_dir)?;
            private(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(cannot(path))?;
        }
        let stdin = headless.stdin.map(|text| (self.dir.stdin(), text));
        if let Some((path, text)) = &stdin {
            private(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(cannot(path))?;
        }
        variables.extend(headless.variables);
        let get = |name: &str| variables.get(name).cloned();
        let connected = with::connected_run(self.world, self.cli, &self.cwd, &headless.arguments, &get)?;
        let mut environment: BTreeMap<String, String> = variables;
        environment.extend(connected.variables);
        environment.insert(env::NAME.into(), spec.name.to_string());
        environment.insert(env::RUN.into(), self.run.id.to_string());
        let bounds = RunBounds { safety: spec.safety, tools: self.work.tools.clone() };
        environment.insert(env::SAFETY.into(), bounds.to_string());
        environment.insert("TERM".into(), "dumb".into());
        if !headless.ignored.is_empty() {
            self.note(format!("{} cannot be told: {}", self.cli.title(), headless.ignored.join(", ")));
        }
        let command = WorkerCommand {
            program: connected.program,
            arguments: connected.arguments,
            environment,
            cwd: self.cwd.clone(),
            stdin: stdin.map(|(path, _)| path),
        };
        Ok((command, headless.session))
    }

    /// Reads the worker's output until it has ended, or has to be ended: then returns the reason.
    fn hear_until_the_end(
        &mut self,
        worker: &mut Worker,
        heard: &mpsc::Receiver<WorkerProcessEvent>,
        hearing: &mut Hearing,
    ) -> Option<Cut> {
        let (mut looked, mut beat) = (Instant::now(), Instant::now());
        loop {
            match heard.recv_timeout(TICK) {
                Ok(heard) => self.hear(hearing, heard),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                // There is no more output, but the worker may go on in silence.
                Err(mpsc::RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            }
            if hearing.is_silent && worker.exit_if_ended().is_some() {
                return None;
            }
            let is_over = hearing.retrying.as_ref().is_some_and(|retrying| should_park(retrying, self.now()))
                || self.turns_left(hearing) == Some(0);
            if looked.elapsed() < TICK && !is_over {
                continue;
            }
            looked = Instant::now();
            hearing.complaints.write(&self.dir.complaints());
            // A process that the worker has left running may hold its output open.
            if worker.exit_if_ended().is_some() {
                return None;
            }
            if let Some(cut) = self.cut(hearing) {
                return Some(cut);
            }
            if beat.elapsed() >= HEARTBEAT {
                beat = Instant::now();
                self.beat(worker, hearing);
            }
        }
    }

    /// Records a heartbeat, and notifies once if the worker seems to stand still.
    fn beat(&mut self, worker: &Worker, hearing: &mut Hearing) {
        let (quiet, found) = hearing.stillness.look(|| self.machine.tree(worker.pid()));
        let progress = &hearing.progress;
        let tool = progress.running.last().map(|(_, about)| about.clone());
        let (turns, tokens) = (progress.turns, progress.usage().tokens());
        let now = self.now();
        self.log.tell(now, RunNote::Heartbeat { turns, tool, tokens, quiet });
        if let Some(found) = found {
            // A note would be the last line, and a note is no sign of life.
            let _ = self.world.app().tell_stalled_run(self.run.id, &found);
        }
    }

    /// Returns the reason for which the worker has to be ended, if there is one.
    fn cut(&mut self, hearing: &mut Hearing) -> Option<Cut> {
        if self.dir.asked_to_stop().is_some() {
            return Some(Cut::As(RunState::Cancelled));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(Cut::As(RunState::Timeout));
        }
        let now = self.now();
        if let Some(Retrying { failure, until, .. }) =
            hearing.retrying.take_if(|retrying| should_park(retrying, now))
        {
            return Some(Cut::Failed(Failure { until: failure.until.or(until), ..failure }));
        }
        // The answer is there already, so ending the worker would save nothing.
        if hearing.is_answered {
            return None;
        }
        let over = Some(Cut::As(RunState::BudgetExceeded));
        if self.turns_left(hearing) == Some(0) {
            self.note("it has used all of its turns");
            return over;
        }
        let used = self.usage(&hearing.progress);
        if self.work.token_budget.zip(used.tokens()).is_some_and(|(most, used)| used >= most) {
            self.note("it has used all of its tokens");
            return over;
        }
        let tools = hearing.progress.tools;
        if self.work.max_tools.is_some_and(|most| tools > most.saturating_mul(2)) {
            self.note(format!("it has called {tools} tools"));
            return over;
        }
        let spent = used.cost.filter(|spent| *spent >= self.reserved)?;
        match self.world.app().reserve_more_money(self.run.id, &self.work.caps, spent) {
            Ok(reserved) => {
                self.reserved = reserved;
                None
            }
            Err(DispatchError::Refused(refusal)) => {
                self.note(refusal.why);
                over
            }
            // A store that is busy for a moment is no reason to end the worker.
            Err(_) => None,
        }
    }

    /// Returns how many more turns the worker may begin, if that is bounded: 0 means that it has begun one
    /// too many.
    fn turns_left(&self, hearing: &Hearing) -> Option<u32> {
        let before = self.used.turns.unwrap_or(0);
        let begun = before.saturating_add(hearing.progress.turns);
        self.work.max_turns.filter(|_| !hearing.is_answered).map(|most| (most + 1).saturating_sub(begun))
    }

    /// Returns the usage of the run, earlier attempts included, with its cost if the CLI or the list of
    /// prices tells it.
    fn usage(&self, progress: &Progress) -> Usage {
        let (now, named) = (progress.usage(), self.run.spec.model.as_deref());
        let priced = || prices::usage_cost(progress.model.as_deref().or(named)?, &now);
        self.used.with(&Usage { cost: now.cost.or_else(priced), ..now })
    }

    fn hear(&mut self, hearing: &mut Hearing, heard: WorkerProcessEvent) {
        match heard {
            WorkerProcessEvent::Line(line) => {
                let now = self.now();
                for event in hearing.reader.line(&line, now) {
                    self.take(hearing, event);
                }
            }
            WorkerProcessEvent::Complaint(part) => {
                let now = self.now();
                for line in hearing.complaints.hear(&part) {
                    for event in hearing.reader.error_line(&line, now) {
                        self.take(hearing, event);
                    }
                }
            }
            WorkerProcessEvent::Silence => hearing.is_silent = true,
            WorkerProcessEvent::Ended => {}
        }
    }
}

impl Job<'_> {
    /// Takes in an event of the worker.
    fn take(&mut self, hearing: &mut Hearing, event: WorkerEvent) {
        hearing.is_answered = match event {
            WorkerEvent::Result(_) => true,
            WorkerEvent::Turn | WorkerEvent::ToolBegins { .. } => false,
            _ => hearing.is_answered,
        };
        let now = self.now();
        match &event {
            WorkerEvent::Retries { attempt, why, until } => {
                let failure = consort_agents::read_failure(why, now);
                hearing.retrying = Some(Retrying { failure, attempt: *attempt, until: *until, since: now });
            }
            WorkerEvent::Model(model) => {
                if let Some(tier) = prices::estimated_tier(model).filter(|tier| *tier > self.work.tier) {
                    let needed = self.work.tier.as_str();
                    self.note(format!("{model} is of tier {}, and its role needs {needed}", tier.as_str()));
                }
            }
            _ => {}
        }
        if !matches!(event, WorkerEvent::Retries { .. }) {
            hearing.retrying = None;
        }
        hearing.stillness.ends();
        hearing.progress.hear(&event);
        self.log.tell(now, RunNote::Event(event));
    }
}

/// The state of reading a worker's output.
struct Hearing {
    reader: Box<dyn consort_agents::OutputReader>,
    progress: Progress,
    complaints: Complaints,
    is_silent: bool,
    /// Whether it has given its result, and nothing since: it is about to end.
    is_answered: bool,
    /// The failure after which it tries again by itself, if it has reported nothing since.
    retrying: Option<Retrying>,
    stillness: Stillness,
}

/// The way in which we end a worker.
enum Cut {
    As(RunState),
    Failed(Failure),
}
