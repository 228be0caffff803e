//! A switch with both sides of the buffer: a priority group that is full pauses the sender of its port (priority flow
//! control).
//!
//! What groups ask for goes out as frames ahead of data: behind the packet that is being sent, if there is one. Frames
//! that come in pause queues of the port they come by. The watchdog of a port is in `watchdog.rs`.

use super::forwarding::Forwarding;
use super::holdings::{Holdings, Victims};
use super::plain::{Rejected, cut, stamp, trim_queue};
use super::watchdog::Watchdog;
use super::{SwitchKind, lossless_timers::Timers, runs_for_slots};
use crate::deadlock::{Blocked, FullGroup, Waits};
use crate::measure::pauses::{PauseRecord, PauseRecords, QueuePlace};
use crate::measure::trace::What;
use crate::net::{Context, Net};
use crate::packet::{Hold, Kind, Metadata, Slot, flag};
use crate::pause::{CLASSES, Frame, Paused, span};
use crate::scenario::{IngressSetup, SwitchSetup, WatchdogAction};
use forebay_tm::mmu::Signal;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Bytes, Departure, Duration, Instant, Mmu, MmuConfig, Outcome, Packet, Reason, Verdict, View, Wire};

/// What is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A group that stays paused says so again.
    Refresh { port: usize, group: u8 },
    /// A class has been paused for long, from a time on.
    Storm { port: usize, class: usize, since: Instant },
    /// A storm may be over.
    Restore { port: usize, class: usize },
}

/// A switch that pauses its senders.
pub(crate) struct LosslessSwitch {
    forwarding: Forwarding,
    mmu: Mmu,
    setup: IngressSetup,
    /// 0 if ports have one queue, which all classes share.
    queue_mask: u8,
    ranked: bool,
    /// The class of packets in the trim queue, and what they are cut to, with trimming to a queue.
    trim_queue: Option<(u8, u32)>,
    /// What trimming leaves of a packet.
    header: u32,
    /// By port.
    paused: Vec<Paused>,
    watchdog: Watchdog,
    timers: Timers,
    requests: Vec<PauseRecord>,
    /// Of each port and group: the place of its last request, while that is open.
    open: Vec<Option<usize>>,
    frames: u64,
    holdings: Holdings,
    victims: Victims,
}

/// Groups of a port.
const GROUPS: usize = forebay_tm::ingress::GROUPS_PER_PORT;

impl LosslessSwitch {
    pub(super) fn new(forwarding: Forwarding, setup: &SwitchSetup, ingress: &IngressSetup) -> Self {
        let config = &setup.buffers[0];
        let sides = MmuConfig { switch: (**config).clone(), ingress: ingress.file.config.clone() };
        let ports = config.rates.len();
        Self {
            forwarding,
            mmu: Mmu::new(sides).expect("both sides were checked"),
            queue_mask: if config.queues == 1 { 0 } else { u8::MAX },
            ranked: config.scheduler.uses_ranks(),
            trim_queue: trim_queue(config.trim.as_ref()),
            header: config.trim.as_ref().and_then(TrimConfig::size).map_or(u32::MAX, |size| size.get() as u32),
            paused: config.rates.iter().map(|rate| Paused::new(*rate, &ingress.pfc)).collect(),
            watchdog: Watchdog::new(ports, ingress.pfc.watchdog),
            timers: Timers::default(),
            requests: Vec::new(),
            open: vec![None; ports * GROUPS],
            frames: 0,
            holdings: Holdings::new(&ingress.file.config, ports * config.queues),
            victims: Victims::default(),
            setup: ingress.clone(),
        }
    }

    /// What it has paused and what was paused.
    pub(super) fn records(&mut self, end: Instant) -> PauseRecords {
        let is_empty = self.mmu.egress().used() == Bytes::ZERO;
        debug_assert!(!is_empty || self.holdings.is_empty(), "packets were released from groups that they were not in");
        let mut records = PauseRecords {
            requests: core::mem::take(&mut self.requests),
            storms: self.watchdog.storms(self.forwarding.number),
            victims: self.victims.records(self.forwarding.number),
            frames: self.frames,
            ..PauseRecords::default()
        };
        for (port, paused) in self.paused.iter_mut().enumerate() {
            records.add(Some(self.forwarding.number), port as u32, |class| Some(paused.totals(class, end)));
        }
        records
    }

    /// The queues of a port that may not send.
    fn mask(&mut self, port: usize, now: Instant) -> u64 {
        let classes = self.paused[port].mask(now) & !self.watchdog.forwards(port);
        // One queue for all classes waits for all of them.
        if self.queue_mask == 0 { u64::from(classes != 0) } else { classes }
    }

    /// A packet has come in by a port and is to leave by another.
    fn offer<const NODES: usize>(
        &mut self,
        now: Instant,
        (from, number): (usize, usize),
        metadata: Metadata,
        mut cx: Context<'_, NODES>,
    ) {
        let slot = metadata.packet;
        let rank = if self.ranked { cx.net.wires.arena.get(slot).rank } else { 0 };
        let packet = metadata.to_core(number as u32, self.queue_mask, rank);
        let group = self.setup.file.of_queue[packet.queue as usize];
        let packet = Packet { in_port: from as u32, group, ..packet };
        self.judge(now, &packet, slot, cx.net);
        let is_paused = self.mask(number, now) >> packet.queue & 1 != 0;
        let wire = if is_paused { Wire::Busy } else { self.forwarding.ports[number].wire(now) };
        let outcome = self.mmu.offer(now, &packet, wire);
        if cx.net.tracer.is_active() {
            let switch = self.forwarding.number;
            cx.net.tracer.verdict(now, switch, number, slot, outcome.verdict(), &cx.net.wires);
        }
        match outcome.verdict() {
            Verdict::Queued { marked } => {
                if marked {
                    let sent = cx.net.wires.arena.get_mut(slot);
                    sent.flags |= flag::CE;
                    cx.net.flows.marked(sent.flow);
                }
                self.go_on(now, number, outcome, &packet, cx.reborrow());
            }
            Verdict::Dropped { reason } => self.lose(now, number, slot, reason, cx.net),
            Verdict::Trimmed { .. } => {
                let sent = cx.net.wires.arena.get_mut(slot);
                if cut(sent, self.trim_queue) {
                    cx.net.flows.trimmed(sent.flow);
                }
                let (bytes, class) = (packet.bytes.min(self.header), sent.class);
                let queue = u32::from(class & self.queue_mask);
                let left = Packet { bytes, queue, class: u32::from(class), ..packet };
                self.go_on(now, number, outcome, &left, cx.reborrow());
            }
            // Return to sender is refused when the scenario is read.
            Verdict::Returned { .. } => cx.net.wires.lose(slot),
        }
        self.settle_losses(cx.net);
        self.ask(now, cx);
    }

    /// A packet was queued, whole or what trimming has left of it, or passes straight on.
    fn go_on<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        outcome: Outcome,
        packet: &Packet,
        mut cx: Context<'_, NODES>,
    ) {
        if let Some(departure) = outcome.departure(packet) {
            return self.depart(now, number, &departure, cx);
        }
        self.hold(now, packet, cx.net);
        if self.watchdog.drops(number) >> packet.queue & 1 != 0 {
            self.drain(now, number, packet.queue as usize, cx.net);
        }
        if self.forwarding.ports[number].wire(now) == Wire::Idle {
            self.transmit(now, number, cx);
        } else {
            self.forwarding.ports[number].wake_when_free(number, cx.reborrow());
        }
    }

    /// A packet is gone.
    fn lose(&mut self, at: Instant, number: usize, slot: Slot, reason: Reason, net: &mut Net) {
        net.flows.dropped(net.wires.arena.get(slot).flow);
        let tm = self.mmu.egress();
        self.forwarding.note_drop(at, 0, tm);
        self.forwarding.keep_drop(at, number, (slot, reason), tm, net);
        net.wires.arena.remove(slot);
    }

    /// Packets that were pushed out or expelled are gone.
    fn settle_losses(&mut self, net: &mut Net) {
        if !self.mmu.has_evictions() {
            return;
        }
        let queues = self.mmu.egress().config().queues;
        for lost in self.mmu.drain_evictions().collect::<Vec<_>>() {
            let (port, slot) = (lost.queue / queues, lost.id.0 as Slot);
            self.release(lost.queue, slot, lost.bytes, net);
            if net.tracer.is_active() {
                let what = What::Lost(lost.reason);
                net.tracer.at_switch(lost.at, self.forwarding.number, port, slot, what, &net.wires);
            }
            self.lose(lost.at, port, slot, lost.reason, net);
        }
    }

    /// Drops all packets of a queue in a storm.
    fn drain(&mut self, now: Instant, number: usize, queue: usize, net: &mut Net) {
        while let Some(departure) = self.mmu.dequeue_unpaused(now, number, !(1 << queue)) {
            let slot = departure.id.0 as Slot;
            let index = self.mmu.egress().queue_index(number, queue);
            self.release(index, slot, departure.bytes(), net);
            self.mmu.discard(number, departure);
            self.watchdog.dropped(number, queue);
            self.lose(now, number, slot, Reason::Expelled, net);
        }
    }

    /// A port is free: the traffic manager picks the next packet of those that may leave.
    fn transmit<const NODES: usize>(&mut self, now: Instant, number: usize, mut cx: Context<'_, NODES>) {
        let mask = self.mask(number, now);
        match self.mmu.dequeue_unpaused(now, number, mask) {
            Some(departure) => {
                self.let_go(now, number, &departure, cx.net);
                self.depart(now, number, &departure, cx.reborrow());
            }
            None => {
                let change = if mask == 0 { Instant::NEVER } else { self.paused[number].next_change(now) };
                let at = self.mmu.next_eligible(number).filter(|at| *at > now).map_or(change, |at| at.min(change));
                self.forwarding.ports[number].wake_at(now, number, Some(at), cx.reborrow());
            }
        }
        self.settle_losses(cx.net);
        self.ask(now, cx);
    }

    /// Puts a packet that has left its queue on the wire.
    fn depart<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: &Departure,
        cx: Context<'_, NODES>,
    ) {
        let Context { events, net } = cx;
        let (port, slot) = (&mut self.forwarding.ports[number], departure.id.0 as Slot);
        let tm = self.mmu.egress();
        if net.watched && net.telemetry {
            stamp(&mut net.wires, port.out, slot, now, tm.port_bytes(number).get());
        }
        if net.watched && net.tracer.is_active() {
            net.tracer.at_switch(now, self.forwarding.number, number, slot, What::Sent, &net.wires);
        }
        let metadata = net.wires.arena.metadata(slot, departure.bytes());
        port.send(now, number, metadata, tm.has_packets(number), Context { events, net });
    }

    // ---- Victims and deadlocks
    // -----------------------------------------------------------------------------------------

    /// A packet that waited for a pause of this switch has come: its flow is a victim if the pause is for another queue
    /// than its own.
    fn judge(&mut self, now: Instant, packet: &Packet, slot: Slot, net: &mut Net) {
        let Some(hold) = net.wires.arena.hold_mut(slot) else { return };
        let Hold { request, time, .. } = *hold;
        *hold = Hold { in_port: packet.in_port, group: packet.group, ..Hold::default() };
        let Some(request) = (request as usize).checked_sub(1).and_then(|place| self.requests.get(place)) else {
            return;
        };
        let sent = net.wires.arena.get(slot);
        if sent.kind == Kind::Data && request.congested.is_some_and(|place| place != (packet.port, packet.queue)) {
            self.victims.add(now, (sent.flow, request.port, request.group), time);
        }
    }

    /// A packet was queued.
    fn hold(&mut self, now: Instant, packet: &Packet, net: &mut Net) {
        let index = self.mmu.egress().queue_index(packet.port as usize, packet.queue as usize);
        let cells = self.mmu.ingress().cells(packet.bytes);
        self.holdings.add((packet.in_port as usize, packet.group), index, cells);
        if let Some(hold) = net.wires.arena.hold_mut(packet.id.0 as Slot) {
            self.paused[packet.port as usize].joins(packet.class as u8, now, hold);
        }
    }

    /// A packet that was queued leaves for the wire.
    fn let_go(&mut self, now: Instant, number: usize, departure: &Departure, net: &mut Net) {
        let slot = departure.id.0 as Slot;
        let class = net.wires.arena.get(slot).class;
        let index = self.mmu.egress().queue_index(number, usize::from(class & self.queue_mask));
        self.release(index, slot, departure.bytes(), net);
        if let Some(hold) = net.wires.arena.hold_mut(slot) {
            self.paused[number].leaves(class, now, hold);
        }
    }

    /// A packet that was queued is no longer.
    fn release(&mut self, index: usize, slot: Slot, bytes: u32, net: &Net) {
        let Some(hold) = net.wires.arena.hold(slot) else { return };
        let group = (hold.in_port as usize, hold.group);
        self.holdings.remove(group, index, self.mmu.ingress().cells(bytes));
    }

    /// An egress queue by its index.
    fn place_of(&self, index: usize) -> QueuePlace {
        let queues = self.mmu.egress().config().queues;
        QueuePlace { switch: self.forwarding.number, port: (index / queues) as u32, queue: (index % queues) as u32 }
    }

    /// What waits here, and for what others wait.
    pub(super) fn waits(&mut self, now: Instant) -> Waits {
        let mut waits = Waits::default();
        for port in 0..self.paused.len() {
            let queues = self.mask(port, now);
            let classes = self.paused[port].mask(now) & !self.watchdog.forwards(port);
            for queue in (0..CLASSES).filter(|queue| queues >> queue & 1 != 0) {
                let index = self.mmu.egress().queue_index(port, queue);
                if self.mmu.egress().queue_packets(index) == 0 {
                    continue;
                }
                let of_queue = if self.queue_mask == 0 { classes } else { 1 << queue };
                let paused = (0..CLASSES).filter(|class| of_queue >> class & 1 != 0);
                let since = paused.map(|class| self.paused[port].since(class)).min().unwrap_or(now);
                waits.blocked.push(Blocked { place: self.place_of(index), classes: of_queue as u8, since });
            }
        }
        for request in self.open.iter().flatten() {
            let PauseRecord { port, group, .. } = self.requests[*request];
            let ingress = self.mmu.ingress();
            let has = ingress.occupancy(port as usize, group);
            waits.groups.push(FullGroup {
                port,
                classes: self.setup.classes_of(group),
                cells: self.holdings.of(port as usize, group).map(|(at, cells)| (self.place_of(at), cells)).collect(),
                total: has.total(),
                headroom: has.headroom,
                resume: ingress.resume_point(port as usize, group).unwrap_or(u64::MAX),
            });
        }
        waits
    }

    // ---- Pause
    // ---------------------------------------------------------------------------------------------------------

    /// Tells senders what groups ask for. What a group takes back in the same instant is not told.
    fn ask<const NODES: usize>(&mut self, now: Instant, mut cx: Context<'_, NODES>) {
        if !self.mmu.has_requests() {
            return;
        }
        let mut touched: Vec<(usize, u8)> = Vec::new();
        for request in self.mmu.requests() {
            let place = (request.port as usize, request.group);
            if !touched.contains(&place) {
                touched.push(place);
            }
        }
        for (port, group) in touched {
            let place = port * GROUPS + usize::from(group);
            let is_paused = self.mmu.ingress().is_paused(port, group);
            if is_paused == self.open[place].is_some() {
                continue;
            }
            if let Some(request) = self.open[place].take() {
                self.requests[request].until = now;
                self.tell(now, port, group, Signal::Xon, cx.reborrow());
                continue;
            }
            self.open[place] = Some(self.requests.len());
            let switch = self.forwarding.number;
            let congested = self.holdings.most(port, group).map(|index| self.place_of(index));
            let congested = congested.map(|place| (place.port, place.queue));
            let port_number = port as u32;
            let until = Instant::NEVER;
            self.requests.push(PauseRecord { switch, port: port_number, group, congested, from: now, until });
            self.tell(now, port, group, Signal::Xoff, cx.reborrow());
        }
        self.show_timers(cx);
    }

    /// Sends a frame by a port, ahead of all packets that wait.
    fn tell<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        group: u8,
        signal: Signal,
        mut cx: Context<'_, NODES>,
    ) {
        let quanta = if signal == Signal::Xoff { self.setup.pfc.quanta } else { 0 };
        let request = self.open[number * GROUPS + usize::from(group)].map_or(0, |request| request as u32 + 1);
        let frame = Frame { classes: self.setup.classes_of(group), quanta, request };
        let metadata = frame.launch(&mut cx.net.wires);
        self.frames += 1;
        let port = &mut self.forwarding.ports[number];
        // Nothing that waits goes before it: what is being sent is all that is on the wire.
        port.free_at = cx.net.wires.send(port.out, metadata, now.max(port.free_at));
        if port.armed || self.mmu.egress().has_packets(number) {
            port.armed = false;
            port.wake_when_free(number, cx.reborrow());
        }
        if signal == Signal::Xoff {
            let whole = span(quanta, self.mmu.egress().rate(number));
            let after = Duration::from_ps(whole.ps() / 100 * u64::from(self.setup.pfc.refresh));
            self.timers.set(now + after.max(Duration::from_ps(1)), Due::Refresh { port: number, group });
        }
    }

    /// A frame has come in by a port.
    fn hear<const NODES: usize>(&mut self, now: Instant, number: usize, frame: Frame, mut cx: Context<'_, NODES>) {
        let at = self.paused[number].hear(now, frame);
        for class in (0..CLASSES).filter(|class| frame.classes >> class & 1 != 0) {
            self.watchdog.heard(number, class, at, frame.quanta > 0, &mut self.timers);
        }
        if self.forwarding.ports[number].wire(now) == Wire::Idle {
            self.transmit(now, number, cx.reborrow());
        }
        self.show_timers(cx);
    }

    /// Does what is due.
    fn timers_due<const NODES: usize>(&mut self, now: Instant, mut cx: Context<'_, NODES>) {
        while let Some(due) = self.timers.next(now) {
            match due {
                Due::Refresh { port, group } => {
                    // A later request has a later refresh of its own, which is the next after this.
                    let is_open = self.open[port * GROUPS + usize::from(group)].is_some();
                    if is_open && !self.timers.has(due) {
                        self.tell(now, port, group, Signal::Xoff, cx.reborrow());
                    }
                }
                Due::Storm { port, class, since } => self.watch(now, port, class, since, cx.reborrow()),
                Due::Restore { port, class } => {
                    self.paused[port].mask(now);
                    let until = self.paused[port].until(class);
                    self.watchdog.restore(now, port, class, until, &mut self.timers);
                }
            }
        }
        self.show_timers(cx);
    }

    /// A class of a port may be in a storm.
    fn watch<const NODES: usize>(
        &mut self,
        now: Instant,
        port: usize,
        class: usize,
        since: Instant,
        mut cx: Context<'_, NODES>,
    ) {
        let paused = self.paused[port].mask(now) >> class & 1 != 0;
        if !paused || self.paused[port].since(class) != since {
            // The pause has ended, and perhaps begun anew: what began it anew is watched on its own.
            self.watchdog.ended(port, class, self.paused[port].since(class), paused, &mut self.timers);
            return;
        }
        let queue = class & usize::from(self.queue_mask);
        let index = self.mmu.egress().queue_index(port, queue);
        let has_packets = self.mmu.egress().queue_packets(index) > 0;
        let Some(action) = self.watchdog.storm(now, port, class, has_packets, &mut self.timers) else { return };
        match action {
            WatchdogAction::Drop => self.drain(now, port, queue, cx.net),
            WatchdogAction::Forward if self.forwarding.ports[port].wire(now) == Wire::Idle => {
                self.transmit(now, port, cx.reborrow());
            }
            WatchdogAction::Forward | WatchdogAction::Report => {}
        }
        self.ask(now, cx);
    }

    fn show_timers<const NODES: usize>(&self, mut cx: Context<'_, NODES>) {
        let slot = self.forwarding.ports.len();
        cx.events.set(slot, self.timers.key(cx.net.wires.clock, slot));
    }
}

impl SwitchKind for LosslessSwitch {
    runs_for_slots!(32 256);

    fn forwarding(&self) -> &Forwarding {
        &self.forwarding
    }

    fn forwarding_mut(&mut self) -> &mut Forwarding {
        &mut self.forwarding
    }

    fn view(&self, _: usize) -> &dyn View {
        self.mmu.egress()
    }

    fn settle_before(&mut self, until: Instant, net: &mut Net) {
        let Some(last) = until.ps().checked_sub(1).map(Instant::from_ps) else { return };
        if self.mmu.due() <= last {
            self.mmu.advance(last);
            self.settle_losses(net);
        }
    }

    fn due<const NODES: usize>(&mut self, now: Instant, slot: usize, cx: Context<'_, NODES>) {
        if slot == self.forwarding.ports.len() { self.timers_due(now, cx) } else { self.transmit(now, slot, cx) }
    }

    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        metadata: Metadata,
        mut cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        if let Some(frame) = Frame::land(&metadata, &mut cx.net.wires) {
            self.hear(now, from, frame, cx.reborrow());
        } else if let Some(number) = self.forwarding.next_hop(&metadata, cx.net) {
            self.offer(now, (from, number), metadata, cx);
        } else {
            cx.net.wires.lose_unrouted(metadata.packet, now);
        }
        None
    }
}
