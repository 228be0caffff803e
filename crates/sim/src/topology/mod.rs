//! Topologies: how many hosts and switches there are and what connects them.
//!
//! Each kind is a config type that makes a [`NetworkPlan`]: [`TopologySettings`]. In every plan the hosts' cables come
//! first, in the order of the hosts, so that a switch with hosts has them at its lowest ports. Other crates can bring
//! kinds of their own: [`register_topology`].

mod dumbbell;
mod fat_tree;
mod graph;
mod leaf_spine;
mod single;

pub use dumbbell::Dumbbell;
pub use fat_tree::FatTree;
pub use graph::{Graph, GraphDefaults, GraphHosts, GraphLink, Wire};
pub use leaf_spine::LeafSpine;
pub use single::Single;

use crate::network::{CablePlan, NetworkPlan, NodeId, SwitchPlan};
use forebay_settings::{Diagnostic, Registry, Table};
use forebay_tm::described::Described;
use forebay_tm::{Duration, Rate};
use std::collections::BTreeSet;

/// Hosts that a network can have: the engine numbers them and the switches with 20 bits.
pub const MAX_HOSTS: usize = (1 << 20) - MAX_SWITCHES;
/// Switches that a network can have: routes keep them as 16 bits.
pub const MAX_SWITCHES: usize = 1 << 14;
/// Cables that a network can have.
pub const MAX_CABLES: usize = 1 << 22;
/// Ports that a switch can have: what a node has to do next is kept in 1,024 slots, two for each port.
pub const MAX_PORTS: usize = 512;

/// The settings of a topology, and the network that they make. Hosts have one cable each, to a switch, and all can
/// reach each other.
pub trait TopologySettings: Described {
    /// The network, or which key is wrong.
    fn plan(&self) -> Result<NetworkPlan, TopologyError>;

    /// The keys of lists of tables that it has beside its settings.
    fn tables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Reads these tables.
    fn read_tables(&mut self, _table: &Table<'_>) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Writes these tables as TOML.
    fn write_tables(&self) -> String {
        String::new()
    }
}

/// A kind of topology.
#[derive(Clone, Copy, Debug)]
pub struct TopologyKind {
    /// Its name in files.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    make: fn() -> Box<dyn TopologySettings>,
}

impl TopologyKind {
    const fn of<T: TopologySettings + Default + 'static>(name: &'static str, about: &'static str) -> Self {
        Self { name, about, make: || Box::new(T::default()) }
    }

    /// Settings of it with their defaults, which are examples where a file must have them.
    pub fn settings(self) -> Box<dyn TopologySettings> {
        (self.make)()
    }
}

/// Those that come with Forebay.
const BUILT_IN: [TopologyKind; 5] = [
    TopologyKind::of::<Single>("single", "hosts around one switch"),
    TopologyKind::of::<Dumbbell>("dumbbell", "two switches with hosts on either side of one link"),
    TopologyKind::of::<LeafSpine>("leaf-spine", "leaves with hosts, each with links to all spines"),
    TopologyKind::of::<FatTree>("fat-tree", "three tiers: edge, aggregation and core, by the number of ports k"),
    TopologyKind::of::<Graph>("graph", "switches, hosts and links by name, one by one"),
];

static REGISTERED: Registry<TopologyKind> = Registry::new();

/// Makes a topology of another crate known by its name in scenarios, with one line about it. False, and nothing
/// changes, if there is one of that name.
pub fn register_topology<T: TopologySettings + Default + 'static>(name: &'static str, about: &'static str) -> bool {
    REGISTERED.add(TopologyKind::of::<T>(name, about), |kind| kind.name, &BUILT_IN.map(|kind| kind.name))
}

/// All kinds, those of other crates included.
pub fn kinds() -> Vec<TopologyKind> {
    BUILT_IN.into_iter().chain(REGISTERED.all()).collect()
}

/// The network of a topology, checked: hosts can reach each other, and nothing is larger than the simulator can keep.
pub fn planned(topology: &dyn TopologySettings) -> Result<NetworkPlan, TopologyError> {
    let plan = topology.plan()?;
    check(&plan)?;
    Ok(plan)
}

/// Why there can be no such network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// The setting concerned, as a path within the topology: "spines", "link.3"; empty if none alone is.
    pub key: String,
    /// What is wrong, without a full stop.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl TopologyError {
    /// From the key concerned, what is wrong and what would be right.
    pub fn new(key: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into(), remedy: remedy.into() }
    }

    fn too_large(key: &str, count: u128, what: &str, most: usize) -> Self {
        Self::new(key, format!("{count} {what} are too many"), format!("keep to {most} {what} at most"))
    }
}

/// Checks what any network must be like: names that differ, hosts with one cable each, and a way from each host to each
/// other.
pub fn check(plan: &NetworkPlan) -> Result<(), TopologyError> {
    let hosts = plan.hosts.len();
    if hosts < 2 {
        let problem = format!("the network has {hosts} {}", if hosts == 1 { "host" } else { "hosts" });
        return Err(TopologyError::new("", problem, "give it 2 or more, so that there is someone to talk to"));
    }
    for (count, what, most) in [
        (hosts, "hosts", MAX_HOSTS),
        (plan.switches.len(), "switches", MAX_SWITCHES),
        (plan.cables.len(), "cables", MAX_CABLES),
    ] {
        if count > most {
            return Err(TopologyError::too_large("", count as u128, what, most));
        }
    }
    let mut names = BTreeSet::new();
    for node in 0..plan.nodes() as NodeId {
        let name = plan.name(node);
        if !names.insert(name) {
            return Err(TopologyError::new("", format!("the name \"{name}\" is there twice"), "rename one of them"));
        }
    }
    let mut groups = Groups::new(plan.nodes());
    let mut degrees = vec![0usize; plan.nodes()];
    for cable in &plan.cables {
        degrees[cable.a as usize] += 1;
        degrees[cable.b as usize] += 1;
        groups.join(cable.a as usize, cable.b as usize);
    }
    for (node, &degree) in degrees.iter().enumerate() {
        let (name, is_host) = (plan.name(node as NodeId), node < hosts);
        if is_host && degree != 1 {
            let problem = format!("host {name} has {degree} cables");
            return Err(TopologyError::new("", problem, "give each host exactly one cable, to a switch"));
        }
        if degree == 0 {
            return Err(TopologyError::new("", format!("switch {name} has no cable"), "connect it, or remove it"));
        }
        if degree > MAX_PORTS {
            let problem = format!("switch {name} has {degree} ports");
            return Err(TopologyError::new("", problem, format!("keep to {MAX_PORTS} cables at each switch")));
        }
        if is_host && groups.of(node) != groups.of(0) {
            let problem = format!("there is no path from {} to {name}", plan.name(0));
            return Err(TopologyError::new("", problem, "add the cables that are missing between the switches"));
        }
    }
    Ok(())
}

/// Which nodes are connected, however far (union-find).
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn of(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a] = b;
    }
}

/// A plan in the making.
#[derive(Clone, Debug)]
pub struct Builder(NetworkPlan);

impl Builder {
    /// With so many hosts, which are the first nodes.
    pub fn new(hosts: usize) -> Self {
        let hosts = (0..hosts).map(|host| format!("host{host}")).collect();
        Self(NetworkPlan { hosts, ..NetworkPlan::default() })
    }

    /// Adds `count` switches called `tier` with a number, and returns the node of the first. All hosts are there
    /// before.
    pub fn switches(&mut self, tier: &str, count: usize) -> usize {
        let first = self.0.nodes();
        let plan = |index| SwitchPlan { name: format!("{tier}{index}"), tier: tier.to_owned() };
        self.0.switches.extend((0..count).map(plan));
        first
    }

    /// Adds a cable between two nodes.
    pub fn cable(&mut self, a: usize, b: usize, rate: Rate, delay: Duration) {
        self.0.cables.push(CablePlan { a: a as NodeId, b: b as NodeId, rate, delay });
    }

    /// The plan.
    pub fn plan(self) -> NetworkPlan {
        self.0
    }
}

/// Refuses a count of nothing.
pub fn check_count(key: &str, count: usize) -> Result<(), TopologyError> {
    match count {
        0 => Err(TopologyError::new(key, "there must be at least one", "give 1 or more")),
        _ => Ok(()),
    }
}

/// Refuses a product of counts that no plan should be made for.
pub fn check_total(key: &str, what: &str, counts: &[usize], most: usize) -> Result<(), TopologyError> {
    let total = counts.iter().fold(1u128, |total, count| total.saturating_mul(*count as u128));
    if total > most as u128 { Err(TopologyError::too_large(key, total, what, most)) } else { Ok(()) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// How many cables end at each switch.
    pub(crate) fn degrees(plan: &NetworkPlan) -> Vec<usize> {
        let mut degrees = vec![0; plan.nodes()];
        for cable in &plan.cables {
            degrees[cable.a as usize] += 1;
            degrees[cable.b as usize] += 1;
        }
        degrees.split_off(plan.hosts.len())
    }

    #[test]
    fn a_plan_must_have_distinct_names_and_one_cable_per_host() {
        let sound = Single { hosts: 3, ..Single::default() }.plan().unwrap();
        assert_eq!(check(&sound), Ok(()));
        let mut twice = sound.clone();
        twice.hosts[2] = "switch0".into();
        assert!(check(&twice).unwrap_err().problem.contains("\"switch0\" is there twice"));
        let mut two_cables = sound.clone();
        two_cables.cables.push(two_cables.cables[1]);
        assert_eq!(check(&two_cables).unwrap_err().problem, "host host1 has 2 cables");
        let mut none = sound.clone();
        none.cables.pop();
        assert_eq!(check(&none).unwrap_err().problem, "host host2 has 0 cables");
        let mut alone = sound;
        alone.hosts.truncate(1);
        alone.cables = vec![CablePlan { a: 0, b: 1, ..alone.cables[0] }];
        assert_eq!(check(&alone).unwrap_err().problem, "the network has 1 host");
    }
}
