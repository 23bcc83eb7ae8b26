//! Streams the journal over HTTP as it grows, as server-sent events.
//!
//! An event's id is its entry's number, so that a client which comes back with
//! the last id it saw misses nothing and sees nothing twice.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Query;
use axum::extract::State;
use axum::extract::rejection::QueryRejection;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::Sse;
use axum::response::sse::Event;
use axum::response::sse::KeepAlive;
use axum::routing::get;
use consort_core::call_context;
use consort_core::host::NewsTopic;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::project::ProjectId;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::reply::ApiError;
use crate::server::Inner;

/// Most entries that are read at once.
const BATCH: usize = 200;

/// Longest time until a stream looks at the journal without news, and until it sends a sign of life.
const NAP: Duration = Duration::from_secs(5);
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

pub(crate) fn routes() -> Router<Arc<Inner>> {
    Router::new().route("/api/events", get(events))
}

#[derive(Deserialize)]
struct EventsQuery {
    /// The name or id of a project; without it, every project.
    project: Option<String>,
    /// The last entry that the client saw; without it, only entries from now on are sent.
    after: Option<Seq>,
}

async fn events(
    State(inner): State<Arc<Inner>>,
    wish: Result<Query<EventsQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let Query(wish) = wish.map_err(|error| ApiError::malformed(error.body_text()))?;
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let (project, last) = inner
        .with(move |app, _| {
            let project = wish.project.map(|named| app.find_project(&named)).transpose()?;
            let last = seen.or(wish.after).map_or_else(|| app.journal_last_seq(), Ok)?;
            Ok((project.map(|project| project.id), last))
        })
        .await?;
    let (send, receive) = mpsc::channel(BATCH);
    let end = inner.end.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = follow(&inner, project, last, send) => {}
            () = end.cancelled() => {}
        }
    });
    let stream = Sse::new(ReceiverStream::new(receive)).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE));
    Ok(([("x-accel-buffering", "no")], stream))
}

type EventSender = mpsc::Sender<Result<Event, Infallible>>;

/// Sends every entry after `last`, until nobody listens.
async fn follow(inner: &Arc<Inner>, project: Option<ProjectId>, mut last: Seq, listener: EventSender) {
    // Listens before the first look, so that no entry is missed between the two.
    let Ok(mut news) = news(inner, project.clone()) else { return };
    loop {
        let request = TailRequest { after: Some(last), since: None, project: project.clone(), limit: BATCH };
        let look = inner.with(move |app, _| Ok((app.journal_tail(&request)?, app.journal_last_seq()?))).await;
        // A busy store counts as no entries; the next look may succeed.
        let (entries, newest) = look.unwrap_or_default();
        let is_more = entries.len() == BATCH;
        for entry in &entries {
            let event = Event::default().id(entry.seq.to_string()).json_data(entry);
            let Ok(event) = event else { continue };
            if listener.send(Ok(event)).await.is_err() {
                return;
            }
            last = entry.seq;
        }
        if newest > 0 && newest < last {
            // The store was replaced by another, whose numbers begin again.
            last = 0;
            let reset = Event::default().event("reset").data("the store was replaced");
            if listener.send(Ok(reset)).await.is_err() {
                return;
            }
        } else if !is_more {
            tokio::select! {
                notice = news.recv() => if notice.is_none() { return },
                () = listener.closed() => return,
            }
        }
    }
}

/// Returns a channel that gets a notice when the journal has grown, and after every `NAP` without
/// news.
pub(crate) fn news(inner: &Arc<Inner>, project: Option<ProjectId>) -> std::io::Result<mpsc::Receiver<()>> {
    let listener = inner.calls.listen(project.map(NewsTopic::Project).as_ref())?;
    let (notice, news) = mpsc::channel(1);
    call_context::listen_in_background(listener, NAP, move |_| {
        let _ = notice.try_send(());
        !notice.is_closed()
    })?;
    Ok(news)
}
