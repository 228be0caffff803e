//! Programs for the pipelines of a programmable switch chip: match-action stages before and after the traffic manager.
//!
//! A program is a text. [`Program::parse`] reads it, [`Program::check`] holds it to the rules of a [`Target`] (one
//! access to an array in a pass, arrays bound to stages, ALUs that add but do not multiply, ...) and compiles it into a
//! [`Checked`], which a control plane fills with table entries and meter rates. A [`Pipeline`] has the state of one
//! pipeline and runs packets through it: one [`Pass`] in, one [`Outcome`] out.
//!
//! What stands around a pipeline (the traffic manager, recirculation ports, mirror copies on their way) is the
//! caller's.

#![forbid(unsafe_code)]

mod check;
mod checked;
mod compile;
mod error;
mod initial;
mod load;
mod meter;
mod names;
mod parse;
mod pipeline;
mod program;
pub mod programs;
mod resources;
pub mod syntax;
mod table;
mod target;
mod token;

pub use checked::Checked;
pub use error::{Error, Errors, LoadError};
pub use meter::MeterConfig;
pub use pipeline::{Outcome, Pass, Pipeline};
pub use program::Program;
pub use resources::{Resources, Share, table as resource_table};
pub use target::Target;

/// A packet with its payload.
pub const DATA: u8 = 0;
/// A packet whose payload was cut off.
pub const HEADER: u8 = 1;
/// What a receiver sends back.
pub const ANSWER: u8 = 2;
/// A packet that the traffic manager could not keep and sent on to where it is looked at.
pub const DEFLECTED: u8 = 3;

/// The most header fields of control packets.
pub const HEADERS: usize = 6;
