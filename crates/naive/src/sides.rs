//! The ingress side beside the egress side: which packet has which cells, and what groups ask for.

use crate::ingress::{NaiveIngress, NaiveRefusal};

/// What a group asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, in ps.
    pub time: u64,
    /// The group's number among all groups.
    pub group: usize,
    /// Pause, or else resume.
    pub pause: bool,
}

/// The ingress side of a switch at work.
pub(crate) struct Sides {
    pub(crate) ingress: NaiveIngress,
    /// The group of each packet.
    groups: Vec<usize>,
    /// The bytes for which each packet has cells now.
    held: Vec<u64>,
    /// Packets that are gone and still have their cells.
    pub(crate) gone: Vec<usize>,
    requests: Vec<Request>,
}

impl Sides {
    pub(crate) fn new(ingress: NaiveIngress, groups: Vec<usize>) -> Self {
        Sides { ingress, held: vec![0; groups.len()], groups, gone: Vec::new(), requests: Vec::new() }
    }

    /// What is free of the pool of packet `n`, in bytes.
    pub(crate) fn free_for(&self, n: usize) -> u64 {
        self.ingress.free(self.groups[n]) * self.ingress.cell
    }

    /// Packet `n` arrives: whether its group asks for pause, or why it is refused.
    pub(crate) fn admit(&mut self, n: usize, bytes: u64) -> Result<bool, NaiveRefusal> {
        let (_, pause) = self.ingress.admit(self.groups[n], bytes)?;
        self.held[n] = bytes;
        Ok(pause)
    }

    /// The egress side has dropped packet `n`.
    pub(crate) fn restore(&mut self, n: usize, before: NaiveIngress) {
        self.ingress = before;
        self.held[n] = 0;
    }

    /// The egress side has kept `left` bytes of packet `n`.
    pub(crate) fn keep(&mut self, n: usize, pause: bool, left: u64, now: u64) {
        let group = self.groups[n];
        if pause {
            self.requests.push(Request { time: now, group, pause: true });
        }
        let cells = |bytes: u64| bytes.div_ceil(self.ingress.cell);
        let back = cells(self.held[n]) - cells(left);
        self.held[n] = left;
        if back > 0 {
            self.release(group, back, now);
        }
    }

    fn release(&mut self, group: usize, cells: u64, now: u64) {
        if self.ingress.release_cells(group, cells) {
            self.requests.push(Request { time: now, group, pause: false });
        }
    }

    /// Packets that are gone give their cells back.
    pub(crate) fn give_back(&mut self, now: u64) {
        for n in std::mem::take(&mut self.gone) {
            let cells = self.held[n].div_ceil(self.ingress.cell);
            self.held[n] = 0;
            if cells > 0 {
                self.release(self.groups[n], cells, now);
            }
        }
    }

    pub(crate) fn into_requests(self) -> Vec<Request> {
        assert!(self.ingress.cells.is_empty(), "all cells have come back in the end");
        self.requests
    }
}
