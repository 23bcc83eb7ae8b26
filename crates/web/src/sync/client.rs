//! The client end of a y-websocket connection: exchanges knowledge with a server
//! elsewhere, and connects again when the connection breaks.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::Message;
use consort_core::OpenApp;
use consort_core::call_context::ServedContext;
use consort_core::project::ProjectId;
use futures_util::SinkExt as _;
use futures_util::StreamExt as _;
use tokio::net::TcpStream;
use tokio::time;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::CancellationToken;

use super::socket;
use super::socket::PeerSocket;
use super::socket::READABLE;
use crate::guard::ApiAccess;
use crate::server::Inner;

/// Longest time that a connection may take to be made, and the first and longest pause between
/// two attempts.
const PATIENCE: Duration = Duration::from_secs(20);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Time that a connection must have lasted for the pauses to begin again with the first.
const GOOD: Duration = Duration::from_secs(10);

/// The address, path and token of a server elsewhere.
#[derive(Clone, Debug)]
pub struct Remote {
    /// `host:port`.
    pub address: String,
    /// `/sync/<project>`, escaped.
    pub path: String,
    pub token: String,
}

/// The reason why another attempt would be useless.
#[derive(Debug, PartialEq, Eq)]
pub enum SyncError {
    /// The server does not let us in: the status and the server's message.
    Refused(u16, String),
    /// The one exchange that was asked for failed.
    Broken(String),
}

/// A change of the connection, to be shown to the person.
#[derive(Debug, PartialEq, Eq)]
pub enum SyncConnectionChange {
    Connected,
    /// The connection broke for this reason, and is made again after this pause.
    Lost(String, Duration),
}

/// A client that exchanges a project's knowledge with a server elsewhere until `end`, or once.
pub struct SyncClient {
    inner: Arc<Inner>,
}

impl SyncClient {
    pub fn new(open: OpenApp, calls: Arc<dyn ServedContext>, end: CancellationToken) -> Self {
        Self { inner: Arc::new(Inner::new(open, calls, end)) }
    }

    /// Exchanges knowledge until the end or, with `once`, until each side has what the other had.
    pub async fn run(
        &self,
        project: &ProjectId,
        remote: &Remote,
        once: bool,
        mut news: impl FnMut(SyncConnectionChange),
    ) -> Result<(), SyncError> {
        let mut pause = FIRST_PAUSE;
        loop {
            let begun = time::Instant::now();
            let end = tokio::select! {
                end = self.exchange(project, remote, once, &mut news) => end?,
                () = self.inner.end.cancelled() => return Ok(()),
            };
            let why = match end {
                End::Done => return Ok(()),
                End::Lost(why) if once => return Err(SyncError::Broken(why)),
                End::Lost(why) => why,
            };
            if begun.elapsed() >= GOOD {
                pause = FIRST_PAUSE;
            }
            news(SyncConnectionChange::Lost(why, pause));
            tokio::select! {
                () = time::sleep(pause) => {}
                () = self.inner.end.cancelled() => return Ok(()),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Makes one connection and exchanges knowledge over it until it ends.
    async fn exchange(
        &self,
        project: &ProjectId,
        remote: &Remote,
        once: bool,
        news: &mut impl FnMut(SyncConnectionChange),
    ) -> Result<End, SyncError> {
        let mut socket = match time::timeout(PATIENCE, connect(remote)).await {
            Ok(Ok(stream)) => ClientSocket { stream, rounds: once.then(Rounds::default), closed: None },
            Ok(Err(ConnectError::Refused(status, said))) => return Err(SyncError::Refused(status, said)),
            Ok(Err(ConnectError::Failed(why))) => return Ok(End::Lost(why)),
            Err(_) => return Ok(End::Lost("it does not answer".to_owned())),
        };
        news(SyncConnectionChange::Connected);
        socket::sync_with_peer(&self.inner, project.clone(), ApiAccess::All, &mut socket).await;
        match socket.closed {
            // These codes say that connecting again would not help.
            Some((code @ 4400..4500, why)) => Err(SyncError::Refused(code, why)),
            Some((_, why)) => Ok(End::Lost(why)),
            None if socket.rounds.is_some_and(|rounds| rounds.is_done()) => Ok(End::Done),
            None => Ok(End::Lost("the connection broke".to_owned())),
        }
    }
}

enum End {
    Done,
    Lost(String),
}

enum ConnectError {
    Refused(u16, String),
    Failed(String),
}

type Stream = tokio_tungstenite::WebSocketStream<TcpStream>;

async fn connect(remote: &Remote) -> Result<Stream, ConnectError> {
    let failed = |error: &dyn std::fmt::Display| ConnectError::Failed(error.to_string());
    let request = format!("ws://{}{}", remote.address, remote.path).into_client_request();
    let mut request = request.map_err(|error| ConnectError::Refused(400, error.to_string()))?;
    let bearer = http::HeaderValue::from_str(&format!("Bearer {}", remote.token));
    let bearer = bearer.map_err(|_| ConnectError::Refused(401, "the token has odd characters".to_owned()))?;
    request.headers_mut().insert(http::header::AUTHORIZATION, bearer);
    let stream = TcpStream::connect(&remote.address).await.map_err(|error| failed(&error))?;
    let _ = stream.set_nodelay(true);
    let limits = WebSocketConfig::default().max_message_size(Some(READABLE)).max_frame_size(Some(READABLE));
    match tokio_tungstenite::client_async_with_config(request, stream, Some(limits)).await {
        Ok((stream, _)) => Ok(stream),
        Err(tungstenite::Error::Http(response)) if response.status().is_client_error() => {
            let said = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            Err(ConnectError::Refused(response.status().as_u16(), said.into_owned()))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Beginnings of the frames that say what a side has (`0 0 …`) and what the other lacks (`0 1 …`).
const HAVE: &[u8] = &[0, 0];
const LACK: &[u8] = &[0, 1];

/// The progress of one exchange. It is complete once each side was sent what it lacked, and the
/// server has answered a question that we sent after that.
#[derive(Default)]
struct Rounds {
    /// Our own first frame.
    have: Bytes,
    /// The number of times that `have` was sent, and answered.
    asked: usize,
    answered: usize,
    has_told: bool,
}

impl Rounds {
    fn is_done(&self) -> bool {
        self.has_told && self.answered >= self.asked
    }

    fn note_received(&mut self, frame: &[u8]) {
        self.answered += usize::from(frame.starts_with(LACK));
    }

    /// Notes a frame that is sent, and returns the frame to send after it.
    fn note_sent(&mut self, frame: &Bytes) -> Option<Bytes> {
        if frame.starts_with(HAVE) {
            self.asked += 1;
            self.have = frame.clone();
        }
        if !frame.starts_with(LACK) || self.has_told || self.asked == 0 {
            return None;
        }
        self.has_told = true;
        self.asked += 1;
        Some(self.have.clone())
    }
}

/// The client's end of a connection, as a [`PeerSocket`] like the server's.
struct ClientSocket {
    stream: Stream,
    /// The progress, if only one exchange was asked for.
    rounds: Option<Rounds>,
    /// The code and reason with which the server closed the connection.
    closed: Option<(u16, String)>,
}

impl PeerSocket for ClientSocket {
    async fn receive(&mut self) -> Option<Result<Message, String>> {
        if self.rounds.as_ref().is_some_and(Rounds::is_done) {
            return None;
        }
        let message = match self.stream.next().await? {
            Ok(message) => message,
            Err(error) => return Some(Err(error.to_string())),
        };
        Some(Ok(match message {
            tungstenite::Message::Binary(frame) => {
                self.rounds.iter_mut().for_each(|rounds| rounds.note_received(&frame));
                Message::Binary(frame)
            }
            tungstenite::Message::Text(_) => Message::Text(axum::extract::ws::Utf8Bytes::default()),
            tungstenite::Message::Close(reason) => {
                self.closed = reason.map(|reason| (reason.code.into(), reason.reason.to_string()));
                Message::Close(None)
            }
            _ => Message::Pong(Bytes::new()),
        }))
    }

    async fn transmit(&mut self, message: Message) -> Option<()> {
        let message = match message {
            Message::Binary(frame) => {
                let next = self.rounds.as_mut().and_then(|rounds| rounds.note_sent(&frame));
                self.stream.send(tungstenite::Message::Binary(frame)).await.ok()?;
                let Some(next) = next else { return Some(()) };
                tungstenite::Message::Binary(next)
            }
            Message::Close(_) => tungstenite::Message::Close(None),
            _ => tungstenite::Message::Ping(Bytes::new()),
        };
        self.stream.send(message).await.ok()
    }
}
