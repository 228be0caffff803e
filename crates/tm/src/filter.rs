//! A low-pass filter of a length, as Reverie has one for each queue. It is a fixed-point number, so that it is the
//! same everywhere.

/// Bits behind the point.
const FRACTION: u32 = 16;

/// The largest weight that can be given: a new length counts for at least `1 / 2^MAX_FILTER`.
pub(crate) const MAX_FILTER: u32 = 16;

/// A filtered length: below the length while that grows, and never above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filtered(u64);

impl Filtered {
    /// The length is this now: the filtered one goes `1 / 2^filter` of the way there, rounded down; all the way if it
    /// is above it.
    #[inline]
    pub(crate) fn follow(&mut self, length: u64, filter: u32) {
        let length = length << FRACTION;
        self.0 = if length <= self.0 { length } else { self.0 + ((length - self.0) >> filter) };
    }

    /// Whether it is at most `length`.
    pub(crate) const fn is_at_most(self, length: u64) -> bool {
        self.0 <= length << FRACTION
    }

    /// Whether, with `more` added to it, it is at most `num / den` of `free`.
    pub(crate) const fn is_within(self, more: u64, (num, den): (u64, u64), free: u64) -> bool {
        let own = self.0 as u128 + ((more as u128) << FRACTION);
        own * den as u128 <= (free as u128 * num as u128) << FRACTION
    }

    /// For people.
    pub(crate) fn as_f64(self) -> f64 {
        self.0 as f64 / f64::from(1u32 << FRACTION)
    }

    /// Rounded down.
    #[cfg(test)]
    const fn floor(self) -> u64 {
        self.0 >> FRACTION
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_slowly_and_never_stays_above() {
        let mut length = Filtered::default();
        let mut seen = [0; 4];
        for seen in &mut seen {
            length.follow(1_000, 1);
            *seen = length.floor();
        }
        assert_eq!(seen, [500, 750, 875, 937]);
        length.follow(900, 1);
        assert!(length.is_at_most(900) && !length.is_at_most(899));
        length.follow(0, 1);
        assert_eq!(length, Filtered::default());
    }

    #[test]
    fn it_compares_exactly() {
        let mut length = Filtered::default();
        length.follow(3, 1);
        // 1.5 and 1 are at most a quarter of 10, and not of 9.
        assert!(length.is_within(1, (1, 4), 10) && !length.is_within(1, (1, 4), 9));
    }
}
