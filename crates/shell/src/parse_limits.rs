//! Refuses shell texts on which the grammar would be slow or overflow the stack.
//!
//! The grammar's parser recurses where the text nests, builds lists that are as deep as they are
//! long, and tries some things twice: 100 bytes of alternating `` ` `` and `$(` keep it busy for
//! seconds, 6 KB of `{` and `\a` likewise, and 500 `(` take 16 MB of stack in a debug build
//! (measured with rable 0.2.2). So everything that can nest or repeat is counted first, wherever it
//! is: **the counts hold for any text**, because nothing in it can hide from them.
//!
//! Files that agents write with `cat <<EOF` are long and full of such characters. Their bodies are
//! no commands, so they are removed if a text exceeds the limits with them.

use crate::heredocs;
use crate::heredocs::EmptiedText;

/// Longest command that is read.
const LONGEST: usize = 256 * 1024;
/// Longest text that is parsed, without here-documents. Linux passes no longer
/// text to a shell in one argument.
const LONGEST_CODE: usize = 128 * 1024;
/// Most `$(`, `<(` and `>(`: each level is parsed again for the level above.
const MOST_SUBSTITUTIONS: usize = 32;
/// Most backticks: each pair is tried as a command first, and then as text.
const MOST_BACKTICKS: usize = 24;
/// Most substitutions times backticks: each doubles the work of the other.
const MOST_MIXED: usize = 32;
/// Most characters and keywords that may open a level.
const MOST_OPENERS: usize = 1000;
/// Most work for braces: each is matched against every quote of its word, at every character.
const MOST_BRACE_WORK: usize = 300_000_000;

/// Limits below which a text is parsed on the current stack.
const SHALLOW_OPENERS: usize = 24;
const SHALLOW_LENGTH: usize = 4 * 1024;
const SHALLOW_ARITHMETIC: usize = 256;
/// Stack of the thread that parses all other texts; only the part in use takes memory.
const ROOM: usize = 64 * 1024 * 1024;

/// Returns the text in a form that the grammar can parse safely; `None` if there is none.
pub(crate) fn tame(command: &str) -> Option<EmptiedText> {
    if command.len() > LONGEST {
        return None;
    }
    if is_tame(command) {
        return Some(EmptiedText::untouched(command));
    }
    heredocs::empty_bodies(command).filter(|trimmed| is_tame(&trimmed.text))
}

/// Does `work` on `text` with enough stack for it. `None` if the machine has no thread to spare.
pub(crate) fn with_room<R: Send>(text: &str, work: impl FnOnce() -> R + Send) -> Option<R> {
    let is_shallow = text.len() <= SHALLOW_LENGTH
        && openers(text) <= SHALLOW_OPENERS
        && (text.len() <= SHALLOW_ARITHMETIC || !text.contains("(("));
    if is_shallow {
        return Some(work());
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(ROOM).spawn_scoped(scope, work).ok()?;
        thread.join().ok()
    })
}

fn is_tame(text: &str) -> bool {
    text.len() <= LONGEST_CODE
        && count(text, b"`") <= MOST_BACKTICKS
        && substitutions(text) <= MOST_SUBSTITUTIONS
        && count(text, b"`") * substitutions(text) <= MOST_MIXED
        && openers(text) <= MOST_OPENERS
        && brace_work(text) <= MOST_BRACE_WORK
}

/// Counts everything in the text that may open a level. A line that goes on after a backslash
/// counts, too, because it could split a keyword in two.
fn openers(text: &str) -> usize {
    const KEYWORDS: [&str; 9] =
        ["if", "while", "until", "for", "case", "select", "function", "coproc", "\\\n"];
    let keywords: usize = KEYWORDS.iter().map(|keyword| text.matches(keyword).count()).sum();
    keywords + count(text, b"({`!")
}

fn substitutions(text: &str) -> usize {
    text.as_bytes().windows(2).filter(|pair| matches!(*pair, b"$(" | b"<(" | b">(")).count()
}

fn brace_work(text: &str) -> usize {
    let braces = count(text, b"{") - text.matches("${").count();
    let marks = 1 + count(text, b"\\'\"$`[(");
    braces.saturating_mul(marks).saturating_mul(text.len())
}

fn count(text: &str, any: &[u8]) -> usize {
    text.bytes().filter(|byte| any.contains(byte)).count()
}
