//! Tests of texts that are typed into the panes of the real CLIs at random moments, while a person
//! types and dialogs open: each is submitted exactly once, or reported as refused.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use consort_core::Timestamp;
use consort_core::monitor::KeyPress;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneViewer;
use consort_core::monitor::PaneWriter;
use consort_core::monitor::ServerPanes;
use consort_core::monitor::TerminalError;
use consort_core::monitor::Typing;
use consort_core::monitor::TypingOutcome;
use consort_core::monitor::TypingPurpose;
use consort_core::monitor::TypingRefusal;
use consort_core::monitor::plain_text;
use consort_host::Tmux;
use consort_testkit::Step;
use consort_testkit::random_below;
use consort_testkit::rounds;
use consort_testkit::until;

use crate::panes_stage::IDLE;
use crate::panes_stage::Stage;

/// The text that a person types meanwhile.
const DRAFT: &str = "zzqq";

/// An event before or during a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    /// A draft is in the composer already.
    Draft,
    /// A person types, this many milliseconds after the delivery begins.
    Types(u64),
    /// The agent still works on the last prompt.
    Works,
    /// The agent asks for a permission.
    Asks,
}

impl Meanwhile {
    fn any(asks: bool) -> Self {
        match random_below(8) {
            0 => Self::Draft,
            1 | 2 => Self::Types(random_below(2_500)),
            3 => Self::Works,
            4 if asks => Self::Asks,
            _ => Self::Nothing,
        }
    }
}

/// A tmux wrapper that records the last screens and keys, to explain a failure.
struct Recorder {
    tmux: Tmux,
    events: RefCell<Vec<String>>,
}

impl Recorder {
    fn note(&self, what: &str) {
        self.events.borrow_mut().push(format!("{} {what}", self.tmux.now().0));
    }

    /// Returns the last events.
    fn told(&self) -> String {
        let events = self.events.borrow();
        events[events.len().saturating_sub(20)..].join("\n")
    }
}

impl PaneViewer for Recorder {
    fn sweep(&self, server: &Path, shown: &[String]) -> Result<ServerPanes, TerminalError> {
        let sweep = self.tmux.sweep(server, shown)?;
        for (id, screen) in &sweep.screens {
            let title = sweep.panes.get(id).map(|facts| facts.title.as_str()).unwrap_or_default();
            let plain = plain_text(screen);
            let lines: Vec<&str> = plain.trim_end().lines().collect();
            self.note(&format!("{title:?}\n{}", lines[lines.len().saturating_sub(25)..].join("\n")));
        }
        Ok(sweep)
    }

    fn history(&self, pane: &PaneAddress, lines: usize) -> Result<String, TerminalError> {
        self.tmux.history(pane, lines)
    }

    fn pause(&self, time: Duration) {
        self.tmux.pause(time);
    }

    fn now(&self) -> Timestamp {
        self.tmux.now()
    }
}

impl PaneWriter for Recorder {
    fn paste(&self, pane: &PaneAddress, text: &str) -> Result<(), TerminalError> {
        self.note("pasted");
        self.tmux.paste(pane, text)
    }

    fn press(&self, pane: &PaneAddress, key: KeyPress) -> Result<(), TerminalError> {
        self.note("Enter");
        self.tmux.press(pane, key)
    }

    fn enter_after(&self, pane: &PaneAddress, text: &str) -> Result<bool, TerminalError> {
        let is_pressed = self.tmux.enter_after(pane, text)?;
        self.note(if is_pressed { "Enter, on our text" } else { "no Enter, on other text" });
        Ok(is_pressed)
    }
}

fn each_once_or_refused(cli: &'static str) {
    let stage = Stage::open(cli, ("200", "50"));
    stage.is("ready", IDLE);
    let signature = consort_agents::screen::signature(consort_agents::find(cli).unwrap().screen()).unwrap();
    let pane = PaneAddress { server: stage.world.socket(), id: stage.pane.clone() };
    let tmux = Recorder { tmux: Tmux::new(&stage.world.data()), events: RefCell::default() };
    let is_agent = |facts: &PaneFacts| !consort_core::monitor::is_shell(&facts.command);
    let typing = Typing {
        writer: &tmux,
        pane: &pane,
        signature: &signature,
        purpose: TypingPurpose::Prompt,
        is_agent: &is_agent,
    };
    let (mut delivered, mut refused, mut mixed) = (Vec::new(), Vec::new(), 0);
    for round in 0..rounds(6, 200) {
        let meanwhile = Meanwhile::any(cli != "pi");
        match meanwhile {
            Meanwhile::Draft => stage.press(&["-l", DRAFT]),
            Meanwhile::Works => stage.say("please think", [Step::Stall]),
            Meanwhile::Asks => {
                stage.say("please make it", [stage.permission_step()]);
                stage.is("permission", &["permission"]);
            }
            Meanwhile::Nothing | Meanwhile::Types(_) => {
                std::thread::sleep(Duration::from_millis(random_below(1_500)))
            }
        }
        let text = format!("delivery {round:04} to {cli}");
        let turns = stage.model.turn_requests().len();
        tmux.events.borrow_mut().clear();
        let delivery = std::thread::scope(|scope| {
            if let Meanwhile::Types(after) = meanwhile {
                let stage = &stage;
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(after));
                    stage.press(&["-l", DRAFT]);
                });
            }
            typing.deliver(&text).unwrap()
        });
        match (&delivery, meanwhile) {
            (TypingOutcome::Delivered, Meanwhile::Nothing | Meanwhile::Types(_)) => {
                // The CLI may be idle for a moment before it begins the turn.
                until("its turn", || stage.model.turn_requests().len(), |now| *now > turns);
                delivered.push(text);
            }
            (TypingOutcome::Unknown, Meanwhile::Types(_)) => mixed += 1,
            (TypingOutcome::Refused(TypingRefusal::Draft), Meanwhile::Draft) => refused.push(text),
            (TypingOutcome::Refused(TypingRefusal::Busy), Meanwhile::Works) => refused.push(text),
            (TypingOutcome::Refused(TypingRefusal::Dialog), Meanwhile::Asks) => refused.push(text),
            (TypingOutcome::Refused(_), Meanwhile::Types(_)) => refused.push(text),
            other => panic!("{cli}, {text}: {other:?}\n{}\nNow:\n{}", tmux.told(), stage.screen()),
        }
        stage.rest();
        if round % 50 == 49 {
            tell(cli, delivered.len(), refused.len(), mixed);
        }
    }
    // The request of another turn contains all earlier prompts.
    stage.say("what was said?", [Step::say("All of it.")]);
    let heard = until("a turn", || stage.model.turn_requests(), |turns| !turns.is_empty());
    let heard = heard.last().unwrap().to_string();
    for text in &delivered {
        assert_eq!(heard.matches(text.as_str()).count(), 1, "{cli}: {text}");
    }
    for text in &refused {
        assert_eq!(heard.matches(text.as_str()).count(), 0, "{cli}: {text}");
    }
    assert!(!stage.world.project().join("made.txt").exists(), "{cli}: a dialog was answered");
    tell(cli, delivered.len(), refused.len(), mixed);
}

/// Prints the counts so far.
fn tell(cli: &str, delivered: usize, refused: usize, unknown: usize) {
    let told = format!("{cli}: {delivered} delivered, {refused} refused, {unknown} unknown\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes());
}

#[test]
fn claude() {
    each_once_or_refused("claude");
}

#[test]
fn codex() {
    each_once_or_refused("codex");
}

#[test]
fn gemini() {
    each_once_or_refused("gemini");
}

#[test]
fn opencode() {
    each_once_or_refused("opencode");
}

#[test]
fn pi() {
    each_once_or_refused("pi");
}

#[test]
fn copilot() {
    each_once_or_refused("copilot");
}
