//! What the papers work out on paper: thin shells around `forebay_analysis`, which has the equations and their
//! conditions.

use forebay_analysis::dt::Class;
use forebay_analysis::transient::{Burst, Held, Regime, Transient as Inner};
use pyo3::prelude::*;

/// Queues, the factor omega of each, arrival rate and drain rate of each, in bits per second.
type BurstParts = (u32, f64, f64, f64);

fn classes_of(classes: Vec<(f64, u32)>) -> Vec<Class> {
    classes.into_iter().map(|(alpha, queues)| Class { alpha, queues }).collect()
}

fn burst_of((queues, omega, rate, drain): BurstParts) -> Burst {
    Burst { queues, omega, rate, drain }
}

/// A burst and the buffer that it comes to.
#[pyclass(frozen, module = "forebay.analysis")]
pub(crate) struct Transient(Inner);

impl From<Inner> for Transient {
    fn from(transient: Inner) -> Self {
        Self(transient)
    }
}

#[pymethods]
impl Transient {
    /// The buffer in bytes; queues that hold it as (factor before the burst, factor from the burst on, drain rate);
    /// the burst as (queues, factor, arrival rate, drain rate). Rates are in bits per second.
    #[new]
    fn new(buffer: f64, held: Vec<(f64, f64, f64)>, burst: BurstParts) -> Self {
        let held = held.into_iter().map(|(omega_before, omega, drain)| Held { omega_before, omega, drain }).collect();
        Self(Inner { buffer, held, burst: burst_of(burst) })
    }

    /// What is free as the burst comes, in bytes.
    fn free_at_start(&self) -> f64 {
        self.0.free_at_start()
    }

    /// How fast the total grows, in bytes per second, and the regime: "tracking", "mixed" or "lagging".
    fn growth(&self) -> (f64, &'static str) {
        let (rate, regime) = self.0.growth();
        let regime = match regime {
            Regime::Tracking => "tracking",
            Regime::Mixed => "mixed",
            Regime::Lagging => "lagging",
        };
        (rate, regime)
    }

    /// For how many seconds the burst loses nothing.
    fn zero_loss_time(&self) -> f64 {
        self.0.zero_loss_time()
    }

    /// How long a queue of the burst is when it first loses, in bytes.
    fn tolerance(&self) -> f64 {
        self.0.tolerance()
    }

    /// How much has come to a queue of the burst when it first loses, in bytes.
    fn volume(&self) -> f64 {
        self.0.volume()
    }

    /// The length of a queue of the burst in the steady state that would follow, in bytes.
    fn fair_share(&self) -> f64 {
        self.0.fair_share()
    }

    /// The largest arrival rate at each queue of the burst at which all queues follow their thresholds, in bits per
    /// second.
    fn tracking_rate(&self) -> f64 {
        self.0.tracking_rate()
    }
}

/// Bursts that come to a buffer in steady state.
#[pymodule]
pub(crate) mod transient {
    #[pymodule_export]
    use super::Transient;
}

/// Steady states: every queue is as long as its threshold, omega times what is free.
#[pymodule]
pub(crate) mod steady {
    use forebay_analysis::steady as paper;
    use pyo3::prelude::*;

    /// What is free with queues of these factors at their thresholds: B / (1 + W).
    #[pyfunction]
    fn free(buffer: f64, omegas: Vec<f64>) -> f64 {
        paper::free(buffer, &omegas)
    }

    /// What all queues hold together: B * W / (1 + W).
    #[pyfunction]
    fn occupancy(buffer: f64, omegas: Vec<f64>) -> f64 {
        paper::occupancy(buffer, &omegas)
    }

    /// The threshold and length of a queue with factor omega: B * omega / (1 + W).
    #[pyfunction]
    fn threshold(buffer: f64, omega: f64, omegas: Vec<f64>) -> f64 {
        paper::threshold(buffer, omega, &omegas)
    }
}

/// Dynamic Thresholds. Classes are pairs of an alpha and a number of queues at their thresholds.
#[pymodule]
pub(crate) mod dt {
    use super::{BurstParts, Transient, burst_of, classes_of};
    use forebay_analysis::dt as paper;
    use pyo3::prelude::*;

    /// What stays free: B / (1 + sum of alpha * n).
    #[pyfunction]
    fn free(buffer: f64, classes: Vec<(f64, u32)>) -> f64 {
        paper::free(buffer, &classes_of(classes))
    }

    /// What all queues hold together.
    #[pyfunction]
    fn occupancy(buffer: f64, classes: Vec<(f64, u32)>) -> f64 {
        paper::occupancy(buffer, &classes_of(classes))
    }

    /// The threshold of a queue with this alpha in steady state (ABM eq. 6).
    #[pyfunction]
    fn threshold(buffer: f64, alpha: f64, classes: Vec<(f64, u32)>) -> f64 {
        paper::threshold(buffer, alpha, &classes_of(classes))
    }

    /// A burst to ports in steady state, each with so many queues of this alpha (ABM's figures 5a and 5b).
    #[pyfunction]
    fn burst(buffer: f64, alpha: f64, ports: u32, per_port: u32, port_rate: f64, burst: BurstParts) -> Transient {
        paper::burst(buffer, alpha, ports, per_port, port_rate, burst_of(burst)).into()
    }
}

/// Active Buffer Management.
#[pymodule]
pub(crate) mod abm {
    use super::{BurstParts, Transient, burst_of};
    use forebay_analysis::abm as paper;
    use pyo3::prelude::*;

    /// A queue's factor: alpha / n * mu / b.
    #[pyfunction]
    fn omega(alpha: f64, congested: u32, port_share: f64) -> f64 {
        paper::omega(alpha, congested, port_share)
    }

    /// Theorem 1: what a priority can have at least, in bytes.
    #[pyfunction]
    fn minimum(buffer: f64, alpha: f64, all_alphas: Vec<f64>) -> f64 {
        paper::minimum(buffer, alpha, &all_alphas)
    }

    /// Theorem 2: what a priority holds at most, in bytes.
    #[pyfunction]
    fn maximum(buffer: f64, alpha: f64) -> f64 {
        paper::maximum(buffer, alpha)
    }

    /// Theorem 3: a queue drains in at most so many seconds; the rate is in bits per second.
    #[pyfunction]
    fn drain_time_bound(buffer: f64, alpha: f64, port_rate: f64) -> f64 {
        paper::drain_time_bound(buffer, alpha, port_rate)
    }

    /// How long a queue at its threshold takes to drain, in seconds (lemma 2).
    #[pyfunction]
    fn drain_time(buffer: f64, alpha: f64, congested: u32, port_rate: f64, omegas: Vec<f64>) -> f64 {
        paper::drain_time(buffer, alpha, congested, port_rate, &omegas)
    }

    /// Equation 10: the length of a queue of a slow burst when it first loses, in bytes.
    #[pyfunction]
    fn burst_tolerance_tracking(buffer: f64, omega: f64, alphas: Vec<f64>) -> f64 {
        paper::burst_tolerance_tracking(buffer, omega, &alphas)
    }

    /// Equation 11: the length of a queue of a fast burst when it first loses, in bytes.
    #[pyfunction]
    fn burst_tolerance_lagging(buffer: f64, alphas: Vec<f64>, drain: f64, burst: BurstParts) -> f64 {
        paper::burst_tolerance_lagging(buffer, &alphas, drain, &burst_of(burst))
    }

    /// Equation 42: how much of a burst has come after t1 seconds, in bytes.
    #[pyfunction]
    fn burst_volume(rate: f64, zero_loss_time: f64) -> f64 {
        paper::burst_volume(rate, zero_loss_time)
    }

    /// A burst to ports in steady state, each queue of a port of another priority (figures 5c and 5d).
    #[pyfunction]
    fn burst(buffer: f64, alpha: f64, ports: u32, per_port: u32, port_rate: f64, burst: BurstParts) -> Transient {
        paper::burst(buffer, alpha, ports, per_port, port_rate, burst_of(burst)).into()
    }
}

/// Flexible Buffer.
#[pymodule]
pub(crate) mod fb {
    use super::Transient;
    use forebay_analysis::fb::{self as paper, Absorb};
    use pyo3::prelude::*;

    /// A queue's factor: alpha / N * gamma.
    #[pyfunction]
    fn omega(alpha: f64, queues: u32, port_share: f64) -> f64 {
        paper::omega(alpha, queues, port_share)
    }

    /// Equation 5: what all queues hold at most, with the largest alpha of each priority.
    #[pyfunction]
    fn occupancy_bound(buffer: f64, largest_alphas: Vec<f64>) -> f64 {
        paper::occupancy_bound(buffer, &largest_alphas)
    }

    /// What one priority holds at most.
    #[pyfunction]
    fn priority_bound(buffer: f64, largest_alpha: f64) -> f64 {
        paper::priority_bound(buffer, largest_alpha)
    }

    /// Equation 6: the least alpha of the low priority with which it can have the minimum.
    #[pyfunction]
    fn alpha_low_for(minimum: f64, buffer: f64, alpha_high: f64) -> f64 {
        paper::alpha_low_for(minimum, buffer, alpha_high)
    }

    /// Equation 6 the other way round: what the low priority can have at least.
    #[pyfunction]
    fn minimum_of_low(buffer: f64, alpha_low: f64, alpha_high: f64) -> f64 {
        paper::minimum_of_low(buffer, alpha_low, alpha_high)
    }

    /// Equation 7: the largest alpha of the low priority with which a burst gets its share.
    #[pyfunction]
    fn alpha_low_for_fair_share(rate: f64, port_rate: f64) -> f64 {
        paper::alpha_low_for_fair_share(rate, port_rate)
    }

    /// Equation 8, first half: the alpha of the low priority that is just too large for a burst.
    #[pyfunction]
    fn alpha_low_limit(buffer: f64, port_rate: f64, rate: f64, duration: f64) -> f64 {
        paper::alpha_low_limit(buffer, port_rate, Absorb { rate, duration })
    }

    /// What the alpha of the high priority must be larger than for a burst to be absorbed; None if none will do.
    #[pyfunction]
    fn alpha_high(buffer: f64, port_rate: f64, alpha_low: f64, rate: f64, duration: f64) -> Option<f64> {
        paper::alpha_high(buffer, port_rate, alpha_low, Absorb { rate, duration })
    }

    /// Equation 8, second half, as printed.
    #[pyfunction]
    fn alpha_high_as_printed(buffer: f64, port_rate: f64, alpha_low: f64, rate: f64, duration: f64) -> Option<f64> {
        paper::alpha_high_as_printed(buffer, port_rate, alpha_low, Absorb { rate, duration })
    }

    /// The worst that a burst can find, as equations 7 and 8 have it.
    #[pyfunction]
    fn worst_case(buffer: f64, port_rate: f64, alpha_low: f64, alpha_high: f64, rate: f64) -> Transient {
        paper::worst_case(buffer, port_rate, alpha_low, alpha_high, rate).into()
    }
}

/// Occamy.
#[pymodule]
pub(crate) mod occamy {
    use forebay_analysis::occamy as paper;
    use pyo3::prelude::*;

    /// Equation 2: what stays free.
    #[pyfunction]
    fn free(buffer: f64, alpha: f64, queues: u32) -> f64 {
        paper::free(buffer, alpha, queues)
    }

    /// Equation 3: the largest arrival rate of bursts at which the buffer is shared fairly.
    #[pyfunction]
    fn fair_rate(expulsion: f64, alpha: f64, bursts: u32, over_allocated: u32) -> f64 {
        paper::fair_rate(expulsion, alpha, bursts, over_allocated)
    }

    /// Equation 4: the largest alpha with which the buffer is shared fairly.
    #[pyfunction]
    fn fair_alpha(speed: f64, bursts: u32, over_allocated: u32) -> f64 {
        paper::fair_alpha(speed, bursts, over_allocated)
    }
}

/// AIFO, PIFO and FIFO at constant rates (AIFO's theorem 1).
#[pymodule]
pub(crate) mod aifo {
    use crate::error::refused;
    use forebay_analysis::aifo as paper;
    use pyo3::prelude::*;

    /// The rank at which the ranks up to it fill the port; None without overload.
    #[pyfunction]
    fn margin(rates: Vec<f64>, drain: f64) -> Option<usize> {
        paper::margin(&rates, drain)
    }

    /// Theorem 1 (1): the departure rates of PIFO, and of AIFO in the steady state.
    #[pyfunction]
    fn departures_by_rank(rates: Vec<f64>, drain: f64) -> Vec<f64> {
        paper::departures_by_rank(&rates, drain)
    }

    /// Theorem 1 (2): the departure rates of FIFO.
    #[pyfunction]
    fn departures_of_fifo(rates: Vec<f64>, drain: f64) -> Vec<f64> {
        paper::departures_of_fifo(&rates, drain)
    }

    /// The least gap between two schedulers that their departure rates allow.
    #[pyfunction]
    fn gap_of_rates(p: Vec<f64>, a: Vec<f64>) -> f64 {
        paper::gap_of_rates(&p, &a)
    }

    /// The share of all arrivals that have a smaller rank.
    #[pyfunction]
    fn quantile(py: Python<'_>, rates: Vec<f64>, rank: usize) -> PyResult<f64> {
        if rank >= rates.len() {
            let problem = format!("there is no rank {rank}");
            return Err(refused(py, "rank", &problem, &format!("there are rates for ranks below {}", rates.len())));
        }
        Ok(paper::quantile(&rates, rank))
    }

    /// AIFO's queue length where packets up to this quantile are just admitted.
    #[pyfunction]
    fn queue_length(capacity: f64, headroom: f64, quantile: f64) -> f64 {
        paper::queue_length(capacity, headroom, quantile)
    }
}
