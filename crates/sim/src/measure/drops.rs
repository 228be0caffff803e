//! Packets that switches dropped, one by one, and who held the buffer then.
//!
//! Who holds a buffer is found by a walk over the packets in it. It is made at a drop, unless the buffer is nearly what it was at the walk
//! before: at most a sixteenth of its packets have left, and its occupancy has changed by no more than a sixteenth. So the walks
//! cost a share of what the packets themselves cost, however many are dropped.

use crate::flow::NONE;
use crate::packet::{Arena, Slot};
use forebay_tm::{Bytes, Instant, Reason};

/// A packet that a switch dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRecord {
    /// When.
    pub at: Instant,
    /// The index of the switch.
    pub switch: u32,
    /// The buffer within the switch.
    pub buffer: u32,
    /// The port within the switch.
    pub port: u32,
    /// The queue number within the port.
    pub queue: u32,
    /// Its flow, a number in [`RunResult::flows`](super::RunResult::flows).
    pub flow: u32,
    /// Its class.
    pub class: u8,
    /// Its length on the wire.
    pub bytes: u32,
    /// Why.
    pub reason: Reason,
    /// The queue's threshold then, for an ordinary packet, if the policy has one.
    pub threshold: Option<f64>,
    /// The length of the queue then.
    pub queue_bytes: Bytes,
    /// Bytes in the buffer then.
    pub used: Bytes,
    /// Who held the buffer: the number of a walk, see [`HolderRecord`].
    pub holders: u32,
}

/// A part of a buffer: what one flow had in it, or all flows of a class that have no part of their own. All parts of a walk together are all
/// packets that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderRecord {
    /// The number of the walk, in the order of time.
    pub walk: u32,
    /// When it was made.
    pub at: Instant,
    /// The index of the switch.
    pub switch: u32,
    /// The buffer within the switch.
    pub buffer: u32,
    /// The class.
    pub class: u8,
    /// The flow; `None`: the other flows of the class.
    pub flow: Option<u32>,
    /// Bytes of its packets that waited.
    pub bytes: u64,
}

/// Flows with the most bytes that have a part of their own.
const TOP_FLOWS: usize = 8;

/// The buffer as it was at the last walk.
#[derive(Clone, Copy, Debug, Default)]
struct Walked {
    number: Option<u32>,
    packets: u64,
    used: u64,
    /// Packets that the buffer's ports had sent by then.
    sent: u64,
}

/// What a flow has in a buffer: in the class that was met first, and in the other one. Data has one, replies and headers of data have one.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    bytes: [u64; 2],
    class: [u8; 2],
}

/// Keeps drops, of chosen switches, up to a number of them.
#[derive(Debug, Default)]
pub(crate) struct Drops {
    /// Whether any are kept.
    pub(crate) on: bool,
    limit: usize,
    chosen: Vec<bool>,
    /// By switch, then by buffer.
    walked: Vec<Vec<Walked>>,
    /// What each flow has in the walk that is under way; nothing between walks.
    of_flow: Vec<Held>,
    /// The flows that have something, and which of their two parts it is.
    touched: Vec<(u32, usize)>,
    pub(crate) records: Vec<DropRecord>,
    pub(crate) holders: Vec<HolderRecord>,
    walks: u32,
}

/// A buffer in which a packet was dropped.
pub(crate) struct Scene {
    /// Packets that its ports have sent.
    pub(crate) sent: u64,
    /// Packets that wait in it.
    pub(crate) packets: u64,
}

impl Drops {
    /// Keeps drops of these switches; `buffers` are how many each switch has.
    pub(crate) fn new(chosen: &[usize], limit: usize, buffers: impl Iterator<Item = usize>) -> Self {
        let walked: Vec<_> = buffers.map(|buffers| vec![Walked::default(); buffers]).collect();
        let chosen: Vec<bool> = (0..walked.len()).map(|switch| chosen.contains(&switch)).collect();
        Self { on: chosen.contains(&true), limit, chosen, walked, ..Self::default() }
    }

    /// Whether a drop at a switch is to be kept.
    pub(crate) fn wants(&self, switch: u32) -> bool {
        self.on && self.chosen[switch as usize] && self.records.len() < self.limit
    }

    /// Whether who holds the buffer has to be found anew for a drop.
    pub(crate) fn needs_walk(&self, record: &DropRecord, scene: &Scene) -> bool {
        let walked = &self.walked[record.switch as usize][record.buffer as usize];
        let left = scene.sent - walked.sent;
        let changed = walked.used.abs_diff(record.used.get());
        walked.number.is_none() || left * 16 > walked.packets || changed * 16 > walked.used
    }

    /// Adds up who holds a buffer, for a drop there.
    pub(crate) fn walk(
        &mut self,
        record: &DropRecord,
        scene: &Scene,
        waiting: impl Iterator<Item = (Slot, u32)>,
        arena: &Arena,
    ) {
        let mut classes = [0u64; 64];
        self.touched.clear();
        for (slot, bytes) in waiting {
            let packet = arena.get(slot);
            let flow = packet.flow as usize;
            if self.of_flow.len() <= flow {
                self.of_flow.resize(flow + 1, Held::default());
            }
            let held = &mut self.of_flow[flow];
            let place = usize::from(held.bytes[0] > 0 && held.class[0] != packet.class);
            if held.bytes[place] == 0 {
                held.class[place] = packet.class;
                self.touched.push((packet.flow, place));
            }
            held.bytes[place] += u64::from(bytes);
            classes[usize::from(packet.class & 63)] += u64::from(bytes);
        }
        let of_flow = &mut self.of_flow;
        let top = self.touched.len().min(TOP_FLOWS);
        let key =
            |(flow, place): &(u32, usize)| (core::cmp::Reverse(of_flow[*flow as usize].bytes[*place]), *flow, *place);
        if top < self.touched.len() {
            self.touched.select_nth_unstable_by_key(top, key);
        }
        self.touched[..top].sort_by_key(key);
        let part = |class: u8, flow: Option<u32>, bytes: u64| HolderRecord {
            walk: self.walks,
            at: record.at,
            switch: record.switch,
            buffer: record.buffer,
            class,
            flow,
            bytes,
        };
        for (flow, place) in &self.touched[..top] {
            let Held { bytes, class } = of_flow[*flow as usize];
            classes[usize::from(class[*place] & 63)] -= bytes[*place];
            self.holders.push(part(class[*place], Some(*flow), bytes[*place]));
        }
        let rest = classes.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
        self.holders.extend(rest.map(|(class, bytes)| part(class as u8, None, *bytes)));
        for (flow, _) in &self.touched {
            of_flow[*flow as usize] = Held::default();
        }
        self.walked[record.switch as usize][record.buffer as usize] =
            Walked { number: Some(self.walks), packets: scene.packets, used: record.used.get(), sent: scene.sent };
        self.walks += 1;
    }

    /// Keeps a drop.
    pub(crate) fn keep(&mut self, record: DropRecord) {
        let walked = &self.walked[record.switch as usize][record.buffer as usize];
        self.records.push(DropRecord { holders: walked.number.unwrap_or(NONE), ..record });
    }

    /// Flows have other numbers in the result, and all is put in order of time: the windows of nodes came in another.
    pub(crate) fn finish(&mut self, place: impl Fn(u32) -> u32) -> (Vec<DropRecord>, Vec<HolderRecord>) {
        let (mut records, mut holders) = (core::mem::take(&mut self.records), core::mem::take(&mut self.holders));
        records.iter_mut().for_each(|record| record.flow = place(record.flow));
        holders.iter_mut().for_each(|part| part.flow = part.flow.map(&place));
        records.sort_by_key(|record| (record.at, record.switch, record.port));
        holders.sort_by_key(|part| (part.at, part.switch, part.walk));
        let mut numbers = vec![NONE; self.walks as usize];
        let mut next = 0;
        for part in &mut holders {
            let number = &mut numbers[part.walk as usize];
            if *number == NONE {
                *number = next;
                next += 1;
            }
            part.walk = *number;
        }
        for record in &mut records {
            record.holders = numbers.get(record.holders as usize).copied().unwrap_or(NONE);
        }
        (records, holders)
    }
}
