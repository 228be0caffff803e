//! Dynamic Thresholds: `T = alpha * (B - Q)` for every queue (FB eq. 1, ABM eq. 5, Occamy eq. 1).
//!
//! Nothing bounds the sum of the factors: `N` queues fill `alpha*N / (1 + alpha*N)` of the buffer, which leaves the
//! less for a queue that comes new the more there are. That is what the later schemes set out to change.

use crate::transient::{Burst, Held, Transient};
use crate::{BITS, steady};

/// Queues with one alpha that are at their thresholds: a priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// The alpha of each.
    pub alpha: f64,
    /// How many there are.
    pub queues: u32,
}

impl Class {
    /// What the class adds to the sum of factors.
    fn weight(&self) -> f64 {
        self.alpha * f64::from(self.queues)
    }
}

fn weights(classes: &[Class]) -> Vec<f64> {
    classes.iter().map(Class::weight).collect()
}

/// What stays free, in the unit of `buffer`: `F = B / (1 + sum of alpha_p * n_p)`; with one class Occamy's equation 2,
/// `B / (1 + alpha*N)`.
pub fn free(buffer: f64, classes: &[Class]) -> f64 {
    steady::free(buffer, &weights(classes))
}

/// What all queues hold together: `Q = B - F`.
pub fn occupancy(buffer: f64, classes: &[Class]) -> f64 {
    steady::occupancy(buffer, &weights(classes))
}

/// The threshold, and so the length, of a queue with this alpha in steady state (ABM eq. 6; FB eqs. 2 and 3 for two
/// priorities):
///
/// ```text
/// T = alpha * B / (1 + sum of alpha_p * n_p)
/// ```
///
/// `classes` are all queues that are at their thresholds. For the length of a queue it must be one of them; otherwise
/// this is the threshold that a packet to an empty queue meets.
pub fn threshold(buffer: f64, alpha: f64, classes: &[Class]) -> f64 {
    steady::threshold(buffer, alpha, &weights(classes))
}

/// What the queues of one class hold together.
pub fn held_by(buffer: f64, class: Class, classes: &[Class]) -> f64 {
    steady::threshold(buffer, class.weight(), &weights(classes))
}

/// ABM's equation 8: how long a queue of a burst is when it first loses, in bytes, if the burst comes too fast for the
/// queues that hold the buffer to follow their thresholds.
///
/// ```text
/// (r - d) * tau = alpha * B / ( (1 + sum of alpha_p * n_p) * (1 + alpha * ((r - d) - mu) / (r - d)) )
/// ```
///
/// `burst.drain` is `d` and `burst.omega` is `alpha`; `held` are the queues in steady state before it comes, and
/// `drain` is `mu`, the rate at which these drain together, in bits per second. The equation is for a burst to one
/// queue. For rates up to [`Transient::tracking_rate`] it gives too much; [`burst`] settles which case it is.
pub fn burst_tolerance_lagging(buffer: f64, held: &[Class], drain: f64, burst: &Burst) -> f64 {
    let grows = (burst.rate - burst.drain) / BITS;
    burst.omega * free(buffer, held) / (1.0 + burst.omega * (grows - drain / BITS) / grows)
}

/// A burst that comes to queues in steady state: `ports` ports of `port_rate` bits per second, each with `per_port`
/// queues of this alpha, served round robin. This is the setting of ABM's figures 5a and 5b.
pub fn burst(buffer: f64, alpha: f64, ports: u32, per_port: u32, port_rate: f64, burst: Burst) -> Transient {
    let held = Held::new(alpha, port_rate / f64::from(per_port));
    Transient { buffer, held: vec![held; (ports * per_port) as usize], burst }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_near;
    use crate::transient::Regime;

    const HIGH: Class = Class { alpha: 2.0, queues: 1 };

    fn low(queues: u32) -> Class {
        Class { alpha: 1.0, queues }
    }

    /// FB's figure 2: 60 packets, alphas 1 and 2.
    #[test]
    fn fb_figure_2() {
        assert_near(threshold(60.0, 1.0, &[low(1)]), 30.0);
        assert_near(threshold(60.0, 1.0, &[low(1), HIGH]), 15.0);
        assert_near(threshold(60.0, 2.0, &[low(1), HIGH]), 30.0);
    }

    /// FB's figure 4a: the high priority could have 40 packets; beside three queues of the low one it has 20, and they
    /// 30.
    #[test]
    fn fb_figure_4a() {
        assert_near(threshold(60.0, 2.0, &[HIGH]), 40.0);
        let all = [HIGH, low(3)];
        assert_near(threshold(60.0, 2.0, &all), 20.0);
        assert_near(held_by(60.0, low(3), &all), 30.0);
        assert_near(free(60.0, &all), 10.0);
    }

    /// FB's figures 4b and 4c: five queues of one port hold 10 packets each; a 5:1 incast loses from 8 on, with a fair
    /// share of 15.
    #[test]
    fn fb_figures_4b_and_4c() {
        assert_near(threshold(60.0, 1.0, &[low(5)]), 10.0);
        let incast = Burst { queues: 1, omega: 2.0, rate: 5.0, drain: 1.0 };
        assert_near(burst_tolerance_lagging(60.0, &[low(5)], 1.0, &incast), 8.0);
        let transient = burst(60.0, 1.0, 1, 5, 1.0, incast);
        assert_eq!(transient.growth().1, Regime::Lagging);
        assert_near(transient.tolerance(), 8.0);
        assert_near(transient.fair_share(), 15.0);
    }

    /// ABM's equation 8 is the general solution where all queues lag, and too much where they track.
    #[test]
    fn equation_8_is_the_case_of_queues_that_lag() {
        let incast = |rate: f64| Burst { queues: 1, omega: 1.0, rate, drain: 1e9 };
        for (ports, per_port) in [(1, 1), (2, 1), (4, 2), (1, 8)] {
            let held = [Class { alpha: 1.0, queues: ports * per_port }];
            let exact = |rate| burst(9e6, 1.0, ports, per_port, 1e9, incast(rate));
            let drain = f64::from(ports) * 1e9;
            let limit = exact(0.0).tracking_rate();
            for factor in [1.01, 2.0, 5.0] {
                let rate = limit * factor;
                assert_near(burst_tolerance_lagging(9e6, &held, drain, &incast(rate)), exact(rate).tolerance());
            }
            let rate = 1e9 + (limit - 1e9) * 0.9;
            assert!(burst_tolerance_lagging(9e6, &held, drain, &incast(rate)) > exact(rate).tolerance() * 1.001);
        }
    }

    #[test]
    fn the_free_buffer_vanishes_with_many_queues() {
        assert!(free(9e6, &[low(10_000)]) < 1_000.0);
        assert_near(free(9e6, &[Class { alpha: 8.0, queues: 1 }]), 1e6);
        assert_near(occupancy(9e6, &[Class { alpha: 8.0, queues: 1 }]), 8e6);
    }
}
