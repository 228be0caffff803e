//! Round robin: the next queue that waits after the one served last, starting at queue 0. All it remembers is a port's
//! [`Cursor`].

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service, Turn, next_after};
use crate::config::ValidConfig;

#[derive(Clone, Debug)]
pub(crate) struct RoundRobin;

impl SchedulerSettings for RoundRobin {
    fn service(&self) -> Service {
        Service::RoundRobin
    }

    fn start(&self, _: &ValidConfig) -> ActiveScheduler {
        Scheduler::RoundRobin(Self).into()
    }
}

impl Discipline for RoundRobin {
    #[inline(always)]
    fn choose(&mut self, turn: Turn<'_>) -> usize {
        turn.cursor.advance(turn.nonempty)
    }
}

/// Where a round robin over the queues of a port is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    /// The queue served or visited last.
    pub(super) queue: u32,
    /// Packets that the visit to it may still serve (weighted round robin).
    pub(super) left: u32,
}

impl Cursor {
    /// Just before queue 0.
    pub(crate) fn new(queues: usize) -> Self {
        Self { queue: queues as u32 - 1, left: 0 }
    }

    /// The next queue of those that wait.
    #[inline(always)]
    pub fn advance(&mut self, nonempty: u64) -> usize {
        self.queue = next_after(self.queue, nonempty);
        self.queue as usize
    }

    /// The only queue that waits has its turn.
    #[inline(always)]
    pub(crate) fn arrive_at(&mut self, number: usize) {
        self.queue = number as u32;
    }

    /// A push-out or an expulsion has emptied a queue: that ends a visit to it.
    pub(crate) fn emptied(&mut self, number: usize) {
        if self.queue as usize == number {
            self.end_visit();
        }
    }

    pub(crate) fn end_visit(&mut self) {
        self.left = 0;
    }
}
