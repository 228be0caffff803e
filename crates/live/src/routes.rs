//! Longest-prefix routes: tries that look at a byte of the address at a time.

use crate::frame::Mac;
use std::net::IpAddr;

/// Where packets of a route go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The port.
    pub port: usize,
    /// The interface of the next host or router.
    pub destination: Mac,
    /// What the packet has as its sender from here on.
    pub source: Mac,
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Its first address.
    pub address: IpAddr,
    /// Bits that all of its addresses share.
    pub bits: u8,
}

impl Prefix {
    /// Reads "10.0.0.0/8" or "fd00::1"; the error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.trim().parse().map_err(|_| format!("\"{address}\" is not an IP address"))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits.trim().parse().map_err(|_| format!("\"{bits}\" is not a number of bits"))?,
        };
        if bits > most {
            return Err(format!("{bits} bits are more than an address of this kind has"));
        }
        let prefix = Self { address, bits };
        let (bytes, length) = bytes_of(address);
        let rest = (0..length * 8).filter(|bit| *bit >= usize::from(bits));
        if rest.into_iter().any(|bit| bytes[bit / 8] & 0x80 >> (bit % 8) != 0) {
            return Err(format!("{address} has bits behind the first {bits}"));
        }
        Ok(prefix)
    }

    /// Whether an address is in it.
    pub fn has(&self, address: IpAddr) -> bool {
        let ((own, length), (other, others)) = (bytes_of(self.address), bytes_of(address));
        let whole = usize::from(self.bits / 8);
        let rest = self.bits % 8;
        let same = |at: usize, mask: u8| (own[at] ^ other[at]) & mask == 0;
        length == others && own[..whole] == other[..whole] && (rest == 0 || same(whole, !(0xff >> rest)))
    }
}

/// The bytes of an address, and how many they are.
fn bytes_of(address: IpAddr) -> ([u8; 16], usize) {
    let mut bytes = [0; 16];
    match address {
        IpAddr::V4(v4) => {
            bytes[..4].copy_from_slice(&v4.octets());
            (bytes, 4)
        }
        IpAddr::V6(v6) => (v6.octets(), 16),
    }
}

/// What stands for one value of a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The node for the next byte; 0 for none.
    next: u32,
    /// The route of the longest prefix that ends here, counted from 1; 0 for none.
    route: u32,
    /// How many bits that prefix has.
    bits: u8,
}

type Node = [Slot; 256];

/// All routes of one kind of address.
#[derive(Clone, Debug)]
struct Trie {
    nodes: Vec<Node>,
}

impl Trie {
    fn new() -> Self {
        Self { nodes: vec![[Slot::default(); 256]] }
    }

    fn insert(&mut self, bytes: &[u8], bits: u8, route: u32) {
        let mut node = 0;
        let full = usize::from(bits.saturating_sub(1) / 8);
        for byte in &bytes[..full] {
            let next = self.nodes[node][usize::from(*byte)].next as usize;
            node = if next != 0 {
                next
            } else {
                self.nodes.push([Slot::default(); 256]);
                let made = self.nodes.len() - 1;
                self.nodes[node][usize::from(*byte)].next = made as u32;
                made
            };
        }
        // All values of the last byte that begin with the prefix's bits.
        let rest = bits - 8 * full as u8;
        let first = usize::from(if rest == 0 { 0 } else { bytes[full] });
        for slot in &mut self.nodes[node][first..first + (256 >> rest)] {
            if slot.route == 0 || slot.bits <= bits {
                (slot.route, slot.bits) = (route, bits);
            }
        }
    }

    fn find(&self, bytes: &[u8]) -> u32 {
        let (mut node, mut best) = (0, 0);
        for byte in bytes {
            let slot = &self.nodes[node][usize::from(*byte)];
            if slot.route != 0 {
                best = slot.route;
            }
            if slot.next == 0 {
                break;
            }
            node = slot.next as usize;
        }
        best
    }
}

/// Routes by longest prefix.
#[derive(Clone, Debug)]
pub struct Routes {
    v4: Trie,
    v6: Trie,
    hops: Vec<NextHop>,
}

impl Routes {
    /// Of prefixes with where they lead; of two for the same prefix, the later counts.
    pub fn new(routes: &[(Prefix, NextHop)]) -> Self {
        let mut all = Self { v4: Trie::new(), v6: Trie::new(), hops: Vec::new() };
        for (prefix, hop) in routes {
            all.hops.push(*hop);
            let (bytes, length) = bytes_of(prefix.address);
            let trie = if length == 4 { &mut all.v4 } else { &mut all.v6 };
            trie.insert(&bytes[..length], prefix.bits, all.hops.len() as u32);
        }
        all
    }

    /// Where packets to an address go; `None` without a route.
    pub fn find(&self, address: IpAddr) -> Option<&NextHop> {
        let (bytes, length) = bytes_of(address);
        let route = if length == 4 { self.v4.find(&bytes[..4]) } else { self.v6.find(&bytes) };
        self.hops.get((route as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hop(port: usize) -> NextHop {
        NextHop { port, destination: Mac([2, 0, 0, 0, 0, 1]), source: Mac([2, 0, 0, 0, 0, 2]) }
    }

    fn routes(prefixes: &[&str]) -> Routes {
        let of = |(port, text): (usize, &&str)| (Prefix::parse(text).unwrap(), hop(port));
        Routes::new(&prefixes.iter().enumerate().map(of).collect::<Vec<_>>())
    }

    #[test]
    fn the_longest_prefix_counts() {
        let routes = routes(&[
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.1.0.0/16",
            "10.1.2.128/25",
            "10.1.2.200",
            "fd00::/8",
            "fd00::5/128",
        ]);
        let port = |address: &str| routes.find(address.parse().unwrap()).map(|hop| hop.port);
        for (address, expected) in [
            ("192.168.0.1", 0),
            ("10.9.9.9", 1),
            ("10.1.9.9", 2),
            ("10.1.2.127", 2),
            ("10.1.2.129", 3),
            ("10.1.2.200", 4),
            ("fd12::1", 5),
            ("fd00::5", 6),
        ] {
            assert_eq!(port(address), Some(expected), "{address}");
        }
        assert_eq!(port("fe80::1"), None);
    }

    #[test]
    fn bad_prefixes_are_told() {
        for (text, problem) in [
            ("10.0.0.0/33", "33 bits are more than an address of this kind has"),
            ("10.0.0.1/8", "10.0.0.1 has bits behind the first 8"),
            ("10.0.0/8", "\"10.0.0\" is not an IP address"),
            ("fd00::/x", "\"x\" is not a number of bits"),
        ] {
            assert_eq!(Prefix::parse(text).unwrap_err(), problem);
        }
    }

    proptest! {
        /// Against a look at every prefix. Few bits, so that prefixes meet.
        #[test]
        fn as_a_list_of_prefixes_would(all in prop::collection::vec((any::<u32>(), 0u8..=32), 0..40), address: u32) {
            let mask = |value: u32, bits: u8| if bits == 0 { 0 } else { value & 0x0303_0303 & u32::MAX << (32 - bits) };
            let of = |value: u32| IpAddr::from(value.to_be_bytes());
            let list: Vec<(Prefix, NextHop)> = all.iter().enumerate().map(|(port, (value, bits))| {
                (Prefix { address: of(mask(*value, *bits)), bits: *bits }, hop(port))
            }).collect();
            let address = of(address & 0x0303_0303);
            // The longest; of equal ones the last.
            let expected = list.iter().filter(|(prefix, _)| prefix.has(address)).max_by_key(|(prefix, _)| prefix.bits).map(|(_, hop)| hop.port);
            prop_assert_eq!(Routes::new(&list).find(address).map(|hop| hop.port), expected);
        }
    }
}
