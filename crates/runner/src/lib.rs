//! Runs, sweeps, checks and replays without a command line: scenarios and arrivals in, results out.
//!
//! * [`scenario_file`] reads a scenario with overrides and plans its traffic; [`check`], [`warnings`] and [`estimate`]
//!   say what is known of it before it runs.
//! * [`run`] runs it, with a callback that sees the progress and can stop it, and writes the directory of its results.
//! * [`sweep`] runs the points of a grid with all their seeds on several threads, and makes one table of them.
//! * [`store`] keeps the results of a sweep under names of what they are made of, so that many machines can work on it,
//!   each on a [`shard`]; [`slurm`] hands these to a cluster.
//! * [`pool`] is the threads that sweeps, the papers' experiments and syntheses run on.
//! * [`destination`] and [`inputs`] say which directories may be written to.
//! * [`replay`] sends arrivals through a switch; [`arrivals`], [`columns`] and [`fate`] are its two ends: what comes
//!   in, from a file or from memory, and what became of each packet.
//!
//! The command line and the Python package are made of these: they parse and print.

#![forbid(unsafe_code)]

pub mod arrivals;
mod capture;
pub mod check;
pub mod columns;
pub mod destination;
mod error;
pub mod estimate;
pub mod fate;
pub mod inputs;
pub mod pool;
pub mod replay;
pub mod run;
pub mod scenario_file;
pub mod shard;
pub mod slurm;
pub mod store;
pub mod sweep;
mod trace;
pub mod warnings;

pub use error::{Error, WayOut, cannot_write};
pub use scenario_file::{Prepared, ScenarioFile};
