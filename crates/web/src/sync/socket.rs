//! Serves one y-websocket connection of a peer, from the handshake to the close.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::State;
use axum::extract::WebSocketUpgrade;
use axum::extract::ws::Message;
use axum::extract::ws::WebSocket;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use axum::routing::get;
use consort_core::host::ConnectionAddrs;
use consort_core::presence::Caller;
use consort_core::presence::PresenceError;
use consort_core::project::ProjectId;
use tokio::sync::mpsc;
use tokio::time;
use tokio::time::MissedTickBehavior;

use super::close_reason::CloseReason;
use super::shared_document::PeerConnection;
use super::shared_document::SharedDocument;
use super::shared_document::Speaker;
use crate::events;
use crate::guard::ApiAccess;
use crate::reply::ApiError;
use crate::server::Inner;

/// Most bytes of a frame that is accepted: a peer with more to say at once has to split it.
const LONGEST: usize = 16 << 20;
/// Most bytes of a frame that is read at all. It is larger than [`LONGEST`] because a peer that is
/// cut off in the middle of a frame does not learn why, and comes back with that frame for ever.
pub(super) const READABLE: usize = 64 << 20;

/// Interval at which a peer is sent a sign of life and asked for one. A y-websocket client
/// that receives nothing for thirty seconds connects again, and a ping does not count for it.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
/// An awareness frame about no client, which is a message without effect.
const NOTHING: &[u8] = &[1, 1, 0];
/// Most signs of life without an answer, before the peer counts as gone.
const SILENCES: u32 = 6;

/// Longest time that a peer may take to receive a frame, and to answer the close.
const PATIENCE: Duration = Duration::from_secs(30);
const FAREWELL: Duration = Duration::from_secs(1);

pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/sync/{*project}", get(begin))
}

async fn begin(
    State(inner): State<Arc<Inner>>,
    Path(named): Path<String>,
    Extension(access): Extension<ApiAccess>,
    ends: Option<Extension<ConnectionAddrs>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, ApiError> {
    let ends = ends.map(|Extension(ends)| ends);
    let look = inner.with(move |app, calls| {
        let project = app.find_project(&named).map_err(|error| match error {
            PresenceError::NoSuchProject { .. } => ApiError::from(error).into_not_found(),
            error => error.into(),
        })?;
        // As everywhere, a caller that is neither an agent nor the person may only read.
        if access != ApiAccess::Read
            && let Caller::Anonymous(why) = app.caller(&access.add_proof(calls.caller(ends)))?
        {
            return Err(PresenceError::from(why).into());
        }
        Ok(project.id)
    });
    let project = look.await?;
    let upgrade = upgrade.map_err(|rejection| ApiError::malformed(rejection.body_text()))?;
    let lives = inner.sockets.token();
    Ok(upgrade.max_message_size(READABLE).max_frame_size(READABLE).on_upgrade(async move |socket| {
        serve(inner, project, access, socket).await;
        drop(lives);
    }))
}

/// One end of a websocket connection, the server's or the client's.
pub(super) trait PeerSocket {
    /// Receives the next message; `None` if the other end has gone.
    fn receive(&mut self) -> impl Future<Output = Option<Result<Message, String>>> + Send;

    /// Sends a message; `None` if that fails.
    fn transmit(&mut self, message: Message) -> impl Future<Output = Option<()>> + Send;
}

impl PeerSocket for WebSocket {
    async fn receive(&mut self) -> Option<Result<Message, String>> {
        Some(self.recv().await?.map_err(|error| error.to_string()))
    }

    async fn transmit(&mut self, message: Message) -> Option<()> {
        self.send(message).await.ok()
    }
}

async fn serve(inner: Arc<Inner>, project: ProjectId, access: ApiAccess, mut socket: WebSocket) {
    sync_with_peer(&inner, project, access, &mut socket).await;
}

/// Keeps a project's knowledge in sync with the peer at the other end, until either side goes.
pub(super) async fn sync_with_peer(
    inner: &Arc<Inner>,
    project: ProjectId,
    access: ApiAccess,
    socket: &mut impl PeerSocket,
) {
    let (seat, frames) = inner.rooms.enter(project);
    if seat.is_first {
        tokio::spawn(follow_project(Arc::clone(inner), Arc::clone(&seat.room)));
    }
    let goodbye = tokio::select! {
        goodbye = converse(inner, &seat, access, socket, frames) => goodbye,
        () = inner.end.cancelled() => Some(CloseReason::ending()),
    };
    drop(seat);
    if let Some(goodbye) = goodbye {
        let farewell = async {
            let _ = socket.transmit(goodbye.message()).await;
            // Reads and discards what the peer still sends: if it were left unread, the peer
            // might not get our close frame.
            while let Some(Ok(_)) = socket.receive().await {}
        };
        let _ = time::timeout(FAREWELL, farewell).await;
    }
}

/// Brings news from the journal into a shared document, as long as a peer is connected.
async fn follow_project(inner: Arc<Inner>, room: Arc<SharedDocument>) {
    // Without a listener the peers would get no news, so they are disconnected.
    let Ok(mut news) = events::news(&inner, Some(room.project.clone())) else { return room.clear() };
    loop {
        tokio::select! {
            notice = news.recv() => if notice.is_none() { return },
            () = room.empty.cancelled() => return,
            () = inner.end.cancelled() => return,
        }
        let here = Arc::clone(&room);
        // A busy store is no reason to stop; the next attempt may succeed.
        let _ = inner.with(move |app, _| Ok(here.catch_up(app))).await;
    }
}

/// Exchanges frames with a peer until the connection is to be closed; `None` if the peer has gone.
async fn converse(
    inner: &Arc<Inner>,
    seat: &PeerConnection<'_>,
    access: ApiAccess,
    socket: &mut impl PeerSocket,
    mut frames: mpsc::Receiver<Bytes>,
) -> Option<CloseReason> {
    let (room, peer) = (&seat.room, seat.peer);
    let mut speaker = Speaker { peer, may_write: access != ApiAccess::Read, was_asked: false };
    let here = Arc::clone(room);
    let greeted = inner.with(move |app, _| Ok(here.greet(app, peer))).await;
    if let Err(goodbye) = greeted.unwrap_or_else(|refusal| Err(CloseReason::later(refusal.message()))) {
        return Some(goodbye);
    }
    let mut signs = time::interval(SIGN_OF_LIFE);
    // Ticks that were missed while a frame was handled do not count as the peer's silence.
    signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silences = 0;
    loop {
        tokio::select! {
            frame = frames.recv() => match frame {
                Some(frame) => send(socket, Message::Binary(frame)).await?,
                None => return Some(CloseReason::behind()),
            },
            _ = signs.tick() => {
                silences += 1;
                if silences > SILENCES {
                    return None;
                }
                send(socket, Message::Ping(Bytes::new())).await?;
                send(socket, Message::Binary(Bytes::from_static(NOTHING))).await?;
            }
            message = socket.receive() => {
                silences = 0;
                let frame = match message? {
                    Ok(Message::Binary(frame)) if frame.len() > LONGEST => {
                        return Some(CloseReason::malformed(format_args!("a frame of more than {LONGEST} bytes")));
                    }
                    Ok(Message::Binary(frame)) => frame,
                    Ok(Message::Text(_)) => return Some(CloseReason::malformed("frames are binary")),
                    Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                    Ok(Message::Close(_)) => return None,
                    Err(error) => return Some(CloseReason::malformed(error)),
                };
                let here = Arc::clone(room);
                let heard = inner.with(move |app, _| Ok(here.hear(app, &speaker, &frame))).await;
                match heard.unwrap_or_else(|refusal| Err(CloseReason::later(refusal.message()))) {
                    Ok(is_gap) => speaker.was_asked = is_gap,
                    Err(goodbye) => return Some(goodbye),
                }
            }
        }
    }
}

/// Sends a message within [`PATIENCE`]; `None` if that fails.
async fn send(socket: &mut impl PeerSocket, message: Message) -> Option<()> {
    time::timeout(PATIENCE, socket.transmit(message)).await.ok()?
}
