//! Explains mistakes on the command line, in the form of all other errors.

use clap::error::ContextKind;
use clap::error::ContextValue;
use clap::error::ErrorKind;
use consort_core::text;

use crate::args;
use crate::error::CommandError;
use crate::help;

/// Turns the parser's error into a message, with hints at what was meant.
pub(crate) fn explain(error: &clap::Error) -> CommandError {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    if let (ErrorKind::InvalidSubcommand, Some(typed)) = (error.kind(), of(ContextKind::InvalidSubcommand)) {
        let group = group_of(&typed);
        let hint = match meant(&typed).or_else(|| nearest(&typed, group.as_deref())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", commands_of(group.as_deref()).join(", ")),
        };
        let message = format!("there is no command `{}`", text::foreign(&typed, 60));
        return CommandError::usage(message, vec![hint]);
    }
    // Clap's own words, without its layout.
    let rendered = error.render().to_string();
    let (mut message, mut hints) = (String::new(), Vec::new());
    for line in rendered.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(first) = line.strip_prefix("error: ") {
            message = first.to_owned();
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            if is_useful(tip) {
                hints.push(tip.to_owned());
            }
        } else if line.starts_with("Usage: ") {
            // Clap guesses this usage from what was typed; `page` adds the whole one.
        } else if !line.starts_with("For more information") && !line.starts_with('[') {
            message = format!("{message} {line}");
        } else if line.starts_with('[') {
            hints.push(line.trim_matches(['[', ']']).to_owned());
        }
    }
    // A wrong value of an option has nothing to do with how the command is called.
    if of(ContextKind::InvalidArg).is_none_or(|wrong| !wrong.contains(" <")) {
        hints.extend(page(error.kind()));
    }
    CommandError::usage(message, hints)
}

/// Returns hints from the help page of the command that was called: its usage, and its options or an example.
fn page(mistake: ErrorKind) -> Vec<String> {
    let root = args::command();
    let (mut command, mut words) = (&root, Vec::new());
    for word in std::env::args().skip(1) {
        if let Some(inner) = command.find_subcommand(&word) {
            words.push(inner.get_name());
            command = inner;
        }
    }
    let usage = command.clone().render_usage().to_string();
    let mut hints = vec![usage.replacen("Usage:", "usage:", 1)];
    match mistake {
        ErrorKind::UnknownArgument => hints.push(options(command)),
        _ => hints.extend(help::example(&words.join(" ")).map(|example| format!("for example: {example}"))),
    }
    hints
}

/// Our commands, each with the words that other programs use for it.
const OTHER_WORDS: &[(&str, &[&str])] = &[
    ("send all '<text>'", &["broadcast", "announce", "shout"]),
    ("send <agent> '<text>'", &["tell", "notify", "dm", "write", "say"]),
    ("inbox", &["read", "mail", "messages", "unread", "receive"]),
    ("explain <path>", &["can-write", "can", "may", "may-write", "check-path", "test"]),
    ("task done <id>", &["complete", "finish", "close", "resolve"]),
    ("know search <words>", &["find", "grep", "recall", "lookup", "get"]),
    ("know add <kind> <name> '<text>'", &["remember", "learn", "note", "memorize", "record", "save"]),
    ("holds", &["mine", "locks", "reservations", "claims", "reserved"]),
    ("reserve <path>", &["claim", "take"]),
    ("release <path>", &["free", "unreserve", "unclaim", "unlock"]),
    ("journal tail", &["log", "events"]),
    ("agent rename <name>", &["name", "nick", "call-me"]),
    ("with <cli>", &["start", "launch"]),
];

/// Returns our command for a word that is a command elsewhere.
fn meant(typed: &str) -> Option<String> {
    let meant = OTHER_WORDS.iter().find(|(_, words)| words.contains(&typed.to_lowercase().as_str()))?;
    Some(meant.0.to_owned())
}

/// Returns the names of the commands of a group, or of the whole program.
fn commands_of(group: Option<&str>) -> Vec<String> {
    let root = args::command();
    let Some(command) = group.map_or(Some(&root), |group| root.find_subcommand(group)) else {
        return Vec::new();
    };
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
    shown.map(|inner| inner.get_name().to_owned()).collect()
}

/// Lists the options of a command in a sentence.
fn options(command: &clap::Command) -> String {
    let options = command.get_arguments().filter(|one| !one.is_positional());
    let shown = options.filter(|one| !one.is_hide_set() && !one.is_global_set() && one.get_id() != "help");
    let mut named: Vec<String> = shown
        .filter_map(|one| {
            let value = one.get_value_names().filter(|_| one.get_action().takes_values());
            let value = value.map_or_else(String::new, |names| format!(" <{}>", names.join("> <")));
            Some(format!("--{}{value}", one.get_long()?))
        })
        .collect();
    named.sort();
    if named.is_empty() { "it has no options".into() } else { format!("its options: {}", named.join(", ")) }
}

/// Tells whether a tip of clap's helps. Two kinds lead away from what was meant: passing an option as a
/// value, and an option that only sounds alike, since all options are named anyway.
fn is_useful(tip: &str) -> bool {
    !["use '-- ", "a similar argument exists"].iter().any(|part| tip.contains(part))
}

/// Returns the group that a word was typed after, if any.
fn group_of(typed: &str) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    let before = words.windows(2).find(|pair| pair[1] == typed).map(|pair| pair[0].clone())?;
    let root = args::command();
    let group = root.find_subcommand(&before)?;
    group.has_subcommands().then(|| group.get_name().to_owned())
}

/// Finds the command that was probably meant. Aliases count, hidden commands do not. A command of a group is
/// found even if the group was left out.
fn nearest(typed: &str, group: Option<&str>) -> Option<String> {
    let root = args::command();
    let within = |command: &clap::Command, group: &str| {
        let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
        let names = shown.flat_map(|inner| {
            let called = format!("{group}{}", inner.get_name());
            let names = inner.get_all_aliases().chain([inner.get_name()]);
            names.map(|name| (name.to_owned(), called.clone())).collect::<Vec<_>>()
        });
        names.collect::<Vec<(String, String)>>()
    };
    if let Some(group) = group {
        let names = within(root.find_subcommand(group)?, &format!("{group} "));
        return called(typed, &names);
    }
    let names = within(&root, "");
    let groups = root.get_subcommands().filter(|command| !command.is_hide_set());
    let inner: Vec<(String, String)> =
        groups.flat_map(|command| within(command, &format!("{} ", command.get_name()))).collect();
    let exact = inner.iter().find(|(name, _)| name == typed).map(|(_, called)| called.clone());
    exact.or_else(|| called(typed, &names)).or_else(|| called(typed, &inner))
}

/// Returns the full words of the command whose name is most like the typed word.
fn called(typed: &str, names: &[(String, String)]) -> Option<String> {
    let near = text::nearest(typed, names.iter().map(|(name, _)| name.as_str()))?;
    names.iter().find(|(name, _)| name == near).map(|(_, called)| called.clone())
}
