//! One binary for all integration tests of the crate.

mod key;
mod papers;
