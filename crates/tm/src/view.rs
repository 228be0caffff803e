//! What can be seen of a traffic manager from outside.

use crate::config::ValidConfig;
use crate::counters::{Counters, MemoryReads};
use crate::units::{Bytes, Rate};
use crate::verdict::Threshold;

/// The state of a traffic manager as it is now, and what has happened so far.
pub trait View {
    /// The configuration in force.
    fn config(&self) -> &ValidConfig;
    /// Bytes charged to all queues: `Q`.
    fn used(&self) -> Bytes;
    /// Bytes charged to a queue: `q_i`.
    fn queue_bytes(&self, queue: usize) -> Bytes;
    /// Packets waiting in a queue.
    fn queue_packets(&self, queue: usize) -> usize {
        self.queue_counters(queue).waiting.packets as usize
    }
    /// Headers waiting at a port, beside its queues.
    fn header_packets(&self, _port: usize) -> usize {
        0
    }
    /// The threshold of a queue, for an ordinary packet; `None` where the policy has none.
    fn threshold(&self, queue: usize) -> Option<Threshold>;
    /// The counters of a queue.
    fn queue_counters(&self, queue: usize) -> Counters;
    /// Packets that were dropped, pushed out or expelled so far, in all queues.
    fn dropped_packets(&self) -> u64;
    /// The most bytes that were ever charged to the queues of a port.
    fn port_peak(&self, port: usize) -> Bytes;
    /// The most bytes that were ever charged to all queues.
    fn peak(&self) -> Bytes;
    /// Memory bandwidth used so far.
    fn memory_reads(&self) -> MemoryReads;

    /// The index of a queue, `port * K + queue`.
    #[inline]
    fn queue_index(&self, port: usize, queue: usize) -> usize {
        port * self.config().queues + queue
    }

    /// The rate of a port.
    #[inline]
    fn rate(&self, port: usize) -> Rate {
        self.config().rates[port]
    }

    /// Bytes charged to the queues of a port.
    fn port_bytes(&self, port: usize) -> Bytes {
        let queues = (0..self.config().queues).map(|queue| self.queue_bytes(self.queue_index(port, queue)).get());
        Bytes::new(queues.sum())
    }

    /// Which queues of a port hold packets: bit `k` stands for queue number `k`.
    fn nonempty_queues(&self, port: usize) -> u64 {
        let holds = |queue: usize| self.queue_bytes(self.queue_index(port, queue)) > Bytes::ZERO;
        (0..self.config().queues).fold(0, |bits, queue| bits | u64::from(holds(queue)) << queue)
    }

    /// Whether a port has anything to send, now or later.
    fn has_packets(&self, port: usize) -> bool {
        self.nonempty_queues(port) != 0 || self.header_packets(port) > 0
    }

    /// The counters of a port: the sums over its queues, and its own peak.
    fn port_counters(&self, port: usize) -> Counters {
        let first = self.queue_index(port, 0);
        let counters = (first..first + self.config().queues).map(|queue| self.queue_counters(queue));
        Counters::sum(counters, self.port_peak(port))
    }

    /// The counters of the whole buffer: the sums over all queues, and its own peak.
    fn pool_counters(&self) -> Counters {
        let counters = (0..self.config().total_queues()).map(|queue| self.queue_counters(queue));
        Counters::sum(counters, self.peak())
    }
}
