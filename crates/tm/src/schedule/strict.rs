//! Strict priority: the lowest queue number that waits.

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service, Turn};
use crate::config::ValidConfig;

#[derive(Clone, Debug)]
pub(crate) struct Strict;

impl SchedulerSettings for Strict {
    fn service(&self) -> Service {
        Service::Strict
    }

    fn start(&self, _: &ValidConfig) -> ActiveScheduler {
        Scheduler::Strict(Self).into()
    }
}

impl Discipline for Strict {
    #[inline(always)]
    fn choose(&mut self, turn: Turn<'_>) -> usize {
        turn.nonempty.trailing_zeros() as usize
    }
}
