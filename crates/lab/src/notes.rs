//! What agents say: one line of JSON for each thing that happened. Times are nanoseconds from the start of the
//! experiment.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// A request of a session: its number, the server, the bytes of the answer, when it was sent, when it had arrived
    /// and when the answer had.
    Asked(u32, usize, u64, [u64; 3]),
    /// Something could not be done.
    Failed(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Note {
    /// Reads a line; none if it is not one of these.
    pub fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
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
        let wrong = [
            "",
            "ended",
            "{\"ended\":1}",
            "{\"ended\":[1]}",
            "{\"ended\":[-1,2]}",
            "{\"ended\":[4294967296,1]}",
            "\"other\"",
        ];
        for line in wrong {
            assert_eq!(Note::parse(line), None, "{line}");
        }
    }
}
