//! Reverie (NSDI 2024): lossy and lossless traffic in one buffer, with thresholds that filtered lengths meet.
//!
//! * There is one shared pool. Lossless traffic is counted by priority group on the ingress side, lossy traffic by
//!   queue on the egress side, and both take from it. Neither is tested on the other side.
//! * A threshold is `alpha` times what is free in the pool, for a queue as for a group. What it meets is not the
//!   length but the length behind a low-pass filter, which follows the length when packets leave and is never above
//!   it. So a burst passes that is shorter than the filter's memory, and a lasting queue is held to the threshold.
//! * A lossy packet is admitted if `filtered + packet <= alpha * free`. A lossless one is taken into the shared
//!   part if `filtered <= alpha * (free - packet)` and its group has no headroom, else into headroom, with which
//!   the group asks for pause. It resumes when it has no headroom and `filtered <= max(xon, alpha * free -
//!   xon_offset)`.
//!
//! The lossless half is `GroupConfig::filter` of the ingress side, with pools, headroom and pause as for other
//! groups. This file is the lossy half: queues that are called lossless have no threshold here. Lossy groups must
//! have no limit on the ingress side, and both kinds one pool: what is free there is told to this policy with every
//! packet. Without an ingress side it is what is free of the buffer.
//!
//! These rules are those of the authors' simulator (ns3-datacenter), which was read for them; the paper's text was
//! not at hand. The filter there is `gamma * filtered + (1 - gamma) * length` in floating point; here `gamma = 1 -
//! 1 / 2^filter`, in fixed point. The simulator also divides alpha by the number of congested queues of the same
//! priority. That is left out: how the paper counts them could not be checked.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alphas};
use crate::described::settings;
use crate::filter::{Filtered, MAX_FILTER};
use crate::ingress::Alpha;
use crate::units::Bytes;
use crate::verdict::{Explain, Reason, Threshold};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

settings! {
    /// Settings of Reverie on the egress side.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ReverieConfig {
        /// The factor of what is free that a queue's filtered length may reach: a multiple of 1/1024.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// When a packet leaves, the filtered length goes 1/2^filter of the way to the length.
        pub filter: usize = 10,
        /// Whether a queue number is lossless: its packets are counted on the ingress side alone.
        pub lossless: PerQueue<bool> = PerQueue::All(false),
    }
}

impl PolicySettings for ReverieConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        self.lossless.check_len("policy.lossless", switch.queues)?;
        let inexact = |alpha: &&f64| Alpha::exactly(**alpha).is_none();
        if let Some(alpha) = self.alpha.values().iter().find(inexact) {
            let error = ConfigError::new("policy.alpha", alpha, "chips have no such factor");
            return Err(error.remedy("give a multiple of 1/1024 up to 1024, such as 0.125"));
        }
        if self.filter > MAX_FILTER as usize {
            let error = ConfigError::new("policy.filter", self.filter, "the filtered length would hardly move");
            return Err(error.remedy(format!("give 0 to {MAX_FILTER}")));
        }
        Ok(())
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        let member = |index: usize| {
            let number = index % switch.queues;
            let alpha = Alpha::exactly(self.alpha.at(number)).unwrap_or(Alpha::power_of_two(0));
            Member { alpha: (alpha.num, alpha.den), is_lossless: self.lossless.at(number) }
        };
        let members: Vec<Member> = (0..switch.total_queues()).map(member).collect();
        let filtered = vec![Filtered::default(); members.len()];
        Reverie { members, filtered, filter: self.filter as u32, free: None }.into()
    }
}

#[derive(Clone, Copy, Debug)]
struct Member {
    alpha: (u64, u64),
    is_lossless: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Reverie {
    /// Per queue index.
    members: Vec<Member>,
    filtered: Vec<Filtered>,
    filter: u32,
    /// What was free in the pool when the last packet came, where there is an ingress side.
    pub(crate) free: Option<u64>,
}

impl Reverie {
    fn free(&self, buffer: &Buffer) -> u64 {
        self.free.unwrap_or_else(|| buffer.remaining())
    }

    fn threshold(&self, queue: usize, free: u64) -> Option<Threshold> {
        let member = &self.members[queue];
        let alpha = real(member.alpha.0) / real(member.alpha.1);
        let remaining = Some(Bytes::new(free));
        let threshold = Threshold {
            value: alpha * real(free),
            alpha: Some(alpha),
            remaining,
            filtered: Some(self.filtered[queue].as_f64()),
            ..Threshold::default()
        };
        (!member.is_lossless).then_some(threshold)
    }
}

impl BufferPolicy for Reverie {
    const OBSERVES: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let index = arrival.queue.index;
        let (member, free) = (self.members[index], self.free(buffer));
        why.note(|e| e.threshold = self.threshold(index, free));
        if arrival.charge > buffer.remaining() {
            return Admission::Reject(Reason::Full);
        }
        if member.is_lossless {
            return Admission::Admit;
        }
        if arrival.charge > free {
            return Admission::Reject(Reason::Full);
        }
        match self.filtered[index].is_within(arrival.charge, member.alpha, free) {
            true => Admission::Admit,
            false => Admission::Reject(Reason::Threshold),
        }
    }

    fn dequeued(&mut self, queue: QueueId, _: u64, after: u64, _: u32) {
        self.filtered[queue.index].follow(after, self.filter);
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        self.threshold(queue.index, self.free(buffer))
    }

    fn inherit(&mut self, earlier: &dyn Any, _: crate::units::Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.filtered.clone_from(&earlier.filtered);
            self.free = earlier.free;
        }
    }
}
