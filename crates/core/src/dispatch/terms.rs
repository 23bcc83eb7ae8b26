//! Settles the terms of a run from its own options, its role and the person's settings: a pure
//! rule.

use super::Cost;
use super::Isolation;
use super::ModelTier;
use super::Role;
use super::Safety;

/// The options that are given for one run; an absent one is left to its role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    pub cli: Option<String>,
    pub model: Option<String>,
    pub safety: Option<Safety>,
    pub reasoning: Option<String>,
    pub has_worktree: bool,
    pub timeout_s: Option<u64>,
    pub budget: Option<Cost>,
}

/// The person's settings for runs; an absent one sets no bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunDefaults {
    pub cli: Option<String>,
    pub safety: Safety,
    pub timeout_s: Option<u64>,
    pub budget: Option<Cost>,
}

/// The terms that a run is done on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTerms {
    /// Absent: any CLI that is installed.
    pub cli: Option<String>,
    pub model: Option<String>,
    pub tier: ModelTier,
    pub safety: Safety,
    pub reasoning: Option<String>,
    pub has_worktree: bool,
    pub timeout_s: Option<u64>,
    pub budget: Option<Cost>,
}

/// Takes each term from the run's own options, else from its role, else from the settings. **No
/// option takes a protection away**: a read-only role stays read-only, and a role with a worktree
/// keeps it.
pub fn resolve_run_terms(words: &RunOptions, role: &Role, defaults: &RunDefaults) -> RunTerms {
    let of_role = role.safety_or(defaults.safety);
    let safety = words.safety.unwrap_or(of_role);
    RunTerms {
        cli: words.cli.clone().or_else(|| role.cli.clone()).or_else(|| defaults.cli.clone()),
        model: words.model.clone().or_else(|| role.model.clone()),
        tier: role.tier,
        safety: if role.read_only { safety.min(of_role) } else { safety },
        reasoning: words.reasoning.clone().or_else(|| role.reasoning.clone()),
        has_worktree: words.has_worktree || role.isolation == Isolation::Worktree,
        timeout_s: words.timeout_s.or(role.timeout_s).or(defaults.timeout_s),
        budget: words.budget.or(role.budget_usd).or(defaults.budget),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_own_words_count_then_its_role_then_the_settings() {
        let defaults = RunDefaults {
            cli: Some("claude".into()),
            safety: Safety::AutoEdit,
            timeout_s: Some(1),
            budget: Some(Cost(1)),
        };
        let nothing = resolve_run_terms(&RunOptions::default(), &Role::default(), &defaults);
        assert_eq!((nothing.cli.as_deref(), nothing.safety), (Some("claude"), Safety::AutoEdit));
        assert_eq!((nothing.timeout_s, nothing.budget, nothing.model), (Some(1), Some(Cost(1)), None));
        assert!(!nothing.has_worktree);

        let role = Role {
            cli: Some("codex".into()),
            model: Some("big".into()),
            safety: Some(Safety::FullAuto),
            reasoning: Some("low".into()),
            isolation: Isolation::Worktree,
            timeout_s: Some(2),
            budget_usd: Some(Cost(2)),
            ..Role::default()
        };
        let by_role = resolve_run_terms(&RunOptions::default(), &role, &defaults);
        assert_eq!((by_role.cli.as_deref(), by_role.model.as_deref()), (Some("codex"), Some("big")));
        assert_eq!((by_role.safety, by_role.reasoning.as_deref()), (Safety::FullAuto, Some("low")));
        assert_eq!((by_role.timeout_s, by_role.budget), (Some(2), Some(Cost(2))));
        assert!(by_role.has_worktree);

        let words = RunOptions {
            cli: Some("pi".into()),
            model: Some("small".into()),
            safety: Some(Safety::Suggest),
            reasoning: Some("high".into()),
            has_worktree: false,
            timeout_s: Some(3),
            budget: Some(Cost(3)),
        };
        let said = resolve_run_terms(&words, &role, &defaults);
        assert_eq!((said.cli.as_deref(), said.model.as_deref()), (Some("pi"), Some("small")));
        assert_eq!((said.safety, said.reasoning.as_deref()), (Safety::Suggest, Some("high")));
        assert_eq!((said.timeout_s, said.budget), (Some(3), Some(Cost(3))));
        assert!(said.has_worktree, "no word takes a worktree away");
    }

    #[test]
    fn no_word_makes_a_reader_write() {
        let reader = Role { read_only: true, safety: Some(Safety::FullAuto), ..Role::default() };
        for safety in [None, Some(Safety::Suggest), Some(Safety::FullAuto)] {
            let words = RunOptions { safety, ..RunOptions::default() };
            assert_eq!(resolve_run_terms(&words, &reader, &RunDefaults::default()).safety, Safety::Suggest);
        }
    }
}
