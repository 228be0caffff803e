//! What the nodes need that run next in a window is asked for while others run.
//!
//! One step leads to the next: a node to its event queue and its ports, these to links, links to the packets on them.
//! A step is taken for each of the next nodes, so that its answer is there when the next step needs it.

use super::part::Part;
use crate::event_queue::Key;
use crate::prefetch;

impl Part {
    /// Looks ahead from a place in the list of the nodes that are due.
    #[inline(never)]
    pub(super) fn look_ahead(&self, due: &[u32], place: usize, horizon: Key) {
        let of = |distance: usize| due.get(place + distance).map(|node| *node as usize);
        if let Some(node) = of(4) {
            self.net.wires.ask_for_node(node);
            match self.hosts.get(node) {
                Some(host) => prefetch::value(host),
                None => prefetch::element(&self.switches, node - self.hosts.len()),
            }
        }
        if let Some(node) = of(3) {
            self.net.wires.ask_for_events(node);
            match self.hosts.get(node) {
                Some(host) => self.net.wires.ask_for_link(host.incoming()),
                None => self.switches[node - self.hosts.len()].forwarding().look_ahead(),
            }
        }
        if let Some(node) = of(2) {
            match self.hosts.get(node) {
                Some(host) => self.net.wires.ask_for_first(host.incoming()),
                None => {
                    let forwarding = self.switches[node - self.hosts.len()].forwarding();
                    for (number, port) in forwarding.ports.iter().enumerate() {
                        self.net.wires.ask_for_link(forwarding.first_incoming + number as u32);
                        self.net.wires.ask_for_link(port.out);
                    }
                }
            }
        }
        if let Some(node) = of(1) {
            match self.hosts.get(node) {
                Some(host) => self.net.wires.ask_for_packets(host.incoming(), horizon),
                None => {
                    let switch = &self.switches[node - self.hosts.len()];
                    switch.look_ahead();
                    let forwarding = switch.forwarding();
                    for (number, port) in forwarding.ports.iter().enumerate() {
                        self.net.wires.ask_for_first(forwarding.first_incoming + number as u32);
                        self.net.wires.ask_for_last(port.out);
                    }
                }
            }
        }
    }
}
