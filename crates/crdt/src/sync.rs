//! The synchronisation messages of Yjs programs (y-protocols, as y-websocket sends
//! them): one frame is one message.
//!
//! Nothing is sent here. **A frame either is answered or is an error, and one
//! from a peer that may only read changes nothing.**

use serde::de::IgnoredAny;

use crate::document::Document;
use crate::edit::StampedEdit;
use crate::error::CrdtError;
use crate::wire;
use crate::wire::Reader;

const SYNC: u64 = 0;
const AWARENESS: u64 = 1;
const ASK_AWARENESS: u64 = 3;

/// "This is what I have."
const STEP_1: u64 = 0;
/// "This is what you lack."
const STEP_2: u64 = 1;
/// "This just happened."
const UPDATE: u64 = 2;

/// What came of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Frames for the one who sent it, in order.
    pub replies: Vec<Vec<u8>>,
    /// What it changed here.
    pub merged: Vec<StampedEdit>,
    /// The update with which it did, if there was news in it, be it none that is
    /// read: what comes later may build on it.
    pub update: Option<Vec<u8>>,
    /// It builds on what is not here, and `replies` ask for that. One that sends the
    /// same again does not have it either: asking for ever leads nowhere.
    pub is_gap: bool,
    /// A frame for everyone else.
    pub relay: Option<Vec<u8>>,
}

/// The first frame for a new peer: it will send what is missing here.
pub fn greet(document: &Document) -> Vec<u8> {
    frame(STEP_1, &document.vector())
}

/// A frame that tells peers of `update`, which was made here.
pub fn tell(update: &[u8]) -> Vec<u8> {
    frame(UPDATE, update)
}

/// Does what a peer's frame asks. A peer that sends what builds on edits that
/// are not here is greeted again: it will send all that is missing.
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
            let missing = document.since(blob)?;
            Ok(Answer { replies: vec![self::frame(STEP_2, &missing)], ..Answer::default() })
        }
        STEP_2 | UPDATE if !may_write => Ok(Answer::default()),
        STEP_2 | UPDATE => match document.ingest(blob) {
            Ok(merged) => {
                let relay = merged.is_news.then(|| tell(blob));
                let update = merged.is_news.then(|| blob.to_vec());
                Ok(Answer { merged: merged.changes, update, relay, ..Answer::default() })
            }
            Err(CrdtError::Gap { .. }) => {
                Ok(Answer { replies: vec![greet(document)], is_gap: true, ..Answer::default() })
            }
            Err(error) => Err(error),
        },
        _ => Err(CrdtError::Malformed { at: 1, what: "an unknown step" }),
    }
}

/// Who is there, each with a clock and a state in JSON. Nothing is kept of it, but a
/// peer that it is passed on to reads it, and may fall over what is not so.
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
