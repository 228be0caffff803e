//! Arrivals from a capture: pcap and pcapng, as `tcpdump` and Wireshark write them.
//!
//! A capture has no ports and queues of the switch. A packet's port is chosen by where it goes: destinations (IP
//! addresses, else MAC addresses) get ports 0, 1, 2 and so on in the order of their first packets, and start again at 0
//! when there are no more. Its queue is its priority in the VLAN tag, else the upper three bits of its DSCP, if the
//! switch has that many queues, else the last one. Packets with the same addresses, protocol and ports are one flow. A
//! packet comes by the port of its source, as if it was a destination; sources that are none get the next ports.

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
    let mut sources = Vec::new();
    let mut ports: HashMap<u128, u32> = HashMap::new();
    let mut port_of = |address: u128| {
        let next = ports.len();
        *ports.entry(address).or_insert((next % switch.rates.len()) as u32)
    };
    for frame in frames {
        let frame = frame.map_err(|error| bad(error.to_string()))?;
        let headers = Headers::parse(frame.bytes);
        let (source, destination) = headers.as_ref().map_or((0, 0), addresses);
        let port = port_of(destination);
        sources.push(source);
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
    for ((_, packet), source) in all.iter_mut().zip(sources) {
        packet.in_port = port_of(source);
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

/// Where a frame comes from and where it goes, as numbers.
fn addresses(headers: &Headers) -> (u128, u128) {
    // Beside all IPv4 addresses.
    let mac = |bytes: &[u8; 6]| bytes.iter().fold(1, |all, byte| all << 8 | u128::from(*byte));
    match &headers.network {
        Network::V4(ip) => (u32::from(ip.source).into(), u32::from(ip.destination).into()),
        Network::V6(ip) => (ip.source.into(), ip.destination.into()),
        Network::Other => (mac(&headers.source.0), mac(&headers.destination.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::{Bytes, Rate, TmConfig};

    /// A frame of 64 bytes between MAC addresses that end so.
    fn frame(from: u8, to: u8) -> Vec<u8> {
        let mut frame = vec![0; 64];
        (frame[5], frame[11], frame[12], frame[13]) = (to, from, 0x88, 0xb5);
        frame
    }

    #[test]
    fn packets_come_by_the_ports_of_their_sources() {
        let mut capture = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        capture.extend([0; 8]);
        capture.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
        for (number, (from, to)) in (0..).zip([(1, 2), (2, 1), (9, 2)]) {
            for word in [0u32, number, 64, 64] {
                capture.extend(word.to_le_bytes());
            }
            capture.extend(frame(from, to));
        }
        let switch = TmConfig::new(vec![Rate::from_gbps(10); 4], Bytes::new(100_000)).validate().unwrap();
        let packets = packets("capture.pcap", &capture, &switch).unwrap();
        let ports: Vec<(u32, u32)> = packets.iter().map(|(_, packet)| (packet.in_port, packet.port)).collect();
        // 2 and 1 are destinations, in this order; 9 never is.
        assert_eq!(ports, [(1, 0), (0, 1), (2, 0)]);
    }
}
