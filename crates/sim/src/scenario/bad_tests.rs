//! Tests of what is refused.

use super::tests::{FULL, read, small};

/// What is replaced in the full scenario by what, and what the error begins with.
const BAD: &[(&str, &str, &str)] = &[
    ("duration = \"10ms\"", "", "dir/test.toml:1: duration: this key is missing"),
    ("duration = \"10ms\"", "duration = 0", "dir/test.toml:4: duration: nothing could happen in 0ps"),
    ("drain = \"100ms\"", "drain = \"18000000s\"", "dir/test.toml:5: drain: this is too long"),
    ("seed = 7", "sed = 7", "dir/test.toml:3: sed: there is no such key"),
    ("kind = \"leaf-spine\"", "kind = \"leafspine\"", "dir/test.toml:8: topology.kind: \"leafspine\" is unknown"),
    ("spines = 2", "spines = 0", "dir/test.toml:10: topology.spines: there must be at least one"),
    ("spines = 2", "k = 2", "dir/test.toml:10: topology.k: this key does nothing with kind = \"leaf-spine\""),
    ("spines = 2", "", "dir/test.toml:7: topology.spines: this key is missing"),
    ("leaves = 4", "leaves = 40000", "dir/test.toml:9: topology.leaves: 40000 switches are too many"),
    ("\"10Gbps\"", "\"0Gbps\"", "dir/test.toml:12: topology.host_rate: nothing would ever arrive"),
    ("\"10Gbps\"", "\"10GB\"", "dir/test.toml:12: topology.host_rate: \"10GB\" is not a rate"),
    ("delay = \"1us\"", "delay = \"100s\"", "dir/test.toml:14: topology.delay: a delay of 100s is too long"),
    ("delay = \"1us\"", "delay = \"1us\"\nrate = 5", "dir/test.toml:15: topology.rate: every tier has its own"),
    ("\"spray-round-robin\"", "\"spray\"", "dir/test.toml:18: routing.kind: \"spray\" is unknown"),
    (
        "cell = 80",
        "buffer = \"1MB\"",
        "dir/test.toml:22: switch.buffer_per_port_per_gbps: the size of the buffer is there",
    ),
    ("buffer_per_port_per_gbps = \"9.6KB\"", "", "dir/test.toml:1: switch.buffer: switch leaf0 has no buffer"),
    ("\"9.6KB\"", "0", "dir/test.toml:22: switch.buffer_per_port_per_gbps: 0B: the buffer is out of range"),
    ("queues = 2", "queues = 65", "dir/test.toml:23: switch.queues: 65: the number of queues"),
    ("queues = 2", "queues = 3", "dir/test.toml:28: policy.alpha: a list of 2: one value is needed"),
    ("cell = 80", "cells = 80", "dir/test.toml:24: switch.cells: there is no such key"),
    (
        "kind = \"dt\"\nalpha = [1.0, 0.5]",
        "kind = \"abm\"\nalpha = 1",
        "dir/test.toml:26: policy.interval: this key is missing",
    ),
    ("[1.0, 0.5]", "-1", "dir/test.toml:28: policy.alpha: -1: a threshold cannot be negative"),
    ("[tier.spine]\n", "[tier.spin]\n", "dir/test.toml:37: tier.spin: the topology has no tier \"spin\"\n"),
    ("alpha = 8.0", "alpha = nan", "dir/test.toml:42: tier.spine.policy.alpha: NaN: this is not a number"),
    ("ports_per_buffer = 3", "ports_per_buffer = 0", "dir/test.toml:39: tier.spine.ports_per_buffer: there must be"),
    (
        "[switches.leaf1]\n",
        "[switches.leaf9]\n",
        "dir/test.toml:46: switches.leaf9: the topology has no switch \"leaf9\"",
    ),
    ("queue_capacity = 100", "queue_capacity = 0", "dir/test.toml:47: switches.leaf1.queue_capacity: 0: no packet"),
    ("kind = \"managed\"", "", "dir/test.toml:53: nic.buffer: this key does nothing with kind = \"fq\""),
    ("buffer = \"1MB\"", "", "dir/test.toml:51: nic.buffer: this key is missing"),
    (
        "initial_window = \"bdp\"",
        "initial_window = 0",
        "dir/test.toml:56: transport.dctcp.initial_window: there must be",
    ),
    (
        "initial_window = \"bdp\"",
        "initial_window = \"bpd\"",
        "dir/test.toml:56: transport.dctcp.initial_window: \"bpd\" is",
    ),
    ("initial_window = \"bdp\"", "beta = 0.5", "dir/test.toml:56: transport.dctcp.beta: this key does nothing"),
    (
        "rto_min = \"1ms\"",
        "rto_max = \"1us\"",
        "dir/test.toml:57: transport.dctcp.rto_max: the longest timeout, 1us, is",
    ),
    ("ack_class = 1", "ack_class = 2", "dir/test.toml:58: transport.dctcp.ack_class: there is no class 2"),
    (
        "ack_class = 1",
        "ack_every = 1\nack_delay = \"1ms\"",
        "dir/test.toml:59: transport.dctcp.ack_delay: no ACK is held back",
    ),
    ("mss = 8960", "mss = 0", "dir/test.toml:62: transport.background.mss: 0B is out of range"),
    ("kind = \"cubic\"", "", "dir/test.toml:60: transport.background: a transport with a name of its own needs a kind"),
    (
        "transport = \"ndp\"",
        "transport = \"npd\"",
        "dir/test.toml:74: workload.1.transport: there is no transport \"npd\"",
    ),
    ("class = 1\n\n[[work", "class = 2\n\n[[work", "dir/test.toml:69: workload.0.class: "),
    (
        "[\"leaf0\", \"spine1\"]",
        "[\"leaf0\", \"leaf1\"]",
        "dir/test.toml:78: failure.0.link: there is no link between leaf0 and",
    ),
    (
        "[\"leaf0\", \"spine1\"]",
        "[\"leaf0\", \"spin1\"]",
        "dir/test.toml:78: failure.0.link: the topology has no host or switch",
    ),
    ("[\"leaf0\", \"spine1\"]", "\"leaf0\"", "dir/test.toml:78: failure.0.link: a link has two ends"),
    ("index = 1", "index = 2", "dir/test.toml:79: failure.0.index: there are 2 such links"),
    (
        "until = \"8ms\"",
        "until = \"5ms\"",
        "dir/test.toml:80: failure.0.until: the repair, at 5ms, does not come after",
    ),
    ("until = \"8ms\"", "switch = \"leaf0\"", "dir/test.toml:80: failure.0.switch: a link fails here already"),
    ("switch = \"spine0\"", "", "dir/test.toml:82: failure.1.link: this key is missing"),
    (
        "switch = \"spine0\"",
        "switch = \"host0\"",
        "dir/test.toml:84: failure.1.switch: the topology has no switch \"host0\"",
    ),
    (
        "switch = \"spine0\"",
        "link = [\"spine1\", \"leaf0\"]\nindex = 1",
        "dir/test.toml:83: failure.1.at: this has failed",
    ),
    ("[[failure]]\nat = \"5ms\"", "[failure]\nat = \"5ms\"", "dir/test.toml:"),
    ("sample = \"20us\"", "sample = 0", "dir/test.toml:87: measure.sample: this is too often"),
    (
        "[\"spine1\", \"leaf0\"]",
        "[\"spine1\", \"leaf\"]",
        "dir/test.toml:88: measure.timeline: the topology has no switch \"leaf\"",
    ),
    (
        "queues = [\"leaf1\"]",
        "queues = [\"leaf\"]",
        "dir/test.toml:89: measure.queues: the topology has no switch \"leaf\"",
    ),
    (
        "progress = [\"permutation 1\"]",
        "progress = [\"copy\"]",
        "dir/test.toml:90: measure.progress: there is no workload \"copy\"",
    ),
    (
        "progress = [\"permutation 1\"]",
        "progress = \"copies\"",
        "dir/test.toml:90: measure.progress: \"copies\" is unknown",
    ),
    (
        "trace_switches = \"all\"",
        "trace_switches = \"some\"",
        "dir/test.toml:92: measure.trace_switches: \"some\" is unknown",
    ),
];

#[test]
fn bad_input_is_refused_at_its_place() {
    for (old, new, expected) in BAD {
        assert!(FULL.contains(old), "{old}");
        let text = FULL.replacen(old, new, 1);
        let error = match read(&text, &[]) {
            Ok(_) => panic!("{new} was accepted"),
            Err(error) => error,
        };
        let error = error.strip_prefix("error: ").unwrap();
        assert!(error.starts_with(expected), "{new}:\n{error}\nexpected:\n{expected}");
        assert!(error.contains("help: "), "{error}");
    }
    for (text, expected) in [
        ("", "error: dir/test.toml:1: the file is empty"),
        ("duration = \"1ms\"\n", "error: dir/test.toml:1: topology: this table is missing"),
        (small().split("[[workload]]").next().unwrap(), "error: dir/test.toml:1: workload: there is no traffic"),
        (&small().replace("hosts = 4", "hosts = 1"), "error: dir/test.toml:2: topology: the network has 1 host"),
        (
            &small().replace("[policy]\nkind = \"dt\"\nalpha = 1.0\n", ""),
            "error: dir/test.toml:1: policy: switch switch0 has no",
        ),
        (
            &small().replace("[[workload]]", "[workload]"),
            "error: dir/test.toml:12: workload: this must be a list of tables",
        ),
    ] {
        let error = read(text, &[]).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn bad_arguments_are_refused_by_their_names() {
    for (key, value, expected) in [
        (
            "policy.kind",
            "abn",
            "error: --set \"policy.kind=abn\": policy.kind: \"abn\" is unknown\n  help: did you mean \"abm\"?",
        ),
        ("policy.alpha", "-1", "error: --set \"policy.alpha=-1\": policy.alpha: -1: a threshold cannot be negative"),
        ("policy.window", "5ms", "error: --set \"policy.window=5ms\": policy.window: this key does nothing"),
        (
            "topology.hots",
            "5",
            "error: --set \"topology.hots=5\": topology.hots: there is no such key\n  help: did you mean hosts?",
        ),
        ("topology.hosts", "0", "error: --set \"topology.hosts=0\": topology.hosts: there must be at least one"),
        ("workload.3.class", "0", "error: --set \"workload.3.class=0\": workload.3: the list has no element"),
    ] {
        let error = read(&small(), &[(key, value)]).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
