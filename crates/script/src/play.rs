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

    /// A packet has come; none of the script's rules can name one without a subject. `wire` is held beside half a round
    /// trip.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::read;
    use proptest::prelude::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_us(us)
    }

    fn play(rules: &str) -> Play {
        let text = format!(
            "about = \"x\"\ncongestion_control = \"reno\"\nround_trip = \"10ms\"\n[[flow]]\nsegments = 9\n{rules}"
        );
        Play::new(&read("x.toml", &text).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn packets_are_held_for_half_a_round_trip_and_what_the_script_adds() {
        let mut play = play(
            "[[delay]]\nsegment = 1\nby = \"3ms\"\n[[hold]]\nsegment = 3\nby = \"4ms\"\n[[hold]]\nsegment = 6\nby = \"9ms\"\n\
             [[drop]]\nsegment = 6\n[[duplicate]]\nsegment = 7\nafter = \"1ms\"\n",
        );
        let mut data = |us: u64, segment: u32| {
            let subject = Some(Subject::Data { segment });
            play.meet(at(us), Duration::from_us(100), 0, Side::Sender, subject)
        };
        assert_eq!(data(0, 0).release, at(5_100));
        assert_eq!(data(0, 1).release, at(8_100), "it is overtaken");
        assert_eq!(data(10, 2).release, at(5_110));
        assert_eq!(data(20, 3).release, at(9_120));
        assert_eq!(data(30, 4).release, at(9_120), "it waits with the one before");
        assert_eq!(data(5_000, 5).release, at(10_100));
        assert!(data(5_010, 6).decision.drop);
        let last = data(5_020, 7);
        assert_eq!((last.release, last.copy), (at(10_120), Some(at(11_120))), "what is dropped holds nothing up");
        let back = play.meet(at(40), Duration::ZERO, 0, Side::Receiver, Some(Subject::Ack { next: 1 }));
        assert_eq!(back.release, at(5_040), "the other direction goes on");
        assert_eq!(play.meet(at(40), Duration::ZERO, 0, Side::Receiver, None).decision, Decision::default());
    }

    proptest! {
        #[test]
        fn what_is_held_comes_in_order_of_time_then_as_it_went_in(times in prop::collection::vec(0u64..20, 0..60)) {
            let mut line = DelayLine::default();
            for (number, us) in times.iter().enumerate() {
                line.push(at(*us), number);
            }
            let mut expected: Vec<usize> = (0..times.len()).collect();
            expected.sort_by_key(|number| times[*number]);
            let mut came = Vec::new();
            for us in 0..20 {
                while let Some(number) = line.pop(at(us)) {
                    prop_assert_eq!(times[number], us);
                    came.push(number);
                }
                prop_assert!(line.next().is_none_or(|next| next > at(us)));
            }
            prop_assert_eq!(came, expected);
        }
    }
}
