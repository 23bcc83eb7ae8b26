//! Policy verbs for hooks: they decide by the rules on what an agent is about to do, or asks to do.

use std::path::Path;

use super::answer::close_lost;
use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::policy::Action;
use crate::policy::Ask;
use crate::policy::AskAnswer;
use crate::policy::AskKind;
use crate::policy::DecidedBy;
use crate::policy::PermissionRequest;
use crate::policy::PolicyChange;
use crate::policy::PolicyVerdict;
use crate::policy::RuleEffect;
use crate::policy::decide;
use crate::policy::published::NamedRule;
use crate::policy::published::of_setting;
use crate::policy::published::with_origin;
use crate::policy::wording;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// A question of an agent, and the call of a tool that it is about.
#[derive(Clone, Debug)]
pub struct AskRequest<'a> {
    pub ask: Ask,
    pub request: PermissionRequest,
    pub cwd: &'a Path,
    /// Whether the question is kept although no rule decides: a person is asked for sure.
    pub is_asked: bool,
}

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskOutcome {
    /// A rule has decided.
    Answered(AskAnswer),
    /// The person has to answer; with the question's id if it is kept.
    Open(Option<ChangeId>),
}

impl App {
    /// Decides by the rules on a question of an agent, or keeps it for the person.
    pub fn ask(&mut self, asked: AskRequest<'_>) -> Result<AskOutcome, StoreError> {
        let AskRequest { ask, mut request, cwd, is_asked } = asked;
        let now = self.host.now();
        let place = self.host.place(cwd);
        let home = self.engine.read()?.agent(&ask.session)?.map(|(agent, _)| agent.location);
        let is_home = home.as_ref().is_none_or(|home| {
            home.worktree == place.worktree || self.host.place(&home.worktree).repository == place.repository
        });
        if let Action::Commands(commands) = &mut request.action {
            commands.is_moved |= home.is_some_and(|home| cwd != home.cwd && cwd != home.worktree);
        }
        let tx = self.engine.write()?;
        let project = project_of(&*tx, &ask.session)?;
        let mut rules = rules(&*tx, &place.worktree, project.as_ref(), now)?;
        // A project's rule allows nothing to an agent that works outside of the project.
        rules.retain(|(_, rule)| is_home || rule.project.is_none() || rule.effect != RuleEffect::Allow);
        // Rules do not answer a question or a plan, which are for a person to read.
        let verdict = decide(&rules, &request).filter(|_| ask.kind == AskKind::Permission);
        let answer = verdict.as_ref().and_then(|verdict| Some((answer(verdict)?, verdict.name.clone())));
        if answer.is_none() && !is_asked {
            return Ok(AskOutcome::Open(None));
        }
        let (mut entry, id) = Self::entry(&*self.host, project, ask, answer.clone());
        entry.changes.extend(close_lost(&*self.host, tx.asks()?));
        Self::conclude_with(&*self.host, tx, &entry)?;
        Ok(match answer {
            Some((answer, _)) => AskOutcome::Answered(answer),
            None => AskOutcome::Open(Some(id)),
        })
    }

    /// Returns the effect of a rule that refuses or asks about what an agent is about to do, with a
    /// text for the agent. The published rules sift out nearly all requests; a refusal is recorded
    /// like any other decision.
    pub fn apply_strict_rules(
        &mut self,
        session: &SessionId,
        cwd: &Path,
        request: &dyn Fn(&dyn Host) -> (PermissionRequest, Ask),
    ) -> Option<(RuleEffect, String)> {
        let files = self.engine.side_files();
        let host = std::rc::Rc::clone(&self.host);
        let worktree = || host.place(cwd).worktree;
        let now = self.host.now();
        let strict = match files.strict_rules(&worktree) {
            Some(strict) if strict.is_empty() => return None,
            Some(strict) if strict.iter().all(|(_, rule)| rule.project.is_none()) => {
                strict.into_iter().filter(|(_, rule)| rule.holds(None, now)).collect()
            }
            _ => {
                let tx = self.engine.read().ok()?;
                let project = project_of(&*tx, session).ok()?;
                rules(&*tx, &worktree(), project.as_ref(), now).ok()?
            }
        };
        let strict: Vec<NamedRule> =
            strict.into_iter().filter(|(_, rule)| rule.effect != RuleEffect::Allow).collect();
        if strict.is_empty() {
            return None;
        }
        let (request, ask) = request(&*self.host);
        let verdict = decide(&strict, &request)?;
        if verdict.effect != RuleEffect::Deny {
            return Some((verdict.effect, wording::asked(verdict.rule, verdict.name)));
        }
        let reason = wording::refused(verdict.rule, verdict.name);
        // A refusal counts even if it cannot be recorded.
        let _ = self.keep_refusal(ask, verdict.name.clone(), &reason);
        Some((RuleEffect::Deny, reason))
    }

    fn keep_refusal(&mut self, ask: Ask, by: DecidedBy, reason: &str) -> Result<(), StoreError> {
        let tx = self.engine.write()?;
        let project = project_of(&*tx, &ask.session)?;
        let answer = Some((AskAnswer::Deny(reason.to_owned()), by));
        let (entry, _) = Self::entry(&*self.host, project, ask, answer);
        Self::conclude_with(&*self.host, tx, &entry).map(drop)
    }

    /// Builds the entry of a question, with its answer if it has one.
    fn entry(
        host: &dyn Host,
        project: Option<ProjectId>,
        mut ask: Ask,
        answer: Option<(AskAnswer, DecidedBy)>,
    ) -> (NewEntry, ChangeId) {
        let at = host.now();
        let actor = Actor::Agent(ask.session.clone());
        let mut entry =
            NewEntry { id: EntryId::new(at, host.random()), at, project, actor, changes: Vec::new() };
        let id = entry.change_id(0);
        if answer.is_some() {
            ask.holder = None;
        }
        entry.changes.push(Change::Policy(PolicyChange::Asked(Box::new(ask))));
        entry.changes.extend(
            answer.map(|(answer, by)| Change::Policy(PolicyChange::Answered { ask: id, answer, by })),
        );
        (entry, id)
    }
}

/// Returns the answer that a verdict gives at once.
fn answer(verdict: &PolicyVerdict<'_, DecidedBy>) -> Option<AskAnswer> {
    match verdict.effect {
        RuleEffect::Allow => Some(AskAnswer::Allow),
        RuleEffect::Deny => Some(AskAnswer::Deny(wording::refused(verdict.rule, verdict.name))),
        RuleEffect::Ask => None,
    }
}

fn project_of(tx: &dyn Tx, session: &SessionId) -> Result<Option<ProjectId>, StoreError> {
    Ok(tx.agent(session)?.map(|(agent, _)| agent.project.id))
}

/// Returns all rules that hold now: the person's, and those of the settings that count in the
/// worktree.
fn rules(
    tx: &dyn Tx,
    worktree: &Path,
    project: Option<&ProjectId>,
    now: crate::Timestamp,
) -> Result<Vec<NamedRule>, StoreError> {
    let settings = tx.published(Some(worktree))?;
    let brought = settings.iter().flat_map(|(key, value)| of_setting(key, value).unwrap_or_default());
    let own = tx.rules()?.into_iter().map(with_origin);
    Ok(own.chain(brought).filter(|(_, rule)| rule.holds(project, now)).collect())
}
