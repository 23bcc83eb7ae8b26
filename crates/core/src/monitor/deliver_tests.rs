//! Tests of typing into a simulated terminal with a composer, dialogs and a person who interferes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::ComposerCondition;
use super::ComposerShape;
use super::KeyPress;
use super::PaneAddress;
use super::PaneFacts;
use super::PaneLook;
use super::PaneState;
use super::PaneViewer;
use super::PaneWriter;
use super::ServerPanes;
use super::Signature;
use super::SignatureRule;
use super::TerminalError;
use super::Typing;
use super::TypingOutcome;
use super::TypingPurpose;
use super::TypingRefusal;
use super::may_type;
use crate::Timestamp;

/// A simulated program in a pane.
#[derive(Default)]
struct Program {
    now: i64,
    composer: String,
    has_dialog: bool,
    is_working: bool,
    is_shell: bool,
    last_key: Option<i64>,
    /// The number of Enters that the program still ignores; `lost_pastes` is the number of pastes.
    deaf: usize,
    lost_pastes: usize,
    /// The number of looks by which the screen lags behind.
    lag: usize,
    looks: usize,
    /// The looks at which the screen is half drawn.
    torn: Vec<usize>,
    /// The looks at which the screen is empty.
    blank: Vec<usize>,
    shown: Vec<String>,
    /// The times at which the person types or a dialog opens.
    events: Vec<(i64, Event)>,
    submitted: Vec<String>,
    answered: usize,
}

#[derive(Clone, Debug)]
enum Event {
    Types(&'static str),
    Dialog,
}

struct Fake(RefCell<Program>);

impl Program {
    fn happen(&mut self) {
        let now = self.now;
        let due: Vec<Event> =
            self.events.iter().filter(|(at, _)| *at <= now).map(|(_, event)| event.clone()).collect();
        self.events.retain(|(at, _)| *at > now);
        for event in due {
            match event {
                Event::Types(text) => {
                    self.last_key = Some(now);
                    if !self.has_dialog {
                        self.composer.push_str(text);
                    }
                }
                Event::Dialog => self.has_dialog = true,
            }
        }
    }

    fn screen(&self) -> String {
        let rule = "─".repeat(40);
        if self.is_shell {
            return "$ \n".into();
        }
        if self.has_dialog {
            return format!("{rule}\nDo you want to proceed?\n❯ 1. Yes\n  2. No\nEsc to cancel\n");
        }
        let footer = if self.is_working { "esc to interrupt" } else { "? for shortcuts" };
        format!("text\n{rule}\n❯ {}\n{rule}\n{footer}\n", self.composer)
    }
}

impl PaneViewer for Fake {
    fn sweep(&self, _: &Path, shown: &[String]) -> Result<ServerPanes, TerminalError> {
        let mut program = self.0.borrow_mut();
        program.now += 5;
        program.happen();
        program.looks += 1;
        let screen = program.screen();
        let looks = program.looks;
        let is_torn = program.torn.contains(&looks);
        let screen = if program.blank.contains(&looks) { String::new() } else { screen };
        program.shown.push(if is_torn { torn(&screen, looks) } else { screen });
        let at = program.shown.len().saturating_sub(1 + program.lag);
        let screen = program.shown[at].clone();
        let command = if program.is_shell { "bash" } else { "claude" }.to_owned();
        let last_key_at = program.last_key.map(|at| Timestamp(at / 1_000 * 1_000));
        let facts = PaneFacts { pid: 7, command, last_key_at, ..PaneFacts::default() };
        let id = shown[0].clone();
        Ok(ServerPanes {
            panes: BTreeMap::from([(id.clone(), facts)]),
            screens: BTreeMap::from([(id, screen)]),
        })
    }

    fn history(&self, _: &PaneAddress, _: usize) -> Result<String, TerminalError> {
        Ok(String::new())
    }

    fn pause(&self, time: Duration) {
        self.0.borrow_mut().now += i64::try_from(time.as_millis()).unwrap();
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.0.borrow().now)
    }
}

impl PaneWriter for Fake {
    fn paste(&self, _: &PaneAddress, text: &str) -> Result<(), TerminalError> {
        let mut program = self.0.borrow_mut();
        program.now += 5;
        program.happen();
        if program.lost_pastes > 0 {
            program.lost_pastes -= 1;
        } else if !program.has_dialog {
            program.composer.push_str(text);
        }
        Ok(())
    }

    fn press(&self, _: &PaneAddress, key: KeyPress) -> Result<(), TerminalError> {
        let mut program = self.0.borrow_mut();
        program.now += 5;
        assert_eq!(key, KeyPress::Enter);
        if program.has_dialog {
            program.answered += 1;
        } else if program.deaf > 0 {
            program.deaf -= 1;
        } else {
            let text = std::mem::take(&mut program.composer);
            program.submitted.push(text);
            program.is_working = true;
        }
        Ok(())
    }

    fn enter_after(&self, pane: &PaneAddress, text: &str) -> Result<bool, TerminalError> {
        self.0.borrow_mut().now += 5;
        // A screen that lags behind still shows our text.
        let is_seen = self.0.borrow().lag > 0 || self.last_line().ends_with(text);
        if is_seen {
            self.press(pane, KeyPress::Enter)?;
        }
        Ok(is_seen)
    }
}

/// Returns a half-drawn screen: the composer's lower rule is missing, or everything below its upper rule, or
/// the whole composer.
fn torn(screen: &str, how: usize) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let rule = "─".repeat(40);
    let kept = lines.len().saturating_sub([2, 3, lines.len()][how % 3]);
    format!("{rule}\nwhat was said before\n{rule}\n{}\n? for shortcuts\n", lines[..kept].join("\n"))
}

impl Fake {
    /// Returns the composer's line at this moment.
    fn last_line(&self) -> String {
        let mut program = self.0.borrow_mut();
        program.happen();
        if program.has_dialog { String::new() } else { program.composer.clone() }
    }
}

fn rule(name: &str, state: PaneState, footer: &str) -> SignatureRule {
    SignatureRule {
        name: name.into(),
        state,
        screen: Vec::new(),
        footer: vec![vec![footer.into()]],
        turn: Vec::new(),
        first: Vec::new(),
        mark: Vec::new(),
        below_bar: false,
        title: Vec::new(),
        composer: ComposerCondition::Nothing,
        seconds: None,
        held: None,
        trust: None,
        words: None,
    }
}

fn deliver(program: Program) -> (TypingOutcome, Program) {
    deliver_for(TypingPurpose::Prompt, program)
}

fn deliver_for(purpose: TypingPurpose, program: Program) -> (TypingOutcome, Program) {
    let signature = Signature {
        prompt: vec!["❯".into()],
        composer: Some(ComposerShape::Rules),
        footer_lines: 3,
        rules: vec![
            rule("permission", PaneState::Permission, "Esc to cancel"),
            rule("working", PaneState::Working, "esc to interrupt"),
            rule("ready", PaneState::Ready, "? for shortcuts"),
        ],
        ..Signature::default()
    };
    let fake = Fake(RefCell::new(Program { now: 100_000, ..program }));
    let pane = PaneAddress { server: "/s".into(), id: "%1".into() };
    let is_agent = |facts: &PaneFacts| facts.command == "claude";
    let typing = Typing { writer: &fake, pane: &pane, signature: &signature, purpose, is_agent: &is_agent };
    let delivery = typing.deliver(OURS).unwrap();
    (delivery, fake.0.into_inner())
}

const OURS: &str = "hello from Raven";

#[test]
fn a_ready_composer_takes_it_once() {
    let (delivery, program) = deliver(Program::default());
    assert_eq!((delivery, program.submitted), (TypingOutcome::Delivered, vec![OURS.to_owned()]));
}

/// First accident: the program has ended, and a shell would run the text.
#[test]
fn nothing_is_typed_to_a_shell() {
    let (delivery, program) = deliver(Program { is_shell: true, ..Program::default() });
    assert_eq!(delivery, TypingOutcome::Refused(TypingRefusal::Ended));
    assert_eq!((program.composer.as_str(), program.submitted.len()), ("", 0));
}

/// Second accident: Enter is ignored, and the next text would be appended.
#[test]
fn enter_is_pressed_again_on_our_text_alone() {
    let (delivery, program) = deliver(Program { deaf: 2, ..Program::default() });
    assert_eq!((delivery, program.submitted), (TypingOutcome::Delivered, vec![OURS.to_owned()]));
    let (delivery, program) = deliver(Program { deaf: 99, ..Program::default() });
    assert_eq!(delivery, TypingOutcome::Refused(TypingRefusal::NotTaken));
    assert_eq!(program.composer, OURS);
}

/// Third accident: the paste comes too early and is lost.
#[test]
fn a_lost_paste_is_pasted_again() {
    let (delivery, program) = deliver(Program { lost_pastes: 1, ..Program::default() });
    assert_eq!((delivery, program.submitted), (TypingOutcome::Delivered, vec![OURS.to_owned()]));
    let (delivery, program) = deliver(Program { lost_pastes: 99, ..Program::default() });
    assert_eq!((delivery, program.submitted.len()), (TypingOutcome::Refused(TypingRefusal::NotShown), 0));
}

/// Fourth accident: a dialog is up, and Enter would answer the dialog.
#[test]
fn a_dialog_is_never_answered() {
    let (delivery, program) = deliver(Program { has_dialog: true, ..Program::default() });
    assert_eq!((delivery, program.answered), (TypingOutcome::Refused(TypingRefusal::Dialog), 0));
    for at in [100_500, 101_020, 101_100, 101_250] {
        let events = vec![(at, Event::Dialog)];
        let (delivery, program) = deliver(Program { events, lag: 0, ..Program::default() });
        assert_eq!(program.answered, 0, "at {at}: {delivery:?}");
    }
}

#[test]
fn a_draft_a_busy_agent_and_a_person_at_the_keys_are_left_alone() {
    let draft = Program { composer: "my draft".into(), ..Program::default() };
    let (delivery, program) = deliver(draft);
    assert_eq!(
        (delivery, program.composer.as_str()),
        (TypingOutcome::Refused(TypingRefusal::Draft), "my draft")
    );
    let (delivery, _) = deliver(Program { is_working: true, ..Program::default() });
    assert_eq!(delivery, TypingOutcome::Refused(TypingRefusal::Busy));
    let (delivery, _) = deliver(Program { last_key: Some(98_000), ..Program::default() });
    assert_eq!(delivery, TypingOutcome::Refused(TypingRefusal::SomebodyTypes));
    let (delivery, _) = deliver(Program { last_key: Some(95_000), ..Program::default() });
    assert_eq!(delivery, TypingOutcome::Delivered);
}

/// A stalled agent looks as if it worked, so a nudge is typed; a dialog or a draft refuses a nudge as well.
#[test]
fn a_nudge_reaches_one_at_work_and_no_dialog() {
    let nudge = |program| deliver_for(TypingPurpose::Nudge, program);
    let (delivery, program) = nudge(Program { is_working: true, ..Program::default() });
    assert_eq!((delivery, program.submitted), (TypingOutcome::Delivered, vec![OURS.to_owned()]));
    let (delivery, program) = nudge(Program { is_working: true, deaf: 99, ..Program::default() });
    assert_eq!((delivery, program.submitted.len()), (TypingOutcome::Refused(TypingRefusal::NotTaken), 0));
    let (delivery, program) = nudge(Program { is_working: true, has_dialog: true, ..Program::default() });
    assert_eq!((delivery, program.answered), (TypingOutcome::Refused(TypingRefusal::Dialog), 0));
    let draft = Program { is_working: true, composer: "my draft".into(), ..Program::default() };
    assert_eq!(nudge(draft).0, TypingOutcome::Refused(TypingRefusal::Draft));
}

/// At a limit, only a text to go on is typed, and only if no menu asks what to do about the limit.
#[test]
fn a_limit_without_a_menu_takes_a_word_to_go_on() {
    let look = |screen: &str| {
        let limit = rule("limit", PaneState::Limit, "? for shortcuts");
        let signature = Signature {
            prompt: vec!["❯".into()],
            composer: Some(ComposerShape::Rules),
            footer_lines: 3,
            rules: vec![rule("limit menu", PaneState::Limit, "Enter to confirm"), limit],
            ..Signature::default()
        };
        PaneLook::new(PaneFacts::default(), screen.to_owned(), &signature, Duration::MAX)
    };
    let rule = "─".repeat(40);
    let banner = look(&format!("You have hit a limit\n{rule}\n❯\n{rule}\n? for shortcuts\n"));
    let menu = look("What now?\n❯ 1. Stop and wait\n  2. Upgrade\nEnter to confirm\n");
    let may = |look: &PaneLook, purpose| may_type(look, Timestamp(0), true, purpose);
    assert_eq!(may(&banner, TypingPurpose::Continue), Ok(()));
    for purpose in [TypingPurpose::Prompt, TypingPurpose::Nudge] {
        assert_eq!(may(&banner, purpose), Err(TypingRefusal::Dialog));
        assert_eq!(may(&menu, purpose), Err(TypingRefusal::Dialog));
    }
    assert_eq!(may(&menu, TypingPurpose::Continue), Err(TypingRefusal::Dialog));
}

/// A half-drawn screen at any look does not change the result.
#[test]
fn a_torn_screen_changes_nothing() {
    let looks = deliver(Program::default()).1.looks;
    for torn in 1..=looks {
        for torn in [vec![torn], vec![torn, torn + 1]] {
            let (delivery, program) = deliver(Program { torn: torn.clone(), ..Program::default() });
            assert_eq!(
                (delivery, program.submitted),
                (TypingOutcome::Delivered, vec![OURS.to_owned()]),
                "{torn:?} of {looks}"
            );
        }
    }
}

/// A CLI that changes to another view shows an empty screen for a while.
#[test]
fn a_blank_screen_after_enter_is_waited_for() {
    let looks = deliver(Program::default()).1.looks;
    for length in [1, 5, 25] {
        let blank = (looks - 1..looks - 1 + length).collect();
        let (delivery, program) = deliver(Program { blank, ..Program::default() });
        assert_eq!((delivery, program.submitted.len()), (TypingOutcome::Delivered, 1), "{length}");
    }
}

/// A dialog opens because of our text: nobody knows whether our Enter went to the dialog.
#[test]
fn a_dialog_that_follows_enter_is_no_refusal() {
    let looks = deliver(Program { deaf: 99, ..Program::default() }).1.now;
    let events = vec![(102_000, Event::Dialog)];
    let (delivery, program) = deliver(Program { deaf: 99, events, ..Program::default() });
    assert!(looks > 102_000);
    assert_eq!((delivery, program.answered), (TypingOutcome::Unknown, 0));
}

proptest! {
    /// Whatever a person types and whenever a dialog opens, if it can be seen in time: the text is submitted
    /// once or reported as not submitted, no dialog is answered, and no draft is sent.
    #[test]
    fn nothing_else_is_ever_submitted(
        at in 100_000i64..103_000, again in 100_000i64..106_000, dialog in 100_000i64..110_000,
        deaf in 0usize..4, lost in 0usize..4, lag in 0usize..3,
        torn in proptest::collection::vec(1usize..40, 0..6),
    ) {
        let events = vec![(at, Event::Types("x")), (again, Event::Types("yz")), (dialog, Event::Dialog)];
        let (delivery, program) = deliver(Program { events, deaf, lost_pastes: lost, lag, torn, ..Program::default() });
        // A screen that lags behind hides events for as long; Enter within that time is a race that tmux does
        // not let us close.
        if lag == 0 {
            prop_assert_eq!(program.answered, 0);
            prop_assert!(program.submitted.iter().all(|text| text == OURS), "{:?}", program.submitted);
        }
        prop_assert!(program.submitted.len() <= 1);
        if delivery == TypingOutcome::Delivered && lag == 0 {
            prop_assert_eq!(program.submitted, vec![OURS.to_owned()]);
        }
    }
}
