//! Which partition of a network has which node: every partition runs on a core of its own.
//!
//! A switch with hosts stays together with these. Such groups are dealt out in order, so that neighbours (the leaves
//! of a pod) are in one partition, by what their hosts have to send and to receive. Another switch goes where four in
//! five of its cables lead, or, where that does not say, where the least is to be done.

use super::links::fastest;
use crate::flow::TrafficPlan;
use crate::routing::Ports;
use crate::scenario::Scenario;
use crate::transport::FlowInfo;

/// Which partition has which node and which half of which link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    parts: usize,
    /// By node: its partition, and its number there. Empty if there is one partition.
    nodes: Vec<(u16, u32)>,
    /// By link: the partitions of the node that sends and of the one that receives.
    links: Vec<(u16, u16)>,
    /// The least time from a node to one of another partition.
    lookahead: u64,
}

impl Layout {
    /// Everything in one partition.
    pub(crate) fn whole() -> Self {
        Self { parts: 1, ..Self::default() }
    }

    /// Cuts a network into partitions, as many as asked for and as there are switches with hosts.
    pub(super) fn new(scenario: &Scenario, plan: &TrafficPlan, cabling: &Ports, threads: usize) -> Self {
        let mut parts = deal_groups(scenario, plan, cabling, threads);
        deal_others(cabling, &mut parts);
        let count = parts.iter().map(|part| part.number).max().unwrap_or(0) + 1;
        if count < 2 {
            return Self::whole();
        }
        let mut next = vec![0u32; usize::from(count)];
        let nodes = parts.iter().map(|part| {
            let local = &mut next[usize::from(part.number)];
            *local += 1;
            (part.number, *local - 1)
        });
        let mut layout = Self { parts: usize::from(count), nodes: nodes.collect(), links: Vec::new(), lookahead: 0 };
        let crossing = scenario
            .network
            .cables
            .iter()
            .filter(|cable| layout.of_node(cable.a as usize) != layout.of_node(cable.b as usize));
        layout.lookahead = crossing.map(|cable| fastest(scenario, cable)).min().unwrap_or(u64::MAX);
        layout
    }

    /// Says which links there are: two for each cable, and those that end where they begin, by their far ends.
    pub(super) fn connect(&mut self, scenario: &Scenario, of_cable: &[[u32; 2]], ends: impl Iterator<Item = u32>) {
        let part = |node: u32| self.nodes[node as usize].0;
        let mut links: Vec<(u16, u16)> = ends.map(|node| (part(node), part(node))).collect();
        for (cable, [forth, back]) in scenario.network.cables.iter().zip(of_cable) {
            let (a, b) = (part(cable.a), part(cable.b));
            (links[*forth as usize], links[*back as usize]) = ((a, b), (b, a));
        }
        self.links = links;
    }

    /// How many partitions there are.
    pub(crate) fn parts(&self) -> usize {
        self.parts
    }

    /// The least time from a node to one of another partition, in picoseconds.
    pub(super) fn lookahead(&self) -> u64 {
        self.lookahead
    }

    /// The partition of a node.
    pub(crate) fn of_node(&self, node: usize) -> usize {
        self.nodes.get(node).map_or(0, |(part, _)| usize::from(*part))
    }

    /// The number of a node in its partition.
    pub(crate) fn local(&self, node: usize) -> u32 {
        self.nodes.get(node).map_or(node as u32, |(_, local)| *local)
    }

    /// The partitions of both ends of a link.
    pub(crate) fn of_link(&self, link: usize) -> (usize, usize) {
        self.links.get(link).map_or((0, 0), |(from, to)| (usize::from(*from), usize::from(*to)))
    }

    /// The partition at the far end of every link.
    pub(crate) fn receivers(&self) -> impl Iterator<Item = u16> {
        self.links.iter().map(|(_, to)| *to)
    }
}

/// Where a node is, as far as that is known, and what it has to do.
#[derive(Clone, Copy, Debug)]
struct Placed {
    number: u16,
    known: bool,
    weight: f64,
}

/// What each host sends and receives, of a mean of 1: bytes of the plan, as far as its link carries them.
fn loads(scenario: &Scenario, plan: &TrafficPlan) -> Vec<f64> {
    let mut bytes = vec![0.0; scenario.network.hosts.len()];
    let seconds = scenario.duration.ps() as f64 / 1e12;
    let mut most = vec![f64::INFINITY; bytes.len()];
    for cable in &scenario.network.cables {
        for host in [cable.a, cable.b].into_iter().filter(|node| scenario.network.is_host(*node)) {
            most[host as usize] = 2.0 * cable.rate.bps() as f64 / 8.0 * seconds;
        }
    }
    for flow in &plan.flows {
        for host in [flow.src, flow.dst] {
            bytes[host as usize] += if flow.bytes == FlowInfo::ENDLESS { f64::INFINITY } else { flow.bytes as f64 };
        }
    }
    for session in &plan.sessions {
        // What a client asks for is not planned: a tenth of a link.
        bytes[session.client as usize] += most[session.client as usize] / 10.0;
        for server in session.servers.iter() {
            bytes[*server as usize] += most[*server as usize] / 10.0 / session.servers.len() as f64;
        }
    }
    bytes.iter_mut().zip(&most).for_each(|(bytes, most)| *bytes = bytes.min(*most));
    let mean = (bytes.iter().sum::<f64>() / bytes.len().max(1) as f64).max(1.0);
    // A host that sends nothing still costs something.
    bytes.iter().map(|bytes| bytes / mean + 0.01).collect()
}

/// Deals out switches with their hosts, in order.
fn deal_groups(scenario: &Scenario, plan: &TrafficPlan, cabling: &Ports, threads: usize) -> Vec<Placed> {
    let network = &scenario.network;
    let loads = loads(scenario, plan);
    let switches = (0..network.switches.len()).map(|switch| network.switch_node(switch));
    let hosts_of = |switch: u32| cabling.of(switch).iter().map(|port| port.peer).filter(|peer| network.is_host(*peer));
    let weight_of = |switch: u32| hosts_of(switch).map(|host| 2.0 * loads[host as usize]).sum::<f64>();
    let groups: Vec<u32> = switches.filter(|switch| hosts_of(*switch).next().is_some()).collect();
    let parts = threads.min(groups.len()).clamp(1, usize::from(u16::MAX));
    let total: f64 = groups.iter().map(|switch| weight_of(*switch)).sum();
    let mut placed = vec![Placed { number: 0, known: false, weight: 0.0 }; network.nodes()];
    let (mut before, mut number) = (0.0, 0usize);
    for (position, switch) in groups.iter().enumerate() {
        let weight = weight_of(*switch);
        // The partition in which its middle is; none may stay empty.
        let fair = ((before + weight / 2.0) / total * parts as f64) as usize;
        let left = groups.len() - position;
        number = fair.clamp(number, number + 1).max(parts.saturating_sub(left)).min(parts - 1).min(position);
        before += weight;
        let place = Placed { number: number as u16, known: true, weight };
        placed[*switch as usize] = place;
        for host in hosts_of(*switch) {
            placed[host as usize] = Placed { weight: 0.0, ..place };
        }
    }
    placed
}

/// Deals out the other switches: nearest to hosts first.
fn deal_others(cabling: &Ports, placed: &mut [Placed]) {
    let parts = placed.iter().map(|place| place.number).max().unwrap_or(0) + 1;
    let mut weights = vec![0.0; usize::from(parts)];
    placed.iter().for_each(|place| weights[usize::from(place.number)] += place.weight);
    let known = placed.iter().filter(|place| place.known && place.weight > 0.0);
    let (groups, all) = known.fold((0usize, 0.0), |(groups, all), place| (groups + 1, all + place.weight));
    let mean = if groups == 0 { 1.0 } else { all / groups as f64 };
    let mut left: Vec<u32> = (0..placed.len() as u32).filter(|node| !placed[*node as usize].known).collect();
    while !left.is_empty() {
        let neighbours = |node: u32, placed: &[Placed]| -> Vec<usize> {
            let mut counts = vec![0usize; usize::from(parts)];
            for port in cabling.of(node) {
                let peer = placed[port.peer as usize];
                counts[usize::from(peer.number)] += usize::from(peer.known);
            }
            counts
        };
        let ready: Vec<u32> =
            left.iter().copied().filter(|node| neighbours(*node, placed).iter().any(|count| *count > 0)).collect();
        // What no cable leads to from here goes anywhere.
        let ready = if ready.is_empty() { left.clone() } else { ready };
        let counts: Vec<Vec<usize>> = ready.iter().map(|node| neighbours(*node, placed)).collect();
        for (node, counts) in ready.iter().zip(counts) {
            let cables: usize = counts.iter().sum();
            let is_near = |part: &usize| counts[*part] > 0 && counts[*part] * 5 >= cables * 4;
            let least = || (0..weights.len()).min_by(|a, b| weights[*a].total_cmp(&weights[*b])).unwrap_or(0);
            let part = (0..weights.len()).find(is_near).unwrap_or_else(least);
            weights[part] += mean;
            placed[*node as usize] = Placed { number: part as u16, known: true, weight: mean };
        }
        left.retain(|node| !placed[*node as usize].known);
    }
}
