//! Runs `consort shield -- <command>`: a command for which paths that others hold are read-only, if its text
//! does not tell what it writes.
//!
//! Agent CLIs run their commands through this, so it is as quick as a hook: no argument parser, no
//! configuration file. It becomes the command: same process, directory, environment, terminal and signals.
//! **Whatever goes wrong, the command runs as it would have.**

use std::error::Error;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::App;
use consort_core::text;
use consort_host::Machine;
use consort_host::Paths;
use consort_host::env;
use consort_host::shield;
use consort_host::shield::ExecCommand;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;

use crate::exit::ExitCode;
use crate::hook;
use crate::world;

/// Time to prepare, after which the command runs unshielded.
const PATIENCE: Duration = Duration::from_secs(2);

/// The option with the text to judge by, for a command that only carries that text.
const TEXT: &str = "--text";

// The argument parser sees only calls with something before, or instead of, the command.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The command to run
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl Args {
    pub(crate) fn words(&self) -> Vec<OsString> {
        [OsString::from("--")].iter().chain(&self.command).cloned().collect()
    }
}

/// Tells whether these arguments are a command to run, and not a question about `shield` itself.
pub(crate) fn is_call(arguments: &[OsString]) -> bool {
    ShieldedCommand::read(arguments).is_some()
}

/// Becomes the command, behind a shield if it needs one.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let Some(ShieldedCommand { text, mut command }) = ShieldedCommand::read(arguments) else {
        return ExitCode::from(2);
    };
    let Some(plain) = ExecCommand::new(command.clone()) else { return ExitCode::from(2) };
    plain.exec_after(PATIENCE);
    match protected(&text) {
        Ok(paths) if paths.is_empty() => {}
        Ok(paths) => {
            if let Err(error) = shield::enter(&paths, &mut command) {
                hook::log(&format!("shield: {error}"));
            }
        }
        Err(error) => hook::log(&format!("shield: {error}")),
    }
    let error = ExecCommand::new(command).unwrap_or(plain).exec();
    let _ = writeln!(std::io::stderr(), "consort shield: {}: {error}", shown(arguments));
    // The exit codes that shells use.
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}

/// A command to run, and the text that tells what it writes.
#[derive(Debug, PartialEq, Eq)]
struct ShieldedCommand {
    text: String,
    command: Vec<OsString>,
}

impl ShieldedCommand {
    /// Reads `[--text <text>] -- <command>`.
    fn read(arguments: &[OsString]) -> Option<Self> {
        let (text, rest) = match arguments {
            [option, text, rest @ ..] if option == TEXT => (Some(text), rest),
            rest => (None, rest),
        };
        let [separator, command @ ..] = rest else { return None };
        if separator != "--" || command.is_empty() {
            return None;
        }
        let text = match text {
            Some(text) => script(&text.to_string_lossy()),
            None => judged(command),
        };
        Some(Self { text, command: command.to_vec() })
    }
}

/// Returns the text of a command that is given as words; for a shell with `-c`, the text that it is to run.
fn judged(command: &[OsString]) -> String {
    const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];
    let name = Path::new(&command[0]).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let words: Vec<String> = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let flag = words.iter().skip(1).take_while(|word| word.starts_with(['-', '+'])).count();
    let is_text = words[1..=flag].iter().any(|word| word.starts_with('-') && word.contains('c'));
    match words.get(1 + flag) {
        Some(text) if SHELLS.contains(&name) && is_text => script(text),
        _ => words.iter().map(|word| consort_agents::quote(word)).collect::<Vec<_>>().join(" "),
    }
}

/// Extracts the command from the text that an agent CLI puts around it.
fn script(text: &str) -> String {
    consort_agents::ALL.iter().find_map(|cli| cli.command_in(text)).unwrap_or_else(|| text.to_owned())
}

/// Returns the paths that must be read-only for this command, run in the current directory.
fn protected(command: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let paths = Paths::from_environment().ok_or("neither CONSORT_HOME nor HOME is set")?;
    let mut app = App::new(Store::new(paths.store(), StoreUser::Hook), Machine::new(&paths.data));
    // Nearly always nothing is held anywhere, and this ends the search.
    if !app.is_anything_held() {
        return Ok(Vec::new());
    }
    let cwd = std::env::current_dir()?;
    // The hook before this command has judged the writes that its text tells; here only the rest matters.
    let files = consort_hook::command_files(app.host(), &cwd, command, hook::surroundings(None));
    if !files.may_write_anything() {
        return Ok(Vec::new());
    }
    let caller = world::caller_facts(&app);
    let outcome = app.shield(&caller, &cwd, command, &env::get)?;
    // The store is left open: closing the last connection would run the checkpoint.
    std::mem::forget(app);
    Ok(outcome.paths)
}

fn shown(arguments: &[OsString]) -> String {
    let program = arguments.iter().skip_while(|word| *word != "--").nth(1);
    program.map_or_else(String::new, |program| text::one_line(&program.to_string_lossy(), 200))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Option<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        ShieldedCommand::read(&words).map(|call| call.text)
    }

    #[test]
    fn a_command_is_judged_by_what_a_shell_is_to_run() {
        for (words, text) in [
            (&["--", "python3", "gen.py"][..], "python3 gen.py"),
            (&["--", "sed", "-i", "s/a b/c/", "x"], "sed -i 's/a b/c/' x"),
            (&["--", "bash", "-c", "rm x", "$0"], "rm x"),
            (&["--", "/bin/sh", "-e", "-uc", "rm x"], "rm x"),
            (&["--", "bash", "gen.sh"], "bash gen.sh"),
            (&["--text", "rm x", "--", "/opt/logger", "rm x"], "rm x"),
            (
                &[
                    "--",
                    "bash",
                    "-c",
                    "source /s.sh && eval 'python3 '\"'\"'a b'\"'\"'' < /dev/null && pwd -P >| /tmp/c",
                ],
                "python3 'a b'",
            ),
        ] {
            assert_eq!(read(words).as_deref(), Some(text), "{words:?}");
        }
        for words in [&[][..], &["--"], &["ls"], &["--help"], &["--text", "x"]] {
            assert_eq!(read(words), None, "{words:?}");
        }
    }
}
