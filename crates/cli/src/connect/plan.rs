//! Plans the changes that `init` and `uninit` make to a CLI's files: shows them as a diff, checks them, and
//! carries them out.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::AgentCli;
use consort_agents::Insertion;
use consort_agents::InsertionContent;
use consort_agents::InsertionFormat;
use consort_agents::InsertionState;
use consort_agents::Level;
use consort_agents::SettingsError;
use consort_core::explain::ErrorKind;
use consort_core::explain::Explain;
use consort_core::text;
use consort_files::OurDir;
use consort_files::TemporaryFiles;
use consort_host::env;

use super::files::TheirFile;
use super::files::write_own;
use super::hook_program;
use super::is_there;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
use crate::world::World;

/// The files in the record of a change: the file from before, or that there was none and which directory was
/// made for it, and the file as we wrote it.
const ORIGINAL: &str = "original";
const NO_ORIGINAL: &str = "no-original";
const WRITTEN: &str = "written";

/// A planned change of a settings file.
pub(crate) struct FilePlan {
    file: TheirFile,
    /// The path of the file.
    pub(crate) path: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// The text that `uninit` gives back; `None` if the file is to go.
    original: Option<String>,
    record: PathBuf,
}

impl FilePlan {
    pub(crate) fn changes_nothing(&self) -> bool {
        self.before == self.after
    }

    /// Formats the change as a unified diff.
    pub(crate) fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""));
        let name = self.path.display().to_string();
        let old = if self.before.is_some() { name.as_str() } else { "/dev/null" };
        let new = if self.after.is_some() { name.as_str() } else { "/dev/null" };
        similar::TextDiff::from_lines(before, after).unified_diff().header(old, new).to_string()
    }

    /// Tells whether the file is still as it was when it was read.
    pub(crate) fn is_current(&self) -> bool {
        self.file.read().is_ok_and(|found| found == self.before)
    }

    /// Refuses if the file is no longer as it was when it was read.
    pub(crate) fn check(&self) -> CommandResult {
        if self.file.read()? == self.before {
            return Ok(());
        }
        Err(CommandError::user(
            format!("{} was changed by someone else just now", self.path.display()),
            "run the command again; this file was left as it is",
        ))
    }

    /// Makes the change, unless the file changed since it was read.
    pub(crate) fn carry_out(&self, pending: &TemporaryFiles) -> CommandResult {
        self.check()?;
        match &self.after {
            Some(after) => {
                if self.is_connecting() {
                    self.keep_record(after, pending)?;
                }
                self.file.replace(after.as_bytes(), pending, || self.check())?;
            }
            None => {
                // Text that somebody has added to the file must not be lost.
                let written = fs::read_to_string(self.record.join(WRITTEN)).ok();
                if let Some(before) = self.before.as_ref().filter(|before| written.as_ref() != Some(*before))
                {
                    let mut removed = self.record.clone().into_os_string();
                    removed.push(".removed");
                    write_own(Path::new(&removed), before.as_bytes(), pending)?;
                    self.check()?;
                }
                self.file.remove()?;
                let made = fs::read_to_string(self.record.join(NO_ORIGINAL)).unwrap_or_default();
                let made = Some(Path::new(&made)).filter(|made| made.is_absolute());
                let ours = |dir: &&Path| made.is_some_and(|made| dir.starts_with(made));
                for dir in self.path.ancestors().skip(1).take_while(ours) {
                    // Only an empty directory is removed.
                    self.file.remove_empty_dir(dir);
                }
            }
        }
        if !self.is_connecting() {
            self.forget_record();
        }
        Ok(())
    }

    /// Tells whether the plan removes a program that a CLI runs its commands through.
    pub(crate) fn removes_program(&self) -> bool {
        self.after.is_none() && self.before.as_ref().is_some_and(|before| before.starts_with("#!"))
    }

    /// Returns the path at which the file from before is kept.
    pub(crate) fn backup(&self) -> PathBuf {
        self.record.join(ORIGINAL)
    }

    fn is_connecting(&self) -> bool {
        self.after != self.original
    }

    fn forget_record(&self) {
        // Earlier versions did not mark their records as ours; these hold nothing but our files.
        if self.record.join(WRITTEN).exists() {
            let _ = OurDir::adopt(&self.record);
        }
        let _ = OurDir::remove(&self.record);
    }

    fn keep_record(&self, written: &str, pending: &TemporaryFiles) -> CommandResult {
        // A directory that we made for a file stays noted as ours while the file is there, however often that
        // is renewed.
        let is_intact = self.before.is_some() && self.record.join(WRITTEN).exists();
        let made = is_intact.then(|| fs::read(self.record.join(NO_ORIGINAL)).ok()).flatten();
        // Begun from scratch, with `written` last: a record without it was cut short, and does not count.
        self.forget_record();
        OurDir::create(&self.record)
            .map_err(|error| CommandError::file("cannot make", &self.record, error))?;
        match &self.original {
            Some(original) => write_own(&self.backup(), original.as_bytes(), pending)?,
            None => {
                let missing = self.path.ancestors().skip(1).take_while(|dir| !dir.exists());
                let missing = missing.last().map(|dir| dir.as_os_str().as_encoded_bytes().to_vec());
                let made = made.or(missing).unwrap_or_default();
                write_own(&self.record.join(NO_ORIGINAL), &made, pending)?;
            }
        }
        write_own(&self.record.join("path"), self.path.as_os_str().as_encoded_bytes(), pending)?;
        write_own(&self.record.join(WRITTEN), written.as_bytes(), pending)
    }
}

/// Plans to connect a CLI: wanted insertions are added, and those that are there already are renewed. An
/// insertion that is not wanted never fails the command: if it is not ours or cannot be understood, it counts
/// as absent.
pub(crate) fn plan_connect(
    world: &World,
    cli: &dyn AgentCli,
    level: Level<'_>,
    wanted: &[InsertionContent],
) -> Result<Vec<FilePlan>, CommandError> {
    let is_wanted = |insertion: &Insertion| wanted.contains(&insertion.purpose);
    let mut plans = Vec::new();
    for (file, insertions) in files_of(cli, level) {
        let plan = plan(world, file, &insertions, level);
        match plan.and_then(|plan| connected(plan, &insertions, level, is_wanted)) {
            Ok(plan) => plans.push(plan),
            Err(error) if insertions.iter().any(|one| is_needed(one, is_wanted)) => return Err(error),
            Err(error) => leave_out(&error),
        }
    }
    Ok(plans)
}

fn connected(
    mut plan: FilePlan,
    insertions: &[Insertion],
    level: Level<'_>,
    is_wanted: impl Fn(&Insertion) -> bool,
) -> Result<FilePlan, CommandError> {
    let ours = hook_program(level);
    for insertion in insertions {
        let cannot = |error| malformed(&plan.path, error);
        let found = plan.before.as_deref().filter(|text| !text.trim().is_empty());
        let found =
            found.map(|text| insertion.format.insertion_state(text, &ours)).transpose().map_err(cannot);
        match found {
            Ok(None | Some(InsertionState::Absent)) if !is_wanted(insertion) => {}
            Err(error)
                if !is_needed(insertion, &is_wanted)
                    && insertions.iter().any(|one| is_needed(one, &is_wanted)) =>
            {
                leave_out(&error);
            }
            Err(error) => return Err(error),
            // Rules may be the person's own: finding some is no reason to add the others.
            Ok(_) if insertion.purpose == InsertionContent::Allow && !is_wanted(insertion) => {}
            Ok(_) => {
                plan.after = Some(insertion.format.connect(plan.after.as_deref(), &ours).map_err(cannot)?)
            }
        }
    }
    Ok(plan)
}

/// Tells whether it is a failure if this insertion's file cannot be changed. Allow rules are added unasked:
/// the rest is connected without them.
fn is_needed(insertion: &Insertion, is_wanted: impl Fn(&Insertion) -> bool) -> bool {
    insertion.purpose != InsertionContent::Allow && is_wanted(insertion)
}

/// Prints which file is left as it is, and why.
fn leave_out(error: &CommandError) {
    output::note(format_args!("Left as it is: {}", error.in_a_line()));
}

/// Plans to disconnect a CLI, each file for itself: one that cannot be understood does not keep the others.
/// `leaving` are all CLIs that are about to be disconnected.
pub(crate) fn plan_disconnect(
    world: &World,
    cli: &dyn AgentCli,
    level: Level<'_>,
    leaving: &[&'static dyn AgentCli],
) -> Vec<Result<FilePlan, CommandError>> {
    let mut plans = Vec::new();
    for (file, insertions) in files_of(cli, level) {
        if insertions.iter().all(|insertion| insertion.purpose == InsertionContent::Primer)
            && is_read_by_others(world, level, &file, leaving)
        {
            continue;
        }
        let disconnected = |plan: FilePlan| FilePlan { after: plan.original.clone(), ..plan };
        plans.push(plan(world, file, &insertions, level).map(disconnected));
    }
    // The file that was made first goes last: the others may be in its directory.
    plans.reverse();
    plans
}

/// Tells whether another CLI, which stays connected, reads this text too.
fn is_read_by_others(
    world: &World,
    level: Level<'_>,
    text: &TheirFile,
    leaving: &[&'static dyn AgentCli],
) -> bool {
    let is_leaving = |cli: &dyn AgentCli| leaving.iter().any(|leaving| leaving.kind() == cli.kind());
    consort_agents::ALL.iter().filter(|cli| !is_leaving(**cli)).any(|cli| {
        let config_dir = world.config_dir(*cli);
        let level = match level {
            Level::User(_) => Level::User(&config_dir),
            project => project,
        };
        TheirFile::at(level, &cli.primer(level).file) == *text && is_there(&cli.hooks(level), level)
    })
}

/// Returns a CLI's files that may have insertions of ours, with these.
fn files_of(cli: &dyn AgentCli, level: Level<'_>) -> Vec<(TheirFile, Vec<Insertion>)> {
    let mut files: Vec<(TheirFile, Vec<Insertion>)> = Vec::new();
    for insertion in cli.insertions(level, &env::get) {
        let its = TheirFile::at(level, &insertion.file);
        match files.iter_mut().find(|(file, _)| *file == its) {
            Some((_, insertions)) => insertions.push(insertion),
            None => files.push((its, vec![insertion])),
        }
    }
    files
}

fn plan(
    world: &World,
    file: TheirFile,
    insertions: &[Insertion],
    level: Level<'_>,
) -> Result<FilePlan, CommandError> {
    let (before, path) = (file.read()?, file.path());
    let record = world.paths.backups().join(record_name(&path));
    let written = fs::read_to_string(record.join(WRITTEN)).ok();
    let untouched = before.is_some() && written == before;
    let kept = fs::read_to_string(record.join(ORIGINAL)).ok();
    let original = match &before {
        None => None,
        // Nobody has touched the file since we wrote it: the text that we kept is the original.
        Some(_) if untouched && kept.is_some() => kept,
        Some(_) if untouched && record.join(NO_ORIGINAL).exists() => None,
        Some(before) if before.trim().is_empty() => Some(before.clone()),
        Some(before) => {
            let (ours, kept) = (hook_program(level), kept.filter(|_| written.is_some()));
            let is_new = written.is_none() && !has_more_than_rules(before, insertions, &ours);
            let ours_here = insertions.iter().filter(|insertion| !(is_new && may_be_theirs(insertion)));
            match without(before, ours_here, &ours, kept.as_deref()) {
                // A file that does not mention us has nothing of ours, whatever else is wrong with it.
                Err(_) if !before.contains("consort") && !before.contains(&ours) => Some(before.clone()),
                left => left.map_err(|error| malformed(&path, error))?,
            }
        }
    };
    Ok(FilePlan { file, path, after: before.clone(), before, original, record })
}

/// Tells whether the text of an insertion may as well have been written by the person.
fn may_be_theirs(insertion: &Insertion) -> bool {
    matches!(insertion.format, InsertionFormat::JsonList(_) | InsertionFormat::JsonPermissions)
}

/// Tells whether a file has anything that only we write. If it has not, and there is no record of it, rules
/// in it are the person's own.
fn has_more_than_rules(text: &str, insertions: &[Insertion], ours: &str) -> bool {
    let is_there = |insertion: &Insertion| {
        insertion.format.insertion_state(text, ours).is_ok_and(|found| found != InsertionState::Absent)
    };
    insertions.iter().any(|insertion| !may_be_theirs(insertion) && is_there(insertion))
}

/// Removes our insertions from a text; `None` if nothing is left of it.
fn without<'i>(
    text: &str,
    insertions: impl Iterator<Item = &'i Insertion>,
    ours: &str,
    before: Option<&str>,
) -> Result<Option<String>, SettingsError> {
    let mut left = Some(text.to_owned());
    for insertion in insertions {
        let Some(text) = left.as_deref().filter(|text| !text.trim().is_empty()) else { break };
        left = insertion.format.disconnect(text, ours, before)?;
    }
    Ok(left)
}

/// Returns a file name for the record of a path: readable and unique.
fn record_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}-{:016x}", text::stable_hash(path.as_os_str().as_encoded_bytes()))
}

/// A settings file that cannot be changed because it cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be changed", path = path.display())]
struct Malformed {
    path: PathBuf,
    source: SettingsError,
}

impl Explain for Malformed {
    fn kind(&self) -> ErrorKind {
        ErrorKind::User
    }

    fn hints(&self) -> Vec<String> {
        vec!["fix the file, then try again; it was left as it is".into()]
    }
}

fn malformed(path: &Path, source: SettingsError) -> CommandError {
    Malformed { path: path.to_owned(), source }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_over_what_changed_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let pending = TemporaryFiles::new(&dir.path().join("pending"));
        let plan = FilePlan {
            file: TheirFile::OfUser(path.clone()),
            path: path.clone(),
            before: Some("before".into()),
            after: Some("after".into()),
            original: Some("before".into()),
            record: dir.path().join("record"),
        };
        fs::write(&path, "before").unwrap();
        // The file changes when the new one is written and only has to be renamed.
        let late = plan.file.replace(b"after", &pending, || {
            fs::write(&path, "meanwhile").unwrap();
            plan.check()
        });
        assert!(late.is_err());
        assert!(!plan.is_current() && plan.check().is_err() && plan.carry_out(&pending).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "meanwhile");
        // Nothing is left of the attempts.
        let left = fs::read_dir(dir.path()).unwrap().flatten().filter(|entry| entry.file_name() != "pending");
        assert_eq!(left.count(), 1);
        fs::write(&path, "before").unwrap();
        plan.carry_out(&pending).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    }
}
