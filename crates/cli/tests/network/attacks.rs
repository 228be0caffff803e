//! A live switch under attack: HTTP, the control socket and frames at once, while what it forwards is counted. Needs
//! root and iproute2. What the machine itself does to frames is seen at the kernel's bridge, in the same way and under
//! the same attack.
//!
//! `FOREBAY_ATTACK_BINARY` names another `forebay` to be attacked, `FOREBAY_ATTACK_CLIENTS` and
//! `FOREBAY_ATTACK_SECONDS` how many clients attack and for how long; what was measured is printed (`--nocapture`).

use crate::switch::{HTTP, Measured, Switch, file, forward, ip, live, network, pair, post, through, wait_until};
use forebay_live::backend::{Attacher, Kind};
use forebay_live::pool::Pool;
use forebay_live::port::Port;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// So often is it measured whether forwarding stalls, unless it did not.
const TRIES: usize = 3;

/// Requests over HTTP that were refused, or got no answer since there were too many.
fn attack_http(clients: usize, is_over: &Arc<AtomicBool>) -> Vec<thread::JoinHandle<u64>> {
    let unknown = |keys: usize| {
        let pairs: Vec<String> = (0..keys).map(|key| format!("\"key{key}\":\"{}\"", "x".repeat(44))).collect();
        format!("{{{}}}", pairs.join(","))
    };
    let bodies = Arc::new([
        unknown(1_000),
        unknown(200),
        format!("{{\"policy.{}\": \"1\"}}", vec!["a"; 12_000].join(".")),
        format!("{{\"policy.{}\": \"1\"}}", vec!["a"; 15].join(".")),
    ]);
    (0..clients)
        .map(|client| {
            let (bodies, is_over) = (Arc::clone(&bodies), Arc::clone(is_over));
            thread::spawn(move || {
                let mut refused = 0;
                while !is_over.load(Relaxed) {
                    // The first kind is what the others are beside.
                    let body =
                        &bodies[if refused % 4 == 3 { (client + refused as usize / 4) % bodies.len() } else { 0 }];
                    match post(body) {
                        Some(200) => panic!("it was not refused"),
                        _ => refused += 1,
                    }
                }
                refused
            })
        })
        .collect()
}

/// Lines to the control socket that were refused, or got no answer.
fn attack_socket(path: PathBuf, is_over: Arc<AtomicBool>) -> thread::JoinHandle<u64> {
    thread::spawn(move || {
        let unknown = format!("{{\"set\":{{\"key\":\"{}\"}}}}\n", "x".repeat(40_000));
        let deep = format!("{}\n", "[".repeat(60_000));
        let (mut refused, mut answer) = (0, vec![0; 4_096]);
        while !is_over.load(Relaxed) {
            let Ok(mut stream) = UnixStream::connect(&path) else { continue };
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            for line in [&*unknown, &*deep, "\u{0}\n", "{\"set\":{\"policy.alpha\":\"-1\"}}\n"] {
                if stream.write_all(line.as_bytes()).is_err() || !matches!(stream.read(&mut answer), Ok(1..)) {
                    break;
                }
                assert!(!answer.starts_with(b"{\"ok\""), "it was not refused");
                refused += 1;
            }
        }
        refused
    })
}

/// Frames of ever new senders and without sense, 64 a millisecond, that go nowhere: to the port that they come from.
fn attack_frames(is_over: Arc<AtomicBool>) -> thread::JoinHandle<u64> {
    let mut pool = Pool::new(512, 2_048).unwrap();
    let mut port = Attacher::new(&pool, 1).attach("h3", Kind::Packet, &mut pool).unwrap();
    thread::spawn(move || {
        let mut sent = 0_u64;
        while !is_over.load(Relaxed) {
            for _ in 0..64 {
                let Some(mut slot) = pool.take() else { break };
                let length = 60 + (sent.wrapping_mul(7_919) % 1_400) as usize;
                let frame = pool.bytes_mut(&mut slot, length);
                frame.iter_mut().enumerate().for_each(|(at, byte)| *byte = (sent as usize * 31 + at * 17) as u8);
                frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 3]);
                frame[6..12].copy_from_slice(&(2 << 40 | (sent << 8) & 0xff_ffff_ff00).to_be_bytes()[2..]);
                frame[12..14].copy_from_slice(if sent % 2 == 0 { &[0x08, 0x00] } else { &[0x86, 0xdd] });
                port.send(&mut pool, slot, length);
                sent += 1;
            }
            port.flush(&mut pool).unwrap();
            thread::sleep(Duration::from_millis(1));
        }
        port.close(&mut pool);
        sent
    })
}

/// All attackers at once; how often they have attacked comes at the end.
fn attack(switch: &Switch, is_over: &Arc<AtomicBool>) -> Vec<thread::JoinHandle<u64>> {
    let mut attackers = attack_http(number("FOREBAY_ATTACK_CLIENTS", 41), is_over);
    for _ in 0..4 {
        attackers.push(attack_socket(switch.out.join("control.sock"), Arc::clone(is_over)));
    }
    attackers.push(attack_frames(Arc::clone(is_over)));
    attackers
}

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn forwarding_goes_on_under_attack() {
    let _one = network();
    (3..=5).for_each(pair);
    ip("link add bridge type bridge");
    ip("link set s4 master bridge");
    ip("link set s5 master bridge");
    ip("link set bridge up");
    // Where hosts are is known: the attacker's made-up addresses push out what was learned, and then frames go
    // everywhere.
    let entry = |host: u32| format!("[[forwarding.entry]]\nmac = \"02:00:00:00:00:0{host}\"\nport = \"s{host}\"\n");
    let third = format!("[[interface]]\nname = \"s3\"\n{}{}", entry(2), entry(3));
    let switch = Switch::start("attacks-forwarding", &format!("[http]\nlisten = \"{HTTP}\"\n{third}"));
    let seconds = number("FOREBAY_ATTACK_SECONDS", 3) as f64;
    let calm = forward(&switch, seconds.min(10.0));
    let is_over = Arc::new(AtomicBool::new(false));
    let attackers = attack(&switch, &is_over);
    thread::sleep(Duration::from_millis(200));
    let books = switch.check_books(&is_over);
    // What happens at the bridge, too, is the machine's doing; what the switch does to itself happens every time.
    let (mut bridge, mut attacked) = (Measured::default(), Measured::default());
    let mut stalls = Vec::new();
    for _ in 0..TRIES {
        bridge = through(["h4", "h5"], Path::new("/nowhere"), seconds);
        attacked = forward(&switch, seconds);
        stalls.push((attacked.stall, bridge.stall));
        if attacked.stall < Duration::from_millis(20).max(bridge.stall).max(calm.stall) {
            break;
        }
    }
    is_over.store(true, Relaxed);
    let requests: Vec<u64> = attackers.into_iter().map(|attacker| attacker.join().unwrap()).collect();
    let checks = books.join().unwrap();
    let snapshot = switch.snapshot();
    let rate = |measured: &Measured| measured.came as f64 / measured.sent as f64;
    println!("calm:     {calm:?}");
    println!("attacked: {attacked:?}, by {requests:?}, {checks} looks at the books");
    println!("bridge:   {bridge:?}");
    println!("stalls:   {}", snapshot["stalls"]);
    assert!(rate(&attacked) > 0.95 * rate(&calm), "{attacked:?}, and {calm:?} before");
    assert!(attacked.came > 0 && checks > 0 && requests.iter().sum::<u64>() > 0);
    assert!(bridge.came > 0, "{bridge:?}");
    let machine = bridge.stall.max(calm.stall);
    assert!(
        attacked.stall < Duration::from_millis(20).max(machine),
        "{stalls:?} with the switch and the bridge, {calm:?} before"
    );
    let books = &snapshot["books"];
    assert_eq!(books["missing"], 0, "{books}");
    let arrived = books["unforwarded"].as_u64().unwrap();
    assert!(arrived > 0 && arrived >= requests.last().unwrap() / 2, "the attacker's frames: {books}");
}

/// A file that cannot be written stops no packets.
#[test]
fn a_full_disk_stops_nothing() {
    let _one = network();
    let (_, out) = file("attacks-disk", "");
    // SAFETY: only this thread gets mounts of its own, which go with it; no memory is involved.
    assert_eq!(unsafe { libc::unshare(libc::CLONE_FS | libc::CLONE_NEWNS) }, 0);
    let out_text = out.to_str().unwrap();
    for arguments in [&["--make-rprivate", "/"][..], &["-t", "tmpfs", "-o", "size=256k", "forebay-test", out_text]] {
        assert!(Command::new("mount").args(arguments).status().unwrap().success(), "mount {arguments:?}");
    }
    let filler = out.join("filler");
    let switch = Switch::start("attacks-disk", "timeline = \"1ms\"\ntimeline_size = \"10KB\"\n");
    std::fs::write(&filler, vec![0; 100_000]).unwrap();
    let calm = forward(&switch, 0.3);
    // All that is left.
    let full = (1..).find(|number| std::fs::write(out.join(format!("more{number}")), vec![0; 4_096]).is_err()).unwrap();
    let blocked = forward(&switch, 0.7);
    assert!(switch.says("timeline.csv: cannot write it"), "{}", switch.said.lock().unwrap());
    assert!(blocked.came * 10 > blocked.sent * 9, "{blocked:?}, and {calm:?} before");
    (1..=full).for_each(|number| drop(std::fs::remove_file(out.join(format!("more{number}")))));
    std::fs::remove_file(filler).unwrap();
    wait_until("the timeline is put aside", || {
        forward(&switch, 0.1);
        out.join("timeline.1.csv").exists()
    });
    assert!(switch.says("timeline.csv: goes on"), "{}", switch.said.lock().unwrap());
    assert_eq!(switch.said.lock().unwrap().matches("cannot write it").count(), 1, "it is said once");
    assert_eq!(switch.snapshot()["books"]["missing"], 0);
    assert!(switch.stop());
    assert!(out.join("counters.json").exists());
    // The new file has only its first line if it was begun just before the end.
    for (name, least) in [("timeline.csv", 1), ("timeline.1.csv", 2)] {
        let lines = std::fs::read_to_string(out.join(name)).unwrap();
        assert!(lines.starts_with("time_us,") && lines.ends_with('\n') && lines.lines().count() >= least, "{name}");
        assert!(lines.lines().all(|line| line.split(',').count() == 13), "{name}: whole lines");
    }
    let aside = std::fs::metadata(out.join("timeline.1.csv")).unwrap();
    assert!(aside.len() <= 10_000 && aside.permissions().mode() & 0o777 == 0o600);
}

/// What belongs to a switch that runs is not touched by another one.
#[test]
fn a_second_switch_is_refused_and_touches_nothing() {
    let _one = network();
    let switch = Switch::start("attacks-second", "");
    forward(&switch, 0.3);
    let timeline = switch.out.join("timeline.csv");
    let before = std::fs::read_to_string(&timeline).unwrap();
    assert!(before.lines().count() > 1);
    let (other, _) = file("attacks-third", "");
    let same = switch.out.with_file_name("switch.toml");
    for backend in ["auto", "packet", "xdp", "mixed"] {
        for file in [&other, &same] {
            let output = live(file).args(["--set", &format!("live.backend={backend}")]).output().unwrap();
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && error.contains("belongs to another switch"), "{error}");
        }
    }
    // Other interfaces, but the same directory.
    ip("link add t1 type veth peer name t2");
    ip("link set t1 up");
    ip("link set t2 up");
    let output = live(&same).args(["--set", "interface.0.name=t1", "--set", "interface.1.name=t2"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && error.contains("another switch answers there"), "{error}");
    assert!(std::fs::read_to_string(&timeline).unwrap().starts_with(&before));
    assert!(switch.stop());
}
