//! Finds which process of this machine is at the other end of a network connection.
//!
//! A caller over loopback is known by its process, as everywhere: a token says that a call may be made,
//! not who makes it.

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
    /// Returns a variable of the environment that the process was started with.
    pub fn variable(&self, name: &str) -> Option<String> {
        let environment = read_proc(self.pid, "environ")?;
        variable_in(&environment, name)?.into_string().ok()
    }
}

/// The other end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerLookup {
    Process(Peer),
    /// A process on this machine that was not found: of another user, or gone already. It might be
    /// anyone's.
    Unknown,
    /// Another machine, or a system on which the process cannot be found.
    Elsewhere,
}

/// Finds callers, and remembers which process held which socket. It checks that this is still so: to find
/// the process means to look through every process.
#[derive(Default)]
pub struct Peers {
    found: Mutex<HashMap<u64, (u32, PathBuf)>>,
}

/// Most sockets that are remembered.
const MOST: usize = 256;

impl Peers {
    /// Finds the process at the other end of a connection.
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

/// Turns an IPv4 address that was mapped to IPv6 into plain IPv4: a socket that takes both reports the
/// mapped form.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Finds the socket that has these two ends. If the kernel cannot be asked for it (some sandboxes have no
/// netlink), its tables are read.
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

/// Finds the socket that has these two ends, in a table such as `/proc/net/tcp`.
fn inode_of(table: &str, here: SocketAddr, there: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ends = (address(fields.next()?)?, address(fields.next()?)?);
        let inode = fields.nth(6)?.parse().ok()?;
        (ends == (here, there) && inode != 0).then_some(inode)
    })
}

/// Parses `0100007F:1F90`: words of four bytes each, in the machine's byte order.
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

/// Finds the process of ours that holds a socket, and the path of the open file in `/proc`. Goes from the
/// highest process id down: a socket that a process has handed on to its children is theirs.
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
            // The process is searched for, and then remembered.
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
