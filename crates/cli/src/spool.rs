//! Commands of a sandboxed agent, carried out by its MCP server outside.
//!
//! Only what an agent does to the store, in the repository of its session: **nothing
//! that names a file to write, a program to run or a setting goes this way**, or it
//! would lead out of the sandbox.

use std::error::Error;
use std::ffi::OsStr;
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

use consort_core::explain::Kind;
use consort_core::host::Host as _;
use consort_core::host::Process;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::Peer;
use consort_host::env;
use consort_host::spool;
use consort_host::spool::Asked;
use consort_host::spool::Spool;
use consort_host::spool::Taken;
use rustix::fs::Access;
use rustix::io::Errno;
use rustix::process::Signal;
use serde::Deserialize;
use serde::Serialize;

use crate::exit;
use crate::exit::ExitCode;
use crate::out;

/// What may be asked for.
const COMMANDS: &[&str] = &[
    "ask",
    "claim",
    "claims",
    "contest",
    "explain",
    "inbox",
    "leave",
    "record",
    "release",
    "rename",
    "reservations",
    "reserve",
    "send",
    "sent",
    "task",
    "tasks",
    "thread",
    "unreserve",
    "wait",
    "who",
    "whoami",
];

/// Options that the server accepts with none of them: they change settings, prove
/// the person, or never end.
const REFUSED: &[&str] = &["--set", "--token-file", "--token-fd", "--watch", "--follow"];

/// How many are carried out at once.
const MOST: usize = 8;

/// How often a command that is carried out looks whether somebody still waits for it.
const LOOK: Duration = Duration::from_millis(20);

/// How long the server sleeps when nobody asks.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// More than a model reads.
const LONGEST_OUTPUT: u64 = 1 << 20;

/// Set for a command that is carried out for another: it asks nobody.
const CARRIED: &str = "CONSORT_CARRIED";

#[derive(Serialize, Deserialize)]
struct Answer {
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
        // The server that runs this command may be killed: then this ends too.
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        return None;
    }
    match rustix::fs::access(&paths.data, Access::WRITE_OK) {
        Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => {}
        _ => return None,
    }
    if words.iter().any(|word| word == "-") {
        return Some(again_with_input(&words));
    }
    let id = Machine::new(&paths.data).random().map(|byte| format!("{byte:02x}")).concat();
    match spool::ask(&paths.data, &id) {
        Ok(Asked::Answered(answer)) => {
            let answer: Answer = serde_json::from_slice(&answer).ok()?;
            let _ = std::io::stdout().write_all(answer.stdout.as_bytes());
            let _ = std::io::stderr().write_all(answer.stderr.as_bytes());
            Some(ExitCode::from(answer.code))
        }
        Ok(Asked::Unknown) => {
            out::note(
                "Error: our MCP server ended while it carried this out\n\
                 Hint: look whether it was done before you try again",
            );
            Some(ExitCode::from(exit::code(Kind::Internal)))
        }
        Ok(Asked::NobodyThere) | Err(_) => None,
    }
}

/// Restarts this command with the text from standard input in place of `-`: the
/// server reads the request from the command line of this process.
fn again_with_input(words: &[OsString]) -> ExitCode {
    let mut input = String::new();
    let error = match std::io::stdin().read_to_string(&mut input).and_then(|_| std::env::current_exe()) {
        Ok(program) => {
            let text = input.trim_end_matches('\n');
            let words =
                words.iter().map(|word| if word == "-" { OsStr::new(text) } else { word.as_os_str() });
            Command::new(program).args(words).exec()
        }
        Err(error) => error,
    };
    out::note(format_args!(
        "Error: standard input cannot be handed over: {error}\nHint: give the text as the last argument, and shorter"
    ));
    ExitCode::from(exit::code(Kind::User))
}

/// The command comes first: what stands before it might be anything.
fn may_be_asked(words: &[OsString]) -> bool {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let is_refused = |word: &&str| REFUSED.contains(&word.split('=').next().unwrap_or_default());
    words.is_some_and(|words| {
        words.first().is_some_and(|first| COMMANDS.contains(first)) && !words.iter().any(is_refused)
    })
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
    let (Some(parent), Ok(spool)) = (above.into_iter().next(), Spool::open(&paths.data)) else { return };
    let (repository, at_work) = (machine.place(cwd).repository, Arc::new(AtomicUsize::new(0)));
    let work = move || {
        let is_ours = |pid: u32| machine.lineage(pid).iter().any(|ancestor| ancestor.is(&parent));
        while spool.wait(LONGEST_SLEEP).is_ok() {
            for taken in spool.take(&is_ours, MOST.saturating_sub(at_work.load(Ordering::Acquire))) {
                // Another repository could have git run what is written there.
                let is_here = machine.place(&taken.cwd).repository == repository;
                let counted = Arc::clone(&at_work);
                counted.fetch_add(1, Ordering::AcqRel);
                let carry_out = move || {
                    answer(taken, is_here);
                    counted.fetch_sub(1, Ordering::AcqRel);
                };
                if std::thread::Builder::new().spawn(carry_out).is_err() {
                    // The asking process sees that its request was dropped.
                    at_work.fetch_sub(1, Ordering::AcqRel);
                }
            }
        }
    };
    let _ = std::thread::Builder::new().spawn(work);
}

fn answer(taken: Taken, is_here: bool) {
    let done = match is_here {
        true => carry_out(&taken),
        false => Err("it is not run in the repository of its session".into()),
    };
    let done = done.unwrap_or_else(|error| Answer {
        stdout: String::new(),
        stderr: format!("Error: our MCP server cannot carry this out: {error}\n"),
        code: exit::code(Kind::User),
    });
    let _ = taken.answer(serde_json::to_vec(&done).unwrap_or_default());
}

fn carry_out(taken: &Taken) -> Result<Answer, Box<dyn Error>> {
    let words = taken.words.get(1..).unwrap_or_default();
    if !may_be_asked(words) {
        return Err("it is no command for this way".into());
    }
    // This very program, also after an update has replaced its file.
    let mut command = Command::new("/proc/self/exe");
    command.args(words).current_dir(&taken.cwd).env(CARRIED, "1");
    // Which session of that process it is.
    let asker = Peer { pid: taken.pid, cwd: None };
    let names = consort_agents::ALL.iter().filter_map(|cli| cli.session_variable()).chain([env::SESSION]);
    for name in names {
        match asker.variable(name) {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            // What nobody waits for any more is not done.
            None if !taken.is_waited_for() => child.kill()?,
            None => std::thread::sleep(LOOK),
        }
    };
    let text = |thread: JoinHandle<String>| thread.join().unwrap_or_default();
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::code(Kind::Internal));
    Ok(Answer { stdout: text(stdout), stderr: text(stderr), code })
}

/// Reads what a command says as it comes, or the command would wait for us.
fn reader(from: Option<impl std::io::Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(from) = from {
            let _ = from.take(LONGEST_OUTPUT).read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}
