//! Links between the partitions of a network that runs on several cores.
//!
//! Such a link has two halves. The sender's half keeps the packets that it has not begun to send; the receiver's half
//! has those that are on their way. At the end of a window packets change over by value, in the mail for the other
//! partition.

use super::{InFlight, Link, PLACES, Wires};
use crate::engine::layout::Layout;
use crate::flows::News;
use crate::measure::breakdown::Trail;
use crate::node_queue::NodeQueue;
use crate::packet::{Arena, Hold, Metadata, Packet, Telemetry};
use forebay_tm::{Duration, Instant, Rate};

/// The node at the far end of a link to another partition.
const FOREIGN: u32 = u32::MAX;

/// The links of a partition that end in others.
#[derive(Debug, Default)]
pub(crate) struct Boundary {
    /// The partition at the far end of every link.
    toward: Vec<u16>,
    /// Links to others that have packets.
    waiting: Vec<u32>,
}

impl Boundary {
    /// A link to another partition has a packet now.
    #[cold]
    #[inline(never)]
    pub(super) fn waits_on(&mut self, link: u32) {
        self.waiting.push(link);
    }

    /// A link has none any more.
    pub(super) fn forget(&mut self, link: u32) {
        self.waiting.retain(|waiting| *waiting != link);
    }
}

/// A packet that goes over to another partition.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    arrival: Instant,
    link: u32,
    metadata: Metadata,
    packet: Packet,
}

/// What a partition sends to another at the end of a window.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    packets: Vec<Crossing>,
    /// Of the same packets, if packets carry telemetry.
    telemetry: Vec<Telemetry>,
    /// Of the same packets, if switches pause.
    holds: Vec<Hold>,
    /// Of the same packets, if trails are kept.
    trails: Vec<Trail>,
    /// What has become known of flows.
    pub(crate) news: Vec<News>,
}

impl Mail {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.news.is_empty()
    }

    /// Packets in it.
    pub(crate) fn packets(&self) -> usize {
        self.packets.len()
    }
}

/// What is yet to come of the packets that are to leave a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// The first arrival, of those in the mail and of those that are not.
    pub(crate) arrival: Instant,
    /// The first start of a transmission, of those that are not.
    pub(crate) start: Instant,
}

impl Link {
    /// A link of which this partition has neither half.
    fn elsewhere(rate: Rate) -> Self {
        Self {
            ring: Vec::new(),
            put: 0,
            full_at: 0,
            delay: Duration::ZERO,
            rate,
            byte_time: 0,
            known_bytes: 0,
            known_time: Duration::ZERO,
            to_node: FOREIGN,
            to_slot: 0,
            rank: 0,
            salt: 0,
            free_at: Instant::ZERO,
            sent: 0,
            up: true,
        }
    }

    /// The first packet in flight: its arrival, and when its transmission starts.
    fn first(&self) -> Option<(Instant, Instant)> {
        if self.is_empty() {
            return None;
        }
        let InFlight { arrival, metadata } = self.ring[self.full_at as usize & (self.ring.len() - 1)];
        let bytes = metadata.bytes();
        let time = match self.byte_time {
            0 => self.rate.serialization(u64::from(bytes)).ps(),
            byte_time => byte_time * u64::from(bytes),
        };
        Some((arrival, Instant::from_ps(arrival.ps() - self.delay.ps() - time)))
    }
}

impl Wires {
    /// Puts the packets whose transmission starts before an instant into the mail for the partitions that they go to.
    pub(crate) fn depart(&mut self, until: Instant, out: &mut [Mail]) -> Leaving {
        let mut leaving = Leaving { arrival: Instant::NEVER, start: Instant::NEVER };
        let mut waiting = core::mem::take(&mut self.boundary.waiting);
        waiting.retain(|number| {
            let mail = &mut out[usize::from(self.boundary.toward[*number as usize])];
            let link = &mut self.links[*number as usize];
            if let Some((arrival, _)) = link.first() {
                leaving.arrival = leaving.arrival.min(arrival);
            }
            while let Some((arrival, start)) = link.first() {
                if start >= until {
                    leaving.start = leaving.start.min(start);
                    return true;
                }
                let (metadata, _) = link.take(self.clock);
                let slot = metadata.packet;
                mail.packets.push(Crossing { arrival, link: *number, metadata, packet: *self.arena.get(slot) });
                mail.telemetry.extend(self.arena.telemetry(slot));
                mail.holds.extend(self.arena.hold(slot));
                mail.trails.extend(self.trails.of_packet(slot));
                self.arena.remove(slot);
            }
            false
        });
        self.boundary.waiting = waiting;
        leaving
    }

    /// The first arrival of a packet that is to leave the partition, and the first start of the transmission of one.
    pub(crate) fn first_to_leave(&self) -> (Instant, Instant) {
        let firsts = self.boundary.waiting.iter().filter_map(|link| self.links[*link as usize].first());
        firsts.fold((Instant::NEVER, Instant::NEVER), |least, first| (least.0.min(first.0), least.1.min(first.1)))
    }

    /// Takes packets from the mail.
    pub(crate) fn arrive(&mut self, mail: &mut Mail) {
        for (number, crossing) in mail.packets.drain(..).enumerate() {
            let slot = self.arena.insert(crossing.packet);
            if let (Some(to), Some(from)) = (self.arena.telemetry_mut(slot), mail.telemetry.get(number)) {
                *to = *from;
            }
            if let (Some(to), Some(from)) = (self.arena.hold_mut(slot), mail.holds.get(number)) {
                *to = *from;
            }
            if let Some(trail) = mail.trails.get(number) {
                self.trails.take_over(slot, *trail);
            }
            let link = &mut self.links[crossing.link as usize];
            if link.put == link.full_at {
                link.grow();
            }
            let mut metadata = crossing.metadata;
            metadata.packet = slot;
            if link.put(InFlight { arrival: crossing.arrival, metadata }) {
                let key = self.clock.arrival(crossing.arrival, link.rank, link.salt);
                let (node, place) = (link.to_node, link.to_slot as usize);
                self.announce(node, place, key);
            }
        }
        mail.telemetry.clear();
        mail.holds.clear();
        mail.trails.clear();
    }

    /// Cuts the network into partitions, before anything is sent.
    pub(crate) fn split(self, layout: &Layout) -> Vec<Self> {
        let part = |_| Self {
            arena: Arena::new(self.arena.has_telemetry()),
            links: Vec::with_capacity(self.links.len()),
            event_queues: Vec::new(),
            nodes: NodeQueue::default(),
            clock: self.clock,
            lost: 0,
            frames: 0,
            never_sent: 0,
            came_around: 0,
            trails: self.trails.replica(),
            losses: self.losses.replica(),
            boundary: Boundary { toward: layout.receivers().collect(), waiting: Vec::new() },
        };
        let mut parts: Vec<Self> = (0..layout.parts()).map(part).collect();
        parts.iter_mut().for_each(|part| part.arena.keep_holds(self.arena.keeps_holds()));
        for (number, mut link) in self.links.into_iter().enumerate() {
            let (from, to) = layout.of_link(number);
            parts.iter_mut().for_each(|part| part.links.push(Link::elsewhere(link.rate)));
            link.to_node = layout.local(link.to_node as usize);
            if from != to {
                let far = Link { ring: vec![InFlight::default(); PLACES], ..link.clone() };
                parts[to].links[number] = far;
                (link.to_node, link.to_slot) = (FOREIGN, number as u32);
            }
            parts[from].links[number] = link;
        }
        for (node, event_queue) in self.event_queues.into_iter().enumerate() {
            parts[layout.of_node(node)].event_queues.push(event_queue);
        }
        for part in &mut parts {
            part.nodes = NodeQueue::new(part.event_queues.len());
            for (node, event_queue) in part.event_queues.iter().enumerate() {
                part.nodes.add(node, event_queue.next());
            }
        }
        parts
    }

    /// Takes over what is counted of a partition, and the links that it sends on.
    pub(crate) fn join(&mut self, number: usize, part: Self, layout: &Layout) {
        for (link, theirs) in part.links.into_iter().enumerate() {
            if layout.of_link(link).0 == number {
                self.links[link] = theirs;
            }
        }
        self.lost += part.lost;
        self.frames += part.frames;
        self.never_sent += part.never_sent;
        self.came_around += part.came_around;
        self.trails.join(part.trails);
        self.losses.join(part.losses);
    }
}
