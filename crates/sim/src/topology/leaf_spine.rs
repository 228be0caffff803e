//! Two tiers: every leaf is connected to every spine.

use super::{Builder, MAX_CABLES, MAX_HOSTS, MAX_PORTS, MAX_SWITCHES, TopologyError, Wire, check_count, check_total};
use crate::network::NetworkPlan;

/// Host `n` is at leaf `n / hosts_per_leaf`. A leaf has its hosts at its first ports and then the spines, the parallel cables to
/// one spine next to each other; a spine has the leaves in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafSpine {
    /// Leaves.
    pub leaves: usize,
    /// Spines.
    pub spines: usize,
    /// Hosts at each leaf.
    pub hosts_per_leaf: usize,
    /// Cables between each leaf and each spine.
    pub parallel: usize,
    /// The cable of each host.
    pub host: Wire,
    /// Each cable between a leaf and a spine.
    pub uplink: Wire,
}

impl LeafSpine {
    /// Whether there can be such a network.
    pub fn check(&self) -> Result<(), TopologyError> {
        check_count("leaves", self.leaves)?;
        check_count("spines", self.spines)?;
        check_count("hosts_per_leaf", self.hosts_per_leaf)?;
        check_count("parallel", self.parallel)?;
        check_total("leaves", "switches", &[self.leaves], MAX_SWITCHES)?;
        check_total("spines", "switches", &[self.spines], MAX_SWITCHES)?;
        check_total("hosts_per_leaf", "hosts", &[self.leaves, self.hosts_per_leaf], MAX_HOSTS)?;
        check_total("hosts_per_leaf", "ports of a leaf", &[self.hosts_per_leaf], MAX_PORTS)?;
        check_total("parallel", "ports of a leaf", &[self.spines, self.parallel], MAX_PORTS)?;
        check_total("parallel", "ports of a spine", &[self.leaves, self.parallel], MAX_PORTS)?;
        check_total("parallel", "cables", &[self.leaves, self.spines, self.parallel], MAX_CABLES)
    }

    /// What the hosts of a leaf can send over what its uplinks can carry.
    pub fn oversubscription(&self) -> f64 {
        let hosts = self.hosts_per_leaf as f64 * self.host.rate.bps() as f64;
        hosts / ((self.spines * self.parallel) as f64 * self.uplink.rate.bps() as f64)
    }

    /// The network.
    pub fn plan(&self) -> NetworkPlan {
        let hosts = self.leaves * self.hosts_per_leaf;
        let mut builder = Builder::new(hosts);
        let leaf = builder.switches("leaf", self.leaves);
        let spine = builder.switches("spine", self.spines);
        for host in 0..hosts {
            builder.cable(host, leaf + host / self.hosts_per_leaf, self.host);
        }
        for l in 0..self.leaves {
            for s in 0..self.spines {
                for _ in 0..self.parallel {
                    builder.cable(leaf + l, spine + s, self.uplink);
                }
            }
        }
        builder.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{degrees, wire};

    #[test]
    fn every_leaf_meets_every_spine() {
        let config =
            LeafSpine { leaves: 3, spines: 2, hosts_per_leaf: 8, parallel: 2, host: wire(10, 1), uplink: wire(40, 2) };
        assert_eq!(config.check(), Ok(()));
        assert!((config.oversubscription() - 0.5).abs() < 1e-12);
        let plan = config.plan();
        assert_eq!((plan.hosts.len(), plan.switches.len(), plan.cables.len()), (24, 5, 24 + 12));
        assert_eq!(degrees(&plan), [12, 12, 12, 6, 6]);
        assert_eq!(plan.name(24), "leaf0");
        assert_eq!(plan.name(28), "spine1");
        assert_eq!(plan.switches[4].tier, "spine");
        assert!(
            plan.cables[..24].iter().all(|cable| cable.rate.bps() == 10_000_000_000 && cable.b == 24 + cable.a / 8)
        );
        assert_eq!(plan.cables[24 + 3], plan.cables[24 + 2], "parallel cables stand next to each other");
    }

    #[test]
    fn nothing_is_planned_that_has_no_parts_or_too_many() {
        let config =
            LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 2, parallel: 1, host: wire(10, 1), uplink: wire(40, 2) };
        assert_eq!(LeafSpine { spines: 0, ..config.clone() }.check().unwrap_err().key, "spines");
        assert_eq!(LeafSpine { leaves: usize::MAX, ..config.clone() }.check().unwrap_err().key, "leaves");
        assert_eq!(
            LeafSpine { hosts_per_leaf: 1 << 19, leaves: 4, ..config }.check().unwrap_err().key,
            "hosts_per_leaf"
        );
    }
}
