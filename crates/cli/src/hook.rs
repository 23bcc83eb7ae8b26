//! `consort hook <kind> <event>`: the path that must be quick and silent.
//!
//! No argument parser, no configuration file, no logger. **Whatever goes
//! wrong, it prints nothing and exits 0**: an agent must never stand still
//! because of us. What went wrong is one line in `hook.log`.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::OpenOptionsExt as _;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::host::Host as _;
use consort_core::presence::Terminal;
use consort_core::text;
use consort_hook::Surroundings;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::env;
use consort_sqlite::Access;
use consort_sqlite::Store;

use crate::exit::ExitCode;
use crate::wait;

/// More than any CLI sends; what is longer is not for us.
const LONGEST_PAYLOAD: usize = 64 << 20;

/// The log starts anew when it is longer than this.
const LONGEST_LOG: u64 = 256 << 10;

pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        log(&format!("panic: {panic}"));
        std::process::exit(0);
    }));
    let mut next = || arguments.next().and_then(|argument| argument.into_string().ok());
    if let (Some(kind), Some(event)) = (next(), next())
        && let Some(cli) = consort_agents::find(&kind)
        && let Err(error) = if event == wait::EVENT { wait::run(cli) } else { answer(cli, &event) }
    {
        log(&format!("{kind} {event}: {}", chain(error.as_ref())));
    }
    // Leaves without closing the store: there is nothing to flush, and the
    // last one to close it would have to checkpoint.
    std::process::exit(0);
}

fn answer(cli: &'static dyn AgentCli, event: &str) -> Result<(), Box<dyn Error>> {
    let payload = read_stdin()?;
    let Some(call) = cli.read(event, &payload) else { return Ok(()) };
    let paths = Paths::from_environment().ok_or("neither CONSORT_HOME nor HOME is set")?;
    let store = Store::new(paths.store(), Access::Hook);
    let mut app = App::new(store, Machine::new(paths.bells()));
    let answer = consort_hook::handle(&mut app, &call, &Process(cli))?;
    if let Some(line) = cli.write(event, &answer.reply) {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(line.as_bytes())?;
        stdout.flush()?;
    }
    if let Some(mail) = &answer.mail {
        app.shown(mail)?;
    }
    std::mem::forget(app);
    Ok(())
}

/// This process, started by that agent CLI.
struct Process(&'static dyn AgentCli);

impl Surroundings for Process {
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    fn pid(&self) -> Option<u32> {
        self.0.pid_variable().and_then(env::get)?.parse().ok()
    }

    fn name(&self) -> Option<String> {
        env::get(env::NAME)
    }

    fn terminal(&self) -> Terminal {
        env::terminal()
    }

    fn hears_before_tools(&self) -> bool {
        self.0.hears_before_tools()
    }

    fn variable(&self, name: &str) -> Option<String> {
        env::get(name)
    }
}

/// All of standard input. The standard library's handle would add a buffer
/// that is touched once.
fn read_stdin() -> std::io::Result<Vec<u8>> {
    let mut payload = Vec::with_capacity(2 << 10);
    while payload.len() < LONGEST_PAYLOAD {
        payload.reserve(1 << 10);
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(payload)
}

/// The error and what caused it, on one line.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
    }
}

fn log(line: &str) {
    let Some(paths) = Paths::from_environment() else { return };
    let path = paths.hook_log();
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&paths.data);
    let is_long = fs::metadata(&path).is_ok_and(|log| log.len() > LONGEST_LOG);
    let file = fs::OpenOptions::new()
        .create(true)
        .append(!is_long)
        .write(true)
        .truncate(is_long)
        .mode(0o600)
        .open(path);
    if let Ok(mut file) = file {
        let now = Machine::new(paths.bells()).now().0;
        let _ = file.write_all(format!("{now} {}\n", text::one_line(line, 1_000)).as_bytes());
    }
}
