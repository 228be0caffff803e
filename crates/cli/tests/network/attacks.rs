//! A live switch under attack: HTTP, the control socket and frames at once, while what it forwards is counted. Needs root and iproute2. What the machine itself
//! does to frames is seen at the kernel's bridge, in the same way and under the same attack.
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
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
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
    (1..=2).for_each(pair);
    one
}

/// A veth pair: sN - hN.
fn pair(number: u32) {
    ip(&format!("link add s{number} type veth peer name h{number}"));
    ip(&format!("link set s{number} up"));
    ip(&format!("link set h{number} up"));
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
    fn thread(&self) -> PathBuf {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let mut tasks = tasks.map(|task| task.unwrap().path());
        let named =
            |task: &PathBuf| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "switch");
        tasks.find(named).expect("a thread that forwards")
    }

    /// Looks at the books every half second until it is over: no frame is missing. How often it has looked.
    fn check_books(&self, is_over: &Arc<AtomicBool>) -> thread::JoinHandle<u64> {
        let (path, is_over) = (self.out.join("control.sock"), Arc::clone(is_over));
        thread::spawn(move || {
            let mut checks = 0;
            while !is_over.load(Relaxed) {
                // Others may have taken all places for a moment.
                if let Ok(snapshot) = Client::connect(&path).and_then(|mut client| client.snapshot()) {
                    assert_eq!(snapshot["books"]["missing"], 0, "{}", snapshot["books"]);
                    checks += 1;
                }
                thread::sleep(Duration::from_millis(500));
            }
            checks
        })
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

/// How long a thread has waited for a core since it was started, as the kernel counts it. A bridge has no thread.
fn waited(thread: &Path) -> Duration {
    let text = std::fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// Sends a batch every millisecond into a switch for so long, and watches what comes out of it.
fn forward(switch: &Switch, seconds: f64) -> Measured {
    through(["h1", "h2"], &switch.thread(), seconds)
}

/// The same between any two interfaces, with a thread between them.
fn through([from, to]: [&'static str; 2], thread: &Path, seconds: f64) -> Measured {
    let thread = thread.to_owned();
    let mut pool = Pool::new(512, 2_048).unwrap();
    let mut port = Attacher::new(&pool, 1).attach(from, Kind::Packet, &mut pool).unwrap();
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
    frame.extend([0x45, 0, 0, 86, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.resize(100, 0);
    let is_over = Arc::new(AtomicBool::new(false));
    let late_now = Arc::new(AtomicU64::new(0));
    let watch = {
        let (is_over, late_now) = (Arc::clone(&is_over), Arc::clone(&late_now));
        thread::spawn(move || {
            let (mut stall, mut last, mut count) = (Duration::ZERO, Instant::now(), received(to));
            let mut away = waited(&thread);
            let mut looked = Instant::now();
            while !is_over.load(Relaxed) {
                thread::sleep(Duration::from_micros(500));
                let (now, late) = (Instant::now(), now_late(&late_now));
                let own = now - looked;
                looked = now;
                let fresh = received(to);
                if fresh != count {
                    // That this thread or the sender was late, or the switch's had no core, is the machine's doing.
                    let waited = waited(&thread);
                    stall = stall.max((now - last).saturating_sub(late + own + (waited - away)));
                    (count, last, away) = (fresh, now, waited);
                    late_now.store(0, Relaxed);
                }
            }
            stall
        })
    };
    let first = received(to);
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
            let Some(mut slot) = pool.take() else { break };
            pool.bytes_mut(&mut slot, frame.len()).copy_from_slice(&frame);
            port.send(&mut pool, slot, frame.len());
            sent += 1;
        }
        port.flush(&mut pool).unwrap();
    }
    thread::sleep(Duration::from_millis(100));
    is_over.store(true, Relaxed);
    let stall = watch.join().unwrap();
    let came = received(to) - first;
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
    // Where hosts are is known: the attacker's made-up addresses push out what was learned, and then frames go everywhere.
    let station = |host: u32| format!("[[forwarding.station]]\nmac = \"02:00:00:00:00:0{host}\"\nport = \"s{host}\"\n");
    let third = format!("[[interface]]\nname = \"s3\"\n{}{}", station(2), station(3));
    let switch = Switch::start("attacks-forwarding", &format!("[http]\nlisten = \"{HTTP}\"\n{third}"));
    let seconds = number("FOREBAY_ATTACK_SECONDS", 3) as f64;
    let calm = forward(&switch, seconds);
    let is_over = Arc::new(AtomicBool::new(false));
    let attackers = attack(&switch, &is_over);
    thread::sleep(Duration::from_millis(200));
    let bridge = through(["h4", "h5"], Path::new("/nowhere"), seconds);
    let books = switch.check_books(&is_over);
    let attacked = forward(&switch, seconds);
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
    // What happens at the bridge is the machine's doing.
    let machine = bridge.stall.max(calm.stall);
    assert!(attacked.stall < Duration::from_millis(20).max(machine), "{attacked:?}, {bridge:?}, and {calm:?} before");
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
        let stranger = Command::new("cat").arg(&path).uid(NOBODY).gid(NOBODY).stderr(Stdio::null()).output().unwrap();
        assert!(!stranger.status.success() && stranger.stdout.is_empty(), "{}", path.display());
        names.push(path.file_name().unwrap().to_string_lossy().into_owned());
    }
    let stranger =
        Command::new("ls").arg("/run/forebay").uid(NOBODY).gid(NOBODY).stderr(Stdio::null()).output().unwrap();
    assert!(!stranger.status.success() && stranger.stdout.is_empty(), "locks are for the owner");
    names.sort();
    assert_eq!(names, ["counters.json", "switch.toml", "timeline.csv"]);
}

/// No thread of a switch is root's, may do more than it needs or make other system calls: the one that attaches to interfaces has three capabilities, the others none.
#[test]
fn no_thread_keeps_what_it_does_not_need() {
    let _one = network();
    let switch = Switch::start("attacks-privileges", &format!("threads = 3\n[http]\nlisten = \"{HTTP}\"\n"));
    let attach = format!("{:016x}", 1_u64 << 12 | 1 << 13 | 1 << 39);
    let none = "0000000000000000";
    // One that serves a client, too.
    let mut client = switch.client();
    client.snapshot().unwrap();
    let user = std::fs::metadata(&switch.out).unwrap().uid();
    assert!(user != 0 && user != NOBODY);
    let mut threads = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{}/task", switch.child.id())).unwrap() {
        let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
        let of = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        let name = of("Name:");
        let may = if name == "attach" { &*attach } else { none };
        for set in ["CapEff:", "CapPrm:", "CapBnd:"] {
            assert_eq!(of(set), may, "{set} of {name}");
        }
        assert_eq!((&*of("CapInh:"), &*of("CapAmb:")), (none, none), "{name}");
        assert_eq!((&*of("NoNewPrivs:"), &*of("Seccomp:")), ("1", "2"), "{name}");
        assert!(of("Uid:").split_whitespace().all(|own| own == user.to_string()), "{name}: {}", of("Uid:"));
        assert!(of("Gid:").split_whitespace().all(|own| own != "0"), "{name}: {}", of("Gid:"));
        assert_eq!(of("Groups:"), "", "{name}");
        threads.push(name);
    }
    threads.sort();
    assert_eq!(threads.len(), 10, "{threads:?}");
    // Interfaces that go and come back are opened without root, and files are written.
    for change in ["down", "up"] {
        ip(&format!("link set s1 {change}"));
        wait_until(&format!("s1 is {change}"), || switch.snapshot()["ports"][0]["is_up"] == (change == "up"));
    }
    drop(client);
    assert!(switch.stop());
}

/// Waits until something is so.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

const NOBODY: u32 = 65_534;

/// What a command of bash does as another user: whether it ended well, and what it printed.
fn as_nobody(command: &str) -> (bool, String) {
    let mut bash = Command::new("bash");
    bash.args(["-c", command]).uid(NOBODY).gid(NOBODY).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    let output = bash.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What another user can do: neither stop, slow, read nor change a switch, nor keep its owner out.
#[test]
fn a_stranger_can_do_nothing() {
    let _one = network();
    let switch = Switch::start("attacks-stranger", &format!("[http]\nlisten = \"{HTTP}\"\n"));
    let (before, process) = (switch.client().settings().unwrap(), switch.child.id());
    let calm = forward(&switch, 0.5);
    for signal in ["STOP", "TERM", "HUP", "KILL"] {
        assert!(!as_nobody(&format!("kill -{signal} {process}")).0, "{signal}");
    }
    let out = switch.out.display();
    for secret in ["mem", "environ", "maps", "fd/0", "cwd/switch.toml", "task/../auxv"] {
        assert_eq!(as_nobody(&format!("head -c 16 /proc/{process}/{secret}")), (false, String::new()), "{secret}");
    }
    for file in ["switch.toml", "timeline.csv", "control.sock"] {
        assert_eq!(as_nobody(&format!("cat {out}/{file}")), (false, String::new()), "{file}");
        assert!(!as_nobody(&format!("mv {out}/{file} {out}/{file}2 || rm -f {out}/{file}")).0, "{file}");
    }
    assert!(!as_nobody(&format!("touch {out}/mine")).0 && !as_nobody("ls /run/forebay").0);
    let (host, port) = HTTP.split_once(':').unwrap();
    let ask = |first: &str, body: &str| {
        let fields = format!("Host: {HTTP}\\r\\nContent-Type: application/json\\r\\nContent-Length: {}", body.len());
        let request = format!("{first} HTTP/1.1\\r\\n{fields}\\r\\nConnection: close\\r\\n\\r\\n{body}");
        as_nobody(&format!("exec 3<>/dev/tcp/{host}/{port}; printf '{request}' >&3; timeout 5 cat <&3")).1
    };
    for (first, body) in [
        ("GET /", ""),
        ("GET /api/snapshot", ""),
        ("GET /api/settings", ""),
        ("GET /metrics", ""),
        ("POST /api/settings", "{}"),
    ] {
        // A request that comes after the refusal finds nobody there.
        let answer = ask(first, body);
        let is_refusal = answer.starts_with("HTTP/1.1 403 ") && answer.contains("only the user");
        assert!(is_refusal || answer.is_empty(), "{first}: {answer}");
    }
    // Connections of strangers take nobody's place, and a flood of them takes nothing from frames.
    let flood = format!(
        "for n in $(seq 200); do exec {{fd}}<>/dev/tcp/{host}/{port}; done; \
         timeout 2 bash -c 'while true; do echo x >/dev/tcp/{host}/{port}; done'"
    );
    let flooder = thread::spawn(move || as_nobody(&flood));
    thread::sleep(Duration::from_millis(300));
    let flooded = forward(&switch, 0.5);
    let start = Instant::now();
    assert_eq!(post("{}"), Some(422), "the owner is answered");
    assert!(start.elapsed() < Duration::from_secs(2), "the owner waits for {:?}", start.elapsed());
    flooder.join().unwrap();
    assert!(flooded.came * 100 > calm.came * flooded.sent / calm.sent * 95, "{flooded:?}, and {calm:?} before");
    assert_eq!(switch.client().settings().unwrap(), before);
    assert_eq!(switch.snapshot()["changes"], 0);
    assert_eq!(switch.snapshot()["books"]["missing"], 0);
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
