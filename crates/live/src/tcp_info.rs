//! What the kernel knows of a TCP connection.

use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// What a connection has sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Segments that were sent again.
    pub retransmissions: u32,
    /// Retransmission timeouts; 0 with kernels before 6.7, which do not tell.
    pub timeouts: u32,
}

/// Where these numbers are in the kernel's `tcp_info`.
const TOTAL_RETRANSMISSIONS: usize = 100;
const TOTAL_TIMEOUTS: usize = 240;

/// What a connection has sent again so far.
pub fn repeats(stream: &TcpStream) -> io::Result<Repeats> {
    let mut info = [0_u8; 512];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `stream` is borrowed. The kernel writes at most `length` bytes to
    // `info`, which has as many, and `length` itself; both outlive the call.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    let told = &info[..(length as usize).min(info.len())];
    let retransmissions = told.get(TOTAL_RETRANSMISSIONS..TOTAL_RETRANSMISSIONS + 4);
    let timeouts = told.get(TOTAL_TIMEOUTS..TOTAL_TIMEOUTS + 2);
    Ok(Repeats {
        retransmissions: retransmissions.map_or(0, |own| u32::from_ne_bytes([own[0], own[1], own[2], own[3]])),
        timeouts: timeouts.map_or(0, |own| u32::from(u16::from_ne_bytes([own[0], own[1]]))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener};

    #[test]
    fn a_connection_that_has_lost_nothing_has_sent_nothing_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[0; 1_000]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        server.read_to_end(&mut Vec::new()).unwrap();
        drop(server);
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        assert_eq!(repeats(&client).unwrap(), Repeats::default());
    }
}
