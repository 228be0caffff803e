//! Occamy's tokens and expulsions (section 6 of the specification).

use crate::config::{Policy, Switch};
use crate::packet::Reason;
use crate::switch::Model;

/// The token bucket and the round-robin pointer. Without Occamy it has no use.
pub(crate) struct Tokens {
    /// `tokens * (8e12 * token_cell)`, as it was at `time`.
    level: i128,
    time: u64,
    /// The round-robin pointer over queue indices.
    pointer: usize,
    /// The first picosecond at which the candidate's tokens are there, if an expulsion waits for them.
    pub(crate) next_try: Option<u64>,
}

/// `8e12 * token_cell`: what one token is in the units of `level`.
fn one_token(token_cell: u64) -> i128 {
    8_000_000_000_000 * i128::from(token_cell)
}

/// `ceil(bytes / token_cell)` tokens in the units of `level`.
fn price(bytes: u64, token_cell: u64) -> i128 {
    i128::from(bytes.div_ceil(token_cell)) * one_token(token_cell)
}

impl Tokens {
    pub(crate) fn new(switch: &Switch) -> Self {
        let level = match switch.policy {
            Policy::Occamy { token_cell, bucket, .. } => i128::from(bucket) * one_token(token_cell),
            _ => 0,
        };
        Tokens { level, time: 0, pointer: 0, next_try: None }
    }
}

impl Model<'_> {
    /// What the level grows by in a picosecond: the sum of the rates.
    fn token_growth(&self) -> i128 {
        self.switch.rates.iter().map(|&rate| i128::from(rate)).sum()
    }

    /// Lets the level grow up to `now`.
    fn refill(&mut self, token_cell: u64, bucket: u64) {
        let full = i128::from(bucket) * one_token(token_cell);
        let passed = i128::from(self.now - self.tokens.time);
        self.tokens.level = full.min(self.tokens.level + passed * self.token_growth());
        self.tokens.time = self.now;
    }

    /// A packet or header of `bytes` bytes was picked for transmission: it takes its tokens, whatever is there.
    pub(crate) fn pay_for_pick(&mut self, bytes: u64) {
        if let Policy::Occamy { token_cell, bucket, .. } = self.switch.policy {
            self.refill(token_cell, bucket);
            self.tokens.level -= price(bytes, token_cell);
        }
    }

    /// Section 5 (d): expulsions until none is possible.
    pub(crate) fn expel(&mut self) {
        let switch = self.switch;
        let Policy::Occamy { alpha, token_cell, bucket } = &switch.policy else {
            return;
        };
        self.refill(*token_cell, *bucket);
        self.tokens.next_try = None;
        while let Some(i) = self.expulsion_candidate(alpha) {
            let needed = price(self.queues[i][0].bytes, *token_cell);
            if needed <= self.tokens.level {
                self.tokens.level -= needed;
                self.tokens.pointer = (i + 1) % self.queues.len();
                self.drop_waiting(i, 0, Reason::Expelled);
                continue;
            }
            // A head that needs more than the bucket holds waits for ever.
            if needed <= i128::from(*bucket) * one_token(*token_cell) {
                let missing = needed - self.tokens.level;
                let growth = self.token_growth();
                let wait = (missing + growth - 1) / growth;
                let wait = u64::try_from(wait).expect("times fit into 64 bits");
                self.tokens.next_try = Some(self.now + wait);
            }
            return;
        }
    }

    /// The first over-allocated queue at or after the pointer.
    fn expulsion_candidate(&self, alpha: &[f64]) -> Option<usize> {
        let count = self.queues.len();
        (0..count)
            .map(|step| (self.tokens.pointer + step) % count)
            .find(|&i| self.q(i) as f64 > alpha[i % self.switch.queues] * self.free())
    }
}
