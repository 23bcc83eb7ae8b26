//! Where requests lie while another process writes.
//!
//! With a hundred short-lived processes at the gate, opening the store is most
//! of the work, and each would do it for one entry. Instead, whoever finds the
//! gate shut adds its request to a file and sleeps at a socket; whoever writes
//! takes along all that are in the file, in its own transaction, and answers
//! each after the commit.
//!
//! Nothing is created per request: on some file systems a thousand short-lived
//! files cost more than a thousand entries.
//!
//! **A request is taken before the commit that carries it out.** So one that
//! still lies here was not carried out; one that was taken and not answered
//! may have been, and its owner looks for it in the journal once it has a turn
//! of its own.

use std::fs;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::SocketAddr;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::journal::EntryId;
use consort_core::text;
use rustix::fs::FlockOperation;
use rustix::fs::flock;

/// The longest answer: a broadcast to some hundreds. Whoever gets none finds
/// what became of its request by itself.
const LONGEST_ANSWER: usize = 32 << 10;

/// Requests, oldest first.
pub(crate) type Requests = Vec<(EntryId, Vec<u8>)>;

#[derive(Clone, Debug)]
pub(crate) struct Desk {
    path: PathBuf,
}

/// A request on the desk, and where its answer arrives.
pub(crate) struct Left {
    desk: Desk,
    id: EntryId,
    socket: UnixDatagram,
}

impl Desk {
    /// The desk of the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self { path: path.with_file_name("desk") }
    }

    /// Leaves a request, which is one line of text.
    pub(crate) fn leave(&self, id: EntryId, request: &[u8]) -> std::io::Result<Left> {
        let socket = UnixDatagram::bind_addr(&self.address(id)?)?;
        let left = Left { desk: self.clone(), id, socket };
        self.add(id, request)?;
        Ok(left)
    }

    /// Puts back what was taken and not carried out.
    pub(crate) fn put_back(&self, id: EntryId, request: &[u8]) {
        let _ = self.add(id, request);
    }

    /// Takes everything. Only for whoever holds the gate.
    pub(crate) fn take_all(&self) -> Requests {
        self.take().unwrap_or_default()
    }

    fn take(&self) -> std::io::Result<Requests> {
        let mut file = fs::OpenOptions::new().read(true).write(true).open(&self.path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Requests::new());
        }
        // Nobody adds to it between the reading and the clearing.
        flock(&file, FlockOperation::LockExclusive)?;
        let mut lines = Vec::new();
        file.read_to_end(&mut lines)?;
        file.set_len(0)?;
        Ok(parse(&lines))
    }

    /// Answers a request; whoever left it may be gone.
    pub(crate) fn answer(&self, id: EntryId, answer: &[u8]) {
        // What proves that it comes from one who can read the desk.
        let signed = [&id.0, answer].concat();
        if let (Ok(address), Ok(socket)) = (self.address(id), UnixDatagram::unbound()) {
            let _ = socket.set_nonblocking(true);
            let _ = socket.send_to_addr(&signed, &address);
        }
    }

    /// Adds a line. Begun on a new one, so that half a line left by a full disk
    /// spoils nothing but itself.
    fn add(&self, id: EntryId, text: &[u8]) -> std::io::Result<()> {
        let mut line = format!("\n{:032x} ", u128::from_be_bytes(id.0)).into_bytes();
        line.extend_from_slice(text);
        line.push(b'\n');
        let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        flock(&file, FlockOperation::LockShared)?;
        file.write_all(&line)
    }

    /// Where the answer to a request is awaited. Anyone may see the name; only
    /// who knows the id can answer.
    #[cfg(target_os = "linux")]
    fn address(&self, id: EntryId) -> std::io::Result<SocketAddr> {
        use std::os::linux::net::SocketAddrExt as _;
        SocketAddr::from_abstract_name(format!("consort-{:016x}", text::checksum(&id.0)))
    }

    #[cfg(not(target_os = "linux"))]
    fn address(&self, id: EntryId) -> std::io::Result<SocketAddr> {
        SocketAddr::from_pathname(self.path.with_file_name(format!("desk-{:016x}", text::checksum(&id.0))))
    }
}

impl Left {
    /// Sleeps until the answer comes, or for as long as `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Vec<u8>> {
        self.socket.set_read_timeout(Some(timeout.max(Duration::from_micros(1)))).ok()?;
        let mut answer = vec![0; LONGEST_ANSWER];
        let length = self.socket.recv(&mut answer).ok()?;
        answer.truncate(length);
        answer.starts_with(&self.id.0).then(|| answer.split_off(self.id.0.len()))
    }

    /// Asks whoever comes to take the request not to carry it out.
    pub(crate) fn take_back(&self) {
        let _ = self.desk.add(self.id, b"");
    }
}

#[cfg(not(target_os = "linux"))]
impl Drop for Left {
    fn drop(&mut self) {
        if let Some(path) = self.desk.address(self.id).ok().as_ref().and_then(SocketAddr::as_pathname) {
            let _ = fs::remove_file(path);
        }
    }
}

/// The requests in the file; an empty one takes back what came before it. What
/// cannot be read is passed over: its owner will see to it.
fn parse(lines: &[u8]) -> Requests {
    let mut requests = Requests::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Some((id, request)) = line.split_at_checked(32) else { continue };
        let Some(id) = std::str::from_utf8(id).ok().and_then(|id| u128::from_str_radix(id, 16).ok()) else {
            continue;
        };
        let id = EntryId(id.to_be_bytes());
        match request.trim_ascii() {
            [] => requests.retain(|(known, _)| *known != id),
            request => requests.push((id, request.to_vec())),
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_once_and_answered() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        assert_eq!(desk.take_all(), []);
        let id = EntryId([7; 16]);
        let left = desk.leave(id, b"{}").unwrap();
        assert_eq!(desk.take_all(), [(id, b"{}".to_vec())]);
        assert_eq!(desk.take_all(), []);
        assert_eq!(left.wait(Duration::ZERO), None);
        desk.answer(id, b"done");
        assert_eq!(left.wait(Duration::from_secs(5)), Some(b"done".to_vec()));
    }

    #[test]
    fn what_is_taken_back_or_torn_is_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        let left = desk.leave(EntryId([6; 16]), b"{}").unwrap();
        left.take_back();
        std::fs::OpenOptions::new()
            .append(true)
            .open(&desk.path)
            .unwrap()
            .write_all(b"\n0707 {\"to")
            .unwrap();
        let other = EntryId([8; 16]);
        let _other = desk.leave(other, b"[]").unwrap();
        assert_eq!(desk.take_all(), [(other, b"[]".to_vec())]);
    }

    #[test]
    fn an_answer_from_someone_who_cannot_read_the_desk_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        let left = desk.leave(EntryId([9; 16]), b"{}").unwrap();
        let forger = UnixDatagram::unbound().unwrap();
        forger.send_to_addr(b"sent, believe me", &desk.address(EntryId([9; 16])).unwrap()).unwrap();
        assert_eq!(left.wait(Duration::from_millis(200)), None);
    }
}
