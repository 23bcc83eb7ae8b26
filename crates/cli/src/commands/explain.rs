//! The command `consort explain`: tells who holds a path, or which writes of a shell command would be
//! refused.

use std::path::Path;

use consort_agents::Level;
use consort_core::App;
use consort_core::claims::CommandView;
use consort_core::claims::PathExplanation;
use consort_core::claims::Strength;
use consort_core::claims::judgement;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::text;
use consort_hook::command_files;
use consort_host::env;

use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::hook;
use crate::render::holds::describe;
use crate::render::holds::left;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file, a directory or a glob; or `--` and a shell command
    #[arg(required_unless_present = "command")]
    path: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// A shell command: what of it would be refused; it is not run
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    if !args.command.is_empty() {
        return command(world, &args.command.join(" "), args.json);
    }
    let path = args.path.as_deref().unwrap_or_default();
    // People type `explain prediction` for `radar show`.
    if path == "prediction" && std::fs::symlink_metadata(world.cwd.join(path)).is_err() {
        return Err(CommandError::user(
            "which prediction?",
            "`consort radar` lists them, `consort radar show <n>` explains one",
        ));
    }
    if path.contains(char::is_whitespace) && std::fs::symlink_metadata(world.cwd.join(path)).is_err() {
        return Err(CommandError::user(
            format!("there is no {}", text::quoted(path, 80)),
            "for a command: `consort explain -- '<command>'`",
        ));
    }
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let outcome = opened.app.explain_path(&caller, &world.cwd, path)?;
    if args.json {
        return world.out.one(&mut opened.app, "path", &outcome);
    }
    for line in lines(&outcome) {
        world.out.line(line)?;
    }
    Ok(())
}

/// Prints the judgement of a shell command, without running it.
fn command(world: &World, command: &str, json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let judged = judge(&mut opened.app, &caller, &world.paths.home, &world.cwd, command)?;
    if json {
        return world.out.one(&mut opened.app, "command", &judged);
    }
    judgement(&judged).into_iter().try_for_each(|line| world.out.line(line))
}

/// Judges a shell command as if it were run in `cwd`.
pub(crate) fn judge(
    app: &mut App,
    caller: &CallerFacts,
    home: &Path,
    cwd: &Path,
    command: &str,
) -> Result<CommandView, StoreError> {
    let files = command_files(app.host(), cwd, command, hook::surroundings(None));
    let mut judged = app.explain_writes(caller, &files.writes, files.is_certain)?;
    let may_be = judged.verdict == "unknown" && files.may_write_anything();
    if may_be
        && is_shielded(app, caller, home)?
        && !app.preview_shield(caller, cwd, &env::get)?.paths.is_empty()
    {
        judged.verdict = "shielded";
    }
    Ok(judged)
}

/// Tells whether the caller's commands run behind the shield; for a caller that is no agent, whether any
/// CLI's do.
fn is_shielded(app: &mut App, caller: &CallerFacts, home: &Path) -> Result<bool, StoreError> {
    let kind = match app.caller(caller)? {
        Caller::Agent(agent) => Some(agent.kind),
        Caller::Person | Caller::Anonymous(_) => None,
    };
    let mut meant =
        consort_agents::ALL.iter().filter(|cli| kind.as_ref().is_none_or(|kind| cli.kind() == kind));
    let is_connected =
        meant.any(|cli| connect::is_shielded(*cli, Level::User(&cli.config_dir(home, &env::get))));
    Ok(is_connected && consort_host::shield::is_available().is_ok())
}

fn lines(outcome: &PathExplanation) -> Vec<String> {
    let path = text::foreign(&outcome.path, 200);
    let path = if outcome.path.is_empty() { "this worktree".to_owned() } else { path };
    let mut lines = Vec::new();
    if outcome.holds.is_empty() {
        lines.push(format!("Nobody holds {path}."));
    }
    for seen in &outcome.holds {
        let verb = match seen.hold.strength {
            Strength::Blocking => "Reserved",
            _ => "Advisory",
        };
        lines.push(format!("{verb}: {}", describe(seen, outcome.project.as_ref(), outcome.at)));
    }
    for seen in &outcome.touched {
        let who = if seen.yours { "You" } else { seen.name.as_str() };
        lines.push(format!("{who} edited it {}.", text::ago(outcome.at.since(seen.last_write.at))));
    }
    if let Some(until) = outcome.overridden_until.filter(|_| !outcome.reserved) {
        let left = left(until, outcome.at);
        lines
            .push(format!("The person overrode this reservation: everyone may write it for another {left}."));
    }
    let other = outcome.holds.iter().find(|seen| !seen.yours);
    lines.push(match other {
        None => "You may write it.".into(),
        Some(_) if outcome.enforcement != "block" => {
            format!(
                "You may write it: enforcement is `{}` here. Message its holder first.",
                outcome.enforcement
            )
        }
        Some(_) if outcome.writable && outcome.reserved => {
            "You may write it: a reservation stops agents, not you.".into()
        }
        Some(_) if outcome.reserved_elsewhere => {
            "You may write it here: it is reserved in another worktree, \
             and `claims.worktrees` does not forbid it."
                .into()
        }
        Some(_) if outcome.writable => "You may write it.".into(),
        Some(seen) => {
            let ask = match seen.hold.holder {
                Actor::Agent(_) => seen.name.as_str(),
                _ => "@me",
            };
            format!(
                "You may not write it. Ask: consort send {ask} '…'; wait: consort wait {path}; need it: \
                 consort holds contest {path}.",
                path = text::shell_quoted(&outcome.path)
            )
        }
    });
    lines
}
