//! A port whose interface may go away and come back. What is sent to it in the meantime is lost, and counted.

use crate::pool::{Pool, Slot};
use crate::port::{Outside, Port, Received};
use forebay_tm::Count;
use std::io;

/// A port, or its empty place.
#[derive(Debug)]
pub struct Attached<P> {
    name: String,
    port: Option<P>,
    /// What was lost at earlier ports in this place, and while there was none.
    earlier: Outside,
    /// What was lost at a port that is being closed elsewhere, as far as it is known.
    leaving: Outside,
    received: Count,
}

impl<P: Port> Attached<P> {
    /// A place, with its port if it is there already.
    pub fn new(name: String, port: Option<P>) -> Self {
        Self { name, port, earlier: Outside::default(), leaving: Outside::default(), received: Count::default() }
    }

    /// Whether there is a port.
    pub fn is_up(&self) -> bool {
        self.port.is_some()
    }

    /// The port, if it is there.
    pub fn port(&self) -> Option<&P> {
        self.port.as_ref()
    }

    /// What came in here.
    pub fn received(&self) -> Count {
        self.received
    }

    /// Takes the port out, to be closed elsewhere; the place is empty.
    pub fn detach(&mut self, pool: &mut Pool) -> Option<P> {
        let mut port = self.port.take()?;
        port.abandon(pool);
        self.leaving = port.outside();
        Some(port)
    }

    /// The port that was taken out is closed, and this was lost there in all.
    pub fn settle(&mut self, outside: Outside) {
        self.leaving = Outside::default();
        self.earlier += outside;
    }

    /// The interface is back.
    pub fn attach(&mut self, port: P) {
        self.port = Some(port);
    }
}

impl<P: Port> Port for Attached<P> {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        let Some(port) = &mut self.port else { return Ok(()) };
        let before = frames.len();
        let result = port.receive(pool, frames, most);
        for frame in &frames[before..] {
            self.received.packets += 1;
            self.received.bytes += frame.length as u64;
        }
        result
    }

    fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        match &mut self.port {
            Some(port) => port.send(pool, slot, length),
            None => {
                self.earlier.send_failures += 1;
                pool.give(slot);
            }
        }
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.port.as_mut().map_or(Ok(()), |port| port.flush(pool))
    }

    fn outside(&self) -> Outside {
        let mut all = self.earlier;
        all += self.leaving;
        if let Some(port) = &self.port {
            all += port.outside();
        }
        all
    }

    fn close(&mut self, pool: &mut Pool) {
        if let Some(mut port) = self.port.take() {
            port.close(pool);
            self.earlier += port.outside();
        }
    }
}
