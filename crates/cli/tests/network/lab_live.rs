//! A live switch with hosts in network namespaces: rates, marks and drops as the hosts see them, and faults.
//!
//! These need root, iproute2, ethtool and iperf3, which `./test` installs.

use forebay_control::client::Client;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

fn forebay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(arguments).output().unwrap()
}

fn ok(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success(), "{out}\n{error}");
    out
}

/// A lab that is removed at the end, whatever happens.
struct Lab {
    prefix: &'static str,
    _one: MutexGuard<'static, ()>,
}

impl Drop for Lab {
    fn drop(&mut self) {
        forebay(&["lab", "--prefix", self.prefix, "down"]);
    }
}

impl Lab {
    fn up(prefix: &'static str, arguments: &[&str]) -> Self {
        let lab = Self { prefix, _one: crate::alone() };
        forebay(&["lab", "--prefix", prefix, "down"]);
        ok(&forebay(&[&["lab", "--prefix", prefix, "up"], arguments].concat()));
        lab
    }

    fn again(&self, arguments: &[&str]) {
        ok(&forebay(&[&["lab", "--prefix", self.prefix, "up"], arguments].concat()));
    }

    fn state(&self) -> PathBuf {
        Path::new("/run/forebay-lab").join(self.prefix)
    }

    fn client(&self) -> Client {
        Client::connect(&self.state().join("sw/control.sock")).unwrap()
    }

    fn snapshot(&self) -> Value {
        serde_json::to_value(self.client().snapshot().unwrap()).unwrap()
    }

    fn set(&self, key: &str, value: &str) {
        self.client().set([(key, value)]).unwrap_or_else(|error| panic!("{key}={value}: {error}"));
    }

    fn command(&self, host: &str, command: &[&str]) -> Command {
        let mut made = Command::new(env!("CARGO_BIN_EXE_forebay"));
        made.args(["lab", "--prefix", self.prefix, "exec", host]).args(command);
        made
    }

    fn exec(&self, host: &str, command: &[&str]) -> String {
        ok(&self.command(host, command).output().unwrap())
    }

    fn start(&self, host: &str, command: &[&str]) -> Child {
        self.command(host, command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn reaches(&self, from: &str, to: &str) -> bool {
        self.command(from, &["ping", "-c", "1", "-W", "1", to]).output().unwrap().status.success()
    }

    fn until_it_reaches(&self, from: &str, to: &str) {
        let end = Instant::now() + Duration::from_secs(20);
        while !self.reaches(from, to) {
            assert!(Instant::now() < end, "{from} never reaches {to}");
        }
    }

    /// An iperf3 server for one client, ready.
    fn serve(&self, host: &str, port: u16) {
        self.exec(host, &["iperf3", "-s", "-1", "-D", "-p", &port.to_string()]);
        let listening = format!(":{port} ");
        let end = Instant::now() + Duration::from_secs(10);
        while !self.exec(host, &["ss", "-tln"]).contains(&listening) {
            assert!(Instant::now() < end, "iperf3 does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A counter of a host's kernel.
    fn counted(&self, host: &str, name: &str) -> u64 {
        let text = self.exec(host, &["nstat", "-asz", name]);
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// The switch's process.
    fn pid(&self) -> String {
        let file = self.state().join("sw.toml").display().to_string();
        let found = ok(&Command::new("pgrep").args(["-f", &format!("forebay live {file}")]).output().unwrap());
        found.lines().next().unwrap().to_owned()
    }
}

fn number(snapshot: &Value, path: &str) -> u64 {
    snapshot.pointer(path).unwrap_or_else(|| panic!("{path}: {snapshot:#}")).as_u64().unwrap()
}

fn real(snapshot: &Value, path: &str) -> f64 {
    snapshot.pointer(path).unwrap_or_else(|| panic!("{path}: {snapshot:#}")).as_f64().unwrap()
}

/// Every packet that was offered has one fate, and everything that came in was offered, or counted elsewhere.
fn accounted_for(snapshot: &Value) {
    let total = |name: &str| number(snapshot, &format!("/total/{name}/packets"));
    let fates = ["sent", "dropped", "trimmed", "returned", "waiting"].map(total).iter().sum::<u64>();
    assert_eq!(total("offered"), fates, "{snapshot:#}");
}

/// Waits until nothing waits and nothing moves any more.
fn quiet(lab: &Lab) -> Value {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let before = lab.snapshot();
        std::thread::sleep(Duration::from_millis(300));
        let now = lab.snapshot();
        if number(&now, "/used_bytes") == 0 && before.pointer("/total/sent") == now.pointer("/total/sent") {
            return now;
        }
        assert!(Instant::now() < end, "{now:#}");
    }
}

#[test]
fn tcp_fills_a_port_and_ecn_holds_an_incast() {
    let lab = Lab::up("fbta", &["--hosts", "8", "--ecn"]);
    lab.serve("h1", 5201);
    lab.serve("h1", 5202);
    // By the switch's own clock, which leaves out what the machine was away: 1,448 of 1,538 bytes of the wire are
    // payload. Hosts that were away send less, so there are two, and the best half second counts.
    let mut most = 0.0f64;
    for _ in 0..5 {
        let [one, other] = [("h2", "5201"), ("h3", "5202")]
            .map(|(host, port)| lab.start(host, &["iperf3", "-c", "10.0.0.1", "-p", port, "-t", "6", "-J"]));
        std::thread::sleep(Duration::from_secs(1));
        let mut before = lab.snapshot();
        for _ in 0..8 {
            std::thread::sleep(Duration::from_millis(500));
            let after = lab.snapshot();
            let sent = |at: &Value| number(at, "/ports/0/counters/sent/bytes");
            let seconds = real(&after, "/time_s") - real(&before, "/time_s");
            most = most.max((sent(&after) - sent(&before)) as f64 * 8.0 / seconds / 1e6 * 1_448.0 / 1_514.0);
            before = after;
        }
        [one, other].into_iter().for_each(|client| drop(ok(&client.wait_with_output().unwrap())));
        if most >= 92.5 {
            break;
        }
    }
    assert!((92.5..94.6).contains(&most), "{most} Mb/s");

    lab.set("ecn", "{kind = \"step\", threshold = \"30KB\"}");
    let dropped = number(&lab.snapshot(), "/total/dropped/packets");
    let (marked, seen) =
        (number(&lab.snapshot(), "/ports/0/counters/marked/packets"), lab.counted("h1", "IpExtInCEPkts"));
    (0..7).for_each(|client| lab.serve("h1", 5_210 + client));
    let clients: Vec<Child> = (0..7)
        .map(|client| {
            let (host, port) = (format!("h{}", client + 2), (5_210 + client).to_string());
            lab.start(&host, &["iperf3", "-c", "10.0.0.1", "-t", "4", "-p", &port])
        })
        .collect();
    clients.into_iter().for_each(|client| drop(ok(&client.wait_with_output().unwrap())));
    let last = quiet(&lab);
    assert_eq!(number(&last, "/total/dropped/packets"), dropped, "no loss");
    let marks = number(&last, "/ports/0/counters/marked/packets") - marked;
    assert!(marks > 50, "{marks} marks");
    assert_eq!(lab.counted("h1", "IpExtInCEPkts") - seen, marks, "as many marks as the host has seen");
    accounted_for(&last);
}

#[test]
fn what_the_switch_drops_is_what_the_hosts_miss() {
    let lab = Lab::up("fbtb", &["--hosts", "3", "--unpaced"]);
    lab.serve("h1", 5201);
    let client = lab.start("h2", &["iperf3", "-u", "-c", "10.0.0.1", "-b", "150M", "-l", "1400", "-t", "3", "-J"]);
    let report: Value = serde_json::from_str(&ok(&client.wait_with_output().unwrap())).unwrap();
    let last = quiet(&lab);
    let dropped = number(&last, "/ports/0/counters/dropped/packets");
    let outside: u64 = (0..3)
        .flat_map(|port| ["receive_overruns", "too_long", "send_failures"].map(|kind| (port, kind)))
        .map(|(port, kind)| number(&last, &format!("/ports/{port}/outside/{kind}")))
        .sum();
    assert!(dropped > 1_000, "{last:#}");
    let [out, into] = [("h2", "IpOutTransmits"), ("h1", "IpInReceives")].map(|(host, name)| lab.counted(host, name));
    // The cable of a virtual interface holds 256 frames; what does not fit the sending interface drops itself.
    let text = lab.exec("h2", &["sh", "-c", "cat /sys/class/net/*/statistics/tx_dropped"]);
    let unsent: u64 = text.lines().map(|line| line.parse::<u64>().unwrap()).sum();
    assert_eq!(out, into + dropped + outside + unsent, "packets that one host sent and the other did not get");
    let lost = report.pointer("/end/sum/lost_packets").unwrap().as_u64().unwrap();
    // What came after iperf3 had ended is not in its count; what its socket had no room for is.
    assert!(lost >= dropped - dropped / 5, "iperf3 missed {lost}, the switch dropped {dropped}");
    accounted_for(&last);
}

#[test]
fn floods_changes_kills_and_lost_interfaces() {
    let up = ["--hosts", "4", "--unpaced"];
    let lab = Lab::up("fbtc", &up);
    let before = lab.exec("sw", &["ip", "-d", "link"]);
    // AF_XDP does not say that a tag was left to the interface.
    let offloads = lab.exec("h1", &["ethtool", "-k", "eth0"]);
    for tag in ["tx-vlan-offload", "rx-vlan-offload", "tx-vlan-stag-hw-insert", "rx-vlan-stag-hw-parse"] {
        assert!(offloads.contains(&format!("{tag}: off")), "{offloads}");
    }
    // Three hosts flood the fourth, while settings change.
    (0..3).for_each(|client| lab.serve("h1", 5_201 + client));
    let clients: Vec<Child> = (0..3)
        .map(|client| {
            let (host, port) = (format!("h{}", client + 2), (5_201 + client).to_string());
            lab.start(&host, &["iperf3", "-u", "-c", "10.0.0.1", "-b", "0", "-l", "100", "-t", "3", "-p", &port])
        })
        .collect();
    let mut control = lab.client();
    for step in 0..1_000 {
        let kind = ["dt", "occamy", "abm", "cs", "fb", "pushout"][step % 6];
        control.set([("policy.kind", kind)]).unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
    let refused = control.set([("policy.kind", "none-such")]).unwrap_err().to_string();
    assert!(refused.contains("none-such"), "{refused}");
    for client in clients {
        drop(client.wait_with_output());
    }
    let last = quiet(&lab);
    assert_eq!(number(&last, "/changes"), 1_000);
    accounted_for(&last);
    lab.until_it_reaches("h2", "10.0.0.1");

    // An interface disappears: the others go on. It comes back, and so does its host.
    lab.exec("sw", &["ip", "link", "del", "fbtc-h3"]);
    lab.until_it_reaches("h2", "10.0.0.1");
    assert!(!lab.reaches("h3", "10.0.0.1"));
    lab.again(&up);
    lab.until_it_reaches("h3", "10.0.0.1");
    accounted_for(&lab.snapshot());

    // It is killed: the interfaces are as they were, and a new one starts at once.
    ok(&Command::new("kill").args(["-KILL", &lab.pid()]).output().unwrap());
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let now = lab.exec("sw", &["ip", "-d", "link"]);
        if !now.contains("xdp") && !now.contains("promiscuity 1") {
            break;
        }
        assert!(Instant::now() < end, "before:\n{before}\nnow:\n{now}");
        std::thread::sleep(Duration::from_millis(50));
    }
    lab.again(&up);
    lab.until_it_reaches("h2", "10.0.0.1");
    // SIGTERM: it stops, and the counters are written.
    let pid = lab.pid();
    ok(&Command::new("kill").args(["-TERM", &pid]).output().unwrap());
    let counters = lab.state().join("sw/counters.json");
    let end = Instant::now() + Duration::from_secs(10);
    while Path::new("/proc").join(&pid).exists() {
        assert!(Instant::now() < end, "it does not stop");
        std::thread::sleep(Duration::from_millis(20));
    }
    accounted_for(&serde_json::from_str(&std::fs::read_to_string(counters).unwrap()).unwrap());
    assert!(!lab.state().join("sw/control.sock").exists());
}
