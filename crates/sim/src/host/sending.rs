//! What a host sends: from the senders of its flows to its NIC.

use super::timers::{Purpose, Timer};
use super::{Host, HostContext};
use crate::flow::NONE;
use crate::measure::breakdown::{Sending, Trigger, Wait};
use crate::measure::trace::What;
use crate::net::Net;
use crate::nic::{End, Handed};
use crate::packet::{Metadata, Packet, Slot, flag};
use crate::transport::{Sender, Wake};
use forebay_tm::Instant;

impl Host {
    /// Sends what a sender has to send, and sees to its timer. As long as the wire takes all of it at once, that is
    /// little work.
    #[inline(always)]
    pub(super) fn pump(&mut self, now: Instant, number: u32, mut cx: HostContext<'_>) {
        if self.nic.has_waiting() || cx.net.watched {
            return self.pump_slowly(now, number, cx);
        }
        let mut outgoing = Outgoing::new(now, number, cx.net);
        if now >= cx.net.flows.senders.get_mut(outgoing.sender).until {
            return self.close_sender(now, number, cx.net);
        }
        while let Some(slot) = outgoing.poll(now, cx.net) {
            self.sent += 1;
            if !self.nic.send_at_once(now, outgoing.metadata(slot), &mut cx.net.wires) {
                let from = (number, End::Source);
                self.nic.wait_unlabeled(now, slot, from, cx.reborrow());
                return self.pump_slowly(now, number, cx);
            }
        }
        self.rest(now, number, &outgoing, false, cx);
    }

    /// The same while packets wait: a sender is not asked for more than may wait of it. Or while somebody watches.
    #[inline(never)]
    pub(super) fn pump_slowly(&mut self, now: Instant, number: u32, mut cx: HostContext<'_>) {
        let mut outgoing = Outgoing::new(now, number, cx.net);
        let mut room = self.nic.room(number, &cx.net.flows);
        if room >= outgoing.full && now >= cx.net.flows.senders.get_mut(outgoing.sender).until {
            return self.close_sender(now, number, cx.net);
        }
        while room >= outgoing.full {
            let Some(slot) = outgoing.poll(now, cx.net) else { break };
            let metadata = outgoing.metadata(slot);
            if self.send(now, metadata, (number, End::Source), cx.reborrow()) == Handed::Waits {
                room = room.saturating_sub(u64::from(outgoing.packet.bytes));
                if room < outgoing.full {
                    // Another segment may follow.
                    room = self.nic.room(number, &cx.net.flows);
                }
            }
        }
        let is_throttled = room < outgoing.full;
        if is_throttled {
            self.nic.throttle(number, &cx.net.flows);
        }
        self.rest(now, number, &outgoing, is_throttled, cx);
    }

    /// A sender has sent what it may: sees to its timer, or to its end.
    #[inline(always)]
    fn rest(&mut self, now: Instant, number: u32, outgoing: &Outgoing, is_throttled: bool, mut cx: HostContext<'_>) {
        let armed = cx.net.flows.senders.get_mut(outgoing.sender);
        let Some(Wake { deadline, release }) = armed.machine.wake() else {
            return self.close_sender(now, number, cx.net);
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
            self.set_timer(Timer { at: release, purpose: Purpose::Pace, ..timer }, cx.reborrow());
        }
        if sets_deadline {
            self.set_timer(timer, cx.reborrow());
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn close_sender(&mut self, now: Instant, number: u32, net: &mut Net) {
        let flow = &mut net.flows.flows[number as usize];
        let place = core::mem::replace(&mut flow.sender, NONE);
        self.nic.close(&mut flow.queues[End::Source as usize]);
        let machine = &net.flows.senders.get_mut(place).machine;
        let (stats, probes, done) = (machine.stats(), machine.loss_probes(), machine.is_done());
        let spec = &net.flows.records[number as usize].spec;
        if net.flows.transports[usize::from(spec.transport)].keeps_connections() {
            if let Some(connection) = machine.connection() {
                let between = (spec.src, spec.dst, spec.transport);
                net.flows.idle.entry(between).or_default().push(connection);
            }
        }
        net.flows.senders.remove(place);
        let record = &mut net.flows.records[number as usize];
        record.retransmissions = stats.retransmissions;
        record.timeouts = stats.timeouts;
        record.probes = probes;
        let replies = net.flows.transports[usize::from(record.spec.transport)].kind.settings().acknowledges();
        if done && replies {
            record.acked = now;
        }
    }

    /// Sends a packet from an end of a flow.
    #[inline(always)]
    pub(super) fn send(&mut self, now: Instant, metadata: Metadata, from: (u32, End), cx: HostContext<'_>) -> Handed {
        self.sent += 1;
        if cx.net.watched {
            return self.send_watched(now, metadata, from, cx);
        }
        self.nic.send(now, metadata, from, cx)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn send_watched(
        &mut self,
        now: Instant,
        metadata: Metadata,
        from: (u32, End),
        mut cx: HostContext<'_>,
    ) -> Handed {
        // A managed queue does not say what became of the packet, and may mark it.
        if self.nic.is_managed() {
            self.trace(now, metadata.packet, Handed::Over, cx.net);
        }
        let handed = self.nic.send(now, metadata, from, cx.reborrow());
        // The slot of a packet that was dropped is as it was until another packet gets it.
        if !self.nic.is_managed() {
            self.trace(now, metadata.packet, handed, cx.net);
        }
        handed
    }

    /// Keeps what became of a packet that was sent.
    pub(super) fn trace(&self, now: Instant, packet: Slot, handed: Handed, net: &mut Net) {
        let what = match handed {
            Handed::Over => What::Sent,
            Handed::Waits => What::Queued,
            Handed::Dropped(reason) => What::Rejected(reason),
        };
        net.tracer.at_host(now, self.number, packet, what, &net.wires);
    }

    /// The link is free: hands it what waits, as much as it may have, and asks senders whose packets leave for more.
    #[inline(never)]
    pub(super) fn link_is_free(&mut self, now: Instant, mut cx: HostContext<'_>) {
        while let Some(departure) = self.nic.next(now, cx.net) {
            if cx.net.watched {
                self.trace(now, departure.metadata.packet, Handed::Over, cx.net);
            }
            if departure.wakes && cx.net.flows.flows[departure.flow as usize].sender != NONE {
                cx.net.wires.trails.trigger = Trigger::Host;
                self.pump_slowly(now, departure.flow, cx.reborrow());
            }
        }
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
    fn new(now: Instant, number: u32, net: &Net) -> Self {
        let flow = &net.flows.flows[number as usize];
        Self {
            packet: Packet {
                sent_at: now,
                flow: number,
                to: flow.destination,
                hash: flow.hash,
                class: flow.class,
                echo: net.flows.senders.get(flow.sender).machine.echo(),
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
    fn poll(&mut self, now: Instant, net: &mut Net) -> Option<Slot> {
        let segment = net.flows.senders.get_mut(self.sender).machine.poll(now)?;
        self.packet.kind = segment.kind;
        self.packet.seq = segment.seq;
        self.packet.bytes = segment.payload + self.header;
        self.packet.rank = segment.rank;
        self.packet.flags = segment.flags | self.traced;
        let slot = net.wires.arena.insert(self.packet);
        if net.wires.trails.on {
            self.note_sent(now, slot, net);
        }
        Some(slot)
    }

    /// Keeps what the sender waited for before this packet.
    #[cold]
    #[inline(never)]
    fn note_sent(&self, now: Instant, slot: Slot, net: &mut Net) {
        let flow = self.packet.flow;
        let sender = &net.flows.senders.get(self.sender).machine;
        let (deadlines, repairs) = match sender {
            Sender::Udp(_) | Sender::Dcqcn(_) | Sender::Stream(_) => (Wait::Pacing, Wait::Pacing),
            Sender::Linux(_) if net.flows.applications.contains_key(&flow) => (Wait::Application, Wait::Reordering),
            Sender::Linux(_) => (Wait::Timeout, Wait::Reordering),
            _ => (Wait::Timeout, Wait::Timeout),
        };
        let sending = Sending {
            now,
            flow,
            started: net.flows.records[flow as usize].spec.start,
            flags: self.packet.flags,
            bytes: self.packet.bytes,
            rate: net.fabric.host_rate(net.flows.records[flow as usize].spec.src),
            timeouts: sender.stats().timeouts,
            probes: sender.loss_probes(),
            deadlines,
            repairs,
        };
        net.wires.trails.sent(slot, &sending);
    }

    #[inline(always)]
    fn metadata(&self, slot: Slot) -> Metadata {
        Metadata::of(&self.packet, slot, self.packet.bytes)
    }
}
