//! Handles keys while a window is over the panels.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;

use super::choose;
use crate::CommandRun;
use crate::Effect;
use crate::Model;
use crate::Overlay;
use crate::keys;
use crate::keys::KeyAction;

pub(super) fn on_key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let half = (usize::from(model.size.1) / 2).max(1);
    let action = keys::action(key);
    match &mut model.overlay {
        None => Vec::new(),
        Some(Overlay::Confirm { effect, .. }) => {
            let effect = effect.clone();
            match key.code {
                KeyCode::Char('y' | 'Y') => {
                    model.overlay = None;
                    if let Effect::Run(CommandRun { words, .. }) = &effect {
                        let words = words.join(" ");
                        model.say(format!("consort {words} …"));
                    }
                    vec![effect]
                }
                // Enter is no answer: the person may have meant something else with it.
                KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => {
                    model.overlay = None;
                    model.say("Left as it is.");
                    Vec::new()
                }
                _ => Vec::new(),
            }
        }
        Some(Overlay::Choose { options, at, .. }) => {
            let count = options.len();
            if let KeyCode::Char(digit @ '1'..='9') = key.code {
                let chosen = options.get(digit as usize - '1' as usize).map(|(_, choice)| choice.clone());
                return chosen.map_or_else(Vec::new, |choice| take(model, choice));
            }
            match action {
                Some(KeyAction::Up) => *at = at.saturating_sub(1),
                Some(KeyAction::Down) => *at = (*at + 1).min(count.saturating_sub(1)),
                Some(KeyAction::First) => *at = 0,
                Some(KeyAction::Last) => *at = count.saturating_sub(1),
                Some(KeyAction::Open) => {
                    let chosen = options.get(*at).map(|(_, choice)| choice.clone());
                    return chosen.map_or_else(Vec::new, |choice| take(model, choice));
                }
                Some(KeyAction::Back | KeyAction::Quit) => model.overlay = None,
                _ => {}
            }
            Vec::new()
        }
        Some(Overlay::Help { scroll } | Overlay::Page { scroll, .. }) => {
            match action {
                Some(KeyAction::Up) => *scroll = scroll.saturating_sub(1),
                Some(KeyAction::Down) => *scroll += 1,
                Some(KeyAction::PageUp) => *scroll = scroll.saturating_sub(half),
                Some(KeyAction::PageDown) => *scroll += half,
                Some(KeyAction::First) => *scroll = 0,
                Some(KeyAction::Last) => *scroll = usize::MAX / 2,
                Some(KeyAction::Back | KeyAction::Quit | KeyAction::Open | KeyAction::Help) => {
                    model.overlay = None
                }
                Some(KeyAction::Copy) => {
                    if let Some(Overlay::Page { lines, .. }) = &model.overlay {
                        let text = lines.join("\n");
                        model.say("Copied.");
                        return vec![Effect::Copy(text)];
                    }
                }
                _ => {}
            }
            Vec::new()
        }
    }
}

/// Closes the list and carries out the chosen entry.
pub(super) fn take(model: &mut Model, choice: crate::Choice) -> Vec<Effect> {
    model.overlay = None;
    choose::chosen(model, choice)
}
