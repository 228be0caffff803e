//! A port in memory: for tests, and for frames that come from a file.

use crate::pool::{Pool, Slot};
use crate::port::{Outside, Port, Received};
use std::collections::VecDeque;
use std::io;

/// What comes in is what was put there; what is sent can be looked at.
#[derive(Debug, Default)]
pub struct Memory {
    /// To come in.
    pub incoming: VecDeque<Vec<u8>>,
    /// Sent.
    pub sent: Vec<Vec<u8>>,
    outside: Outside,
}

impl Port for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        for _ in 0..most {
            let Some(frame) = self.incoming.pop_front() else { break };
            if frame.len() > pool.buffer_size() {
                self.outside.too_long += 1;
            } else if let Some(mut slot) = pool.take() {
                pool.bytes_mut(&mut slot, frame.len()).copy_from_slice(&frame);
                frames.push(Received { slot, length: frame.len() });
            } else {
                self.outside.receive_overruns += 1;
            }
        }
        Ok(())
    }

    fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        self.sent.push(pool.bytes(&slot, length).to_vec());
        pool.give(slot);
    }

    fn flush(&mut self, _: &mut Pool) -> io::Result<()> {
        Ok(())
    }

    fn outside(&self) -> Outside {
        self.outside
    }

    fn close(&mut self, _: &mut Pool) {}
}
