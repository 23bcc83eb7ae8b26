//! The knowledge document that all y-websocket peers of a project share.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use axum::body::Bytes;
use consort_core::App;
use consort_core::knowledge::KnowledgeCursor;
use consort_core::knowledge::Scope;
use consort_core::knowledge::StampedEdit;
use consort_core::project::ProjectId;
use consort_crdt::Document;
use consort_crdt::sync;
use consort_crdt::sync::Answer;
use consort_knowledge::document;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::close_reason::CloseReason;

/// Most frames that may wait for a peer. A peer that takes them more slowly than others
/// write is disconnected, and gets what it missed when it connects again.
const WAITING: usize = 256;

/// The frame that asks the other peers for their awareness, which a new peer does not know yet.
const ASK_AWARENESS: &[u8] = &[3];

/// The documents to which a peer is connected, by project.
#[derive(Default)]
pub(crate) struct SharedDocuments {
    rooms: Mutex<HashMap<ProjectId, Arc<SharedDocument>>>,
    next: AtomicU64,
}

/// A peer's connection to a shared document; dropping it takes the peer out.
pub(super) struct PeerConnection<'a> {
    rooms: &'a SharedDocuments,
    pub(super) room: Arc<SharedDocument>,
    pub(super) peer: u64,
    /// Whether no other peer was connected: this one has to start the listener for news.
    pub(super) is_first: bool,
}

impl SharedDocuments {
    /// Connects a peer to the document of a project; returns its seat and the frames for it.
    pub(super) fn enter(&self, project: ProjectId) -> (PeerConnection<'_>, mpsc::Receiver<Bytes>) {
        let peer = self.next.fetch_add(1, Ordering::Relaxed);
        let (send, receive) = mpsc::channel(WAITING);
        let mut rooms = lock(&self.rooms);
        let is_first = !rooms.contains_key(&project);
        let room = rooms.entry(project.clone()).or_insert_with(|| Arc::new(SharedDocument::new(project)));
        lock(&room.peers).insert(peer, send);
        (PeerConnection { rooms: self, room: Arc::clone(room), peer, is_first }, receive)
    }
}

impl Drop for PeerConnection<'_> {
    fn drop(&mut self) {
        let mut rooms = lock(&self.rooms.rooms);
        let mut peers = lock(&self.room.peers);
        peers.remove(&self.peer);
        // A peer that was disconnected may leave after the project has got another document.
        if peers.is_empty() {
            self.room.empty.cancel();
            if rooms.get(&self.room.project).is_some_and(|room| Arc::ptr_eq(room, &self.room)) {
                rooms.remove(&self.room.project);
            }
        }
    }
}

pub(super) struct SharedDocument {
    pub(super) project: ProjectId,
    /// Cancelled when the last peer has gone.
    pub(super) empty: CancellationToken,
    peers: Mutex<BTreeMap<u64, mpsc::Sender<Bytes>>>,
    /// The document, taken out while it is worked on: after a failure it is not put back, and
    /// is rebuilt from the store.
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    document: Document,
    /// The place in the journal up to which entries are in the document.
    place: KnowledgeCursor,
}

impl SharedDocument {
    fn new(project: ProjectId) -> Self {
        Self { project, empty: CancellationToken::new(), peers: Mutex::default(), kept: Mutex::default() }
    }

    /// Tells a new peer what is in the document; the peer answers with what is not.
    pub(super) fn greet(&self, app: &mut App, peer: u64) -> Result<(), CloseReason> {
        app.take_in_git_files(&self.scope());
        let mut slot = lock(&self.kept);
        let kept = self.up_to_date(slot.take(), app)?;
        self.send(peer, sync::greeting_frame(&kept.document));
        self.tell(Some(peer), ASK_AWARENESS.to_vec());
        *slot = Some(kept);
        Ok(())
    }

    /// Takes in what was recorded in the journal, and sends it to all peers.
    pub(super) fn catch_up(&self, app: &mut App) -> Result<(), CloseReason> {
        let mut slot = lock(&self.kept);
        *slot = Some(self.up_to_date(slot.take(), app)?);
        Ok(())
    }

    /// Carries out a peer's frame; returns whether the frame builds on changes that are missing here.
    pub(super) fn hear(&self, app: &mut App, from: &Speaker, frame: &[u8]) -> Result<bool, CloseReason> {
        let mut slot = lock(&self.kept);
        let mut kept = self.up_to_date(slot.take(), app)?;
        let answer = sync::answer(&mut kept.document, frame, from.may_write);
        let Answer { replies, merged, update, relay, is_gap } = match answer {
            Ok(answer) => answer,
            Err(error) => {
                // All other errors are found before the document is touched.
                if !matches!(error, document::CrdtError::Refused(_)) {
                    *slot = Some(kept);
                }
                return Err(CloseReason::malformed(error));
            }
        };
        if !(is_gap && from.was_asked) {
            replies.into_iter().for_each(|reply| self.send(from.peer, reply));
        }
        let mut overtaken = None;
        if let Some(update) = update {
            let edits = merged.into_iter().map(document::to_edit).collect();
            (kept, overtaken) = self.record(kept, app, &update, edits)?;
        }
        if let Some(relay) = relay {
            self.tell(Some(from.peer), relay);
        }
        if let Some(difference) = overtaken {
            self.tell(None, difference);
        }
        *slot = Some(kept);
        Ok(is_gap)
    }

    /// Disconnects all peers.
    pub(super) fn clear(&self) {
        lock(&self.peers).clear();
    }

    /// Brings the document up to the journal's state, or makes it if there is none. Connected
    /// peers are sent the difference.
    fn up_to_date(&self, kept: Option<Kept>, app: &mut App) -> Result<Kept, CloseReason> {
        let Some(mut kept) = kept else { return self.make(app) };
        let Some(entries) = app.knowledge_since(&self.scope(), &mut kept.place)? else {
            self.clear();
            return Err(CloseReason::behind());
        };
        if !entries.is_empty() {
            let before = kept.document.state_vector();
            document::extend(&mut kept.document, &entries).map_err(|error| CloseReason::internal(&error))?;
            self.tell(None, difference(&kept.document, &before)?);
        }
        Ok(kept)
    }

    fn make(&self, app: &mut App) -> Result<Kept, CloseReason> {
        let mut place = KnowledgeCursor::default();
        let entries = app.knowledge_since(&self.scope(), &mut place)?.unwrap_or_default();
        let document = document::from_entries(&entries).map_err(|error| CloseReason::internal(&error))?;
        Ok(Kept { document, place })
    }

    /// Records merged edits in the journal. If others recorded something since the document was
    /// brought up to date, their entries come first: then the document is made again, and
    /// the difference, which no peer has yet, is returned.
    fn record(
        &self,
        mut kept: Kept,
        app: &mut App,
        update: &[u8],
        edits: Vec<StampedEdit>,
    ) -> Result<(Kept, Option<Vec<u8>>), CloseReason> {
        let mut index = app.knowledge()?;
        app.merge_knowledge(&mut *index, &self.scope(), "sync", document::hex(update), edits)?;
        app.request_git_files(&self.scope());
        let entries = app.knowledge_since(&self.scope(), &mut kept.place)?;
        if entries.is_some_and(|entries| entries.len() == 1) {
            return Ok((kept, None));
        }
        let before = kept.document.state_vector();
        let kept = self.make(app)?;
        let difference = difference(&kept.document, &before)?;
        Ok((kept, Some(difference)))
    }

    fn scope(&self) -> Scope {
        Scope::Project(self.project.clone())
    }

    fn send(&self, peer: u64, frame: Vec<u8>) {
        let mut peers = lock(&self.peers);
        if peers.get(&peer).is_some_and(|peer| peer.try_send(frame.into()).is_err()) {
            peers.remove(&peer);
        }
    }

    fn tell(&self, except: Option<u64>, frame: Vec<u8>) {
        let frame = Bytes::from(frame);
        lock(&self.peers)
            .retain(|peer, frames| Some(*peer) == except || frames.try_send(frame.clone()).is_ok());
    }
}

/// The peer that sent a frame, and what it may do.
#[derive(Clone, Copy)]
pub(super) struct Speaker {
    pub(super) peer: u64,
    pub(super) may_write: bool,
    /// Whether its last frame built on missing changes, and the peer was asked for them.
    pub(super) was_asked: bool,
}

/// Makes a frame with all changes that a peer of state vector `before` lacks.
fn difference(document: &Document, before: &[u8]) -> Result<Vec<u8>, CloseReason> {
    let update = document.update_since(before).map_err(|error| CloseReason::internal(&error))?;
    Ok(sync::update_frame(&update))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_there_while_anyone_is_in_it() {
        let rooms = SharedDocuments::default();
        let (one, _frames) = rooms.enter("shop".into());
        let (other, _frames) = rooms.enter("shop".into());
        let (elsewhere, _frames) = rooms.enter("bank".into());
        assert_eq!([one.is_first, other.is_first, elsewhere.is_first], [true, false, true]);
        let room = Arc::downgrade(&one.room);
        drop(one);
        assert_eq!(lock(&rooms.rooms).len(), 2);
        drop(other);
        assert_eq!(lock(&rooms.rooms).len(), 1);
        assert!(room.upgrade().is_none());
        assert!(rooms.enter("shop".into()).0.is_first);
    }

    #[test]
    fn one_that_falls_behind_is_let_go_and_nobody_hears_itself() {
        let rooms = SharedDocuments::default();
        let (slow, mut slow_frames) = rooms.enter("shop".into());
        let (quick, mut quick_frames) = rooms.enter("shop".into());
        for _ in 0..=WAITING {
            slow.room.tell(None, vec![7]);
            assert_eq!(quick_frames.try_recv().unwrap(), vec![7]);
        }
        for _ in 0..WAITING {
            slow_frames.try_recv().unwrap();
        }
        assert_eq!(slow_frames.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
        quick.room.tell(Some(quick.peer), vec![8]);
        assert_eq!(quick_frames.try_recv(), Err(mpsc::error::TryRecvError::Empty));
        // The document stays, for the peers that are quick enough.
        drop(slow);
        assert!(!quick.room.empty.is_cancelled());
    }
}
