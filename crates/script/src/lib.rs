//! Scripts: a few TCP flows, and what a switch does to which of their packets.
//!
//! A script ([`file::Script`]) is a TOML file. The [`director`] says what becomes of each packet that a switch sees:
//! both the live switch and the simulated one ask it. What was seen is a [`trace`], a list of events, and [`compare`]
//! says where two traces of the same script part.

#![forbid(unsafe_code)]

pub mod compare;
pub mod director;
pub mod file;
pub mod play;
pub mod select;
pub mod trace;
