//! ABM as its authors' code counts congested queues: a queue counts as much as it was full of a given length when its last packet
//! came, so `n_k = max(1, sum min(1, q_i / length))` over the queues of number `k`. The sum is taken every interval, like the drain
//! rates; the thresholds are ABM's. A queue that has drained since its last packet still counts.

use super::abm::{Abm, AbmConfig};
use super::{Admission, Request, Scheme, real};
use crate::buffer::Buffer;
use crate::config::ValidConfig;
use crate::schedule::Place;
use crate::units::{Bytes, Duration};
use crate::verdict::{Threshold, Why};
use alloc::vec;
use alloc::vec::Vec;

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

    /// Goes on from what an earlier policy of this kind had found.
    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.abm.congestion.inherit(&earlier.abm.congestion);
        for (found, earlier) in self.found.iter_mut().zip(&earlier.found) {
            *found = (*earlier).min(self.full);
        }
    }
}

impl Scheme for AbmByLength {
    const OBSERVES: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    #[inline(always)]
    fn admit(&mut self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        self.found[request.queue] = buffer.length(request.queue).min(self.full);
        self.abm.admit(request, buffer, why)
    }

    fn threshold_of(&self, place: Place, buffer: &Buffer) -> Option<Threshold> {
        self.abm.threshold_of(place, buffer)
    }

    #[inline(always)]
    fn dequeued(&mut self, place: Place, before: u64, after: u64, sent: u32) {
        self.abm.dequeued(place, before, after, sent);
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
}
