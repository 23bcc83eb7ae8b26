//! Renders the SQLite tables as the lines that hooks read instead, and finds which
//! lines a transaction changes.

use std::collections::BTreeSet;
use std::path::Path;

use consort_core::claims::ClaimChange;
use consort_core::claims::published::HOLD_LINE_PREFIX;
use consort_core::claims::published::REPOSITORY_LINE_PREFIX;
use consort_core::claims::published::hold_line;
use consort_core::claims::published::repository_line;
use consort_core::convergence::PredictionNote;
use consort_core::convergence::published as convergence_lines;
use consort_core::journal::Change;
use consort_core::policy::PolicyChange;
use consort_core::policy::published as policy_lines;
use consort_core::presence::PresenceChange;
use consort_core::side_files::unescaped;
use rusqlite::Connection;

use crate::claims;
use crate::config;
use crate::convergence;
use crate::facts;
use crate::facts::Keys;
use crate::policy;
use crate::presence;
use crate::side_files::published;

/// Most ended predictions that hooks know of, so that nobody hears of one again.
const MOST_ENDED: usize = 100;

/// Most bytes of added lines, all of which every hook reads.
const LONGEST_ADDED: u64 = 4 << 10;

/// The published lines that have to be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DueLines {
    pub(crate) all: bool,
    pub(crate) convergence: bool,
    repositories: bool,
    rules: bool,
    /// Whether announced lines are true now: they stay where they are.
    added: bool,
    /// Resources that were held or released, and their patterns.
    resources: BTreeSet<String>,
    patterns: BTreeSet<String>,
}

impl DueLines {
    pub(crate) fn all_if(all: bool) -> Self {
        Self { all, ..Self::default() }
    }

    /// Adds the lines that changes concern.
    pub(crate) fn add(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Claims(ClaimChange::Contested { .. }) => {}
                Change::Claims(ClaimChange::Held(hold)) if hold.generation == 0 => self.added = true,
                Change::Claims(change) => {
                    let resource = change.resource();
                    self.resources.insert(resource.to_string());
                    self.patterns.extend(resource.pattern().map(|pattern| pattern.as_str().to_owned()));
                }
                Change::Presence(PresenceChange::RepositorySeen { .. }) => self.repositories = true,
                Change::Convergence(_) => self.convergence = true,
                Change::Policy(PolicyChange::Added(_) | PolicyChange::Removed { .. }) => self.rules = true,
                _ => {}
            }
        }
    }
}

/// Adds the lines of new holds and repositories to the published file, before the commit.
pub(crate) fn announce(store: &Path, changes: &[Change]) -> std::io::Result<()> {
    let lines: String = changes
        .iter()
        .filter_map(|change| match change {
            Change::Claims(ClaimChange::Held(hold)) => hold_line(hold),
            Change::Presence(PresenceChange::RepositorySeen { repository, project, .. }) => {
                Some(repository_line(project.id.as_str(), &repository.to_string_lossy()))
            }
            _ => None,
        })
        .collect();
    if lines.is_empty() { Ok(()) } else { published::announce(store, &lines) }
}

/// Renders the lines as they are to be after the commit; `None` if none changes.
pub(crate) fn render(
    store: &Path,
    tx: &Connection,
    concerned: &DueLines,
) -> rusqlite::Result<Option<String>> {
    let is_only_added = *concerned == DueLines { added: concerned.added, ..DueLines::default() };
    if is_only_added && (!concerned.added || published::added_length(store) <= LONGEST_ADDED) {
        return Ok(None);
    }
    let DueLines { all, resources, patterns, .. } = concerned;
    let (with_convergence, with_repositories) =
        (*all || concerned.convergence, *all || concerned.repositories);
    let with_rules = *all || concerned.rules;
    let is_kept = |line: &str| match line {
        _ if line.starts_with(HOLD_LINE_PREFIX) => !line
            .rsplit_once('\t')
            .is_some_and(|(_, pattern)| patterns.contains(unescaped(pattern).trim_end_matches('\n'))),
        _ if line.starts_with(REPOSITORY_LINE_PREFIX) => !with_repositories,
        _ if line.starts_with(policy_lines::RULE) => !with_rules,
        _ => !with_convergence && convergence_lines::LINE_PREFIXES.iter().any(|tag| line.starts_with(tag)),
    };
    let mut text = String::new();
    if !all {
        let old = published::all_lines(store);
        old.split_inclusive('\n')
            .filter(|line| line.ends_with('\n') && is_kept(line))
            .for_each(|line| text += line);
    }
    let holds = if *all { claims::all(tx)? } else { claims::find_holds(tx, resources)? };
    holds.iter().filter_map(hold_line).for_each(|line| text += &line);
    if with_repositories {
        repositories(tx, &mut text)?;
    }
    if with_rules {
        rules(tx, &mut text)?;
    }
    if with_convergence {
        text += &convergence(tx)?;
    }
    Ok(Some(text))
}

fn repositories(connection: &Connection, text: &mut String) -> rusqlite::Result<()> {
    facts::each(connection, presence::REPOSITORY, Keys::All, |fact| {
        text.push_str(&repository_line(fact.owner()?, fact.key()?));
        Ok(())
    })
}

/// Renders the rules that refuse or ask: the person's, and those of settings.
fn rules(connection: &Connection, text: &mut String) -> rusqlite::Result<()> {
    policy::rules(connection)?.iter().filter_map(policy_lines::rule_line).for_each(|line| *text += &line);
    facts::each(connection, config::SETTING, Keys::BeginsWith("policy."), |fact| {
        text.extend(policy_lines::setting_line(fact.owner()?, fact.key()?, fact.value()?));
        Ok(())
    })
}

/// Renders the lines of the threshold, published settings, domains and predictions.
pub(crate) fn convergence(connection: &Connection) -> rusqlite::Result<String> {
    let mut text = convergence_lines::threshold_line(convergence::tally(connection)?.threshold);
    facts::each(connection, config::SETTING, Keys::All, |fact| {
        text += &convergence_lines::setting_line(fact.owner()?, fact.key()?, fact.value()?);
        Ok(())
    })?;
    for (topic, domain) in convergence::assigned(connection)? {
        text += &convergence_lines::domain_line(&topic, domain.as_deref());
    }
    for learned in convergence::learned(connection)? {
        text += &convergence_lines::learned_line(&learned);
    }
    let mut predictions = convergence::open_predictions(connection)?;
    predictions.extend(convergence::ended(connection, MOST_ENDED)?);
    let notes = predictions.iter().map(PredictionNote::from);
    Ok(notes.fold(text, |text, note| text + &convergence_lines::prediction_line(&note)))
}
