//! Keeps the packets that a switch drops, and who held its buffer.

use super::forwarding::Forwarding;
use super::port::Port;
use crate::measure::drops::DropRecord;
use crate::net::Net;
use crate::packet::Slot;
use crate::wires::{Link, Wires};
use forebay_tm::admit::Dispatch;
use forebay_tm::{FifoTm, Instant, Reason, Tm, View};

/// A buffer whose packets can be named.
pub(crate) trait Holder: View {
    /// Packets of a port that are on its link although they wait here.
    fn on_link(&self, local: usize) -> u64;

    /// Shows the packets that wait here, with their lengths.
    fn visit<'p>(
        &self,
        at: Instant,
        ports: impl Iterator<Item = &'p Port>,
        wires: &Wires,
        visit: impl FnMut(Slot, u32),
    );
}

impl<P: Dispatch> Holder for Tm<P> {
    fn on_link(&self, _: usize) -> u64 {
        0
    }

    fn visit<'p>(&self, _: Instant, _: impl Iterator<Item = &'p Port>, _: &Wires, mut visit: impl FnMut(Slot, u32)) {
        self.visit_waiting(|id, bytes| visit(id.0 as Slot, bytes));
    }
}

impl Holder for FifoTm {
    fn on_link(&self, local: usize) -> u64 {
        self.queue_packets(local) as u64
    }

    fn visit<'p>(
        &self,
        at: Instant,
        ports: impl Iterator<Item = &'p Port>,
        wires: &Wires,
        mut visit: impl FnMut(Slot, u32),
    ) {
        let link = |port: &Port| -> &Link { &wires.links[port.out as usize] };
        ports.flat_map(|port| link(port).not_started(at)).for_each(|(slot, bytes)| visit(slot, bytes));
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
        let ports = || self.ports_of(buffer as usize).iter();
        let Net { drops, wires, .. } = net;
        let gone = |port: &Port| wires.links[port.out as usize].given() - tm.on_link(port.local as usize);
        let sent = ports().map(gone).sum();
        if drops.needs_walk(&record, sent) {
            tm.visit(at, ports(), wires, |slot, bytes| {
                let packet = wires.arena.get(slot);
                drops.meet(packet.flow, packet.class, bytes);
            });
            drops.end_walk(&record, sent);
        }
        drops.keep(record);
    }
}
