//! The table of all keys: key events are looked up in it, and the help is made from it.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

/// An action of a key while no input line has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    NextPanel,
    PreviousPanel,
    Left,
    Right,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Open,
    Back,
    Panel,
    Answer,
    Message,
    Reply,
    Broadcast,
    Focus,
    New,
    Interrupt,
    Override,
    HandOver,
    Task,
    Project,
    Sort,
    NextItem,
    Filter,
    Command,
    Undo,
    Help,
    Quit,
    Copy,
    Pin,
    Mute,
    Redraw,
}

/// Keys with the same action, their spelling and the action in words.
pub struct KeyRow {
    pub keys: &'static [KeyCode],
    pub is_control: bool,
    pub shown: &'static str,
    pub action: KeyAction,
    pub about: &'static str,
}

const fn row(
    keys: &'static [KeyCode],
    shown: &'static str,
    action: KeyAction,
    about: &'static str,
) -> KeyRow {
    KeyRow { keys, is_control: false, shown, action, about }
}

const DIGITS: &[KeyCode] = &[
    KeyCode::Char('1'),
    KeyCode::Char('2'),
    KeyCode::Char('3'),
    KeyCode::Char('4'),
    KeyCode::Char('5'),
    KeyCode::Char('6'),
    KeyCode::Char('7'),
    KeyCode::Char('8'),
    KeyCode::Char('9'),
];

/// The table of all keys.
pub const KEYS: &[KeyRow] = &[
    row(&[KeyCode::Char('.')], ".", KeyAction::NextItem, "go to the next thing that needs you"),
    row(&[KeyCode::Char('a')], "a", KeyAction::Answer, "answer it: a number chooses, or type a text"),
    row(&[KeyCode::Char('m')], "m", KeyAction::Message, "send a message to the selected agent"),
    row(&[KeyCode::Char('r')], "r", KeyAction::Reply, "reply to the last message of it"),
    row(&[KeyCode::Char('b')], "b", KeyAction::Broadcast, "send a message to all agents here"),
    row(&[KeyCode::Char('f')], "f", KeyAction::Focus, "bring its pane to the front"),
    row(&[KeyCode::Char('n')], "n", KeyAction::New, "start a run, or open an agent in a pane"),
    row(&[KeyCode::Char('x')], "x", KeyAction::Interrupt, "interrupt the agent, or stop the run (asks)"),
    row(&[KeyCode::Char('o')], "o", KeyAction::Override, "let everyone write what is reserved (asks)"),
    row(&[KeyCode::Char('H')], "H", KeyAction::HandOver, "hand the work of the agent over to another (asks)"),
    row(&[KeyCode::Char('t')], "t", KeyAction::Task, "show its task; on a task: propose it to an agent"),
    row(&[KeyCode::Tab], "Tab", KeyAction::NextPanel, "next panel"),
    row(&[KeyCode::BackTab], "Shift+Tab", KeyAction::PreviousPanel, "previous panel"),
    row(DIGITS, "1–9", KeyAction::Panel, "that panel"),
    row(&[KeyCode::Left], "←", KeyAction::Left, "previous tab inside the panel"),
    row(&[KeyCode::Right], "→", KeyAction::Right, "next tab inside the panel"),
    row(&[KeyCode::Up, KeyCode::Char('k')], "↑ k", KeyAction::Up, "select the one above"),
    row(&[KeyCode::Down, KeyCode::Char('j')], "↓ j", KeyAction::Down, "select the one below"),
    row(&[KeyCode::PageUp], "PgUp", KeyAction::PageUp, "scroll back"),
    row(&[KeyCode::PageDown], "PgDn", KeyAction::PageDown, "scroll on"),
    row(&[KeyCode::Home, KeyCode::Char('g')], "Home g", KeyAction::First, "the first"),
    row(&[KeyCode::End, KeyCode::Char('G')], "End G", KeyAction::Last, "the last"),
    row(&[KeyCode::Enter], "Enter", KeyAction::Open, "open or confirm"),
    row(&[KeyCode::Esc], "Esc", KeyAction::Back, "back"),
    row(&[KeyCode::Char('/')], "/", KeyAction::Filter, "show only what contains a word"),
    row(&[KeyCode::Char(':')], ":", KeyAction::Command, "run any consort command"),
    row(&[KeyCode::Char('p')], "p", KeyAction::Project, "all projects, the next one, this one again"),
    row(&[KeyCode::Char('s')], "s", KeyAction::Sort, "sort by something else"),
    row(&[KeyCode::Char('*')], "*", KeyAction::Pin, "pin the agent on top"),
    row(&[KeyCode::Char('z')], "z", KeyAction::Mute, "mute the agent: it and what it wants are listed last"),
    row(&[KeyCode::Char('y')], "y", KeyAction::Copy, "copy what is selected"),
    row(&[KeyCode::Char('u')], "u", KeyAction::Undo, "undo"),
    row(&[KeyCode::Char('?')], "?", KeyAction::Help, "this help"),
    row(&[KeyCode::Char('q')], "q", KeyAction::Quit, "quit; agents go on"),
    KeyRow {
        keys: &[KeyCode::Char('l')],
        is_control: true,
        shown: "Ctrl+L",
        action: KeyAction::Redraw,
        about: "draw everything again",
    },
    KeyRow {
        keys: &[KeyCode::Char('c'), KeyCode::Char('d')],
        is_control: true,
        shown: "Ctrl+C",
        action: KeyAction::Quit,
        about: "quit",
    },
];

/// Returns the action of a key.
pub fn action(key: &KeyEvent) -> Option<KeyAction> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER) {
        return None;
    }
    let row = KEYS.iter().find(|row| row.is_control == is_control && row.keys.contains(&key.code));
    row.map(|row| row.action)
}

/// Returns the spelling of the key of an action.
pub fn key_spelling(action: KeyAction) -> &'static str {
    KEYS.iter().find(|row| row.action == action).map_or("", |row| row.shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        for (at, row) in KEYS.iter().enumerate() {
            assert!(!row.about.is_empty() && !row.shown.is_empty());
            for other in &KEYS[at + 1..] {
                let clash = row.keys.iter().find(|key| other.keys.contains(key));
                assert!(clash.is_none() || row.is_control != other.is_control, "{clash:?}");
            }
        }
    }

    /// Checks the keys that are promised to users, one by one.
    #[test]
    fn the_keys_are_those_that_were_promised() {
        let promised = [
            ("Tab", KeyAction::NextPanel),
            ("a", KeyAction::Answer),
            ("m", KeyAction::Message),
            ("r", KeyAction::Reply),
            ("b", KeyAction::Broadcast),
            ("f", KeyAction::Focus),
            ("n", KeyAction::New),
            ("x", KeyAction::Interrupt),
            ("o", KeyAction::Override),
            ("H", KeyAction::HandOver),
            ("t", KeyAction::Task),
            ("p", KeyAction::Project),
            ("s", KeyAction::Sort),
            (".", KeyAction::NextItem),
            ("/", KeyAction::Filter),
            (":", KeyAction::Command),
            ("u", KeyAction::Undo),
            ("?", KeyAction::Help),
            ("q", KeyAction::Quit),
        ];
        for (key, wanted) in promised {
            let code = match key {
                "Tab" => KeyCode::Tab,
                key => KeyCode::Char(key.chars().next().unwrap()),
            };
            assert_eq!(action(&KeyEvent::from(code)), Some(wanted), "{key}");
        }
        assert_eq!(action(&KeyEvent::from(KeyCode::Char('5'))), Some(KeyAction::Panel));
        assert_eq!(action(&KeyEvent::new(KeyCode::Char('a'), KeyModifiers::ALT)), None, "tmux sends Esc, a");
    }
}
