//! What a chip does with packets that leave their queues: the egress program, and what it decides.

use super::{ChipSwitch, kind_of, mark};
use crate::measure::trace::What;
use crate::net::{Context, Net};
use crate::packet::Slot;
use forebay_pisa::{Outcome, Pass};
use forebay_tm::View as _;
use forebay_tm::{Departure, Instant, Reason};

impl ChipSwitch {
    /// A port of the switch is free: the traffic manager picks.
    #[inline(always)]
    pub(super) fn transmit<const NODES: usize>(&mut self, now: Instant, number: usize, cx: Context<'_, NODES>) {
        match self.switch.buffers[0].dequeue(now, number) {
            Some(departure) => self.leave(now, number, departure, cx),
            None => self.switch.wait_for_eligible(now, number, cx),
        }
    }

    /// A packet leaves its queue: the egress program has its say.
    #[inline(always)]
    pub(super) fn leave<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: Departure,
        mut cx: Context<'_, NODES>,
    ) {
        let slot = departure.id.0 as Slot;
        let kind = kind_of(cx.net.wires.arena.get(slot));
        let chip = &mut self.chip;
        if chip.depths.is_some() || chip.at_egress[usize::from(kind)] {
            let outcome = self.egress(now, number, kind, &departure, cx.net);
            if outcome.mark {
                mark(slot, cx.net);
            }
            if outcome.mirror != 0 {
                let pipeline = self.chip.pipeline_of(number);
                let outcome = Outcome { out_port: number as u32, ..outcome };
                self.copies(now, pipeline, number as u32, &outcome, cx.reborrow());
            }
            if outcome.drop {
                return self.dropped_at_egress(now, number, departure, cx);
            }
        }
        self.switch.send(now, number, &departure, cx);
    }

    /// Runs the egress program on a packet that leaves its queue.
    #[inline(always)]
    fn egress(&mut self, now: Instant, number: usize, kind: u8, departure: &Departure, net: &Net) -> Outcome {
        let slot = departure.id.0 as Slot;
        let queue = u32::from(departure.queue().unwrap_or(0));
        let index = self.switch.buffers[0].queue_index(number, queue as usize);
        let depth = self.depth(index);
        let packet = net.wires.arena.get(slot);
        let chip = &mut self.chip;
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

    /// The length of a queue in cells.
    #[inline(always)]
    pub(super) fn depth(&self, queue: usize) -> u64 {
        let tm = &self.switch.buffers[0];
        let cell = tm.config().cell.get();
        let bytes = tm.queue_bytes(queue).get();
        if cell <= 1 { bytes } else { bytes / cell }
    }

    /// The egress program has dropped a packet: the port can go on as soon as the packet has been read.
    #[cold]
    #[inline(never)]
    pub(super) fn dropped_at_egress<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: Departure,
        cx: Context<'_, NODES>,
    ) {
        let (slot, bytes) = (departure.id.0 as Slot, u64::from(departure.bytes()));
        self.switch.buffers[0].discard(number, departure);
        let chip = &mut self.chip;
        let pipeline = chip.pipeline_of(number);
        chip.record.pipelines[pipeline].dropped_at_egress += 1;
        let read = chip.setup.egress_rate.serialization(bytes);
        cx.net.flows.dropped(cx.net.wires.arena.get(slot).flow);
        self.switch.keep_drop(now, number, slot, Reason::Expelled, cx.net);
        if cx.net.tracer.is_active() {
            let what = What::Lost(Reason::Expelled);
            cx.net.tracer.at_switch(now, self.switch.forwarding.number, number, slot, what, &cx.net.wires);
        }
        cx.net.wires.arena.remove(slot);
        self.switch.settle_losses(0, cx.net);
        let port = &mut self.switch.forwarding.ports[number];
        port.free_at = now + read;
        port.go_on(number, self.switch.buffers[0].has_packets(number), cx);
    }
}
