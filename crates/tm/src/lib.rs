//! The traffic manager of a datacenter switch: who gets the shared buffer, what is dropped, marked, trimmed or
//! expelled, and what leaves next.
//!
//! ```text
//!          Tm::offer                                                        Tm::dequeue
//! packet ─> select queue ─> queue limits ─> buffer policy ─> mark ─> queue ─> scheduler ─> wire
//!                                │            │      │         │       │
//!                                └──> reject <┘   push out    drop   expel (Occamy: with spare memory bandwidth)
//!                                       │            └───────┬─────────┘
//!                                       │           Tm::drain_evictions
//!                                       └─> drop, trim (the header is queued), or return to the sender (NDP)
//! ```
//!
//! 1. **Select queue**: the queue that the packet names. One policy, the intelligent buffer, may choose another queue
//!    of the same port.
//! 2. **Queue limits**: a capacity in packets, the admission test of a scheduler that compares ranks (AIFO, RIFO), and
//!    a watermark. The rank function computes the rank of the packet before that test.
//! 3. **Buffer policy**: it admits the packet, rejects it, or pushes out a queued packet to make room.
//! 4. **Mark**: a marking rule sets the ECN mark on arrival, or drops the packet instead (RED, WRED). Such a drop is
//!    not a rejection: the packet is never trimmed. Packets that were pushed out for it stay lost.
//! 5. **Queue**: the traffic manager stores a descriptor: id, length and rank. The caller keeps the packet, and finds
//!    it again by its [`PacketId`]. Ids need not be unique; the traffic manager never compares them, but for
//!    [`Tm::keep_header`].
//! 6. **Scheduler**: it picks the next packet of a port whose wire is idle.
//!
//! A packet for an idle port goes through the same steps, and can be rejected, too. The caller knows when the wire of a
//! port is idle: it says so in [`Tm::offer`], and calls [`Tm::dequeue`] when a transmission ends.
//!
//! * [`Tm`] is the egress side: ports with queues over one shared buffer. It is all that a switch without PFC needs.
//!   [`Mmu`] puts an ingress side in front of it: priority groups, headroom and pause. It has the methods of `Tm`, and
//!   calls those of the `Tm` inside. [`FifoTm`] replaces `Tm` in the simplest case: one drop-tail FIFO per port.
//! * [`admit`] has the buffer policies (DT, FB, ABM, Occamy, ...), [`schedule`] the schedulers, [`rank`] the rank
//!   functions, [`mark`] the marking rules (ECN, RED, WRED), [`trim`] the trimming schemes. Each scheme is one file.
//! * [`config`] has the settings of a switch; [`verdict`] the results of `offer` and `dequeue`; [`counters`] what is
//!   counted; [`View`] what can be read of a switch: occupancy, thresholds, counters and watermarks.
//! * [`drive`] runs a `Tm` or an `Mmu` over a list of arrivals, and keeps track of its wires.
//! * [`custom`] takes schemes of other crates. [`described`] describes each setting once, for readers, writers and
//!   documentation.
//!
//! # How packets are rejected and lost
//!
//! * **Reject**: an arriving packet is not admitted. It is **dropped**, **trimmed** (its header is queued) or
//!   **returned** to its sender (the caller sends it back). [`TmConfig::trim`] says which; without it, it is dropped.
//! * **Evict**: a queued packet is removed. It counts as dropped. The packet was **pushed out** by one that arrived
//!   (Pushout, PIFO), or **expelled** from a queue above its threshold (Occamy).
//!
//! Every drop has a [`Reason`].
//!
//! # Time
//!
//! The traffic manager does no I/O, has no global state and reads no clock. The caller passes the time, `now`, which
//! must not decrease; debug builds check that. Decisions are return values. No call allocates memory once the largest
//! number of queued packets has been seen. The same code runs in a simulator, in a live switch and in tests.
//!
//! # Queues
//!
//! Each of the `P` ports has `K` queues, at most 64. A packet names its queue by its **number** within its port, 0 to
//! `K`-1. A setting that differs among queues, such as `alpha_k`, is per number, and the same at all ports. Inside a
//! switch a queue has an **index**, `port * K + number`: methods of [`View`] take the index.
//!
//! # The buffer
//!
//! `B` is the size of the buffer, `Q` the occupancy of the buffer, `q_i` the occupancy of queue `i` and `T_i` its
//! threshold, all in bytes. A packet is **charged** its length, rounded up to whole cells if the switch has cells
//! ([`TmConfig::cell`]). It is charged from its arrival until it is picked for transmission or evicted: the buffer is
//! free when a transmission starts, as the papers have it. Headers that NDP trims are in queues of their own, outside
//! the buffer. Other trimmed headers are charged like packets.
//!
//! Multicast and marking at departure (CoDel, PIE) are not modelled.
//!
//! ```
//! use forebay_tm::admit::{DynamicThresholdsConfig, PolicyConfig};
//! use forebay_tm::{Instant, Outcome, Packet, PacketId, Tm, TmConfig, Verdict, View, Wire};
//!
//! let mut config = TmConfig::new(vec!["10Gbps".parse().unwrap(); 4], "60KB".parse().unwrap());
//! config.policy = PolicyConfig::DynamicThresholds(DynamicThresholdsConfig::default());
//! let mut tm = Tm::new(config.validate().unwrap());
//!
//! let now = Instant::ZERO;
//! let packet = Packet { id: PacketId(7), bytes: 1_500, port: 2, ..Packet::default() };
//! // The first packet leaves at once; the next one waits for it.
//! assert_eq!(tm.offer(now, &packet, Wire::Idle), Outcome::Sent);
//! let second = Packet { id: PacketId(8), ..packet };
//! assert_eq!(tm.offer(now, &second, Wire::Busy), Outcome::Verdict(Verdict::Queued { marked: false }));
//! let busy_for = tm.rate(2).serialization(u64::from(packet.bytes));
//! assert_eq!(busy_for.to_string(), "1.2us");
//! assert_eq!(tm.dequeue(now + busy_for, 2).unwrap().id, PacketId(8));
//! ```

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod admit;
mod buffer;
pub mod config;
pub mod counters;
pub mod custom;
pub mod described;
pub mod drive;
mod fifo;
mod filter;
mod flow_table;
pub mod ingress;
pub mod mark;
pub mod max_tree;
pub mod mmu;
mod observe;
pub mod packet;
mod path;
pub mod random;
pub mod rank;
mod rank_tree;
pub mod schedule;
#[cfg(feature = "serde")]
mod serialized;
mod switch;
pub mod trim;
pub mod units;
pub mod verdict;
mod view;

pub use config::{ConfigError, PerQueue, TmConfig, ValidConfig};
pub use counters::{Count, Counters, MemoryReads};
pub use fifo::FifoTm;
pub use mmu::{Mmu, MmuConfig, PauseRequest};
pub use packet::{Colour, Packet, PacketId};
pub use switch::Tm;
pub use units::{Bytes, Duration, Instant, Rate};
pub use verdict::{
    Departure, Eviction, Explain, Explanation, GroupExplanation, Holder, Outcome, RankTest, Reason, Refusal, Side,
    Threshold, Verdict, Wire,
};
pub use view::View;
