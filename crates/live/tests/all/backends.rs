//! Ports on real interfaces: each test has a network namespace of its own, with veth pairs. Needs root.

use forebay_live::backend::{Attacher, Backend, Kind, privileges};
use forebay_live::pool::Pool;
use forebay_live::port::{Port, Received};
use std::io::{self, BufRead, BufReader, Write};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BUFFERS: u32 = 2_048;
const KINDS: [Kind; 4] = [Kind::Packet, Kind::Xdp, Kind::XdpGeneric, Kind::Mixed];
/// With ports in the test's own thread, and in threads of their own.
const WAYS: [(Kind, bool); 8] = [
    (Kind::Packet, false),
    (Kind::Xdp, false),
    (Kind::XdpGeneric, false),
    (Kind::Mixed, false),
    (Kind::Packet, true),
    (Kind::Xdp, true),
    (Kind::XdpGeneric, true),
    (Kind::Mixed, true),
];
const PATIENCE: Duration = Duration::from_secs(20);

/// Puts this thread, and the programs that it starts, into a new network namespace.
fn namespace() {
    // SAFETY: only this thread moves, and no memory is involved.
    let result = unsafe { libc::unshare(libc::CLONE_NEWNET) };
    let why =
        "these tests make network namespaces and need root: sudo -E cargo test -p forebay-live --test all backends";
    assert_eq!(result, 0, "{why} ({})", io::Error::last_os_error());
    // Nothing but what the tests send.
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

fn ip(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().expect("iproute2 is installed");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A veth pair: the switch's end and the host's.
fn pair(switch: &str, host: &str) {
    ip(&format!("link add {switch} type veth peer name {host}"));
    ip(&format!("link set {switch} up"));
    ip(&format!("link set {host} up"));
}

/// One pair, `sw` and `host`, in a new namespace, with a pool.
fn one_pair() -> (Pool, Attacher) {
    namespace();
    pair("sw", "host");
    let pool = Pool::new(BUFFERS, 2_048).unwrap();
    let attacher = Attacher::new(&pool, 2);
    (pool, attacher)
}

/// [`one_pair`], with ports in threads of their own if asked.
fn one_pair_in(threads: bool) -> (Pool, Attacher) {
    let (pool, attacher) = one_pair();
    (pool, if threads { attacher.in_threads().unwrap() } else { attacher })
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

/// Receives so many frames.
fn receive(port: &mut Backend, pool: &mut Pool, count: usize) -> Vec<Vec<u8>> {
    let mut frames: Vec<Received> = Vec::new();
    until(&format!("{count} frames have come"), || {
        port.receive(pool, &mut frames, 64).unwrap();
        frames.len() >= count
    });
    take(pool, frames)
}

fn take(pool: &mut Pool, frames: Vec<Received>) -> Vec<Vec<u8>> {
    let take = |frame: Received| {
        let bytes = pool.bytes(&frame.slot, frame.length).to_vec();
        pool.give(frame.slot);
        bytes
    };
    frames.into_iter().map(take).collect()
}

fn send(port: &mut Backend, pool: &mut Pool, frame: &[u8]) {
    let mut slot = None;
    until("a frame buffer is free", || {
        port.flush(pool).unwrap();
        slot = pool.take();
        slot.is_some()
    });
    let mut slot = slot.unwrap();
    pool.bytes_mut(&mut slot, frame.len()).copy_from_slice(frame);
    port.send(pool, slot, frame.len());
    port.flush(pool).unwrap();
}

/// Frames of many lengths, with none, one or two tags.
fn frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for (number, payload) in (0..8).chain([45, 46, 47, 333, 1_024, 1_499, 1_500]).enumerate() {
        for tags in 0..3 {
            let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8];
            if tags == 2 {
                frame.extend([0x88, 0xa8, 0x00, 0x05]);
            }
            if tags >= 1 {
                frame.extend([0x81, 0x00, 0xa0 | tags, 0x07]);
            }
            // Linux gives frames room for one tag of 802.1Q beyond the MTU, and takes no tags of frames that end right
            // behind them.
            let payload = match tags {
                0 => payload,
                1 => payload.max(2),
                _ => payload.clamp(2, 1_492),
            };
            frame.extend([0x88, 0xb5]);
            frame.extend((0..payload).map(|index| (index * 7 + number) as u8));
            frames.push(frame);
        }
    }
    frames
}

#[test]
fn frames_come_and_go_byte_for_byte() {
    for (kind, threads) in WAYS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair_in(threads);
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            let mut host = attacher.attach("host", Kind::Packet, &mut pool).unwrap();
            let expected = match kind {
                Kind::Packet => "packet",
                Kind::Mixed => "mixed",
                _ => "xdp",
            };
            assert!(port.way().unwrap().starts_with(expected), "{:?}", port.way());
            for frame in frames() {
                send(&mut host, &mut pool, &frame);
                assert_eq!(receive(&mut port, &mut pool, 1), [&frame[..]], "{kind:?} receives");
                send(&mut port, &mut pool, &frame);
                assert_eq!(receive(&mut host, &mut pool, 1), [&frame[..]], "{kind:?} sends");
            }
            assert_eq!(port.outside(), Default::default());
            port.close(&mut pool);
            host.close(&mut pool);
            assert_eq!(pool.free(), BUFFERS as usize, "every frame buffer is back");
        })
        .join()
        .unwrap();
    }
}

/// Batches larger than what the kernel takes in one call, in both directions at once.
#[test]
fn many_frames_come_in_order() {
    for (kind, threads) in WAYS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair_in(threads);
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            let mut host = attacher.attach("host", Kind::Packet, &mut pool).unwrap();
            for round in 0..20_u32 {
                for number in 0..200_u32 {
                    let mut frame = frames()[3].clone();
                    frame.extend([round.to_be_bytes(), number.to_be_bytes()].concat());
                    let mut slot = pool.take().unwrap();
                    pool.bytes_mut(&mut slot, frame.len()).copy_from_slice(&frame);
                    port.send(&mut pool, slot, frame.len());
                }
                port.flush(&mut pool).unwrap();
                let mut got = Vec::new();
                until("all have come", || {
                    port.flush(&mut pool).unwrap();
                    host.receive(&mut pool, &mut got, 64).unwrap();
                    got.len() >= 200
                });
                for (number, frame) in take(&mut pool, got).iter().enumerate() {
                    let tail = [round.to_be_bytes(), (number as u32).to_be_bytes()].concat();
                    assert_eq!(frame[frame.len() - 8..], tail);
                }
            }
            assert_eq!((port.outside(), host.outside()), Default::default());
        })
        .join()
        .unwrap();
    }
}

/// What the interface could not hand to its peer.
fn dropped_by(interface: &str) -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = table.lines().find(|line| line.trim_start().starts_with(&format!("{interface}:"))).unwrap();
    let numbers: Vec<u64> =
        line.split(':').nth(1).unwrap().split_whitespace().map(|number| number.parse().unwrap()).collect();
    numbers[11]
}

#[test]
fn every_frame_of_a_flood_is_received_or_counted() {
    for (kind, threads) in WAYS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair_in(threads);
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            let mut host = attacher.attach("host", Kind::Packet, &mut pool).unwrap();
            let frame = vec![0x5a; 200];
            // Far more than the pool and the queues of the kernel hold together.
            let sent = 10_000;
            for _ in 0..sent {
                send(&mut host, &mut pool, &frame);
            }
            let mut received = 0;
            until("all are accounted for", || {
                let mut frames = Vec::new();
                port.receive(&mut pool, &mut frames, 64).unwrap();
                received += take(&mut pool, frames).len() as u64;
                let lost_on_the_way = host.outside().send_failures + dropped_by("host");
                received + port.outside().receive_overruns + lost_on_the_way == sent
            });
            assert!(port.outside().receive_overruns > 1_000, "{kind:?}: {:?}", port.outside());
            // The kernel has frame buffers again, at once or as soon as the thread that receives has had a turn.
            until("it goes on", || {
                send(&mut host, &mut pool, &frame);
                let mut frames = Vec::new();
                port.receive(&mut pool, &mut frames, 64).unwrap();
                take(&mut pool, frames).first() == Some(&frame)
            });
        })
        .join()
        .unwrap();
    }
}

#[test]
fn an_interface_that_disappears_can_come_back() {
    for (kind, threads) in WAYS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair_in(threads);
            pair("sw2", "host2");
            // A second one, so that the memory stays registered, and then the first one alone.
            let mut other = attacher.attach("sw2", kind, &mut pool).unwrap();
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            for round in 0..3 {
                ip("link del sw");
                let mut frames = Vec::new();
                until("an error shows", || port.receive(&mut pool, &mut frames, 64).is_err());
                port.close(&mut pool);
                let slot = pool.take().unwrap();
                port.send(&mut pool, slot, 100);
                assert_eq!(port.outside().send_failures, 1, "what is sent to nowhere is counted");
                let error = attacher.attach("sw", kind, &mut pool).unwrap_err().to_string();
                assert!(error.contains("`sw`") && error.contains("no such interface"), "{error}");
                pair("sw", "host");
                port = attacher.attach("sw", kind, &mut pool).unwrap();
                let mut host = attacher.attach("host", Kind::Packet, &mut pool).unwrap();
                send(&mut host, &mut pool, &[1; 60]);
                assert_eq!(receive(&mut port, &mut pool, 1), [[1; 60]]);
                send(&mut port, &mut pool, &[2; 60]);
                assert_eq!(receive(&mut host, &mut pool, 1), [[2; 60]]);
                host.close(&mut pool);
                if round == 1 {
                    other.close(&mut pool);
                }
            }
            port.close(&mut pool);
            assert_eq!(pool.free(), BUFFERS as usize, "every frame buffer is back");
        })
        .join()
        .unwrap();
    }
}

#[test]
fn an_interface_that_goes_down_is_an_error() {
    for (kind, threads) in WAYS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair_in(threads);
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            ip("link set sw down");
            until("an error shows", || port.receive(&mut pool, &mut Vec::new(), 64).is_err());
            port.close(&mut pool);
            let error = attacher.attach("sw", kind, &mut pool).unwrap_err().to_string();
            assert!(error.contains("ip link set sw up"), "{error}");
            ip("link set sw up");
            port = attacher.attach("sw", kind, &mut pool).unwrap();
            port.close(&mut pool);
            assert_eq!(pool.free(), BUFFERS as usize);
        })
        .join()
        .unwrap();
    }
}

/// Whether the interface is as it was before anyone attached to it.
fn is_untouched(interface: &str) -> bool {
    let shown = ip(&format!("-d link show {interface}"));
    !shown.contains("xdp") && shown.contains("promiscuity 0")
}

#[test]
fn nothing_is_left_at_the_interface() {
    for (kind, threads) in WAYS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair_in(threads);
            assert!(is_untouched("sw"));
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            let shown = ip("-d link show sw");
            assert!(shown.contains("promiscuity 1"), "{shown}");
            assert_eq!(shown.contains("xdp"), matches!(kind, Kind::Xdp | Kind::XdpGeneric), "{shown}");
            port.close(&mut pool);
            // Other tests start programs, which have our descriptors until they have really started.
            until("the interface is as it was", || is_untouched("sw"));
            drop(attacher.attach("sw", kind, &mut pool).unwrap());
            until("the interface is as it was", || is_untouched("sw"));
        })
        .join()
        .unwrap();
    }
}

const CHILD: &str = "FOREBAY_TEST_ATTACH";

/// Not a test of its own: the process that `a_killed_process_leaves_nothing` kills.
#[test]
#[ignore = "is run by another test"]
fn attaches_and_waits() {
    let kind = KINDS[std::env::var(CHILD).unwrap().parse::<usize>().unwrap()];
    let mut pool = Pool::new(BUFFERS, 2_048).unwrap();
    let _port = Attacher::new(&pool, 2).attach("sw", kind, &mut pool).unwrap();
    println!("\nattached");
    io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

fn attached_child(kind: usize) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "backends::attaches_and_waits", "--ignored", "--nocapture"])
        .env(CHILD, kind.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "attached"), "the child attaches");
    child
}

#[test]
fn a_killed_process_leaves_nothing() {
    for (number, kind) in KINDS.into_iter().enumerate() {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair();
            let mut child = attached_child(number);
            assert!(!is_untouched("sw"));
            child.kill().unwrap();
            child.wait().unwrap();
            until("the interface is as it was", || is_untouched("sw"));
            attacher.attach("sw", kind, &mut pool).unwrap();
        })
        .join()
        .unwrap();
    }
}

#[test]
fn two_programs_cannot_have_an_interface_by_xdp() {
    let (mut pool, mut attacher) = one_pair();
    let _port = attacher.attach("sw", Kind::Xdp, &mut pool).unwrap();
    let mut other = Pool::new(64, 2_048).unwrap();
    let error = Attacher::new(&other, 1).attach("sw", Kind::Xdp, &mut other).unwrap_err().to_string();
    assert!(error.contains("`sw`") && error.contains("stop that one"), "{error}");
}

/// The kernel of this machine leaves checksums to interfaces: they are completed, so that peers on veth work as they
/// are.
#[test]
fn partial_checksums_are_completed() {
    let (mut pool, mut attacher) = one_pair();
    ip("addr add 10.9.0.1/24 dev host");
    ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev host nud permanent");
    let mut port = attacher.attach("sw", Kind::Packet, &mut pool).unwrap();
    let socket = UdpSocket::bind("10.9.0.1:1000").unwrap();
    socket.send_to(b"forebay", "10.9.0.2:2000").unwrap();
    let frame = receive(&mut port, &mut pool, 1).remove(0);
    let word = |at: usize| u32::from(frame[at]) << 8 | u32::from(*frame.get(at + 1).unwrap_or(&0));
    let length = 8 + 7;
    assert_eq!(frame.len(), 34 + length);
    let pseudo = 17 + length as u32 + (26..34).step_by(2).map(word).sum::<u32>();
    let sum = pseudo + (34..frame.len()).step_by(2).map(word).sum::<u32>();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "the checksum is right: {frame:02x?}");
}

/// A frame for the switch's own address does not get to this machine's stack: there is no answer but the switch's.
#[test]
fn the_machine_itself_does_not_answer() {
    for kind in KINDS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair();
            ip("addr add 10.9.0.2/24 dev sw");
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            let mut host = attacher.attach("host", Kind::Packet, &mut pool).unwrap();
            let mut request = vec![0xff; 6];
            request.extend([2, 0, 0, 0, 0, 1, 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 9, 0, 1]);
            request.extend([0, 0, 0, 0, 0, 0, 10, 9, 0, 2]);
            send(&mut host, &mut pool, &request);
            assert_eq!(receive(&mut port, &mut pool, 1), [&request[..]]);
            // An answer would have come before this one does.
            send(&mut port, &mut pool, &[3; 60]);
            assert_eq!(receive(&mut host, &mut pool, 1), [[3; 60]]);
        })
        .join()
        .unwrap();
    }
}

#[test]
fn all_queues_of_an_interface_are_received_from() {
    for kind in KINDS {
        std::thread::spawn(move || {
            namespace();
            ip("link add sw numtxqueues 4 numrxqueues 4 type veth peer name host numtxqueues 4 numrxqueues 4");
            ip("link set sw up");
            ip("link set host up");
            let mut pool = Pool::new(BUFFERS, 2_048).unwrap();
            let mut attacher = Attacher::new(&pool, 2);
            let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
            ip("addr add 10.9.0.1/24 dev host");
            ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev host nud permanent");
            // Flows are spread over the queues.
            for _ in 0..64 {
                UdpSocket::bind("10.9.0.1:0").unwrap().send_to(b"forebay", "10.9.0.2:2000").unwrap();
            }
            assert_eq!(receive(&mut port, &mut pool, 64).len(), 64);
            port.close(&mut pool);
            assert_eq!(pool.free(), BUFFERS as usize);
        })
        .join()
        .unwrap();
    }
}

#[test]
fn what_cannot_be_attached_to_says_why() {
    let (mut pool, mut attacher) = one_pair();
    let mut why = |name: &str| attacher.attach(name, Kind::Auto, &mut pool).unwrap_err().to_string();
    assert!(why("nowhere").contains("`nowhere`: there is no such interface"), "{}", why("nowhere"));
    assert!(why("a-name-that-is-too-long").contains("1 to 15 characters"));
    ip("link set sw down");
    assert!(why("sw").contains("ip link set sw up"));
    ip("link set sw up mtu 3000");
    assert!(why("sw").contains("set `frame` to 4096"), "{}", why("sw"));
    ip("link set sw mtu 1600");
    assert!(attacher.attach("sw", Kind::Auto, &mut pool).is_ok());
}

/// A line of what the kernel says about this thread.
fn status(name: &str) -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
}

#[test]
fn without_other_privileges_ports_still_attach() {
    for kind in KINDS {
        std::thread::spawn(move || {
            let (mut pool, mut attacher) = one_pair();
            privileges::drop().unwrap();
            assert_eq!(status("CapEff:"), format!("{:016x}", 1_u64 << 12 | 1 << 13 | 1 << 39));
            assert_eq!((status("CapPrm:"), status("NoNewPrivs:")), (status("CapEff:"), "1".to_owned()));
            // SAFETY: no memory is involved.
            assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNS) }, -1, "what only root may do is over");
            for _ in 0..2 {
                let mut port = attacher.attach("sw", kind, &mut pool).unwrap();
                let mut host = attacher.attach("host", Kind::Packet, &mut pool).unwrap();
                send(&mut host, &mut pool, &[7; 60]);
                assert_eq!(receive(&mut port, &mut pool, 1), [[7; 60]]);
                port.close(&mut pool);
                host.close(&mut pool);
            }
            privileges::drop_all().unwrap();
            assert_eq!(status("CapEff:"), "0000000000000000");
            let error = attacher.attach("sw", kind, &mut pool).unwrap_err().to_string();
            assert!(error.contains("`sw`") && error.contains("CAP_NET_RAW"), "{error}");
        })
        .join()
        .unwrap();
    }
}

/// A second switch on an interface would see half of the frames, or send them twice.
#[test]
fn an_interface_belongs_to_one_switch() {
    let (mut pool, mut attacher) = one_pair();
    for kind in KINDS.into_iter().chain([Kind::Auto]) {
        let mut first = attacher.attach("sw", kind, &mut pool).unwrap();
        for other in [Kind::Auto, Kind::Packet, Kind::Xdp, Kind::Mixed] {
            let error = attacher.attach("sw", other, &mut pool).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("belongs to another switch"), "{kind:?}, {other:?}: {error}");
        }
        attacher.attach("host", Kind::Packet, &mut pool).unwrap().close(&mut pool);
        first.close(&mut pool);
    }
}

/// Veth pairs have the rate of neither AF_XDP nor AF_PACKET alone: what receives by the one and sends by the other is
/// fastest.
#[test]
fn what_is_fastest_is_chosen() {
    let (mut pool, mut attacher) = one_pair();
    let mut port = attacher.attach("sw", Kind::Auto, &mut pool).unwrap();
    assert_eq!(port.way(), Some("mixed"));
    port.close(&mut pool);
    drop(attacher);
    // Without room for AF_XDP in its frame buffers.
    let mut large = Pool::new(64, 8_192).unwrap();
    let port = Attacher::new(&large, 1).attach("sw", Kind::Auto, &mut large).unwrap();
    assert_eq!(port.way(), Some("packet"));
}

/// There is no card here that has it: the error says so, nothing is left, and other ways still work.
#[test]
fn zero_copy_is_refused_where_no_driver_has_it() {
    let (mut pool, mut attacher) = one_pair();
    let error = attacher.attach("sw", Kind::ZeroCopy, &mut pool).unwrap_err().to_string();
    assert!(error.contains("`sw`") && error.contains("(veth) has no zero-copy AF_XDP"), "{error}");
    until("the interface is as it was", || is_untouched("sw"));
    assert_eq!(pool.free(), BUFFERS as usize);
    let mut port = attacher.attach("sw", Kind::Xdp, &mut pool).unwrap();
    let error = attacher.attach("host", Kind::ZeroCopy, &mut pool).unwrap_err().to_string();
    assert!(error.contains("by all of its AF_XDP ports, or by none"), "{error}");
    port.close(&mut pool);
}
