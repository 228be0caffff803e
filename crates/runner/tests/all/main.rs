//! The library as its callers use it.

mod replays;
mod runs;
mod shards;
