//! What tests and fuzz targets share.
//!
//! - [`agree`] runs a case through the fast core and through the naive reference, and panics where they differ.
//! - [`operate`] makes a switch and calls it in any order, and panics where its accounts or the fates of its packets do
//!   not add up.

#![forbid(unsafe_code)]

mod against_naive;
mod operations;
mod settings;
mod sides;

pub use against_naive::agree;
pub use operations::operate;
pub use settings::random_config;
pub use sides::{core_ingress, random_ingress, random_sides, sides_agree};
