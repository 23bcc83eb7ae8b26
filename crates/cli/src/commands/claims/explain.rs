//! `consort explain`

use consort_core::claims::PathOutcome;
use consort_core::claims::Strength;
use consort_core::journal::Actor;
use consort_core::journal::Number;
use consort_core::text;

use super::describe;
use super::left;
use crate::commands::convergence::prediction;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file, a directory or a glob; or `prediction` and its number
    path: String,
    #[arg(hide = true, value_parser = number)]
    number: Option<Number>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A prediction's number, with or without its `#`.
fn number(text: &str) -> Result<Number, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits.parse().map_err(|_| "expected a number, as in `4` or `#4`".into())
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    match (args.path.as_str(), args.number) {
        ("prediction", Some(number)) => return prediction::explain(world, number, args.json),
        (_, Some(_)) => {
            return Err(CommandError::user(
                "one path at a time",
                "`consort explain prediction <number>` has two",
            ));
        }
        (_, None) => {}
    }
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let outcome = opened.app.explain_path(&caller, &world.cwd, &args.path)?;
    if args.json {
        return world.out.json(&outcome);
    }
    for line in lines(&outcome) {
        world.out.line(line)?;
    }
    Ok(())
}

fn lines(outcome: &PathOutcome) -> Vec<String> {
    let path = text::foreign(&outcome.path, 200);
    let path = if outcome.path.is_empty() { "this worktree".to_owned() } else { path };
    let mut lines = Vec::new();
    if outcome.holds.is_empty() {
        lines.push(format!("Nobody holds {path}."));
    }
    for seen in &outcome.holds {
        let verb = match seen.hold.strength {
            Strength::Blocking => "Reserved",
            _ => "Claimed",
        };
        lines.push(format!("{verb}: {}", describe(seen, outcome.at)));
    }
    for seen in &outcome.touched {
        let who = if seen.yours { "You" } else { seen.name.as_str() };
        lines.push(format!("{who} edited it {}.", text::ago(outcome.at.since(seen.touch.at))));
    }
    if let Some(until) = outcome.overridden_until.filter(|_| !outcome.reserved) {
        let left = left(until, outcome.at);
        lines.push(format!("By the person's word everyone may write it for another {left}."));
    }
    let other = outcome.holds.iter().find(|seen| !seen.yours);
    lines.push(match other {
        None => "You may write it.".into(),
        Some(_) if outcome.enforcement != "block" => {
            format!(
                "You may write it: enforcement is `{}` here. Talk to whoever holds it first.",
                outcome.enforcement
            )
        }
        Some(_) if outcome.writable => "You may write it.".into(),
        Some(seen) => {
            let ask = match seen.hold.holder {
                Actor::Agent(_) => seen.name.as_str(),
                _ => "@me",
            };
            format!(
                "You may not write it. Ask: consort send {ask} \"…\"; wait: consort wait {path}; need it: \
                 consort contest {path}.",
                path = text::shell_quoted(&outcome.path)
            )
        }
    });
    lines
}
