//! The command `consort policy add`: adds a rule of yours.

use consort_core::policy::NewRule;
use consort_core::policy::RuleEffect;
use consort_core::policy::check_pattern;
use serde_json::json;

use super::rule::RuleArgs;
use super::rule::lasts;
use super::rule::shown;
use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    rule: RuleArgs,
    /// For how long: `2h`, `30m`; without it until it is removed
    #[arg(long = "for", value_name = "TIME", value_parser = lasts)]
    lasts: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let rule = args.rule.rule(world, &mut opened)?;
    check_pattern(&rule.tool, rule.pattern.as_deref())?;
    let now = opened.app.host().now();
    let told = shown(&rule, &opened, now);
    let caller = match rule.effect {
        RuleEffect::Allow => {
            person::confirmed_caller(&mut opened.app, &format!("{told}, without asking you"))?
        }
        RuleEffect::Ask | RuleEffect::Deny => person::acting_caller(&mut opened.app)?,
    };
    let number = opened.app.add_rule(&caller, NewRule { rule, lasts: args.lasts })?;
    if args.json {
        return world.out.one(&mut opened.app, "rule", &json!({ "number": number }));
    }
    world.out.line(format!("Rule #{number}: {told}."))
}
