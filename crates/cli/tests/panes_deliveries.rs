//! Texts typed into the panes of the real CLIs at random moments, while a person types and
//! dialogs open: each is submitted exactly once or honestly refused.

use std::time::Duration;

use consort_core::monitor::Delivery;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::Purpose;
use consort_core::monitor::Refusal;
use consort_core::monitor::Typing;
use consort_host::Tmux;
use consort_testkit::Step;
use consort_testkit::chance;
use consort_testkit::rounds;
use consort_testkit::until;

use crate::panes_stage::IDLE;
use crate::panes_stage::Stage;

/// What a person types meanwhile.
const DRAFT: &str = "zzqq";

/// What happens around a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    /// A draft stands there already.
    Draft,
    /// A person types so many milliseconds after the beginning.
    Types(u64),
    /// The agent is at work on the last prompt still.
    Works,
    /// It asks for a permission.
    Asks,
}

impl Meanwhile {
    fn any(asks: bool) -> Self {
        match chance(8) {
            0 => Self::Draft,
            1 | 2 => Self::Types(chance(2_500)),
            3 => Self::Works,
            4 if asks => Self::Asks,
            _ => Self::Nothing,
        }
    }
}

fn each_once_or_refused(cli: &'static str) {
    let stage = Stage::open(cli, ("200", "50"));
    stage.is("ready", IDLE);
    let signature = consort_agents::screen::signature(consort_agents::find(cli).unwrap().screen()).unwrap();
    let pane = PaneAddress { server: stage.world.socket(), id: stage.pane.clone() };
    let tmux = Tmux::new(&stage.world.data());
    let is_agent = |facts: &PaneFacts| !consort_core::monitor::is_shell(&facts.command);
    let typing = Typing {
        writer: &tmux,
        pane: &pane,
        signature: &signature,
        purpose: Purpose::Prompt,
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
                std::thread::sleep(Duration::from_millis(chance(1_500)))
            }
        }
        let text = format!("delivery {round:04} to {cli}");
        let turns = stage.model.turns().len();
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
            (Delivery::Delivered, Meanwhile::Nothing | Meanwhile::Types(_)) => {
                // It may rest for a moment before it begins.
                until("its turn", || stage.model.turns().len(), |now| *now > turns);
                delivered.push(text);
            }
            (Delivery::Unknown, Meanwhile::Types(_)) => mixed += 1,
            (Delivery::Refused(Refusal::Draft), Meanwhile::Draft) => refused.push(text),
            (Delivery::Refused(Refusal::Busy), Meanwhile::Works) => refused.push(text),
            (Delivery::Refused(Refusal::Dialog), Meanwhile::Asks) => refused.push(text),
            (Delivery::Refused(_), Meanwhile::Types(_)) => refused.push(text),
            other => panic!("{cli}, {text}: {other:?}\n{}", stage.screen()),
        }
        stage.rest();
        if round % 50 == 49 {
            tell(cli, delivered.len(), refused.len(), mixed);
        }
    }
    // Another turn has all that was ever said in it.
    stage.say("what was said?", [Step::say("All of it.")]);
    let heard = until("a turn", || stage.model.turns(), |turns| !turns.is_empty());
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

/// Says how it has gone so far.
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
