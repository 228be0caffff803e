//! Which hosts stand under which top-of-rack switch, and what the links there carry.

use crate::network::{NetworkPlan, NodeId};

/// One top-of-rack switch: the switch that its hosts' cables go to.
#[derive(Clone, Debug, PartialEq)]
pub struct Rack {
    /// The switch, or `None` for hosts whose cable goes to no switch.
    pub switch: Option<NodeId>,
    /// Its hosts, in order.
    pub hosts: Vec<u32>,
    /// Bits per second of all its links to other switches together, in one direction.
    pub uplinks: u64,
    /// How many those links are.
    pub uplink_count: usize,
}

/// The racks of a network, in the order of their switches.
#[derive(Clone, Debug, PartialEq)]
pub struct Racks {
    racks: Vec<Rack>,
    /// Of each host.
    rack_of: Vec<u32>,
    /// Of each host's link, in bits per second.
    rate_of: Vec<u64>,
}

impl Racks {
    /// The racks of a network. A host belongs to the switch of its first cable.
    pub fn of(network: &NetworkPlan) -> Self {
        let hosts = network.hosts.len();
        let mut switch_of: Vec<Option<NodeId>> = vec![None; hosts];
        let mut rate_of = vec![0; hosts];
        for cable in &network.cables {
            for (end, other) in [(cable.a, cable.b), (cable.b, cable.a)] {
                if network.is_host(end) && rate_of[end as usize] == 0 {
                    rate_of[end as usize] = cable.rate.bps();
                    switch_of[end as usize] = Some(other).filter(|node| !network.is_host(*node));
                }
            }
        }
        // Switches in order; hosts without one come last.
        let mut switches: Vec<Option<NodeId>> = switch_of.clone();
        switches.sort_by_key(|switch| (switch.is_none(), *switch));
        switches.dedup();
        let mut racks: Vec<Rack> = switches
            .into_iter()
            .map(|switch| Rack { switch, hosts: Vec::new(), uplinks: 0, uplink_count: 0 })
            .collect();
        let index = |racks: &[Rack], switch: Option<NodeId>| {
            racks.binary_search_by_key(&(switch.is_none(), switch), |rack| (rack.switch.is_none(), rack.switch)).ok()
        };
        let mut rack_of = Vec::with_capacity(hosts);
        for (host, switch) in switch_of.into_iter().enumerate() {
            let rack = index(&racks, switch).unwrap_or(0);
            racks[rack].hosts.push(host as u32);
            rack_of.push(rack as u32);
        }
        for cable in network.cables.iter().filter(|cable| !network.is_host(cable.a) && !network.is_host(cable.b)) {
            for end in [cable.a, cable.b] {
                if let Some(rack) = index(&racks, Some(end)) {
                    racks[rack].uplinks += cable.rate.bps();
                    racks[rack].uplink_count += 1;
                }
            }
        }
        Self { racks, rack_of, rate_of }
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> u32 {
        self.rack_of.len() as u32
    }

    /// All racks.
    pub fn all(&self) -> &[Rack] {
        &self.racks
    }

    /// The number of a host's rack.
    pub fn rack_of(&self, host: u32) -> usize {
        self.rack_of[host as usize] as usize
    }

    /// Bits per second of a host's link.
    pub fn rate_of(&self, host: u32) -> u64 {
        self.rate_of[host as usize]
    }

    /// Whether two hosts stand in different racks.
    pub fn are_apart(&self, a: u32, b: u32) -> bool {
        self.rack_of[a as usize] != self.rack_of[b as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::{leaf_spine, one_switch};

    #[test]
    fn the_racks_of_a_leaf_spine_network() {
        let racks = Racks::of(&leaf_spine(3, 4, 2, 2));
        assert_eq!(racks.all().len(), 3, "spines have no hosts");
        assert_eq!(racks.all()[1].hosts, [4, 5, 6, 7]);
        assert_eq!(racks.all()[1].uplinks, 40_000_000_000, "2 spines, 2 parallel links of 10 Gb/s");
        assert_eq!(racks.all()[1].uplink_count, 4);
        assert_eq!(racks.rack_of(11), 2);
        assert!(racks.are_apart(3, 4) && !racks.are_apart(4, 5));
        assert_eq!(racks.rate_of(0), 10_000_000_000);
    }

    #[test]
    fn one_switch_has_no_uplinks() {
        let racks = Racks::of(&one_switch(5));
        assert_eq!(racks.all().len(), 1);
        assert_eq!((racks.all()[0].uplinks, racks.hosts()), (0, 5));
    }
}
