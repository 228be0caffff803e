//! The traffic manager's specification written as plainly as possible.
//!
//! This crate is a reference to compare the fast core with, in tests and under a fuzzer. It is written to be checked
//! against the specification by reading: every byte count, every number of queues and every longest queue is found
//! again by scanning whenever a rule asks for it, and the only state that is kept is what the specification itself
//! calls state. It is slow.
//!
//! - [`run`] gives every arrival its [`Outcome`].
//! - [`to_toml`], [`to_csv`] and [`verdicts_csv`] write the text forms of the specification's section 10.
//! - [`random_case`] throws a configuration and a list of arrivals with [`Dice`].

#![forbid(unsafe_code)]

mod config;
mod expel;
mod generate;
pub mod ingress;
mod packet;
mod policy;
mod rank;
mod scheduler;
mod sides;
mod switch;
mod text;
mod trim;

pub use config::{Policy, Scheduler, Switch, Trim, Wred};
pub use generate::{Dice, random_case};
pub use packet::{Arrival, Outcome, Reason, Verdict};
pub use sides::Request;
pub use switch::{run, run_observed, run_sides};
pub use text::{to_csv, to_toml, verdicts_csv};
