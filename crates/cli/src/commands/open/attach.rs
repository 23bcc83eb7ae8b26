//! Shows a pane in this terminal, or in a window of its own.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::process::Stdio;

use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneManager as _;
use consort_host::Tmux;
use consort_host::env;

use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;

/// Terminal programs, each with the arguments that make it run a command.
const TERMINALS: &[(&str, &[&str])] = &[
    ("kitty", &[]),
    ("wezterm", &["start", "--"]),
    ("gnome-terminal", &["--"]),
    ("alacritty", &["-e"]),
    ("konsole", &["-e"]),
    ("xterm", &["-e"]),
];

/// Shows a pane in this terminal: this process becomes a client of the pane's tmux server, or the client that
/// shows this terminal switches to the pane.
pub(crate) fn here(tmux: &Tmux, pane: &PaneAddress) -> CommandResult {
    tmux.select(pane)?;
    if env::terminal().tmux.as_ref() == Some(&pane.server) {
        return Ok(());
    }
    let error = command(pane).env_remove("TMUX").exec();
    Err(CommandError::user(format!("cannot start tmux: {error}"), "install tmux, 3.2 or newer"))
}

/// Shows a pane in a window of its own.
pub(crate) fn in_window(pane: &PaneAddress) -> CommandResult {
    let attach = command(pane);
    let words: Vec<String> = std::iter::once(attach.get_program())
        .chain(attach.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut window = if cfg!(target_os = "macos") {
        let line: Vec<String> = words.iter().map(|word| consort_core::text::shell_quoted(word)).collect();
        let mut script = Command::new("osascript");
        let is_iterm = env::get("TERM_PROGRAM").as_deref() == Some("iTerm.app");
        let told = match is_iterm {
            true => {
                "tell application \"iTerm2\" to create window with default profile command (item 1 of argv)"
            }
            false => "tell application \"Terminal\" to do script (item 1 of argv)",
        };
        script.arg("-e").arg(format!("on run argv\n{told}\nend run")).arg(line.join(" "));
        script
    } else {
        let found = TERMINALS.iter().find_map(|(name, before)| Some((connect::find_program(name)?, before)));
        let (program, before) = found.ok_or_else(|| {
            CommandError::user(
                "no terminal program was found to open a window with",
                "install kitty, wezterm or gnome-terminal, or leave out `=window`",
            )
        })?;
        let mut window = Command::new(program);
        window.args(*before).args(words);
        window
    };
    window.env_remove("TMUX").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The window outlives this command, and a Ctrl-C here.
    window.process_group(0);
    let started = window.spawn();
    started.map(drop).map_err(|error| {
        CommandError::user(
            format!("cannot open a window: {error}"),
            "`consort pane attach <agent>` shows it here",
        )
    })
}

fn command(pane: &PaneAddress) -> Command {
    let mut tmux = Command::new("tmux");
    tmux.arg("-u").arg("-S").arg(&pane.server).args(["attach-session", "-t", &pane.id]);
    tmux
}
