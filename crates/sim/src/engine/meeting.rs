//! Where threads wait for each other between windows.
//!
//! Windows are short, so a thread that comes early first watches for the others, then lets other threads have its
//! core, and sleeps only if that does not help either.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// How often a thread looks at most before it lets others have its core, and how often it does that before it sleeps.
const LOOKS: u32 = 2_000;
const YIELDS: u32 = 50;

/// Where a number of threads wait for each other, again and again.
pub(super) struct Meeting {
    size: usize,
    /// How often a thread looks before it lets others have its core.
    looks: u32,
    arrived: AtomicUsize,
    /// How often all were there.
    round: AtomicUsize,
    /// One of them will never come again.
    broken: AtomicBool,
    asleep: AtomicUsize,
    lock: Mutex<()>,
    bell: Condvar,
}

/// A thread of the meeting has panicked.
#[derive(Debug)]
pub(super) struct Broken;

impl Meeting {
    pub(super) fn new(size: usize) -> Self {
        // Whoever looks keeps a core from a thread that the others wait for, if there are fewer cores than threads.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            size,
            looks: if size > cores { 0 } else { LOOKS },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            lock: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits until all threads are here. What each did before, all can see afterwards.
    pub(super) fn wait(&self) -> Result<(), Broken> {
        let round = self.round.load(Ordering::SeqCst);
        if self.arrived.fetch_add(1, Ordering::SeqCst) + 1 == self.size {
            self.arrived.store(0, Ordering::SeqCst);
            self.round.store(round.wrapping_add(1), Ordering::SeqCst);
            self.wake();
        } else {
            self.wait_for(round);
        }
        if self.broken.load(Ordering::SeqCst) { Err(Broken) } else { Ok(()) }
    }

    /// Nobody is to wait any more: a thread is gone.
    fn break_up(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.bell.notify_all();
        }
    }

    fn is_over(&self, round: usize) -> bool {
        self.round.load(Ordering::SeqCst) != round || self.broken.load(Ordering::SeqCst)
    }

    fn wait_for(&self, round: usize) {
        for look in 0..self.looks + YIELDS {
            if self.is_over(round) {
                return;
            }
            if look < self.looks { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while !self.is_over(round) {
            guard = self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Breaks up a meeting if its thread panics.
pub(super) struct Attendance<'m>(pub(super) &'m Meeting);

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever comes out sees what all have done before.
    #[test]
    fn nobody_is_a_round_ahead() {
        let (meeting, counts) = (Meeting::new(3), [const { AtomicUsize::new(0) }; 3]);
        std::thread::scope(|scope| {
            for own in 0..3 {
                let (meeting, counts) = (&meeting, &counts);
                scope.spawn(move || {
                    for round in 1..=2_000 {
                        counts[own].store(round, Ordering::Relaxed);
                        meeting.wait().unwrap();
                        let seen = counts.iter().map(|count| count.load(Ordering::Relaxed));
                        assert!(seen.into_iter().all(|seen| seen == round || seen == round + 1));
                        if round % 500 == own {
                            // The others fall asleep.
                            std::thread::sleep(std::time::Duration::from_millis(3));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_breaks_it_up() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let _attendance = Attendance(&meeting);
                panic!("on purpose");
            });
            assert!(meeting.wait().is_err());
            assert!(other.join().is_err());
        });
    }
}
