//! The links of a network: two for each cable, and those from switches to themselves.

use crate::event_queue::salt;
use crate::network::CablePlan;
use crate::routing::Ports;
use crate::scenario::{Scenario, SwitchSetup};
use crate::switch::{HOST_RATE, Slots};
use crate::wires::Wires;
use forebay_tm::{Duration, Rate};

/// Where the links of a network are.
pub(super) struct FabricLinks {
    /// The links that end at a node stand together, in the order of its ports, from here on.
    pub(super) first_incoming: Vec<u32>,
    /// From end `a` to end `b` of each cable, and back.
    pub(super) of_cable: Vec<[u32; 2]>,
    /// The links that leave each node, in the order of its ports.
    pub(super) outgoing: Vec<Vec<u32>>,
}

impl FabricLinks {
    pub(super) fn out(&self, node: usize) -> &[u32] {
        &self.outgoing[node]
    }
}

/// Whether a node is a switch that plays a script.
fn is_scripted(scenario: &Scenario, node: usize) -> bool {
    let switch = node.checked_sub(scenario.network.hosts.len());
    switch.is_some_and(|switch| scenario.switches[switch].script.is_some())
}

/// The least time that a packet takes over a cable: the shortest packet is a byte long, and hosts send it to a switch
/// that plays a script faster than the cable says.
pub(super) fn fastest(scenario: &Scenario, cable: &CablePlan) -> u64 {
    let is_faster = is_scripted(scenario, cable.a as usize) || is_scripted(scenario, cable.b as usize);
    let rate = if is_faster { cable.rate.max(HOST_RATE) } else { cable.rate };
    (cable.delay.ps() + rate.serialization(1).ps()).max(1)
}

/// The recirculation ports of a switch, if it has any: how many, their rate, and how long it takes to come around.
fn recirculation(setup: &SwitchSetup, ports: usize) -> Option<(usize, Rate, Duration)> {
    if let Some(chip) = &setup.chip {
        return Some((chip.pipelines(ports), chip.recirculation_rate, chip.latency));
    }
    setup.mirror.as_ref().map(|mirror| (mirror.pipelines(ports), mirror.rate, mirror.delay))
}

/// Makes two links for each cable, which end at the arrival slots of their nodes' ports, and the recirculation links
/// of switches that mirror.
pub(super) fn connect(scenario: &Scenario, cabling: &Ports, wires: &mut Wires, slots: &[Slots]) -> FabricLinks {
    let (network, seed) = (&scenario.network, scenario.seed);
    let hosts = network.hosts.len();
    // Names for recirculation links, behind those of the cables.
    let mut names = 2 * network.cables.len() as u32..;
    let mut links = FabricLinks {
        first_incoming: Vec::new(),
        of_cable: vec![[0; 2]; network.cables.len()],
        outgoing: (0..network.nodes()).map(|node| vec![0; cabling.of(node as u32).len()]).collect(),
    };
    for (node, Slots { first_arrival: first_slot, .. }) in slots.iter().enumerate() {
        let ports = cabling.of(node as u32).len();
        links.first_incoming.push(wires.links.len() as u32);
        let setup = node.checked_sub(hosts).map(|switch| &scenario.switches[switch]);
        for (number, port) in cabling.of(node as u32).iter().enumerate() {
            let slot = first_slot + number;
            let cable = &network.cables[port.link.cable];
            // The port sends one way; what it receives comes the other way. The salt is the cable's and the
            // direction's own.
            let backward = usize::from(port.link.forward);
            let name = (2 * port.link.cable + backward) as u32;
            let link = wires.connect(cable.rate, cable.delay, node as u32, slot as u32, salt(seed, name));
            links.of_cable[port.link.cable][backward] = link;
        }
        if is_scripted(scenario, node) {
            for link in &mut wires.links[links.first_incoming[node] as usize..] {
                link.set_rate(HOST_RATE);
            }
        }
        let Some((pipelines, rate, delay)) = setup.and_then(|setup| recirculation(setup, ports)) else { continue };
        for (pipeline, name) in (0..pipelines).zip(&mut names) {
            let slot = first_slot + ports + pipeline;
            wires.connect(rate, delay, node as u32, slot as u32, salt(seed, name));
        }
    }
    for node in 0..network.nodes() {
        for (number, port) in cabling.of(node as u32).iter().enumerate() {
            links.outgoing[node][number] = links.of_cable[port.link.cable][usize::from(!port.link.forward)];
        }
    }
    links
}
