//! Hosts for a live switch: network namespaces with veth cables, and experiments on them with real programs and the
//! kernel's own TCP.

#![forbid(unsafe_code)]

pub mod agent;
pub mod clock;
pub mod congestion;
pub mod error;
pub mod expect;
pub mod experiment;
pub mod fleet;
pub mod job;
pub mod layout;
pub mod measured;
pub mod memcached;
pub mod metrics;
pub mod network;
pub mod notes;
pub mod point;
pub mod program;
pub mod programs;
pub mod script;
pub mod switch_file;
pub mod switch_process;
pub mod translate;

pub use error::{Result, of_file};
