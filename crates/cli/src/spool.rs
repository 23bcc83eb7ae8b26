//! Sends a sandboxed agent's command through the spool, and carries such commands out in its MCP server
//! outside.
//!
//! Only commands that change the store, in the repository of the session, go this way: **nothing that names a
//! file to write, a program to run or a setting does**, or it would lead out of the sandbox.

use std::error::Error;
use std::ffi::OsString;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use consort_core::engine::Engine as _;
use consort_core::explain::ErrorKind;
use consort_core::host::Clock as _;
use consort_core::host::Files as _;
use consort_core::host::PlacedDirectory;
use consort_core::host::Process;
use consort_core::host::Processes as _;
use consort_core::host::Repositories as _;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::env;
use consort_host::spool;
use consort_host::spool::Spool;
use consort_host::spool::SpoolOutcome;
use consort_host::spool::SpoolRequest;
use consort_sqlite::Store;
use rustix::fs::Access;
use rustix::io::Errno;
use rustix::process::Signal;
use serde::Deserialize;
use serde::Serialize;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::world;

/// The commands that may go through the spool.
const COMMANDS: &[&str] = &[
    "agent leave",
    "agent rename",
    "explain",
    "holds contest",
    "holds list",
    "inbox",
    "know add",
    "know history",
    "know list",
    "know query",
    "know search",
    "know show",
    "know stale",
    "release",
    "reply",
    "reserve",
    "send",
    "task",
    "wait",
    "who",
    "whoami",
];

/// Options that the server accepts with no command: they change settings, prove the person, or never end.
const REFUSED: &[&str] = &["--set", "--token-file", "--token-fd", "--watch", "--follow"];

/// Most commands that are carried out at once, and most of them that may wait for others: the rest is for
/// commands that end by themselves.
const MOST: usize = 8;
const MOST_WAITING: usize = 6;

/// Interval at which the server checks whether the asking process still waits for its command.
const LOOK: Duration = Duration::from_millis(20);

/// Longest sleep of the server while nobody asks.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Most output that is sent back, in bytes: more than a model reads.
const LONGEST_OUTPUT: u64 = 1 << 20;

/// Variable that is set for a command carried out for a sandboxed process: the repository that the command
/// may concern.
const CARRIED: &str = "CONSORT_CARRIED";

/// Variable with the text that the asking process has read from its standard input.
const INPUT: &str = "CONSORT_INPUT";

/// Commands whose arguments are paths.
const WITH_PATHS: &[&str] = &["explain", "holds contest", "release", "reserve", "wait"];

#[derive(Serialize, Deserialize)]
struct SpoolAnswer {
    stdout: String,
    stderr: String,
    code: u8,
}

/// Asks our MCP server to run this command, if a sandbox keeps us from writing the
/// store and the command is on the list. Returns `None` if we are in no sandbox, or if
/// no server answers.
pub(crate) fn ask() -> Option<ExitCode> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let paths = may_be_asked(&words).then(Paths::from_environment)??;
    if env::get(CARRIED).is_some() {
        // If the server that runs this command is killed, the command ends too.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        let is_here = require_paths_here(&words, &Machine::new(&paths.data));
        return is_here.err().map(|error| {
            output::note(error.render().trim_end());
            ExitCode::from(error.exit_code())
        });
    }
    match rustix::fs::access(&paths.data, Access::WRITE_OK) {
        Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => {}
        _ => return None,
    }
    if words.iter().any(|word| word == "-") && env::get(INPUT).is_none() {
        return Some(again_with_input());
    }
    let id = Machine::new(&paths.data).random().map(|byte| format!("{byte:02x}")).concat();
    match spool::ask(&paths.data, &id) {
        Ok(SpoolOutcome::Answered(answer)) => {
            let answer: SpoolAnswer = serde_json::from_slice(&answer).ok()?;
            let _ = std::io::stdout().write_all(answer.stdout.as_bytes());
            let _ = std::io::stderr().write_all(answer.stderr.as_bytes());
            Some(ExitCode::from(answer.code))
        }
        Ok(SpoolOutcome::Unknown) => {
            output::note(
                "Error: our MCP server ended while it carried this out\n\
                 Hint: look whether it was done before you try again",
            );
            Some(ExitCode::from(exit::code(ErrorKind::Internal)))
        }
        Ok(SpoolOutcome::NobodyThere) | Err(_) => None,
    }
}

/// Restarts this command with the text from standard input in its environment, where
/// the server finds it.
fn again_with_input() -> ExitCode {
    let mut input = String::new();
    let error = match std::io::stdin().read_to_string(&mut input).and_then(|_| std::env::current_exe()) {
        Ok(program) => Command::new(program).args(std::env::args_os().skip(1)).env(INPUT, input).exec(),
        Err(error) => error,
    };
    output::note(format_args!(
        "Error: standard input cannot be handed over: {error}\nHint: give the text as the last argument, and shorter"
    ));
    ExitCode::from(exit::code(ErrorKind::User))
}

/// Refuses a command that is carried out for a sandboxed process outside the repository of that process's
/// session: there git could run what the process wrote.
pub(crate) fn require_here(place: &PlacedDirectory) -> Result<(), CommandError> {
    match env::get(CARRIED) {
        Some(here) if place.repository != Path::new(&here) => Err(elsewhere()),
        _ => Ok(()),
    }
}

/// Refuses a command that is carried out for a sandboxed process if it names paths of another repository.
fn require_paths_here(words: &[OsString], machine: &Machine) -> Result<(), CommandError> {
    let (Some(here), Ok(cwd)) = (env::get(CARRIED), std::env::current_dir()) else { return Ok(()) };
    let known: Vec<&str> = words.iter().map_while(|word| word.to_str()).collect();
    let has_paths = is_one_of(WITH_PATHS, &known);
    let is_elsewhere = |word: &OsString| {
        machine.locate(&cwd.join(word)).repository.is_some_and(|found| found != Path::new(&here))
    };
    if has_paths && words.iter().skip(1).any(is_elsewhere) { Err(elsewhere()) } else { Ok(()) }
}

fn elsewhere() -> CommandError {
    CommandError::user(
        "a sandboxed command can only concern the repository of its session",
        "run it in that repository, or ask your user",
    )
}

/// Tells whether these words call one of the commands.
fn is_one_of(commands: &[&str], words: &[&str]) -> bool {
    commands.iter().any(|command| {
        let mut words = words.iter();
        command.split(' ').all(|part| words.next().is_some_and(|word| *word == part))
    })
}

/// Tells whether these words may go through the spool. The command must come first: a word before it might be
/// anything.
fn may_be_asked(words: &[OsString]) -> bool {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let is_refused = |word: &&str| REFUSED.contains(&word.split('=').next().unwrap_or_default());
    words.is_some_and(|words| is_one_of(COMMANDS, &words) && !words.iter().any(is_refused))
}

/// Starts a thread that runs commands for sandboxed processes of the agent CLI that
/// started this server. Does nothing for a CLI without such a sandbox.
pub(crate) fn serve(paths: &Paths, cwd: &Path) {
    let machine = Machine::new(&paths.data);
    let above = machine.ancestors();
    let has_sandbox = |process: &Process| {
        consort_agents::ALL.iter().any(|cli| cli.has_sandbox() && cli.program() == process.program)
    };
    let is_writable = rustix::fs::access(&paths.data, Access::WRITE_OK).is_ok();
    if !is_writable || !above.iter().any(has_sandbox) {
        return;
    }
    let (Some(parent), Ok(mut spool)) = (above.into_iter().next(), Spool::open(&paths.data)) else { return };
    let (data, store) = (paths.data.clone(), paths.store());
    let (repository, at_work) = (machine.place(cwd).repository, Arc::new(AtomicUsize::new(0)));
    let work = move || {
        let files = Store::new(store, consort_sqlite::StoreUser::Command).side_files();
        // Our agent starts its own program under another name to set up the sandbox.
        let is_helper = |process: &Process| {
            let program_and_script = consort_host::program_and_script(process.pid);
            let is_named = |word: &String| word.rsplit('/').next() == Some(&process.program);
            process.program == parent.program && !program_and_script.first().is_some_and(is_named)
        };
        let is_agent = |process: &Process| {
            files.session_hosted_by(process).is_some() || world::is_agent(process) && !is_helper(process)
        };
        // Of the agents above the asking process, ours must be the nearest.
        let is_ours = |pid: u32| {
            let lineage = machine.lineage(pid);
            let nearest = lineage.iter().find(|process| process.is(&parent) || is_agent(process));
            nearest.is_some_and(|process| process.is(&parent))
        };
        while spool.wait(LONGEST_SLEEP).is_ok() {
            if spool.is_gone() {
                let Ok(again) = Spool::open(&data) else { return };
                spool = again;
            }
            for taken in spool.take(&is_ours, MOST.saturating_sub(at_work.load(Ordering::Acquire))) {
                let slot = RunningPermit::new(&at_work);
                let repository = repository.clone();
                // Without a thread the request is dropped, which the asking process sees.
                let _ = std::thread::Builder::new().spawn(move || answer(taken, &repository, &slot));
            }
        }
    };
    let _ = std::thread::Builder::new().spawn(work);
}

/// A place among the commands that are carried out at once, until it is dropped.
struct RunningPermit(Arc<AtomicUsize>);

impl RunningPermit {
    fn new(at_work: &Arc<AtomicUsize>) -> Self {
        at_work.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(at_work))
    }

    fn is_among_the_last(&self) -> bool {
        self.0.load(Ordering::Acquire) > MOST_WAITING
    }
}

impl Drop for RunningPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(taken: SpoolRequest, repository: &Path, slot: &RunningPermit) {
    let waits = taken.words.iter().any(|word| word == "wait" || word == "--wait");
    let done = match waits && slot.is_among_the_last() {
        true => Err("too many commands of this agent wait already".into()),
        false => carry_out(&taken, repository),
    };
    let done = done.unwrap_or_else(|error| SpoolAnswer {
        stdout: String::new(),
        stderr: format!("Error: our MCP server cannot carry this out: {error}\n"),
        code: exit::code(ErrorKind::User),
    });
    let _ = taken.answer(serde_json::to_vec(&done).unwrap_or_default());
}

fn carry_out(taken: &SpoolRequest, repository: &Path) -> Result<SpoolAnswer, Box<dyn Error>> {
    let words = taken.words.get(1..).unwrap_or_default();
    if !may_be_asked(words) {
        return Err("it is no command for this way".into());
    }
    // The file of this very program, also after an update has replaced it.
    let mut command = Command::new("/proc/self/exe");
    command.args(words).current_dir(taken.cwd()).env(CARRIED, repository);
    // The variables that tell which session of its process is asking.
    let names = consort_agents::ALL.iter().filter_map(|cli| cli.session_variable()).chain([env::SESSION]);
    for name in names {
        match taken.variable(name) {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Child(command.spawn()?);
    let (stdout, stderr) = (reader(child.0.stdout.take())?, reader(child.0.stderr.take())?);
    let input = taken.variable(INPUT).unwrap_or_default();
    if let Some(mut stdin) = child.0.stdin.take() {
        // A command that does not read its input is no failure.
        let _ = stdin.write_all(input.as_encoded_bytes());
    }
    let status = loop {
        match child.0.try_wait()? {
            Some(status) => break status,
            // Nobody waits for the answer any more, so the command is ended.
            None if !taken.is_waited_for() => child.0.kill()?,
            None => std::thread::sleep(LOOK),
        }
    };
    let text = |thread: JoinHandle<String>| thread.join().unwrap_or_default();
    let code =
        status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::code(ErrorKind::Internal));
    Ok(SpoolAnswer { stdout: text(stdout), stderr: text(stderr), code })
}

/// A child process that is killed when this is dropped.
struct Child(std::process::Child);

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads a command's output in a thread as it comes, or the command would wait for us.
fn reader(from: Option<impl std::io::Read + Send + 'static>) -> std::io::Result<JoinHandle<String>> {
    std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        if let Some(from) = from {
            let _ = from.take(LONGEST_OUTPUT).read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}
