//! Storm control: what may be flooded of what comes in by a port.

use forebay_tm::{Duration, Instant, Rate};

/// Bursts of so long at the rate may pass at once.
const BURST: Duration = Duration::from_us(10_000);

/// A rate for every port, and how far each has used it up.
#[derive(Clone, Debug)]
pub struct Storm {
    rate: Rate,
    /// Until when a wire of this rate would be busy with what was flooded (a generic cell rate algorithm).
    busy_until: Vec<Instant>,
}

impl Storm {
    /// Every one of these ports may flood at this rate.
    pub fn new(rate: Rate, ports: usize) -> Self {
        Self { rate, busy_until: vec![Instant::ZERO; ports] }
    }

    /// Whether a frame may be flooded now, and if so, takes it off what may be.
    pub fn may_pass(&mut self, port: usize, bytes: usize, now: Instant) -> bool {
        // What came in by no port comes from a file.
        let Some(busy_until) = self.busy_until.get_mut(port) else { return true };
        if busy_until.ps() > now.ps().saturating_add(BURST.ps()) {
            return false;
        }
        let span = self.rate.serialization(bytes as u64);
        *busy_until = Instant::from_ps((*busy_until).max(now).ps().saturating_add(span.ps()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut storm = Storm::new(Rate::from_bps(8_000_000), 2);
        let at = |ms: u64| Instant::from_ps(ms * 1_000_000_000);
        // 1,000 bytes take 1 ms: what 10 ms hold, and the one that is begun.
        let passed = |storm: &mut Storm, port, ms| (0..100).filter(|_| storm.may_pass(port, 1_000, at(ms))).count();
        assert_eq!(passed(&mut storm, 0, 0), 11);
        assert_eq!(passed(&mut storm, 1, 0), 11, "the other port has its own");
        assert_eq!((1..=20).map(|ms| passed(&mut storm, 0, ms)).sum::<usize>(), 20);
        assert_eq!(passed(&mut storm, 0, 1_000), 11, "and no more after a rest");
        assert!(storm.may_pass(9, 1_000, at(0)));
    }
}
