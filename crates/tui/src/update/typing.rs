//! Handles keys while an input line is open, and carries out the line by its purpose.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

use super::actions;
use super::command_line;
use super::run;
use crate::ChatTab;
use crate::CommandRun;
use crate::Effect;
use crate::Input;
use crate::InputPurpose;
use crate::Item;
use crate::LineEdit;
use crate::Model;
use crate::Panel;
use crate::UndoAction;
use crate::WeakeningChange;

/// Words that are short, easily typed and not easily confused.
const WORDS: &[&str] = &[
    "otter", "maple", "comet", "pearl", "tiger", "cedar", "amber", "robin", "lemon", "delta", "ivory",
    "raven", "coral", "mango", "panda", "tulip", "wheat", "zebra", "hazel",
];

/// Opens an input line.
pub(super) fn begin(model: &mut Model, purpose: InputPurpose) {
    begin_with(model, purpose, "");
}

/// Opens an input line with a text in it.
pub(super) fn begin_with(model: &mut Model, purpose: InputPurpose, text: &str) {
    let mut line = LineEdit::default();
    line.set(text);
    model.input = Some(Input { purpose, line });
    // An earlier notice is not about this line; errors stay.
    model.toast = model.toast.take().filter(|toast| toast.is_error);
}

/// Asks the person to type a shown word, because the change weakens protection.
pub(super) fn ask_word(model: &mut Model, confirmed: WeakeningChange) {
    let word = |seed: u64| WORDS[(seed >> 33) as usize % WORDS.len()];
    let last = word(model.seed);
    // The word changes every time, so that it has to be read before it is typed.
    while word(model.seed) == last {
        model.seed =
            model.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    let word = word(model.seed).to_owned();
    begin(model, InputPurpose::Word { word, confirmed });
}

/// Adds a text that was pasted.
pub(super) fn paste(model: &mut Model, text: &str) {
    // A word that confirms a change has to be typed.
    if let Some(input) = &mut model.input
        && !matches!(input.purpose, InputPurpose::Word { .. })
    {
        input.line.insert(text);
        follow_filter(model);
    }
}

pub(super) fn on_key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    if let Some(effects) = choose_by_digit(model, key) {
        return effects;
    }
    let Some(input) = &mut model.input else { return Vec::new() };
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc => cancel(model),
        KeyCode::Char('c') if is_control => cancel(model),
        // A message may have several lines.
        KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
            input.line.insert("\n");
        }
        KeyCode::Char('j') if is_control => input.line.insert("\n"),
        KeyCode::Enter => return submit(model),
        KeyCode::Tab if matches!(input.purpose, InputPurpose::Set { .. }) => fill_in(input),
        KeyCode::Tab | KeyCode::BackTab => turn_chat(model, key.code == KeyCode::Tab),
        KeyCode::Backspace if is_control => input.line.delete_word(),
        KeyCode::Backspace => input.line.backspace(),
        KeyCode::Delete => input.line.delete(),
        KeyCode::Left => input.line.left(),
        KeyCode::Right => input.line.right(),
        KeyCode::Home => input.line.home(),
        KeyCode::End => input.line.end(),
        KeyCode::Char(c) if is_control => match c {
            'a' => input.line.home(),
            'e' => input.line.end(),
            'w' => input.line.delete_word(),
            'u' => input.line.clear_before(),
            _ => {}
        },
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::ALT) => {
            input.line.insert(c.encode_utf8(&mut [0; 4]));
        }
        _ => {}
    }
    follow_filter(model);
    Vec::new()
}

/// Applies a filter while it is typed.
fn follow_filter(model: &mut Model) {
    if let Some(Input { purpose: InputPurpose::Filter, line }) = &model.input {
        model.filter = line.text().to_owned();
    }
}

/// Closes the input line; a text for an agent or a run is kept for `u`.
fn cancel(model: &mut Model) {
    let Some(input) = model.input.take() else { return };
    match &input.purpose {
        InputPurpose::Filter => model.filter.clear(),
        InputPurpose::Message(_)
        | InputPurpose::Reply { .. }
        | InputPurpose::Broadcast
        | InputPurpose::Run
        | InputPurpose::Open(_)
            if !input.line.is_empty() =>
        {
            actions::remember(model, "This is what you wrote.", UndoAction::Typed(Box::new(input)));
            model.say("Not sent. u brings it back.");
        }
        _ => {}
    }
}

/// Puts the present value of a setting into the line, to be changed.
fn fill_in(input: &mut Input) {
    if let InputPurpose::Set { now, .. } = &input.purpose {
        let now = now.clone();
        input.line.set(&now);
    }
}

/// Goes to the next or previous chat of the messages, and keeps the typed text.
fn turn_chat(model: &mut Model, is_forward: bool) {
    if model.panel != Panel::Messages {
        return;
    }
    let tabs: Vec<ChatTab> = model.chat_tabs().into_iter().filter(|tab| *tab != ChatTab::Agents).collect();
    let at = tabs.iter().position(|tab| *tab == model.chat).unwrap_or(0);
    let by = if is_forward { 1 } else { tabs.len() - 1 };
    let Some(tab) = tabs.get((at + by) % tabs.len()).cloned() else { return };
    if let Some(input) = &mut model.input {
        input.purpose = match &tab {
            ChatTab::With(name) => InputPurpose::Message(name.clone()),
            ChatTab::All | ChatTab::Agents => InputPurpose::Broadcast,
        };
    }
    model.chat = tab;
    model.scroll = 0;
}

/// The time for which a new item may not have been seen yet, in milliseconds.
const NEW: i64 = 700;

/// Returns the item that is being answered, and the answers to its earlier questions.
fn answering(model: &Model) -> Option<(&Item, &[String])> {
    let InputPurpose::Answer { item, given } = &model.input.as_ref()?.purpose else { return None };
    Some((model.data.queue.iter().find(|one| one.key == *item)?, given))
}

/// Returns the options that digits choose from.
pub(crate) fn options<'a>(item: &'a Item, given: &[String]) -> &'a [String] {
    match item.questions.get(given.len()) {
        Some((_, options)) if item.questions.len() > 1 => options,
        _ => &item.options,
    }
}

/// Chooses an option if a digit is the first key that is typed.
fn choose_by_digit(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let (item, given) = answering(model)?;
    if !model.input.as_ref()?.line.is_empty() || !key.modifiers.is_empty() {
        return None;
    }
    let KeyCode::Char(c) = key.code else { return None };
    if c == '.' {
        model.input = None;
        return Some(actions::act(model, crate::keys::KeyAction::NextItem, key));
    }
    let at = (c.to_digit(10)? as usize).checked_sub(1)?;
    let chosen = options(item, given).get(at)?.clone();
    // The person may have meant the item that was shown before, so a new item needs Enter too.
    let appeared = model.appeared.get(&item.key).copied();
    if item.kind.is_asking() && appeared.is_some_and(|at| model.now.since(at) < NEW) {
        let told = format!("{} has just asked: look at it. Enter gives this answer.", item.agent);
        model.say(told);
        return None;
    }
    Some(answer(model, &chosen))
}

/// Gives an answer to the open question; sends it once each question has one.
pub(super) fn answer(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some((item, given)) = answering(model) else {
        model.input = None;
        return Vec::new();
    };
    let (key, number, count) = (item.key.clone(), item.number.to_string(), item.questions.len());
    let mut given = given.to_vec();
    // The text after a refusing word is the reason.
    match text.split_once(' ') {
        Some((word, reason)) if item.kind != crate::ItemKind::Question && is_refusal(word) => {
            given.extend([word.to_owned(), reason.trim().to_owned()]);
        }
        _ => given.push(text.to_owned()),
    }
    if given.len() < count && count > 1 {
        begin(model, InputPurpose::Answer { item: key, given });
        return Vec::new();
    }
    let takes_terminal = given.iter().any(|word| word == "take over");
    let typed = model.input.take().filter(|input| !input.line.is_empty()).map(Box::new);
    model.answered.insert(key, model.now);
    // The selection goes back to the first item.
    model.item = None;
    let words: Vec<String> = ["answer", &number, "--"].map(str::to_owned).into_iter().chain(given).collect();
    let command = CommandRun { words, typed, ..CommandRun::default() };
    if takes_terminal { vec![Effect::InTerminal(command)] } else { run(model, command) }
}

fn is_refusal(word: &str) -> bool {
    ["deny", "no", "n", "refuse", "reject"].contains(&word.to_lowercase().as_str())
}

fn submit(model: &mut Model) -> Vec<Effect> {
    let Some(Input { purpose, line }) = model.input.clone() else { return Vec::new() };
    let text = line.text().trim().to_owned();
    // Only a pane may be opened with an empty line, and only a filter may be cleared.
    if text.is_empty() && !matches!(purpose, InputPurpose::Open(_) | InputPurpose::Filter) {
        return Vec::new();
    }
    if matches!(purpose, InputPurpose::Answer { .. }) {
        return answer(model, &text);
    }
    let typed = model.input.take().map(Box::new);
    // In a chat, the next input line opens at once.
    let stays = |tab: ChatTab| model.panel == Panel::Messages && model.chat == tab;
    match purpose {
        InputPurpose::Answer { .. } => Vec::new(),
        InputPurpose::Message(to) => {
            if stays(ChatTab::With(to.clone())) {
                begin(model, InputPurpose::Message(to.clone()));
            }
            // The name of one agent, or two: `Falcon,Raven`.
            tell(model, ["send", &to, "-"], &text, typed)
        }
        InputPurpose::Reply { called, .. } => tell(model, ["reply", &called, "-"], &text, typed),
        InputPurpose::Broadcast => {
            if stays(ChatTab::All) {
                begin(model, InputPurpose::Broadcast);
            }
            tell(model, ["send", "all", "-"], &text, typed)
        }
        InputPurpose::Filter => Vec::new(),
        InputPurpose::Command => command_line::carry_out(model, &text),
        InputPurpose::Run => {
            model.came_from = Some(model.panel);
            model.saw_run = false;
            model.panel = Panel::Runs;
            tell(model, ["run", "--detach", "-"], &text, typed)
        }
        InputPurpose::Open(cli) => match text.is_empty() {
            true => run(model, CommandRun::new(["open", &cli])),
            false => tell(model, ["open", &cli, "--prompt-file", "-"], &text, typed),
        },
        InputPurpose::Ask => {
            model.data.found = (text.clone(), vec!["…".to_owned()]);
            vec![Effect::Ask(text)]
        }
        InputPurpose::Set { now, .. } if now == text => Vec::new(),
        InputPurpose::Set { key, now } => {
            // Undoing a setting that was not in the person's file removes it from there.
            let is_own = model.data.settings.iter().any(|one| one.key == key && one.tier == "user");
            let back = Effect::Set { key: key.clone(), value: is_own.then_some(now), typed: None };
            actions::remember(model, &format!("the change of {key}"), UndoAction::Effect(back));
            vec![Effect::Set { key, value: Some(text), typed }]
        }
        InputPurpose::Word { word, confirmed } => confirm(model, &word, &text, confirmed),
    }
}

/// Runs a command with the typed text as its input.
fn tell<const N: usize>(
    model: &mut Model,
    words: [&str; N],
    text: &str,
    typed: Option<Box<Input>>,
) -> Vec<Effect> {
    run(model, CommandRun { typed, ..CommandRun::new(words).with_input(text) })
}

fn confirm(model: &mut Model, word: &str, typed: &str, confirmed: WeakeningChange) -> Vec<Effect> {
    if !typed.eq_ignore_ascii_case(word) {
        model.complain("That was not the word. Nothing was changed.");
        return Vec::new();
    }
    if let WeakeningChange::Override { path, worktree } = &confirmed {
        let end = Effect::EndOverride { path: path.clone(), worktree: worktree.clone() };
        actions::remember(model, &format!("that everyone may write {path}"), UndoAction::Effect(end));
    }
    vec![Effect::Confirmed(confirmed)]
}
