//! Asks the kernel whether a person is at the terminal that a process belongs to.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use consort_core::host::Process;
use consort_core::presence::Unproven;
use consort_core::presence::is_tmux_server;

use crate::env;
use crate::process;
use crate::run_program::run;

/// Most seconds since a person last pressed a key.
const LATELY: i64 = 10 * 60;

/// Checks that a process has a controlling terminal of its own that a person is at. In tmux, its window
/// must be visible in a client where a key was pressed lately: a pane can be opened by anyone, attached
/// or not.
pub fn check_person_at_terminal(
    own: Option<&Process>,
    ancestors: &[Process],
    now: i64,
) -> Result<(), Unproven> {
    let own = own.ok_or(Unproven::NoTerminal)?;
    let tty = own.tty.as_deref().ok_or(Unproven::NoTerminal)?;
    // A process whose parent left it behind still has the terminal, but not the shell above it.
    let is_leader = |pid: u32| process::leader(own.pid) == Some(pid);
    if !is_leader(own.pid) && !ancestors.iter().any(|ancestor| is_leader(ancestor.pid)) {
        return Err(Unproven::NoTerminal);
    }
    let Some(server) = ancestors.iter().find(|ancestor| is_tmux_server(ancestor)) else {
        return Ok(());
    };
    let shown = panes(&socket(server.pid)).unwrap_or_default();
    let is_watched = is_watched(&shown, tty, now);
    if is_watched { Ok(()) } else { Err(Unproven::Unwatched) }
}

/// Lists all panes with their windows, and all clients with the time of their last key and the window
/// they show.
fn panes(socket: &Path) -> Option<String> {
    let mut tmux = Command::new("tmux");
    tmux.arg("-S").arg(socket);
    tmux.args(["list-panes", "-a", "-F", "pane #{pane_tty} #{window_id}", ";"]);
    tmux.args(["list-clients", "-F", "client #{client_activity} #{window_id}"]);
    run(&mut tmux, Duration::from_secs(1))
}

fn is_watched(shown: &str, tty: &str, now: i64) -> bool {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = shown.lines().map(words).collect();
    let windows: Vec<&String> = lines
        .iter()
        .filter_map(|line| match line.as_slice() {
            [what, of, window] if what == "pane" && of == tty => Some(window),
            _ => None,
        })
        .collect();
    lines.iter().any(|line| match line.as_slice() {
        [what, at, window] if what == "client" => {
            windows.contains(&window) && at.parse().is_ok_and(|at: i64| now - at <= LATELY)
        }
        _ => false,
    })
}

/// Finds the socket of a tmux server: the one that the environment names, if it is that server's, else
/// the usual one.
fn socket(server: u32) -> PathBuf {
    let named = env::get("TMUX").and_then(|tmux| {
        let mut parts = tmux.rsplitn(3, ',');
        let (_, pid, socket) = (parts.next()?, parts.next()?, parts.next()?);
        (pid.parse() == Ok(server)).then(|| PathBuf::from(socket))
    });
    named.unwrap_or_else(|| {
        let user = rustix::process::getuid().as_raw();
        let dir = env::get("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".into());
        PathBuf::from(dir).join(format!("tmux-{user}/default"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_counts_while_someone_looks_at_it() {
        let shown = "pane /dev/pts/1 @0\npane /dev/pts/2 @1\nclient 1000 @0\n";
        assert!(is_watched(shown, "/dev/pts/1", 1_100));
        assert!(!is_watched(shown, "/dev/pts/1", 2_000), "nobody has pressed a key for long");
        assert!(!is_watched(shown, "/dev/pts/2", 1_100), "another window");
        assert!(!is_watched(shown, "/dev/pts/9", 1_100));
        assert!(!is_watched("pane /dev/pts/1 @0\n", "/dev/pts/1", 1_100), "no client");
    }
}
