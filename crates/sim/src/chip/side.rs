//! A port inside the chip: a queue of control packets, sent one after the other.

use crate::measure::chip::SideRecord;
use crate::scenario::SideSetup;
use forebay_tm::{Instant, Rate};
use std::collections::VecDeque;

/// A deflection port, or a recirculation port.
pub(super) struct SidePort {
    /// Its slot among the ends of transmissions.
    pub(super) slot: usize,
    /// Of a recirculation port: the link from the switch to itself, and its slot among the arrivals.
    pub(super) link: Option<(u32, usize)>,
    pub(super) rate: Rate,
    capacity: usize,
    pub(super) queue: VecDeque<u32>,
    /// When it has sent what it sends.
    pub(super) free_at: Instant,
    /// It will be woken when it is free.
    pub(super) armed: bool,
    pub(super) record: SideRecord,
}

impl SidePort {
    pub(super) fn new(setup: &SideSetup, slot: usize, link: Option<(u32, usize)>) -> Self {
        Self {
            slot,
            link,
            rate: setup.rate,
            capacity: setup.capacity,
            queue: VecDeque::new(),
            free_at: Instant::ZERO,
            armed: false,
            record: SideRecord::default(),
        }
    }

    /// Whether a packet that came now could wait.
    pub(super) fn has_room(&self, now: Instant) -> bool {
        self.free_at <= now || self.queue.len() < self.capacity
    }

    /// Takes a packet that has to wait.
    pub(super) fn wait(&mut self, control: u32) {
        self.queue.push_back(control);
        self.record.peak = self.record.peak.max(self.queue.len() as u64);
    }
}
