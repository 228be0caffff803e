//! Where the completion time of every flow went.
//!
//! A flow is complete when its last missing packet arrives. That packet is followed back: its time in the network is
//! told hop by hop, and the time before its sender sent it by what the sender waited for. The sender of a flow sends at
//! certain instants; the time between two of these is one wait, named by what ended it. All parts together are the
//! completion time, to the picosecond: they are the stretches between instants that follow each other, from the start
//! of the flow to the arrival of that packet.

use crate::flow::NONE;
use crate::packet::{Slot, flag};
use forebay_tm::{Duration, Instant, Rate};

/// What a sender waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Its own packets before, on their way to its host's link.
    Sending,
    /// Other packets in front of its host's link.
    Host,
    /// Window or credit: it ended when a reply came in.
    Window,
    /// Its pace.
    Pacing,
    /// Its application, which had written no more.
    Application,
    /// It ended with a retransmission that a reply led to.
    Retransmission,
    /// It ended with a retransmission of what a timer, not a reply, told from reordered (RACK, RFC 8985).
    Reordering,
    /// The timer of a tail loss probe ran out (RFC 8985).
    Probe,
    /// A retransmission timeout.
    Timeout,
}

impl Wait {
    /// All of them, in the order of [`FlowTimes::waits`].
    pub const ALL: [Self; 9] = [
        Self::Sending,
        Self::Host,
        Self::Window,
        Self::Pacing,
        Self::Application,
        Self::Retransmission,
        Self::Reordering,
        Self::Probe,
        Self::Timeout,
    ];

    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Host => "host",
            Self::Window => "window",
            Self::Pacing => "pacing",
            Self::Application => "application",
            Self::Retransmission => "retransmission",
            Self::Reordering => "reordering",
            Self::Probe => "probe",
            Self::Timeout => "timeout",
        }
    }
}

/// What woke a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Its start, or a reply.
    #[default]
    Reply,
    /// Room in front of its host's link.
    Host,
    /// Pacing.
    Pace,
    /// A deadline of its own.
    Deadline,
}

/// Where the completion time of a flow went: what its sender waited for, and the hops of the packet that completed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowTimes {
    /// Its number in [`RunResult::flows`](super::RunResult::flows).
    pub flow: u32,
    /// By [`Wait`].
    pub waits: [Duration; Wait::COUNT],
    /// In the order of the path, from the sending host on.
    pub hops: Vec<HopTimes>,
}

impl FlowTimes {
    /// All parts together: the completion time.
    pub fn total(&self) -> Duration {
        let hops = self.hops.iter().flat_map(|hop| [hop.queueing, hop.serialization, hop.propagation]);
        Duration::from_ps(self.waits.iter().copied().chain(hops).map(Duration::ps).sum())
    }
}

/// One hop of a packet: the node that sends it, and the cable to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopTimes {
    /// The node: hosts first, then switches.
    pub node: u32,
    /// Its port.
    pub port: u32,
    /// From its arrival there (at the sending host: from the sender's decision) to the start of its transmission.
    pub queueing: Duration,
    /// The transmission.
    pub serialization: Duration,
    /// The cable.
    pub propagation: Duration,
}

/// Hops that are kept apart; those behind them are added to the last.
const MAX_HOPS: usize = 16;

/// What is known of one packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trail {
    waits: [u64; Wait::COUNT],
    /// When it arrives at the next node.
    arrives: u64,
    count: u8,
    /// The links that it took; queueing, serialization and propagation on each.
    hops: [(u32, [u64; 3]); MAX_HOPS],
}

/// What is known of the sender of a flow.
#[derive(Clone, Copy, Debug)]
struct Waits {
    spent: [u64; Wait::COUNT],
    /// When it last sent; before that, when the flow started.
    last: u64,
    /// How long its own packets would still keep its host's link busy then, if there were no others.
    backlog: u64,
    timeouts: u32,
    probes: u32,
}

/// A packet that a sender sends.
pub(crate) struct Sending {
    pub(crate) now: Instant,
    pub(crate) flow: u32,
    pub(crate) started: Instant,
    pub(crate) flags: u16,
    pub(crate) bytes: u32,
    /// The rate of its host's link.
    pub(crate) rate: Rate,
    pub(crate) timeouts: u32,
    /// Tail loss probes that it has sent, this one included.
    pub(crate) probes: u32,
    /// What its deadlines are if they are no timeouts and no probes: its pace, its application's.
    pub(crate) deadlines: Wait,
    /// The same for deadlines that end with a retransmission.
    pub(crate) repairs: Wait,
}

/// The trails of all packets, and what the senders of all flows have waited for.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    /// Whether anything is kept at all.
    pub(crate) on: bool,
    /// What woke the sender that runs.
    pub(crate) trigger: Trigger,
    /// The link, which does not work, that a packet is put on now, and when it would have been sent.
    pub(crate) unsent: Option<(u32, Instant)>,
    /// By the slots of packets.
    of: Vec<Trail>,
    /// By flow.
    senders: Vec<Option<Waits>>,
    /// The node and port that send on each link.
    ends: Vec<(u32, u32)>,
    finished: Vec<FlowTimes>,
}

impl Trails {
    /// `outgoing` are the links that each node sends on.
    pub(crate) fn of_network(outgoing: &[Vec<u32>], links: usize) -> Self {
        let mut ends = vec![(NONE, NONE); links];
        for (node, links) in outgoing.iter().enumerate() {
            for (port, link) in links.iter().enumerate() {
                ends[*link as usize] = (node as u32, port as u32);
            }
        }
        Self { on: true, ends, ..Self::default() }
    }

    /// The same before anything has happened.
    pub(crate) fn replica(&self) -> Self {
        Self { on: self.on, ends: self.ends.clone(), ..Self::default() }
    }

    /// The trail of a packet, if trails are kept.
    pub(crate) fn of_packet(&self, slot: Slot) -> Option<Trail> {
        self.on.then(|| self.of.get(slot as usize).copied().unwrap_or_default())
    }

    /// A packet goes on here.
    pub(crate) fn take_over(&mut self, slot: Slot, trail: Trail) {
        if self.of.len() <= slot as usize {
            self.of.resize(slot as usize + 1, Trail::default());
        }
        self.of[slot as usize] = trail;
    }

    /// Takes over the flows that were completed in a partition.
    pub(crate) fn join(&mut self, part: Self) {
        self.finished.extend(part.finished);
    }

    /// A sender sends a packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn sent(&mut self, slot: Slot, sending: &Sending) {
        let now = sending.now.ps();
        if self.senders.len() <= sending.flow as usize {
            self.senders.resize(sending.flow as usize + 1, None);
        }
        let fresh = Waits { spent: [0; Wait::COUNT], last: sending.started.ps(), backlog: 0, timeouts: 0, probes: 0 };
        let waits = self.senders[sending.flow as usize].get_or_insert(fresh);
        let gap = now - waits.last;
        let mut rest = gap;
        let is_again = sending.flags & flag::RETRANSMISSION != 0;
        let wait = if sending.timeouts > waits.timeouts {
            Wait::Timeout
        } else if sending.probes > waits.probes {
            Wait::Probe
        } else if is_again && self.trigger == Trigger::Deadline {
            sending.repairs
        } else if is_again {
            Wait::Retransmission
        } else {
            match self.trigger {
                Trigger::Reply => Wait::Window,
                Trigger::Pace => Wait::Pacing,
                Trigger::Deadline => sending.deadlines,
                Trigger::Host => {
                    let own = gap.min(waits.backlog);
                    waits.spent[Wait::Sending as usize] += own;
                    rest -= own;
                    Wait::Host
                }
            }
        };
        waits.spent[wait as usize] += rest;
        let took = sending.rate.serialization(u64::from(sending.bytes)).ps();
        waits.backlog = waits.backlog.saturating_sub(gap) + took;
        (waits.last, waits.timeouts, waits.probes) = (now, sending.timeouts, sending.probes);
        let trail = Trail { waits: waits.spent, arrives: now, ..Trail::default() };
        self.take_over(slot, trail);
    }

    /// A packet is put on a link, which starts to send it at this time.
    #[cold]
    #[inline(never)]
    pub(crate) fn hop(&mut self, slot: Slot, link: u32, start: Instant, took: u64, delay: Duration) {
        let Some(trail) = self.of.get_mut(slot as usize) else { return };
        // Replies go on with the slots of what they reply to: nobody asks for their trails.
        let queueing = start.ps().saturating_sub(trail.arrives);
        let place = usize::from(trail.count).min(MAX_HOPS - 1);
        let (kept, times) = &mut trail.hops[place];
        if usize::from(trail.count) < MAX_HOPS {
            (*kept, *times) = (link, [0; 3]);
            trail.count += 1;
        }
        for (sum, part) in times.iter_mut().zip([queueing, took, delay.ps()]) {
            *sum += part;
        }
        trail.arrives = start.ps() + took + delay.ps();
    }

    /// A packet has completed its flow.
    #[cold]
    #[inline(never)]
    pub(crate) fn completed(&mut self, flow: u32, slot: Slot) {
        let Some(trail) = self.of.get(slot as usize) else { return };
        let hop = |(link, [queueing, serialization, propagation]): &(u32, [u64; 3])| {
            let (node, port) = self.ends[*link as usize];
            HopTimes {
                node,
                port,
                queueing: Duration::from_ps(*queueing),
                serialization: Duration::from_ps(*serialization),
                propagation: Duration::from_ps(*propagation),
            }
        };
        let hops = trail.hops[..usize::from(trail.count)].iter().map(hop).collect();
        self.finished.push(FlowTimes { flow, waits: trail.waits.map(Duration::from_ps), hops });
    }

    /// All flows that were completed, by their numbers in the result.
    pub(crate) fn finish(&mut self, place: impl Fn(u32) -> u32) -> Vec<FlowTimes> {
        self.finished.iter_mut().for_each(|times| times.flow = place(times.flow));
        self.finished.sort_by_key(|times| times.flow);
        core::mem::take(&mut self.finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(now: u64, flags: u16, timeouts: u32, probes: u32) -> Sending {
        Sending {
            now: Instant::from_ps(now),
            flow: 0,
            started: Instant::from_ps(100),
            flags,
            bytes: 1_000,
            rate: Rate::from_gbps(8),
            timeouts,
            probes,
            deadlines: Wait::Application,
            repairs: Wait::Reordering,
        }
    }

    /// A packet of 1,000 bytes takes 1,000,000 ps.
    #[test]
    fn waits_are_named_by_what_ended_them() {
        let mut trails = Trails::of_network(&[vec![0]], 1);
        for (at, trigger, flags, (timeouts, probes), wait, spent) in [
            (100, Trigger::Reply, 0, (0, 0), Wait::Window, 0),
            (400, Trigger::Reply, 0, (0, 0), Wait::Window, 300),
            (500, Trigger::Pace, 0, (0, 0), Wait::Pacing, 100),
            (700, Trigger::Deadline, 0, (0, 0), Wait::Application, 200),
            (1_700, Trigger::Deadline, flag::RETRANSMISSION, (1, 0), Wait::Timeout, 1_000),
            (1_750, Trigger::Reply, flag::RETRANSMISSION, (1, 0), Wait::Retransmission, 50),
            // A probe is one whether it repeats a packet or sends a new one.
            (1_800, Trigger::Deadline, flag::RETRANSMISSION, (1, 1), Wait::Probe, 50),
            (1_820, Trigger::Deadline, 0, (1, 2), Wait::Probe, 70),
            (1_850, Trigger::Deadline, flag::RETRANSMISSION, (1, 2), Wait::Reordering, 30),
            // Its own packets keep the link busy for nine times a million, less what has passed; then others do.
            (10_001_750, Trigger::Host, 0, (1, 2), Wait::Sending, 9_000_000 - 1_750),
        ] {
            trails.trigger = trigger;
            trails.sent(3, &sending(at, flags, timeouts, probes));
            assert_eq!(trails.of[3].waits[wait as usize], spent, "{wait:?} at {at}");
            assert_eq!(trails.of[3].waits.iter().sum::<u64>(), at - 100);
        }
        assert_eq!(trails.of[3].waits[Wait::Host as usize], 10_000_000 - 100 - 9_000_000 + 1_750);
    }

    #[test]
    fn hops_beyond_the_last_are_added_to_it() {
        let mut trails = Trails::of_network(&[vec![0]], 1);
        trails.sent(0, &sending(100, 0, 0, 0));
        for hop in 0..20u64 {
            // Each waits for 7, takes 2 and travels for 1.
            trails.hop(0, 0, Instant::from_ps(100 + 10 * hop + 7), 2, Duration::from_ps(1));
        }
        trails.completed(0, 0);
        let times = trails.finish(|flow| flow).remove(0);
        assert_eq!((times.hops.len(), times.total()), (MAX_HOPS, Duration::from_ps(200)));
        assert_eq!(times.hops[MAX_HOPS - 1].queueing, Duration::from_ps(5 * 7));
    }
}
