//! Arrivals from a capture: pcap and pcapng, as `tcpdump` and Wireshark write them.
//!
//! A capture has no ports and queues of the switch. A packet's port is chosen by where it goes: destinations (IP
//! addresses, else MAC addresses) get ports 0, 1, 2 and so on in the order of their first packets, and start again at 0
//! when there are no more. Its queue is its priority in the VLAN tag, else the upper three bits of its DSCP, if the
//! switch has that many queues, else the last one. Packets with the same addresses, protocol and ports are one flow.

use forebay_capture::Frames;
use forebay_live::classify::flow_of;
use forebay_live::frame::{Headers, Network};
use forebay_settings::Diagnostic;
use forebay_tm::packet::MAX_PACKET_BYTES;
use forebay_tm::{Instant, Packet, PacketId, ValidConfig};
use std::collections::HashMap;

/// Whether a file begins as a capture does.
pub(crate) fn is_capture(head: &[u8]) -> bool {
    let Some(magic) = head.get(..4).and_then(|magic| magic.try_into().ok()) else { return false };
    let magics = [0xa1b2_c3d4u32, 0xa1b2_3c4d];
    let is = |number: u32| magics.contains(&number) || number == 0x0a0d_0d0a;
    is(u32::from_le_bytes(magic)) || is(u32::from_be_bytes(magic))
}

/// The packets of a capture, in order of time; the first arrives at 0.
pub(crate) fn packets(file: &str, bytes: &[u8], switch: &ValidConfig) -> Result<Vec<(Instant, Packet)>, Diagnostic> {
    let bad = |problem: String| {
        Diagnostic::of_file(file, problem, "is this a whole capture? give pcap or pcapng of Ethernet")
    };
    let frames = Frames::new(bytes).map_err(|error| bad(error.to_string()))?;
    let mut all: Vec<(u128, Packet)> = Vec::new();
    let mut ports: HashMap<u128, u32> = HashMap::new();
    for frame in frames {
        let frame = frame.map_err(|error| bad(error.to_string()))?;
        let headers = Headers::parse(frame.bytes);
        let next = ports.len();
        let destination = headers.as_ref().map_or(0, destination);
        let port = *ports.entry(destination).or_insert((next % switch.rates.len()) as u32);
        let priority = headers
            .as_ref()
            .map_or(0, |headers| u32::from(headers.pcp().unwrap_or_else(|| headers.traffic_class().unwrap_or(0) >> 5)));
        let queue = priority.min(switch.queues as u32 - 1);
        let flow = headers.as_ref().map_or(0, flow_of);
        let length = u32::try_from(frame.length).unwrap_or(u32::MAX);
        if length == 0 || length > MAX_PACKET_BYTES {
            return Err(bad(format!("a frame of {length} bytes is none")));
        }
        let ect = headers.as_ref().is_some_and(Headers::is_ect);
        let packet = Packet { bytes: length, port, queue, flow, ect, ..Packet::default() };
        all.push((frame.at_ps, packet));
    }
    // Captures of several interfaces can be out of order.
    all.sort_by_key(|(at, _)| *at);
    let Some(first) = all.first().map(|(at, _)| *at) else { return Ok(Vec::new()) };
    let class = |packet: &Packet| if switch.policy.knows_class(packet.queue) { packet.queue } else { 0 };
    let arrival = |(number, (at, packet)): (usize, (u128, Packet))| {
        let at = u64::try_from(at - first).map_err(|_| bad("it lasts longer than 2^64 ps, 213 days".to_owned()))?;
        Ok((Instant::from_ps(at), Packet { id: PacketId(number as u64), class: class(&packet), ..packet }))
    };
    all.into_iter().enumerate().map(arrival).collect()
}

/// Where a frame goes, as a number.
fn destination(headers: &Headers) -> u128 {
    match &headers.network {
        Network::V4(ip) => u128::from(u32::from(ip.destination)),
        Network::V6(ip) => u128::from(ip.destination),
        // Beside all IPv4 addresses.
        Network::Other => headers.destination.0.iter().fold(1, |all, byte| all << 8 | u128::from(*byte)),
    }
}
