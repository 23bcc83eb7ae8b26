//! The command `consort policy test`: shows what a rule, or all of them, would have decided about the latest
//! questions of agents.

use consort_core::Timestamp;
use consort_core::policy::AskAnswer;
use consort_core::policy::DecidedBy;
use consort_core::policy::ReplayedAsk;
use consort_core::policy::Rule;
use consort_core::policy::RuleEffect;
use consort_core::policy::check_pattern;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::rule::RuleArgs;
use crate::error::CommandResult;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A rule to try; without one, all that you have
    #[arg(value_parser = ["allow", "deny", "ask"], requires = "tool")]
    effect: Option<String>,
    /// As in `consort policy add`
    tool: Option<String>,
    /// As in `consort policy add`
    pattern: Option<String>,
    /// Only in `project`, which is the one here, or in that of a directory
    #[arg(long = "in", value_name = "PLACE", requires = "tool")]
    place: Option<String>,
    /// Since when: `2h`, `3d`
    #[arg(long, value_name = "TIME", default_value = "1d")]
    since: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let now = opened.app.host().now();
    let since = time::parse_since(&args.since, now)?;
    let rules: Vec<Rule> = match args.effect.clone().zip(args.tool.clone()) {
        Some((effect, tool)) => {
            let wanted = RuleArgs { effect, tool, pattern: args.pattern.clone(), place: args.place.clone() };
            let rule = wanted.rule(world, &mut opened)?;
            check_pattern(&rule.tool, rule.pattern.as_deref())?;
            vec![rule]
        }
        None => opened.app.rules()?.into_iter().map(|record| record.rule).collect(),
    };
    let tried = opened.app.try_rules(&rules, since, &consort_hook::kept_request)?;
    let mut items = Vec::new();
    for one in &tried {
        let agent = opened.app.name_of(&one.ask.session)?;
        items.push((one, agent.map_or_else(|| one.ask.session.to_string(), |name| name.to_string())));
    }
    if args.json {
        let items: Vec<Value> = items.iter().map(|(tried, agent)| item(tried, agent)).collect();
        return world.out.items(&mut opened.app, &items);
    }
    if tried.is_empty() {
        return world.out.line("Nothing was asked in that time.");
    }
    for (tried, agent) in &items {
        world.out.line(line(tried, agent))?;
    }
    let counted = |effect| tried.iter().filter(|tried| tried.would == effect).count();
    world.out.line(format!(
        "Of {}: {} allowed, {} refused, {} left to you.",
        text::counted_noun(tried.len(), "question"),
        counted(Some(RuleEffect::Allow)),
        counted(Some(RuleEffect::Deny)),
        counted(None) + counted(Some(RuleEffect::Ask)),
    ))
}

/// Formats a question: `allow  14:03  Falcon  Bash cargo test  (you allowed it)`.
fn line(tried: &ReplayedAsk, agent: &str) -> String {
    let would = tried.would.map_or("-", RuleEffect::as_str);
    let what = text::one_line(&format!("{} {}", tried.ask.tool, tried.ask.text), 90);
    let was = was(tried).unwrap_or("answered in its terminal");
    format!("{would:<5}  {}  {agent}  {what}  ({was})", time::local(tried.at))
}

/// Returns how a question was answered, if the answer went through us.
fn was(tried: &ReplayedAsk) -> Option<&'static str> {
    let (answer, by) = tried.answer.as_ref()?;
    let is_refused = matches!(answer, AskAnswer::Deny(_));
    Some(match (by, is_refused) {
        (DecidedBy::Person, false) => "you allowed it",
        (DecidedBy::Person, true) => "you refused it",
        (DecidedBy::Opener, _) => "its opener answered",
        (DecidedBy::Rule { .. } | DecidedBy::Setting(_), false) => "allowed by a rule",
        (DecidedBy::Rule { .. } | DecidedBy::Setting(_), true) => "refused by a rule",
    })
}

fn item(tried: &ReplayedAsk, agent: &str) -> Value {
    json!({
        "asked_at": Timestamp::rfc3339(tried.at),
        "agent": agent,
        "tool": tried.ask.tool,
        "text": tried.ask.text,
        "would": tried.would.map(RuleEffect::as_str),
        "was": was(tried),
    })
}
