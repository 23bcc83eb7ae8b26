//! Carries out the actions of the screen: by the commands that a person would type, each in a thread or
//! process of its own, so that nothing here waits for it.

use std::io::BufRead as _;
use std::io::Read as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use consort_core::Timestamp;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::Strength;
use consort_core::host::Clock as _;
use consort_core::monitor::KeyPress;
use consort_core::monitor::PaneManager as _;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::PaneWriter as _;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;
use consort_core::text;
use consort_host::Machine;
use consort_host::Tmux;
use consort_host::env;
use consort_tui::CommandOutcome;
use consort_tui::CommandRun;
use consort_tui::Effect;
use consort_tui::EffectRunner;
use consort_tui::Event;
use consort_tui::Input;
use consort_tui::News;
use consort_tui::WeakeningChange;

use super::event_sender::Wakes;
use super::gather::Gathering;
use super::gather::ScreenRequest;
use crate::commands::config::set;
use crate::error::CommandError;
use crate::world::World;
use crate::world::caller_facts;

/// Minutes for which everyone may write an overridden path.
const MINUTES: u32 = 10;

/// Most bytes of a command's output that are shown.
const LONGEST: u64 = 1 << 20;

pub(super) struct CommandDoor {
    wakes: Wakes,
    gathering: Gathering,
    overrides: Vec<(String, String)>,
    cwd: PathBuf,
    machine: Machine,
}

impl CommandDoor {
    pub(super) fn new(world: &World, wakes: Wakes, gathering: Gathering) -> Self {
        let (overrides, cwd) = (world.overrides.clone(), world.cwd.clone());
        Self { wakes, gathering, overrides, cwd, machine: Machine::new(&world.paths.data) }
    }

    /// Does some work in a thread of its own, and sends its outcome to the screen.
    fn in_background(&mut self, work: impl FnOnce(&World) -> Event + Send + 'static) {
        let (wakes, overrides, cwd) = (self.wakes.clone(), self.overrides.clone(), self.cwd.clone());
        let work = move || {
            let event = match World::new(overrides) {
                Ok(world) => work(&World { cwd, ..world }),
                Err(error) => failed(CommandRun::default(), &error),
            };
            wakes.send(event);
        };
        let started = std::thread::Builder::new().name("command".into()).spawn(work);
        if let Err(error) = started {
            let text = format!("cannot begin it: {error}");
            self.wakes.send(Event::Done(CommandOutcome {
                command: CommandRun::default(),
                is_well: false,
                text,
            }));
        }
    }
}

impl CommandDoor {
    /// Runs a command in the terminal, and prints nothing before or after it.
    pub(super) fn in_terminal_quietly(&mut self, words: &[String]) {
        let ran = own_program().and_then(|mut command| command.args(words).current_dir(&self.cwd).status());
        if let Err(error) = ran {
            crate::output::note(format_args!("It cannot be started: {error}"));
        }
        self.gathering.ask(ScreenRequest::Now);
    }
}

impl EffectRunner for CommandDoor {
    fn touched(&mut self) -> Timestamp {
        self.gathering.ask(ScreenRequest::Touched);
        self.machine.now()
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Run(command) => self.in_background(move |world| Event::Done(run(world, command))),
            Effect::Confirmed(change) => {
                self.in_background(move |world| told(CommandRun::default(), confirm(world, change)))
            }
            Effect::EndOverride { path, worktree } => {
                self.in_background(move |world| {
                    told(CommandRun::default(), end_override(world, path, &worktree))
                });
            }
            Effect::Focus { agent } => self.in_background(move |world| focus(world, &agent)),
            Effect::Interrupt { agent } => {
                self.in_background(move |world| told(CommandRun::default(), interrupt(world, &agent)))
            }
            Effect::Set { key, value, typed } => {
                self.in_background(move |world| change_setting(world, key, value, typed));
            }
            Effect::Ask(question) => self.in_background(move |world| ask(world, question)),
            Effect::MarkRead { from } => self.gathering.ask(ScreenRequest::MarkRead(from)),
            Effect::Look(interest) => self.gathering.ask(ScreenRequest::Look(interest)),
            // The terminal loop itself carries these out.
            Effect::InTerminal(_) | Effect::Copy(_) | Effect::Redraw | Effect::Quit => {}
        }
    }

    fn in_terminal(&mut self, command: &CommandRun) {
        let (words, cwd) = (&command.words, command.cwd.as_ref().map_or(self.cwd.as_path(), Path::new));
        let mut stderr = std::io::stderr();
        let _ = writeln!(stderr, "$ consort {}", text::one_line(&words.join(" "), 200));
        let ran = own_program().and_then(|mut command| command.args(words).current_dir(cwd).status());
        match ran {
            // After `attach`, which has shown another terminal, the screen comes back at once.
            Ok(status) if status.success() && words.iter().any(|word| word == "attach") => {}
            Ok(_) | Err(_) => {
                if let Err(error) = ran {
                    let _ = writeln!(stderr, "It cannot be started: {error}");
                }
                let _ = write!(stderr, "Enter goes back to the screen. ");
                let _ = stderr.flush();
                let _ = std::io::stdin().lock().read_line(&mut String::new());
            }
        }
        self.gathering.ask(ScreenRequest::Now);
    }
}

/// Returns a command that runs this very program.
fn own_program() -> std::io::Result<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

/// Runs a command to its end, and returns its output.
fn run(world: &World, command: CommandRun) -> CommandOutcome {
    let cwd = command.cwd.as_ref().map_or_else(|| world.cwd.clone(), PathBuf::from);
    let ran = own_program().and_then(|mut program| {
        for (key, value) in &world.overrides {
            program.arg("--set").arg(format!("{key}={value}"));
        }
        program.args(&command.words).current_dir(cwd);
        program.stdin(if command.input.is_some() { Stdio::piped() } else { Stdio::null() });
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn()?;
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), &command.input) {
            // A command that does not read its input reports that itself.
            let _ = stdin.write_all(input.as_bytes());
        }
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let errors = child.stderr.take();
        let heard = std::thread::spawn(move || {
            errors.map(|errors| errors.take(LONGEST).read_to_end(&mut stderr));
            stderr
        });
        if let Some(out) = child.stdout.take() {
            out.take(LONGEST).read_to_end(&mut stdout)?;
        }
        stdout.extend(heard.join().unwrap_or_default());
        Ok((child.wait()?.success(), stdout))
    });
    match ran {
        Ok((is_well, text)) => {
            let text = text::printable(&String::from_utf8_lossy(&text));
            CommandOutcome { command, is_well, text: text.trim_end().to_owned() }
        }
        Err(error) => {
            CommandOutcome { command, is_well: false, text: format!("It cannot be started: {error}") }
        }
    }
}

fn told(command: CommandRun, done: Result<String, CommandError>) -> Event {
    match done {
        Ok(text) => Event::Done(CommandOutcome { command, is_well: true, text }),
        Err(error) => failed(command, &error),
    }
}

fn failed(command: CommandRun, error: &CommandError) -> Event {
    Event::Done(CommandOutcome { command, is_well: false, text: text::printable(error.render().trim_end()) })
}

/// Carries out a confirmed action that weakens protection. **The word was shown on this terminal and typed
/// back**; a caller that is not the person is refused all the same.
fn confirm(world: &World, change: WeakeningChange) -> Result<String, CommandError> {
    let mut opened = world.open()?;
    let caller = CallerFacts { proof: Proof::Typed, ..proven(&opened.app)? };
    match change {
        WeakeningChange::Override { path, worktree } => {
            opened.app.override_hold(&caller, &dir(world, &worktree), &path, MINUTES)?;
            Ok(format!("Everyone may write {path} for {MINUTES} minutes. u takes it back."))
        }
        WeakeningChange::Release { path, worktree } => {
            let (cwd, what) = (dir(world, &worktree), ReleaseTarget::These(vec![path.clone()]));
            let request = ReleaseRequest { caller, cwd, what, strength: None, force: true };
            let released = opened.app.release(&request)?.released;
            Ok(match released.is_empty() {
                true => format!("Nobody has reserved {path}."),
                false => format!("Released {path}."),
            })
        }
        WeakeningChange::Set { key, value } => {
            let checked = consort_core::config::key(&key)?;
            let value = value.map(|value| checked.check(&value)).transpose()?;
            set::write(world, opened.app, (&key, value.as_deref()), false, Some(caller))
        }
    }
}

/// Ends the override of a path, which protects it again.
fn end_override(world: &World, path: String, worktree: &str) -> Result<String, CommandError> {
    let mut opened = world.open()?;
    let request = ReleaseRequest {
        caller: proven(&opened.app)?,
        cwd: dir(world, worktree),
        what: ReleaseTarget::These(vec![path.clone()]),
        strength: Some(Strength::Overridden),
        force: true,
    };
    opened.app.release(&request)?;
    Ok(format!("The override of {path} is over."))
}

/// Returns the facts about the caller, if that is the person at this terminal.
fn proven(app: &consort_core::App) -> Result<CallerFacts, CommandError> {
    let facts = caller_facts(app);
    match &facts.proof {
        Proof::None(why) => Err(consort_core::presence::NotAllowed::Anonymous(why.clone()).into()),
        Proof::Terminal | Proof::Typed | Proof::Token => Ok(facts),
    }
}

fn dir(world: &World, worktree: &str) -> PathBuf {
    if worktree.is_empty() { world.cwd.clone() } else { PathBuf::from(worktree) }
}

/// Brings a pane to the front if somebody sees its server; else has it shown in this terminal.
fn focus(world: &World, agent: &str) -> Event {
    let shown = || -> Result<Option<String>, CommandError> {
        let mut opened = world.open()?;
        let Ok(pane) = opened.app.find_pane(agent) else { return Ok(None) };
        let tmux = Tmux::new(&world.paths.data);
        let is_here = env::terminal().tmux.as_ref() == Some(&pane.address.server);
        let sweep = tmux.sweep(&pane.address.server, &[])?;
        let is_seen = sweep.panes.get(&pane.address.id).is_some_and(|facts| facts.clients > 0);
        if is_here || is_seen {
            tmux.select(&pane.address)?;
            if is_here {
                tell_the_way_back(&pane.address.server);
            }
            return Ok(Some(format!("{} is in front.", pane.name())));
        }
        Ok(Some(String::new()))
    };
    let words = |verb: &str| ["pane", verb, agent].map(str::to_owned).to_vec();
    match shown() {
        Ok(Some(told)) if told.is_empty() => Event::Terminal(words("attach")),
        // The command also finds a window of the desktop.
        Ok(None) => Event::Done(run(world, CommandRun { words: words("focus"), ..CommandRun::default() })),
        shown => told_or_nothing(shown),
    }
}

/// Shows in tmux how to come back to the screen, which is behind the pane now.
fn tell_the_way_back(server: &std::path::Path) {
    let mut tmux = Command::new("tmux");
    tmux.arg("-S").arg(server).args([
        "display-message",
        "-d",
        "4000",
        "prefix L comes back to the screen (l, if it is in this session)",
    ]);
    let _ = tmux.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
}

fn told_or_nothing(shown: Result<Option<String>, CommandError>) -> Event {
    told(CommandRun::default(), shown.map(Option::unwrap_or_default))
}

/// Presses Esc in an agent's pane, as the person would.
fn interrupt(world: &World, agent: &str) -> Result<String, CommandError> {
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let pane = opened.app.find_pane(agent)?;
    opened.app.require_pane_access(&caller, &pane)?;
    let tmux = Tmux::new(&world.paths.data);
    tmux.press(&pane.address, KeyPress::Escape)?;
    if pane.cli() == "opencode" {
        // OpenCode needs Esc twice.
        tmux.press(&pane.address, KeyPress::Escape)?;
    }
    Ok(format!("Pressed Esc in the pane of {}.", pane.name()))
}

/// Changes a setting, or takes it out of the person's file. A value that loosens protection has to be
/// confirmed first.
fn change_setting(world: &World, key: String, value: Option<String>, typed: Option<Box<Input>>) -> Event {
    let then = set::value_or_default(&key, value.as_deref());
    let is_valid = consort_core::config::key(&key).and_then(|key| key.check(&then)).is_ok();
    if is_valid && crate::config::loosens(world, &mut world.app(), &key, &then) {
        return Event::Ask(WeakeningChange::Set { key, value });
    }
    let words = match &value {
        Some(value) => vec!["config", "set", "--", &key, value],
        None => vec!["config", "unset", "--", &key],
    };
    let words = words.into_iter().map(str::to_owned).collect();
    Event::Done(run(world, CommandRun { words, typed, ..CommandRun::default() }))
}

/// Searches the project's knowledge, or queries it if the question begins with `(`.
fn ask(world: &World, question: String) -> Event {
    let verb = if question.trim_start().starts_with('(') { "query" } else { "search" };
    let words = ["know", verb, "--", &question].map(str::to_owned).to_vec();
    let outcome = run(world, CommandRun { words, ..CommandRun::default() });
    let lines = outcome.text.lines().map(str::to_owned).collect();
    Event::News(vec![News::Found(question, lines)])
}
