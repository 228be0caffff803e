//! Labs of real network namespaces. Needs root and Debian's iproute2, ethtool and iperf3; where these are missing the
//! tests pass without looking, unless `FOREBAY_TEST` is 1, as in `./test`.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn forebay(prefix: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_forebay")).args(["lab", "--prefix", prefix]).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn succeed(prefix: &str, arguments: &[&str]) -> String {
    let output = forebay(prefix, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    text(&output)
}

/// A lab that is removed when the test ends, however it ends.
struct Lab {
    prefix: &'static str,
    _one: std::sync::MutexGuard<'static, ()>,
}

impl Lab {
    fn new(prefix: &'static str) -> Self {
        Self { prefix, _one: crate::alone() }
    }

    fn namespaces(&self) -> Vec<String> {
        let list = Command::new("ip").args(["netns", "list"]).output().unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let names = list.lines().filter_map(|line| line.split_whitespace().next());
        names.filter(|name| name.starts_with(&format!("{}-", self.prefix))).map(str::to_owned).collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        forebay(self.prefix, &["down"]);
    }
}

/// Waits for something, for 20 s at most.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Goodput of iperf3 from h1 to h2, in Mb/s.
fn iperf(lab: &Lab, seconds: &str) -> f64 {
    let mut server = Command::new(env!("CARGO_BIN_EXE_forebay"))
        .args(["lab", "--prefix", lab.prefix, "exec", "h2", "iperf3", "-s", "-1"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("iperf3 listens", || {
        text(&forebay(lab.prefix, &["exec", "h2", "cat", "/proc/net/tcp", "/proc/net/tcp6"])).contains(":1451 ")
    });
    let said = succeed(lab.prefix, &["exec", "h1", "iperf3", "-c", "10.0.0.2", "-t", seconds, "-f", "m"]);
    server.wait().unwrap();
    let line = said.lines().find(|line| line.contains("receiver")).unwrap();
    line.split("Mbits").next().unwrap().split_whitespace().last().unwrap().parse().unwrap()
}

#[test]
fn up_twice_is_the_same_and_down_leaves_nothing() {
    let lab = Lab::new("ta");
    assert!(succeed("ta", &["up", "--hosts", "3", "--switch", "bridge"]).contains("is up: 3 hosts"));
    let before = lab.namespaces();
    assert_eq!(before.len(), 4);
    assert!(succeed("ta", &["up", "--hosts", "3", "--switch", "bridge"]).contains("was up"));
    assert_eq!(lab.namespaces(), before);
    succeed("ta", &["exec", "h1", "ping", "-c", "1", "-W", "5", "10.0.0.3"]);
    // Another number of hosts makes it anew.
    assert!(succeed("ta", &["up", "--hosts", "2", "--switch", "bridge"]).contains("is up: 2 hosts"));
    assert_eq!(lab.namespaces().len(), 3);
    assert!(succeed("ta", &["status"]).contains("h2"));
    let status: serde_json::Value = serde_json::from_str(&succeed("ta", &["status", "--json"])).unwrap();
    let mut hosts: Vec<_> = status.as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap()).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["h1", "h2", "sw"]);
    assert!(
        status.as_array().unwrap().iter().all(|of| of["live_switch"] == false),
        "a bridge is no live switch: {status}"
    );
    assert!(succeed("ta", &["down"]).contains("removed 3"));
    assert!(lab.namespaces().is_empty() && succeed("ta", &["down"]).contains("no lab"));
    assert!(!Path::new("/run/forebay-lab/ta").exists());
}

#[test]
fn exec_ends_as_its_command_does() {
    let _lab = Lab::new("tb");
    succeed("tb", &["up", "--hosts", "2", "--switch", "none"]);
    assert_eq!(forebay("tb", &["exec", "h1", "sh", "-c", "exit 7"]).status.code(), Some(7));
    let missing = forebay("tb", &["exec", "h9", "true"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing).contains("there is no namespace tb-h9"), "{}", text(&missing));
    // What a crash leaves behind is found by its name, and what runs there is ended.
    let mut left = Command::new("ip").args(["netns", "exec", "tb-h2", "sleep", "600"]).spawn().unwrap();
    std::fs::remove_dir_all("/run/forebay-lab/tb").unwrap();
    assert!(succeed("tb", &["down"]).contains("removed 3"));
    assert!(!left.wait().unwrap().success());
}

#[test]
fn hosts_reach_each_other_through_a_live_switch_at_its_rate() {
    let lab = Lab::new("tc");
    succeed("tc", &["up", "--hosts", "2", "--ipv6"]);
    assert!(succeed("tc", &["status"]).contains("sw  a live switch runs here"));
    let status: serde_json::Value = serde_json::from_str(&succeed("tc", &["status", "--json"])).unwrap();
    let live: Vec<_> = status.as_array().unwrap().iter().filter(|of| of["live_switch"] == true).collect();
    assert!(live.len() == 1 && live[0]["name"] == "sw", "{status}");
    succeed("tc", &["exec", "h1", "ping", "-c", "3", "-i", "0.2", "-W", "5", "10.0.0.2"]);
    succeed("tc", &["exec", "h1", "ping", "-c", "1", "-W", "5", "fd00::2"]);
    // 1448 of 1538 bytes on the wire: 94.1 Mb/s. What is more than that was never paced; a busy machine gives less, but
    // not always.
    let mut most = 0.0f64;
    for _ in 0..5 {
        most = most.max(iperf(&lab, "3"));
        if most >= 60.0 {
            break;
        }
    }
    assert!((60.0..=96.0).contains(&most), "{most}");
    succeed("tc", &["up", "--hosts", "2", "--ipv6"]);
    succeed("tc", &["exec", "h2", "ping", "-c", "1", "-W", "5", "10.0.0.1"]);
}

#[test]
fn a_leaf_spine_of_live_switches_routes() {
    let _lab = Lab::new("td");
    succeed("td", &["up", "--hosts", "4", "--leaf-spine", "2x2"]);
    for address in ["10.0.1.2", "10.0.2.1", "10.0.2.2"] {
        succeed("td", &["exec", "h1", "ping", "-c", "1", "-W", "10", address]);
    }
    let refused = forebay("td", &["up", "--leaf-spine", "2x2", "--switch", "bridge"]);
    assert_eq!(refused.status.code(), Some(2));
}

const SCENARIO: &str = r#"
duration = "1s"
drain = "5s"
[topology]
kind = "single"
hosts = 4
rate = "100Mbps"
delay = "25us"
[switch]
buffer = "410KB"
queues = 2
[scheduler]
kind = "drr"
[policy]
kind = "dt"
alpha = 8.0
[transport.tcp]
kind = "cubic"
mss = 1448
header = 66
ack_bytes = 66
rto_min = "200ms"
[transport.udp]
rate = "5Mbps"
mss = 1000
header = 42
[[workload]]
name = "query"
kind = "incast"
request = "60KB"
fan_in = 3
rate_per_host = 5
transport = "tcp"
class = 1
[[workload]]
name = "ask"
kind = "request-response"
clients = "host0"
servers = "host3"
request = "100"
sizes = "2KB"
think = "50ms"
transport = "tcp"
[[workload]]
name = "stream"
kind = "long-lived"
pairs = [[1, 2]]
transport = "udp"
[measure]
sample = "100ms"
progress = "all"
[sweep]
seeds = [1]
[[sweep.variant]]
name = "DT"
[[sweep.variant]]
name = "Occamy"
"policy.kind" = "occamy"
"#;

const EXPERIMENT: &str = r#"
scenario = "s.toml"
[lab]
tries = 1
[[program]]
name = "ping"
host = "host3"
command = "ping -c 3 -i 0.1 {host1}"
parse = "ping"
[[expect]]
metric = "flows_complete"
better = "higher"
than = 1.0
[[expect]]
metric = "query.mean_us"
better = "lower"
than = 1000000.0
"#;

#[test]
fn an_experiment_gives_the_files_of_a_sweep() {
    let lab = Lab::new("te");
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("s.toml"), SCENARIO).unwrap();
    let file = root.path().join("e.toml");
    std::fs::write(&file, EXPERIMENT).unwrap();
    let out = root.path().join("out");
    let arguments = ["run", "-q", "--csv", "--out", out.to_str().unwrap(), file.to_str().unwrap()];
    let said = succeed("te", &arguments);
    let judged = said.contains("holds") || said.contains("the machine was away");
    assert!(judged && !said.contains("does not hold"), "{said}");
    assert!(lab.namespaces().is_empty(), "the lab is gone afterwards");
    for point in ["DT", "Occamy"] {
        let run = out.join(point).join("seed1");
        let flows = std::fs::read_to_string(run.join("flows.csv")).unwrap();
        assert!(flows.lines().count() > 20, "{flows}");
        let record = std::fs::read_to_string(run.join("lab.json")).unwrap();
        assert!(record.contains("\"problems\": []"), "{record}");
        let numbers = std::fs::read_to_string(run.join("numbers.json")).unwrap();
        assert!(numbers.contains("ping.p50_ms") && numbers.contains("ask.p99_us"), "{numbers}");
    }
    // What cannot be told is no success to those who ask for one.
    let checked = forebay("te", &[&arguments[..], &["--check"]].concat());
    assert_eq!(checked.status.success(), !said.contains("cannot be told"), "{}", text(&checked));
    // What is finished is not run again.
    assert!(succeed("te", &arguments).contains("2 of 2 runs were finished before"));
    let told = forebay("te", &[&arguments[..], &["--json"]].concat());
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap_or_else(|error| panic!("{error}"));
    let points: Vec<_> = told["points"].as_array().unwrap().iter().map(|row| row["point"].as_str().unwrap()).collect();
    assert_eq!(points, ["DT", "Occamy"]);
    let expected = told["expected"].as_array().unwrap();
    assert!(expected.len() == 4 && expected.iter().all(|of| of["holds"] != false), "{told}");
    assert!(said.contains(expected[0]["expectation"].as_str().unwrap()), "{told}");
    let report = Command::new(env!("CARGO_BIN_EXE_forebay"))
        .args(["compare", out.join("DT/seed1").to_str().unwrap(), out.join("Occamy/seed1").to_str().unwrap()])
        .output()
        .unwrap();
    assert!(report.status.success(), "{}", text(&report));
}

/// Leaves and spines, each a live switch: flows between leaves cross three of them, and what the kernels have sent
/// again is in the table of flows.
#[test]
fn an_experiment_runs_through_leaves_and_spines() {
    let lab = Lab::new("tf");
    let root = tempfile::tempdir().unwrap();
    let star = "kind = \"single\"\nhosts = 4\n";
    let scenario = SCENARIO.replace(star, "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n");
    let scenario = scenario.replace("410KB", "16KB").replace("duration = \"1s\"", "duration = \"500ms\"");
    let scenario = scenario.split("[[sweep.variant]]").next().unwrap();
    std::fs::write(root.path().join("s.toml"), scenario).unwrap();
    let file = root.path().join("e.toml");
    std::fs::write(&file, EXPERIMENT.split("[[expect]]").next().unwrap()).unwrap();
    let out = root.path().join("out");
    succeed("tf", &["run", "-q", "--csv", "--out", out.to_str().unwrap(), file.to_str().unwrap()]);
    assert!(lab.namespaces().is_empty(), "the lab is gone afterwards");
    let run = out.join("all/seed1");
    let text = |name: &str| std::fs::read_to_string(run.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let record: serde_json::Value = serde_json::from_str(&text("lab.json")).unwrap();
    assert_eq!(record["problems"], serde_json::json!([]), "{record}");
    let names: Vec<_> = record["switches"].as_array().unwrap().iter().map(|switch| &switch["name"]).collect();
    assert_eq!(names, ["leaf1", "leaf2", "spine1", "spine2"]);
    let flows = text("flows.csv");
    let mut lines = flows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|own| *own == name).unwrap_or_else(|| panic!("{name}: {head:?}"));
    let (src, dst, again) = (column("src"), column("dst"), column("retransmitted_packets"));
    let lines: Vec<_> = lines.collect();
    assert!(lines.iter().any(|line| line[src] != line[dst]) && lines.len() > 10, "{flows}");
    // Bursts of 60 KB through a buffer of 16 KB, so that some are lost even if senders do not start together.
    assert!(lines.iter().any(|line| line[again].parse::<u32>().unwrap() > 0), "{flows}");
}
