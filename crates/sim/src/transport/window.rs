//! A congestion window that grows as RFC 5681 says: slow start, then one packet per window.

use super::congestion::Limits;

/// One packet, in the unit of the window: fractions that a cut leaves are kept.
const ONE: u64 = 1 << 16;

/// The smallest slow-start threshold in packets (RFC 5681, equation 4).
pub(super) const SMALLEST_THRESHOLD: u32 = 2;

/// The window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: u64,
    /// `ssthresh`.
    threshold: u64,
    max: u64,
    /// Packets acknowledged in congestion avoidance that have not yet made the window grow.
    credit: u32,
}

impl Window {
    pub(super) fn new(limits: &Limits) -> Self {
        let max = u64::from(limits.max_window) * ONE;
        Self {
            size: (u64::from(limits.initial_window) * ONE).min(max),
            threshold: limits.initial_threshold.map_or(u64::MAX, |packets| u64::from(packets) * ONE),
            max,
            credit: 0,
        }
    }

    /// Whole packets.
    #[inline]
    pub(super) fn packets(&self) -> u32 {
        (self.size / ONE) as u32
    }

    #[cfg(test)]
    pub(super) fn exact(&self) -> f64 {
        self.size as f64 / ONE as f64
    }

    /// Grows for packets that were acknowledged: by each of them in slow start, by one packet for each window of them
    /// in congestion avoidance. No division.
    #[inline]
    pub(super) fn grow(&mut self, mut acked: u32) {
        if self.size < self.threshold {
            let step = (u64::from(acked) * ONE).min(self.threshold - self.size);
            self.size = (self.size + step).min(self.max);
            acked -= step.div_ceil(ONE) as u32;
        }
        self.credit += acked;
        let packets = self.packets();
        if self.credit >= packets {
            self.credit -= packets;
            self.size = (self.size + ONE).min(self.max);
        }
    }

    /// Cuts to a share of the size, at least to `floor` packets; congestion avoidance follows.
    pub(super) fn cut(&mut self, share: f64, floor: u32) {
        self.size = ((self.size as f64 * share) as u64).max(u64::from(floor) * ONE).min(self.max);
        self.threshold = self.size;
        self.credit = 0;
    }

    /// Starts again from one packet; slow start up to half of what it was, unless it had just started again.
    pub(super) fn restart(&mut self, again: bool) {
        if !again {
            self.threshold = (self.size / 2).max(u64::from(SMALLEST_THRESHOLD) * ONE);
        }
        self.size = ONE;
        self.credit = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(initial_window: u32, initial_threshold: Option<u32>, max_window: u32) -> Window {
        Window::new(&Limits { initial_window, initial_threshold, max_window, ..Limits::default() })
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        let mut window = window(10, Some(15), u32::MAX);
        window.grow(4);
        assert_eq!(window.packets(), 14);
        window.grow(4);
        // One to the threshold, three towards the next packet.
        assert_eq!((window.packets(), window.credit), (15, 3));
        window.grow(12);
        assert_eq!((window.packets(), window.credit), (16, 0));
    }

    #[test]
    fn congestion_avoidance_adds_one_packet_a_window() {
        let mut window = window(10, Some(1), u32::MAX);
        for round in 0..50 {
            for _ in 0..10 + round {
                window.grow(1);
            }
            assert_eq!(window.packets(), 11 + round);
        }
    }

    #[test]
    fn limits_hold() {
        let mut window = window(10, None, 12);
        window.grow(40);
        assert_eq!(window.packets(), 12);
        window.cut(0.01, SMALLEST_THRESHOLD);
        assert_eq!(window.packets(), 2);
        window.restart(false);
        assert_eq!(window.packets(), 1);
        window.grow(1);
        assert_eq!(window.packets(), 2);
    }
}
