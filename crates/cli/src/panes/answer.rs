//! Answers a question of an agent by the keys of its own menu. Permissions, plans and dialogs
//! are answered for the person alone.

use consort_core::App;
use consort_core::explain::Kind;
use consort_core::journal::Actor;
use consort_core::monitor::Attention;
use consort_core::monitor::Chosen;
use consort_core::monitor::choose;
use consort_core::text;
use consort_host::Tmux;

use super::signature_of;
use super::waiting::Waiting;
use crate::error::CommandError;
use crate::world::World;

/// Chooses the option that is meant; its label.
pub(crate) fn choose_option(
    world: &World,
    app: &App,
    tmux: &Tmux,
    waiting: &Waiting,
    option: &str,
    actor: &Actor,
) -> Result<String, CommandError> {
    let name = waiting.subject.name();
    let refuse = |message: String, hint: String| CommandError::Explained {
        error: message.into(),
        kind: Kind::Conflict,
        hints: vec![hint],
    };
    let is_persons = matches!(waiting.why, Attention::Permission | Attention::Plan | Attention::Dialog);
    if is_persons && *actor != Actor::Person {
        return Err(refuse(
            format!("{name} asks for what only your user may allow"),
            "they see it with `consort waiting`".to_owned(),
        ));
    }
    let Some(label) = waiting.reading.meant_option(option) else {
        let options = text::first_few(waiting.options(), 9);
        return Err(refuse(format!("{name} has no such option"), format!("one of: {options}")));
    };
    let signature = signature_of(world, app, waiting.subject.cli())?;
    match choose(tmux, &waiting.subject.address, &signature, &waiting.reading, &label)? {
        Chosen::Done => Ok(label),
        Chosen::NotAsked => {
            Err(refuse(format!("{name} was already answered"), format!("consort pane screen {name}")))
        }
        Chosen::NoSuchEntry | Chosen::StillAsked => {
            Err(refuse(format!("{name} did not take the answer"), format!("consort pane screen {name}")))
        }
    }
}
