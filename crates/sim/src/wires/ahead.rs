//! Asking for what links need before they need it: see `engine/ahead.rs`.

use super::Wires;
use crate::event_queue::Key;
use crate::prefetch;

impl Wires {
    /// Where the event queue of a node stands.
    pub(crate) fn ask_for_node(&self, node: usize) {
        prefetch::element(&self.event_queues, node);
    }

    /// The event queue of a node.
    pub(crate) fn ask_for_events(&self, node: usize) {
        self.event_queues[node].ask();
    }

    /// A link.
    pub(crate) fn ask_for_link(&self, link: u32) {
        prefetch::element(&self.links, link as usize);
    }

    /// The first packets on a link, as many as may come in a window.
    pub(crate) fn ask_for_first(&self, link: u32) {
        const MOST: u64 = 10;
        // A cache line has between two and three of them.
        const STEP: usize = 2;
        let link = &self.links[link as usize];
        let places = link.ring.len() as u64;
        let in_flight = (link.put + places - link.full_at).min(MOST);
        for number in (link.full_at..link.full_at + in_flight).step_by(STEP) {
            prefetch::element(&link.ring, number as usize & (places as usize - 1));
        }
    }

    /// The place of the next packet that is put on a link.
    pub(crate) fn ask_for_last(&self, link: u32) {
        let link = &self.links[link as usize];
        prefetch::element(&link.ring, link.put as usize & link.ring.len().wrapping_sub(1));
    }

    /// The packets that come from a link before the horizon.
    pub(crate) fn ask_for_packets(&self, link: u32, horizon: Key) {
        let link = &self.links[link as usize];
        let (places, end) = (link.ring.len() as u64, self.clock.instant(horizon));
        for number in link.full_at..link.put + places {
            let in_flight = &link.ring[number as usize & (places as usize - 1)];
            if in_flight.arrival >= end {
                break;
            }
            self.arena.ask(in_flight.metadata.packet);
        }
    }
}
