//! Hook event: the person sent a prompt. The agent is now working, gets its waiting mail,
//! and is told of agents whose work may collide with its own.

use consort_core::App;
use consort_core::hooks::HookCall;
use consort_core::messages::DeliveryPoint;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;

use super::end_commands;
use super::mail_beside;
use super::news;
use super::note_activity;
use super::roster_news;
use super::told;
use crate::HookAnswer;
use crate::HookContext;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    prompt: &str,
) -> Result<HookAnswer, PresenceError> {
    // If our own words keep a turn going, they come back as a prompt.
    let is_ours = prompt.trim_start().starts_with("[consort]") || prompt.contains("from-name=\"consort\"");
    let working = ActivityUpdate {
        prompt: !is_ours,
        model: call.model.clone(),
        asks_first: call.asks_first,
        ..ActivityUpdate::of(Status::Working)
    };
    note_activity(app, call, context, &working);
    if !call.in_subagent && !is_ours {
        let _ = app.notice_changed_files(&call.session);
    }
    let mut words: Vec<String> = app.take_kept_texts(&call.session).into_iter().collect();
    words.extend(end_commands(app, call, context, true));
    words.extend(news(app, call, context, false));
    words.extend(roster_news(app, call, context));
    if !call.in_subagent && !is_ours {
        words.extend(app.person_saves_notice(&call.session).ok().flatten());
        words.extend(app.remind_of_forgotten(&call.session).ok().flatten());
    }
    // A failed prediction stops no mail.
    if !call.in_subagent && !is_ours {
        words.extend(
            app.note_prompt(&call.session, prompt, &|name| context.variable(name)).unwrap_or_default(),
        );
    }
    let mail = mail_beside(app, call, context, DeliveryPoint::Prompt, &words)?;
    Ok(told(words, mail))
}
