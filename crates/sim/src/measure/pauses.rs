//! Priority flow control, as it was used: who asked for pause, who was paused, and storms.

use crate::pause::CLASSES;
use forebay_tm::{Duration, Instant};

/// A priority group asked the sender of its port to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRecord {
    /// The index of the switch.
    pub switch: u32,
    /// The port that the group's packets come by.
    pub port: u32,
    /// The number of the group.
    pub group: u8,
    /// When it asked for pause.
    pub from: Instant,
    /// When it asked to resume; [`Instant::NEVER`] if it has not.
    pub until: Instant,
}

/// A class of a port of a switch, or of a host's NIC, that was paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausedRecord {
    /// The index of the switch; `None`: a host.
    pub switch: Option<u32>,
    /// The port of the switch, or the index of the host.
    pub port: u32,
    /// The class.
    pub class: u8,
    /// How often it was paused.
    pub pauses: u64,
    /// How long in all.
    pub paused: Duration,
}

/// A watchdog saw a class of a port that stayed paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StormRecord {
    /// The index of the switch.
    pub switch: u32,
    /// The port.
    pub port: u32,
    /// The class.
    pub class: u8,
    /// When it was detected.
    pub from: Instant,
    /// When it was over; [`Instant::NEVER`] if it was not.
    pub until: Instant,
    /// Packets dropped meanwhile.
    pub dropped: u64,
}

/// All of that of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRecords {
    /// Requests of groups, switch by switch, in order of time.
    pub requests: Vec<PauseRecord>,
    /// Classes that were paused at least once: of switches' ports, then of hosts.
    pub paused: Vec<PausedRecord>,
    /// Storms, switch by switch, in order of time.
    pub storms: Vec<StormRecord>,
    /// Frames that were sent.
    pub frames: u64,
}

impl PauseRecords {
    pub(crate) fn extend(&mut self, other: Option<Self>) {
        let Some(other) = other else { return };
        self.requests.extend(other.requests);
        self.paused.extend(other.paused);
        self.storms.extend(other.storms);
        self.frames += other.frames;
    }

    /// Adds the classes of a host or of a port that were paused.
    pub(crate) fn add(
        &mut self,
        switch: Option<u32>,
        port: u32,
        mut totals: impl FnMut(usize) -> Option<(u64, Duration)>,
    ) {
        for class in 0..CLASSES {
            let Some((pauses, paused)) = totals(class).filter(|(pauses, _)| *pauses > 0) else { continue };
            self.paused.push(PausedRecord { switch, port, class: class as u8, pauses, paused });
        }
    }

    pub(crate) fn add_host(&mut self, host: u32, totals: impl FnMut(usize) -> Option<(u64, Duration)>) {
        self.add(None, host, totals);
    }
}
