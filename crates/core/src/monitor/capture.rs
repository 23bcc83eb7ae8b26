//! One look at a pane: its lines without escapes and frames, and which of them are dim.

use std::time::Duration;

use super::PaneExit;

/// What frames and boxes are drawn with, at the edges of a line.
const FRAME: &[char] = &['│', '┃', '║', '╭', '╮', '╰', '╯', '╹', '╻', ' ', '\t', '\u{a0}'];

/// A line of nothing else is a rule.
const RULE: &[char] = &['─', '━', '▔', '╌', '▄', '▀', '═', '▁', '▂'];

/// One line of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Without frame and spaces around it.
    pub(super) text: String,
    /// The same without what is dim: placeholders and suggestions are.
    pub(super) bright: String,
    /// Whether something empty or a rule is above it.
    pub(super) is_apart: bool,
    /// Whether it stands beside a bar.
    pub(super) has_bar: bool,
    /// Whether its text has another background than that bar: so menus show what is selected.
    pub(super) is_lit: bool,
}

/// A line as it is on the screen, the empty ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Without frame and spaces around it.
    pub(super) text: String,
    /// The same without what is dim.
    pub(super) bright: String,
    /// Whether it is a rule across the screen, with or without words in it.
    pub(super) is_rule: bool,
    /// Whether it stands beside a bar.
    pub(super) has_bar: bool,
    /// Whether its text has another background than that bar.
    pub(super) is_lit: bool,
}

/// How text is shown.
#[derive(Clone, Default)]
struct Style {
    is_dim: bool,
    /// In the codes of the escape that set it; none is the terminal's own.
    background: Option<String>,
}

/// How long a rule is at least.
const RULE_LENGTH: usize = 10;

/// One look at a pane.
#[derive(Clone, Debug)]
pub struct Capture {
    /// All lines.
    pub(super) rows: Vec<Row>,
    /// Lines with something on them, top to bottom.
    pub(super) lines: Vec<Line>,
    pub(super) title: String,
    /// The program in the foreground, where that is known.
    pub(super) command: Option<String>,
    /// How long the pane has looked like this; a saved capture counts as lasting.
    pub(super) held: Option<Duration>,
    /// That its program has ended, and how, where the multiplexer says so.
    pub(super) ended: Option<Option<PaneExit>>,
}

impl Capture {
    /// From the text of a pane, with or without escapes.
    pub fn new(text: &str) -> Self {
        let rows = rows(text);
        let lines = lines(&rows);
        Self { rows, lines, title: String::new(), command: None, held: None, ended: None }
    }

    pub fn with_title(self, title: &str) -> Self {
        Self { title: title.to_owned(), ..self }
    }

    pub fn with_command(self, command: &str) -> Self {
        Self { command: Some(command.to_owned()), ..self }
    }

    /// What the multiplexer says of the program's end.
    pub fn with_exit(self, is_dead: bool, exit: Option<PaneExit>) -> Self {
        Self { ended: is_dead.then_some(exit), ..self }
    }

    pub fn held_for(self, held: Duration) -> Self {
        Self { held: Some(held), ..self }
    }
}

/// The lines with something on them.
fn lines(rows: &[Row]) -> Vec<Line> {
    let (mut lines, mut is_apart) = (Vec::new(), true);
    for row in rows {
        if row.text.is_empty() || row.text.chars().all(|c| RULE.contains(&c) || c == ' ') {
            is_apart = true;
            continue;
        }
        let (text, bright) = (row.text.clone(), row.bright.clone());
        lines.push(Line { text, bright, is_apart, has_bar: row.has_bar, is_lit: row.is_lit });
        is_apart = false;
    }
    lines
}

/// What a screen shows, without escapes.
pub fn plain_text(screen: &str) -> String {
    plain_lines(screen).map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The lines of a text without escapes.
pub(super) fn plain_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| {
        let (mut plain, mut rest) = (String::with_capacity(line.len()), line);
        while let Some(at) = rest.find('\u{1b}') {
            plain.push_str(&rest[..at]);
            rest = &rest[at + escape_len(&rest[at..])..];
        }
        plain + rest
    })
}

fn rows(text: &str) -> Vec<Row> {
    let (mut rows, mut style) = (Vec::new(), Style::default());
    for line in text.lines() {
        let (mut plain, mut bright) = (String::new(), String::new());
        let (mut bar, mut under) = (None, None);
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            if first == '\u{1b}' {
                let (escape, after) = rest.split_at(escape_len(rest));
                if let Some(codes) = escape.strip_prefix("\u{1b}[").and_then(|codes| codes.strip_suffix('m'))
                {
                    style.change(codes);
                }
                rest = after;
                continue;
            }
            let shown = if first == '\u{a0}' { ' ' } else { first };
            if shown == '┃' && bar.is_none() {
                bar = Some(style.background.clone());
            } else if under.is_none() && !FRAME.contains(&shown) {
                under = Some(style.background.clone());
            }
            plain.push(shown);
            bright.push(if style.is_dim { ' ' } else { shown });
            rest = &rest[first.len_utf8()..];
        }
        let (text, bright) = (plain.trim_matches(FRAME).to_owned(), bright.trim_matches(FRAME).to_owned());
        let drawn = text.chars().filter(|c| RULE.contains(c)).count();
        let is_rule = drawn >= RULE_LENGTH && text.starts_with(RULE) && text.ends_with(RULE);
        let has_bar = plain.trim_start().starts_with('┃');
        let is_lit = has_bar && under.is_some() && under != bar;
        rows.push(Row { text, bright, is_rule, has_bar, is_lit });
    }
    rows
}

/// How long the escape sequence is that a text begins with.
fn escape_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = match bytes.get(1) {
        Some(b'[') => bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 3),
        Some(b']' | b'P' | b'_' | b'^') => {
            let bell = text.find('\u{7}').map(|at| at + 1);
            let string_end = text.find("\u{1b}\\").map(|at| at + 2);
            bell.into_iter().chain(string_end).min()
        }
        Some(_) => Some(1 + text[1..].chars().next().map_or(0, char::len_utf8)),
        None => Some(1),
    };
    end.unwrap_or(text.len())
}

impl Style {
    /// Takes in the codes of an escape. Dim is what is faint, or in one of the greys that CLIs
    /// use for what is not typed.
    fn change(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']);
        while let Some(code) = codes.next() {
            match code {
                "2" | "90" => self.is_dim = true,
                "22" | "39" => self.is_dim = false,
                "" | "0" => *self = Self::default(),
                "49" => self.background = None,
                "38" | "48" => {
                    let kind = codes.next().unwrap_or_default();
                    let length = if kind == "2" { 3 } else { usize::from(kind == "5") };
                    let colour: Vec<&str> = codes.by_ref().take(length).collect();
                    if code == "48" {
                        self.background = Some(colour.join(";"));
                    } else if kind == "5" {
                        self.is_dim = colour == ["8"];
                    }
                }
                _ => {}
            }
        }
    }
}
