//! Runs `consort hook <kind> <event>`: reads the payload, asks the hook door, prints the answer. This path
//! must be quick and silent.
//!
//! No argument parser, no configuration file, no logger. **Whatever goes wrong, it prints nothing and exits
//! 0**: an agent must never stand still because of us. Each failure is one line in `hook.log`.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::call_context::CallContext;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::host::Clock as _;
use consort_core::policy::AskOutcome;
use consort_core::presence::Terminal;
use consort_core::text;
use consort_hook::CommandEnvironment;
use consort_hook::HookContext;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::env;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;
use rustix::fs::Mode;
use rustix::fs::OFlags;

use crate::exit::ExitCode;
use crate::hook_deadline;
use crate::hook_dialog_wait;
use crate::hook_wait;
use crate::knowledge::git_file::HookFile;
use crate::world;

/// Longest payload that is read, in bytes: more than any CLI sends.
const LONGEST_PAYLOAD: usize = 64 << 20;

/// Longest script that is looked into, in bytes.
const LONGEST_SCRIPT: u64 = 256 << 10;

/// Time to wait for the end of an input that seems to be complete.
const PATIENCE: Duration = Duration::from_millis(100);

/// Size of the log, in bytes, beyond which it starts again from empty.
const LONGEST_LOG: u64 = 256 << 10;

pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut next = || arguments.next().and_then(|argument| argument.into_string().ok());
    let (kind, event) = (next().unwrap_or_default(), next().unwrap_or_default());
    // The command line of a hook asks this of a program that it has found by our name.
    if kind == "--who" {
        let _ = writeln!(std::io::stdout(), "{}", consort_agents::WHO_ANSWER);
        return ExitCode::SUCCESS;
    }
    // The `wait` event keeps running beside an idle session for our plugins: it has no deadline.
    let is_wait = event == hook_wait::EVENT;
    if !is_wait {
        hook_deadline::start();
        silence_stderr();
    }
    std::panic::set_hook(Box::new(|panic| {
        log(&format!("panic: {panic}"));
        std::process::exit(0);
    }));
    let is_projects = next().as_deref() == Some(consort_agents::PROJECT_ARGUMENT);
    if let Some(cli) = consort_agents::find(&kind)
        && !(is_projects && is_connected_for_user(cli))
        && let Err(error) = if is_wait { hook_wait::run(cli) } else { answer(cli, &event) }
    {
        log(&format!("{kind} {event}: {}", chain(error.as_ref())));
    }
    // Leaves without closing the store: the last connection to close would run the checkpoint.
    hook_deadline::leave();
}

/// Tells whether the user's own settings have our hooks too: then each event comes twice, and one answer is
/// enough.
fn is_connected_for_user(cli: &dyn AgentCli) -> bool {
    let Some(paths) = Paths::from_environment() else { return false };
    let config_dir = cli.config_dir(&paths.home, &env::get);
    let file = cli.hooks(consort_agents::Level::User(&config_dir)).file;
    let text = consort_files::read_regular_file(&file, 16 << 20).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let kind = cli.kind();
    text.contains(&format!(" hook {kind} ")) || text.contains(&format!("KIND = \"{kind}\""))
}

/// Sends standard error to `/dev/null`: CLIs show what a hook prints there, and nobody should see the
/// runtime's own complaints, of no memory above all.
fn silence_stderr() {
    if let Ok(null) = rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

fn answer(cli: &'static dyn AgentCli, event: &str) -> Result<(), Box<dyn Error>> {
    let payload = read_stdin()?;
    let Some(call) = cli.read(event, &payload) else { return Ok(()) };
    let paths = Paths::from_environment().ok_or("neither CONSORT_HOME nor HOME is set")?;
    let store = Store::new(paths.store(), StoreUser::Hook);
    let mut app = App::new(store, Machine::new(&paths.data)).with_git_file(Arc::new(HookFile));
    let is_hidden = matches!(&call.event, HookEvent::Asks(asked) if asked.dialog == Dialog::IsHidden);
    let answer = consort_hook::handle(&mut app, call, &HookProcess { cli, event })?;
    let mut held = None;
    let line = match answer.ask {
        None => cli.write(event, &answer.reply),
        Some(AskOutcome::Answered(answer)) => cli.write_answer(&payload, &answer),
        Some(AskOutcome::Open(ask)) => {
            held = ask;
            let answer = match ask {
                Some(ask) => hook_dialog_wait::wait(&mut app, &paths, cli, ask, event, is_hidden)?,
                None => None,
            };
            answer.and_then(|answer| cli.write_answer(&payload, &answer))
        }
    };
    if let Some(line) = line {
        hook_deadline::note_answering();
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(line.as_bytes())?;
        stdout.flush()?;
        if let Some(ask) = held {
            app.close_answered(ask)?;
        }
    }
    // Without a standard output nobody can have read the mail, so it is not marked as shown.
    if let Some(mail) = answer.mail.as_ref().filter(|_| has_stdout()) {
        app.note_batch_shown(mail)?;
    }
    std::mem::forget(app);
    Ok(())
}

/// The hook process, with the agent CLI and the event that it was started for.
struct HookProcess<'a> {
    cli: &'static dyn AgentCli,
    event: &'a str,
}

impl CallContext for HookProcess<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        env::get(name)
    }
}

/// Returns the means to look up files and variables around a command that an agent of this CLI runs; without
/// one, of the CLI that this process is in.
pub(crate) fn surroundings(cli: Option<&dyn AgentCli>) -> CommandEnvironment {
    let is_around = |cli: &&&'static dyn AgentCli| cli.session_variable().and_then(env::get).is_some();
    let cli = cli.or_else(|| consort_agents::ALL.iter().find(is_around).copied());
    CommandEnvironment {
        script: |path| String::from_utf8(consort_files::read_regular_file(path, LONGEST_SCRIPT).ok()?).ok(),
        variable: env::get,
        names: consort_host::names,
        alias_file: cli.and_then(|cli| cli.alias_file()),
    }
}

impl HookContext for HookProcess<'_> {
    fn kind(&self) -> &'static str {
        self.cli.kind()
    }

    fn pid(&self) -> Option<u32> {
        self.cli.pid_variable().and_then(env::get)?.parse().ok()
    }

    fn name(&self) -> Option<String> {
        env::get(env::NAME)
    }

    fn terminal(&self) -> Terminal {
        env::terminal()
    }

    fn surroundings(&self) -> CommandEnvironment {
        surroundings(Some(self.cli))
    }

    fn shielded(&self, command: &str) -> Option<String> {
        let program = std::env::current_exe().ok().filter(|_| self.cli.may_rewrite())?;
        let (program, command) = (consort_agents::quote(program.to_str()?), consort_agents::quote(command));
        // As in the hooks' command lines, our program may be gone by the time the command is run.
        Some(format!(
            "[ -x {program} ] && exec {program} shield -- bash -c {command}; exec bash -c {command}"
        ))
    }

    fn hears_before_tools(&self) -> bool {
        self.cli.hears_before_tools()
    }

    fn is_attended(&self) -> bool {
        self.cli.is_attended(&env::get)
    }

    fn has_one_session(&self, process: &consort_core::host::Process) -> bool {
        world::is_agent(process) && self.cli.has_one_session(&consort_host::command_line(process.pid))
    }

    fn prepare(&self, reply: Option<&HookReply>) {
        match reply.and_then(|reply| self.cli.write(self.event, reply)) {
            Some(line) => hook_deadline::prepare(line),
            None => hook_deadline::withdraw(),
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
fn has_stdout() -> bool {
    crate::entry_point::HAS_STDOUT.load(std::sync::atomic::Ordering::Relaxed)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn has_stdout() -> bool {
    true
}

/// Reads all of standard input. The caller may leave it open, so a whole payload counts as all of it. The
/// standard library's handle would add a buffer that is touched once.
fn read_stdin() -> std::io::Result<Vec<u8>> {
    let mut payload = Vec::with_capacity(2 << 10);
    while payload.len() < LONGEST_PAYLOAD {
        if payload.trim_ascii_end().ends_with(b"}") && !has_more(PATIENCE) && is_whole(&payload) {
            break;
        }
        payload.reserve(1 << 10);
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(payload)
}

/// Tells whether more input, or its end, comes within that time.
fn has_more(patience: Duration) -> bool {
    let mut stdin = [PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN)];
    let patience = Timespec::try_from(patience).ok();
    !matches!(rustix::event::poll(&mut stdin, patience.as_ref()), Ok(0))
}

fn is_whole(payload: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(payload).is_ok()
}

/// Formats the error and its causes on one line.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
    }
}

/// Appends a line to `hook.log`, for finding out what went wrong.
pub(crate) fn log(line: &str) {
    let Some(paths) = Paths::from_environment() else { return };
    let path = paths.hook_log();
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&paths.data);
    let is_long = fs::metadata(&path).is_ok_and(|log| log.len() > LONGEST_LOG);
    let file = fs::OpenOptions::new()
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .create(true)
        .append(!is_long)
        .write(true)
        .truncate(is_long)
        .mode(0o600)
        .open(path);
    if let Ok(mut file) = file {
        let now = Machine::new(&paths.data).now().0;
        let _ = file.write_all(format!("{now} {}\n", text::one_line(line, 1_000)).as_bytes());
    }
}
