//! The CRDT document: a facade over a document of the Yjs library (yrs).
//!
//! **The same calls give the same bytes.** Nothing here depends on a clock, on
//! chance or on the order of a hash map.

mod edit;
mod merge;
mod partial_edit;
mod read;
mod watch;

use std::collections::BTreeMap;

use yrs::ClientID;
use yrs::Doc;
use yrs::ReadTxn;
use yrs::StateVector;
use yrs::Transact;
use yrs::Update;
use yrs::updates::decoder::Decode;

use crate::error::CrdtError;
use crate::wire;
use crate::wire::Limits;
use watch::Watch;

/// A document of entities that merges with others.
pub struct Document {
    doc: Doc,
    /// The observers that merges need; made by the first merge, as loading needs none.
    watch: Option<Watch>,
}

impl Document {
    /// Makes an empty document.
    pub fn new() -> Self {
        Self::with_writer(0)
    }

    /// Loads a document from a complete Yjs update (version 1), such as [`Self::state`].
    pub fn load(state: &[u8]) -> Result<Self, CrdtError> {
        Self::load_for(state, 0)
    }

    /// Loads a document that `writer` can edit at once; [`Self::edit`] by any other writer than the
    /// last has to load the document again.
    pub fn load_for(state: &[u8], writer: u64) -> Result<Self, CrdtError> {
        if writer > crate::key::MAX_WRITER {
            return Err(CrdtError::Writer { writer });
        }
        wire::survey(state, &Limits::default())?.follows(&BTreeMap::new())?;
        let document = Self::with_writer(writer);
        document.integrate(state)?;
        Ok(document)
    }

    /// Encodes the whole document as a Yjs update: `Y.applyUpdate(doc, bytes)`.
    pub fn state(&self) -> Vec<u8> {
        self.encode(&StateVector::default())
    }

    /// Encodes how much of each writer is here, as a Yjs state vector.
    pub fn state_vector(&self) -> Vec<u8> {
        wire::write_vector(&self.known())
    }

    /// Encodes everything that a document with that [`Self::state_vector`] lacks, and all removals.
    pub fn update_since(&self, vector: &[u8]) -> Result<Vec<u8>, CrdtError> {
        let vector = wire::read_vector(vector)?;
        Ok(self.encode(&vector.into_iter().map(|(writer, clock)| (ClientID::new(writer), clock)).collect()))
    }

    fn with_writer(writer: u64) -> Self {
        Self { doc: Doc::with_client_id(writer), watch: None }
    }

    /// Changes the writer of the document. A Yjs document writes as one client for good, so another
    /// writer gets another document with the same content.
    fn switch_writer(&mut self, writer: u64) -> Result<(), CrdtError> {
        if writer > crate::key::MAX_WRITER {
            return Err(CrdtError::Writer { writer });
        }
        if self.doc.client_id().get() != writer {
            let document = Self::with_writer(writer);
            document.integrate(&self.state())?;
            *self = document;
        }
        Ok(())
    }

    /// Applies an update that has been surveyed.
    fn integrate(&self, update: &[u8]) -> Result<(), CrdtError> {
        let update = decode(update)?;
        self.doc.transact_mut().apply_update(update).map_err(|error| CrdtError::Refused(error.into()))
    }

    fn encode(&self, since: &StateVector) -> Vec<u8> {
        wire::canonical(self.doc.transact().encode_diff_v1(since))
    }

    fn known(&self) -> BTreeMap<u64, u32> {
        let vector = self.doc.transact().state_vector();
        vector.iter().map(|(client, clock)| (client.get(), *clock)).collect()
    }
}

impl Default for Document {
    fn default() -> Self {
        Self::new()
    }
}

fn decode(update: &[u8]) -> Result<Update, CrdtError> {
    Update::decode_v1(update).map_err(|error| CrdtError::Refused(error.into()))
}
