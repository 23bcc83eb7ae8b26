//! Types into a pane on behalf of what waits: only where the person allows it, and only one
//! of us at a time.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use consort_agents::AgentCli;
use consort_core::App;
use consort_core::monitor::Delivery;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::Refusal;
use consort_core::monitor::Signature;
use consort_core::monitor::Typing;
use consort_core::presence::Agent;
use consort_core::text;
use consort_host::Tmux;
use rustix::fs::FlockOperation;
use rustix::fs::flock;

use super::has_agent;
use crate::config;
use crate::connect;
use crate::error::CommandError;
use crate::world::World;

/// How long a CLI may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is typed: it only wakes. What was written comes with the prompt, quoted, by the
/// session's own hook.
pub(crate) fn wake_line(unread: usize) -> String {
    format!("[consort] {} for you: `consort inbox` shows what it is.", text::count(unread, "new message"))
}

/// Types a text into the pane of an agent and submits it, if that can be done now.
pub(crate) fn deliver(
    data: &Path,
    tmux: &Tmux,
    subject: &PaneSubject,
    signature: &Signature,
    text: &str,
) -> Result<Delivery, CommandError> {
    // Two that type at once would type into each other's text.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let lock = data.join("typing.lock");
    let file = options.open(&lock).map_err(|error| CommandError::file("cannot lock", &lock, error))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(Delivery::Refused(Refusal::SomebodyTypes));
    }
    let is_agent = |facts: &PaneFacts| has_agent(tmux, facts);
    let typing = Typing { writer: tmux, pane: &subject.address, signature, is_agent: &is_agent };
    Ok(typing.deliver(text)?)
}

/// Whether the screens of the CLI that is installed are known: nobody types into others.
pub(crate) fn is_known_version(cli: &dyn AgentCli, signature: &Signature) -> bool {
    let said = connect::find_program(cli.program())
        .and_then(|program| consort_host::ask_version(&program, PATIENCE))
        .unwrap_or_default();
    signature.knows(&said)
}

/// Wakes an idle agent by a line in its terminal, where the settings allow it and nobody
/// watches who would; what came of it, in a sentence.
pub(crate) fn wake_by_typing(world: &World, app: &mut App, agent: &Agent) -> Option<String> {
    agent.location.terminal.pane.as_ref()?;
    let acceptances = app.acceptances().unwrap_or_default();
    let config = config::load(&world.paths, &agent.location.worktree, &world.overrides, &acceptances).ok()?;
    if config.resolved.get("messages.type_into_panes") != "true" {
        return None;
    }
    if app.glances().is_some() {
        return Some(format!("{} is idle; its mail is typed to it as soon as that can be done.", agent.name));
    }
    let subject = app.find_pane(agent.name.as_str()).ok()?;
    let cli = consort_agents::find(subject.cli())?;
    let signature = super::signature(world, cli).ok()?;
    let delivery = match is_known_version(cli, &signature) {
        true => {
            deliver(&world.paths.data, &Tmux::new(&world.paths.data), &subject, &signature, &wake_line(1))
                .ok()?
        }
        false => Delivery::Refused(Refusal::NotUnderstood),
    };
    Some(format!("{} is idle, was typed to, and {}.", agent.name, delivery.told()))
}
