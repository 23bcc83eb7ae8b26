//! What is held, written out for hooks: one small file instead of a database.
//!
//! Whoever takes hold adds its line before the commit; after the commit the
//! file is written anew as the tables have it, while nobody else can write. A
//! crash in between leaves a line too many. One that is missing, empty or torn
//! says that the store must be asked; where nothing is held, it is one empty
//! line. So **it may say too much, never too little**, and whoever finds itself
//! hindered by it asks the store.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::str::FromStr as _;

use consort_core::Timestamp;
use consort_core::claims::ClaimChange;
use consort_core::claims::Held;
use consort_core::claims::HeldLine;
use consort_core::claims::Hold;
use consort_core::claims::Mode;
use consort_core::claims::Pattern;
use consort_core::claims::Strength;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::presence::PresenceChange;
use rusqlite::Connection;

use crate::claims;

pub(crate) const FILE: &str = "held";

/// What is written where nothing is held.
const NOTHING: &[u8] = b"\n";

const REPOSITORY: &str = "in";
const HOLD: &str = "by";
const HOLD_LINE: &str = "by\t";

/// Where it is, for the store at `path`.
pub(crate) fn file(path: &Path) -> PathBuf {
    path.with_file_name(FILE)
}

/// Whether a change can make a difference to it.
pub(crate) fn concerns(change: &Change) -> bool {
    matches!(change, Change::Claims(_) | Change::Presence(PresenceChange::RepositorySeen { .. }))
}

/// Adds what a change takes hold of, before it is committed.
pub(crate) fn announce(connection: &Connection, file: &Path, changes: &[Change]) -> std::io::Result<()> {
    let mut lines = String::new();
    for change in changes {
        match change {
            Change::Claims(ClaimChange::Held(hold)) => {
                if let Some(line) = line(hold) {
                    let project = hold.project.as_ref().map_or("", |project| project.as_str());
                    lines.push_str(&repositories(connection, project).map_err(std::io::Error::other)?);
                    lines.push_str(&line);
                }
            }
            Change::Presence(PresenceChange::RepositorySeen { repository, project })
                if is_anything_held(file) =>
            {
                lines.push_str(&repository_line(project.id.as_str(), &repository.to_string_lossy()));
            }
            _ => {}
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    // On a line of its own, whatever was cut short before.
    let lines = format!("\n{lines}");
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true).mode(0o600).open(file)?.write_all(lines.as_bytes())
}

/// The whole file as the tables have it now.
pub(crate) fn render(connection: &Connection) -> rusqlite::Result<String> {
    let mut text = String::new();
    let mut projects: Vec<String> = Vec::new();
    for hold in claims::all(connection)? {
        let Some(line) = line(&hold) else { continue };
        let project = hold.project.as_ref().map_or_else(String::new, ToString::to_string);
        if !projects.contains(&project) {
            text.push_str(&repositories(connection, &project)?);
            projects.push(project);
        }
        text.push_str(&line);
    }
    Ok(text)
}

/// Puts it in place of the one that is there. One that cannot be replaced says
/// too much, which is no harm.
pub(crate) fn replace(file: &Path, text: &str) {
    // Two may do so at once where they do not take turns.
    let temporary = file.with_extension(format!("{}.new", std::process::id()));
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut new = options.create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
        new.write_all(if text.is_empty() { NOTHING } else { text.as_bytes() })?;
        fs::rename(&temporary, file)
    };
    let _ = write();
}

/// Whether there is anything to look at, by a glance from outside.
pub(crate) fn is_anything_held(file: &Path) -> bool {
    fs::metadata(file).map_or(true, |file| file.len() != NOTHING.len() as u64)
}

/// What it says of patterns that are near. There may be hundreds: the others
/// are only glanced at.
pub(crate) fn read(file: &Path, is_near: impl Fn(&str) -> bool) -> Held {
    let mut held = Held::default();
    let text = fs::read_to_string(file).unwrap_or_default();
    held.is_partial = !text.ends_with('\n');
    for line in text.lines().filter(|line| !line.is_empty()) {
        let tabs = line.bytes().filter(|byte| *byte == b'\t').count();
        let last = line.rsplit_once('\t').map_or(line, |(_, last)| last);
        if tabs == 4 && line.starts_with(HOLD_LINE) && !is_near(&plain(last)) {
            continue;
        }
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            [REPOSITORY, project, repository] => {
                let (repository, project) = (plain(repository), plain(project));
                held.repositories.push((repository.into_owned().into(), project.into_owned().into()));
            }
            [HOLD, holder, until, project, pattern] => match Pattern::new(&plain(pattern)) {
                Ok(pattern) => {
                    let Ok(holder) = Actor::from_str(&plain(holder));
                    let project = (!project.is_empty()).then(|| plain(project).into_owned().into());
                    let until = until.parse().ok().map(Timestamp);
                    held.holds.push(HeldLine { project, holder, until, pattern });
                }
                Err(_) => held.is_partial = true,
            },
            _ => held.is_partial = true,
        }
    }
    held
}

/// Only what is exclusive and about paths is ever in a hook's way.
fn line(hold: &Hold) -> Option<String> {
    let pattern = hold.resource.pattern()?;
    if hold.mode != Mode::Exclusive || hold.strength == Strength::Lifted {
        return None;
    }
    let until = hold.until.map_or_else(|| "-".to_owned(), |until| until.0.to_string());
    let project = hold.project.as_ref().map_or("", |project| project.as_str());
    let cells = [&hold.holder.to_string(), &until, project, pattern.as_str()].map(escaped);
    Some(format!("{HOLD}\t{}\n", cells.join("\t")))
}

fn repositories(connection: &Connection, project: &str) -> rusqlite::Result<String> {
    let mut statement =
        connection.prepare_cached("SELECT key FROM facts WHERE kind = 'repository' AND owner = ?1")?;
    let mut rows = statement.query([project])?;
    let mut lines = String::new();
    while let Some(row) = rows.next()? {
        lines.push_str(&repository_line(project, row.get_ref(0)?.as_str()?));
    }
    Ok(lines)
}

fn repository_line(project: &str, repository: &str) -> String {
    format!("{REPOSITORY}\t{}\t{}\n", escaped(project), escaped(repository))
}

/// Without a tab, a line end or any other control character of a byte.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_control() || character == '%' {
            let _ = write!(escaped, "%{:02x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

pub(crate) fn plain(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('%') {
        return escaped.into();
    }
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let code = after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                text.push(char::from(code));
                rest = &after[2..];
            }
            None => {
                text.push('%');
                rest = after;
            }
        }
    }
    (text + rest).into()
}
