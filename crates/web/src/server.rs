//! The HTTP server: puts the routes together, accepts connections, and closes them at the end.

use std::convert::Infallible;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::extract::connect_info::Connected;
use axum::middleware;
use axum::response::IntoResponse;
use axum::serve::IncomingStream;
use axum::serve::Listener;
use consort_core::App;
use consort_core::OpenApp;
use consort_core::call_context::ServedContext;
use consort_core::host::ConnectionAddrs;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Tokens;
use crate::api;
use crate::events;
use crate::guard;
use crate::guard::Guard;
use crate::reply::ApiError;
use crate::sync;
use crate::sync::SharedDocuments;

/// Longest time that connections may take to end once they are asked to.
const PATIENCE: Duration = Duration::from_secs(3);

pub struct HttpServer {
    inner: Arc<Inner>,
    guard: Guard,
    others: Router,
}

pub(crate) struct Inner {
    open: OpenApp,
    pub(crate) calls: Arc<dyn ServedContext>,
    /// Cancelled when the server is to end.
    pub(crate) end: CancellationToken,
    pub(crate) rooms: SharedDocuments,
    /// The upgraded connections that the HTTP server no longer owns.
    pub(crate) sockets: TaskTracker,
}

impl Inner {
    /// Makes the state of a server to which no peer is connected.
    pub(crate) fn new(open: OpenApp, calls: Arc<dyn ServedContext>, end: CancellationToken) -> Self {
        let (rooms, sockets) = (SharedDocuments::default(), TaskTracker::new());
        Self { open, calls, end, rooms, sockets }
    }

    /// Runs `work` on a thread of its own with a store opened for it alone: a slow call delays no
    /// other.
    pub(crate) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut App, &dyn ServedContext) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let inner = Arc::clone(self);
        let work = move || {
            let mut app = (inner.open)();
            work(&mut app, inner.calls.as_ref())
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(ApiError::internal(format!("the call failed: {error}"))))
    }
}

impl HttpServer {
    /// Makes a server that runs until `end` is cancelled.
    pub fn new(open: OpenApp, calls: Arc<dyn ServedContext>, tokens: Tokens, end: CancellationToken) -> Self {
        let inner = Arc::new(Inner::new(open, calls, end));
        Self { inner, guard: Guard { tokens, hosts: Vec::new() }, others: Router::new() }
    }

    /// Adds host names by which the server may be called, besides those of the loopback address.
    pub fn with_host_names(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.guard.hosts.extend(hosts.into_iter().map(|host| guard::host_name(&host)));
        self
    }

    /// Adds another service at `path`, behind the same guard.
    pub fn with_service<S>(mut self, path: &str, service: S) -> Self
    where
        S: tower_service::Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send + 'static,
    {
        self.others = self.others.route_service(path, service);
        self
    }

    /// Serves all clients until the end; then closes every connection within a few seconds.
    pub async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        let Self { inner, guard, others } = self;
        let end = inner.end.clone();
        let router = Router::new()
            .merge(api::routes())
            .merge(events::routes())
            .merge(sync::routes())
            .with_state(Arc::clone(&inner))
            .merge(others)
            .fallback(async || ApiError::not_found())
            .method_not_allowed_fallback(async || ApiError::not_found())
            .layer(middleware::from_fn_with_state(Arc::new(guard), guard::guard));
        let ended = end.clone();
        let serving =
            axum::serve(Undelayed(listener), router.into_make_service_with_connect_info::<Connection>())
                .with_graceful_shutdown(async move { ended.cancelled().await })
                .into_future();
        let serving = async {
            let served = serving.await;
            inner.sockets.close();
            inner.sockets.wait().await;
            served
        };
        tokio::select! {
            served = serving => served,
            () = async { end.cancelled().await; tokio::time::sleep(PATIENCE).await } => Ok(()),
        }
    }
}

/// The addresses of a connection, if they are known.
#[derive(Clone, Copy)]
pub(crate) struct Connection(pub(crate) Option<ConnectionAddrs>);

impl Connected<IncomingStream<'_, Undelayed>> for Connection {
    fn connect_info(stream: IncomingStream<'_, Undelayed>) -> Self {
        let local = stream.io().local_addr().ok();
        Self(local.map(|local| ConnectionAddrs { peer: *stream.remote_addr(), local }))
    }
}

/// Accepts connections with `TCP_NODELAY`: otherwise the second half of a small answer
/// waits until the client acknowledges the first, which it may delay by 40 ms.
struct Undelayed(TcpListener);

impl Listener for Undelayed {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        // Without it the connection is only slower.
        let _ = stream.set_nodelay(true);
        (stream, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
