//! Two switches with hosts, and one cable between them.

use super::{Builder, MAX_PORTS, TopologyError, TopologySettings, check_count, check_total};
use crate::network::NetworkPlan;
use forebay_settings::check::{carries, delay};
use forebay_tm::settings;
use forebay_tm::{Duration, Rate};

settings! {
    /// The hosts at the left come first; the bottleneck is the last port of both switches, "switch0" at the left and
    /// "switch1".
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Dumbbell {
        /// Hosts at the left switch.
        pub left: usize = 4 => given,
        /// Hosts at the right switch.
        pub right: usize = 4 => given,
        /// The rate of each host's cable.
        pub rate: Rate = Rate::from_gbps(100); carries => given,
        /// The delay of each host's cable.
        pub delay: Duration = Duration::from_us(1); delay => given,
        /// The rate of the cable between the switches.
        pub bottleneck_rate: Rate = Rate::from_gbps(10); carries => given,
        /// The delay of the cable between the switches.
        pub bottleneck_delay: Duration = Duration::from_us(1); delay => like delay,
    }
}

impl TopologySettings for Dumbbell {
    fn plan(&self) -> Result<NetworkPlan, TopologyError> {
        for (key, hosts) in [("left", self.left), ("right", self.right)] {
            check_count(key, hosts)?;
            check_total(key, "hosts at a switch", &[hosts], MAX_PORTS - 1)?;
        }
        let hosts = self.left + self.right;
        let mut builder = Builder::new(hosts);
        let left = builder.switches("switch", 2);
        for host in 0..hosts {
            builder.cable(host, left + usize::from(host >= self.left), self.rate, self.delay);
        }
        builder.cable(left, left + 1, self.bottleneck_rate, self.bottleneck_delay);
        Ok(builder.plan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::degrees;

    #[test]
    fn the_bottleneck_is_the_last_cable() {
        let plan = Dumbbell { left: 3, right: 2, ..Dumbbell::default() }.plan().unwrap();
        assert_eq!((plan.hosts.len(), plan.switches.len(), plan.cables.len()), (5, 2, 6));
        assert_eq!(degrees(&plan), [4, 3]);
        let last = plan.cables[5];
        assert_eq!((last.a, last.b, last.rate.bps()), (5, 6, 10_000_000_000));
        let none = Dumbbell { left: 3, right: 0, ..Dumbbell::default() };
        assert_eq!(none.plan().unwrap_err().key, "right");
    }
}
