//! Policy verb that tries rules on past questions, and returns what they would have decided.

use std::collections::BTreeMap;

use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::TailRequest;
use crate::policy::Ask;
use crate::policy::AskAnswer;
use crate::policy::DecidedBy;
use crate::policy::PermissionRequest;
use crate::policy::PolicyChange;
use crate::policy::Rule;
use crate::policy::RuleEffect;
use crate::policy::decide;
use crate::project::ProjectId;

/// A past question, its answer, and what the rules would have decided.
#[derive(Clone, Debug)]
pub struct ReplayedAsk {
    pub at: Timestamp,
    pub ask: Ask,
    pub answer: Option<(AskAnswer, DecidedBy)>,
    pub would: Option<RuleEffect>,
}

impl App {
    /// Tries rules on all questions that were asked since a time, oldest first.
    pub fn try_rules(
        &mut self,
        rules: &[Rule],
        since: Timestamp,
        request: &dyn Fn(&Ask) -> PermissionRequest,
    ) -> Result<Vec<ReplayedAsk>, StoreError> {
        let entries = self.journal_tail(&TailRequest {
            since: Some(since),
            limit: usize::MAX,
            ..TailRequest::default()
        })?;
        let mut tried: BTreeMap<ChangeId, (Option<ProjectId>, ReplayedAsk)> = BTreeMap::new();
        for entry in entries {
            for (place, kept) in (0..).zip(entry.changes) {
                match kept.change {
                    Change::Policy(PolicyChange::Asked(ask)) => {
                        let one = ReplayedAsk { at: entry.at, ask: *ask, answer: None, would: None };
                        let id = ChangeId { entry: entry.id, place };
                        tried.insert(id, (entry.project.clone(), one));
                    }
                    Change::Policy(PolicyChange::Answered { ask, answer, by }) => {
                        if let Some((_, tried)) = tried.get_mut(&ask) {
                            tried.answer = Some((answer, by));
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut all: Vec<ReplayedAsk> = tried
            .into_values()
            .map(|(project, mut tried)| {
                let holds = |rule: &&Rule| rule.holds(project.as_ref(), tried.at);
                let rules: Vec<((), Rule)> =
                    rules.iter().filter(holds).map(|rule| ((), rule.clone())).collect();
                tried.would = decide(&rules, &request(&tried.ask)).map(|verdict| verdict.effect);
                tried
            })
            .collect();
        all.sort_by_key(|tried| tried.at);
        Ok(all)
    }
}
