//! What holds in every run, whatever the policy, the transport and the scheduler: packets are conserved, a run can be
//! repeated, and looking at it does not change it.

use crate::common;

use common::{POLICIES, TRANSPORTS, assert_conserved, everything, outcome, overload, run};
use forebay_sim::measure::RunResult;
use forebay_sim::measure::breakdown::Wait;
use forebay_sim::measure::drops::DropRecord;
use forebay_tm::{Duration, Reason};

/// Schedulers, marking, trimming and path choices that the matrix goes through.
const EXTRAS: [(&str, &str); 14] = [
    ("plain", "[scheduler]\nkind = \"rr\""),
    ("marking", "[ecn]\nkind = \"step\"\nthreshold = \"6KB\"\n[scheduler]\nkind = \"drr\""),
    ("trimming", "[trim]\nkind = \"ndp\"\n[scheduler]\nkind = \"strict\"\n[routing]\nkind = \"spray-random\""),
    (
        "returning",
        "[trim]\nkind = \"ndp\"\nreturn_to_sender = true\nheader_capacity = 4\n[scheduler]\nkind = \"strict\"\n\
         [routing]\nkind = \"spray-round-robin\"",
    ),
    ("cutting", "[trim]\nkind = \"cut-payload\"\nwatermark = \"8KB\"\n[scheduler]\nkind = \"wrr\""),
    ("mirroring", "[mirror]\n[scheduler]\nkind = \"strict\"\n[routing]\nkind = \"spray-random\""),
    (
        "mirroring too little",
        "[mirror]\nrate = \"1Gbps\"\ncapacity = 4\nports_per_pipeline = 3\n[scheduler]\nkind = \"drr\"",
    ),
    ("ranking", "[scheduler]\nkind = \"sp-pifo\"\nqueues = 8\ncapacity = 6"),
    ("sorting", "[scheduler]\nkind = \"pifo\"\ncapacity = 16"),
    ("fair", "[scheduler]\nkind = \"afq\"\nqueues = 8\nbytes_per_round = 3000\nrows = 1\ncolumns = 4"),
    (
        "managed hosts",
        "[nic]\nkind = \"managed\"\nbuffer = \"30KB\"\n[nic.policy]\nkind = \"cs\"\n[scheduler]\nkind = \"strict\"",
    ),
    (
        "hosts with little room",
        "[nic]\nflow_limit = 3\nlimit = 12\nbql = 1500\nquantum = 700\ninitial_quantum = 0\n[scheduler]\nkind = \"rr\"",
    ),
    (
        "short FIFOs",
        "[nic]\nkind = \"fifo\"\nlimit = 9\nsmall_queue = \"1us\"\n[scheduler]\nkind = \"drr\"\n[ecn]\n\
         kind = \"step\"\nthreshold = \"6KB\"",
    ),
    ("endless FIFOs", "[nic]\nkind = \"unlimited\"\n[scheduler]\nkind = \"rr\""),
];

/// Schedulers that keep several queues of their own, or sort, take the place of a port's queues. PowerTCP's packets
/// keep their path.
fn fits(extra: &str, mut text: String) -> String {
    if text.contains("[transport.powertcp]") {
        text = text.replace("spray-random", "ecmp").replace("spray-round-robin", "ecmp");
    }
    if matches!(extra, "ranking" | "sorting" | "fair") {
        text.replace("queues = 2\n", "queues = 1\n").replace("class = 1", "class = 0").replace("ack_class = 0", "")
    } else {
        text
    }
}

fn matrix(mut check: impl FnMut(&str, &dyn Fn(u64) -> String)) {
    for (number, (policy, settings)) in POLICIES.iter().enumerate() {
        for (place, transport) in TRANSPORTS.iter().enumerate() {
            // Every policy with every transport, and each pair with some of the extras, such that all meet all.
            for (index, (extra, more)) in EXTRAS.iter().enumerate() {
                if index != 0 && (index + number + place) % 4 != 0 {
                    continue;
                }
                let text = |seed: u64| fits(extra, overload(seed, settings, *transport, more));
                check(&format!("{policy}, {}, {extra}", transport.0), &text);
            }
        }
    }
}

/// Sent is received, dropped, lost or under way; and when the network has run dry nothing is under way.
#[test]
fn every_packet_is_accounted_for() {
    let mut with_drops = 0;
    let mut with_trims = 0;
    matrix(|what, text| {
        let text = text(1);
        let result = run(&text);
        assert_conserved(&result, what);
        let drops: u64 = result.flows.iter().map(|flow| u64::from(flow.drops)).sum();
        // Nothing fails here: what is lost could not be turned around.
        let counted = common::dropped(&result) + result.nic_drops + result.lost_to_failures;
        assert_eq!(drops, counted, "{what}: drops by flow and by buffer");
        let trims: u64 = result.flows.iter().map(|flow| u64::from(flow.trims)).sum();
        let counted =
            common::buffers(&result).map(|place| place.counters.trimmed.packets + place.counters.returned.packets);
        assert_eq!(trims, counted.sum::<u64>(), "{what}: trims by flow and by buffer");
        with_drops += u32::from(drops > 0);
        with_trims += u32::from(trims > 0);

        // The same with time to run dry: what is left then are flows that never end, of which there are none here.
        let result = run(&text
            .replace("duration = \"400us\"", "duration = \"40ms\"")
            .replace("[[workload]]", "[[workload]]\nstop = \"400us\""));
        assert_conserved(&result, what);
        let waiting: u64 = common::buffers(&result).map(|place| place.counters.waiting.packets).sum();
        assert_eq!((result.in_flight, waiting), (0, 0), "{what}");
    });
    println!("{with_drops} runs with drops, {with_trims} with trims");
    assert!(with_drops > 100 && with_trims > 20, "{with_drops} {with_trims}");
}

/// The same bytes twice, others with another seed.
#[test]
fn a_run_can_be_repeated() {
    matrix(|what, text| {
        let first = run(&text(1));
        assert_eq!(everything(&first), everything(&run(&text(1))), "{what}");
        assert_ne!(outcome(&first), outcome(&run(&text(2))), "{what}");
    });
}

/// Where the time of every complete flow went: all of it, to the picosecond, along a path from its source to its
/// destination.
fn assert_parts_are_completion_times(result: &RunResult, what: &str) {
    let complete: Vec<_> = (0u32..).zip(&result.flows).filter(|(_, flow)| flow.is_complete()).collect();
    assert_eq!(result.flow_times.len(), complete.len(), "{what}");
    for (times, (number, flow)) in result.flow_times.iter().zip(complete) {
        assert_eq!(times.flow, number, "{what}");
        assert_eq!(Some(times.total()), flow.fct(), "{what}: flow {number}: {times:?}");
        assert_eq!(times.hops[0].node, flow.spec.src, "{what}");
        let waited = |wait: Wait| times.waits[wait as usize] > Duration::ZERO;
        assert!(!waited(Wait::Retransmission) || flow.retransmissions > 0, "{what}: {times:?}");
        assert!(!waited(Wait::Application), "{what}: applications write all at once");
    }
}

/// Every drop is there once, with its reason, and who held the buffer adds up to no more than there is.
fn assert_drops_are_kept(result: &RunResult, what: &str) {
    for place in common::buffers(result) {
        for reason in Reason::ALL {
            let here = |drop: &&DropRecord| (drop.switch, drop.buffer) == (place.switch, place.buffer);
            let kept = result.drops.iter().filter(here).filter(|drop| drop.reason == reason).count();
            assert_eq!(kept as u64, place.counters.dropped_by(reason).packets, "{what}: {reason:?}");
        }
    }
    assert!(result.drops.is_sorted_by_key(|drop| drop.at), "{what}");
    for drop in &result.drops {
        let walk = result.holders.iter().filter(|part| part.walk == drop.holders);
        let held: u64 = walk.clone().map(|part| part.bytes).sum();
        let near = drop.used.get();
        // The walk was made when the buffer was nearly as full: a list serves until the occupancy has changed by a
        // quarter.
        assert!(held.abs_diff(near) <= held / 4 + 1_600, "{what}: {held} of {near}: {drop:?}");
        assert!(
            walk.clone().all(|part| (part.switch, part.buffer) == (drop.switch, drop.buffer) && part.at <= drop.at)
        );
    }
}

/// Samples, timelines and traces only look. Samples are instants that no node's window crosses, so with other samples
/// the nodes have other windows: if anything depended on the order of windows, it would show.
#[test]
fn looking_changes_nothing() {
    const MEASURES: [&str; 5] = [
        "sample = \"1us\"",
        "sample = \"777ns\"\ntimeline = \"all\"\nqueues = \"all\"\nprogress = \"all\"",
        "sample = \"10ms\"",
        "trace_flows = [0, 1, 2, 3]",
        "sample = \"1.3us\"\ntrace_switches = \"all\"",
    ];
    let mut turn = 0;
    matrix(|what, text| {
        let text = text(3);
        let plain = outcome(&run(&text));
        for measure in [MEASURES[turn % 5], MEASURES[(turn + 2) % 5]] {
            let seen = run(&format!("{text}\n[measure]\nbreakdown = true\ndrops = \"all\"\n{measure}\n"));
            assert_parts_are_completion_times(&seen, what);
            assert_drops_are_kept(&seen, what);
            let other = outcome(&seen);
            let differing = plain.split(", FlowRecord").zip(other.split(", FlowRecord")).find(|(a, b)| a != b);
            assert!(differing.is_none(), "{what}, {measure}: {differing:?}");
        }
        turn += 1;
    });
}
