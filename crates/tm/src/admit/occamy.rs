//! Occamy: admission as DT with a large alpha, and expulsion from over-allocated queues with memory bandwidth that
//! transmission leaves unused (Occamy section 4).
//!
//! A token is the memory bandwidth of one cell. Sending takes tokens whether they are there or not; an expulsion needs
//! them all. A queue is over-allocated when `q_i > alpha_k * (B - Q)`; a round-robin pointer goes over those queues.

use super::dynamic_thresholds::DynamicThresholds;
use super::{ActivePolicy, Admission, Arrival, BufferPolicy, Candidate, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas};
use crate::described::settings;
use crate::max_tree::MaxTree;
use crate::units::{Bytes, Instant, PS_PER_SECOND};
use crate::verdict::{Explain, Threshold};
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

settings! {
    /// Settings of Occamy.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OccamyConfig {
        /// Per queue number; 8 is the authors' choice.
        pub alpha: PerQueue<f64> = PerQueue::All(8.0) => needed,
        /// Bytes of memory reads that one token pays for.
        pub token_cell: Bytes = Bytes::new(200),
        /// Tokens that can be saved up; with 0 nothing is ever expelled.
        pub bucket: u64 = 64,
    }
}

impl PolicySettings for OccamyConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
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

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        Occamy::new(self, switch).into()
    }
}

/// Tokens as an exact rational. A token is `unit` parts, and `rate` parts come in every picosecond; both are divided by
/// what they have in common.
///
/// The level at time `t` is `capacity - (full - t*rate)` while `t*rate` is below `full`, and `capacity` from then on:
/// so the point at which the bucket is full again is all there is to remember. It is kept in 64 bits as long as they
/// suffice, which for usual rates is the whole run.
#[derive(Clone, Debug)]
struct Tokens {
    /// `full`, while it fits.
    narrow: u64,
    is_narrow: bool,
    /// `full`, from when it does not fit any more.
    wide: u128,
    capacity: u128,
    unit: u64,
    rate: u64,
    cell: u32,
    /// How many parts before the bucket is full there is a whole token.
    one_before_full: u64,
}

impl Tokens {
    fn new(config: &OccamyConfig, switch: &ValidConfig) -> Self {
        let rate = switch.rates.iter().map(|rate| rate.bps()).sum::<u64>();
        // Validated: a cell is at most 2^21 bytes, so that this fits 64 bits.
        let unit = 8 * PS_PER_SECOND * config.token_cell.get();
        let common = greatest_common_divisor(unit, rate);
        let (unit, rate) = (unit / common, rate / common);
        let capacity = u128::from(config.bucket) * u128::from(unit);
        let one_before_full = u64::try_from(capacity.saturating_sub(u128::from(unit)));
        Self {
            narrow: 0,
            is_narrow: one_before_full.is_ok() && unit >> 32 == 0,
            wide: 0,
            capacity,
            unit,
            rate,
            cell: u32::try_from(config.token_cell.get()).expect("validated"),
            one_before_full: one_before_full.unwrap_or(0),
        }
    }

    /// Tokens that a packet takes.
    #[inline(always)]
    #[allow(
        clippy::manual_div_ceil,
        reason = "without the remainder it is shorter, and neither is near the end of its type"
    )]
    fn for_packet(&self, bytes: u32) -> u64 {
        u64::from((bytes + (self.cell - 1)) / self.cell)
    }

    fn parts(&self, now: Instant) -> u128 {
        u128::from(now.ps()) * u128::from(self.rate)
    }

    fn full(&self) -> u128 {
        if self.is_narrow { u128::from(self.narrow) } else { self.wide }
    }

    /// Takes tokens, whether they are there or not.
    #[inline(always)]
    fn take(&mut self, now: Instant, tokens: u64) {
        if self.is_narrow {
            if let Some(parts) = now.ps().checked_mul(self.rate) {
                // A packet takes less than 2^31 tokens, of less than 2^32 parts each.
                if let Some(full) = self.narrow.max(parts).checked_add(tokens * self.unit) {
                    self.narrow = full;
                    return;
                }
            }
        }
        self.take_wide(now, tokens);
    }

    #[cold]
    #[inline(never)]
    fn take_wide(&mut self, now: Instant, tokens: u64) {
        self.wide = self.full().max(self.parts(now)) + u128::from(tokens) * u128::from(self.unit);
        self.is_narrow = false;
    }

    /// The first instant, not before `now`, at which a whole token is there.
    #[inline(always)]
    fn when_one(&self, now: Instant) -> Instant {
        if self.is_narrow {
            let one = self.narrow.saturating_sub(self.one_before_full);
            now.max(Instant::from_ps(if self.rate == 1 { one } else { one.div_ceil(self.rate) }))
        } else {
            self.when(now, 1)
        }
    }

    /// The first instant, not before `now`, at which so many tokens are there.
    fn when(&self, now: Instant, tokens: u64) -> Instant {
        let needed = u128::from(tokens) * u128::from(self.unit);
        if needed > self.capacity {
            return Instant::NEVER;
        }
        // From here on: level = capacity + t*rate - full >= needed.
        let missing = self.full().saturating_sub(self.parts(now) + (self.capacity - needed));
        let wait = u64::try_from(missing.div_ceil(u128::from(self.rate))).unwrap_or(u64::MAX);
        Instant::from_ps(now.ps().saturating_add(wait))
    }

    /// The level that an earlier bucket had at `now`, as far as this one holds it; in whole tokens if they are of
    /// another size.
    fn inherit(&mut self, earlier: &Self, now: Instant) {
        let signed = |parts: u128| i128::try_from(parts).unwrap_or(i128::MAX);
        let mut level = signed(earlier.capacity) - signed(earlier.full().saturating_sub(earlier.parts(now)));
        if (earlier.unit, earlier.rate) != (self.unit, self.rate) {
            level = level.div_euclid(i128::from(earlier.unit)).saturating_mul(i128::from(self.unit));
        }
        let missing = (signed(self.capacity) - level).max(0).unsigned_abs();
        let full = self.parts(now) + missing;
        match u64::try_from(full) {
            Ok(narrow) if self.is_narrow => self.narrow = narrow,
            _ => (self.is_narrow, self.wide) = (false, full),
        }
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
    /// The first over-allocated queue whose index is at least `from`.
    fn first_from(&self, from: usize, remaining: f64) -> Option<usize> {
        let position = self.queues.partition_point(|queue| *queue < from);
        let over = |length| real(length) > self.alpha * remaining;
        self.lengths.first_from(position, over).map(|at| self.queues[at])
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Occamy {
    tokens: Tokens,
    /// Where the round robin goes on.
    pointer: usize,
    /// No queue is longer than this.
    longest: u64,
    /// The smallest alpha: while `longest <= least_alpha * (B - Q)` no queue is over-allocated.
    least_alpha: f64,
    /// Queues whose lengths the tiers do not know yet. While there are no tokens, nobody asks.
    stale: Vec<usize>,
    is_stale: Vec<bool>,
    tiers: Vec<Tier>,
    /// Per queue index: its tier, and its place in it.
    place: Vec<(u32, u32)>,
}

impl Occamy {
    pub(super) fn new(config: &OccamyConfig, switch: &ValidConfig) -> Self {
        let mut tiers: Vec<(f64, Vec<usize>)> = Vec::new();
        let queues = switch.total_queues();
        let mut place = vec![(0, 0); queues];
        for (queue, alpha) in config.alpha.spread(switch).into_iter().enumerate() {
            let tier = tiers.iter().position(|(known, _)| *known == alpha).unwrap_or_else(|| {
                tiers.push((alpha, Vec::new()));
                tiers.len() - 1
            });
            place[queue] = (tier as u32, tiers[tier].1.len() as u32);
            tiers[tier].1.push(queue);
        }
        Self {
            tokens: Tokens::new(config, switch),
            pointer: 0,
            longest: 0,
            // Without a bucket no queue is ever to be looked at.
            least_alpha: match config.bucket {
                0 => f64::INFINITY,
                _ => tiers.iter().map(|(alpha, _)| *alpha).fold(f64::INFINITY, f64::min),
            },
            stale: Vec::with_capacity(queues),
            is_stale: vec![false; queues],
            tiers: tiers
                .into_iter()
                .map(|(alpha, queues)| Tier { alpha, lengths: MaxTree::new(queues.len()), queues })
                .collect(),
            place,
        }
    }

    /// A queue has changed: the tiers will be told when somebody asks.
    #[inline(always)]
    fn changed(&mut self, queue: usize) {
        if self.stale.len() == self.place.len() {
            return;
        }
        let stale = &mut self.is_stale[queue];
        if !*stale {
            *stale = true;
            self.stale.push(queue);
        }
    }

    /// Brings the tiers up to date.
    fn refresh(&mut self, buffer: &Buffer) {
        for queue in self.stale.drain(..) {
            self.is_stale[queue] = false;
            let (tier, at) = self.place[queue];
            self.tiers[tier as usize].lengths.set(at as usize, buffer.length(queue));
        }
        self.longest = self.tiers.iter().map(|tier| tier.lengths.max()).max().unwrap_or(0);
    }
}

impl BufferPolicy for Occamy {
    const OBSERVES: bool = true;
    const EXPELS: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        DynamicThresholds.admit(arrival, buffer, why)
    }

    #[inline(always)]
    fn enqueued(&mut self, queue: QueueId, _: u64, after: u64) {
        if after > self.longest {
            self.longest = after;
        }
        self.changed(queue.index);
    }

    #[inline(always)]
    fn dequeued(&mut self, queue: QueueId, _: u64, _: u64, _: u32) {
        self.changed(queue.index);
    }

    #[inline(always)]
    fn passed(&mut self, _: QueueId, _: u32) {}

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        DynamicThresholds.threshold_of(queue, buffer)
    }

    #[inline(always)]
    fn sent(&mut self, now: Instant, bytes: u32) {
        self.tokens.take(now, self.tokens.for_packet(bytes));
    }

    #[inline(always)]
    fn not_before(&self, now: Instant, buffer: &Buffer, likely: bool) -> Instant {
        // A packet takes at least one token.
        if likely || real(self.longest) > self.least_alpha * real(buffer.remaining()) {
            self.tokens.when_one(now)
        } else {
            Instant::NEVER
        }
    }

    fn candidate(&mut self, buffer: &Buffer) -> Option<Candidate> {
        self.refresh(buffer);
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

    fn inherit(&mut self, earlier: &dyn Any, now: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.pointer = earlier.pointer;
            self.tokens.inherit(&earlier.tokens, now);
        }
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
        // 21 Gb/s: a token takes 38,095.2... ps. 20 Gb/s: 40,000 ps.
        for (rates, two_more, all) in [([7, 7, 7], 114_286, 609_524), ([4, 6, 10], 120_000, 640_000)] {
            let rates = rates.map(Rate::from_gbps).to_vec();
            let switch = TmConfig::new(rates, Bytes::new(10_000)).validate().unwrap();
            let mut tokens = Tokens::new(&config, &switch);
            tokens.take(Instant::ZERO, tokens.for_packet(1_601));
            // 17 tokens were taken of 16: two more need three to come in, one more needs two.
            let two = tokens.for_packet(150);
            let at = |ps| Instant::from_ps(ps);
            assert_eq!(tokens.when(Instant::ZERO, two), at(two_more));
            assert_eq!(tokens.when(at(two_more - 1), two), at(two_more));
            assert_eq!(tokens.when(at(two_more + 1), two), at(two_more + 1));
            assert_eq!(tokens.when_one(Instant::ZERO), tokens.when(Instant::ZERO, 1));
            // Never more than the bucket, and what does not fit the bucket never comes.
            let late = at(u64::MAX / 2);
            assert_eq!(tokens.when(late, 16), late);
            assert_eq!(tokens.when(late, 17), Instant::NEVER);
            tokens.take(late, 16);
            assert_eq!(tokens.when(late, 16).since(late).ps(), all);
            assert_eq!(tokens.when_one(late), tokens.when(late, 1));
        }
    }
}
