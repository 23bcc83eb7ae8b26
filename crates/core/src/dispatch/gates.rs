//! The gates that a run must pass before it starts: pure rules, in a fixed order. The first gate
//! that refuses says why and what helps.

use super::Accounts;
use super::BudgetReservation;
use super::Caps;
use super::EndedRun;
use super::GateRefusal;
use super::ModelTier;
use super::RunRecord;
use super::RunState;
use super::Safety;
use super::Usage;
use super::admit;
use super::estimate;
use super::not_before;
use crate::Timestamp;

/// The person or the agent that asks for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedBy {
    Person,
    Agent {
        /// Whether the agent's user is asked before it edits, as far as that is known.
        asks_first: bool,
    },
}

/// The person's limits on runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchLimits {
    /// The most runs that may be above a run.
    pub depth: u32,
    /// Highest safety level of a run that is requested by an agent which asks its user first.
    pub agents: Safety,
    pub caps: Caps,
}

/// The facts that the gates judge by.
pub struct GateFacts<'a> {
    pub now: Timestamp,
    pub asked_by: AskedBy,
    pub limits: &'a DispatchLimits,
    /// The run whose agent asks for the new one.
    pub parent: Option<&'a RunRecord>,
    /// The latest runs of the project, the newest first.
    pub latest: &'a [RunRecord],
    /// Money that is spent and reserved already.
    pub accounts: Accounts,
    /// A random number, which spreads runs that wait for the same provider.
    pub chance: u64,
}

/// The parts of a request for a run that the gates look at.
pub struct RequestedRun<'a> {
    pub task: &'a str,
    pub role: &'a str,
    pub cli: &'a str,
    pub model: Option<&'a str>,
    /// The tier that the model must have, and the tier of the model that is named, if it is known.
    pub tier: (ModelTier, Option<ModelTier>),
    pub safety: Safety,
}

/// The failures of a role in a row after which no more runs of it start for [`REST`].
const MOST_FAILURES: usize = 5;

/// Time for which a role rests after so many failures, in milliseconds.
const REST: i64 = 10 * Timestamp::MINUTE;

/// Returns the money to set aside for the run, or the refusal of the first gate that it fails.
pub(super) fn check(
    facts: &GateFacts<'_>,
    wish: &RequestedRun<'_>,
) -> Result<BudgetReservation, GateRefusal> {
    depth(facts)?;
    task(wish)?;
    tier(wish)?;
    safety(facts, wish)?;
    loops(facts, wish)?;
    let reservation = budget(facts, wish)?;
    provider(facts, wish)?;
    Ok(reservation)
}

/// Returns the depth of a run that the agent of `parent` asks for.
pub(super) fn depth_below(parent: Option<&RunRecord>) -> u32 {
    parent.map_or(0, |parent| parent.spec.depth + 1)
}

fn depth(facts: &GateFacts<'_>) -> Result<(), GateRefusal> {
    let (depth, most) = (depth_below(facts.parent), facts.limits.depth);
    if depth <= most {
        return Ok(());
    }
    Err(GateRefusal {
        gate: "depth",
        why: format!("{depth} runs would be above it, and {most} may be"),
        hint: "do it yourself, or say in your result what is left; your user can set `dispatch.depth`".into(),
    })
}

fn task(wish: &RequestedRun<'_>) -> Result<(), GateRefusal> {
    if !wish.task.trim().is_empty() {
        return Ok(());
    }
    Err(GateRefusal {
        gate: "task",
        why: "the task is empty".into(),
        hint: "say what is to be done: consort run 'explain how logging works'".into(),
    })
}

/// Refuses a model that is known to be below the tier that its role needs.
fn tier(wish: &RequestedRun<'_>) -> Result<(), GateRefusal> {
    let (needed, Some(known)) = wish.tier else { return Ok(()) };
    if known <= needed {
        return Ok(());
    }
    Err(GateRefusal {
        gate: "tier",
        why: format!(
            "role `{}` needs a model of tier `{}`, and {} is `{}`",
            wish.role,
            needed.as_str(),
            wish.model.unwrap_or("that of the CLI"),
            known.as_str()
        ),
        hint: "name another `--model`, or change `tier` of the role".into(),
    })
}

/// Refuses a safety level above the asker's own.
fn safety(facts: &GateFacts<'_>, wish: &RequestedRun<'_>) -> Result<(), GateRefusal> {
    let of_agent = match facts.asked_by {
        AskedBy::Person => Safety::FullAuto,
        AskedBy::Agent { asks_first: true } => facts.limits.agents,
        AskedBy::Agent { asks_first: false } => facts.limits.agents.max(Safety::AutoEdit),
    };
    let most = facts.parent.map_or(of_agent, |parent| parent.spec.safety);
    if wish.safety <= most {
        return Ok(());
    }
    let hint = match facts.parent {
        Some(_) => format!("ask for `{}` or less", most.as_str()),
        None => format!(
            "ask for `{}`, or tell your user about `consort config set dispatch.agents {}`",
            most.as_str(),
            wish.safety.as_str()
        ),
    };
    let why = format!("`{}` is more than you may give: `{}`", wish.safety.as_str(), most.as_str());
    Err(GateRefusal { gate: "safety", why, hint })
}

/// Refuses a run of a role whose last runs have failed again and again.
fn loops(facts: &GateFacts<'_>, wish: &RequestedRun<'_>) -> Result<(), GateRefusal> {
    let of_role = facts.latest.iter().filter(|run| run.spec.role == wish.role && run.state.has_ended());
    let failed: Vec<&RunRecord> = of_role.take_while(|run| run.state == RunState::Error).collect();
    let Some(last) = failed.first().and_then(|run| run.ended_at) else { return Ok(()) };
    let left = REST - facts.now.since(last);
    if failed.len() < MOST_FAILURES || left <= 0 {
        return Ok(());
    }
    Err(GateRefusal {
        gate: "loop",
        why: format!("the last {} runs of role `{}` have failed", failed.len(), wish.role),
        hint: format!(
            "`consort runs show {}` says why; it is free again in {} min",
            failed[0].number,
            left / Timestamp::MINUTE + 1
        ),
    })
}

/// Refuses a run if less money is left than it is expected to cost.
fn budget(facts: &GateFacts<'_>, wish: &RequestedRun<'_>) -> Result<BudgetReservation, GateRefusal> {
    let is_alike = |run: &&RunRecord| run.spec.role == wish.role && run.spec.cli == wish.cli;
    let past: Vec<Usage> = facts
        .latest
        .iter()
        .filter(is_alike)
        .filter_map(|run| run.end.as_ref())
        .map(|end| end.usage)
        .collect();
    Ok(admit(&facts.limits.caps, &facts.accounts, estimate(&past, None))?)
}

/// Refuses a run while its provider recovers from failures or from a limit.
fn provider(facts: &GateFacts<'_>, wish: &RequestedRun<'_>) -> Result<(), GateRefusal> {
    let ended = facts.latest.iter().filter(|run| run.spec.cli == wish.cli).filter_map(|run| {
        let (end, ended) = (run.end.as_ref()?, run.ended_at?);
        let failure = end.failure.as_ref();
        Some(EndedRun {
            began: run.started_at.unwrap_or(ended),
            ended,
            failure: failure.map(|failure| failure.kind),
            until: failure.and_then(|failure| failure.until),
        })
    });
    let failed = not_before(&ended.collect::<Vec<_>>(), facts.chance);
    // A parked run knows when the limit ends, and goes on first.
    let parked = facts.latest.iter().filter(|run| run.spec.cli == wish.cli);
    let parked = parked.filter_map(|run| run.parked_until).min();
    let Some(until) = failed.max(parked).filter(|until| *until > facts.now) else { return Ok(()) };
    let seconds = until.since(facts.now) / Timestamp::SECOND + 1;
    Err(GateRefusal {
        gate: "provider",
        why: format!("{} has failed or met a limit: not before {} (in {seconds} s)", wish.cli, until.utc()),
        hint: "wait, or use another `--cli`".into(),
    })
}
