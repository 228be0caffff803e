//! Keeps the packets that a switch drops, and who held its buffer.

use super::Switch;
use crate::measure::drops::{DropRecord, Scene};
use crate::net::Net;
use crate::packet::Slot;
use forebay_tm::{Instant, Reason, View as _};

impl Switch {
    /// Keeps a drop, if that is asked for. The packet is still in its slot.
    #[inline(always)]
    pub(crate) fn keep_drop(&self, at: Instant, number: usize, slot: Slot, reason: Reason, around: &mut Net) {
        if around.drops.on {
            self.keep_chosen_drop(at, number, slot, reason, around);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_chosen_drop(&self, at: Instant, number: usize, slot: Slot, reason: Reason, around: &mut Net) {
        if !around.drops.wants(self.number) {
            return;
        }
        let port = &self.ports[number];
        let (buffer, local) = (port.buffer as usize, port.local as usize);
        let packet = *around.wires.arena.get(slot);
        let tm = self.view(buffer);
        let queue = usize::from(packet.class & self.queue_mask).min(tm.config().queues - 1);
        let index = tm.queue_index(local, queue);
        let record = DropRecord {
            at,
            switch: self.number,
            buffer: buffer as u32,
            port: number as u32,
            queue: queue as u32,
            flow: packet.flow,
            class: packet.class,
            bytes: packet.bytes,
            reason,
            threshold: tm.threshold(index).map(|threshold| threshold.value),
            queue_bytes: tm.queue_bytes(index),
            used: tm.used(),
            holders: 0,
        };
        let scene = self.scene(buffer, around);
        if around.drops.needs_walk(&record, &scene) {
            let waiting = self.waiting_in(at, buffer, around);
            around.drops.walk(&record, &scene, waiting.into_iter(), &around.wires.arena);
        }
        around.drops.keep(record);
    }

    fn ports_of(&self, buffer: usize) -> impl Iterator<Item = (usize, &super::Port)> {
        let ports = self.ports.iter().filter(move |port| port.buffer as usize == buffer);
        ports.map(|port| (port.local as usize, port))
    }

    fn scene(&self, buffer: usize, around: &Net) -> Scene {
        let mut scene = Scene { sent: 0, packets: 0 };
        for (local, port) in self.ports_of(buffer) {
            let link = &around.wires.links[port.out as usize];
            let waiting = match self.fifos.get(buffer) {
                // What is lined up is on the link already.
                Some(tm) => {
                    let waiting = tm.queue_packets(local) as u64;
                    scene.packets += waiting;
                    waiting
                }
                None => {
                    let tm = &self.buffers[buffer];
                    let queues = (0..tm.config().queues).map(|queue| tm.queue_packets(tm.queue_index(local, queue)));
                    scene.packets += queues.sum::<usize>() as u64;
                    0
                }
            };
            scene.sent += link.given() - waiting;
        }
        scene
    }

    /// The packets that wait in a buffer, with their lengths there.
    fn waiting_in(&self, at: Instant, buffer: usize, around: &Net) -> Vec<(Slot, u32)> {
        if self.fifos.get(buffer).is_some() {
            let links = self.ports_of(buffer).map(|(_, port)| &around.wires.links[port.out as usize]);
            return links.flat_map(|link| link.not_started(at)).collect();
        }
        self.buffers[buffer].waiting_packets().map(|(id, bytes)| (id.0 as Slot, bytes)).collect()
    }
}
