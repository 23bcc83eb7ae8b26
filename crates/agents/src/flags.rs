//! Which options an installed agent CLI has: what its help tells, and what it is known to
//! take without telling.

use std::collections::BTreeSet;

use crate::AgentCli;

/// How far a line is indented at most that begins an option; what is further in is about
/// one.
const INDENT: usize = 8;

/// The options of an installed CLI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags(BTreeSet<String>);

impl Flags {
    /// By what a CLI prints after [`AgentCli::help_arguments`], on either stream.
    pub fn of(cli: &dyn AgentCli, help: &str) -> Self {
        let hidden = cli.hidden_flags().iter().map(|flag| (*flag).to_owned());
        Self(in_help(help).chain(hidden).collect())
    }

    /// As they were kept.
    pub fn from_names(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().collect())
    }

    /// To be kept.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether it takes an option, with its dashes.
    pub fn knows(&self, flag: &str) -> bool {
        self.0.contains(flag)
    }

    /// It was refused.
    pub fn forget(&mut self, flag: &str) {
        self.0.remove(flag);
    }
}

/// The options in a text of help, in whichever of the common layouts.
fn in_help(help: &str) -> impl Iterator<Item = String> {
    help.lines().flat_map(|line| {
        let words = line.trim_start();
        let is_option = words.starts_with('-') && line.len() - words.len() <= INDENT;
        // What it means follows after a gap.
        let told = words.split("  ").next().filter(|_| is_option).unwrap_or_default();
        told.split([',', ' ', '=', '|']).filter_map(flag).collect::<Vec<_>>()
    })
}

/// A word as an option: dashes, then letters.
fn flag(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(word.len());
    let name = word[..end].strip_prefix('-')?.trim_start_matches('-');
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| word[..end].to_owned())
}

/// The option that an error message is about, where a CLI does not know it.
pub fn refused(message: &str) -> Option<String> {
    let lower = message.to_lowercase();
    let says_so = ["unexpected argument", "unknown option", "unknown argument", "unrecognized option"];
    let at = says_so.iter().find_map(|says| lower.find(says))?;
    // Small letters may be longer or shorter than their capitals.
    let told = message.get(at..)?.split('\n').next()?;
    let mut words = told
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
    let dashed = words.clone().find(|word| word.starts_with('-')).and_then(flag);
    // `Unknown argument: quiet`, without its dashes.
    dashed.or_else(|| flag(&format!("--{}", words.nth(2)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(help: &str) -> Vec<String> {
        in_help(help).collect()
    }

    #[test]
    fn options_are_found_in_every_layout() {
        assert_eq!(all("  -p, --print            Print --nothing and exit"), ["-p", "--print"]);
        assert_eq!(
            all("  --allowedTools, --allowed-tools <tools...>"),
            ["--allowedTools", "--allowed-tools"]
        );
        assert_eq!(all("      --json\n          Print -events"), ["--json"]);
        assert_eq!(all("  -c, --config <key=value>"), ["-c", "--config"]);
        assert_eq!(all("  --tools, -t <tools>    Comma-separated"), ["--tools", "-t"]);
        assert_eq!(all("      --format       format: default or json"), ["--format"]);
        assert_eq!(all("  --use-theme <name[/name]>      Set it"), ["--use-theme"]);
        assert_eq!(all("  -r, --resume [<value>]"), ["-r", "--resume"]);
    }

    #[test]
    fn what_is_about_an_option_is_none() {
        assert_eq!(all("                    --append-system-prompt[-file], --add-dir"), [""; 0]);
        assert_eq!(all("  --    End option parsing\n  - a point\n  copilot --yolo"), [""; 0]);
    }

    #[test]
    fn a_hidden_option_is_known() {
        let flags = Flags::of(&crate::claude::Claude, "  --model <model>  Model");
        assert!(flags.knows("--max-turns") && flags.knows("--model") && !flags.knows("--quiet"));
        assert_eq!(Flags::from_names(flags.names().map(str::to_owned)), flags);
    }

    #[test]
    fn a_refused_option_is_named() {
        assert_eq!(refused("error: unexpected argument '--full-auto' found").as_deref(), Some("--full-auto"));
        assert_eq!(refused("error: unknown option '--quiet'").as_deref(), Some("--quiet"));
        assert_eq!(refused("Unknown arguments: full-auto, fullAuto").as_deref(), Some("--full-auto"));
        assert_eq!(refused("Unknown argument"), None);
        assert_eq!(refused("no such file: --x"), None);
    }
}
