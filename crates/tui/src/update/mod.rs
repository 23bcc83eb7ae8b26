//! Updates the model for an event, and returns the effects to carry out: a pure function.

mod actions;
mod choose;
mod command_line;
mod mouse;
mod moves;
mod overlays;
mod typing;

pub(crate) use command_line::split;
pub(crate) use typing::options;

use consort_core::Timestamp;
use consort_core::text as texts;
use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyEventKind;
use crossterm::event::KeyModifiers;

use crate::ChatTab;
use crate::CommandOutcome;
use crate::CommandRun;
use crate::Effect;
use crate::Event;
use crate::FocusedFrame;
use crate::InputPurpose;
use crate::Interest;
use crate::Model;
use crate::News;
use crate::OutcomeForm;
use crate::Overlay;
use crate::Panel;
use crate::Undo;
use crate::UndoAction;
use crate::keys;

/// The time for which a notice is shown; an error is shown for `COMPLAINT`.
const TOAST: i64 = 6 * Timestamp::SECOND;
const COMPLAINT: i64 = 15 * Timestamp::SECOND;

/// The most lines of an outcome that are shown in a notice.
const TOLD: usize = 3;

/// The time for which an answered item stays hidden while its answer takes effect.
const ANSWERED: i64 = 4 * Timestamp::SECOND;

/// The time between the end of the last run and the return to the panel from before.
const BACK: i64 = 3 * Timestamp::SECOND;

/// The most entries of the journal that the feed keeps.
const FEED: usize = 10_000;

/// Updates the model for an event, and returns the effects to carry out.
pub fn update(model: &mut Model, event: Event) -> Vec<Effect> {
    let before = (model.panel, model.row(), model.row_keys());
    let mut effects = match event {
        Event::Key(key) => on_key(model, &key),
        Event::Mouse(mouse) => mouse::on_mouse(model, &mouse),
        Event::Paste(text) => {
            typing::paste(model, &text);
            Vec::new()
        }
        Event::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Event::News(news) => {
            news.into_iter().for_each(|one| take_in(model, one));
            Vec::new()
        }
        Event::Terminal(words) => vec![Effect::InTerminal(CommandRun { words, ..CommandRun::default() })],
        Event::Ask(confirmed) => {
            // A person who is typing is not interrupted.
            match model.input.is_some() {
                true => model.complain("Nothing was changed: it takes a word, and you were typing."),
                false => typing::ask_word(model, confirmed),
            }
            Vec::new()
        }
        Event::Done(outcome) => on_done(model, outcome),
    };
    let (panel, row, keys) = before;
    if panel == model.panel && row == model.row() {
        follow_selected(model, keys.get(row));
    }
    effects.extend(settle(model));
    effects
}

/// Keeps the row with this key selected when rows around it come and go.
fn follow_selected(model: &mut Model, key: Option<&String>) {
    let at = model.row_keys().iter().position(|one| Some(one) == key);
    if let Some(at) = at {
        model.rows[model.panel.index()] = at;
    }
}

fn on_key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    // After a key press, the screen does not return to the former panel by itself.
    model.came_from = None;
    if model.input.is_some() {
        return typing::on_key(model, key);
    }
    // A terminal sends Esc and a key that follows at once as that key with Alt.
    if key.modifiers.contains(KeyModifiers::ALT) {
        let mut effects = on_key(model, &KeyEvent::from(KeyCode::Esc));
        let rest = key.modifiers - KeyModifiers::ALT;
        effects.extend(on_key(model, &KeyEvent::new(key.code, rest)));
        return effects;
    }
    if model.overlay.is_some() {
        return overlays::on_key(model, key);
    }
    match keys::action(key) {
        Some(action) => actions::act(model, action, key),
        None => Vec::new(),
    }
}

fn take_in(model: &mut Model, news: News) {
    match news {
        News::Now(now) => pass_time(model, now),
        News::Agents(agents) => {
            model.data.agents = agents;
            model.is_loaded = true;
        }
        News::Queue(queue) => {
            model.data.queue = queue;
            note_appeared(model);
            close_answered(model);
        }
        News::Messages(messages) => model.data.messages = messages,
        News::Reservations(all) => model.data.reservations = all,
        News::Tasks(tasks) => model.data.tasks = tasks,
        News::Radar(pairs, headings) => (model.data.pairs, model.data.headings) = (pairs, headings),
        News::Runs(runs) => {
            model.saw_run |= runs.iter().any(|run| !run.has_ended);
            model.data.runs = runs;
        }
        News::Feed(lines) => {
            // A person who reads further down keeps the same entry selected.
            let at = Panel::Feed.index();
            if model.rows[at] > 0 {
                model.rows[at] += lines.len();
            }
            model.data.feed.extend(lines);
            let excess = model.data.feed.len().saturating_sub(FEED);
            model.data.feed.drain(..excess);
        }
        News::FeedBegins => model.data.feed.clear(),
        News::Settings(settings) => model.data.settings = settings,
        News::Detail(detail) => model.data.detail = detail,
        News::Found(asked, lines) => {
            model.data.found = (asked, lines);
            model.rows[Panel::Knowledge.index()] = 0;
        }
        News::Trouble(trouble) => model.trouble = trouble,
        News::Notice(text) => model.say(text),
    }
}

fn pass_time(model: &mut Model, now: Timestamp) {
    model.now = now;
    let age = model.toast.as_ref().map(|toast| (now.since(toast.at), toast.is_error));
    if age.is_some_and(|(age, is_error)| age > if is_error { COMPLAINT } else { TOAST }) {
        model.toast = None;
    }
    model.answered.retain(|_, at| now.since(*at) < ANSWERED);
    let runs = &model.data.runs;
    let last_end = runs.iter().filter_map(|run| run.ended_at).max();
    let is_over = runs.iter().all(|run| run.has_ended) && last_end.is_some_and(|at| now.since(at) >= BACK);
    if model.saw_run
        && is_over
        && model.panel == Panel::Runs
        && let Some(panel) = model.came_from.take()
    {
        model.panel = panel;
    }
}

/// Says if the item of the open answer line was answered elsewhere, and closes the line if it is empty.
fn close_answered(model: &mut Model) {
    let Some(InputPurpose::Answer { item, .. }) = model.input.as_ref().map(|input| &input.purpose) else {
        return;
    };
    if !model.data.queue.iter().any(|one| one.key == *item) {
        model.say("It was answered elsewhere, or does not ask any more.");
        // A person who is typing goes on, and letters that fell through would be keys.
        if model.input.as_ref().is_some_and(|input| input.line.is_empty()) {
            model.input = None;
        }
    }
}

/// Notes when each item came up. Items that arrive before the first data is loaded count as seen.
fn note_appeared(model: &mut Model) {
    let at = if model.is_loaded { model.now } else { Timestamp(0) };
    let Model { appeared, data, .. } = model;
    appeared.retain(|key, _| data.queue.iter().any(|item| item.key == *key));
    for item in &data.queue {
        appeared.entry(item.key.clone()).or_insert(at);
    }
}

fn on_done(model: &mut Model, outcome: CommandOutcome) -> Vec<Effect> {
    let CommandOutcome { command, is_well, text } = outcome;
    let is_answer = command.words.first().is_some_and(|word| word == "answer");
    if is_answer && !is_well {
        model.answered.clear();
    }
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if command.shown == OutcomeForm::Page && (lines.len() > 1 || (is_well && !lines.is_empty())) {
        let quoted = |word: &String| match word.contains(char::is_whitespace) {
            true => texts::shell_quoted(word),
            false => word.clone(),
        };
        let words: Vec<String> = command.words.iter().map(quoted).collect();
        let title = format!("consort {} (Esc closes)", words.join(" "));
        // The notice that the command was started is outdated.
        model.toast = None;
        model.overlay = Some(Overlay::Page { title, lines, scroll: 0 });
        return Vec::new();
    }
    let told = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let told: Vec<&str> = told.map(|line| line.trim_start_matches("Error: ")).collect();
    if is_well {
        // Several lines, because later ones say what follows, such as which agents a message reaches only
        // later.
        let told = told.get(..TOLD.min(told.len())).unwrap_or_default().join(" · ");
        model.say(if told.is_empty() { "Done." } else { &told });
        return Vec::new();
    }
    let mut why = match told.is_empty() {
        true => format!("`consort {}` failed", command.words.join(" ")),
        false => told.join(" · "),
    };
    if let Some(typed) = command.typed {
        if let InputPurpose::Set { key, .. } = &typed.purpose {
            // Nothing was changed, so there is nothing to undo; the value is shown again, to be corrected.
            let is_it = |undo: &Undo| matches!(&undo.how, UndoAction::Effect(Effect::Set { key: of, .. }) if of == key);
            if let Some(at) = model.undo.iter().rposition(is_it) {
                model.undo.remove(at);
            }
            model.input.get_or_insert(*typed);
            model.complain(why);
            return Vec::new();
        }
        why.push_str(" · u brings back what you typed");
        actions::remember(model, "This is what you typed.", UndoAction::Typed(typed));
    }
    model.complain(why);
    Vec::new()
}

/// Corrects the selection after a change, marks an open chat as read, and reports what the person looks at.
fn settle(model: &mut Model) -> Vec<Effect> {
    let mut effects = Vec::new();
    if model.queue().is_empty() {
        model.focus = FocusedFrame::Main;
    }
    model.agent = model.selected_agent().map(|agent| agent.key.clone()).or(model.agent.take());
    let rows = model.row_count();
    let at = model.panel.index();
    model.rows[at] = model.rows[at].min(rows.saturating_sub(1));
    // A chat is read once the person writes in it; passing by is not enough.
    if let (Panel::Messages, ChatTab::With(name)) = (model.panel, model.chat.clone())
        && model.input.is_some()
        && model.unread_from(&name) > 0
    {
        for message in model.data.messages.iter_mut().filter(|message| message.from == name) {
            message.is_unread = false;
        }
        effects.push(Effect::MarkRead { from: name });
    }
    let is_shown = model.panel == Panel::Agents && (model.is_wide() || model.is_detail_open);
    let agent = model.selected_agent().filter(|_| is_shown).map(|agent| agent.key.clone());
    let interest = Interest { panel: model.panel, agent, tab: model.tab, lines: usize::from(model.size.1) };
    if model.interest != interest {
        if model.interest.agent != interest.agent || model.interest.tab != interest.tab {
            model.scroll = 0;
        }
        model.interest = interest.clone();
        effects.push(Effect::Look(interest));
    }
    effects
}

/// Runs a command, and shows a notice that it runs.
fn run(model: &mut Model, command: CommandRun) -> Vec<Effect> {
    model.say(format!("consort {} …", command.words.join(" ")));
    vec![Effect::Run(command)]
}
