//! The command `consort inbox`: shows your new messages, waits for some, or lists the last,
//! those you sent or a thread.

mod sent;
mod thread;

use std::time::Duration;
use std::time::Instant;

use consort_core::host::NewsTopic;
use consort_core::journal::Actor;
use consort_core::messages::Correspondent;
use consort_core::messages::Letter;
use consort_core::messages::MessageName;
use consort_core::messages::MessageRefusal;
use consort_core::messages::UnreadLettersRequest;
use consort_core::messages::quote_letter;
use consort_core::messages::quote_message;
use consort_core::presence::Caller;
use consort_host::notify;
use consort_host::notify::Listener;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::person;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Wait for a message if there is none
    #[arg(long)]
    wait: bool,
    /// Most time to wait: `30s`, `5m`; exits 7 when nothing came
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = time::parse_duration)]
    timeout: Option<Duration>,
    /// List the last messages, read or not, without marking anything as read
    #[arg(long, conflicts_with_all = ["wait", "peek", "from"])]
    all: bool,
    /// List what you sent, and who has read it
    #[arg(long, conflicts_with_all = ["wait", "peek", "from", "all"])]
    sent: bool,
    /// Show a thread by any of its messages: `41`, or `web#41` for another project's
    #[arg(long, value_name = "N", conflicts_with_all = ["wait", "peek", "from", "all", "sent"])]
    thread: Option<MessageName>,
    /// Most messages to list with `--all` or `--sent`: 20 if not given
    #[arg(short = 'n', value_name = "COUNT")]
    count: Option<usize>,
    /// Look without marking anything as read
    #[arg(long)]
    peek: bool,
    /// Only from this sender; `you` is the person
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Messages that are listed if no number is given.
const LISTED: usize = 20;

/// Most failures of the store in a row after which a wait goes on, a second after the first and twice as long
/// after each further one.
const TRIES: u32 = 5;

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    if let Some(count) = args.count.filter(|_| !args.all && !args.sent) {
        return Err(CommandError::user(
            "`-n` counts what a list shows",
            format!(
                "`consort inbox --all -n {count}` lists the last messages, `consort inbox --sent -n {count}` those you sent"
            ),
        ));
    }
    let count = args.count.unwrap_or(LISTED);
    if let Some(message) = &args.thread {
        return thread::run(world, message, args.json).map(|()| ExitCode::SUCCESS);
    }
    if args.sent {
        return sent::run(world, count, args.json).map(|()| ExitCode::SUCCESS);
    }
    let mut opened = world.open()?;
    let mailbox = mailbox_owner(&mut opened)?;
    if args.all {
        return list(world, &mut opened, count, args.json, &mailbox);
    }
    let from = args.from.clone().map(|name| match name.as_str() {
        "you" | "@me" => Correspondent::Only(Actor::Person),
        _ => Correspondent::Named(name),
    });
    let request = UnreadLettersRequest { mailbox: mailbox.clone(), from, peek: args.peek };
    let letters =
        if args.wait { wait(world, &mut opened, args, &request)? } else { opened.app.inbox(&request)? };
    if args.json {
        world.out.items(&mut opened.app, &letters)?;
    } else {
        let now = opened.app.host().now();
        let shown: String = letters
            .iter()
            .map(|letter| quote_letter(letter, &mailbox, Some(&opened.project.id), now))
            .collect();
        world.out.text(shown)?;
    }
    if letters.is_empty() {
        output::note(if args.wait { "No message came in time." } else { "No new messages." });
        return Ok(ExitCode::from(if args.wait { exit::TIMED_OUT } else { 0 }));
    }
    if !args.peek {
        opened.app.mark_read(&mailbox, &letters)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the last messages, oldest first.
fn list(
    world: &World,
    opened: &mut OpenWorld,
    count: usize,
    json: bool,
    mailbox: &Actor,
) -> Result<ExitCode, CommandError> {
    let received = opened.app.received(mailbox, count)?;
    if json {
        world.out.items(&mut opened.app, &received)?;
    } else {
        let (here, now) = (Some(&opened.project.id), opened.app.host().now());
        world.out.text(
            received.iter().map(|post| quote_message(&post.message, mailbox, here, now)).collect::<String>(),
        )?;
    }
    if received.is_empty() {
        output::note("No messages.");
    }
    Ok(ExitCode::SUCCESS)
}

/// Sleeps until there is a letter or time is up. A store that fails meanwhile may come back.
fn wait(
    world: &World,
    opened: &mut OpenWorld,
    args: &Args,
    request: &UnreadLettersRequest,
) -> Result<Vec<Letter>, CommandError> {
    // A timeout too far off to be counted is none.
    let until = args.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let session = match opened.caller()? {
        Caller::Agent(agent) => Some(agent.location.process),
        Caller::Person | Caller::Anonymous(_) => None,
    };
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    // Opened before the first look, so that no message falls between the two.
    let topic = NewsTopic::Mailbox(request.mailbox.clone());
    let mut listener = Listener::open(&world.paths.listeners(), Some(&topic)).map_err(cannot_wait)?;
    let mut failures = 0;
    loop {
        let mut nap = notify::POLL_INTERVAL;
        match opened.app.inbox(request) {
            Ok(letters) if letters.is_empty() => failures = 0,
            Ok(letters) => return Ok(letters),
            Err(error) if failures < TRIES => {
                nap = Duration::from_secs(1 << failures);
                failures += 1;
                output::note(format_args!("Warning: {error}; trying again in {} s", nap.as_secs()));
                std::thread::sleep(nap);
                nap = Duration::ZERO;
            }
            Err(error) => return Err(error.into()),
        }
        let left = until.map_or(nap, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() && until.is_some() {
            return Ok(Vec::new());
        }
        listener.wait(None, nap.min(left)).map_err(cannot_wait)?;
        opened.app.close_if_replaced();
        // A wait that outlives its session would take mail that nobody sees.
        if session.as_ref().is_some_and(|session| !opened.app.host().is_alive(session)) {
            return Err(CommandError::user(
                "the session this waited for has ended",
                "`consort inbox --wait` belongs into the session that reads it",
            ));
        }
    }
}

/// Returns the caller, whose own mailbox the command is about.
pub(super) fn mailbox_owner(opened: &mut OpenWorld) -> Result<Actor, CommandError> {
    let facts = person::acting_caller(&mut opened.app)?;
    match opened.app.caller(&facts)? {
        Caller::Agent(agent) => Ok(Actor::Agent(agent.session)),
        Caller::Person => Ok(Actor::Person),
        Caller::Anonymous(why) => Err(MessageRefusal::from(why).into()),
    }
}
