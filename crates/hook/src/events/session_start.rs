//! Hook event: a session begins, or goes on after a resume or a compaction. It joins,
//! is told its name and who else is here, and gets its waiting mail.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use consort_core::App;
use consort_core::claims::HeldSummary;
use consort_core::claims::HoldView;
use consort_core::config::ContextMode;
use consort_core::config::HookSettings;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::Agent;
use consort_core::presence::AgentView;
use consort_core::presence::JoinOutcome;
use consort_core::presence::PresenceError;
use consort_core::presence::SessionId;
use consort_core::presence::Status;
use consort_core::text;

use super::mail;
use crate::Answer;
use crate::HookContext;
use crate::join_request;

/// An agent's context is precious: more than this many are only counted.
const SHOWN: usize = 8;

/// So many topics of each, and so many of those it may run into.
const TOPICS: usize = 3;
const FORESEEN: usize = 3;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    replaces: &Replaces,
    is_heard: bool,
) -> Result<Answer, PresenceError> {
    let mut request = join_request(app.host(), call, context)?;
    request.replaces = match replaces {
        Replaces::Session(session) => Some(session.clone()),
        Replaces::TheLast => app.predecessor(&request.kind, &request.process, &call.session)?,
        Replaces::TheLastIfAlone if context.has_one_session(&request.process) => {
            app.predecessor(&request.kind, &request.process, &call.session)?
        }
        Replaces::TheLastIfAlone | Replaces::Nobody => None,
    };
    let (settings, outcome) = app.join_by_hook(&request, true, &|name| context.variable(name))?;
    if outcome.as_ref().is_some_and(|outcome| !outcome.joined) {
        // What it was doing before, compacting above all, is over.
        app.note_activity(&call.session, &ActivityUpdate::of(Status::Idle))?;
    }
    let Some(outcome) = outcome else { return Ok(Answer::SILENCE) };
    // Mail waits for where it is heard.
    let mail = if is_heard { mail(app, call, context, DeliveryPoint::Start)? } else { None };
    let held = app.held_by_others(&outcome.agent, SHOWN)?;
    let topics = app.topics_in(&outcome.agent.project.id);
    // What is missing here keeps no mail back.
    let foreseen = match settings.convergence {
        true => app.predictions_for(&call.session).unwrap_or_default(),
        false => Vec::new(),
    };
    let told = block(&outcome, &topics, &held, &foreseen, settings)
        .map(|block| text::strip_hook_marks(&block).into_owned());
    let learned = match settings.context {
        ContextMode::Full => app.digest(&outcome.agent, settings.digest_tokens),
        ContextMode::Minimal | ContextMode::None => None,
    };
    let told = told.into_iter().chain(learned.map(|learned| text::strip_hook_marks(&learned).into_owned()));
    let parts: Vec<String> = told.chain(mail.iter().map(|mail| mail.text.clone())).collect();
    if !is_heard && !parts.is_empty() {
        app.keep_for_later(&call.session, &parts.join("\n\n"));
        return Ok(Answer::SILENCE);
    }
    let reply = if parts.is_empty() { HookReply::Silence } else { HookReply::Context(parts.join("\n\n")) };
    Ok(Answer { reply, mail })
}

/// What the session is told. Facts, not instructions.
fn block(
    outcome: &JoinOutcome,
    topics: &BTreeMap<SessionId, Vec<String>>,
    held: &HeldSummary,
    foreseen: &[String],
    settings: HookSettings,
) -> Option<String> {
    let JoinOutcome { agent: me, others, .. } = outcome;
    let company = match others.len() {
        0 => "no other agent is here".to_owned(),
        1 => "1 other agent is here".to_owned(),
        n => format!("{n} other agents are here"),
    };
    match settings.context {
        ContextMode::None => return None,
        ContextMode::Full if !settings.registration => return None,
        ContextMode::Minimal => {
            return Some(format!("[consort] You are {}; {company} (`consort who`).", me.name));
        }
        ContextMode::Full => {}
    }
    let mut block = format!("[consort] You are {} in {}", me.name, text::foreign(&me.project.name, 60));
    if let Some(branch) = &me.branch {
        let _ = write!(block, " on {}", text::foreign(branch, 60));
    }
    let _ = write!(block, "; {company}.");
    for seen in others.iter().take(SHOWN) {
        let _ = write!(block, "\n- {}", describe(seen, me));
        if let Some(topics) = topics.get(&seen.agent.session).filter(|topics| !topics.is_empty()) {
            let few: Vec<&str> = topics.iter().take(TOPICS).map(String::as_str).collect();
            let _ = write!(block, "; about {}", few.join(", "));
        }
    }
    if others.len() > SHOWN {
        let _ = write!(block, "\n- and {} more", others.len() - SHOWN);
    }
    if held.count > 0 {
        let one =
            |seen: &HoldView| format!("{} ({})", text::foreign(&seen.hold.resource.shown(), 80), seen.name);
        let shown: Vec<String> = held.first.iter().map(one).collect();
        let _ = write!(block, "\nHeld: {}", shown.join(", "));
        if held.count > shown.len() {
            let _ = write!(block, " and {} more: `consort claims`", held.count - shown.len());
        }
    }
    for line in foreseen.iter().take(FORESEEN) {
        let _ = write!(block, "\n{line}");
    }
    if !others.is_empty() {
        block.push_str(
            "\nThey work in this project at the same time as you. `consort who` shows what each is doing \
             and where it runs; `consort send <name> \"<text>\"` reaches one, `all` or the person (`@me`). \
             What they send you comes with your tools' results. `consort reserve <path>` keeps them from \
             writing what you work on.",
        );
    }
    Some(block)
}

/// `GoldFalcon (claude), working: Edit src/auth.rs; on feat/x, in ../side`
fn describe(seen: &AgentView, me: &Agent) -> String {
    let mut line = format!("{} ({}), ", seen.agent.name, text::foreign(&seen.agent.kind, 20));
    line.push_str(match seen.status {
        Status::Waiting => "waiting for the person",
        Status::Working => "working",
        Status::Idle => "idle",
        Status::Gone => "gone",
    });
    if let Some(activity) = &seen.activity {
        let _ = write!(line, ": {}", text::foreign(activity, 80));
    }
    if seen.agent.branch != me.branch
        && let Some(branch) = &seen.agent.branch
    {
        let _ = write!(line, "; on {}", text::foreign(branch, 60));
    }
    if seen.agent.location.worktree != me.location.worktree {
        let _ = write!(line, "; in {}", text::foreign(&seen.agent.location.worktree.to_string_lossy(), 80));
    }
    line
}
