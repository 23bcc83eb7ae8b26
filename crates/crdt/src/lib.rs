//! The CRDT kernel: a document of entities that many replicas edit at once and that
//! merges without losing what anyone wrote, stored as a plain Yjs document.
//!
//! An entity has registers (the newest write wins, by the clock of its writer) and sets (adding
//! wins over a removal by someone who had not seen what was added). The library underneath (yrs) is
//! not part of this interface: it consists of [`Edit`]s, JSON and bytes. [`Entity::apply`] has the
//! same semantics without a document, so that tables can be kept from a journal alone.
//!
//! **Merging commutes, associates and is idempotent. An edit is never lost to an edit that had not
//! seen it, except to a newer write of the same register.**
//!
//! # The layout
//!
//! A JavaScript program can read and write documents (`Y.applyUpdate(doc, state)`) by these rules:
//!
//! * Every entity is a root `Y.Map` whose name is the entity's id:
//!   `for (const id of doc.share.keys()) doc.getMap(id)`. There is no nested
//!   type. A nested map that two replicas create at once loses one of the two
//!   whole; a root has no creator, so the same id on two replicas is one entity.
//! * Every value is `[at, value, by]`: a time in milliseconds, any JSON, and any JSON about the author.
//! * A register is under `field@writer`, one key for each writer. Its value is the one with the
//!   greatest `(at, writer)`. A writer writes only under its own key, never replaces its entry with
//!   an older one, and removes none.
//! * A member of a set is under `set/member@writer`. It is in the set while any writer's key is
//!   there; its value is the one with the greatest `(at, writer)`. To add a member, write one's own
//!   key and delete all other keys of that member; to remove it, delete all its keys. One key for
//!   all writers would be shorter, but Yjs keeps only one of two concurrent writes to a key, so a
//!   removal that saw only that one would remove the other with it.
//! * `writer` is the Yjs client id in lower-case base 36
//!   (`doc.clientID.toString(36)`), compared as a number.
//! * In the name of a field or a set, `%` is written `%25` and `/` is `%2F`; members stay as they
//!   are. To parse a key, cut it at the last `@`, then at the first `/` before that if there is
//!   one, and `decodeURIComponent` the name.
//! * Numbers are JavaScript's, with integers exact over all of `i64`: beyond 53
//!   bits they may be `BigInt`s. `2.0` is `2`, and `-0.0` is `0`.
//! * Keys that are not of this form, and values that are no such array, are passed on but not read.
//!
//! One root for each entity was chosen over one flat map with the id in every key: 10,000 entities
//! of 12 keys take 11.1 MB instead of 12.2, yrs alone loads them in 140 ms instead of 230 (best of
//! four on a busy machine), and an entity is found without looking at the others.
//!
//! # Foreign bytes
//!
//! All incoming bytes go through [`check`] first, which accepts only what this layout can contain:
//! no nested types, no text, no gaps, nothing empty. That keeps malformed bytes away from the code
//! of yrs that is known to panic, and even to abort, on them. It is a filter, not a proof: **a file
//! that a stranger made is read in a child process.**

mod document;
mod edit;
mod entity;
mod entry;
mod error;
mod key;
pub mod sync;
mod value;
mod wire;

pub use document::Document;
pub use edit::Change;
pub use edit::Edit;
pub use edit::Stamp;
pub use edit::StampedEdit;
pub use entity::Entity;
pub use entity::Register;
pub use entity::SetMember;
pub use error::CrdtError;
pub use wire::Limits;
pub use wire::check;
