//! ABM as its authors' code counts congested queues: a queue counts as much as it was full of a given length when its
//! last packet came, so `n_k = max(1, sum min(1, q_i / length))` over the queues of number `k`. The sum is taken every
//! interval, like the drain rates; the thresholds are ABM's. A queue that has drained since its last packet still
//! counts.

use super::abm::{Abm, AbmConfig};
use super::{Admission, Arrival, BufferPolicy, QueueId, real};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Threshold};
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

#[derive(Clone, Debug)]
pub(crate) struct AbmByLength {
    pub(super) abm: Abm,
    /// A queue of this length or more counts in full.
    full: u64,
    /// The length of each queue as its last packet found it, or `full` if that is less.
    found: Vec<u64>,
}

impl AbmByLength {
    pub(super) fn new(config: &AbmConfig, full: Bytes, switch: &ValidConfig) -> Self {
        Self { abm: Abm::new(config, switch), full: full.get(), found: vec![0; switch.total_queues()] }
    }
}

impl BufferPolicy for AbmByLength {
    const UPDATES: bool = true;
    const OBSERVES: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        self.found[arrival.queue.index] = buffer.length(arrival.queue.index).min(self.full);
        self.abm.admit(arrival, buffer, why)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        self.abm.threshold_of(queue, buffer)
    }

    #[inline(always)]
    fn dequeued(&mut self, queue: QueueId, before: u64, after: u64, sent: u32) {
        self.abm.dequeued(queue, before, after, sent);
    }

    fn interval(&self) -> Option<Duration> {
        self.abm.interval()
    }

    fn update(&mut self, _: &Buffer) -> bool {
        let queues = self.abm.congestion.numbers();
        for number in 0..queues {
            let found: u64 = self.found.iter().skip(number).step_by(queues).sum();
            self.abm.congestion.set_n(number, real(found) / real(self.full));
        }
        self.abm.congestion.measure_rates()
    }

    fn inherit(&mut self, earlier: &dyn Any, now: Instant) {
        self.abm.inherit(earlier, now);
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            for (found, earlier) in self.found.iter_mut().zip(&earlier.found) {
                *found = (*earlier).min(self.full);
            }
        }
    }
}
