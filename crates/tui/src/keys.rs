//! The table of all keys: key events are looked up in it, and the help is made from it.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

/// An action of a key while no input line has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
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
    pub action: Action,
    pub about: &'static str,
}

const fn row(keys: &'static [KeyCode], shown: &'static str, action: Action, about: &'static str) -> KeyRow {
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
    row(&[KeyCode::Char('.')], ".", Action::NextItem, "go to the next thing that needs you"),
    row(&[KeyCode::Char('a')], "a", Action::Answer, "answer it: a number chooses, or type a text"),
    row(&[KeyCode::Char('m')], "m", Action::Message, "send a message to the selected agent"),
    row(&[KeyCode::Char('r')], "r", Action::Reply, "reply to the last message of it"),
    row(&[KeyCode::Char('b')], "b", Action::Broadcast, "send a message to all agents here"),
    row(&[KeyCode::Char('f')], "f", Action::Focus, "bring its pane to the front"),
    row(&[KeyCode::Char('n')], "n", Action::New, "start a run, or open an agent in a pane"),
    row(&[KeyCode::Char('x')], "x", Action::Interrupt, "interrupt the agent, or stop the run (asks)"),
    row(&[KeyCode::Char('o')], "o", Action::Override, "let everyone write what is reserved (asks)"),
    row(&[KeyCode::Char('H')], "H", Action::HandOver, "hand the work of the agent over to another (asks)"),
    row(&[KeyCode::Char('t')], "t", Action::Task, "show its task; on a task: propose it to an agent"),
    row(&[KeyCode::Tab], "Tab", Action::NextPanel, "next panel"),
    row(&[KeyCode::BackTab], "Shift+Tab", Action::PreviousPanel, "previous panel"),
    row(DIGITS, "1–9", Action::Panel, "that panel"),
    row(&[KeyCode::Left], "←", Action::Left, "previous tab inside the panel"),
    row(&[KeyCode::Right], "→", Action::Right, "next tab inside the panel"),
    row(&[KeyCode::Up, KeyCode::Char('k')], "↑ k", Action::Up, "select the one above"),
    row(&[KeyCode::Down, KeyCode::Char('j')], "↓ j", Action::Down, "select the one below"),
    row(&[KeyCode::PageUp], "PgUp", Action::PageUp, "scroll back"),
    row(&[KeyCode::PageDown], "PgDn", Action::PageDown, "scroll on"),
    row(&[KeyCode::Home, KeyCode::Char('g')], "Home g", Action::First, "the first"),
    row(&[KeyCode::End, KeyCode::Char('G')], "End G", Action::Last, "the last"),
    row(&[KeyCode::Enter], "Enter", Action::Open, "open or confirm"),
    row(&[KeyCode::Esc], "Esc", Action::Back, "back"),
    row(&[KeyCode::Char('/')], "/", Action::Filter, "show only what contains a word"),
    row(&[KeyCode::Char(':')], ":", Action::Command, "run any consort command"),
    row(&[KeyCode::Char('p')], "p", Action::Project, "all projects, the next one, this one again"),
    row(&[KeyCode::Char('s')], "s", Action::Sort, "sort by something else"),
    row(&[KeyCode::Char('*')], "*", Action::Pin, "pin the agent on top"),
    row(&[KeyCode::Char('z')], "z", Action::Mute, "mute the agent: it and what it wants are listed last"),
    row(&[KeyCode::Char('y')], "y", Action::Copy, "copy what is selected"),
    row(&[KeyCode::Char('u')], "u", Action::Undo, "undo"),
    row(&[KeyCode::Char('?')], "?", Action::Help, "this help"),
    row(&[KeyCode::Char('q')], "q", Action::Quit, "quit; agents go on"),
    KeyRow {
        keys: &[KeyCode::Char('l')],
        is_control: true,
        shown: "Ctrl+L",
        action: Action::Redraw,
        about: "draw everything again",
    },
    KeyRow {
        keys: &[KeyCode::Char('c'), KeyCode::Char('d')],
        is_control: true,
        shown: "Ctrl+C",
        action: Action::Quit,
        about: "quit",
    },
];

/// Returns the action of a key.
pub fn action(key: &KeyEvent) -> Option<Action> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER) {
        return None;
    }
    let row = KEYS.iter().find(|row| row.is_control == is_control && row.keys.contains(&key.code));
    row.map(|row| row.action)
}

/// Returns the spelling of the key of an action.
pub fn shown(action: Action) -> &'static str {
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
            ("Tab", Action::NextPanel),
            ("a", Action::Answer),
            ("m", Action::Message),
            ("r", Action::Reply),
            ("b", Action::Broadcast),
            ("f", Action::Focus),
            ("n", Action::New),
            ("x", Action::Interrupt),
            ("o", Action::Override),
            ("H", Action::HandOver),
            ("t", Action::Task),
            ("p", Action::Project),
            ("s", Action::Sort),
            (".", Action::NextItem),
            ("/", Action::Filter),
            (":", Action::Command),
            ("u", Action::Undo),
            ("?", Action::Help),
            ("q", Action::Quit),
        ];
        for (key, wanted) in promised {
            let code = match key {
                "Tab" => KeyCode::Tab,
                key => KeyCode::Char(key.chars().next().unwrap()),
            };
            assert_eq!(action(&KeyEvent::from(code)), Some(wanted), "{key}");
        }
        assert_eq!(action(&KeyEvent::from(KeyCode::Char('5'))), Some(Action::Panel));
        assert_eq!(action(&KeyEvent::new(KeyCode::Char('a'), KeyModifiers::ALT)), None, "tmux sends Esc, a");
    }
}
