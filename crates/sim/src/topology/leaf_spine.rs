//! Two tiers: every leaf is connected to every spine.

use super::{
    Builder, MAX_CABLES, MAX_HOSTS, MAX_PORTS, MAX_SWITCHES, TopologyError, TopologySettings, check_count, check_total,
};
use crate::network::NetworkPlan;
use forebay_settings::check::{carries, delay};
use forebay_tm::settings;
use forebay_tm::{Duration, Rate};

settings! {
    /// Host `n` is at leaf `n / hosts_per_leaf`. A leaf has its hosts at its first ports and then the spines, the
    /// parallel cables to one spine next to each other; a spine has the leaves in order.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct LeafSpine {
        /// Leaves.
        pub leaves: usize = 4 => given,
        /// Spines.
        pub spines: usize = 2 => given,
        /// Hosts at each leaf.
        pub hosts_per_leaf: usize = 16 => given,
        /// Cables between each leaf and each spine.
        pub parallel: usize = 1,
        /// The rate of each host's cable.
        pub host_rate: Rate = Rate::from_gbps(100); carries => like rate,
        /// The delay of each host's cable.
        pub host_delay: Duration = Duration::from_us(1); delay => like delay,
        /// The rate of each cable between a leaf and a spine.
        pub uplink_rate: Rate = Rate::from_gbps(100); carries => like rate,
        /// The delay of each cable between a leaf and a spine.
        pub uplink_delay: Duration = Duration::from_us(1); delay => like delay,
    }
}

impl LeafSpine {
    fn check(&self) -> Result<(), TopologyError> {
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
        let hosts = self.hosts_per_leaf as f64 * self.host_rate.bps() as f64;
        hosts / ((self.spines * self.parallel) as f64 * self.uplink_rate.bps() as f64)
    }
}

impl TopologySettings for LeafSpine {
    fn plan(&self) -> Result<NetworkPlan, TopologyError> {
        self.check()?;
        let hosts = self.leaves * self.hosts_per_leaf;
        let mut builder = Builder::new(hosts);
        let leaf = builder.switches("leaf", self.leaves);
        let spine = builder.switches("spine", self.spines);
        for host in 0..hosts {
            builder.cable(host, leaf + host / self.hosts_per_leaf, self.host_rate, self.host_delay);
        }
        for l in 0..self.leaves {
            for s in 0..self.spines {
                for _ in 0..self.parallel {
                    builder.cable(leaf + l, spine + s, self.uplink_rate, self.uplink_delay);
                }
            }
        }
        Ok(builder.plan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::degrees;

    #[test]
    fn every_leaf_meets_every_spine() {
        let (host_rate, uplink_rate) = (Rate::from_gbps(10), Rate::from_gbps(40));
        let config =
            LeafSpine { leaves: 3, hosts_per_leaf: 8, parallel: 2, host_rate, uplink_rate, ..LeafSpine::default() };
        assert!((config.oversubscription() - 0.5).abs() < 1e-12);
        let plan = config.plan().unwrap();
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
        let config = LeafSpine { leaves: 2, hosts_per_leaf: 2, ..LeafSpine::default() };
        assert_eq!(LeafSpine { spines: 0, ..config.clone() }.plan().unwrap_err().key, "spines");
        assert_eq!(LeafSpine { leaves: usize::MAX, ..config.clone() }.plan().unwrap_err().key, "leaves");
        assert_eq!(
            LeafSpine { hosts_per_leaf: 1 << 19, leaves: 4, ..config }.plan().unwrap_err().key,
            "hosts_per_leaf"
        );
    }
}
