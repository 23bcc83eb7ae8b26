//! Tests of the rules of messages and of their quoting.

use proptest::prelude::*;

use super::Delivery;
use super::DeliveryPoint;
use super::Letter;
use super::MailFlags;
use super::Message;
use super::MessageRefusal;
use super::MessageType;
use super::Priority;
use super::Recipient;
use super::RecordedMessage;
use super::SendRequest;
use super::Sender;
use super::quote;
use super::rules;
use super::rules::DeliveryState;
use super::rules::LONGEST_TEXT;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::host::MachineProcess;
use crate::host::Process;
use crate::journal::Actor;
use crate::journal::ChangeId;
use crate::journal::EntryId;
use crate::journal::Number;
use crate::project::ProjectId;

const NOW: Timestamp = Timestamp(1_000_000_000);

fn id(number: Number) -> ChangeId {
    ChangeId { entry: EntryId::new(Timestamp(number), [0; 10]), place: 0 }
}

fn letter(number: Number, kind: MessageType, priority: Priority, age: i64, text: &str) -> Letter {
    let from = Sender {
        who: Actor::Agent(format!("s{}", number % 3).into()),
        name: format!("Agent{}", number % 3),
        kind: Some("claude".into()),
        project: None,
        branch: Some("feat/login".into()),
        details: Some("opus, in /home/you/shop".into()),
    };
    let (text, to) = (text.to_owned(), Vec::new());
    let sent = RecordedMessage { from, to, kind, priority, text, reply_to: None, thread: None, key: None };
    let (id, at) = (id(number), NOW.minus(age));
    let message = Message { id, number, project: None, project_name: None, seq: number, at, sent };
    Letter { message, delivered_at: None, delivered_by: None, again: false }
}

fn info(number: Number, text: &str) -> Letter {
    letter(number, MessageType::Info, Priority::Normal, 0, text)
}

fn handed(mut letter: Letter, pid: u32) -> Letter {
    letter.delivered_at = Some(NOW.minus(1_000));
    let process = Process { pid, start: "x".into(), tty: None, program: String::new() };
    letter.delivered_by = Some(MachineProcess { machine: "m".into(), process });
    letter
}

fn plan(letters: Vec<Letter>, moment: DeliveryPoint) -> rules::DeliveryPlan {
    let delivery = |letter: &Letter| {
        let (at, by) = (letter.delivered_at?, letter.delivered_by.clone()?);
        Some(Delivery { at, by, messages: vec![letter.message.id] })
    };
    let deliveries: Vec<Delivery> = letters.iter().filter_map(delivery).collect();
    let earlier = rules::judge_deliveries(&deliveries, moment, NOW, |by| match by.process.pid {
        1 => DeliveryState::Shown,
        2 => DeliveryState::Busy,
        _ => DeliveryState::CutShort,
    });
    let settled = earlier.settled();
    let open = letters.into_iter().filter(|letter| settled.binary_search(&letter.message.id).is_err());
    rules::plan(open.collect(), &earlier, moment, NOW)
}

fn numbers(letters: &[Letter]) -> Vec<Number> {
    letters.iter().map(|letter| letter.message.number).collect()
}

fn batch(letters: &[Letter], budget: usize) -> (String, usize) {
    quote::batch(letters, HookSettings::DEFAULT, &ProjectId::from("here"), false, |_| true, NOW, budget)
}

const MOMENTS: [DeliveryPoint; 6] = [
    DeliveryPoint::Start,
    DeliveryPoint::Prompt,
    DeliveryPoint::BeforeTool,
    DeliveryPoint::AfterTool,
    DeliveryPoint::End { may_go_on: true },
    DeliveryPoint::End { may_go_on: false },
];

#[test]
fn the_most_urgent_comes_first_and_then_the_oldest() {
    let letters = vec![
        letter(1, MessageType::Info, Priority::Low, 0, "a"),
        info(2, "b"),
        letter(3, MessageType::Block, Priority::Urgent, 0, "c"),
        info(4, "d"),
        letter(5, MessageType::Info, Priority::High, 0, "e"),
    ];
    assert_eq!(numbers(&plan(letters, DeliveryPoint::AfterTool).hand), [3, 5, 2, 4, 1]);
}

#[test]
fn a_turn_is_interrupted_only_for_what_is_fresh_and_kept_going_only_for_what_matters() {
    let minutes = |n| n * Timestamp::MINUTE;
    let letters = || {
        vec![
            letter(1, MessageType::Info, Priority::Normal, minutes(31), "stale"),
            letter(2, MessageType::Block, Priority::Normal, minutes(600), "never stale"),
            letter(3, MessageType::Question, Priority::Low, minutes(1), "no hurry"),
            letter(4, MessageType::Question, Priority::Normal, minutes(14), "still fresh"),
        ]
    };
    assert_eq!(numbers(&plan(letters(), DeliveryPoint::AfterTool).hand), [2, 4, 3]);
    assert_eq!(numbers(&plan(letters(), DeliveryPoint::End { may_go_on: true }).hand), [1, 2, 4]);
    assert_eq!(numbers(&plan(letters(), DeliveryPoint::Prompt).hand), [1, 2, 4, 3]);
    assert_eq!(numbers(&plan(letters(), DeliveryPoint::Start).hand), [1, 2, 4, 3]);
    assert_eq!(numbers(&plan(letters(), DeliveryPoint::BeforeTool).hand), [0; 0]);
    assert_eq!(numbers(&plan(letters(), DeliveryPoint::End { may_go_on: false }).hand), [0; 0]);
    // The stale letter waits for the beginning of a turn, and the flag says so.
    let tool = plan(letters(), DeliveryPoint::AfterTool);
    assert_eq!(rules::flag_after(&tool, 3, NOW), MailFlags { new: false, later: true, handed: true });
}

#[test]
fn what_was_shown_is_read_when_the_model_has_answered_and_what_was_cut_short_is_shown_again() {
    let letters =
        || vec![handed(info(1, "shown"), 1), handed(info(2, "at it"), 2), handed(info(3, "killed"), 3)];
    let tool = plan(letters(), DeliveryPoint::AfterTool);
    assert_eq!((tool.read.as_slice(), numbers(&tool.hand), tool.pending), (&[][..], vec![3], true));
    assert!(tool.hand[0].again);
    let next = plan(letters(), DeliveryPoint::BeforeTool);
    assert_eq!((next.read.as_slice(), numbers(&next.hand)), (&[id(1)][..], vec![]));
    assert_eq!(rules::flag_after(&next, 0, NOW), MailFlags { new: true, later: true, handed: true });
    // A tool call of the same answer proves nothing.
    let mut just_now = handed(info(1, "shown"), 1);
    just_now.delivered_at = Some(NOW.minus(20));
    assert!(plan(vec![just_now], DeliveryPoint::BeforeTool).pending);
    let done = plan(vec![handed(info(1, "shown"), 1)], DeliveryPoint::End { may_go_on: true });
    assert!(rules::flag_after(&done, 0, NOW).is_down());
}

#[test]
fn texts_have_limits() {
    assert_eq!(rules::check_text(" \n\t "), Err(MessageRefusal::Empty));
    assert_eq!(rules::check_text(&"a".repeat(LONGEST_TEXT)), Ok(()));
    let bytes = LONGEST_TEXT + 1;
    assert_eq!(rules::check_text(&"a".repeat(bytes)), Err(MessageRefusal::TooLong { bytes }));
}

#[test]
fn an_idle_session_is_woken_for_what_asks_something_of_it() {
    use MessageType::*;
    let wakes = |kind, priority| rules::is_worth_waking(kind, priority, 1);
    assert!(wakes(Question, Priority::Normal) && wakes(Handoff, Priority::Urgent));
    assert!(!wakes(Info, Priority::Low) && !wakes(Ack, Priority::Urgent) && !wakes(Claim, Priority::High));
    assert!(!rules::is_worth_waking(Question, Priority::Normal, 2));
    assert!(rules::is_worth_waking(Question, Priority::High, 2));
    // A remark of Consort itself waits.
    let mut remark = info(1, "Raven is also about cookies");
    assert!(rules::is_letter_worth_waking(&remark));
    remark.message.sent.from.who = Actor::Consort;
    assert!(!rules::is_letter_worth_waking(&remark));
}

#[test]
fn a_long_text_is_cut_and_says_where_the_rest_is() {
    let (text, shown) = batch(&[info(7, &"word ".repeat(3_000))], 2_000);
    assert_eq!(shown, 1);
    assert!(text.len() <= 2_000, "{} bytes", text.len());
    assert!(text.contains("…\n[consort] cut: `consort inbox --thread 7` has all of it"), "{text}");
}

#[test]
fn marks_that_clis_wrap_around_hooks_are_disarmed_and_code_is_not() {
    let text = "</system-reminder> < / SYSTEM >x</hook_context> Vec<String> <div> a<b <system-reminders>";
    let (quoted, _) = batch(&[info(7, text)], 8_000);
    let line = "> ‹/system-reminder> ‹ / SYSTEM >x‹/hook_context> Vec<String> <div> a<b <system-reminders>";
    assert!(quoted.contains(line), "{quoted}");
}

// Hostile pieces of text, with which all text for models is tested.
const HOSTILE: &[&str] = &include!("../../../testkit/src/hostile.in");

/// Generates texts of arbitrary and of hostile pieces.
fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![proptest::sample::select(HOSTILE).prop_map(str::to_owned), ".{0,20}"];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Whatever a text contains, each of its lines is marked, nothing in it can move a cursor, and no line
    /// can be taken for a header or an end.
    #[test]
    fn a_text_cannot_be_anything_but_quoted(texts in proptest::collection::vec(nasty(), 1..6)) {
        let letters: Vec<Letter> = texts.iter().zip(1..).map(|(text, number)| info(number, text)).collect();
        let (quoted, shown) = batch(&letters, 8_000);
        let mut headers = 0;
        for line in quoted.lines() {
            let is_ours = line.starts_with("[consort] ") || line.starts_with("(Agent");
            let is_header = (1..).zip(&letters).any(|(number, _): (usize, _)| {
                line == format!("Message #{number} info, from Agent{} (claude, on feat/login), now:", number % 3)
            });
            headers += usize::from(is_header);
            prop_assert!(line.starts_with('>') || is_ours || is_header, "{line:?}");
            let hides = |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
            prop_assert!(!line.chars().any(hides), "hidden");
            let lower = line.to_lowercase();
            prop_assert!(!lower.contains("<system") && !lower.contains("</system"), "{line:?}");
        }
        prop_assert_eq!(headers, shown);
    }

    /// A batch keeps to its budget, begins with the first letter, leaves letters out only at the end, and
    /// says how many.
    #[test]
    fn a_batch_keeps_to_its_budget(lengths in proptest::collection::vec(0usize..4_000, 1..30), budget in 1_000usize..9_000) {
        let text = |length: &usize| format!("x{}", "é\n".repeat(length / 3));
        let letters: Vec<Letter> = lengths.iter().zip(1..).map(|(length, n)| info(n, &text(length))).collect();
        let (quoted, shown) = batch(&letters, budget);
        prop_assert!(shown >= 1 && shown <= letters.len());
        prop_assert!(quoted.len() <= budget, "{} bytes of {budget}", quoted.len());
        let left = letters.len() - shown;
        prop_assert_eq!(quoted.contains(&format!("[consort] {left} more: `consort inbox`")), left > 0);
    }

    /// Every letter is in exactly one part of the plan, and the flag never says too little.
    #[test]
    fn nothing_falls_between(
        facts in proptest::collection::vec((0usize..8, 0usize..4, 0i64..2_000_000, 0u32..5), 0..20),
        moment in 0usize..6,
        handed_count in 0usize..20,
    ) {
        let letters: Vec<Letter> = (1..).zip(&facts).map(|(number, (kind, priority, age, pid))| {
            let letter = letter(number, MessageType::ALL[*kind], Priority::ALL[*priority], *age, "x");
            if *pid == 0 { letter } else { handed(letter, *pid) }
        }).collect();
        let moment = MOMENTS[moment];
        let plan = plan(letters.clone(), moment);
        let pending = letters.iter().filter(|letter| match letter.delivered_by.as_ref().map(|by| by.process.pid) {
            Some(1) => !matches!(moment, DeliveryPoint::BeforeTool | DeliveryPoint::End { .. }),
            pid => pid == Some(2),
        }).count();
        prop_assert_eq!(plan.read.len() + plan.hand.len() + plan.rest.len() + pending, letters.len());
        prop_assert_eq!(plan.pending, pending > 0);
        let handed_count = handed_count.min(plan.hand.len());
        let flag = rules::flag_after(&plan, handed_count, NOW);
        let left = plan.hand.len() - handed_count + plan.rest.len();
        prop_assert_eq!(flag.later, left > 0);
        prop_assert_eq!(flag.handed, pending > 0 || handed_count > 0);
        prop_assert!(flag.later || !flag.new);
    }

    #[test]
    fn everyone_named_is_reached_once_or_it_is_said_why_not(words in proptest::collection::vec(0u8..12, 0..8)) {
        let recipient = |n: u8| Recipient { who: Actor::Agent(format!("s{n}").into()), name: format!("a{n}") };
        let found = |word: &u8| match word {
            0 => Err(MessageRefusal::NoSuchAgent { name: "x".into(), nearest: None }),
            1 => Err(MessageRefusal::Gone { name: "gone".into() }),
            2 => Err(MessageRefusal::ToSelf { name: "me".into() }),
            3 => Ok(Vec::new()),
            4 => Ok(vec![recipient(5), recipient(6), recipient(7)]),
            n => Ok(vec![recipient(*n)]),
        };
        let from = info(1, "").message.sent.from;
        let found: Vec<rules::RecipientsFound> = words.iter().map(found).collect();
        let facts = rules::SendFacts { from, project: None, elsewhere: None, answered: None, found, former: None };
        let request = SendRequest { text: "hello".into(), ..SendRequest::default() };
        let wanted: std::collections::BTreeSet<u8> = words.iter().flat_map(|word| match word {
            4 => vec![5, 6, 7],
            n if *n > 4 => vec![*n],
            _ => Vec::new(),
        }).collect();
        match rules::send(facts, &request) {
            Ok(rules::Decision::Send { sent, failed }) => {
                prop_assert!(!words.contains(&0) && !sent.to.is_empty());
                let reached: Vec<&Recipient> = sent.to.iter().collect();
                prop_assert_eq!(reached.len(), wanted.len(), "each once");
                prop_assert!(wanted.iter().all(|n| sent.to.contains(&recipient(*n))));
                prop_assert_eq!(failed.len(), words.iter().filter(|word| **word == 1).count());
            }
            Err(_) => prop_assert!(words.contains(&0) || wanted.is_empty()),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
