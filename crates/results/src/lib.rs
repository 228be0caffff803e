//! What a run has measured, between a [`RunResult`](forebay_sim::measure::RunResult) and files, tables and comparisons.
//!
//! * [`schema`] says what there is in which table. [`flows`], [`queries`], [`collectives`], [`breakdown`],
//!   [`topology`], [`places`], [`drops`], [`responses`], [`timeline`], [`queue_timeline`], [`progress`] and [`chips`]
//!   turn a result into [`table::Table`]s, which are written as Parquet or CSV.
//! * [`samples`] writes samples as a run takes them.
//! * [`summary`] boils a result down to what fits `summary.json` and a terminal.
//! * [`directory`] writes and reads the directory of a run.
//! * [`fingerprint`] names results by what they are made of.
//! * [`compare`] puts runs side by side; [`sweep`] makes one table of many; [`paired`] tells real differences from
//!   chance.
//!
//! Files appear whole or not at all, and the same result gives the same bytes, except for what the run cost.

#![forbid(unsafe_code)]

pub mod breakdown;
pub mod buckets;
pub mod chips;
pub mod collectives;
pub mod compare;
pub mod directory;
pub mod drops;
pub mod error;
mod file;
pub mod fingerprint;
pub mod flows;
mod links;
pub mod metrics;
pub mod paired;
mod parquet_file;
pub mod pauses;
pub mod places;
pub mod progress;
pub mod queries;
pub mod queue_timeline;
pub mod responses;
pub mod samples;
pub mod schema;
pub mod stats;
pub mod summary;
pub mod sweep;
pub mod sweep_seeds;
pub mod table;
#[cfg(test)]
mod testing;
pub mod text;
pub mod timeline;
pub mod topology;

pub use directory::{RunDirectory, read_run, write_run, write_sampled_run, write_summarized_run};
pub use error::ResultError;
pub use file::write_text;
pub use fingerprint::Fingerprint;
pub use samples::Samples;
pub use summary::{Load, Summary};
pub use table::Table;
