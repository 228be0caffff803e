//! Frames for tests.

use crate::frame::{Headers, Network};
use forebay_capture::checksum::{fold, of_sum, sum};

/// A snapshot of a switch without ports.
pub(crate) fn snapshot(sequence: u64) -> crate::snapshot::Snapshot {
    crate::snapshot::Snapshot { sequence, policy: "dt".to_owned(), ..Default::default() }
}

/// A frame to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    pub(crate) v6: bool,
    pub(crate) tcp: bool,
    pub(crate) tags: usize,
    pub(crate) traffic_class: u8,
    pub(crate) ttl: u8,
    pub(crate) source: u8,
    pub(crate) destination: u8,
    pub(crate) ports: (u16, u16),
}

impl Build {
    /// IPv4 and IPv6 with TCP and UDP.
    pub(crate) fn all() -> [Self; 4] {
        [(false, false), (false, true), (true, false), (true, true)].map(|(v6, tcp)| Self {
            v6,
            tcp,
            tags: 0,
            traffic_class: 0,
            ttl: 64,
            source: 1,
            destination: 2,
            ports: (1_000, 2_000),
        })
    }

    pub(crate) fn tags(self, tags: usize) -> Self {
        Self { tags, ..self }
    }

    pub(crate) fn ect(self, ect: u8) -> Self {
        Self { traffic_class: self.traffic_class & !3 | ect, ..self }
    }

    pub(crate) fn ttl(self, ttl: u8) -> Self {
        Self { ttl, ..self }
    }

    /// From 02:...:source to 02:...:destination, 10.0.0.x or fd00::x, with so many bytes behind the transport header.
    pub(crate) fn frame(self, payload: usize) -> Vec<u8> {
        let mac = |host: u8| [2, 0, 0, 0, 0, host];
        let mut frame = [mac(self.destination), mac(self.source)].concat();
        for tag in 0..self.tags {
            frame.extend([0x81, 0x00, 0x60, 10 + tag as u8]);
        }
        let transport = if self.tcp { 20 } else { 8 } + payload;
        let protocol = if self.tcp { 6 } else { 17 };
        let address = |host: u8| -> Vec<u8> {
            if self.v6 { [&[0xfd][..], &[0; 14], &[host]].concat() } else { vec![10, 0, 0, host] }
        };
        let addresses = [address(self.source), address(self.destination)].concat();
        if self.v6 {
            frame.extend([0x86, 0xdd, 0x60 | self.traffic_class >> 4, self.traffic_class << 4, 0, 0]);
            frame.extend((transport as u16).to_be_bytes());
            frame.extend([protocol, self.ttl]);
            frame.extend(&addresses);
        } else {
            frame.extend([0x08, 0x00]);
            let mut header = vec![0x45, self.traffic_class];
            header.extend(((20 + transport) as u16).to_be_bytes());
            header.extend([0, 1, 0x40, 0, self.ttl, protocol, 0, 0]);
            header.extend(&addresses);
            let checksum = of_sum(sum(&header));
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
            frame.extend(header);
        }
        let mut segment = [self.ports.0.to_be_bytes(), self.ports.1.to_be_bytes()].concat();
        if self.tcp {
            segment.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        } else {
            segment.extend((transport as u16).to_be_bytes());
            segment.extend([0, 0]);
        }
        segment.extend((0..payload).map(|index| index as u8));
        let at = if self.tcp { 16 } else { 6 };
        let checksum = of_sum(fold(sum(&addresses) + u32::from(protocol) + transport as u32) + sum(&segment));
        segment[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        frame.extend(segment);
        frame
    }
}

/// Whether the checksums of IPv4, and of TCP or UDP, are those of the packet.
pub(crate) fn checksums_are_right(frame: &[u8]) -> bool {
    let headers = Headers::parse(frame).unwrap();
    let (at, end) = (headers.network_at, headers.packet_end().unwrap());
    let (network, addresses) = match headers.network {
        Network::V4(v4) => (sum(&frame[at..at + v4.header]), sum(&frame[at + 12..at + 20])),
        Network::V6(_) => (0xffff, sum(&frame[at + 8..at + 40])),
        Network::Other => return false,
    };
    let transport_at = headers.transport_at.unwrap();
    let pseudo = addresses + u32::from(headers.protocol().unwrap()) + (end - transport_at) as u32;
    network == 0xffff && fold(fold(pseudo) + sum(&frame[transport_at..end])) == 0xffff
}
