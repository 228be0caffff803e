//! Tests of reading scenario files.

use super::*;
use crate::transport::{InitialWindow, TransportKind};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::mark::MarkConfig;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{Bytes, Rate};

/// What any scenario of these tests ends with.
pub(super) const WORKLOAD: &str = "[[workload]]\nkind = \"permutation\"\nbytes = \"1MB\"\ntransport = \"dctcp\"\n";

pub(super) const FULL: &str = r#"
name = "incast on a leaf-spine"
seed = 7
duration = "10ms"
drain = "100ms"

[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 8
host_rate = "10Gbps"
uplink_rate = "40Gbps"
delay = "1us"
parallel = 2

[routing]
kind = "spray-round-robin"
reroute = "2ms"

[switch]
buffer_per_port_per_gbps = "9.6KB"
queues = 2
cell = 80

[policy]
kind = "dt"
alpha = [1.0, 0.5]

[scheduler]
kind = "strict"

[ecn]
kind = "step"
threshold = "30KB"

[tier.spine]
buffer = "4MB"
ports_per_buffer = 3
[tier.spine.policy]
kind = "occamy"
alpha = 8.0
[tier.spine.ecn]
kind = "none"

[switches.leaf1]
queue_capacity = 100
[switches.leaf1.policy]
kind = "pushout"

[nic]
kind = "managed"
buffer = "1MB"

[transport.dctcp]
initial_window = "bdp"
rto_min = "1ms"
ack_class = 1

[transport.background]
kind = "cubic"
mss = 8960
beta = 0.5

[[workload]]
kind = "permutation"
bytes = "1MB"
transport = "background"
class = 1

[[workload]]
kind = "permutation"
bytes = "1MB"
transport = "ndp"

[[failure]]
at = "5ms"
link = ["leaf0", "spine1"]
index = 1
until = "8ms"

[[failure]]
at = "2ms"
switch = "spine0"

[measure]
sample = "20us"
timeline = ["spine1", "leaf0"]
queues = ["leaf1"]
progress = ["permutation 1"]
trace_flows = [3, 1, 3]
trace_switches = "all"
"#;

pub(super) fn read(text: &str, sets: &[(&str, &str)]) -> Result<Scenario, String> {
    let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::read("dir/test.toml", text, &sets).map_err(|error| error.to_string())
}

/// A small sound scenario.
pub(super) fn small() -> String {
    format!(
        "duration = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\n[switch]\n\
         buffer = \"1MB\"\n[policy]\nkind = \"dt\"\nalpha = 1.0\n{WORKLOAD}"
    )
}

#[test]
fn a_full_scenario_is_read_as_it_says() {
    let scenario = read(FULL, &[]).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("incast on a leaf-spine", 7));
    assert_eq!((scenario.duration, scenario.drain), (Duration::from_us(10_000), Duration::from_us(100_000)));
    assert_eq!((scenario.network.hosts.len(), scenario.network.cables.len()), (32, 32 + 16));
    assert_eq!((scenario.paths, scenario.reroute), (PathChoice::SprayRoundRobin, Duration::from_us(2_000)));

    let leaf = &scenario.switches[0];
    assert_eq!((leaf.buffers.len(), leaf.ports_per_buffer), (1, 12));
    // 9.6 KB for each of 8 x 10 and 4 x 40 Gb/s.
    assert_eq!(leaf.buffers[0].buffer, Bytes::new(9_600 * 240));
    assert_eq!((leaf.buffers[0].queues, leaf.buffers[0].cell), (2, Bytes::new(80)));
    assert_eq!(leaf.buffers[0].rates[7..9], [Rate::from_gbps(10), Rate::from_gbps(40)]);
    assert!(matches!(leaf.buffers[0].policy, PolicyConfig::DynamicThresholds(_)));
    assert!(matches!(leaf.buffers[0].mark, Some(MarkConfig::Step(_))));

    let single = &scenario.switches[1].buffers[0];
    assert!(matches!(single.policy, PolicyConfig::Pushout(_)));
    assert_eq!((single.queue_capacity, single.queues), (Some(100), 2), "what it does not say it has from the others");
    assert_eq!(single.scheduler, SchedulerConfig::Strict);

    let spine = &scenario.switches[4];
    assert_eq!(spine.ports_per_buffer, 3);
    assert_eq!(spine.buffers.iter().map(|buffer| buffer.rates.len()).collect::<Vec<_>>(), [3, 3, 2]);
    assert!(spine.buffers.iter().all(|buffer| buffer.buffer == Bytes::new(4_000_000) && buffer.mark.is_none()));
    assert!(matches!(spine.buffers[0].policy, PolicyConfig::Occamy(_)));
    assert_ne!(spine.buffers[0].seed, spine.buffers[1].seed, "each draws from streams of its own");

    let NicSetup::Managed(nics) = &scenario.nic else { panic!("{:?}", scenario.nic) };
    assert_eq!(nics.len(), 32);
    assert_eq!((nics[0].queues, &nics[0].scheduler), (2, &SchedulerConfig::Strict));

    let names: Vec<_> = scenario.transports.iter().map(|(name, config)| (name.as_str(), config.kind.name())).collect();
    assert_eq!(names, [("dctcp", "dctcp"), ("background", "cubic"), ("ndp", "ndp")]);
    let dctcp = &scenario.transports[0].1.common;
    assert_eq!(dctcp.initial_window, InitialWindow::Bdp);
    assert_eq!((dctcp.rto_min, dctcp.ack_class, dctcp.ecn), (Duration::from_us(1_000), Some(1), true));
    let TransportKind::Cubic(cubic) = &scenario.transports[1].1.kind else { panic!() };
    assert_eq!((cubic.beta, cubic.c), (0.5, 0.4));
    assert_eq!(scenario.workloads.iter().map(|w| (w.transport, w.class)).collect::<Vec<_>>(), [(1, 1), (2, 0)]);

    // Hosts have cables 0 to 31; leaf 0 has 32 and 33 to spine 0, 34 and 35 to spine 1.
    let change = |ms: u64, element, up| Change { at: Instant::from_ps(ms * 1_000_000_000), element, up };
    let expected = [
        change(2, Element::Switch(4), false),
        change(5, Element::Cable(35), false),
        change(8, Element::Cable(35), true),
    ];
    assert_eq!(scenario.changes, expected);
    assert_eq!(scenario.measure.timeline, [0, 5]);
    assert_eq!(scenario.measure.queues, [1]);
    assert_eq!(scenario.measure.progress.len(), 1);
    assert_eq!(scenario.workloads[scenario.measure.progress[0]].name, "permutation 1");
    assert_eq!(scenario.measure.trace_flows, [1, 3]);
    assert_eq!(scenario.measure.trace_switches, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_not_given_has_a_default() {
    let scenario = read(&small(), &[]).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.seed), ("test", 1));
    assert_eq!(scenario.drain, Duration::from_us(1_000_000));
    assert_eq!(scenario.paths, PathChoice::Ecmp);
    // Packets of 1,460 bytes and 40 of headers.
    let fq = FqSetup {
        quantum: 3_000,
        initial_quantum: 15_000,
        flow_limit: 100,
        limit: 10_000,
        refill_delay: Duration::from_us(40_000),
    };
    let handoff = Handoff {
        bql: Bytes::new(3_000),
        largest_packet: Bytes::new(1_500),
        small_queue: Some(Duration::from_us(1_000)),
    };
    assert_eq!(scenario.nic, NicSetup::Fq(fq, handoff));
    let fifo = read(&small(), &[("nic.kind", "fifo")]).unwrap();
    assert_eq!(fifo.nic, NicSetup::Fifo(FifoLimit::Packets(1_000), handoff));
    let jumbo = read(&small(), &[("transport.dctcp.mss", "8960")]).unwrap();
    let NicSetup::Fq(fq, handoff) = jumbo.nic else { panic!() };
    assert_eq!((fq.quantum, fq.initial_quantum, handoff.bql), (18_000, 90_000, Bytes::new(18_000)));
    assert_eq!(scenario.switches[0].buffers[0].queues, 1);
    assert!(scenario.changes.is_empty());
    assert_eq!(scenario.transports[0].1, TransportConfig::named("dctcp").unwrap());
}

#[test]
fn arguments_change_any_setting() {
    let sets = [
        ("policy.kind", "abm"),
        ("topology.hosts", "6"),
        ("ecn.kind", "red"),
        ("ecn.min", "20KB"),
        ("ecn.max", "60KB"),
        ("transport.dctcp.initial_window", "flow"),
        ("workload.0.class", "0"),
    ];
    let scenario = read(&small().replace("alpha = 1.0", "alpha = 2.0\nreserved = 0.1"), &sets).unwrap();
    let PolicyConfig::Abm(abm) = &scenario.switches[0].buffers[0].policy else { panic!() };
    assert_eq!(abm.alpha.at(0), 2.0, "the file's alpha stays, its reserved is dropped");
    assert_eq!(abm.interval, forebay_tm::admit::AbmConfig::default().interval);
    assert_eq!(scenario.network.hosts.len(), 6);
    assert!(matches!(scenario.switches[0].buffers[0].mark, Some(MarkConfig::Red(_))));
    assert_eq!(scenario.transports[0].1.common.initial_window, InitialWindow::Flow);

    let scenario = read(FULL, &[("transport.dctcp.kind", "udp"), ("topology.kind", "fat-tree"), ("topology.k", "4")]);
    assert!(scenario.unwrap_err().contains("topology.aggregation_rate: this key is missing"));
    let scenario = read(FULL, &[("transport.dctcp.kind", "udp"), ("tier.spine.ecn.kind", "step")]);
    assert!(scenario.unwrap_err().contains("tier.spine.ecn.threshold"), "a marking threshold has no default");
    let scenario = read(FULL, &[("transport.dctcp.kind", "udp")]).unwrap();
    assert_eq!(scenario.transports[0].1, TransportConfig::named("udp").unwrap(), "what udp does not know is dropped");
}

#[test]
fn a_class_is_what_switches_tell_apart() {
    let two = small().replace("transport = \"dctcp\"", "transport = \"dctcp\"\nclass = 1");
    assert!(read(&two, &[]).unwrap_err().contains("there is no class 1"));
    assert!(read(&two, &[("switch.queues", "2"), ("scheduler.kind", "rr")]).is_ok());
    // One queue, but a policy that knows the classes of packets.
    let packet_classes = [("policy.kind", "fb"), ("policy.alpha", "[4.0, 0.5]"), ("policy.classes", "packet")];
    assert!(read(&two, &packet_classes).is_ok());
    let three = two.replace("class = 1", "class = 2");
    assert!(read(&three, &packet_classes).unwrap_err().contains("there is no class 2"));
    // A switch with one queue for all does not keep the others from having several.
    let tiers = FULL.replace("buffer = \"4MB\"", "buffer = \"4MB\"\nqueues = 1\nscheduler = { kind = \"fifo\" }");
    let scenario = read(&tiers, &[]).unwrap();
    assert_eq!((scenario.switches[4].buffers[0].queues, scenario.workloads[0].class), (1, 1));
}

#[test]
fn hosts_have_the_switches_scheduler_only_for_several_queues() {
    let managed = format!("{}[nic]\nkind = \"managed\"\nbuffer = \"1MB\"\n", small());
    let sets = [("scheduler.kind", "pifo"), ("scheduler.capacity", "64")];
    let NicSetup::Managed(nics) = read(&managed, &sets).unwrap().nic else { panic!() };
    assert_eq!((nics[0].queues, &nics[0].scheduler), (1, &SchedulerConfig::Fifo));
}

#[test]
fn hosts_have_a_queue_for_each_class_or_one_for_all() {
    fn with(queues: &str) -> Result<NicSetup, String> {
        let common = [("switch.queues", "3"), ("scheduler.kind", "rr"), ("nic.kind", "managed"), ("nic.buffer", "1MB")];
        let sets: Vec<(&str, &str)> = common.into_iter().chain([("nic.queues", queues)]).collect();
        read(&small(), &sets).map(|scenario| scenario.nic)
    }
    assert!(with("2").unwrap_err().contains("nic.queues: the switches have queues for 3 classes"));
    for (text, queues) in [("1", 1), ("3", 3)] {
        let NicSetup::Managed(nics) = with(text).unwrap() else { panic!() };
        assert_eq!(nics[0].queues, queues);
    }
}

#[test]
fn what_would_do_nothing_in_front_of_a_host_is_refused() {
    for (sets, expected) in [
        (vec![("nic.kind", "red")], "nic.kind: \"red\" is unknown"),
        (vec![("nic.quantum", "0")], "nic.quantum: no flow would ever send"),
        (vec![("nic.quantum", "2GB")], "nic.quantum: 2GB is out of range"),
        (vec![("nic.flow_limit", "0")], "nic.flow_limit: there must be at least one"),
        (vec![("nic.limit", "0")], "nic.limit: there must be at least one"),
        (vec![("nic.limit", "4294967295")], "nic.limit: this is more than can be counted"),
        (vec![("nic.bql", "1499")], "nic.bql: a packet of 1500 bytes would not fit"),
        (vec![("nic.small_queue", "on")], "nic.small_queue: "),
        (vec![("nic.limit_bytes", "1MB")], "nic.limit_bytes: this key does nothing with kind = \"fq\""),
        (
            vec![("nic.kind", "fifo"), ("nic.quantum", "3000")],
            "nic.quantum: this key does nothing with kind = \"fifo\"",
        ),
        (
            vec![("nic.kind", "fifo"), ("nic.limit", "9"), ("nic.limit_bytes", "1MB")],
            "nic.limit_bytes: the limit is there",
        ),
        (vec![("nic.kind", "fifo"), ("nic.limit_bytes", "1499")], "nic.limit_bytes: a packet of 1500 bytes would not"),
        (
            vec![("nic.kind", "unlimited"), ("nic.limit", "9")],
            "nic.limit: this key does nothing with kind = \"unlimited\"",
        ),
        (
            vec![("nic.kind", "managed"), ("nic.buffer", "1MB"), ("nic.bql", "3KB")],
            "nic.bql: this key does nothing with kind = \"managed\"",
        ),
    ] {
        let error = read(&small(), &sets).unwrap_err();
        assert!(error.contains(expected) && error.contains("help: "), "{sets:?}:\n{error}");
    }
}

#[test]
fn every_topology_can_be_read() {
    let cases = [
        (
            "kind = \"dumbbell\"\nleft = 2\nright = 3\nrate = \"10Gbps\"\ndelay = \"1us\"\nbottleneck_rate = \"1Gbps\"",
            5,
            2,
            6,
        ),
        ("kind = \"fat-tree\"\nk = 4\nrate = \"10Gbps\"\ndelay = \"1us\"\ncore_rate = \"40Gbps\"", 16, 20, 48),
        (
            "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"1Gbps\"\ndelay = \"1us\"",
            4,
            4,
            8,
        ),
        (
            "kind = \"graph\"\nrate = \"10Gbps\"\ndelay = \"1us\"\n[[topology.switch]]\nname = \"a\"\n\
             [[topology.switch]]\n\
             name = \"b\"\ntier = \"core\"\n[[topology.host]]\nname = \"x\"\n[[topology.hosts]]\nswitch = \"b\"\n\
             count = 3\n\
             rate = \"1Gbps\"\n[[topology.link]]\nfrom = \"a\"\nto = \"b\"\ncount = 2\n[[topology.link]]\n\
             from = \"x\"\nto = \"a\"",
            4,
            2,
            6,
        ),
    ];
    for (topology, hosts, switches, cables) in cases {
        let text = small().replace("kind = \"single\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"1us\"", topology);
        let scenario = read(&text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let plan = &scenario.network;
        assert_eq!((plan.hosts.len(), plan.switches.len(), plan.cables.len()), (hosts, switches, cables), "{topology}");
    }
}

/// Every transport's own settings, none of them the default.
const OWN_SETTINGS: [&[(&str, &str)]; 12] = [
    &[
        ("transport.dctcp.stack", "netbench"),
        ("transport.dctcp.gain", "0.5"),
        ("transport.dctcp.initial_alpha", "0.5"),
        ("transport.dctcp.cut_per_ack", "false"),
        ("transport.dctcp.recovery", "sack"),
    ],
    &[
        ("transport.dctcp.loss_detection", "count"),
        ("transport.dctcp.tail_loss_probe", "false"),
        ("transport.dctcp.rate_reduction", "at-once"),
        ("transport.dctcp.frto", "false"),
        ("transport.dctcp.undo", "false"),
        ("transport.dctcp.pacing", "false"),
        ("transport.dctcp.idle_restart", "false"),
        ("transport.dctcp.connections", "kept"),
        ("transport.dctcp.segmentation_offload", "64KB"),
        ("transport.dctcp.receive_offload", "8"),
        ("transport.dctcp.timer_tick", "1ms"),
        ("transport.dctcp.quick_acks", "0"),
        ("transport.dctcp.sack_compression", "false"),
        ("transport.dctcp.receive_window", "128KB"),
        ("transport.dctcp.receive_window_max", "1MB"),
    ],
    &[("stack", "ns3"), ("transport.background.probe", "7"), ("transport.dctcp.receive_window", "70KB")],
    &[
        ("transport.background.c", "0.2"),
        ("transport.background.hystart_delay_min", "7us"),
        ("transport.background.fast_convergence", "false"),
    ],
    &[("transport.background.hystart", "false"), ("transport.background.ack_every", "4")],
    &[("transport.background.hystart", "++")],
    &[
        ("transport.background.kind", "timely"),
        ("transport.background.t_low", "7us"),
        ("transport.background.t_high", "70us"),
        ("transport.background.additive", "7Mbps"),
        ("transport.background.hyper_after", "7"),
        ("transport.background.min_rate", "77Mbps"),
    ],
    &[("transport.background.kind", "theta-powertcp"), ("transport.background.gamma", "0.25")],
    &[
        ("transport.background.kind", "pfabric"),
        ("transport.background.rto", "45us"),
        ("transport.background.probe_after", "7"),
        ("transport.background.rank", "from-sequence"),
    ],
    &[("transport.background.kind", "pfabric"), ("transport.background.rto_rtts", "2.5")],
    &[
        ("transport.background.kind", "udp"),
        ("transport.background.rate", "1.5Gbps"),
        ("transport.background.arrivals", "poisson"),
        ("transport.background.sizes", "exponential"),
        ("transport.background.max_payload", "1500"),
    ],
    &[
        ("transport.background.kind", "udp"),
        ("transport.background.on", "1ms"),
        ("transport.background.off", "2ms"),
        ("transport.background.on_off", "exponential"),
    ],
];

#[test]
fn transports_have_settings_of_their_own() {
    let own = |sets: &[(&str, &str)]| read(FULL, sets).unwrap().transports[1].1.kind.clone();
    let TransportKind::Cubic(cubic) = own(OWN_SETTINGS[3]) else { panic!() };
    assert_eq!((cubic.c, cubic.hystart_delay_min), (0.2, Duration::from_us(7)));
    let TransportKind::Timely(timely) = own(OWN_SETTINGS[6]) else { panic!() };
    assert_eq!((timely.t_high, timely.min_rate), (Duration::from_us(70), Rate::from_bps(77_000_000)));
    let TransportKind::PFabric(pfabric) = own(OWN_SETTINGS[8]) else { panic!() };
    assert_eq!((pfabric.rto, pfabric.probe_after), (Some(Duration::from_us(45)), 7));
    assert_eq!(pfabric.rank, crate::transport::pfabric::RankBy::FromSequence);
    let TransportKind::Udp(udp) = own(OWN_SETTINGS[10]) else { panic!() };
    assert_eq!((udp.rate, udp.max_payload), (Some(Rate::from_bps(1_500_000_000)), 1_500));
    let TransportKind::Udp(udp) = own(OWN_SETTINGS[11]) else { panic!() };
    assert_eq!((udp.on, udp.off), (Some(Duration::from_us(1_000)), Some(Duration::from_us(2_000))));
}

#[test]
fn a_resolved_scenario_reads_back_as_the_same() {
    let graph = "kind = \"graph\"\nrate = \"10Gbps\"\ndelay = \"1us\"\n[[topology.switch]]\n\
     name = \"the \\\"first\\\"\"\n\
                 [[topology.host]]\nname = \"x\"\n[[topology.hosts]]\nswitch = \"the \\\"first\\\"\"\ncount = 3\n\
                 [[topology.link]]\nfrom = \"x\"\nto = \"the \\\"first\\\"\"";
    let graph = small().replace("kind = \"single\"\nhosts = 4\nrate = \"10Gbps\"\ndelay = \"1us\"", graph);
    let dumbbell = "kind = \"dumbbell\"\nleft = 2\nright = 3\nbottleneck_rate = \"1Gbps\"\nbottleneck_delay = \"7ns\"";
    let dumbbell = small().replace("kind = \"single\"\nhosts = 4", dumbbell);
    let tree = small().replace("kind = \"single\"\nhosts = 4", "kind = \"fat-tree\"\nk = 4\ncore_delay = \"2us\"");
    let all_queues = [
        ("switch.queues", "1"),
        ("policy.alpha", "1.5"),
        ("workload.0.class", "0"),
        ("transport.dctcp.ack_class", "0"),
    ];
    let mut cases =
        vec![(FULL.to_owned(), vec![]), (small(), vec![]), (graph, vec![]), (dumbbell, vec![]), (tree, vec![])];
    for kind in PolicyConfig::NAMES.iter().copied() {
        let needs = (kind == "pools").then_some(("policy.pools", "[\"1MB\"]"));
        cases.push((FULL.to_owned(), [("policy.kind", kind)].into_iter().chain(needs).collect()));
    }
    for kind in SchedulerConfig::NAMES.iter().copied() {
        let mut sets = vec![("scheduler.kind", kind)];
        match kind {
            "pifo" | "pieo" => sets.extend([("scheduler.capacity", "64"), ("scheduler.rank", "stfq")]),
            "strict-drr" => sets.push(("scheduler.groups", "[[0]]")),
            "drr" | "wrr" => sets.push(("scheduler.weights", "[3]")),
            _ => {}
        }
        sets.extend(all_queues);
        cases.push((FULL.to_owned(), sets));
    }
    for kind in TransportKind::NAMES {
        cases.push((FULL.to_owned(), vec![("transport.dctcp.kind", kind)]));
    }
    for sets in OWN_SETTINGS {
        cases.push((FULL.to_owned(), sets.to_vec()));
    }
    cases.push((FULL.to_owned(), vec![("trim.kind", "ndp"), ("nic.kind", "fifo")]));
    for sets in [
        vec![("nic.kind", "unlimited")],
        vec![("nic.kind", "fifo"), ("nic.limit", "7"), ("nic.small_queue", "off")],
        vec![("nic.kind", "fifo"), ("nic.limit_bytes", "8MiB"), ("nic.bql", "12KB"), ("nic.small_queue", "250us")],
        vec![("nic.kind", "fq")],
        vec![
            ("nic.kind", "fq"),
            ("nic.quantum", "1514"),
            ("nic.initial_quantum", "0"),
            ("nic.flow_limit", "8"),
            ("nic.limit", "99"),
            ("nic.refill_delay", "3ms"),
            ("nic.bql", "9001"),
            ("nic.small_queue", "off"),
        ],
    ] {
        cases.push((FULL.to_owned(), sets));
    }
    cases.push((FULL.to_owned(), vec![("trim.kind", "cut-payload"), ("trim.watermark", "9KB")]));
    cases.push((
        FULL.to_owned(),
        vec![("mirror.class", "1"), ("mirror.ports_per_pipeline", "4"), ("mirror.delay", "2us")],
    ));
    cases.push((FULL.to_owned(), vec![("mirror.kind", "none"), ("tier.spine.mirror.size", "80")]));
    cases.push((FULL.to_owned(), vec![("trim.kind", "source-flow-control"), ("trim.watermark", "9KB")]));
    cases.push((
        FULL.to_owned(),
        vec![("ecn.kind", "red"), ("ecn.min", "1KB"), ("ecn.max", "2KB"), ("ecn.weight", "0.002")],
    ));
    for (text, sets) in cases {
        let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let scenario =
            Scenario::read("dir/test.toml", &text, &sets).unwrap_or_else(|error| panic!("{sets:?}\n{error}"));
        let described = describe("dir/test.toml", &text, &sets).unwrap();
        let again = read(&described, &[]).unwrap_or_else(|error| panic!("{sets:?}\n{error}\n{described}"));
        assert_eq!(format!("{scenario:#?}"), format!("{again:#?}"), "{sets:?}\n{described}");
        let sets: Vec<_> = vec![];
        assert_eq!(describe("other.toml", &described, &sets).unwrap(), described, "and describes itself");
    }
}
