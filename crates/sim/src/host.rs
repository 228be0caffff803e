//! A host: the ends of its flows, their timers, and the queue in front of its link.

use crate::event_queue::{EventQueue, FixedEventQueue, Key, NEVER};
use crate::flow::NONE;
use crate::flows::{Armed, FlowTable};
use crate::measure::breakdown::{Sending, Trigger, Wait};
use crate::measure::trace::What;
use crate::net::Net;
use crate::nic::{End, Handed, Nic};
use crate::packet::{Kind, Metadata, OPEN_WINDOW, Packet, Slot, flag};
use crate::transport::ndp::PullQueue;
use crate::transport::{FlowInfo, Receiver, Reply, Sender, Wake};
use crate::wires::Wires;
use forebay_tm::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The slots of a host's event_queue.
pub(crate) mod slot {
    /// The link is free.
    pub(crate) const NIC: usize = 0;
    /// A packet arrives.
    pub(crate) const ARRIVAL: usize = 1;
    /// A timer runs out.
    pub(crate) const TIMERS: usize = 2;
    /// A planned flow starts.
    pub(crate) const STARTS: usize = 3;
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
}

/// A host's event_queue, its size known.
pub(crate) type HostAgenda<'a> = FixedEventQueue<'a, { 2 * slot::COUNT }>;

/// What a timer is for, in the order in which timers of one instant run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    Sender,
    /// Pacing lets a sender's next packet go.
    Pace,
    Receiver,
    Start,
    Pull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    at: Instant,
    purpose: Purpose,
    /// The flow's hash: what orders timers of one instant. The numbers of closed-loop clients' flows depend on whose turn came first.
    hash: u32,
    flow: u32,
}

pub(crate) struct Host {
    number: u32,
    incoming: u32,
    nic: Nic,
    timers: BinaryHeap<Reverse<Timer>>,
    /// Planned flows, in order of start, and how many have started.
    starts: Vec<u32>,
    started: usize,
    pulls: PullQueue,
    /// The time between two pulls: that of a full packet on the link.
    pull_spacing: Duration,
    /// When the timer for the next pull is set; [`Instant::NEVER`] if it is not.
    pull_armed: Instant,
    /// Packets sent and received.
    sent: u64,
    received: u64,
}

impl Host {
    pub(crate) fn new(number: u32, incoming: u32, nic: Nic, starts: Vec<u32>, pull_spacing: Duration) -> Self {
        Self {
            number,
            incoming,
            nic,
            timers: BinaryHeap::new(),
            starts,
            started: 0,
            pulls: PullQueue::new(),
            pull_spacing,
            pull_armed: Instant::NEVER,
            sent: 0,
            received: 0,
        }
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    pub(crate) fn nic(&self) -> &Nic {
        &self.nic
    }

    /// The key of the next planned flow.
    pub(crate) fn next_start(&self, flows: &FlowTable, wires: &Wires) -> Key {
        match self.starts.get(self.started) {
            Some(flow) => wires.clock.timer(flows.records[*flow as usize].spec.start, slot::STARTS),
            None => NEVER,
        }
    }

    /// Handles all events before the horizon.
    pub(crate) fn run(&mut self, event_queue: &mut EventQueue, horizon: Key, around: &mut Net) {
        let event_queue = &mut event_queue.sized::<{ 2 * slot::COUNT }>();
        loop {
            let key = event_queue.next();
            if key >= horizon {
                return;
            }
            around.events += 1;
            let now = around.wires.clock.instant(key);
            match key.slot() {
                slot::ARRIVAL => {
                    let (metadata, next) = around.wires.take(self.incoming);
                    event_queue.set(slot::ARRIVAL, next);
                    self.receive(now, metadata.packet, event_queue, around);
                }
                slot::NIC if self.nic.is_managed() => {
                    self.nic.free(now, event_queue, &mut around.wires, &mut around.flows);
                }
                slot::NIC => self.link_is_free(now, event_queue, around),
                slot::TIMERS => self.timers_due(now, event_queue, around),
                _ => self.starts_due(now, event_queue, around),
            }
        }
    }

    // ---- Flows start -------------------------------------------------------------------------------------------------

    #[inline(never)]
    fn starts_due(&mut self, now: Instant, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        while let Some(flow) = self.starts.get(self.started).copied() {
            if around.flows.records[flow as usize].spec.start > now {
                break;
            }
            self.started += 1;
            self.start(now, flow, event_queue, around);
        }
        let next = self.next_start(&around.flows, &around.wires);
        event_queue.set(slot::STARTS, next);
    }

    fn start(&mut self, now: Instant, number: u32, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let (info, ideal) = flow_info(number, around);
        let record = &mut around.flows.records[number as usize];
        (record.spec.start, record.ideal) = (now, ideal);
        around.wires.trails.trigger = Trigger::Answer;
        let sender = open_sender(now, number, info, &mut around.flows);
        let record = &around.flows.records[number as usize];
        let armed = Armed { machine: sender, armed: Instant::NEVER, paced: Instant::NEVER, until: record.spec.until };
        around.flows.flows[number as usize].sender = around.flows.senders.insert(armed);
        self.pump(now, number, event_queue, around);
    }

    // ---- Packets come in ---------------------------------------------------------------------------------------------

    #[inline(always)]
    fn receive(&mut self, now: Instant, slot: Slot, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        if around.watched {
            around.tracer.at_host(now, self.number, slot, What::Received, &around.wires);
        }
        self.received += 1;
        let packet = around.wires.arena.get_mut(slot);
        let for_receiver = matches!(packet.kind, Kind::Data | Kind::Probe) && !packet.has(flag::RETURNED);
        if for_receiver {
            self.receive_data(now, slot, event_queue, around);
            return;
        }
        let number = packet.flow;
        let sender = around.flows.flows[number as usize].sender;
        if sender != NONE {
            let packet = around.wires.arena.get(slot);
            let telemetry = around.wires.arena.telemetry(slot);
            around.flows.senders.get_mut(sender).machine.on_answer(now, packet, telemetry);
            if around.watched && packet.has(flag::TRACED) {
                let window = around.flows.senders.get(sender).machine.window();
                around.tracer.answered(now, packet, window);
            }
            around.wires.arena.remove(slot);
            around.wires.trails.trigger = Trigger::Answer;
            self.pump(now, number, event_queue, around);
        } else {
            around.wires.arena.remove(slot);
        }
    }

    #[inline(always)]
    fn receive_data(&mut self, now: Instant, slot: Slot, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let packet = around.wires.arena.get_mut(slot);
        let number = packet.flow;
        let flow = &around.flows.flows[number as usize];
        let receiver = if flow.receiver == NONE {
            if around.flows.records[number as usize].is_complete() {
                return self.answer_late(now, slot, event_queue, around);
            }
            self.open_receiver(now, number, around)
        } else {
            flow.receiver
        };
        let packet = around.wires.arena.get_mut(slot);
        let armed = around.flows.receivers.get_mut(receiver);
        if packet.has(flag::TRIMMED) && !matches!(armed.machine, Receiver::Ndp(_)) {
            // To a transport that does not know of trimming, a header alone is no packet.
            around.wires.arena.remove(slot);
            return;
        }
        let reply = armed.machine.on_packet(now, packet);
        if armed.machine.is_complete() {
            return self.complete(now, number, slot, reply, event_queue, around);
        }
        let deadline = armed.machine.deadline();
        if deadline < armed.armed {
            armed.armed = deadline;
            let hash = around.flows.flows[number as usize].hash;
            self.set_timer(Timer { at: deadline, purpose: Purpose::Receiver, hash, flow: number }, event_queue, around);
        }
        match reply {
            Reply::Nothing => around.wires.arena.remove(slot),
            Reply::Answer => self.answer(now, number, slot, event_queue, around),
            Reply::AnswerAndPull => {
                self.answer(now, number, slot, event_queue, around);
                self.pulls.request(number);
                self.pull(now, event_queue, around);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn open_receiver(&mut self, now: Instant, number: u32, around: &mut Net) -> u32 {
        let (info, _) = flow_info(number, around);
        let transport = around.flows.flows[number as usize].transport;
        let kept = around.flows.flows[number as usize].kept;
        let mut machine = Receiver::new(&around.flows.transports[usize::from(transport)], info, kept);
        let application = around.flows.applications.get(&number);
        if let (Receiver::Linux(receiver), Some((from, until))) = (&mut machine, application.and_then(|it| it.pause)) {
            // The connection is open a round trip after its first packet.
            let open = now + info.base_rtt;
            *receiver = receiver.clone().with_pause(open + from, open + until);
        }
        let never = Instant::NEVER;
        let receiver = around.flows.receivers.insert(Armed { machine, armed: never, paced: never, until: never });
        around.flows.flows[number as usize].receiver = receiver;
        receiver
    }

    /// The last packet of a flow has come in.
    #[cold]
    #[inline(never)]
    fn complete(
        &mut self,
        now: Instant,
        number: u32,
        slot: Slot,
        reply: Reply,
        event_queue: &mut HostAgenda<'_>,
        around: &mut Net,
    ) {
        let flow = &mut around.flows.flows[number as usize];
        let receiver = core::mem::replace(&mut flow.receiver, NONE);
        self.nic.close(&mut flow.queues[End::Receiver as usize]);
        let received = around.flows.receivers.get_mut(receiver).machine.received();
        around.flows.receivers.remove(receiver);
        self.pulls.forget(number);
        let record = &mut around.flows.records[number as usize];
        record.end = now;
        record.received = received;
        if around.wires.trails.on {
            around.wires.trails.completed(number, slot);
        }
        around.flows.unfinished -= 1;
        if reply == Reply::Nothing {
            self.answer_late(now, slot, event_queue, around);
        } else {
            self.answer(now, number, slot, event_queue, around);
        }
        // What waited for this flow starts here, or is told to start here later.
        let spec = around.flows.records[number as usize].spec;
        for (at, next) in around.traffic.arrived(now, number, &spec, &mut around.flows) {
            let hash = around.flows.flows[next as usize].hash;
            self.set_timer(Timer { at, purpose: Purpose::Start, hash, flow: next }, event_queue, around);
        }
    }

    /// A packet of a flow that is complete: the sender missed the last answer.
    #[cold]
    #[inline(never)]
    fn answer_late(&mut self, now: Instant, slot: Slot, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let packet = around.wires.arena.get_mut(slot);
        let number = packet.flow;
        let flow = &around.flows.flows[number as usize];
        if !around.flows.transports[usize::from(flow.transport)].kind.answers() {
            around.wires.arena.remove(slot);
            return;
        }
        packet.echo = if packet.kind == Kind::Probe { u32::MAX } else { packet.seq };
        packet.kind = Kind::Ack;
        packet.seq = flow.packets;
        packet.block = (0, 0);
        packet.flags &= flag::CE | flag::TRACED;
        packet.more = Default::default();
        packet.window = OPEN_WINDOW;
        self.answer(now, number, slot, event_queue, around);
    }

    /// Sends a packet that has been made into an answer back to the flow's source.
    #[inline(always)]
    fn answer(&mut self, now: Instant, number: u32, slot: Slot, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let flow = &around.flows.flows[number as usize];
        let packet = around.wires.arena.get_mut(slot);
        packet.to = flow.src;
        packet.hash = flow.answer_hash;
        packet.class = flow.answer_class;
        packet.bytes = flow.answer_bytes;
        packet.rank = 0;
        packet.spreads = 0;
        // An answer is never marked, and goes before data where ABM tells them apart.
        packet.flags = (packet.flags & flag::OF_ANSWERS) | flag::UNSCHEDULED;
        let metadata = Metadata::of(packet, slot, packet.bytes);
        self.send(now, metadata, (number, End::Receiver), event_queue, around);
    }

    // ---- Packets go out ----------------------------------------------------------------------------------------------

    /// Sends what a sender has to send, and sees to its timer. As long as the wire takes all of it at once, that is little work.
    #[inline(always)]
    fn pump(&mut self, now: Instant, number: u32, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        if self.nic.has_waiting() || around.watched {
            return self.pump_slowly(now, number, event_queue, around);
        }
        let mut outgoing = Outgoing::new(now, number, around);
        if now >= around.flows.senders.get_mut(outgoing.sender).until {
            return self.close_sender(now, number, around);
        }
        while let Some(slot) = outgoing.poll(now, around) {
            self.sent += 1;
            if !self.nic.send_at_once(now, outgoing.metadata(slot), &mut around.wires) {
                let from = (number, End::Source);
                self.nic.wait_unlabeled(now, slot, from, event_queue, &mut around.wires, &mut around.flows);
                return self.pump_slowly(now, number, event_queue, around);
            }
        }
        self.rest(now, number, &outgoing, false, event_queue, around);
    }

    /// The same while packets wait: a sender is not asked for more than may wait of it. Or while somebody watches.
    #[inline(never)]
    fn pump_slowly(&mut self, now: Instant, number: u32, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let mut outgoing = Outgoing::new(now, number, around);
        let mut room = self.nic.room(number, &around.flows);
        if room >= outgoing.full && now >= around.flows.senders.get_mut(outgoing.sender).until {
            return self.close_sender(now, number, around);
        }
        while room >= outgoing.full {
            let Some(slot) = outgoing.poll(now, around) else { break };
            let metadata = outgoing.metadata(slot);
            if self.send(now, metadata, (number, End::Source), event_queue, around) == Handed::Waits {
                room = room.saturating_sub(u64::from(outgoing.packet.bytes));
                if room < outgoing.full {
                    // Another segment may follow.
                    room = self.nic.room(number, &around.flows);
                }
            }
        }
        let is_throttled = room < outgoing.full;
        if is_throttled {
            self.nic.throttle(number, &around.flows);
        }
        self.rest(now, number, &outgoing, is_throttled, event_queue, around);
    }

    /// A sender has sent what it may: sees to its timer, or to its end.
    #[inline(always)]
    fn rest(
        &mut self,
        now: Instant,
        number: u32,
        outgoing: &Outgoing,
        is_throttled: bool,
        event_queue: &mut HostAgenda<'_>,
        around: &mut Net,
    ) {
        let armed = around.flows.senders.get_mut(outgoing.sender);
        let Some(Wake { deadline, release }) = armed.machine.wake() else {
            return self.close_sender(now, number, around);
        };
        // What a sender that is throttled would send now must wait: it is woken when there is room, not by a timer.
        let sets = |at: Instant, armed: Instant| at < armed && !(is_throttled && at <= now);
        let (sets_deadline, sets_release) = (sets(deadline, armed.armed), sets(release, armed.paced));
        if !(sets_deadline | sets_release) {
            return;
        }
        let timer = Timer { at: deadline, purpose: Purpose::Sender, hash: outgoing.packet.hash, flow: number };
        if sets_deadline {
            armed.armed = deadline;
        }
        if sets_release {
            armed.paced = release;
            self.set_timer(Timer { at: release, purpose: Purpose::Pace, ..timer }, event_queue, around);
        }
        if sets_deadline {
            self.set_timer(timer, event_queue, around);
        }
    }

    #[cold]
    #[inline(never)]
    fn close_sender(&mut self, now: Instant, number: u32, around: &mut Net) {
        let flow = &mut around.flows.flows[number as usize];
        let place = core::mem::replace(&mut flow.sender, NONE);
        self.nic.close(&mut flow.queues[End::Source as usize]);
        let machine = &around.flows.senders.get_mut(place).machine;
        let (stats, done) = (machine.stats(), machine.is_done());
        let spec = &around.flows.records[number as usize].spec;
        if around.flows.transports[usize::from(spec.transport)].keeps_connections() {
            if let Some(connection) = machine.connection() {
                let between = (spec.src, spec.dst, spec.transport);
                around.flows.idle.entry(between).or_default().push(connection);
            }
        }
        around.flows.senders.remove(place);
        let record = &mut around.flows.records[number as usize];
        record.retransmissions = stats.retransmissions;
        record.timeouts = stats.timeouts;
        let answers = around.flows.transports[usize::from(record.spec.transport)].kind.answers();
        if done && answers {
            record.acked = now;
        }
    }

    /// Sends a packet from an end of a flow.
    #[inline(always)]
    fn send(
        &mut self,
        now: Instant,
        metadata: Metadata,
        from: (u32, End),
        event_queue: &mut HostAgenda<'_>,
        around: &mut Net,
    ) -> Handed {
        self.sent += 1;
        if around.watched {
            return self.send_watched(now, metadata, from, event_queue, around);
        }
        self.nic.send(now, metadata, from, event_queue, &mut around.wires, &mut around.flows)
    }

    #[cold]
    #[inline(never)]
    fn send_watched(
        &mut self,
        now: Instant,
        metadata: Metadata,
        from: (u32, End),
        event_queue: &mut HostAgenda<'_>,
        around: &mut Net,
    ) -> Handed {
        // A managed queue does not say what became of the packet, and may mark it.
        if self.nic.is_managed() {
            self.trace(now, metadata.packet, Handed::Over, around);
        }
        let handed = self.nic.send(now, metadata, from, event_queue, &mut around.wires, &mut around.flows);
        // The slot of a packet that was dropped is as it was until another packet gets it.
        if !self.nic.is_managed() {
            self.trace(now, metadata.packet, handed, around);
        }
        handed
    }

    /// Keeps what became of a packet that was sent.
    fn trace(&self, now: Instant, packet: Slot, handed: Handed, around: &mut Net) {
        let what = match handed {
            Handed::Over => What::Sent,
            Handed::Waits => What::Queued,
            Handed::Dropped(reason) => What::Rejected(reason),
        };
        around.tracer.at_host(now, self.number, packet, what, &around.wires);
    }

    /// The link is free: hands it what waits, as much as it may have, and asks senders whose packets leave for more.
    #[inline(never)]
    fn link_is_free(&mut self, now: Instant, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        while let Some(departure) = self.nic.next(now, &mut around.wires, &mut around.flows) {
            if around.watched {
                self.trace(now, departure.metadata.packet, Handed::Over, around);
            }
            if departure.wakes && around.flows.flows[departure.flow as usize].sender != NONE {
                around.wires.trails.trigger = Trigger::Host;
                self.pump_slowly(now, departure.flow, event_queue, around);
            }
        }
        self.nic.arm(event_queue, &around.wires);
    }

    // ---- Timers ------------------------------------------------------------------------------------------------------

    #[inline(never)]
    fn set_timer(&mut self, timer: Timer, event_queue: &mut HostAgenda<'_>, around: &Net) {
        if timer.at == Instant::NEVER {
            return;
        }
        self.timers.push(Reverse(timer));
        self.show_timers(event_queue, around);
    }

    /// Enters the earliest timer into the event_queue.
    fn show_timers(&self, event_queue: &mut HostAgenda<'_>, around: &Net) {
        let key = self.timers.peek().map_or(NEVER, |timer| around.wires.clock.timer(timer.0.at, slot::TIMERS));
        event_queue.set(slot::TIMERS, key);
    }

    #[inline(never)]
    fn timers_due(&mut self, now: Instant, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        while let Some(Reverse(timer)) = self.timers.peek().copied() {
            if timer.at > now {
                break;
            }
            self.timers.pop();
            match timer.purpose {
                Purpose::Sender => self.sender_due(now, timer, event_queue, around),
                Purpose::Pace => self.pace_due(now, timer, event_queue, around),
                Purpose::Receiver => self.receiver_due(now, timer, event_queue, around),
                Purpose::Start => self.start(now, timer.flow, event_queue, around),
                Purpose::Pull => {
                    if self.pull_armed == timer.at {
                        self.pull_armed = Instant::NEVER;
                        self.pull(now, event_queue, around);
                    }
                }
            }
        }
        self.show_timers(event_queue, around);
    }

    fn sender_due(&mut self, now: Instant, timer: Timer, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let place = around.flows.flows[timer.flow as usize].sender;
        if place == NONE {
            return;
        }
        let armed = around.flows.senders.get_mut(place);
        if armed.armed != timer.at {
            // A timer that was set earlier than this one has taken its place.
            return;
        }
        armed.armed = Instant::NEVER;
        if armed.machine.deadline() <= now {
            if let Sender::Linux(sender) = &mut armed.machine {
                let queue = around.flows.flows[timer.flow as usize].queues[End::Source as usize];
                sender.set_in_host(self.nic.waiting_in(queue) > 0);
            }
            armed.machine.on_deadline(now);
            around.wires.trails.trigger = Trigger::Deadline;
            self.pump(now, timer.flow, event_queue, around);
        } else {
            // It has moved on since the timer was set.
            let deadline = armed.machine.deadline();
            armed.armed = deadline;
            self.set_timer(Timer { at: deadline, ..timer }, event_queue, around);
        }
    }

    fn pace_due(&mut self, now: Instant, timer: Timer, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let place = around.flows.flows[timer.flow as usize].sender;
        if place == NONE {
            return;
        }
        let armed = around.flows.senders.get_mut(place);
        if armed.paced == timer.at {
            armed.paced = Instant::NEVER;
            around.wires.trails.trigger = Trigger::Pace;
            self.pump(now, timer.flow, event_queue, around);
        }
    }

    fn receiver_due(&mut self, now: Instant, timer: Timer, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        let place = around.flows.flows[timer.flow as usize].receiver;
        if place == NONE {
            return;
        }
        let armed = around.flows.receivers.get_mut(place);
        if armed.armed != timer.at {
            return;
        }
        armed.armed = Instant::NEVER;
        let deadline = armed.machine.deadline();
        if deadline <= now {
            let mut packet = Packet { flow: timer.flow, ..Packet::default() };
            let reply = armed.machine.on_deadline(now, &mut packet);
            let next = armed.machine.deadline();
            armed.armed = next;
            self.set_timer(Timer { at: next, ..timer }, event_queue, around);
            if reply != Reply::Nothing {
                let slot = around.wires.arena.insert(packet);
                self.answer(now, timer.flow, slot, event_queue, around);
            }
            return;
        }
        armed.armed = deadline;
        self.set_timer(Timer { at: deadline, ..timer }, event_queue, around);
    }

    /// Sends the pulls that are due.
    #[inline(never)]
    fn pull(&mut self, now: Instant, event_queue: &mut HostAgenda<'_>, around: &mut Net) {
        while let Some(number) = self.pulls.next(now, self.pull_spacing) {
            let place = around.flows.flows[number as usize].receiver;
            if place == NONE {
                continue;
            }
            let Receiver::Ndp(receiver) = &mut around.flows.receivers.get_mut(place).machine else { continue };
            let packet = Packet { kind: Kind::Pull, seq: receiver.pull_sent(), flow: number, ..Packet::default() };
            if receiver.wants_pull() {
                self.pulls.request(number);
            }
            let slot = around.wires.arena.insert(packet);
            self.answer(now, number, slot, event_queue, around);
        }
        let deadline = self.pulls.deadline().max(now);
        if deadline < self.pull_armed {
            self.pull_armed = deadline;
            self.set_timer(Timer { at: deadline, purpose: Purpose::Pull, hash: 0, flow: NONE }, event_queue, around);
        }
    }
}

/// The sender of a flow: on a connection that is idle, if connections are kept, else on its own.
fn open_sender(now: Instant, number: u32, info: FlowInfo, flows: &mut FlowTable) -> Sender {
    let spec = &flows.records[number as usize].spec;
    let config = &flows.transports[usize::from(spec.transport)];
    if config.keeps_connections() {
        let idle = flows.idle.get_mut(&(spec.src, spec.dst, spec.transport)).and_then(Vec::pop);
        flows.flows[number as usize].kept = idle.is_some();
        return Sender::on_connection(config, info, now, idle);
    }
    match (Sender::new(config, info, now), flows.applications.get(&number)) {
        (Sender::Linux(sender), Some(application)) => {
            Sender::Linux(Box::new(sender.with_writes(now, application.writes.clone())))
        }
        (sender, _) => sender,
    }
}

/// What all packets of a flow that its sender sends now have in common, and the last of them.
struct Outgoing {
    packet: Packet,
    sender: u32,
    header: u32,
    /// The bytes of a full packet.
    full: u64,
    traced: u16,
}

impl Outgoing {
    #[inline(always)]
    fn new(now: Instant, number: u32, around: &Net) -> Self {
        let flow = &around.flows.flows[number as usize];
        Self {
            packet: Packet {
                sent_at: now,
                flow: number,
                to: flow.dst,
                hash: flow.hash,
                class: flow.class,
                echo: around.flows.senders.get(flow.sender).machine.echo(),
                ..Packet::default()
            },
            sender: flow.sender,
            header: flow.header,
            full: u64::from(flow.full),
            traced: if flow.traced { flag::TRACED } else { 0 },
        }
    }

    /// The next packet.
    #[inline(always)]
    fn poll(&mut self, now: Instant, around: &mut Net) -> Option<Slot> {
        let segment = around.flows.senders.get_mut(self.sender).machine.poll(now)?;
        self.packet.kind = segment.kind;
        self.packet.seq = segment.seq;
        self.packet.bytes = segment.payload + self.header;
        self.packet.rank = segment.rank;
        self.packet.flags = segment.flags | self.traced;
        let slot = around.wires.arena.insert(self.packet);
        if around.wires.trails.on {
            self.note_sent(now, slot, around);
        }
        Some(slot)
    }

    /// Keeps what the sender waited for before this packet.
    #[cold]
    #[inline(never)]
    fn note_sent(&self, now: Instant, slot: Slot, around: &mut Net) {
        let flow = self.packet.flow;
        let sender = &around.flows.senders.get(self.sender).machine;
        let deadlines = match sender {
            Sender::Udp(_) | Sender::Stream(_) => Wait::Pacing,
            _ if around.flows.applications.contains_key(&flow) => Wait::Application,
            // A loss probe with new data.
            _ => Wait::Timeout,
        };
        let sending = Sending {
            now,
            flow,
            started: around.flows.records[flow as usize].spec.start,
            flags: self.packet.flags,
            bytes: self.packet.bytes,
            rate: around.fabric.host_rate(around.flows.flows[flow as usize].src),
            timeouts: sender.stats().timeouts,
            deadlines,
        };
        around.wires.trails.sent(slot, &sending);
    }

    #[inline(always)]
    fn metadata(&self, slot: Slot) -> Metadata {
        Metadata::of(&self.packet, slot, self.packet.bytes)
    }
}

/// What both ends of a flow know of it from the start, and how long it would take alone.
fn flow_info(number: u32, around: &Net) -> (FlowInfo, Duration) {
    let flow = &around.flows.flows[number as usize];
    let spec = &around.flows.records[number as usize].spec;
    let common = &around.flows.transports[usize::from(flow.transport)].common;
    let facts = around.fabric.facts(flow, spec.bytes, common);
    let info = FlowInfo {
        bytes: spec.bytes,
        packets: flow.packets,
        base_rtt: Duration::from_ps(facts.base_rtt.ps() + around.flows.held.ps()),
        open_rtt: Duration::from_ps(facts.open_rtt.ps() + around.flows.held.ps()),
        rate: facts.rate,
        number: flow.hash,
        seed: around.seed,
        until: spec.until,
    };
    (info, facts.ideal)
}
