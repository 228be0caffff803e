//! What a chip does with packets that come in: the ingress program, and what it decides.

use super::{Chip, ChipSwitch, Control, DEFLECTION, RECIRCULATION, kind_of, mark};
use crate::net::{Context, Net};
use crate::packet::{Metadata, Slot, flag};
use crate::switch::Mirror;
use forebay_pisa::{DATA, DEFLECTED, Outcome, Pass};
use forebay_tm::View as _;
use forebay_tm::{Instant, Packet as CorePacket, PacketId, Reason, Refusal, Verdict, Wire};

impl ChipSwitch {
    /// A packet has come in by a port of the switch.
    #[inline(never)]
    pub(super) fn ingress<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) {
        let slot = metadata.packet;
        let Some(number) = self.switch.forwarding.next_hop(&metadata, cx.net) else {
            return cx.net.wires.lose_unrouted(slot, now);
        };
        let packet = cx.net.wires.arena.get(slot);
        let queue = u32::from(packet.class & self.switch.queue_mask);
        let index = self.switch.buffers[0].queue_index(number, queue as usize);
        let chip = &mut self.chip;
        let pass = Pass {
            now: now.ps(),
            kind: kind_of(packet),
            in_port: from as u32,
            out_port: number as u32,
            out_queue: queue,
            class: u32::from(packet.class),
            bytes: packet.bytes,
            rank: u64::from(packet.rank),
            flow: u64::from(packet.hash),
            random: chip.draw(),
            depth: chip.depths.as_mut().map_or(0, |depths| depths.read(now, index)),
            ..Pass::default()
        };
        let pipeline = chip.pipeline_of(from);
        let outcome = chip.pipelines[pipeline].ingress(&pass);
        if chip.witness.is_some() && pass.kind == DATA {
            self.witness(now, pipeline, slot, &outcome, cx.net);
        }
        self.after_ingress(now, pipeline, (from as u32, Some(slot)), outcome, cx);
    }

    /// Tells the ideal switch beside the chip of an arrival.
    #[cold]
    pub(super) fn witness(&mut self, now: Instant, pipeline: usize, slot: Slot, outcome: &Outcome, net: &Net) {
        let core = self.switch.core_packet(outcome.out_port as usize, slot, net);
        if let Some(witness) = &mut self.chip.witness {
            witness.arrival(now, &core, !outcome.drop, &self.chip.pipelines[pipeline], &self.switch.buffers[0]);
        }
    }

    /// Does what an ingress program has decided about a packet: copies first, then the packet itself.
    #[inline(always)]
    pub(super) fn after_ingress<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        (from, slot): (u32, Option<Slot>),
        outcome: Outcome,
        mut cx: Context<'_, NODES>,
    ) {
        if outcome.multicast != 0 || outcome.mirror != 0 {
            self.copies(now, pipeline, from, &outcome, cx.reborrow());
        }
        let Some(slot) = slot else { return };
        let (number, queue) = (outcome.out_port as usize, outcome.out_queue);
        if number >= self.switch.forwarding.ports.len() {
            return cx.net.wires.lose(slot);
        }
        if outcome.drop {
            return self.dropped_at_ingress(now, pipeline, (number, queue), slot, cx.net);
        }
        if outcome.trim {
            self.trimmed_at_ingress(pipeline, number, slot, cx.net);
        }
        if outcome.mark {
            mark(slot, cx.net);
        }
        self.deliver(now, (number, queue), (from, slot), cx);
    }

    /// Sends the control packets that a program wants beside the packet itself.
    #[cold]
    #[inline(never)]
    pub(super) fn copies<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        from: u32,
        outcome: &Outcome,
        mut cx: Context<'_, NODES>,
    ) {
        let chip = &mut self.chip;
        let bytes = chip.setup.header.get() as u32;
        let copy = |kind| Control {
            kind,
            in_port: from,
            out_port: outcome.out_port,
            out_queue: outcome.out_queue,
            bytes,
            headers: outcome.headers,
            carried: None,
        };
        let pipelines = chip.pipelines.len();
        if outcome.mirror != 0 {
            self.offer_side(now, (pipeline, RECIRCULATION), copy(outcome.mirror), cx.reborrow());
        }
        if outcome.multicast != 0 {
            for pipeline in 0..pipelines {
                self.offer_side(now, (pipeline, RECIRCULATION), copy(outcome.multicast), cx.reborrow());
            }
        }
    }

    /// The program has dropped a packet before it got to the traffic manager.
    #[cold]
    #[inline(never)]
    pub(super) fn dropped_at_ingress(
        &mut self,
        now: Instant,
        pipeline: usize,
        (number, queue): (usize, u32),
        slot: Slot,
        net: &mut Net,
    ) {
        let chip = &mut self.chip;
        chip.record.pipelines[pipeline].dropped_at_ingress += 1;
        let reason = chip.setup.reason();
        let core = CorePacket { queue, ..self.switch.core_packet(number, slot, net) };
        self.switch.buffers[0].refuse(&core, Refusal::Dropped(reason));
        self.gone(now, number, slot, reason, net);
    }

    /// A packet is gone: its flow has lost it.
    pub(super) fn gone(&mut self, now: Instant, number: usize, slot: Slot, reason: Reason, net: &mut Net) {
        if net.tracer.is_active() {
            let verdict = Verdict::Dropped { reason };
            net.tracer.verdict(now, self.switch.forwarding.number, number, slot, verdict, &net.wires);
        }
        net.flows.dropped(net.wires.arena.get(slot).flow);
        self.switch.note_drop(now, 0);
        self.switch.keep_drop(now, number, slot, reason, net);
        net.wires.arena.remove(slot);
    }

    /// The program has cut a packet before it got to the traffic manager.
    pub(super) fn trimmed_at_ingress(&mut self, pipeline: usize, number: usize, slot: Slot, net: &mut Net) {
        let whole = self.switch.core_packet(number, slot, net);
        self.switch.buffers[0].refuse(&whole, Refusal::Trimmed);
        let chip = &mut self.chip;
        chip.record.pipelines[pipeline].trimmed_at_ingress += 1;
        chip.cut(slot, net);
    }

    /// A packet, or the header of one, gets to the traffic manager.
    #[inline(always)]
    pub(super) fn deliver<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        cx: Context<'_, NODES>,
    ) {
        let watched = cx.net.watched || self.chip.looks_at_queues();
        let core = CorePacket { queue, ..self.switch.core_packet(number, slot, cx.net) };
        let port = &mut self.switch.forwarding.ports[number];
        // Where somebody looks at queues, a packet is queued before it leaves.
        let wire = if watched { Wire::Busy } else { port.wire(now) };
        let tm = &mut self.switch.buffers[0];
        let outcome = tm.offer(now, &core, wire);
        if let Some(departure) = outcome.departure(&core) {
            return self.leave(now, number, departure, cx);
        }
        match outcome.verdict() {
            Verdict::Queued { marked: false } if !watched && wire == Wire::Busy && !tm.has_evictions() => {
                port.wake_when_free(number, cx);
            }
            verdict => self.delivered(now, (number, queue), (from, slot), verdict, cx),
        }
    }

    /// Sees to a packet that does not simply wait for its port.
    #[inline(always)]
    pub(super) fn delivered<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        verdict: Verdict,
        cx: Context<'_, NODES>,
    ) {
        if let Verdict::Dropped { reason } = verdict {
            return self.rejected_by_manager(now, (number, queue), (from, slot), reason, cx);
        }
        let is_simple = verdict == (Verdict::Queued { marked: false });
        if !is_simple || cx.net.watched || self.switch.buffers[0].has_evictions() {
            self.switch.settle_arrival(now, number, slot, verdict, cx.net);
        }
        self.joined(now, number, queue, slot);
        let port = &mut self.switch.forwarding.ports[number];
        match port.wire(now) {
            Wire::Idle => self.transmit(now, number, cx),
            Wire::Busy => port.wake_when_free(number, cx),
        }
    }

    /// Notes what egress and, on some chips, ingress can see of a packet that has joined a queue.
    #[inline(always)]
    pub(super) fn joined(&mut self, now: Instant, number: usize, queue: u32, slot: Slot) {
        let chip = &mut self.chip;
        if chip.enqueued.is_none() && chip.depths.is_none() {
            return;
        }
        let index = self.switch.buffers[0].queue_index(number, queue as usize);
        let depth = self.depth(index);
        let chip = &mut self.chip;
        if let Some(enqueued) = &mut chip.enqueued {
            if enqueued.len() <= slot as usize {
                enqueued.resize(slot as usize + 1, Default::default());
            }
            enqueued[slot as usize] = (now, depth as u32);
        }
        if let Some(depths) = &mut chip.depths {
            depths.changed(now, index, depth);
        }
    }

    /// The traffic manager has no room for a packet: it is deflected, if the chip does that and there is room, or it is
    /// gone.
    #[cold]
    #[inline(never)]
    pub(super) fn rejected_by_manager<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        reason: Reason,
        cx: Context<'_, NODES>,
    ) {
        self.switch.settle_losses(0, cx.net);
        let packet = *cx.net.wires.arena.get(slot);
        let chip = &mut self.chip;
        let pipeline = chip.pipeline_of(from as usize);
        let side = &mut chip.sides[2 * pipeline + DEFLECTION];
        let room = side.has_room(now);
        if !chip.setup.deflect || !Mirror::wants(&packet, reason) || !room {
            side.record.full += u64::from(!room);
            return self.gone(now, number, slot, reason, cx.net);
        }
        let is_last = self.switch.buffers[0].keep_header(PacketId(u64::from(slot)));
        debug_assert!(is_last, "it was dropped just now");
        cx.net.flows.trimmed(packet.flow);
        let deflected = Control {
            kind: DEFLECTED,
            in_port: from,
            out_port: number as u32,
            out_queue: queue,
            bytes: packet.bytes,
            carried: Some(slot),
            ..Control::default()
        };
        self.offer_side(now, (pipeline, DEFLECTION), deflected, cx);
    }
}

impl Chip {
    /// Whether somebody has to hear of every packet that joins or leaves a queue.
    #[inline(always)]
    pub(super) fn looks_at_queues(&self) -> bool {
        self.depths.is_some() || self.enqueued.is_some()
    }

    /// Cuts a packet to its header.
    pub(super) fn cut(&mut self, slot: Slot, net: &mut Net) {
        net.flows.trimmed(net.wires.arena.get(slot).flow);
        self.cut_quietly(slot, net);
    }

    /// Cuts a packet that counts as trimmed already.
    pub(super) fn cut_quietly(&mut self, slot: Slot, net: &mut Net) {
        let packet = net.wires.arena.get_mut(slot);
        packet.flags |= flag::TRIMMED;
        packet.class = self.setup.header_class;
        packet.bytes = packet.bytes.min(self.setup.header.get() as u32);
    }
}
