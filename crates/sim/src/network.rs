//! A network as a topology plans it: hosts, switches and the cables between them.

use forebay_tm::{Duration, Rate};

/// A host or a switch: hosts are numbered from 0, switches follow.
pub type NodeId = u32;

/// A switch of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// Unique: "leaf0".
    pub name: String,
    /// What its kind is called: "leaf", "spine", "edge", "aggregation", "core", "switch".
    pub tier: String,
}

/// A cable: two links, one in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CablePlan {
    /// One end.
    pub a: NodeId,
    /// The other.
    pub b: NodeId,
    /// The rate of either direction.
    pub rate: Rate,
    /// The propagation delay of either direction.
    pub delay: Duration,
}

/// A whole network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkPlan {
    /// The names of the hosts: "host0".
    pub hosts: Vec<String>,
    /// The switches.
    pub switches: Vec<SwitchPlan>,
    /// The cables. The ports of a node are numbered in this order: the n-th cable that ends at it is its port n.
    pub cables: Vec<CablePlan>,
}

impl NetworkPlan {
    /// Hosts and switches.
    pub fn nodes(&self) -> usize {
        self.hosts.len() + self.switches.len()
    }

    /// The node of a switch.
    pub fn switch_node(&self, switch: usize) -> NodeId {
        (self.hosts.len() + switch) as NodeId
    }

    /// Whether a node is a host.
    pub fn is_host(&self, node: NodeId) -> bool {
        (node as usize) < self.hosts.len()
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        match self.hosts.get(node as usize) {
            Some(name) => name,
            None => &self.switches[node as usize - self.hosts.len()].name,
        }
    }
}
