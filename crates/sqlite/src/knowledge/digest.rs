//! What hooks read of knowledge: a small file for each project.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use consort_core::knowledge::DigestNotes;
use consort_core::project::ProjectId;
use consort_core::text;

use crate::Notes;
use crate::held;

const DIR: &str = "digests";

impl DigestNotes for Notes {
    fn digest(&self, project: &ProjectId) -> Option<String> {
        fs::read_to_string(file(self, project)).ok()
    }

    fn set_digest(&self, project: &ProjectId, digest: &str) {
        let file = file(self, project);
        let made = file.parent().map(|dir| fs::DirBuilder::new().recursive(true).mode(0o700).create(dir));
        if made.is_some_and(|made| made.is_ok()) {
            held::replace(&file, digest);
        }
    }
}

fn file(notes: &Notes, project: &ProjectId) -> PathBuf {
    notes.dir().join(DIR).join(format!("{:016x}", text::checksum(project.as_str().as_bytes())))
}
