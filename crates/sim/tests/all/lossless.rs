//! Networks that pause: what a cable needs of headroom is enough, and a cell less is not; frames, durations, response
//! and watchdog.

use crate::common::{assert_conserved, flow, run_flows, scenario, us};
use forebay_sim::flow::FlowSpec;
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::{Scenario, describe};
use forebay_tm::{Duration, Instant, Rate};

const CELL: u64 = 256;
/// Packets of the lossless class that fit the shared part.
const SHARED: u64 = 4;

/// A cable, and the packets on it.
#[derive(Clone, Copy)]
struct Cable {
    gbps: u64,
    delay_ns: u64,
    /// On the wire.
    bytes: u64,
    response_ns: u64,
}

impl Cable {
    fn time(self, bytes: u64) -> u64 {
        Rate::from_gbps(self.gbps).serialization(bytes).ps()
    }

    fn cells(self) -> u64 {
        self.bytes.div_ceil(CELL)
    }

    /// Cells of headroom that nothing is lost with: the packet that did not fit, and those that its sender starts to
    /// send before the frame stops it. That takes the frame, both ways of the cable and the response.
    fn headroom(self) -> u64 {
        let round = 2 * self.delay_ns * 1_000 + self.response_ns * 1_000 + self.time(64);
        (1 + round.div_ceil(self.time(self.bytes))) * self.cells()
    }

    fn text(self, headroom: u64, more: &str) -> String {
        let Self { gbps, delay_ns, bytes, response_ns } = self;
        let (payload, shared) = (bytes - 40, SHARED * self.cells());
        format!(
            r#"
            duration = "10ms"
            drain = "10ms"
            [topology]
            kind = "single"
            hosts = 4
            rate = "{gbps}Gbps"
            delay = "{delay_ns}ns"
            [switch]
            buffer = "64MB"
            queues = 2
            [policy]
            kind = "cs"
            [scheduler]
            kind = "strict"
            [ingress]
            cell = {CELL}
            [[ingress.pool]]
            name = "all"
            shared = 200000
            [[ingress.group]]
            groups = [0]
            limit = 5000
            [[ingress.group]]
            groups = [1]
            limit = {shared}
            headroom = {headroom}
            [pfc]
            response = "{response_ns}ns"
            {more}
            [transport.udp]
            kind = "udp"
            mss = {payload}
            header = 40
            "#
        )
    }

    /// Hosts 1 and 2 keep the port to host 3 busy with class 0, which goes first, while host 0 sends `packets` of class
    /// 1 there.
    fn flows(self, packets: u64) -> Vec<FlowSpec> {
        let busy = 2 * packets * (self.bytes - 40);
        let start = 4 * self.time(self.bytes);
        vec![
            flow(0, 1, 3, busy),
            flow(0, 2, 3, busy),
            FlowSpec { class: 1, ..flow(start, 0, 3, packets * (self.bytes - 40)) },
        ]
    }

    fn run(self, headroom: u64, more: &str, extra: u64) -> RunResult {
        let packets = SHARED + self.headroom() / self.cells() + extra;
        run_flows(&self.text(headroom, more), &self.flows(packets))
    }
}

/// The flow of class 1: what was dropped of it, and whether all of it came.
fn lossless(result: &RunResult) -> (u32, bool) {
    let flow = result.flows.iter().find(|flow| flow.spec.class == 1).expect("there is one");
    (flow.drops, flow.is_complete())
}

#[test]
fn headroom_that_the_cable_needs_is_enough_and_a_cell_less_is_not() {
    for gbps in [10, 25, 100, 400] {
        for delay_ns in [25, 500, 4_000] {
            for bytes in [64, 296, 1_500, 9_040] {
                for response_ns in [0, 700] {
                    let cable = Cable { gbps, delay_ns, bytes, response_ns };
                    let needed = cable.headroom();
                    let enough = cable.run(needed, "", 20);
                    let what = format!("{gbps} Gb/s, {delay_ns} ns, {bytes} B, {response_ns} ns, {needed} cells");
                    assert_eq!(lossless(&enough), (0, true), "{what}");
                    assert!(enough.pauses.frames >= 2, "{what}: it paused and resumed");
                    let (dropped, complete) = lossless(&cable.run(needed - 1, "", 20));
                    assert!(dropped >= 1 && !complete, "{what}: {dropped} dropped with a cell less");
                }
            }
        }
    }
}

const TYPICAL: Cable = Cable { gbps: 100, delay_ns: 500, bytes: 1_500, response_ns: 0 };

#[test]
fn frames_are_refreshed_as_long_as_a_group_is_full() {
    // 20 quanta are 102.4 ns; the pause lasts much longer, and nothing is lost all the same.
    let short = TYPICAL.run(TYPICAL.headroom(), "quanta = 20", 100);
    let long = TYPICAL.run(TYPICAL.headroom(), "", 100);
    assert_eq!((lossless(&short), lossless(&long)), ((0, true), (0, true)));
    assert!(short.pauses.frames > 10 * long.pauses.frames, "{} and {}", short.pauses.frames, long.pauses.frames);
    let cable = Cable { delay_ns: 4_000, ..TYPICAL };
    let asked: Vec<_> = long.pauses.requests.iter().map(|request| (request.port, request.group)).collect();
    assert!(asked.iter().all(|place| *place == (0, 1)), "{asked:?}");
    assert_eq!(lossless(&cable.run(cable.headroom(), "quanta = 100\nrefresh = 50", 20)), (0, true));
}

#[test]
fn pauses_are_told() {
    let result = TYPICAL.run(TYPICAL.headroom(), "", 50);
    let request = result.pauses.requests[0];
    assert!(request.from < request.until && request.until < Instant::NEVER, "{request:?}");
    let host = result.pauses.paused.iter().find(|paused| paused.switch.is_none()).expect("host 0 was paused");
    assert_eq!((host.port, host.class), (0, 1));
    let asked: u64 = result.pauses.requests.iter().map(|request| request.until.since(request.from).ps()).sum();
    // It is paused as long as it is asked to be: both frames take the same time.
    assert_eq!((host.pauses, host.paused.ps()), (result.pauses.requests.len() as u64, asked));
    assert_eq!(result.pauses.storms, []);
    let sent = result.sent;
    let dropped: u64 = result.flows.iter().map(|flow| u64::from(flow.drops)).sum();
    assert_eq!(sent, result.received + dropped + result.in_flight, "frames are no packets");
}

#[test]
fn a_run_is_the_same_twice() {
    let runs = [(); 2].map(|()| TYPICAL.run(TYPICAL.headroom(), "quanta = 30", 60));
    assert_eq!(runs[0].pauses, runs[1].pauses);
    assert_eq!(runs[0].flows, runs[1].flows);
}

#[test]
fn the_time_of_a_lone_flow_is_as_without_ingress_side() {
    let lone = |text: &str| {
        let result = run_flows(text, &[FlowSpec { class: 1, ..flow(us(1), 0, 3, 1_460_000) }]);
        result.flows[0].end
    };
    let with = TYPICAL.text(TYPICAL.headroom(), "");
    let from = with.find("[ingress]").expect("it is there");
    let to = with.find("[transport.udp]").expect("it is there");
    let without = format!("{}{}", &with[..from], &with[to..]);
    assert_eq!(lone(&with), lone(&without));
    assert_ne!(lone(&with), Instant::NEVER);
}

/// Two switches in a row: hosts 0 to 3 at one, 4 to 7 at the other.
fn in_a_row(more: &str) -> String {
    let two = "kind = \"dumbbell\"\nleft = 4\nright = 4\nbottleneck_rate = \"100Gbps\"";
    TYPICAL.text(200, more).replace("kind = \"single\"\n            hosts = 4", two)
}

#[test]
fn a_pause_reaches_the_next_switch_and_its_hosts() {
    let text = in_a_row("");
    let mut flows = vec![flow(0, 5, 4, 3_000_000), flow(0, 6, 4, 3_000_000)];
    flows.push(FlowSpec { class: 1, ..flow(us(1), 0, 4, 3_000_000) });
    let result = run_flows(&text, &flows);
    assert_eq!(lossless(&result), (0, true));
    let who: Vec<(Option<u32>, u32)> = result.pauses.paused.iter().map(|paused| (paused.switch, paused.port)).collect();
    // The port from the left switch to the right one, then host 0.
    assert_eq!(who, [(Some(0), 4), (None, 0)]);
}

#[test]
fn the_watchdog_drops_or_forwards_what_stays_paused() {
    let mut flows = vec![flow(0, 5, 4, 6_000_000), flow(0, 6, 4, 6_000_000)];
    flows.push(FlowSpec { class: 1, ..flow(us(1), 0, 4, 3_000_000) });
    let run = |more: &str| run_flows(&in_a_row(more), &flows);
    // Paused for 500 us and more; the left switch sees it after 100 us.
    let dropping = run("detect = \"100us\"\nrestore = \"50us\"\naction = \"drop\"");
    let storm = dropping.pauses.storms[0];
    assert_eq!((storm.switch, storm.port, storm.class), (0, 4, 1));
    let paused = dropping.pauses.requests.iter().find(|request| request.switch == 1).expect("the right one asked");
    let frame = TYPICAL.time(64) + 500_000;
    assert_eq!(storm.from, paused.from + Duration::from_ps(frame) + Duration::from_us(100));
    assert!(storm.until < Instant::NEVER && storm.dropped > 0, "{storm:?}");
    assert_eq!(u64::from(lossless(&dropping).0), dropping.pauses.storms.iter().map(|storm| storm.dropped).sum::<u64>());
    let forwarding = run("detect = \"100us\"\nrestore = \"50us\"\naction = \"forward\"");
    assert_eq!(forwarding.pauses.storms[0].dropped, 0);
    assert!(lossless(&forwarding).0 > 0, "what is sent into a full group is dropped there");
    let reporting = run("detect = \"100us\"\naction = \"report\"");
    assert_eq!((lossless(&reporting), reporting.pauses.storms.len()), ((0, true), 1));
    assert_eq!(run("detect = \"5ms\"").pauses.storms, [], "nothing is paused for so long");
}

#[test]
fn what_cannot_be_is_refused() {
    let good = TYPICAL.text(100, "") + "\n[[workload]]\nkind = \"permutation\"\nbytes = 1\n";
    let error = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        Scenario::read("test.toml", &good.replace(from, to), &[]).expect_err(to).to_string()
    };
    for (from, to, problem) in [
        ("[pfc]", "[pfc]\nquanta = 0", "pfc.quanta: a frame of no quanta resumes"),
        ("[pfc]", "[pfc]\nrefresh = 101", "pfc.refresh: this is no share"),
        ("[pfc]", "[pfc]\ndetect = 0", "pfc.detect: every pause would be a storm"),
        ("[pfc]", "[pfc]\naction = \"drop\"", "pfc.action: the watchdog needs a time"),
        ("[pfc]", "[pfc]\ndetect = \"1ms\"\naction = \"log\"", "pfc.action: \"log\" is unknown"),
        ("[pfc]", "[nic]\nkind = \"fq\"\n[pfc]", "nic: hosts of a network that pauses have queues of their own"),
        ("headroom = 100", "", "pfc: no switch has a lossless group"),
        ("buffer = \"64MB\"", "buffer = \"64MB\"\nports_per_buffer = 2", "ingress: switch switch0 has several buffers"),
        ("groups = [1]", "groups = [2]", "ingress: port 0 of switch switch0 has no group 1, which queue 1 is in"),
        ("[pfc]", "[trim]\nkind = \"ndp\"\nsize = 64\n[pfc]", "ingress: switch switch0 has queues of headers"),
    ] {
        let error = error(from, to);
        assert!(error.contains(problem), "{to}: {error}");
    }
}

/// Packets of a lossless group are cut to a queue of another group. They stay in their own group: it pauses, and resumes
/// when they have left.
#[test]
fn what_is_trimmed_is_released_from_its_group() {
    let limit = format!("limit = {}", SHARED * TYPICAL.cells());
    for kind in ["kind = \"to-queue\"\nqueue = 2\nfrom = [false, true, false]", "kind = \"cut-payload\""] {
        let text = TYPICAL
            .text(100, &format!("[trim]\nsize = \"128B\"\n{kind}"))
            .replace("queues = 2", "queues = 3\nqueue_capacity = 16")
            .replace("[ingress]", "[ingress]\nof_queue = [0, 1, 0]")
            .replace(&limit, &format!("limit = {}", 17 * TYPICAL.cells()));
        let result = run_flows(&text, &TYPICAL.flows(400));
        assert_conserved(&result, kind);
        let lossless = result.flows.iter().find(|flow| flow.spec.class == 1).unwrap();
        assert!(lossless.trims > 0 && lossless.drops == 0, "{kind}: {lossless:?}");
        let requests = &result.pauses.requests;
        assert!(
            !requests.is_empty() && requests.iter().all(|of| (of.port, of.group) == (0, 1)),
            "{kind}: {requests:?}"
        );
        assert!(requests.iter().all(|of| of.from < of.until && of.until < Instant::NEVER), "{kind}: {requests:?}");
        // While it is paused, nothing of it is cut: it pauses for the queue that holds most of it.
        assert!(requests.iter().all(|of| of.congested.is_some_and(|(port, queue)| port == 3 && queue >= 1)), "{kind}");
    }
}

#[test]
fn a_switch_next_to_one_that_pauses_must_know_pauses() {
    let text = in_a_row("")
        .replace("[ingress]", "[switches.switch0.ingress]")
        .replace("[[ingress.", "[[switches.switch0.ingress.");
    let text = text + "\n[[workload]]\nkind = \"permutation\"\nbytes = 1\n";
    let error = Scenario::read("test.toml", &text, &[]).expect_err("the other has none").to_string();
    assert!(error.contains("switch switch0 would pause switch switch1, which has no ingress side"), "{error}");
}

#[test]
fn a_resolved_scenario_reads_back() {
    let text = in_a_row("detect = \"1ms\"\nquanta = 77") + "\n[[workload]]\nkind = \"permutation\"\nbytes = 1\n";
    let resolved = describe("test.toml", &text, &[]).expect("it is right");
    let (before, after) = (scenario(&text), scenario(&resolved));
    assert_eq!(before.switches, after.switches, "{resolved}");
    assert_eq!(before.nic, after.nic, "{resolved}");
}
