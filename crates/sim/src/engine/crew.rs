//! The threads of a run, a partition each, window by window.
//!
//! A window begins with the earliest event of all partitions and lasts for the lookahead: what a partition sends in
//! it arrives in no other before its end. Within a window nobody waits for anybody. At its end a partition puts what
//! goes to others into the mail, says when its next event is, waits for the others, and takes its mail. There are two
//! sets of mailboxes, used by turns: one is written while the other is read.

use super::meeting::{Attendance, Broken, Meeting};
use super::part::Part;
use super::{Progress, WINDOWS_PER_LOOK};
use crate::measure::ParallelCost;
use crate::wires::boundary::Mail;
use forebay_tm::Instant;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a partition says at the end of a window.
#[repr(align(128))]
#[derive(Default)]
struct Report {
    /// The time of its next event, with what it has put into the mail.
    event: AtomicU64,
    /// The next time that the transmission of a packet starts that is to go to others.
    start: AtomicU64,
    /// Events that it has handled in the window, and in all.
    handled: AtomicU64,
    events: AtomicU64,
    /// Packets that it has sent to others in the window.
    crossed: AtomicU64,
    unfinished: AtomicI64,
}

/// One of the two sets that are used by turns.
struct Exchange {
    reports: Vec<Report>,
    /// By recipient, then by sender.
    mail: Vec<Vec<Mutex<Mail>>>,
    /// The observer wants the run to stop.
    stop: AtomicBool,
}

impl Exchange {
    fn new(parts: usize) -> Self {
        let boxes = |_| (0..parts).map(|_| Mutex::default()).collect();
        Self {
            reports: (0..parts).map(|_| Report::default()).collect(),
            mail: (0..parts).map(boxes).collect(),
            stop: AtomicBool::new(false),
        }
    }

    fn all(&self, of: impl Fn(&Report) -> &AtomicU64) -> impl Iterator<Item = u64> {
        self.reports.iter().map(move |report| of(report).load(Ordering::Relaxed))
    }

    fn earliest(&self, of: impl Fn(&Report) -> &AtomicU64) -> Instant {
        Instant::from_ps(self.all(of).min().unwrap_or(u64::MAX))
    }
}

/// The partitions of a run and the threads that they run on.
pub(super) struct Crew {
    parts: Vec<Mutex<Part>>,
    lookahead: u64,
    meeting: Meeting,
    exchanges: [Exchange; 2],
    /// Up to when the partitions run next, in picoseconds.
    until: AtomicU64,
    /// The run is over.
    over: AtomicBool,
    cost: Mutex<ParallelCost>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew {
    pub(super) fn new(parts: Vec<Part>, lookahead: u64) -> Self {
        let count = parts.len();
        Self {
            parts: parts.into_iter().map(Mutex::new).collect(),
            lookahead,
            meeting: Meeting::new(count),
            exchanges: [Exchange::new(count), Exchange::new(count)],
            until: AtomicU64::new(0),
            over: AtomicBool::new(false),
            cost: Mutex::new(ParallelCost { threads: count as u32, lookahead, ..ParallelCost::default() }),
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.parts.len()
    }

    /// All partitions, between two stretches of the run.
    pub(super) fn parts(&self) -> Vec<MutexGuard<'_, Part>> {
        self.parts.iter().map(lock).collect()
    }

    pub(super) fn into_parts(self) -> (Vec<Part>, ParallelCost) {
        let parts = self.parts.into_iter().map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        (parts.collect(), self.cost.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// What every thread but the first does. Returns the CPU seconds that it took.
    pub(super) fn work(&self, number: usize) -> f64 {
        let _attendance = self.attendance();
        while self.meeting.wait().is_ok() && !self.over.load(Ordering::Relaxed) {
            let until = Instant::from_ps(self.until.load(Ordering::Relaxed));
            if self.run_part(number, until, &mut |_| true).and_then(|_| self.meeting.wait()).is_err() {
                break;
            }
        }
        crate::measure::cost::cpu_time()
    }

    /// Lets the other threads end if the one that holds this panics.
    pub(super) fn attendance(&self) -> Attendance<'_> {
        Attendance(&self.meeting)
    }

    /// The run is over: the other threads end.
    pub(super) fn dismiss(&self) {
        self.over.store(true, Ordering::Relaxed);
        // If it is broken up, they end anyway.
        let _ = self.meeting.wait();
    }

    /// Handles everything before an instant. Returns false if the observer stopped it.
    pub(super) fn run_until(&self, until: Instant, duration: Instant, look: &mut dyn FnMut(Progress) -> bool) -> bool {
        if let [only] = self.parts.as_slice() {
            return run_alone(&mut lock(only), until, duration, look);
        }
        // Most of the times at which the engine looks whether all flows are complete, nothing has happened since.
        if self.parts().iter().all(|part| part.first_work() >= until) {
            return true;
        }
        self.until.store(until.ps(), Ordering::Relaxed);
        let mut look = |now| {
            let reports = &self.exchanges[0].reports;
            look(Progress {
                now,
                duration,
                events: reports.iter().map(|report| report.events.load(Ordering::Relaxed)).sum(),
                unfinished: unfinished(reports.iter().map(|report| report.unfinished.load(Ordering::Relaxed))),
            })
        };
        let ran = self.meeting.wait().and_then(|()| self.run_part(0, until, &mut look));
        let ran = ran.and_then(|ran| self.meeting.wait().map(|()| ran));
        ran.unwrap_or_else(|Broken| panic!("a thread of the run has panicked"))
    }

    /// One partition handles everything before an instant, window by window. Returns false if the observer stopped it.
    fn run_part(&self, number: usize, until: Instant, look: &mut dyn FnMut(Instant) -> bool) -> Result<bool, Broken> {
        let mut part = lock(&self.parts[number]);
        let mut out: Vec<Mail> = self.parts.iter().map(|_| Mail::default()).collect();
        let mut cost = (number == 0).then(|| lock(&self.cost));
        let mut before = part.net.events;
        // The first window only says what there is.
        let mut window = (Instant::NEVER, Instant::ZERO);
        for exchange in self.exchanges.iter().cycle() {
            let leaving = part.run_window_of_all(window.0, window.1, &mut out);
            let report = &exchange.reports[number];
            report.event.store(part.now().min(leaving.arrival).ps(), Ordering::Relaxed);
            report.start.store(leaving.start.ps(), Ordering::Relaxed);
            report.handled.store(part.net.events - before, Ordering::Relaxed);
            before = part.net.events;
            // These two are for the observer, in one place.
            self.exchanges[0].reports[number].events.store(part.net.events, Ordering::Relaxed);
            self.exchanges[0].reports[number].unfinished.store(part.net.flows.unfinished, Ordering::Relaxed);
            report.crossed.store(out.iter().map(|mail| mail.packets() as u64).sum(), Ordering::Relaxed);
            for (to, mail) in out.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
                if to == number {
                    *mail = Mail::default();
                } else {
                    core::mem::swap(mail, &mut lock(&exchange.mail[to][number]));
                }
            }
            // Nobody may look for long if this partition has nothing to do.
            part.windows += WINDOWS_PER_LOOK / 256;
            let is_time = part.windows >= WINDOWS_PER_LOOK;
            if is_time {
                part.windows = 0;
            }
            if number == 0 {
                exchange.stop.store(is_time && !look(window.1), Ordering::Relaxed);
            }
            self.meeting.wait()?;
            for mail in &exchange.mail[number] {
                let mut mail = lock(mail);
                if !mail.is_empty() {
                    part.receive(&mut mail);
                }
            }
            if let Some(cost) = &mut cost {
                cost.add(exchange.all(|report| &report.handled), exchange.all(|report| &report.crossed));
            }
            let event = exchange.earliest(|report| &report.event);
            let first = event.min(exchange.earliest(|report| &report.start));
            let stops = exchange.stop.load(Ordering::Relaxed);
            if stops || first >= until {
                return Ok(!stops);
            }
            window = (event, until.min(Instant::from_ps(first.ps() + self.lookahead)));
        }
        Ok(true)
    }
}

/// Flows with an end that are not complete, by partition.
pub(super) fn unfinished(parts: impl Iterator<Item = i64>) -> u64 {
    u64::try_from(parts.sum::<i64>()).unwrap_or(0)
}

fn run_alone(part: &mut Part, until: Instant, duration: Instant, look: &mut dyn FnMut(Progress) -> bool) -> bool {
    while !part.run_until(until, WINDOWS_PER_LOOK) {
        part.windows = 0;
        let unfinished = unfinished([part.net.flows.unfinished].into_iter());
        if !look(Progress { now: part.now(), duration, events: part.net.events, unfinished }) {
            return false;
        }
    }
    true
}
