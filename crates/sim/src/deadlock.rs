//! Deadlocks of priority flow control: cycles of egress queues that wait, paused, for each other.
//!
//! A paused queue waits for the priority group at the other end of its link that has asked for pause. That group
//! waits for the egress queues which its packets are in. A queue is *stuck* if it can never send again, whatever
//! the others do: a group that pauses it has no packet in a queue that is not stuck, or would be too full to resume
//! if all packets in other queues were gone. That is found from the other side: all paused queues that have packets
//! may be stuck, and those that are not are taken out until all that are left are. Each of these then waits for
//! another one, and so there is a cycle.

use crate::measure::pauses::{DeadlockRecord, QueuePlace};
use forebay_tm::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// A paused egress queue that has packets.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    pub(crate) place: QueuePlace,
    /// The classes that keep it from sending, as bits.
    pub(crate) classes: u8,
    /// Since when it has been paused.
    pub(crate) since: Instant,
}

/// A priority group that has asked for pause.
#[derive(Clone, Debug)]
pub(crate) struct FullGroup {
    /// The port that its packets come by.
    pub(crate) port: u32,
    /// The classes that it pauses, as bits.
    pub(crate) classes: u8,
    /// Its cells by egress queue.
    pub(crate) cells: Vec<(QueuePlace, u64)>,
    /// All its cells, and those of headroom.
    pub(crate) total: u64,
    pub(crate) headroom: u64,
    /// It can resume with so many cells at most.
    pub(crate) resume: u64,
}

impl FullGroup {
    /// Whether it stays full if all packets leave that are not in queues that are stuck.
    fn stays(&self, stuck: &BTreeMap<QueuePlace, Blocked>) -> bool {
        let left: u64 = self.cells.iter().filter(|(place, _)| stuck.contains_key(place)).map(|(_, cells)| cells).sum();
        let gone = self.total.saturating_sub(left);
        gone == 0 || left > self.resume || gone < self.headroom
    }
}

/// What waits at a switch, and for what others wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    pub(crate) blocked: Vec<Blocked>,
    pub(crate) groups: Vec<FullGroup>,
}

/// Of each switch and port: the switch and the port at the other end, unless that is a host.
pub(crate) type Peers = Vec<Vec<Option<(u32, u32)>>>;

/// The deadlocks of a run.
#[derive(Debug, Default)]
pub(crate) struct Deadlocks {
    peers: Peers,
    records: Vec<DeadlockRecord>,
}

impl Deadlocks {
    pub(crate) fn new(peers: Peers) -> Self {
        Self { peers, records: Vec::new() }
    }

    /// Looks at the network, whose switches are in order. Nothing changes there.
    pub(crate) fn look(&mut self, now: Instant, waits: &[Waits]) {
        let found = cycles(waits, &self.peers);
        for record in self.records.iter_mut().filter(|record| record.until == Instant::NEVER) {
            let goes_on = found.iter().flatten().any(|queue| record.cycle.contains(&queue.place));
            if !goes_on {
                record.until = now;
            }
        }
        for cycle in found {
            let places: Vec<QueuePlace> = cycle.iter().map(|queue| queue.place).collect();
            let mut open = self.records.iter().filter(|record| record.until == Instant::NEVER);
            if !open.any(|record| record.cycle.iter().any(|place| places.contains(place))) {
                let paused = cycle.iter().map(|queue| queue.since).collect();
                self.records.push(DeadlockRecord { cycle: places, paused, found: now, until: Instant::NEVER });
            }
        }
    }

    pub(crate) fn records(&mut self) -> Vec<DeadlockRecord> {
        core::mem::take(&mut self.records)
    }
}

/// The groups that a queue waits for.
fn groups_of<'w>(queue: &Blocked, waits: &'w [Waits], peers: &Peers) -> impl Iterator<Item = &'w FullGroup> {
    let place = queue.place;
    let peer = peers[place.switch as usize][place.port as usize];
    let groups = peer.map_or(&[][..], |(switch, _)| waits[switch as usize].groups.as_slice());
    let (port, classes) = (peer.map_or(0, |(_, port)| port), queue.classes);
    groups.iter().filter(move |group| group.port == port && group.classes & classes != 0)
}

/// Queues that can never send again, and cycles among them: each from its first queue on.
fn cycles(waits: &[Waits], peers: &Peers) -> Vec<Vec<Blocked>> {
    let all = waits.iter().flat_map(|waits| &waits.blocked);
    let mut stuck: BTreeMap<QueuePlace, Blocked> = all.map(|queue| (queue.place, queue.clone())).collect();
    loop {
        let moves = |queue: &Blocked| !groups_of(queue, waits, peers).any(|group| group.stays(&stuck));
        let free: Vec<QueuePlace> = stuck.values().filter(|queue| moves(queue)).map(|queue| queue.place).collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|place| {
            stuck.remove(place);
        });
    }
    let next = |place: QueuePlace| {
        let full = groups_of(&stuck[&place], waits, peers).filter(|group| group.stays(&stuck));
        full.flat_map(|group| &group.cells).map(|(place, _)| *place).filter(|place| stuck.contains_key(place)).min()
    };
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for start in stuck.keys() {
        let (mut path, mut at) = (Vec::new(), Some(*start));
        while let Some(place) = at.filter(|place| seen.insert(*place)) {
            path.push(place);
            at = next(place);
        }
        // The path has come back to itself, and not to one that was seen before.
        let Some(first) = at.and_then(|at| path.iter().position(|place| *place == at)) else { continue };
        let mut cycle = path.split_off(first);
        let least = (0..cycle.len()).min_by_key(|index| cycle[*index]).unwrap_or(0);
        cycle.rotate_left(least);
        found.push(cycle.into_iter().map(|place| stuck[&place].clone()).collect());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(switch: u32) -> QueuePlace {
        QueuePlace { switch, port: 1, queue: 3 }
    }

    fn blocked(switch: u32) -> Blocked {
        Blocked { place: place(switch), classes: 1 << 3, since: Instant::from_ps(u64::from(switch)) }
    }

    /// The group of a switch's port 0, with cells in its own port 1 and in port 2, which is not paused.
    fn group(switch: u32, stuck: u64, free: u64) -> FullGroup {
        let cells = vec![(place(switch), stuck), (QueuePlace { port: 2, ..place(switch) }, free)];
        FullGroup { port: 0, classes: 1 << 3, cells, total: stuck + free, headroom: 0, resume: 10 }
    }

    /// Three switches in a ring: port 1 of each leads to port 0 of the next.
    fn ring() -> Peers {
        (0..3).map(|switch| vec![Some(((switch + 2) % 3, 1)), Some(((switch + 1) % 3, 0)), None]).collect()
    }

    fn waits(cells: [(u64, u64); 3]) -> Vec<Waits> {
        let of = |(switch, (stuck, free)): (u32, (u64, u64))| Waits {
            blocked: vec![blocked(switch)],
            groups: vec![group(switch, stuck, free)],
        };
        (0..).zip(cells).map(of).collect()
    }

    #[test]
    fn a_ring_is_stuck_unless_one_group_can_resume() {
        let found = cycles(&waits([(20, 0), (20, 5), (11, 9)]), &ring());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].iter().map(|queue| queue.place).collect::<Vec<_>>(), [0, 1, 2].map(place));
        // Ten cells are few enough to resume, once the nine others have left.
        assert!(cycles(&waits([(20, 0), (20, 5), (10, 9)]), &ring()).is_empty());
        // If nothing leaves, nobody asks whether it resumes.
        assert_eq!(cycles(&waits([(20, 0), (20, 5), (10, 0)]), &ring()).len(), 1);
    }

    #[test]
    fn a_chain_is_not_stuck() {
        let mut chain = waits([(20, 0), (20, 0), (20, 0)]);
        chain[2].blocked.clear();
        assert!(cycles(&chain, &ring()).is_empty());
        let mut elsewhere = waits([(20, 0), (20, 0), (20, 0)]);
        elsewhere[1].groups[0].classes = 1 << 4;
        assert!(cycles(&elsewhere, &ring()).is_empty(), "another class");
    }

    #[test]
    fn headroom_keeps_a_group_from_resuming() {
        let mut full = waits([(20, 0), (20, 0), (10, 5)]);
        assert!(cycles(&full, &ring()).is_empty());
        full[2].groups[0].headroom = 6;
        assert_eq!(cycles(&full, &ring()).len(), 1);
    }

    #[test]
    fn a_deadlock_is_told_once_and_ends() {
        let at = Instant::from_ps;
        let stuck = waits([(20, 0), (20, 0), (20, 0)]);
        let mut deadlocks = Deadlocks::new(ring());
        deadlocks.look(at(100), &waits([(20, 0), (20, 0), (1, 19)]));
        deadlocks.look(at(200), &stuck);
        deadlocks.look(at(300), &stuck);
        deadlocks.look(at(400), &waits([(20, 0), (20, 0), (1, 19)]));
        let [record] = &deadlocks.records()[..] else { panic!("one deadlock") };
        assert_eq!((record.found, record.until), (at(200), at(400)));
        assert_eq!(record.paused, [at(0), at(1), at(2)]);
    }
}
