//! The command `consort policy list`: lists your rules, and what each has decided lately.

use consort_core::Timestamp;
use consort_core::policy::DecidedBy;
use consort_core::policy::ReplayedAsk;
use consort_core::policy::RuleRecord;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::rule::shown;
use crate::error::CommandResult;
use crate::world::World;

/// Age up to which decisions are counted.
const LATELY: i64 = 7 * Timestamp::DAY;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let now = opened.app.host().now();
    let rules = opened.app.rules()?;
    let tried = opened.app.try_rules(&[], now.minus(LATELY), &consort_hook::kept_request)?;
    if args.json {
        let items: Vec<Value> = rules.iter().map(|record| item(record, &tried)).collect();
        return world.out.items(&mut opened.app, &items);
    }
    if rules.is_empty() {
        return world.out.line("You have no rules. consort policy add allow Bash 'cargo test*'");
    }
    for record in &rules {
        let used = match uses(record, &tried) {
            (0, _) => "not used this week".to_owned(),
            (count, last) => format!(
                "decided {} this week, last {}",
                text::counted_noun(count, "time"),
                text::ago(now.since(last.unwrap_or(now)))
            ),
        };
        let told = shown(&record.rule, &opened, now);
        world.out.line(format!("{:>3}  {told}  ({used})", record.number))?;
    }
    Ok(())
}

/// Returns how often a rule has decided, and when last.
fn uses(record: &RuleRecord, tried: &[ReplayedAsk]) -> (usize, Option<Timestamp>) {
    let is_its = |tried: &&ReplayedAsk| matches!(&tried.answer, Some((_, DecidedBy::Rule { id, .. })) if *id == record.id);
    let uses: Vec<Timestamp> = tried.iter().filter(is_its).map(|tried| tried.at).collect();
    (uses.len(), uses.last().copied())
}

fn item(record: &RuleRecord, tried: &[ReplayedAsk]) -> Value {
    let (used, last) = uses(record, tried);
    let rule = &record.rule;
    json!({
        "number": record.number,
        "effect": rule.effect.as_str(),
        "tool": rule.tool,
        "pattern": rule.pattern,
        "project": rule.project.as_ref().map(|project| project.as_str()),
        "until_at": rule.until.map(Timestamp::rfc3339),
        "added_at": record.added_at.rfc3339(),
        "used": used,
        "used_at": last.map(Timestamp::rfc3339),
    })
}
