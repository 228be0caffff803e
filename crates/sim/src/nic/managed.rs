//! A traffic manager of one port in front of a host's link.

use crate::host::{HostContext, slot};
use crate::net::Net;
use crate::packet::{Metadata, Slot, flag};
use crate::switch::Port;
use forebay_tm::View as _;
use forebay_tm::{Instant, Outcome, Tm, ValidConfig, Verdict, Wire};

pub(super) struct Managed {
    port: Port,
    tm: Tm,
    queue_mask: u8,
}

impl Managed {
    pub(super) fn new(out: u32, config: &ValidConfig) -> Self {
        let queue_mask = if config.queues == 1 { 0 } else { u8::MAX };
        Self { port: Port::new(out, 0, 0), tm: Tm::new(config.clone()), queue_mask }
    }

    /// Packets dropped here.
    pub(super) fn drops(&self) -> u64 {
        self.tm.dropped_packets()
    }

    #[inline(never)]
    pub(super) fn send(&mut self, now: Instant, packet: Slot, cx: HostContext<'_>) {
        let sent = cx.net.wires.arena.get_mut(packet);
        let metadata = Metadata::of(sent, packet, sent.bytes);
        let wire = self.port.wire(now);
        let verdict = match self.tm.offer(now, &metadata.to_core(0, self.queue_mask, sent.rank), wire) {
            Outcome::Sent => return self.port.send(now, slot::NIC, metadata, false, cx),
            Outcome::Verdict(verdict) => verdict,
        };
        match verdict {
            Verdict::Queued { marked } => {
                if marked {
                    sent.flags |= flag::CE;
                    cx.net.flows.marked(sent.flow);
                }
            }
            // Trimming at a host is refused when the scenario is read.
            Verdict::Dropped { .. } | Verdict::Trimmed { .. } | Verdict::Returned { .. } => {
                cx.net.flows.dropped(sent.flow);
                cx.net.wires.arena.remove(packet);
            }
        }
        self.settle_losses(cx.net);
        match wire {
            Wire::Idle => self.transmit(now, cx),
            Wire::Busy => self.port.wake_when_free(slot::NIC, cx),
        }
    }

    /// The link is free: the traffic manager picks the next packet.
    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Instant, cx: HostContext<'_>) {
        let departure = self.tm.dequeue(now, 0);
        self.settle_losses(cx.net);
        if let Some(departure) = departure {
            let metadata = cx.net.wires.arena.metadata(departure.id.0 as Slot, departure.bytes());
            self.port.send(now, slot::NIC, metadata, self.tm.has_packets(0), cx);
        } else {
            self.port.wake_at(now, slot::NIC, self.tm.next_eligible(0), cx);
        }
    }

    #[inline(always)]
    fn settle_losses(&mut self, net: &mut Net) {
        if self.tm.has_evictions() {
            self.tell_losses(net);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_losses(&mut self, net: &mut Net) {
        for lost in self.tm.drain_evictions() {
            let packet = lost.id.0 as Slot;
            net.flows.dropped(net.wires.arena.get(packet).flow);
            net.wires.arena.remove(packet);
        }
    }
}
