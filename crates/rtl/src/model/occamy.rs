//! `occamy.v`: admission, queues, the output scheduler's fetches and head drop.

use super::executor::Executor;
use super::free_list::FreeList;
use super::selector::{Selector, fits};
use std::collections::VecDeque;

/// How large it is: logarithms of the numbers of queues, cells and descriptors.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// At most 6, so that a bitmap is a word.
    pub queues: u32,
    /// One cell less than a power of two.
    pub cells: u32,
    /// One of them is always with each queue.
    pub descriptors: u32,
}

/// What goes in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Starts again.
    pub reset: bool,
    /// alpha is `2^(alpha_shift - 3)`.
    pub alpha_shift: u32,
    /// A packet: its queue and its cells.
    pub arrival: Option<(usize, u32)>,
    /// The queue that the output scheduler wants a packet of.
    pub fetch: Option<usize>,
}

/// What comes out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// A packet can arrive.
    pub arrival_ready: bool,
    /// The packet is admitted.
    pub admitted: bool,
    /// A packet joins its queue, with all its cells.
    pub links: bool,
    /// The scheduler can have a packet.
    pub fetch_ready: bool,
    /// It gets one.
    pub fetch_starts: bool,
    /// A packet leaves this queue for its port.
    pub departs: Option<usize>,
    /// `B - Q`.
    pub free: u64,
    /// `T`.
    pub threshold: u64,
    /// Over-allocated queues.
    pub over: u64,
    /// The one chosen.
    pub chosen: Option<usize>,
    /// A drop is in cycle 1.
    pub drop_starts: bool,
    /// A drop is given up in cycle 2.
    pub drop_aborts: bool,
    /// A packet of this queue is dropped.
    pub drops: Option<usize>,
    /// The packet that departs or is dropped: its number of cells and the first.
    pub packet: Option<(u32, u32)>,
    /// The cell that is given back.
    pub frees: Option<u32>,
    /// A cell that head drop would give back, but the scheduler has the memory.
    pub drop_waits: bool,
    /// A packet waits for a cell.
    pub arrival_waits: bool,
}

/// A packet that is being taken in.
#[derive(Clone, Debug)]
struct Intake {
    queue: usize,
    wanted: usize,
    cells: VecDeque<u32>,
}

/// The whole circuit.
#[derive(Clone, Debug)]
pub struct Occamy {
    size: Size,
    queues: Vec<VecDeque<VecDeque<u32>>>,
    lengths: Vec<u64>,
    free: u64,
    free_cells: FreeList,
    free_descriptors: FreeList,
    intake: Option<Intake>,
    fetch: Executor,
    executor: Executor,
    selector: Selector,
}

impl Occamy {
    /// Empty.
    pub fn new(size: Size) -> Self {
        let queues = 1usize << size.queues;
        Self {
            size,
            queues: vec![VecDeque::new(); queues],
            lengths: vec![0; queues],
            free: (1 << size.cells) - 1,
            free_cells: FreeList::new(0..(1 << size.cells) - 1),
            free_descriptors: FreeList::new(queues as u32..1 << size.descriptors),
            intake: None,
            fetch: Executor::Idle,
            executor: Executor::Idle,
            selector: Selector::new(size.cells),
        }
    }

    /// Lengths of the queues, in cells.
    pub fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// Nothing is going on, and nothing is over-allocated.
    pub fn is_quiet(&self, alpha_shift: u32) -> bool {
        let threshold = self.selector.threshold(self.free, alpha_shift);
        self.intake.is_none()
            && self.fetch == Executor::Idle
            && self.executor == Executor::Idle
            && self.selector.choose(&self.lengths, threshold).is_none()
    }

    /// A cycle: what comes out in it, and what is different in the next.
    pub fn step(&mut self, inputs: &Inputs) -> Outputs {
        let outputs = self.outputs(inputs);
        if inputs.reset {
            *self = Self::new(self.size);
        } else {
            self.tick(inputs, &outputs);
        }
        outputs
    }

    fn outputs(&self, inputs: &Inputs) -> Outputs {
        let threshold = self.selector.threshold(self.free, inputs.alpha_shift);
        let chosen = self.selector.choose(&self.lengths, threshold);
        let admitted = self.intake.is_none()
            && self.free_descriptors.next().is_some()
            && inputs.arrival.is_some_and(|(queue, cells)| {
                cells > 0 && fits(self.lengths[queue], u64::from(cells), self.free, threshold)
            });
        let last_cell = self.intake.as_ref().is_some_and(|intake| intake.cells.len() + 1 == intake.wanted);
        let has_cell = self.free_cells.next().is_some();
        let departs = self.fetch.advances();
        let fetch_ready = self.fetch == Executor::Idle;
        let fetch_starts = fetch_ready && inputs.fetch.is_some_and(|queue| !self.queues[queue].is_empty());
        // The output scheduler goes first.
        let dropping = self.executor.advances();
        let drops = dropping.filter(|_| !fetch_starts);
        let leaving = departs.or(drops).map(|queue| &self.queues[queue][0]);
        Outputs {
            arrival_ready: self.intake.is_none(),
            admitted,
            links: last_cell && has_cell,
            fetch_ready,
            fetch_starts,
            departs,
            free: self.free,
            threshold,
            over: Selector::over(&self.lengths, threshold),
            chosen,
            drop_starts: chosen.is_some() && self.executor == Executor::Idle && !fetch_starts && departs.is_none(),
            drop_aborts: dropping.is_some() && fetch_starts,
            drops,
            packet: leaving.map(|cells| (cells.len() as u32, cells[0])),
            frees: self.fetch.cell().or(self.executor.cell()),
            drop_waits: self.fetch.cell().is_some() && self.executor.cell().is_some(),
            arrival_waits: self.intake.is_some() && !has_cell,
        }
    }

    fn tick(&mut self, inputs: &Inputs, outputs: &Outputs) {
        let fetch_frees = self.fetch.cell().is_some();
        let drop_frees = self.executor.cell().is_some() && !fetch_frees;
        let packet = outputs.departs.or(outputs.drops).and_then(|queue| self.leave(queue));
        let (fetched, dropped) = if outputs.departs.is_some() { (packet, None) } else { (None, packet) };
        self.fetch.tick(inputs.fetch.filter(|_| outputs.fetch_starts), fetched, fetch_frees);
        self.executor.tick(outputs.chosen.filter(|_| outputs.drop_starts), dropped, drop_frees);
        if let Some(queue) = outputs.drops {
            self.selector.take(queue, self.queues.len());
        }
        let takes_cell = self.intake.is_some() && self.free_cells.next().is_some();
        self.take_in(inputs, outputs, takes_cell);
        self.free_cells.tick(takes_cell, outputs.frees);
        let gives = outputs.departs.or(outputs.drops).map(|_| 0);
        self.free_descriptors.tick(outputs.links, gives);
    }

    /// The packet at the head of a queue leaves it.
    fn leave(&mut self, queue: usize) -> Option<VecDeque<u32>> {
        let cells = self.queues[queue].pop_front()?;
        self.lengths[queue] -= cells.len() as u64;
        self.free += cells.len() as u64;
        Some(cells)
    }

    /// A packet begins to be taken in, or gets its next cell, and joins its queue with the last.
    fn take_in(&mut self, inputs: &Inputs, outputs: &Outputs, takes_cell: bool) {
        if let (true, Some((queue, cells))) = (outputs.admitted, inputs.arrival) {
            self.intake = Some(Intake { queue, wanted: cells as usize, cells: VecDeque::new() });
            return;
        }
        let (Some(mut intake), true) = (self.intake.take_if(|_| takes_cell), takes_cell) else { return };
        intake.cells.extend(self.free_cells.next());
        if intake.cells.len() < intake.wanted {
            self.intake = Some(intake);
            return;
        }
        self.lengths[intake.queue] += intake.wanted as u64;
        self.free -= intake.wanted as u64;
        self.queues[intake.queue].push_back(intake.cells);
    }
}
