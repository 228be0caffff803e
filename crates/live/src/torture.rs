//! Any bytes as frames through the data path, for tests and the fuzzer: nothing that arrives may do harm.

use crate::dataplane::{Dataplane, Parts};
use crate::frame::Headers;
use crate::pool::{HEADROOM, Pool};
use crate::settings;
use forebay_tm::View as _;
use forebay_tm::{Instant, Tm};

const INTERFACES: &str = "[[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n[[interface]]\nname = \"c\"\n";
const BUFFERS: u32 = 512;
const PIECE: usize = 2_048;

/// Switches that do to frames whatever is done to frames.
const SWITCHES: [&str; 6] = [
    "buffer = \"20KB\"\nrate = \"100Mbps\"\nqueue_capacity = 4\n[policy]\nkind = \"cs\"\n[trim]\nheader_capacity = 3\nreturn_to_sender = true\n\
     [ecn]\nkind = \"step\"\nthreshold = 100\n[live]\ntrim_dscp = 46\n",
    "buffer = \"5KB\"\nrate = \"1Gbps\"\nqueues = 3\n[policy]\nkind = \"occamy\"\nalpha = 8.0\n[scheduler]\nkind = \"drr\"\nquantum = 1500\n[ecn]\nkind = \"step\"\nthreshold = 0\n\
     [forwarding]\nkind = \"routes\"\n[[forwarding.route]]\nprefix = \"0.0.0.0/0\"\nport = \"b\"\nnext_hop = \"02:00:00:00:00:09\"\nsource = \"02:00:00:00:00:08\"\n\
     [[forwarding.route]]\nprefix = \"::/0\"\nport = \"c\"\nnext_hop = \"02:00:00:00:00:09\"\nsource = \"02:00:00:00:00:08\"\n\
     [[classify]]\nprotocol = \"tcp\"\ndestination_port = 0\nqueue = 1\n[[classify]]\npcp = 3\nqueue = 2\n",
    "buffer = \"20KB\"\nrate = \"10Mbps\"\n[policy]\nkind = \"cs\"\n[trim]\nkind = \"cut-payload\"\nwatermark = 1000\n[live]\ntrim_lengths = \"kept\"\n",
    "buffer = \"5KB\"\nrate = \"10Mbps\"\n[policy]\nkind = \"pushout\"\n[scheduler]\nkind = \"pifo\"\ncapacity = 8\n[rank]\nfrom = \"remaining\"\n",
    "buffer = \"5KB\"\nrate = \"10Mbps\"\nqueues = 3\n[policy]\nkind = \"dt\"\nalpha = [1.0, 0.25, 1.0]\n[scheduler]\nkind = \"drr\"\n[trim]\nkind = \"to-queue\"\nqueue = 1\nsize = 200\n\
     [[classify]]\nprotocol = \"tcp\"\nqueue = 2\n[live]\ntrim_dscp = 46\n",
    "buffer = \"5KB\"\nrate = \"10Mbps\"\nqueues = 2\n[policy]\nkind = \"pushout\"\n[scheduler]\nkind = \"drr\"\n[trim]\nkind = \"to-queue\"\nqueue = 1\nsize = 200\n\
     [ecn]\nkind = \"step\"\nthreshold = 100\naction = \"drop\"\n[live]\ntrim_lengths = \"kept\"\n",
];

/// A head of two bytes says how a frame begins: with that of a sound packet, from which some bytes differ, or with what
/// follows.
fn frame(bytes: &mut &[u8]) -> Option<(usize, u64, Vec<u8>)> {
    let (head, rest) = bytes.split_at_checked(4)?;
    let length = (usize::from(head[0]) << 3 | usize::from(head[1] & 7)).min(rest.len());
    let (own, rest) = rest.split_at(length);
    *bytes = rest;
    let mut frame = match head[1] >> 3 & 3 {
        0 => Vec::new(),
        kind => sound(kind, own.len()),
    };
    if frame.is_empty() {
        frame = own.to_vec();
    } else {
        for (place, byte) in frame.iter_mut().zip(own) {
            *place ^= byte;
        }
    }
    frame.truncate(PIECE - HEADROOM);
    let ingress = usize::from(head[2]) % 4;
    Some((if ingress == 3 { crate::dataplane::NO_PORT } else { ingress }, u64::from(head[3]) * 1_000_000, frame))
}

/// The frame of a sound IPv4 or IPv6 packet with TCP or UDP, and so many bytes behind the headers.
fn sound(kind: u8, payload: usize) -> Vec<u8> {
    let (v6, protocol) = (kind == 2, if kind == 3 { 17 } else { 6 });
    let transport = if protocol == 6 { 20 } else { 8 };
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    if v6 {
        let length = ((transport + payload) as u16).to_be_bytes();
        frame.extend([0x86, 0xdd, 0x60, 0x20, 0, 0, length[0], length[1], protocol, 64]);
        frame.extend([0xfd; 32]);
    } else {
        let length = ((20 + transport + payload) as u16).to_be_bytes();
        frame.extend([8, 0, 0x45, 2, length[0], length[1], 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    }
    let at = frame.len();
    frame.resize(at + transport + payload, 0);
    if protocol == 6 {
        frame[at + 12] = 0x50;
    }
    frame
}

/// Sends frames that bytes stand for through a switch, and checks that every frame buffer comes back and all accounts
/// agree.
///
/// # Panics
///
/// If they do not.
pub fn torture(bytes: &[u8]) {
    let Some((first, mut rest)) = bytes.split_first() else { return };
    let text = format!("{}{INTERFACES}", SWITCHES[usize::from(*first) % SWITCHES.len()]);
    let (config, _) = settings::read("torture.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    let parts = Parts {
        pool: Pool::new(BUFFERS, PIECE).unwrap_or_else(|error| panic!("{error}")),
        forwarding: config.forwarding.build(3, 0),
        classifier: config.classifier,
        treatment: config.treatment,
        overhead: 24,
    };
    let mut path = Dataplane::new(Tm::new(config.tm), parts, ());
    let mut now = Instant::ZERO;
    while let Some((ingress, passes, frame)) = frame(&mut rest) {
        now = Instant::from_ps(now.ps() + passes);
        if path.advance(now).is_err() {
            break;
        }
        collect(&mut path);
        let Some(mut slot) = path.pool().take() else { break };
        path.pool().bytes_mut(&mut slot, frame.len()).copy_from_slice(&frame);
        if path.arrive(now, ingress, slot, frame.len()).is_err() {
            break;
        }
        collect(&mut path);
        let waiting: usize = (0..3).map(|port| path.tm().header_packets(port)).sum::<usize>()
            + path.tm().pool_counters().waiting.packets as usize;
        let out = path.pool().buffers() - path.pool().free();
        assert!(path.tm().is_consistent(), "the accounts of the traffic manager");
        assert_eq!(out, waiting, "a frame buffer for every frame that waits, and none else");
        (0..3).for_each(|port| every_packet_once(&path, port));
    }
    path.finish().unwrap_or_else(|error| panic!("{error}"));
    collect(&mut path);
    assert_eq!(path.pool().free(), path.pool().buffers(), "every frame buffer is back");
}

/// The counters of a port, as snapshots have them.
fn every_packet_once(path: &Dataplane, port: usize) {
    let first = path.tm().queue_index(port, 0);
    let mut counters = path.tm().port_counters(port);
    path.settle(&mut counters, first..first + path.tm().config().queues);
    let known = [counters.sent, counters.dropped, counters.trimmed, counters.returned, counters.waiting];
    let known: u64 = known.iter().map(|count| count.packets).sum();
    assert_eq!(counters.offered.packets, known, "{counters:?}");
}

/// Takes what leaves: frames that can be read.
fn collect(path: &mut Dataplane) {
    let leaving: Vec<_> = path.outgoing().collect();
    for frame in leaving {
        assert!(Headers::parse(path.pool().bytes(&frame.slot, frame.length)).is_some(), "no runt leaves");
        path.pool().give(frame.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..3_000)) {
            torture(&bytes);
        }

        /// Sound packets of which a few bytes differ.
        #[test]
        fn damaged_packets_are_safe(
            switch: u8,
            frames in prop::collection::vec((1u8..4, 0u8..200, 0u8..3, 0u8..5, 0usize..60, any::<u8>()), 1..60),
        ) {
            let mut bytes = vec![switch];
            for (kind, length, ingress, passes, at, damage) in frames {
                bytes.extend([length, kind << 3, ingress, passes]);
                let start = bytes.len();
                bytes.resize(start + (usize::from(length) << 3), 0);
                if let Some(byte) = bytes.get_mut(start + at) {
                    *byte = damage;
                }
            }
            torture(&bytes);
        }
    }
}
