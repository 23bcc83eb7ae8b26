//! Answers a question of an agent by the keys of its own menu. Permissions, plans and dialogs
//! are answered for the person alone.

use consort_core::App;
use consort_core::explain::ErrorKind;
use consort_core::journal::Actor;
use consort_core::monitor::AttentionReason;
use consort_core::monitor::ChoiceOutcome;
use consort_core::monitor::choose;
use consort_core::monitor::takes_typed_answer;
use consort_core::text;
use consort_host::Tmux;

use super::signature_of;
use super::waiting::WaitingAgent;
use crate::error::CommandError;
use crate::world::World;

/// The words of a refusal without a reason.
const NO_REASON: &str = "Ask me what to do instead.";

/// The option that was chosen.
pub(crate) struct Answered {
    pub(crate) label: String,
    /// The reason of a refusal, if the menu has no place for one.
    pub(crate) untold: Option<String>,
}

/// Chooses the option that `option` means, by the keys of the agent's menu.
pub(crate) fn choose_option(
    world: &World,
    app: &App,
    tmux: &Tmux,
    waiting: &WaitingAgent,
    option: &str,
    actor: &Actor,
) -> Result<Answered, CommandError> {
    let name = waiting.subject.name();
    let refuse = |message: String, hint: String| CommandError::Explained {
        error: message.into(),
        kind: ErrorKind::Conflict,
        hints: vec![hint],
    };
    let is_persons =
        matches!(waiting.why, AttentionReason::Permission | AttentionReason::Plan | AttentionReason::Dialog);
    if is_persons && *actor != Actor::Person {
        return Err(refuse(
            format!("{name} asks for what only your user may allow"),
            "they see it with `consort waiting`".to_owned(),
        ));
    }
    let (option, reason) = match option.split_once(' ') {
        Some((word, reason)) if is_persons && word.eq_ignore_ascii_case("deny") => (word, Some(reason)),
        _ => (option, None),
    };
    let Some(label) = waiting.reading.meant_option(option) else {
        let options = text::first_few(waiting.options(), 9);
        return Err(refuse(format!("{name} has no such option"), format!("one of: {options}")));
    };
    let signature = signature_of(world, app, waiting.subject.cli())?;
    let (reading, words) = (&waiting.reading, reason.unwrap_or(NO_REASON));
    match choose(tmux, &waiting.subject.address, &signature, reading, &label, words)? {
        ChoiceOutcome::Done => {
            let untold =
                reason.filter(|_| !takes_typed_answer(&signature, reading, &label)).map(str::to_owned);
            Ok(Answered { label, untold })
        }
        ChoiceOutcome::NotAsked => {
            Err(refuse(format!("{name} was already answered"), format!("consort pane screen {name}")))
        }
        ChoiceOutcome::NoSuchEntry | ChoiceOutcome::StillAsked => {
            Err(refuse(format!("{name} did not take the answer"), format!("consort pane screen {name}")))
        }
    }
}
