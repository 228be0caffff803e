//! Shortest paths, as port sets for every switch and host, and the choice among equal ones.

use crate::network::{NetworkPlan, NodeId};
use crate::scenario::{Change, Element};
use std::collections::{HashMap, VecDeque};

/// What of a network works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alive {
    cables: Vec<bool>,
    switches: Vec<bool>,
}

impl Alive {
    /// Everything works.
    pub fn all(plan: &NetworkPlan) -> Self {
        Self { cables: vec![true; plan.cables.len()], switches: vec![true; plan.switches.len()] }
    }

    /// A failure or a repair has come to be known.
    pub fn apply(&mut self, change: &Change) {
        match change.element {
            Element::Cable(cable) => self.cables[cable] = change.up,
            Element::Switch(switch) => self.switches[switch] = change.up,
        }
    }

    /// Whether a cable works itself, whatever is at its ends.
    pub fn cable(&self, cable: usize) -> bool {
        self.cables[cable]
    }

    /// Whether a switch works.
    pub fn switch(&self, switch: usize) -> bool {
        self.switches[switch]
    }
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectedLink {
    /// The index of the cable in the plan.
    pub cable: usize,
    /// From end `a` to end `b` of the cable, rather than back.
    pub forward: bool,
}

/// A port of a node: where its cable leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Out of the port.
    pub link: DirectedLink,
    /// The node at the far end.
    pub peer: NodeId,
}

/// The ports of all nodes: port `n` of a node is the `n`-th cable of the plan that ends at it.
#[derive(Clone, Debug)]
pub struct Ports {
    /// The ports of node `n` are `first[n]..first[n + 1]`.
    first: Vec<u32>,
    ports: Vec<Port>,
}

impl Ports {
    /// The ports of a plan's nodes.
    pub fn new(plan: &NetworkPlan) -> Self {
        let mut first = vec![0u32; plan.nodes() + 1];
        for cable in &plan.cables {
            first[cable.a as usize + 1] += 1;
            first[cable.b as usize + 1] += 1;
        }
        for node in 0..plan.nodes() {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let nowhere = Port { link: DirectedLink { cable: 0, forward: true }, peer: 0 };
        let mut ports = vec![nowhere; 2 * plan.cables.len()];
        for (index, cable) in plan.cables.iter().enumerate() {
            for (node, peer, forward) in [(cable.a, cable.b, true), (cable.b, cable.a, false)] {
                let place = &mut next[node as usize];
                ports[*place as usize] = Port { link: DirectedLink { cable: index, forward }, peer };
                *place += 1;
            }
        }
        Self { first, ports }
    }

    /// The ports of a node, in order.
    pub fn of(&self, node: NodeId) -> &[Port] {
        &self.ports[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

/// Where a host is attached.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    /// The switch; [`CUT_OFF`] if there is no path to it.
    switch: u16,
    /// The column of the switch in the table.
    column: u16,
    /// The port of the switch that leads to the host.
    port: u16,
}

/// No switch.
const CUT_OFF: u16 = u16::MAX;

/// A set of ports in one word: where it stands in [`Routes::pool`], and how large it is. (One look at the table is
/// enough to find it.)
#[derive(Clone, Copy, Debug, Default)]
struct PortSet(u32);

impl PortSet {
    const COUNT_BITS: u32 = 11;

    fn new(start: usize, count: usize) -> Self {
        assert!(
            start < 1 << (32 - Self::COUNT_BITS) && count < 1 << Self::COUNT_BITS,
            "the plan was checked for its size"
        );
        Self((start as u32) << Self::COUNT_BITS | count as u32)
    }

    #[inline(always)]
    fn range(self) -> core::ops::Range<usize> {
        let start = (self.0 >> Self::COUNT_BITS) as usize;
        start..start + (self.0 & ((1 << Self::COUNT_BITS) - 1)) as usize
    }
}

/// The shortest paths (by number of links) from every switch to every host.
///
/// Hosts hang off one switch each, so that the table has a column for every switch with hosts, not for every host.
/// Equal sets of ports of a switch stand in the pool once.
#[derive(Clone, Debug)]
pub struct Routes {
    hosts: Vec<Attachment>,
    columns: usize,
    /// `[switch][column]`.
    table: Vec<PortSet>,
    pool: Vec<u16>,
}

impl Routes {
    /// The shortest paths over what works. Ports and switches must fit 16 bits, see [`crate::topology::check`].
    pub fn new(plan: &NetworkPlan, ports: &Ports, alive: &Alive) -> Self {
        let switches = plan.switches.len();
        let (hosts, destinations) = attach(plan, ports, alive);
        // The last column is that of hosts that are cut off: all its sets are empty.
        let columns = destinations.len() + 1;
        let mut routes = Self { hosts, columns, table: vec![PortSet::default(); switches * columns], pool: Vec::new() };
        // The different sets of each switch.
        let mut found: Vec<HashMap<Vec<u16>, PortSet>> = vec![HashMap::new(); switches];
        let mut distances = vec![u32::MAX; switches];
        let mut queue = VecDeque::new();
        let mut set = Vec::new();
        for (column, destination) in destinations.into_iter().enumerate() {
            measure(plan, ports, alive, destination, &mut distances, &mut queue);
            for switch in 0..switches {
                if distances[switch] == u32::MAX || switch == destination {
                    continue;
                }
                let working = |port: &Port| alive.cable(port.link.cable) && !plan.is_host(port.peer);
                let all = ports.of(plan.switch_node(switch)).iter().enumerate();
                let nearer = all.filter(|(_, port)| {
                    working(port) && distances[port.peer as usize - plan.hosts.len()] == distances[switch] - 1
                });
                set.clear();
                set.extend(nearer.map(|(port, _)| port as u16));
                routes.table[switch * columns + column] = match found[switch].get(&set) {
                    Some(known) => *known,
                    None => {
                        let new = PortSet::new(routes.pool.len(), set.len());
                        routes.pool.extend(&set);
                        found[switch].insert(set.clone(), new);
                        new
                    }
                };
            }
        }
        routes
    }

    /// The ports of a switch that are on shortest paths to a host, in order; none if there is no path. Parallel cables
    /// are ports of their own.
    #[inline(always)]
    pub fn ports(&self, switch: usize, host: u32) -> &[u16] {
        let to = &self.hosts[host as usize];
        if usize::from(to.switch) == switch {
            return core::slice::from_ref(&to.port);
        }
        &self.pool[self.table[switch * self.columns + usize::from(to.column)].range()]
    }

    /// The next hops of one switch, to be kept by it.
    pub fn of_switch(&self, switch: usize) -> NextHops {
        let mut next_hops = NextHops::default();
        let mut known: HashMap<&[u16], u16> = HashMap::new();
        for host in 0..self.hosts.len() {
            let ports = self.ports(switch, host as u32);
            let entry = match ports {
                [only] => *only,
                several => *known.entry(several).or_insert_with(|| {
                    next_hops.groups.push((next_hops.pool.len() as u32, several.len() as u32));
                    next_hops.pool.extend(several);
                    NextHops::GROUP | (next_hops.groups.len() - 1) as u16
                }),
            };
            next_hops.to.push(entry);
        }
        next_hops
    }

    /// A path from a host to another: the links of it, in order. `choose` picks one of the ports of each switch on the
    /// way that has more than one to choose from. `None` if there is no path; a host's path to itself has no links.
    pub fn path(
        &self,
        plan: &NetworkPlan,
        ports: &Ports,
        (from, to): (u32, u32),
        mut choose: impl FnMut(usize, &[u16]) -> u16,
    ) -> Option<Vec<DirectedLink>> {
        let mut links = Vec::new();
        if from == to {
            return Some(links);
        }
        if self.hosts[from as usize].switch == CUT_OFF {
            return None;
        }
        let first = ports.of(from).first()?;
        links.push(first.link);
        let mut node = first.peer;
        while node != to {
            let switch = node as usize - plan.hosts.len();
            let port = match self.ports(switch, to) {
                [] => return None,
                [only] => *only,
                several => choose(switch, several),
            };
            let port = ports.of(node)[usize::from(port)];
            links.push(port.link);
            node = port.peer;
        }
        Some(links)
    }

    /// Bytes of memory that the routes take.
    pub fn memory(&self) -> usize {
        self.hosts.len() * size_of::<Attachment>()
            + self.table.len() * size_of::<PortSet>()
            + self.pool.len() * size_of::<u16>()
    }
}

/// The next hops of one switch to all hosts: one look at a table where there is only one port to choose.
#[derive(Clone, Debug, Default)]
pub struct NextHops {
    /// For each host, a port, or a group of ports.
    to: Vec<u16>,
    /// Where the ports of each group stand, and how many they are.
    groups: Vec<(u32, u32)>,
    pool: Vec<u16>,
}

impl NextHops {
    /// Set in an entry that names a group.
    const GROUP: u16 = 1 << 15;

    /// The port to a host. `choose` picks one of several equal ports by number; `None` if there is no path.
    #[inline(always)]
    pub fn port(&self, host: u32, choose: impl FnOnce(usize) -> usize) -> Option<usize> {
        let entry = self.to[host as usize];
        if entry & Self::GROUP == 0 {
            return Some(usize::from(entry));
        }
        let (start, count) = self.groups[usize::from(entry ^ Self::GROUP)];
        if count == 0 {
            return None;
        }
        Some(usize::from(self.pool[start as usize + choose(count as usize)]))
    }
}

/// Where the hosts are attached, and the switches of the table's columns.
fn attach(plan: &NetworkPlan, ports: &Ports, alive: &Alive) -> (Vec<Attachment>, Vec<usize>) {
    let mut hosts = vec![Attachment { switch: CUT_OFF, column: 0, port: 0 }; plan.hosts.len()];
    let mut destinations = Vec::new();
    for switch in (0..plan.switches.len()).filter(|switch| alive.switch(*switch)) {
        let column = destinations.len();
        let mut has_hosts = false;
        for (port, to) in ports.of(plan.switch_node(switch)).iter().enumerate() {
            if plan.is_host(to.peer) && alive.cable(to.link.cable) {
                hosts[to.peer as usize] =
                    Attachment { switch: switch as u16, column: column as u16, port: port as u16 };
                has_hosts = true;
            }
        }
        if has_hosts {
            destinations.push(switch);
        }
    }
    for host in hosts.iter_mut().filter(|host| host.switch == CUT_OFF) {
        host.column = destinations.len() as u16;
    }
    (hosts, destinations)
}

/// The distance of every switch from one of them, [`u32::MAX`] without a path: breadth first.
fn measure(
    plan: &NetworkPlan,
    ports: &Ports,
    alive: &Alive,
    from: usize,
    distances: &mut [u32],
    queue: &mut VecDeque<usize>,
) {
    distances.fill(u32::MAX);
    distances[from] = 0;
    queue.push_back(from);
    while let Some(switch) = queue.pop_front() {
        for port in ports.of(plan.switch_node(switch)) {
            if plan.is_host(port.peer) || !alive.cable(port.link.cable) {
                continue;
            }
            let peer = port.peer as usize - plan.hosts.len();
            if alive.switch(peer) && distances[peer] == u32::MAX {
                distances[peer] = distances[switch] + 1;
                queue.push_back(peer);
            }
        }
    }
}

/// One of `count` equal-cost ports by a flow's hash. Every switch has a `salt` of its own: with the same one, the flows
/// that one switch has sent one way would be sent one way by the next, too, and part of the network would stay empty.
///
/// Two multiplications spread all bits of both; the upper half times `count`, shifted, is then as even as 32 bits can
/// be.
#[inline]
pub fn choose(hash: u32, salt: u32, count: usize) -> usize {
    let mut bits = u64::from(hash ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (((bits >> 32) * count as u64) >> 32) as usize
}

#[cfg(test)]
#[path = "routing_tests.rs"]
mod tests;
