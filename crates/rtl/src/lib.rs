//! The circuits in `rtl/`: Occamy's head drop, and the threshold units of FB and ABM.
//!
//! - [`model`]: what the circuits do, cycle by cycle, written plainly.
//! - [`verilator`]: a circuit and its model in lock step.
//! - [`yosys`]: what a circuit costs.
//! - [`accuracy`]: how far thresholds made of shifts are from the formulas, and how many verdicts that changes.
//! - [`page`]: all of that as `docs/rtl.md` and `docs/rtl.json`.

#![forbid(unsafe_code)]

pub mod accuracy;
pub mod model;
pub mod page;
pub mod sources;
pub mod tools;
pub mod units;
pub mod verilator;
pub mod yosys;
