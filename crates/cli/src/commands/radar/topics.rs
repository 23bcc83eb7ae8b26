//! The command `consort radar topics`: lists and changes which topics belong together.

use consort_core::convergence::DomainSource;
use consort_core::journal::Actor;
use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Put topics into a domain
    Set {
        domain: String,
        #[arg(required = true)]
        topics: Vec<String>,
    },
    /// Put topics into no domain, whatever is configured or learned
    Forget {
        #[arg(required = true)]
        topics: Vec<String>,
    },
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let (topics, domain) = match &args.command {
        None => return list(world, &mut opened, args.json),
        Some(Command::Set { domain, topics }) => (topics, Some(domain.as_str())),
        Some(Command::Forget { topics }) => (topics, None),
    };
    // Agents may run `radar` without asking, so changes to everyone's warnings are the person's alone.
    let caller = person::acting_caller(&mut opened.app)?;
    opened.app.require_person(&caller)?;
    opened.app.assign_domain(topics, domain, Actor::Person)?;
    let topics = text::first_few(topics.iter().cloned(), 8);
    world.out.line(match domain {
        Some(domain) => format!("In {domain} from now on: {topics}."),
        None => format!("In no domain from now on: {topics}."),
    })
}

fn list(world: &World, opened: &mut OpenWorld, json: bool) -> CommandResult {
    let seen = opened.app.domains(&opened.place.worktree)?;
    if json {
        return world.out.items(&mut opened.app, &seen);
    }
    for group in seen.chunk_by(|one, other| one.domain == other.domain) {
        let one = |seen: &consort_core::convergence::DomainView| match seen.source {
            DomainSource::Configured => seen.topic.clone(),
            DomainSource::Assigned => format!("{} (set)", seen.topic),
            DomainSource::Learned { weight } => format!("{} (learned, {weight:.1})", seen.topic),
        };
        let topics: Vec<String> = group.iter().map(one).collect();
        world.out.heading(&group[0].domain, &format!(": {}", topics.join(", ")))?;
    }
    Ok(())
}
