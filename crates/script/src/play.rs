//! A script that is being played: when each packet goes on.

use crate::director::{Decision, Director, Subject};
use crate::file::Script;
use crate::trace::Side;
use forebay_tm::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// What the script says.
    pub decision: Decision,
    /// When it goes on to the queues, unless it is dropped.
    pub release: Instant,
    /// When a copy of it does.
    pub copy: Option<Instant>,
}

/// A script that is being played.
#[derive(Clone, Debug)]
pub struct Play {
    director: Director,
    /// Half a round trip.
    way: Duration,
    /// Before this, nothing of a direction goes on.
    barriers: [Instant; 2],
}

impl Play {
    /// A script at its beginning.
    pub fn new(script: &Script) -> Self {
        let way = Duration::from_ps(script.round_trip.ps() / 2);
        Self { director: Director::new(script), way, barriers: [Instant::ZERO; 2] }
    }

    /// A packet has come; none of the script's rules can name one without a subject. `wire` is held beside half a round trip.
    pub fn meet(&mut self, now: Instant, wire: Duration, flow: u32, side: Side, subject: Option<Subject>) -> Fate {
        let decision = subject.map(|subject| self.director.decide(flow, subject)).unwrap_or_default();
        let barrier = &mut self.barriers[usize::from(side == Side::Receiver)];
        let release = (now + wire + self.way + decision.delay).max(*barrier);
        if decision.hold && !decision.drop {
            *barrier = release;
        }
        let copy = decision.duplicate.filter(|_| !decision.drop).map(|after| release + after);
        Fate { decision, release, copy }
    }
}

#[derive(Clone, Copy, Debug)]
struct Held<T> {
    /// Packets that go on at the same time keep their order.
    key: (Instant, u64),
    packet: T,
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Held<T> {}

impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Held<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Packets that are held, each until its own time.
#[derive(Clone, Debug)]
pub struct DelayLine<T> {
    held: BinaryHeap<Reverse<Held<T>>>,
    order: u64,
}

impl<T> Default for DelayLine<T> {
    fn default() -> Self {
        Self { held: BinaryHeap::new(), order: 0 }
    }
}

impl<T> DelayLine<T> {
    /// Holds a packet.
    pub fn push(&mut self, release: Instant, packet: T) {
        self.order += 1;
        self.held.push(Reverse(Held { key: (release, self.order), packet }));
    }

    /// When the next packet goes on.
    pub fn next(&self) -> Option<Instant> {
        self.held.peek().map(|Reverse(held)| held.key.0)
    }

    /// The next packet that goes on by now.
    pub fn pop(&mut self, now: Instant) -> Option<T> {
        if self.next()? > now {
            return None;
        }
        self.held.pop().map(|Reverse(held)| held.packet)
    }

    /// All packets that are held, in no order.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        self.held.drain().map(|Reverse(held)| held.packet)
    }
}
