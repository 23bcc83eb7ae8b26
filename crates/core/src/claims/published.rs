//! The published lines about holds, which hooks read instead of the database: one for
//! each hold, found by its path, and one for each repository.
//!
//! A verb that grants a hold adds its line before the commit; after the commit the lines
//! are written as the tables have them, under the write lock. A crash in between leaves
//! a line too many. So **they may say too much, never too little**, and a hook that finds
//! a match asks the store before it refuses.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr as _;

use crate::Timestamp;
use crate::claims::Case;
use crate::claims::Hold;
use crate::claims::HoldMode;
use crate::claims::Pattern;
use crate::claims::PublishedHold;
use crate::claims::PublishedHolds;
use crate::claims::Strength;
use crate::journal::Actor;
use crate::side_files::SideFiles;
use crate::side_files::escaped;
use crate::side_files::unescaped;

/// The beginning of a repository's line.
pub const REPOSITORY_LINE_PREFIX: &str = "in\t";
/// The beginning of a hold's line.
pub const HOLD_LINE_PREFIX: &str = "by\t";

const ADVISORY: &str = "claimed";
const SHARED: &str = "shared";

impl dyn SideFiles + '_ {
    /// Tells whether anyone holds paths in a way that others must know; says yes if in doubt.
    pub fn is_anything_held(&self) -> bool {
        !self.is_current() || self.published(HOLD_LINE_PREFIX, 1).is_none_or(|holds| !holds.is_empty())
    }

    /// Tells whether a repository is published, of whichever project.
    pub fn is_repository_published(&self, repository: &Path) -> bool {
        let ending = format!("\t{}", escaped(&repository.to_string_lossy()));
        let lines = self.published(REPOSITORY_LINE_PREFIX, usize::MAX).unwrap_or_default();
        lines.iter().any(|line| line.trim_end_matches('\n').ends_with(&ending))
    }

    /// Finds the published holds that may overlap these paths. There may be thousands of holds:
    /// the others are never read.
    pub fn held_near(&self, paths: &[Pattern], case: Case) -> PublishedHolds {
        let (lines, is_whole) = self.lines_near(paths);
        let mut held =
            PublishedHolds { is_partial: !is_whole || !self.is_current(), ..PublishedHolds::default() };
        let mut projects = BTreeSet::new();
        for line in lines {
            match read_hold(&line) {
                Some(hold) if paths.iter().any(|path| path.may_overlap(hold.pattern.as_str(), case)) => {
                    projects.extend(hold.project.clone());
                    held.holds.push(hold);
                }
                Some(_) => {}
                None => held.is_partial = true,
            }
        }
        for project in projects {
            let lines = self
                .published(&format!("{REPOSITORY_LINE_PREFIX}{}\t", escaped(project.as_str())), usize::MAX);
            for line in lines.unwrap_or_default() {
                let repository = line.rsplit_once('\t').map_or("", |(_, repository)| repository);
                held.repositories.push((unescaped(repository).into_owned().into(), project.clone()));
            }
        }
        held
    }

    /// Finds the lines about these paths, about all directories above them, and about everything
    /// below the paths that mean more than one file; also tells whether those are all.
    fn lines_near(&self, paths: &[Pattern]) -> (BTreeSet<String>, bool) {
        let (mut found, mut is_whole) = (BTreeSet::new(), true);
        let mut look = |beginning: &str| match self.published(beginning, usize::MAX) {
            Some(lines) => found.extend(lines),
            None => is_whole = false,
        };
        for path in paths {
            let place = escaped(&path.published_path().to_lowercase());
            Path::new(&place)
                .ancestors()
                .for_each(|above| look(&format!("{HOLD_LINE_PREFIX}{}\t", above.display())));
            match path.literal() {
                Some(_) => {}
                None if place.is_empty() => look(HOLD_LINE_PREFIX),
                None => look(&format!("{HOLD_LINE_PREFIX}{place}/")),
            }
        }
        (found, is_whole)
    }
}

/// Parses the line of a hold.
pub(super) fn read_hold(line: &str) -> Option<PublishedHold> {
    let cells: Vec<&str> = line.strip_prefix(HOLD_LINE_PREFIX)?.split('\t').collect();
    let [_, strength, holder, label, until, project, pattern] = cells[..] else { return None };
    let Ok(holder) = Actor::from_str(&unescaped(holder));
    Some(PublishedHold {
        project: (!project.is_empty()).then(|| unescaped(project).into_owned().into()),
        holder,
        label: unescaped(label).into_owned(),
        strength: if strength == ADVISORY { Strength::Advisory } else { Strength::Blocking },
        mode: if strength == SHARED { HoldMode::Shared } else { HoldMode::Exclusive },
        until: until.parse().ok().map(Timestamp),
        pattern: Pattern::new(&unescaped(pattern)).ok()?,
    })
}

/// Renders the line of a hold; `None` if it is in nobody's way: a shared claim, an override, or
/// no hold on paths.
pub fn hold_line(hold: &Hold) -> Option<String> {
    let pattern = hold.resource.pattern()?;
    let strength = match (hold.strength, hold.mode) {
        (Strength::Advisory, HoldMode::Exclusive) => ADVISORY,
        (Strength::Blocking, HoldMode::Exclusive) => "reserved",
        (Strength::Blocking, HoldMode::Shared) => SHARED,
        (Strength::Advisory, HoldMode::Shared) | (Strength::Overridden, _) => return None,
    };
    let until = hold.until.map_or_else(|| "-".to_owned(), |until| until.0.to_string());
    let project = hold.project.as_ref().map_or("", |project| project.as_str());
    let place = pattern.published_path().to_lowercase();
    let cells = [&place, strength, &hold.holder.to_string(), &hold.label, &until, project, pattern.as_str()];
    Some(format!("{HOLD_LINE_PREFIX}{}\n", cells.map(escaped).join("\t")))
}

/// Renders the line of a repository.
pub fn repository_line(project: &str, repository: &str) -> String {
    format!("{REPOSITORY_LINE_PREFIX}{}\t{}\n", escaped(project), escaped(repository))
}
