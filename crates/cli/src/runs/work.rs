//! One attempt of a run: starts the CLI, hears it until it ends or is ended, and says what
//! came of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use consort_agents::AgentCli;
use consort_agents::Headless;
use consort_agents::flags::refused;
use consort_agents::prices;
use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::DispatchError;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::Progress;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::host::Clock as _;
use consort_host::Heard;
use consort_host::Machine;
use consort_host::Worker;
use consort_host::WorkerCommand;
use consort_host::env;

use super::RunDir;
use super::Work;
use super::directory::EventLog;
use super::directory::Told;
use super::directory::private;
use super::environment;
use super::flags;
use crate::commands::with;
use crate::connect;
use crate::error::CommandError;
use crate::world::World;

/// How often is looked whether it has ended or is to end.
const TICK: Duration = Duration::from_millis(200);

/// How often is told that it goes on.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How long a worker has to end when it is asked.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long is listened for what a worker said before it ended, if something cannot be ended that
/// may still say more.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How much is kept of what it says on standard error.
const COMPLAINTS: usize = 64 << 10;

/// A run that is worked on.
pub(super) struct Job<'a> {
    pub(super) world: &'a World,
    pub(super) run: RunRecord,
    pub(super) dir: RunDir,
    pub(super) work: Work,
    pub(super) cli: &'static dyn AgentCli,
    pub(super) machine: Machine,
    pub(super) log: EventLog,
    pub(super) deadline: Option<Instant>,
    /// What it may use before it asks for more.
    pub(super) reserved: Cost,
    /// What earlier attempts have used.
    pub(super) used: Usage,
    /// Where it works.
    pub(super) cwd: std::path::PathBuf,
}

/// What came of an attempt.
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
        self.log.tell(now, Told::Note(note.into()));
    }

    /// Does the work, or goes on with it; `prompt` is what the CLI is told.
    pub(super) fn attempt(&mut self, prompt: &str, resume: Option<&str>) -> Result<Attempt, CommandError> {
        let attempt = self.try_once(prompt, resume)?;
        let unknown = attempt.end.failure.as_ref().filter(|failure| failure.kind == FailureKind::Argument);
        let Some(flag) = unknown.and_then(|failure| refused(&failure.message)) else { return Ok(attempt) };
        // Without it, now and from now on.
        if let Some(program) = connect::find_program(self.cli.program()) {
            flags::forget(&self.world.paths, self.cli, &program, &flag);
        }
        self.note(format!("{} does not know {flag}: once more without it", self.cli.title()));
        self.try_once(prompt, resume)
    }

    fn try_once(&mut self, prompt: &str, resume: Option<&str>) -> Result<Attempt, CommandError> {
        let (command, session) = self.command(prompt, resume)?;
        let (sender, heard) = mpsc::channel();
        let mut worker = Worker::start(&command, sender)
            .map_err(|error| CommandError::file("cannot start", &command.program, error))?;
        let mut hearing = Hearing {
            reader: self.cli.reader(),
            progress: Progress::default(),
            complaints: String::new(),
            half_line: String::new(),
            is_silent: false,
            is_answered: false,
        };
        // One may tell it only at its end, which it may not live to see.
        if let Some(session) = session {
            self.take(&mut hearing, WorkerEvent::Session(session));
        }
        let cut = self.hear_until_the_end(&mut worker, &heard, &mut hearing);
        let dir = self.dir.clone();
        let left = worker.end(&self.machine, PATIENCE, &|| dir.asked_to_stop() == Some(true));
        for process in left {
            self.note(format!("process {} ({}) cannot be ended", process.pid, process.program));
        }
        let end = Instant::now() + LAST_WORDS;
        while !hearing.is_silent
            && let Ok(heard) = heard.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.hear(&mut hearing, heard);
        }
        let mut exit = worker.exit().cloned().unwrap_or_default();
        exit.stderr = hearing.complaints.clone();
        let config_dir = self.world.config_dir(self.cli);
        let read = |path: &Path| fs::read_to_string(path).ok();
        let last = hearing.reader.end(&exit, self.now(), &config_dir, &read);
        // What a worker says of its own end is of no interest if we ended it.
        let is_meant = |event: &WorkerEvent| cut.is_none() || !matches!(event, WorkerEvent::Failed(_));
        for event in last.into_iter().filter(is_meant) {
            self.take(&mut hearing, event);
        }
        let mut end = hearing.progress.end(&exit, cut);
        end.usage = self.usage(&hearing.progress);
        Ok(Attempt { end, result: hearing.progress.result().unwrap_or_default().to_owned() })
    }

    /// What it is called with, and the session that it will have, if that was chosen.
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
        let stdin = headless.stdin.map(|text| (self.dir.path.join("stdin"), text));
        if let Some((path, text)) = &stdin {
            private(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(cannot(path))?;
        }
        variables.extend(headless.variables);
        let get = |name: &str| variables.get(name).cloned();
        let connected = with::connected(self.world, self.cli, &self.cwd, &headless.arguments, &get)?;
        let mut environment: BTreeMap<String, String> = variables;
        environment.extend(connected.variables);
        environment.insert(env::NAME.into(), spec.name.to_string());
        environment.insert(env::RUN.into(), self.run.id.to_string());
        environment.insert(env::SAFETY.into(), spec.safety.as_str().into());
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

    /// Until it has ended, or is to be ended: then why.
    fn hear_until_the_end(
        &mut self,
        worker: &mut Worker,
        heard: &mpsc::Receiver<Heard>,
        hearing: &mut Hearing,
    ) -> Option<RunState> {
        let (mut looked, mut beat) = (Instant::now(), Instant::now());
        loop {
            match heard.recv_timeout(TICK) {
                Ok(heard) => self.hear(hearing, heard),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                // Nothing more can be heard; it may go on in silence.
                Err(mpsc::RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            }
            if hearing.is_silent && worker.exit().is_some() {
                return None;
            }
            if looked.elapsed() < TICK {
                continue;
            }
            looked = Instant::now();
            // What it has left running may hold its output open.
            if worker.exit().is_some() {
                return None;
            }
            if let Some(cut) = self.cut(hearing) {
                return Some(cut);
            }
            if beat.elapsed() >= HEARTBEAT {
                beat = Instant::now();
                let progress = &hearing.progress;
                let tool = progress.running.last().map(|(_, about)| about.clone());
                let tokens = progress.usage().tokens();
                let now = self.now();
                self.log.tell(now, Told::Heartbeat { turns: progress.turns, tool, tokens });
            }
        }
    }

    /// Why it is to be ended, if it is.
    fn cut(&mut self, hearing: &Hearing) -> Option<RunState> {
        if self.dir.asked_to_stop().is_some() {
            return Some(RunState::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(RunState::Timeout);
        }
        // What is spent is spent, and the answer is there.
        if hearing.is_answered {
            return None;
        }
        let used = self.usage(&hearing.progress);
        if self.work.token_budget.zip(used.tokens()).is_some_and(|(most, used)| used >= most) {
            self.note("it has used all of its tokens");
            return Some(RunState::BudgetExceeded);
        }
        let tools = hearing.progress.tools;
        if self.work.max_tools.is_some_and(|most| tools > most.saturating_mul(2)) {
            self.note(format!("it has called {tools} tools"));
            return Some(RunState::BudgetExceeded);
        }
        let spent = used.cost.filter(|spent| *spent >= self.reserved)?;
        match self.world.app().extend_run(self.run.id, &self.work.caps, spent) {
            Ok(reserved) => {
                self.reserved = reserved;
                None
            }
            Err(DispatchError::Refused(refusal)) => {
                self.note(refusal.why);
                Some(RunState::BudgetExceeded)
            }
            // A store that is busy for a moment stops nobody.
            Err(_) => None,
        }
    }

    /// What it has used, earlier attempts included; what that costs, if its CLI or the list of
    /// prices tells.
    fn usage(&self, progress: &Progress) -> Usage {
        let (now, named) = (progress.usage(), self.run.spec.model.as_deref());
        let priced = || prices::price(progress.model.as_deref().or(named)?, &now);
        self.used.with(&Usage { cost: now.cost.or_else(priced), ..now })
    }

    fn hear(&mut self, hearing: &mut Hearing, heard: Heard) {
        match heard {
            Heard::Line(line) => {
                let now = self.now();
                for event in hearing.reader.line(&line, now) {
                    self.take(hearing, event);
                }
            }
            Heard::Complaint(part) => {
                let now = self.now();
                hearing.half_line.push_str(&part);
                while let Some(end) = hearing.half_line.find('\n') {
                    let line: String = hearing.half_line.drain(..=end).collect();
                    for event in hearing.reader.error_line(line.trim_end(), now) {
                        self.take(hearing, event);
                    }
                }
                // A line without an end is of no CLI that we know.
                if hearing.half_line.len() > COMPLAINTS {
                    hearing.half_line.clear();
                }
                hearing.complaints.push_str(&part);
                let cut = hearing.complaints.len().saturating_sub(COMPLAINTS);
                let cut = (cut..).find(|at| hearing.complaints.is_char_boundary(*at)).unwrap_or(0);
                hearing.complaints.drain(..cut);
                let _ = fs::write(self.dir.complaints(), &hearing.complaints);
            }
            Heard::Silence => hearing.is_silent = true,
        }
    }
}

impl Job<'_> {
    /// Takes in what a worker has told.
    fn take(&mut self, hearing: &mut Hearing, event: WorkerEvent) {
        hearing.is_answered = match event {
            WorkerEvent::Result(_) => true,
            WorkerEvent::Turn | WorkerEvent::ToolBegins { .. } => false,
            _ => hearing.is_answered,
        };
        hearing.progress.hear(&event);
        let now = self.now();
        self.log.tell(now, Told::Event(event));
    }
}

/// What is heard of a worker.
struct Hearing {
    reader: Box<dyn consort_agents::OutputReader>,
    progress: Progress,
    complaints: String,
    /// What was said on standard error since the last end of a line.
    half_line: String,
    is_silent: bool,
    /// It has told its result, and nothing since: it is about to end.
    is_answered: bool,
}
