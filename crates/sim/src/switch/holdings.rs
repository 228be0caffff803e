//! Which egress queues the packets of lossless groups wait in: what a pause is for, and who waits for it without
//! going there.

use crate::measure::pauses::VictimRecord;
use forebay_tm::ingress::{GROUPS_PER_PORT, IngressConfig};
use forebay_tm::{Duration, Instant};
use std::collections::BTreeMap;

/// No row.
const NONE: u32 = u32::MAX;

/// The cells of each lossless group in each egress queue.
pub(super) struct Holdings {
    /// Of each port and group: its row, if it is lossless.
    rows: Vec<u32>,
    /// Egress queues of the switch.
    queues: usize,
    /// Row by row.
    cells: Vec<u64>,
}

impl Holdings {
    pub(super) fn new(config: &IngressConfig, queues: usize) -> Self {
        let mut rows = vec![NONE; config.ports.len() * GROUPS_PER_PORT];
        let lossless = config.groups.iter().filter(|group| group.lossless.is_some());
        let mut count = 0;
        for (row, group) in (0..).zip(lossless) {
            rows[place(group.port, group.number)] = row;
            count += 1;
        }
        Self { rows, queues, cells: vec![0; count * queues] }
    }

    fn row(&self, port: usize, group: u8) -> Option<core::ops::Range<usize>> {
        let row = self.rows[place(port, group)];
        (row != NONE).then(|| row as usize * self.queues..(row as usize + 1) * self.queues)
    }

    /// A packet of a group joins an egress queue.
    pub(super) fn add(&mut self, (port, group): (usize, u8), queue: usize, cells: u64) {
        if let Some(row) = self.row(port, group) {
            self.cells[row][queue] += cells;
        }
    }

    /// It has left it.
    pub(super) fn remove(&mut self, (port, group): (usize, u8), queue: usize, cells: u64) {
        if let Some(row) = self.row(port, group) {
            self.cells[row][queue] -= cells;
        }
    }

    /// The egress queues that hold packets of a group, with their cells.
    pub(super) fn of(&self, port: usize, group: u8) -> impl Iterator<Item = (usize, u64)> {
        let row = self.row(port, group).unwrap_or(0..0);
        self.cells[row].iter().copied().enumerate().filter(|(_, cells)| *cells > 0)
    }

    /// Whether no queue holds any.
    pub(super) fn is_empty(&self) -> bool {
        self.cells.iter().all(|cells| *cells == 0)
    }

    /// The egress queue that holds most cells of a group; the first of those that hold as many.
    pub(super) fn most(&self, port: usize, group: u8) -> Option<usize> {
        self.of(port, group).max_by_key(|(queue, cells)| (*cells, usize::MAX - queue)).map(|(queue, _)| queue)
    }
}

/// The place of a group of a port.
fn place(port: usize, group: u8) -> usize {
    port * GROUPS_PER_PORT + usize::from(group)
}

/// Flows that waited for a pause that was not for them, by flow, port and group.
#[derive(Default)]
pub(super) struct Victims(BTreeMap<(u32, u32, u8), VictimRecord>);

impl Victims {
    /// A packet of a flow has come that waited for so long.
    pub(super) fn add(&mut self, now: Instant, (flow, port, group): (u32, u32, u8), waited: Duration) {
        let new = VictimRecord { flow, switch: 0, port, group, first: now, packets: 0, longest: Duration::ZERO };
        let record = self.0.entry((flow, port, group)).or_insert(new);
        record.packets += 1;
        record.longest = record.longest.max(waited);
    }

    /// All of them, of the switch with this number.
    pub(super) fn records(&mut self, switch: u32) -> Vec<VictimRecord> {
        let all = core::mem::take(&mut self.0);
        all.into_values().map(|victim| VictimRecord { switch, ..victim }).collect()
    }
}
