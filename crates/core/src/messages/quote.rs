//! Renders letters for models as quoted text that cannot pass for instructions of Consort or the CLI.
//!
//! **Every line of somebody else's text begins with `> `**, whatever its content: it cannot end the block,
//! forge a header, move a cursor, or close the marks that an agent CLI puts around a hook's output.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::Letter;
use super::Message;
use super::Priority;
use super::Sender;
use super::wording;
use crate::Timestamp;
use crate::config::HookSettings;
use crate::journal::Actor;
use crate::project::ProjectId;
use crate::text;

/// Least bytes for the text of a message, however little room is left.
const SMALLEST_EXCERPT: usize = 200;

const LONGEST_REMARK: usize = 600;

/// Renders as many letters as fit into `budget` bytes; returns the text and the number of letters in it. The
/// first letter is always included, cut if need be. `is_more` says that there are letters besides `letters`.
pub(super) fn batch(
    letters: &[Letter],
    settings: HookSettings,
    here: &ProjectId,
    is_more: bool,
    is_stranger: impl Fn(&Actor) -> bool,
    now: Timestamp,
    budget: usize,
) -> (String, usize) {
    let mut quoted = String::with_capacity(budget.min(letters.len() * 256));
    let mut shown = 0;
    let room = budget.saturating_sub(400).max(SMALLEST_EXCERPT);
    let mut met = Vec::new();
    for letter in letters {
        let before = quoted.len();
        let from = &letter.message.sent.from;
        if from.who == Actor::Consort {
            remark(&mut quoted, &letter.message);
        } else {
            let introduce =
                settings.introduces_senders() && !met.contains(&&from.who) && is_stranger(&from.who);
            quote(
                &mut quoted,
                &letter.message,
                letter.again,
                introduce,
                QuoteReader { who: None, here: Some(here) },
                now,
                room,
            );
            met.push(&from.who);
        }
        if shown > 0 && quoted.len() > room {
            quoted.truncate(before);
            break;
        }
        shown += 1;
    }
    let shown_letters: Vec<&Letter> =
        letters[..shown].iter().filter(|letter| letter.message.sent.from.who != Actor::Consort).collect();
    let mut block = wording::heading(&shown_letters);
    block.push_str(&quoted);
    if shown < letters.len() || is_more {
        block.push_str(&wording::more(letters.len() - shown, is_more));
    }
    if settings.hints_at_replies()
        && let Some(first) = shown_letters.first()
    {
        block.push_str(&wording::reply(&named(&first.message, Some(here)), shown_letters.len() == 1));
    }
    block.truncate(block.trim_end().len());
    (block, shown)
}

/// Renders a whole letter, for the reader `who`.
pub fn render_letter(letter: &Letter, who: &Actor, here: Option<&ProjectId>, now: Timestamp) -> String {
    let (mut quoted, reader) = (String::new(), QuoteReader { who: Some(who), here });
    quote(&mut quoted, &letter.message, letter.again, false, reader, now, usize::MAX);
    quoted
}

/// Renders a whole message, for the reader `who`.
pub fn message(message: &Message, who: &Actor, here: Option<&ProjectId>, now: Timestamp) -> String {
    let mut quoted = String::new();
    quote(&mut quoted, message, false, false, QuoteReader { who: Some(who), here }, now, usize::MAX);
    quoted
}

/// The reader of a message, if known, and the reader's project.
#[derive(Clone, Copy)]
struct QuoteReader<'a> {
    who: Option<&'a Actor>,
    here: Option<&'a ProjectId>,
}

/// Returns the message's name for use on a command line, where a shell would take `#7` for a comment.
fn named(message: &Message, here: Option<&ProjectId>) -> String {
    let called = message.message_name(here);
    let called = called.trim_start_matches('#');
    let is_plain = called.chars().all(|c| c.is_ascii_alphanumeric() || "._-#".contains(c));
    if is_plain { called.to_owned() } else { text::shell_quoted(called) }
}

/// Adds a message of Consort itself: one line without a header.
fn remark(quoted: &mut String, message: &Message) {
    let line = text::one_line(&message.sent.text, LONGEST_REMARK);
    quoted.push_str("[consort] ");
    quoted.push_str(&text::disarm_hook_tags(&line));
    quoted.push('\n');
}

/// Adds a message with its header, in about `room` bytes. Written piece by piece for speed, because hooks
/// write dozens.
fn quote(
    quoted: &mut String,
    message: &Message,
    again: bool,
    introduce: bool,
    reader: QuoteReader<'_>,
    now: Timestamp,
    room: usize,
) {
    let (sent, start) = (&message.sent, quoted.len());
    quoted.push_str("Message ");
    quoted.push_str(&message.message_name(reader.here));
    quoted.push(' ');
    quoted.push_str(sent.kind.as_str());
    if sent.priority != Priority::Normal {
        quoted.push_str(", ");
        quoted.push_str(sent.priority.as_str());
    }
    quoted.push_str(", from ");
    if reader.who == Some(&sent.from.who) {
        quoted.push_str("you");
    } else {
        from(quoted, &sent.from);
    }
    if let Some(answered) = &sent.reply_to {
        let _ = write!(quoted, ", in reply to {}", message.called_reply(answered, reader.here));
    }
    quoted.push_str(", ");
    match text::age(now.since(message.at)).as_str() {
        "now" => quoted.push_str("now"),
        age => {
            quoted.push_str(age);
            quoted.push_str(" ago");
        }
    }
    if again {
        quoted.push_str(", shown again: the last time was cut short");
    }
    quoted.push_str(":\n");
    if introduce && let Some(details) = &sent.from.details {
        let _ = writeln!(quoted, "({}: {})", sent.from.name, text::quoted(details, 200));
    }
    // Names of branches and directories are foreign text.
    if let Cow::Owned(disarmed) = text::disarm_hook_tags(&quoted[start..]) {
        quoted.truncate(start);
        quoted.push_str(&disarmed);
    }
    let room = room.saturating_sub(quoted.len() - start).max(SMALLEST_EXCERPT);
    if lines(quoted, &sent.text, room) {
        quoted.push_str(&wording::cut_line(&named(message, reader.here)));
    }
}

/// Adds the sender: `Falcon (claude, on feat/login)`.
fn from(quoted: &mut String, from: &Sender) {
    match &from.who {
        Actor::Person => return quoted.push_str("your user"),
        Actor::Consort => return quoted.push_str("consort"),
        Actor::Agent(_) => {}
    }
    text::push_line(quoted, &from.name, 50);
    let mut opening = " (";
    let mut about = |before: &str, what: &str, longest: usize| {
        quoted.push_str(opening);
        quoted.push_str(before);
        quoted.push_str(&text::foreign(what, longest));
        opening = ", ";
    };
    if let Some(kind) = &from.kind {
        about("", kind, 20);
    }
    if let Some(branch) = &from.branch {
        about("on ", branch, 60);
    }
    if opening == ", " {
        quoted.push(')');
    }
}

/// Adds a text line by line, each marked as quoted, in about `room` bytes; returns whether the text was cut.
fn lines(quoted: &mut String, text: &str, room: usize) -> bool {
    let start = quoted.len();
    for line in text.trim_end().split(is_line_break) {
        // Most lines are plain ASCII and need no cleaning.
        let is_plain = line.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let line: Cow<'_, str> = if is_plain { line.into() } else { text::printable(line).into() };
        let line = text::disarm_hook_tags(&line);
        let used = quoted.len() - start;
        quoted.push_str("> ");
        if used + line.len() + 3 > room {
            quoted.push_str(&line[..line.floor_char_boundary(room.saturating_sub(used + 6))]);
            quoted.push_str("…\n");
            return true;
        }
        quoted.push_str(line.trim_end());
        quoted.push('\n');
    }
    false
}

/// Tells whether any reader may take a character for the end of a line.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
