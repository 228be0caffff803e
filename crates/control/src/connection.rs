//! A connection that is read piece by piece, with a limit to what is kept and to how long is waited.

use crate::server::Stream;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::time::{Duration, Instant};

/// Why nothing more can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The other end is gone.
    Gone,
    /// It did not come in time.
    Late,
    /// It is longer than it may be.
    Long,
}

/// Bytes that are read at a time.
const PIECE: usize = 4096;
/// What is read and thrown away behind a refusal, so that the refusal arrives.
const LINGER: (usize, Duration) = (1 << 20, Duration::from_millis(500));

/// A connection and what has come of it that nobody has taken yet.
pub(crate) struct Connection<S> {
    stream: S,
    come: Vec<u8>,
}

impl<S: Stream> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, come: Vec::new() }
    }

    /// Whether something has come that nobody has taken.
    pub(crate) fn has_some(&self) -> bool {
        !self.come.is_empty()
    }

    /// Waits for more until `end`, or without end.
    pub(crate) fn fill(&mut self, end: Option<Instant>) -> Result<(), ReadError> {
        let timeout = end.map(|end| end.saturating_duration_since(Instant::now()));
        if timeout == Some(Duration::ZERO) {
            return Err(ReadError::Late);
        }
        self.stream.read_timeout(timeout).map_err(|_| ReadError::Gone)?;
        let mut piece = [0; PIECE];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(ReadError::Gone),
            Ok(count) => {
                self.come.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(()),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(ReadError::Late),
                _ => Err(ReadError::Gone),
            },
        }
    }

    /// Takes what comes up to an end mark, without the mark, if it is at most `most` bytes long.
    pub(crate) fn until(&mut self, mark: &[u8], most: usize, end: Option<Instant>) -> Result<Vec<u8>, ReadError> {
        let mut seen = 0;
        loop {
            let found = self.come[seen..].windows(mark.len()).position(|window| window == mark).map(|at| seen + at);
            match found {
                Some(at) if at > most => return Err(ReadError::Long),
                Some(at) => {
                    let rest = self.come.split_off(at + mark.len());
                    self.come.truncate(at);
                    return Ok(std::mem::replace(&mut self.come, rest));
                }
                None if self.come.len() >= most + mark.len() => return Err(ReadError::Long),
                None => {
                    seen = self.come.len().saturating_sub(mark.len() - 1);
                    self.fill(end)?;
                }
            }
        }
    }

    /// Takes so many bytes.
    pub(crate) fn exactly(&mut self, count: usize, end: Option<Instant>) -> Result<Vec<u8>, ReadError> {
        while self.come.len() < count {
            self.fill(end)?;
        }
        let rest = self.come.split_off(count);
        Ok(std::mem::replace(&mut self.come, rest))
    }

    /// Sends all of something until `end`.
    pub(crate) fn send(&mut self, mut bytes: &[u8], end: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let timeout = end.saturating_duration_since(Instant::now());
            if timeout.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            self.stream.write_timeout(Some(timeout))?;
            match self.stream.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says no more, and reads for a moment what is still coming: closing at once would take back what was said.
    pub(crate) fn linger(mut self) {
        self.stream.close(Shutdown::Write);
        let (mut left, timeout) = LINGER;
        let end = Instant::now() + timeout;
        while self.fill(Some(end)).is_ok() && self.come.len() < left {
            left -= self.come.len();
            self.come.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn with(bytes: &[u8]) -> Connection<UnixStream> {
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(bytes).unwrap();
        Connection::new(other)
    }

    fn soon() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(5))
    }

    #[test]
    fn pieces_are_cut_at_their_marks_wherever_they_are() {
        let mut line = with(b"one\r\n\r\ntwo\r\n\r\n12345");
        assert_eq!(line.until(b"\r\n\r\n", 3, soon()).unwrap(), b"one");
        assert_eq!(line.until(b"\r\n\r\n", 3, soon()).unwrap(), b"two");
        assert_eq!(line.exactly(5, soon()).unwrap(), b"12345");
        assert_eq!(line.exactly(1, soon()), Err(ReadError::Gone));
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        assert_eq!(with(b"four\n").until(b"\n", 3, soon()), Err(ReadError::Long));
        assert_eq!(with(&[b'x'; 3000]).until(b"\n", 100, soon()), Err(ReadError::Long));
    }

    #[test]
    fn what_does_not_come_is_not_waited_for() {
        let (_one, other) = UnixStream::pair().unwrap();
        let end = Some(Instant::now() + Duration::from_millis(30));
        assert_eq!(Connection::new(other).until(b"\n", 100, end), Err(ReadError::Late));
    }
    #[test]
    fn who_does_not_read_is_not_waited_for() {
        let (_one, other) = UnixStream::pair().unwrap();
        let end = Instant::now() + Duration::from_millis(50);
        assert!(Connection::new(other).send(&vec![0; 64 << 20], end).is_err());
        assert!(end.elapsed() < Duration::from_secs(5));
    }
}
