//! Reads panes for all commands about them: looks at a pane, loads the rules for each CLI's screen, and tells
//! whether an agent runs in a pane.

pub(crate) mod answer;
pub(crate) mod background;
pub(crate) mod inbox;
pub(crate) mod launch;
pub(crate) mod limits;
pub(crate) mod review;
pub(crate) mod role;
mod stall;
mod stuck;
pub(crate) mod typing;
pub(crate) mod version;
pub(crate) mod waiting;
pub(crate) mod watcher;
mod watcher_actions;

use std::fs;

use consort_agents::AgentCli;
use consort_agents::screen;
use consort_core::App;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneLook;
use consort_core::monitor::PaneState;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::ProcessTrees as _;
use consort_core::monitor::Signature;
use consort_core::monitor::TerminalError;
use consort_core::monitor::combine;
use consort_core::monitor::is_shell;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;
use std::time::Duration;

pub(crate) use stall::what_lives;

use crate::error::CommandError;
use crate::world::World;
use crate::world::is_agent;

/// Loads the rules for a CLI's screen: the user's own, in `screens/<cli>.toml` beside `config.toml`, or those
/// that come with us.
pub(crate) fn signature(world: &World, cli: &dyn AgentCli) -> Result<Signature, CommandError> {
    let own = world.paths.config.join("screens").join(format!("{}.toml", cli.kind()));
    match fs::read_to_string(&own) {
        Ok(text) => screen::signature(&text).map_err(|error| {
            CommandError::user(
                format!("{} has no rules for screens: {error}", own.display()),
                "fix it, or move it away: then the rules that come with consort are used",
            )
        }),
        Err(_) => screen::signature(cli.screen()).map_err(|error| CommandError::user(error.to_string(), "")),
    }
}

/// Loads the rules for the CLI in a pane; none for a CLI that we do not know. They say so if they were not
/// made for the version that is installed.
pub(crate) fn signature_of(world: &World, app: &App, kind: &str) -> Result<Signature, CommandError> {
    let Some(cli) = consort_agents::find(kind) else { return Ok(Signature::default()) };
    let signature = signature(world, cli)?;
    let unknown_version = version::said(app, cli).filter(|said| !signature.knows(said));
    Ok(Signature { unknown_version: unknown_version.map(|said| text::one_line(&said, 60)), ..signature })
}

/// Puts the fields of a pane's agent before the JSON about the pane.
pub(crate) fn with_agent(subject: &PaneSubject, said: Value) -> Value {
    let mut whole = subject.agent_json();
    if let (Some(whole), Value::Object(said)) = (whole.as_object_mut(), said) {
        whole.extend(said);
    }
    whole
}

/// Reads what a pane shows now; `None` if the pane is gone.
pub(crate) fn look(
    world: &World,
    app: &App,
    tmux: &Tmux,
    subject: &PaneSubject,
) -> Result<Option<PaneLook>, CommandError> {
    let signature = signature_of(world, app, subject.cli())?;
    match PaneLook::take(tmux, &subject.address, &signature, Duration::MAX) {
        Err(TerminalError::Gone { .. } | TerminalError::NoServer { .. }) => Ok(None),
        look => {
            let PaneLook { facts, screen, .. } = look?;
            let read = PaneLook::new(facts_of(&facts, subject), screen, &signature, Duration::MAX);
            Ok(Some(PaneLook { facts, ..read }))
        }
    }
}

/// Returns the facts of a pane as they concern its agent: an agent whose process lives is not over because
/// the pane's command is the shell that started it.
fn facts_of(facts: &PaneFacts, subject: &PaneSubject) -> PaneFacts {
    let lives = subject.agent.is_some() && is_shell(&facts.command);
    let command = if lives { subject.cli().to_owned() } else { facts.command.clone() };
    PaneFacts { command, ..facts.clone() }
}

/// Returns the state of a pane by one look: as its screen shows it, or, where that is not understood, as its
/// hooks reported it.
pub(crate) fn state_of(look: Option<&PaneLook>, subject: &PaneSubject) -> PaneState {
    let heard = subject.heard.as_ref().map(|heard| heard.status);
    match look.map_or(PaneState::Dead, |look| look.reading.state) {
        state @ (PaneState::Unknown | PaneState::Starting) => combine(heard, state, Duration::ZERO),
        state => state,
    }
}

/// Tells whether the program in the foreground of a pane is an agent CLI. Two CLIs go by the name of their
/// runtime, which says nothing: their process must be below the pane's.
pub(crate) fn has_agent(tmux: &Tmux, facts: &PaneFacts) -> bool {
    if consort_agents::find(&facts.command).is_some() {
        return true;
    }
    consort_agents::is_runtime(&facts.command)
        && tmux.tree(facts.pid).iter().any(|one| is_agent(&one.process))
}
