//! Switches that are programmable chips: when what comes where, what is counted, and what is refused. What programs
//! decide is tested in `forebay-pisa`.

use crate::common;

use common::{assert_conserved, dropped, everything, flow, queue, run_flows, scenario, us};
use forebay_sim::flow::FlowSpec;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, What};
use forebay_sim::packet::flag;
use forebay_sim::scenario::Scenario;
use forebay_tm::random::Random;
use forebay_tm::{Instant, Reason};

/// A switch whose ports hold one data packet beside the one that they send. Packets have 1,500 bytes, 1.2 us.
fn network(hosts: usize, program: &str, chip: &str) -> String {
    format!(
        r#"
        duration = "1ms"
        [topology]
        kind = "single"
        hosts = {hosts}
        rate = "10Gbps"
        delay = "1us"
        [switch]
        kind = "tofino"
        program = "{program}"
        buffer = "1MB"
        queues = 2
        queue_capacity = 1
        [policy]
        kind = "cs"
        [scheduler]
        kind = "strict"
        [chip]
        {chip}
        [transport.ndp]
        ack_class = 0
        [measure]
        trace_flows = [0, 1, 2]
        "#
    )
}

/// A packet of data from each of some hosts to host 0, at once.
fn at_once(from: impl Iterator<Item = u32>) -> Vec<FlowSpec> {
    from.map(|host| FlowSpec { class: 1, ..flow(0, host, 0, 1_460) }).collect()
}

/// When the first header reaches host 0.
fn header_at(result: &RunResult) -> Option<Instant> {
    let is_header = |place, trimmed| place == Place::Host(0) && trimmed;
    let found = result.trace.iter().find(|event| is_header(event.place, event.packet.has(flag::TRIMMED)));
    found.map(|event| event.at)
}

#[test]
fn a_deflected_packet_is_cut_and_comes_around() {
    // All three arrive after 2.2 us: one is sent until 3.4 us, one waits, one is deflected. The deflection port takes
    // it at once, so its header is sent around from 2.2 us to 2.20512 us, is back at 3.20512 us, and goes before the
    // packet that waits: 3.4 us to 3.4512 us, and 1 us to the host.
    for (chip, at_the_host) in [
        ("", 4_451_200),
        ("latency = \"1.5us\"", 5_651_200),
        ("header = 128", 4_502_400),
        ("recirculation_rate = \"400Mbps\"", 5_651_200),
        // A slow deflection port takes long to send a packet, but its egress sees the packet as it begins.
        ("deflection_rate = \"1Gbps\"", 4_451_200),
    ] {
        let result = run_flows(&network(4, "deflect", chip), &at_once(1..4));
        assert_eq!(header_at(&result), Some(Instant::from_ps(at_the_host)), "{chip}");
        let pipeline = result.chips[0].pipelines[0];
        assert_eq!((pipeline.trimmed_at_egress, pipeline.trimmed_at_ingress, pipeline.deflection.packets), (1, 0, 1));
        assert_eq!((pipeline.recirculation.packets, pipeline.deflection.bytes), (1, 1_500), "{chip}");
        let (data, headers) = (queue(&result, 0, 0, 1).counters, queue(&result, 0, 0, 0).counters);
        assert_eq!((data.trimmed.packets, headers.sent.packets), (1, 1), "{chip}");
        assert!(result.flows.iter().all(|flow| flow.is_complete() && flow.timeouts == 0), "{chip}");
        assert_conserved(&result, chip);
    }
}

#[test]
fn deflected_packets_wait_for_their_port() {
    // 13 of 15 packets find no room. At 10 Gb/s the first is cut at once and the others 1.2 us apart.
    let text = network(16, "deflect", "deflection_rate = \"10Gbps\"")
        .replace("ack_class = 0", "ack_class = 0\nrto_min = \"100ms\"");
    let result = run_flows(&text, &at_once(1..16));
    let pipeline = result.chips[0].pipelines[0];
    assert_eq!((pipeline.deflection.packets, pipeline.deflection.peak, pipeline.deflection.full), (13, 12, 0));
    let sent = result.trace.iter().filter(|event| event.packet.has(flag::TRIMMED) && event.what == What::Sent);
    assert!(sent.count() >= 1);
    assert_conserved(&result, "waiting");
}

#[test]
fn without_room_at_the_deflection_port_packets_are_dropped() {
    let udp =
        |chip: &str| network(16, "deflect", chip).replace("[transport.ndp]\n        ack_class = 0", "[transport.udp]");
    let result = run_flows(&udp("deflection_rate = \"10Gbps\"\ndeflection_capacity = 3"), &at_once(1..16));
    let pipeline = result.chips[0].pipelines[0];
    assert_eq!((pipeline.deflection.packets, pipeline.deflection.full), (4, 9));
    assert_eq!(dropped(&result) as u32, result.flows.iter().map(|flow| flow.drops).sum::<u32>());
    assert_conserved(&result, "full");
    let result = run_flows(&udp("deflect = false"), &at_once(1..16));
    assert_eq!((result.chips[0].pipelines[0].deflection.packets, dropped(&result)), (0, 13));
    assert_conserved(&result, "not deflected");
}

#[test]
fn a_meter_cuts_at_ingress_before_the_queue_is_full() {
    // Two packets may burst; the third is cut where it comes in, and its header leaves before the data that waits.
    let text =
        network(4, "trim", "[chip.options]\nburst = \"3KB\"").replace("queue_capacity = 1", "queue_capacity = 100");
    let result = run_flows(&text, &at_once(1..4));
    let pipeline = result.chips[0].pipelines[0];
    assert_eq!((pipeline.trimmed_at_ingress, pipeline.trimmed_at_egress, pipeline.deflection.packets), (1, 0, 0));
    // At the switch after 2.2 us; behind the first data packet until 3.4 us, and 51.2 ns long.
    assert_eq!(header_at(&result), Some(Instant::from_ps(4_451_200)));
    assert_eq!(queue(&result, 0, 0, 1).counters.trimmed.packets, 1);
    assert_conserved(&result, "meter");
}

#[test]
fn a_notification_reaches_all_pipelines_after_two_passes() {
    // Pipelines of two ports. Hosts 2 to 7 send to host 0, one packet each: four are deflected, and each of them
    // notifies the three other pipelines and its own.
    let text = network(8, "trim", "ports_per_pipeline = 2\nkeep_controls = true\nlatency = \"500ns\"");
    let text = text.replace("[transport.ndp]\n        ack_class = 0", "[transport.udp]");
    let result = run_flows(&text, &at_once(2..8));
    let chip = &result.chips[0];
    assert_eq!(chip.pipelines.len(), 4);
    assert_eq!(chip.pipelines.iter().map(|pipeline| pipeline.trimmed_at_egress).sum::<u64>(), 4);
    // The first pipeline saw no packet, and hears of all four: the first time 2.2 us and twice 505.12 ns after the
    // start.
    assert_eq!(chip.controls.len(), 4, "{:?}", chip.controls);
    assert_eq!(chip.controls[0].at, Instant::from_ps(2_200_000 + 2 * 505_120));
    assert!(chip.controls.iter().all(|note| note.value == 0), "port 0 is congested: {:?}", chip.controls);
    assert_conserved(&result, "notifications");
}

#[test]
fn egress_drops_the_head_of_a_long_queue() {
    // Occamy's program with alpha 1 on a buffer of 100 cells of 1,500 bytes. One queue may have half; another that
    // fills up makes the first one over-allocated, and its packets are dropped as they leave, faster than its wire
    // could send them.
    let text = r#"
        duration = "1ms"
        drain = "1ms"
        [topology]
        kind = "single"
        hosts = 6
        rate = "10Gbps"
        delay = "1us"
        [switch]
        kind = "tofino"
        program = "occamy"
        buffer = "150KB"
        cell = "1500B"
        [policy]
        kind = "cs"
        [chip]
        latency = "200ns"
        [chip.options]
        alpha = 1
        [transport.udp]
    "#;
    let flows: Vec<FlowSpec> = [(1u32, 0u32, 0u64), (2, 0, 0), (3, 5, 100), (4, 5, 100)]
        .map(|(src, dst, start)| flow(us(start), src, dst, 400 * 1_460))
        .to_vec();
    let result = run_flows(text, &flows);
    let pipeline = result.chips[0].pipelines[0];
    assert!(pipeline.dropped_at_egress > 0 && pipeline.dropped_at_ingress > 0, "{pipeline:?}");
    let (old, new) = (queue(&result, 0, 0, 0).counters, queue(&result, 0, 5, 0).counters);
    assert_eq!(old.expelled().packets + new.expelled().packets, pipeline.dropped_at_egress);
    assert!(old.expelled().packets > new.expelled().packets, "the old queue has to give way");
    assert_eq!(
        old.dropped_by(Reason::Threshold).packets + new.dropped_by(Reason::Threshold).packets,
        pipeline.dropped_at_ingress
    );
    assert_conserved(&result, "occamy");
}

/// A leaf-spine network of chips.
fn fabric(program: &str, extra: &str) -> String {
    let queues = if program == "sp-pifo" { 8 } else { 2 };
    let kind = if program == "trim-depth" { "tofino2" } else { "tofino" };
    format!(
        r#"
        duration = "800us"
        drain = "20ms"
        [topology]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 4
        rate = "10Gbps"
        delay = "1us"
        [switch]
        kind = "{kind}"
        program = "{program}"
        buffer = "60KB"
        queues = {queues}
        [policy]
        kind = "dt"
        alpha = 1.0
        [scheduler]
        kind = "strict"
        {extra}
        [transport.ndp]
        ack_class = 0
        [transport.dctcp]
        ack_class = 0
        [[workload]]
        kind = "poisson"
        load = 0.5
        sizes = "20KB"
        transport = "dctcp"
        class = 1
        [[workload]]
        kind = "incast"
        request = "60KB"
        fan_in = 5
        rate = 30000
        transport = "ndp"
        class = 1
        "#
    )
}

#[test]
fn every_program_conserves_packets_and_gives_the_same_twice() {
    let pipelines = "[chip]\nports_per_pipeline = 3\n";
    for (program, extra) in [
        ("trim", pipelines),
        (
            "trim",
            "[chip]\nports_per_pipeline = 3\nlatency = \"100ns\"\n[chip.options]\nnotify = \"one\"\n\
             pessimistic = \"2us\"",
        ),
        ("trim", "[chip]\ndeflection_capacity = 2\nrecirculation_capacity = 1\nrecirculation_rate = \"100Mbps\""),
        ("trim-sonic", pipelines),
        ("trim-n", pipelines),
        ("trim-depth", pipelines),
        ("deflect", "[chip]\ndeflection_rate = \"1Gbps\""),
        ("fb", "[chip.options]\nalpha = [2.0, 0.5]\ninterval = \"5us\""),
        ("aifo", ""),
        ("sp-pifo", ""),
        ("occamy", ""),
    ] {
        let what = format!("{program} {extra}");
        let scenario = scenario(&fabric(program, extra));
        let result = common::run_scenario(&scenario);
        assert!(result.flows.len() > 20 && result.received > 1_000, "{what}: {} flows", result.flows.len());
        assert_conserved(&result, &what);
        let again = common::run_scenario(&scenario);
        assert_eq!(everything(&result), everything(&again), "{what}");
        assert_eq!(result.chips, again.chips, "{what}");
    }
}

#[test]
fn traces_change_nothing() {
    for program in ["trim", "occamy", "trim-depth"] {
        let plain = common::run(&fabric(program, ""));
        let traced = common::run(&format!("{}\n[measure]\ntrace_switches = \"all\"", fabric(program, "")));
        assert_eq!(common::outcome(&plain), common::outcome(&traced), "{program}");
        assert_eq!(plain.chips, traced.chips, "{program}");
    }
}

#[test]
fn the_witness_sees_every_data_packet_and_agrees_where_nothing_is_old() {
    // AIFO with packets so rare that queue lengths are never old, and a queue that is never long: both take all.
    let text = fabric("aifo", "[chip]\nwitness = true").replace("load = 0.5", "load = 0.05");
    let error = Scenario::read("test.toml", &text, &[]).unwrap_err().to_string();
    assert!(error.contains("set queues = 1"), "{error}");
    let one = [
        ("queues = 2", "queues = 1"),
        ("ack_class = 0", ""),
        ("class = 1", ""),
        ("kind = \"strict\"", "kind = \"fifo\""),
    ];
    let text = one.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let result = common::run(&text);
    let mut all = 0;
    for chip in &result.chips {
        let witness = &chip.witness;
        all += witness.both + witness.ideal_only + witness.chip_only + witness.neither;
    }
    assert!(all > 1_000, "{all}");
    let differ: u64 = result.chips.iter().map(|chip| chip.witness.ideal_only + chip.witness.chip_only).sum();
    assert!(differ * 10 < all, "{differ} of {all}");
}

#[test]
fn a_resolved_scenario_reads_back() {
    let mut random = Random::stream(1, "chips", 0);
    for program in ["trim", "trim-sonic", "trim-n", "trim-depth", "deflect", "fb", "aifo", "sp-pifo", "occamy"] {
        let extra = if random.below(2) == 0 { "[chip]\nlatency = \"700ns\"" } else { "" };
        let text = fabric(program, extra);
        let described = forebay_sim::scenario::describe("test.toml", &text, &[]).unwrap();
        let (one, two) = (scenario(&text), Scenario::read("test.toml", &described, &[]).unwrap());
        assert_eq!(one.switches, two.switches, "{program}\n{described}");
    }
}

#[test]
fn what_no_chip_can_be_is_refused() {
    let cases = [
        ("program = \"trim\"", "", "switch.program: this key is missing"),
        ("program = \"trim\"", "program = \"trimm\"", "did you mean"),
        ("kind = \"tofino\"", "kind = \"tofno\"", "did you mean"),
        ("kind = \"tofino\"", "kind = \"plain\"", "programmable chips"),
        ("program = \"trim\"", "program = \"trim-depth\"", "depth"),
        ("program = \"trim\"", "program = \"sp-pifo\"", "chooses among 8"),
        ("queues = 2", "queues = 1", "queue"),
        ("[chip]", "[trim]\nkind = \"ndp\"\n[chip]", "trims or mirrors"),
        ("[chip]", "[chip]\nheader_class = 9", "header"),
        ("[chip]", "[chip]\nwitness = true", "no ideal"),
        ("[chip]", "[chip]\ndepth_delay = \"1us\"", "no queue lengths"),
        ("[chip]", "[chip]\n[chip.options]\nshare = 2", "share"),
        ("[chip]", "[chip]\n[chip.options]\npessimistic = \"1.5ns\"", "nanoseconds"),
        ("[chip]", "[chip]\n[chip.options]\nalpha = 1", "nothing with"),
        ("[chip]", "[chip]\nports_per_pipeline = 1\n[chip.options]\nburst = 3", ""),
    ];
    for (from, to, expected) in cases {
        let text = format!("{}\n[[workload]]\nkind = \"permutation\"\nbytes = 1\n", network(4, "trim", ""))
            .replacen(from, to, 1);
        match Scenario::read("test.toml", &text, &[]) {
            Ok(_) => assert!(expected.is_empty(), "{to} was taken"),
            Err(error) => {
                let error = error.to_string();
                assert!(!expected.is_empty() && error.contains(expected), "{to}: {error}");
            }
        }
    }
    let text = fabric("fb", "[chip]\nports_per_pipeline = 2");
    let error = Scenario::read("test.toml", &text, &[]).unwrap_err().to_string();
    assert!(error.contains("in one pipeline") && error.contains("give 6 or more"), "{error}");
}

/// A program of somebody's own, seen from the directory of the scenario, with its constants and table entries; the
/// resolved scenario runs it from anywhere.
#[test]
fn a_program_from_a_file() {
    const PROGRAM: &str = "program own\nconstant ports\nconstant lost\nfield mine : 9\n\ningress\n\
        table moved : exact(out_port 9) -> mine 9 size 64 @ 0\nstage 0\n  mine = moved(out_port)\n\
        stage 1\n  drop when kind == DATA and mine == lost\n";
    let directory = std::env::temp_dir().join(format!("forebay-own-program-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("own.pisa"), PROGRAM).unwrap();
    let file = directory.join("test.toml").display().to_string();
    // What is planned takes the place of this.
    let text = |program: &str, chip: &str| {
        format!("{}\n[[workload]]\nkind = \"permutation\"\nbytes = 1\n", network(4, program, chip))
    };
    let read = |chip: &str| Scenario::read(&file, &text("own.pisa", chip), &[]);
    let problem = |chip: &str| read(chip).unwrap_err().to_string();
    let options = "options = { constants = { lost = 7 }, entries = [{ table = \"moved\", key = [2], result = [7] }] }";
    // What is for host 2 is dropped, what is for host 1 is not.
    let described = forebay_sim::scenario::describe(&file, &text("own.pisa", options), &[]).unwrap();
    let result = run_flows(&described, &[flow(0, 0, 1, 3_000), flow(us(1), 3, 2, 3_000)]);
    assert!(result.flows[0].is_complete() && !result.flows[1].is_complete());
    assert!(result.flows[1].drops > 0 && dropped(&result) == u64::from(result.flows[1].drops));

    let refused = problem("options = { constants = { lost = 7, gone = 1 } }");
    assert!(refused.contains("the program has no constant gone; it has ports, lost"), "{refused}");
    assert!(problem("").contains("the constant lost is not given"));
    assert!(problem("options = { table = 1 }").contains("the keys here are constants, entries"));
    let refused = problem(&options.replace("[7]", "[7, 8]"));
    assert!(refused.contains("moved"), "{refused}");
    let refused = Scenario::read(&file, &text("none.pisa", ""), &[]).unwrap_err().to_string();
    assert!(refused.contains("there is no file") && refused.contains("none.pisa"), "{refused}");
    std::fs::remove_dir_all(&directory).unwrap();
}
