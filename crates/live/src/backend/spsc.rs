//! A ring with one producer and one consumer, without locks: between two threads, or between us and the kernel (AF_XDP
//! has the same layout).
//!
//! Two counters only ever grow (and wrap around): how many entries were put in, and how many were taken out. Each side
//! writes its own with `Release` after it is done with the entries, and reads the other's with `Acquire` before it
//! touches them. Each side remembers what it last saw of the other's counter and looks again only when that is used up.

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where a ring is.
pub(super) struct Place<T> {
    /// Entries put in so far.
    pub(super) produced: *const AtomicU32,
    /// Entries taken out so far.
    pub(super) consumed: *const AtomicU32,
    /// The entries.
    pub(super) entries: *mut T,
    /// How many: a power of two.
    pub(super) size: u32,
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

/// One side of a ring.
struct Side<T> {
    place: Place<T>,
    /// Keeps the memory.
    _keeper: Arc<dyn Any + Send + Sync>,
    _entries: PhantomData<T>,
}

// SAFETY: a side touches only the entries that the counters say are its own, and entries may go to other threads.
unsafe impl<T: Send> Send for Side<T> {}

impl<T> Side<T> {
    fn produced(&self) -> &AtomicU32 {
        // SAFETY: the keeper keeps the memory, and counters are only ever touched as atomics.
        unsafe { &*self.place.produced }
    }

    fn consumed(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { &*self.place.consumed }
    }

    /// The entry with this count.
    fn entry(&self, count: u32) -> *mut T {
        // SAFETY: masked to the size, so within the entries.
        unsafe { self.place.entries.add((count & (self.place.size - 1)) as usize) }
    }
}

/// The side that puts in.
pub(super) struct Producer<T> {
    side: Side<T>,
    /// Put in, maybe not published.
    next: u32,
    /// What was last seen of the other's counter.
    consumed: u32,
}

/// The side that takes out.
pub(super) struct Consumer<T> {
    side: Side<T>,
    /// Taken out, maybe not released.
    next: u32,
    /// What was last seen of the other's counter.
    produced: u32,
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Producer({} of {} put in)", self.next, self.side.place.size)
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Consumer({} of {} taken)", self.next, self.side.place.size)
    }
}

impl<T> Producer<T> {
    /// The producer of a ring that is somewhere.
    ///
    /// # Safety
    /// The place must be a ring for as long as the keeper lives, and this its only producer.
    pub(super) unsafe fn new(place: Place<T>, keeper: Arc<dyn Any + Send + Sync>) -> Self {
        let side = Side { place, _keeper: keeper, _entries: PhantomData };
        let (next, consumed) = (side.produced().load(Ordering::Relaxed), side.consumed().load(Ordering::Acquire));
        Self { side, next, consumed }
    }

    /// How many more there is room for, looked up if it is fewer than `wanted` by what was last seen.
    pub(super) fn room(&mut self, wanted: u32) -> u32 {
        let room = |this: &Self| this.side.place.size - this.next.wrapping_sub(this.consumed);
        if room(self) < wanted {
            self.consumed = self.side.consumed().load(Ordering::Acquire);
        }
        room(self)
    }

    /// Puts an entry in, to be published later; false if there is no room.
    pub(super) fn put(&mut self, entry: T) -> bool {
        if self.room(1) == 0 {
            return false;
        }
        // SAFETY: there is room, so this entry is the producer's until it is published.
        unsafe { self.side.entry(self.next).write(entry) };
        self.next = self.next.wrapping_add(1);
        true
    }

    /// Shows the other side what was put in.
    pub(super) fn publish(&mut self) {
        self.side.produced().store(self.next, Ordering::Release);
    }

    /// Entries that the other side has not taken yet.
    pub(super) fn waiting(&mut self) -> u32 {
        self.consumed = self.side.consumed().load(Ordering::Acquire);
        self.next.wrapping_sub(self.consumed)
    }
}

impl<T> Consumer<T> {
    /// The consumer of a ring that is somewhere.
    ///
    /// # Safety
    /// The place must be a ring for as long as the keeper lives, and this its only consumer.
    pub(super) unsafe fn new(place: Place<T>, keeper: Arc<dyn Any + Send + Sync>) -> Self {
        let side = Side { place, _keeper: keeper, _entries: PhantomData };
        let (next, produced) = (side.consumed().load(Ordering::Relaxed), side.produced().load(Ordering::Acquire));
        Self { side, next, produced }
    }

    /// Takes an entry out, to be released later; none if there is none.
    pub(super) fn take(&mut self) -> Option<T> {
        if self.next == self.produced {
            self.produced = self.side.produced().load(Ordering::Acquire);
            if self.next == self.produced {
                return None;
            }
        }
        // SAFETY: it was published, so it is the consumer's until it is released, and it is taken once: the count goes
        // on.
        let entry = unsafe { self.side.entry(self.next).read() };
        self.next = self.next.wrapping_add(1);
        Some(entry)
    }

    /// Gives the room of what was taken back to the other side.
    pub(super) fn release(&mut self) {
        self.side.consumed().store(self.next, Ordering::Release);
    }
}

/// A counter on a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Counter(AtomicU32);

/// A ring in our own memory.
struct Owned<T> {
    produced: Counter,
    consumed: Counter,
    entries: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: the two sides keep each other off each other's entries by the counters.
unsafe impl<T: Send> Sync for Owned<T> {}

/// A ring between two threads, with room for at least so many entries. Entries that nobody has taken when it goes are
/// forgotten, not dropped.
pub(super) fn ring<T: Send + 'static>(least: u32) -> (Producer<T>, Consumer<T>) {
    let size = least.next_power_of_two();
    let entries = (0..size).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let owned = Arc::new(Owned::<T> { produced: Counter::default(), consumed: Counter::default(), entries });
    let entries = owned.entries.as_ptr().cast::<T>().cast_mut();
    let place = Place { produced: &owned.produced.0, consumed: &owned.consumed.0, entries, size };
    // SAFETY: the ring lives as long as `owned`, which both sides keep; entries are in cells, which may be written to;
    // there is one of each side.
    unsafe { (Producer::new(place, owned.clone()), Consumer::new(place, owned)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_order_and_only_when_published() {
        let (mut producer, mut consumer) = ring::<u64>(3);
        assert!((0..4).all(|entry| producer.put(entry)));
        assert!(!producer.put(4), "full");
        assert_eq!(consumer.take(), None, "not published");
        producer.publish();
        assert_eq!((consumer.take(), consumer.take()), (Some(0), Some(1)));
        assert_eq!((producer.room(4), producer.waiting()), (0, 4), "not released");
        consumer.release();
        assert_eq!((producer.room(4), producer.waiting()), (2, 2));
        assert_eq!((consumer.take(), consumer.take(), consumer.take()), (Some(2), Some(3), None));
    }

    #[test]
    fn counters_wrap_around() {
        let (mut producer, mut consumer) = ring::<u32>(4);
        for counter in [producer.side.produced(), producer.side.consumed()] {
            counter.store(u32::MAX - 1, Ordering::Relaxed);
        }
        (producer.next, producer.consumed) = (u32::MAX - 1, u32::MAX - 1);
        (consumer.next, consumer.produced) = (u32::MAX - 1, u32::MAX - 1);
        for entry in 0..100 {
            assert!(producer.put(entry) && producer.put(entry));
            producer.publish();
            assert_eq!((consumer.take(), consumer.take(), consumer.take()), (Some(entry), Some(entry), None));
            consumer.release();
        }
    }

    /// Entries are moved, not copied: each is dropped once, by whoever has taken it.
    #[test]
    fn entries_that_own_something_are_moved() {
        let (mut producer, mut consumer) = ring::<Arc<u8>>(2);
        let kept = Arc::new(7);
        for _ in 0..5 {
            assert!(producer.put(Arc::clone(&kept)));
            producer.publish();
            assert_eq!(consumer.take().as_deref(), Some(&7));
            consumer.release();
        }
        assert_eq!(Arc::strong_count(&kept), 1);
    }

    /// Two threads, tiny rings, steps of changing size: every entry comes once, whole and in order.
    #[test]
    fn nothing_is_lost_or_torn_between_threads() {
        // An interpreter that looks for undefined behaviour is slower.
        const ENTRIES: u64 = if cfg!(miri) { 300 } else { 300_000 };
        for size in [1, 2, 8, 64] {
            let (mut producer, mut consumer) = ring::<[u64; 3]>(size);
            let writer = std::thread::spawn(move || {
                let mut next = 0;
                while next < ENTRIES {
                    for _ in 0..next % 7 + 1 {
                        if next < ENTRIES && producer.put([next, !next, next * 3]) {
                            next += 1;
                        }
                    }
                    producer.publish();
                    if producer.room(1) == 0 {
                        std::thread::yield_now();
                    }
                }
            });
            let mut expected = 0;
            while expected < ENTRIES {
                let mut any = false;
                for _ in 0..expected % 5 + 1 {
                    let Some(entry) = consumer.take() else { break };
                    assert_eq!(entry, [expected, !expected, expected * 3]);
                    expected += 1;
                    any = true;
                }
                consumer.release();
                if !any {
                    std::thread::yield_now();
                }
            }
            writer.join().unwrap();
        }
    }
}
