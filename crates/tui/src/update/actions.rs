//! Carries out the actions of keys while no input line is open and no window is over the panels.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;

use super::choose;
use super::moves;
use super::run;
use super::typing;
use crate::About;
use crate::ChatTab;
use crate::CommandRun;
use crate::Effect;
use crate::FocusedFrame;
use crate::InputPurpose;
use crate::Item;
use crate::ItemKind;
use crate::Model;
use crate::Overlay;
use crate::Panel;
use crate::Sort;
use crate::Undo;
use crate::UndoAction;
use crate::WeakeningChange;
use crate::keys::KeyAction;

/// The most changes that can be taken back.
const MOST_UNDO: usize = 50;

pub(super) fn act(model: &mut Model, action: KeyAction, key: &KeyEvent) -> Vec<Effect> {
    match action {
        KeyAction::NextPanel => moves::show(model, model.panel.after(1)),
        KeyAction::PreviousPanel => moves::show(model, model.panel.after(-1)),
        KeyAction::Panel => {
            if let KeyCode::Char(digit) = key.code
                && let Some(at) = digit.to_digit(10)
            {
                moves::show(model, Panel::ALL[at as usize - 1]);
            }
        }
        KeyAction::Left => moves::turn(model, -1),
        KeyAction::Right => moves::turn(model, 1),
        KeyAction::Up => moves::step(model, -1),
        KeyAction::Down => moves::step(model, 1),
        KeyAction::PageUp => moves::page(model, -1),
        KeyAction::PageDown => moves::page(model, 1),
        KeyAction::First => moves::jump(model, false),
        KeyAction::Last => moves::jump(model, true),
        KeyAction::Open => return open(model),
        KeyAction::Back => moves::back(model),
        KeyAction::Answer => return answer(model),
        KeyAction::Message => message(model),
        KeyAction::Reply => reply(model),
        KeyAction::Broadcast => typing::begin(model, InputPurpose::Broadcast),
        KeyAction::Focus => return focus(model),
        KeyAction::New => choose::new_work(model),
        KeyAction::Interrupt => interrupt(model),
        KeyAction::Override => return override_reservation(model),
        KeyAction::HandOver => choose::hand_over(model),
        KeyAction::Task => task(model),
        KeyAction::Project => next_project(model),
        KeyAction::Sort => next_sort(model),
        KeyAction::NextItem => next_item(model),
        KeyAction::Filter => {
            let filter = model.filter.clone();
            typing::begin_with(model, InputPurpose::Filter, &filter);
        }
        KeyAction::Command => typing::begin(model, InputPurpose::Command),
        KeyAction::Undo => return undo(model),
        KeyAction::Help => model.overlay = Some(Overlay::Help { scroll: 0 }),
        KeyAction::Quit => {
            model.is_over = true;
            return vec![Effect::Quit];
        }
        KeyAction::Copy => return copy(model),
        KeyAction::Pin => mark(model, true),
        KeyAction::Mute => mark(model, false),
        KeyAction::Redraw => return vec![Effect::Redraw],
    }
    Vec::new()
}

/// Opens the selected row or item.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    if model.focus == FocusedFrame::Queue {
        return answer(model);
    }
    match model.panel {
        Panel::Agents => {
            model.is_detail_open = model.selected_agent().is_some();
            Vec::new()
        }
        Panel::Messages => {
            match model.chat.clone() {
                ChatTab::Agents => {
                    if let Some(name) = model.selected_agent().map(|agent| agent.name.clone()) {
                        model.chat = ChatTab::With(name.clone());
                        typing::begin(model, InputPurpose::Message(name));
                    }
                }
                ChatTab::With(name) => typing::begin(model, InputPurpose::Message(name)),
                ChatTab::All => typing::begin(model, InputPurpose::Broadcast),
            }
            Vec::new()
        }
        Panel::Tasks => {
            choose::assign(model);
            Vec::new()
        }
        Panel::Reservations => {
            let Some(path) =
                model.reservations().get(model.row()).map(|one| (one.path.clone(), one.worktree.clone()))
            else {
                return Vec::new();
            };
            // `explain` would take a path after `--` for a command.
            let path = (if path.0.starts_with('-') { format!("./{}", path.0) } else { path.0 }, path.1);
            run(model, CommandRun::new(["explain", &path.0]).in_dir(&path.1).as_page())
        }
        Panel::Radar => {
            let number = model.data.pairs.get(model.row()).and_then(|pair| pair.number);
            match number {
                Some(number) => run(model, CommandRun::new(["radar", "show", &number.to_string()]).as_page()),
                None => Vec::new(),
            }
        }
        Panel::Runs => match model.runs().get(model.row()).map(|run| run.number.to_string()) {
            Some(number) => run(model, CommandRun::new(["runs", "show", &number]).as_page()),
            None => Vec::new(),
        },
        Panel::Knowledge => {
            typing::begin(model, InputPurpose::Ask);
            Vec::new()
        }
        Panel::Settings => {
            let selected = model.settings().get(model.row()).map(|one| (one.key.clone(), one.value.clone()));
            if let Some((key, now)) = selected {
                typing::begin(model, InputPurpose::Set { key, now });
            }
            Vec::new()
        }
        Panel::Feed => {
            let line = model.feed().nth(model.row()).map(|line| line.text.clone());
            if let Some(line) = line {
                model.overlay = Some(Overlay::Page { title: "Entry".into(), lines: vec![line], scroll: 0 });
            }
            Vec::new()
        }
    }
}

/// Returns the item to answer: the selected agent's own in the list of agents, else the selected item.
fn meant_item(model: &Model) -> Option<Item> {
    let of_agent = || {
        let name = &model.selected_agent()?.name;
        model.queue().into_iter().find(|item| item.agent == *name && item.number > 0)
    };
    let is_in_list = model.focus == FocusedFrame::Main && model.panel == Panel::Agents;
    let own = if is_in_list { of_agent() } else { None };
    own.or_else(|| model.selected_item()).cloned()
}

/// Begins an answer to the item in question, in the queue.
pub(super) fn answer(model: &mut Model) -> Vec<Effect> {
    let Some(item) = meant_item(model) else {
        model.say("Nothing needs you.");
        return Vec::new();
    };
    model.item = Some(item.key.clone());
    model.focus = FocusedFrame::Queue;
    match (&item.kind, &item.about) {
        (ItemKind::Contest | ItemKind::Collision, _) => choose::about_item(model, &item),
        (_, About::Run(number)) => {
            model.dismissed.insert(item.key.clone());
            return run(model, CommandRun::new(["runs", "show", &number.to_string()]).as_page());
        }
        _ => typing::begin(model, InputPurpose::Answer { item: item.key, given: Vec::new() }),
    }
    Vec::new()
}

/// Returns the name of the agent that the selected row or item is about.
pub(super) fn agent_in_question(model: &Model) -> Option<String> {
    if model.focus == FocusedFrame::Queue {
        return model.selected_item().map(|item| item.agent.clone());
    }
    match model.panel {
        Panel::Agents => model.selected_agent().map(|agent| agent.name.clone()),
        Panel::Messages => match &model.chat {
            ChatTab::Agents => model.selected_agent().map(|agent| agent.name.clone()),
            ChatTab::With(name) => Some(name.clone()),
            ChatTab::All => None,
        },
        Panel::Tasks => model.tasks().get(model.row()).and_then(|task| task.who.clone()),
        Panel::Reservations => model.reservations().get(model.row()).map(|one| one.holder.clone()),
        Panel::Radar => model.data.pairs.get(model.row()).map(|pair| pair.one.clone()),
        Panel::Runs => model.runs().get(model.row()).map(|run| run.name.clone()),
        Panel::Knowledge | Panel::Settings | Panel::Feed => None,
    }
}

fn message(model: &mut Model) {
    match agent_in_question(model) {
        Some(name) => typing::begin(model, InputPurpose::Message(name)),
        None if model.panel == Panel::Messages => typing::begin(model, InputPurpose::Broadcast),
        None => model.say("Select an agent first; b writes to all."),
    }
}

fn reply(model: &mut Model) {
    let name = agent_in_question(model);
    let from = |name: &str| model.data.messages.iter().rfind(|message| message.from == name);
    let is_to_all = model.panel == Panel::Messages && model.chat == ChatTab::All;
    let last = match &name {
        Some(name) => from(name),
        None if is_to_all => model.chat(&ChatTab::All).into_iter().rfind(|message| !message.is_mine),
        None => model.data.messages.iter().rfind(|message| !message.is_mine),
    };
    match last.map(|message| (message.from.clone(), message.called.clone())) {
        Some((to, called)) => typing::begin(model, InputPurpose::Reply { to, called }),
        None => model.say(match name {
            Some(name) => match model.data.messages.iter().rfind(|message| message.is_unread) {
                Some(last) => {
                    format!("{name} has not written to you, {} has: . goes to it, then r.", last.from)
                }
                None => format!("{name} has not written to you; m writes to it."),
            },
            None if is_to_all => "No agent has written to all; b does.".to_owned(),
            None => "Nobody has written to you.".to_owned(),
        }),
    }
}

fn focus(model: &mut Model) -> Vec<Effect> {
    match agent_in_question(model) {
        Some(name) => vec![Effect::Focus { agent: name }],
        None => {
            model.say("Select an agent first.");
            Vec::new()
        }
    }
}

fn interrupt(model: &mut Model) {
    if model.panel == Panel::Runs && model.focus == FocusedFrame::Main {
        let run = model.runs().get(model.row()).map(|run| (run.has_ended, run.number, run.name.clone()));
        match run {
            None => model.say("There is no run."),
            Some((true, ..)) => model.say("That run has ended."),
            Some((false, number, name)) => {
                model.overlay = Some(Overlay::Confirm {
                    what: format!("Stop run {number} ({name})?"),
                    effect: Effect::Run(CommandRun::new(["runs", "stop", &number.to_string()])),
                });
            }
        }
        return;
    }
    let Some(name) = agent_in_question(model) else {
        model.say("Select an agent first.");
        return;
    };
    if model.agent_named(&name).is_some_and(|agent| !agent.has_pane) {
        model.complain(format!(
            "{name} runs in no pane that Consort can reach: interrupt it in its own terminal."
        ));
        return;
    }
    model.overlay = Some(Overlay::Confirm {
        what: format!("Interrupt {name}? It stops what it does and waits for a prompt."),
        effect: Effect::Interrupt { agent: name },
    });
}

fn override_reservation(model: &mut Model) -> Vec<Effect> {
    let item = model.selected_item().filter(|_| model.focus == FocusedFrame::Queue);
    if let Some(About::Reservation { path, worktree }) = item.map(|item| item.about.clone()) {
        typing::ask_word(model, WeakeningChange::Override { path, worktree });
        return Vec::new();
    }
    let held = |name: &str| model.data.reservations.iter().find(|one| one.holder == name && one.is_enforced);
    let selected = match model.panel {
        Panel::Reservations => model.reservations().get(model.row()).copied(),
        _ => agent_in_question(model).and_then(|name| held(&name)),
    };
    let Some(one) = selected.cloned() else {
        model.say("Select a reservation first: 4 shows them.");
        return Vec::new();
    };
    // Ending an override restores protection, so it needs no confirming word.
    if let Some(open) = model.find_override(&one) {
        let end = Effect::EndOverride { path: open.path.clone(), worktree: open.worktree.clone() };
        model.undo.retain(|undo| undo.how != UndoAction::Effect(end.clone()));
        return vec![end];
    }
    let (path, worktree) = (one.path, one.worktree);
    typing::ask_word(model, WeakeningChange::Override { path, worktree });
    Vec::new()
}

fn task(model: &mut Model) {
    if model.panel == Panel::Tasks {
        choose::assign(model);
        return;
    }
    let name = agent_in_question(model);
    let task = name.as_ref().and_then(|name| model.agent_named(name)?.task.clone());
    if let (Some(name), None) = (name, &task) {
        model.say(format!("{name} has no task; here are all."));
    }
    moves::show(model, Panel::Tasks);
    if let Some(id) = task
        && let Some(at) = model.tasks().iter().position(|task| task.id == id)
    {
        model.rows[Panel::Tasks.index()] = at;
    }
}

fn next_project(model: &mut Model) {
    let mut projects: Vec<String> = model.data.agents.iter().map(|agent| agent.project.clone()).collect();
    projects.push(model.project.clone());
    projects.sort();
    projects.dedup();
    projects.retain(|project| *project != model.project);
    // The order: this project, all projects, then each other project.
    let here = Some(model.project.clone());
    let all: Vec<Option<String>> = [here, None].into_iter().chain(projects.into_iter().map(Some)).collect();
    let at = all.iter().position(|scope| *scope == model.scope).unwrap_or(0);
    let before = std::mem::replace(&mut model.scope, all[(at + 1) % all.len()].clone());
    remember(model, "the project", UndoAction::Scope(before));
    model.say(match &model.scope {
        Some(project) => format!("Project {project}"),
        None => "All projects".to_owned(),
    });
}

fn next_sort(model: &mut Model) {
    let at = Sort::ALL.iter().position(|sort| *sort == model.sort).unwrap_or(0);
    let before = std::mem::replace(&mut model.sort, Sort::ALL[(at + 1) % Sort::ALL.len()]);
    remember(model, "the order", UndoAction::Sort(before));
    model.say(format!("Sorted by {}", model.sort.words()));
}

fn next_item(model: &mut Model) {
    let queue = model.queue();
    if queue.is_empty() {
        model.say("Nothing needs you.");
        return;
    }
    let is_at_one =
        model.focus == FocusedFrame::Queue && queue.iter().any(|item| Some(&item.key) == model.item.as_ref());
    let at = if is_at_one { (model.item_at() + 1) % queue.len() } else { model.item_at() };
    model.item = Some(queue[at].key.clone());
    model.focus = FocusedFrame::Queue;
}

/// Pins or mutes the selected agent, or ends that if it is on.
fn mark(model: &mut Model, is_pin: bool) {
    let Some((key, name)) = model.selected_agent().map(|agent| (agent.key.clone(), agent.name.clone()))
    else {
        return;
    };
    let marks = if is_pin { &mut model.pinned } else { &mut model.muted };
    let before = marks.clone();
    let is_on = marks.insert(key.clone()) || !marks.remove(&key);
    let (done, how) = match (is_pin, is_on) {
        (true, true) => ("pinned", UndoAction::Pinned(before)),
        (true, false) => ("not pinned any more", UndoAction::Pinned(before)),
        (false, true) => ("muted", UndoAction::Muted(before)),
        (false, false) => ("not muted any more", UndoAction::Muted(before)),
    };
    remember(model, &format!("that {name} is {done}"), how);
    model.say(format!("{name} is {done}."));
}

pub(super) fn remember(model: &mut Model, what: &str, how: UndoAction) {
    model.undo.push(Undo { what: what.to_owned(), how });
    let excess = model.undo.len().saturating_sub(MOST_UNDO);
    model.undo.drain(..excess);
}

fn undo(model: &mut Model) -> Vec<Effect> {
    let Some(Undo { what, how }) = model.undo.pop() else {
        model.say("There is nothing to undo. What was sent or answered cannot be taken back.");
        return Vec::new();
    };
    model.say(match how {
        UndoAction::Typed(_) => what,
        _ => format!("Undone: {what}"),
    });
    match how {
        UndoAction::Pinned(before) => model.pinned = before,
        UndoAction::Muted(before) => model.muted = before,
        UndoAction::Sort(before) => model.sort = before,
        UndoAction::Scope(before) => model.scope = before,
        UndoAction::Typed(input) => model.input = Some(*input),
        UndoAction::Effect(effect) => return vec![effect],
    }
    Vec::new()
}

fn copy(model: &mut Model) -> Vec<Effect> {
    let text = match (model.focus, model.panel) {
        (FocusedFrame::Queue, _) => model.selected_item().map(|item| item.text.clone()),
        (_, Panel::Agents) if model.is_detail_open => Some(model.data.detail.lines.join("\n")),
        (_, Panel::Agents) => model.selected_agent().map(|agent| agent.name.clone()),
        (_, Panel::Messages) => model.chat(&model.chat).last().map(|message| message.text.clone()),
        (_, Panel::Tasks) => model.tasks().get(model.row()).map(|task| format!("{} {}", task.id, task.title)),
        (_, Panel::Reservations) => model.reservations().get(model.row()).map(|one| one.path.clone()),
        (_, Panel::Radar) => model
            .data
            .pairs
            .get(model.row())
            .map(|pair| format!("{} {} {}", pair.one, pair.other, pair.about.join(" "))),
        (_, Panel::Runs) => model.runs().get(model.row()).map(|run| run.title.clone()),
        (_, Panel::Knowledge) => model.data.found.1.get(model.row()).cloned(),
        (_, Panel::Settings) => {
            model.settings().get(model.row()).map(|one| format!("{} = {}", one.key, one.value))
        }
        (_, Panel::Feed) => model.feed().nth(model.row()).map(|line| line.text.clone()),
    };
    match text.filter(|text| !text.is_empty()) {
        Some(text) => {
            model.say(format!("Copied: {}", consort_core::text::one_line(&text, 60)));
            vec![Effect::Copy(text)]
        }
        None => Vec::new(),
    }
}
