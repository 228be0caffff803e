//! Packets that switches dropped, one by one, and who held the buffer then.
//!
//! Who holds a buffer is found by a walk over the packets in it. It is made at a drop, unless the buffer is nearly what
//! it was at the walk before: at most a quarter of its packets have left, and its occupancy has changed by no more than
//! a quarter. So the walks cost a share of what the packets themselves cost, however many are dropped.

use crate::flow::NONE;
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

/// A part of a buffer: what one flow had in it, or all flows of a class that have no part of their own. All parts of a
/// walk together are all packets that waited.
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

/// A walk serves until one in so many of the packets that it met have left, or the occupancy has changed by as large a
/// share.
const FRESH: u64 = 4;

/// The buffer as it was at the last walk.
#[derive(Clone, Copy, Debug, Default)]
struct Walked {
    number: Option<u32>,
    packets: u64,
    used: u64,
    /// Packets that the buffer's ports had sent by then.
    sent: u64,
}

/// What a flow has in a buffer in one class.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    bytes: u64,
    flow: u32,
    class: u8,
}

impl Held {
    /// Most bytes first, then by flow and class.
    #[inline(always)]
    fn is_before(&self, other: &Self) -> bool {
        let flow = |held: &Self| (held.flow, held.class);
        self.bytes > other.bytes || self.bytes == other.bytes && flow(self) < flow(other)
    }
}

/// A walk that is under way.
#[derive(Debug, Default)]
struct Walk {
    packets: u64,
    /// For each flow, where in `held` stands what it has in the class that was met last. It is right if it is this flow
    /// that stands there.
    place: Vec<u32>,
    held: Vec<Held>,
}

impl Walk {
    #[inline(always)]
    fn meet(&mut self, flow: u32, class: u8, bytes: u32) {
        self.packets += 1;
        let place = self.place.get(flow as usize).copied().unwrap_or(NONE);
        match self.held.get_mut(place as usize) {
            Some(held) if held.flow == flow && held.class == class => held.bytes += u64::from(bytes),
            _ => self.meet_other(flow, class, bytes),
        }
    }

    /// A flow, or a class of it, that is new or was not the last one.
    #[inline(never)]
    fn meet_other(&mut self, flow: u32, class: u8, bytes: u32) {
        if self.place.len() <= flow as usize {
            self.place.resize(flow as usize + 1, NONE);
        }
        let place = &mut self.place[flow as usize];
        if self.held.get(*place as usize).is_some_and(|held| held.flow == flow) {
            // Few flows have packets of two classes in one buffer: data, and replies or headers.
            if let Some(known) = self.held.iter().position(|held| (held.flow, held.class) == (flow, class)) {
                *place = known as u32;
                self.held[known].bytes += u64::from(bytes);
                return;
            }
        }
        *place = self.held.len() as u32;
        self.held.push(Held { bytes: u64::from(bytes), flow, class });
    }

    /// Moves those with most to the front, most first; returns how many these are.
    fn sort_top(&mut self) -> usize {
        let top = self.held.len().min(TOP_FLOWS);
        for next in 1..self.held.len() {
            let candidate = self.held[next];
            let mut place = next;
            if next >= top {
                if !candidate.is_before(&self.held[top - 1]) {
                    continue;
                }
                self.held[next] = self.held[top - 1];
                place = top - 1;
            }
            while place > 0 && candidate.is_before(&self.held[place - 1]) {
                self.held[place] = self.held[place - 1];
                place -= 1;
            }
            self.held[place] = candidate;
        }
        top
    }
}

/// Records that come one by one, in pieces of memory that grow: none is moved when there are more.
#[derive(Clone, Debug)]
struct Pieces<T>(Vec<Vec<T>>);

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pieces<T> {
    fn push(&mut self, record: T) {
        match self.0.last_mut() {
            Some(last) if last.len() < last.capacity() => last.push(record),
            _ => self.begin_piece(record),
        }
    }

    #[cold]
    fn begin_piece(&mut self, first: T) {
        let mut piece = Vec::with_capacity(64 << self.0.len().min(6));
        piece.push(first);
        self.0.push(piece);
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
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
    walk: Walk,
    /// By switch: those of one are nearly in order, so that little is left to sort.
    records: Vec<Pieces<DropRecord>>,
    kept: usize,
    holders: Pieces<HolderRecord>,
    /// Where the parts of each walk begin.
    walks: Vec<usize>,
    /// How many parts there are.
    parts: usize,
}

impl Drops {
    /// Keeps drops of these switches; `buffers` are how many each switch has.
    pub(crate) fn new(chosen: &[usize], limit: usize, buffers: impl Iterator<Item = usize>) -> Self {
        let walked: Vec<_> = buffers.map(|buffers| vec![Walked::default(); buffers]).collect();
        let chosen: Vec<bool> = (0..walked.len()).map(|switch| chosen.contains(&switch)).collect();
        let records = vec![Pieces::default(); walked.len()];
        Self { on: chosen.contains(&true), limit, chosen, walked, records, ..Self::default() }
    }

    /// Whether a drop at a switch is to be kept.
    pub(crate) fn wants(&self, switch: u32) -> bool {
        self.on && self.chosen[switch as usize] && self.kept < self.limit
    }

    /// Whether who holds the buffer has to be found anew for a drop. `sent` are the packets that its ports have sent.
    pub(crate) fn needs_walk(&self, record: &DropRecord, sent: u64) -> bool {
        let walked = &self.walked[record.switch as usize][record.buffer as usize];
        let left = sent - walked.sent;
        let changed = walked.used.abs_diff(record.used.get());
        walked.number.is_none() || left * FRESH > walked.packets || changed * FRESH > walked.used
    }

    /// The walk goes on to a packet.
    #[inline(always)]
    pub(crate) fn meet(&mut self, flow: u32, class: u8, bytes: u32) {
        self.walk.meet(flow, class, bytes);
    }

    /// Ends a walk over the buffer of a drop: its parts are what the packets were that were met.
    pub(crate) fn end_walk(&mut self, record: &DropRecord, sent: u64) {
        let number = self.walks.len() as u32;
        self.walks.push(self.parts);
        let top = self.walk.sort_top();
        let part = |class: u8, flow: Option<u32>, bytes: u64| HolderRecord {
            walk: number,
            at: record.at,
            switch: record.switch,
            buffer: record.buffer,
            class,
            flow,
            bytes,
        };
        let (own, others) = self.walk.held.split_at(top);
        own.iter().for_each(|held| self.holders.push(part(held.class, Some(held.flow), held.bytes)));
        let (mut rest, mut classes) = ([0u64; 64], 0u64);
        for held in others {
            rest[usize::from(held.class & 63)] += held.bytes;
            classes |= 1 << (held.class & 63);
        }
        self.parts += top + classes.count_ones() as usize;
        while classes != 0 {
            let class = classes.trailing_zeros() as u8;
            self.holders.push(part(class, None, rest[usize::from(class)]));
            classes &= classes - 1;
        }
        let walked = &mut self.walked[record.switch as usize][record.buffer as usize];
        *walked = Walked { number: Some(number), packets: self.walk.packets, used: record.used.get(), sent };
        self.walk.packets = 0;
        self.walk.held.clear();
    }

    /// Keeps a drop.
    pub(crate) fn keep(&mut self, record: DropRecord) {
        let walked = &self.walked[record.switch as usize][record.buffer as usize];
        self.records[record.switch as usize].push(DropRecord { holders: walked.number.unwrap_or(NONE), ..record });
        self.kept += 1;
    }

    /// Flows have other numbers in the result, and all is put in order of time: the windows of nodes came in another.
    pub(crate) fn finish(&mut self, place: impl Fn(u32) -> u32) -> (Vec<DropRecord>, Vec<HolderRecord>) {
        // Those of one switch came in order of time, at one instant in any order of ports. Once they are in order,
        // the sort of all finds as many runs as there are switches.
        let mut records = core::mem::take(&mut self.records);
        for piece in records.iter_mut().flat_map(|records| &mut records.0) {
            for same_instant in piece.chunk_by_mut(|one, next| one.at == next.at) {
                same_instant.sort_by_key(|record| record.port);
            }
        }
        let records = collected(self.kept, records.iter().flat_map(Pieces::iter));
        let parts = core::mem::take(&mut self.holders);
        let parts = collected(self.parts, parts.iter());
        let walks = core::mem::take(&mut self.walks);
        let of_walk = |walk: usize| walks[walk]..walks.get(walk + 1).copied().unwrap_or(parts.len());
        // A walk over an empty buffer has no parts, and no number.
        let found = (0..walks.len()).filter(|walk| !of_walk(*walk).is_empty());
        let key = |walk: usize| {
            let first = parts[walks[walk]];
            sort_key(first.at, first.switch, 0, walk)
        };
        let mut numbers = vec![NONE; walks.len()];
        let mut holders = Vec::with_capacity(parts.len());
        for (number, walk) in in_order(found.map(key)).enumerate() {
            numbers[walk] = number as u32;
            let renamed =
                |part: &&HolderRecord| HolderRecord { walk: number as u32, flow: part.flow.map(&place), ..**part };
            holders.extend(parts[of_walk(walk)].iter().map(renamed));
        }
        let keys = records.iter().enumerate();
        let keys = keys.map(|(index, record)| sort_key(record.at, record.switch, record.port, index));
        let renamed = |index: usize| {
            let record = records[index];
            let holders = numbers.get(record.holders as usize).copied().unwrap_or(NONE);
            DropRecord { flow: place(record.flow), holders, ..*record }
        };
        (in_order(keys).map(renamed).collect(), holders)
    }
}

/// A list of so many.
fn collected<T>(number: usize, all: impl Iterator<Item = T>) -> Vec<T> {
    let mut list = Vec::with_capacity(number);
    list.extend(all);
    list
}

/// By time, switch and port, and then in the order in which they came; as one number, since there are many to sort.
fn sort_key(at: Instant, switch: u32, port: u32, index: usize) -> u128 {
    let small = |number: u32| u128::from(number.min(u32::from(u16::MAX)));
    u128::from(at.ps()) << 64 | small(switch) << 48 | small(port) << 32 | index as u128
}

/// The indices of keys, in the order of these.
fn in_order(keys: impl Iterator<Item = u128>) -> impl Iterator<Item = usize> {
    let mut keys: Vec<u128> = keys.collect();
    keys.sort();
    keys.into_iter().map(|key| key as u32 as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::random::Random;
    use std::collections::BTreeMap;

    fn drop_at(at: u64, used: u64) -> DropRecord {
        DropRecord {
            at: Instant::from_ps(at),
            switch: 0,
            buffer: 0,
            port: 0,
            queue: 0,
            flow: 0,
            class: 0,
            bytes: 1_500,
            reason: Reason::Full,
            threshold: None,
            queue_bytes: Bytes::ZERO,
            used: Bytes::new(used),
            holders: NONE,
        }
    }

    /// The parts of a walk are what sums over all packets say, whatever the order of packets, classes and walks before.
    #[test]
    fn a_walk_finds_the_eight_flows_with_most_and_the_rest_by_class() {
        let mut random = Random::stream(1, "walks", 0);
        let mut drops = Drops::new(&[0], 1_000, [1].into_iter());
        for walk in 0..200u32 {
            let (flows, classes) = (1 + random.below(30), 1 + random.below(4));
            let mut sums: BTreeMap<(u32, u8), u64> = BTreeMap::new();
            for _ in 0..random.below(200) {
                let (flow, class) = (random.below(flows) as u32, random.below(classes) as u8);
                let bytes = 64 * (1 + random.below(20)) as u32;
                drops.meet(flow, class, bytes);
                *sums.entry((flow, class)).or_default() += u64::from(bytes);
            }
            let before = drops.parts;
            drops.end_walk(&drop_at(u64::from(walk), 1), 0);
            let mut all: Vec<_> = sums.into_iter().collect();
            all.sort_by_key(|((flow, class), bytes)| (core::cmp::Reverse(*bytes), *flow, *class));
            let (own, others) = all.split_at(all.len().min(TOP_FLOWS));
            let mut rest: BTreeMap<u8, u64> = BTreeMap::new();
            others.iter().for_each(|((_, class), bytes)| *rest.entry(*class).or_default() += bytes);
            let mut expected: Vec<_> = own.iter().map(|((flow, class), bytes)| (Some(*flow), *class, *bytes)).collect();
            expected.extend(rest.into_iter().map(|(class, bytes)| (None, class, bytes)));
            let found = drops.holders.iter().skip(before).map(|part| (part.flow, part.class, part.bytes));
            assert_eq!(found.collect::<Vec<_>>(), expected, "walk {walk}");
            drops.keep(drop_at(u64::from(walk), 1));
        }
        let (records, holders) = drops.finish(|flow| flow);
        assert!(records.is_sorted_by_key(|record| record.at) && holders.is_sorted_by_key(|part| part.walk));
        for record in records {
            let mut of = holders.iter().filter(|part| part.walk == record.holders);
            assert!(of.all(|part| part.at == record.at), "a drop has the walk that was made for it");
        }
    }

    #[test]
    fn a_walk_serves_until_a_quarter_has_changed() {
        let mut drops = Drops::new(&[0], 1_000, [1].into_iter());
        assert!(drops.needs_walk(&drop_at(0, 4_000), 0));
        (0..40).for_each(|flow| drops.meet(flow, 0, 100));
        drops.end_walk(&drop_at(0, 4_000), 70);
        assert!(!drops.needs_walk(&drop_at(1, 4_000), 80) && drops.needs_walk(&drop_at(1, 4_000), 81), "packets left");
        for (used, needed) in [(3_000, false), (2_999, true), (5_000, false), (5_001, true)] {
            assert_eq!(drops.needs_walk(&drop_at(1, used), 70), needed, "{used}");
        }
    }
}
