//! A switch that runs, with ports from which frames come all the time.

use super::*;
use crate::handle::{self, Handle};
use crate::pool::Slot;
use crate::port::{Outside, Port, Received};
use crate::settings;
use crate::snapshot::Snapshot;
use crate::testing::Build;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// What the test and the ports of the switch share.
#[derive(Debug, Default)]
struct World {
    is_gone: [AtomicBool; 2],
    /// Whether to open and to close a port takes as long as this is so.
    is_slow: AtomicBool,
    came: AtomicU64,
    left: AtomicU64,
    opened: AtomicU64,
}

/// A port from which frames come all the time, until its interface is gone.
#[derive(Debug)]
struct Busy {
    world: Arc<World>,
    number: usize,
    frame: Vec<u8>,
}

impl Port for Busy {
    fn name(&self) -> &str {
        "busy"
    }

    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        if self.world.is_gone[self.number].load(Relaxed) {
            return Err(io::ErrorKind::NotFound.into());
        }
        for _ in 0..most.min(4) {
            let Some(mut slot) = pool.take() else { break };
            pool.bytes_mut(&mut slot, self.frame.len()).copy_from_slice(&self.frame);
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

impl World {
    fn set_gone(&self, is_gone: bool) {
        self.is_gone.iter().for_each(|own| own.store(is_gone, Relaxed));
    }

    fn wait_while_slow(&self) {
        while self.is_slow.load(Relaxed) {
            std::thread::sleep(time::Duration::from_millis(1));
        }
    }
}

struct Ports(Arc<World>);

impl Opener for Ports {
    type Port = Busy;
    type Opened = Busy;
    type Closed = Outside;

    fn prepare(&mut self, _: &Pool) -> io::Result<()> {
        Ok(())
    }

    fn open(&mut self, port: usize) -> io::Result<Busy> {
        self.0.wait_while_slow();
        if self.0.is_gone[port].load(Relaxed) {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.0.opened.fetch_add(1, Relaxed);
        let (source, destination) = if port == 0 { (1, 2) } else { (2, 1) };
        let frame = Build { source, destination, ..Build::all()[0] }.frame(200);
        Ok(Busy { world: Arc::clone(&self.0), number: port, frame })
    }

    fn join(opened: Busy, _: &mut Pool) -> io::Result<Busy> {
        Ok(opened)
    }

    fn close(&mut self, port: Busy) -> Outside {
        self.0.wait_while_slow();
        port.outside()
    }

    fn settle(closed: Outside, _: &mut Pool) -> Outside {
        closed
    }

    fn wait(_: &mut [Attached<Busy>], _: time::Duration) {}
}

const FILE: &str = "buffer = \"64KB\"\nrate = \"100Mbps\"\nqueues = 2\n[policy]\nkind = \"dt\"\nalpha = 1.0\n[scheduler]\nkind = \"rr\"\n\
                    [[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n[live]\nframes = 1024\n";

fn with_switch(test: impl FnOnce(&Handle, &World)) -> (Arc<Snapshot>, Arc<World>) {
    let world = Arc::new(World::default());
    let (handle, switch_side) = handle::pair();
    let (config, settings) = settings::read("live.toml", FILE, &[]).unwrap();
    let ports = Ports(Arc::clone(&world));
    let thread = std::thread::spawn(move || {
        let source = Source { file: "live.toml", text: FILE, changes: &[], settings: &settings };
        let mut runtime = Runtime::new(config, source, ports, switch_side).unwrap();
        let end = runtime.run();
        let (place, pool) = runtime.switch.port_and_pool(0);
        assert!(!place.is_up());
        (end, pool.buffers() - pool.free(), runtime.switch.path().tm().is_consistent())
    });
    test(&handle, &world);
    handle.stop();
    let (end, out, is_consistent) = thread.join().unwrap();
    assert!(matches!(end, End::Asked));
    let last = handle.snapshot().unwrap();
    assert_eq!(out as u64, last.books.waiting, "only what waits has frame buffers");
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

/// Headers that wait in the queues of their packets, come back, are pushed out: the books balance whatever is done to
/// packets.
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

/// What is cut waits in another queue than its packet would have: each queue has every packet once, all the same.
#[test]
fn the_books_balance_with_a_trim_queue() {
    let set = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    let other_drops = |snapshot: &Snapshot| {
        snapshot.total.dropped.packets - snapshot.total.dropped_by(forebay_tm::Reason::HeaderFull).packets
    };
    let mut before = 0;
    let (last, _) = with_switch(|handle, _| {
        handle.change(set("rate", "10Mbps")).unwrap();
        handle.change(set("trim", "{kind = \"to-queue\", queue = 1, size = 200}")).unwrap();
        let cut = wait_for(handle, |snapshot| snapshot.ports.iter().any(|port| port.headers_waiting > 10));
        let port = cut.ports.iter().max_by_key(|port| port.headers_waiting).unwrap();
        assert_eq!(port.headers_waiting, port.queues[1].packets, "nothing else comes to the trim queue");
        before = other_drops(&cut);
        wait_for(handle, |snapshot| snapshot.total.dropped.packets > cut.total.dropped.packets);
        // Headers that wait already leave by the trim queue, whatever becomes of others.
        handle.change(set("trim.queue", "0")).unwrap();
        wait_for(handle, |snapshot| snapshot.ports.iter().all(|port| port.queues[1].packets == 0));
    });
    assert!(last.total.trimmed.packets > 0 && last.total.headers_sent.packets > 0);
    assert_eq!(other_drops(&last), before, "trim drops, and no others");
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
        world.set_gone(true);
        wait_for(handle, |snapshot| snapshot.ports.iter().all(|port| !port.is_up));
        world.set_gone(false);
        let back = wait_for(handle, |snapshot| snapshot.ports.iter().all(|port| port.is_up));
        wait_for(handle, |snapshot| snapshot.total.sent.packets > back.total.sent.packets + 10);
    });
    assert_eq!(world.opened.load(Relaxed), 4);
    accounted_for(&last, &world);
}

/// To close a port and to open it again takes the kernel a while. The other ports do not wait for it.
#[test]
fn ports_that_come_and_go_hold_up_nobody() {
    let (last, world) = with_switch(|handle, world| {
        wait_for(handle, |snapshot| snapshot.total.sent.packets > 10);
        world.is_slow.store(true, Relaxed);
        world.is_gone[1].store(true, Relaxed);
        let away = wait_for(handle, |snapshot| !snapshot.ports[1].is_up);
        let goes_on = |before: &Snapshot| {
            let (received, sent) = (before.ports[0].received.packets, before.books.sent);
            wait_for(handle, |now| now.ports[0].received.packets > received + 100 && now.books.sent > sent + 10)
        };
        let closing = goes_on(&away);
        assert!(!closing.ports[1].is_up);
        world.is_gone[1].store(false, Relaxed);
        goes_on(&closing);
        world.is_slow.store(false, Relaxed);
        wait_for(handle, |snapshot| snapshot.ports[1].is_up);
    });
    assert_eq!(world.opened.load(Relaxed), 3);
    accounted_for(&last, &world);
}
