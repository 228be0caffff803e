//! What a switch that is a programmable chip does with packets.

use super::{Chip, Control};
use crate::event_queue::{FixedEventQueue, NEVER};
use crate::measure::chip::ControlNote;
use crate::mirror::Mirror;
use crate::net::Net;
use crate::packet::{Kind, Metadata, Packet, Slot, flag};
use crate::switch::Switch;
use forebay_pisa::{ANSWER, DATA, DEFLECTED, HEADER, Outcome, Pass};
use forebay_tm::View as _;
use forebay_tm::{Departure, Instant, Packet as CorePacket, PacketId, Reason, Refusal, Verdict, Wire};

/// Which packets of the chip's own ports an event is about.
const DEFLECTION: usize = 0;
const RECIRCULATION: usize = 1;

/// What a packet is to a program.
fn kind_of(packet: &Packet) -> u8 {
    match packet.kind {
        Kind::Data if packet.has(flag::TRIMMED) => HEADER,
        Kind::Data => DATA,
        _ => ANSWER,
    }
}

impl Switch {
    /// The chip; only called where there is one.
    #[inline(always)]
    fn chip(&mut self) -> &mut Chip {
        self.chip.as_mut().expect("a switch without a chip handles no events of one")
    }

    /// A packet has come in by a port of the switch.
    #[inline(never)]
    pub(crate) fn chip_arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        metadata: Metadata,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let slot = metadata.packet;
        let Some(number) = self.next_hop(metadata, around) else { return around.wires.lose(slot) };
        let packet = around.wires.arena.get(slot);
        let queue = u32::from(packet.class & self.queue_mask);
        let index = self.buffers[0].queue_index(number, queue as usize);
        let chip = self.chip.as_mut().expect("a switch without a chip handles no events of one");
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
            self.witness(now, pipeline, slot, &outcome, around);
        }
        self.after_ingress(now, pipeline, (from as u32, Some(slot)), outcome, event_queue, around);
    }

    /// Tells the ideal switch beside the chip of an arrival.
    #[cold]
    fn witness(&mut self, now: Instant, pipeline: usize, slot: Slot, outcome: &Outcome, around: &Net) {
        let core = self.core_packet(outcome.out_port as usize, slot, around);
        let Some(chip) = &mut self.chip else { return };
        if let Some(witness) = &mut chip.witness {
            witness.arrival(now, &core, !outcome.drop, &chip.pipelines[pipeline], &self.buffers[0]);
        }
    }

    /// Does what an ingress program has decided about a packet: copies first, then the packet itself.
    #[inline(always)]
    fn after_ingress<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        (from, slot): (u32, Option<Slot>),
        outcome: Outcome,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        if outcome.multicast != 0 || outcome.mirror != 0 {
            self.copies(now, pipeline, from, &outcome, event_queue, around);
        }
        let Some(slot) = slot else { return };
        let (number, queue) = (outcome.out_port as usize, outcome.out_queue);
        if number >= self.ports.len() {
            return around.wires.lose(slot);
        }
        if outcome.drop {
            return self.dropped_at_ingress(now, pipeline, (number, queue), slot, around);
        }
        if outcome.trim {
            self.trimmed_at_ingress(pipeline, number, slot, around);
        }
        if outcome.mark {
            mark(slot, around);
        }
        self.deliver(now, (number, queue), (from, slot), event_queue, around);
    }

    /// Sends the control packets that a program wants beside the packet itself.
    #[cold]
    #[inline(never)]
    fn copies<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        from: u32,
        outcome: &Outcome,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let chip = self.chip();
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
            self.offer_side(now, (pipeline, RECIRCULATION), copy(outcome.mirror), event_queue, around);
        }
        if outcome.multicast != 0 {
            for pipeline in 0..pipelines {
                self.offer_side(now, (pipeline, RECIRCULATION), copy(outcome.multicast), event_queue, around);
            }
        }
    }

    /// The program has dropped a packet before it got to the traffic manager.
    #[cold]
    #[inline(never)]
    fn dropped_at_ingress(
        &mut self,
        now: Instant,
        pipeline: usize,
        (number, queue): (usize, u32),
        slot: Slot,
        around: &mut Net,
    ) {
        let chip = self.chip();
        chip.record.pipelines[pipeline].dropped_at_ingress += 1;
        let reason = chip.setup.reason();
        let core = CorePacket { queue, ..self.core_packet(number, slot, around) };
        self.buffers[0].refuse(&core, Refusal::Dropped(reason));
        self.gone(now, number, slot, reason, around);
    }

    /// A packet is gone: its flow has lost it.
    fn gone(&mut self, now: Instant, number: usize, slot: Slot, reason: Reason, around: &mut Net) {
        if around.tracer.is_active() {
            let verdict = Verdict::Dropped { reason };
            around.tracer.verdict(now, self.number, number, slot, verdict, &around.wires);
        }
        around.flows.dropped(around.wires.arena.get(slot).flow);
        self.note_drop(now, 0);
        around.wires.arena.remove(slot);
    }

    /// The program has cut a packet before it got to the traffic manager.
    fn trimmed_at_ingress(&mut self, pipeline: usize, number: usize, slot: Slot, around: &mut Net) {
        let whole = self.core_packet(number, slot, around);
        self.buffers[0].refuse(&whole, Refusal::Trimmed);
        let chip = self.chip();
        chip.record.pipelines[pipeline].trimmed_at_ingress += 1;
        chip.cut(slot, around);
    }

    /// A packet, or the header of one, gets to the traffic manager.
    #[inline(always)]
    fn deliver<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        if around.watched || self.chip().looks_at_queues() {
            return self.deliver_observed(now, (number, queue), (from, slot), event_queue, around);
        }
        let core = CorePacket { queue, ..self.core_packet(number, slot, around) };
        let port = &mut self.ports[number];
        let wire = if port.free_at > now { Wire::Busy } else { Wire::Idle };
        let tm = &mut self.buffers[0];
        let outcome = tm.offer(now, &core, wire);
        if let Some(departure) = outcome.departure(&core) {
            return self.leave(now, number, departure, event_queue, around);
        }
        match outcome.verdict() {
            Verdict::Queued { marked: false } if port.free_at > now && !tm.has_losses() => {
                if !port.armed {
                    port.armed = true;
                    event_queue.set(number, around.wires.clock.transmission(port.free_at, number));
                }
            }
            verdict => {
                self.delivered(now, (number, queue), (from, slot), verdict, event_queue, around);
            }
        }
    }

    /// [`Switch::deliver`] where somebody looks at queues: a packet is queued before it leaves.
    #[inline(never)]
    fn deliver_observed<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let core = CorePacket { queue, ..self.core_packet(number, slot, around) };
        let verdict = self.buffers[0].offer(now, &core, Wire::Busy).verdict();
        self.delivered(now, (number, queue), (from, slot), verdict, event_queue, around);
    }

    /// Sees to a packet that does not simply wait for its port.
    #[inline(always)]
    fn delivered<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        verdict: Verdict,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        if let Verdict::Dropped { reason } = verdict {
            return self.rejected_by_manager(now, (number, queue), (from, slot), reason, event_queue, around);
        }
        let simple = verdict == (Verdict::Queued { marked: false }) && !around.watched && !self.buffers[0].has_losses();
        if !simple && !self.settle_arrival(now, number, slot, verdict, event_queue, around) {
            return;
        }
        self.joined(now, number, queue, slot);
        let port = &mut self.ports[number];
        if port.free_at <= now {
            return self.chip_transmit(now, number, event_queue, around);
        }
        if !port.armed {
            port.armed = true;
            event_queue.set(number, around.wires.clock.transmission(port.free_at, number));
        }
    }

    /// Notes what egress and, on some chips, ingress can see of a packet that has joined a queue.
    #[inline(always)]
    fn joined(&mut self, now: Instant, number: usize, queue: u32, slot: Slot) {
        let chip = self.chip();
        if chip.enqueued.is_none() && chip.depths.is_none() {
            return;
        }
        let index = self.buffers[0].queue_index(number, queue as usize);
        let depth = self.depth(index);
        let chip = self.chip();
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

    /// The length of a queue in cells.
    #[inline(always)]
    fn depth(&self, queue: usize) -> u64 {
        let tm = &self.buffers[0];
        let cell = tm.config().cell.get();
        let bytes = tm.queue_bytes(queue).get();
        if cell <= 1 { bytes } else { bytes / cell }
    }

    /// The traffic manager has no room for a packet: it is deflected, if the chip does that and there is room, or it is gone.
    #[cold]
    #[inline(never)]
    fn rejected_by_manager<const NODES: usize>(
        &mut self,
        now: Instant,
        (number, queue): (usize, u32),
        (from, slot): (u32, Slot),
        reason: Reason,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        self.settle_losses(0, around);
        let packet = *around.wires.arena.get(slot);
        let chip = self.chip();
        let pipeline = chip.pipeline_of(from as usize);
        let side = &mut chip.sides[2 * pipeline + DEFLECTION];
        let room = side.has_room(now);
        if !chip.setup.deflect || !Mirror::wants(&packet, reason) || !room {
            side.record.full += u64::from(!room);
            return self.gone(now, number, slot, reason, around);
        }
        let is_last = self.buffers[0].keep_header(PacketId(u64::from(slot)));
        debug_assert!(is_last, "it was dropped just now");
        around.flows.trimmed(packet.flow);
        let deflected = Control {
            kind: DEFLECTED,
            in_port: from,
            out_port: number as u32,
            out_queue: queue,
            bytes: packet.bytes,
            carried: Some(slot),
            ..Control::default()
        };
        self.offer_side(now, (pipeline, DEFLECTION), deflected, event_queue, around);
    }

    /// A port of the switch is free: the traffic manager picks.
    #[inline(always)]
    pub(crate) fn chip_transmit<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        match self.buffers[0].next(now, number) {
            Some(departure) => self.leave(now, number, departure, event_queue, around),
            None => self.wait_for_eligible(now, number, event_queue, around),
        }
    }

    /// A packet leaves its queue: the egress program has its say.
    #[inline(always)]
    fn leave<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: Departure,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let slot = departure.id.0 as Slot;
        let kind = kind_of(around.wires.arena.get(slot));
        let chip = self.chip();
        if chip.depths.is_some() || chip.at_egress[usize::from(kind)] {
            let outcome = self.egress(now, number, kind, &departure, around);
            if outcome.mark {
                mark(slot, around);
            }
            if outcome.mirror != 0 {
                let pipeline = self.chip().pipeline_of(number);
                let outcome = Outcome { out_port: number as u32, ..outcome };
                self.copies(now, pipeline, number as u32, &outcome, event_queue, around);
            }
            if outcome.drop {
                return self.dropped_at_egress(now, number, departure, event_queue, around);
            }
        }
        self.depart(now, number, departure, event_queue, around);
    }

    /// Runs the egress program on a packet that leaves its queue.
    #[inline(always)]
    fn egress(&mut self, now: Instant, number: usize, kind: u8, departure: &Departure, around: &Net) -> Outcome {
        let slot = departure.id.0 as Slot;
        let queue = u32::from(departure.queue().unwrap_or(0));
        let index = self.buffers[0].queue_index(number, queue as usize);
        let depth = self.depth(index);
        let packet = around.wires.arena.get(slot);
        let chip = self.chip.as_mut().expect("a switch without a chip handles no events of one");
        if let Some(depths) = &mut chip.depths {
            depths.changed(now, index, depth);
        }
        let (since, enqueued_depth) = chip.enqueued.as_ref().map_or((now, 0), |enqueued| enqueued[slot as usize]);
        let pass = Pass {
            now: now.ps(),
            kind,
            out_port: number as u32,
            out_queue: queue,
            class: u32::from(packet.class),
            bytes: departure.bytes(),
            rank: u64::from(packet.rank),
            flow: u64::from(packet.hash),
            random: chip.draw(),
            depth,
            enqueued_depth: u64::from(enqueued_depth),
            wait: (now.ps() - since.ps()) / 1_000,
            ..Pass::default()
        };
        let pipeline = chip.pipeline_of(number);
        chip.pipelines[pipeline].egress(&pass)
    }

    /// The egress program has dropped a packet: the port can go on as soon as the packet has been read.
    #[cold]
    #[inline(never)]
    fn dropped_at_egress<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: Departure,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let (slot, bytes) = (departure.id.0 as Slot, u64::from(departure.bytes()));
        self.buffers[0].discard(number, departure);
        let chip = self.chip();
        let pipeline = chip.pipeline_of(number);
        chip.record.pipelines[pipeline].dropped_at_egress += 1;
        let read = chip.setup.egress_rate.serialization(bytes);
        around.flows.dropped(around.wires.arena.get(slot).flow);
        if around.tracer.is_active() {
            let what = crate::measure::trace::What::Lost(Reason::Expelled);
            around.tracer.at_switch(now, self.number, number, slot, what, &around.wires);
        }
        around.wires.arena.remove(slot);
        self.settle_losses(0, around);
        let port = &mut self.ports[number];
        port.free_at = now + read;
        port.armed = self.buffers[0].has_packets(number);
        let next = if port.armed { around.wires.clock.transmission(port.free_at, number) } else { NEVER };
        event_queue.set(number, next);
    }

    // ---- The chip's own ports ------------------------------------------------------------------------------------------

    /// Something of the chip's own is due: one of its ports has sent what it sent, or a generator.
    #[inline(never)]
    pub(crate) fn chip_due<const NODES: usize>(
        &mut self,
        now: Instant,
        slot: usize,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let ports = self.ports.len();
        let chip = self.chip();
        let number = slot - ports;
        if let Some(generator) = number.checked_sub(chip.sides.len()) {
            return self.generate(now, generator, slot, event_queue, around);
        }
        chip.sides[number].armed = false;
        match chip.sides[number].queue.pop_front() {
            Some(control) => self.send_side(now, (number / 2, number % 2), control, event_queue, around),
            None => event_queue.set(slot, NEVER),
        }
    }

    /// Gives a packet to one of the chip's own ports; it waits there, or is dropped if there is no room.
    fn offer_side<const NODES: usize>(
        &mut self,
        now: Instant,
        (pipeline, which): (usize, usize),
        control: Control,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let chip = self.chip();
        let side = &mut chip.sides[2 * pipeline + which];
        if !side.has_room(now) {
            side.record.full += 1;
            return self.end_control(now, &control, around);
        }
        let place = chip.controls.insert(control);
        if side.free_at <= now && side.queue.is_empty() {
            return self.send_side(now, (pipeline, which), place, event_queue, around);
        }
        side.wait(place);
        if !side.armed {
            side.armed = true;
            event_queue.set(side.slot, around.wires.clock.transmission(side.free_at.max(now), side.slot));
        }
    }

    /// One of the chip's own ports begins to send a packet, which the egress program sees first.
    fn send_side<const NODES: usize>(
        &mut self,
        now: Instant,
        (pipeline, which): (usize, usize),
        place: u32,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let chip = self.chip();
        let control = chip.controls.all[place as usize];
        let outcome = if chip.at_egress[usize::from(control.kind)] {
            chip.pipelines[pipeline].egress(&control.pass(now))
        } else {
            Outcome {
                headers: control.headers,
                out_port: control.out_port,
                out_queue: control.out_queue,
                ..Outcome::default()
            }
        };
        let side = &mut chip.sides[2 * pipeline + which];
        side.record.packets += 1;
        side.record.bytes += u64::from(control.bytes);
        let goes_on = which == RECIRCULATION && !outcome.drop;
        if let (true, Some((link, arrival))) = (goes_on, side.link) {
            chip.controls.all[place as usize].headers = outcome.headers;
            let (end, key) = around.wires.send_around(link, Metadata::inside(place, control.bytes), now);
            side.free_at = end;
            if let Some(key) = key {
                event_queue.set(NODES / 4 + arrival, key);
            }
        } else {
            side.free_at = now + side.rate.serialization(u64::from(control.bytes));
        }
        if !side.queue.is_empty() {
            side.armed = true;
            event_queue.set(side.slot, around.wires.clock.transmission(side.free_at, side.slot));
        } else {
            event_queue.set(side.slot, NEVER);
        }
        if !goes_on {
            let control = chip.controls.remove(place);
            self.after_side(now, pipeline, control, &outcome, event_queue, around);
        }
    }

    /// What a packet that leaves the chip's own port and does not come in again leaves behind: a copy that carries it on, or nothing.
    fn after_side<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        control: Control,
        outcome: &Outcome,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        if outcome.mirror == 0 {
            return self.end_control(now, &control, around);
        }
        let chip = self.chip();
        let copy = Control {
            kind: outcome.mirror,
            headers: outcome.headers,
            bytes: chip.setup.header.get() as u32,
            ..control
        };
        if let Some(slot) = control.carried {
            chip.record.pipelines[pipeline].trimmed_at_egress += u64::from(control.kind == DEFLECTED);
            chip.cut_quietly(slot, around);
        }
        self.offer_side(now, (pipeline, RECIRCULATION), copy, event_queue, around);
    }

    /// A control packet is no more. What it carried is lost.
    fn end_control(&mut self, now: Instant, control: &Control, around: &mut Net) {
        let Some(slot) = control.carried else { return };
        // It was counted as trimmed when it was deflected; its header is dropped as one that found no room.
        let number = control.out_port as usize;
        let header = CorePacket { queue: control.out_queue, ..self.core_packet(number, slot, around) };
        self.buffers[0].refuse(&header, Refusal::Dropped(Reason::HeaderFull));
        self.gone(now, number, slot, Reason::HeaderFull, around);
    }

    /// A control packet comes in from recirculation.
    #[inline(never)]
    pub(crate) fn chip_arrive_again<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        metadata: Metadata,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let control = self.chip().controls.remove(metadata.packet);
        self.control_ingress(now, pipeline, control, event_queue, around);
    }

    /// A control packet is in an ingress pipeline.
    fn control_ingress<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        control: Control,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let chip = self.chip();
        let outcome = chip.pipelines[pipeline].ingress(&control.pass(now));
        if chip.setup.keep_controls && pipeline == 0 {
            let note = ControlNote { at: now, kind: control.kind, value: control.headers[0] };
            chip.record.controls.push(note);
        }
        if outcome.recirculate && !outcome.drop {
            let again = Control { headers: outcome.headers, ..control };
            return self.offer_side(now, (pipeline, RECIRCULATION), again, event_queue, around);
        }
        if outcome.drop {
            if outcome.multicast != 0 || outcome.mirror != 0 {
                self.copies(now, pipeline, control.in_port, &outcome, event_queue, around);
            }
            return self.end_control(now, &control, around);
        }
        self.after_ingress(now, pipeline, (control.in_port, control.carried), outcome, event_queue, around);
    }

    /// A packet generator is due.
    fn generate<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: usize,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let chip = self.chip();
        let generator = &mut chip.generators[number];
        if generator.due > now {
            // It lies farther ahead than the event_queue counts.
            let key = around.wires.clock.timer(generator.due, slot);
            return event_queue.set(slot, key);
        }
        let plan = generator.plan;
        if plan.period == 0 {
            event_queue.set(slot, NEVER);
        } else {
            generator.due = Instant::from_ps(generator.due.ps() + plan.period);
            event_queue.set(slot, around.wires.clock.timer(generator.due, slot));
        }
        let bytes = chip.setup.header.get() as u32;
        let control = Control { kind: plan.kind, headers: plan.headers, bytes, ..Control::default() };
        self.control_ingress(now, plan.pipeline as usize, control, event_queue, around);
    }
}

impl Control {
    fn pass(&self, now: Instant) -> Pass {
        Pass {
            now: now.ps(),
            kind: self.kind,
            in_port: self.in_port,
            out_port: self.out_port,
            out_queue: self.out_queue,
            bytes: self.bytes,
            headers: self.headers,
            ..Pass::default()
        }
    }
}

impl Chip {
    /// Whether somebody has to hear of every packet that joins or leaves a queue.
    #[inline(always)]
    fn looks_at_queues(&self) -> bool {
        self.depths.is_some() || self.enqueued.is_some()
    }

    /// Sixteen random bits, if the program asks for any.
    #[inline(always)]
    fn draw(&mut self) -> u64 {
        if !self.draws {
            return 0;
        }
        (self.random.unit() * 65_536.0) as u64
    }

    /// Cuts a packet to its header.
    fn cut(&mut self, slot: Slot, around: &mut Net) {
        around.flows.trimmed(around.wires.arena.get(slot).flow);
        self.cut_quietly(slot, around);
    }

    /// Cuts a packet that counts as trimmed already.
    fn cut_quietly(&mut self, slot: Slot, around: &mut Net) {
        let packet = around.wires.arena.get_mut(slot);
        packet.flags |= flag::TRIMMED;
        packet.class = self.setup.header_class;
        packet.bytes = packet.bytes.min(self.setup.header.get() as u32);
    }
}

/// Marks a packet, if it can be marked.
fn mark(slot: Slot, around: &mut Net) {
    let packet = around.wires.arena.get_mut(slot);
    if packet.has(flag::ECT) {
        packet.flags |= flag::CE;
        let flow = packet.flow;
        around.flows.marked(flow);
    }
}
