//! A switch of traffic managers and nothing else. Other kinds decorate it.

use super::forwarding::Forwarding;
use super::port::Port;
use super::{SwitchKind, runs_for_slots};
use crate::event_queue::NEVER;
use crate::measure::trace::What;
use crate::net::{Context, Net};
use crate::packet::{HopStamp, Kind, Metadata, Packet, Slot, flag};
use crate::scenario::SwitchSetup;
use crate::wires::Wires;
use forebay_tm::admit::{ActivePolicy, Dispatch, ForPolicy};
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Departure, Eviction, Instant, Outcome, Packet as CorePacket, Reason, Tm, Verdict, View, Wire};

/// A switch of traffic managers. Alone it is made for the type of its policy ([`Specialize`]); kinds that decorate one
/// have it with any policy.
pub(crate) struct PlainSwitch<P = ActivePolicy> {
    pub(crate) forwarding: Forwarding,
    pub(crate) buffers: Vec<Tm<P>>,
    /// 0 if ports have one queue, which all classes share.
    pub(crate) queue_mask: u8,
    /// Headers of cut packets have a queue of their own (NDP).
    headers_apart: bool,
    /// The class of packets in the trim queue, and what they are cut to, with trimming to a queue.
    trim_queue: Option<(u8, u32)>,
    /// The ranks of packets count.
    ranked: bool,
    /// For the packets that a buffer has lost, so that the list is made once.
    lost: Vec<Eviction>,
}

/// The class of what trimming has cut to a size, if it goes to a queue of its own.
pub(super) fn trim_queue(trim: Option<&TrimConfig>) -> Option<(u8, u32)> {
    let Some(TrimConfig::ToQueue(config)) = trim else { return None };
    Some((config.queue as u8, config.size.get() as u32))
}

/// A packet was trimmed. Its new code point is that of the trim queue, here and at the switches behind. Whether its
/// payload is gone: short packets are whole.
pub(super) fn cut(packet: &mut Packet, trim_queue: Option<(u8, u32)>) -> bool {
    packet.class = trim_queue.map_or(packet.class, |(class, _)| class);
    let is_cut = trim_queue.is_none_or(|(_, size)| packet.bytes > size);
    packet.flags |= if is_cut { flag::TRIMMED } else { 0 };
    is_cut
}

/// A packet that no queue has taken.
pub(crate) struct Rejected {
    pub(crate) port: usize,
    pub(crate) slot: Slot,
    pub(crate) verdict: Verdict,
}

/// The traffic managers of a switch.
pub(super) fn traffic_managers(setup: &SwitchSetup) -> Vec<Tm> {
    setup.buffers.iter().map(|config| Tm::new(config.clone())).collect()
}

impl<P: Dispatch> PlainSwitch<P> {
    pub(super) fn new(forwarding: Forwarding, setup: &SwitchSetup, tms: Vec<Tm<P>>) -> Self {
        let buffers = &setup.buffers;
        Self {
            forwarding,
            buffers: tms,
            queue_mask: if buffers.iter().all(|config| config.queues == 1) { 0 } else { u8::MAX },
            headers_apart: buffers.iter().any(|config| matches!(config.trim, Some(TrimConfig::Ndp(_)))),
            trim_queue: buffers.iter().find_map(|config| trim_queue(config.trim.as_ref())),
            ranked: buffers.iter().any(|config| config.scheduler.uses_ranks()),
            lost: Vec::new(),
        }
    }

    /// A packet is to leave by a port. Returns it if no queue has taken it.
    #[inline(always)]
    pub(crate) fn offer<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        metadata: Metadata,
        mut cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        let slot = metadata.packet;
        let port = &mut self.forwarding.ports[number];
        let rank = if self.ranked { cx.net.wires.arena.get(slot).rank } else { 0 };
        let packet = metadata.to_core(port.local, self.queue_mask, rank);
        let tm = &mut self.buffers[port.buffer as usize];
        let wire = port.wire(now);
        let outcome = tm.offer(now, &packet, wire);
        match outcome {
            Outcome::Sent if !cx.net.watched => {
                port.free_at = cx.net.wires.send(port.out, metadata, now);
                if port.armed {
                    port.armed = false;
                    cx.events.set(number, NEVER);
                }
            }
            Outcome::Verdict(Verdict::Queued { marked: false })
                if wire == Wire::Busy && !cx.net.watched && !tm.has_evictions() =>
            {
                port.wake_when_free(number, cx);
            }
            _ => {
                let verdict = self.after_offer(now, number, slot, wire, outcome, cx)?;
                return Some(Rejected { port: number, slot, verdict });
            }
        }
        None
    }

    /// A packet arrives where few do: see [`PlainSwitch::offer_rare`].
    pub(super) fn arrive_rare<const NODES: usize>(
        &mut self,
        now: Instant,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        let Some(port) = self.forwarding.next_hop(&metadata, cx.net) else {
            cx.net.wires.lose_unrouted(metadata.packet, now);
            return None;
        };
        self.offer_rare(now, port, metadata.packet, cx)
    }

    /// [`PlainSwitch::offer`] where few packets come: the traffic manager is called, so that its code does not stand
    /// here once more.
    #[inline(never)]
    pub(crate) fn offer_rare<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        let packet = self.core_packet(number, slot, cx.net);
        let port = &self.forwarding.ports[number];
        let wire = port.wire(now);
        let outcome = call(&mut self.buffers[port.buffer as usize], now, &packet, wire);
        let verdict = self.after_offer(now, number, slot, wire, outcome, cx)?;
        Some(Rejected { port: number, slot, verdict })
    }

    /// Sees to everything about an arrival that is not simply a packet that passes or waits. Returns the verdict if no
    /// queue has taken it.
    #[inline(never)]
    fn after_offer<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        wire: Wire,
        outcome: Outcome,
        mut cx: Context<'_, NODES>,
    ) -> Option<Verdict> {
        let verdict = outcome.verdict();
        if !self.settle_arrival(now, number, slot, verdict, cx.net) {
            return Some(verdict);
        }
        if let Some(departure) = outcome.departure(&self.core_packet(number, slot, cx.net)) {
            self.depart(now, number, &departure, cx);
        } else if wire == Wire::Idle {
            // An idle port that is armed waits for a packet that may leave; this may be one.
            self.transmit(now, number, cx);
        } else {
            self.forwarding.ports[number].wake_when_free(number, cx.reborrow());
        }
        None
    }

    /// A packet as the core sees it.
    #[inline(always)]
    pub(crate) fn core_packet(&self, number: usize, slot: Slot, net: &Net) -> CorePacket {
        let packet = net.wires.arena.get(slot);
        let metadata = Metadata::of(packet, slot, packet.bytes);
        metadata.to_core(self.forwarding.ports[number].local, self.queue_mask, packet.rank)
    }

    /// A packet goes on by the forwarding table; what no queue takes is gone, or goes back.
    #[inline(never)]
    pub(super) fn forward<const NODES: usize>(&mut self, now: Instant, metadata: Metadata, mut cx: Context<'_, NODES>) {
        if let Some(rejected) = self.arrive_rare(now, metadata, cx.reborrow()) {
            self.drop_or_return(now, &rejected, cx);
        }
    }

    /// A packet that was dropped is gone; one that was turned around goes back to where it came from.
    #[cold]
    #[inline(never)]
    pub(crate) fn drop_or_return<const NODES: usize>(
        &mut self,
        now: Instant,
        rejected: &Rejected,
        cx: Context<'_, NODES>,
    ) {
        let Rejected { port, slot, verdict } = *rejected;
        let dropped = if let Verdict::Dropped { reason } = verdict { Some(reason) } else { None };
        let packet = cx.net.wires.arena.get_mut(slot);
        let flow = packet.flow;
        let source = cx.net.flows.source(flow);
        // A header that finds no room on its way back either, and an ACK, which goes there anyway, cannot be turned
        // around.
        if dropped.is_some() || packet.to == source {
            cx.net.flows.dropped(flow);
            self.note_drop(now, self.forwarding.ports[port].buffer as usize);
            if let Some(reason) = dropped {
                self.keep_drop(now, port, slot, reason, cx.net);
                cx.net.wires.arena.remove(slot);
            } else {
                // The buffer's counters say that it was turned around.
                cx.net.wires.lose(slot);
            }
            return;
        }
        packet.to = source;
        packet.bytes = cx.net.flows.ack_bytes(flow);
        packet.class = cx.net.flows.ack_class(flow);
        let metadata = cx.net.wires.arena.metadata(slot, cx.net.flows.ack_bytes(flow));
        self.forward(now, metadata, cx);
    }

    /// Counts and traces what became of a packet that was not simply queued. Returns whether it waits here, whole or in
    /// part.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle_arrival(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        verdict: Verdict,
        net: &mut Net,
    ) -> bool {
        let waits = self.note_verdict(slot, verdict, net);
        if net.tracer.is_active() {
            net.tracer.verdict(now, self.forwarding.number, number, slot, verdict, &net.wires);
        }
        self.settle_losses(self.forwarding.ports[number].buffer as usize, net);
        waits
    }

    fn note_verdict(&mut self, slot: Slot, verdict: Verdict, net: &mut Net) -> bool {
        let packet = net.wires.arena.get_mut(slot);
        let flow = packet.flow;
        match verdict {
            Verdict::Queued { marked } => {
                if marked {
                    packet.flags |= flag::CE;
                    net.flows.marked(flow);
                }
                true
            }
            Verdict::Trimmed { .. } => {
                if !cut(packet, self.trim_queue) {
                    return true;
                }
                if self.headers_apart {
                    // From here on it goes with the ACKs; in a queue of data it could be cut again.
                    packet.class = net.flows.ack_class(flow);
                }
                net.flows.trimmed(flow);
                true
            }
            Verdict::Returned { .. } => {
                packet.flags |= flag::TRIMMED | flag::RETURNED;
                net.flows.trimmed(flow);
                false
            }
            Verdict::Dropped { .. } => false,
        }
    }

    /// A port is free: the traffic manager picks the next packet.
    #[inline(always)]
    pub(crate) fn transmit<const NODES: usize>(&mut self, now: Instant, number: usize, cx: Context<'_, NODES>) {
        let port = &mut self.forwarding.ports[number];
        let tm = &mut self.buffers[port.buffer as usize];
        let Some(departure) = tm.dequeue(now, port.local as usize) else {
            return self.wait_for_eligible(now, number, cx);
        };
        if !is_plain(&departure, tm, cx.net) {
            return self.depart(now, number, &departure, cx);
        }
        send(port, now, number, &departure, tm, cx);
    }

    /// Puts a packet that has left its queue on the wire.
    #[inline(always)]
    pub(crate) fn send<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: &Departure,
        cx: Context<'_, NODES>,
    ) {
        let port = &mut self.forwarding.ports[number];
        let tm = &self.buffers[port.buffer as usize];
        if !is_plain(departure, tm, cx.net) {
            return self.depart(now, number, departure, cx);
        }
        send(port, now, number, departure, tm, cx);
    }

    /// [`PlainSwitch::send`] where somebody watches, or more than the packet leaves.
    #[inline(never)]
    fn depart<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: &Departure,
        cx: Context<'_, NODES>,
    ) {
        let Context { events, net } = cx;
        let port = &mut self.forwarding.ports[number];
        let (local, buffer) = (port.local as usize, port.buffer as usize);
        let slot = departure.id.0 as Slot;
        if departure.is_header() {
            net.wires.arena.get_mut(slot).bytes = departure.bytes();
        }
        let tm = &self.buffers[buffer];
        if net.watched && net.telemetry {
            stamp(&mut net.wires, port.out, slot, now, tm.port_bytes(local).get());
        }
        if net.watched && net.tracer.is_active() {
            net.tracer.at_switch(now, self.forwarding.number, number, slot, What::Sent, &net.wires);
        }
        let metadata = net.wires.arena.metadata(slot, departure.bytes());
        port.send(now, number, metadata, tm.has_packets(local), Context { events, net: &mut *net });
        self.settle_losses(buffer, net);
    }

    /// A port that sends nothing although it is idle: if it has packets, none of which may leave yet, it is woken when
    /// one may.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_eligible<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        mut cx: Context<'_, NODES>,
    ) {
        let port = &mut self.forwarding.ports[number];
        let buffer = port.buffer as usize;
        let eligible = self.buffers[buffer].next_eligible(port.local as usize);
        port.wake_at(now, number, eligible, cx.reborrow());
        self.settle_losses(buffer, cx.net);
    }

    /// Notes what the switch was like when a packet was dropped.
    pub(crate) fn note_drop(&mut self, now: Instant, buffer: usize) {
        self.forwarding.note_drop(now, buffer, &self.buffers[buffer]);
    }

    /// Keeps a packet that was dropped, if that is asked for.
    #[inline(always)]
    pub(crate) fn keep_drop(&self, at: Instant, port: usize, slot: Slot, reason: Reason, net: &mut Net) {
        let buffer = self.forwarding.ports[port].buffer as usize;
        self.forwarding.keep_drop(at, port, (slot, reason), &self.buffers[buffer], net);
    }

    /// Packets that were pushed out, expelled or displaced are gone.
    #[inline(always)]
    pub(crate) fn settle_losses(&mut self, buffer: usize, net: &mut Net) {
        if self.buffers[buffer].has_evictions() {
            self.tell_losses(buffer, net);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_losses(&mut self, buffer: usize, net: &mut Net) {
        let mut all = core::mem::take(&mut self.lost);
        all.extend(self.buffers[buffer].drain_evictions());
        let queues = self.buffers[buffer].config().queues;
        for lost in all.drain(..) {
            let slot = lost.id.0 as Slot;
            net.flows.dropped(net.wires.arena.get(slot).flow);
            if lost.reason != Reason::Expelled {
                self.note_drop(lost.at, buffer);
            }
            let port = self.forwarding.port_number(buffer, lost.queue / queues);
            self.keep_drop(lost.at, port, slot, lost.reason, net);
            if net.tracer.is_active() {
                let what = What::Lost(lost.reason);
                net.tracer.at_switch(lost.at, self.forwarding.number, port, slot, what, &net.wires);
            }
            net.wires.arena.remove(slot);
        }
        // The list is used again.
        self.lost = all;
    }
}

/// Makes a switch whose loop over packets is compiled for the type of its policy.
pub(super) struct Specialize<'s> {
    pub(super) forwarding: Forwarding,
    pub(super) setup: &'s SwitchSetup,
}

impl ForPolicy for Specialize<'_> {
    type Made = Box<dyn SwitchKind>;

    fn make<P: Dispatch>(self, tms: Vec<Tm<P>>) -> Box<dyn SwitchKind> {
        Box::new(PlainSwitch::new(self.forwarding, self.setup, tms))
    }
}

impl<P: Dispatch> SwitchKind for PlainSwitch<P> {
    runs_for_slots!(16 64 256);

    fn forwarding(&self) -> &Forwarding {
        &self.forwarding
    }

    fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    fn view(&self, buffer: usize) -> &dyn View {
        &self.buffers[buffer]
    }

    fn settle_before(&mut self, until: Instant, net: &mut Net) {
        let Some(last) = until.ps().checked_sub(1).map(Instant::from_ps) else { return };
        for buffer in 0..self.buffers.len() {
            if self.buffers[buffer].due() <= last {
                self.buffers[buffer].advance(last);
                self.settle_losses(buffer, net);
            }
        }
    }

    #[inline(always)]
    fn due<const NODES: usize>(&mut self, now: Instant, slot: usize, cx: Context<'_, NODES>) {
        self.transmit(now, slot, cx);
    }

    #[inline(always)]
    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        _: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        match self.forwarding.next_hop(&metadata, cx.net) {
            Some(port) => self.offer(now, port, metadata, cx),
            None => {
                cx.net.wires.lose_unrouted(metadata.packet, now);
                None
            }
        }
    }

    fn reject<const NODES: usize>(&mut self, now: Instant, _: usize, rejected: &Rejected, cx: Context<'_, NODES>) {
        self.drop_or_return(now, rejected, cx);
    }
}

/// [`Tm::offer`], as a function of its own.
#[inline(never)]
fn call<P: Dispatch>(tm: &mut Tm<P>, now: Instant, packet: &CorePacket, wire: Wire) -> Outcome {
    tm.offer(now, packet, wire)
}

/// Whether nobody looks at a packet that leaves, which is as long as it was, and nothing leaves beside it.
#[inline(always)]
fn is_plain<P: Dispatch>(departure: &Departure, tm: &Tm<P>, net: &Net) -> bool {
    !net.watched && !departure.is_header() && !tm.has_evictions()
}

/// Puts such a packet on the wire.
#[inline(always)]
fn send<P: Dispatch, const NODES: usize>(
    port: &mut Port,
    now: Instant,
    number: usize,
    departure: &Departure,
    tm: &Tm<P>,
    cx: Context<'_, NODES>,
) {
    let metadata = cx.net.wires.arena.metadata(departure.id.0 as Slot, departure.bytes());
    port.send(now, number, metadata, tm.has_packets(port.local as usize), cx);
}

/// In-band telemetry of a packet that leaves.
#[inline(never)]
pub(super) fn stamp(wires: &mut Wires, out: u32, slot: Slot, now: Instant, queued: u64) {
    if wires.arena.get(slot).kind != Kind::Data {
        return;
    }
    let link = &wires.links[out as usize];
    let stamp = HopStamp { at: now, sent: link.sent, queued, rate: link.rate.bps() };
    if let Some(telemetry) = wires.arena.telemetry_mut(slot) {
        telemetry.push(stamp);
    }
}
