//! Shortest paths, as port sets for every switch and host, and the choice among equal ones.

use crate::network::{NetworkPlan, NodeId};
use crate::prefetch;
use crate::scenario::{Change, Element};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

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

/// Where a host is attached: what packets to it are forwarded by.
///
/// Hosts hang off one switch each. So a forwarding table has a *column* for every switch with hosts, not an entry for
/// every host: a quarter of a million hosts need five thousand columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(u32);

impl Address {
    /// The host at a port of the switch of a column.
    pub(crate) fn new(column: usize, port: usize) -> Self {
        Self((column as u32) << 16 | port as u32)
    }

    /// The column of its switch.
    #[inline(always)]
    pub(crate) fn column(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// The port of that switch that leads to the host.
    #[inline(always)]
    pub(crate) fn port(self) -> usize {
        usize::from(self.0 as u16)
    }
}

/// Where every host is attached, whether that works or not.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    pub(crate) of_hosts: Arc<[Address]>,
    /// The switch of each column.
    switches: Arc<[u32]>,
}

impl Addresses {
    /// The addresses of a plan's hosts: columns follow the order of the switches.
    pub fn new(plan: &NetworkPlan, ports: &Ports) -> Self {
        let mut of_hosts = vec![Address::default(); plan.hosts.len()];
        let mut switches: Vec<u32> = Vec::new();
        for switch in 0..plan.switches.len() {
            let column = switches.len();
            let all = ports.of(plan.switch_node(switch)).iter().enumerate();
            let mut hosts = all.filter(|(_, port)| plan.is_host(port.peer)).peekable();
            if hosts.peek().is_some() {
                switches.push(switch as u32);
            }
            for (port, to) in hosts {
                of_hosts[to.peer as usize] = Address::new(column, port);
            }
        }
        Self { of_hosts: of_hosts.into(), switches: switches.into() }
    }
}

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
/// Switches with hosts that have the same neighbours (the edges of a pod, the leaves of a leaf-spine) are as far from
/// any other switch, and a switch that is not such a neighbour reaches them by the same ports: they are a *class*, and
/// one search serves for all of them. Their neighbours have ports to each of them.
#[derive(Clone, Debug)]
pub struct Routes {
    addresses: Addresses,
    /// Hosts whose own cable does not work, in order.
    cut_off: Arc<[u32]>,
    /// Of each column; [`NO_CLASS`] if its switch does not work.
    classes: Vec<u16>,
    /// How many classes there are.
    width: usize,
    /// `[switch][class]`.
    table: Vec<PortSet>,
    /// Of each switch: the columns of its neighbours with hosts, in order, and the ports to them.
    near: Vec<Vec<(u16, PortSet)>>,
    pool: Vec<u16>,
    /// Every port's number, at that place.
    numbers: Vec<u16>,
}

/// No class.
const NO_CLASS: u16 = u16::MAX;

/// Sets of ports, each of which stands in the pool once.
#[derive(Default)]
struct Pool {
    ports: Vec<u16>,
    known: HashMap<Vec<u16>, PortSet>,
    set: Vec<u16>,
}

impl Pool {
    fn intern(&mut self, ports: impl Iterator<Item = u16>) -> PortSet {
        self.set.clear();
        self.set.extend(ports);
        if let Some(known) = self.known.get(&self.set) {
            return *known;
        }
        let new = PortSet::new(self.ports.len(), self.set.len());
        self.ports.extend(&self.set);
        self.known.insert(self.set.clone(), new);
        new
    }
}

impl Routes {
    /// The shortest paths over what works. Ports and switches must fit 16 bits, see [`crate::topology::check`].
    pub fn new(plan: &NetworkPlan, ports: &Ports, addresses: &Addresses, alive: &Alive) -> Self {
        let switches = plan.switches.len();
        let of_switch = |switch: usize| {
            let all = ports.of(plan.switch_node(switch)).iter().enumerate();
            let works = move |port: &Port| {
                let peer = port.peer as usize;
                alive.switch(switch)
                    && alive.cable(port.link.cable)
                    && !plan.is_host(port.peer)
                    && alive.switch(peer - plan.hosts.len())
            };
            all.filter(move |(_, port)| works(port))
                .map(|(number, port)| (number as u16, port.peer as usize - plan.hosts.len()))
        };
        let (classes, first_of_class) =
            classify(&addresses.switches, alive, |switch| of_switch(switch).map(|(_, peer)| peer as u32).collect());
        let width = first_of_class.len();
        let mut pool = Pool::default();
        let mut table = vec![PortSet::default(); switches * width];
        let mut distances = vec![u32::MAX; switches];
        let mut queue = VecDeque::new();
        for (class, column) in first_of_class.into_iter().enumerate() {
            let first = addresses.switches[usize::from(column)] as usize;
            measure(first, &of_switch, &mut distances, &mut queue);
            for switch in (0..switches).filter(|switch| distances[*switch] != u32::MAX) {
                // The first of a class reaches the others of it by what all are next to.
                let next = if switch == first { 1 } else { distances[switch] - 1 };
                let nearer = of_switch(switch).filter(|(_, peer)| distances[*peer] == next);
                table[switch * width + class] = pool.intern(nearer.map(|(port, _)| port));
            }
        }
        let column_of = |switch: usize| addresses.switches.binary_search(&(switch as u32)).ok();
        let near = (0..switches).map(|switch| {
            let mut columns: Vec<u16> =
                of_switch(switch).filter_map(|(_, peer)| column_of(peer)).map(|column| column as u16).collect();
            columns.sort_unstable();
            columns.dedup();
            let to = |column: u16, pool: &mut Pool| {
                let there = addresses.switches[usize::from(column)] as usize;
                pool.intern(of_switch(switch).filter(|(_, peer)| *peer == there).map(|(port, _)| port))
            };
            columns.into_iter().map(|column| (column, to(column, &mut pool))).collect()
        });
        let near = near.collect();
        let cable_works = |host: &u32| ports.of(*host).first().is_some_and(|port| alive.cable(port.link.cable));
        let cut_off = (0..plan.hosts.len() as u32).filter(|host| !cable_works(host)).collect();
        let most = (0..switches).map(|switch| ports.of(plan.switch_node(switch)).len()).max().unwrap_or(0);
        let numbers = (0..most as u16).collect();
        Self { addresses: addresses.clone(), cut_off, classes, width, table, near, pool: pool.ports, numbers }
    }

    /// The ports of a switch that are on shortest paths to a host, in order; none if there is no path. Parallel cables
    /// are ports of their own.
    pub fn ports(&self, switch: usize, host: u32) -> &[u16] {
        let to = self.addresses.of_hosts[host as usize];
        let class = self.classes[to.column()];
        if class == NO_CLASS || self.cut_off.binary_search(&host).is_ok() {
            return &[];
        }
        if self.addresses.switches[to.column()] as usize == switch {
            return &self.numbers[to.port()..=to.port()];
        }
        let near = &self.near[switch];
        let set = match near.binary_search_by_key(&to.column(), |(column, _)| usize::from(*column)) {
            Ok(place) => near[place].1,
            Err(_) => self.table[switch * self.width + usize::from(class)],
        };
        &self.pool[set.range()]
    }

    /// The next hops of one switch, to be kept by it.
    pub fn of_switch(&self, switch: usize) -> NextHops {
        let mut next_hops = NextHops { groups: vec![(0, 0); NextHops::FIRST_GROUP], ..NextHops::default() };
        let mut known: HashMap<&[u16], u16> = HashMap::new();
        let mut entry = |set: PortSet| match &self.pool[set.range()] {
            [only] => *only,
            several => *known.entry(several).or_insert_with(|| {
                assert!(next_hops.groups.len() < usize::from(NextHops::HERE ^ NextHops::GROUP), "too many next hops");
                next_hops.groups.push((next_hops.pool.len() as u32, several.len() as u32));
                next_hops.pool.extend(several);
                NextHops::GROUP | (next_hops.groups.len() - 1) as u16
            }),
        };
        let of_class: Vec<u16> = (0..self.width).map(|class| entry(self.table[switch * self.width + class])).collect();
        let near: Vec<(u16, u16)> = self.near[switch].iter().map(|(column, set)| (*column, entry(*set))).collect();
        let nowhere = entry(PortSet::default());
        let of_column = |class: &u16| of_class.get(usize::from(*class)).copied().unwrap_or(nowhere);
        next_hops.to = self.classes.iter().map(of_column).collect();
        near.into_iter().for_each(|(column, entry)| next_hops.to[usize::from(column)] = entry);
        if let Ok(own) = self.addresses.switches.binary_search(&(switch as u32)) {
            next_hops.to[own] = if self.classes[own] == NO_CLASS { nowhere } else { NextHops::HERE };
        }
        next_hops.avoid(self.cut_off.iter().map(|host| self.addresses.of_hosts[*host as usize]));
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
        let first = ports.of(from).first()?;
        // A host that nothing reaches reaches nothing.
        if self.ports(first.peer as usize - plan.hosts.len(), from).is_empty() {
            return None;
        }
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
        let near: usize = self.near.iter().map(|near| near.len() * size_of::<(u16, PortSet)>()).sum();
        self.addresses.of_hosts.len() * size_of::<Address>()
            + self.table.len() * size_of::<PortSet>()
            + self.pool.len() * size_of::<u16>()
            + near
    }
}

/// The class of each column, and the first column of each class. `neighbours` are those of a switch that work.
fn classify(switches: &[u32], alive: &Alive, neighbours: impl Fn(usize) -> Vec<u32>) -> (Vec<u16>, Vec<u16>) {
    let (mut classes, mut first_of_class) = (Vec::new(), Vec::new());
    let mut known: HashMap<Vec<u32>, u16> = HashMap::new();
    for (column, switch) in switches.iter().enumerate() {
        if !alive.switch(*switch as usize) {
            classes.push(NO_CLASS);
            continue;
        }
        let mut neighbours = neighbours(*switch as usize);
        neighbours.sort_unstable();
        neighbours.dedup();
        classes.push(*known.entry(neighbours).or_insert_with(|| {
            first_of_class.push(column as u16);
            first_of_class.len() as u16 - 1
        }));
    }
    (classes, first_of_class)
}

/// The next hops of one switch: one look at a table where there is only one port to choose.
#[derive(Clone, Debug, Default)]
pub struct NextHops {
    /// For each column, a port, or a group of ports.
    to: Vec<u16>,
    /// Where the ports of each group stand, and how many they are.
    groups: Vec<(u32, u32)>,
    pool: Vec<u16>,
    /// Hosts that cannot be reached although their switch can, in order, and what their columns would have.
    cut_off: Vec<Address>,
    otherwise: HashMap<usize, u16>,
}

impl NextHops {
    /// Set in an entry that names a group.
    const GROUP: u16 = 1 << 15;
    /// The entry of the switch's own column: the address has the port.
    const HERE: u16 = u16::MAX;
    /// The entry of a column with hosts that are cut off.
    const ASK: u16 = Self::GROUP;
    /// Groups below this one are that entry.
    const FIRST_GROUP: usize = 1;

    /// Asks for the table, as far as it is small.
    pub(crate) fn look_ahead(&self) {
        const MOST: usize = 2_048;
        prefetch::slice(&self.to[..self.to.len().min(MOST)]);
        prefetch::slice(&self.groups[..self.groups.len().min(MOST)]);
        prefetch::slice(&self.pool[..self.pool.len().min(MOST)]);
    }

    /// The port to a host. `choose` picks one of several equal ports by number; `None` if there is no path.
    #[inline(always)]
    pub fn port(&self, to: Address, choose: impl FnOnce(usize) -> usize) -> Option<usize> {
        let entry = self.to[to.column()];
        if entry & Self::GROUP == 0 {
            return Some(usize::from(entry));
        }
        if entry == Self::HERE {
            return Some(to.port());
        }
        let (mut start, mut count) = self.groups[usize::from(entry ^ Self::GROUP)];
        if count == 0 {
            (start, count) = self.ask(to)?;
            if count == 0 {
                return Some(start as usize);
            }
        }
        Some(usize::from(self.pool[start as usize + choose(count as usize)]))
    }

    /// The group of a host of a column of which not all can be reached, or its port and 0; `None` if it cannot be
    /// reached.
    #[cold]
    #[inline(never)]
    fn ask(&self, to: Address) -> Option<(u32, u32)> {
        if self.cut_off.binary_search(&to).is_ok() {
            return None;
        }
        match *self.otherwise.get(&to.column())? {
            Self::HERE => Some((to.port() as u32, 0)),
            port if port & Self::GROUP == 0 => Some((u32::from(port), 0)),
            group => Some(self.groups[usize::from(group ^ Self::GROUP)]).filter(|(_, count)| *count > 0),
        }
    }

    /// These hosts cannot be reached.
    fn avoid(&mut self, hosts: impl Iterator<Item = Address>) {
        self.cut_off = hosts.collect();
        self.cut_off.sort_unstable();
        for host in &self.cut_off {
            let entry = &mut self.to[host.column()];
            if *entry != Self::ASK {
                self.otherwise.insert(host.column(), *entry);
                *entry = Self::ASK;
            }
        }
    }
}

/// The distance of every switch from one of them, [`u32::MAX`] without a path: breadth first.
fn measure<I: Iterator<Item = (u16, usize)>>(
    from: usize,
    neighbours: &impl Fn(usize) -> I,
    distances: &mut [u32],
    queue: &mut VecDeque<usize>,
) {
    distances.fill(u32::MAX);
    distances[from] = 0;
    queue.push_back(from);
    while let Some(switch) = queue.pop_front() {
        for (_, peer) in neighbours(switch) {
            if distances[peer] == u32::MAX {
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
