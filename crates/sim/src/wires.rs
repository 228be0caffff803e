//! Links with the packets on them, and every node's agenda.

use crate::agenda::{Agenda, Clock, Key, NEVER};
use crate::packet::{Arena, Label, Slot};
use forebay_tm::{Duration, Instant, Rate};

/// A packet in flight.
#[derive(Clone, Copy, Debug, Default)]
struct InFlight {
    arrival: Instant,
    label: Label,
}

/// One direction of a cable.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The packets in flight, in order of arrival: a ring of a power of two places.
    ring: Vec<InFlight>,
    /// How many have been taken from it and put into it, in all.
    taken: u32,
    put: u32,
    delay: Duration,
    pub(crate) rate: Rate,
    /// What a byte takes in picoseconds, if that is a whole number; else zero.
    byte_time: u64,
    /// If it is not: how long a packet of `known_bytes` takes. Most packets are as long as the one before.
    known_bytes: u32,
    known_time: Duration,
    /// Where it ends: the node and the slot of its agenda.
    to_node: u32,
    to_slot: u32,
    /// What simultaneous arrivals are ordered by.
    salt: u64,
    /// For a FIFO in front of it: when what was sent so far is on the wire.
    pub(crate) free_at: Instant,
    /// Bytes sent.
    pub(crate) sent: u64,
    /// Whether it works.
    pub(crate) up: bool,
}

impl Link {
    /// Puts a packet behind those in flight. Returns whether it is the only one.
    #[inline(always)]
    fn put(&mut self, packet: InFlight) -> bool {
        if self.put.wrapping_sub(self.taken) as usize == self.ring.len() {
            self.grow();
        }
        let place = self.put as usize & (self.ring.len() - 1);
        self.ring[place] = packet;
        let only = self.put == self.taken;
        self.put = self.put.wrapping_add(1);
        only
    }

    /// How long a packet takes: [`Rate::serialization`], mostly without a division.
    #[inline(always)]
    fn time_of(&mut self, bytes: u32) -> u64 {
        if self.byte_time != 0 {
            // Less than the longest hop: that is checked.
            return self.byte_time * u64::from(bytes);
        }
        if self.known_bytes != bytes {
            self.known_bytes = bytes;
            self.known_time = self.rate.serialization(u64::from(bytes));
        }
        self.known_time.ps()
    }

    /// Doubles the ring.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.ring.len();
        let flying = (0..old).map(|n| self.ring[self.taken.wrapping_add(n as u32) as usize & (old - 1)]);
        let mut ring: Vec<InFlight> = flying.collect();
        ring.resize(2 * old, InFlight::default());
        self.ring = ring;
        (self.taken, self.put) = (0, old as u32);
    }
}

/// What a byte takes at a rate in picoseconds, if that is a whole number; else zero.
fn byte_time(rate: Rate) -> u64 {
    let bit_ps = 8 * 1_000_000_000_000;
    if rate.bps() > 0 && bit_ps % rate.bps() == 0 { bit_ps / rate.bps() } else { 0 }
}

/// All links, the packets on them, and every node's agenda.
pub(crate) struct Wires {
    pub(crate) arena: Arena,
    pub(crate) links: Vec<Link>,
    pub(crate) agendas: Vec<Agenda>,
    /// The earliest event of every node.
    nodes: Agenda,
    pub(crate) clock: Clock,
    /// Packets that crossed a wire.
    pub(crate) hops: u64,
    /// Packets put on a link that does not work, or on one when it failed.
    pub(crate) lost: u64,
}

impl Wires {
    pub(crate) fn new(agendas: Vec<Agenda>, with_telemetry: bool) -> Self {
        Self {
            arena: Arena::new(with_telemetry),
            links: Vec::new(),
            nodes: Agenda::new(agendas.len()),
            agendas,
            clock: Clock::default(),
            hops: 0,
            lost: 0,
        }
    }

    /// Adds a link that ends at a slot of a node.
    pub(crate) fn connect(&mut self, rate: Rate, delay: Duration, to_node: u32, to_slot: u32, salt: u64) -> u32 {
        let link = self.links.len() as u32;
        self.links.push(Link {
            ring: vec![InFlight::default(); 8],
            taken: 0,
            put: 0,
            delay,
            rate,
            byte_time: byte_time(rate),
            known_bytes: 0,
            known_time: Duration::ZERO,
            to_node,
            to_slot,
            salt,
            free_at: Instant::ZERO,
            sent: 0,
            up: true,
        });
        link
    }

    /// Starts to send a packet. Returns when the wire is free again.
    #[inline(always)]
    pub(crate) fn send(&mut self, link: u32, label: Label, start: Instant) -> Instant {
        let bytes = label.bytes();
        let wire = &mut self.links[link as usize];
        // No run lasts until the end of time.
        let end = Instant::from_ps(start.ps() + wire.time_of(bytes));
        wire.sent += u64::from(bytes);
        let arrival = Instant::from_ps(end.ps() + wire.delay.ps());
        self.hops += 1;
        if !wire.up {
            self.lose(label.packet);
            return end;
        }
        if wire.put(InFlight { arrival, label }) {
            let key = self.clock.arrival(arrival, wire.to_slot as usize, wire.salt);
            let (node, place) = (wire.to_node, wire.to_slot as usize);
            self.announce(node, place, key);
        }
        end
    }

    /// Starts to send a packet on a link that ends at the node that runs. Returns when it is free again, and an event that the caller
    /// has to enter in the agenda, which it holds. No wire is crossed.
    pub(crate) fn send_around(&mut self, link: u32, label: Label, start: Instant) -> (Instant, Option<Key>) {
        let wire = &mut self.links[link as usize];
        let end = start + wire.rate.serialization(u64::from(label.bytes()));
        wire.sent += u64::from(label.bytes());
        let arrival = end + wire.delay;
        let only = wire.put(InFlight { arrival, label });
        (end, only.then(|| self.clock.arrival(arrival, wire.to_slot as usize, wire.salt)))
    }

    /// Enters an event of another node than the one that runs.
    #[inline]
    pub(crate) fn announce(&mut self, node: u32, slot: usize, key: Key) {
        let agenda = &mut self.agendas[node as usize];
        let before = agenda.next();
        agenda.set(slot, key);
        if key < before {
            self.nodes.set(node as usize, key.of_node(node));
        }
    }

    /// Takes the packet that arrives now from a link, and gives the key of the next arrival.
    #[inline(always)]
    pub(crate) fn take(&mut self, link: u32) -> (Label, Key) {
        let wire = &mut self.links[link as usize];
        let mask = wire.ring.len() - 1;
        let label = wire.ring[wire.taken as usize & mask].label;
        wire.taken = wire.taken.wrapping_add(1);
        let key = if wire.taken == wire.put {
            NEVER
        } else {
            self.clock.arrival(wire.ring[wire.taken as usize & mask].arrival, wire.to_slot as usize, wire.salt)
        };
        (label, key)
    }

    /// The node with the earliest event, and that event.
    #[inline(always)]
    pub(crate) fn earliest(&self) -> Key {
        self.nodes.next()
    }

    /// Takes a node's agenda out while it runs.
    #[inline(always)]
    pub(crate) fn borrow_agenda(&mut self, node: usize) -> Agenda {
        core::mem::take(&mut self.agendas[node])
    }

    /// Puts a node's agenda back.
    #[inline(always)]
    pub(crate) fn return_agenda(&mut self, node: usize, agenda: Agenda) {
        self.nodes.set(node, agenda.next().of_node(node as u32));
        self.agendas[node] = agenda;
    }

    /// Sets whether a link works from now on; what is on one that fails is lost, what a FIFO had lined up for it included.
    pub(crate) fn set_up(&mut self, link: usize, up: bool, now: Instant) {
        let wire = &mut self.links[link];
        wire.up = up;
        // Nothing is left of what would have kept it busy.
        wire.free_at = wire.free_at.min(now);
        if up {
            return;
        }
        let (node, place) = (wire.to_node, wire.to_slot as usize);
        while self.links[link].taken != self.links[link].put {
            let (label, _) = self.take(link as u32);
            self.lose(label.packet);
        }
        self.agendas[node as usize].set(place, NEVER);
        let next = self.agendas[node as usize].next();
        self.nodes.set(node as usize, next.of_node(node));
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn lose(&mut self, slot: Slot) {
        self.lost += 1;
        self.arena.remove(slot);
    }

    /// Moves the epoch of all agendas, if time has come.
    pub(crate) fn see_to_epoch(&mut self) {
        let first = self.earliest();
        if self.clock.needs_advance(first) {
            let to = self.clock.instant(first);
            let by = self.clock.advance(to);
            self.nodes.rebase(by);
            for agenda in &mut self.agendas {
                agenda.rebase(by);
            }
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
            let mut wires = Wires::new(vec![Agenda::new(1)], false);
            let link = wires.connect(rate, Duration::ZERO, 0, 0, 0) as usize;
            for bytes in sizes {
                prop_assert_eq!(wires.links[link].time_of(bytes), rate.serialization(u64::from(bytes)).ps());
            }
        }
    }
}
