//! Random draws: xoshiro256++, one stream for each purpose and entity, so that one user of randomness does not disturb
//! another.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of an entity for a purpose.
    pub fn stream(seed: u64, purpose: &str, entity: u64) -> Self {
        // FNV-1a over the purpose, then mixed with the rest; the generator's own seeding spreads the bits.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in purpose.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ mix(hash ^ mix(entity)))))
    }

    /// A number in [0, 1), in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below `n`, every one as likely as another; 0 if `n` is 0.
    ///
    /// The high word of the product of `n` and 64 random bits; draws whose low word falls into the part that does not
    /// divide evenly are repeated, so that nothing is more likely than the rest (Lemire 2019).
    pub fn below(&mut self, n: u64) -> u64 {
        let uneven = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            if product as u64 >= uneven {
                return (product >> 64) as u64;
            }
        }
    }

    /// Puts things into a random order, every order as likely as another (Fisher and Yates).
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A bijection of words that spreads the bits (the finalizer of splitmix64).
pub const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let draw = |seed, purpose, entity| {
            let mut random = Random::stream(seed, purpose, entity);
            [random.unit(), random.unit(), random.unit()]
        };
        assert_eq!(draw(1, "red", 0), draw(1, "red", 0));
        assert_ne!(draw(1, "red", 0), draw(1, "red", 1));
        assert_ne!(draw(1, "red", 0), draw(2, "red", 0));
        assert_ne!(draw(1, "red", 0), draw(1, "fair dropping", 0));
        assert!(draw(7, "red", 3).iter().all(|x| (0.0..1.0).contains(x)));
    }

    #[test]
    fn below_is_in_range_and_even() {
        let mut random = Random::stream(3, "below", 0);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        // 10000 each, give or take five standard deviations of sqrt(70000 * 1/7 * 6/7) = 93.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 465), "{counts:?}");
        // Most of the range of 64 bits is rejected if it must be: n just above half of it.
        let n = (1u64 << 63) + 1;
        assert!((0..1_000).all(|_| random.below(n) < n));
        let upper = (0..10_000).filter(|_| random.below(3 << 62) >= 1 << 63).count();
        assert!(upper.abs_diff(3_333) < 236, "a third lies in the upper third, not a half: {upper}");
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut random = Random::stream(4, "shuffle", 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            let mut order = [0usize, 1, 2];
            random.shuffle(&mut order);
            counts[order[0] * 2 + usize::from(order[1] > order[2])] += 1;
        }
        // 10000 each, give or take five standard deviations of sqrt(60000 * 1/6 * 5/6) = 91.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 456), "{counts:?}");
        random.shuffle::<u8>(&mut []);
    }
}
