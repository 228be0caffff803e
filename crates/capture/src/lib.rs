//! Frames in files, pcap and pcapng, read and written; and the checksum of their headers.
//!
//! Times are in picoseconds. The simulator writes them as they are, the live switch, whose times count from 1970, in
//! nanoseconds: 64 bits of a file do not hold its picoseconds.

pub mod checksum;
mod read;
mod write;

pub use read::{BadCapture, Captured, Frames};
pub use write::{Clock, Writer};

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const ETHERNET: u16 = 1;
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// The option of an interface that has the resolution of its times.
const RESOLUTION: u16 = 9;
const PS_PER_SECOND: u128 = 1_000_000_000_000;
