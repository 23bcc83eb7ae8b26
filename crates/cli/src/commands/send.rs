//! The command `consort send`: sends a message to agents or to the person.
//!
//! Agents run it in the middle of their work, many at once, so it takes the short way: no configuration is
//! read and no old data is tidied up.

use std::ffi::OsString;
use std::io::Read as _;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use consort_core::App;
use consort_core::explain::Explain as _;
use consort_core::journal::Actor;
use consort_core::messages::MessageName;
use consort_core::messages::MessageType;
use consort_core::messages::Priority;
use consort_core::messages::Recipient;
use consort_core::messages::Recipients;
use consort_core::messages::SendOutcome;
use consort_core::messages::SendRequest;
use consort_core::presence::AgentView;
use consort_core::presence::ScreenPart;
use consort_core::presence::WhoScope;
use consort_core::text;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::observe;
use crate::output;
use crate::person;
use crate::wake;
use crate::world::World;

/// Most bytes of a text that are read: a longer text is refused anyway.
const LONGEST_INPUT: u64 = 16 << 20;

#[derive(clap::Args, Debug, Default, PartialEq)]
pub(crate) struct Args {
    /// Agents' names, `all` in this project or `@me` for the person; then the text, or `-` to read it
    #[arg(required = true, value_name = "TO>... <TEXT")]
    words: Vec<String>,
    /// To every agent on this machine; give only the text
    #[arg(long)]
    everywhere: bool,
    /// The kind of message
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = "info", value_parser = message_type())]
    kind: MessageType,
    /// Its priority [default: normal; for handoff and block: urgent]
    #[arg(short, long, value_parser = priority())]
    priority: Option<Priority>,
    /// The message this answers; without names, it goes to the sender of that one
    #[arg(short, long, value_name = "NUMBER")]
    reply: Option<MessageName>,
    /// Send it once: again with the same key, it is not sent
    #[arg(long)]
    key: Option<String>,
    /// The agent to send it for (the person only)
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Send it though something looks like a secret (the person only)
    #[arg(long)]
    even_so: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Builds the arguments for an answer to a message, to its sender.
    pub(super) fn reply(number: MessageName, text: String, kind: MessageType, json: bool) -> Self {
        Self { words: vec![text], reply: Some(number), kind, json, ..Self::default() }
    }

    /// Builds the arguments for a message to one agent.
    pub(super) fn message(to: &str, text: String) -> Self {
        Self { words: vec![to.to_owned(), text], ..Self::default() }
    }

    /// Parses the common forms of the command line without clap, which costs as much as the rest of an
    /// ordinary call. `None` is left to clap.
    pub(crate) fn quick(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut args = Self::default();
        let mut kind = None;
        let mut arguments = arguments.map(|argument| argument.into_string().ok());
        while let Some(argument) = arguments.next() {
            let argument = argument?;
            let mut value =
                || arguments.next().flatten().filter(|value| !value.is_empty() && !value.starts_with('-'));
            // An option given twice is a mistake, and the parser says so.
            match argument.as_str() {
                "--everywhere" if !args.everywhere => args.everywhere = true,
                "--json" if !args.json => args.json = true,
                "-t" | "--type" if kind.is_none() => kind = Some(MessageType::named(&value()?)?),
                "-p" | "--priority" if args.priority.is_none() => {
                    args.priority = Some(Priority::named(&value()?)?);
                }
                "-r" | "--reply" if args.reply.is_none() => args.reply = Some(value()?.parse().ok()?),
                "--key" if args.key.is_none() => args.key = Some(value()?),
                "--from" if args.from.is_none() => args.from = Some(value()?),
                // A text that is a list begins with a dash too.
                option if option.starts_with('-') && option != "-" && !option.contains(' ') => return None,
                _ => args.words.push(argument),
            }
        }
        args.kind = kind.unwrap_or_default();
        (!args.words.is_empty()).then_some(args)
    }
}

pub(super) fn message_type() -> impl TypedValueParser<Value = MessageType> {
    let names = PossibleValuesParser::new(MessageType::ALL.map(MessageType::as_str));
    names.try_map(|name| MessageType::named(&name).ok_or("no such type"))
}

fn priority() -> impl TypedValueParser<Value = Priority> {
    let names = PossibleValuesParser::new(Priority::ALL.map(Priority::as_str));
    names.try_map(|name| Priority::named(&name).ok_or("no such priority"))
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut app = world.app();
    let (text, names) = args.words.split_last().map_or(("", [].as_slice()), |(text, names)| (text, names));
    let text = if text == "-" { read_stdin()? } else { text.to_owned() };
    let names: Vec<String> = names
        .iter()
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    let names =
        names.into_iter().map(|name| at_place(world, &mut app, name)).collect::<Result<Vec<_>, _>>()?;
    let to = match names.is_empty() {
        true if args.everywhere => Recipients::Everywhere,
        true if args.reply.is_some() => Recipients::Sender,
        true => return Err(incomplete(&text)),
        _ if args.everywhere => {
            return Err(CommandError::user(
                "`--everywhere` reaches every agent, and names were given as well",
                "leave out one of them; put the text in quotes",
            ));
        }
        _ => Recipients::Named(names),
    };
    let to_all = matches!(&to, Recipients::Named(names) if names.iter().any(|name| name == "all"));
    let caller = person::acting_caller(&mut app)?;
    let asks_where = to_all || args.reply.is_some() || !caller.in_agent;
    let request = SendRequest {
        caller,
        as_agent: args.from.clone(),
        repository: asks_where.then(|| app.host().place(&world.cwd).repository),
        to,
        kind: args.kind,
        priority: args.priority,
        text,
        reply_to: args.reply.clone(),
        key: args.key.clone(),
        project: None,
        even_so: args.even_so,
    };
    let outcome = app.send(&request)?;
    let woken = wake::wake(world, &mut app, &request, &outcome);
    if args.json {
        world.out.one(&mut app, "message", &outcome)?;
    } else {
        world.out.line(describe(&outcome, !request.caller.in_agent))?;
        woken.iter().try_for_each(|line| world.out.line(line))?;
    }
    for refusal in &outcome.failed {
        output::note(format_args!("Error: not sent to everyone: {refusal}"));
        refusal.hints().iter().for_each(|hint| output::note(format_args!("Hint: {hint}")));
    }
    // The store is left open, as hooks leave it: there is nothing to flush, and the last connection to close
    // would run the checkpoint.
    std::mem::forget(app);
    Ok(ExitCode::from(if outcome.failed.is_empty() { 0 } else { exit::FOUND_SOMETHING }))
}

/// Makes the error for a single argument: one word is a name without a text, several are a text without a
/// name.
fn incomplete(word: &str) -> CommandError {
    let word = text::foreign(word, 60);
    if word.contains(char::is_whitespace) {
        return CommandError::usage(
            "no recipient is named",
            vec!["consort send <name> '<text>'; all: everyone; @me: the user".into()],
        );
    }
    CommandError::usage("the text is missing", vec![format!("consort send {word} '…'")])
}

/// Returns the name of the agent at a place on the screen, and every other word as it is.
fn at_place(world: &World, app: &mut App, name: String) -> Result<String, CommandError> {
    if ScreenPart::named(&name).is_none() {
        return Ok(name);
    }
    let seen = app.who(&WhoScope::Everywhere, None, |agents| observe::look(&world.paths.home, agents))?;
    let is_there = |seen: &&AgentView| seen.quadrant.is_some_and(|quadrant| quadrant.as_str() == name);
    let there: Vec<String> =
        seen.agents.iter().filter(is_there).map(|seen| seen.agent.name.to_string()).collect();
    match there.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(CommandError::user(format!("no agent is at {name}"), "`consort who` shows where each is")),
        several => Err(CommandError::user(
            format!("several agents are at {name}: {}", several.join(", ")),
            "name one of them",
        )),
    }
}

/// Formats the outcome for the person or an agent: `Sent message #7 to Falcon.`
fn describe(outcome: &SendOutcome, is_person: bool) -> String {
    let is_self = |to: &Recipient| is_person && to.who == Actor::Person;
    let names: Vec<&str> = outcome.to.iter().map(|to| if is_self(to) { "you" } else { &to.name }).collect();
    let sent = if outcome.duplicate { "Sent before as" } else { "Sent" };
    format!("{sent} message {} to {}.", outcome.message_name(), names.join(", "))
}

fn read_stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    std::io::stdin().lock().take(LONGEST_INPUT).read_to_string(&mut text).map_err(|error| {
        CommandError::user(
            format!("standard input cannot be read: {error}"),
            "a message is UTF-8 text; give it as the last argument or pipe it in",
        )
    })?;
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;

    use super::*;

    #[derive(Parser)]
    struct Slow {
        #[command(flatten)]
        args: Args,
    }

    proptest! {
        /// The quick parser understands nothing that clap does not, and nothing differently.
        #[test]
        fn the_short_way_is_a_way(words in proptest::collection::vec(word(), 0..8)) {
            let arguments = || words.iter().map(OsString::from);
            let is_list = |word: &String| word.starts_with('-') && word.contains(' ');
            if let Some(quick) = Args::quick(arguments()).filter(|_| !words.iter().any(is_list)) {
                let slow = Slow::try_parse_from(std::iter::once("send".into()).chain(arguments()));
                prop_assert_eq!(Some(quick), slow.ok().map(|slow| slow.args));
            }
        }
    }

    fn word() -> impl Strategy<Value = String> {
        let known = [
            "--everywhere",
            "--json",
            "-t",
            "--type",
            "question",
            "-p",
            "--priority",
            "urgent",
            "-r",
            "--reply",
            "7",
            "#7",
            "--key",
            "--from",
            "Falcon",
            "all",
            "@me",
            "-",
            "--",
            "-x",
            "--help",
            "",
            "a text",
            "--type=ack",
            "-tack",
            "-1",
        ];
        prop_oneof![proptest::sample::select(known.to_vec()).prop_map(str::to_owned), ".{0,4}"]
    }
}
