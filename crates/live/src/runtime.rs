//! A switch that runs: it polls until it is told to stop, swaps in new settings between two turns, shows snapshots, and
//! takes interfaces back that went away.

use crate::attached::Attached;
use crate::clock::Clock;
use crate::dataplane::{Dataplane, FrameObserver, Parts};
use crate::handle::{SnapshotPublisher, SwitchHandle};
use crate::pool::Pool;
use crate::port::Port;
use crate::settings::LiveConfig;
use crate::settings_worker::{Order, SettingsWorker};
use crate::snapshot::{Cost, Fate, Loss, PortState, QueueState, RECENT, Snapshot};
use crate::switch::{Switch, Timer, Trouble};
use forebay_tm::View as _;
use forebay_tm::drive::EndOfTime;
use forebay_tm::{Instant, Lost, Packet, Tm, Verdict};
use std::io;
use std::sync::mpsc::Receiver;
use std::time;

/// Looks for new settings and for interfaces that are back are so far apart. At most one change is made at a time.
const LOOK: time::Duration = time::Duration::from_millis(1);
const RETRY: time::Duration = time::Duration::from_millis(250);
/// Snapshots are at most so far apart.
const SNAPSHOT: time::Duration = time::Duration::from_millis(50);
/// One busy turn of so many is timed.
const TIMED: u64 = 32;

/// Whoever opens ports: called at the start, and again for interfaces that went away.
pub trait Opener {
    /// What it opens.
    type Port: Port;
    /// Opens a port, by its number.
    fn open(&mut self, port: usize, pool: &mut Pool) -> io::Result<Self::Port>;
    /// Waits until a frame comes in or `time` has passed.
    fn wait(&mut self, ports: &mut [Attached<Self::Port>], time: time::Duration);
}

/// What became of packets lately.
#[derive(Debug, Default)]
struct Journal {
    queues: usize,
    recent: Vec<Loss>,
}

impl Journal {
    fn note(&mut self, loss: Loss) {
        if self.recent.len() < RECENT {
            self.recent.push(loss);
        }
    }
}

impl FrameObserver for Journal {
    fn judged(&mut self, at: Instant, packet: &Packet, verdict: Verdict) {
        let fate = match verdict {
            Verdict::Queued { .. } => return,
            Verdict::Trimmed { .. } => Fate::Trimmed,
            Verdict::Returned { .. } => Fate::Returned,
            Verdict::Dropped { reason } => Fate::Dropped(reason),
        };
        self.note(Loss { at, port: packet.port as usize, queue: packet.queue as usize, bytes: packet.bytes, fate });
    }

    fn lost(&mut self, lost: &Lost) {
        let (port, queue) = (lost.queue / self.queues, lost.queue % self.queues);
        self.note(Loss { at: lost.at, port, queue, bytes: lost.bytes, fate: Fate::Dropped(lost.reason) });
    }
}

/// Times the parts of a turn.
struct Watch {
    last: time::Instant,
    cost: Cost,
}

impl Watch {
    fn passed(&mut self) -> u64 {
        let now = time::Instant::now();
        let passed = now.duration_since(self.last).as_nanos() as u64;
        self.last = now;
        passed
    }
}

impl Timer for Watch {
    fn core(&mut self, frames: usize) {
        self.cost.core_ns += self.passed();
        self.cost.packets += frames as u64;
    }

    fn io(&mut self) {
        self.cost.io_ns += self.passed();
    }
}

/// A number that nobody can guess.
fn secret() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// How a switch came to its end.
#[derive(Debug)]
pub enum End {
    /// It was asked to.
    Asked,
    /// It ran to the end of its time, 213 days.
    Time(EndOfTime),
}

/// A switch with all that it needs to run.
#[derive(Debug)]
pub struct Runtime<O: Opener> {
    switch: Switch<Attached<O::Port>, Journal>,
    opener: O,
    orders: Receiver<Order>,
    screen: SnapshotPublisher,
    changed: u64,
    config: LiveConfig,
    start: time::Instant,
    sequence: u64,
    turns: u64,
    busy_turns: u64,
    cost: Cost,
    wait: bool,
}

/// Where settings come from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What errors call the file.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What arguments change in it.
    pub changes: &'a [(String, String)],
    /// The file as changed, as TOML.
    pub settings: &'a str,
}

impl<O: Opener> Runtime<O> {
    /// Opens all ports; the error names the one that cannot be opened.
    pub fn new(config: LiveConfig, source: Source<'_>, mut opener: O, ear: SwitchHandle) -> Result<Self, String> {
        let run = &config.run;
        let mut pool = Pool::new(run.frames, run.frame).map_err(|error| {
            format!(
                "error: {}: live.frames: {} pieces of {} bytes: {error}\n  help: give fewer",
                source.file, run.frames, run.frame
            )
        })?;
        let mut ports = Vec::new();
        for (number, interface) in config.interfaces.iter().enumerate() {
            let name = interface.name(number);
            let port = opener
                .open(number, &mut pool)
                .map_err(|error| format!("error: {}: interface.{number}: {name}: {error}", source.file))?;
            ports.push(Attached::new(name, Some(port)));
        }
        let parts = Parts {
            pool,
            forwarding: config.forwarding.build(ports.len(), secret()),
            classifier: config.classifier.clone(),
            treatment: config.treatment.clone(),
            overhead: run.overhead,
        };
        let journal = Journal { queues: config.tm.queues, recent: Vec::with_capacity(RECENT) };
        let path = Dataplane::new(Tm::new(config.tm.clone()), parts, journal);
        let clock = Clock::new(run.catch_up, run.stall);
        let (requests, screen) = ear.split();
        let book = SettingsWorker {
            file: source.file.to_owned(),
            text: source.text.to_owned(),
            changes: source.changes.to_vec(),
            config: config.clone(),
            settings: source.settings.to_owned(),
        };
        let orders = book.open(requests).map_err(|error| format!("error: no thread for settings: {error}"))?;
        Ok(Self {
            switch: Switch::new(ports, path, clock),
            opener,
            orders,
            screen,
            changed: 0,
            start: time::Instant::now(),
            sequence: 0,
            turns: 0,
            busy_turns: 0,
            cost: Cost::default(),
            wait: run.wait,
            config,
        })
    }

    /// Runs until it is asked to stop. The last snapshot is shown before it returns.
    pub fn run(&mut self) -> End {
        let step = SNAPSHOT.min(time::Duration::from_nanos(self.config.run.timeline.ps() / 1_000));
        self.start = time::Instant::now();
        let (mut look, mut show, mut retry) = (time::Duration::ZERO, time::Duration::ZERO, RETRY);
        let end = loop {
            let up = self.start.elapsed();
            let busy = match self.poll_once(up) {
                Ok(busy) => busy,
                Err(Trouble::Port(port, _)) => {
                    let (place, pool) = self.switch.port_and_pool(port);
                    place.detach(pool);
                    // What was behind it may come back elsewhere.
                    self.switch.path().forget(port);
                    retry = up + RETRY;
                    true
                }
                Err(Trouble::Time(end)) => break End::Time(end),
            };
            if up >= look {
                look = up + LOOK;
                if self.serve() {
                    break End::Asked;
                }
                if up >= retry {
                    self.reattach();
                    retry = up + RETRY;
                }
            }
            if up >= show {
                show = up + step;
                self.show(up);
            } else if self.screen.is_behind() {
                self.screen.catch_up();
            }
            if self.wait && !busy {
                self.rest(up, look.min(show));
            }
        };
        let last = self.snapshot(self.start.elapsed());
        self.screen.show_last(last);
        for port in 0..self.config.interfaces.len() {
            let (place, pool) = self.switch.port_and_pool(port);
            place.close(pool);
        }
        end
    }

    fn poll_once(&mut self, up: time::Duration) -> Result<bool, Trouble> {
        let machine = Instant::from_ps((up.as_nanos() as u64).saturating_mul(1_000));
        self.turns += 1;
        let timed = self.busy_turns % TIMED == 0;
        let busy = if timed {
            let mut watch = Watch { last: self.start + up, cost: Cost::default() };
            let busy = self.switch.poll_timed(machine, &mut watch)?;
            // Turns without a frame are what waiting costs, not what packets cost.
            if busy {
                self.cost.core_ns += watch.cost.core_ns;
                self.cost.io_ns += watch.cost.io_ns;
                self.cost.packets += watch.cost.packets;
            }
            busy
        } else {
            self.switch.poll(machine)?
        };
        self.busy_turns += u64::from(busy);
        Ok(busy)
    }

    /// Nothing is to be done now: waits for a frame, the next departure or the next look.
    fn rest(&mut self, up: time::Duration, next: time::Duration) {
        let departure = self.switch.next_departure().map(|at| time::Duration::from_nanos(at.ps().div_ceil(1_000)));
        // A rest is not to be taken for a stall.
        let longest = up + time::Duration::from_nanos(self.config.run.stall.ps() / 2_000);
        let until = departure.map_or(next, |departure| departure.min(next)).min(longest);
        if let Some(left) = until.checked_sub(up).filter(|left| !left.is_zero()) {
            self.opener.wait(self.switch.ports(), left);
        }
    }

    /// Does what the settings worker has ready; true if the switch is to stop.
    fn serve(&mut self) -> bool {
        match self.orders.try_recv() {
            Err(_) => false,
            Ok(Order::Stop) => true,
            Ok(Order::Swap(settled, answer)) => {
                let swapped = self.switch.path().reconfigure(settled.tm, settled.classifier, settled.treatment);
                self.changed += u64::from(swapped.is_ok());
                // The settings worker waits for it, or has ended with the program.
                let _ = answer.send(swapped.map_err(|error| format!("error: {error}")));
                false
            }
        }
    }

    /// Takes back interfaces that were away.
    fn reattach(&mut self) {
        for port in 0..self.config.interfaces.len() {
            let (place, pool) = self.switch.port_and_pool(port);
            if !place.is_up() {
                if let Ok(port) = self.opener.open(port, pool) {
                    place.attach(port);
                }
            }
        }
    }

    fn show(&mut self, up: time::Duration) {
        let snapshot = self.snapshot(up);
        self.screen.show(snapshot);
    }

    fn snapshot(&mut self, up: time::Duration) -> Snapshot {
        self.sequence += 1;
        let stalls = self.switch.stalls();
        let names: Vec<(String, bool, _, _)> = self
            .switch
            .ports()
            .iter()
            .map(|place| (place.name().to_owned(), place.is_up(), place.outside(), place.received()))
            .collect();
        let path = self.switch.path();
        let queues = path.tm().config().queues;
        let mut ports = Vec::with_capacity(names.len());
        for (port, (name, is_up, outside, received)) in names.into_iter().enumerate() {
            let states = (0..queues).map(|queue| {
                let index = path.tm().queue_index(port, queue);
                let watermark = path.take_watermark(index);
                let tm = path.tm();
                let mut counters = tm.queue_counters(index);
                path.settle(&mut counters, index..index + 1);
                QueueState {
                    bytes: tm.queue_bytes(index),
                    packets: tm.queue_packets(index),
                    watermark,
                    threshold: tm.threshold(index).map(|threshold| threshold.value),
                    counters,
                }
            });
            let states = states.collect();
            let tm = path.tm();
            let own = tm.queue_index(port, 0)..tm.queue_index(port, 0) + queues;
            let cut: u64 = own.clone().map(|queue| path.cut_waiting(queue)).sum();
            let mut counters = tm.port_counters(port);
            path.settle(&mut counters, own);
            ports.push(PortState {
                name,
                is_up,
                rate: tm.rate(port),
                counters,
                headers_waiting: tm.header_packets(port) + cut as usize,
                outside,
                received,
                transmitted: path.transmitted(port),
                untrimmable: path.untrimmable(port),
                queues: states,
            });
        }
        let recent = std::mem::replace(&mut path.observer().recent, Vec::with_capacity(RECENT));
        let pieces = (path.pool().pieces(), path.pool().free());
        let unforwarded = path.unforwarded();
        let tm = path.tm();
        let mut total = tm.pool_counters();
        path.settle(&mut total, 0..ports.len() * queues);
        Snapshot {
            sequence: self.sequence,
            uptime: forebay_tm::Duration::from_ps((up.as_nanos() as u64).saturating_mul(1_000)),
            at: path.now(),
            policy: tm.config().policy.name().to_owned(),
            buffer: tm.config().buffer,
            used: tm.used(),
            total,
            memory: tm.memory_reads(),
            ports,
            unforwarded,
            books: path.books(),
            stalls,
            pieces,
            cost: Cost { turns: self.turns, busy_turns: self.busy_turns, ..self.cost },
            changes: self.changed,
            recent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{self, Handle};
    use crate::pool::Slot;
    use crate::port::{Outside, Received};
    use crate::settings;
    use crate::testing::Build;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

    /// What the test and the ports of the switch share.
    #[derive(Debug, Default)]
    struct World {
        is_gone: AtomicBool,
        came: AtomicU64,
        left: AtomicU64,
        opened: AtomicU64,
    }

    /// A port from which frames come all the time, until its interface is gone.
    #[derive(Debug)]
    struct Busy {
        world: Arc<World>,
        frame: Vec<u8>,
    }

    impl Port for Busy {
        fn name(&self) -> &str {
            "busy"
        }

        fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
            if self.world.is_gone.load(Relaxed) {
                return Err(io::ErrorKind::NotFound.into());
            }
            for _ in 0..most.min(4) {
                let Some(slot) = pool.take() else { break };
                pool.bytes_mut(slot, self.frame.len()).copy_from_slice(&self.frame);
                frames.push(Received { slot, length: self.frame.len() });
                self.world.came.fetch_add(1, Relaxed);
            }
            Ok(())
        }

        fn send(&mut self, pool: &mut Pool, slot: Slot, _: usize) {
            self.world.left.fetch_add(1, Relaxed);
            pool.give(slot);
        }

        fn flush(&mut self, _: &mut Pool) -> io::Result<()> {
            Ok(())
        }

        fn outside(&self) -> Outside {
            Outside::default()
        }

        fn close(&mut self, _: &mut Pool) {}
    }

    struct Ports(Arc<World>);

    impl Opener for Ports {
        type Port = Busy;

        fn open(&mut self, port: usize, _: &mut Pool) -> io::Result<Busy> {
            if self.0.is_gone.load(Relaxed) {
                return Err(io::ErrorKind::NotFound.into());
            }
            self.0.opened.fetch_add(1, Relaxed);
            let (source, destination) = if port == 0 { (1, 2) } else { (2, 1) };
            let frame = Build { source, destination, ..Build::all()[0] }.frame(200);
            Ok(Busy { world: Arc::clone(&self.0), frame })
        }

        fn wait(&mut self, _: &mut [Attached<Busy>], _: time::Duration) {}
    }

    const FILE: &str = "buffer = \"64KB\"\nrate = \"100Mbps\"\nqueues = 2\n[policy]\nkind = \"dt\"\nalpha = 1.0\n[scheduler]\nkind = \"rr\"\n\
                        [[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n[live]\nframes = 1024\n";

    fn with_switch(test: impl FnOnce(&Handle, &World)) -> (Arc<Snapshot>, Arc<World>) {
        let world = Arc::new(World::default());
        let (handle, ear) = handle::pair();
        let (config, settings) = settings::read("live.toml", FILE, &[]).unwrap();
        let ports = Ports(Arc::clone(&world));
        let thread = std::thread::spawn(move || {
            let source = Source { file: "live.toml", text: FILE, changes: &[], settings: &settings };
            let mut runtime = Runtime::new(config, source, ports, ear).unwrap();
            let end = runtime.run();
            let (place, pool) = runtime.switch.port_and_pool(0);
            assert!(!place.is_up());
            (end, pool.pieces() - pool.free(), runtime.switch.path().tm().is_consistent())
        });
        test(&handle, &world);
        handle.stop();
        let (end, out, is_consistent) = thread.join().unwrap();
        assert!(matches!(end, End::Asked));
        let last = handle.snapshot().unwrap();
        assert_eq!(out as u64, last.books.waiting, "only what waits has pieces");
        assert!(is_consistent);
        (last, world)
    }

    /// Waits for a snapshot of which something is true.
    fn wait_for(handle: &Handle, mut is_so: impl FnMut(&Snapshot) -> bool) -> Arc<Snapshot> {
        let mut sequence = 0;
        for _ in 0..1_000 {
            let snapshot = handle.newer_than(sequence, time::Duration::from_secs(10)).expect("snapshots come");
            balanced(&snapshot);
            if is_so(&snapshot) {
                return snapshot;
            }
            sequence = snapshot.sequence;
        }
        panic!("it never is");
    }

    /// Every frame is somewhere, and once.
    fn balanced(snapshot: &Snapshot) {
        let Snapshot { books, total, .. } = snapshot;
        assert_eq!(books.missing(), 0, "{books:?}");
        assert_eq!(books.received, snapshot.ports.iter().map(|port| port.received.packets).sum::<u64>());
        assert_eq!(books.sent, snapshot.ports.iter().map(|port| port.transmitted.packets).sum::<u64>());
        let queues = snapshot.ports.iter().flat_map(|port| port.queues.iter().map(|queue| &queue.counters));
        for counters in queues.chain(snapshot.ports.iter().map(|port| &port.counters)).chain([total]) {
            let known = counters.sent.packets + counters.dropped.packets + counters.trimmed.packets;
            assert_eq!(
                counters.offered.packets,
                known + counters.returned.packets + counters.waiting.packets,
                "{counters:?}"
            );
        }
    }

    fn accounted_for(last: &Snapshot, world: &World) {
        balanced(last);
        let total = &last.total;
        assert_eq!(total.offered.packets + last.unforwarded.total(), world.came.load(Relaxed));
        assert_eq!(total.offered.packets, total.sent.packets + total.dropped.packets + total.waiting.packets);
        let outside: u64 = last.ports.iter().map(|port| port.outside.send_failures).sum();
        assert_eq!(total.sent.packets, world.left.load(Relaxed) + outside);
        assert_eq!(last.ports.iter().map(|port| port.received.packets).sum::<u64>(), world.came.load(Relaxed));
    }

    #[test]
    fn a_thousand_changes_under_load_lose_nothing() {
        let policies = ["dt", "abm", "cs", "occamy", "fb", "pushout"];
        let (last, world) = with_switch(|handle, _| {
            for step in 0..1_000usize {
                let set = |key: &str, value: String| vec![(key.to_owned(), value)];
                let change = match step % 4 {
                    0 => set("policy.kind", policies[step / 4 % policies.len()].to_owned()),
                    1 => set("interface.1.rate", format!("{}Mbps", 10 + step % 90)),
                    2 => set("ecn", format!("{{kind = \"step\", threshold = {}}}", 1_000 + step)),
                    _ => set("scheduler.kind", ["strict", "rr"][step / 4 % 2].to_owned()),
                };
                handle.change(change.clone()).unwrap_or_else(|error| panic!("{change:?}: {error}"));
            }
            wait_for(handle, |snapshot| snapshot.total.sent.packets > 100);
        });
        assert_eq!(last.changes, 1_000);
        accounted_for(&last, &world);
    }

    /// Headers that wait in the queues of their packets, come back, are pushed out: the books balance whatever is done to packets.
    #[test]
    fn the_books_balance_in_every_way_of_trimming() {
        let set = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        let (last, _) = with_switch(|handle, _| {
            handle.change(set("rate", "10Mbps")).unwrap();
            for round in 0..6 {
                let policy = ["dt", "pushout", "occamy"][round % 3];
                handle.change(set("policy.kind", policy)).unwrap();
                for trim in [
                    "{kind = \"cut-payload\"}",
                    "{kind = \"ndp\", header_capacity = 4, return_to_sender = true}",
                    "{kind = \"ndp\"}",
                ] {
                    let mut changed = handle.change(set("trim", trim));
                    // To cut-payload, when no header waits in a queue of its own.
                    for _ in 0..200 {
                        if changed.is_ok() {
                            break;
                        }
                        std::thread::sleep(time::Duration::from_millis(5));
                        changed = handle.change(set("trim", trim));
                    }
                    let now = handle.snapshot().map_or(0, |snapshot| snapshot.sequence);
                    let mut seen = 0;
                    wait_for(handle, |snapshot| {
                        seen += usize::from(snapshot.sequence > now);
                        seen > 2
                    });
                }
            }
        });
        assert!(last.total.trimmed.packets > 0 && last.books.sent > 0);
    }

    #[test]
    fn bad_changes_are_refused_and_change_nothing() {
        with_switch(|handle, _| {
            let before = handle.settings().unwrap();
            for (key, value, why) in [
                ("policy.alpha", "-1", "policy.alpha"),
                ("policy.kind", "best", "\"best\""),
                ("buffer", "1MB", "it cannot change while the switch runs"),
                ("interface.0.name", "c", "it cannot change while the switch runs"),
                ("live.overhead", "0", "it cannot change while the switch runs"),
                ("polizy.alpha", "1", "polizy"),
                ("policy.alpha", "[1", "is not a value"),
                ("interface.7.rate", "1Gbps", "no element"),
            ] {
                let error = handle.change(vec![(key.to_owned(), value.to_owned())]).unwrap_err();
                assert!(error.contains(why), "{key}={value}: {error}");
            }
            assert_eq!(handle.settings().unwrap(), before);
            handle.change(vec![("policy.alpha".to_owned(), "2".to_owned())]).unwrap();
            assert!(handle.settings().unwrap().contains("alpha = 2"), "{}", handle.settings().unwrap());
        });
    }

    #[test]
    fn an_interface_goes_away_and_comes_back() {
        let (last, world) = with_switch(|handle, world| {
            wait_for(handle, |snapshot| snapshot.total.sent.packets > 10);
            world.is_gone.store(true, Relaxed);
            wait_for(handle, |snapshot| snapshot.ports.iter().all(|port| !port.is_up));
            world.is_gone.store(false, Relaxed);
            let back = wait_for(handle, |snapshot| snapshot.ports.iter().all(|port| port.is_up));
            wait_for(handle, |snapshot| snapshot.total.sent.packets > back.total.sent.packets + 10);
        });
        assert_eq!(world.opened.load(Relaxed), 4);
        accounted_for(&last, &world);
    }
}
