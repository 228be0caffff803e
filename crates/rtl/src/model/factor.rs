//! `factor.v` and `product.v`: a factor as a few signed powers of two, and the product with it.

/// Bits of the factor behind the point.
const FRACTION: u32 = 20;

/// A signed power of two, `2^-shift` or `-2^-shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// Below zero.
    pub negative: bool,
    /// How far to the right.
    pub shift: u32,
}

/// `numerator / denominator`, at most 1, as up to `terms` digits, each the nearest power of two to what is still
/// missing.
pub fn expand(numerator: u64, denominator: u64, terms: usize) -> Vec<Digit> {
    let mut rest = ((numerator << FRACTION) / denominator) as i64;
    let mut digits = Vec::new();
    while rest != 0 && digits.len() < terms {
        let size = rest.unsigned_abs();
        let below = size.ilog2();
        // In the middle between two powers, the lower one.
        let nearest = if 2 * size > 3 << below { below + 1 } else { below };
        digits.push(Digit { negative: rest < 0, shift: FRACTION - nearest });
        rest -= rest.signum() << nearest;
    }
    digits
}

/// `remaining * 2^(alpha_shift - 3) * digits`, rounded down; the largest number of `width` bits if that does not fit.
pub fn product(remaining: u64, alpha_shift: u32, digits: &[Digit], width: u32) -> u64 {
    let whole = (remaining << alpha_shift) as i64;
    let term = |digit: &Digit| if digit.negative { -(whole >> digit.shift) } else { whole >> digit.shift };
    let sum: i64 = digits.iter().map(term).sum();
    ((sum >> 3) as u64).min((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the digits.
    fn value(digits: &[Digit]) -> f64 {
        digits.iter().map(|digit| 0.5f64.powi(digit.shift as i32) * if digit.negative { -1.0 } else { 1.0 }).sum()
    }

    #[test]
    fn each_digit_cuts_the_error_to_a_third() {
        for (terms, most) in [(1, 1.0 / 3.0), (2, 1.0 / 9.0), (3, 1.0 / 27.0)] {
            for denominator in 1..=512u64 {
                for numerator in 1..=denominator.min(32) {
                    let exact = numerator as f64 / denominator as f64;
                    let error = (value(&expand(numerator, denominator, terms)) - exact).abs() / exact;
                    // The fraction has 20 bits: a little is lost there.
                    assert!(error <= most + 1e-3, "{numerator}/{denominator} with {terms}: {error}");
                }
            }
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        assert_eq!(expand(1, 8, 3), [Digit { negative: false, shift: 3 }]);
        assert_eq!(product(800, 3, &expand(1, 8, 1), 16), 100);
        assert_eq!(product(60_000, 6, &expand(1, 1, 1), 16), 65_535);
        assert_eq!(product(900, 3, &expand(1, 3, 2), 16), 900 / 4 + 900 / 16);
    }
}
