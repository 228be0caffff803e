//! The switch's time: the machine's, less the stalls.
//!
//! The wires behind the ports are imagined: a packet leaves when the one before it has left a wire of the port's rate.
//! The machine looks at the clock now and then; what should have left by then leaves then, as of when it should have.
//! After a stall (the machine was doing something else) that would be a burst of everything that was missed. So time
//! that the machine was away beyond a bound has not passed at all for the switch.

use forebay_tm::{Duration, Instant};

/// Reads of the machine's clock made into the switch's time.
#[derive(Clone, Debug)]
pub struct Clock {
    last: Instant,
    /// What the switch's time is behind.
    behind: Duration,
    catch_up: Duration,
    /// Looks that were later than this after the one before count as stalls.
    stall: Duration,
    stalls: Stalls,
}

/// How often and how long the machine was away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stalls {
    /// How often.
    pub count: u64,
    /// In all.
    #[serde(rename = "total_us", with = "crate::snapshot::microseconds")]
    pub total: Duration,
    /// At most.
    #[serde(rename = "longest_us", with = "crate::snapshot::microseconds")]
    pub longest: Duration,
    /// What was not made up for.
    #[serde(rename = "given_up_us", with = "crate::snapshot::microseconds")]
    pub given_up: Duration,
}

fn plus(a: Duration, b: Duration) -> Duration {
    Duration::from_ps(a.ps() + b.ps())
}

impl Clock {
    /// A clock that starts at 0, makes up for `catch_up` at a time and counts absences of more than `stall`.
    pub fn new(catch_up: Duration, stall: Duration) -> Self {
        let zero = Duration::from_ps(0);
        Self { last: Instant::ZERO, behind: zero, catch_up, stall, stalls: Stalls::default() }
    }

    /// The switch's time when the machine's is `machine`, which is never earlier than the last one.
    pub fn read(&mut self, machine: Instant) -> Instant {
        let machine = machine.max(self.last);
        let away = machine.since(self.last);
        self.last = machine;
        if away > self.stall {
            self.stalls.count += 1;
            self.stalls.total = plus(self.stalls.total, away);
            self.stalls.longest = self.stalls.longest.max(away);
        }
        if away > self.catch_up {
            let lost = Duration::from_ps(away.ps() - self.catch_up.ps());
            self.behind = plus(self.behind, lost);
            self.stalls.given_up = plus(self.stalls.given_up, lost);
        }
        Instant::from_ps(machine.ps() - self.behind.ps())
    }

    /// The machine's time when the switch's will be `at`, without further stalls.
    pub fn machine(&self, at: Instant) -> Instant {
        Instant::from_ps(at.ps().saturating_add(self.behind.ps()))
    }

    /// The stalls so far.
    pub fn stalls(&self) -> Stalls {
        self.stalls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_bound_has_not_passed() {
        let at = |us: u64| Instant::from_ps(us * 1_000_000);
        let mut clock = Clock::new(Duration::from_us(10), Duration::from_us(5));
        assert_eq!(clock.read(at(3)), at(3));
        assert_eq!(clock.read(at(13)), at(13), "made up for");
        assert_eq!(clock.read(at(513)), at(23), "500 us away, 490 too many");
        assert_eq!(clock.read(at(514)), at(24));
        assert_eq!(clock.read(at(510)), at(24), "never backwards");
        let us = Duration::from_us;
        assert_eq!(clock.stalls(), Stalls { count: 2, total: us(510), longest: us(500), given_up: us(490) });
    }
}
