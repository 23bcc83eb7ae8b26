//! A terminal with the screen in it, for tests that look at it and press keys.
//!
//! The screen runs in a tmux server whose client runs in a pane of another server, so that there is a
//! client that shows the screen and takes keys, as with a person.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_testkit::Sealed;
use consort_testkit::Tmux;
use consort_testkit::until;

pub(super) struct Screen<'w> {
    outer: Tmux<'w>,
    inner: String,
    world: &'w Sealed,
}

impl<'w> Screen<'w> {
    /// Runs `consort` with these arguments, in 120 × 40.
    pub(super) fn open(world: &'w Sealed, environment: &[(String, String)], arguments: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let inner = world.path().join(format!("inner{number}.sock")).display().to_string();
        let program = env!("CARGO_BIN_EXE_consort");
        // A tmux server runs programs with the path of its client.
        let path = environment.iter().rfind(|(name, _)| name == "PATH");
        let path = path.map_or_else(String::new, |(_, path)| format!("PATH={path} "));
        let tmux = format!("env -u TMUX -u TMUX_PANE {path}tmux -u -f /dev/null -S {inner}");
        // The client that starts the session shows the screen from the beginning. Without an
        // escape time, Esc is a key of its own at once.
        let line = format!(
            "exec {tmux} new-session -x 120 -y 40 '{program} {arguments}; sleep 600' \\; set -g status off \\; \
             set -s escape-time 0"
        );
        let outer = Tmux::start(world, environment, &["sh", "-c", &line]);
        outer.run(&["set", "-s", "escape-time", "0"]);
        outer.run(&["resize-window", "-x", "120", "-y", "40"]);
        let screen = Self { outer, inner, world };
        // The effect of keys depends on the width.
        let is_wide = |text: &String| text.lines().any(|line| line.chars().count() >= 118);
        if !arguments.contains("--plain") {
            until("its size", || screen.text(), is_wide);
        }
        screen
    }

    pub(super) fn text(&self) -> String {
        self.outer.screen()
    }

    /// Waits until the screen shows `text`, and returns the whole screen.
    pub(super) fn shows(&self, text: &str) -> String {
        until(text, || self.text(), |screen| screen.contains(text))
    }

    pub(super) fn hides(&self, text: &str) {
        until(&format!("no {text}"), || self.text(), |screen| !screen.contains(text));
    }

    /// Presses keys, given by tmux's names for them.
    pub(super) fn press(&self, keys: &[&str]) {
        for key in keys {
            self.outer.run(&["send-keys", key]);
            if *key == "Escape" {
                // A key right after Esc would be read as a key with Alt.
                std::thread::sleep(Duration::from_millis(400));
            }
        }
    }

    /// Sends bytes as a terminal does, and does not wait.
    pub(super) fn send(&self, bytes: &str) {
        self.outer.run(&["send-keys", "-l", bytes]);
    }

    /// Types a text as it is.
    pub(super) fn type_text(&self, text: &str) {
        self.send(text);
        // Waits until the line shows the text before anything else is pressed.
        let last: String = text.chars().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
        self.shows(&last);
    }

    /// Returns the word that the screen asks to be typed.
    pub(super) fn word(&self) -> String {
        let screen = self.shows("Esc leaves it.");
        let (_, asked) = screen.rsplit_once("Type ").unwrap();
        asked.split_once(" to ").unwrap().0.to_owned()
    }

    /// Leaves the screen by its key, and waits until the terminal is restored.
    pub(super) fn quit(&self) {
        self.press(&["q"]);
        self.hides("? help");
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let mut tmux = self.world.command("tmux");
        let _ = tmux.args(["-S", &self.inner, "kill-server"]).output();
    }
}
