//! Where requests lie while another process writes.
//!
//! With a hundred short-lived processes at the gate, opening the store is most
//! of the work, and each would do it for one entry. Instead, whoever finds the
//! gate shut leaves its request here and sleeps at a socket of its own;
//! whoever writes takes along all that lie here, in its transaction, and
//! answers each after the commit.
//!
//! **A request is taken before the commit that carries it out.** So one that
//! still lies here was not carried out; one that was taken and not answered
//! may have been, and its owner looks for it in the journal once it has a turn
//! of its own.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::journal::EntryId;

use crate::pulses::private_dir;

const REQUEST: &str = "request";
const ANSWER: &str = "answer";

#[derive(Clone, Debug)]
pub(crate) struct Desk {
    dir: PathBuf,
}

/// A request on the desk; taken back when dropped.
pub(crate) struct Left {
    request: PathBuf,
    answer: PathBuf,
    socket: UnixDatagram,
}

impl Desk {
    /// The desk of the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self { dir: path.with_file_name("desk") }
    }

    fn of(&self, id: EntryId, what: &str) -> PathBuf {
        self.dir.join(format!("{:032x}.{what}", u128::from_be_bytes(id.0)))
    }

    pub(crate) fn leave(&self, id: EntryId, request: &[u8]) -> std::io::Result<Left> {
        let answer = self.of(id, ANSWER);
        let socket = match UnixDatagram::bind(&answer) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                private_dir(&self.dir)?;
                UnixDatagram::bind(&answer)?
            }
            bound => bound?,
        };
        let left = Left { request: self.of(id, REQUEST), answer, socket };
        // Under another name first: it is taken as soon as it is seen.
        let draft = left.request.with_extension("draft");
        fs::write(&draft, request)?;
        fs::rename(&draft, &left.request)?;
        Ok(left)
    }

    /// Whether anything lies here.
    pub(crate) fn is_clear(&self) -> bool {
        self.requests().is_empty()
    }

    /// Takes everything, oldest first. Only for whoever holds the gate.
    pub(crate) fn take_all(&self) -> Vec<(EntryId, Vec<u8>)> {
        let mut ids = self.requests();
        ids.sort();
        let take = |id: EntryId| {
            let path = self.of(id, REQUEST);
            let request = fs::read(&path).ok()?;
            fs::remove_file(&path).ok().map(|()| (id, request))
        };
        ids.into_iter().filter_map(take).collect()
    }

    /// Answers a request; whoever left it may be gone.
    pub(crate) fn answer(&self, id: EntryId, answer: &[u8]) {
        let path = self.of(id, ANSWER);
        let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to(answer, &path));
        if sent.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
            let _ = fs::remove_file(path);
        }
    }

    fn requests(&self) -> Vec<EntryId> {
        let files = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let id = |file: fs::DirEntry| {
            let name = file.file_name();
            let (id, what) = name.to_str()?.split_once('.')?;
            let id = u128::from_str_radix(id, 16).ok()?;
            (what == REQUEST).then_some(EntryId(id.to_be_bytes()))
        };
        files.filter_map(id).collect()
    }
}

impl Left {
    /// Sleeps until the answer comes, or for as long as `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Vec<u8>> {
        self.socket.set_read_timeout(Some(timeout.max(Duration::from_micros(1)))).ok()?;
        let mut answer = vec![0; 64 << 10];
        let length = self.socket.recv(&mut answer).ok()?;
        answer.truncate(length);
        Some(answer)
    }

    /// Takes the request back; false when another process has taken it.
    pub(crate) fn take_back(&self) -> bool {
        fs::remove_file(&self.request).is_ok()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.request);
        let _ = fs::remove_file(&self.answer);
    }
}
