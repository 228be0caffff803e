//! Steady states: every queue that is counted is as long as its threshold, `q_i = T_i = omega_i * (B - Q)`.
//!
//! With `W` the sum of `omega_i`, `Q = W * (B - Q)`, and everything follows (FB's lemma 2, equations 12 to 14; ABM's
//! lemma 2, equations 15 to 17). Queues that stay below their thresholds are not in this: what they hold is to be
//! subtracted from `B` beforehand.
//!
//! Packets make this coarse: a queue is up to a packet short of its threshold, and the buffer up to a packet a queue
//! emptier.

/// What is free with queues at their thresholds: `B - Q = B / (1 + W)`, in the unit of `buffer` (FB eq. 13, ABM eq.
/// 16).
pub fn free(buffer: f64, omegas: &[f64]) -> f64 {
    buffer / (1.0 + omegas.iter().sum::<f64>())
}

/// What all queues together hold: `Q = B * W / (1 + W)` (FB eq. 12, ABM eq. 15).
pub fn occupancy(buffer: f64, omegas: &[f64]) -> f64 {
    buffer - free(buffer, omegas)
}

/// The threshold and length of a queue with factor `omega`, which need not be one of those that fill the buffer: `T = B
/// * omega / (1 + W)` (FB eq. 14, ABM eq. 17).
pub fn threshold(buffer: f64, omega: f64, omegas: &[f64]) -> f64 {
    omega * free(buffer, omegas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_near;

    #[test]
    fn lengths_and_what_is_free_fill_the_buffer() {
        let omegas = [2.0, 1.0, 0.25, 0.1];
        let lengths: f64 = omegas.iter().map(|omega| threshold(9e6, *omega, &omegas)).sum();
        assert_near(lengths, occupancy(9e6, &omegas));
        assert_near(lengths + free(9e6, &omegas), 9e6);
    }

    #[test]
    fn an_empty_buffer_is_free() {
        assert_near(free(9e6, &[]), 9e6);
        assert_near(threshold(9e6, 2.0, &[]), 18e6);
    }
}
