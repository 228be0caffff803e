//! Occamy: admission as DT with a large alpha, and expulsion from over-allocated queues with memory bandwidth that
//! transmission leaves unused (Occamy section 4).
//!
//! A token is the memory bandwidth of one cell. Sending takes tokens whether they are there or not; an expulsion needs
//! them all. A queue is over-allocated when `q_i > alpha_k * (B - Q)`; a round-robin pointer goes over those queues.

use super::{Admission, Request, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas};
use crate::max_tree::MaxTree;
use crate::units::{Bytes, Instant, PS_PER_SECOND};
use crate::verdict::{Threshold, Why};
use alloc::vec;
use alloc::vec::Vec;

/// Settings of Occamy.
#[derive(Clone, Debug, PartialEq)]
pub struct OccamyConfig {
    /// Per queue number. Default 8, the authors' choice.
    pub alpha: PerQueue<f64>,
    /// Bytes of memory bandwidth that a token stands for. Default 200.
    pub token_cell: Bytes,
    /// Tokens that can be saved up. Default 64. With 0 nothing is ever expelled.
    pub bucket: u64,
}

impl Default for OccamyConfig {
    fn default() -> Self {
        Self { alpha: PerQueue::All(8.0), token_cell: Bytes::new(200), bucket: 64 }
    }
}

impl OccamyConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        if self.token_cell == Bytes::ZERO || self.token_cell.get() > 1 << 30 {
            return Err(ConfigError::new("policy.token_cell", self.token_cell, "the cell of a token is out of range")
                .remedy("give 1 byte to 1GiB, such as token_cell = 200"));
        }
        if self.bucket > 1 << 40 {
            return Err(ConfigError::new("policy.bucket", self.bucket, "the bucket is too large")
                .remedy("give a number of cells up to 2^40, such as bucket = 64"));
        }
        Ok(())
    }
}

/// Tokens as an exact rational: one token is `unit` parts, and `rate` parts come in every picosecond.
#[derive(Clone, Debug)]
struct Tokens {
    parts: i128,
    capacity: i128,
    unit: i128,
    rate: u64,
    cell: u32,
    /// When `parts` was right.
    at: Instant,
}

impl Tokens {
    fn new(config: &OccamyConfig, switch: &ValidConfig) -> Self {
        let unit = i128::from(8 * PS_PER_SECOND) * i128::from(config.token_cell.get());
        let capacity = i128::from(config.bucket) * unit;
        let rate = switch.rates.iter().map(|rate| rate.bps()).sum();
        let cell = u32::try_from(config.token_cell.get()).expect("validated");
        Self { parts: capacity, capacity, unit, rate, cell, at: Instant::ZERO }
    }

    fn for_packet(&self, bytes: u32) -> i128 {
        i128::from(bytes.div_ceil(self.cell)) * self.unit
    }

    #[inline]
    fn fill(&mut self, now: Instant) {
        let gained = u128::from(self.rate) * u128::from(now.since(self.at).ps());
        // The gain is below 2^124, so the sum cannot overflow.
        self.parts = (self.parts + gained as i128).min(self.capacity);
        self.at = now;
    }

    /// The first instant, not before the last change, at which `needed` parts are there.
    fn when(&self, needed: i128) -> Instant {
        if needed > self.capacity {
            return Instant::NEVER;
        }
        let missing = needed - self.parts;
        if missing <= 0 {
            return self.at;
        }
        let wait = (missing as u128).div_ceil(u128::from(self.rate));
        Instant::from_ps(u64::try_from(wait).ok().and_then(|wait| self.at.ps().checked_add(wait)).unwrap_or(u64::MAX))
    }
}

/// The queues that share one alpha, in the order of their indices.
#[derive(Clone, Debug)]
struct Tier {
    alpha: f64,
    queues: Vec<usize>,
    lengths: MaxTree,
}

impl Tier {
    #[inline]
    fn over(&self, length: u64, remaining: f64) -> bool {
        real(length) > self.alpha * remaining
    }

    /// The first over-allocated queue whose index is at least `from`.
    fn first_from(&self, from: usize, remaining: f64) -> Option<usize> {
        let position = self.queues.partition_point(|queue| *queue < from);
        self.lengths.first_from(position, |length| self.over(length, remaining)).map(|at| self.queues[at])
    }
}

/// A packet that could be expelled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) queue: usize,
    pub(crate) threshold: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Occamy {
    tiers: Vec<Tier>,
    /// Per queue index: its tier, and its place in it.
    place: Vec<(u32, u32)>,
    tokens: Tokens,
    /// Where the round robin goes on.
    pointer: usize,
    /// Some queue is over-allocated.
    over_allocated: bool,
}

impl Occamy {
    pub(super) fn new(config: &OccamyConfig, switch: &ValidConfig) -> Self {
        let mut tiers: Vec<(f64, Vec<usize>)> = Vec::new();
        let mut place = vec![(0, 0); switch.total_queues()];
        for (queue, alpha) in config.alpha.spread(switch).into_iter().enumerate() {
            let tier = tiers.iter().position(|(known, _)| *known == alpha).unwrap_or_else(|| {
                tiers.push((alpha, Vec::new()));
                tiers.len() - 1
            });
            place[queue] = (tier as u32, tiers[tier].1.len() as u32);
            tiers[tier].1.push(queue);
        }
        let tiers = tiers
            .into_iter()
            .map(|(alpha, queues)| Tier { alpha, lengths: MaxTree::new(queues.len()), queues })
            .collect();
        Self { tiers, place, tokens: Tokens::new(config, switch), pointer: 0, over_allocated: false }
    }

    fn alpha(&self, queue: usize) -> f64 {
        self.tiers[self.place[queue].0 as usize].alpha
    }

    pub(super) fn threshold(&self, queue: usize, buffer: &Buffer) -> Threshold {
        let alpha = self.alpha(queue);
        Threshold {
            value: alpha * real(buffer.remaining()),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            ..Threshold::default()
        }
    }

    #[inline]
    pub(super) fn admit(&self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        why.note(|e| e.threshold = Some(self.threshold(request.queue, buffer)));
        let threshold = self.alpha(request.queue) * real(buffer.remaining());
        Admission::within(threshold, buffer, request.queue, request.charge)
    }

    #[inline]
    pub(super) fn changed(&mut self, queue: usize, buffer: &Buffer) {
        let (tier, at) = self.place[queue];
        self.tiers[tier as usize].lengths.set(at as usize, buffer.length(queue));
        let remaining = real(buffer.remaining());
        self.over_allocated = self.tiers.iter().any(|tier| tier.over(tier.lengths.max(), remaining));
    }

    /// Whether some queue is over-allocated.
    #[inline]
    pub(crate) fn over_allocated(&self) -> bool {
        self.over_allocated
    }

    /// A packet was picked for transmission.
    #[inline]
    pub(crate) fn sent(&mut self, now: Instant, bytes: u32) {
        self.tokens.fill(now);
        self.tokens.parts -= self.tokens.for_packet(bytes);
    }

    /// The queue whose head is to be expelled next.
    pub(crate) fn candidate(&self, buffer: &Buffer) -> Option<Candidate> {
        let remaining = real(buffer.remaining());
        let from = |pointer| self.tiers.iter().filter_map(|tier| tier.first_from(pointer, remaining)).min();
        let queue = from(self.pointer).or_else(|| from(0))?;
        Some(Candidate { queue, threshold: self.alpha(queue) * remaining })
    }

    /// When there are tokens to expel a head of `bytes`, not before `now`.
    pub(crate) fn ready(&mut self, now: Instant, bytes: u32) -> Instant {
        self.tokens.fill(now);
        self.tokens.when(self.tokens.for_packet(bytes))
    }

    /// The head of `queue`, of `bytes`, is expelled.
    pub(crate) fn expelled(&mut self, now: Instant, queue: usize, bytes: u32) {
        self.tokens.fill(now);
        self.tokens.parts -= self.tokens.for_packet(bytes);
        self.pointer = (queue + 1) % self.place.len();
    }

    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.pointer = earlier.pointer;
        self.tokens.at = earlier.tokens.at;
        // As many tokens as there were, in parts of the new size, as far as the new bucket holds them.
        let whole = earlier.tokens.parts / earlier.tokens.unit;
        self.tokens.parts = (whole * self.tokens.unit).min(self.tokens.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TmConfig;
    use crate::units::Rate;

    #[test]
    fn tokens_are_exact() {
        let config = OccamyConfig { token_cell: Bytes::new(100), bucket: 16, ..OccamyConfig::default() };
        let switch = TmConfig::new(vec![Rate::from_gbps(7); 3], Bytes::new(10_000)).validate().unwrap();
        let mut tokens = Tokens::new(&config, &switch);
        tokens.parts -= tokens.for_packet(1_601);
        // 17 tokens were taken of 16; two more need 3 * 800 bits at 21 Gb/s: 2400 / 21 ns, rounded up.
        assert_eq!(tokens.when(tokens.for_packet(150)).ps(), 114_286);
        tokens.fill(Instant::from_ps(114_285));
        assert!(tokens.parts < tokens.for_packet(150));
        tokens.fill(Instant::from_ps(114_286));
        assert!(tokens.parts >= tokens.for_packet(150));
        // Never more than the bucket, and what does not fit the bucket never comes.
        tokens.fill(Instant::from_ps(u64::MAX));
        assert_eq!(tokens.parts, tokens.capacity);
        assert_eq!(tokens.when(tokens.for_packet(1_601)), Instant::NEVER);
    }
}
