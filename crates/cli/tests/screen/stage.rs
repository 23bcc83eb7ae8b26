//! A terminal with the screen in it, and somebody who looks at it and types.
//!
//! The screen runs in a tmux server whose client runs in the pane of another: so there is a
//! client that shows it and in which keys are pressed, as with a person.

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
    /// `consort` with these arguments, in 120 × 40.
    pub(super) fn open(world: &'w Sealed, environment: &[(String, String)], arguments: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let inner = world.path().join(format!("inner{number}.sock")).display().to_string();
        let program = env!("CARGO_BIN_EXE_consort");
        // Esc is a key of its own at once.
        // A server takes the path from who asks it.
        let path = environment.iter().rfind(|(name, _)| name == "PATH");
        let path = path.map_or_else(String::new, |(_, path)| format!("PATH={path} "));
        let tmux = format!("env -u TMUX -u TMUX_PANE {path}tmux -u -f /dev/null -S {inner}");
        // Whose session it is shows it from the beginning.
        let line = format!(
            "exec {tmux} new-session -x 120 -y 40 '{program} {arguments}; sleep 600' \\; set -g status off \\; \
             set -s escape-time 0"
        );
        let outer = Tmux::start(world, environment, &["sh", "-c", &line]);
        outer.run(&["set", "-s", "escape-time", "0"]);
        outer.run(&["resize-window", "-x", "120", "-y", "40"]);
        let screen = Self { outer, inner, world };
        // What keys do depends on how wide it is.
        let is_wide = |text: &String| text.lines().any(|line| line.chars().count() >= 118);
        if !arguments.contains("--plain") {
            until("its size", || screen.text(), is_wide);
        }
        screen
    }

    pub(super) fn text(&self) -> String {
        self.outer.screen()
    }

    /// Waits until this is seen.
    pub(super) fn shows(&self, text: &str) -> String {
        until(text, || self.text(), |screen| screen.contains(text))
    }

    pub(super) fn hides(&self, text: &str) {
        until(&format!("no {text}"), || self.text(), |screen| !screen.contains(text));
    }

    /// Presses keys, by tmux's names for them.
    pub(super) fn press(&self, keys: &[&str]) {
        for key in keys {
            self.outer.run(&["send-keys", key]);
            if *key == "Escape" {
                // What comes right after it, before it was read, is a key with Alt.
                std::thread::sleep(Duration::from_millis(400));
            }
        }
    }

    /// Sends what a terminal sends, and does not wait.
    pub(super) fn send(&self, bytes: &str) {
        self.outer.run(&["send-keys", "-l", bytes]);
    }

    /// Types a text as it is.
    pub(super) fn type_text(&self, text: &str) {
        self.send(text);
        // The line shows it before anything else is pressed.
        let last: String = text.chars().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
        self.shows(&last);
    }

    /// The word that is to be typed back, as it is shown.
    pub(super) fn word(&self) -> String {
        let screen = self.shows("Esc leaves it.");
        let (_, asked) = screen.rsplit_once("Type ").unwrap();
        asked.split_once(" to ").unwrap().0.to_owned()
    }

    /// Leaves it by its key, and waits until the terminal is given back.
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
