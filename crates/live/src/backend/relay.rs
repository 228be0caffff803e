//! Ports whose halves are in threads of their own: one thread receives for all ports, one sends, and whoever has the
//! [`super::Backend`] decides.
//!
//! Frame buffers of the pool travel over rings without locks. Each half works with a view of the pool that has the
//! frame buffers it was given. What the pool lends to a half comes back over a ring, or all at once when the half is
//! closed.

use super::spsc::{Consumer, Producer, ring};
use super::xdp::too_many;
use super::{Closed, privileges};
use crate::pool::{Borrower, Lent, Pool, Slot};
use crate::port::{Outside, Received};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;

/// Frames that a half takes at a time.
const BATCH: usize = 64;
/// Turns between two reports of what was lost.
const REPORT_EVERY: u32 = 1_024;

/// What a half in a thread tells about itself.
#[derive(Debug, Default)]
struct Report {
    /// The kernel's number of the error that has ended it; 0 if it goes on.
    error: AtomicI32,
    receive_overruns: AtomicU64,
    too_long: AtomicU64,
    send_failures: AtomicU64,
}

impl Report {
    fn set(&self, outside: Outside) {
        self.receive_overruns.store(outside.receive_overruns, Ordering::Relaxed);
        self.too_long.store(outside.too_long, Ordering::Relaxed);
        self.send_failures.store(outside.send_failures, Ordering::Relaxed);
    }

    fn outside(&self) -> Outside {
        Outside {
            receive_overruns: self.receive_overruns.load(Ordering::Relaxed),
            too_long: self.too_long.load(Ordering::Relaxed),
            send_failures: self.send_failures.load(Ordering::Relaxed),
        }
    }

    fn check(&self) -> io::Result<()> {
        match self.error.load(Ordering::Relaxed) {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// A half at work in a thread.
trait Work: Send {
    /// Does what there is to do; false if there was nothing.
    fn poll_once(&mut self) -> io::Result<bool>;
    /// What was lost so far.
    fn outside(&self) -> Outside;
    /// Ends it; what was lost in all, and whether no device reads its frame buffers any more.
    fn close(self: Box<Self>) -> (Outside, bool);
}

/// A frame on its way between two threads.
struct Passed {
    lent: Lent,
    length: usize,
}

struct Receiving {
    half: super::Receiver,
    view: Pool,
    buffers: Consumer<Lent>,
    frames: Producer<Passed>,
    batch: Vec<Received>,
}

impl Work for Receiving {
    fn poll_once(&mut self) -> io::Result<bool> {
        while let Some(lent) = self.buffers.take() {
            if let Some(slot) = self.view.adopt(lent) {
                self.view.give(slot);
            }
        }
        self.buffers.release();
        let result = self.half.receive(&mut self.view, &mut self.batch, BATCH);
        let any = !self.batch.is_empty();
        for frame in self.batch.drain(..) {
            // There is room: the ring is as large as the pool.
            self.frames.put(Passed { lent: self.view.part_with(frame.slot), length: frame.length });
        }
        if any {
            self.frames.publish();
        }
        result.map(|()| any)
    }

    fn outside(&self) -> Outside {
        self.half.outside()
    }

    fn close(self: Box<Self>) -> (Outside, bool) {
        self.half.close().summary()
    }
}

struct Sending {
    half: super::Sender,
    view: Pool,
    frames: Consumer<Passed>,
    done: Producer<Lent>,
}

impl Work for Sending {
    fn poll_once(&mut self) -> io::Result<bool> {
        let mut any = false;
        for _ in 0..BATCH {
            let Some(frame) = self.frames.take() else { break };
            if let Some(slot) = self.view.adopt(frame.lent) {
                self.half.send(&mut self.view, slot, frame.length);
            }
            any = true;
        }
        if any {
            self.frames.release();
        }
        let result = self.half.flush(&mut self.view);
        if self.view.free() > 0 {
            while let Some(slot) = self.view.take() {
                // There is room: the ring is as large as the pool.
                self.done.put(self.view.part_with(slot));
            }
            self.done.publish();
        }
        result.map(|()| any)
    }

    fn outside(&self) -> Outside {
        self.half.outside()
    }

    fn close(mut self: Box<Self>) -> (Outside, bool) {
        self.half.abandon(&mut self.view);
        let (mut outside, is_done) = self.half.close().summary();
        while self.frames.take().is_some() {
            outside.send_failures += 1;
        }
        (outside, is_done)
    }
}

/// What a thread is told.
enum Order {
    Begin {
        number: u64,
        work: Box<dyn Work>,
        report: Arc<Report>,
    },
    /// Hand a half over to whoever closes it.
    End {
        number: u64,
        answer: mpsc::Sender<Box<dyn Work>>,
    },
}

/// A half in a thread.
struct Job {
    number: u64,
    work: Box<dyn Work>,
    report: Arc<Report>,
    has_failed: bool,
}

impl Job {
    fn poll_once(&mut self) -> bool {
        if self.has_failed {
            return false;
        }
        self.work.poll_once().unwrap_or_else(|error| {
            self.has_failed = true;
            self.report.set(self.work.outside());
            self.report.error.store(error.raw_os_error().unwrap_or(libc::EIO), Ordering::Relaxed);
            true
        })
    }
}

/// Carries out an order.
fn obey(order: Order, jobs: &mut Vec<Job>) {
    match order {
        Order::Begin { number, work, report } => jobs.push(Job { number, work, report, has_failed: false }),
        Order::End { number, answer } => {
            if let Some(at) = jobs.iter().position(|job| job.number == number) {
                // Whoever asked may have gone away; then it is dropped here.
                let _ = answer.send(jobs.swap_remove(at).work);
            }
        }
    }
}

/// The loop of a thread: until nobody can give it orders any more.
fn work(orders: &mpsc::Receiver<Order>) {
    let mut jobs: Vec<Job> = Vec::new();
    let mut turns = 0_u32;
    loop {
        let order =
            if jobs.is_empty() { orders.recv().map_err(|_| TryRecvError::Disconnected) } else { orders.try_recv() };
        match order {
            Ok(order) => obey(order, &mut jobs),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return,
        }
        let mut busy = false;
        for job in &mut jobs {
            busy |= job.poll_once();
        }
        turns = turns.wrapping_add(1);
        if turns % REPORT_EVERY == 0 {
            jobs.iter().for_each(|job| job.report.set(job.work.outside()));
        }
        if !busy {
            thread::yield_now();
        }
    }
}

/// The two threads. They end when this and all ports with halves in them are gone.
#[derive(Clone, Debug)]
pub(super) struct Threads {
    receive: mpsc::Sender<Order>,
    send: mpsc::Sender<Order>,
    /// The next job's number.
    next: Arc<AtomicU64>,
}

impl Threads {
    /// Starts them.
    pub(super) fn start() -> io::Result<Self> {
        let start = |name: &str| {
            let (orders, to_do) = mpsc::channel();
            // All that it needs is open.
            privileges::spawn_worker(name, move || work(&to_do))?;
            Ok::<_, io::Error>(orders)
        };
        Ok(Self { receive: start("receive")?, send: start("send")?, next: Arc::default() })
    }

    /// Gives the halves of a port to the threads; what is left here of them. `level` is how many frame buffers the
    /// receiving one may have.
    pub(super) fn take(
        &self,
        halves: (super::Receiver, super::Sender),
        pool: &mut Pool,
        level: u32,
    ) -> io::Result<(Receiver, Sender)> {
        let way = super::way(&halves);
        let (receiver, sender) = halves;
        let filler = receiver.borrower().or_else(|| pool.borrower()).ok_or_else(too_many)?;
        let lender = sender.borrower().or_else(|| pool.borrower()).ok_or_else(too_many)?;
        let size = pool.buffers() as u32;
        let (buffers, buffers_there) = ring(size);
        let (frames_there, frames) = ring(size);
        let view = pool.view(filler);
        let receiving =
            Receiving { half: receiver, view, buffers: buffers_there, frames: frames_there, batch: Vec::new() };
        let far = self.begin(&self.receive, Box::new(receiving))?;
        let near_receiver = Receiver { frames, buffers, level, lent: pool.lent_to(filler), borrower: filler, way, far };
        let (to_send, frames_there) = ring(size);
        let (done_there, done) = ring(size);
        let view = pool.view(lender);
        let sending = Sending { half: sender, view, frames: frames_there, done: done_there };
        let far = self.begin(&self.send, Box::new(sending))?;
        Ok((near_receiver, Sender { frames: to_send, done, is_published: true, borrower: lender, far }))
    }

    fn begin(&self, to: &mpsc::Sender<Order>, work: Box<dyn Work>) -> io::Result<Far> {
        let (number, report) = (self.next.fetch_add(1, Ordering::Relaxed), Arc::new(Report::default()));
        let order = Order::Begin { number, work, report: Arc::clone(&report) };
        to.send(order).map_err(|_| io::Error::other("the thread of the ports has ended"))?;
        Ok(Far { orders: to.clone(), number, report })
    }
}

/// The way to a half in a thread.
struct Far {
    orders: mpsc::Sender<Order>,
    number: u64,
    report: Arc<Report>,
}

impl fmt::Debug for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Far({}, {:?})", self.number, self.report)
    }
}

impl Far {
    /// Ends the half, and waits until it has ended: its thread only hands it over. A thread that is gone has left
    /// frame buffers that nobody knows enough of.
    fn close(&self) -> (Outside, bool) {
        let (answer, handed) = mpsc::channel();
        let order = Order::End { number: self.number, answer };
        let work = if self.orders.send(order).is_ok() { handed.recv().ok() } else { None };
        work.map_or_else(|| (self.report.outside(), false), Work::close)
    }
}

impl Drop for Far {
    /// A port that was not closed ends, too, but its frame buffers stay lent.
    fn drop(&mut self) {
        let (answer, _) = mpsc::channel();
        let _ = self.orders.send(Order::End { number: self.number, answer });
    }
}

/// What is left here of a half that receives.
#[derive(Debug)]
pub(super) struct Receiver {
    frames: Consumer<Passed>,
    buffers: Producer<Lent>,
    /// Frame buffers that the half should have.
    level: u32,
    /// Frame buffers that it has.
    lent: u32,
    borrower: Borrower,
    way: &'static str,
    far: Far,
}

impl Receiver {
    pub(super) fn way(&self) -> &'static str {
        self.way
    }

    pub(super) fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        let before = frames.len();
        while frames.len() - before < most {
            let Some(frame) = self.frames.take() else { break };
            if let Some(slot) = pool.hand_over(frame.lent, self.borrower) {
                pool.prefetch(&slot);
                frames.push(Received { slot, length: frame.length });
                self.lent -= 1;
            }
        }
        if frames.len() > before {
            self.frames.release();
        }
        if self.lent < self.level {
            while self.lent < self.level {
                let Some(lent) = pool.take_for(self.borrower) else { break };
                // There is room: the ring is as large as the pool.
                self.buffers.put(lent);
                self.lent += 1;
            }
            self.buffers.publish();
        }
        // What came before it failed comes first.
        if frames.len() == before { self.far.report.check() } else { Ok(()) }
    }

    pub(super) fn outside(&self) -> Outside {
        self.far.report.outside()
    }

    /// The half is gone then, and with it whatever could touch its frame buffers.
    pub(super) fn close(self) -> Closed {
        let (outside, is_done) = self.far.close();
        Closed::of(outside, self.borrower, is_done)
    }
}

/// What is left here of a half that sends.
#[derive(Debug)]
pub(super) struct Sender {
    frames: Producer<Passed>,
    done: Consumer<Lent>,
    is_published: bool,
    borrower: Borrower,
    far: Far,
}

impl Sender {
    pub(super) fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        let lent = pool.lend(slot, self.borrower);
        // There is room: the ring is as large as the pool.
        self.frames.put(Passed { lent, length });
        self.is_published = false;
    }

    pub(super) fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_published, true) {
            self.frames.publish();
        }
        let mut any = false;
        while let Some(lent) = self.done.take() {
            if let Some(slot) = pool.hand_over(lent, self.borrower) {
                pool.give(slot);
            }
            any = true;
        }
        if any {
            self.done.release();
        }
        self.far.report.check()
    }

    pub(super) fn outside(&self) -> Outside {
        self.far.report.outside()
    }

    /// The half is gone then, and with it whatever could touch its frame buffers.
    pub(super) fn close(mut self) -> Closed {
        self.frames.publish();
        let (outside, is_done) = self.far.close();
        Closed::of(outside, self.borrower, is_done)
    }
}
