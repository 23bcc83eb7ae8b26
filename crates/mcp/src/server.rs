//! The server: one for each agent's session.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use consort_core::App;
use consort_core::engine::Engine;
use consort_core::host::Host;
use consort_core::presence::Agent;
use consort_core::presence::CallerFacts;
use consort_core::presence::Glimpse;
use consort_core::presence::Heard;
use consort_core::presence::JoinRequest;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::ServerHandler;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::model::CallToolResponse;
use rmcp::model::Implementation;
use rmcp::model::InitializeResult;
use rmcp::model::ListResourcesResult;
use rmcp::model::ListToolsResult;
use rmcp::model::PaginatedRequestParams;
use rmcp::model::ReadResourceRequestParams;
use rmcp::model::ReadResourceResponse;
use rmcp::model::ReadResourceResult;
use rmcp::model::Resource;
use rmcp::model::ResourceContents;
use rmcp::model::ServerCapabilities;
use rmcp::service::RequestContext;
use serde_json::Value;

use crate::PRIMER;
use crate::answer;
use crate::answer::Answer;
use crate::answer::Problem;
use crate::tools;

/// What surrounds the server and is not in a call.
pub trait Around: Send + Sync {
    /// Who calls, as far as processes and the environment tell.
    fn caller(&self) -> CallerFacts;

    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// What can be seen of agents from outside.
    fn look(&self, agents: &[Agent]) -> Vec<Glimpse>;

    /// Wakes an idle agent, where that can be done.
    fn wake(&self, agent: &Agent, heard: &Heard) -> bool;

    /// What it takes to register the agent that started us, of that name.
    fn join_request(&self, client: &str) -> Option<JoinRequest>;
}

/// What there is to read besides calling tools.
const RESOURCES: [(&str, &str, &str); 2] = [
    ("consort://overview", "who", "Who is here, and what each is doing"),
    ("consort://inbox", "inbox", "Messages that wait for you; reading them here marks nothing as read"),
];

pub struct Server<E, H> {
    inner: Arc<Inner<E, H>>,
}

struct Inner<E, H> {
    app: Mutex<App<E, H>>,
    around: Box<dyn Around>,
}

impl<E, H> Server<E, H>
where
    E: Engine + Send + 'static,
    H: Host + Send + 'static,
{
    pub fn new(app: App<E, H>, around: Box<dyn Around>) -> Self {
        Self { inner: Arc::new(Inner { app: Mutex::new(app), around }) }
    }

    /// Calls a tool for a client, beside whoever else is served: the store may
    /// keep it waiting.
    async fn call(
        &self,
        client: String,
        thread: Option<String>,
        tool: String,
        arguments: Value,
    ) -> Result<Option<Result<Answer, Problem>>, ErrorData> {
        let inner = Arc::clone(&self.inner);
        let call = move || {
            let mut app = inner.app.lock().unwrap_or_else(PoisonError::into_inner);
            let around = inner.around.as_ref();
            let mut room = tools::Room { app: &mut app, around, client: &client, thread };
            tools::call(&mut room, &tool, arguments)
        };
        let called = tokio::task::spawn_blocking(call).await;
        called.map_err(|error| ErrorData::internal_error(format!("the tool failed: {error}"), None))
    }
}

/// What the client calls itself.
fn client(context: &RequestContext<RoleServer>) -> String {
    context.peer.peer_info().map_or_else(|| "mcp".to_owned(), |info| info.client_info.name.clone())
}

impl<E, H> ServerHandler for Server<E, H>
where
    E: Engine + Send + 'static,
    H: Host + Send + 'static,
{
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("consort", env!("CARGO_PKG_VERSION")))
            .with_instructions(PRIMER)
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
        let meta = request.meta.as_ref();
        let thread = meta.and_then(|meta| meta.get("threadId")?.as_str().map(str::to_owned));
        let (name, arguments) = (request.name.to_string(), request.arguments.unwrap_or_default().into());
        match self.call(client(&context), thread, name.clone(), arguments).await? {
            Some(answer) => Ok(answer::result(answer).into()),
            None => Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let one = |(uri, name, about): (&str, &str, &str)| {
            Resource::new(uri, name).with_description(about).with_mime_type("text/plain")
        };
        Ok(ListResourcesResult::with_all_items(RESOURCES.map(one).to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some((uri, tool, _)) = RESOURCES.into_iter().find(|(uri, ..)| *uri == request.uri) else {
            return Err(ErrorData::resource_not_found(format!("there is no resource {}", request.uri), None));
        };
        let arguments = serde_json::json!({ "peek": true });
        let text = match self.call(client(&context), None, tool.to_owned(), arguments).await? {
            Some(Ok(answer)) => answer.text,
            Some(Err(problem)) => return Err(ErrorData::internal_error(problem.to_string(), None)),
            None => String::new(),
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }
}

/// Serves one client over standard input and output until it goes.
pub fn serve<E, H>(server: Server<E, H>) -> std::io::Result<()>
where
    E: Engine + Send + 'static,
    H: Host + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await.map_err(std::io::Error::other)?;
        running.waiting().await.map(drop).map_err(std::io::Error::other)
    })
}
