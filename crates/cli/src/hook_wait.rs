//! Runs `consort hook <kind> wait`: our plugin keeps it running beside an idle session, until there is mail
//! to wake that session for.
//!
//! It prints the session's name, sleeps until it is notified, and prints `{"wake":true}` when there is mail.
//! It delivers nothing: the plugin then asks for the mail by a hook like any other. **It outlives neither its
//! session nor the process that started it**: it ends when its input does.

use std::error::Error;
use std::io::Write as _;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::host::NewsTopic;
use consort_core::journal::Actor;
use consort_core::messages::WakeCheck;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::env;
use consort_host::notify;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use serde_json::json;

/// The name of the event that starts this process.
pub(crate) const EVENT: &str = "wait";

/// Longest first line, in bytes: more than a session's facts ever take.
const LONGEST_LINE: usize = 64 << 10;

pub(crate) fn run(cli: &dyn AgentCli) -> Result<(), Box<dyn Error>> {
    let Some(session) = read_line()?.and_then(|line| cli.read(EVENT, &line)).map(|call| call.session) else {
        return Ok(());
    };
    let paths = Paths::from_environment().ok_or("neither CONSORT_HOME nor HOME is set")?;
    // Opened before the first look, so that no mail falls between the two.
    let topic = NewsTopic::Mailbox(Actor::Agent(session.clone()));
    let mut listener = Listener::open(&paths.listeners(), Some(&topic))?;
    let mut app = App::new(Store::new(paths.store(), StoreUser::Command), Machine::new(&paths.data));
    let Some((me, others)) = app.present_session(&session)? else { return Ok(()) };
    let task = app.claimed_task(&session)?.map(|task| task.key.id);
    say(&json!({ "name": me.name.as_str(), "others": others, "task": task }));
    loop {
        match app.check_wake(&session, &env::get)? {
            WakeCheck::Nothing => {}
            WakeCheck::Mail => {
                say(&json!({ "wake": true }));
                return Ok(());
            }
            WakeCheck::Gone => return Ok(()),
        }
        if listener.wait(Some(rustix::stdio::stdin()), notify::POLL_INTERVAL)? == WakeReason::Other {
            return Ok(());
        }
        app.close_if_replaced();
        if !app.host().is_alive(&me.location.process) {
            return Ok(());
        }
    }
}

/// Reads the first line of standard input, which stays open; `None` if the input ends before, or the line
/// goes on for too long.
fn read_line() -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    while line.len() < LONGEST_LINE {
        line.reserve(1 << 10);
        match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(&mut line)) {
            Ok(0) => return Ok(None),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Ok(Some(line));
        }
    }
    Ok(None)
}

/// Prints a line. A reader that has gone is no failure: the end of our input will tell us.
fn say(line: &serde_json::Value) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}
