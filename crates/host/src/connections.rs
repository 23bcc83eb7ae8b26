//! Counts the open connections of processes, which tells whether they wait for the network.

use std::collections::BTreeSet;
use std::fs;

/// Counts the established TCP connections of these processes; `None` if they cannot be seen.
pub fn count_connections(pids: impl Iterator<Item = u32>) -> Option<usize> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let open: BTreeSet<u64> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| established(&table))
        .collect();
    let sockets = pids.flat_map(sockets_of).filter(|inode| open.contains(inode));
    Some(sockets.collect::<BTreeSet<u64>>().len())
}

/// Lists the sockets of a table such as `/proc/net/tcp` that are connected.
fn established(table: &str) -> Vec<u64> {
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        (*fields.get(3)? == "01").then(|| fields.get(9)?.parse().ok())?
    };
    table.lines().skip(1).filter_map(inode).collect()
}

fn sockets_of(pid: u32) -> Vec<u64> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |target: std::path::PathBuf| {
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    files.filter_map(|file| inode(fs::read_link(file.path()).ok()?)).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn connected_sockets_count_and_listening_ones_do_not() {
        let me = || std::iter::once(std::process::id());
        let before = count_connections(me()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(count_connections(me()), Some(before));
        let _stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(count_connections(me()) > Some(before));
    }
}
