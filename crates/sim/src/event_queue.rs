//! What a node has to do next: one pending event for each of its links, ports and timers.
//!
//! A tree of minima over a fixed number of slots. An event is one word: 44 bits of time since the run's epoch and 20
//! bits of rank, so that one comparison orders events and breaks ties at once.
//!
//! # The order of simultaneous events
//!
//! At one node and one instant, events come in the order of their ranks:
//!
//! 1. ends of transmissions, by port;
//! 2. arrivals, by a hash of (seed, time, link), then by link: no port is always first, and nothing depends on the
//!    order in which events were entered;
//! 3. timers and starts of flows; among a host's timers by purpose, then by the hash of the flow.
//!
//! Between nodes there is no order within an instant, and none is needed: they meet only through links, which take
//! time.

use crate::prefetch;
use forebay_tm::Instant;
use forebay_tm::random::mix;

/// Bits of rank below the time.
const RANK_BITS: u32 = 20;
/// Bits of the slot, the lower part of the rank.
const SLOT_BITS: u32 = 10;
/// Slots that an event queue can have.
pub(crate) const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// No event.
pub(crate) const NEVER: Key = Key(u64::MAX);
/// Events may lie so far behind the epoch.
pub(crate) const SPAN: u64 = (1 << (64 - RANK_BITS)) - 2;

/// An event's time and rank, and with the rank its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u64);

impl Key {
    #[inline(always)]
    pub(crate) fn slot(self) -> usize {
        (self.0 & (MAX_SLOTS as u64 - 1)) as usize
    }

    /// The time since the epoch.
    #[inline(always)]
    pub(crate) fn time(self) -> u64 {
        self.0 >> RANK_BITS
    }

    /// The first key of an instant.
    #[inline(always)]
    pub(crate) fn first_of(time: u64) -> Self {
        Self(time << RANK_BITS)
    }

    pub(crate) fn rebased(self, by: u64) -> Self {
        if self == NEVER { NEVER } else { Self(self.0 - (by << RANK_BITS)) }
    }
}

/// Turns instants into keys: the epoch moves on in long runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    epoch: u64,
}

impl Clock {
    #[inline(always)]
    pub(crate) fn instant(self, key: Key) -> Instant {
        Instant::from_ps(self.epoch + key.time())
    }

    /// The time of an instant since the epoch; instants beyond the span come early, and whoever is woken looks again.
    #[inline(always)]
    pub(crate) fn time(self, at: Instant) -> u64 {
        at.ps().saturating_sub(self.epoch).min(SPAN)
    }

    /// The end of a transmission.
    #[inline(always)]
    pub(crate) fn transmission(self, at: Instant, slot: usize) -> Key {
        Key((at.ps() - self.epoch) << RANK_BITS | slot as u64)
    }

    /// An arrival from a link that ends at a slot of this [`arrival_rank`]; `salt` is the link's own.
    #[inline(always)]
    pub(crate) fn arrival(self, at: Instant, rank: u64, salt: u64) -> Key {
        // 9 of the best bits of a product.
        let hash = (at.ps() ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55;
        Key(((at.ps() - self.epoch) << RANK_BITS | hash << SLOT_BITS) + rank)
    }

    /// A timer.
    #[inline(always)]
    pub(crate) fn timer(self, at: Instant, slot: usize) -> Key {
        Key(self.time(at) << RANK_BITS | ((1 << (RANK_BITS - SLOT_BITS)) - 1) << SLOT_BITS | slot as u64)
    }

    /// Moves the epoch to an instant before which there are no events.
    pub(crate) fn advance(&mut self, to: Instant) -> u64 {
        let by = to.ps() - self.epoch;
        self.epoch = to.ps();
        by
    }

    pub(crate) fn needs_advance(self, key: Key) -> bool {
        key != NEVER && key.time() > SPAN / 2
    }

    /// Whether the epoch has to move before events of an instant are handled.
    pub(crate) fn must_move(self, first: Instant) -> bool {
        first.ps().saturating_sub(self.epoch) > SPAN / 2
    }

    /// An instant, or the one before which the epoch has to move.
    pub(crate) fn in_epoch(self, until: Instant) -> Instant {
        until.min(Instant::from_ps(self.epoch + SPAN / 2 + 1))
    }

    /// The time since the epoch up to which events can be handled before an instant: the epoch moves first.
    #[inline(always)]
    pub(crate) fn horizon(self, until: Instant) -> u64 {
        until.ps().saturating_sub(self.epoch).min(SPAN / 2 + 1)
    }
}

/// The least rank of arrivals at a slot: behind the ends of transmissions, whose upper bits are 0.
pub(crate) fn arrival_rank(slot: usize) -> u64 {
    1 << SLOT_BITS | slot as u64
}

/// The salt of a link: what its arrivals are hashed with.
pub(crate) fn salt(seed: u64, link: u32) -> u64 {
    mix(seed ^ mix(u64::from(link)))
}

/// A tree of minima over a fixed number of slots.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    /// Node `n` has the children `2n` and `2n + 1`, and the slots, a power of two, are the last nodes. The root, node
    /// 1, is not kept: it would be written at every change and is the smaller of two.
    nodes: Vec<Key>,
}

impl EventQueue {
    pub(crate) fn new(slots: usize) -> Self {
        Self { nodes: vec![NEVER; 2 * slots.next_power_of_two().max(2)] }
    }

    /// Slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Asks for all of it.
    pub(crate) fn ask(&self) {
        prefetch::slice(&self.nodes);
    }

    /// The earliest event.
    #[inline(always)]
    pub(crate) fn next(&self) -> Key {
        self.nodes[2].min(self.nodes[3])
    }

    /// Sets the event of a slot.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: usize, key: Key) {
        let nodes = self.nodes.as_mut_slice();
        let mut node = nodes.len() / 2 + slot;
        let mut key = key;
        nodes[node] = key;
        while node > 3 {
            key = key.min(nodes[node ^ 1]);
            node >>= 1;
            if nodes[node] == key {
                return;
            }
            nodes[node] = key;
        }
    }

    /// The tree with its number of nodes, twice that of its slots, known to the compiler.
    #[inline(always)]
    pub(crate) fn sized<const NODES: usize>(&mut self) -> FixedEventQueue<'_, NODES> {
        FixedEventQueue(self.nodes.as_mut_slice().try_into().expect("whoever asks knows the number of slots"))
    }

    /// Moves all events to an earlier epoch.
    pub(crate) fn rebase(&mut self, by: u64) {
        for key in &mut self.nodes {
            *key = key.rebased(by);
        }
    }
}

/// An [`EventQueue`] with its number of nodes known to the compiler: no loop, no bounds to check.
pub(crate) struct FixedEventQueue<'a, const NODES: usize>(&'a mut [Key; NODES]);

impl<const NODES: usize> FixedEventQueue<'_, NODES> {
    /// The first slot of arrivals, at a switch: the upper half.
    pub(crate) const ARRIVALS: usize = NODES / 4;

    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> FixedEventQueue<'_, NODES> {
        FixedEventQueue(self.0)
    }

    /// See [`EventQueue::next`].
    #[inline(always)]
    pub(crate) fn next(&self) -> Key {
        self.0[2].min(self.0[3])
    }

    /// See [`EventQueue::set`].
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: usize, key: Key) {
        let mut node = NODES / 2 + (slot & (NODES / 2 - 1));
        let mut key = key;
        self.0[node] = key;
        for _ in 2..NODES.ilog2() {
            key = key.min(self.0[node ^ 1]);
            node >>= 1;
            self.0[node] = key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::random::Random;

    #[test]
    fn agrees_with_a_sorted_map() {
        let mut random = Random::stream(3, "event_queue", 0);
        let clock = Clock::default();
        for slots in [1usize, 2, 3, 16, 100, 1_000] {
            let mut event_queue = EventQueue::new(slots);
            let mut twin = EventQueue::new(16);
            let mut plain = std::collections::BTreeMap::new();
            for _ in 0..20_000 {
                let slot = (random.unit() * slots as f64) as usize;
                let at = Instant::from_ps((random.unit() * 50.0) as u64);
                let key = match (random.unit() * 4.0) as u32 {
                    0 => clock.transmission(at, slot),
                    1 => clock.arrival(at, arrival_rank(slot), salt(1, slot as u32)),
                    2 => clock.timer(at, slot),
                    _ => NEVER,
                };
                event_queue.set(slot, key);
                plain.insert(slot, key);
                assert_eq!(event_queue.next(), *plain.values().min().unwrap());
                if slots == 16 {
                    twin.sized::<32>().set(slot, key);
                    assert_eq!(twin.sized::<32>().next(), event_queue.next());
                }
            }
        }
    }

    #[test]
    fn ends_come_before_arrivals_before_timers() {
        let (clock, at) = (Clock::default(), Instant::from_ps(1_000));
        let (end, timer) = (clock.transmission(at, 9), clock.timer(at, 0));
        for link in 0..2_000 {
            let arrival = clock.arrival(at, arrival_rank(5), salt(1, link));
            assert!(end < arrival && arrival < timer);
            assert_eq!((arrival.slot(), clock.instant(arrival)), (5, at));
        }
        assert!(timer < clock.transmission(Instant::from_ps(1_001), 0));
    }

    #[test]
    fn no_link_is_always_first() {
        let clock = Clock::default();
        let mut first = [0u32; 8];
        for time in 0..8_000u64 {
            let at = Instant::from_ps(time * 1_200_000);
            let winner =
                (0..8).min_by_key(|link| clock.arrival(at, arrival_rank(*link), salt(7, *link as u32))).unwrap();
            first[winner] += 1;
        }
        assert!(first.iter().all(|count| (800..1_200).contains(count)), "{first:?}");
    }

    #[test]
    fn the_epoch_moves_on() {
        let mut clock = Clock::default();
        let mut event_queue = EventQueue::new(4);
        let late = Instant::from_ps(10_000_000_000_000);
        event_queue.set(2, clock.timer(late, 2));
        assert!(clock.needs_advance(event_queue.next()));
        event_queue.rebase(clock.advance(late));
        assert_eq!((clock.instant(event_queue.next()), event_queue.next().slot()), (late, 2));
        // Beyond the span, an event comes early.
        let far = clock.timer(Instant::from_ps(100_000_000_000_000), 1);
        assert!(clock.instant(far) < Instant::from_ps(100_000_000_000_000));
    }
}
