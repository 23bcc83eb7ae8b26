//! The format of a session's log beside the database: tagged lines, only ever appended.
//!
//! It holds the session's trail (prompts, files), the stamps of files it has seen, the mail and
//! notices it was given, and the commands it runs. A log that has grown long is compacted to the
//! lines that still count. After the session only its trail remains, for a handoff.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::SideFiles;
use super::escaped;
use super::unescaped;
use crate::Timestamp;
use crate::claims::CommandKind;
use crate::claims::FileStamp;
use crate::claims::ReadStamp;
use crate::claims::RunningCommand;
use crate::claims::SessionWait;
use crate::engine::StoreError;
use crate::host::Process;
use crate::knowledge::KeptCommand;
use crate::presence::SessionId;
use crate::presence::Subagent;

/// Length in bytes above which a log is compacted to at most half of that: every hook reads all of it.
const LONGEST: u64 = 24 << 10;

/// Numbers of lines of a kind that compaction keeps: the first with which the log is short enough.
const KEPT: [usize; 4] = [256, 128, 64, 32];

/// Most files whose last seen stamp is remembered.
const SEEN: usize = 64;

/// Time after which a command without an end no longer counts as running: not every CLI tells the
/// end of a background command.
const LONGEST_COMMAND: i64 = Timestamp::HOUR;

/// A line to add to a log. Lines of the trail are made in `convergence/trail_log.rs`.
pub(crate) enum LogLine {
    /// A process has shown all the mail that it delivered.
    Shown(String),
    /// A sender was introduced.
    Introduced(String),
    /// A notice that is given only once was given, by its checksum.
    Told(u64),
    /// The session has exchanged messages with another, or one has contested what the other holds.
    Met(SessionId),
    /// A text to give with the next prompt; empty once it was given.
    Later(String),
    /// The session has seen a file.
    Seen(ReadStamp),
    /// A command has begun; or one has ended, with the checksum of its call's id, its end and its
    /// begin.
    Begun(RunningCommand),
    Ended(u64, Timestamp, Timestamp),
    /// A command was run; only noted where the settings keep commands.
    Ran {
        failed: bool,
        text: String,
    },
    /// The session waits for others to release holds; `None` when it no longer does.
    Waits(Option<SessionWait>),
    /// A command runs behind the shield, or there were too many reservations for a shield.
    Shielded {
        at: Timestamp,
        is_too_many: bool,
    },
    /// The `Shielded` line before was read, and does not count any more.
    ShieldTold,
    /// A subagent is at work, as JSON.
    Subagent(String),
    /// The subagent with this id is over.
    SubagentOver(String),
    /// A line of the trail.
    Trail(String),
}

impl LogLine {
    /// Adds the line to a text.
    fn push_to(&self, text: &mut String) {
        // Writing to a text cannot fail.
        let _ = match self {
            Self::Shown(by) => writeln!(text, "shown\t{by}"),
            Self::Introduced(sender) => writeln!(text, "introduced\t{}", escaped(sender)),
            // A session that starts among fifty others adds a hundred of these: formatted by `{:016x}`, they
            // were a twentieth of its instructions.
            Self::Told(what) => {
                let digit = |shift| char::from(b"0123456789abcdef"[(what >> shift) as usize & 15]);
                text.push_str("told\t");
                text.extend((0..u64::BITS).step_by(4).rev().map(digit));
                text.push('\n');
                Ok(())
            }
            Self::Met(session) => writeln!(text, "met\t{}", escaped(session.as_str())),
            Self::Later(later) => writeln!(text, "later\t{}", escaped(later)),
            Self::Seen(ReadStamp { path, at, stamp }) => {
                let path = escaped(&path.to_string_lossy());
                writeln!(text, "seen\t{}\t{}\t{}\t{path}", stamp.changed, stamp.size, at.0)
            }
            Self::Begun(RunningCommand { call, at, kind, listing, cwd, text: command }) => {
                let kind = match kind {
                    CommandKind::Known => "known",
                    CommandKind::Tool => "tool",
                    CommandKind::Background => "background",
                    CommandKind::Subagent => "subagent",
                };
                let (listing, cwd) = (listing.as_deref().unwrap_or_default(), cwd.to_string_lossy());
                let (cwd, command) = (escaped(&cwd), escaped(command));
                writeln!(text, "begun\t{call:016x}\t{}\t{kind}\t{listing}\t{cwd}\t{command}", at.0)
            }
            Self::Ended(call, at, begun) => writeln!(text, "ended\t{call:016x}\t{}\t{}", at.0, begun.0),
            Self::Ran { failed, text: command } => {
                writeln!(text, "ran\t{}\t{}", u8::from(*failed), escaped(command))
            }
            Self::Waits(None) => writeln!(text, "waits\t"),
            Self::Waits(Some(SessionWait { since, process, holders, what })) => {
                let holders: Vec<String> = holders.iter().map(|one| escaped(one.as_str())).collect();
                let (holders, what) = (holders.join(" "), escaped(what));
                writeln!(text, "waits\t{}\t{} {}\t{holders}\t{what}", since.0, process.pid, process.start)
            }
            Self::Shielded { at, is_too_many } => {
                writeln!(text, "shielded\t{}\t{}", u8::from(*is_too_many), at.0)
            }
            Self::ShieldTold => writeln!(text, "shielded\t-"),
            Self::Subagent(json) => writeln!(text, "subagent\t{}", escaped(json)),
            Self::SubagentOver(id) => writeln!(text, "over\t{}", escaped(id)),
            Self::Trail(line) => text.write_str(line),
        };
    }
}

/// The text of a log, as it was read.
pub(crate) struct Log(pub(crate) String);

impl dyn SideFiles + '_ {
    pub(crate) fn read_log(&self, session: &SessionId) -> Log {
        Log(self.log(session))
    }

    /// Adds a line to a session's log. A session without a directory is over, and has no log.
    pub(crate) fn add(&self, session: &SessionId, line: &LogLine) -> Result<(), StoreError> {
        self.add_all(session, std::slice::from_ref(line))
    }

    /// Adds several lines to a session's log.
    pub(crate) fn add_all(&self, session: &SessionId, lines: &[LogLine]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        lines.iter().for_each(|line| line.push_to(&mut text));
        if self.append(session, &text)?.is_some_and(|length| length > LONGEST) {
            self.replace_log(session, &self.read_log(session).shortened());
        }
        Ok(())
    }
}

impl Log {
    /// Returns the lines of a kind, without their tag and without a last line that is half written.
    fn lines<'a>(&'a self, tag: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        let lines = self.0.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        lines.filter_map(move |line| line.strip_prefix(tag)?.strip_prefix('\t'))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, line: &LogLine) -> bool {
        let mut wanted = "\n".to_owned();
        line.push_to(&mut wanted);
        self.0.starts_with(&wanted[1..]) || self.0.contains(&wanted)
    }

    /// Returns the checksums of the notices that are given only once and were given.
    pub(crate) fn told(&self) -> BTreeSet<u64> {
        self.lines("told").filter_map(|what| u64::from_str_radix(what, 16).ok()).collect()
    }

    /// Returns the sessions that this session has dealt with: see [`LogLine::Met`].
    pub(crate) fn met(&self) -> BTreeSet<SessionId> {
        self.lines("met").map(|session| SessionId::from(unescaped(session))).collect()
    }

    pub(crate) fn introduced_senders(&self) -> Vec<String> {
        self.lines("introduced").map(|sender| unescaped(sender).into_owned()).collect()
    }

    pub(crate) fn next_prompt_text(&self) -> Option<String> {
        self.lines("later")
            .next_back()
            .filter(|text| !text.is_empty())
            .map(|text| unescaped(text).into_owned())
    }

    /// Returns the files that the session has seen last, newest first.
    pub(crate) fn seen(&self) -> Vec<ReadStamp> {
        let (mut seen, mut paths): (Vec<ReadStamp>, Vec<&str>) = (Vec::new(), Vec::new());
        for line in self.lines("seen").rev() {
            let path = line.rsplit('\t').next().unwrap_or_default();
            // Most lines are about a file that a newer line names, and are not parsed further.
            if paths.contains(&path) {
                continue;
            }
            let Some(sight) = read_seen(line) else { continue };
            paths.push(path);
            seen.push(sight);
            if seen.len() == SEEN {
                break;
            }
        }
        seen
    }

    /// Returns the commands that were kept, oldest first.
    pub(crate) fn ran(&self) -> Vec<KeptCommand> {
        let one = |line: &str| {
            let (failed, text) = line.split_once('\t')?;
            Some(KeptCommand { text: unescaped(text).into_owned(), failed: failed == "1" })
        };
        self.lines("ran").filter_map(one).collect()
    }

    /// Tells whether a command ran at any moment between `from` and `to`.
    pub(crate) fn ran_between(&self, from: Timestamp, to: Timestamp) -> bool {
        let runs = |command: &RunningCommand| command.at <= to && from.since(command.at) < LONGEST_COMMAND;
        let ran = |(_, ended, begun): (u64, Timestamp, Timestamp)| begun <= to && from <= ended;
        self.running().values().any(runs) || self.lines("ended").filter_map(read_ended).any(ran)
    }

    /// Tells whether the last command behind the shield met too many reservations; `None` if that
    /// was read already.
    pub(crate) fn shielded(&self) -> Option<bool> {
        let (is_too_many, _) = self.lines("shielded").next_back()?.split_once('\t')?;
        Some(is_too_many == "1")
    }

    /// Returns the commands that have begun and not ended, by the checksum of their call's id.
    pub(crate) fn running(&self) -> BTreeMap<u64, RunningCommand> {
        let begun = self.lines("begun").filter_map(read_begun).map(|command| (command.call, command));
        let mut running: BTreeMap<u64, RunningCommand> = begun.collect();
        for (call, ended, _) in self.lines("ended").filter_map(read_ended) {
            if running.get(&call).is_some_and(|command| command.at <= ended) {
                running.remove(&call);
            }
        }
        running
    }

    /// Returns the holders that the session waits for, and since when.
    pub(crate) fn waiting(&self) -> Option<SessionWait> {
        let mut cells = self.lines("waits").next_back()?.splitn(4, '\t');
        let since = Timestamp(cells.next()?.parse().ok()?);
        let (pid, start) = cells.next()?.split_once(' ')?;
        let process = Process { pid: pid.parse().ok()?, start: start.to_owned(), ..Process::default() };
        let holders = cells.next()?.split(' ').map(|one| SessionId::from(unescaped(one))).collect();
        Some(SessionWait { since, process, holders, what: unescaped(cells.next()?).into_owned() })
    }

    /// Returns the subagents at work, oldest first.
    pub(crate) fn subagents(&self) -> Vec<Subagent> {
        let over: BTreeSet<_> = self.lines("over").map(unescaped).collect();
        let noted = self.lines("subagent").filter_map(|json| serde_json::from_str(&unescaped(json)).ok());
        let mut at_work: Vec<Subagent> =
            noted.filter(|subagent: &Subagent| !over.contains(subagent.id.as_str())).collect();
        at_work.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        at_work
    }

    /// Compacts the log to the lines that still count.
    fn shortened(&self) -> String {
        let mut text = String::new();
        for most in KEPT {
            text = self.with_last(most);
            if text.len() as u64 <= LONGEST / 2 {
                break;
            }
        }
        text
    }

    /// Compacts the log to at most `most` lines of each kind.
    fn with_last(&self, most: usize) -> String {
        let mut text = self.trail().map(|trail| trail.render()).unwrap_or_default();
        for tag in ["shown", "introduced", "told", "met", "ended", "ran"] {
            let lines: Vec<&str> = self.lines(tag).collect();
            for line in &lines[lines.len().saturating_sub(most)..] {
                text.push_str(&format!("{tag}\t{line}\n"));
            }
        }
        let later = self.next_prompt_text().map(LogLine::Later).into_iter();
        let later = later.chain(self.waiting().map(|waiting| LogLine::Waits(Some(waiting))));
        let begun = self.running().into_values().map(LogLine::Begun);
        let subagents = self.subagents();
        let subagents =
            subagents.iter().map(|one| LogLine::Subagent(serde_json::to_string(one).unwrap_or_default()));
        let seen = self.seen().into_iter().take(most).rev().map(LogLine::Seen);
        later.chain(begun).chain(subagents).chain(seen).for_each(|line| line.push_to(&mut text));
        text
    }
}

fn read_begun(line: &str) -> Option<RunningCommand> {
    let mut cells = line.splitn(6, '\t');
    let (call, at) = (cells.next()?, cells.next()?);
    let kind = match cells.next() {
        Some("known") => CommandKind::Known,
        Some("background") => CommandKind::Background,
        Some("subagent") => CommandKind::Subagent,
        _ => CommandKind::Tool,
    };
    Some(RunningCommand {
        call: u64::from_str_radix(call, 16).ok()?,
        at: Timestamp(at.parse().ok()?),
        kind,
        listing: cells.next().filter(|listing| !listing.is_empty()).map(str::to_owned),
        cwd: unescaped(cells.next().unwrap_or_default()).into_owned().into(),
        text: unescaped(cells.next().unwrap_or_default()).into_owned(),
    })
}

/// Parses a line into the checksum of a command's call, its end and its begin.
fn read_ended(line: &str) -> Option<(u64, Timestamp, Timestamp)> {
    let mut cells = line.splitn(3, '\t');
    let (call, ended) = (cells.next()?, Timestamp(cells.next()?.parse().ok()?));
    let begun = cells.next().and_then(|begun| begun.parse().ok()).map_or(ended, Timestamp);
    Some((u64::from_str_radix(call, 16).ok()?, ended, begun))
}

fn read_seen(line: &str) -> Option<ReadStamp> {
    let mut cells = line.splitn(4, '\t');
    let stamp = FileStamp { changed: cells.next()?.parse().ok()?, size: cells.next()?.parse().ok()? };
    let at = Timestamp(cells.next()?.parse().ok()?);
    // A path that is not UTF-8 keeps its lossy spelling, which names no file.
    Some(ReadStamp { path: unescaped(cells.next()?).into_owned().into(), at, stamp })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_written_again_has_room_for_more() {
        let mut text = "of\tp\ts1\t/shop\n".to_owned();
        for n in 0..1_000 {
            LogLine::Told(n).push_to(&mut text);
            LogLine::Ran { failed: false, text: format!("{n} {}", "long ".repeat(40)) }.push_to(&mut text);
            let (path, stamp) =
                (format!("/shop/src/module-{n}.rs").into(), FileStamp { changed: 1, size: 2 });
            LogLine::Seen(ReadStamp { path, at: Timestamp(n as i64), stamp }).push_to(&mut text);
        }
        let again = Log(Log(text).shortened());
        assert!(again.0.len() as u64 <= LONGEST / 2, "{}", again.0.len());
        assert!(again.has(&LogLine::Told(999)), "the last are kept");
        assert_eq!(again.seen()[0].path, std::path::Path::new("/shop/src/module-999.rs"));
        assert_eq!(again.ran().len(), 32);
        assert!(again.trail().is_some());
    }
}
