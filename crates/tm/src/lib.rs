//! The traffic manager of a datacenter switch: who gets the shared buffer, what is dropped, marked, trimmed or
//! expelled, and what leaves next.
//!
//! ```text
//! arrive ─> classify ─> admit ─> enqueue ─> schedule ─> transmit
//!                         │                    ▲
//!                         ├─ mark (ECN)        │
//!                         ├─ trim ─────────────┘ (header queue, or back to the sender)
//!                         └─ drop(reason)      expel ─> drop(reason)   (spare memory bandwidth)
//! ```
//!
//! The core has no clock, does no I/O and has no global state: time comes in with every call, decisions come out as
//! values. The same core runs in a simulator, in a live switch and in tests.
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
//! assert_eq!(tm.next(now + busy_for, 2).unwrap().id, PacketId(8));
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
mod flow_table;
pub mod ingress;
pub mod mark;
pub mod max_tree;
mod observe;
pub mod packet;
mod path;
pub mod random;
pub mod rank;
mod rank_tree;
pub mod schedule;
mod switch;
pub mod trim;
pub mod units;
pub mod verdict;
mod view;

pub use config::{ConfigError, PerQueue, TmConfig, ValidConfig};
pub use counters::{Count, Counters, MemoryReads};
pub use fifo::FifoTm;
pub use packet::{Packet, PacketId};
pub use switch::Tm;
pub use units::{Bytes, Duration, Instant, Rate};
pub use verdict::{
    Departure, Explain, Explanation, Holder, Lost, Outcome, RankTest, Reason, Refusal, Threshold, Verdict, Wire,
};
pub use view::View;
