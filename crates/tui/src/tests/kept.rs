//! Tests that typed text, the selection and the undo list are kept.

use super::sample::*;
use crate::*;

/// A command that fails gives back what was typed for it.
#[test]
fn what_was_typed_is_not_lost_with_a_command_that_fails() {
    let mut model = model(120, 40);
    let effects = press(&mut model, "ause cargo check\n");
    assert_eq!(ran(&effects), "answer 3 -- use cargo check");
    let Effect::Run(command) = effects[0].clone() else { panic!() };
    let text = "Error: that is none of the answers".to_owned();
    update(&mut model, Event::Done(CommandOutcome { command, is_well: false, text }));
    assert!(model.input.is_none(), "whoever has gone on is not interrupted");
    assert!(drawn(&mut model).contains("u brings back what you typed"));
    press(&mut model, "u");
    assert_eq!(model.input.as_ref().unwrap().line.text(), "use cargo check");
    let effects = press(&mut model, "\u{1b}mhello\n");
    let Effect::Run(command) = effects[0].clone() else { panic!() };
    update(&mut model, Event::Done(CommandOutcome { command, is_well: false, text: "Error: full".into() }));
    press(&mut model, "u");
    assert!(matches!(model.input.as_ref().unwrap().purpose, InputPurpose::Message(_)));
}

#[test]
fn a_text_that_was_left_comes_back() {
    let mut model = model(120, 40);
    press(&mut model, "mhello\u{1b}");
    assert!(model.input.is_none());
    press(&mut model, "u");
    assert_eq!(model.input.as_ref().unwrap().line.text(), "hello");
}

#[test]
fn what_is_said_is_seen_while_something_is_typed() {
    let mut model = model(120, 40);
    press(&mut model, "mhal");
    update(&mut model, Event::News(vec![News::Notice("Something was said.".into())]));
    let drawn = drawn(&mut model);
    assert!(drawn.contains("Something was said.") && drawn.contains("> hal"), "{drawn}");
}

#[test]
fn a_setting_is_changed_where_it_is_shown_and_set_back() {
    let mut model = model(120, 40);
    press(&mut model, "8");
    let (key, value) = model.settings().first().map(|one| (one.key.clone(), one.value.clone())).unwrap();
    assert!(press(&mut model, "\n\n").is_empty(), "nothing is no value");
    press(&mut model, "\t");
    assert_eq!(model.input.as_ref().unwrap().line.text(), value);
    assert!(press(&mut model, "\n").is_empty(), "what it is already is not set");
    let effects = press(&mut model, "\n9\n");
    let [Effect::Set { key: changed, value: Some(nine), typed: Some(typed) }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((changed, nine.as_str()), (&key, "9"));
    // A refused value is shown again, to be corrected.
    let command = CommandRun { typed: Some(typed.clone()), ..CommandRun::default() };
    let refused = CommandOutcome { command, is_well: false, text: "Error: `9` is not one of them".into() };
    let later = Undo { what: "the order".into(), how: UndoAction::Scope(None) };
    model.undo.push(later.clone());
    update(&mut model, Event::Done(refused));
    assert_eq!(model.input.as_ref().unwrap().line.text(), "9");
    assert_eq!(model.undo, [later], "what was done since can be undone still");
    model.undo.clear();
    press(&mut model, "\n");
    let is_own = model.settings()[0].tier == "user";
    let back = is_own.then(|| value.clone());
    assert_eq!(press(&mut model, "u"), [Effect::Set { key: key.clone(), value: back, typed: None }]);
    // A value that protects less has to be confirmed by a word.
    update(&mut model, Event::Ask(WeakeningChange::Set { key, value: Some(value) }));
    let Some(InputPurpose::Word { word, confirmed }) =
        model.input.as_ref().map(|input| input.purpose.clone())
    else {
        panic!("{:?}", model.input)
    };
    assert!(drawn(&mut model).contains("which protects less"));
    assert_eq!(press(&mut model, &format!("{word}\n")), [Effect::Confirmed(confirmed)]);
}

#[test]
fn what_is_selected_stays_selected_around_a_filter() {
    let mut model = model(120, 40);
    press(&mut model, "/wren\n\u{1b}");
    assert_eq!(model.selected_agent().unwrap().name, "Wren");
    press(&mut model, "4↓↓");
    let path = model.reservations()[model.row()].path.clone();
    press(&mut model, &format!("/{path}\n"));
    assert_eq!(model.row(), 0);
    press(&mut model, "\u{1b}");
    assert_eq!(model.reservations()[model.row()].path, path);
    // New rows above do not move the selection, either.
    let mut held = model.data.reservations.clone();
    held.push(ReservationInfo { path: "a.txt".into(), ..held[0].clone() });
    update(&mut model, Event::News(vec![News::Reservations(held)]));
    assert_eq!(model.reservations()[model.row()].path, path);
}

#[test]
fn the_feed_is_shown_by_agent() {
    let mut model = model(120, 40);
    let line = |seq, text: &str| FeedLine { seq, at: NOW, text: text.to_owned() };
    let lines = vec![line(1, "Raven joined"), line(2, "Falcon reserves src/"), line(3, "you to Raven: hi")];
    update(&mut model, Event::News(vec![News::FeedBegins, News::Feed(lines)]));
    press(&mut model, "9→");
    assert_eq!(model.feed_of.as_deref(), Some("Falcon"));
    press(&mut model, "→→");
    assert_eq!((model.feed_of.as_deref(), model.feed().count()), (Some("Raven"), 2));
    press(&mut model, "←←←");
    assert_eq!((model.feed_of.as_deref(), model.feed().count()), (None, 3));
}

/// An override is shown on the row of the reservation that it opens, and can be ended there too.
#[test]
fn an_override_is_seen_and_ended_at_what_it_opens() {
    let mut model = model(120, 40);
    let open = model.data.reservations.iter().find(|one| one.is_overridden).unwrap().clone();
    let held =
        ReservationInfo { holder: "Raven".into(), is_enforced: true, is_overridden: false, ..open.clone() };
    let both = vec![held, open.clone()];
    update(&mut model, Event::News(vec![News::Reservations(both)]));
    press(&mut model, "4");
    assert!(drawn(&mut model).contains("Raven  open to everyone for now"));
    model.undo.push(Undo {
        what: "it".into(),
        how: UndoAction::Effect(Effect::EndOverride {
            path: open.path.clone(),
            worktree: open.worktree.clone(),
        }),
    });
    let row = model.reservations().iter().position(|one| one.holder == "Raven").unwrap();
    model.rows[model.panel.index()] = row;
    assert_eq!(press(&mut model, "o"), [Effect::EndOverride { path: open.path, worktree: open.worktree }]);
    assert!(model.undo.is_empty(), "there is nothing left to take back");
}

#[test]
fn a_filter_that_finds_nothing_here_says_where_it_does() {
    let mut model = model(120, 40);
    let path = model.data.reservations[2].path.clone();
    press(&mut model, &format!("/{path}\n"));
    let drawn = drawn(&mut model);
    assert!(drawn.contains("No agent matches /") && drawn.contains("4 Reserved (1)"), "{drawn}");
}
