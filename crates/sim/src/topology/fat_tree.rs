//! A k-ary fat tree: three tiers of switches with `k` ports (Al-Fares et al., SIGCOMM 2008).

use super::{Builder, MAX_HOSTS, MAX_SWITCHES, TopologyError, TopologySettings, check_count, check_total};
use crate::network::NetworkPlan;
use forebay_settings::check::{carries, delay};
use forebay_tm::settings;
use forebay_tm::{Duration, Rate};

settings! {
    /// `k` pods of `k/2` edge and `k/2` aggregation switches each, and `k^2/4` cores; `k^3/4` hosts without
    /// oversubscription.
    ///
    /// Edge and aggregation switches are numbered pod by pod. Aggregation switch `j` of each pod is connected to the
    /// cores `j k/2 .. (j+1) k/2`, so a core has one port for each pod. Ports down come before ports up.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FatTree {
        /// Ports of a switch; even.
        pub k: usize = 8 => given,
        /// An edge switch has this many times `k/2` hosts, and `k/2` uplinks.
        pub oversubscription: usize = 1,
        /// The rate of each host's cable.
        pub host_rate: Rate = Rate::from_gbps(100); carries => like rate,
        /// The delay of each host's cable.
        pub host_delay: Duration = Duration::from_us(1); delay => like delay,
        /// The rate of each cable between an edge and an aggregation switch.
        pub aggregation_rate: Rate = Rate::from_gbps(100); carries => like rate,
        /// The delay of each cable between an edge and an aggregation switch.
        pub aggregation_delay: Duration = Duration::from_us(1); delay => like delay,
        /// The rate of each cable between an aggregation switch and a core.
        pub core_rate: Rate = Rate::from_gbps(100); carries => like rate,
        /// The delay of each cable between an aggregation switch and a core.
        pub core_delay: Duration = Duration::from_us(1); delay => like delay,
    }
}

impl FatTree {
    fn check(&self) -> Result<(), TopologyError> {
        check_count("k", self.k)?;
        if self.k % 2 == 1 {
            let problem = format!("{} is odd, but half of a switch's ports lead up and half lead down", self.k);
            let (below, above) = (self.k - 1, self.k.saturating_add(1));
            let remedy =
                if below == 0 { "give an even number, such as 4".into() } else { format!("give {below} or {above}") };
            return Err(TopologyError::new("k", problem, remedy));
        }
        check_count("oversubscription", self.oversubscription)?;
        check_total("k", "switches", &[self.k, self.k], MAX_SWITCHES)?;
        check_total("k", "hosts", &[self.k, self.k / 2, self.k / 2], MAX_HOSTS)?;
        check_total("oversubscription", "hosts", &[self.k, self.k / 2, self.k / 2, self.oversubscription], MAX_HOSTS)
    }
}

impl TopologySettings for FatTree {
    fn plan(&self) -> Result<NetworkPlan, TopologyError> {
        self.check()?;
        let (pods, half) = (self.k, self.k / 2);
        let hosts_per_edge = half * self.oversubscription;
        let hosts = pods * half * hosts_per_edge;
        let mut builder = Builder::new(hosts);
        let edge = builder.switches("edge", pods * half);
        let aggregation = builder.switches("aggregation", pods * half);
        let core = builder.switches("core", half * half);
        for host in 0..hosts {
            builder.cable(host, edge + host / hosts_per_edge, self.host_rate, self.host_delay);
        }
        for e in 0..pods * half {
            let pod = e / half;
            for j in 0..half {
                builder.cable(edge + e, aggregation + pod * half + j, self.aggregation_rate, self.aggregation_delay);
            }
        }
        for a in 0..pods * half {
            let j = a % half;
            for c in 0..half {
                builder.cable(aggregation + a, core + j * half + c, self.core_rate, self.core_delay);
            }
        }
        Ok(builder.plan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::degrees;

    fn tree(k: usize, oversubscription: usize) -> FatTree {
        FatTree { k, oversubscription, ..FatTree::default() }
    }

    #[test]
    fn counts_are_those_of_the_paper() {
        for k in [2, 4, 8, 26] {
            let plan = tree(k, 1).plan().unwrap();
            assert_eq!(plan.hosts.len(), k * k * k / 4);
            assert_eq!(plan.switches.len(), 5 * k * k / 4);
            assert_eq!(plan.cables.len(), 3 * k * k * k / 4);
            assert!(degrees(&plan).iter().all(|degree| *degree == k), "every switch has k ports");
            assert_eq!(plan.switches.iter().filter(|switch| switch.tier == "core").count(), k * k / 4);
        }
    }

    #[test]
    fn oversubscription_adds_hosts_at_the_edge_alone() {
        let plan = tree(4, 3).plan().unwrap();
        assert_eq!(plan.hosts.len(), 48);
        let degrees = degrees(&plan);
        assert!(degrees[..8].iter().all(|degree| *degree == 8) && degrees[8..].iter().all(|degree| *degree == 4));
    }

    #[test]
    fn odd_and_huge_trees_are_refused() {
        assert_eq!(tree(5, 1).check().unwrap_err().remedy, "give 4 or 6");
        assert_eq!(tree(0, 1).check().unwrap_err().key, "k");
        assert_eq!(tree(4, 0).check().unwrap_err().key, "oversubscription");
        assert!(tree(1 << 40, 1).check().unwrap_err().problem.contains("too many"));
        assert!(tree(4, usize::MAX).check().unwrap_err().problem.contains("too many"));
    }
}
