//! Notifies the person of what agents need: by the terminal, the desktop, or a command of the person's own.
//!
//! It follows the journal from a number that all notifiers share in one locked file, so that the person is
//! notified of nothing twice, whichever process runs.

use std::fs::File;
use std::fs::OpenOptions;
use std::io::IsTerminal as _;
use std::io::Read as _;
use std::io::Seek as _;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;

use consort_core::App;
use consort_core::Timestamp;
use consort_core::config::Config;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::notices;
use consort_core::notices::PersonNotice;
use rustix::fs::FlockOperation;

use crate::error::CommandError;
use crate::time;

/// Age from which an entry is no news.
const NEWS: i64 = 10 * Timestamp::MINUTE;

/// Time after a question's notice in which the same question seen on the agent's screen is no news.
const AGAIN: i64 = 10 * Timestamp::SECOND;

/// Notifies the person of what has happened since the last notification.
pub(crate) fn tell(app: &mut App, data: &Path, config: &Config) -> Result<(), CommandError> {
    let Some(mut noted) = NotifierState::take(data) else { return Ok(()) };
    let last = app.journal_last_seq()?;
    if last == noted.seq {
        return Ok(());
    }
    let now = app.host().now();
    let request = TailRequest {
        after: Some(noted.seq),
        since: Some(now.minus(NEWS)),
        limit: 1_000,
        ..TailRequest::default()
    };
    let entries = app.journal_tail(&request)?;
    let mut found: Vec<PersonNotice> = Vec::new();
    for entry in &entries {
        let mut name = |session: &_| {
            app.name_of(session).ok().flatten().map_or_else(|| "An agent".to_owned(), |name| name.to_string())
        };
        found.extend(notices::of_entry(entry, &mut name));
    }
    found.retain(|notice| {
        !(notice.is_seen
            && noted.told.iter().any(|(agent, at)| *agent == notice.agent && now.since(*at) < AGAIN))
    });
    let told = noted.told.drain(..).filter(|(_, at)| now.since(*at) < AGAIN);
    let asked = found.iter().filter(|notice| notice.is_question);
    noted.told = told.chain(asked.map(|notice| (notice.agent.clone(), now))).collect();
    noted.seq = last;
    // If the position cannot be saved, the same news would come twice.
    if noted.keep().is_err() {
        return Ok(());
    }
    let quiet = notices::parse_quiet_hours(config.get("notify.quiet"));
    if quiet.is_some_and(|hours| notices::is_in_quiet_hours(hours, time::minute_of_day(now))) {
        return Ok(());
    }
    if let Some(text) = notices::join_notices(&found) {
        send(config, &text);
    }
    Ok(())
}

/// The state that all notifiers share: the last entry they have handled, and the latest questions by agent.
struct NotifierState {
    file: File,
    seq: Seq,
    told: Vec<(String, Timestamp)>,
}

impl NotifierState {
    /// Locks and reads the shared file; `None` while another process has it.
    fn take(data: &Path) -> Option<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(data.join("notified")).ok()?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let mut lines = text.lines();
        let seq = lines.next().and_then(|seq| seq.parse().ok()).unwrap_or(0);
        let told = lines.filter_map(|line| {
            let (at, agent) = line.split_once(' ')?;
            Some((agent.to_owned(), Timestamp(at.parse().ok()?)))
        });
        Some(Self { file, seq, told: told.collect() })
    }

    fn keep(&mut self) -> std::io::Result<()> {
        let mut text = format!("{}\n", self.seq);
        self.told.iter().for_each(|(agent, at)| text += &format!("{} {agent}\n", at.0));
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(text.as_bytes())
    }
}

/// Sends the text by every way that the settings turn on.
fn send(config: &Config, text: &str) {
    let is_on = |key: &str| config.get(key) == "true";
    if is_on("notify.terminal") && std::io::stdout().is_terminal() {
        // The text must not contain what ends or splits the escape sequence.
        let line: String = text.chars().map(|c| if c.is_control() || c == ';' { ' ' } else { c }).collect();
        let mut terminal = std::io::stdout();
        let _ = write!(terminal, "\x07\x1b]9;{line}\x07\x1b]777;notify;Consort;{line}\x07");
        // The sequence ends no line, so it would wait in the buffer.
        let _ = terminal.flush();
    }
    if is_on("notify.desktop") {
        start(&mut desktop(cfg!(target_os = "macos"), text));
    }
    let command = config.get("notify.command");
    if !command.is_empty() {
        start(Command::new("sh").args(["-c", command]).env("CONSORT_TEXT", text));
    }
}

/// Returns the command that notifies on the desktop; the text is an argument, never part of a script.
fn desktop(is_macos: bool, text: &str) -> Command {
    const SCRIPT: [&str; 6] = [
        "-e",
        "on run argv",
        "-e",
        "display notification (item 1 of argv) with title \"Consort\"",
        "-e",
        "end run",
    ];
    let (program, arguments) = match is_macos {
        true => ("osascript", SCRIPT.as_slice()),
        false => ("notify-send", ["--app-name=Consort", "--", "Consort"].as_slice()),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(text);
    command
}

/// Starts a program without waiting for it to end.
fn start(command: &mut Command) {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_one_argument_on_every_desktop() {
        let text = "Falcon writes: \"; do shell script \"touch x\"";
        for (is_macos, program, before) in [(true, "osascript", 6), (false, "notify-send", 3)] {
            let command = desktop(is_macos, text);
            assert_eq!(command.get_program(), program);
            let arguments: Vec<_> = command.get_args().collect();
            assert_eq!((arguments.len(), arguments[before]), (before + 1, text.as_ref()));
        }
    }
}
