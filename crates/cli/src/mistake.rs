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
        let near = nearest(&typed);
        let hint = near
            .map_or_else(|| "`consort --help` lists all".into(), |near| format!("did you mean `{near}`?"));
        return CommandError::usage(
            format!("there is no command `{}`", text::foreign(&typed, 60)),
            vec![hint],
        );
    }
    // Clap's own words, without its way to print them.
    let rendered = error.render().to_string();
    let (mut message, mut hints) = (String::new(), Vec::new());
    for line in rendered.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(first) = line.strip_prefix("error: ") {
            message = first.to_owned();
        } else if let Some(tip) = line.strip_prefix("tip: ") {
            hints.push(tip.to_owned());
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

/// The command that was meant: other names for it are looked at too, those that are not
/// for people are not.
fn nearest(typed: &str) -> Option<String> {
    let root = args::command();
    let shown: Vec<&clap::Command> =
        root.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    let names = shown.iter().flat_map(|command| command.get_all_aliases().chain([command.get_name()]));
    let near = text::nearest(typed, names)?.to_owned();
    let meant = shown.iter().find(|command| command.get_all_aliases().any(|alias| alias == near));
    Some(meant.map_or(near, |command| command.get_name().to_owned()))
}
