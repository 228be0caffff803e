//! Links with the packets on them, and every node's event_queue.

mod ahead;
pub(crate) mod boundary;

use crate::event_queue::{Clock, EventQueue, Key, NEVER, arrival_rank};
use crate::measure::breakdown::Trails;
use crate::measure::losses::Losses;
use crate::node_queue::NodeQueue;
use crate::packet::{Arena, Kind, Metadata, Slot};
use boundary::Boundary;
use forebay_tm::{Duration, Instant, Rate};

/// A packet in flight.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    arrival: Instant,
    metadata: Metadata,
}

/// Places that a link begins with.
const PLACES: usize = 8;

/// One direction of a cable. It takes two cache lines, and no part of a third.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct Link {
    /// The packets in flight, in order of arrival: a ring of a power of two places.
    ring: Vec<InFlight>,
    /// How many have been put into it, in all.
    put: u64,
    /// When so many have been put into it, it is full: the places that there are more than have been taken from it.
    /// While the link does not work, it is as if it were full.
    full_at: u64,
    delay: Duration,
    pub(crate) rate: Rate,
    /// What a byte takes in picoseconds, if that is a whole number; else zero.
    byte_time: u64,
    /// If it is not, or the link does not work: how long a packet of `known_bytes` takes. Most packets are as long as the
    /// one before.
    known_bytes: u32,
    known_time: Duration,
    /// Where it ends: the node and the slot of its event_queue.
    to_node: u32,
    to_slot: u32,
    /// What simultaneous arrivals are ordered by: see [`Clock::arrival`].
    rank: u64,
    salt: u64,
    /// For a FIFO in front of it: when what was sent so far is on the wire.
    pub(crate) free_at: Instant,
    /// Bytes that it was given to send.
    pub(crate) sent: u64,
    /// Whether it works.
    pub(crate) up: bool,
}

impl Link {
    /// Gives it another rate, before anything is sent.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.byte_time = byte_time(rate);
    }

    /// Puts a packet on the link that has been sent at this time.
    #[inline(always)]
    fn launch(&mut self, metadata: Metadata, end: Instant, clock: Clock) -> Launch {
        self.sent += u64::from(metadata.bytes());
        let arrival = Instant::from_ps(end.ps() + self.delay.ps());
        if self.put == self.full_at {
            if !self.up {
                return Launch::Lost;
            }
            self.grow();
        }
        if self.put(InFlight { arrival, metadata }) {
            return Launch::First(clock.arrival(arrival, self.rank, self.salt));
        }
        Launch::Behind
    }

    /// Puts a packet behind those in flight; there is room. Returns whether it is the only one.
    #[inline(always)]
    fn put(&mut self, packet: InFlight) -> bool {
        let (put, places) = (self.put, self.ring.len());
        self.ring[put as usize & (places - 1)] = packet;
        self.put = put + 1;
        put + places as u64 == self.full_at
    }

    /// Takes the first packet in flight, and gives the key of the arrival of the next one, if there is one.
    #[inline(always)]
    fn take(&mut self, clock: Clock) -> (Metadata, Key) {
        // So many have been taken as places are missing from `full_at`, which is the same place of the ring.
        let (first, places) = (self.full_at, self.ring.len());
        self.full_at = first + 1;
        let key = if self.put + places as u64 == first + 1 {
            NEVER
        } else {
            let next = self.ring[(first + 1) as usize & (places - 1)].arrival;
            clock.arrival(next, self.rank, self.salt)
        };
        (self.ring[first as usize & (places - 1)].metadata, key)
    }

    /// What it has started to send before this time. It may have been given more than that.
    pub(crate) fn sent_before(&self, now: Instant) -> Sent {
        let mut sent = Sent { packets: self.put, bytes: self.sent };
        let places = self.ring.len();
        let in_flight = if self.up { (self.put + places as u64 - self.full_at) as usize } else { 0 };
        for back in 1..=in_flight {
            let InFlight { arrival, metadata } = self.ring[(self.put as usize - back) & (places - 1)];
            let took = self.delay.ps() + self.rate.serialization(u64::from(metadata.bytes())).ps();
            if arrival.ps() - took < now.ps() {
                break;
            }
            sent.packets -= 1;
            sent.bytes -= u64::from(metadata.bytes());
        }
        sent
    }

    /// Packets that it was ever given.
    pub(crate) fn given(&self) -> u64 {
        self.put
    }

    /// Packets, with their bytes, that it was given and has not begun to send.
    pub(crate) fn not_started(&self, now: Instant) -> impl Iterator<Item = (Slot, u32)> {
        let places = self.ring.len();
        let in_flight = if self.up { (self.put + places as u64 - self.full_at) as usize } else { 0 };
        let back = (1..=in_flight).map(move |back| self.ring[(self.put as usize - back) & (places - 1)]);
        let waits = move |packet: &InFlight| {
            let took = self.delay.ps() + self.rate.serialization(u64::from(packet.metadata.bytes())).ps();
            packet.arrival.ps() - took > now.ps()
        };
        back.take_while(waits).map(|packet| (packet.metadata.packet, packet.metadata.bytes()))
    }

    fn is_empty(&self) -> bool {
        !self.up || self.put + self.ring.len() as u64 == self.full_at
    }

    /// How long a packet takes. `this` is the number of the link, and when the transmission starts.
    #[inline(always)]
    fn time_of(&mut self, metadata: Metadata, this: (u32, Instant), trails: &mut Trails) -> u64 {
        if self.byte_time != 0 {
            // Less than the longest hop: that is checked.
            return self.byte_time * u64::from(metadata.bytes());
        }
        self.time_and_trail(metadata, this, trails)
    }

    /// The same where a byte does not take whole picoseconds, or where trails are kept: [`Rate::serialization`], mostly
    /// without a division.
    #[inline(never)]
    fn time_and_trail(&mut self, metadata: Metadata, (link, start): (u32, Instant), trails: &mut Trails) -> u64 {
        if self.known_bytes != metadata.bytes() {
            self.known_bytes = metadata.bytes();
            self.known_time = self.rate.serialization(u64::from(metadata.bytes()));
        }
        let time = self.known_time.ps();
        if !self.up {
            trails.unsent = Some((link, Instant::from_ps(start.ps() + time)));
        }
        if trails.on {
            trails.hop(metadata.packet, link, start, time, self.delay);
        }
        time
    }

    /// Doubles the ring, which is full.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.ring.len() as u64;
        let mut ring = vec![InFlight::default(); 2 * old as usize];
        for number in self.put - old..self.put {
            ring[(number & (2 * old - 1)) as usize] = self.ring[(number & (old - 1)) as usize];
        }
        self.ring = ring;
        self.full_at += old;
    }
}

/// Packets that were sent, and their bytes.
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// What became of a packet that was put on a link.
#[derive(Clone, Copy)]
enum Launch {
    /// It is behind others.
    Behind,
    /// It is the only one: this event is to be announced.
    First(Key),
    /// The link does not work.
    Lost,
}

/// What a byte takes at a rate in picoseconds, if that is a whole number; else zero.
fn byte_time(rate: Rate) -> u64 {
    let bit_ps = 8 * 1_000_000_000_000;
    if rate.bps() > 0 && bit_ps % rate.bps() == 0 { bit_ps / rate.bps() } else { 0 }
}

/// All links, the packets on them, and every node's event_queue.
pub(crate) struct Wires {
    pub(crate) arena: Arena,
    pub(crate) links: Vec<Link>,
    pub(crate) event_queues: Vec<EventQueue>,
    /// The earliest event of every node.
    nodes: NodeQueue,
    pub(crate) clock: Clock,
    /// Packets put on a link that does not work, or on one when it failed.
    pub(crate) lost: u64,
    /// Packets of those that were on none; and packets that were put on a link, but crossed no wire.
    never_sent: u64,
    came_around: u64,
    /// Frames of priority flow control that are in the arenas: those that were sent here less those that ended here,
    /// which may have come from another partition.
    pub(crate) frames: i64,
    /// The way of every packet, if that is asked for.
    pub(crate) trails: Trails,
    /// The packets that were lost, if that is asked for.
    pub(crate) losses: Losses,
    /// Links to other partitions.
    pub(crate) boundary: Boundary,
}

impl Wires {
    pub(crate) fn new(event_queues: Vec<EventQueue>, with_telemetry: bool) -> Self {
        Self {
            arena: Arena::new(with_telemetry),
            links: Vec::new(),
            nodes: NodeQueue::new(event_queues.len()),
            event_queues,
            clock: Clock::default(),
            lost: 0,
            never_sent: 0,
            came_around: 0,
            frames: 0,
            trails: Trails::default(),
            losses: Losses::default(),
            boundary: Boundary::default(),
        }
    }

    /// Adds a link that ends at a slot of a node.
    pub(crate) fn connect(&mut self, rate: Rate, delay: Duration, to_node: u32, to_slot: u32, salt: u64) -> u32 {
        let link = self.links.len() as u32;
        self.links.push(Link {
            ring: vec![InFlight::default(); PLACES],
            put: 0,
            full_at: PLACES as u64,
            delay,
            rate,
            byte_time: byte_time(rate),
            known_bytes: 0,
            known_time: Duration::ZERO,
            to_node,
            to_slot,
            rank: arrival_rank(to_slot as usize),
            salt,
            free_at: Instant::ZERO,
            sent: 0,
            up: true,
        });
        link
    }

    /// The node that each link ends at.
    pub(crate) fn far_ends(&self) -> impl Iterator<Item = u32> {
        self.links.iter().map(|link| link.to_node)
    }

    /// Bytes that each link has started to send before this time.
    pub(crate) fn sent_before(&self, now: Instant) -> impl Iterator<Item = u64> {
        self.links.iter().map(move |link| link.sent_before(now).bytes)
    }

    /// Packets that have been sent over a wire before this time, or are being sent.
    pub(crate) fn hops(&self, now: Instant) -> u64 {
        self.links.iter().map(|link| link.sent_before(now).packets).sum::<u64>() + self.never_sent - self.came_around
    }

    /// Starts to send a packet. Returns when the wire is free again.
    #[inline(always)]
    pub(crate) fn send(&mut self, link: u32, metadata: Metadata, start: Instant) -> Instant {
        let wire = &mut self.links[link as usize];
        // No run lasts until the end of time.
        let end = Instant::from_ps(start.ps() + wire.time_of(metadata, (link, start), &mut self.trails));
        let launch = wire.launch(metadata, end, self.clock);
        self.see_to(launch, link, metadata);
        end
    }

    /// Sends a packet behind those that the wire has yet to send, if they take it no longer than `ahead`. Says whether
    /// it did.
    #[inline(always)]
    pub(crate) fn send_behind(&mut self, link: u32, metadata: Metadata, now: Instant, ahead: Duration) -> bool {
        let wire = &mut self.links[link as usize];
        if wire.free_at.ps() > now.ps() + ahead.ps() {
            return false;
        }
        let start = now.max(wire.free_at);
        let end = Instant::from_ps(start.ps() + wire.time_of(metadata, (link, start), &mut self.trails));
        wire.free_at = end;
        let launch = wire.launch(metadata, end, self.clock);
        self.see_to(launch, link, metadata);
        true
    }

    /// Keeps the trails of all packets from now on. No link then has the short way to the time of a packet.
    pub(crate) fn keep_trails(&mut self, trails: Trails) {
        self.trails = trails;
        self.links.iter_mut().for_each(|link| link.byte_time = 0);
    }

    /// What is to be done after a packet was put on a link.
    #[inline(always)]
    fn see_to(&mut self, launch: Launch, link: u32, metadata: Metadata) {
        match launch {
            Launch::Behind => {}
            Launch::First(key) => {
                let wire = &self.links[link as usize];
                let (node, place) = (wire.to_node, wire.to_slot as usize);
                self.announce(node, place, key);
            }
            Launch::Lost => {
                self.never_sent += 1;
                self.lose(metadata.packet);
            }
        }
    }

    /// Starts to send a packet on a link that ends at the node that runs. Returns when it is free again, and an event
    /// that the caller has to enter in the event queue, which it holds. No wire is crossed.
    pub(crate) fn send_around(&mut self, link: u32, metadata: Metadata, start: Instant) -> (Instant, Option<Key>) {
        let wire = &mut self.links[link as usize];
        let end = start + wire.rate.serialization(u64::from(metadata.bytes()));
        wire.sent += u64::from(metadata.bytes());
        let arrival = end + wire.delay;
        self.came_around += 1;
        if wire.put == wire.full_at {
            wire.grow();
        }
        let only = wire.put(InFlight { arrival, metadata });
        (end, only.then(|| self.clock.arrival(arrival, wire.rank, wire.salt)))
    }

    /// Enters an event of another node than the one that runs.
    #[inline]
    pub(crate) fn announce(&mut self, node: u32, slot: usize, key: Key) {
        let Some(event_queue) = self.event_queues.get_mut(node as usize) else {
            // The node is in another partition: the slot is the number of the link to it.
            return self.boundary.waits_on(slot as u32);
        };
        let before = event_queue.next();
        event_queue.set(slot, key);
        if key < before {
            self.nodes.add(node as usize, key);
        }
    }

    /// Takes the packet that arrives now from a link, and gives the key of the next arrival.
    #[inline(always)]
    pub(crate) fn take(&mut self, link: u32) -> (Metadata, Key) {
        self.links[link as usize].take(self.clock)
    }

    /// The earliest event of all nodes.
    #[inline(always)]
    pub(crate) fn earliest(&self) -> Key {
        self.nodes.next()
    }

    /// Takes out the nodes that have an event before the horizon; each is to run and to give its event queue back.
    pub(crate) fn take_due(&mut self, horizon: Key, due: &mut Vec<u32>) {
        self.nodes.take_due(horizon, due);
    }

    /// Takes a node's event queue out while it runs.
    #[inline(always)]
    pub(crate) fn take_events(&mut self, node: usize) -> EventQueue {
        core::mem::take(&mut self.event_queues[node])
    }

    /// Puts a node's event queue back.
    #[inline(always)]
    pub(crate) fn return_events(&mut self, node: usize, event_queue: EventQueue) {
        self.nodes.add(node, event_queue.next());
        self.event_queues[node] = event_queue;
    }

    /// Sets whether a link works from now on; what is on one that fails is lost, what a FIFO had lined up for it
    /// included.
    pub(crate) fn set_up(&mut self, link: usize, up: bool, now: Instant) {
        let wire = &mut self.links[link];
        // Nothing is left of what would have kept it busy.
        wire.free_at = wire.free_at.min(now);
        // While it does not work, nothing is short: each packet that it is given is lost.
        wire.byte_time = if up && !self.trails.on { byte_time(wire.rate) } else { 0 };
        if up {
            wire.up = true;
            wire.full_at = wire.put + wire.ring.len() as u64;
            return;
        }
        let (node, place) = (wire.to_node, wire.to_slot as usize);
        self.boundary.forget(link as u32);
        while !self.links[link].is_empty() {
            let (metadata, _) = self.take(link as u32);
            self.losses.keep(now, Some(link as u32), self.arena.get(metadata.packet));
            self.lose(metadata.packet);
        }
        let wire = &mut self.links[link];
        wire.up = false;
        wire.full_at = wire.put;
        if let Some(event_queue) = self.event_queues.get_mut(node as usize) {
            event_queue.set(place, NEVER);
            self.nodes.replace(node as usize, event_queue.next());
        }
    }

    /// A switch has no route for a packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose_unrouted(&mut self, slot: Slot, now: Instant) {
        self.losses.keep(now, None, self.arena.get(slot));
        self.lose(slot);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn lose(&mut self, slot: Slot) {
        if let Some((link, at)) = self.trails.unsent.take() {
            self.losses.keep(at, Some(link), self.arena.get(slot));
        }
        if self.arena.get(slot).kind == Kind::Pause {
            self.frames -= 1;
        } else {
            self.lost += 1;
        }
        self.arena.remove(slot);
    }

    /// Moves the epoch of all event queues, if time has come.
    pub(crate) fn see_to_epoch(&mut self) {
        let first = self.earliest();
        if self.clock.needs_advance(first) {
            self.move_epoch(self.clock.instant(first));
        }
    }

    /// Moves the epoch of all event queues to an instant before which there are no events.
    #[cold]
    pub(crate) fn move_epoch(&mut self, to: Instant) {
        let by = self.clock.advance(to);
        self.nodes.rebase(by);
        for event_queue in &mut self.event_queues {
            event_queue.rebase(by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_time_of_a_packet_is_that_of_its_rate(
            rate in prop_oneof![
                1_000_000u64..1_000_000_000_000,
                proptest::sample::select(vec![1u64, 10, 25, 40, 50, 100, 200, 400]).prop_map(|gbps| gbps * 1_000_000_000),
            ],
            sizes in proptest::collection::vec(1u32..70_000, 1..20),
        ) {
            let rate = Rate::from_bps(rate);
            let mut wires = Wires::new(vec![EventQueue::new(1)], false);
            let link = wires.connect(rate, Duration::ZERO, 0, 0, 0);
            for bytes in sizes {
                let end = wires.send(link, Metadata::inside(0, bytes), Instant::ZERO);
                prop_assert_eq!(end, Instant::ZERO + rate.serialization(u64::from(bytes)));
            }
        }
    }
}
