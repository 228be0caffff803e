//! Two switches with hosts, and one cable between them.

use super::{Builder, MAX_PORTS, TopologyError, Wire, check_count, check_total};
use crate::network::NetworkPlan;

/// The hosts at the left come first; the bottleneck is the last port of both switches, "switch0" at the left and "switch1".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dumbbell {
    /// Hosts at the left switch.
    pub left: usize,
    /// Hosts at the right switch.
    pub right: usize,
    /// The cable of each host.
    pub edge: Wire,
    /// The cable between the switches.
    pub bottleneck: Wire,
}

impl Dumbbell {
    /// Whether there can be such a network.
    pub fn check(&self) -> Result<(), TopologyError> {
        for (key, hosts) in [("left", self.left), ("right", self.right)] {
            check_count(key, hosts)?;
            check_total(key, "hosts at a switch", &[hosts], MAX_PORTS - 1)?;
        }
        Ok(())
    }

    /// The network.
    pub fn plan(&self) -> NetworkPlan {
        let hosts = self.left + self.right;
        let mut builder = Builder::new(hosts);
        let left = builder.switches("switch", 2);
        for host in 0..hosts {
            builder.cable(host, left + usize::from(host >= self.left), self.edge);
        }
        builder.cable(left, left + 1, self.bottleneck);
        builder.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{degrees, wire};

    #[test]
    fn the_bottleneck_is_the_last_cable() {
        let plan = Dumbbell { left: 3, right: 2, edge: wire(100, 1), bottleneck: wire(10, 5) }.plan();
        assert_eq!((plan.hosts.len(), plan.switches.len(), plan.cables.len()), (5, 2, 6));
        assert_eq!(degrees(&plan), [4, 3]);
        let last = plan.cables[5];
        assert_eq!((last.a, last.b, last.rate.bps()), (5, 6, 10_000_000_000));
        let none = Dumbbell { left: 3, right: 0, edge: wire(100, 1), bottleneck: wire(10, 5) };
        assert_eq!(none.check().unwrap_err().key, "right");
    }
}
