//! Finds which process of this machine is at the other end of a network connection.
//!
//! A caller over loopback is known by its processes, as everywhere: a
//! token says that a call may be made, not who makes it.

use std::collections::HashMap;
use std::fs;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;

use consort_core::host::ConnectionAddrs;

use crate::process::read_proc;
use crate::process::variable_in;

/// A process that called over loopback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub pid: u32,
    pub cwd: Option<PathBuf>,
}

impl Peer {
    /// A variable of its environment, as it was started with.
    pub fn variable(&self, name: &str) -> Option<String> {
        let environment = read_proc(self.pid, "environ")?;
        variable_in(&environment, name)?.into_string().ok()
    }
}

/// Who is at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerLookup {
    Process(Peer),
    /// Somebody on this machine who is not to be found: of another user, or gone
    /// already. It might be anyone.
    Unknown,
    /// Another machine; or this one cannot tell.
    Elsewhere,
}

/// Who calls. It remembers who held which socket, and looks whether that is
/// still so: to find out means to look through every process.
#[derive(Default)]
pub struct Peers {
    found: Mutex<HashMap<u64, (u32, PathBuf)>>,
}

/// How many sockets are remembered.
const MOST: usize = 256;

impl Peers {
    /// Who is at the other end.
    pub fn find(&self, ends: ConnectionAddrs) -> PeerLookup {
        let (peer, local) = (plain(ends.peer), plain(ends.local));
        let is_here = peer.ip().is_loopback() || peer.ip() == local.ip();
        if !is_here || !cfg!(target_os = "linux") {
            return PeerLookup::Elsewhere;
        }
        match socket_of(peer, local).and_then(|inode| self.owner(inode)) {
            Some(pid) => {
                PeerLookup::Process(Peer { pid, cwd: fs::read_link(format!("/proc/{pid}/cwd")).ok() })
            }
            None => PeerLookup::Unknown,
        }
    }

    fn owner(&self, inode: u64) -> Option<u32> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((pid, _)) = found.get(&inode).filter(|(_, file)| is_socket(file, inode)) {
            return Some(*pid);
        }
        if found.len() >= MOST {
            found.retain(|inode, (_, file)| is_socket(file, *inode));
        }
        let (pid, file) = owner(inode)?;
        found.insert(inode, (pid, file));
        Some(pid)
    }
}

/// An address of the old kind is written as one of the new kind by sockets that
/// take both.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The socket that has these two ends. Where the kernel cannot be asked for it (some sandboxes
/// have no netlink), its tables are read.
fn socket_of(here: SocketAddr, there: SocketAddr) -> Option<u64> {
    #[cfg(target_os = "linux")]
    if let Ok(found) = crate::sock_diag::inode_of(here, there) {
        return found;
    }
    in_tables(here, there)
}

fn in_tables(here: SocketAddr, there: SocketAddr) -> Option<u64> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].iter();
    let mut tables = tables.filter_map(|table| fs::read_to_string(table).ok());
    tables.find_map(|table| inode_of(&table, here, there))
}

/// The socket that has these two ends, in a table such as `/proc/net/tcp`.
fn inode_of(table: &str, here: SocketAddr, there: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ends = (address(fields.next()?)?, address(fields.next()?)?);
        let inode = fields.nth(6)?.parse().ok()?;
        (ends == (here, there) && inode != 0).then_some(inode)
    })
}

/// `0100007F:1F90`: words of four bytes each, as the machine keeps them.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let mut bytes = Vec::new();
    for at in (0..ip.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(ip.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    let ip = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some(plain(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

/// The process of ours that holds a socket, and under which name. The youngest
/// first: what a process has handed on to its children is theirs.
fn owner(inode: u64) -> Option<(u32, PathBuf)> {
    let me = rustix::process::getuid().as_raw();
    let mut pids: Vec<u32> = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == me))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable_by(|a, b| b.cmp(a));
    pids.into_iter().find_map(|pid| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let file = files.flatten().map(|entry| entry.path()).find(|file| is_socket(file, inode))?;
        Some((pid, file))
    })
}

fn is_socket(file: &Path, inode: u64) -> bool {
    fs::read_link(file).is_ok_and(|target| target.as_os_str() == format!("socket:[{inode}]").as_str())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn the_other_end_is_found_and_a_stranger_is_not() {
        let peers = Peers::default();
        for any in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(any) else { continue };
            let port = listener.local_addr().unwrap().port();
            let to =
                if any.starts_with("[::1]") { format!("[::1]:{port}") } else { format!("127.0.0.1:{port}") };
            let Ok(client) = TcpStream::connect(to) else { continue };
            let (served, from) = listener.accept().unwrap();
            let local = served.local_addr().unwrap();
            // Found, and then remembered.
            for _ in 0..2 {
                let PeerLookup::Process(found) = peers.find(ConnectionAddrs { peer: from, local }) else {
                    panic!("{any}")
                };
                assert_eq!(found.pid, std::process::id());
                assert_eq!(found.cwd, std::env::current_dir().ok());
                assert_eq!(found.variable("PATH"), crate::env::get("PATH"));
            }
            let (here, there) = (plain(from), plain(local));
            assert!(in_tables(here, there).is_some());
            assert_eq!(crate::sock_diag::inode_of(here, there).unwrap(), in_tables(here, there), "{any}");
            let port = client.local_addr().unwrap().port().wrapping_add(1);
            assert_eq!(
                peers.find(ConnectionAddrs { peer: SocketAddr::new(from.ip(), port), local }),
                PeerLookup::Unknown
            );
        }
        let (peer, local) = ("192.0.2.1:9".parse().unwrap(), "127.0.0.1:80".parse().unwrap());
        assert_eq!(peers.find(ConnectionAddrs { peer, local }), PeerLookup::Elsewhere);
    }
}
