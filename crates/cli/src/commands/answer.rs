//! The command `consort answer`: answers a question of an agent, or says what to do about an agent that does
//! not go on.

use std::time::Duration;
use std::time::Instant;

use consort_core::App;
use consort_core::journal::Actor;
use consort_core::journal::Number;
use consort_core::messages::MessageName;
use consort_core::messages::MessageType;
use consort_core::monitor::AttentionReason;
use consort_core::monitor::PaneStateChange;
use consort_core::monitor::RecordedPaneState;
use consort_core::monitor::Remedy;
use consort_core::monitor::TypingOutcome;
use consort_core::monitor::TypingPurpose;
use consort_core::policy::AskAnswer;
use consort_core::policy::AskRecord;
use consort_core::presence::AgentName;
use consort_core::presence::CallerFacts;
use consort_core::text;
use consort_host::Tmux;

use crate::commands::open::attach_here;
use crate::commands::pane::close_pane;
use crate::commands::send;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::panes::answer;
use crate::panes::inbox;
use crate::panes::inbox::InboxItem;
use crate::panes::inbox::Waits;
use crate::panes::typing;
use crate::panes::typing::Typeable;
use crate::panes::waiting::WaitingAgent;
use crate::person;
use crate::world::World;

/// Longest wait for an answer to reach its agent.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The number that `consort waiting` shows, or an agent by its name
    which: String,
    /// An option by number or label, `allow`, `always`, `deny '<why>'`, a text; or `nudge`, `wait`, `close`, `take over`
    #[arg(required = true)]
    words: Vec<String>,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    answer(world, &mut opened.app, &args.which, &args.words)
}

/// Answers the item with this number or agent, and prints what came of it.
pub(crate) fn answer(world: &World, app: &mut App, which: &str, words: &[String]) -> CommandResult {
    let caller = person::acting_caller(app)?;
    let number = which.trim_start_matches('#').parse::<Number>().ok();
    let is_meant = |item: &InboxItem| match number {
        Some(number) => item.number == number,
        None => item.what.name().eq_ignore_ascii_case(which),
    };
    let Some(item) = inbox::all(world, app)?.into_iter().find(is_meant) else {
        let which = text::one_line(which, 40);
        let was_answered = number.is_some_and(|number| app.is_recent_number(number));
        let (what, hint) = match was_answered {
            true => (
                format!("{which} was already answered, or read"),
                "`consort waiting` shows what is still asked; to a message: `consort reply <message> '…'`",
            ),
            false => (format!("{which} does not wait for an answer"), "`consort waiting` shows what does"),
        };
        return Err(CommandError::user(what, hint.to_owned()));
    };
    // By name, the answer could reach a newer request than the one that was seen.
    if number.is_none() && item.what.is_permission() {
        let hint = format!("consort answer {} {}", item.number, words.join(" "));
        return Err(CommandError::user(
            format!("{} asks for a permission: answer it by its number", item.what.name()),
            hint,
        ));
    }
    match item.what {
        Waits::Asks { record, agent } => {
            answer_question(world, app, &caller, &record, agent.name.as_str(), words)
        }
        Waits::Pane(waiting) => answer_pane(world, app, &caller, *waiting, &words.join(" ")),
        Waits::Mail(letter) => {
            let name = MessageName::Id(letter.message.id);
            send::run(world, &send::Args::reply(name, words.join(" "), MessageType::Info, false))?;
            // An answered letter counts as read.
            inbox::mark_read(app, letter.message.id)
        }
        Waits::Contest(view) => {
            let commands = inbox::deciding(&view).into_iter();
            let hints: Vec<String> =
                commands.map(|(does, command)| format!("to {does}: `{command}`")).collect();
            Err(CommandError::user("a contest is decided by a command, or by its deadline", hints.join("; ")))
        }
    }
}

/// Answers a question that a hook holds, and waits until the agent has it.
fn answer_question(
    world: &World,
    app: &mut App,
    caller: &CallerFacts,
    record: &AskRecord,
    name: &str,
    words: &[String],
) -> CommandResult {
    let answer = record.read_answer(words)?;
    app.answer_ask(caller, record.id, answer.clone())?;
    let since = Instant::now();
    while let Some(record) = app.ask_record(record.id)? {
        if since.elapsed() > PATIENCE || !app.is_awaited(&record) {
            let late = CommandError::user(
                format!("it is not known whether {name} has taken the answer"),
                format!("consort pane screen {name}"),
            );
            return Err(CommandError::TimedOut(Box::new(late)));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    world.out.line(match answer {
        AskAnswer::Allow => format!("{name} is allowed to."),
        AskAnswer::Always => format!("{name} is allowed to, from now on."),
        AskAnswer::Deny(_) => format!("{name} is refused."),
        AskAnswer::Chosen(chosen) => format!("Answered {name}: {}", text::first_few(chosen, 4)),
    })
}

fn answer_pane(
    world: &World,
    app: &mut App,
    caller: &CallerFacts,
    waiting: WaitingAgent,
    option: &str,
) -> CommandResult {
    let actor = app.require_pane_access(caller, &waiting.subject)?;
    let tmux = Tmux::new(&world.paths.data);
    let name = waiting.subject.name();
    let remedy = Remedy::named(option).filter(|remedy| waiting.why.remedies().contains(remedy));
    match remedy {
        None => {
            let answered = answer::choose_option(world, app, &tmux, &waiting, option, &actor)?;
            if let Some(reason) = answered.untold {
                let text = format!("I refused what you asked for: {reason}");
                send::run(world, &send::Args::message(&name, text))?;
            }
            world.out.line(format!("Answered {name}: {}", text::one_line(&answered.label, 100)))
        }
        Some(Remedy::Nudge) => {
            let delivery = nudge(world, app, &waiting)?;
            world.out.line(format!("{name} {}.", delivery.told()))?;
            match delivery {
                TypingOutcome::Delivered => Ok(()),
                _ => Err(CommandError::Told),
            }
        }
        Some(Remedy::Wait) => {
            forget(app, &waiting)?;
            world.out.line(format!("{name} is left alone."))
        }
        Some(Remedy::Close) => {
            let mut opened = world.open()?;
            close_pane(world, &mut opened, &waiting.subject, actor, false).map(drop)
        }
        Some(Remedy::TakeOver) if actor == Actor::Person => attach_here(&tmux, &waiting.subject.address),
        Some(Remedy::TakeOver) => Err(CommandError::user(
            "only your user can take over a terminal",
            "tell them with `consort send @me '…'`",
        )),
    }
}

/// Types the agent's first prompt again, or a word to go on.
fn nudge(world: &World, app: &App, waiting: &WaitingAgent) -> Result<TypingOutcome, CommandError> {
    let opened = waiting.subject.record.as_ref().and_then(|record| record.opened.as_ref());
    let prompt = opened.and_then(|opened| opened.prompt.clone());
    let (purpose, text) = match waiting.why {
        AttentionReason::Unconfirmed => (TypingPurpose::Prompt, prompt),
        AttentionReason::Limit | AttentionReason::Error => (TypingPurpose::Continue, None),
        _ => (TypingPurpose::Nudge, None),
    };
    let what = Typeable { purpose, text: text.unwrap_or_else(|| typing::GO_ON.to_owned()) };
    let signature = typing::signature(world, app, waiting.subject.cli());
    typing::deliver(&world.paths.data, &waiting.subject.address, signature.as_ref(), &what)
}

/// Notes that the person is not to be asked about this agent again until something has changed.
fn forget(app: &mut App, waiting: &WaitingAgent) -> Result<(), CommandError> {
    let recorded = waiting.subject.record.as_ref();
    if let Some(place) = recorded.and_then(|record| record.place().cloned())
        && matches!(waiting.why, AttentionReason::Stalled | AttentionReason::Unconfirmed)
    {
        let (name, cli) = (AgentName::from(waiting.subject.name()), waiting.subject.cli().to_owned());
        app.note_state_change(&PaneStateChange {
            place,
            name,
            cli,
            state: RecordedPaneState::Working,
            about: None,
        })?;
    }
    Ok(())
}
