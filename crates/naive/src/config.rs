//! The configuration of a switch (sections 2 and 10 of the specification), with every default filled in.

/// A switch: its ports, its shared buffer, and what decides over them.
///
/// The functions of this crate expect a configuration that is valid under section 10.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// The rate of each port in bit/s.
    pub rates: Vec<u64>,
    /// `K`, the number of queues per port.
    pub queues: usize,
    /// `B`, the shared buffer in bytes.
    pub buffer: u64,
    /// `c`, the cell size in bytes.
    pub cell: u64,
    /// The most packets that may wait in one queue (section 3, step 2).
    pub queue_capacity: Option<usize>,
    /// The buffer policy (section 6).
    pub policy: Policy,
    /// The scheduler of every port (sections 7 and 8).
    pub scheduler: Scheduler,
    /// The threshold of step marking in bytes (section 7).
    pub ecn: Option<u64>,
    /// WRED whose thresholds are sharp: nothing below, everything from there on.
    pub wred: Option<Wred>,
    /// Trimming (section 9), if it is on.
    pub trim: Option<Trim>,
}

/// What WRED does to green, yellow and red packets, per queue number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wred {
    /// The length of the queue from which on packets are hit.
    pub from: Vec<[u64; 3]>,
    /// Whether those that are ECN-capable are marked.
    pub marks: Vec<[bool; 3]>,
    /// Whether those that are not marked are dropped.
    pub drops: Vec<[bool; 3]>,
}

/// A buffer policy (section 6). `alpha` has one entry per queue number, except in the single-queue form of `Fb`.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Complete sharing.
    Cs,
    /// Complete partitioning.
    Cp,
    /// Dynamic thresholds.
    Dt {
        /// `alpha_k` per queue number.
        alpha: Vec<f64>,
        /// The part of the buffer, in [0,1), that the queues own; 0 for none.
        reserved: f64,
    },
    /// Flexible buffer.
    Fb {
        /// `alpha_k` per queue number, or per class if `packet_classes`.
        alpha: Vec<f64>,
        /// The priority groups; without them every queue number is on its own.
        groups: Option<Vec<Vec<usize>>>,
        /// The single-queue form: the class is the packet's.
        packet_classes: bool,
    },
    /// FB on top of DT.
    Fba {
        /// `alpha_k` per queue number.
        alpha: Vec<f64>,
        /// The priority groups; without them every queue number is on its own.
        groups: Option<Vec<Vec<usize>>>,
        /// The time between updates in ps.
        interval: u64,
    },
    /// Active buffer management.
    Abm {
        /// `alpha_k` per queue number.
        alpha: Vec<f64>,
        /// What unscheduled packets meet in place of `alpha_k`.
        alpha_unscheduled: Option<f64>,
        /// The time between updates in ps.
        interval: u64,
        /// The length, in bytes, at which a queue counts in full, in place of the paper's rule.
        congested_at: Option<u64>,
    },
    /// Flow-aware buffer.
    Fab {
        /// `alpha_k` per queue number.
        alpha: Vec<f64>,
        /// What a short flow meets in place of `alpha_k`.
        alpha_short: f64,
        /// A flow is short while its count is below this many bytes.
        threshold: u64,
        /// A flow that was silent for longer than this, in ps, starts at 0 again.
        window: u64,
    },
    /// Pools of queues, in partitions.
    Pools {
        /// What each pool has to share in each partition.
        pools: Vec<u64>,
        /// The pool of each queue number.
        pool: Vec<usize>,
        /// What each queue number has for itself.
        minimum: Vec<u64>,
        /// `alpha_k` per queue number, a multiple of 1/1024.
        alpha: Vec<f64>,
        /// The most that a queue may take of its pool, per queue number.
        limit: Vec<u64>,
        /// The most that the queues of a port may take of a pool together.
        port_limit: Option<u64>,
        /// Whether the limit alone counts, per queue number.
        fixed: Vec<bool>,
        /// Parts of the memory.
        partitions: usize,
    },
    /// Reverie's lossy half.
    Reverie {
        /// `alpha_k` per queue number, a multiple of 1/1024.
        alpha: Vec<f64>,
        /// The filtered length goes `1 / 2^filter` of the way.
        filter: u32,
        /// Queue numbers that have no threshold.
        lossless: Vec<bool>,
    },
    /// Push out the tail of the longest queue.
    Pushout,
    /// DT with expulsion from the head of over-allocated queues.
    Occamy {
        /// `alpha_k` per queue number.
        alpha: Vec<f64>,
        /// The size of a token's cell in bytes.
        token_cell: u64,
        /// The capacity of the token bucket in cells.
        bucket: u64,
    },
}

/// A scheduler (sections 7 and 8). `weights` has one entry per queue number.
#[derive(Clone, Debug, PartialEq)]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Round robin.
    Rr,
    /// Weighted round robin.
    Wrr {
        /// `w_k`: packets per visit.
        weights: Vec<u64>,
    },
    /// Deficit round robin.
    Drr {
        /// `w_k`: quanta per visit.
        weights: Vec<u64>,
        /// The quantum in bytes.
        quantum: u64,
    },
    /// Strict priority, lowest queue number first.
    Strict,
    /// Push-in first-out.
    Pifo {
        /// `C`: packets that may wait.
        capacity: usize,
    },
    /// Strict-priority FIFOs that approximate PIFO.
    SpPifo {
        /// `n`: the number of FIFOs.
        queues: usize,
        /// `C_q`: packets that may wait in each FIFO.
        capacity: usize,
    },
    /// Admission by rank into one FIFO.
    Aifo {
        /// `C`: the target size in packets.
        capacity: usize,
        /// `k`: the headroom, in [0,1).
        headroom: f64,
        /// `n`: the number of ranks in the window.
        window: usize,
        /// `s`: one rank of `s` enters the window.
        sample: u64,
    },
}

/// Trimming (section 9).
#[derive(Clone, Debug, PartialEq)]
pub struct Trim {
    /// What a packet is cut to, in bytes.
    pub size: u64,
    /// The headers that may wait at a port.
    pub header_capacity: usize,
    /// The headers served before one data packet is, when both wait.
    pub header_ratio: u64,
    /// Headers are always served first (`header_ratio` then has no effect).
    pub strict: bool,
    /// A packet whose header finds no room is returned, not dropped.
    pub return_to_sender: bool,
}

impl Switch {
    /// What a packet of `bytes` bytes is charged: `ceil(L/c)*c` (section 2).
    pub(crate) fn charge(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.cell) * self.cell
    }

    /// `P*K`.
    pub(crate) fn queue_count(&self) -> usize {
        self.rates.len() * self.queues
    }
}

/// The serialization time in ps of `bytes` bytes at `rate` bit/s (section 1).
pub(crate) fn serialization_time(bytes: u64, rate: u64) -> u64 {
    let bits = 8_000_000_000_000 * u128::from(bytes);
    u64::try_from(bits.div_ceil(u128::from(rate))).expect("times fit into 64 bits")
}
