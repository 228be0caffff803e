//! What a running switch shows of itself.

use super::{Opener, Runtime};
use crate::dataplane::FrameObserver;
use crate::port::Port as _;
use crate::snapshot::{Cost, Fate, FrameBuffers, Loss, PortState, QueueState, RECENT, Snapshot};
use forebay_tm::View as _;
use forebay_tm::{Eviction, Instant, Packet, Reason, Verdict};
use std::time;

/// What became of packets lately.
#[derive(Debug)]
pub(super) struct Journal {
    pub(super) queues: usize,
    pub(super) recent: Vec<Loss>,
    /// The last drop of each queue for each reason.
    last: Vec<[Option<Loss>; Reason::ALL.len()]>,
}

impl Journal {
    /// For so many queues, of which each port has so many.
    pub(super) fn new(all: usize, queues: usize) -> Self {
        Self { queues, recent: Vec::with_capacity(RECENT), last: vec![[None; Reason::ALL.len()]; all] }
    }

    fn note(&mut self, loss: Loss) {
        if let Fate::Dropped(reason) = loss.fate {
            self.last[loss.port * self.queues + loss.queue][reason as usize] = Some(loss);
        }
        if self.recent.len() < RECENT {
            self.recent.push(loss);
        }
    }
}

impl FrameObserver for Journal {
    fn judged(&mut self, at: Instant, packet: &Packet, verdict: Verdict) {
        let fate = match verdict {
            Verdict::Queued { .. } => return,
            Verdict::Trimmed { .. } => Fate::Trimmed,
            Verdict::Returned { .. } => Fate::Returned,
            Verdict::Dropped { reason } => Fate::Dropped(reason),
        };
        self.note(Loss { at, port: packet.port as usize, queue: packet.queue as usize, bytes: packet.bytes, fate });
    }

    fn evicted(&mut self, eviction: &Eviction) {
        let (port, queue) = (eviction.queue / self.queues, eviction.queue % self.queues);
        self.note(Loss { at: eviction.at, port, queue, bytes: eviction.bytes, fate: Fate::Dropped(eviction.reason) });
    }
}

impl<O: Opener> Runtime<O> {
    pub(super) fn show(&mut self, up: time::Duration) {
        let snapshot = self.snapshot(up);
        self.screen.show(snapshot);
    }

    pub(super) fn snapshot(&mut self, up: time::Duration) -> Snapshot {
        self.sequence += 1;
        let stalls = self.switch.stalls();
        let names: Vec<(String, bool, _, _)> = self
            .switch
            .ports()
            .iter()
            .map(|place| (place.name().to_owned(), place.is_up(), place.outside(), place.received()))
            .collect();
        let path = self.switch.path();
        let queues = path.tm().config().queues;
        let mut ports = Vec::with_capacity(names.len());
        for (port, (name, is_up, outside, received)) in names.into_iter().enumerate() {
            let states = (0..queues).map(|queue| {
                let index = path.tm().queue_index(port, queue);
                let watermark = path.take_watermark(index);
                let tm = path.tm();
                let mut counters = tm.queue_counters(index);
                path.settle(&mut counters, index..index + 1);
                QueueState {
                    bytes: tm.queue_bytes(index),
                    packets: tm.queue_packets(index),
                    watermark,
                    threshold: tm.threshold(index).map(|threshold| threshold.value),
                    counters,
                }
            });
            let states = states.collect();
            let tm = path.tm();
            let own = tm.queue_index(port, 0)..tm.queue_index(port, 0) + queues;
            let cut: u64 = own.clone().map(|queue| path.cut_waiting(queue)).sum();
            let mut counters = tm.port_counters(port);
            path.settle(&mut counters, own);
            ports.push(PortState {
                name,
                is_up,
                rate: tm.rate(port),
                counters,
                headers_waiting: tm.header_packets(port) + cut as usize,
                outside,
                received,
                transmitted: path.transmitted(port),
                untrimmable: path.untrimmable(port),
                queues: states,
            });
        }
        let recent = std::mem::replace(&mut path.observer().recent, Vec::with_capacity(RECENT));
        let last_drops = path.observer().last.iter().flatten().flatten().copied().collect();
        let frame_buffers = FrameBuffers { all: path.pool().buffers(), free: path.pool().free() };
        let unforwarded = path.unforwarded();
        let books = path.books();
        // Tests have this checked at every snapshot, 20 times a second; others see it.
        debug_assert_eq!(books.missing(), 0, "{books:?}");
        let tm = path.tm();
        let mut total = tm.pool_counters();
        path.settle(&mut total, 0..ports.len() * queues);
        Snapshot {
            sequence: self.sequence,
            uptime: forebay_tm::Duration::from_ps((up.as_nanos() as u64).saturating_mul(1_000)),
            at: path.now(),
            policy: tm.config().policy.name().to_owned(),
            buffer: tm.config().buffer,
            used: tm.used(),
            total,
            memory: tm.memory_reads(),
            ports,
            unforwarded,
            books,
            stalls,
            frame_buffers,
            cost: Cost { turns: self.turns, busy_turns: self.busy_turns, ..self.cost },
            changes: self.changed,
            recent,
            last_drops,
        }
    }
}
