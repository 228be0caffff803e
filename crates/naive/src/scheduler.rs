//! Schedulers that choose among the queues of a port (section 7 of the specification).

use crate::config::Scheduler;
use crate::switch::Model;

/// What a port's scheduler remembers.
#[derive(Clone, Debug)]
pub(crate) struct SchedulerState {
    /// RR: the queue served last.
    served_last: Option<usize>,
    /// WRR, DRR: the queue that is visited, or whose turn comes next.
    at: usize,
    /// WRR, DRR: whether a visit to queue `at` has begun and not ended.
    visiting: bool,
    /// WRR: the packets served in this visit.
    served: u64,
    /// DRR: the deficit of each queue.
    deficit: Vec<u64>,
}

impl SchedulerState {
    pub(crate) fn new(queues: usize) -> Self {
        SchedulerState { served_last: None, at: 0, visiting: false, served: 0, deficit: vec![0; queues] }
    }

    /// The visit ends, or an empty queue is passed over: it is the next queue's turn.
    fn move_on(&mut self) {
        self.visiting = false;
        self.at = (self.at + 1) % self.deficit.len();
    }
}

impl Model<'_> {
    /// The queue number whose head the scheduler of port `p` picks. At least one queue of the port is not empty.
    pub(crate) fn scheduled_queue(&mut self, p: usize) -> usize {
        let switch = self.switch;
        let number_of_queues = switch.queues;
        let queues = &self.queues[p * number_of_queues..(p + 1) * number_of_queues];
        let state = &mut self.ports[p].scheduler;
        match &switch.scheduler {
            Scheduler::Fifo | Scheduler::Pifo { .. } | Scheduler::SpPifo { .. } | Scheduler::Aifo { .. } => 0,
            Scheduler::Strict => (0..number_of_queues).find(|&k| !queues[k].is_empty()).expect("a packet waits"),
            Scheduler::Rr => {
                let first = state.served_last.map_or(0, |last| last + 1);
                let k = (0..number_of_queues)
                    .map(|step| (first + step) % number_of_queues)
                    .find(|&k| !queues[k].is_empty())
                    .expect("a packet waits");
                state.served_last = Some(k);
                k
            }
            Scheduler::Wrr { weights } => loop {
                let k = state.at;
                if !state.visiting {
                    if queues[k].is_empty() {
                        state.move_on();
                        continue;
                    }
                    state.visiting = true;
                    state.served = 0;
                }
                state.served += 1;
                if state.served == weights[k] {
                    state.move_on();
                }
                return k;
            },
            Scheduler::Drr { weights, quantum } => loop {
                let k = state.at;
                if !state.visiting {
                    if queues[k].is_empty() {
                        state.deficit[k] = 0;
                        state.move_on();
                        continue;
                    }
                    state.visiting = true;
                    state.deficit[k] += quantum * weights[k];
                }
                let head = queues[k][0].bytes;
                if head <= state.deficit[k] {
                    state.deficit[k] -= head;
                    return k;
                }
                state.move_on();
            },
        }
    }

    /// The last packet has left queue `i`, by a pick, a push-out or an expulsion: a visit to it ends, its deficit is 0.
    pub(crate) fn queue_emptied(&mut self, i: usize) {
        let k = i % self.switch.queues;
        let state = &mut self.ports[i / self.switch.queues].scheduler;
        state.deficit[k] = 0;
        if state.visiting && state.at == k {
            state.move_on();
        }
    }
}
