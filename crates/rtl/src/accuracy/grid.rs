//! The threshold over that of the formula, over a grid of states.

use super::{Distribution, Form, PORTS, WIDTH};
use crate::model::factor::{Digit, expand, product};

/// Thresholds of at least so many cells: below, it is the whole cells that count.
const LEAST: f64 = 64.0;

/// What remains of the buffer: 32 values from 128 cells to all, each the same factor above the one before.
fn remaining() -> impl Iterator<Item = u64> {
    (0..32).map(|step| (128.0 * 512f64.powf(f64::from(step) / 31.0)).round() as u64 - 1)
}

/// The ratios for a factor, its digits, and every alpha and every rest of the buffer.
fn ratios(factor: f64, digits: &[Digit], ratios: &mut Vec<f64>) {
    for alpha_shift in 0..=6u32 {
        for rest in remaining() {
            let exact = factor * 2f64.powi(alpha_shift as i32 - 3) * rest as f64;
            if (LEAST..=65_535.0).contains(&exact) {
                let threshold = product(rest, alpha_shift, digits, WIDTH);
                // At the end of the range, all numbers are the largest.
                if threshold < (1 << WIDTH) - 1 {
                    ratios.push(threshold as f64 / exact);
                }
            }
        }
    }
}

/// FB: all numbers of non-empty queues of the class and of the port.
pub(super) fn fb(form: &Form) -> Distribution {
    let mut all = Vec::new();
    for n in 1..=PORTS as u64 {
        for m in 1..=8 {
            ratios(1.0 / (n * m) as f64, &expand(1, n * m, form.terms), &mut all);
        }
    }
    Distribution::of(all)
}

/// ABM: all numbers of congested queues, and shares from an eighth to all, finer than the unit's steps.
pub(super) fn abm(form: &Form) -> Distribution {
    let mut all = Vec::new();
    for n in 1..=PORTS as u64 {
        for share in 128..=1024u32 {
            let share = f64::from(share) / 1024.0;
            let steps = (share * f64::from(1 << form.log_shares)).round() as u64;
            ratios(share / n as f64, &expand(steps, n << form.log_shares, form.terms), &mut all);
        }
    }
    Distribution::of(all)
}
