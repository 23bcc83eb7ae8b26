//! Keeps a permission hook waiting for an answer from elsewhere, beside its CLI's own dialog: the first
//! answer counts.
//!
//! It guards no write and holds no lock. **It ends by itself** when the dialog or its agent is gone, or ten
//! minutes are over; only the dialog can answer a question that is still open then.

use std::error::Error;
use std::time::Duration;
use std::time::Instant;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::journal::ChangeId;
use consort_core::policy::AskAnswer;
use consort_core::presence::SessionId;
use consort_core::presence::Status;
use consort_host::Paths;
use consort_host::env;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;

use crate::config;
use crate::error::CommandError;
use crate::hook_deadline;
use crate::notify;

/// Longest wait beside a dialog that can be used.
const LONGEST: Duration = Duration::from_secs(600);

/// Longest wait if the CLI shows its dialog only after the hook has ended.
const LONGEST_HIDDEN: Duration = Duration::from_secs(100);

/// Time that the process may take to end after its wait.
const GRACE: Duration = Duration::from_secs(10);

/// Interval at which the dialog is checked to be still there.
const TICK: Duration = Duration::from_millis(500);

/// Time after which the person is notified of a question that is not answered.
const TELL_AFTER: Duration = Duration::from_secs(5);

/// The event of our plugins, which close the hook's input when the dialog is gone.
const PLUGIN_EVENT: &str = "asks";

/// Waits for the answer to a recorded question; `None` if only the dialog can answer it now.
pub(crate) fn wait(
    app: &mut App,
    paths: &Paths,
    cli: &dyn AgentCli,
    ask: ChangeId,
    event: &str,
    is_hidden: bool,
) -> Result<Option<AskAnswer>, Box<dyn Error>> {
    // A question without a record cannot be answered from elsewhere.
    let Some(record) = app.ask_record(ask)? else { return Ok(None) };
    let session = record.ask.session;
    let longest = if is_hidden { LONGEST_HIDDEN } else { LONGEST };
    hook_deadline::extend(longest + GRACE);
    let mut listener = Listener::open(&paths.listeners(), None)?;
    let (since, mut was_seen, mut was_told) = (Instant::now(), false, false);
    while since.elapsed() < longest {
        match app.ask_record(ask)? {
            None => return Ok(None),
            Some(record) => {
                if let Some((answer, _)) = record.answer {
                    return Ok(Some(answer));
                }
            }
        }
        // The dialog comes only after the hook, and no open list shows the question any more.
        if is_hidden && !app.is_question_list_watched() {
            break;
        }
        if !was_told && since.elapsed() > TELL_AFTER {
            was_told = true;
            let _ = tell(app, paths, &session);
        }
        if is_gone(app, paths, cli, &session, is_hidden, &mut was_seen)? {
            break;
        }
        let input = (event == PLUGIN_EVENT).then(rustix::stdio::stdin);
        if listener.wait(input, TICK)? == WakeReason::Other {
            break;
        }
        app.close_if_replaced();
    }
    Ok(app.close_unanswered(ask)?)
}

/// Notifies the person, since no other process that would do so may be running.
fn tell(app: &mut App, paths: &Paths, session: &SessionId) -> Result<(), CommandError> {
    let Some((agent, _)) = app.present_session(session)? else { return Ok(()) };
    let acceptances = app.acceptances().unwrap_or_default();
    let config = config::load(paths, &agent.location.worktree, &[], &acceptances)?;
    notify::tell(app, &paths.data, &config.resolved)
}

/// Tells whether the agent is gone, or does not wait any more. Once its CLI has reported it as waiting, the
/// CLI's own report counts.
fn is_gone(
    app: &mut App,
    paths: &Paths,
    cli: &dyn AgentCli,
    session: &SessionId,
    is_hidden: bool,
    was_seen: &mut bool,
) -> Result<bool, Box<dyn Error>> {
    let Some((agent, _)) = app.present_session(session)? else { return Ok(true) };
    if !app.host().is_alive(&agent.location.process) {
        return Ok(true);
    }
    let live = cli.cli_status(&cli.config_dir(&paths.home, &env::get), &agent).map(|live| live.status);
    if live == Some(Status::Waiting) {
        *was_seen = true;
        return Ok(false);
    }
    let waits = app.activity_of(session).is_none_or(|now| now.status == Status::Waiting);
    Ok((live.is_some() && *was_seen) || !(waits || is_hidden))
}
