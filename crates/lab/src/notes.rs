//! What agents say: one line for each thing that happened. Times are nanoseconds from the start of the experiment.

use std::fmt;

/// A line of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It has done what it was told and waits for more.
    Ready,
    /// A flow has started.
    Started(u32, u64),
    /// The last byte of a flow was read by its receiver.
    Ended(u32, u64),
    /// The sender of a flow knows that.
    Acked(u32, u64),
    /// Segments of a flow that its sender's kernel has sent again, and its retransmission timeouts.
    Repeated(u32, u32, u32),
    /// So many bytes of a flow had arrived at a time.
    Progress(u32, u64, u64),
    /// Datagrams of a flow that were sent.
    Sent(u32, u64),
    /// Datagrams of a flow that arrived: whole, as headers alone, and again.
    Got(u32, u64, u64, u64),
    /// A request of a session: its number, the server, the bytes of the answer, when it was sent, when it had arrived and when the answer had.
    Asked(u32, usize, u64, [u64; 3]),
    /// Something could not be done.
    Failed(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Started(flow, at) => write!(f, "started {flow} {at}"),
            Self::Ended(flow, at) => write!(f, "ended {flow} {at}"),
            Self::Acked(flow, at) => write!(f, "acked {flow} {at}"),
            Self::Repeated(flow, again, timeouts) => write!(f, "repeated {flow} {again} {timeouts}"),
            Self::Progress(flow, at, bytes) => write!(f, "progress {flow} {at} {bytes}"),
            Self::Sent(flow, packets) => write!(f, "sent {flow} {packets}"),
            Self::Got(flow, whole, headers, again) => write!(f, "got {flow} {whole} {headers} {again}"),
            Self::Asked(session, server, bytes, [start, there, back]) => {
                write!(f, "asked {session} {server} {bytes} {start} {there} {back}")
            }
            Self::Failed(text) => write!(f, "failed {}", text.replace('\n', " ")),
        }
    }
}

impl Note {
    /// Reads a line; none if it is not one of these.
    pub fn parse(line: &str) -> Option<Self> {
        if let Some(text) = line.strip_prefix("failed ") {
            return Some(Self::Failed(text.to_owned()));
        }
        let mut words = line.split_whitespace();
        let kind = words.next()?;
        let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        let flow = |number: u64| u32::try_from(number).ok();
        Some(match (kind, &numbers[..]) {
            ("ready", []) => Self::Ready,
            ("started", [number, at]) => Self::Started(flow(*number)?, *at),
            ("ended", [number, at]) => Self::Ended(flow(*number)?, *at),
            ("acked", [number, at]) => Self::Acked(flow(*number)?, *at),
            ("repeated", [number, again, timeouts]) => Self::Repeated(flow(*number)?, flow(*again)?, flow(*timeouts)?),
            ("progress", [number, at, bytes]) => Self::Progress(flow(*number)?, *at, *bytes),
            ("sent", [number, packets]) => Self::Sent(flow(*number)?, *packets),
            ("got", [number, whole, headers, again]) => Self::Got(flow(*number)?, *whole, *headers, *again),
            ("asked", [session, server, bytes, start, there, back]) => {
                Self::Asked(flow(*session)?, usize::try_from(*server).ok()?, *bytes, [*start, *there, *back])
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        for note in [
            Note::Ready,
            Note::Started(1, 2),
            Note::Ended(u32::MAX, u64::MAX),
            Note::Acked(0, 0),
            Note::Repeated(1, 2, 3),
            Note::Progress(1, 2, 3),
            Note::Sent(1, 2),
            Note::Got(1, 2, 3, 4),
            Note::Asked(1, 2, 3, [4, 5, 6]),
            Note::Failed("flow 3: it broke".to_owned()),
        ] {
            assert_eq!(Note::parse(&note.to_string()), Some(note));
        }
        for line in ["", "ended", "ended 1", "ended 1 x", "ended -1 2", "ended 4294967296 1", "ready 1", "other 1"] {
            assert_eq!(Note::parse(line), None, "{line}");
        }
    }
}
