//! A real terminal for tests, by a tmux server of its own; and a wait for a condition.

use std::process::Command;
use std::process::Stdio;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use crate::Sealed;

/// A tmux server of its own; it ends when dropped.
pub struct Tmux<'w> {
    world: &'w Sealed,
    socket: String,
}

impl<'w> Tmux<'w> {
    /// Starts `command` in a window of 100 × 30 with this environment.
    pub fn start(world: &'w Sealed, environment: &[(String, String)], command: &[&str]) -> Self {
        // Numbered, because a server that was told to end may still have its socket.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let socket = world.path().join(format!("tmux{number}.sock")).display().to_string();
        let tmux = Self { world, socket };
        let mut new = tmux.command(&["new-session", "-d", "-x", "100", "-y", "30"]);
        for (name, value) in environment {
            new.args(["-e", &format!("{name}={value}")]);
        }
        assert!(new.args(command).status().unwrap().success());
        tmux
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut tmux = self.world.command("tmux");
        tmux.args(["-f", "/dev/null", "-S", &self.socket]).args(arguments).env("TERM", "xterm-256color");
        tmux.stdin(Stdio::null());
        tmux
    }

    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a tmux command and ignores a failure, because the server may have ended by now.
    pub fn run_quietly(&self, arguments: &[&str]) {
        let _ = self.command(arguments).output();
    }

    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for_text(&self, text: &str) {
        until(text, || self.screen(), |screen| screen.contains(text));
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).status();
    }
}

/// Longest time that a condition may take to hold, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(100);

/// Calls `look` again and again until `is_so` holds for the result, and returns the result; panics
/// after 100 seconds.
pub fn until<T: std::fmt::Debug>(what: &str, mut look: impl FnMut() -> T, is_so: impl Fn(&T) -> bool) -> T {
    let since = Instant::now();
    loop {
        let seen = look();
        if is_so(&seen) {
            return seen;
        }
        assert!(since.elapsed() < PATIENCE, "never came about: {what}\nlast seen: {seen:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
