//! A traffic manager of one port in front of a host's link.

use crate::event_queue::NEVER;
use crate::flows::FlowTable;
use crate::host::{HostAgenda, slot};
use crate::packet::{Slot, flag};
use crate::wires::Wires;
use forebay_tm::View as _;
use forebay_tm::{Instant, Outcome, Packet as CorePacket, PacketId, Tm, ValidConfig, Verdict, Wire};

pub(super) struct Managed {
    out: u32,
    tm: Tm,
    queue_mask: u8,
    free_at: Instant,
    /// It will be woken when the link is free.
    armed: bool,
}

impl Managed {
    pub(super) fn new(out: u32, config: &ValidConfig) -> Self {
        Self {
            out,
            tm: Tm::new(config.clone()),
            queue_mask: if config.queues == 1 { 0 } else { u8::MAX },
            free_at: Instant::ZERO,
            armed: false,
        }
    }

    /// Packets dropped here.
    pub(super) fn drops(&self) -> u64 {
        self.tm.pool_counters().dropped.packets
    }

    /// The link is free.
    pub(super) fn free(
        &mut self,
        now: Instant,
        event_queue: &mut HostAgenda<'_>,
        wires: &mut Wires,
        flows: &mut FlowTable,
    ) {
        self.armed = false;
        event_queue.set(slot::NIC, NEVER);
        self.transmit(now, event_queue, wires, flows);
    }

    #[inline(never)]
    pub(super) fn send(
        &mut self,
        now: Instant,
        packet: Slot,
        event_queue: &mut HostAgenda<'_>,
        wires: &mut Wires,
        flows: &mut FlowTable,
    ) {
        let sent = wires.arena.get_mut(packet);
        let queue = u32::from(sent.class & self.queue_mask);
        let core = CorePacket {
            id: PacketId(u64::from(packet)),
            bytes: sent.bytes,
            port: 0,
            queue,
            class: u32::from(sent.class),
            flow: u64::from(sent.hash),
            rank: u64::from(sent.rank),
            eligible: Instant::ZERO,
            unscheduled: sent.has(flag::UNSCHEDULED),
            ect: sent.has(flag::ECT),
            ..CorePacket::default()
        };
        let wire = if self.free_at <= now { Wire::Idle } else { Wire::Busy };
        let verdict = match self.tm.offer(now, &core, wire) {
            Outcome::Sent => {
                let metadata = wires.arena.metadata(packet, core.bytes);
                self.free_at = wires.send(self.out, metadata, now);
                return;
            }
            Outcome::Verdict(verdict) => verdict,
        };
        match verdict {
            Verdict::Queued { marked } => {
                if marked {
                    sent.flags |= flag::CE;
                    flows.marked(sent.flow);
                }
            }
            // Trimming at a host is refused when the scenario is read.
            Verdict::Dropped { .. } | Verdict::Trimmed { .. } | Verdict::Returned { .. } => {
                flows.dropped(sent.flow);
                wires.arena.remove(packet);
            }
        }
        self.settle_losses(wires, flows);
        if self.free_at <= now {
            self.transmit(now, event_queue, wires, flows);
        } else if !self.armed {
            self.arm(self.free_at, event_queue, wires);
        }
    }

    fn arm(&mut self, at: Instant, event_queue: &mut HostAgenda<'_>, wires: &Wires) {
        self.armed = true;
        event_queue.set(slot::NIC, wires.clock.transmission(at, slot::NIC));
    }

    #[inline(never)]
    fn transmit(&mut self, now: Instant, event_queue: &mut HostAgenda<'_>, wires: &mut Wires, flows: &mut FlowTable) {
        let departure = self.tm.next(now, 0);
        self.settle_losses(wires, flows);
        if let Some(departure) = departure {
            let metadata = wires.arena.metadata(departure.id.0 as Slot, departure.bytes());
            self.free_at = wires.send(self.out, metadata, now);
            if self.tm.has_packets(0) {
                self.arm(self.free_at, event_queue, wires);
            }
        } else if let Some(at) = self.tm.next_eligible(0).filter(|at| *at > now && *at < Instant::NEVER) {
            self.arm(at, event_queue, wires);
        }
    }

    #[inline(always)]
    fn settle_losses(&mut self, wires: &mut Wires, flows: &mut FlowTable) {
        if self.tm.has_losses() {
            self.tell_losses(wires, flows);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_losses(&mut self, wires: &mut Wires, flows: &mut FlowTable) {
        for lost in self.tm.losses() {
            let packet = lost.id.0 as Slot;
            flows.dropped(wires.arena.get(packet).flow);
            wires.arena.remove(packet);
        }
    }
}
