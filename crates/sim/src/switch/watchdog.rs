//! The PFC watchdog of a switch's ports: it sees classes that have packets and stay paused, drops or sends their
//! packets, and restores them when nobody pauses them any more.

use super::lossless::Due;
use super::lossless_timers::Timers;
use crate::measure::pauses::StormRecord;
use crate::pause::CLASSES;
use crate::scenario::{WatchdogAction, WatchdogSetup};
use forebay_tm::Instant;

/// A class of a port.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    /// A time is set at which it may be in a storm.
    armed: bool,
    /// The place of its storm, while that lasts.
    storm: Option<usize>,
}

pub(super) struct Watchdog {
    setup: Option<WatchdogSetup>,
    classes: Vec<Watched>,
    storms: Vec<StormRecord>,
    /// By port: the classes whose packets are sent although they are paused, and those whose packets are dropped.
    forwards: Vec<u64>,
    drops: Vec<u64>,
}

impl Watchdog {
    pub(super) fn new(ports: usize, setup: Option<WatchdogSetup>) -> Self {
        Self {
            setup,
            classes: vec![Watched::default(); ports * CLASSES],
            storms: Vec::new(),
            forwards: vec![0; ports],
            drops: vec![0; ports],
        }
    }

    pub(super) fn forwards(&self, port: usize) -> u64 {
        self.forwards[port]
    }

    pub(super) fn drops(&self, port: usize) -> u64 {
        self.drops[port]
    }

    /// A frame that pauses or resumes a class from a time on has come in.
    pub(super) fn heard(&mut self, port: usize, class: usize, at: Instant, pauses: bool, timers: &mut Timers) {
        let (Some(setup), true) = (self.setup, pauses) else { return };
        let watched = &mut self.classes[port * CLASSES + class];
        if !watched.armed && watched.storm.is_none() {
            watched.armed = true;
            timers.set(at + setup.detect, Due::Storm { port, class, since: at });
        }
    }

    /// The pause that was watched has ended. Another one may have begun meanwhile.
    pub(super) fn ended(&mut self, port: usize, class: usize, since: Instant, paused: bool, timers: &mut Timers) {
        let Some(setup) = self.setup else { return };
        self.classes[port * CLASSES + class].armed = paused;
        if paused {
            timers.set(since + setup.detect, Due::Storm { port, class, since });
        }
    }

    /// A class was paused for long. It is in a storm if it has packets; else it is looked at again.
    pub(super) fn storm(
        &mut self,
        now: Instant,
        port: usize,
        class: usize,
        has_packets: bool,
        timers: &mut Timers,
    ) -> Option<WatchdogAction> {
        let setup = self.setup?;
        let watched = &mut self.classes[port * CLASSES + class];
        watched.armed = false;
        if !has_packets {
            // The next frame begins the watch anew.
            return None;
        }
        watched.storm = Some(self.storms.len());
        let record = StormRecord {
            switch: 0,
            port: port as u32,
            class: class as u8,
            from: now,
            until: Instant::NEVER,
            dropped: 0,
        };
        self.storms.push(record);
        match setup.action {
            WatchdogAction::Drop => self.drops[port] |= 1 << class,
            WatchdogAction::Forward => self.forwards[port] |= 1 << class,
            WatchdogAction::Report => {}
        }
        timers.set(now + setup.restore, Due::Restore { port, class });
        Some(setup.action)
    }

    /// A packet of a class in a storm was dropped. Where all classes share a queue, it is the first class's.
    pub(super) fn dropped(&mut self, port: usize, queue: usize) {
        let classes = &self.classes[port * CLASSES..(port + 1) * CLASSES];
        let storm = classes[queue].storm.or_else(|| classes.iter().find_map(|watched| watched.storm));
        if let Some(storm) = storm {
            self.storms[storm].dropped += 1;
        }
    }

    /// A storm is over if the class, which was paused until a time, has not been so for long enough.
    pub(super) fn restore(&mut self, now: Instant, port: usize, class: usize, until: Instant, timers: &mut Timers) {
        let Some(setup) = self.setup else { return };
        let watched = &mut self.classes[port * CLASSES + class];
        if until + setup.restore > now {
            return timers.set(until + setup.restore, Due::Restore { port, class });
        }
        if let Some(storm) = watched.storm.take() {
            self.storms[storm].until = now;
        }
        self.drops[port] &= !(1 << class);
        self.forwards[port] &= !(1 << class);
    }

    /// All storms so far, of the switch with this number.
    pub(super) fn storms(&mut self, switch: u32) -> Vec<StormRecord> {
        let storms = core::mem::take(&mut self.storms);
        storms.into_iter().map(|storm| StormRecord { switch, ..storm }).collect()
    }
}
