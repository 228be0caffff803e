//! Which queue a packet joins, and what it is known by there.

use crate::frame::{Headers, Network};
use crate::routes::Prefix;
use std::net::IpAddr;

/// What a packet must be for a rule to apply; what is not said may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// The port it came in by.
    pub ingress: Option<usize>,
    /// Its code point of differentiated services.
    pub dscp: Option<u8>,
    /// The priority of its VLAN tag.
    pub pcp: Option<u8>,
    /// The protocol behind IP.
    pub protocol: Option<u8>,
    /// Where it comes from.
    pub source: Option<Prefix>,
    /// Where it goes to.
    pub destination: Option<Prefix>,
    /// The port of TCP or UDP it comes from.
    pub source_port: Option<u16>,
    /// The port of TCP or UDP it goes to.
    pub destination_port: Option<u16>,
}

impl Matches {
    fn has(&self, headers: &Headers, ingress: usize) -> bool {
        let is = |wanted: Option<u8>, own: Option<u8>| wanted.is_none() || wanted == own;
        let (source, destination) = addresses(headers);
        let within = |prefix: Option<Prefix>, address: Option<IpAddr>| {
            prefix.is_none_or(|prefix| address.is_some_and(|address| prefix.has(address)))
        };
        let (from, to) = (headers.ports.map(|ports| ports.0), headers.ports.map(|ports| ports.1));
        self.ingress.is_none_or(|port| port == ingress)
            && is(self.dscp, headers.traffic_class().map(|class| class >> 2))
            && is(self.pcp, headers.pcp())
            && is(self.protocol, headers.protocol())
            && within(self.source, source)
            && within(self.destination, destination)
            && (self.source_port.is_none() || self.source_port == from)
            && (self.destination_port.is_none() || self.destination_port == to)
    }
}

/// Sender and receiver of an IP packet.
pub fn addresses(headers: &Headers) -> (Option<IpAddr>, Option<IpAddr>) {
    match &headers.network {
        Network::V4(v4) => (Some(v4.source.into()), Some(v4.destination.into())),
        Network::V6(v6) => (Some(v6.source.into()), Some(v6.destination.into())),
        Network::Other => (None, None),
    }
}

/// What a packet is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// The queue that it joins.
    pub queue: u32,
    /// Its class, for policies that tell packets of one queue apart.
    pub class: u32,
    /// Sent before any feedback (ABM).
    pub unscheduled: bool,
}

/// A rule: what it applies to, and what that is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it applies to.
    pub matches: Matches,
    /// What that is taken for.
    pub kind: Kind,
}

/// Rules in order; the first that applies counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classifier {
    rules: Vec<Rule>,
    /// What packets are taken for that no rule applies to.
    other: Kind,
}

impl Classifier {
    /// Of rules in order, and what everything else is taken for.
    pub fn new(rules: Vec<Rule>, other: Kind) -> Self {
        Self { rules, other }
    }

    /// What a packet that came in by this port is taken for.
    pub fn kind(&self, headers: &Headers, ingress: usize) -> Kind {
        self.rules.iter().find(|rule| rule.matches.has(headers, ingress)).map_or(self.other, |rule| rule.kind)
    }
}

/// What tells a packet's flow from others: a hash of addresses, protocol and ports; of the interfaces where there is no
/// IP packet.
pub fn flow_of(headers: &Headers) -> u64 {
    let mut hash = 0u64;
    let mut add = |value: u64| hash = forebay_tm::random::mix(hash ^ value);
    match &headers.network {
        Network::V4(v4) => {
            add(u64::from(u32::from(v4.source)) << 32 | u64::from(u32::from(v4.destination)));
        }
        Network::V6(v6) => {
            for address in [v6.source, v6.destination] {
                let bits = u128::from(address);
                add((bits >> 64) as u64);
                add(bits as u64);
            }
        }
        Network::Other => {
            for mac in [headers.source, headers.destination] {
                let [a, b, c, d, e, f] = mac.0;
                add(u64::from_be_bytes([0, 0, a, b, c, d, e, f]));
            }
        }
    }
    let (from, to) = headers.ports.unwrap_or_default();
    add(u64::from(headers.protocol().unwrap_or(0)) << 32 | u64::from(from) << 16 | u64::from(to));
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Build;

    fn headers(build: Build) -> Headers {
        Headers::parse(&build.frame(10)).unwrap()
    }

    #[test]
    fn the_first_rule_that_applies_counts() {
        let of = |queue| Kind { queue, ..Kind::default() };
        let rule = |matches, queue| Rule { matches, kind: of(queue) };
        let classifier = Classifier::new(
            vec![
                rule(Matches { destination_port: Some(2_000), protocol: Some(6), ..Matches::default() }, 3),
                rule(Matches { source: Some(Prefix::parse("10.0.0.0/30").unwrap()), ..Matches::default() }, 2),
                rule(Matches { pcp: Some(3), ..Matches::default() }, 4),
                rule(Matches { ingress: Some(7), ..Matches::default() }, 1),
            ],
            of(5),
        );
        let [udp4, tcp4, udp6, tcp6] = Build::all();
        let queue = |build: Build, ingress| classifier.kind(&headers(build), ingress).queue;
        assert_eq!((queue(tcp4, 0), queue(tcp6, 0)), (3, 3));
        assert_eq!((queue(udp4, 0), queue(udp6, 0)), (2, 5));
        assert_eq!(queue(Build { source: 9, ..udp4 }, 7), 1);
        assert_eq!(queue(udp6.tags(1), 7), 4);
    }

    #[test]
    fn flows_differ_by_each_of_the_five() {
        let flows: Vec<u64> = Build::all()
            .into_iter()
            .flat_map(|build| {
                [
                    build,
                    Build { source: 9, ..build },
                    Build { destination: 9, ..build },
                    Build { ports: (2_000, 1_000), ..build },
                ]
            })
            .map(|build| flow_of(&headers(build)))
            .collect();
        let mut once = flows.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), flows.len());
        assert_eq!(flow_of(&headers(Build::all()[0])), flow_of(&headers(Build::all()[0].ect(3).ttl(3))));
    }
}
