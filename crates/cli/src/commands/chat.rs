//! The command `consort chat <agent>`: a conversation with one agent in the terminal,
//! line by line.

use std::io::BufRead as _;
use std::io::BufReader;
use std::os::fd::AsFd as _;

use consort_core::host::NewsTopic;
use consort_core::journal::Actor;
use consort_core::messages::Correspondent;
use consort_core::messages::MessageRefusal;
use consort_core::messages::MessageType;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::messages::UnreadLettersRequest;
use consort_core::messages::quote_letter;
use consort_core::messages::quote_message;
use consort_core::presence::Agent;
use consort_host::notify;
use consort_host::notify::Listener;
use consort_host::notify::WakeReason;

use super::inbox::mailbox_owner;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::person;
use crate::wake;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent to talk with
    agent: String,
}

/// Most earlier messages that are shown.
const BEFORE: usize = 10;

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let me = mailbox_owner(&mut opened)?;
    let other = opened.app.find_agent(&args.agent)?;
    let who = Actor::Agent(other.session.clone());
    let from = Some(Correspondent::Only(who.clone()));
    let request = UnreadLettersRequest { mailbox: me.clone(), from, peek: false };
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let mut listener = Listener::open(&world.paths.listeners(), Some(&NewsTopic::Mailbox(me.clone())))
        .map_err(cannot_wait)?;

    let new: Vec<_> = opened.app.inbox(&UnreadLettersRequest { peek: true, ..request.clone() })?;
    for post in opened.app.between(&me, &who, BEFORE)? {
        // New letters are shown as new in the loop below.
        if !new.iter().any(|letter| letter.message.id == post.message.id) {
            world.out.text(quote_message(
                &post.message,
                &me,
                Some(&opened.project.id),
                opened.app.host().now(),
            ))?;
        }
    }
    output::note(format_args!("With {}. Enter sends a line; Ctrl-D or /quit ends.", other.name));
    let mut stdin = BufReader::new(std::io::stdin());
    loop {
        opened.app.close_if_replaced();
        let letters = opened.app.inbox(&request)?;
        let now = opened.app.host().now();
        let here = Some(&opened.project.id);
        letters.iter().try_for_each(|letter| world.out.text(quote_letter(letter, &me, here, now)))?;
        if !letters.is_empty() {
            opened.app.mark_read(&me, &letters)?;
        }
        let has_line = !stdin.buffer().is_empty();
        let input = std::io::stdin();
        if has_line
            || listener.wait(Some(input.as_fd()), notify::POLL_INTERVAL).map_err(cannot_wait)?
                == WakeReason::Other
        {
            let mut line = String::new();
            match stdin.read_line(&mut line) {
                Ok(0) => return Ok(()),
                Ok(_) if ["/quit", "/exit"].contains(&line.trim()) => return Ok(()),
                Ok(_) => say(world, &mut opened, &other, line.trim())?,
                Err(error) => {
                    return Err(CommandError::user(
                        format!("standard input cannot be read: {error}"),
                        "type lines of UTF-8 text",
                    ));
                }
            }
        }
    }
}

fn say(world: &World, opened: &mut OpenWorld, other: &Agent, line: &str) -> CommandResult {
    if line.is_empty() {
        return Ok(());
    }
    // The agent may have been renamed since.
    let name =
        opened.app.name_of(&other.session)?.map_or_else(|| other.name.to_string(), |name| name.to_string());
    if opened.app.find_agent(&name).map(|agent| agent.session).ok().as_ref() != Some(&other.session) {
        return Err(MessageRefusal::Gone { name }.into());
    }
    let request = SendRequest {
        caller: person::acting_caller(&mut opened.app)?,
        to: Recipients::Named(vec![name]),
        kind: MessageType::Info,
        text: line.to_owned(),
        ..SendRequest::default()
    };
    match opened.app.send(&request) {
        Ok(outcome) => {
            wake::wake(world, &mut opened.app, &request, &outcome).iter().for_each(output::note);
            Ok(())
        }
        // A line that cannot be sent, being too long, is no reason to end the talk.
        Err(error) => {
            output::note(CommandError::from(error).render().trim_end());
            Ok(())
        }
    }
}
