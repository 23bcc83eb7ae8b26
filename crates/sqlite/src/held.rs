//! The part of what is published (`published.rs`) that says what is held.
//!
//! Whoever takes hold adds its line before the commit; after the commit the
//! part is written again as the tables have it, while nobody else can write. A
//! crash in between leaves a line too many. So **it may say too much, never too
//! little**, and whoever is hindered by it asks the store.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
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
use crate::published;
use crate::published::Published;
use crate::radar;

const REPOSITORY: &str = "in";
const HOLD: &str = "by";
const REPOSITORY_LINE: &str = "in\t";
const HOLD_LINE: &str = "by\t";
const ADVISORY: &str = "claimed";

/// Whether a line belongs to this part.
pub(crate) fn is_line(line: &str) -> bool {
    line.starts_with(HOLD_LINE) || line.starts_with(REPOSITORY_LINE)
}

/// Whether a change can make a difference to it.
pub(crate) fn concerns(change: &Change) -> bool {
    matches!(change, Change::Claims(_) | Change::Presence(PresenceChange::RepositorySeen { .. }))
}

/// Adds what a change takes hold of, before it is committed.
pub(crate) fn announce(connection: &Connection, store: &Path, changes: &[Change]) -> std::io::Result<()> {
    let file = published::file(store);
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
            Change::Presence(PresenceChange::RepositorySeen { repository, project }) => {
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

/// What it says of patterns that are near. There may be hundreds: the others
/// are only glanced at.
pub(crate) fn read(published: &Published, is_near: impl Fn(&str) -> bool) -> Held {
    let mut held = Held::default();
    let text = published.text();
    held.is_partial = !published.is_current || !(text.is_empty() || text.ends_with('\n'));
    for line in text.lines().filter(|line| !line.is_empty() && !radar::is_line(line)) {
        let tabs = line.bytes().filter(|byte| *byte == b'\t').count();
        let last = line.rsplit_once('\t').map_or(line, |(_, last)| last);
        if tabs == 6 && line.starts_with(HOLD_LINE) && !is_near(&plain(last)) {
            continue;
        }
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            [REPOSITORY, project, repository] => {
                let (repository, project) = (plain(repository), plain(project));
                held.repositories.push((repository.into_owned().into(), project.into_owned().into()));
            }
            [HOLD, strength, holder, label, until, project, pattern] => match Pattern::new(&plain(pattern)) {
                Ok(pattern) => {
                    let Ok(holder) = Actor::from_str(&plain(holder));
                    let project = (!project.is_empty()).then(|| plain(project).into_owned().into());
                    let until = until.parse().ok().map(Timestamp);
                    let label = plain(label).into_owned();
                    let strength = if strength == ADVISORY { Strength::Advisory } else { Strength::Blocking };
                    held.holds.push(HeldLine { project, holder, label, strength, until, pattern });
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
    let strength = if hold.strength == Strength::Advisory { ADVISORY } else { "reserved" };
    let cells = [strength, &hold.holder.to_string(), &hold.label, &until, project, pattern.as_str()];
    let cells = cells.map(escaped);
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
