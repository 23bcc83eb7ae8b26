//! Prints the output of commands: data to stdout, everything else to stderr; handles colours, width and JSON.

use std::io::IsTerminal as _;
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use consort_core::App;
use consort_core::text;
use serde::Serialize;

use crate::error::CommandError;
use crate::error::CommandResult;

/// Standard output, with the style and width that suit its reader.
pub(crate) struct Out {
    pub(crate) style: Style,
    /// Columns to fill; unlimited if the output is no terminal.
    pub(crate) width: usize,
    pub(crate) is_terminal: bool,
}

/// Whether text gets colours. No information is in the colour alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

impl Out {
    pub(crate) fn new() -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let no_colour = consort_host::env::get("NO_COLOR").is_some();
        let dumb = consort_host::env::get("TERM").is_none_or(|term| term == "dumb");
        Self {
            style: Style { colour: is_terminal && !no_colour && !dumb },
            width: if is_terminal { size().0 } else { usize::MAX },
            is_terminal,
        }
    }

    /// Writes text unchanged.
    pub(crate) fn text(&self, text: impl AsRef<str>) -> CommandResult {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_ref().as_bytes()).and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(CommandError::Pipe),
            Err(error) => Err(CommandError::user(
                format!("cannot write to standard output: {error}"),
                "check where the output goes",
            )),
            Ok(()) => Ok(()),
        }
    }

    /// Writes a line of plain text; control characters in it have no effect on the terminal.
    pub(crate) fn line(&self, line: impl AsRef<str>) -> CommandResult {
        self.text(text::printable(line.as_ref()) + "\n")
    }

    /// Writes a heading, and plain text after it.
    pub(crate) fn heading(&self, heading: &str, rest: &str) -> CommandResult {
        let heading = self.style.bold(&text::printable(heading));
        self.text(heading + &text::printable(rest) + "\n")
    }

    /// Writes a list as JSON, on one line.
    pub(crate) fn items(&self, app: &mut App, items: &impl Serialize) -> CommandResult {
        self.json(&app.items(items))
    }

    /// Writes one thing as JSON, under its noun.
    pub(crate) fn one(&self, app: &mut App, noun: &str, thing: &impl Serialize) -> CommandResult {
        self.json(&app.wrap_one(noun, thing))
    }

    /// Writes JSON on one line, as it is.
    pub(crate) fn json(&self, outcome: &impl Serialize) -> CommandResult {
        match serde_json::to_string(outcome) {
            Ok(json) => self.line(json),
            Err(error) => {
                Err(CommandError::user(format!("cannot write JSON: {error}"), "leave out `--json`"))
            }
        }
    }
}

/// Returns the terminal's current columns and rows, which change when it is resized.
pub(crate) fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(rustix::stdio::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

/// Whether the screen fills the terminal: any other output would lie over it.
static IS_HUSHED: AtomicBool = AtomicBool::new(false);

/// Turns notes off (while the screen is shown) or on again.
pub(crate) fn hush(is_hushed: bool) {
    IS_HUSHED.store(is_hushed, Ordering::Relaxed);
}

/// Prints a message to stderr that is not part of the command's answer.
pub(crate) fn note(message: impl std::fmt::Display) {
    if IS_HUSHED.load(Ordering::Relaxed) {
        return;
    }
    // `eprintln` would panic where stderr is closed.
    let _ = writeln!(std::io::stderr(), "{}", text::printable(&message.to_string()));
}
