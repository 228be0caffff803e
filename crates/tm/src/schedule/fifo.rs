//! One queue, first in first out. Nothing to decide.

use super::{ActiveScheduler, Discipline, Scheduler, SchedulerSettings, Service};
use crate::config::ValidConfig;

#[derive(Clone, Debug)]
pub(crate) struct Fifo;

impl SchedulerSettings for Fifo {
    fn service(&self) -> Service {
        Service::Fifo
    }

    fn start(&self, _: &ValidConfig) -> ActiveScheduler {
        Scheduler::Fifo(Self).into()
    }
}

impl Discipline for Fifo {}
