//! The command `consort answer`: answers a question of an agent in a pane, or says what to do
//! about one that does not go on.

use consort_core::App;
use consort_core::journal::Actor;
use consort_core::monitor::Attention;
use consort_core::monitor::Delivery;
use consort_core::monitor::PaneTurn;
use consort_core::monitor::Purpose;
use consort_core::monitor::Remedy;
use consort_core::monitor::TurnState;
use consort_core::presence::AgentName;
use consort_core::text;
use consort_host::Tmux;

use crate::commands::open::attach_here;
use crate::commands::pane::close_pane;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::panes::answer;
use crate::panes::typing;
use crate::panes::typing::Typeable;
use crate::panes::waiting;
use crate::panes::waiting::Waiting;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which agent, by name or by the number that `consort waiting` shows
    agent: String,
    /// One of its options, by number or label; or `nudge`, `wait`, `close`, `take over`
    #[arg(required = true)]
    option: Vec<String>,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = person::acting(&mut opened.app)?;
    let subject = opened.app.find_pane(&args.agent)?;
    let actor = opened.app.may_use_pane(&caller, &subject)?;
    let tmux = Tmux::new(&world.paths.data);
    let (name, option) = (subject.name(), args.option.join(" "));
    let Some(waiting) = waiting::one(world, &opened.app, &tmux, subject)? else {
        let hint = format!("consort pane screen {name}");
        return Err(CommandError::user(format!("{name} does not wait for an answer"), hint));
    };
    let remedy = Remedy::named(&option).filter(|remedy| waiting.why.remedies().contains(remedy));
    match remedy {
        None => {
            let answered = answer::choose_option(world, &opened.app, &tmux, &waiting, &option)?;
            world.out.line(format!("Answered {name}: {}", text::one_line(&answered, 100)))
        }
        Some(Remedy::Nudge) => {
            let delivery = nudge(world, &opened.app, &waiting)?;
            world.out.line(format!("{name} {}.", delivery.told()))?;
            match delivery {
                Delivery::Delivered => Ok(()),
                _ => Err(CommandError::Told),
            }
        }
        Some(Remedy::Wait) => {
            forget(&mut opened.app, &waiting)?;
            world.out.line(format!("{name} is left alone."))
        }
        Some(Remedy::Close) => close_pane(world, &mut opened, &waiting.subject, actor, false).map(drop),
        Some(Remedy::TakeOver) if actor == Actor::Person => attach_here(&tmux, &waiting.subject.address),
        Some(Remedy::TakeOver) => Err(CommandError::user(
            "only your user can take over a terminal",
            "tell them with `consort send @me '…'`",
        )),
    }
}

/// Types its first prompt again, or a word to go on.
fn nudge(world: &World, app: &App, waiting: &Waiting) -> Result<Delivery, CommandError> {
    let opened = waiting.subject.record.as_ref().and_then(|record| record.opened.as_ref());
    let prompt = opened.and_then(|opened| opened.prompt.clone());
    let (purpose, text) = match waiting.why {
        Attention::Unconfirmed => (Purpose::Prompt, prompt),
        Attention::Limit | Attention::Error => (Purpose::Continue, None),
        _ => (Purpose::Nudge, None),
    };
    let what = Typeable { purpose, text: text.unwrap_or_else(|| typing::GO_ON.to_owned()) };
    let signature = typing::signature(world, app, waiting.subject.cli());
    typing::deliver(&world.paths.data, &waiting.subject.address, signature.as_ref(), &what)
}

/// Notes that it is not to be asked about again until something has changed.
fn forget(app: &mut App, waiting: &Waiting) -> Result<(), CommandError> {
    let recorded = waiting.subject.record.as_ref();
    if let Some(place) = recorded.and_then(|record| record.place().cloned())
        && matches!(waiting.why, Attention::Stalled | Attention::Unconfirmed)
    {
        let (name, cli) = (AgentName::from(waiting.subject.name()), waiting.subject.cli().to_owned());
        app.note_turn(&PaneTurn { place, name, cli, state: TurnState::Working, about: None })?;
    }
    Ok(())
}
