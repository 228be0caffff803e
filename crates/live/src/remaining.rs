//! What is left of a flow, read from its packets: a rank for schedulers that favour flows that are nearly done.
//!
//! TCP says nothing about it. A sender that wants to be favoured begins its stream with [`MARK`] and the number of
//! bytes of the flow (8 bytes, most significant first); from then on the sequence numbers tell what is left. Flows that
//! say nothing have the last rank. A table of fixed size keeps what flows have said, as in a switch chip: a flow's
//! place is a hash of its addresses, and a newer flow takes the place of an older one.

use crate::frame::Headers;

/// What a stream begins with that says its length.
pub const MARK: [u8; 8] = *b"fbflow1\n";
/// Bytes of the mark and the number behind it.
pub const ANNOUNCEMENT: usize = 16;
/// Places of the table.
const PLACES: usize = 1 << 16;
/// The rank of what said nothing.
pub const UNKNOWN: u64 = u64::MAX >> 16;
const TCP: u8 = 6;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    flow: u64,
    /// The sequence number of the first byte.
    first: u32,
    bytes: u64,
}

/// What flows have said.
#[derive(Clone, Debug)]
pub struct Remaining {
    places: Vec<Entry>,
}

impl Default for Remaining {
    fn default() -> Self {
        Self { places: vec![Entry::default(); PLACES] }
    }
}

impl Remaining {
    /// Bytes that are left of a packet's flow when the packet is there.
    pub fn of(&mut self, frame: &[u8], headers: &Headers, flow: u64) -> u64 {
        let payload = frame.get(headers.end..).unwrap_or_default();
        let said = payload.get(..ANNOUNCEMENT).filter(|start| start[..MARK.len()] == MARK);
        let said = said.map(|start| start[MARK.len()..].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)));
        if headers.protocol() != Some(TCP) {
            // A datagram stands for itself: it says what is left.
            return said.unwrap_or(UNKNOWN).min(UNKNOWN);
        }
        let Some(sequence) = headers.sequence(frame) else { return UNKNOWN };
        let place = &mut self.places[flow as usize % PLACES];
        if let Some(bytes) = said {
            *place = Entry { flow, first: sequence, bytes };
        }
        if place.flow != flow || place.bytes == 0 {
            return UNKNOWN;
        }
        // Beyond 4 GB sequence numbers come round again; the mark's 16 bytes are part of the stream.
        let passed = u64::from(sequence.wrapping_sub(place.first)).saturating_sub(ANNOUNCEMENT as u64);
        place.bytes.saturating_sub(passed).min(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::flow_of;
    use crate::testing::Build;

    fn rank(table: &mut Remaining, build: Build, sequence: u32, said: Option<u64>) -> u64 {
        let mut frame = build.frame(100);
        let headers = Headers::parse(&frame).unwrap();
        if headers.protocol() == Some(TCP) {
            frame[headers.end - 16..headers.end - 12].copy_from_slice(&sequence.to_be_bytes());
        }
        if let Some(bytes) = said {
            frame[headers.end..headers.end + 8].copy_from_slice(&MARK);
            frame[headers.end + 8..headers.end + 16].copy_from_slice(&bytes.to_be_bytes());
        }
        table.of(&frame, &headers, flow_of(&headers))
    }

    #[test]
    fn what_is_left_falls_with_the_sequence_numbers() {
        let [udp, tcp, ..] = Build::all();
        let mut table = Remaining::default();
        assert_eq!(rank(&mut table, tcp, 500, None), UNKNOWN, "said nothing yet");
        let first = u32::MAX - 10;
        assert_eq!(rank(&mut table, tcp, first, Some(10_000)), 10_000);
        assert_eq!(rank(&mut table, tcp, first.wrapping_add(1_016), None), 9_000);
        assert_eq!(rank(&mut table, tcp, first.wrapping_add(20_000), None), 0);
        assert_eq!(rank(&mut table, Build { ports: (7, 8), ..tcp }, 500, None), UNKNOWN, "another flow");
        assert_eq!(rank(&mut table, udp, 0, Some(77)), 77);
        assert_eq!(rank(&mut table, udp, 0, None), UNKNOWN);
    }
}
