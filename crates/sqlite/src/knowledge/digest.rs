//! What hooks read of knowledge: a small file for each project.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
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
        write(&file(self, project), digest);
    }

    fn leans_on(&self, repository: &Path, path: &str) -> Option<ProjectId> {
        let known = fs::read_to_string(leans(self, repository)).ok()?;
        let (project, paths) = known.split_once('\n')?;
        let wanted = format!("{:016x}", text::checksum(path.as_bytes()));
        paths.lines().any(|known| known == wanted).then(|| project.into())
    }

    fn set_leans(&self, repository: &Path, project: &ProjectId, paths: &[String]) {
        let mut known = format!("{project}\n");
        paths.iter().for_each(|path| known.push_str(&format!("{:016x}\n", text::checksum(path.as_bytes()))));
        write(&leans(self, repository), &known);
    }
}

fn write(file: &Path, text: &str) {
    // Most of what is recorded is not among the first few that are told.
    if fs::read(file).is_ok_and(|known| known == text.as_bytes()) {
        return;
    }
    let made = file.parent().map(|dir| fs::DirBuilder::new().recursive(true).mode(0o700).create(dir));
    if made.is_some_and(|made| made.is_ok()) {
        held::replace(file, text);
    }
}

/// Which files of a repository something is known of: their paths' checksums.
fn leans(notes: &Notes, repository: &Path) -> PathBuf {
    let name = text::checksum(repository.as_os_str().as_encoded_bytes());
    notes.dir().join(DIR).join(format!("{name:016x}.files"))
}

fn file(notes: &Notes, project: &ProjectId) -> PathBuf {
    notes.dir().join(DIR).join(format!("{:016x}", text::checksum(project.as_str().as_bytes())))
}
