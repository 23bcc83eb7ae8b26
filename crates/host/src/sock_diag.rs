//! Asks the kernel which socket has two given ends, by netlink (`sock_diag`).
//!
//! `/proc/net/tcp` has the same, but for each read of it the kernel walks its whole table of connections,
//! which takes milliseconds however few there are.

use std::io;
use std::net::IpAddr;
use std::net::SocketAddr;

use rustix::net::AddressFamily;
use rustix::net::RecvFlags;
use rustix::net::SendFlags;
use rustix::net::SocketFlags;
use rustix::net::SocketType;
use rustix::net::netlink;

/// `SOCK_DIAG_BY_FAMILY`: the type of the request, and of its answer.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`
const REQUEST: u16 = 1;
const TCP: u8 = 6;
/// Length of the header of a netlink message.
const HEADER: usize = 16;
/// Offset of the inode in an answer: in `struct inet_diag_msg` it follows four bytes, the socket's id of
/// 48 and four numbers.
const INODE: usize = HEADER + 4 + 48 + 16;

/// Finds the inode of the TCP socket of this machine that has these two ends, its own first; an error if
/// the kernel cannot be asked.
pub(crate) fn inode_of(here: SocketAddr, there: SocketAddr) -> io::Result<Option<u64>> {
    let flags = SocketFlags::CLOEXEC;
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
    rustix::net::send(&socket, &request(here, there), SendFlags::empty())?;
    let mut answer = [0; 1 << 10];
    // The kernel has answered when `send` returns.
    let (length, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    let answer = answer.get(..length).unwrap_or_default();
    let kind = answer.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes);
    if kind == Some(BY_FAMILY) {
        let inode = answer.get(INODE..INODE + 4).and_then(|inode| inode.try_into().ok());
        return Ok(inode.map(u32::from_ne_bytes).map(u64::from).filter(|inode| *inode != 0));
    }
    // Any other answer has the negative number of an error.
    let error = answer.get(HEADER..HEADER + 4).and_then(|error| error.try_into().ok());
    match error.map(i32::from_ne_bytes).map(|error| io::Error::from_raw_os_error(-error)) {
        Some(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Some(error) => Err(error),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Builds the request: a header, and `struct inet_diag_req_v2`.
fn request(here: SocketAddr, there: SocketAddr) -> Vec<u8> {
    let family = if here.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let mut body = vec![family.as_raw() as u8, TCP, 0, 0];
    // Sockets in any state.
    body.extend(u32::MAX.to_ne_bytes());
    body.extend(here.port().to_be_bytes());
    body.extend(there.port().to_be_bytes());
    for end in [here, there] {
        let mut address = [0; 16];
        match end.ip() {
            IpAddr::V4(ip) => address[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => address = ip.octets(),
        }
        body.extend(address);
    }
    // Any interface, any cookie.
    for number in [0, u32::MAX, u32::MAX] {
        body.extend(number.to_ne_bytes());
    }
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    // The sequence number and the sender's port, both zero: there is only one answer.
    message.extend([0; 8]);
    message.extend(body);
    message
}
