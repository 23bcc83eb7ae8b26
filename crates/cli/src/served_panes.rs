//! Carries out an agent's MCP calls about the panes of agents that it has opened.

use std::path::Path;
use std::time::Duration;

use consort_core::App;
use consort_core::call_context::AgentOpenRequest;
use consort_core::call_context::ServiceAnswer;
use consort_core::call_context::ServiceProblem;
use consort_core::explain::ErrorKind;
use consort_core::monitor::AttentionReason;
use consort_core::monitor::Difference;
use consort_core::monitor::PaneLook;
use consort_core::monitor::PaneReading;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::WorkKind;
use consort_core::monitor::next_interval;
use consort_core::presence::CallerFacts;
use consort_core::secrets::redacted;
use consort_core::text;
use consort_host::Tmux;
use serde_json::Value;
use serde_json::json;

use crate::commands::open;
use crate::commands::pane::close_pane;
use crate::error::CommandError;
use crate::panes;
use crate::panes::waiting;
use crate::world::World;

/// Interval between two looks at a pane.
const TICK: Duration = Duration::from_secs(1);

pub(crate) fn world(cwd: &Path) -> Result<World, ServiceProblem> {
    let world = World::new(Vec::new()).map_err(problem)?;
    Ok(World { cwd: cwd.to_owned(), ..world })
}

/// Turns a command's error into the error of an MCP call.
pub(crate) fn problem(error: CommandError) -> ServiceProblem {
    let (kind, hints) = match &error {
        CommandError::Explained { kind, hints, .. } => (*kind, hints.clone()),
        CommandError::Usage { hints, .. } => (ErrorKind::User, hints.clone()),
        CommandError::TimedOut(_) | CommandError::Told | CommandError::Pipe => {
            (ErrorKind::Internal, Vec::new())
        }
    };
    ServiceProblem { kind, message: error.in_a_line(), hints }
}

pub(crate) fn open(
    caller: &CallerFacts,
    cwd: &Path,
    wish: &AgentOpenRequest,
) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let (text, data) = open::open_for_agent(&world, caller.clone(), wish).map_err(problem)?;
    let text = format!(
        "{text}\nYou hear by message when it waits, finishes or ends. Leave its files alone until then."
    );
    Ok(ServiceAnswer { text, data })
}

pub(crate) fn screen(
    app: &mut App,
    cwd: &Path,
    name: &str,
    lines: usize,
    wait: Option<Duration>,
) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let tmux = Tmux::new(&world.paths.data);
    let subject = app.find_pane(name).map_err(|error| problem(error.into()))?;
    let first = panes::look(&world, app, &tmux, &subject).map_err(problem)?;
    let state = |look: &Option<PaneLook>| panes::state_of(look.as_ref(), &subject);
    let (mut look, mut waited) = (first.clone(), Duration::ZERO);
    while state(&look) == state(&first)
        && wait.is_some_and(|longest| waited < longest)
        && !state(&look).has_menu()
    {
        tmux.pause(TICK);
        waited += TICK;
        look = panes::look(&world, app, &tmux, &subject).map_err(problem)?;
    }
    let shown = tmux.history(&subject.address, lines).unwrap_or_default();
    let state = state(&look);
    let reading = look.map(|look| look.reading);
    let doing = subject.heard.as_ref().and_then(|heard| heard.doing.clone()).unwrap_or_default();
    let pace = WorkKind::of(state, &doing, Duration::MAX);
    let options = |reading: &PaneReading| -> Vec<String> {
        reading.options.iter().map(|option| option.label.clone()).collect()
    };
    let data = json!({
        "agent": subject.agent_json(), "state": state.as_str(),
        "question": reading.as_ref().and_then(|reading| reading.question.as_deref()).map(redacted),
        "options": reading.as_ref().map(options),
        // Saves the model from spending turns on looking.
        "look_again_s": next_interval(pace, pace.interval().0, Difference::Some).as_secs(),
    });
    Ok(ServiceAnswer { text: redacted(&shown), data })
}

pub(crate) fn answer(
    app: &mut App,
    caller: &CallerFacts,
    cwd: &Path,
    name: &str,
    option: &str,
) -> Result<ServiceAnswer, ServiceProblem> {
    let refuse = |message: String, hint: &str| ServiceProblem {
        kind: ErrorKind::Conflict,
        message,
        hints: vec![hint.to_owned()],
    };
    let world = world(cwd)?;
    let tmux = Tmux::new(&world.paths.data);
    let subject = app.find_pane(name).map_err(|error| problem(error.into()))?;
    let actor = app.require_pane_access(caller, &subject).map_err(|error| problem(error.into()))?;
    let name = subject.name();
    let waiting = waiting::one(&world, app, &tmux, subject).map_err(problem)?;
    let waiting = match waiting {
        Some(waiting) if waiting.why == AttentionReason::Question => waiting,
        Some(_) => {
            return Err(refuse(
                format!("{name} does not ask a question of yours to answer"),
                "it is your user's: tell them with `send` to `@me`",
            ));
        }
        None => return Err(refuse(format!("{name} asks nothing"), "`screen` shows what it does")),
    };
    let answered = panes::answer::choose_option(&world, app, &tmux, &waiting, option, &actor);
    let label = answered.map_err(problem)?.label;
    Ok(ServiceAnswer {
        text: format!("Answered {name}: {}", text::foreign(&label, 100)),
        data: json!({ "agent": waiting.subject.agent_json(), "answered": label }),
    })
}

/// Returns the states of the agents that the caller has opened: now, or once one of them has changed its
/// state.
pub(crate) fn watch(
    app: &mut App,
    caller: &CallerFacts,
    cwd: &Path,
    wait: Option<Duration>,
) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let tmux = Tmux::new(&world.paths.data);
    let states = |app: &mut App| -> Result<Vec<Value>, CommandError> {
        let mut states = Vec::new();
        for subject in app.panes()? {
            if subject.opener().is_some() && app.require_pane_access(caller, &subject).is_ok() {
                let look = panes::look(&world, app, &tmux, &subject)?;
                let state = panes::state_of(look.as_ref(), &subject);
                let question = look.and_then(|look| look.reading.question).map(|asked| redacted(&asked));
                states.push(
                    json!({ "agent": subject.agent_json(), "state": state.as_str(), "question": question }),
                );
            }
        }
        Ok(states)
    };
    let first = states(app).map_err(problem)?;
    let (mut now, mut waited) = (first.clone(), Duration::ZERO);
    while now == first && !first.is_empty() && wait.is_some_and(|longest| waited < longest) {
        tmux.pause(TICK);
        waited += TICK;
        now = states(app).map_err(problem)?;
    }
    let line = |one: &Value| {
        let (name, state) = (one["agent"]["name"].as_str(), one["state"].as_str());
        let asked = one["question"]
            .as_str()
            .map_or_else(String::new, |asked| format!(": {}", text::quoted(asked, 200)));
        format!("{} is {}{asked}", name.unwrap_or_default(), state.unwrap_or_default())
    };
    let text = match now.is_empty() {
        true => "You have opened no agent.".to_owned(),
        false => now.iter().map(line).collect::<Vec<_>>().join("\n"),
    };
    Ok(ServiceAnswer { text, data: json!({ "items": now }) })
}

/// Returns the agents that wait; the caller may itself answer a question of an agent that it opened.
pub(crate) fn waiting(
    app: &mut App,
    caller: &CallerFacts,
    cwd: &Path,
) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let (mut items, mut lines) = (Vec::new(), String::new());
    for one in waiting::all(&world, app).map_err(problem)? {
        let is_own = one.subject.opener().is_some() && app.require_pane_access(caller, &one.subject).is_ok();
        let way = match one.why {
            AttentionReason::Question if is_own => "it is yours: `answer`",
            _ if is_own => "it is your user's: tell them with `send` to `@me`",
            _ => "it is your user's",
        };
        let item = one.item(app);
        lines.push_str(&waiting::paragraph(&item, way, text::foreign));
        items.push(item);
    }
    let text = if items.is_empty() { "No agent waits.".to_owned() } else { lines.trim_end().to_owned() };
    Ok(ServiceAnswer { text, data: json!({ "items": items }) })
}

pub(crate) fn close(caller: &CallerFacts, cwd: &Path, name: &str) -> Result<ServiceAnswer, ServiceProblem> {
    let world = world(cwd)?;
    let mut opened = world.open().map_err(problem)?;
    let subject = opened.app.find_pane(name).map_err(|error| problem(error.into()))?;
    let actor = opened.app.require_pane_access(caller, &subject).map_err(|error| problem(error.into()))?;
    let mut data = close_pane(&world, &mut opened, &subject, actor, true).map_err(problem)?;
    // An agent can look at files itself, and a diff may fill its context.
    if let Some(told) = data.as_object_mut() {
        told.remove("diff");
    }
    Ok(ServiceAnswer { text: format!("Closed: {}", subject.name()), data })
}
