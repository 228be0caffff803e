//! What had been counted when the warm-up (`measure.from`) was over: it is taken off at the end.

use crate::switch::Switch;
use forebay_tm::{Bytes, Counters, MemoryReads, View};

/// The counters of a buffer, its ports and its queues.
pub(super) struct BufferCounts {
    pool: Counters,
    ports: Vec<Counters>,
    queues: Vec<Counters>,
    /// Queues of a port.
    per_port: usize,
    memory: MemoryReads,
}

impl BufferCounts {
    fn of(tm: &dyn View) -> Self {
        Self {
            pool: tm.pool_counters(),
            ports: (0..tm.config().rates.len()).map(|port| tm.port_counters(port)).collect(),
            queues: (0..tm.config().total_queues()).map(|queue| tm.queue_counters(queue)).collect(),
            per_port: tm.config().queues,
            memory: tm.memory_reads(),
        }
    }

    /// The counters of the buffer, of a port, or of a queue of it.
    pub(super) fn counters(&self, port: Option<usize>, queue: Option<usize>) -> &Counters {
        match (port, queue) {
            (None, _) => &self.pool,
            (Some(port), None) => &self.ports[port],
            (Some(port), Some(queue)) => &self.queues[port * self.per_port + queue],
        }
    }

    /// What was read since then.
    pub(super) fn reads_since(&self, now: MemoryReads) -> MemoryReads {
        let less = |now: Bytes, then: Bytes| Bytes::new(now.get() - then.get());
        MemoryReads {
            transmission: less(now.transmission, self.memory.transmission),
            expulsion: less(now.expulsion, self.memory.expulsion),
        }
    }
}

/// What had been counted when the warm-up was over.
pub(super) struct WarmUp {
    /// By switch, then by buffer.
    buffers: Vec<Vec<BufferCounts>>,
    /// Bytes that each link had sent.
    pub(super) sent: Vec<u64>,
}

impl WarmUp {
    pub(super) fn new<'w>(switches: impl Iterator<Item = &'w Switch>, sent: Vec<u64>) -> Self {
        Self { buffers: switches.map(|switch| switch.views().map(BufferCounts::of).collect()).collect(), sent }
    }

    pub(super) fn of_buffer(&self, switch: usize, buffer: usize) -> &BufferCounts {
        &self.buffers[switch][buffer]
    }
}
