//! Answers the synchronisation messages of Yjs programs (y-protocols, as y-websocket sends them):
//! one frame is one message.
//!
//! Nothing is sent here. **A frame either is answered or is an error, and a frame from a peer that
//! may only read changes nothing.**

use serde::de::IgnoredAny;

use crate::document::Document;
use crate::edit::StampedEdit;
use crate::error::CrdtError;
use crate::wire;
use crate::wire::Reader;

const SYNC: u64 = 0;
const AWARENESS: u64 = 1;
const ASK_AWARENESS: u64 = 3;

/// Step "this is what I have".
const STEP_1: u64 = 0;
/// Step "this is what you lack".
const STEP_2: u64 = 1;
/// Step "this just happened".
const UPDATE: u64 = 2;

/// The result of a peer's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The frames to send back to the peer, in order.
    pub replies: Vec<Vec<u8>>,
    /// The edits that the frame brought.
    pub merged: Vec<StampedEdit>,
    /// The update of the frame, if it was new here, even if none of its edits is read: later
    /// updates may build on it.
    pub update: Option<Vec<u8>>,
    /// Whether the frame builds on edits that are not here; then `replies` ask for them. A peer
    /// that sends the same frame again does not have them either, so do not ask it forever.
    pub is_gap: bool,
    /// The frame to pass on to all other peers.
    pub relay: Option<Vec<u8>>,
}

/// Makes the first frame for a new peer, which makes it send everything that is missing here.
pub fn greeting_frame(document: &Document) -> Vec<u8> {
    frame(STEP_1, &document.state_vector())
}

/// Makes a frame that sends `update`, which was made here, to peers.
pub fn update_frame(update: &[u8]) -> Vec<u8> {
    frame(UPDATE, update)
}

/// Handles a peer's frame. A peer whose frame builds on edits that are not here is greeted again,
/// so that it sends everything that is missing.
pub fn answer(document: &mut Document, frame: &[u8], may_write: bool) -> Result<Answer, CrdtError> {
    let mut reader = Reader::new(frame);
    match reader.uint()? {
        SYNC => {}
        AWARENESS => {
            let states = reader.blob()?;
            end(&reader)?;
            check_awareness(states)?;
            return Ok(Answer { relay: Some(frame.to_vec()), ..Answer::default() });
        }
        ASK_AWARENESS => {
            end(&reader)?;
            return Ok(Answer { relay: Some(frame.to_vec()), ..Answer::default() });
        }
        _ => return Err(CrdtError::Malformed { at: 0, what: "an unknown kind of frame" }),
    }
    let step = reader.uint()?;
    let blob = reader.blob()?;
    end(&reader)?;
    match step {
        STEP_1 => {
            let missing = document.update_since(blob)?;
            Ok(Answer { replies: vec![self::frame(STEP_2, &missing)], ..Answer::default() })
        }
        STEP_2 | UPDATE if !may_write => Ok(Answer::default()),
        STEP_2 | UPDATE => match document.ingest(blob) {
            Ok(merged) => {
                let relay = merged.is_news.then(|| update_frame(blob));
                let update = merged.is_news.then(|| blob.to_vec());
                Ok(Answer { merged: merged.changes, update, relay, ..Answer::default() })
            }
            Err(CrdtError::Gap { .. }) => {
                Ok(Answer { replies: vec![greeting_frame(document)], is_gap: true, ..Answer::default() })
            }
            Err(error) => Err(error),
        },
        _ => Err(CrdtError::Malformed { at: 1, what: "an unknown step" }),
    }
}

/// Checks an awareness message: the peers that are present, each with a clock and
/// a state in JSON. Nothing of it is kept, but peers that it is passed on to read
/// it and may fail on malformed states.
fn check_awareness(states: &[u8]) -> Result<(), CrdtError> {
    let mut reader = Reader::new(states);
    for _ in 0..reader.count()? {
        reader.uint()?;
        reader.uint()?;
        if serde_json::from_str::<IgnoredAny>(reader.text()?).is_err() {
            return Err(reader.fail("a state that is not JSON"));
        }
    }
    end(&reader)
}

fn frame(step: u64, blob: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(blob.len() + 6);
    wire::write_uint(&mut out, SYNC);
    wire::write_uint(&mut out, step);
    wire::write_blob(&mut out, blob);
    out
}

fn end(reader: &Reader<'_>) -> Result<(), CrdtError> {
    if reader.is_done() { Ok(()) } else { Err(reader.fail("more than one message")) }
}
