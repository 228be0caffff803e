//! The evaluations of five papers, made again.
//!
//! A [`Paper`] has [`Figure`]s. A figure is a scenario file (`scenarios/<paper>/<figure>.toml`), what is measured of
//! its runs, the [`Panel`]s that plot it with the paper's axes, and the statements of the paper about it
//! (`scenarios/<paper>/claims/<figure>.toml`). A run of a figure at a [`Scale`] gives a [`Table`] of numbers; panels
//! and claims are functions of that table alone, so that verdicts are computed and can be computed again from stored
//! numbers.
//!
//! * [`job`] makes jobs of a figure's file and runs them;
//! * [`campaign`] plans and runs the figures that are asked for;
//! * [`store`] keeps the numbers of jobs that are finished, under a key of everything they depend on;
//! * [`statement`] reads the papers' statements, [`verdict`] has the rules, [`claim`] puts both beside what was
//!   [`measured`];
//! * [`sequential`] says with which seeds to go on;
//! * [`render`] makes the pages.

#![forbid(unsafe_code)]

pub mod campaign;
pub mod claim;
pub mod counts;
pub mod figure;
pub mod found;
pub mod job;
pub mod measured;
pub mod metrics;
pub mod panel;
pub mod papers;
pub mod record;
pub mod render;
pub mod sequential;
pub mod stat;
pub mod statement;
pub mod store;
pub mod table;
pub mod unit;
pub mod verdict;

pub use claim::Claim;
pub use figure::{Figure, Paper, Point, Run, Scale, Work};
pub use found::Found;
pub use measured::Measured;
pub use metrics::Metrics;
pub use panel::Panel;
pub use stat::Stat;
pub use table::Table;
pub use unit::Unit;
pub use verdict::Verdict;
