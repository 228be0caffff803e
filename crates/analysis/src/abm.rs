//! Active Buffer Management: `T = alpha / n * (B - Q) * mu / b`, with `n` the congested queues of the priority and `mu
//! / b` the queue's drain rate as a share of its port's bandwidth (equation 9; in the appendix `gamma`, equation 12).
//!
//! Theorems 1 and 3 take the factors of a priority to add up to its alpha. They add up to `alpha` times the mean of `mu
//! / b` over its queues, which is alpha only if each has its port to itself. Where ports are shared a priority may have
//! less than theorem 1 says and a queue may take longer to drain than theorem 3 says ([`drain_time`] is exact); theorem
//! 2 always holds.
//!
//! In the same way equations 10 and 11 put the sum of the alphas for the sum of the factors. Where ports are shared the
//! factors are smaller, more is free when the burst comes, and the burst has more room than the equations say;
//! [`burst`] is exact. With `k` queues at each port, one of each of `k` priorities with the same alpha, the factors add
//! up to one alpha rather than to `k`, so that the burst's room does not depend on `k` at all.
//!
//! DT's steady state (equation 6) and burst tolerance (equation 8) are in [`dt`](crate::dt).

use crate::transient::{Burst, Held, Transient};
use crate::{BITS, steady};

/// A queue's factor (definition 1, eq. 13): `omega = alpha / n * mu / b`. `congested` queues of its priority count;
/// `port_share` is `mu / b`, 0 to 1.
pub fn omega(alpha: f64, congested: u32, port_share: f64) -> f64 {
    alpha / f64::from(congested) * port_share
}

/// Theorem 1: a priority can have at least `B * alpha / (1 + sum of all alphas)`, its own among them, in bytes. For
/// queues that have their port to themselves.
pub fn minimum(buffer: f64, alpha: f64, all_alphas: &[f64]) -> f64 {
    steady::threshold(buffer, alpha, all_alphas)
}

/// Theorem 2: a priority holds at most `B * alpha / (1 + alpha)`, in bytes.
pub fn maximum(buffer: f64, alpha: f64) -> f64 {
    steady::occupancy(buffer, &[alpha])
}

/// Theorem 3: a queue drains in at most `B * alpha / ((1 + alpha) * b)` seconds. For queues that have their port (of
/// `port_rate` bits per second) to themselves.
pub fn drain_time_bound(buffer: f64, alpha: f64, port_rate: f64) -> f64 {
    maximum(buffer, alpha) * BITS / port_rate
}

/// How long a queue at its threshold takes to drain, in seconds, by lemma 2: `T / mu = B * alpha / (n * b * (1 + sum of
/// all omega))`. `omegas` are the factors of all congested queues.
pub fn drain_time(buffer: f64, alpha: f64, congested: u32, port_rate: f64, omegas: &[f64]) -> f64 {
    steady::threshold(buffer, alpha / f64::from(congested), omegas) * BITS / port_rate
}

/// Equation 28, the rate up to which the queues that hold the buffer can follow their thresholds (case 1), as printed:
/// for the sum over all queues rather than for each. In bits per second.
///
/// ```text
/// r <= (sum over new and affected of drain) / M + (sum over others of drain) * (1 + W) / (W * M)
/// ```
///
/// with `M` new queues and `W` the sum of the others' factors. [`Transient::tracking_rate`] asks each queue, and is the
/// same if all have the same `omega / drain`.
pub fn tracking_rate_of_sum(transient: &Transient) -> f64 {
    let (affected, others): (Vec<Held>, Vec<Held>) =
        transient.held.iter().partition(|held| held.omega < held.omega_before);
    let drain = |held: &[Held]| held.iter().map(|held| held.drain).sum::<f64>();
    let omegas: f64 = others.iter().map(|held| held.omega).sum();
    let queues = f64::from(transient.burst.queues);
    transient.burst.drain + (drain(&affected) + drain(&others) * (1.0 + omegas) / omegas) / queues
}

/// Theorem 4 (eq. 29): for how many seconds a burst in case 1 loses nothing.
///
/// ```text
/// t1 = omega * B * (1 + W_o) / ( (1 + W) * ( (r - d)*(1 + W_o) + omega*(M*(r - d) - sum over affected of drain) ) )
/// ```
///
/// `W` is the sum of all factors before the burst, `W_o` that of the queues which it does not affect. For rates above
/// [`tracking_rate_of_sum`] it gives too much.
pub fn theorem_4(transient: &Transient) -> f64 {
    let burst = &transient.burst;
    let grows = (burst.rate - burst.drain) / BITS;
    let others: f64 =
        1.0 + transient.held.iter().filter(|held| held.omega >= held.omega_before).map(|held| held.omega).sum::<f64>();
    let affected: f64 =
        transient.held.iter().filter(|held| held.omega < held.omega_before).map(|held| held.drain / BITS).sum();
    let change = f64::from(burst.queues) * grows - affected;
    burst.omega * transient.free_at_start() * others / (grows * others + burst.omega * change)
}

/// Theorem 5 (eq. 39): for how many seconds a burst in case 2 loses nothing.
///
/// ```text
/// t1 = omega * B / ( (1 + W) * ( (r - d) + omega*(M*(r - d) - sum over all held of drain) ) )
/// ```
///
/// For rates up to [`tracking_rate_of_sum`] it gives too much; infinite where the buffer would empty faster than the
/// burst grows.
pub fn theorem_5(transient: &Transient) -> f64 {
    let burst = &transient.burst;
    let grows = (burst.rate - burst.drain) / BITS;
    let drains: f64 = transient.held.iter().map(|held| held.drain / BITS).sum();
    let closing = grows + burst.omega * (f64::from(burst.queues) * grows - drains);
    if closing <= 0.0 { f64::INFINITY } else { burst.omega * transient.free_at_start() / closing }
}

/// Equation 40, theorem 5 for one high-priority queue with a port to itself while the low priority holds the buffer at
/// `ports` ports, its factors adding up to alpha: for how many seconds it loses nothing. Rates in bits per second.
///
/// ```text
/// t1 = alpha_H * B / ( (1 + alpha_L) * ( (r - BW) + alpha_H*(r - BW - n*BW) ) )
/// ```
pub fn zero_loss_time_of_high(
    buffer: f64,
    alpha_low: f64,
    alpha_high: f64,
    ports: u32,
    port_rate: f64,
    rate: f64,
) -> f64 {
    let grows = (rate - port_rate) / BITS;
    let change = grows - f64::from(ports) * port_rate / BITS;
    alpha_high * buffer / ((1.0 + alpha_low) * (grows + alpha_high * change))
}

/// Equation 10: how long the queue of a burst in case 1 is when it first loses, in bytes: its share of the steady
/// state.
///
/// ```text
/// (r - d) * tau = omega * B / (1 + sum of alphas)
/// ```
///
/// `omega` is the factor of the burst's queue, and `alphas` those of all priorities that use the buffer, the burst's
/// among them.
pub fn burst_tolerance_tracking(buffer: f64, omega: f64, alphas: &[f64]) -> f64 {
    steady::threshold(buffer, omega, alphas)
}

/// Equation 11: how long the queue of a burst in case 2 is when it first loses, in bytes.
///
/// ```text
/// (r - d) * tau = omega * B / ( (1 + sum of alphas) * (1 + omega * ((r - d) - mu) / (r - d)) )
/// ```
///
/// `alphas` are those of the priorities that hold the buffer when the burst comes (as equation 40 has it), and `drain`
/// is `mu`, the rate at which all of it drains, in bits per second.
pub fn burst_tolerance_lagging(buffer: f64, alphas: &[f64], drain: f64, burst: &Burst) -> f64 {
    let grows = (burst.rate - burst.drain) / BITS;
    burst.omega * steady::free(buffer, alphas) / (1.0 + burst.omega * (grows - drain / BITS) / grows)
}

/// Equation 42: how much of a burst at `rate` bits per second has come after `t1` seconds, in bytes. Figure 5 shows
/// this.
pub fn burst_volume(rate: f64, zero_loss_time: f64) -> f64 {
    rate / BITS * zero_loss_time
}

/// A burst to one queue of a priority of its own that finds `ports` ports of `port_rate` bits per second with
/// `per_port` queues each, served round robin. Every queue of a port is of another priority, and all have this alpha:
/// `n` is the number of ports. The setting of figures 5c and 5d.
pub fn burst(buffer: f64, alpha: f64, ports: u32, per_port: u32, port_rate: f64, burst: Burst) -> Transient {
    let share = 1.0 / f64::from(per_port);
    let held = Held::new(omega(alpha, ports, share), port_rate * share);
    Transient { buffer, held: vec![held; (ports * per_port) as usize], burst }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_near;
    use crate::transient::Regime;

    const PORT: f64 = 10e9;
    const BUFFER: f64 = 9e6;

    fn one(rate: f64) -> Burst {
        Burst { queues: 1, omega: 0.5, rate: rate * PORT, drain: PORT }
    }

    /// Theorems 1 and 2 are met exactly by queues that have their ports to themselves.
    #[test]
    fn bounds_are_sharp_for_queues_with_a_port_each() {
        // Three queues of alpha 0.5 and two of alpha 2, at five ports.
        let omegas = [[omega(0.5, 3, 1.0); 3].as_slice(), &[omega(2.0, 2, 1.0); 2]].concat();
        let held = 3.0 * steady::threshold(BUFFER, omegas[0], &omegas);
        assert_near(held, minimum(BUFFER, 0.5, &[0.5, 2.0]));
        assert!(held < maximum(BUFFER, 0.5));
        assert_near(3.0 * steady::threshold(BUFFER, omegas[0], &omegas[..3]), maximum(BUFFER, 0.5));
        let drain = drain_time(BUFFER, 0.5, 1, PORT, &[0.5]);
        assert_near(drain, drain_time_bound(BUFFER, 0.5, PORT));
    }

    /// Where they share one they are not: half of a port each, alphas 8 and 1/2. The drain time is 1.52 B/b, the bound
    /// 0.89 B/b.
    #[test]
    fn theorem_3_needs_ports_that_are_not_shared() {
        let omegas = [omega(8.0, 1, 0.5), omega(0.5, 1, 0.5)];
        let drain = drain_time(1.0, 8.0, 1, 8.0, &omegas);
        assert_near(drain, 8.0 / 5.25);
        assert_near(drain_time_bound(1.0, 8.0, 8.0), 8.0 / 9.0);
        assert!(steady::threshold(1.0, omegas[1], &omegas) < minimum(1.0, 0.5, &[8.0, 0.5]));
        assert!(steady::threshold(1.0, omegas[0], &omegas) < maximum(1.0, 8.0));
    }

    /// The theorems are the general solution on their side of equation 28, and above it on the other.
    #[test]
    fn theorems_4_and_5_are_the_two_cases() {
        for (ports, per_port) in [(1, 1), (4, 1), (1, 6), (3, 4)] {
            let limit = tracking_rate_of_sum(&burst(BUFFER, 0.5, ports, per_port, PORT, one(1.5)));
            assert_near(limit, burst(BUFFER, 0.5, ports, per_port, PORT, one(1.5)).tracking_rate());
            for (factor, regime) in [(0.99, Regime::Tracking), (1.01, Regime::Lagging), (3.0, Regime::Lagging)] {
                let transient = burst(BUFFER, 0.5, ports, per_port, PORT, one(limit / PORT * factor));
                assert_eq!(transient.growth().1, regime);
                let t1 = transient.zero_loss_time();
                let (four, five) = (theorem_4(&transient), theorem_5(&transient));
                assert_near(if regime == Regime::Tracking { four } else { five }, t1);
                assert_near(four.min(five), t1);
            }
        }
    }

    /// Theorem 4 with a queue whose factor falls.
    #[test]
    fn theorem_4_with_affected_queues() {
        let mut transient = burst(BUFFER, 0.5, 3, 1, PORT, one(1.8));
        transient.held[0] = Held { omega_before: 0.5, omega: 0.25, drain: PORT / 2.0 };
        assert_eq!(transient.growth().1, Regime::Tracking);
        assert_near(theorem_4(&transient), transient.zero_loss_time());
    }

    /// Two bursts at once take each other's room.
    #[test]
    fn theorems_with_several_new_queues() {
        let mut transient = burst(BUFFER, 0.5, 2, 1, PORT, one(4.0));
        let alone = transient.zero_loss_time();
        transient.burst.queues = 3;
        assert_near(theorem_4(&transient).min(theorem_5(&transient)), transient.zero_loss_time());
        assert!(transient.zero_loss_time() < alone);
    }

    /// Equations 10 and 11 are the exact solution for queues with a port each, and say too little for queues that share
    /// one.
    #[test]
    fn equations_10_and_11() {
        for ports in [1, 2, 7, 14] {
            for rate in [1.5, 3.0, 10.0, 28.0] {
                let transient = burst(BUFFER, 0.5, ports, 1, PORT, one(rate));
                let equation = match transient.growth().1 {
                    Regime::Tracking => burst_tolerance_tracking(BUFFER, 0.5, &[0.5, 0.5]),
                    _ => burst_tolerance_lagging(BUFFER, &[0.5], f64::from(ports) * PORT, &one(rate)),
                };
                assert_near(equation, transient.tolerance());
                // Eight queues a port, one of each of eight priorities: nothing changes, though the sum of alphas is
                // eight times as large.
                let shared = burst(BUFFER, 0.5, ports, 8, PORT, one(rate));
                assert_near(shared.tolerance(), equation);
                assert!(burst_tolerance_tracking(BUFFER, 0.5, &[0.5; 9]) < 0.5 * equation);
                assert_near(shared.volume(), burst_volume(one(rate).rate, shared.zero_loss_time()));
            }
        }
    }
}
