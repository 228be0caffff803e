//! A live switch in a network namespace, and frames through it, for tests.

use forebay_control::client::Client;
use forebay_live::backend::{Attacher, Kind};
use forebay_live::pool::Pool;
use forebay_live::port::Port;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Frames that are sent every millisecond.
const BATCH: u64 = 20;
/// Where the HTTP server listens.
pub(crate) const HTTP: &str = "127.0.0.1:19099";

/// Puts this thread, and what it starts, into a new network namespace with two veth pairs: h1 - s1, s2 - h2.
pub(crate) fn network() -> MutexGuard<'static, ()> {
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
pub(crate) fn pair(number: u32) {
    ip(&format!("link add s{number} type veth peer name h{number}"));
    ip(&format!("link set s{number} up"));
    ip(&format!("link set h{number} up"));
}

pub(crate) fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split_whitespace()).output().expect("iproute2 is installed");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A switch that runs; it is killed at the end, whatever happens.
pub(crate) struct Switch {
    pub(crate) child: Child,
    pub(crate) out: PathBuf,
    pub(crate) said: Arc<Mutex<String>>,
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory of its own, with a file for a switch between s1 and s2.
pub(crate) fn file(name: &str, more: &str) -> (PathBuf, PathBuf) {
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

pub(crate) fn live(file: &Path) -> Command {
    let binary = std::env::var("FOREBAY_ATTACK_BINARY").unwrap_or(env!("CARGO_BIN_EXE_forebay").to_owned());
    let mut command = Command::new(binary);
    command.args(["live", "--quiet"]).arg(file).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Switch {
    pub(crate) fn start(name: &str, more: &str) -> Self {
        let (file, out) = file(name, more);
        Self::start_by(&mut live(&file), out)
    }

    /// Starts it by a command, with results in a directory.
    pub(crate) fn start_by(command: &mut Command, out: PathBuf) -> Self {
        let mut child = command.spawn().unwrap();
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

    pub(crate) fn says(&self, text: &str) -> bool {
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
    pub(crate) fn stop(mut self) -> bool {
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
    pub(crate) fn check_books(&self, is_over: &Arc<AtomicBool>) -> thread::JoinHandle<u64> {
        let (path, is_over) = (self.out.join("control.sock"), Arc::clone(is_over));
        thread::spawn(move || {
            let mut checks = 0;
            while !is_over.load(Relaxed) {
                // Others may have taken all places for a moment.
                if let Ok(snapshot) = Client::connect(&path).and_then(|mut client| client.snapshot()) {
                    assert_eq!(snapshot.books.missing(), 0, "{:?}", snapshot.books);
                    checks += 1;
                }
                thread::sleep(Duration::from_millis(500));
            }
            checks
        })
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.out.join("control.sock")).unwrap()
    }

    pub(crate) fn snapshot(&self) -> Value {
        serde_json::to_value(self.client().snapshot().unwrap()).unwrap()
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
pub(crate) struct Measured {
    pub(crate) sent: u64,
    pub(crate) came: u64,
    /// The longest time in which nothing came although frames were sent, less what the machine kept the threads from
    /// their cores.
    pub(crate) stall: Duration,
}

/// How long a thread has waited for a core since it was started, as the kernel counts it. A bridge has no thread.
fn waited(thread: &Path) -> Duration {
    let text = std::fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// Sends a batch every millisecond into a switch for so long, and watches what comes out of it.
pub(crate) fn forward(switch: &Switch, seconds: f64) -> Measured {
    through(["h1", "h2"], &switch.thread(), seconds)
}

/// The same between any two interfaces, with a thread between them.
pub(crate) fn through([from, to]: [&'static str; 2], thread: &Path, seconds: f64) -> Measured {
    let thread = thread.to_owned();
    let mut pool = Pool::new(512, 2_048).unwrap();
    let mut port = Attacher::new(&pool, 1).attach(from, Kind::Packet, &mut pool).unwrap();
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00];
    // With its checksum: a bridge may look at it.
    frame.extend([0x45, 0, 0, 86, 0, 0, 0x40, 0, 64, 17, 0x26, 0x95, 10, 0, 0, 1, 10, 0, 0, 2]);
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

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A request over HTTP, and the status of its answer; none if there is none.
pub(crate) fn post(body: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(HTTP).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let head = "POST /api/settings HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n";
    write!(stream, "{head}Host: {HTTP}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.get(9..12)?.parse().ok()
}
