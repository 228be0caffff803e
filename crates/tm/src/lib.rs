//! The traffic manager of a datacenter switch: who gets the shared buffer, what is dropped, marked, trimmed or
//! expelled, and what leaves next.
//!
//! ```text
//!          Tm::offer                                                        Tm::dequeue
//! packet ─> select queue ─> queue limits ─> buffer policy ─> mark ─> queue ─> scheduler ─> wire
//!                                │            │      │         │       │
//!                                └──> reject <┘   push out    drop   expel (Occamy: with spare memory bandwidth)
//!                                       │            └──> Tm::evictions <┘
//!                                       └─> drop, trim (the header waits), or return to the sender (NDP)
//! ```
//!
//! Queue limits are a capacity in packets, and the admission test of a scheduler such as AIFO, which compares ranks.
//! The caller knows when a wire is idle: it says so in [`Tm::offer`], and calls [`Tm::dequeue`] when a transmission has
//! ended.
//!
//! * [`Tm`] is the egress side, and all there is in most models: ports with queues over one shared buffer. [`Mmu`] puts
//!   an ingress side in front of it: priority groups, headroom and pause (PFC). [`FifoTm`] is a `Tm` for the simplest
//!   case, one drop-tail FIFO a port.
//! * [`admit`] has the buffer policies (DT, FB, ABM, Occamy, ...), [`schedule`] the schedulers, [`rank`] the rank
//!   functions, [`mark`] the marking rules (ECN, RED, WRED), [`trim`] the trimming schemes. Each scheme is one file.
//! * [`config`] has the settings of a switch; [`verdict`] what comes out; [`counters`] what is counted.
//! * [`drive`] runs a `Tm` or an `Mmu` over a list of arrivals, and keeps track of its wires.
//!
//! # How packets are lost
//!
//! * **Reject**: the packet does not get in. A rejected packet is dropped, trimmed or returned to its sender.
//! * **Drop**: the packet is gone, for a [`Reason`].
//! * **Push out**: a packet that waits makes room for one that arrives (Pushout, PIFO).
//! * **Expel**: a packet that waits is taken from a queue above its threshold (Occamy).
//! * **Evict**: push out or expel. A packet that was evicted has been admitted and counts as dropped.
//!
//! # Time
//!
//! The core does no I/O, has no global state and reads no clock: every call says what time it is, and times never
//! decrease. Decisions come out as values. The same core runs in a simulator, in a live switch and in tests.
//!
//! # Queues
//!
//! Each of the `P` ports has `K` queues. A packet names its queue by its **number** within its port, 0 to `K`-1. Inside
//! a switch a queue has an **index**, `port * K + number`.
//!
//! # The buffer
//!
//! `B` is the size of the buffer, `Q` what all queues hold, `q_i` what queue `i` holds and `T_i` its threshold, all in
//! bytes. A packet is **charged** its length, in whole cells if the switch has cells ([`TmConfig::cell`]). It is
//! charged from its arrival until it is picked for transmission or evicted.
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
