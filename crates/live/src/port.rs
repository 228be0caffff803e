//! What a port of the switch is, whatever is behind it.

use crate::pool::{Pool, Slot};
use std::io;

/// A frame that has come in: it is in this frame buffer, which now belongs to whoever receives.
#[derive(Debug, PartialEq, Eq)]
pub struct Received {
    /// The frame buffer.
    pub slot: Slot,
    /// Bytes of the frame.
    pub length: usize,
}

/// Frames that were lost at a port outside the switch's buffer. None of these is the policy's doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Outside {
    /// The kernel had no room for what came in: its ring was full, or had no frame buffer to put it in.
    pub receive_overruns: u64,
    /// Longer than a frame buffer, or cut by the kernel.
    pub too_long: u64,
    /// The kernel did not take what was to be sent.
    pub send_failures: u64,
}

impl Outside {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.receive_overruns + self.too_long + self.send_failures
    }
}

impl std::ops::AddAssign for Outside {
    fn add_assign(&mut self, other: Self) {
        self.receive_overruns += other.receive_overruns;
        self.too_long += other.too_long;
        self.send_failures += other.send_failures;
    }
}

/// A port.
pub trait Port {
    /// What errors and views call it.
    fn name(&self) -> &str;

    /// Takes frames that have come in, at most so many, each in a frame buffer of the pool.
    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()>;

    /// Takes a frame to be sent; its frame buffer goes back to the pool when it is gone.
    fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize);

    /// FrameHandler what was taken to the kernel, and takes back the frame buffers of what is gone.
    fn flush(&mut self, pool: &mut Pool) -> io::Result<()>;

    /// What was lost here so far.
    fn outside(&self) -> Outside;

    /// Gives back the frame buffers that only this port has, not the kernel and no other thread: the port is about to
    /// be closed elsewhere.
    fn abandon(&mut self, _pool: &mut Pool) {}

    /// Gives all frame buffers that the port or the kernel still has back to the pool: the end of the port.
    fn close(&mut self, pool: &mut Pool);
}
