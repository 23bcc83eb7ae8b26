//! Hook event: the agent asks the person for a permission, an answer or a plan's approval. A
//! rule of the person's may decide at once; otherwise the question is kept where the person sees it.

use consort_core::App;
use consort_core::hooks::AskCall;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::policy::AnswerDeliverer;
use consort_core::policy::AskRequest;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::PresenceError;
use consort_core::presence::Status;
use consort_core::text;

use super::note_activity;
use crate::HookAnswer;
use crate::HookContext;
use crate::policy;
use crate::tool_files::tool_files;

pub(crate) fn handle(
    app: &mut App,
    call: &HookCall,
    context: &dyn HookContext,
    asked: &AskCall,
) -> Result<HookAnswer, PresenceError> {
    if asked.dialog != Dialog::MayNotCome {
        let what = format!("{} for {}", asked.kind.as_str(), asked.tool.name);
        let waiting = ActivityUpdate {
            waiting_for: Some(text::one_line(&what, 120)),
            ..ActivityUpdate::of(Status::Waiting)
        };
        note_activity(app, call, context, &waiting);
    }
    let may_wait = match asked.dialog {
        Dialog::IsUsable => context.is_attended(),
        // The CLI's dialog is hidden while the hook waits: wait only while the person looks at our list.
        Dialog::IsHidden => app.is_question_list_watched(),
        Dialog::MayNotCome => false,
    };
    let me = app.host().me().filter(|_| may_wait);
    let holder = me.map(|process| AnswerDeliverer { machine: app.host().name(), process });
    let files = tool_files(app.host(), call, context, &asked.tool);
    let request = policy::request(app.host(), &call.cwd, &asked.tool, &files);
    let is_asked = asked.dialog != Dialog::MayNotCome;
    let ask = policy::ask(call, asked, &request, holder);
    let outcome = app.ask(AskRequest { ask, request, cwd: &call.cwd, is_asked })?;
    Ok(HookAnswer { ask: Some(outcome), ..HookAnswer::SILENCE })
}
