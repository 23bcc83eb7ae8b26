//! Parses the captured text of a pane into lines without escapes and frames, and notes which text is dim.

use std::time::Duration;

use super::PaneExit;

/// Characters that draw frames and boxes at the edges of a line.
const FRAME: &[char] = &['│', '┃', '║', '╭', '╮', '╰', '╯', '╹', '╻', ' ', '\t', '\u{a0}'];

/// Characters that draw a rule: a line of nothing else is one.
const RULE: &[char] = &['─', '━', '▔', '╌', '▄', '▀', '═', '▁', '▂'];

/// One line of a pane that has text on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CapturedLine {
    /// The text of the line, without the frame and spaces around it.
    pub(super) text: String,
    /// The text without its dim parts, which are placeholders and suggestions.
    pub(super) bright: String,
    /// Whether the row above is empty or a rule, or there is none.
    pub(super) is_apart: bool,
    /// Whether the line begins with a bar (`┃`).
    pub(super) has_bar: bool,
    /// Whether the text has another background than that bar, as menus show the selected entry.
    pub(super) is_lit: bool,
}

/// A row of the screen, which may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CapturedRow {
    /// The text of the row, without the frame and spaces around it.
    pub(super) text: String,
    /// The text without its dim parts.
    pub(super) bright: String,
    /// Whether the row is a rule across the screen, with or without words in it.
    pub(super) is_rule: bool,
    /// Whether the row begins with a bar (`┃`).
    pub(super) has_bar: bool,
    /// Whether the text has another background than that bar.
    pub(super) is_lit: bool,
}

/// The terminal style that applies to the next character.
#[derive(Clone, Default)]
struct TextStyle {
    is_dim: bool,
    /// The background, as the codes of the escape that set it; `None` is the terminal's default.
    background: Option<String>,
}

/// Least number of drawn characters in a rule.
const RULE_LENGTH: usize = 10;

/// The contents of a pane at one moment, parsed, with what the multiplexer says of it.
#[derive(Clone, Debug)]
pub struct Capture {
    /// All rows of the screen, top to bottom.
    pub(super) rows: Vec<CapturedRow>,
    /// The rows that have text on them, top to bottom.
    pub(super) lines: Vec<CapturedLine>,
    pub(super) title: String,
    /// The program in the foreground, if known.
    pub(super) command: Option<String>,
    /// The time that the pane has looked like this; `None` (a saved capture) satisfies every rule's `held`.
    pub(super) held: Option<Duration>,
    /// `Some` if the multiplexer says that the program has ended; inside, its exit if that is known.
    pub(super) ended: Option<Option<PaneExit>>,
}

impl Capture {
    /// Parses the text of a pane, with or without escapes.
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

    /// Adds what the multiplexer says about the program's end.
    pub fn with_exit(self, is_dead: bool, exit: Option<PaneExit>) -> Self {
        Self { ended: is_dead.then_some(exit), ..self }
    }

    pub fn held_for(self, held: Duration) -> Self {
        Self { held: Some(held), ..self }
    }
}

/// Returns the rows that have text on them, rules left out.
fn lines(rows: &[CapturedRow]) -> Vec<CapturedLine> {
    let (mut lines, mut is_apart) = (Vec::new(), true);
    for row in rows {
        if row.text.is_empty() || row.text.chars().all(|c| RULE.contains(&c) || c == ' ') {
            is_apart = true;
            continue;
        }
        let (text, bright) = (row.text.clone(), row.bright.clone());
        lines.push(CapturedLine { text, bright, is_apart, has_bar: row.has_bar, is_lit: row.is_lit });
        is_apart = false;
    }
    lines
}

/// Returns the text of a screen without escapes.
pub fn plain_text(screen: &str) -> String {
    plain_lines(screen).map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Iterates over the lines of a text without their escapes.
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

fn rows(text: &str) -> Vec<CapturedRow> {
    let (mut rows, mut style) = (Vec::new(), TextStyle::default());
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
        rows.push(CapturedRow { text, bright, is_rule, has_bar, is_lit });
    }
    rows
}

/// Returns the length of the escape sequence that a text begins with.
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

impl TextStyle {
    /// Applies the codes of an escape. Dim is faint text, and text in one of the greys that CLIs use for
    /// placeholders and suggestions.
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
