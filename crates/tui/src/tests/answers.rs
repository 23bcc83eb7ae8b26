//! Tests of the queue of items that need the person, and of answering them.

use super::sample::*;
use crate::*;

#[test]
fn the_queue_begins_with_who_stands_still() {
    let model = model(120, 40);
    let order: Vec<&str> = model.queue().iter().map(|item| item.kind.words()).collect();
    assert_eq!(order, ["permission", "question", "limit", "contest", "message", "collision"]);
}

#[test]
fn a_digit_answers_and_the_item_goes_at_once() {
    let mut model = model(120, 40);
    assert!(press(&mut model, ".").is_empty());
    assert_eq!(model.focus, FocusedFrame::Queue);
    let effects = press(&mut model, "a1");
    assert_eq!(ran(&effects), "answer 3 -- allow");
    assert!(model.queue().iter().all(|item| item.number != 3));
    // An answered item is gone, so no further key can answer it.
    assert_eq!(model.queue().len(), 5);
}

#[test]
fn an_answer_that_failed_is_asked_for_again() {
    let mut model = model(120, 40);
    let command = match press(&mut model, ".a1").remove(0) {
        Effect::Run(command) => command,
        other => panic!("{other:?}"),
    };
    let text = "Error: 3 was already answered\nHint: look".to_owned();
    update(&mut model, Event::Done(CommandOutcome { command, is_well: false, text }));
    assert_eq!(model.queue().len(), 6);
    let toast = model.toast.clone().unwrap();
    assert!(toast.is_error && toast.text.starts_with("3 was already answered"), "{toast:?}");
}

#[test]
fn a_refusal_goes_with_its_reason_and_a_question_with_a_text() {
    let mut one = model(120, 40);
    assert_eq!(ran(&press(&mut one, ".adeny use the other one\n")), "answer 3 -- deny use the other one");
    let effects = press(&mut one, ".abetter none\n");
    assert_eq!(ran(&effects), "answer 4 -- better none");
}

#[test]
fn several_questions_are_asked_one_after_the_other() {
    let mut model = model(120, 40);
    let questions = vec![
        ("Which colour?".to_owned(), vec!["red".to_owned(), "blue".to_owned()]),
        ("Which size?".to_owned(), vec!["small".to_owned(), "large".to_owned()]),
    ];
    let both = Item { questions, ..item(ItemKind::Question, 9, "Wren", "Two things", &[]) };
    update(&mut model, Event::News(vec![News::Queue(vec![both]), News::Now(NOW.plus(1_000))]));
    assert!(press(&mut model, ".a2").is_empty());
    assert!(drawn(&mut model).contains("2 of 2: Which size?"));
    let effects = press(&mut model, "1");
    assert_eq!(ran(&effects), "answer 9 -- blue small");
}

#[test]
fn what_somebody_else_answers_is_not_typed_on() {
    let mut model = model(120, 40);
    press(&mut model, ".aallow");
    let rest: Vec<Item> = model.data.queue.iter().filter(|item| item.number != 3).cloned().collect();
    update(&mut model, Event::News(vec![News::Queue(rest)]));
    assert!(model.toast.as_ref().unwrap().text.contains("answered elsewhere"));
    // Further keys are still text, and answer nothing.
    assert!(press(&mut model, " sha1\n").is_empty());
    assert!(model.input.is_none());
    press(&mut model, ".a");
    let rest: Vec<Item> = model.data.queue.iter().filter(|item| item.number != 4).cloned().collect();
    update(&mut model, Event::News(vec![News::Queue(rest)]));
    assert!(model.input.is_none(), "nothing was typed");
}

#[test]
fn the_dot_goes_through_all_and_begins_again() {
    let mut model = model(120, 40);
    let mut seen = Vec::new();
    for _ in 0..7 {
        press(&mut model, ".");
        seen.push(model.selected_item().unwrap().number);
    }
    assert_eq!(seen, [3, 4, 5, 6, 7, 0, 3]);
    // The dot also leaves an answer in which nothing was typed.
    press(&mut model, "a.");
    assert_eq!(model.selected_item().unwrap().number, 4);
    assert!(model.input.is_none());
}

#[test]
fn the_answer_goes_to_the_selected_agent() {
    let mut model = model(120, 40);
    press(&mut model, "↓");
    assert_eq!(model.selected_agent().unwrap().name, "Raven");
    assert_eq!(ran(&press(&mut model, "a2")), "answer 4 -- sid");
}

#[test]
fn mail_is_replied_to_and_a_contest_offers_what_can_be_done() {
    let mut one = model(120, 40);
    let effects = press(&mut one, ".....ayes, merge\n");
    assert_eq!(ran(&effects), "answer 7 -- yes, merge");
    let mut other = model(120, 40);
    press(&mut other, "....a");
    let Some(Overlay::Choose { options, .. }) = &other.overlay else { panic!("{:?}", other.overlay) };
    assert!(options[1].0.contains("release it from Raven: it is free to take (asks)"), "{options:?}");
    press(&mut other, "2");
    let Some(InputPurpose::Word { word, .. }) = other.input.as_ref().map(|input| input.purpose.clone())
    else {
        panic!("{:?}", other.input)
    };
    let wrong = press(&mut other, "yes\n");
    assert!(wrong.is_empty(), "{wrong:?}");
    press(&mut other, "a2");
    let Some(InputPurpose::Word { word: again, .. }) =
        other.input.as_ref().map(|input| input.purpose.clone())
    else {
        panic!("{:?}", other.input)
    };
    assert_ne!(word, again, "another word each time");
    let effects = press(&mut other, &format!("{again}\n"));
    let wanted = WeakeningChange::Release { path: "src/auth/".into(), worktree: "/w/shop".into() };
    assert_eq!(effects, [Effect::Confirmed(wanted)]);
}

#[test]
fn an_option_that_is_clicked_is_an_answer() {
    use crossterm::event::KeyModifiers;
    use crossterm::event::MouseButton;
    use crossterm::event::MouseEvent;
    use crossterm::event::MouseEventKind;
    let mut model = model(120, 40);
    drawn(&mut model);
    let click = |model: &mut Model, target: &ClickTarget| {
        let (area, _) = model.targets.iter().find(|(_, known)| known == target).cloned().unwrap();
        let mouse = MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column: area.x,
            row: area.y,
            modifiers: KeyModifiers::NONE,
        };
        update(model, Event::Mouse(mouse))
    };
    let effects = click(&mut model, &ClickTarget::Option(2));
    assert_eq!(ran(&effects), "answer 3 -- deny");
    drawn(&mut model);
    click(&mut model, &ClickTarget::Panel(Panel::Feed));
    assert_eq!(model.panel, Panel::Feed);
}

/// A key that was meant for the item shown before does not answer a new one.
#[test]
fn what_has_just_come_up_is_looked_at_first() {
    let mut model = model(120, 40);
    let new = item(ItemKind::Permission, 9, "Wren", "rm -rf /", &["allow", "deny"]);
    update(&mut model, Event::News(vec![News::Queue(vec![new])]));
    assert!(press(&mut model, "a1").is_empty());
    assert_eq!(ran(&press(&mut model, "\n")), "answer 9 -- 1", "it was looked at");
}
