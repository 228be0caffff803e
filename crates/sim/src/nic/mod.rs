//! What stands between the transports of a host and its link: a queueing discipline, and below it the wire.
//!
//! What is on the wire has its time: when a packet handed to it arrives is known at once, and nothing can overtake it
//! any more. So little is handed to it ahead of time (byte queue limits), and the rest waits in the queueing
//! discipline, where the order can still change. As long as the wire has room and nothing waits, a packet goes straight
//! to the wire, and there is no event. Else there is one for the instant at which the wire has sent all that it has; it
//! then gets as much as it may have.
//!
//! A transport is not asked for more while its flow has enough waiting here (TCP small queues); it is asked again when
//! a packet of its flow goes to the wire.

mod fifo;
mod fq;
mod lossless;
mod managed;

use crate::event_queue::NEVER;
use crate::flow::NONE;
use crate::flows::FlowTable;
use crate::host::{HostContext, slot};
use crate::net::Net;
use crate::packet::{Metadata, Slot};
use crate::scenario::{Handoff, NicSetup};
use crate::wires::Wires;
use fifo::Fifo;
use forebay_tm::{Duration, Instant, Rate, Reason};
use fq::Fq;
use lossless::Lossless;
use managed::Managed;

/// Which end of a flow a packet comes from: they are different sockets, with queues of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Data, from the flow's source.
    Source = 0,
    /// Replies, from the flow's receiver.
    Receiver = 1,
}

/// A packet that leaves a queueing discipline for the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) metadata: Metadata,
    pub(crate) flow: u32,
    /// Its sender was waiting for room, and is to be asked for more.
    pub(crate) wakes: bool,
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
struct SmallQueues {
    /// The time that a flow may have waiting, at its rate.
    span: Duration,
    /// Bytes that the link carries in that time.
    link: u64,
    /// Full packets that it may have waiting.
    flow_limit: u64,
}

enum Discipline {
    Unlimited,
    Fifo(Box<Fifo>),
    Fq(Box<Fq>),
    Managed(Box<Managed>),
    Lossless(Box<Lossless>),
}

/// What stands in front of a host's link.
pub(crate) struct Nic {
    /// The link.
    out: u32,
    /// Packets that wait for the wire; [`ALWAYS`] if a packet must not go straight to it.
    waiting: u32,
    /// The wire has room for another packet when it is busy for no longer than this.
    ahead: Duration,
    small_queues: Option<SmallQueues>,
    dropped: u64,
    discipline: Discipline,
}

/// More packets than ever wait.
const ALWAYS: u32 = u32::MAX;
/// Never none, and far from [`ALWAYS`]: packets that wait are counted on top.
const NEVER_NONE: u32 = 1 << 31;
/// Longer than any run lasts: a scenario's times are checked to be less.
const FOREVER: Duration = Duration::from_ps(u64::MAX / 2);

/// More bytes than ever wait.
const BOUNDLESS: u64 = 1 << 63;

/// Bytes that a link carries in a time.
fn bytes_in(span: Duration, rate: Rate) -> u64 {
    let bytes = u128::from(rate.bps()) * u128::from(span.ps()) / (8 * 1_000_000_000_000);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Nic {
    /// What a scenario wants in front of the link of a host.
    pub(crate) fn new(setup: &NicSetup, host: usize, out: u32, rate: Rate) -> Self {
        let plain = |discipline| Self { out, waiting: 0, ahead: FOREVER, small_queues: None, dropped: 0, discipline };
        let limited = |handoff: &Handoff, flow_limit: u32, discipline| Self {
            ahead: rate.serialization(handoff.ahead().get()).min(FOREVER),
            small_queues: handoff.small_queue.map(|span| SmallQueues {
                span,
                link: bytes_in(span, rate),
                flow_limit: u64::from(flow_limit),
            }),
            ..plain(discipline)
        };
        match setup {
            NicSetup::Unlimited => plain(Discipline::Unlimited),
            NicSetup::Fifo(limit, handoff) => limited(handoff, u32::MAX, Discipline::Fifo(Box::new(Fifo::new(*limit)))),
            NicSetup::Fq(setup, handoff) => {
                limited(handoff, setup.flow_limit, Discipline::Fq(Box::new(Fq::new(*setup))))
            }
            NicSetup::Managed(configs) => {
                let discipline = Discipline::Managed(Box::new(Managed::new(out, &configs[host])));
                Self { waiting: ALWAYS, ..plain(discipline) }
            }
            NicSetup::Lossless { pfc, classes } => Self {
                waiting: NEVER_NONE,
                ahead: Duration::ZERO,
                small_queues: Some(SmallQueues { span: Duration::ZERO, link: 0, flow_limit: u64::from(u32::MAX) }),
                ..plain(Discipline::Lossless(Box::new(Lossless::new(*classes, rate, pfc))))
            },
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

    /// Hands a packet to the wire, if none waits and the wire has room. Says whether it did.
    #[inline(always)]
    pub(crate) fn send_at_once(&mut self, now: Instant, metadata: Metadata, wires: &mut Wires) -> bool {
        self.waiting == 0 && wires.send_behind(self.out, metadata, now, self.ahead)
    }

    /// Sends a packet of an end of a flow as soon as the wire and the packets before it allow.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Instant, metadata: Metadata, from: (u32, End), cx: HostContext<'_>) -> Handed {
        if self.send_at_once(now, metadata, &mut cx.net.wires) {
            return Handed::Over;
        }
        self.wait(now, metadata, from, cx)
    }

    /// Puts a packet of an end of a flow, which could not be sent at once, where it waits.
    #[inline(always)]
    fn wait(&mut self, now: Instant, metadata: Metadata, from: (u32, End), mut cx: HostContext<'_>) -> Handed {
        if let Discipline::Managed(managed) = &mut self.discipline {
            managed.send(now, metadata.packet, cx.reborrow());
            return Handed::Over;
        }
        self.enqueue(now, metadata, from, cx)
    }

    /// As [`Nic::wait`], for callers that rarely need it: the metadata is made again, so that they have it in no
    /// memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_unlabeled(
        &mut self,
        now: Instant,
        packet: Slot,
        from: (u32, End),
        cx: HostContext<'_>,
    ) -> Handed {
        let metadata = cx.net.wires.arena.metadata(packet, cx.net.wires.arena.get(packet).bytes);
        self.wait(now, metadata, from, cx)
    }

    #[inline(never)]
    fn enqueue(
        &mut self,
        now: Instant,
        metadata: Metadata,
        (flow, end): (u32, End),
        mut cx: HostContext<'_>,
    ) -> Handed {
        let queue = &mut cx.net.flows.flows[flow as usize].queues[end as usize];
        let verdict = match &mut self.discipline {
            Discipline::Fq(fq) => {
                if self.waiting >= fq.limit() {
                    return self.drop(Reason::Full, flow, metadata.packet, cx.net);
                }
                if *queue == NONE {
                    *queue = fq.open(flow, end);
                }
                fq.enqueue(now, *queue, metadata)
            }
            Discipline::Fifo(fifo) => fifo.enqueue(queue, (flow, end), metadata),
            Discipline::Lossless(lossless) => {
                let result = lossless.enqueue(now, queue, (flow, end), metadata, &mut cx.net.wires);
                lossless.wake(now, self.out, cx.reborrow());
                result
            }
            // What is not limited never waits.
            Discipline::Unlimited | Discipline::Managed(_) => Err(Reason::Full),
        };
        if let Err(reason) = verdict {
            return self.drop(reason, flow, metadata.packet, cx.net);
        }
        self.waiting += 1;
        if self.waiting == 1 {
            self.arm(cx);
        }
        Handed::Waits
    }

    #[cold]
    #[inline(never)]
    fn drop(&mut self, reason: Reason, flow: u32, packet: Slot, net: &mut Net) -> Handed {
        self.dropped += 1;
        net.flows.dropped(flow);
        net.wires.arena.remove(packet);
        Handed::Dropped(reason)
    }

    /// Wakes the host when the wire has sent all that it has, if packets wait.
    #[inline(always)]
    pub(crate) fn arm(&self, mut cx: HostContext<'_>) {
        let free_at = cx.net.wires.links[self.out as usize].free_at;
        let key = if self.waiting == 0 { NEVER } else { cx.net.wires.clock.transmission(free_at, slot::NIC) };
        cx.events.set(slot::NIC, key);
    }

    /// The link of a managed queue is free.
    pub(crate) fn free(&mut self, now: Instant, cx: HostContext<'_>) {
        if let Discipline::Managed(managed) = &mut self.discipline {
            managed.transmit(now, cx);
        }
    }

    /// Hands the next packet to the wire, if one waits and the wire has room.
    #[inline(always)]
    pub(crate) fn next(&mut self, now: Instant, net: &mut Net) -> Option<Departure> {
        let free_at = net.wires.links[self.out as usize].free_at;
        if self.waiting == 0 || free_at.ps() > now.ps() + self.ahead.ps() {
            return None;
        }
        let departure = if let Discipline::Fq(fq) = &mut self.discipline {
            fq.dequeue(now, |flow, end| {
                let flow = &mut net.flows.flows[flow as usize];
                let is_open = flow.is_open(end);
                if !is_open {
                    flow.queues[end as usize] = NONE;
                }
                is_open
            })
        } else if let Discipline::Fifo(fifo) = &mut self.discipline {
            fifo.dequeue(|flow, end| net.flows.flows[flow as usize].queues[end as usize] = NONE)?
        } else if let Discipline::Lossless(lossless) = &mut self.discipline {
            lossless.dequeue(now, net)?
        } else {
            return None;
        };
        self.waiting -= 1;
        net.wires.send_behind(self.out, departure.metadata, now, FOREVER);
        Some(departure)
    }

    /// Whether any packet may be waiting.
    #[inline(always)]
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Bytes that may join those of a flow's sender that wait; more than there ever are if there is no limit.
    #[inline(always)]
    pub(crate) fn room(&self, number: u32, flows: &FlowTable) -> u64 {
        match &self.small_queues {
            Some(small_queues) => self.room_of(*small_queues, number, flows),
            None => BOUNDLESS,
        }
    }

    #[inline(always)]
    fn room_of(&self, SmallQueues { span, link, flow_limit }: SmallQueues, number: u32, flows: &FlowTable) -> u64 {
        let flow = &flows.flows[number as usize];
        let Some(own) = flows.senders.get(flow.sender).machine.small_queue(span, link) else { return BOUNDLESS };
        let full = u64::from(flow.full);
        let bytes = self.waiting_in(flow.queues[End::Source as usize]);
        let left = (flow_limit * full).saturating_sub(bytes);
        if own.segment == 0 {
            return own.bytes.max(2 * full).saturating_sub(bytes).min(left);
        }
        // Packets cut from a segment are charged with what they take of memory: half as much again.
        if bytes + bytes / 2 <= own.bytes { own.segment.min(left) } else { 0 }
    }

    /// Bytes that wait in the queue of an end of a flow, if it has one.
    #[inline(always)]
    pub(crate) fn waiting_in(&self, queue: u32) -> u64 {
        match &self.discipline {
            _ if queue == NONE => 0,
            Discipline::Fq(fq) => fq.bytes(queue),
            Discipline::Fifo(fifo) => fifo.bytes(queue),
            Discipline::Lossless(lossless) => lossless.bytes(queue),
            Discipline::Unlimited | Discipline::Managed(_) => 0,
        }
    }

    /// The sender of a flow that has packets waiting is to be asked for more when one of them leaves.
    #[inline(always)]
    pub(crate) fn throttle(&mut self, number: u32, flows: &FlowTable) {
        let queue = flows.flows[number as usize].queues[End::Source as usize];
        match &mut self.discipline {
            Discipline::Fq(fq) => fq.throttle(queue),
            Discipline::Fifo(fifo) => fifo.throttle(queue),
            Discipline::Lossless(lossless) => lossless.throttle(queue),
            Discipline::Unlimited | Discipline::Managed(_) => {}
        }
    }

    /// An end of a flow is closed: what its queue knows is not worth keeping.
    pub(crate) fn close(&mut self, queue: &mut u32) {
        if let Discipline::Fq(fq) = &mut self.discipline {
            if *queue != NONE && fq.close(*queue) {
                *queue = NONE;
            }
        } else if let Discipline::Lossless(lossless) = &mut self.discipline {
            lossless.close(queue);
        }
    }

    /// The queues that can be paused, if it has such.
    pub(crate) fn lossless(&mut self) -> Option<&mut Lossless> {
        if let Discipline::Lossless(lossless) = &mut self.discipline { Some(lossless) } else { None }
    }

    /// Whether its queues can be paused.
    pub(crate) fn can_be_paused(&self) -> bool {
        matches!(self.discipline, Discipline::Lossless(_))
    }

    /// Wakes the host when the link is free and a class that is not paused has packets.
    pub(crate) fn wake_lossless(&mut self, now: Instant, cx: HostContext<'_>) {
        let out = self.out;
        if let Some(lossless) = self.lossless() {
            lossless.wake(now, out, cx);
        }
    }
}
