//! Networks that pause: flows that wait for congestion elsewhere, and cycles of pauses that never end.

use crate::common::{flow, scenario, us};
use forebay_sim::engine::World;
use forebay_sim::flow::{FlowRecord, FlowSpec, TrafficPlan};
use forebay_sim::measure::RunResult;
use forebay_sim::measure::pauses::QueuePlace;
use forebay_tm::Instant;
use std::fmt::Write as _;

/// Two classes, of which class 1 is lossless and goes last.
const SWITCHES: &str = r#"
    [switch]
    buffer = "64MB"
    queues = 2
    [policy]
    kind = "cs"
    [scheduler]
    kind = "strict"
    [ingress]
    cell = 256
    [[ingress.pool]]
    name = "all"
    shared = 200000
    [[ingress.group]]
    groups = [0]
    limit = 5000
    [[ingress.group]]
    groups = [1]
    limit = 300
    xon_offset = 60
    headroom = 500
    [transport.udp]
    kind = "udp"
    mss = 1460
    header = 40
    [[workload]]
    kind = "permutation"
    bytes = 1
"#;

fn run_on(threads: usize, text: &str, flows: &[FlowSpec]) -> RunResult {
    let mut flows = flows.to_vec();
    flows.sort_by_key(|flow| flow.start);
    let (scenario, plan) = (scenario(text), TrafficPlan { flows, ..TrafficPlan::default() });
    World::new(&scenario, &plan).split(&plan, threads).run(&mut |_| true)
}

/// The same on one, two and four threads.
fn run(text: &str, flows: &[FlowSpec]) -> RunResult {
    let result = run_on(1, text, flows);
    for threads in [2, 4] {
        let other = run_on(threads, text, flows);
        assert_eq!(other.pauses, result.pauses, "{threads} threads");
        assert_eq!(other.flows, result.flows, "{threads} threads");
    }
    result
}

/// Hosts 0 to 3 at one switch, 4 to 7 at the other.
fn dumbbell() -> String {
    format!(
        "duration = \"2ms\"\ndrain = \"5ms\"\n[topology]\nkind = \"dumbbell\"\nleft = 4\nright = 4\nrate = \"100Gbps\"\n\
         delay = \"500ns\"\nbottleneck_rate = \"100Gbps\"\n{SWITCHES}"
    )
}

fn lossless(start: u64, src: u32, dst: u32, bytes: u64) -> FlowSpec {
    FlowSpec { class: 1, ..flow(start, src, dst, bytes) }
}

/// Class 0 keeps the port to host 4 busy, where host 0 sends in class 1. Host 1 sends to host 7, by the same cable
/// between the switches.
fn beside_a_congested_port() -> Vec<FlowSpec> {
    vec![
        flow(0, 5, 4, 3_000_000),
        flow(0, 6, 4, 3_000_000),
        lossless(us(1), 0, 4, 1_500_000),
        lossless(us(2), 1, 7, 1_500_000),
    ]
}

#[test]
fn a_flow_that_shares_only_the_paused_link_is_a_victim() {
    let result = run(&dumbbell(), &beside_a_congested_port());
    let mut lossless = result.flows.iter().filter(|flow| flow.spec.class == 1);
    assert!(lossless.all(|flow| flow.drops == 0 && flow.is_complete()));
    let [victim] = &result.pauses.victims[..] else { panic!("{:?}", result.pauses.victims) };
    // Flow 3, at the right switch, by the port that the cable between the switches ends at.
    assert_eq!((victim.flow, victim.switch, victim.port, victim.group), (3, 1, 4, 1));
    let paused = result.pauses.paused.iter().find(|paused| paused.switch == Some(0)).expect("the left switch waited");
    assert!(victim.packets > 0 && victim.longest <= paused.paused, "{victim:?} {paused:?}");
    // The port to host 4 is what the pauses of the right switch are for; the cable is what those of the left one are
    // for.
    let congested: Vec<_> = result.pauses.requests.iter().map(|request| (request.switch, request.congested)).collect();
    assert!(congested.contains(&(1, Some((0, 1)))), "{congested:?}");
    let elsewhere = congested.iter().filter(|place| ![(1, Some((0, 1))), (0, Some((4, 1)))].contains(place));
    assert_eq!(elsewhere.count(), 0, "{congested:?}");
    assert_eq!(result.pauses.deadlocks, []);
}

#[test]
fn a_flow_that_goes_to_the_congested_port_is_none() {
    let mut flows = beside_a_congested_port();
    flows[3].dst = 4;
    let result = run(&dumbbell(), &flows);
    assert!(result.pauses.paused.iter().any(|paused| paused.switch == Some(0)), "it waited");
    assert_eq!(result.pauses.victims, []);
    // Nor is one that waits for nothing.
    flows[3] = lossless(us(2), 7, 1, 1_500_000);
    assert_eq!(run(&dumbbell(), &flows).pauses.victims, []);
}

const RING: u32 = 5;

/// Five switches with a host each, in a ring, or in a row if the last cable is missing.
fn ring(cables: u32, pfc: &str) -> String {
    let mut text =
        "duration = \"1ms\"\ndrain = \"1ms\"\n[topology]\nkind = \"graph\"\nrate = \"100Gbps\"\ndelay = \"500ns\"\n"
            .to_owned();
    for switch in 0..RING {
        let _ = writeln!(text, "[[topology.switch]]\nname = \"s{switch}\"");
    }
    for switch in 0..RING {
        let _ = writeln!(text, "[[topology.hosts]]\nswitch = \"s{switch}\"\ncount = 1");
    }
    for cable in 0..cables {
        let _ = writeln!(text, "[[topology.link]]\nfrom = \"s{cable}\"\nto = \"s{}\"", (cable + 1) % RING);
    }
    format!("{text}\n[pfc]\ndeadlock_interval = \"10us\"\n{pfc}\n{SWITCHES}")
}

/// Every host sends to the host of the switch after the next: two flows go by every cable of the ring.
fn around() -> Vec<FlowSpec> {
    (0..RING).map(|host| lossless(0, host, (host + 2) % RING, 2_000_000)).collect()
}

#[test]
fn a_cycle_of_pauses_is_named() {
    let result = run(&ring(RING, ""), &around());
    let [deadlock] = &result.pauses.deadlocks[..] else { panic!("{:?}", result.pauses.deadlocks) };
    // Ports: the host, then the cables in order. So s0 sends on by port 1, and the others by port 2.
    let place = |switch| QueuePlace { switch, port: if switch == 0 { 1 } else { 2 }, queue: 1 };
    assert_eq!(deadlock.cycle, (0..RING).map(place).collect::<Vec<_>>());
    assert_eq!((deadlock.until, deadlock.found.ps() % us(10)), (Instant::NEVER, 0));
    assert!(deadlock.paused.iter().all(|since| *since > Instant::ZERO && *since < deadlock.found), "{deadlock:?}");
    // It is found at the first look after its last pause.
    let last = deadlock.paused.iter().max().expect("there are pauses").ps();
    assert!(deadlock.found.ps() - last <= us(10), "{deadlock:?}");
    assert!(result.flows.iter().all(|flow| !flow.is_complete() && flow.drops == 0), "nothing gets on, nothing is lost");
}

#[test]
fn without_a_cycle_all_get_on() {
    // A row of switches: three flows go by its cables, and pause their senders, but nothing comes around.
    let flows: Vec<FlowSpec> = around().into_iter().filter(|flow| flow.src < RING - 2).collect();
    let row = run(&ring(RING - 1, ""), &flows);
    assert!(!row.pauses.requests.is_empty());
    assert_eq!(row.pauses.deadlocks, []);
    assert!(row.flows.iter().all(|flow| flow.is_complete() && flow.drops == 0));
    // The ring with flows to the next switch only: no packet waits for another cable.
    let next: Vec<FlowSpec> = around().iter().map(|flow| FlowSpec { dst: (flow.src + 1) % RING, ..*flow }).collect();
    let near = run(&ring(RING, ""), &next);
    assert_eq!(near.pauses.deadlocks, []);
    assert!(near.flows.iter().all(FlowRecord::is_complete));
}

#[test]
fn a_watchdog_that_drops_ends_a_deadlock() {
    let result = run(&ring(RING, "detect = \"200us\"\nrestore = \"100us\""), &around());
    let first = &result.pauses.deadlocks[0];
    assert!(first.until < Instant::NEVER && first.until.ps() - first.found.ps() >= us(100), "{first:?}");
    assert!(!result.pauses.storms.is_empty());
}
