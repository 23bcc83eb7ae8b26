//! The MCP server, one for each client: answers the client's requests, and finds out which
//! agent the client is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_core::OpenApp;
use consort_core::call_context::ServedContext;
use consort_core::host::ConnectionAddrs;
use consort_core::journal::Actor;
use consort_core::messages::Letter;
use consort_core::primer;
use consort_knowledge::CancelOnDrop;
use consort_knowledge::Session;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::ServerHandler;
use rmcp::model::CallToolRequestParams;
use rmcp::model::CallToolResponse;
use rmcp::model::Extensions;
use rmcp::model::GetPromptRequestParams;
use rmcp::model::GetPromptResponse;
use rmcp::model::GetPromptResult;
use rmcp::model::Implementation;
use rmcp::model::InitializeResult;
use rmcp::model::ListPromptsResult;
use rmcp::model::ListResourceTemplatesResult;
use rmcp::model::ListResourcesResult;
use rmcp::model::ListToolsResult;
use rmcp::model::PaginatedRequestParams;
use rmcp::model::Prompt;
use rmcp::model::PromptMessage;
use rmcp::model::ReadResourceRequestParams;
use rmcp::model::ReadResourceResponse;
use rmcp::model::ReadResourceResult;
use rmcp::model::ResourceContents;
use rmcp::model::Role;
use rmcp::model::ServerCapabilities;
use rmcp::model::SubscribeRequestParams;
use rmcp::model::SubscriptionFilter;
use rmcp::model::UnsubscribeRequestParams;
use rmcp::service::NotificationContext;
use rmcp::service::RequestContext;
use rmcp::service::SubscriptionContext;
use serde_json::json;
use tokio::sync::Mutex as AsyncMutex;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::answer;
use crate::lock;
use crate::resources;
use crate::tools;
use crate::tools::ToolContext;
use crate::watch;
use crate::watch::MailWatch;

/// The one prompt, for a person who wants to remind a session of the other agents.
const PROMPT: &str = "primer";

/// Time after which the agent of a listening client is looked for again, if it was not known.
const SOON: Duration = Duration::from_secs(3);

/// The server for one client. Every request opens the store for itself, so a
/// slow one delays no other.
pub struct Server {
    shared: Arc<ServerState>,
    watch: MailWatch,
    /// The definitions of the client's queries, locked by a query while it runs. Further queries of
    /// the client wait without a thread, so that one client cannot take all threads.
    session: Arc<AsyncMutex<Session>>,
}

/// The state that the servers of all clients share.
struct ServerState {
    open: OpenApp,
    calls: Arc<dyn ServedContext>,
    /// The project that questions are about unless they name another.
    project: Option<String>,
    /// The letters that were handed over with an answer; they are read once their agent calls again.
    handed: Mutex<Unconfirmed>,
    /// Numbers requests as they come and answers as they go, to tell which was first.
    moments: AtomicU64,
}

impl ServerState {
    fn next_moment(&self) -> u64 {
        self.moments.fetch_add(1, Ordering::AcqRel)
    }
}

/// The letters that were delivered and are not known to have arrived, by mailbox.
pub(crate) type Unconfirmed = BTreeMap<Actor, Vec<UnconfirmedBatch>>;

/// The letters in one answer. A later request over the same connection proves that they have
/// arrived. A request that came before the answer proves nothing, nor does one over another
/// connection: the first may have broken before the answer arrived.
pub(crate) struct UnconfirmedBatch {
    pub(crate) letters: Vec<Letter>,
    pub(crate) answered: u64,
    /// The connection that carried the answer.
    pub(crate) ends: Option<ConnectionAddrs>,
}

/// The client, connection and project that a request comes from.
pub(crate) struct Origin {
    /// The name that the client gives itself.
    pub(crate) client: String,
    /// The session that calls, of several in one process, if the client tells.
    pub(crate) thread: Option<String>,
    /// The connection of a request over the network.
    pub(crate) ends: Option<ConnectionAddrs>,
    /// Whether the client stays connected after this request.
    stays: bool,
    /// The project that its questions are about, if its URL or its server names one.
    pub(crate) project: Option<String>,
}

impl Origin {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            client: context.client_info().map_or_else(|| "mcp".to_owned(), |info| info.name),
            thread: context.meta.get("threadId").and_then(|thread| thread.as_str()).map(str::to_owned),
            ..Self::from_parts(&context.extensions)
        }
    }

    fn from_parts(extensions: &Extensions) -> Self {
        let parts = extensions.get::<http::request::Parts>();
        Self {
            client: String::new(),
            thread: None,
            ends: parts.and_then(|parts| parts.extensions.get().copied()),
            stays: parts.is_none_or(|parts| parts.headers.contains_key("mcp-session-id")),
            project: parts.and_then(|parts| project_of(parts.uri.query()?)),
        }
    }
}

impl Server {
    pub fn new(open: OpenApp, calls: Arc<dyn ServedContext>) -> Self {
        Self::for_project(open, calls, None)
    }

    /// Makes a server for the project of this name instead of that of the client's directory.
    pub fn for_project(open: OpenApp, calls: Arc<dyn ServedContext>, project: Option<String>) -> Self {
        let (handed, moments) = (Mutex::default(), AtomicU64::new(0));
        Self::of(Arc::new(ServerState { open, calls, project, handed, moments }))
    }

    /// Makes a server for another client that shares this one's state.
    pub(crate) fn for_another(&self) -> Self {
        Self::of(Arc::clone(&self.shared))
    }

    fn of(shared: Arc<ServerState>) -> Self {
        Self { shared, watch: MailWatch::default(), session: Arc::new(AsyncMutex::new(Session::new())) }
    }

    /// Serves a client's request on a thread of its own, because the store may keep it
    /// waiting. If the client stays and its agent is known, it is notified of mail from then on.
    async fn serve<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        serve: impl FnOnce(&mut ToolContext<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.serve_in(None, context, serve).await
    }

    async fn serve_in<T: Send + 'static>(
        &self,
        session: Option<OwnedMutexGuard<Session>>,
        context: &RequestContext<RoleServer>,
        serve: impl FnOnce(&mut ToolContext<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let (mut origin, gone) = (Origin::of(context), context.ct.clone());
        origin.project = origin.project.or_else(|| self.shared.project.clone());
        let stays = origin.stays;
        let (done, known) = self.ask(origin, session, gone, serve).await?;
        if let Some(known) = known.filter(|_| stays) {
            self.watch.begin(self.shared.calls.as_ref(), known, context.peer.clone());
        }
        Ok(done)
    }

    async fn ask<T: Send + 'static>(
        &self,
        origin: Origin,
        session: Option<OwnedMutexGuard<Session>>,
        gone: CancellationToken,
        serve: impl FnOnce(&mut ToolContext<'_>) -> T + Send + 'static,
    ) -> Result<(T, Option<Actor>), ErrorData> {
        let shared = Arc::clone(&self.shared);
        let came = shared.next_moment();
        let calling_off = CancelOnDrop::default();
        let (is_cancelled, has_gone) = (calling_off.flag(), gone.clone());
        let serve = move || {
            let calls = shared.calls.as_ref();
            let mut tool = ToolContext::new((shared.open)(), calls, &shared.handed, origin, came);
            (tool.session, tool.is_cancelled) = (session, is_cancelled);
            let done = serve(&mut tool);
            let (known, letters) = (tool.known.take(), std::mem::take(&mut tool.handing));
            match &known {
                // The request was cancelled: nobody reads the answer.
                Some(mailbox) if has_gone.is_cancelled() => drop(tool.app.mark_not_shown(mailbox, &letters)),
                Some(mailbox) if !letters.is_empty() => {
                    let batch =
                        UnconfirmedBatch { letters, answered: shared.next_moment(), ends: tool.origin.ends };
                    lock(&shared.handed).entry(mailbox.clone()).or_default().push(batch);
                }
                _ => {}
            }
            (done, known)
        };
        let mut serving = tokio::task::spawn_blocking(serve);
        let served = tokio::select! {
            served = &mut serving => served,
            () = gone.cancelled() => {
                drop(calling_off);
                serving.await
            }
        };
        served.map_err(|error| ErrorData::internal_error(format!("the request failed: {error}"), None))
    }

    /// Finds the mailbox of a client, if its agent is known.
    async fn known(&self, origin: Origin) -> Option<Actor> {
        let asked =
            self.ask(origin, None, CancellationToken::new(), |tool| tool.registered_caller().map(drop)).await;
        asked.ok().and_then(|(_, known)| known)
    }
}

/// Decodes the `project` parameter of a URL's query.
fn project_of(query: &str) -> Option<String> {
    let coded = query.split('&').find_map(|pair| pair.strip_prefix("project="))?.replace('+', " ");
    let mut decoded = Vec::new();
    let mut rest = coded.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(decoded).ok().filter(|project| !project.is_empty())
}

/// Refuses a URI that no resource can have.
fn known(uri: &str) -> Result<(), ErrorData> {
    if resources::exists(uri) { Ok(()) } else { Err(no_resource(uri)) }
}

fn no_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(format!("there is no resource {uri}"), Some(json!({ "uri": uri })))
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("consort", env!("CARGO_PKG_VERSION")))
            .with_instructions(primer::for_tools())
    }

    /// Begins to notify an agent of mail at once, if its hooks have announced it.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(mailbox) = self.known(Origin::from_parts(&context.extensions)).await {
            self.watch.begin(self.shared.calls.as_ref(), mailbox, context.peer.clone());
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::catalogue()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (name, arguments) = (request.name.to_string(), request.arguments.unwrap_or_default().into());
        let called = name.clone();
        let call = move |tool: &mut ToolContext<'_>| {
            tools::call(tool, &called, arguments)
                .map(|answer| answer::result(answer, tool.mail_notice(&called)))
        };
        let session = if name == tools::QUERY {
            let turn = Arc::clone(&self.session).lock_owned();
            let turn = context.ct.run_until_cancelled(turn).await;
            Some(turn.ok_or_else(|| ErrorData::internal_error("cancelled", None))?)
        } else {
            None
        };
        match self.serve_in(session, &context, call).await? {
            Some(result) => Ok(result.into()),
            None => Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.serve(&context, resources::list).await?))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let read = move |tool: &mut ToolContext<'_>| resources::read(tool, &uri);
        match self.serve(&context, read).await? {
            Ok(Some(text)) => {
                Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
            }
            Ok(None) => Err(no_resource(&request.uri)),
            Err(problem) => Err(ErrorData::internal_error(problem.to_string(), None)),
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let about = "How to work with the other agents of this project";
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new(PROMPT, Some(about), None)]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            return Err(ErrorData::invalid_params(format!("there is no prompt `{}`", request.name), None));
        }
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, primer::for_tools())]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        known(&request.uri)?;
        self.serve(&context, |tool| tool.registered_caller().map(drop)).await?.ok();
        self.watch.subscribe(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watch.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let listen = async {
            loop {
                // An agent does not join by listening: if it is not known yet, look again later.
                if let Some(mailbox) = self.known(Origin::of(context.request_context())).await {
                    return watch::listen(self.shared.calls.as_ref(), &mailbox, &context).await;
                }
                tokio::time::sleep(SOON).await;
            }
        };
        tokio::select! {
            () = listen => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_in_the_url_is_decoded() {
        for (query, expected) in [
            ("project=shop", Some("shop")),
            ("a=1&project=my%20shop%2Fx&b", Some("my shop/x")),
            ("project=a+b%", Some("a b%")),
            ("project=", None),
            ("projects=x", None),
            ("project=%ff", None),
        ] {
            assert_eq!(project_of(query).as_deref(), expected, "{query}");
        }
    }
}
