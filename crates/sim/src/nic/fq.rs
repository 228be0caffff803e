//! Fair queueing: the flows of a host share its link by deficit round robin, as Linux's `sch_fq` has it, without its
//! pacing, which is the transports' business.
//!
//! Each end of a flow that sends has a queue: the data of a flow at its source, its replies at its receiver. A queue
//! has a credit in bytes. Flows that had nothing to send stand in the list of new flows when their next packet comes,
//! which is served before the list of old flows. Of the first flow of a list:
//!
//! 1. If its credit is spent (zero or less), it gets a quantum and goes to the tail of the old flows.
//! 2. If it has no packet, it leaves its list. A new flow goes to the tail of the old flows if there are any, so that
//!    one that sends a packet at a time does not stay new; an old flow is idle from now on.
//! 3. Else its first packet is sent, and its credit is less by the packet's bytes, perhaps below zero.
//!
//! An idle flow keeps its credit, and has at least a quantum again after the refill delay.

use super::{Departure, End};
use crate::flow::NONE;
use crate::packet::Metadata;
use crate::scenario::FqSetup;
use forebay_tm::{Instant, Reason};

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    metadata: Metadata,
    /// The packet behind it in its queue, or the next free place.
    next: u32,
}

/// The packets of one end of a flow.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Its first and last packet; of no meaning if it has none.
    head: u32,
    tail: u32,
    packets: u32,
    credit: i32,
    bytes: u64,
    /// The flow behind it in its list, or the next free place.
    next: u32,
    flow: u32,
    end: End,
    /// It stands in a list; else it is idle.
    listed: bool,
    /// Its transport waits for room.
    throttled: bool,
    /// Since when it has been idle.
    idle_since: Instant,
}

/// A list of flows.
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: NONE, tail: NONE };

    fn is_empty(self) -> bool {
        self.head == NONE
    }

    fn push(&mut self, queue: u32, queues: &mut [Queue]) {
        queues[queue as usize].next = NONE;
        if self.head == NONE {
            self.head = queue;
        } else {
            queues[self.tail as usize].next = queue;
        }
        self.tail = queue;
    }

    fn pop(&mut self, queues: &[Queue]) {
        self.head = queues[self.head as usize].next;
    }
}

/// The queues of a host.
#[derive(Debug)]
pub(super) struct Fq {
    setup: FqSetup,
    /// Recycled places: those that are free form a chain.
    queues: Vec<Queue>,
    free_queue: u32,
    waiting: Vec<Waiting>,
    free_waiting: u32,
    new: List,
    old: List,
}

impl Fq {
    pub(super) fn new(setup: FqSetup) -> Self {
        Self {
            setup,
            queues: Vec::new(),
            free_queue: NONE,
            waiting: Vec::new(),
            free_waiting: NONE,
            new: List::EMPTY,
            old: List::EMPTY,
        }
    }

    /// Packets that fit at all.
    #[inline(always)]
    pub(super) fn limit(&self) -> u32 {
        self.setup.limit
    }

    /// A queue for an end of a flow that has none.
    #[inline(never)]
    pub(super) fn open(&mut self, flow: u32, end: End) -> u32 {
        let queue = Queue {
            head: NONE,
            tail: NONE,
            packets: 0,
            // Settings are checked to fit.
            credit: self.setup.initial_quantum as i32,
            bytes: 0,
            next: NONE,
            flow,
            end,
            listed: false,
            throttled: false,
            // Its credit is full.
            idle_since: Instant::NEVER,
        };
        let place = self.free_queue;
        if place == NONE {
            self.queues.push(queue);
            return self.queues.len() as u32 - 1;
        }
        self.free_queue = self.queues[place as usize].next;
        self.queues[place as usize] = queue;
        place
    }

    /// Gives a queue back that is idle. Says whether it was.
    pub(super) fn close(&mut self, queue: u32) -> bool {
        let is_idle = !self.queues[queue as usize].listed;
        if is_idle {
            self.release(queue);
        }
        is_idle
    }

    fn release(&mut self, queue: u32) {
        self.queues[queue as usize].next = self.free_queue;
        self.free_queue = queue;
    }

    /// Bytes in a queue.
    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.queues[queue as usize].bytes
    }

    /// The transport of a queue waits for room.
    pub(super) fn throttle(&mut self, queue: u32) {
        self.queues[queue as usize].throttled = true;
    }

    /// Puts a packet behind those of its flow; the whole is not full.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, now: Instant, place: u32, metadata: Metadata) -> Result<(), Reason> {
        let queue = &mut self.queues[place as usize];
        if queue.packets >= self.setup.flow_limit {
            return Err(Reason::QueueFull);
        }
        if self.free_waiting == NONE {
            self.free_waiting = self.waiting.len() as u32;
            self.waiting.push(Waiting { metadata, next: NONE });
        }
        let packet = self.free_waiting;
        let entry = &mut self.waiting[packet as usize];
        self.free_waiting = entry.next;
        entry.metadata = metadata;
        if queue.packets == 0 {
            queue.head = packet;
        } else {
            self.waiting[queue.tail as usize].next = packet;
        }
        queue.tail = packet;
        queue.packets += 1;
        queue.bytes += u64::from(metadata.bytes());
        if !queue.listed {
            self.list(now, place);
        }
        Ok(())
    }

    /// An idle flow has a packet: it is a new one.
    #[inline(never)]
    fn list(&mut self, now: Instant, place: u32) {
        let queue = &mut self.queues[place as usize];
        queue.listed = true;
        if queue.idle_since != Instant::NEVER && now.since(queue.idle_since) > self.setup.refill_delay {
            queue.credit = queue.credit.max(self.setup.quantum as i32);
        }
        self.new.push(place, &mut self.queues);
    }

    /// The next packet; there is one. Flows that become idle are asked about: whether their end is still there, so that
    /// their credit is worth keeping.
    #[inline(always)]
    pub(super) fn dequeue(&mut self, now: Instant, is_open: impl FnMut(u32, End) -> bool) -> Departure {
        let mut place = if self.new.is_empty() { self.old.head } else { self.new.head };
        let queue = &mut self.queues[place as usize];
        if queue.credit <= 0 && self.new.is_empty() && self.old.tail == place {
            // An old flow that is alone goes behind itself.
            queue.credit += self.setup.quantum as i32;
        }
        if queue.credit <= 0 || queue.packets == 0 {
            place = self.turn(now, is_open);
        }
        let queue = &mut self.queues[place as usize];
        let packet = queue.head;
        let entry = &mut self.waiting[packet as usize];
        let metadata = entry.metadata;
        queue.head = core::mem::replace(&mut entry.next, self.free_waiting);
        self.free_waiting = packet;
        queue.packets -= 1;
        queue.bytes -= u64::from(metadata.bytes());
        queue.credit -= metadata.bytes() as i32;
        let wakes = core::mem::replace(&mut queue.throttled, false);
        Departure { metadata, flow: queue.flow, wakes }
    }

    /// Goes on to the flow whose turn it is to send; there is a packet.
    #[inline(never)]
    fn turn(&mut self, now: Instant, mut is_open: impl FnMut(u32, End) -> bool) -> u32 {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = list.head;
            let queue = &mut self.queues[place as usize];
            if queue.credit <= 0 {
                queue.credit += self.setup.quantum as i32;
                list.pop(&self.queues);
                self.old.push(place, &mut self.queues);
                continue;
            }
            if queue.packets > 0 {
                return place;
            }
            list.pop(&self.queues);
            if is_new && !self.old.is_empty() {
                self.old.push(place, &mut self.queues);
                continue;
            }
            let queue = &mut self.queues[place as usize];
            queue.listed = false;
            queue.idle_since = now;
            if !is_open(queue.flow, queue.end) {
                self.release(place);
            }
        }
    }

    /// Flows whose state is kept.
    #[cfg(test)]
    fn kept(&self) -> usize {
        let mut free = 0;
        let mut place = self.free_queue;
        while place != NONE {
            free += 1;
            place = self.queues[place as usize].next;
        }
        self.queues.len() - free
    }
}

#[cfg(test)]
#[path = "fq_tests.rs"]
mod tests;
