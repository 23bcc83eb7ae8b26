//! Runs the screen in a tmux session of its own: it goes on when the terminal is closed, and `up` comes back
//! to it.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use consort_host::Tmux;
use consort_host::env;

use crate::connect;
use crate::error::CommandError;

/// The name of the session, in the tmux server that agents are opened in.
const NAME: &str = "screen";

/// Variables that the screen takes over from the terminal it was asked for in.
const KEPT: &[&str] = &[
    "CONSORT_HOME",
    "HOME",
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "NO_COLOR",
    "COLORFGBG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Tells whether a session of its own is of use: tmux is installed, and no such program is around us.
pub(crate) fn is_possible() -> bool {
    let is_inside = ["TMUX", "STY", "ZELLIJ"].iter().any(|name| env::get(name).is_some());
    !is_inside && connect::find_program("tmux").is_some()
}

fn tmux() -> Command {
    let mut tmux = Command::new("tmux");
    tmux.arg("-u").arg("-S").arg(Tmux::own_server_socket()).env_remove("TMUX");
    tmux
}

/// Tells whether a screen runs in the session.
pub(crate) fn is_running() -> bool {
    let mut has = tmux();
    has.args(["has-session", "-t", &format!("={NAME}")]);
    has.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    has.status().is_ok_and(|status| status.success())
}

/// Shows the session in this terminal, and begins it if there is none; this process becomes its tmux client.
pub(crate) fn enter(cwd: &Path, arguments: &[&str]) -> CommandError {
    let server = Tmux::own_server_socket();
    if let Some(dir) = server.parent() {
        use std::os::unix::fs::DirBuilderExt as _;
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    }
    let mut enter = tmux();
    enter.args(["new-session", "-A", "-s", NAME, "-n", NAME]).arg("-c").arg(cwd);
    for name in KEPT {
        if let Some(value) = env::get(name) {
            enter.arg("-e").arg(format!("{name}={value}"));
        }
    }
    enter.arg("--");
    match std::env::current_exe() {
        Ok(program) => enter.arg(program),
        Err(_) => enter.arg("consort"),
    };
    enter.args(arguments);
    let error = enter.exec();
    CommandError::user(format!("cannot start tmux: {error}"), "`consort` alone shows the screen here")
}

/// Ends the session, and tells whether it was there.
pub(crate) fn end() -> bool {
    let mut end = tmux();
    end.args(["kill-session", "-t", &format!("={NAME}")]);
    end.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    end.status().is_ok_and(|status| status.success())
}
