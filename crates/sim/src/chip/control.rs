//! The ports inside a chip, and the control packets on them.

use super::{ChipSwitch, Control, RECIRCULATION};
use crate::event_queue::{FixedEventQueue, NEVER};
use crate::measure::chip::ControlNote;
use crate::net::{Context, Net};
use crate::packet::Metadata;
use forebay_pisa::{DEFLECTED, Outcome, Pass};
use forebay_tm::{Instant, Packet as CorePacket, Reason, Refusal};

impl ChipSwitch {
    /// Something of the chip's own is due: one of its ports has sent what it sent, or a generator.
    #[inline(never)]
    pub(super) fn own_due<const NODES: usize>(&mut self, now: Instant, slot: usize, mut cx: Context<'_, NODES>) {
        let ports = self.switch.forwarding.ports.len();
        let chip = &mut self.chip;
        let number = slot - ports;
        if let Some(generator) = number.checked_sub(chip.sides.len()) {
            return self.generate(now, generator, slot, cx);
        }
        chip.sides[number].armed = false;
        match chip.sides[number].queue.pop_front() {
            Some(control) => self.send_side(now, (number / 2, number % 2), control, cx.reborrow()),
            None => cx.events.set(slot, NEVER),
        }
    }

    /// Gives a packet to one of the chip's own ports; it waits there, or is dropped if there is no room.
    pub(super) fn offer_side<const NODES: usize>(
        &mut self,
        now: Instant,
        (pipeline, which): (usize, usize),
        control: Control,
        mut cx: Context<'_, NODES>,
    ) {
        let chip = &mut self.chip;
        let side = &mut chip.sides[2 * pipeline + which];
        if !side.has_room(now) {
            side.record.full += 1;
            return self.end_control(now, &control, cx.net);
        }
        let place = chip.controls.insert(control);
        if side.free_at <= now && side.queue.is_empty() {
            return self.send_side(now, (pipeline, which), place, cx);
        }
        side.wait(place);
        if !side.armed {
            side.armed = true;
            cx.events.set(side.slot, cx.net.wires.clock.transmission(side.free_at.max(now), side.slot));
        }
    }

    /// One of the chip's own ports begins to send a packet, which the egress program sees first.
    pub(super) fn send_side<const NODES: usize>(
        &mut self,
        now: Instant,
        (pipeline, which): (usize, usize),
        place: u32,
        mut cx: Context<'_, NODES>,
    ) {
        let chip = &mut self.chip;
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
            let (end, key) = cx.net.wires.send_around(link, Metadata::inside(place, control.bytes), now);
            side.free_at = end;
            if let Some(key) = key {
                cx.events.set(FixedEventQueue::<NODES>::ARRIVALS + arrival, key);
            }
        } else {
            side.free_at = now + side.rate.serialization(u64::from(control.bytes));
        }
        if !side.queue.is_empty() {
            side.armed = true;
            cx.events.set(side.slot, cx.net.wires.clock.transmission(side.free_at, side.slot));
        } else {
            cx.events.set(side.slot, NEVER);
        }
        if !goes_on {
            let control = chip.controls.remove(place);
            self.after_side(now, pipeline, control, &outcome, cx.reborrow());
        }
    }

    /// What a packet that leaves the chip's own port and does not come in again leaves behind: a copy that carries it
    /// on, or nothing.
    pub(super) fn after_side<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        control: Control,
        outcome: &Outcome,
        cx: Context<'_, NODES>,
    ) {
        if outcome.mirror == 0 {
            return self.end_control(now, &control, cx.net);
        }
        let chip = &mut self.chip;
        let copy = Control {
            kind: outcome.mirror,
            headers: outcome.headers,
            bytes: chip.setup.header.get() as u32,
            ..control
        };
        if let Some(slot) = control.carried {
            chip.record.pipelines[pipeline].trimmed_at_egress += u64::from(control.kind == DEFLECTED);
            chip.cut_quietly(slot, cx.net);
        }
        self.offer_side(now, (pipeline, RECIRCULATION), copy, cx);
    }

    /// A control packet is no more. What it carried is lost.
    pub(super) fn end_control(&mut self, now: Instant, control: &Control, net: &mut Net) {
        let Some(slot) = control.carried else { return };
        // It was counted as trimmed when it was deflected; its header is dropped as one that found no room.
        let number = control.out_port as usize;
        let header = CorePacket { queue: control.out_queue, ..self.switch.core_packet(number, slot, net) };
        self.switch.buffers[0].refuse(&header, Refusal::Dropped(Reason::HeaderFull));
        self.gone(now, number, slot, Reason::HeaderFull, net);
    }

    /// A control packet comes in from recirculation.
    #[inline(never)]
    pub(super) fn arrive_again<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) {
        let control = self.chip.controls.remove(metadata.packet);
        self.control_ingress(now, pipeline, control, cx);
    }

    /// A control packet is in an ingress pipeline.
    pub(super) fn control_ingress<const NODES: usize>(
        &mut self,
        now: Instant,
        pipeline: usize,
        control: Control,
        mut cx: Context<'_, NODES>,
    ) {
        let chip = &mut self.chip;
        let outcome = chip.pipelines[pipeline].ingress(&control.pass(now));
        if chip.setup.keep_controls && pipeline == 0 {
            let note = ControlNote { at: now, kind: control.kind, value: control.headers[0] };
            chip.record.controls.push(note);
        }
        if outcome.recirculate && !outcome.drop {
            let again = Control { headers: outcome.headers, ..control };
            return self.offer_side(now, (pipeline, RECIRCULATION), again, cx);
        }
        if outcome.drop {
            if outcome.multicast != 0 || outcome.mirror != 0 {
                self.copies(now, pipeline, control.in_port, &outcome, cx.reborrow());
            }
            return self.end_control(now, &control, cx.net);
        }
        self.after_ingress(now, pipeline, (control.in_port, control.carried), outcome, cx);
    }

    /// A packet generator is due.
    pub(super) fn generate<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: usize,
        mut cx: Context<'_, NODES>,
    ) {
        let chip = &mut self.chip;
        let generator = &mut chip.generators[number];
        if generator.due > now {
            // It lies farther ahead than the event queue counts.
            let key = cx.net.wires.clock.timer(generator.due, slot);
            return cx.events.set(slot, key);
        }
        let plan = generator.plan;
        if plan.period == 0 {
            cx.events.set(slot, NEVER);
        } else {
            generator.due = Instant::from_ps(generator.due.ps() + plan.period);
            cx.events.set(slot, cx.net.wires.clock.timer(generator.due, slot));
        }
        let bytes = chip.setup.header.get() as u32;
        let control = Control { kind: plan.kind, headers: plan.headers, bytes, ..Control::default() };
        self.control_ingress(now, plan.pipeline as usize, control, cx);
    }
}

impl Control {
    pub(super) fn pass(&self, now: Instant) -> Pass {
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
