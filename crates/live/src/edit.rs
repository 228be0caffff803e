//! Changes to frames on their way: marks, hops, cuts, turning around. Checksums follow.

use crate::frame::{Headers, Network};
use forebay_capture::checksum::{changed, fold, of_sum, sum};

/// Congestion experienced.
const CE: u8 = 3;

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

fn set_word(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Sets a word of an IPv4 header, and its checksum.
fn set_v4_word(frame: &mut [u8], network_at: usize, offset: usize, value: u16) {
    let (at, checksum_at) = (network_at + offset, network_at + 10);
    let checksum = changed(word(frame, checksum_at), word(frame, at), value);
    set_word(frame, at, value);
    set_word(frame, checksum_at, checksum);
}

/// Sets differentiated services and congestion bits of an IP packet; others are left alone.
fn set_traffic_class(frame: &mut [u8], headers: &Headers, class: u8) {
    let at = headers.network_at;
    match headers.network {
        Network::V4(_) => set_v4_word(frame, at, 0, word(frame, at) & 0xff00 | u16::from(class)),
        Network::V6(_) => set_word(frame, at, word(frame, at) & 0xf00f | u16::from(class) << 4),
        Network::Other => {}
    }
}

/// Marks an ECN-capable packet: congestion experienced.
pub fn mark(frame: &mut [u8], headers: &Headers) {
    if let Some(class) = headers.traffic_class().filter(|_| headers.is_ect()) {
        set_traffic_class(frame, headers, class | CE);
    }
}

/// Gives a packet another code point of differentiated services.
pub fn set_dscp(frame: &mut [u8], headers: &Headers, dscp: u8) {
    if let Some(class) = headers.traffic_class() {
        set_traffic_class(frame, headers, dscp << 2 | class & 3);
    }
}

/// Takes a hop off; false if there is none left to take, and the packet must not go on.
#[must_use]
pub fn take_hop(frame: &mut [u8], headers: &Headers) -> bool {
    let at = headers.network_at;
    match headers.network {
        Network::V4(v4) if v4.ttl > 1 => {
            set_v4_word(frame, at, 8, word(frame, at + 8) - 0x0100);
            true
        }
        Network::V6(v6) if v6.hop_limit > 1 => {
            frame[at + 7] -= 1;
            true
        }
        _ => false,
    }
}

/// What a cut packet says about its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lengths {
    /// That of what is left, with checksums that fit it: hosts take it for a whole, short packet.
    #[default]
    Cut,
    /// That of the packet before it was cut, as it was: the receiver sees what is missing.
    Kept,
}

/// Cuts an IP packet to its headers, or to `size` bytes of the frame if these are more. Returns the bytes that are
/// left: of a packet that is short enough already, no more than these without padding. None if it is no IP packet,
/// which cannot be cut.
pub fn trim(frame: &mut [u8], headers: &Headers, size: usize, lengths: Lengths) -> Option<usize> {
    let packet_end = headers.packet_end()?;
    let end = size.max(headers.end);
    if end >= packet_end {
        return Some(frame.len().min(end));
    }
    if lengths == Lengths::Cut {
        set_lengths(frame, headers, end);
    }
    Some(end)
}

/// Makes a packet end at `end`: lengths of IP and UDP, checksums of IPv4, UDP and TCP.
fn set_lengths(frame: &mut [u8], headers: &Headers, end: usize) {
    let at = headers.network_at;
    // The frame holds the packet, whose length has 16 bits.
    let left = (end - at) as u16;
    let addresses = match headers.network {
        Network::V4(_) => {
            set_v4_word(frame, at, 2, left);
            sum(&frame[at + 12..at + 20])
        }
        Network::V6(_) => {
            set_word(frame, at + 4, left - 40);
            sum(&frame[at + 8..at + 40])
        }
        Network::Other => return,
    };
    let (Some(transport_at), Some(protocol)) = (headers.transport_at, headers.protocol()) else { return };
    let length = (end - transport_at) as u16;
    let is_udp = protocol == 17;
    let checksum_at = transport_at + if is_udp { 6 } else { 16 };
    if is_udp {
        set_word(frame, transport_at + 4, length);
        // UDP over IPv4 may go without a checksum.
        if word(frame, checksum_at) == 0 {
            return;
        }
    }
    set_word(frame, checksum_at, 0);
    let pseudo = addresses + u32::from(protocol) + u32::from(length);
    let checksum = of_sum(fold(pseudo) + sum(&frame[transport_at..end]));
    set_word(frame, checksum_at, if is_udp && checksum == 0 { 0xffff } else { checksum });
}

/// Turns a packet around: whoever sent it is who it goes to. Checksums stay right, since sums do not depend on order.
pub fn turn_around(frame: &mut [u8], headers: &Headers) {
    swap(frame, 0, 6, 6);
    let at = headers.network_at;
    match headers.network {
        Network::V4(_) => swap(frame, at + 12, at + 16, 4),
        Network::V6(_) => swap(frame, at + 8, at + 24, 16),
        Network::Other => return,
    }
    if let (Some(at), Some(_)) = (headers.transport_at, headers.ports) {
        swap(frame, at, at + 2, 2);
    }
}

fn swap(frame: &mut [u8], a: usize, b: usize, bytes: usize) {
    for offset in 0..bytes {
        frame.swap(a + offset, b + offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Build, checksums_are_right};
    use proptest::prelude::*;

    fn headers(frame: &[u8]) -> Headers {
        Headers::parse(frame).unwrap()
    }

    #[test]
    fn marks_and_hops_keep_checksums() {
        for build in Build::all() {
            let mut frame = build.ect(2).frame(700);
            assert!(checksums_are_right(&frame), "as built");
            let known = headers(&frame);
            mark(&mut frame, &known);
            let known = headers(&frame);
            assert_eq!(known.traffic_class().unwrap() & 3, 3);
            assert!(take_hop(&mut frame, &known));
            set_dscp(&mut frame, &known, 46);
            assert_eq!(headers(&frame).traffic_class().unwrap(), 46 << 2 | 3);
            assert!(checksums_are_right(&frame));
        }
    }

    #[test]
    fn what_is_not_ecn_capable_is_not_marked() {
        for build in Build::all() {
            let before = build.ect(0).frame(100);
            let mut frame = before.clone();
            mark(&mut frame, &headers(&before));
            assert_eq!(frame, before);
        }
    }

    #[test]
    fn the_last_hop_is_not_taken() {
        for build in Build::all() {
            let mut frame = build.ttl(1).frame(100);
            let before = frame.clone();
            assert!(!take_hop(&mut frame, &headers(&before)));
            assert_eq!(frame, before);
        }
    }

    #[test]
    fn a_cut_packet_is_a_whole_short_one() {
        for build in Build::all() {
            for tags in 0..3 {
                let mut frame = build.tags(tags).frame(1_400);
                let before = headers(&frame);
                let left = trim(&mut frame, &before, 64, Lengths::Cut).unwrap();
                assert_eq!(left, before.end.max(64));
                frame.truncate(left);
                let after = headers(&frame);
                assert_eq!((after.ports, after.packet_end()), (before.ports, Some(left)));
                assert!(checksums_are_right(&frame));
                // Nothing is left to cut.
                assert_eq!(trim(&mut frame, &after, 64, Lengths::Cut), Some(left));
                // Nor does padding stay.
                frame.resize(1_400, 0);
                let padded = headers(&frame);
                assert_eq!(trim(&mut frame, &padded, 64, Lengths::Cut), Some(left));
            }
        }
    }

    #[test]
    fn a_cut_packet_may_keep_its_lengths() {
        let mut frame = Build::all()[0].frame(1_400);
        let before = frame.clone();
        let left = trim(&mut frame, &headers(&before), 64, Lengths::Kept).unwrap();
        assert_eq!(frame[..left], before[..left]);
    }

    #[test]
    fn turned_around_twice_is_as_before() {
        for build in Build::all() {
            let before = build.frame(50);
            let mut frame = before.clone();
            turn_around(&mut frame, &headers(&before));
            assert!(checksums_are_right(&frame));
            let (there, back) = (headers(&before), headers(&frame));
            assert_eq!((there.source, there.ports.map(|(a, b)| (b, a))), (back.destination, back.ports));
            turn_around(&mut frame, &back);
            assert_eq!(frame, before);
        }
    }

    proptest! {
        /// Whatever the bytes, nothing panics, and what is known lies within the frame.
        #[test]
        fn any_bytes_are_safe(mut frame in prop::collection::vec(any::<u8>(), 0..200), kind in 0usize..4, size in 0usize..300) {
            if let Some(at) = frame.get_mut(12..14) {
                at.copy_from_slice(&[[0x08, 0x00], [0x86, 0xdd], [0x81, 0x00], [0x12, 0x34]][kind]);
            }
            let Some(headers) = Headers::parse(&frame) else {
                prop_assert!(frame.len() < 14);
                return Ok(());
            };
            prop_assert!(headers.end <= frame.len() && headers.packet_end().is_none_or(|end| end <= frame.len()));
            mark(&mut frame, &headers);
            let _ = take_hop(&mut frame, &headers);
            set_dscp(&mut frame, &headers, 9);
            turn_around(&mut frame, &headers);
            let left = trim(&mut frame, &headers, size, Lengths::Cut);
            prop_assert!(left.is_none_or(|left| left <= frame.len() && left <= size.max(headers.end)));
        }
    }
}
