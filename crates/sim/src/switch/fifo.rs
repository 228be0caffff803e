//! Switches in which it is known on arrival when a packet leaves ([`FifoTm`]): it is put on the wire at once, and the
//! end of its transmission is no event.

use super::forwarding::Forwarding;
use super::{Rejected, SwitchKind, runs_for_slots};
use crate::net::{Context, Net};
use crate::packet::{Metadata, Slot, flag};
use crate::scenario::SwitchSetup;
use core::hint::black_box;
use forebay_tm::{FifoTm, Instant, Verdict, View};

/// A switch of FIFO queues, one for each port.
pub(crate) struct FifoSwitch {
    forwarding: Forwarding,
    buffers: Vec<FifoTm>,
    /// Packets that it has marked in this window. They are far away in memory, and nobody looks at them before its end.
    marked: Vec<Slot>,
}

impl FifoSwitch {
    /// All buffers have to be such that it is known when packets leave: [`FifoTm::suits`].
    pub(super) fn new(forwarding: Forwarding, setup: &SwitchSetup) -> Self {
        let buffers = setup.buffers.iter().filter_map(|config| FifoTm::new(config.clone())).collect();
        Self { forwarding, buffers, marked: Vec::new() }
    }

    fn advance(&mut self, until: Instant) {
        let Some(last) = until.ps().checked_sub(1).map(Instant::from_ps) else { return };
        self.buffers.iter_mut().for_each(|tm| tm.advance(last));
    }

    /// It has handled its events up to the horizon: sets the marks of packets that were marked.
    #[inline(always)]
    pub(super) fn window_over(&mut self, net: &mut Net) {
        for slot in &self.marked {
            net.flows.ask_for_record(net.wires.arena.get(*slot).flow);
        }
        self.marked.drain(..).for_each(|slot| mark(slot, net));
    }

    /// Sees to a packet that was marked or dropped.
    #[cold]
    #[inline(never)]
    fn mark_or_drop(
        &mut self,
        now: Instant,
        (buffer, local): (u32, u32),
        metadata: Metadata,
        verdict: Verdict,
        net: &mut Net,
    ) {
        // The number of the port is not kept for this on the way of the others.
        let buffer = buffer as usize;
        let number = self.forwarding.port_number(buffer, local as usize);
        if verdict == (Verdict::Queued { marked: true }) {
            if net.is_large {
                self.marked.push(metadata.packet);
                net.wires.arena.ask(metadata.packet);
            } else {
                mark(metadata.packet, net);
            }
            let port = &mut self.forwarding.ports[number];
            port.free_at = net.wires.send(port.out, metadata, now.max(port.free_at));
            return;
        }
        net.flows.dropped(net.wires.arena.get(metadata.packet).flow);
        self.forwarding.note_drop(now, buffer, &self.buffers[buffer]);
        if let Verdict::Dropped { reason } = verdict {
            self.forwarding.keep_drop(now, number, (metadata.packet, reason), &self.buffers[buffer], net);
        }
        net.wires.arena.remove(metadata.packet);
    }
}

impl SwitchKind for FifoSwitch {
    runs_for_slots!(2 4 8 16 32 64 128 256 512);

    /// Arrivals are all there is.
    fn first_arrival<const NODES: usize>() -> usize {
        0
    }

    fn forwarding(&self) -> &Forwarding {
        &self.forwarding
    }

    fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    fn view(&self, buffer: usize) -> &dyn View {
        &self.buffers[buffer]
    }

    fn look_ahead(&self) {
        for tm in &self.buffers {
            // Loads that do not depend on each other wait together.
            black_box((0..tm.ports()).fold(Instant::ZERO, |last, port| last.max(tm.first_departure(port))));
        }
    }

    fn settle_before(&mut self, until: Instant, _: &mut Net) {
        self.advance(until);
    }

    fn end(&mut self, at: Instant) {
        self.advance(at);
    }

    #[inline(always)]
    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        _: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        let Some(number) = self.forwarding.next_hop(&metadata, cx.net) else {
            cx.net.wires.lose_unrouted(metadata.packet, now);
            return None;
        };
        let port = &mut self.forwarding.ports[number];
        let tm = &mut self.buffers[port.buffer as usize];
        let verdict = tm.offer(now, port.local, metadata.bytes(), metadata.ect(), port.free_at);
        if verdict == (Verdict::Queued { marked: false }) {
            port.free_at = cx.net.wires.send(port.out, metadata, now.max(port.free_at));
        } else {
            let of_port = (port.buffer, port.local);
            self.mark_or_drop(now, of_port, metadata, verdict, cx.net);
        }
        None
    }
}

/// Marks a packet.
fn mark(slot: Slot, net: &mut Net) {
    let packet = net.wires.arena.get_mut(slot);
    packet.flags |= flag::CE;
    net.flows.marked(packet.flow);
}
