//! Keeps the packets that a switch drops, and who held its buffer.

use super::forwarding::Forwarding;
use super::port::Port;
use crate::measure::drops::{DropRecord, Scene};
use crate::net::Net;
use crate::packet::Slot;
use crate::wires::{Link, Wires};
use forebay_tm::{FifoTm, Instant, Reason, Tm, View};

/// A buffer whose packets can be named.
pub(crate) trait Holder: View {
    /// Packets of a port that are on its link although they wait here.
    fn on_link(&self, local: usize) -> u64;

    /// The packets that wait here, with their lengths.
    fn waiting<'p>(&self, at: Instant, ports: impl Iterator<Item = &'p Port>, wires: &Wires) -> Vec<(Slot, u32)>;
}

impl Holder for Tm {
    fn on_link(&self, _: usize) -> u64 {
        0
    }

    fn waiting<'p>(&self, _: Instant, _: impl Iterator<Item = &'p Port>, _: &Wires) -> Vec<(Slot, u32)> {
        self.waiting_packets().map(|(id, bytes)| (id.0 as Slot, bytes)).collect()
    }
}

impl Holder for FifoTm {
    fn on_link(&self, local: usize) -> u64 {
        self.queue_packets(local) as u64
    }

    fn waiting<'p>(&self, at: Instant, ports: impl Iterator<Item = &'p Port>, wires: &Wires) -> Vec<(Slot, u32)> {
        let link = |port: &Port| -> &Link { &wires.links[port.out as usize] };
        ports.flat_map(|port| link(port).not_started(at)).collect()
    }
}

impl Forwarding {
    /// Keeps a drop, if that is asked for. The packet is still in its slot.
    #[inline(always)]
    pub(crate) fn keep_drop(
        &self,
        at: Instant,
        number: usize,
        (slot, reason): (Slot, Reason),
        tm: &impl Holder,
        net: &mut Net,
    ) {
        if net.drops.on && net.drops.wants(self.number) {
            self.keep_chosen_drop(at, number, (slot, reason), tm, net);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_chosen_drop(
        &self,
        at: Instant,
        number: usize,
        (slot, reason): (Slot, Reason),
        tm: &impl Holder,
        net: &mut Net,
    ) {
        let port = &self.ports[number];
        let (buffer, local) = (port.buffer, port.local as usize);
        let packet = *net.wires.arena.get(slot);
        let queue = usize::from(packet.class).min(tm.config().queues - 1);
        let index = tm.queue_index(local, queue);
        let record = DropRecord {
            at,
            switch: self.number,
            buffer,
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
        let ports = || self.ports.iter().filter(|port| port.buffer == buffer);
        let scene = scene(ports(), tm, &net.wires);
        if net.drops.needs_walk(&record, &scene) {
            let waiting = tm.waiting(at, ports(), &net.wires);
            net.drops.walk(&record, &scene, waiting.into_iter(), &net.wires.arena);
        }
        net.drops.keep(record);
    }
}

fn scene<'p>(ports: impl Iterator<Item = &'p Port>, tm: &impl Holder, wires: &Wires) -> Scene {
    let mut scene = Scene { sent: 0, packets: 0 };
    for port in ports {
        let local = port.local as usize;
        let queues = (0..tm.config().queues).map(|queue| tm.queue_packets(tm.queue_index(local, queue)));
        scene.packets += queues.sum::<usize>() as u64;
        scene.sent += wires.links[port.out as usize].given() - tm.on_link(local);
    }
    scene
}
