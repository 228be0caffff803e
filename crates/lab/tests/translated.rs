//! From a scenario to what hosts do, and from what was seen to a result: without any namespace.

use forebay_lab::congestion::Kernel;
use forebay_lab::fleet::{Datagrams, Observed};
use forebay_lab::job::{Job, JobKind};
use forebay_lab::measured::{Sample, Seen, SeenSwitch, result};
use forebay_lab::notes::Note;
use forebay_lab::translate::{self, Translated};
use forebay_live::port::Outside;
use forebay_live::snapshot::{PortState, QueueState, Snapshot};
use forebay_results::{read_run, write_run};
use forebay_sim::flow::TrafficPlan;
use forebay_sim::scenario::Scenario;
use forebay_sim::workload;
use forebay_tm::counters::{Count, Counters};
use forebay_tm::{Bytes, Instant, Rate, Reason};

const SCENARIO: &str = r#"
duration = "100ms"
[topology]
kind = "single"
hosts = 4
rate = "100Mbps"
delay = "25us"
[switch]
buffer = "410KB"
queues = 3
[scheduler]
kind = "drr"
[policy]
kind = "dt"
alpha = 1.0
[transport.tcp]
kind = "cubic"
mss = 1448
header = 66
initial_window = 12
rto_min = "100ms"
[transport.udp]
rate = "5Mbps"
mss = 1000
header = 42
[[workload]]
name = "query"
kind = "incast"
request = "60KB"
fan_in = 3
rate_per_host = 100
transport = "tcp"
class = 2
[[workload]]
name = "ask"
kind = "request-response"
clients = "host0"
servers = "host3"
request = "100"
sizes = "2KB"
think = "10ms"
transport = "tcp"
[[workload]]
name = "stream"
kind = "long-lived"
pairs = [[1, 2]]
transport = "udp"
class = 1
"#;

fn scenario(text: &str) -> (Scenario, TrafficPlan) {
    let scenario = Scenario::read("s.toml", text, &[]).unwrap();
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    (scenario, plan)
}

fn translated(text: &str) -> Result<Translated, String> {
    let (scenario, plan) = scenario(text);
    let layout = translate::layout("t", &scenario).map_err(|error| error.to_string())?;
    translate::translate(&scenario, &plan, &layout, &Kernel::of("reno cubic")).map_err(|error| error.to_string())
}

#[test]
fn hosts_are_told_exactly_what_the_plan_says() {
    let (scenario, plan) = scenario(SCENARIO);
    let translated = translated(SCENARIO).unwrap();
    let job = &translated.job;
    assert_eq!(Job::parse(&job.to_text()).as_ref(), Ok(job));
    assert!(plan.flows.len() > 20);
    assert_eq!(job.flows.len(), plan.flows.len());
    for (own, planned) in job.flows.iter().zip(&plan.flows) {
        assert_eq!((own.src, own.dst, own.dscp), (planned.src as usize, planned.dst as usize, planned.class));
        assert_eq!(own.start, planned.start.ps() / 1_000);
        match &own.kind {
            JobKind::Tcp { congestion_control, ack_dscp, ahead } => {
                assert_eq!((congestion_control.as_str(), *ack_dscp, *ahead), ("cubic", 2, true));
                assert_eq!(own.bytes, Some(planned.bytes));
            }
            JobKind::Udp { payload, header, rate, .. } => {
                assert_eq!((*payload, *header, *rate), (1_000, 42, 5_000_000));
                assert_eq!((own.bytes, own.until), (None, 100_000_000));
            }
        }
    }
    // A client asks until its time is up, however fast it is answered.
    assert_eq!(job.sessions.len(), 1);
    assert!(job.sessions[0].asks.iter().all(|(server, bytes, _)| (*server, *bytes) == (3, 2_000)));
    assert_eq!(translated.treatment.classes, 3);
    assert_eq!((translated.hosts.initial_window, translated.hosts.mss), (Some(12), Some(1_460)));
    assert_eq!(translated.configs[0].buffer.get(), 410_000);
    assert_eq!(scenario.network.hosts.len(), job.hosts.len());
}

#[test]
fn what_a_lab_cannot_do_is_refused() {
    let changed = |from: &str, to: &str| {
        assert!(SCENARIO.contains(from), "{from}");
        translated(&SCENARIO.replace(from, to)).unwrap_err()
    };
    assert!(changed("kind = \"cubic\"", "kind = \"timely\"").contains("no transport like timely"));
    assert!(changed("rate = \"5Mbps\"", "rate = \"5Mbps\"\narrivals = \"poisson\"").contains("not at a constant rate"));
    assert!(changed("initial_window = 12", "initial_window = \"bdp\"").contains("bandwidth-delay product"));
    let leaves = "kind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 2";
    let parallel = changed("kind = \"single\"\nhosts = 4", &format!("{leaves}\nparallel = 2"));
    assert!(parallel.contains("several between a leaf and a spine"), "{parallel}");
    let routed = translated(&SCENARIO.replace("kind = \"single\"\nhosts = 4", leaves)).unwrap();
    assert_eq!(routed.configs.iter().map(|config| config.rates.len()).collect::<Vec<_>>(), [3, 3, 2]);
    assert!(changed("header = 42", "header = 42\nfixed_rank = 3").contains("fixed ranks beside several queues"));
}

#[test]
fn ranks_become_code_points() {
    let text = SCENARIO
        .replace(
            "queues = 3\n[scheduler]\nkind = \"drr\"",
            "[scheduler]\nkind = \"aifo\"\ncapacity = 20\nheadroom = 0.1\nwindow = 20",
        )
        .replace("header = 42", "header = 42\nfixed_rank = 3")
        .replace("class = 2\n", "")
        .replace("class = 1\n", "");
    let translated = translated(&text).unwrap();
    assert!(translated.treatment.rank_by_dscp);
    let stream = translated.job.flows.iter().find(|flow| flow.bytes.is_none()).unwrap();
    assert_eq!(stream.dscp, 60);
}

fn counters(offered: u64, dropped: u64) -> Counters {
    let count = |packets: u64| Count { packets, bytes: packets * 1_000 };
    let mut counters = Counters::default();
    (counters.offered, counters.peak) = (count(offered), Bytes::new(5_000));
    (counters.admitted, counters.sent) = (count(offered - dropped), count(offered - dropped));
    counters.count_dropped(Reason::Threshold, count(dropped));
    counters
}

fn snapshot(sequence: u64, used: u64) -> Snapshot {
    let used = Bytes::new(used);
    let queue =
        QueueState { bytes: used, packets: 1, watermark: used, threshold: Some(9_000.0), counters: counters(10, 1) };
    let port = |number: u64| PortState {
        name: format!("t-h{number}"),
        is_up: true,
        rate: Rate::from_bps(100_000_000),
        received: Count { packets: 5, bytes: 5_000 },
        transmitted: Count::default(),
        untrimmable: 0,
        counters: counters(10, 1),
        headers_waiting: 0,
        outside: Outside { receive_overruns: 1, ..Outside::default() },
        queues: vec![queue.clone()],
    };
    Snapshot { sequence, used, total: counters(40, 4), ports: (1..=4).map(port).collect(), ..Snapshot::default() }
}

/// A switch writes what a lab reads; a key that either end calls otherwise is an error.
#[test]
fn both_ends_of_the_socket_know_one_snapshot() {
    let written = serde_json::to_value(snapshot(3, 2_000)).unwrap();
    assert_eq!(serde_json::from_value::<Snapshot>(written.clone()).unwrap(), snapshot(3, 2_000));
    for key in ["/total/offered", "/ports/0/counters/peak_bytes", "/stalls/given_up_us", "/ports/1/outside/too_long"] {
        let (parent, name) = key.rsplit_once('/').unwrap();
        let mut renamed = written.clone();
        let object = renamed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let value = object.remove(name).unwrap();
        object.insert("renamed".to_owned(), value);
        let error = serde_json::from_value::<Snapshot>(renamed).unwrap_err().to_string();
        assert!(error.contains(name), "{key}: {error}");
    }
}

#[test]
fn what_was_seen_is_a_result_like_the_simulators() {
    let (scenario, plan) = scenario(SCENARIO);
    let mut observed = Observed::default();
    let udp = plan.flows.iter().position(|flow| flow.class == 1).unwrap() as u32;
    for (number, flow) in (0..).zip(&plan.flows) {
        let start = flow.start.ps() / 1_000 + 100;
        observed.hear(Note::Started(number, start));
        // The last flow never arrives.
        if number != udp && number as usize + 1 != plan.flows.len() {
            observed.hear(Note::Ended(number, start + 20_000_000 + u64::from(number)));
            observed.hear(Note::Acked(number, start + 21_000_000));
        }
    }
    observed.hear(Note::Sent(udp, 60));
    observed.hear(Note::Got(udp, 50, 8, 0));
    observed.hear(Note::Asked(0, 3, 2_000, [1_000_000, 1_200_000, 1_500_000]));
    observed.hear(Note::Failed("something".to_owned()));
    assert_eq!(observed.datagrams[&udp], Datagrams { sent: Some(60), whole: 50, headers: 8, again: 0 });
    let samples: Vec<Sample> =
        (1..5).map(|n| Sample { at: n * 10_000_000, snapshot: snapshot(n, n * 1_000) }).collect();
    let switches = [SeenSwitch { samples, last: snapshot(9, 0) }];
    observed.hear(Note::Repeated(0, 3, 1));
    let seen = Seen { observed: &observed, switches: &switches, end: 130_000_000 };
    let result = result(&scenario, &plan, &seen);

    assert_eq!(result.flows.len(), plan.flows.len() + 2, "with a request and its answer");
    let first = result.flows.iter().find(|flow| flow.spec.class == 2).unwrap();
    assert!(first.is_complete() && first.ideal.ps() > 0);
    assert!(first.fct().unwrap().ps() >= 20_000_000_000);
    let last_planned = &result.flows[plan.flows.len() - 1];
    assert!(!last_planned.is_complete());
    let unfinished = plan.flows.last().unwrap().query;
    for (number, query) in (0u32..).zip(&result.queries) {
        assert_eq!(query.end == Instant::NEVER, number == unfinished, "{number}");
    }
    assert_eq!((result.sent, result.received, result.lost_to_failures), (20, 36, 4));
    assert_eq!(result.places.len(), 1 + 4 + 4);
    assert_eq!(result.places[0].counters.dropped.packets, 4);
    assert_eq!(result.timeline.len(), 4);
    let repeats: Vec<_> = result.flows.iter().map(|flow| (flow.retransmissions, flow.timeouts)).collect();
    assert_eq!(repeats[0], (3, 1), "as the kernel has counted them");
    assert!(repeats[1..].iter().all(|own| *own == (0, 0)));

    let root = tempfile::tempdir().unwrap();
    let summary = write_run(root.path(), &scenario, "name = \"x\"\n", &result, false).unwrap();
    assert_eq!(read_run(root.path()).unwrap().summary, summary);
    assert_eq!(summary.dropped(), 4);
    assert_eq!(summary.drops_by_reason()[0].reason, "threshold");
}
