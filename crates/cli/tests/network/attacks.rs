//! A live switch under attack: HTTP, the control socket and frames at once, while what it forwards is counted. Needs root and iproute2.
//!
//! `FOREBAY_ATTACK_BINARY` names another `forebay` to be attacked, `FOREBAY_ATTACK_CLIENTS` and `FOREBAY_ATTACK_SECONDS` how many clients attack and for how long; what was measured is
//! printed (`--nocapture`).

use forebay_control::client::Client;
use forebay_live::backend::{Attacher, Kind};
use forebay_live::pool::Pool;
use forebay_live::port::Port;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Frames that are sent every millisecond.
const BATCH: u64 = 20;
const HTTP: &str = "127.0.0.1:19099";

/// Puts this thread, and what it starts, into a new network namespace with two veth pairs: h1 - s1, s2 - h2.
fn network() -> MutexGuard<'static, ()> {
    let one = crate::alone();
    // SAFETY: only this thread moves, and no memory is involved.
    let result = unsafe { libc::unshare(libc::CLONE_NEWNET) };
    assert_eq!(result, 0, "this test makes a network namespace and needs root");
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    ip("link set lo up");
    for number in 1..=2 {
        ip(&format!("link add s{number} type veth peer name h{number}"));
        ip(&format!("link set s{number} up"));
        ip(&format!("link set h{number} up"));
    }
    one
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().expect("iproute2 is installed");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A switch that runs; it is killed at the end, whatever happens.
struct Switch {
    child: Child,
    out: PathBuf,
    said: Arc<Mutex<String>>,
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory of its own, with a file for a switch between s1 and s2.
fn file(name: &str, more: &str) -> (PathBuf, PathBuf) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let out = directory.join("out");
    std::fs::create_dir_all(&out).unwrap();
    let text = format!(
        "buffer = \"400KB\"\nrate = \"10Gbps\"\n[policy]\nkind = \"dt\"\nalpha = 1.0\n[[interface]]\nname = \"s1\"\n\
         [[interface]]\nname = \"s2\"\n[live]\nbackend = \"packet\"\nout = \"{}\"\n{more}",
        out.display()
    );
    let file = directory.join("switch.toml");
    std::fs::write(&file, text).unwrap();
    (file, out)
}

fn live(file: &Path) -> Command {
    let binary = std::env::var("FOREBAY_ATTACK_BINARY").unwrap_or(env!("CARGO_BIN_EXE_forebay").to_owned());
    let mut command = Command::new(binary);
    command.args(["live", "--quiet"]).arg(file).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Switch {
    fn start(name: &str, more: &str) -> Self {
        let (file, out) = file(name, more);
        let mut child = live(&file).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let switch = Self { child, out, said: Arc::default() };
        let mut all = String::new();
        while !all.ends_with("ready\n") {
            assert_ne!(lines.read_line(&mut all).unwrap(), 0, "the switch has ended: {all}");
        }
        let said = Arc::clone(&switch.said);
        thread::spawn(move || lines.lines().map_while(Result::ok).for_each(|line| *said.lock().unwrap() += &line));
        switch
    }

    fn says(&self, text: &str) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if self.said.lock().unwrap().contains(text) {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Stops it, and whether that went well.
    fn stop(mut self) -> bool {
        self.client().stop().unwrap();
        self.child.wait().unwrap().success()
    }

    /// What the kernel says of the thread that forwards.
    fn schedstat(&self) -> PathBuf {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let mut tasks = tasks.map(|task| task.unwrap().path());
        let named =
            |task: &PathBuf| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "switch");
        tasks.find(named).expect("a thread that forwards").join("schedstat")
    }

    fn client(&self) -> Client {
        Client::connect(&self.out.join("control.sock")).unwrap()
    }

    fn snapshot(&self) -> Value {
        self.client().snapshot().unwrap()
    }
}

/// Frames that an interface has received, by the kernel's counter.
fn received(interface: &str) -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(interface)?.strip_prefix(':')).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What came through.
#[derive(Debug, Default)]
struct Measured {
    sent: u64,
    came: u64,
    /// The longest time in which nothing came although frames were sent, less what the machine kept the threads from their cores.
    stall: Duration,
}

/// How long a thread has waited for a core since it was started, as the kernel counts it.
fn waited(schedstat: &Path) -> Duration {
    let text = std::fs::read_to_string(schedstat).unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// Sends a batch every millisecond for so long, and watches what comes out of a switch.
fn forward(switch: &Switch, seconds: f64) -> Measured {
    let schedstat = switch.schedstat();
    let mut pool = Pool::new(512, 2_048).unwrap();
    let mut port = Attacher::new(&pool, 1).attach("h1", Kind::Packet, &mut pool).unwrap();
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
    frame.extend([0x45, 0, 0, 86, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.resize(100, 0);
    let is_over = Arc::new(AtomicBool::new(false));
    let late_now = Arc::new(AtomicU64::new(0));
    let watch = {
        let (is_over, late_now) = (Arc::clone(&is_over), Arc::clone(&late_now));
        thread::spawn(move || {
            let (mut stall, mut last, mut count) = (Duration::ZERO, Instant::now(), received("h2"));
            let mut away = waited(&schedstat);
            let mut looked = Instant::now();
            while !is_over.load(Relaxed) {
                thread::sleep(Duration::from_micros(500));
                let (now, late) = (Instant::now(), now_late(&late_now));
                let own = now - looked;
                looked = now;
                let fresh = received("h2");
                if fresh != count {
                    // That this thread or the sender was late, or the switch's had no core, is the machine's doing.
                    let waited = waited(&schedstat);
                    stall = stall.max((now - last).saturating_sub(late + own + (waited - away)));
                    (count, last, away) = (fresh, now, waited);
                    late_now.store(0, Relaxed);
                }
            }
            stall
        })
    };
    let first = received("h2");
    let start = Instant::now();
    let (mut sent, mut next, mut before) = (0, start, start);
    while start.elapsed().as_secs_f64() < seconds {
        let now = Instant::now();
        if now < next {
            thread::sleep(next - now);
            continue;
        }
        let gap = now - before;
        before = now;
        late_now.fetch_max(gap.as_nanos() as u64, Relaxed);
        // What was missed is not made up for: that would be a burst.
        next = now + Duration::from_millis(1);
        for _ in 0..BATCH {
            let Some(slot) = pool.take() else { break };
            pool.bytes_mut(slot, frame.len()).copy_from_slice(&frame);
            port.send(&mut pool, slot, frame.len());
            sent += 1;
        }
        port.flush(&mut pool).unwrap();
    }
    thread::sleep(Duration::from_millis(100));
    is_over.store(true, Relaxed);
    let stall = watch.join().unwrap();
    let came = received("h2") - first;
    port.close(&mut pool);
    Measured { sent, came, stall }
}

fn now_late(late: &AtomicU64) -> Duration {
    Duration::from_nanos(late.load(Relaxed))
}

/// A request over HTTP, and the status of its answer; none if there is none.
fn post(body: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(HTTP).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let head = "POST /api/settings HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(stream, "{head}Host: {HTTP}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.get(9..12)?.parse().ok()
}

/// Requests that were refused, or got no answer since there were too many.
fn attack(clients: usize, is_over: &Arc<AtomicBool>) -> Vec<thread::JoinHandle<u64>> {
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

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn forwarding_goes_on_under_attack() {
    let _one = network();
    let switch = Switch::start("attacks-forwarding", &format!("[http]\nlisten = \"{HTTP}\"\n"));
    // The switch learns behind which port host 2 is.
    let seconds = number("FOREBAY_ATTACK_SECONDS", 3) as f64;
    let calm = forward(&switch, seconds);
    let is_over = Arc::new(AtomicBool::new(false));
    let attackers = attack(number("FOREBAY_ATTACK_CLIENTS", 41), &is_over);
    thread::sleep(Duration::from_millis(200));
    let attacked = forward(&switch, seconds);
    is_over.store(true, Relaxed);
    let requests: u64 = attackers.into_iter().map(|attacker| attacker.join().unwrap()).sum();
    let snapshot = switch.snapshot();
    let rate = |measured: &Measured| measured.came as f64 / measured.sent as f64;
    println!("calm:     {calm:?}");
    println!("attacked: {attacked:?}, {requests} requests");
    println!("stalls:   {}", snapshot["stalls"]);
    assert!(rate(&attacked) > 0.95 * rate(&calm), "{attacked:?}, and {calm:?} before");
    assert!(attacked.came > 0 && requests > 0);
    assert!(attacked.stall < Duration::from_millis(20), "{attacked:?}, and {calm:?} before");
    assert_eq!(snapshot["books"]["missing"], 0);
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
    std::fs::write(&filler, vec![0; 100_000]).unwrap();
    let switch = Switch::start("attacks-disk", "timeline = \"1ms\"\ntimeline_size = \"10KB\"\n");
    let calm = forward(&switch, 0.3);
    // All that is left.
    let full = (1..).find(|number| std::fs::write(out.join(format!("more{number}")), vec![0; 4_096]).is_err()).unwrap();
    let blocked = forward(&switch, 0.7);
    assert!(switch.says("timeline.csv: cannot write it"), "{}", switch.said.lock().unwrap());
    assert!(blocked.came * 10 > blocked.sent * 9, "{blocked:?}, and {calm:?} before");
    (1..=full).for_each(|number| drop(std::fs::remove_file(out.join(format!("more{number}")))));
    std::fs::remove_file(filler).unwrap();
    forward(&switch, 0.2);
    assert!(switch.says("timeline.csv: goes on"), "{}", switch.said.lock().unwrap());
    assert_eq!(switch.said.lock().unwrap().matches("cannot write it").count(), 1, "it is said once");
    assert_eq!(switch.snapshot()["books"]["missing"], 0);
    assert!(switch.stop());
    assert!(out.join("counters.json").exists());
    let lines = std::fs::read_to_string(out.join("timeline.csv")).unwrap();
    assert!(lines.starts_with("time_us,") && lines.ends_with('\n') && lines.lines().count() > 1);
    let columns = |line: &str| line.split(',').count();
    assert!(lines.lines().all(|line| columns(line) == 13), "whole lines");
    let aside = std::fs::metadata(out.join("timeline.1.csv")).unwrap();
    assert!(aside.len() <= 10_000 && aside.permissions().mode() & 0o777 == 0o600);
}

/// What a switch writes is for its owner, and secrets are nowhere.
#[test]
fn files_are_for_the_owner_and_have_no_secrets() {
    const TOKEN: &str = "a-secret-of-this-very-test";
    let _one = network();
    let http = format!("[http]\nlisten = \"{HTTP}\"\ntoken = \"{TOKEN}\"\n");
    let switch = Switch::start("attacks-secrets", &http);
    assert!(!switch.client().settings().unwrap().contains(TOKEN));
    let out = switch.out.clone();
    assert!(switch.stop());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        assert!(!std::fs::read_to_string(&path).unwrap().contains(TOKEN), "{}", path.display());
        let stranger = Command::new("cat").arg(&path).uid(65_534).gid(65_534).stderr(Stdio::null()).output().unwrap();
        assert!(!stranger.status.success() && stranger.stdout.is_empty(), "{}", path.display());
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    let stranger =
        Command::new("ls").arg("/run/forebay").uid(65_534).gid(65_534).stderr(Stdio::null()).output().unwrap();
    assert!(!stranger.status.success() && stranger.stdout.is_empty(), "locks are for the owner");
    names.sort();
    assert_eq!(names, ["counters.json", "switch.toml", "timeline.csv"]);
}

/// No thread of a switch may do more than it needs: the one that attaches to interfaces has three capabilities, the others none.
#[test]
fn no_thread_keeps_what_it_does_not_need() {
    let _one = network();
    let switch = Switch::start("attacks-privileges", &format!("threads = 3\n[http]\nlisten = \"{HTTP}\"\n"));
    let attach = format!("{:016x}", 1_u64 << 12 | 1 << 13 | 1 << 39);
    let mut threads = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{}/task", switch.child.id())).unwrap() {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        let name = of("Name:");
        let may = if name == "switch" { &*attach } else { "0000000000000000" };
        for set in ["CapEff:", "CapPrm:", "CapBnd:"] {
            assert_eq!(of(set), may, "{set} of {name}");
        }
        assert_eq!((of("CapInh:"), of("NoNewPrivs:")), ("0000000000000000".to_owned(), "1".to_owned()), "{name}");
        threads.push(name);
    }
    threads.sort();
    assert_eq!(threads.len(), 8, "{threads:?}");
    assert!(switch.stop());
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
