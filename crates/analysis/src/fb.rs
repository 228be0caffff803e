//! Flexible Buffer: `T = alpha / N * gamma * (B - Q)` with `N` the queues of the priority that are not empty and
//! `gamma` the queue's share of its port (equation 4).
//!
//! The factors of a priority add up to at most its largest alpha, since `gamma <= 1` (lemma 1). So `Q` is bounded
//! whatever the number of queues, and there are guarantees.
//!
//! Equations 7 and 8 are printed without a proof. Both follow from [`transient`](crate::transient) for the worst buffer
//! that a high-priority burst at `r` to one empty queue (`gamma = 1`, `N = 1`, so that its factor is `alpha_H`) can
//! find: one port with one queue whose factor is `alpha_L` and which drains at `BW`. The total then grows at
//!
//! ```text
//! Q' = max( (r - BW) / (1 + alpha_L),  r - 2*BW )
//! ```
//!
//! where the first is that of a queue which follows its threshold, the second that of one which cannot. The first is
//! the larger one iff `alpha_L <= BW / (r - 2*BW)`: equation 7. If the burst is to last `t` without a loss, `t1 > t`,
//! then with the second
//!
//! ```text
//! alpha_H > 1 / ( B / ((1 + alpha_L)*(r - BW)*t) - (r - 2*BW) / (r - BW) )
//! ```
//!
//! which has a solution iff `alpha_L < B / ((r - 2*BW)*t) - 1`: equation 8. But `Q'` is the larger of the two, so that
//! **equation 8 is not enough where equation 7 holds**: there the first gives
//!
//! ```text
//! alpha_H > (1 + alpha_L) / ( B / ((r - BW)*t) - 1 )
//! ```
//!
//! which asks for more. [`alpha_high_as_printed`] is equation 8, [`alpha_high`] the larger of the two.

use crate::transient::{Burst, Held, Transient};
use crate::{BITS, steady};

/// A queue's factor `omega = alpha / N * gamma` (eqs. 4 and 10): `queues` of its priority are not empty, itself among
/// them, and it has `port_share` of its port (0 to 1).
pub fn omega(alpha: f64, queues: u32, port_share: f64) -> f64 {
    alpha / f64::from(queues) * port_share
}

/// Equation 5 (theorem 1, eq. 15): what all queues hold in steady state is at most `B * A / (1 + A)`, with `A` the sum
/// over the priorities of the largest alpha of each. Sharp if all queues have their port to themselves and the alphas
/// of a priority are equal.
pub fn occupancy_bound(buffer: f64, largest_alphas: &[f64]) -> f64 {
    steady::occupancy(buffer, largest_alphas)
}

/// What one priority holds at most, whatever the others do: `B * alpha / (1 + alpha)` with its largest alpha (section
/// 4.1).
pub fn priority_bound(buffer: f64, largest_alpha: f64) -> f64 {
    steady::occupancy(buffer, &[largest_alpha])
}

/// Equation 6 (theorem 3, eq. 17): the least `alpha_L` with which the low priority can have `minimum` of the buffer,
/// whatever the high one holds:
///
/// ```text
/// alpha_L >= B_p * (1 + alpha_H) / (B - B_p)
/// ```
///
/// For queues that have their port to themselves: with a share of the port the low priority gets less. `minimum` is
/// less than `buffer`.
pub fn alpha_low_for(minimum: f64, buffer: f64, alpha_high: f64) -> f64 {
    minimum * (1.0 + alpha_high) / (buffer - minimum)
}

/// Equation 6 the other way round: what the low priority can have at least, `B * alpha_L / (1 + alpha_L + alpha_H)`.
pub fn minimum_of_low(buffer: f64, alpha_low: f64, alpha_high: f64) -> f64 {
    steady::threshold(buffer, alpha_low, &[alpha_low, alpha_high])
}

/// Equation 7: the largest `alpha_L` with which a burst of `rate` to a port of `port_rate` (bits per second) gets its
/// share of the steady state before it loses anything:
///
/// ```text
/// alpha_L <= BW / (r - 2*BW)
/// ```
///
/// Infinite up to twice the rate of a port.
pub fn alpha_low_for_fair_share(rate: f64, port_rate: f64) -> f64 {
    if rate <= 2.0 * port_rate { f64::INFINITY } else { port_rate / (rate - 2.0 * port_rate) }
}

/// A burst to be absorbed: of `rate` bits per second, for `duration` seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Absorb {
    /// `r`, in bits per second.
    pub rate: f64,
    /// `t`, in seconds.
    pub duration: f64,
}

/// Equation 8, first half: the `alpha_L` that is just too large for this burst, however large `alpha_H`:
///
/// ```text
/// alpha_L < B / ((r - 2*BW)*t) - 1
/// ```
///
/// Infinite up to twice the rate of a port; not positive if no `alpha_L` will do.
pub fn alpha_low_limit(buffer: f64, port_rate: f64, burst: Absorb) -> f64 {
    let surplus = (burst.rate - 2.0 * port_rate) / BITS * burst.duration;
    if surplus <= 0.0 { f64::INFINITY } else { buffer / surplus - 1.0 }
}

/// Equation 8, second half, as printed: `alpha_H` must be larger than this; none if no `alpha_H` will do. It takes the
/// queue that holds the buffer to lag. Where `alpha_L` is below equation 7's limit the burst needs more: see
/// [`alpha_high`].
///
/// ```text
/// alpha_H > 1 / ( B / ((1 + alpha_L)*(r - BW)*t) - (r - 2*BW) / (r - BW) )
/// ```
pub fn alpha_high_as_printed(buffer: f64, port_rate: f64, alpha_low: f64, burst: Absorb) -> Option<f64> {
    let excess = burst.rate - port_rate;
    let needed = excess / BITS * burst.duration;
    above_zero(1.0 / (buffer / ((1.0 + alpha_low) * needed) - (burst.rate - 2.0 * port_rate) / excess))
}

/// What `alpha_H` must be larger than for the burst to be absorbed from any steady state of the low priority: equation
/// 8 where the queues of the low priority lag, and `(1 + alpha_L) / (B / ((r - BW)*t) - 1)` where they follow their
/// thresholds. None if no `alpha_H` will do.
pub fn alpha_high(buffer: f64, port_rate: f64, alpha_low: f64, burst: Absorb) -> Option<f64> {
    let needed = (burst.rate - port_rate) / BITS * burst.duration;
    let tracking = above_zero((1.0 + alpha_low) / (buffer / needed - 1.0))?;
    let lagging = alpha_high_as_printed(buffer, port_rate, alpha_low, burst)?;
    Some(tracking.max(lagging))
}

fn above_zero(alpha: f64) -> Option<f64> {
    Some(alpha).filter(|alpha| *alpha > 0.0 && alpha.is_finite())
}

/// The worst that a burst can find, as equations 7 and 8 have it: one port with one queue of the low priority.
pub fn worst_case(buffer: f64, port_rate: f64, alpha_low: f64, alpha_high: f64, rate: f64) -> Transient {
    let burst = Burst { queues: 1, omega: omega(alpha_high, 1, 1.0), rate, drain: port_rate };
    Transient { buffer, held: vec![Held::new(omega(alpha_low, 1, 1.0), port_rate)], burst }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_near;
    use crate::transient::Regime;

    const PORT: f64 = 10e9;
    const BUFFER: f64 = 9e6;
    const EXAMPLE: Absorb = Absorb { rate: 10.0 * PORT, duration: 500e-6 };

    /// Figure 5a: the low priority has 15 of 60 packets, the high one 30.
    #[test]
    fn figure_5a() {
        let low = omega(1.0, 3, 1.0);
        let all = [low, low, low, omega(2.0, 1, 1.0)];
        assert_near(3.0 * steady::threshold(60.0, low, &all), 15.0);
        assert_near(steady::threshold(60.0, 2.0, &all), 30.0);
        assert_near(occupancy_bound(60.0, &[1.0, 2.0]), steady::occupancy(60.0, &all));
        assert_near(minimum_of_low(60.0, 1.0, 2.0), 15.0);
        assert_near(priority_bound(60.0, 2.0), 40.0);
    }

    /// Figures 5b and 5c: five queues of one port have 2 packets each by equation 4 (6 without gamma), and the incast
    /// has its share of 37.5 before it loses.
    #[test]
    fn figures_5b_and_5c() {
        let low = omega(1.0, 5, 0.2);
        assert_near(steady::threshold(60.0, low, &[low; 5]), 2.0);
        let without_gamma = omega(1.0, 5, 1.0);
        assert_near(steady::threshold(60.0, without_gamma, &[without_gamma; 5]), 6.0);
        let burst = Burst { queues: 1, omega: 2.0, rate: 5.0, drain: 1.0 };
        let transient = Transient { buffer: 60.0, held: vec![Held::new(low, 0.2); 5], burst };
        assert_eq!(transient.growth().1, Regime::Tracking);
        assert_near(transient.tolerance(), 37.5);
    }

    /// Section 4.2: 10% for the low priority beside alpha_H = 10 takes alpha_L = 1.22. The text says 2.75, which gives
    /// 20%.
    #[test]
    fn equation_6() {
        assert_near(alpha_low_for(0.1, 1.0, 10.0), 11.0 / 9.0);
        assert_near(alpha_low_for(0.2, 1.0, 10.0), 2.75);
        for minimum in [0.01, 0.3, 0.9] {
            assert_near(minimum_of_low(1.0, alpha_low_for(minimum, 1.0, 3.0), 3.0), minimum);
        }
    }

    /// Section 4.2: 1/8 for ten times the rate of a port. The footnote: anything up to twice the rate.
    #[test]
    fn equation_7() {
        assert_near(alpha_low_for_fair_share(10.0 * PORT, PORT), 0.125);
        assert_eq!(alpha_low_for_fair_share(2.0 * PORT, PORT), f64::INFINITY);
        for rate in [2.1, 3.0, 10.0, 50.0] {
            let limit = alpha_low_for_fair_share(rate * PORT, PORT);
            for (alpha, regime) in [(limit, Regime::Tracking), (1.01 * limit, Regime::Lagging)] {
                let transient = worst_case(BUFFER, PORT, alpha, 2.0, rate * PORT);
                assert_eq!(transient.growth().1, regime);
                let is_fair = (transient.tolerance() / transient.fair_share() - 1.0).abs() < 1e-12;
                assert_eq!(is_fair, regime == Regime::Tracking);
            }
        }
    }

    /// The worst case is the worst: more ports and more queues a port, with all factors of the low priority as equation
    /// 4 has them, never have the burst lose earlier.
    #[test]
    fn other_buffers_absorb_at_least_as_much() {
        for alpha_low in [0.05, 0.125, 0.5, 2.0] {
            for rate in [1.5, 3.0, 10.0, 30.0] {
                let worst = worst_case(BUFFER, PORT, alpha_low, 4.0, rate * PORT).zero_loss_time();
                for (ports, per_port) in [(1, 2), (1, 8), (3, 1), (10, 1), (5, 4)] {
                    let shares = f64::from(per_port);
                    let held = Held::new(omega(alpha_low, ports * per_port, 1.0 / shares), PORT / shares);
                    let burst = Burst { queues: 1, omega: 4.0, rate: rate * PORT, drain: PORT };
                    let transient = Transient { buffer: BUFFER, held: vec![held; (ports * per_port) as usize], burst };
                    assert!(transient.zero_loss_time() >= worst * (1.0 - 1e-12));
                }
            }
        }
    }

    /// Section 4.2: alpha_L below 0.8 for 100 Gb/s during 500 us, 9 MB and ports of 10 Gb/s.
    #[test]
    fn equation_8_example() {
        assert_near(alpha_low_limit(BUFFER, PORT, EXAMPLE), 0.8);
        assert_eq!(alpha_high_as_printed(BUFFER, PORT, 0.8 + 1e-9, EXAMPLE), None);
        assert!(alpha_high_as_printed(BUFFER, PORT, 0.8 - 1e-9, EXAMPLE).unwrap() > 1e6);
        // 72 Mb / (1.5 * 45 Mb) - 8/9 = 0.1778.
        assert_near(alpha_high_as_printed(BUFFER, PORT, 0.5, EXAMPLE).unwrap(), 1.0 / (72.0 / 67.5 - 8.0 / 9.0));
    }

    /// The burst of `scenarios/compare-fb.toml`: 60% of the buffer over four links, with the alphas of the paper's
    /// section 6.1.
    #[test]
    fn the_alphas_of_the_comparison_absorb_its_burst() {
        let (buffer, port) = (3_750_000.0, 10e9);
        let rate = 4.0 * port;
        let burst = Absorb { rate, duration: 0.6 * buffer * BITS / rate };
        assert!((alpha_low_limit(buffer, port, burst) - 2.333).abs() < 1e-3);
        assert!((alpha_high(buffer, port, 0.5, burst).unwrap() - 1.2273).abs() < 1e-4);
    }

    /// Equation 8 is ABM's theorem 5 (eq. 40) with one new queue, one congested port and gamma = 1, solved for alpha_H.
    #[test]
    fn equation_8_follows_from_abm_theorem_5() {
        for (alpha_low, rate, duration) in [(0.5, 10.0, 500e-6), (0.3, 20.0, 200e-6), (2.0, 4.0, 900e-6)] {
            let burst = Absorb { rate: rate * PORT, duration };
            let alpha_high = alpha_high_as_printed(BUFFER, PORT, alpha_low, burst).unwrap();
            let t1 = crate::abm::zero_loss_time_of_high(BUFFER, alpha_low, alpha_high, 1, PORT, rate * PORT);
            assert_near(t1, duration);
            let transient = worst_case(BUFFER, PORT, alpha_low, alpha_high, burst.rate);
            assert_eq!(transient.growth().1, Regime::Lagging);
            assert_near(transient.zero_loss_time(), duration);
        }
    }

    /// Where equation 7 holds equation 8 asks for too little: with r = 3 BW and alpha_L = 1/2 a burst that is to last
    /// 0.3 B/BW needs alpha_H = 2.25, not 1.64.
    #[test]
    fn equation_8_is_not_enough_where_queues_track() {
        let burst = Absorb { rate: 3.0 * PORT, duration: 0.3 * BUFFER * BITS / PORT };
        assert!(0.5 < alpha_low_for_fair_share(burst.rate, PORT));
        let printed = alpha_high_as_printed(BUFFER, PORT, 0.5, burst).unwrap();
        assert_near(printed, 1.0 / (1.0 / 0.9 - 0.5));
        let enough = alpha_high(BUFFER, PORT, 0.5, burst).unwrap();
        assert_near(enough, 2.25);
        let lasts = |alpha_high| worst_case(BUFFER, PORT, 0.5, alpha_high, burst.rate).zero_loss_time();
        assert!(lasts(printed) < 0.9 * burst.duration);
        assert_near(lasts(enough), burst.duration);
    }

    /// [`alpha_high`] is the boundary in both regimes.
    #[test]
    fn alpha_high_is_the_boundary() {
        for rate in [1.5, 3.0, 5.0, 12.0] {
            for alpha_low in [0.02, 0.1, 0.5, 2.0] {
                for duration in [50e-6, 200e-6, 800e-6] {
                    let burst = Absorb { rate: rate * PORT, duration };
                    let lasts = |alpha| worst_case(BUFFER, PORT, alpha_low, alpha, burst.rate).zero_loss_time();
                    match alpha_high(BUFFER, PORT, alpha_low, burst) {
                        Some(alpha) => assert_near(lasts(alpha), duration),
                        None => assert!(lasts(1e12) < duration * (1.0 + 1e-9)),
                    }
                }
            }
        }
    }
}
