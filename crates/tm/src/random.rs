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
}

/// A bijection that spreads the bits (the finalizer of splitmix64).
pub(crate) const fn mix(value: u64) -> u64 {
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
}
