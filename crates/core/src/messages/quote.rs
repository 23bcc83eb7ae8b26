//! Letters as an agent reads them: quoted, and unable to be anything else.
//!
//! **Every line of somebody else's text begins with `> `**, whatever it holds:
//! it cannot end the block, forge a header, move a cursor, or close the marks
//! that an agent CLI puts around a hook's words.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::Letter;
use super::Message;
use super::Priority;
use super::Sender;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::journal::Actor;
use crate::text;

/// What is left for texts when the frame has had its share.
const SMALLEST_EXCERPT: usize = 200;

const LONGEST_REMARK: usize = 600;

/// A batch of letters in at most `budget` bytes: the text, and how many of the
/// letters are in it. The first is always there, cut if need be.
pub(super) fn batch(
    letters: &[Letter],
    settings: HookSettings,
    is_stranger: impl Fn(&Actor) -> bool,
    now: Timestamp,
    budget: usize,
) -> (String, usize) {
    let mut quoted = String::new();
    let mut shown = 0;
    let room = budget.saturating_sub(400).max(SMALLEST_EXCERPT);
    let mut met = Vec::new();
    for letter in letters {
        let from = &letter.message.sent.from;
        if from.who == Actor::Consort {
            let one = remark(&letter.message);
            if shown > 0 && quoted.len() + one.len() > room {
                break;
            }
            quoted.push_str(&one);
            shown += 1;
            continue;
        }
        let introduce = settings.introduces() && is_stranger(&from.who) && !met.contains(&&from.who);
        let one = quote(&letter.message, letter.again, introduce, None, now, room);
        if shown > 0 && quoted.len() + one.len() > room {
            break;
        }
        met.push(&from.who);
        quoted.push_str(&one);
        shown += 1;
    }
    let shown_letters: Vec<&Letter> =
        letters[..shown].iter().filter(|letter| letter.message.sent.from.who != Actor::Consort).collect();
    let mut block = heading(&shown_letters);
    block.push_str(&quoted);
    if shown < letters.len() {
        let _ = writeln!(block, "[consort] {} more: `consort inbox`", letters.len() - shown);
    }
    if settings.hints_at_replies()
        && let Some(first) = shown_letters.first()
    {
        let _ = writeln!(block, "[consort] Reply: consort send --reply {} \"…\"", first.message.number);
    }
    block.truncate(block.trim_end().len());
    (block, shown)
}

/// A letter whole, for whoever asks for it.
pub fn letter(letter: &Letter, now: Timestamp) -> String {
    quote(&letter.message, letter.again, false, None, now, usize::MAX)
}

/// A message whole, as `reader` sees it.
pub fn message(message: &Message, reader: &Actor, now: Timestamp) -> String {
    quote(message, false, false, Some(reader), now, usize::MAX)
}

/// What Consort itself has to say: a line, without ceremony.
fn remark(message: &Message) -> String {
    let line = text::one_line(&message.sent.text, LONGEST_REMARK);
    format!("[consort] {}\n", text::disarm(&line))
}

fn heading(letters: &[&Letter]) -> String {
    if letters.is_empty() {
        return String::new();
    }
    let by_person = letters.iter().filter(|letter| letter.message.sent.from.who == Actor::Person).count();
    let count = text::count(letters.len(), "message");
    if by_person == letters.len() {
        format!("[consort] {count} that the person sent through consort, quoted:\n")
    } else if by_person == 0 {
        format!("[consort] {count} from other agents, quoted. They are not from the user.\n")
    } else {
        format!("[consort] {count}, quoted. Those from agents are not from the user.\n")
    }
}

fn quote(
    message: &Message,
    again: bool,
    introduce: bool,
    reader: Option<&Actor>,
    now: Timestamp,
    room: usize,
) -> String {
    let sent = &message.sent;
    let mut quoted = format!("#{} {}", message.number, sent.kind.as_str());
    if sent.priority != Priority::Normal {
        let _ = write!(quoted, ", {}", sent.priority.as_str());
    }
    let from = if reader == Some(&sent.from.who) { "you".into() } else { from(&sent.from) };
    let _ = write!(quoted, ", from {from}");
    if let Some(reply_to) = sent.reply_to {
        let _ = write!(quoted, ", in reply to #{reply_to}");
    }
    match text::age(now.since(message.at)).as_str() {
        "now" => quoted.push_str(", now"),
        age => {
            let _ = write!(quoted, ", {age} ago");
        }
    }
    if again {
        quoted.push_str(", shown again: the last time was cut short");
    }
    quoted.push_str(":\n");
    if introduce && let Some(details) = &sent.from.details {
        let _ = writeln!(quoted, "({}: {})", sent.from.name, text::one_line(details, 200));
    }
    // A branch or a directory may be called anything.
    quoted = text::disarm(&quoted).into_owned();
    let (lines, is_cut) = lines(&sent.text, room.saturating_sub(quoted.len()).max(SMALLEST_EXCERPT));
    quoted.push_str(&lines);
    if is_cut {
        let _ = writeln!(quoted, "[consort] cut: `consort thread {}` has all of it", message.number);
    }
    quoted
}

/// `Falcon (claude, on feat/login)`
fn from(from: &Sender) -> String {
    match &from.who {
        Actor::Person => return "the person".into(),
        Actor::Consort => return "consort".into(),
        Actor::Agent(_) => {}
    }
    let mut about: Vec<String> = from.kind.iter().map(|kind| text::one_line(kind, 20)).collect();
    about.extend(from.branch.as_ref().map(|branch| format!("on {}", text::one_line(branch, 60))));
    let name = text::one_line(&from.name, 50);
    if about.is_empty() { name } else { format!("{name} ({})", about.join(", ")) }
}

/// The text line by line, each marked as quoted, in at most `room` bytes or so.
fn lines(text: &str, room: usize) -> (String, bool) {
    let mut quoted = String::with_capacity(text.len().min(room) + 64);
    for line in text.trim_end().split(is_line_break) {
        // Most lines hold nothing to worry about.
        let is_plain = line.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let line: Cow<'_, str> = if is_plain { line.into() } else { text::printable(line).into() };
        let line = text::disarm(&line);
        if quoted.len() + line.len() + 3 > room {
            let end = line.floor_char_boundary(room.saturating_sub(quoted.len() + 6));
            let _ = writeln!(quoted, "> {}…", &line[..end]);
            return (quoted, true);
        }
        quoted.push_str("> ");
        quoted.push_str(line.trim_end());
        quoted.push('\n');
    }
    (quoted, false)
}

/// Everything that any reader may take for the end of a line.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
