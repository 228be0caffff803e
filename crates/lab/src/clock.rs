//! The machine's monotonic clock, which all network namespaces share.

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS: u64 = 1_000_000_000;

/// Nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * NS + time.tv_nsec as u64
}

/// Sleeps until the clock shows this; not at all if it has.
pub fn sleep_until(at: u64) {
    while now() < at {
        let time = Timespec { tv_sec: (at / NS) as i64, tv_nsec: (at % NS) as _ };
        // A sleep that was interrupted goes on.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_when_it_should() {
        let before = now();
        sleep_until(before + 2_000_000);
        assert!(now() >= before + 2_000_000);
        sleep_until(before);
    }
}
