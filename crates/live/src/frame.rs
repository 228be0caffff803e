//! Ethernet frames: where their headers are. Nothing here trusts a length that a frame claims.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Bytes of an Ethernet header without tags.
pub const ETHERNET: usize = 14;
/// Bytes of a VLAN tag.
const TAG: usize = 4;
/// Tags that are looked behind; frames with more are forwarded by their addresses alone.
const MOST_TAGS: usize = 2;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: u16 = 0x8100;
const SERVICE_VLAN: u16 = 0x88a8;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// The address of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// To all.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Whether it names a group of interfaces, or all.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// An IPv4 packet.
    V4(V4),
    /// An IPv6 packet.
    V6(V6),
    /// Something else, or an IP packet whose header is not whole.
    Other,
}

/// An IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V4 {
    /// Sender.
    pub source: Ipv4Addr,
    /// Receiver.
    pub destination: Ipv4Addr,
    /// Bytes of the header, options included.
    pub header: usize,
    /// Bytes of the packet as its header has them: at least the header's, at most what the frame holds.
    pub length: usize,
    /// The protocol behind it.
    pub protocol: u8,
    /// Differentiated services and congestion bits.
    pub traffic_class: u8,
    /// Hops left.
    pub ttl: u8,
    /// Whether it is a fragment other than the first, which has no transport header.
    pub is_later_fragment: bool,
}

/// An IPv6 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V6 {
    /// Sender.
    pub source: Ipv6Addr,
    /// Receiver.
    pub destination: Ipv6Addr,
    /// Bytes of the packet, header included, as its header has them: at most what the frame holds.
    pub length: usize,
    /// The header behind it.
    pub next: u8,
    /// Differentiated services and congestion bits.
    pub traffic_class: u8,
    /// Hops left.
    pub hop_limit: u8,
}

/// Where the headers of a frame are, and what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The receiving interface.
    pub destination: Mac,
    /// The sending interface.
    pub source: Mac,
    /// The outermost VLAN tag: priority (3 bits), drop eligible (1), number (12).
    pub tag: Option<u16>,
    /// Where the network header starts.
    pub network_at: usize,
    /// The network header.
    pub network: Network,
    /// Where the transport header starts, if it is whole.
    pub transport_at: Option<usize>,
    /// The ports of TCP or UDP: source, destination.
    pub ports: Option<(u16, u16)>,
    /// Bytes from the start of the frame to the end of the last header that is known.
    pub end: usize,
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

impl Headers {
    /// Reads the headers of a frame; `None` if it is shorter than an Ethernet header.
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let address = |at: usize| Some(Mac(frame.get(at..at + 6)?.try_into().ok()?));
        let (destination, source) = (address(0)?, address(6)?);
        let (mut kind, mut at, mut tag) = (word(frame, 12)?, ETHERNET, None);
        for _ in 0..MOST_TAGS {
            if kind != VLAN && kind != SERVICE_VLAN {
                break;
            }
            let (Some(own), Some(next)) = (word(frame, at), word(frame, at + 2)) else { break };
            tag = tag.or(Some(own));
            (kind, at) = (next, at + TAG);
        }
        let mut headers = Self {
            destination,
            source,
            tag,
            network_at: at,
            network: Network::Other,
            transport_at: None,
            ports: None,
            end: at,
        };
        match kind {
            IPV4 => headers.read_v4(frame),
            IPV6 => headers.read_v6(frame),
            _ => None,
        };
        Some(headers)
    }

    fn read_v4(&mut self, frame: &[u8]) -> Option<()> {
        let packet = frame.get(self.network_at..)?;
        let fixed: &[u8; 20] = packet.get(..20)?.try_into().ok()?;
        let header = usize::from(fixed[0] & 0x0f) * 4;
        let length = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        if fixed[0] >> 4 != 4 || header < 20 || length < header || length > packet.len() {
            return None;
        }
        let fragment = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff;
        let v4 = V4 {
            source: Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]),
            destination: Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]),
            header,
            length,
            protocol: fixed[9],
            traffic_class: fixed[1],
            ttl: fixed[8],
            is_later_fragment: fragment != 0,
        };
        self.network = Network::V4(v4);
        self.end = self.network_at + header;
        if !v4.is_later_fragment {
            self.read_transport(&frame[..self.network_at + length], v4.protocol);
        }
        Some(())
    }

    fn read_v6(&mut self, frame: &[u8]) -> Option<()> {
        let packet = frame.get(self.network_at..)?;
        let fixed: &[u8; 40] = packet.get(..40)?.try_into().ok()?;
        let length = 40 + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        if fixed[0] >> 4 != 6 || length > packet.len() {
            return None;
        }
        let address = |at: usize| {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&fixed[at..at + 16]);
            Ipv6Addr::from(bytes)
        };
        let v6 = V6 {
            source: address(8),
            destination: address(24),
            length,
            next: fixed[6],
            traffic_class: fixed[0] << 4 | fixed[1] >> 4,
            hop_limit: fixed[7],
        };
        self.network = Network::V6(v6);
        self.end = self.network_at + 40;
        self.read_transport(&frame[..self.network_at + length], v6.next);
        Some(())
    }

    fn read_transport(&mut self, packet: &[u8], protocol: u8) -> Option<()> {
        let at = self.end;
        let bytes = match protocol {
            TCP => {
                let offset = usize::from(*packet.get(at + 12)? >> 4) * 4;
                if offset < 20 {
                    return None;
                }
                offset
            }
            UDP => 8,
            _ => return None,
        };
        packet.get(at..at + bytes)?;
        self.transport_at = Some(at);
        self.ports = Some((word(packet, at)?, word(packet, at + 2)?));
        self.end = at + bytes;
        Some(())
    }

    /// The priority of the VLAN tag.
    pub fn pcp(&self) -> Option<u8> {
        self.tag.map(|tag| (tag >> 13) as u8)
    }

    /// Differentiated services and congestion bits of an IP packet.
    pub fn traffic_class(&self) -> Option<u8> {
        match &self.network {
            Network::V4(v4) => Some(v4.traffic_class),
            Network::V6(v6) => Some(v6.traffic_class),
            Network::Other => None,
        }
    }

    /// Whether a congestion mark may be set: an IP packet that is ECN-capable.
    pub fn is_ect(&self) -> bool {
        self.traffic_class().is_some_and(|class| class & 3 != 0)
    }

    /// The protocol behind the network header.
    pub fn protocol(&self) -> Option<u8> {
        match &self.network {
            Network::V4(v4) => Some(v4.protocol),
            Network::V6(v6) => Some(v6.next),
            Network::Other => None,
        }
    }

    /// The sequence number of a TCP segment.
    pub fn sequence(&self, frame: &[u8]) -> Option<u32> {
        let at = self.transport_at.filter(|_| self.protocol() == Some(TCP))?;
        Some(u32::from_be_bytes(frame.get(at + 4..at + 8)?.try_into().ok()?))
    }

    /// Bytes of the frame that its packet covers; what is behind is padding.
    pub fn packet_end(&self) -> Option<usize> {
        match &self.network {
            Network::V4(v4) => Some(self.network_at + v4.length),
            Network::V6(v6) => Some(self.network_at + v6.length),
            Network::Other => None,
        }
    }
}
