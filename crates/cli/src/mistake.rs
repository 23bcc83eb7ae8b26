//! Mistakes on the command line, said as all other errors are.

use clap::error::ContextKind;
use clap::error::ContextValue;
use clap::error::ErrorKind;
use consort_core::text;

use crate::args;
use crate::error::CommandError;

/// What is wrong with a command line, and what was meant.
pub(crate) fn explain(error: &clap::Error) -> CommandError {
    let of = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    if let (ErrorKind::InvalidSubcommand, Some(typed)) = (error.kind(), of(ContextKind::InvalidSubcommand)) {
        let group = group_of(&typed);
        let hint = match (nearest(&typed, group.as_deref()), group) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Some(group)) => format!("`consort {group} --help` lists all"),
            (None, None) => "`consort --help` lists all".into(),
        };
        let message = format!("there is no command `{}`", text::foreign(&typed, 60));
        return CommandError::usage(message, vec![hint]);
    }
    // Clap's own words, without its way to print them.
    let rendered = error.render().to_string();
    let (mut message, mut hints) = (String::new(), Vec::new());
    for line in rendered.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(first) = line.strip_prefix("error: ") {
            message = first.to_owned();
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            if is_useful(tip) {
                hints.push(tip.to_owned());
            }
        } else if let Some(usage) = line.strip_prefix("Usage: ") {
            hints.push(format!("usage: {usage}"));
        } else if !line.starts_with("For more information") && !line.starts_with('[') {
            message = format!("{message} {line}");
        } else if line.starts_with('[') {
            hints.push(line.trim_matches(['[', ']']).to_owned());
        }
    }
    CommandError::usage(message, hints)
}

/// Not what leads away from what was meant: options that are not for people, and a way to
/// pass an option as a value.
fn is_useful(tip: &str) -> bool {
    !["use '-- ", "'--token-fd'", "'--token-file'", "'--set'"].iter().any(|part| tip.contains(part))
}

/// The group that a word was typed after, if it was.
fn group_of(typed: &str) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    let before = words.windows(2).find(|pair| pair[1] == typed).map(|pair| pair[0].clone())?;
    let root = args::command();
    let group = root.find_subcommand(&before)?;
    group.has_subcommands().then(|| group.get_name().to_owned())
}

/// The command that was meant: other names for it are looked at too, those that are not
/// for people are not. One of a group may be typed without it.
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

/// What the name is called that is most like a word.
fn called(typed: &str, names: &[(String, String)]) -> Option<String> {
    let near = text::nearest(typed, names.iter().map(|(name, _)| name.as_str()))?;
    names.iter().find(|(name, _)| name == near).map(|(_, called)| called.clone())
}
