//! Policy verbs by which the person adds, lists and removes rules.

use crate::App;
use crate::Timestamp;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Number;
use crate::policy::PolicyChange;
use crate::policy::PolicyError;
use crate::policy::Rule;
use crate::policy::RuleEffect;
use crate::policy::RuleRecord;
use crate::policy::check_pattern;
use crate::presence;
use crate::presence::CallerFacts;

/// A rule that is to be added.
#[derive(Clone, Debug)]
pub struct NewRule {
    pub rule: Rule,
    /// Milliseconds for which the rule holds; for ever if there are none.
    pub lasts: Option<i64>,
}

impl App {
    /// Adds a rule. Only the person can, and a rule that allows has to be confirmed.
    pub fn add_rule(&mut self, caller: &CallerFacts, wanted: NewRule) -> Result<Number, PolicyError> {
        let mut rule = wanted.rule;
        check_pattern(&rule.tool, rule.pattern.as_deref())?;
        let now = self.host.now();
        rule.until = wanted.lasts.map(|lasts| now.minus(-lasts));
        let files = self.engine.side_files();
        let tx = self.engine.write()?;
        let who = presence::who_calls(&*self.host, &*files, &*tx, caller)?;
        match rule.effect {
            RuleEffect::Allow => presence::require_confirmed(&who, caller)?,
            RuleEffect::Ask | RuleEffect::Deny => presence::require_person(&who)?,
        }
        let project = rule.project.clone();
        let changes = vec![Change::Policy(PolicyChange::Added(rule))];
        let recorded = Self::conclude(&*self.host, tx, now, project, Actor::Person, changes)?;
        Ok(recorded.and_then(|recorded| recorded.numbers.first().copied().flatten()).unwrap_or_default())
    }

    /// Removes a rule. The removal of one that refuses or asks has to be confirmed, unless it has
    /// ended.
    pub fn remove_rule(&mut self, caller: &CallerFacts, number: Number) -> Result<Rule, PolicyError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.write()?;
        let who = presence::who_calls(&*self.host, &*files, &*tx, caller)?;
        presence::require_person(&who)?;
        let record = tx.rules()?.into_iter().find(|record| record.number == number);
        let RuleRecord { id, rule, .. } = record.ok_or(PolicyError::NoSuchRule { number })?;
        let has_ended = rule.until.is_some_and(|until| until <= now);
        if rule.effect != RuleEffect::Allow && !has_ended {
            presence::require_confirmed(&who, caller)?;
        }
        let changes = vec![Change::Policy(PolicyChange::Removed { rule: id, number })];
        Self::conclude(&*self.host, tx, now, rule.project.clone(), Actor::Person, changes)?;
        Ok(rule)
    }

    /// Returns all rules, those too that have ended within the last day.
    pub fn rules(&mut self) -> Result<Vec<RuleRecord>, PolicyError> {
        let yesterday = self.host.now().minus(Timestamp::DAY);
        let mut rules = self.engine.read()?.rules()?;
        rules.retain(|record| record.rule.until.is_none_or(|until| until > yesterday));
        Ok(rules)
    }
}
