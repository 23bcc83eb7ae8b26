//! Removes the values of entities from the bytes of a Yjs update, and keeps the entries, whose
//! clocks later updates build on.

use std::collections::BTreeSet;

use super::Limits;
use super::reader::write_blob;
use super::reader::write_uint;
use super::survey;
use super::walk::CONTENT;
use super::walk::CONTENT_REMOVED;
use super::walk::Clocks;
use super::walk::Run;
use super::walk::walk;
use crate::error::CrdtError;

/// Most passes that follow entries replacing other entries; updates that we write need one.
const MOST_ROUNDS: usize = 8;

/// Removes the values, and the names of members, from the entries of these roots.
pub(crate) fn scrub(update: &[u8], roots: &BTreeSet<&str>) -> Result<Vec<u8>, CrdtError> {
    survey(update, &Limits::default())?;
    let roots: BTreeSet<&[u8]> = roots.iter().map(|root| root.as_bytes()).collect();
    let mut gone = Clocks::default();
    for _ in 0..MOST_ROUNDS {
        let before = gone.len();
        walk(update, &mut |run| {
            let is_meant = match (run.place, run.origin) {
                (Some((root, _)), _) => roots.contains(root),
                (None, Some((writer, clock))) => gone.contain(writer, clock),
                (None, None) => false,
            };
            if is_meant {
                gone.insert(run);
            }
        })?;
        if gone.len() == before {
            break;
        }
    }
    let mut out = Vec::with_capacity(update.len());
    let mut copied = 0;
    walk(update, &mut |run| {
        if gone.contain(run.writer, run.clock) {
            out.extend_from_slice(&update[copied..run.span.start]);
            write_emptied(&mut out, run);
            copied = run.span.end;
        }
    })?;
    out.extend_from_slice(&update[copied..]);
    Ok(out)
}

fn write_emptied(out: &mut Vec<u8>, run: &Run<'_>) {
    out.push(run.info & !CONTENT | CONTENT_REMOVED);
    match (run.origin, run.place) {
        (Some((writer, clock)), _) => {
            write_uint(out, writer);
            write_uint(out, clock.into());
        }
        (None, Some((root, key))) => {
            write_uint(out, 1);
            write_blob(out, root);
            let key = String::from_utf8_lossy(key);
            // The name of a field tells nothing, but the name of a member is content.
            let key = match (key.split_once('/'), key.rsplit_once('@')) {
                (Some((set, _)), Some((_, writer))) => format!("{set}/forgotten-{}@{writer}", run.clock),
                _ => key.into_owned(),
            };
            write_blob(out, key.as_bytes());
        }
        (None, None) => {}
    }
    write_uint(out, run.length.into());
}
