//! Occamy: admission as DT with a large alpha, and expulsion from over-allocated queues with memory bandwidth that
//! transmission leaves unused (Occamy section 4).
//!
//! A token is the memory bandwidth of one cell. Sending takes tokens whether they are there or not; an expulsion needs
//! them all. A queue is over-allocated when `q_i > alpha_k * (B - Q)`; a round-robin pointer goes over those queues.

use super::dynamic_thresholds::DynamicThresholds;
use super::{Admission, Request, Scheme, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas};
use crate::max_tree::MaxTree;
use crate::schedule::Place;
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
        if self.token_cell == Bytes::ZERO || self.token_cell.get() > 1 << 21 {
            return Err(ConfigError::new("policy.token_cell", self.token_cell, "the cell of a token is out of range")
                .remedy("give 1 byte to 2MiB, such as token_cell = 200"));
        }
        if self.bucket > 1 << 40 {
            return Err(ConfigError::new("policy.bucket", self.bucket, "the bucket is too large")
                .remedy("give a number of cells up to 2^40, such as bucket = 64"));
        }
        Ok(())
    }
}

/// Tokens as an exact rational. A token is `unit` parts, and `rate` parts come in every picosecond; both are divided by what
/// they have in common.
///
/// The level at time `t` is `capacity - (full - t*rate)` while `t*rate` is below `full`, and `capacity` from then on: so the
/// point at which the bucket is full again is all there is to remember.
#[derive(Clone, Debug)]
struct Tokens {
    full: u128,
    capacity: u128,
    unit: u64,
    rate: u64,
    cell: u32,
}

impl Tokens {
    fn new(config: &OccamyConfig, switch: &ValidConfig) -> Self {
        let rate = switch.rates.iter().map(|rate| rate.bps()).sum::<u64>();
        // Validated: a cell is at most 2^21 bytes, so that this fits 64 bits.
        let unit = 8 * PS_PER_SECOND * config.token_cell.get();
        let common = greatest_common_divisor(unit, rate);
        let (unit, rate) = (unit / common, rate / common);
        let capacity = u128::from(config.bucket) * u128::from(unit);
        let cell = u32::try_from(config.token_cell.get()).expect("validated");
        Self { full: 0, capacity, unit, rate, cell }
    }

    #[inline(always)]
    fn for_packet(&self, bytes: u32) -> u128 {
        u128::from(bytes.div_ceil(self.cell)) * u128::from(self.unit)
    }

    #[inline(always)]
    fn parts(&self, now: Instant) -> u128 {
        u128::from(now.ps()) * u128::from(self.rate)
    }

    /// Takes tokens, whether they are there or not.
    #[inline(always)]
    fn take(&mut self, now: Instant, parts: u128) {
        self.full = self.full.max(self.parts(now)) + parts;
    }

    /// The first instant, not before `now`, at which `needed` parts are there.
    #[inline(always)]
    fn when(&self, now: Instant, needed: u128) -> Instant {
        // level = capacity + t*rate - full >= needed, with a bucket that is not above its capacity.
        if needed > self.capacity {
            return Instant::NEVER;
        }
        let missing = (self.full + needed).saturating_sub(self.capacity).saturating_sub(self.parts(now));
        let wait = match u64::try_from(missing) {
            Ok(missing) => missing.div_ceil(self.rate),
            Err(_) => u64::try_from(missing.div_ceil(u128::from(self.rate))).unwrap_or(u64::MAX),
        };
        Instant::from_ps(now.ps().saturating_add(wait))
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
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

    /// A queue has changed: so has the remaining buffer, and with it who is over-allocated.
    #[inline(always)]
    fn changed(&mut self, queue: usize, length: u64, buffer: &Buffer) {
        let remaining = real(buffer.remaining());
        let (tier, at) = self.place[queue];
        let tier = &mut self.tiers[tier as usize];
        tier.lengths.set(at as usize, length);
        self.over_allocated = if self.tiers.len() == 1 {
            self.tiers[0].over(self.tiers[0].lengths.max(), remaining)
        } else {
            self.tiers.iter().any(|tier| tier.over(tier.lengths.max(), remaining))
        };
    }

    /// Goes on from the tokens that an earlier one had at `now`.
    pub(super) fn inherit(&mut self, earlier: &Self, now: Instant) {
        self.pointer = earlier.pointer;
        // As many whole tokens as there were, in parts of the new size, as far as the new bucket holds them.
        let old = &earlier.tokens;
        let missing = old.full.saturating_sub(old.parts(now)).div_ceil(u128::from(old.unit));
        let missing = (missing + self.tokens.capacity / u128::from(self.tokens.unit))
            .saturating_sub(old.capacity / u128::from(old.unit));
        self.tokens.full = self.tokens.parts(now) + missing * u128::from(self.tokens.unit);
    }
}

impl Scheme for Occamy {
    const LISTENS: bool = true;
    const EXPELS: bool = true;

    #[inline(always)]
    fn admit(&mut self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        DynamicThresholds.admit(request, buffer, why)
    }

    #[inline(always)]
    fn enqueued(&mut self, place: Place, _: u64, after: u64, buffer: &Buffer) {
        self.changed(place.queue, after, buffer);
    }

    #[inline(always)]
    fn dequeued(&mut self, place: Place, _: u64, after: u64, buffer: &Buffer, _: u32) {
        self.changed(place.queue, after, buffer);
    }

    fn threshold_of(&self, place: Place, buffer: &Buffer) -> Option<Threshold> {
        DynamicThresholds.threshold_of(place, buffer)
    }

    #[inline(always)]
    fn sent(&mut self, now: Instant, bytes: u32) {
        self.tokens.take(now, self.tokens.for_packet(bytes));
    }

    /// A packet takes at least one token.
    #[inline(always)]
    fn not_before(&self, now: Instant) -> Instant {
        if self.over_allocated { self.tokens.when(now, u128::from(self.tokens.unit)) } else { Instant::NEVER }
    }

    fn candidate(&self, buffer: &Buffer) -> Option<Candidate> {
        let remaining = real(buffer.remaining());
        let from = |pointer| self.tiers.iter().filter_map(|tier| tier.first_from(pointer, remaining)).min();
        let queue = from(self.pointer).or_else(|| from(0))?;
        Some(Candidate { queue, threshold: buffer.queues[queue].alpha * remaining })
    }

    fn ready(&mut self, from: Instant, bytes: u32) -> Instant {
        self.tokens.when(from, self.tokens.for_packet(bytes))
    }

    fn expelled(&mut self, now: Instant, queue: usize, bytes: u32) {
        self.tokens.take(now, self.tokens.for_packet(bytes));
        self.pointer = (queue + 1) % self.place.len();
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
        tokens.take(Instant::ZERO, tokens.for_packet(1_601));
        // 17 tokens were taken of 16; two more need 3 * 800 bits at 21 Gb/s: 2400 / 21 ns, rounded up.
        let two = tokens.for_packet(150);
        assert_eq!(tokens.when(Instant::ZERO, two).ps(), 114_286);
        assert_eq!(tokens.when(Instant::from_ps(114_285), two).ps(), 114_286);
        assert_eq!(tokens.when(Instant::from_ps(114_287), two).ps(), 114_287);
        // Never more than the bucket, and what does not fit the bucket never comes.
        let late = Instant::from_ps(u64::MAX / 2);
        assert_eq!(tokens.when(late, tokens.for_packet(1_600)), late);
        assert_eq!(tokens.when(late, tokens.for_packet(1_601)), Instant::NEVER);
        tokens.take(late, tokens.for_packet(1_600));
        // 16 tokens: 12800 bits at 21 Gb/s.
        assert_eq!(tokens.when(late, tokens.for_packet(1_600)).since(late).ps(), 609_524);
    }
}
