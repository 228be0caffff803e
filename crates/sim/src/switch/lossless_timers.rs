//! What a switch that pauses has to do at a time of its own.

use super::lossless::Due;
use crate::event_queue::{Clock, Key, NEVER};
use forebay_tm::Instant;
use std::collections::BTreeSet;

/// What is due, in order of time.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(Instant, Due)>);

impl Timers {
    pub(super) fn set(&mut self, at: Instant, due: Due) {
        if at < Instant::NEVER {
            self.0.insert((at, due));
        }
    }

    /// Takes the next that is due by now.
    pub(super) fn next(&mut self, now: Instant) -> Option<Due> {
        let first = self.0.first().copied().filter(|(at, _)| *at <= now)?;
        self.0.remove(&first);
        Some(first.1)
    }

    /// Whether there is another time for this.
    pub(super) fn has(&self, due: Due) -> bool {
        self.0.iter().any(|(_, other)| *other == due)
    }

    /// The event of the earliest.
    pub(super) fn key(&self, clock: Clock, slot: usize) -> Key {
        self.0.first().map_or(NEVER, |(at, _)| clock.timer(*at, slot))
    }
}
