//! The Internet checksum (RFC 1071), whole and by its changes (RFC 1624).

/// The ones' complement sum of bytes, taken as big-endian words; an odd last byte is the high half of a word.
pub fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    // A frame has fewer than 2^16 words.
    fold(words.sum())
}

/// Carries added back until there are none.
pub fn fold(mut sum: u32) -> u32 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

/// The checksum of words with this sum.
pub fn of_sum(sum: u32) -> u16 {
    !(fold(sum) as u16)
}

/// The checksum after one word has changed: `~(~HC + ~m + m')` (RFC 1624, equation 3).
pub fn changed(checksum: u16, before: u16, after: u16) -> u16 {
    !(fold(u32::from(!checksum) + u32::from(!before) + u32::from(after)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example of RFC 1071, section 3: 0001 f203 f4f5 f6f7 sums to ddf2.
    #[test]
    fn the_example() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        assert_eq!(sum(&[0x12]), 0x1200);
    }

    proptest! {
        #[test]
        fn a_change_is_as_good_as_a_new_sum(mut words in prop::collection::vec(any::<u16>(), 2..40), at: usize, to: u16) {
            let of = |words: &[u16]| of_sum(words.iter().map(|word| u32::from(*word)).sum());
            // All zero is the one content for which the two forms of zero differ; no header is.
            prop_assume!(words.iter().any(|word| *word != 0));
            let before = of(&words);
            let at = at % words.len();
            let after = changed(before, words[at], to);
            words[at] = to;
            prop_assume!(words.iter().any(|word| *word != 0));
            prop_assert_eq!(after, of(&words));
        }
    }
}
