//! Frames as they would be on a wire, from what the kernel has made of them.

use crate::frame::{Headers, Network};
use forebay_capture::checksum::{fold, of_sum, sum};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Completes the checksum of TCP or UDP, which a sender on this machine has left to its interface. False if there is
/// none that is known.
pub(super) fn complete_checksum(frame: &mut [u8]) -> bool {
    let parts = Headers::parse(frame).and_then(|headers| {
        let addresses = match headers.network {
            Network::V4(_) => headers.network_at + 12..headers.network_at + 20,
            Network::V6(_) => headers.network_at + 8..headers.network_at + 40,
            Network::Other => return None,
        };
        Some((headers.protocol()?, addresses, headers.transport_at?, headers.packet_end()?))
    });
    let Some((protocol, addresses, start, end)) = parts else { return false };
    let at = match protocol {
        TCP => start + 16,
        UDP => start + 6,
        _ => return false,
    };
    if at + 2 > end {
        return false;
    }
    frame[at..at + 2].fill(0);
    let pseudo = fold(sum(&frame[addresses]) + u32::from(protocol) + (end - start) as u32);
    // A checksum of zero means none with UDP; its other form is as good with both.
    let checksum = match of_sum(pseudo + sum(&frame[start..end])) {
        0 => 0xffff,
        checksum => checksum,
    };
    frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Build, checksums_are_right};

    #[test]
    fn checksums_are_completed() {
        for build in Build::all() {
            for (tags, payload) in [(0, 0), (1, 33), (2, 1_000)] {
                let whole = build.tags(tags).frame(payload);
                let at = Headers::parse(&whole).unwrap().transport_at.unwrap() + if build.tcp { 16 } else { 6 };
                let mut partial = whole.clone();
                partial[at] ^= 0x55;
                assert!(!checksums_are_right(&partial));
                assert!(complete_checksum(&mut partial));
                assert_eq!(partial, whole);
            }
        }
    }

    #[test]
    fn what_has_none_is_left_alone() {
        let mut arp = Build::all()[0].frame(10);
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        let before = arp.clone();
        assert!(!complete_checksum(&mut arp));
        assert_eq!(arp, before);
        let mut cut = Build::all()[1].frame(0);
        cut.truncate(40);
        assert!(!complete_checksum(&mut cut));
    }
}
