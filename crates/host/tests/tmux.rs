//! Tests `Tmux` with a real tmux server on a socket of its own: reads its panes, types into them, and
//! removes them.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::path::PathBuf;
use std::time::Duration;

use consort_core::monitor::KeyPress;
use consort_core::monitor::NewPane;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneExit;
use consort_core::monitor::PaneManager as _;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::PaneWriter as _;
use consort_core::monitor::TerminalError;
use consort_host::Tmux;

/// A tmux server that ends with the test.
struct Server {
    dir: tempfile::TempDir,
    tmux: Tmux,
}

impl Server {
    /// Starts a server with one window, in which a shell runs `script`.
    fn start(script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tmux = Tmux::new(dir.path());
        let server = Self { dir, tmux };
        let line = ["new-session", "-d", "-x", "100", "-y", "30", "sh", "-c", script];
        assert!(server.command(&line).status().unwrap().success());
        server
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut tmux = std::process::Command::new("tmux");
        tmux.args(["-f", "/dev/null", "-S"]).arg(self.socket()).args(words);
        tmux.env("TERM", "xterm-256color").env_remove("TMUX").stdin(std::process::Stdio::null());
        tmux
    }

    fn open(&self, script: &str) -> PaneAddress {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let cwd = self.dir.path().to_owned();
        self.tmux.open(&NewPane { server: self.socket(), name: "one".into(), cwd, command }).unwrap()
    }

    /// Looks until a pane shows a text, and returns its screen.
    fn shows(&self, pane: &PaneAddress, wanted: &str) -> String {
        for _ in 0..1_000 {
            let sweep = self.tmux.sweep(&self.socket(), std::slice::from_ref(&pane.id)).unwrap();
            let screen = sweep.screens.get(&pane.id).cloned().unwrap_or_default();
            if screen.contains(wanted) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{pane} never showed {wanted:?}");
    }

    /// Looks until a pane's program has ended, and returns its exit.
    fn exit(&self, pane: &PaneAddress) -> Option<PaneExit> {
        for _ in 0..1_000 {
            let sweep = self.tmux.sweep(&self.socket(), &[]).unwrap();
            let seen = &sweep.panes[&pane.id];
            if seen.is_dead {
                return seen.exit;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{pane} never ended");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

#[test]
fn a_look_shows_every_pane_with_its_escapes_and_skips_those_that_are_gone() {
    let server = Server::start("printf '\\033[2mdim\\033[0m ünï'; exec sleep 60");
    let second = server.open("echo second; exec sleep 60");
    server.shows(&second, "second");
    let shown = ["%77", "%0", "%78", second.id.as_str(), "%79"].map(str::to_owned);
    let sweep = server.tmux.sweep(&server.socket(), &shown).unwrap();
    assert_eq!(sweep.panes.keys().collect::<Vec<_>>(), ["%0", second.id.as_str()]);
    assert!(sweep.screens["%0"].contains("\u{1b}[2mdim"), "{:?}", sweep.screens["%0"]);
    assert!(sweep.screens["%0"].contains("ünï"));
    assert_eq!((sweep.screens.len(), sweep.panes["%0"].command.as_str()), (2, "sleep"));
    assert_eq!((sweep.panes["%0"].columns, sweep.panes["%0"].rows), (100, 30));
}

#[test]
fn a_paste_keeps_its_lines_and_leaves_no_buffer() {
    let server = Server::start("exec sleep 60");
    // A program that asks for framed pastes, as all agent CLIs do.
    let pane = server.open("stty -icrnl -icanon; printf '\\033[?2004hgo'; exec cat -v");
    server.shows(&pane, "go");
    server.tmux.paste(&pane, "one\ntwo ;\n").unwrap();
    let screen = server.shows(&pane, "[201~");
    assert!(screen.contains("^[[200~one^Jtwo ;^J^[[201~"), "{screen:?}");
    assert!(!screen.contains("^M"), "a line end is no Enter: {screen:?}");
    server.tmux.press(&pane, KeyPress::Enter).unwrap();
    server.shows(&pane, "^M");
    server.tmux.press(&pane, KeyPress::Character(';')).unwrap();
    let buffers = server.command(&["list-buffers"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&buffers), "");
}

#[test]
fn a_pane_is_kept_after_its_program_and_says_how_it_ended() {
    let server = Server::start("exec sleep 60");
    // tmux 3.3a now and then forgets how a program ended; it never reports a wrong exit.
    let ended = |script: &str, wanted| {
        let panes: Vec<PaneAddress> = (0..4).map(|_| server.open(script)).collect();
        let exits: Vec<Option<PaneExit>> = panes.iter().map(|pane| server.exit(pane)).collect();
        assert!(exits.contains(&Some(wanted)), "{exits:?}");
        assert!(exits.iter().all(|exit| exit.is_none_or(|exit| exit == wanted)), "{exits:?}");
        panes[0].clone()
    };
    let code = ended("sleep 0.3; exit 3", PaneExit::Code(3));
    ended("sleep 0.3; kill -9 $$", PaneExit::Signal(9));
    server.tmux.remove(&code).unwrap();
    server.tmux.remove(&code).unwrap();
    assert!(!server.tmux.sweep(&server.socket(), &[]).unwrap().panes.contains_key(&code.id));
    assert!(matches!(server.tmux.paste(&code, "x"), Err(TerminalError::Gone { .. })));
    let elsewhere = server.dir.path().join("none");
    assert!(matches!(server.tmux.sweep(&elsewhere, &[]), Err(TerminalError::NoServer { .. })));
}

#[test]
fn what_has_scrolled_away_is_still_read() {
    let server = Server::start("exec sleep 60");
    let pane = server.open("seq 1 200; exec sleep 60");
    server.shows(&pane, "200");
    let history = server.tmux.history(&pane, 100).unwrap();
    assert_eq!((history.lines().next(), history.lines().last()), (Some("101"), Some("200")));
}

/// tmux compares and presses in one step, so that text that is typed in between is seen.
#[test]
fn enter_is_pressed_only_after_what_a_line_ends_with() {
    let server = Server::start("sleep 1000");
    // The pane shows a line in a frame; text that is typed appears after it.
    let pane = server.open("printf '│ > is #{it}, (100%%) so? é                │\\n'; cat");
    server.shows(&pane, "so?");
    assert!(!server.tmux.enter_after(&pane, "is #{it}, (100%)").unwrap(), "there is more");
    assert!(!server.tmux.enter_after(&pane, "is #{it}, (100%) no? é").unwrap());
    server.tmux.paste(&pane, "typed").unwrap();
    assert!(server.tmux.enter_after(&pane, "is #{it}, (100%) so? é").unwrap());
    server.shows(&pane, "typed\ntyped");
}
