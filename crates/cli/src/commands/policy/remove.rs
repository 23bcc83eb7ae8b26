//! The command `consort policy remove`: removes a rule of yours.

use consort_core::policy::PolicyError;
use consort_core::policy::RuleEffect;

use super::rule::shown;
use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Its number in `consort policy list`
    #[arg(value_parser = crate::args::number)]
    number: i64,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let now = opened.app.host().now();
    let number = args.number;
    let record = opened.app.rules()?.into_iter().find(|record| record.number == number);
    let record = record.ok_or(PolicyError::NoSuchRule { number })?;
    let told = shown(&record.rule, &opened, now);
    let caller = match record.rule.effect {
        RuleEffect::Allow => person::acting_caller(&mut opened.app)?,
        RuleEffect::Ask | RuleEffect::Deny => {
            person::confirmed_caller(&mut opened.app, &format!("remove the rule: {told}"))?
        }
    };
    opened.app.remove_rule(&caller, number)?;
    world.out.line(format!("Removed rule #{number}: {told}."))
}
