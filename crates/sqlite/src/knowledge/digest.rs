//! What hooks read of knowledge: a small file for each project.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::knowledge::DigestNotes;
use consort_core::project::ProjectId;
use consort_core::text;

use crate::Notes;

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
        let (paths, _) = paths.as_bytes().as_chunks::<LINE>();
        paths.binary_search(line(path).as_bytes().try_into().ok()?).is_ok().then(|| project.into())
    }

    fn set_leans(&self, repository: &Path, project: &ProjectId, paths: &[String]) {
        let mut lines: Vec<String> = paths.iter().map(|path| line(path)).collect();
        lines.sort_unstable();
        write(&leans(self, repository), &format!("{project}\n{}", lines.concat()));
    }
}

fn write(file: &Path, text: &str) {
    // Most of what is recorded is not among the first few that are told.
    if fs::read(file).is_ok_and(|known| known == text.as_bytes()) {
        return;
    }
    let made = file.parent().map(|dir| fs::DirBuilder::new().recursive(true).mode(0o700).create(dir));
    if made.is_some_and(|made| made.is_ok()) {
        replace(file, text);
    }
}

/// One that cannot be replaced is older than it could be.
fn replace(file: &Path, text: &str) {
    let temporary = file.with_extension(format!("{}.new", std::process::id()));
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut new = options.create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
        new.write_all(text.as_bytes())?;
        fs::rename(&temporary, file)
    };
    let _ = write();
}

/// How long every line is.
const LINE: usize = 17;

fn line(path: &str) -> String {
    format!("{:016x}\n", text::checksum(path.as_bytes()))
}

/// Which files of a repository something is known of: their paths' checksums, in
/// order.
fn leans(notes: &Notes, repository: &Path) -> PathBuf {
    let name = text::checksum(repository.as_os_str().as_encoded_bytes());
    notes.dir().join(DIR).join(format!("{name:016x}.known"))
}

fn file(notes: &Notes, project: &ProjectId) -> PathBuf {
    notes.dir().join(DIR).join(format!("{:016x}", text::checksum(project.as_str().as_bytes())))
}
