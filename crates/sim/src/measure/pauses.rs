//! Priority flow control, as it was used: who asked for pause, who was paused, storms, victims and deadlocks.

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
    /// The port and the number of the egress queue that held most of the group's cells then: the congested queue that
    /// the pause is for.
    pub congested: Option<(u32, u32)>,
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

/// A flow that waited for the pause of a group without going to the congested queue that the pause was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VictimRecord {
    /// The flow.
    pub flow: u32,
    /// The index of the switch that asked for pause.
    pub switch: u32,
    /// The port of that switch that the flow's packets come by.
    pub port: u32,
    /// The group that asked.
    pub group: u8,
    /// When the first of these packets came to the switch.
    pub first: Instant,
    /// Its packets that waited.
    pub packets: u64,
    /// How long one of them waited at most while its class was paused.
    pub longest: Duration,
}

/// An egress queue of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuePlace {
    /// The index of the switch.
    pub switch: u32,
    /// The port within the switch.
    pub port: u32,
    /// The queue within the port.
    pub queue: u32,
}

/// A cycle of egress queues each of which waits, paused, for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// The queues, from the first on; the last waits for the first.
    pub cycle: Vec<QueuePlace>,
    /// Since when each of them has been paused.
    pub paused: Vec<Instant>,
    /// When it was found.
    pub found: Instant,
    /// When it was first seen to be gone; [`Instant::NEVER`] if it was not.
    pub until: Instant,
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
    /// Victims, in order of flows, switches, ports and groups.
    pub victims: Vec<VictimRecord>,
    /// Deadlocks, in the order in which they were found.
    pub deadlocks: Vec<DeadlockRecord>,
    /// Frames that were sent.
    pub frames: u64,
}

impl PauseRecords {
    pub(crate) fn extend(&mut self, other: Option<Self>) {
        let Some(other) = other else { return };
        self.requests.extend(other.requests);
        self.paused.extend(other.paused);
        self.storms.extend(other.storms);
        self.victims.extend(other.victims);
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
