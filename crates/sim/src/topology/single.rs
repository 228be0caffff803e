//! One switch with all hosts at it.

use super::{Builder, MAX_PORTS, TopologyError, Wire, check_count, check_total};
use crate::network::NetworkPlan;

/// One switch, "switch0": host `n` is at its port `n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    /// Hosts.
    pub hosts: usize,
    /// The cable of each host.
    pub wire: Wire,
}

impl Single {
    /// Whether there can be such a network.
    pub fn check(&self) -> Result<(), TopologyError> {
        check_count("hosts", self.hosts)?;
        check_total("hosts", "ports of a switch", &[self.hosts], MAX_PORTS)
    }

    /// The network.
    pub fn plan(&self) -> NetworkPlan {
        let mut builder = Builder::new(self.hosts);
        let switch = builder.switches("switch", 1);
        for host in 0..self.hosts {
            builder.cable(host, switch, self.wire);
        }
        builder.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::{degrees, wire};

    #[test]
    fn all_hosts_are_at_the_switch() {
        let plan = Single { hosts: 5, wire: wire(10, 1) }.plan();
        assert_eq!((plan.hosts.len(), plan.switches.len(), plan.cables.len()), (5, 1, 5));
        assert_eq!(degrees(&plan), [5]);
        assert!(plan.cables.iter().enumerate().all(|(n, cable)| cable.a == n as u32 && cable.b == 5));
        assert_eq!(Single { hosts: 0, wire: wire(10, 1) }.check().unwrap_err().key, "hosts");
    }
}
