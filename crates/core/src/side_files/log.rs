//! The format of a session's log beside the database: tagged lines, only ever appended.
//!
//! It says where the session has been (prompts, files: its trail), which files it has
//! seen in which state, what it was shown and told, and what it runs. A log that has
//! grown long is written again with what still counts. What remains of it after the
//! session is its trail, for a handoff.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::SideFiles;
use super::escaped;
use super::unescaped;
use crate::Timestamp;
use crate::claims::ReadStamp;
use crate::claims::Stamp;
use crate::engine::StoreError;
use crate::presence::SessionId;
use crate::presence::Subagent;

/// A longer log is written again.
const LONGEST: u64 = 48 << 10;

/// How many lines of a kind are kept then.
const KEPT: usize = 64;

/// A command that was interrupted never ends: after so long it does not count.
const LONGEST_COMMAND: i64 = Timestamp::HOUR;

/// What is added to a log. Lines of the trail are made in `convergence/trail_log.rs`.
pub(crate) enum Line {
    /// A process has shown all it delivered.
    Shown(String),
    /// A sender was introduced.
    Introduced(String),
    /// Something was said that is said once, by its checksum.
    Told(u64),
    /// Something to say with the next prompt; nothing once it was said.
    Later(String),
    /// A file was seen.
    Seen(ReadStamp),
    /// A command has begun, or ended, by the checksum of its id.
    Begun(u64, Timestamp),
    Ended(u64, Timestamp),
    /// A subagent at work, as JSON; and the id of one that is over.
    Subagent(String),
    SubagentOver(String),
    /// A line of the trail.
    Trail(String),
}

impl Line {
    fn render(&self) -> String {
        match self {
            Self::Shown(by) => format!("shown\t{by}\n"),
            Self::Introduced(sender) => format!("introduced\t{}\n", escaped(sender)),
            Self::Told(what) => format!("told\t{what:016x}\n"),
            Self::Later(text) => format!("later\t{}\n", escaped(text)),
            Self::Seen(ReadStamp { path, at, stamp }) => {
                let path = escaped(&path.to_string_lossy());
                format!("seen\t{}\t{}\t{}\t{path}\n", stamp.changed, stamp.size, at.0)
            }
            Self::Begun(call, at) => format!("begun\t{call:016x}\t{}\n", at.0),
            Self::Ended(call, at) => format!("ended\t{call:016x}\t{}\n", at.0),
            Self::Subagent(json) => format!("subagent\t{}\n", escaped(json)),
            Self::SubagentOver(id) => format!("over\t{}\n", escaped(id)),
            Self::Trail(line) => line.clone(),
        }
    }
}

/// A log as it was read.
pub(crate) struct Log(pub(crate) String);

impl dyn SideFiles + '_ {
    pub(crate) fn read_log(&self, session: &SessionId) -> Log {
        Log(self.log(session))
    }

    /// Adds to a log. A session without a directory is over, and has none.
    pub(crate) fn add(&self, session: &SessionId, line: &Line) -> Result<(), StoreError> {
        if self.append(session, &line.render())?.is_some_and(|length| length > LONGEST) {
            self.replace_log(session, &self.read_log(session).shortened());
        }
        Ok(())
    }
}

impl Log {
    /// The lines of a kind, without their tag. The last line may be half written.
    fn lines<'a>(&'a self, tag: &'a str) -> impl DoubleEndedIterator<Item = &'a str> {
        let lines = self.0.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        lines.filter_map(move |line| line.strip_prefix(tag)?.strip_prefix('\t'))
    }

    pub(crate) fn has(&self, line: &Line) -> bool {
        let wanted = line.render();
        self.0.split_inclusive('\n').any(|line| line == wanted)
    }

    pub(crate) fn introduced_senders(&self) -> Vec<String> {
        self.lines("introduced").map(|sender| unescaped(sender).into_owned()).collect()
    }

    pub(crate) fn later(&self) -> Option<String> {
        self.lines("later")
            .next_back()
            .filter(|text| !text.is_empty())
            .map(|text| unescaped(text).into_owned())
    }

    /// The files that were seen last, newest first.
    pub(crate) fn seen(&self) -> Vec<ReadStamp> {
        let mut seen: Vec<ReadStamp> = Vec::new();
        for sight in self.lines("seen").rev().filter_map(read_seen) {
            if seen.len() == KEPT {
                break;
            }
            if seen.iter().all(|newer| newer.path != sight.path) {
                seen.push(sight);
            }
        }
        seen
    }

    /// When a command that has not ended had begun.
    pub(crate) fn begun(&self, call: u64) -> Option<Timestamp> {
        self.running().remove(&call)
    }

    /// Whether a command runs, or has ended since then.
    pub(crate) fn runs_or_ran(&self, since: Timestamp) -> bool {
        self.running().values().any(|begun| since.since(*begun) < LONGEST_COMMAND)
            || self.lines("ended").filter_map(read_call).any(|(_, ended)| ended >= since)
    }

    fn running(&self) -> BTreeMap<u64, Timestamp> {
        let mut running: BTreeMap<u64, Timestamp> = self.lines("begun").filter_map(read_call).collect();
        for (call, ended) in self.lines("ended").filter_map(read_call) {
            if running.get(&call).is_some_and(|begun| *begun <= ended) {
                running.remove(&call);
            }
        }
        running
    }

    /// Those at work, oldest first.
    pub(crate) fn subagents(&self) -> Vec<Subagent> {
        let over: BTreeSet<_> = self.lines("over").map(unescaped).collect();
        let noted = self.lines("subagent").filter_map(|json| serde_json::from_str(&unescaped(json)).ok());
        let mut at_work: Vec<Subagent> =
            noted.filter(|subagent: &Subagent| !over.contains(subagent.id.as_str())).collect();
        at_work.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        at_work
    }

    /// What still counts.
    fn shortened(&self) -> String {
        let mut text = self.trail().map(|trail| trail.render()).unwrap_or_default();
        for tag in ["shown", "introduced", "told", "ended"] {
            let lines: Vec<&str> = self.lines(tag).collect();
            for line in &lines[lines.len().saturating_sub(4 * KEPT)..] {
                text.push_str(&format!("{tag}\t{line}\n"));
            }
        }
        let later = self.later().map(Line::Later);
        let begun = self.running().into_iter().map(|(call, at)| Line::Begun(call, at));
        let subagents = self.subagents();
        let subagents =
            subagents.iter().map(|one| Line::Subagent(serde_json::to_string(one).unwrap_or_default()));
        let seen = self.seen().into_iter().rev().map(Line::Seen);
        later.into_iter().chain(begun).chain(subagents).chain(seen).for_each(|line| text += &line.render());
        text
    }
}

fn read_call(line: &str) -> Option<(u64, Timestamp)> {
    let (call, at) = line.split_once('\t')?;
    Some((u64::from_str_radix(call, 16).ok()?, Timestamp(at.parse().ok()?)))
}

fn read_seen(line: &str) -> Option<ReadStamp> {
    let mut cells = line.splitn(4, '\t');
    let stamp = Stamp { changed: cells.next()?.parse().ok()?, size: cells.next()?.parse().ok()? };
    let at = Timestamp(cells.next()?.parse().ok()?);
    // A path that is not text keeps its lossy spelling, which is nobody's.
    Some(ReadStamp { path: unescaped(cells.next()?).into_owned().into(), at, stamp })
}
