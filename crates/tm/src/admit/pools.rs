//! Pools of queues, as switch chips have them: each queue number is in a pool, has a minimum of its own, and takes what
//! goes beyond it from the pool's shared part, up to a constant or a factor of what is free there. Each partition of
//! the memory has the pools anew.
//!
//! All limits are tested with the packet in the buffer, as on the ingress side ([`crate::ingress`]): `shared + packet
//! <= alpha * (free - packet)`. Everything is counted in whole bytes with integers. What a queue has of its pool
//! follows from its length alone, so that there is nothing to keep but what is taken of each pool.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, MAX_BUFFER, PerQueue, TmConfig, ValidConfig, check_alphas};
use crate::described::settings;
use crate::ingress::Alpha;
use crate::units::Bytes;
use crate::verdict::{Explain, Reason, Threshold};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of pools.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PoolsConfig {
        /// What each pool has to share, beyond all minimums, in each partition: a list.
        pub pools: PerQueue<Bytes> = PerQueue::All(Bytes::new(1_000_000)) => given "[\"20MB\", \"10MB\"]",
        /// The pool of a queue number, counted from 0.
        pub pool: PerQueue<usize> = PerQueue::All(0),
        /// What a queue has for itself.
        pub minimum: PerQueue<Bytes> = PerQueue::All(Bytes::ZERO),
        /// The factor of what is free in the pool that a queue may take: a multiple of 1/1024.
        pub alpha: PerQueue<f64> = PerQueue::All(1.0) => needed,
        /// The most that a queue may take of the pool.
        pub limit: PerQueue<Bytes> = PerQueue::All(MAX_BUFFER),
        /// The most that all queues of a port may take of a pool together.
        pub port_limit: Option<Bytes> = None,
        /// Whether `limit` alone counts for a queue number, and not alpha.
        pub fixed: PerQueue<bool> = PerQueue::All(false),
        /// Parts of the memory with pools of their own; ports are divided among them in equal blocks.
        pub partitions: usize = 1,
    }
}

impl PolicySettings for PoolsConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        self.pool.check_len("policy.pool", switch.queues)?;
        self.minimum.check_len("policy.minimum", switch.queues)?;
        self.limit.check_len("policy.limit", switch.queues)?;
        self.fixed.check_len("policy.fixed", switch.queues)?;
        check_alphas(&self.alpha, switch.queues)?;
        let inexact = |alpha: &&f64| Alpha::exactly(**alpha).is_none();
        if let Some(alpha) = self.alpha.values().iter().find(inexact) {
            let error = ConfigError::new("policy.alpha", alpha, "chips have no such factor");
            return Err(error.remedy("give a multiple of 1/1024 up to 1024, such as 0.125"));
        }
        let pools = self.pools.values().len();
        if let Some(pool) = self.pool.values().iter().find(|pool| **pool >= pools) {
            let error = ConfigError::new("policy.pool", pool, "there is no such pool");
            return Err(error.remedy(format!("policy.pools has {pools}, counted from 0")));
        }
        let sizes = [("policy.pools", &self.pools), ("policy.minimum", &self.minimum), ("policy.limit", &self.limit)];
        for (field, sizes) in sizes {
            if let Some(size) = sizes.values().iter().find(|size| **size > MAX_BUFFER) {
                return Err(
                    ConfigError::new(field, size, "no memory has that").remedy(format!("give at most {MAX_BUFFER}"))
                );
            }
        }
        if !(1..=switch.rates.len()).contains(&self.partitions) {
            let error = ConfigError::new("policy.partitions", self.partitions, "each partition has a port at least");
            return Err(error.remedy(format!("give 1 to {}", switch.rates.len())));
        }
        Ok(())
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        Pools::new(self, switch).into()
    }
}

/// A queue in its pool.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// Where its pool, in the partition of its port, is counted.
    pool: usize,
    /// Where what its port has of that pool is counted.
    on_port: usize,
    minimum: u64,
    limit: u64,
    /// `own * den <= num * left`; both are 0 where the limit alone counts.
    num: u64,
    den: u64,
}

impl Member {
    /// What a queue of this length has of its pool.
    #[inline(always)]
    fn own(&self, length: u64) -> u64 {
        length.saturating_sub(self.minimum)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// Per queue index.
    members: Vec<Member>,
    /// Per partition and pool: what there is to share, and what is taken of it.
    shared: Vec<u64>,
    taken: Vec<u64>,
    /// Per port and pool: what its queues have taken, and what they may take.
    on_port: Vec<u64>,
    port_limit: u64,
}

impl Pools {
    fn new(config: &PoolsConfig, switch: &ValidConfig) -> Self {
        let (ports, pools) = (switch.rates.len(), config.pools.values());
        let member = |index: usize| {
            let (port, number) = (index / switch.queues, index % switch.queues);
            let alpha = Alpha::exactly(config.alpha.at(number)).unwrap_or(Alpha::power_of_two(0));
            let (num, den) = if config.fixed.at(number) { (0, 0) } else { (alpha.num, alpha.den) };
            Member {
                pool: port * config.partitions / ports * pools.len() + config.pool.at(number),
                on_port: port * pools.len() + config.pool.at(number),
                minimum: config.minimum.at(number).get(),
                limit: config.limit.at(number).get(),
                num,
                den,
            }
        };
        let shared: Vec<u64> = pools.iter().map(|pool| pool.get()).collect();
        let shared = shared.repeat(config.partitions);
        Self {
            members: (0..switch.total_queues()).map(member).collect(),
            taken: vec![0; shared.len()],
            on_port: vec![0; ports * pools.len()],
            port_limit: config.port_limit.map_or(u64::MAX, Bytes::get),
            shared,
        }
    }

    /// Headers of cut packets, and other settings before, may have taken more than there is.
    fn free(&self, pool: usize) -> u64 {
        self.shared[pool].saturating_sub(self.taken[pool])
    }

    /// What a queue that has `own` of its pool may have with so much left there.
    fn threshold(&self, member: &Member, own: u64, left: u64) -> Threshold {
        // What the limit of the port leaves it.
        let of_port = own.saturating_add(self.port_limit.saturating_sub(self.on_port[member.on_port]));
        let limit = real(member.limit.min(of_port));
        let alpha = (member.den > 0).then(|| real(member.num) / real(member.den));
        let dynamic = alpha.map_or(f64::INFINITY, |alpha| alpha * real(left));
        Threshold {
            value: dynamic.min(limit),
            alpha: alpha.filter(|_| dynamic <= limit),
            remaining: Some(Bytes::new(left)),
            reserved: Some(Bytes::new(member.minimum)),
            ..Threshold::default()
        }
    }

    fn changed(&mut self, queue: usize, before: u64, after: u64) {
        let member = &self.members[queue];
        let taken = &mut self.taken[member.pool];
        *taken = *taken + member.own(after) - member.own(before);
        let on_port = &mut self.on_port[member.on_port];
        *on_port = *on_port + member.own(after) - member.own(before);
    }
}

impl BufferPolicy for Pools {
    const OBSERVES: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let member = self.members[arrival.queue.index];
        let length = buffer.length(arrival.queue.index);
        let own = member.own(length + arrival.charge);
        let more = own - member.own(length);
        let free = self.free(member.pool);
        let left = free.saturating_sub(more);
        let seen = if more > free { free } else { left };
        why.note(|e| e.threshold = Some(self.threshold(&member, own - more, seen)));
        if arrival.charge > buffer.remaining() || more > free {
            Admission::Reject(Reason::Full)
        } else if more > 0
            && (own > member.limit
                || own * member.den > left * member.num
                || self.on_port[member.on_port] + more > self.port_limit)
        {
            Admission::Reject(Reason::Threshold)
        } else {
            Admission::Admit
        }
    }

    fn enqueued(&mut self, queue: QueueId, before: u64, after: u64) {
        self.changed(queue.index, before, after);
    }

    fn dequeued(&mut self, queue: QueueId, before: u64, after: u64, _: u32) {
        self.changed(queue.index, before, after);
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        let member = &self.members[queue.index];
        Some(self.threshold(member, member.own(buffer.length(queue.index)), self.free(member.pool)))
    }
}
