//! The two transports of the MCP server: standard input and output, and HTTP.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio_util::sync::CancellationToken;

use crate::Server;

/// Longest time that a client may say nothing before it counts as gone.
const LONGEST_SILENCE: Duration = Duration::from_secs(12 * 3600);

/// Serves one client over standard input and output until it goes.
pub fn serve(server: Server) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await.map_err(std::io::Error::other)?;
        running.waiting().await.map(drop).map_err(std::io::Error::other)
    });
    // A pending read of standard input cannot be cancelled, so the shutdown does not wait for it.
    runtime.shutdown_background();
    served
}

/// Makes the service for clients over HTTP, until `end`. The HTTP server around it decides which
/// requests are let in.
pub fn service(server: Server, end: CancellationToken) -> StreamableHttpService<Server, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(end)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    // An idle agent is the very one that should be notified of mail.
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(LONGEST_SILENCE);
    StreamableHttpService::new(move || Ok(server.for_another()), Arc::new(sessions), config)
}
