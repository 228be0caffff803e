//! What stands between the transports of a host and its link: a queueing discipline, and below it the wire.
//!
//! What is on the wire has its time: when a packet handed to it arrives is known at once, and nothing can overtake it any more. So little is
//! handed to it ahead of time (byte queue limits), and the rest waits in the queueing discipline, where the order can still change. As
//! long as the wire has room and nothing waits, a packet goes straight to the wire, and there is no event. Else there is one for the instant
//! at which the wire has room for the next packet.
//!
//! A transport is not asked for more while its flow has enough waiting here (TCP small queues); it is asked again when a packet of
//! its flow goes to the wire.

mod fifo;
mod fq;
mod managed;

use crate::agenda::NEVER;
use crate::flow::NONE;
use crate::flows::FlowTable;
use crate::host::{HostAgenda, slot};
use crate::packet::Label;
use crate::scenario::{Handoff, NicSetup};
use crate::wires::Wires;
use fifo::Fifo;
use forebay_tm::{Duration, Instant, Rate, Reason};
use fq::Fq;
use managed::Managed;

/// Which end of a flow a packet comes from: they are different sockets, with queues of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Data, from the flow's source.
    Source = 0,
    /// Answers, from the flow's receiver.
    Receiver = 1,
}

/// A packet that leaves a queueing discipline for the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) label: Label,
    pub(crate) flow: u32,
    end: End,
    /// Its transport was waiting for room.
    throttled: bool,
}

impl Departure {
    /// Whether its flow's sender is to be asked for more.
    pub(crate) fn wakes(&self) -> bool {
        self.throttled && self.end == End::Source
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    /// It is on the wire, or in a managed queue.
    Over,
    /// It waits.
    Waits,
    /// It is gone.
    Dropped(Reason),
}

/// Senders have so much waiting below them at most.
#[derive(Clone, Copy, Debug)]
struct SmallQueue {
    /// Bytes that the link carries in a millisecond.
    link_per_ms: u64,
    /// The time that a flow may have waiting, at its rate, in nanoseconds.
    span: u64,
}

enum Discipline {
    Unlimited,
    Fifo(Box<Fifo>),
    Fq(Box<Fq>),
    Managed(Box<Managed>),
}

/// What stands in front of a host's link.
pub(crate) struct Nic {
    /// The link.
    out: u32,
    /// Packets that wait for the wire; [`ALWAYS`] if a packet must not go straight to it.
    waiting: u32,
    /// The wire takes another packet when it is busy for no longer than this.
    ahead: Duration,
    small_queue: Option<SmallQueue>,
    dropped: u64,
    discipline: Discipline,
}

/// More packets than ever wait.
const ALWAYS: u32 = u32::MAX;
/// Longer than any run lasts: a scenario's times are checked to be less.
const FOREVER: Duration = Duration::from_ps(u64::MAX / 2);

impl Nic {
    /// What a scenario wants in front of the link of a host.
    pub(crate) fn new(setup: &NicSetup, host: usize, out: u32, rate: Rate) -> Self {
        let plain = |discipline| Self { out, waiting: 0, ahead: FOREVER, small_queue: None, dropped: 0, discipline };
        let limited = |handoff: &Handoff, discipline| Self {
            ahead: rate.serialization(handoff.ahead().get()).min(FOREVER),
            small_queue: handoff
                .small_queue
                .map(|span| SmallQueue { link_per_ms: rate.bps() / 8_000, span: span.ps() / 1_000 }),
            ..plain(discipline)
        };
        match setup {
            NicSetup::Unlimited => plain(Discipline::Unlimited),
            NicSetup::Fifo(limit, handoff) => limited(handoff, Discipline::Fifo(Box::new(Fifo::new(*limit)))),
            NicSetup::Fq(setup, handoff) => limited(handoff, Discipline::Fq(Box::new(Fq::new(*setup)))),
            NicSetup::Managed(configs) => {
                let discipline = Discipline::Managed(Box::new(Managed::new(out, &configs[host])));
                Self { waiting: ALWAYS, ..plain(discipline) }
            }
        }
    }

    /// Whether a traffic manager stands in front of the link.
    pub(crate) fn is_managed(&self) -> bool {
        matches!(self.discipline, Discipline::Managed(_))
    }

    /// Packets dropped here.
    pub(crate) fn drops(&self) -> u64 {
        match &self.discipline {
            Discipline::Managed(managed) => managed.drops(),
            _ => self.dropped,
        }
    }

    /// Sends a packet of a flow as soon as the link and the packets before it allow.
    #[inline(always)]
    pub(crate) fn send(
        &mut self,
        now: Instant,
        label: Label,
        (flow, end): (u32, End),
        agenda: &mut HostAgenda<'_>,
        wires: &mut Wires,
        flows: &mut FlowTable,
    ) -> Handed {
        let wire = &mut wires.links[self.out as usize];
        if self.waiting == 0 && wire.free_at.ps() <= now.ps() + self.ahead.ps() {
            let start = now.max(wire.free_at);
            wires.links[self.out as usize].free_at = wires.send(self.out, label, start);
            Handed::Over
        } else {
            self.wait(now, label, (flow, end), agenda, wires, flows)
        }
    }

    #[inline(never)]
    fn wait(
        &mut self,
        now: Instant,
        label: Label,
        (flow, end): (u32, End),
        agenda: &mut HostAgenda<'_>,
        wires: &mut Wires,
        flows: &mut FlowTable,
    ) -> Handed {
        let queue = &mut flows.flows[flow as usize].queues[end as usize];
        let verdict = match &mut self.discipline {
            Discipline::Managed(managed) => {
                managed.send(now, label.packet, agenda, wires, flows);
                return Handed::Over;
            }
            Discipline::Fq(fq) if !fq.is_full() => {
                if *queue == NONE {
                    *queue = fq.open(flow, end);
                }
                fq.enqueue(now, *queue, label)
            }
            Discipline::Fifo(fifo) if !fifo.is_full_for(label.bytes()) => {
                if *queue == NONE {
                    *queue = fifo.open(flow, end);
                }
                fifo.enqueue(*queue, label);
                Ok(())
            }
            _ => Err(Reason::Full),
        };
        if let Err(reason) = verdict {
            self.dropped += 1;
            flows.dropped(flow);
            return Handed::Dropped(reason);
        }
        self.waiting += 1;
        if self.waiting == 1 {
            self.arm(agenda, wires);
        }
        Handed::Waits
    }

    /// Wakes the host when the wire has room.
    fn arm(&self, agenda: &mut HostAgenda<'_>, wires: &Wires) {
        let key = if self.waiting == 0 {
            NEVER
        } else {
            // It has none now, so this is yet to come.
            let room_at = wires.links[self.out as usize].free_at.ps() - self.ahead.ps();
            wires.clock.transmission(Instant::from_ps(room_at), slot::NIC)
        };
        agenda.set(slot::NIC, key);
    }

    /// The wire has room: hands it the next packet. Called until there is none, or no more room.
    pub(crate) fn next(
        &mut self,
        now: Instant,
        agenda: &mut HostAgenda<'_>,
        wires: &mut Wires,
        flows: &mut FlowTable,
    ) -> Option<Departure> {
        let free_at = wires.links[self.out as usize].free_at;
        if let Discipline::Managed(managed) = &mut self.discipline {
            managed.free(now, agenda, wires, flows);
            return None;
        }
        if self.waiting == 0 || free_at.ps() > now.ps() + self.ahead.ps() {
            self.arm(agenda, wires);
            return None;
        }
        let departure = match &mut self.discipline {
            Discipline::Fq(fq) => fq.dequeue(now, |flow, end| {
                let flow = &mut flows.flows[flow as usize];
                let is_open = flow.is_open(end);
                if !is_open {
                    flow.queues[end as usize] = NONE;
                }
                is_open
            }),
            Discipline::Fifo(fifo) => fifo.dequeue(|flow, end| flows.flows[flow as usize].queues[end as usize] = NONE),
            Discipline::Unlimited | Discipline::Managed(_) => None,
        }?;
        self.waiting -= 1;
        wires.links[self.out as usize].free_at = wires.send(self.out, departure.label, now.max(free_at));
        Some(departure)
    }

    /// Whether any packet may be waiting.
    #[inline(always)]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Whether a flow has so much waiting that its sender is not to be asked for another packet now; then the sender is to be asked when a
    /// packet of the flow leaves.
    #[inline(never)]
    pub(crate) fn throttles(&mut self, number: u32, flows: &FlowTable) -> bool {
        let flow = &flows.flows[number as usize];
        let queue = flow.queues[End::Source as usize];
        let Some(SmallQueue { link_per_ms, span }) = self.small_queue.filter(|_| queue != NONE) else { return false };
        let sender = &flows.senders.get(flow.sender).machine;
        let common = &flows.transports[usize::from(flow.transport)].common;
        let full = u64::from(common.mss) + u64::from(common.header);
        let Some(per_ms) = sender.small_queue(link_per_ms) else { return false };
        let limit = (2 * full).max(per_ms.saturating_mul(span) / 1_000_000);
        let has_enough = match &mut self.discipline {
            Discipline::Fq(fq) => {
                let (bytes, packets) = fq.backlog(queue);
                bytes + full > limit || packets >= fq.flow_limit()
            }
            Discipline::Fifo(fifo) => fifo.backlog(queue) + full > limit,
            Discipline::Unlimited | Discipline::Managed(_) => false,
        };
        if has_enough {
            match &mut self.discipline {
                Discipline::Fq(fq) => fq.throttle(queue),
                Discipline::Fifo(fifo) => fifo.throttle(queue),
                Discipline::Unlimited | Discipline::Managed(_) => {}
            }
        }
        has_enough
    }

    /// An end of a flow is closed: what its queue knows is not worth keeping.
    pub(crate) fn close(&mut self, queue: &mut u32) {
        if let Discipline::Fq(fq) = &mut self.discipline {
            if *queue != NONE && fq.close(*queue) {
                *queue = NONE;
            }
        }
    }
}
