//! Random comparisons of the core with itself and with the naive reference, in one binary.

mod fifo;
mod offer;
mod operations;
mod regressions;
