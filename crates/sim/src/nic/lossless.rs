//! Queues of a host that a switch can pause: fair queueing among the flows of each class, and the classes in turn.
//!
//! Nothing is handed to the wire ahead of time, and a flow has no more than two full packets waiting. So a paused host
//! keeps its senders from sending, as the hardware of RDMA does.

use super::fq::Fq;
use super::{Departure, End};
use crate::event_queue::NEVER;
use crate::flow::NONE;
use crate::host::{HostContext, slot};
use crate::net::Net;
use crate::packet::{Hold, Metadata};
use crate::pause::{CLASSES, Frame, Paused};
use crate::scenario::{FqSetup, PfcSetup};
use crate::wires::Wires;
use forebay_tm::{Duration, Instant, Rate, Reason};

/// Bits of a queue's number that tell its class.
const CLASS_BITS: u32 = 6;

/// Bytes of a flow in its turn: about a full packet.
const QUANTUM: u32 = 1_500;

/// The queues.
pub(crate) struct Lossless {
    classes: Vec<Fq>,
    /// Packets in each.
    waiting: Vec<u32>,
    /// The class served last.
    last: usize,
    paused: Paused,
}

impl Lossless {
    pub(super) fn new(classes: usize, rate: Rate, pfc: &PfcSetup) -> Self {
        let setup = FqSetup {
            quantum: QUANTUM,
            initial_quantum: QUANTUM,
            flow_limit: u32::MAX,
            limit: u32::MAX,
            refill_delay: Duration::ZERO,
        };
        Self {
            classes: (0..classes).map(|_| Fq::new(setup)).collect(),
            waiting: vec![0; classes],
            last: classes - 1,
            paused: Paused::new(rate, pfc),
        }
    }

    /// Puts a packet behind those of its flow. Queues' numbers end with their class.
    pub(super) fn enqueue(
        &mut self,
        now: Instant,
        queue: &mut u32,
        (flow, end): (u32, End),
        metadata: Metadata,
        wires: &mut Wires,
    ) -> Result<(), Reason> {
        if let Some(hold) = wires.arena.hold_mut(metadata.packet) {
            self.paused.mask(now);
            *hold = Hold::default();
            self.paused.joins(metadata.class() as u8, now, hold);
        }
        let class = (metadata.class() as usize).min(self.classes.len() - 1);
        let fq = &mut self.classes[class];
        if *queue == NONE {
            *queue = fq.open(flow, end) << CLASS_BITS | class as u32;
        }
        self.waiting[class] += 1;
        fq.enqueue(now, *queue >> CLASS_BITS, metadata)
    }

    /// The next packet of the classes that have one and are not paused.
    pub(super) fn dequeue(&mut self, now: Instant, net: &mut Net) -> Option<Departure> {
        let class = self.next_class(now)?;
        self.last = class;
        self.waiting[class] -= 1;
        let departure = self.classes[class].dequeue(now, |flow, end| {
            let flow = &mut net.flows.flows[flow as usize];
            if !flow.is_open(end) {
                flow.queues[end as usize] = NONE;
            }
            flow.is_open(end)
        });
        if let Some(hold) = net.wires.arena.hold_mut(departure.metadata.packet) {
            self.paused.leaves(departure.metadata.class() as u8, now, hold);
        }
        Some(departure)
    }

    fn next_class(&mut self, now: Instant) -> Option<usize> {
        let (paused, classes) = (self.paused.mask(now), self.classes.len());
        let mut turns = (1..=classes).map(|turn| (self.last + turn) % classes);
        turns.find(|class| self.waiting[*class] > 0 && (*class >= CLASSES || paused >> class & 1 == 0))
    }

    /// Wakes the host when there is something to send.
    pub(super) fn wake(&mut self, now: Instant, out: u32, mut cx: HostContext<'_>) {
        let at = if self.next_class(now).is_some() {
            cx.net.wires.links[out as usize].free_at.max(now)
        } else if self.waiting.iter().any(|packets| *packets > 0) {
            self.paused.next_change(now)
        } else {
            Instant::NEVER
        };
        let is_never = at == Instant::NEVER;
        let key = if is_never { NEVER } else { cx.net.wires.clock.transmission(at, slot::NIC) };
        cx.events.set(slot::NIC, key);
    }

    /// A frame has come in.
    pub(crate) fn hear(&mut self, now: Instant, frame: Frame) {
        self.paused.hear(now, frame);
    }

    /// How often a class was paused, and for how long.
    pub(crate) fn totals(&mut self, class: usize, end: Instant) -> (u64, Duration) {
        self.paused.totals(class, end)
    }

    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.of(queue).bytes(queue >> CLASS_BITS)
    }

    fn of(&self, queue: u32) -> &Fq {
        &self.classes[queue as usize & ((1 << CLASS_BITS) - 1)]
    }

    fn of_mut(&mut self, queue: u32) -> &mut Fq {
        &mut self.classes[queue as usize & ((1 << CLASS_BITS) - 1)]
    }

    pub(super) fn throttle(&mut self, queue: u32) {
        self.of_mut(queue).throttle(queue >> CLASS_BITS);
    }

    pub(super) fn close(&mut self, queue: &mut u32) {
        if *queue != NONE && self.of_mut(*queue).close(*queue >> CLASS_BITS) {
            *queue = NONE;
        }
    }
}
