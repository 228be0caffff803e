//! A switch: the traffic managers of its ports, between its links.

mod lined_up;

use crate::chip::Chip;
use crate::event_queue::{EventQueue, FixedEventQueue, Key, MAX_SLOTS, NEVER};
use crate::measure::RecirculationRecord;
use crate::measure::chip::ChipRecord;
use crate::measure::histogram::Shares;
use crate::measure::trace::What;
use crate::mirror::Mirror;
use crate::net::Net;
use crate::packet::{HopStamp, Kind, Metadata, Packet, Slot, flag};
use crate::paths::switch_salt;
use crate::routing::{Routes, Ways, choose};
use crate::scenario::{ChipSetup, MirrorSetup, PathChoice, SwitchSetup};
use crate::scripted::Scripted;
use crate::wires::Wires;
use forebay_script::file::Script;
use forebay_script::trace::Event;
use forebay_tm::random::{Random, mix};
use forebay_tm::trim::TrimConfig;
use forebay_tm::{
    Departure, FifoTm, Instant, Lost, Outcome, Packet as CorePacket, PacketId, Reason, Tm, Verdict, View, Wire,
};

/// One port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// The link it sends on.
    out: u32,
    /// Its buffer.
    buffer: u32,
    /// Its number within the buffer.
    local: u32,
    /// When it has sent what it sends.
    pub(crate) free_at: Instant,
    /// It will be woken when it is free.
    pub(crate) armed: bool,
}

/// What kind of switch a copy of the loop is for: others have nothing to do with mirrors, chips and scripts.
const PLAIN: u8 = 0;
const MIRROR: u8 = 1;
const CHIP: u8 = 2;
const SCRIPT: u8 = 3;

/// Slots that the event_queue of a chip may have: each number has a copy of the loop.
const CHIP_SLOTS: [usize; 2] = [32, 256];

/// What was found when packets were dropped in a buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtDrops {
    /// The share of the ports' rate that was being sent.
    pub(crate) memory: Shares,
    /// The share of the buffer that was used.
    pub(crate) buffer: Shares,
}

pub(crate) struct Switch {
    /// Its buffers; none if packets are lined up, see `lined_up.rs`.
    pub(crate) buffers: Vec<Tm>,
    fifos: Vec<FifoTm>,
    pub(crate) ports: Vec<Port>,
    pub(crate) at_drops: Vec<AtDrops>,
    /// What equal-cost choices are salted with.
    salt: u32,
    pub(crate) number: u32,
    /// Where its packets go.
    ways: Ways,
    /// The link that its port 0 receives from; those of the other ports follow.
    first_incoming: u32,
    /// 0 if ports have one queue, which all classes share.
    pub(crate) queue_mask: u8,
    ports_per_buffer: usize,
    /// Headers of cut packets have a queue of their own (NDP).
    headers_apart: bool,
    spray: Random,
    /// The ranks of packets count.
    ranked: bool,
    /// For the packets that a buffer has lost, so that the list is made once.
    lost: Vec<Lost>,
    /// The port of the last arrival, if the switch mirrors.
    arrived_at: usize,
    /// It neither mirrors, nor is a chip, nor plays a script.
    is_plain: bool,
    /// What becomes of rejected packets, if they are not simply gone.
    mirror: Option<Mirror>,
    /// The programmable chip that it is, if it is one.
    pub(crate) chip: Option<Box<Chip>>,
    /// The script that it plays, if it plays one.
    script: Option<Box<Scripted>>,
}

impl Switch {
    /// `out` are the links that its ports send on; those that they receive from stand together, from `first_incoming` on.
    pub(crate) fn new(number: u32, setup: &SwitchSetup, out: &[u32], first_incoming: u32, seed: u64) -> Self {
        let ports = out.iter().enumerate().map(|(port, out)| Port {
            out: *out,
            buffer: (port / setup.ports_per_buffer) as u32,
            local: (port % setup.ports_per_buffer) as u32,
            free_at: Instant::ZERO,
            armed: false,
        });
        Self {
            buffers: setup.buffers.iter().map(|config| Tm::new(config.clone())).collect(),
            fifos: Vec::new(),
            ports: ports.collect(),
            at_drops: vec![AtDrops::default(); setup.buffers.len()],
            salt: switch_salt(seed, number),
            number,
            ways: Ways::default(),
            first_incoming,
            queue_mask: if setup.buffers.iter().all(|config| config.queues == 1) { 0 } else { u8::MAX },
            ports_per_buffer: setup.ports_per_buffer,
            headers_apart: setup.buffers.iter().any(|config| matches!(config.trim, Some(TrimConfig::Ndp(_)))),
            spray: Random::stream(seed, "spray", u64::from(number)),
            ranked: setup.buffers.iter().any(|config| config.scheduler.uses_ranks()),
            lost: Vec::new(),
            arrived_at: 0,
            is_plain: true,
            mirror: None,
            chip: None,
            script: None,
        }
    }

    /// Keeps the headers of rejected packets from now on. Its recirculation links have to follow those it receives from.
    pub(crate) fn mirroring(mut self, setup: &MirrorSetup) -> Self {
        self.is_plain = false;
        self.mirror = Some(Mirror::new(setup, self.number, self.ports.len(), self.first_incoming));
        self
    }

    /// Is a programmable chip from now on. Its recirculation links have to follow those it receives from.
    pub(crate) fn programmed(mut self, setup: &ChipSetup, seed: u64) -> Self {
        let (number, ports) = (self.number, self.ports.len());
        let chip = Chip::new(setup, number, self.buffers[0].config(), ports, self.first_incoming, seed);
        self.is_plain = false;
        self.chip = Some(Box::new(chip));
        self
    }

    /// Plays a script from now on.
    pub(crate) fn playing(mut self, script: &Script) -> Self {
        self.is_plain = false;
        self.script = Some(Box::new(Scripted::new(script)));
        self
    }

    /// What it has seen of the flows of its script.
    pub(crate) fn seen_of_script(&mut self) -> Vec<Event> {
        self.script.as_mut().map(|script| core::mem::take(&mut script.events)).unwrap_or_default()
    }

    /// What its chip has seen.
    pub(crate) fn chip_record(&self) -> Option<ChipRecord> {
        self.chip.as_ref().map(|chip| chip.record())
    }

    /// The packet generators of its chip: their slots, and when they are due first.
    pub(crate) fn generators(&self) -> impl Iterator<Item = (usize, Instant)> {
        self.chip.iter().flat_map(|chip| chip.generators(self.ports.len()))
    }

    /// Its recirculation ports.
    pub(crate) fn recirculation(&self) -> impl Iterator<Item = RecirculationRecord> {
        self.mirror.iter().flat_map(Mirror::records)
    }

    /// Takes new ways.
    pub(crate) fn reroute(&mut self, routes: &Routes) {
        self.ways = routes.of_switch(self.number as usize);
    }

    /// What can be seen of a buffer.
    pub(crate) fn view(&self, buffer: usize) -> &dyn View {
        match self.fifos.get(buffer) {
            Some(fifo) => fifo,
            None => &self.buffers[buffer],
        }
    }

    /// What can be seen of all buffers.
    pub(crate) fn views(&self) -> impl Iterator<Item = &dyn View> {
        (0..self.at_drops.len()).map(|buffer| self.view(buffer))
    }

    /// Slots of its event_queue: the ends of transmissions in the lower half, arrivals in the upper half; ports inside the switch come last in
    /// both. Switches that mirror or play a script have all there can be, programmable chips one of a few numbers.
    pub(crate) fn slots(ports: usize, setup: &SwitchSetup) -> usize {
        if let Some(chip) = &setup.chip {
            let inside = chip.inside(ports);
            let needed = 2 * (ports + inside);
            return CHIP_SLOTS.into_iter().find(|slots| needed <= *slots).unwrap_or(MAX_SLOTS);
        }
        if setup.mirror.is_some() || setup.script.is_some() { MAX_SLOTS } else { 2 * ports.next_power_of_two() }
    }

    /// Handles all events before the horizon.
    pub(crate) fn run(&mut self, event_queue: &mut EventQueue, horizon: Key, around: &mut Net) {
        if !self.is_plain {
            return self.run_special(event_queue, horizon, around);
        }
        match event_queue.slots() {
            2 => self.run_sized::<4, PLAIN>(event_queue.sized(), horizon, around),
            4 => self.run_sized::<8, PLAIN>(event_queue.sized(), horizon, around),
            8 => self.run_sized::<16, PLAIN>(event_queue.sized(), horizon, around),
            16 => self.run_sized::<32, PLAIN>(event_queue.sized(), horizon, around),
            32 => self.run_sized::<64, PLAIN>(event_queue.sized(), horizon, around),
            64 => self.run_sized::<128, PLAIN>(event_queue.sized(), horizon, around),
            128 => self.run_sized::<256, PLAIN>(event_queue.sized(), horizon, around),
            256 => self.run_sized::<512, PLAIN>(event_queue.sized(), horizon, around),
            512 => self.run_sized::<1024, PLAIN>(event_queue.sized(), horizon, around),
            _ => self.run_sized::<{ 2 * MAX_SLOTS }, PLAIN>(event_queue.sized(), horizon, around),
        }
    }

    /// [`Switch::run`] of switches that mirror or play a script, and of chips.
    #[cold]
    #[inline(never)]
    fn run_special(&mut self, event_queue: &mut EventQueue, horizon: Key, around: &mut Net) {
        match (self.chip.is_some(), event_queue.slots()) {
            (false, _) if self.script.is_some() => {
                self.run_sized::<{ 2 * MAX_SLOTS }, SCRIPT>(event_queue.sized(), horizon, around);
            }
            (false, _) => self.run_sized::<{ 2 * MAX_SLOTS }, MIRROR>(event_queue.sized(), horizon, around),
            (true, 32) => self.run_sized::<64, CHIP>(event_queue.sized(), horizon, around),
            (true, 256) => self.run_sized::<512, CHIP>(event_queue.sized(), horizon, around),
            (true, _) => self.run_sized::<{ 2 * MAX_SLOTS }, CHIP>(event_queue.sized(), horizon, around),
        }
    }

    /// Handles all events before the horizon, for one kind of switch.
    fn run_sized<const NODES: usize, const WHAT: u8>(
        &mut self,
        mut event_queue: FixedEventQueue<'_, NODES>,
        horizon: Key,
        around: &mut Net,
    ) {
        let event_queue = &mut event_queue;
        loop {
            let key = event_queue.next();
            if key >= horizon {
                return;
            }
            around.events += 1;
            let now = around.wires.clock.instant(key);
            let slot = key.slot();
            if slot < NODES / 4 {
                if WHAT == SCRIPT && slot == self.ports.len() {
                    self.go_on(now, event_queue, around);
                } else if WHAT != CHIP {
                    self.transmission_over(now, slot, event_queue, around);
                } else if slot < self.ports.len() {
                    self.chip_transmit(now, slot, event_queue, around);
                } else {
                    self.chip_due(now, slot, event_queue, around);
                }
            } else {
                let from = slot - NODES / 4;
                let (metadata, next) = around.wires.take(self.first_incoming + from as u32);
                event_queue.set(slot, next);
                if WHAT == CHIP {
                    match from.checked_sub(self.ports.len()) {
                        None => self.chip_arrive(now, from, metadata, event_queue, around),
                        Some(pipeline) => self.chip_arrive_again(now, pipeline, metadata, event_queue, around),
                    }
                    continue;
                }
                if WHAT == SCRIPT {
                    self.arrive_on_stage(now, metadata, event_queue, around);
                    continue;
                }
                if WHAT == MIRROR {
                    self.arrived_at = from;
                    if from >= self.ports.len() {
                        self.arrive_again(now, metadata, event_queue, around);
                        continue;
                    }
                }
                self.arrive(now, metadata, event_queue, around);
            }
        }
    }

    /// A port has sent what it sent.
    #[inline(always)]
    fn transmission_over<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let port = &mut self.ports[number];
        let tm = &mut self.buffers[port.buffer as usize];
        let local = port.local as usize;
        let Some(departure) = tm.next(now, local) else {
            return self.wait_for_eligible(now, number, event_queue, around);
        };
        if around.watched || departure.is_header() || tm.has_losses() {
            return self.depart_observed(now, number, departure, event_queue, around);
        }
        let metadata = around.wires.arena.metadata(departure.id.0 as Slot, departure.bytes());
        port.free_at = around.wires.send(port.out, metadata, now);
        port.armed = tm.has_packets(local);
        let next = if port.armed { around.wires.clock.transmission(port.free_at, number) } else { NEVER };
        event_queue.set(number, next);
    }

    /// [`Switch::depart`] where it is rare.
    #[inline(never)]
    fn depart_observed<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: Departure,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        self.depart(now, number, departure, event_queue, around);
    }

    /// Puts a packet on the wire; the port is woken afterwards if more wait.
    #[inline(always)]
    pub(crate) fn depart<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        departure: Departure,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let port = &mut self.ports[number];
        let (local, buffer) = (port.local as usize, port.buffer as usize);
        let slot = departure.id.0 as Slot;
        if departure.is_header() {
            around.wires.arena.get_mut(slot).bytes = departure.bytes();
        }
        let tm = &self.buffers[buffer];
        if around.watched && around.telemetry {
            stamp(&mut around.wires, port.out, slot, now, tm.port_bytes(local).get());
        }
        if around.watched && around.tracer.is_active() {
            around.tracer.at_switch(now, self.number, number, slot, What::Sent, &around.wires);
        }
        let metadata = around.wires.arena.metadata(slot, departure.bytes());
        let end = around.wires.send(port.out, metadata, now);
        port.free_at = end;
        if tm.has_packets(local) {
            port.armed = true;
            event_queue.set(number, around.wires.clock.transmission(end, number));
        } else if port.armed {
            port.armed = false;
            event_queue.set(number, NEVER);
        }
        self.settle_losses(buffer, around);
    }

    /// A port that sends nothing although it is idle: if it has packets, none of which may leave yet, it is woken when one may.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_eligible<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let port = &mut self.ports[number];
        let buffer = port.buffer as usize;
        let eligible = self.buffers[buffer].next_eligible(port.local as usize);
        let at = eligible.filter(|at| *at > now && *at < Instant::NEVER);
        port.armed = at.is_some();
        event_queue.set(number, at.map_or(NEVER, |at| around.wires.clock.transmission(at, number)));
        self.settle_losses(buffer, around);
    }

    /// The port that a packet leaves by.
    #[inline(always)]
    pub(crate) fn next_hop(&mut self, metadata: Metadata, around: &mut Net) -> Option<usize> {
        let Metadata { packet: slot, to, hash, .. } = metadata;
        let (salt, spray, paths) = (self.salt, &mut self.spray, around.paths);
        let arena = &mut around.wires.arena;
        self.ways.port(to, |count| match paths {
            PathChoice::Ecmp => choose(hash, salt, count),
            _ => spread(paths, salt, arena.get_mut(slot), count, spray),
        })
    }

    #[inline(always)]
    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        metadata: Metadata,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let slot = metadata.packet;
        let Some(number) = self.next_hop(metadata, around) else { return around.wires.lose(slot) };
        let port = &mut self.ports[number];
        let packet = CorePacket {
            id: PacketId(u64::from(slot)),
            bytes: metadata.bytes(),
            port: port.local,
            queue: metadata.class() & u32::from(self.queue_mask),
            class: metadata.class(),
            // Not its number: those of clients' flows depend on whose turn came first.
            flow: u64::from(metadata.hash),
            rank: if self.ranked { u64::from(around.wires.arena.get(slot).rank) } else { 0 },
            eligible: Instant::ZERO,
            unscheduled: metadata.unscheduled(),
            ect: metadata.ect(),
            ..CorePacket::default()
        };
        let tm = &mut self.buffers[port.buffer as usize];
        let wire = if port.free_at > now { Wire::Busy } else { Wire::Idle };
        let outcome = tm.offer(now, &packet, wire);
        match outcome {
            Outcome::Sent if !around.watched => {
                port.free_at = around.wires.send(port.out, metadata, now);
                if port.armed {
                    port.armed = false;
                    event_queue.set(number, NEVER);
                }
            }
            Outcome::Verdict(Verdict::Queued { marked: false })
                if wire == Wire::Busy && !around.watched && !tm.has_losses() =>
            {
                if !port.armed {
                    port.armed = true;
                    event_queue.set(number, around.wires.clock.transmission(port.free_at, number));
                }
            }
            _ => self.after_offer(now, number, slot, wire, outcome, event_queue, around),
        }
    }

    /// Sees to everything about an arrival that is not simply a packet that passes or waits.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "all of it is at hand")]
    fn after_offer<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        wire: Wire,
        outcome: Outcome,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        if !self.settle_arrival(now, number, slot, outcome.verdict(), event_queue, around) {
            return;
        }
        if let Some(departure) = outcome.departure(&self.core_packet(number, slot, around)) {
            return self.depart(now, number, departure, event_queue, around);
        }
        let port = &mut self.ports[number];
        if wire == Wire::Idle {
            // An idle port that is armed waits for a packet that may leave; this may be one.
            self.transmission_over(now, number, event_queue, around);
        } else if !port.armed {
            port.armed = true;
            event_queue.set(number, around.wires.clock.transmission(port.free_at, number));
        }
    }

    /// A packet comes to a switch that plays a script: it is held, or it is gone.
    #[inline(never)]
    fn arrive_on_stage<const NODES: usize>(
        &mut self,
        now: Instant,
        metadata: Metadata,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let Some(script) = &mut self.script else { return };
        let packet = around.wires.arena.get_mut(metadata.packet);
        let fate = script.meet(now, packet, &around.flows);
        if fate.decision.drop {
            return around.wires.lose(metadata.packet);
        }
        if fate.decision.mark && packet.has(flag::ECT) {
            packet.flags |= flag::CE;
        }
        let packet = *packet;
        script.held.push(fate.release, metadata);
        if let Some(at) = fate.copy {
            let copy = around.wires.arena.insert(packet);
            script.held.push(at, around.wires.arena.metadata(copy, metadata.bytes()));
        }
        self.wait_for_held(event_queue, around);
    }

    /// Packets that were held go on.
    #[inline(never)]
    fn go_on<const NODES: usize>(
        &mut self,
        now: Instant,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        while let Some(metadata) = self.script.as_mut().and_then(|script| script.held.pop(now)) {
            self.arrive(now, metadata, event_queue, around);
        }
        self.wait_for_held(event_queue, around);
    }

    /// The slot behind the ports is for the packet that goes on next.
    fn wait_for_held<const NODES: usize>(&mut self, event_queue: &mut FixedEventQueue<'_, NODES>, around: &Net) {
        let next = self.script.as_ref().and_then(|script| script.held.next());
        let slot = self.ports.len();
        event_queue.set(slot, next.map_or(NEVER, |at| around.wires.clock.timer(at, slot)));
    }

    /// A header comes from recirculation, for the port that is its metadata's destination.
    #[inline(never)]
    fn arrive_again<const NODES: usize>(
        &mut self,
        now: Instant,
        metadata: Metadata,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        let number = metadata.to as usize;
        let packet = self.core_packet(number, metadata.packet, around);
        let port = &mut self.ports[number];
        let wire = if port.free_at > now { Wire::Busy } else { Wire::Idle };
        let outcome = self.buffers[port.buffer as usize].offer(now, &packet, wire);
        self.after_offer(now, number, metadata.packet, wire, outcome, event_queue, around);
    }

    /// A packet as the core sees it.
    #[inline(always)]
    pub(crate) fn core_packet(&self, number: usize, slot: Slot, around: &Net) -> CorePacket {
        let packet = around.wires.arena.get(slot);
        CorePacket {
            id: PacketId(u64::from(slot)),
            bytes: packet.bytes,
            port: self.ports[number].local,
            queue: u32::from(packet.class & self.queue_mask),
            class: u32::from(packet.class),
            // Not its number: those of clients' flows depend on whose turn came first.
            flow: u64::from(packet.hash),
            rank: u64::from(packet.rank),
            eligible: Instant::ZERO,
            unscheduled: packet.has(flag::UNSCHEDULED),
            ect: packet.has(flag::ECT),
            ..CorePacket::default()
        }
    }

    /// Sees to everything about an arrival that is not simply a queued packet. Returns whether the packet waits.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle_arrival<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        verdict: Verdict,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) -> bool {
        if !self.note_verdict(slot, verdict, around) {
            self.rejected(now, number, slot, verdict, event_queue, around);
            return false;
        }
        if around.tracer.is_active() {
            around.tracer.verdict(now, self.number, number, slot, verdict, &around.wires);
        }
        self.settle_losses(self.ports[number].buffer as usize, around);
        true
    }

    /// Counts what became of a packet that was not simply queued. Returns whether it waits here, whole or in part.
    fn note_verdict(&mut self, slot: Slot, verdict: Verdict, around: &mut Net) -> bool {
        let packet = around.wires.arena.get_mut(slot);
        let flow = packet.flow;
        match verdict {
            Verdict::Queued { marked } => {
                if marked {
                    packet.flags |= flag::CE;
                    around.flows.marked(flow);
                }
                true
            }
            Verdict::Trimmed { .. } => {
                packet.flags |= flag::TRIMMED;
                if self.headers_apart {
                    // From here on it goes with the answers; in a queue of data it could be cut again.
                    packet.class = around.flows.answer_class(flow);
                }
                around.flows.trimmed(flow);
                true
            }
            Verdict::Returned { .. } => {
                packet.flags |= flag::TRIMMED | flag::RETURNED;
                around.flows.trimmed(flow);
                false
            }
            Verdict::Dropped { .. } => false,
        }
    }

    /// Notes how busy the memory and how full the buffer was when a packet was dropped.
    pub(crate) fn note_drop(&mut self, now: Instant, buffer: usize) {
        let tm = self.view(buffer);
        let (mut sending, mut all) = (0u64, 0u64);
        for port in self.ports.iter().filter(|port| port.buffer as usize == buffer) {
            let rate = tm.rate(port.local as usize).bps();
            all += rate;
            sending += if port.free_at > now { rate } else { 0 };
        }
        let used = tm.used().as_f64() / tm.config().buffer.as_f64();
        let note = &mut self.at_drops[buffer];
        note.memory.record(sending as f64 / all as f64);
        note.buffer.record(used);
    }

    /// Packets that were pushed out, expelled or displaced are gone.
    #[inline(always)]
    pub(crate) fn settle_losses(&mut self, buffer: usize, around: &mut Net) {
        if self.buffers[buffer].has_losses() {
            self.tell_losses(buffer, around);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_losses(&mut self, buffer: usize, around: &mut Net) {
        let mut all = core::mem::take(&mut self.lost);
        all.extend(self.buffers[buffer].losses());
        for lost in all.drain(..) {
            let slot = lost.id.0 as Slot;
            let flow = around.wires.arena.get(slot).flow;
            around.flows.dropped(flow);
            if lost.reason != Reason::Expelled {
                self.note_drop(lost.at, buffer);
            }
            if around.tracer.is_active() {
                around.tracer.at_switch(
                    lost.at,
                    self.number,
                    self.port_of(buffer, lost.queue),
                    slot,
                    What::Lost(lost.reason),
                    &around.wires,
                );
            }
            around.wires.arena.remove(slot);
        }
        // The list is used again.
        self.lost = all;
    }

    /// Lets the buffers do what was due before an instant. It would be done at the next arrival or departure, with the same outcome.
    pub(crate) fn settle_before(&mut self, until: Instant, around: &mut Net) {
        let Some(last) = until.ps().checked_sub(1).map(Instant::from_ps) else { return };
        self.settle_lined_up(until);
        for buffer in 0..self.buffers.len() {
            if self.buffers[buffer].due() <= last {
                self.buffers[buffer].advance(last);
                self.settle_losses(buffer, around);
            }
        }
    }

    /// The port of a queue of a buffer.
    fn port_of(&self, buffer: usize, queue: usize) -> usize {
        self.port_number(buffer, queue / self.buffers[buffer].config().queues)
    }

    /// The number of a buffer's port.
    pub(crate) fn port_number(&self, buffer: usize, local: usize) -> usize {
        buffer * self.ports_per_buffer + local
    }

    /// The link that a port sends on.
    pub(crate) fn outgoing(&self, port: usize) -> u32 {
        self.ports[port].out
    }

    /// A packet that was dropped is gone; one that was turned around goes back to where it came from.
    #[cold]
    #[inline(never)]
    fn rejected<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        verdict: Verdict,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) {
        if around.tracer.is_active() {
            around.tracer.verdict(now, self.number, number, slot, verdict, &around.wires);
        }
        let buffer = self.ports[number].buffer as usize;
        self.settle_losses(buffer, around);
        if let Verdict::Dropped { reason } = verdict {
            if self.mirror_dropped(now, number, slot, reason, event_queue, around) {
                return;
            }
        }
        let packet = around.wires.arena.get_mut(slot);
        let flow = packet.flow;
        let source = around.flows.source(flow);
        // A header that finds no room on its way back either, and an answer, which goes there anyway, cannot be turned around.
        let stuck = packet.to == source;
        if matches!(verdict, Verdict::Dropped { .. }) || stuck {
            around.flows.dropped(flow);
            self.note_drop(now, buffer);
            if matches!(verdict, Verdict::Dropped { .. }) {
                around.wires.arena.remove(slot);
            } else {
                // The buffer's counters say that it was turned around.
                around.wires.lose(slot);
            }
            return;
        }
        packet.to = source;
        packet.bytes = around.flows.answer_bytes(flow);
        packet.class = around.flows.answer_class(flow);
        let metadata = around.wires.arena.metadata(slot, around.flows.answer_bytes(flow));
        self.arrive(now, metadata, event_queue, around);
    }

    /// Sends the header of a packet that a port has rejected around, if the switch mirrors and there is room. Returns whether it did.
    fn mirror_dropped<const NODES: usize>(
        &mut self,
        now: Instant,
        number: usize,
        slot: Slot,
        reason: Reason,
        event_queue: &mut FixedEventQueue<'_, NODES>,
        around: &mut Net,
    ) -> bool {
        let Some(mirror) = &mut self.mirror else { return false };
        let packet = *around.wires.arena.get(slot);
        if !Mirror::wants(&packet, reason) {
            return false;
        }
        let ports = (self.arrived_at, number);
        let Some(event) = mirror.recirculate(now, ports, slot, &mut around.wires) else { return false };
        if let Some((place, key)) = event {
            event_queue.set(NODES / 4 + place, key);
        }
        let port = &self.ports[number];
        let tm = &mut self.buffers[port.buffer as usize];
        let queue = tm.queue_index(port.local as usize, usize::from(packet.class & self.queue_mask));
        tm.mirrored(queue, reason, packet.bytes);
        around.flows.trimmed(packet.flow);
        true
    }
}

/// Which of `count` equal ways a sprayed packet takes.
#[inline(never)]
fn spread(paths: PathChoice, salt: u32, packet: &mut Packet, count: usize, random: &mut Random) -> usize {
    if paths == PathChoice::SprayRandom {
        return (random.unit() * count as f64) as usize;
    }
    // In turn from a start of the flow's own. A packet that was spread over `count` ways before moves on here only once in `count`
    // packets, so that all combinations have their turn.
    let turns = (0..packet.spreads).fold(packet.seq as usize, |turns, _| turns / count);
    packet.spreads += 1;
    ((mix(u64::from(packet.hash ^ salt)) >> 33) as usize + turns) % count
}

/// In-band telemetry of a packet that leaves.
#[inline(never)]
fn stamp(wires: &mut Wires, out: u32, slot: Slot, now: Instant, queued: u64) {
    if wires.arena.get(slot).kind != Kind::Data {
        return;
    }
    let link = &wires.links[out as usize];
    let stamp = HopStamp { at: now, sent: link.sent, queued, rate: link.rate.bps() };
    if let Some(telemetry) = wires.arena.telemetry_mut(slot) {
        telemetry.push(stamp);
    }
}
