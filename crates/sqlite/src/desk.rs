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

use std::cell::Cell;
use std::fs;
use std::io::ErrorKind;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::SocketAddr;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::Timestamp;
use consort_core::journal::EntryId;
use consort_core::text;
use rustix::buffer::spare_capacity;
use rustix::fs::FlockOperation;
use rustix::fs::flock;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::net::recv;

use crate::pulses::unless_absent;

/// The longest answer: a broadcast to some hundreds. Whoever gets none finds
/// what became of its request by itself.
const LONGEST_ANSWER: usize = 32 << 10;

/// How often adding a line is tried while another process reads them. That takes
/// a moment, unless it is stopped in the middle of it.
const PATIENCE: usize = 50;

/// As long as a command waits for its turn, in milliseconds. Whoever left an
/// older request has given up, or is dead.
const LONGEST_WAIT: i64 = 10_000;

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
    /// Nobody else's lay there.
    pub(crate) is_first: bool,
    is_settled: Cell<bool>,
}

impl Desk {
    /// The desk of the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self { path: path.with_file_name("desk") }
    }

    /// Leaves a request, which is one line of text.
    pub(crate) fn leave(&self, id: EntryId, request: &[u8]) -> std::io::Result<Left> {
        let socket = UnixDatagram::bind_addr(&self.address(id)?)?;
        let mut left = Left { desk: self.clone(), id, socket, is_first: false, is_settled: Cell::new(false) };
        left.is_first = self.add(id, request)?;
        Ok(left)
    }

    /// Puts back what was taken and not carried out.
    pub(crate) fn put_back(&self, id: EntryId, request: &[u8]) {
        let _ = self.add(id, request);
    }

    /// Takes everything that is not too old to be waited for. Only for whoever
    /// holds the gate. `None` while someone is adding to it: whoever holds the
    /// gate waits for nobody.
    pub(crate) fn take(&self, now: Timestamp) -> Option<Requests> {
        let mut file = match fs::OpenOptions::new().read(true).write(true).open(&self.path) {
            Ok(file) => file,
            Err(error) => return (error.kind() == ErrorKind::NotFound).then(Requests::new),
        };
        if file.metadata().ok()?.len() == 0 {
            return Some(Requests::new());
        }
        // Nobody adds to it between the reading and the clearing.
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let mut lines = Vec::new();
        file.read_to_end(&mut lines).ok()?;
        file.set_len(0).ok()?;
        let mut requests = parse(&lines);
        requests.retain(|(id, _)| now.since(id.at()) < LONGEST_WAIT);
        Some(requests)
    }

    /// Forgets everything: the store is gone that it was meant for.
    pub(crate) fn clear(&self) -> std::io::Result<()> {
        unless_absent(fs::remove_file(&self.path))
    }

    /// Answers requests; whoever left them may be gone.
    pub(crate) fn answer(&self, answers: &[(EntryId, Vec<u8>)]) {
        if answers.is_empty() {
            return;
        }
        let open =
            || UnixDatagram::unbound().and_then(|socket| socket.set_nonblocking(true).map(|()| socket));
        let Ok(mut socket) = open() else { return };
        for (id, answer) in answers {
            // What proves that it comes from one who can read the desk.
            let signed = [&id.0, answer.as_slice()].concat();
            if signed.len() <= LONGEST_ANSWER
                && let Ok(address) = self.address(*id)
                && socket
                    .send_to_addr(&signed, &address)
                    .is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
                && let Ok(fresh) = open()
            {
                // What nobody has received yet counts against the socket it was sent by.
                socket = fresh;
                let _ = socket.send_to_addr(&signed, &address);
            }
        }
    }

    /// Adds a line; whether it is the first. Begun on a new one, so that half a
    /// line left by a full disk spoils nothing but itself.
    fn add(&self, id: EntryId, text: &[u8]) -> std::io::Result<bool> {
        let mut line = format!("\n{:032x} ", u128::from_be_bytes(id.0)).into_bytes();
        line.extend_from_slice(text);
        line.push(b'\n');
        let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        for _ in 0..PATIENCE {
            match flock(&file, FlockOperation::NonBlockingLockShared) {
                Ok(()) => {
                    let is_first = file.metadata()?.len() == 0;
                    return file.write_all(&line).map(|()| is_first);
                }
                Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_micros(200)),
                Err(error) => return Err(error.into()),
            }
        }
        Err(ErrorKind::WouldBlock.into())
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
        // Most are short, and memory that is not written costs nothing.
        let mut answer = Vec::with_capacity(LONGEST_ANSWER);
        recv(&self.socket, spare_capacity(&mut answer), RecvFlags::empty()).ok()?;
        if !answer.starts_with(&self.id.0) {
            return None;
        }
        self.settle();
        Some(answer.split_off(self.id.0.len()))
    }

    /// Asks whoever comes to take the request not to carry it out.
    pub(crate) fn take_back(&self) {
        self.settle();
        let _ = self.desk.add(self.id, b"");
    }

    /// Nothing of it lies on the desk any more.
    pub(crate) fn settle(&self) {
        self.is_settled.set(true);
    }
}

/// Whoever comes to take a request whose owner has given up is told so.
impl Drop for Left {
    fn drop(&mut self) {
        if !self.is_settled.get() {
            self.take_back();
        }
        #[cfg(not(target_os = "linux"))]
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

    const NOW: Timestamp = Timestamp(1_000_000);

    fn id(n: u8) -> EntryId {
        EntryId::new(NOW, [n; 10])
    }

    #[test]
    fn a_request_is_taken_once_and_answered() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        assert_eq!(desk.take(NOW), Some(vec![]));
        let left = desk.leave(id(1), b"{}").unwrap();
        assert!(left.is_first);
        assert_eq!(desk.take(NOW), Some(vec![(id(1), b"{}".to_vec())]));
        assert_eq!(desk.take(NOW), Some(vec![]));
        assert_eq!(left.wait(Duration::ZERO), None);
        desk.answer(&[(id(1), b"done".to_vec())]);
        assert_eq!(left.wait(Duration::from_secs(5)), Some(b"done".to_vec()));
    }

    #[test]
    fn what_is_given_up_torn_or_too_old_is_passed_over() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        drop(desk.leave(id(2), b"{}").unwrap());
        fs::OpenOptions::new().append(true).open(&desk.path).unwrap().write_all(b"\n0707 {\"to").unwrap();
        assert!(!desk.leave(id(2), b"{}").unwrap().is_first);
        let _waits = desk.leave(id(3), b"[]").unwrap();
        let old = EntryId::new(NOW.minus(LONGEST_WAIT), [4; 10]);
        let _old = desk.leave(old, b"[]").unwrap();
        assert_eq!(desk.take(NOW), Some(vec![(id(3), b"[]".to_vec())]));
    }

    #[test]
    fn one_that_is_stopped_in_the_middle_holds_nobody_up() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        let _left = desk.leave(id(5), b"{}").unwrap();
        let stopped = fs::File::open(&desk.path).unwrap();
        flock(&stopped, FlockOperation::LockShared).unwrap();
        assert_eq!(desk.take(NOW), None);
        flock(&stopped, FlockOperation::LockExclusive).unwrap();
        assert!(desk.leave(id(6), b"{}").is_err());
    }

    /// More than one socket may have sent and nobody received.
    #[test]
    fn everyone_of_a_crowd_is_answered() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        let ids = (0..300_u16).map(|n| EntryId::new(Timestamp(1_000_000 + i64::from(n)), [8; 10]));
        let left: Vec<Left> = ids.map(|id| desk.leave(id, b"{}").unwrap()).collect();
        desk.answer(&left.iter().map(|left| (left.id, vec![b'x'; 1_000])).collect::<Vec<_>>());
        assert!(left.iter().all(|left| left.wait(Duration::from_secs(5)).is_some()));
    }

    #[test]
    fn an_answer_from_someone_who_cannot_read_the_desk_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let desk = Desk::beside(&temp.path().join("consort.db"));
        let left = desk.leave(id(7), b"{}").unwrap();
        let forger = UnixDatagram::unbound().unwrap();
        forger.send_to_addr(b"sent, believe me", &desk.address(id(7)).unwrap()).unwrap();
        assert_eq!(left.wait(Duration::from_millis(200)), None);
    }
}
