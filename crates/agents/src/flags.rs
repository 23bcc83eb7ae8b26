//! The command-line options that an installed agent CLI has: those in its help, and those that it is known to
//! take though its help leaves them out.

use std::collections::BTreeSet;

use crate::AgentCli;

/// The deepest indentation of a line that begins an option; lines that are indented further describe an
/// option.
const INDENT: usize = 8;

/// The command-line options of an installed CLI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags(BTreeSet<String>);

impl Flags {
    /// Finds the options in `help`, the text that a CLI prints after [`AgentCli::help_arguments`] on either
    /// stream.
    pub fn from_help(cli: &dyn AgentCli, help: &str) -> Self {
        let hidden = cli.hidden_flags().iter().map(|flag| (*flag).to_owned());
        Self(in_help(help).chain(hidden).collect())
    }

    /// Makes the options from names that [`Flags::names`] returned earlier.
    pub fn from_names(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().collect())
    }

    /// Returns the names of all options, to be stored.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Tells whether the CLI takes an option, which is given with its dashes.
    pub fn knows(&self, flag: &str) -> bool {
        self.0.contains(flag)
    }

    /// Removes an option that the CLI has refused.
    pub fn forget(&mut self, flag: &str) {
        self.0.remove(flag);
    }
}

/// Finds the options in a help text, in any of the common layouts.
fn in_help(help: &str) -> impl Iterator<Item = String> {
    help.lines().flat_map(|line| {
        let words = line.trim_start();
        let is_option = words.starts_with('-') && line.len() - words.len() <= INDENT;
        // The description follows after two spaces.
        let told = words.split("  ").next().filter(|_| is_option).unwrap_or_default();
        told.split([',', ' ', '=', '|']).filter_map(flag).collect::<Vec<_>>()
    })
}

/// Reads a word as an option: dashes, then letters.
fn flag(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(word.len());
    let name = word[..end].strip_prefix('-')?.trim_start_matches('-');
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| word[..end].to_owned())
}

/// Returns the option that a CLI's error message says is unknown.
pub fn unknown_option(message: &str) -> Option<String> {
    let lower = message.to_lowercase();
    let says_so = ["unexpected argument", "unknown option", "unknown argument", "unrecognized option"];
    let at = says_so.iter().find_map(|says| lower.find(says))?;
    // Lower-case letters may have other lengths than their capitals, so `at` may not fit.
    let told = message.get(at..)?.split('\n').next()?;
    let mut words = told
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
    let dashed = words.clone().find(|word| word.starts_with('-')).and_then(flag);
    // Some CLIs name the option without its dashes: `Unknown argument: quiet`.
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
        let flags = Flags::from_help(&crate::claude::Claude, "  --model <model>  Model");
        assert!(flags.knows("--max-turns") && flags.knows("--model") && !flags.knows("--quiet"));
        assert_eq!(Flags::from_names(flags.names().map(str::to_owned)), flags);
    }

    #[test]
    fn a_refused_option_is_named() {
        assert_eq!(
            unknown_option("error: unexpected argument '--full-auto' found").as_deref(),
            Some("--full-auto")
        );
        assert_eq!(unknown_option("error: unknown option '--quiet'").as_deref(), Some("--quiet"));
        assert_eq!(unknown_option("Unknown arguments: full-auto, fullAuto").as_deref(), Some("--full-auto"));
        assert_eq!(unknown_option("Unknown argument"), None);
        assert_eq!(unknown_option("no such file: --x"), None);
    }
}
