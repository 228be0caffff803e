//! The naive reference by hand, at random and beside the core, in one binary.

mod against_core;
mod by_hand;
mod ingress;
mod random;
mod vectors;
