//! A host: the ends of its flows, their timers, and the queue in front of its link.

mod sending;
mod timers;

use crate::event_queue::{EventQueue, Key, NEVER};
use crate::flow::NONE;
use crate::flows::{Armed, FlowTable};
use crate::measure::breakdown::Trigger;
use crate::measure::trace::What;
use crate::net::{Context, Net};
use crate::nic::{End, Nic};
use crate::packet::{Kind, Metadata, OPEN_WINDOW, Slot, flag};
use crate::pause::Frame;
use crate::transport::ndp::PullQueue;
use crate::transport::{FlowInfo, Receiver, Reply, Sender};
use crate::wires::Wires;
use forebay_tm::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use timers::{Purpose, Timer};

/// The slots of a host's event queue.
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

/// What a host has at hand while it handles its events.
pub(crate) type HostContext<'a> = Context<'a, { 2 * slot::COUNT }>;

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

    /// The link that it receives from.
    pub(crate) fn incoming(&self) -> u32 {
        self.incoming
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
    pub(crate) fn run(&mut self, events: &mut EventQueue, horizon: Key, net: &mut Net) {
        if self.nic.can_be_paused() {
            return self.run_as::<true>(events, horizon, net);
        }
        self.run_as::<false>(events, horizon, net);
    }

    /// The same for hosts that can be paused, and for those that cannot.
    #[inline(always)]
    fn run_as<const PAUSED: bool>(&mut self, events: &mut EventQueue, horizon: Key, net: &mut Net) {
        let mut cx = HostContext { events: events.sized(), net };
        loop {
            let key = cx.events.next();
            if key >= horizon {
                return;
            }
            cx.net.events += 1;
            let now = cx.net.wires.clock.instant(key);
            match key.slot() {
                slot::ARRIVAL => {
                    let (metadata, next) = cx.net.wires.take(self.incoming);
                    cx.events.set(slot::ARRIVAL, next);
                    if PAUSED && self.is_paused_by(now, &metadata, cx.reborrow()) {
                        continue;
                    }
                    self.receive(now, metadata.packet, cx.reborrow());
                }
                slot::NIC if self.nic.is_managed() => {
                    self.nic.free(now, cx.reborrow());
                }
                slot::NIC => {
                    self.link_is_free(now, cx.reborrow());
                    if PAUSED {
                        self.nic.wake_lossless(now, cx.reborrow());
                    } else {
                        self.nic.arm(cx.reborrow());
                    }
                }
                slot::TIMERS => self.timers_due(now, cx.reborrow()),
                _ => self.starts_due(now, cx.reborrow()),
            }
        }
    }

    /// Whether what has come in is a frame that pauses or resumes.
    fn is_paused_by(&mut self, now: Instant, metadata: &Metadata, cx: HostContext<'_>) -> bool {
        let Some(frame) = Frame::land(metadata, &mut cx.net.wires) else { return false };
        if let Some(lossless) = self.nic.lossless() {
            lossless.hear(now, frame);
        }
        self.nic.wake_lossless(now, cx);
        true
    }

    /// How often a class of its NIC was paused, and for how long; none if it cannot be.
    pub(crate) fn paused(&mut self, class: usize, end: Instant) -> Option<(u64, Duration)> {
        self.nic.lossless().map(|lossless| lossless.totals(class, end))
    }

    // ---- Flows start
    // -------------------------------------------------------------------------------------------------

    #[inline(never)]
    fn starts_due(&mut self, now: Instant, mut cx: HostContext<'_>) {
        while let Some(flow) = self.starts.get(self.started).copied() {
            if cx.net.flows.records[flow as usize].spec.start > now {
                break;
            }
            self.started += 1;
            self.start(now, flow, cx.reborrow());
        }
        let next = self.next_start(&cx.net.flows, &cx.net.wires);
        cx.events.set(slot::STARTS, next);
    }

    fn start(&mut self, now: Instant, number: u32, cx: HostContext<'_>) {
        let (info, ideal) = flow_info(number, cx.net);
        let record = &mut cx.net.flows.records[number as usize];
        (record.spec.start, record.ideal) = (now, ideal);
        cx.net.wires.trails.trigger = Trigger::Reply;
        let sender = open_sender(now, number, info, &mut cx.net.flows);
        let record = &cx.net.flows.records[number as usize];
        let armed = Armed { machine: sender, armed: Instant::NEVER, paced: Instant::NEVER, until: record.spec.until };
        cx.net.flows.flows[number as usize].sender = cx.net.flows.senders.insert(armed);
        self.pump(now, number, cx);
    }

    // ---- Packets come in
    // ---------------------------------------------------------------------------------------------

    #[inline(always)]
    fn receive(&mut self, now: Instant, slot: Slot, mut cx: HostContext<'_>) {
        if cx.net.watched {
            cx.net.tracer.at_host(now, self.number, slot, What::Received, &cx.net.wires);
        }
        self.received += 1;
        let packet = cx.net.wires.arena.get_mut(slot);
        let for_receiver = matches!(packet.kind, Kind::Data | Kind::Probe) && !packet.has(flag::RETURNED);
        if for_receiver {
            self.receive_data(now, slot, cx.reborrow());
            return;
        }
        let number = packet.flow;
        let sender = cx.net.flows.flows[number as usize].sender;
        if sender != NONE {
            let packet = cx.net.wires.arena.get(slot);
            let telemetry = cx.net.wires.arena.telemetry(slot);
            cx.net.flows.senders.get_mut(sender).machine.on_reply(now, packet, telemetry);
            if cx.net.watched && packet.has(flag::TRACED) {
                let window = cx.net.flows.senders.get(sender).machine.window();
                cx.net.tracer.response(now, packet, window);
            }
            cx.net.wires.arena.remove(slot);
            cx.net.wires.trails.trigger = Trigger::Reply;
            self.pump(now, number, cx.reborrow());
        } else {
            cx.net.wires.arena.remove(slot);
        }
    }

    #[inline(always)]
    fn receive_data(&mut self, now: Instant, slot: Slot, mut cx: HostContext<'_>) {
        let packet = cx.net.wires.arena.get_mut(slot);
        let number = packet.flow;
        let flow = &cx.net.flows.flows[number as usize];
        let receiver = if flow.receiver == NONE {
            if cx.net.flows.records[number as usize].is_complete() {
                return self.reply_late(now, slot, cx);
            }
            self.open_receiver(now, number, cx.net)
        } else {
            flow.receiver
        };
        let packet = cx.net.wires.arena.get_mut(slot);
        let armed = cx.net.flows.receivers.get_mut(receiver);
        if packet.has(flag::TRIMMED) && !matches!(armed.machine, Receiver::Ndp(_)) {
            // To a transport that does not know of trimming, a header alone is no packet.
            cx.net.wires.arena.remove(slot);
            return;
        }
        let reply = armed.machine.on_packet(now, packet);
        if armed.machine.is_complete() {
            return self.complete(now, number, slot, reply, cx);
        }
        let deadline = armed.machine.deadline();
        if deadline < armed.armed {
            armed.armed = deadline;
            let hash = cx.net.flows.flows[number as usize].hash;
            self.set_timer(Timer { at: deadline, purpose: Purpose::Receiver, hash, flow: number }, cx.reborrow());
        }
        match reply {
            Reply::Nothing => cx.net.wires.arena.remove(slot),
            Reply::Packet => self.reply(now, number, slot, cx.reborrow()),
            Reply::PacketAndPull => {
                self.reply(now, number, slot, cx.reborrow());
                self.pulls.request(number);
                self.pull(now, cx.reborrow());
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn open_receiver(&mut self, now: Instant, number: u32, net: &mut Net) -> u32 {
        let (info, _) = flow_info(number, net);
        let transport = net.flows.flows[number as usize].transport;
        let kept = net.flows.flows[number as usize].kept;
        let mut machine = Receiver::new(&net.flows.transports[usize::from(transport)], info, kept);
        let application = net.flows.applications.get(&number);
        if let (Receiver::Linux(receiver), Some((from, until))) = (&mut machine, application.and_then(|it| it.pause)) {
            // The connection is open a round trip after its first packet.
            let open = now + info.base_rtt;
            *receiver = receiver.clone().with_pause(open + from, open + until);
        }
        let never = Instant::NEVER;
        let receiver = net.flows.receivers.insert(Armed { machine, armed: never, paced: never, until: never });
        net.flows.flows[number as usize].receiver = receiver;
        receiver
    }

    /// The last packet of a flow has come in.
    #[cold]
    #[inline(never)]
    fn complete(&mut self, now: Instant, number: u32, slot: Slot, reply: Reply, mut cx: HostContext<'_>) {
        let flow = &mut cx.net.flows.flows[number as usize];
        let receiver = core::mem::replace(&mut flow.receiver, NONE);
        self.nic.close(&mut flow.queues[End::Receiver as usize]);
        let received = cx.net.flows.receivers.get_mut(receiver).machine.received();
        cx.net.flows.receivers.remove(receiver);
        self.pulls.forget(number);
        let record = &mut cx.net.flows.records[number as usize];
        record.end = now;
        record.received = received;
        if cx.net.wires.trails.on {
            cx.net.wires.trails.completed(number, slot);
        }
        cx.net.flows.unfinished -= 1;
        if reply == Reply::Nothing {
            self.reply_late(now, slot, cx.reborrow());
        } else {
            self.reply(now, number, slot, cx.reborrow());
        }
        // What waited for this flow starts here, or is told to start here later.
        let spec = cx.net.flows.records[number as usize].spec;
        for (at, next) in cx.net.traffic.arrived(now, number, &spec, &mut cx.net.flows) {
            let hash = cx.net.flows.flows[next as usize].hash;
            self.set_timer(Timer { at, purpose: Purpose::Start, hash, flow: next }, cx.reborrow());
        }
    }

    /// A packet of a flow that is complete: the sender missed the last reply.
    #[cold]
    #[inline(never)]
    fn reply_late(&mut self, now: Instant, slot: Slot, cx: HostContext<'_>) {
        let packet = cx.net.wires.arena.get_mut(slot);
        let number = packet.flow;
        let flow = &cx.net.flows.flows[number as usize];
        if !cx.net.flows.transports[usize::from(flow.transport)].kind.settings().acknowledges() {
            cx.net.wires.arena.remove(slot);
            return;
        }
        packet.echo = if packet.kind == Kind::Probe { u32::MAX } else { packet.seq };
        packet.kind = Kind::Ack;
        packet.seq = flow.packets;
        packet.block = (0, 0);
        packet.flags &= flag::CE | flag::TRACED;
        packet.more = Default::default();
        packet.window = OPEN_WINDOW;
        self.reply(now, number, slot, cx);
    }

    /// Sends a packet that has been made into a reply back to the flow's source.
    #[inline(always)]
    fn reply(&mut self, now: Instant, number: u32, slot: Slot, cx: HostContext<'_>) {
        let flow = &cx.net.flows.flows[number as usize];
        let packet = cx.net.wires.arena.get_mut(slot);
        packet.to = flow.source;
        packet.hash = flow.ack_hash;
        packet.class = flow.ack_class;
        packet.bytes = flow.ack_bytes;
        packet.rank = 0;
        packet.spreads = 0;
        // A reply is never marked, and goes before data where ABM tells them apart.
        packet.flags = (packet.flags & flag::OF_REPLIES) | flag::UNSCHEDULED;
        let metadata = Metadata::of(packet, slot, packet.bytes);
        self.send(now, metadata, (number, End::Receiver), cx);
    }
}

/// The sender of a flow: on a connection that is idle, if connections are kept, else on its own.
fn open_sender(now: Instant, number: u32, info: FlowInfo, flows: &mut FlowTable) -> Sender {
    let spec = &flows.records[number as usize].spec;
    let config = &flows.transports[usize::from(spec.transport)];
    if config.keeps_connections() {
        let idle = flows.idle.get_mut(&(spec.src, spec.dst, spec.transport)).and_then(Vec::pop);
        let (is_kept, sender) = (idle.is_some(), Sender::on_connection(config, info, now, idle));
        if is_kept {
            flows.keep_connection(number);
        }
        return sender;
    }
    match (Sender::new(config, info, now), flows.applications.get(&number)) {
        (Sender::Linux(sender), Some(application)) => {
            Sender::Linux(Box::new(sender.with_writes(now, application.writes.clone())))
        }
        (sender, _) => sender,
    }
}

/// What both ends of a flow know of it from the start, and how long it would take alone.
fn flow_info(number: u32, net: &Net) -> (FlowInfo, Duration) {
    let flow = &net.flows.flows[number as usize];
    let spec = &net.flows.records[number as usize].spec;
    let common = &net.flows.transports[usize::from(flow.transport)].common;
    let facts = net.fabric.facts(flow, spec, common);
    let info = FlowInfo {
        bytes: spec.bytes,
        packets: flow.packets,
        base_rtt: Duration::from_ps(facts.base_rtt.ps() + net.flows.held.ps()),
        open_rtt: Duration::from_ps(facts.open_rtt.ps() + net.flows.held.ps()),
        rate: facts.rate,
        number: flow.hash,
        seed: net.seed,
        until: spec.until,
    };
    (info, facts.ideal)
}
