//! Programs that are accepted, refused and run, in one binary.

mod accepted;
mod control_packets;
mod language;
mod programs;
mod random;
mod refused;
