//! Traced packets as a pcapng file, for Wireshark and its relatives.
//!
//! The simulator's packets have no bytes; the headers that a real one would have are made up here, so that flows can be
//! followed with the usual tools. A frame is captured without its payload:
//!
//! * Ethernet: addresses 02:00:00 and the 24 low bits of the host number plus one.
//! * IPv4: 10.x.y.z by the same number; DSCP is the queue; ECN as the packet's flags say; the time to live is 64 less
//!   the switches passed.
//! * TCP, for TCP and its relatives and pFabric: the stream starts at sequence number 1 without a handshake; sequence
//!   and acknowledgement numbers are packet numbers times `mss`, a block of an ACK is its SACK option, the echo of a
//!   mark its ECE flag, the last packet has PSH. A probe is a segment without payload.
//! * UDP, for UDP and NDP, with 12 bytes behind it, in network order: the kind (0 data, 1 ACK, 2 NACK, 3 pull, 4
//!   probe), the bits of [`flag`], the switches passed and the queue in one byte each, then `seq` and `echo` in four
//!   each.
//!
//! Both ports are 57344 plus 13 bits of the flow number: the low ones at the sender, the next at the receiver
//! (Wireshark takes no port of that range for a protocol that it knows). Checksums are those of a payload of zeros. The
//! length of the frame is what its headers and payload add up to, or the simulator's bytes on the wire where these are
//! more (the rest shows as a trailer). Times are in picoseconds.

use crate::packet::{Kind, Packet, flag};
use crate::transport::TransportKind;
use forebay_capture::Captured;
use forebay_capture::checksum::{of_sum, sum};
use forebay_tm::Instant;

/// The headers that packets of a transport are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// TCP.
    Tcp,
    /// UDP with 12 bytes behind it.
    Udp,
}

impl From<&TransportKind> for Framing {
    fn from(kind: &TransportKind) -> Self {
        if kind.settings().rides_on_udp() { Self::Udp } else { Self::Tcp }
    }
}

/// What the headers of a packet need to know of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEndpoints {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Payload of the flow in all.
    pub bytes: u64,
    /// Payload of a full packet.
    pub mss: u32,
    /// Bytes that the headers add to the payload on the wire.
    pub header: u32,
    /// The headers.
    pub framing: Framing,
}

const ETHERNET: usize = 14;
const IPV4: usize = 20;
const FIRST_PORT: u16 = 57_344;
const PORT_BITS: u32 = 13;

/// The headers of one packet, in network order.
#[derive(Debug)]
pub struct Frame {
    buffer: [u8; 66],
    used: usize,
    /// The length of the frame with its payload.
    length: u32,
}

impl Frame {
    /// Makes up the headers of a packet.
    pub fn new(packet: &Packet, flow: &FlowEndpoints) -> Self {
        let mut frame = Self { buffer: [0; 66], used: 0, length: 0 };
        let replies = matches!(packet.kind, Kind::Ack | Kind::Nack | Kind::Pull) || packet.has(flag::RETURNED);
        let (from, to) = if replies { (flow.dst, flow.src) } else { (flow.src, flow.dst) };
        let payload = match packet.kind {
            Kind::Data if !packet.has(flag::TRIMMED) => packet.bytes.saturating_sub(flow.header),
            _ => 0,
        };
        frame.put(&mac(to));
        frame.put(&mac(from));
        frame.put(&[0x08, 0x00]);

        let transport = match flow.framing {
            Framing::Udp => 8 + 12,
            Framing::Tcp if has_block(packet) => 20 + 12,
            Framing::Tcp => 20,
        };
        let ip_length = IPV4 as u32 + transport + payload;
        let protocol = match flow.framing {
            Framing::Tcp => 6,
            Framing::Udp => 17,
        };
        frame.put(&[0x45, packet.class << 2 | ecn(packet)]);
        // A field of 16 bits cannot say more; larger packets do not occur in IPv4.
        frame.put(&u16::try_from(ip_length).unwrap_or(u16::MAX).to_be_bytes());
        frame.put(&[0, 0, 0x40, 0, 64u8.saturating_sub(packet.spreads), protocol, 0, 0]);
        frame.put(&ip(from));
        frame.put(&ip(to));
        let checksum = of_sum(sum(&frame.buffer[ETHERNET..ETHERNET + IPV4]));
        frame.set(ETHERNET + 10, checksum);

        let low = FIRST_PORT + (packet.flow & ((1 << PORT_BITS) - 1)) as u16;
        let high = FIRST_PORT + (packet.flow >> PORT_BITS & ((1 << PORT_BITS) - 1)) as u16;
        let (source, target) = if replies { (high, low) } else { (low, high) };
        frame.put(&source.to_be_bytes());
        frame.put(&target.to_be_bytes());
        match flow.framing {
            Framing::Tcp => frame.tcp(packet, flow),
            Framing::Udp => frame.udp(packet, transport + payload),
        }
        // The addresses are a part of the sum, and so are protocol and length.
        let pseudo = u32::from(protocol) + transport + payload;
        let checksum = of_sum(pseudo + sum(&frame.buffer[ETHERNET + 12..frame.used]));
        match flow.framing {
            Framing::Tcp => frame.set(ETHERNET + IPV4 + 16, checksum),
            // In UDP a sum of zero means that there is none.
            Framing::Udp => frame.set(ETHERNET + IPV4 + 6, if checksum == 0 { u16::MAX } else { checksum }),
        }
        frame.length = packet.bytes.max(ETHERNET as u32 + ip_length);
        frame
    }

    /// Behind the ports.
    fn tcp(&mut self, packet: &Packet, flow: &FlowEndpoints) {
        const ACK: u8 = 0x10;
        const PSH: u8 = 0x08;
        const ECE: u8 = 0x40;
        let place = |number: u32| 1u32.wrapping_add((u64::from(number) * u64::from(flow.mss)).min(flow.bytes) as u32);
        let is_ack = packet.kind == Kind::Ack;
        let (seq, ack) = if is_ack { (1, place(packet.seq)) } else { (place(packet.seq), 1) };
        let mut flags = ACK;
        if is_ack && packet.has(flag::CE) {
            flags |= ECE;
        }
        if !is_ack && packet.has(flag::LAST) {
            flags |= PSH;
        }
        self.put(&seq.to_be_bytes());
        self.put(&ack.to_be_bytes());
        let words = if has_block(packet) { 8 } else { 5 };
        self.put(&[words << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
        if has_block(packet) {
            // Two bytes of nothing, then SACK with one block.
            self.put(&[1, 1, 5, 10]);
            self.put(&place(packet.block.0).to_be_bytes());
            self.put(&place(packet.block.1).to_be_bytes());
        }
    }

    /// Behind the ports.
    fn udp(&mut self, packet: &Packet, length: u32) {
        self.put(&u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        self.put(&[0, 0]);
        self.put(&[packet.kind as u8, packet.flags as u8, packet.spreads, packet.class]);
        self.put(&packet.seq.to_be_bytes());
        self.put(&packet.echo.to_be_bytes());
    }

    fn put(&mut self, bytes: &[u8]) {
        self.buffer[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    fn set(&mut self, place: usize, value: u16) {
        self.buffer[place..place + 2].copy_from_slice(&value.to_be_bytes());
    }

    /// As it is seen at an interface.
    pub fn seen(&self, interface: u32, at: Instant) -> Captured<'_> {
        let (bytes, length) = (&self.buffer[..self.used], self.length as usize);
        Captured { at_ps: u128::from(at.ps()), interface, bytes, length }
    }
}

fn has_block(packet: &Packet) -> bool {
    packet.kind == Kind::Ack && packet.block.0 < packet.block.1
}

/// The ECN field. On a reply the simulator's bit is the echo of a mark, which is not of the IP header.
fn ecn(packet: &Packet) -> u8 {
    match packet.kind {
        Kind::Data | Kind::Probe if packet.has(flag::CE) => 0b11,
        Kind::Data | Kind::Probe if packet.has(flag::ECT) => 0b10,
        _ => 0,
    }
}

fn mac(host: u32) -> [u8; 6] {
    let [_, a, b, c] = (host + 1).to_be_bytes();
    [2, 0, 0, a, b, c]
}

fn ip(host: u32) -> [u8; 4] {
    let [_, a, b, c] = (host + 1).to_be_bytes();
    [10, a, b, c]
}

#[cfg(test)]
mod tests;
