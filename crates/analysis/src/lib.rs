//! What papers about shared buffers work out on paper, as functions: the steady states of thresholds, the bounds that
//! follow from them, and how much of a burst gets in before the first loss.
//!
//! All of it is about a *fluid*: arrivals and departures are smooth, and a queue grows until it meets its threshold `T
//! = omega * (B - Q)`, where `B` is the shared buffer, `Q` is all that waits, and `omega` is a factor that depends on
//! the scheme. That factor is all in which the schemes differ, so that the mathematics is in two modules and the
//! schemes are short:
//!
//! | module | what it has |
//! |---|---|
//! | [`steady`] | queues at their thresholds: lengths, occupancy, free buffer |
//! | [`transient`] | a burst that comes to such a buffer: how fast thresholds fall, when the burst first loses |
//! | [`dt`] | Dynamic Thresholds: `omega = alpha`; FB's equations 2 and 3, ABM's equations 6 and 8 |
//! | [`fb`] | Flexible Buffer: `omega = alpha / N * gamma`; equations 4 to 8 |
//! | [`abm`] | Active Buffer Management: `omega = alpha / n * mu / b`; theorems 1 to 5, equations 10, 11, 28 and 42 |
//! | [`occamy`] | Occamy: `omega = alpha`, and queues that are cut short; equations 2 to 4 |
//! | [`aifo`] | AIFO, PIFO and FIFO at constant rates: theorem 1 |
//!
//! # Units
//!
//! Buffers and queues are in bytes, rates in bits per second, times in seconds. `alpha`, `omega` and shares of a port
//! have no unit. In AIFO's theorem rates are of packets, in any unit that all of them share.

#![forbid(unsafe_code)]

pub mod abm;
pub mod aifo;
pub mod dt;
pub mod fb;
pub mod occamy;
pub mod steady;
pub mod transient;

/// Bytes in so many bits.
const BITS: f64 = 8.0;

#[cfg(test)]
#[track_caller]
fn assert_near(seen: f64, expected: f64) {
    let near = (seen - expected).abs() <= 1e-9 * expected.abs().max(1e-9);
    assert!(near || seen == expected, "{seen} instead of {expected}");
}
