//! The command `consort task`: lists the tasks of a spec, takes one, completes it or
//! gives it back.

mod list;

use std::path::Path;
use std::path::PathBuf;

use consort_core::journal::Seq;
use consort_core::tasks::ChangedTask;
use consort_core::tasks::CompleteRequest;
use consort_core::tasks::TaskRequest;
use consort_core::text;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::person;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[group(skip)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the tasks of a spec, and who has them (also without `list`)
    List(list::Args),
    /// Claim the first task that is ready
    Next {
        /// Why: others read it
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Claim a task
    Claim {
        /// As the spec writes it
        id: String,
        /// Why: others read it
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Give a task back
    Drop {
        /// Without it, the one you have in hand
        id: Option<String>,
        #[command(flatten)]
        common: Common,
    },
    /// Say that a task is done
    Done {
        /// Without it, the one you have in hand
        id: Option<String>,
        /// The result
        #[arg(long)]
        notes: Option<String>,
        /// Only if it is still the claim with this number
        #[arg(long, value_name = "N")]
        generation: Option<Seq>,
        /// Complete it although another agent has it: for you, not for agents
        #[arg(long)]
        take_anyway: bool,
        #[command(flatten)]
        common: Common,
    },
}

impl Command {
    fn common(&self) -> Option<&Common> {
        match self {
            Self::List(_) => None,
            Self::Next { common, .. }
            | Self::Claim { common, .. }
            | Self::Drop { common, .. }
            | Self::Done { common, .. } => Some(common),
        }
    }
}

#[derive(clap::Args)]
struct Common {
    /// The spec; without it, the one you joined with or took a task from last
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    match &args.command {
        None => list::run(world, &args.list),
        Some(Command::List(args)) => list::run(world, args),
        Some(command) => {
            let spec = command.common().and_then(|common| common.spec.as_deref());
            change(world, command).map_err(|error| with_spec(error, spec))
        }
    }
}

/// Adds the spec that was named to the commands in hints: people type these as they are.
fn with_spec(error: CommandError, spec: Option<&Path>) -> CommandError {
    let Some(spec) = spec else { return error };
    let CommandError::Explained { error, kind, hints } = error else { return error };
    let spec = format!(" --spec {}`", text::shell_quoted(&spec.display().to_string()));
    let named = |hint: &String| {
        let mut parts = hint.split("`consort task ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| format!("{text}`consort task {}", part.replacen('`', &spec, 1)))
    };
    let hints = hints.iter().map(named).collect();
    CommandError::Explained { error, kind, hints }
}

fn change(world: &World, command: &Command) -> CommandResult {
    let mut opened = world.open()?;
    let (common, verb, outcome) = match command {
        Command::List(_) => return Ok(()),
        Command::Next { reason, common } => {
            let request = request(world, &mut opened, common.spec.as_ref(), None, reason.as_ref())?;
            let request = TaskRequest { is_for_new: true, ..request };
            (common, "Claimed", opened.app.claim_task(&request)?)
        }
        Command::Claim { id, reason, common } => {
            let request = request(world, &mut opened, common.spec.as_ref(), Some(id), reason.as_ref())?;
            (common, "Claimed", opened.app.claim_task(&request)?)
        }
        Command::Drop { id, common } => {
            let request = request(world, &mut opened, common.spec.as_ref(), id.as_ref(), None)?;
            (common, "Gave back", opened.app.unclaim_task(&request)?)
        }
        Command::Done { id, notes, generation, take_anyway, common } => {
            let task = request(world, &mut opened, common.spec.as_ref(), id.as_ref(), notes.as_ref())?;
            let task = match take_anyway {
                true => {
                    let caller =
                        person::confirmed_caller(&mut opened.app, "complete a task that another may have")?;
                    TaskRequest { caller, ..task }
                }
                false => task,
            };
            let request = CompleteRequest { task, generation: *generation, take_anyway: *take_anyway };
            (common, "Completed", opened.app.complete_task(&request)?)
        }
    };
    if common.json {
        return world.out.one(&mut opened.app, "task", &outcome);
    }
    let ChangedTask { key, title, generation } = outcome;
    let title = title.map_or_else(String::new, |title| format!(": {title}"));
    world.out.line(format!("{verb} {}{title} (claim #{generation}).", key.id))
}

fn request(
    world: &World,
    opened: &mut OpenWorld,
    spec: Option<&PathBuf>,
    id: Option<&String>,
    words: Option<&String>,
) -> Result<TaskRequest, CommandError> {
    Ok(TaskRequest {
        caller: person::acting_caller(&mut opened.app)?,
        cwd: world.cwd.clone(),
        spec: spec.cloned(),
        id: id.cloned(),
        words: words.cloned(),
        is_for_new: false,
    })
}
