//! The published lines of rules that refuse or ask, which hooks read instead of the database.

use std::path::Path;

use super::DecidedBy;
use super::PolicyError;
use super::Rule;
use super::RuleEffect;
use super::RuleRecord;
use super::read_rules;
use crate::side_files::SideFiles;
use crate::side_files::escaped;
use crate::side_files::unescaped;

/// Beginning of the published line of a rule.
pub const RULE: &str = "rule\t";

/// A rule, and its origin.
pub(crate) type NamedRule = (DecidedBy, Rule);

impl dyn SideFiles + '_ {
    /// Returns the rules that refuse or ask in a worktree; `None` if the published lines are not
    /// complete or of another state of the store. `worktree` is called only if it matters.
    pub(super) fn strict_rules(&self, worktree: &dyn Fn() -> std::path::PathBuf) -> Option<Vec<NamedRule>> {
        let lines = self.published(RULE, usize::MAX)?;
        // Lines may be too many, but never too few: without any, there is no such rule.
        if lines.is_empty() {
            return self.is_current().then(Vec::new);
        }
        let here = worktree();
        self.is_current().then(|| lines.iter().flat_map(|line| read_line(line, &here)).collect())
    }
}

/// Returns the published line of a rule; none for one that allows, which not every tool's hook
/// needs.
pub fn rule_line(record: &RuleRecord) -> Option<String> {
    let json = serde_json::to_string(record).ok().filter(|_| record.rule.effect != RuleEffect::Allow)?;
    Some(format!("{RULE}\t{}\n", escaped(&json)))
}

/// Returns the published line of a setting that brings rules, for a worktree or for all.
pub fn setting_line(worktree: &str, key: &str, value: &str) -> Option<String> {
    effect_of(key).map(|_| format!("{RULE}{}\t{key}\t{}\n", escaped(worktree), escaped(value)))
}

/// Returns the rules of a setting, each named by its own words.
pub(crate) fn of_setting(key: &str, value: &str) -> Result<Vec<NamedRule>, PolicyError> {
    let Some(effect) = effect_of(key) else { return Ok(Vec::new()) };
    let named = |rule: Rule| {
        let pattern = rule.pattern.as_ref().map_or_else(String::new, |pattern| format!("({pattern})"));
        (DecidedBy::Setting(format!("{key}: {}{pattern}", rule.tool)), rule)
    };
    Ok(read_rules(effect, value)?.into_iter().map(named).collect())
}

fn effect_of(key: &str) -> Option<RuleEffect> {
    match key {
        "policy.deny" => Some(RuleEffect::Deny),
        "policy.ask" => Some(RuleEffect::Ask),
        _ => None,
    }
}

fn read_line(line: &str, here: &Path) -> Vec<NamedRule> {
    let cells: Vec<&str> = line.split('\t').collect();
    match cells[..] {
        ["rule", "", json] => {
            let record = serde_json::from_str::<RuleRecord>(&unescaped(json)).ok();
            record.map(with_origin).into_iter().collect()
        }
        ["rule", scope, key, value] if scope.is_empty() || unescaped(scope) == here.to_string_lossy() => {
            of_setting(key, &unescaped(value)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns a rule of the person's with its id and number as its origin.
pub(super) fn with_origin(record: RuleRecord) -> NamedRule {
    (DecidedBy::Rule { id: record.id, number: record.number }, record.rule)
}
