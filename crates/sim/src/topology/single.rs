//! One switch with all hosts at it.

use super::{Builder, MAX_PORTS, TopologyError, TopologySettings, check_count, check_total};
use crate::network::NetworkPlan;
use forebay_settings::check::{carries, delay};
use forebay_tm::settings;
use forebay_tm::{Duration, Rate};

settings! {
    /// One switch, "switch0": host `n` is at its port `n`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Single {
        /// Hosts.
        pub hosts: usize = 8 => given,
        /// The rate of each cable.
        pub rate: Rate = Rate::from_gbps(100); carries => given,
        /// The delay of each cable.
        pub delay: Duration = Duration::from_us(1); delay => given,
    }
}

impl TopologySettings for Single {
    fn plan(&self) -> Result<NetworkPlan, TopologyError> {
        check_count("hosts", self.hosts)?;
        check_total("hosts", "ports of a switch", &[self.hosts], MAX_PORTS)?;
        let mut builder = Builder::new(self.hosts);
        let switch = builder.switches("switch", 1);
        for host in 0..self.hosts {
            builder.cable(host, switch, self.rate, self.delay);
        }
        Ok(builder.plan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::degrees;

    #[test]
    fn all_hosts_are_at_the_switch() {
        let plan = Single { hosts: 5, ..Single::default() }.plan().unwrap();
        assert_eq!((plan.hosts.len(), plan.switches.len(), plan.cables.len()), (5, 1, 5));
        assert_eq!(degrees(&plan), [5]);
        assert!(plan.cables.iter().enumerate().all(|(n, cable)| cable.a == n as u32 && cable.b == 5));
        assert_eq!(Single { hosts: 0, ..Single::default() }.plan().unwrap_err().key, "hosts");
    }
}
