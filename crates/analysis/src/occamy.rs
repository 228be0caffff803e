//! Occamy: admission is that of DT, `T = alpha * (B - Q)`, and heads of queues above their thresholds are expelled with
//! spare memory bandwidth.
//!
//! Expulsion is a second drain, so that the analysis is DT's with another rate: a queue of those that hold the buffer
//! shrinks at up to `V`.

use crate::dt::{self, Class};

/// Equation 2: what stays free with `queues` queues at their thresholds, in the unit of `buffer`: `F = B / (1 +
/// alpha*N)`.
pub fn free(buffer: f64, alpha: f64, queues: u32) -> f64 {
    dt::free(buffer, &[Class { alpha, queues }])
}

/// Equation 3: the largest arrival rate `R` of bursts to `bursts` queues (each) at which the buffer is shared fairly,
/// in the unit of `expulsion`:
///
/// ```text
/// R <= V * (1 + (1 + alpha*N) / (alpha*M))
/// ```
///
/// `V` (`expulsion`) is the rate at which a queue gets shorter, by sending and expelling: each of the `over_allocated`
/// queues that hold the buffer, and in the `1 +` each of those with bursts.
pub fn fair_rate(expulsion: f64, alpha: f64, bursts: u32, over_allocated: u32) -> f64 {
    expulsion * (1.0 + (1.0 + alpha * f64::from(over_allocated)) / (alpha * f64::from(bursts)))
}

/// Equation 4: the largest alpha with which the buffer is shared fairly, `1/alpha >= (R/V - 1)*M - N`. `speed` is
/// `R/V`. Infinite where the right side is not positive.
pub fn fair_alpha(speed: f64, bursts: u32, over_allocated: u32) -> f64 {
    let least = (speed - 1.0) * f64::from(bursts) - f64::from(over_allocated);
    if least <= 0.0 { f64::INFINITY } else { 1.0 / least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transient::{Burst, Held, Transient};
    use crate::{assert_near, fb};

    /// Section 4.4: B/9 with alpha 8 and B/17 with alpha 16, which is 5.2% of the buffer less.
    #[test]
    fn equation_2_example() {
        assert_near(free(153.0, 8.0, 1), 17.0);
        assert_near(free(153.0, 16.0, 1), 9.0);
        assert_near((17.0 - 9.0) / 153.0, 8.0 / 153.0);
        assert!((8.0 / 153.0 - 0.052f64).abs() < 5e-4);
    }

    /// Section 4.4: with one queue and one burst `1/alpha >= R/V - 2`, and any alpha where `V >= R/2`.
    #[test]
    fn equation_4_example() {
        assert_near(fair_alpha(10.0, 1, 1), 1.0 / 8.0);
        assert_eq!(fair_alpha(2.0, 1, 1), f64::INFINITY);
        assert!(fair_alpha(2.01, 1, 1) > 50.0);
    }

    #[test]
    fn equation_4_is_equation_3() {
        for (bursts, over) in [(1, 1), (2, 1), (3, 5), (7, 2)] {
            for alpha in [0.25, 1.0, 8.0] {
                let rate = fair_rate(3.0, alpha, bursts, over);
                assert_near(fair_alpha(rate / 3.0, bursts, over), alpha);
            }
        }
    }

    /// Equation 3 is where thresholds begin to fall faster than queues drain, if all drain at V; and FB's equation 7 is
    /// its case of one queue and one burst.
    #[test]
    fn equation_3_is_the_tracking_rate() {
        for (bursts, over, alpha) in [(1, 1, 8.0), (2, 3, 1.0), (4, 1, 0.5)] {
            let burst = Burst { queues: bursts, omega: alpha, rate: 1e11, drain: 2e10 };
            let transient = Transient { buffer: 1e6, held: vec![Held::new(alpha, 2e10); over as usize], burst };
            assert_near(fair_rate(2e10, alpha, bursts, over), transient.tracking_rate());
        }
        assert_near(fair_alpha(7.0, 1, 1), fb::alpha_low_for_fair_share(7e9, 1e9));
    }
}
