//! Who is at the other end of a socket on this machine.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

pub use crate::backend::privileges::{own_user, owner};

/// The user that the process at the other end acted as when it connected.
pub fn user_of(stream: &UnixStream) -> io::Result<u32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `stream` is borrowed. The kernel writes at most `length` bytes to
    // `credentials`, which has that size, is plain integers and outlives the call; it writes `length` itself, which
    // outlives the call, too.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if failed != 0 { Err(io::Error::last_os_error()) } else { Ok(credentials.uid) }
}

/// The kernel's question about one socket (`inet_diag`), with the header of netlink.
#[repr(C)]
struct Question {
    length: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    sender: u32,
    family: u8,
    protocol: u8,
    _more: [u8; 2],
    states: u32,
    id: SocketId,
}

/// A connection as one end of it sees it.
#[repr(C)]
#[derive(Clone, Copy)]
struct SocketId {
    ports: [[u8; 2]; 2],
    addresses: [[u8; 16]; 2],
    interface: u32,
    cookie: [u32; 2],
}

/// What the kernel answers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Reply {
    length: u32,
    kind: u16,
    flags: u16,
    sequence: u32,
    sender: u32,
    family: u8,
    state: u8,
    _timer: [u8; 2],
    id: SocketId,
    _queues: [u32; 3],
    user: u32,
    inode: u32,
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Both ends can send (1), this one has closed its half (4, 5), the other one has (8).
const OPEN_STATES: [u8; 4] = [1, 4, 5, 8];

fn bytes_of(address: IpAddr) -> [u8; 16] {
    let mut bytes = [0; 16];
    match address {
        IpAddr::V4(four) => bytes[..4].copy_from_slice(&four.octets()),
        IpAddr::V6(six) => bytes = six.octets(),
    }
    bytes
}

/// The user whose process has the other end of a TCP connection within this machine; none if no process has it any
/// more, or it is another machine's.
pub fn tcp_user_of(stream: &TcpStream) -> io::Result<Option<u32>> {
    let (own, other) = (stream.local_addr()?, stream.peer_addr()?);
    let of = |first: SocketAddr, second: SocketAddr| SocketId {
        ports: [first.port().to_be_bytes(), second.port().to_be_bytes()],
        addresses: [bytes_of(first.ip()), bytes_of(second.ip())],
        interface: 0,
        cookie: [u32::MAX; 2],
    };
    let question = Question {
        length: size_of::<Question>() as u32,
        kind: SOCK_DIAG_BY_FAMILY,
        flags: libc::NLM_F_REQUEST as u16,
        sequence: 1,
        sender: 0,
        family: if own.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 } as u8,
        protocol: libc::IPPROTO_TCP as u8,
        _more: [0; 2],
        states: u32::MAX,
        id: of(other, own),
    };
    // SAFETY: the kernel makes a new descriptor, which nobody else knows. It reads the question and writes at most as
    // many bytes as it is told to the answer, both of which outlive the calls and are plain numbers.
    let (answer, length) = unsafe {
        let fd = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG);
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        let fd = OwnedFd::from_raw_fd(fd);
        if libc::send(fd.as_raw_fd(), (&raw const question).cast(), size_of::<Question>(), 0) == -1 {
            return Err(io::Error::last_os_error());
        }
        let mut answer: Reply = std::mem::zeroed();
        let length = libc::recv(fd.as_raw_fd(), (&raw mut answer).cast(), size_of::<Reply>(), 0);
        (answer, length)
    };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    let is_it = length as usize == size_of::<Reply>()
        && answer.kind == SOCK_DIAG_BY_FAMILY
        && answer.id.ports == question.id.ports
        && OPEN_STATES.contains(&answer.state);
    // A socket that no process has any more is said to be root's.
    Ok((is_it && answer.inode != 0).then_some(answer.user))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_other_end_of_a_pair_is_this_process() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(user_of(&one).unwrap(), own_user());
        assert_eq!(own_user(), std::fs::metadata("/proc/self").unwrap().uid(), "as the kernel says elsewhere");
    }
    #[test]
    fn the_other_end_of_a_connection_is_this_process_until_it_is_closed() {
        use std::net::TcpListener;
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, _) = listener.accept().unwrap();
            assert_eq!(tcp_user_of(&server).unwrap(), Some(own_user()), "{address}");
            client.shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(tcp_user_of(&server).unwrap(), Some(own_user()), "{address}");
            drop(client);
            assert_eq!(tcp_user_of(&server).unwrap(), None, "{address}");
        }
    }
}
