//! Moves between panels, tabs and rows.

use crate::ChatTab;
use crate::DetailTab;
use crate::FocusedFrame;
use crate::Model;
use crate::Panel;

/// Shows a panel.
pub(super) fn show(model: &mut Model, panel: Panel) {
    model.panel = panel;
    model.focus = FocusedFrame::Main;
    model.is_detail_open = false;
    model.scroll = 0;
}

/// Shows another tab inside the panel.
pub(super) fn turn(model: &mut Model, by: isize) {
    let around = |at: usize, count: usize| (at as isize + by).rem_euclid(count as isize) as usize;
    match model.panel {
        Panel::Messages => {
            let tabs = model.chat_tabs();
            let at = tabs.iter().position(|tab| *tab == model.chat).unwrap_or(0);
            model.chat = tabs[around(at, tabs.len())].clone();
            model.scroll = 0;
        }
        Panel::Agents => {
            model.tab = DetailTab::ALL[around(model.tab.index(), DetailTab::ALL.len())];
            if !model.is_wide() {
                model.is_detail_open = true;
            }
        }
        Panel::Feed => {
            let tabs = model.feed_tabs();
            let at = tabs.iter().position(|tab| *tab == model.feed_of).unwrap_or(0);
            model.feed_of = tabs[around(at, tabs.len())].clone();
        }
        _ => step(model, by),
    }
}

/// Selects the row above or below.
pub(super) fn step(model: &mut Model, by: isize) {
    if model.focus == FocusedFrame::Queue {
        let queue = model.queue();
        match model.item_at().checked_add_signed(by) {
            Some(at) if at < queue.len() => model.item = Some(queue[at].key.clone()),
            Some(_) => model.focus = FocusedFrame::Main,
            None => {}
        }
        return;
    }
    match model.panel {
        Panel::Agents if model.is_detail_open => model.scroll = model.scroll.saturating_add_signed(by),
        Panel::Agents => step_agent(model, by),
        Panel::Messages if model.chat == ChatTab::Agents => step_agent(model, by),
        // A chat is scrolled from its end.
        Panel::Messages => model.scroll = model.scroll.saturating_add_signed(-by),
        panel => {
            let last = model.row_count().saturating_sub(1);
            let row = &mut model.rows[panel.index()];
            match row.checked_add_signed(by) {
                Some(at) => *row = at.min(last),
                None => enter_queue(model),
            }
        }
    }
}

fn step_agent(model: &mut Model, by: isize) {
    let agents = model.agents();
    let selected = model.selected_agent().map(|agent| agent.key.clone());
    let at = agents.iter().position(|agent| Some(&agent.key) == selected.as_ref()).unwrap_or(0);
    match at.checked_add_signed(by) {
        Some(at) => {
            let key = agents.get(at.min(agents.len().saturating_sub(1))).map(|agent| agent.key.clone());
            model.agent = key;
        }
        None => enter_queue(model),
    }
}

/// Moves from the first row up into the queue of items that need the person.
fn enter_queue(model: &mut Model) {
    if let Some(last) = model.queue().last().map(|item| item.key.clone()) {
        model.item = Some(last);
        model.focus = FocusedFrame::Queue;
    }
}

pub(super) fn page(model: &mut Model, direction: isize) {
    let by = direction * (model.size.1 as isize / 2).max(1);
    match model.panel {
        Panel::Agents => model.scroll = model.scroll.saturating_add_signed(by),
        Panel::Messages => model.scroll = model.scroll.saturating_add_signed(-by),
        panel => {
            let last = model.row_count().saturating_sub(1);
            let row = &mut model.rows[panel.index()];
            *row = row.saturating_add_signed(by).min(last);
        }
    }
}

pub(super) fn jump(model: &mut Model, to_last: bool) {
    if model.focus == FocusedFrame::Queue {
        let queue = model.queue();
        let to = if to_last { queue.last() } else { queue.first() };
        model.item = to.map(|item| item.key.clone());
        return;
    }
    match (model.panel, &model.chat) {
        (Panel::Agents, _) if model.is_detail_open => model.scroll = if to_last { usize::MAX / 2 } else { 0 },
        (Panel::Agents, _) | (Panel::Messages, ChatTab::Agents) => {
            let agents = model.agents();
            let to = if to_last { agents.last() } else { agents.first() };
            model.agent = to.map(|agent| agent.key.clone());
        }
        (Panel::Messages, _) => model.scroll = if to_last { 0 } else { usize::MAX / 2 },
        (panel, _) => {
            model.rows[panel.index()] = if to_last { model.row_count().saturating_sub(1) } else { 0 };
        }
    }
}

/// Goes back one step: out of the queue, the detail, the filter, the tab, or the panel.
pub(super) fn back(model: &mut Model) {
    if model.focus == FocusedFrame::Queue {
        model.focus = FocusedFrame::Main;
    } else if model.is_detail_open {
        model.is_detail_open = false;
        model.scroll = 0;
    } else if !model.filter.is_empty() {
        model.filter.clear();
    } else if model.panel == Panel::Feed && model.feed_of.is_some() {
        model.feed_of = None;
    } else if model.panel == Panel::Messages && model.chat != ChatTab::Agents {
        model.chat = ChatTab::Agents;
    } else {
        show(model, Panel::Agents);
        model.toast = None;
    }
}
