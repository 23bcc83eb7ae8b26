//! Commands of a sandboxed agent, carried out by its MCP server outside.
//!
//! Only what an agent does to the store: **nothing that names a file to write, a
//! program to run or a setting goes this way**, or it would lead out of the sandbox.

use std::error::Error;
use std::io::Read as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use consort_core::explain::Kind;
use consort_core::host::Host as _;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::Peer;
use consort_host::env;
use consort_host::spool::Asked;
use consort_host::spool::Spool;
use consort_host::spool::Taken;
use rustix::fs::Access;
use rustix::io::Errno;
use serde::Deserialize;
use serde::Serialize;

use crate::exit;
use crate::exit::ExitCode;
use crate::out;

/// What may be asked for.
const COMMANDS: &[&str] = &[
    "ask",
    "claims",
    "explain",
    "radar",
    "reservations",
    "status",
    "tasks",
    "who",
    "whoami",
    "claim",
    "contest",
    "inbox",
    "leave",
    "record",
    "release",
    "rename",
    "reserve",
    "send",
    "sent",
    "task",
    "thread",
    "unreserve",
    "wait",
];

/// How often a command that is carried out looks whether somebody still waits for it.
const LOOK: Duration = Duration::from_millis(20);

/// How long the server sleeps when nobody rings.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

#[derive(Serialize, Deserialize)]
struct Request {
    arguments: Vec<String>,
    cwd: PathBuf,
    /// For a text that is read from standard input.
    input: String,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    stdout: String,
    stderr: String,
    code: u8,
}

/// Has this very command carried out by our MCP server, if it is one that may be
/// and the store cannot be written from here; `None` if not, or if nobody is there
/// to do it.
pub(crate) fn ask() -> Option<ExitCode> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).filter_map(|word| word.into_string().ok()).collect();
    let paths = may_be_asked(&arguments).then(Paths::from_environment)??;
    match rustix::fs::access(&paths.data, Access::WRITE_OK) {
        Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => {}
        _ => return None,
    }
    let spool = Spool::open(&paths.data).ok().filter(Spool::is_attended)?;
    let mut input = String::new();
    if arguments.iter().any(|argument| argument == "-") {
        std::io::stdin().read_to_string(&mut input).ok()?;
    }
    let request = Request { arguments, cwd: std::env::current_dir().ok()?, input };
    let id = Machine::new(&paths.data).random().map(|byte| format!("{byte:02x}")).concat();
    match spool.ask(&id, &serde_json::to_vec(&request).ok()?) {
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

/// The command comes first: what stands before it might be anything.
fn may_be_asked(arguments: &[String]) -> bool {
    arguments.first().is_some_and(|first| COMMANDS.contains(&first.as_str()))
        && !arguments.iter().any(|argument| argument.starts_with("--token"))
}

/// Carries out what processes of the agent ask for that has started this one, in
/// the background, until it is dropped.
pub(crate) struct Carrier {
    spool: Arc<Spool>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Carrier {
    /// `None` where that agent has no sandbox of this kind, or it cannot be done: then
    /// commands in a sandbox say that they cannot write.
    pub(crate) fn start(paths: &Paths) -> Option<Self> {
        let machine = Machine::new(&paths.data);
        let above = machine.ancestors();
        let mut sandboxed = consort_agents::ALL.iter().filter(|cli| cli.has_sandbox());
        sandboxed.find(|cli| above.iter().any(|process| process.program == cli.program()))?;
        let parent = machine.process(rustix::process::getppid()?.as_raw_nonzero().get() as u32)?;
        let (spool, is_over) = (Arc::new(Spool::create(&paths.data).ok()?), Arc::new(AtomicBool::new(false)));
        // Takes down the bells of those who were killed.
        spool.is_attended();
        let mut bell = spool.bell().ok()?;
        let (requests, ends) = (Arc::clone(&spool), Arc::clone(&is_over));
        let work = move || {
            let is_ours = |pid: u32| machine.lineage(pid).iter().any(|ancestor| ancestor.is(&parent));
            while !ends.load(Ordering::Acquire) {
                for taken in requests.take(&is_ours) {
                    std::thread::spawn(move || carry_out(taken));
                }
                bell.wait(None, LONGEST_SLEEP)?;
            }
            Ok(())
        };
        Some(Self { spool, is_over, thread: Some(std::thread::spawn(work)) })
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        self.spool.is_attended();
        let _ = self.thread.take().map(JoinHandle::join);
        self.spool.tidy();
    }
}

fn carry_out(taken: Taken) {
    let answer = perform(&taken).unwrap_or_else(|error| Answer {
        stdout: String::new(),
        stderr: format!("Error: our MCP server cannot carry this out: {error}\n"),
        code: 1,
    });
    if taken.is_waited_for() {
        let _ = taken.answer(&serde_json::to_vec(&answer).unwrap_or_default());
    }
}

fn perform(taken: &Taken) -> Result<Answer, Box<dyn Error>> {
    let request: Request = serde_json::from_slice(&taken.request)?;
    if !may_be_asked(&request.arguments) {
        return Err("it is no command for this way".into());
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(&request.arguments).current_dir(&request.cwd);
    // Which session of that process it is.
    let peer = Peer { pid: taken.pid, cwd: None };
    let names = consort_agents::ALL.iter().filter_map(|cli| cli.session_variable()).chain([env::SESSION]);
    for name in names {
        match peer.variable(name) {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(request.input.as_bytes());
    }
    // Read as it comes, or it would wait for us.
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = from.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let stdout = child.stdout.take().map(|stdout| read(Box::new(stdout)));
    let stderr = child.stderr.take().map(|stderr| read(Box::new(stderr)));
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            // What is not waited for any more is not done for nobody.
            None if !taken.is_waited_for() => {
                child.kill()?;
                break child.wait()?;
            }
            None => std::thread::sleep(LOOK),
        }
    };
    let text = |thread: Option<JoinHandle<String>>| thread.and_then(|thread| thread.join().ok());
    Ok(Answer {
        stdout: text(stdout).unwrap_or_default(),
        stderr: text(stderr).unwrap_or_default(),
        code: status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(255),
    })
}
