//! What a person is told about a scenario file that cannot be right: the whole text of every error, in snapshots.
//!
//! Each case changes a sound file in one place, as a slip of the pen would.

use forebay_sim::scenario::{Scenario, sweep};
use std::fmt::Write as _;

/// A sound scenario that uses every table.
const SOUND: &str = r#"name = "leaf-spine"
seed = 7
duration = "10ms"
drain = "100ms"

[topology]
kind = "leaf-spine"
leaves = 4
spines = 2
hosts_per_leaf = 8
parallel = 2
host_rate = "10Gbps"
uplink_rate = "40Gbps"
delay = "1us"

[routing]
kind = "ecmp"
reroute = "2ms"

[switch]
buffer_per_port_per_gbps = "9.6KB"
queues = 2
cell = 80

[policy]
kind = "dt"
alpha = [1.0, 0.5]

[scheduler]
kind = "drr"
weights = [3, 1]

[ecn]
kind = "step"
threshold = "30KB"

[trim]
kind = "none"

[tier.spine]
buffer = "4MB"
[tier.spine.policy]
kind = "occamy"
alpha = 8.0

[switches.leaf1]
queue_capacity = 100

[nic]
kind = "managed"
buffer = "1MB"

[transport.dctcp]
initial_window = "bdp"
rto_min = "1ms"
ack_class = 1

[transport.bulk]
kind = "cubic"
mss = 8960
hystart = true

[transport.source]
kind = "udp"
rate = "1Gbps"
on = "1ms"
off = "3ms"

[[workload]]
name = "web"
kind = "poisson"
sizes = "websearch"
load = 0.4
pattern = "inter-leaf"
transport = "dctcp"

[[workload]]
name = "queries"
kind = "incast"
request = "30%"
fan_in = 16
rate = 2000
transport = "dctcp"
class = 1

[[workload]]
name = "copies"
kind = "permutation"
bytes = "1MB"
transport = "bulk"

[[failure]]
at = "5ms"
link = ["leaf0", "spine1"]
index = 1
until = "8ms"

[measure]
sample = "20us"
timeline = ["spine1", "leaf0"]
trace_flows = [1, 3]
"#;

/// A scenario whose network is a list of cables.
const GRAPH: &str = r#"duration = "10ms"
[topology]
kind = "graph"
rate = "10Gbps"
delay = "1us"
[[topology.switch]]
name = "a"
[[topology.switch]]
name = "b"
tier = "core"
[[topology.host]]
name = "server"
[[topology.hosts]]
switch = "b"
count = 3
[[topology.link]]
from = "a"
to = "b"
[[topology.link]]
from = "server"
to = "a"
[switch]
buffer = "1MB"
[policy]
kind = "cs"
[[workload]]
kind = "long-lived"
pairs = [[0, 1], [2, "server"]]
transport = "reno"
"#;

/// What is wrong, what is replaced, and by what.
type Case = (&'static str, &'static str, &'static str);

fn error_of(text: &str, sets: &[(String, String)]) -> Option<String> {
    Scenario::read("dir/bad.toml", text, sets).err().map(|error| error.to_string())
}

fn snapshot(sound: &str, cases: &[Case]) -> String {
    assert_eq!(error_of(sound, &[]), None);
    let mut all = String::new();
    for (what, old, new) in cases {
        assert_eq!(sound.matches(old).count(), 1, "{what}: {old}");
        let error = error_of(&sound.replace(old, new), &[]).unwrap_or_else(|| panic!("{what}: this was accepted"));
        let _ = writeln!(all, "# {what}\n{error}\n");
    }
    all
}

#[test]
fn whole_files() {
    let mut all = String::new();
    for (what, text) in [
        ("nothing", ""),
        ("no TOML", "duration = 10ms\n"),
        ("no quotes", "name = fabric\nduration = \"1ms\"\n"),
        ("a key twice", "duration = \"1ms\"\nduration = \"2ms\"\n"),
        ("a table that is not closed", "duration = \"1ms\"\n[topology\nkind = \"single\"\n"),
        ("no duration", "[topology]\nkind = \"single\"\n"),
        ("no topology", "duration = \"1ms\"\n"),
        (
            "no buffer",
            "duration = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
             [policy]\nkind = \"cs\"\n",
        ),
        (
            "no policy",
            "duration = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
             [switch]\nbuffer = \"1MB\"\n",
        ),
        (
            "no traffic",
            "duration = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = 2\nrate = \"1Gbps\"\ndelay = \"1us\"\n\
             [switch]\nbuffer = \"1MB\"\n[policy]\nkind = \"cs\"\n",
        ),
        ("a switch file", "ports = 4\nrate = \"10Gbps\"\nbuffer = \"1MB\"\n[policy]\nkind = \"cs\"\n"),
    ] {
        let error = error_of(text, &[]).unwrap_or_else(|| panic!("{what}: this was accepted"));
        let _ = writeln!(all, "# {what}\n{error}\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn topologies() {
    let leaf_spine = snapshot(
        SOUND,
        &[
            ("an unknown key", "seed = 7", "sed = 7"),
            ("a duration of nothing", "duration = \"10ms\"", "duration = \"0s\""),
            ("a duration without a unit", "duration = \"10ms\"", "duration = \"10\""),
            ("a duration with a fraction", "duration = \"10ms\"", "duration = 0.01"),
            ("a negative seed", "seed = 7", "seed = -7"),
            ("too long a run", "drain = \"100ms\"", "drain = \"18000000s\""),
            ("an unknown kind", "kind = \"leaf-spine\"", "kind = \"clos\""),
            ("a kind with a slip", "kind = \"leaf-spine\"", "kind = \"leafspine\""),
            ("no spines", "spines = 2", "spines = 0"),
            ("half a spine", "spines = 2", "spines = 2.5"),
            ("a missing key", "spines = 2\n", ""),
            ("a key of another kind", "spines = 2", "spines = 2\nk = 4"),
            ("too many switches", "leaves = 4", "leaves = 40000"),
            ("more ports than a switch can have", "hosts_per_leaf = 8", "hosts_per_leaf = 600"),
            ("a rate with the unit of a size", "host_rate = \"10Gbps\"", "host_rate = \"10GB\""),
            ("a rate of nothing", "host_rate = \"10Gbps\"", "host_rate = 0"),
            ("a link that takes forever", "host_rate = \"10Gbps\"", "host_rate = \"1Kbps\""),
            ("a delay in a wrong unit", "delay = \"1us\"", "delay = \"1000s\""),
            ("a delay that is a list", "delay = \"1us\"", "delay = [\"1us\"]"),
            ("a rate that does nothing", "delay = \"1us\"", "delay = \"1us\"\nrate = \"1Gbps\""),
            ("an unknown routing", "kind = \"ecmp\"", "kind = \"spray\""),
        ],
    );
    let graph = snapshot(
        GRAPH,
        &[
            ("a cable to nowhere", "to = \"b\"", "to = \"bb\""),
            ("a cable to itself", "to = \"b\"", "to = \"a\""),
            ("two switches of one name", "name = \"b\"", "name = \"a\""),
            ("hosts at a host", "switch = \"b\"", "switch = \"server\""),
            ("a network in two parts", "[[topology.link]]\nfrom = \"a\"\nto = \"b\"\n", ""),
            (
                "a host with two cables",
                "to = \"b\"\n",
                "to = \"b\"\n[[topology.link]]\nfrom = \"server\"\nto = \"b\"\n",
            ),
            ("a host without a cable", "[[topology.link]]\nfrom = \"server\"\nto = \"a\"\n", ""),
            ("one table where a list is needed", "[[topology.hosts]]", "[topology.hosts]"),
            ("a key that a link has not", "from = \"a\"", "from = \"a\"\nlatency = \"1us\""),
            ("a pair of one", "[2, \"server\"]", "[2]"),
            ("a pair with itself", "[2, \"server\"]", "[2, 2]"),
            ("a host that is not there", "[2, \"server\"]", "[2, \"sever\"]"),
        ],
    );
    let all = leaf_spine + &graph;
    insta::assert_snapshot!(all);
}

#[test]
fn switches() {
    let all = snapshot(
        SOUND,
        &[
            ("two sizes of the buffer", "cell = 80", "buffer = \"1MB\""),
            ("no buffer at all", "buffer_per_port_per_gbps = \"9.6KB\"", "buffer_per_port_per_gbps = 0"),
            ("too many queues", "queues = 2", "queues = 65"),
            ("fewer alphas than queues", "queues = 2", "queues = 3"),
            ("an unknown key", "cell = 80", "cells = 80"),
            ("an unknown policy", "kind = \"dt\"", "kind = \"dynamic\""),
            ("a policy without what it needs", "kind = \"dt\"\nalpha = [1.0, 0.5]", "kind = \"abm\"\nalpha = 0.5"),
            ("a negative alpha", "alpha = [1.0, 0.5]", "alpha = -1"),
            ("an alpha in words", "alpha = [1.0, 0.5]", "alpha = \"one\""),
            ("a key of another policy", "alpha = [1.0, 0.5]", "alpha = 1.0\ninterval = \"80us\""),
            ("too few weights", "weights = [3, 1]", "weights = [3]"),
            (
                "a scheduler for one queue",
                "kind = \"drr\"\nweights = [3, 1]",
                "kind = \"aifo\"\ncapacity = 100\nheadroom = 0.1\nwindow = 20",
            ),
            ("a scheduler without its size", "kind = \"drr\"\nweights = [3, 1]", "kind = \"pifo\""),
            ("a scheduler of one queue where there are two", "kind = \"drr\"\nweights = [3, 1]", "kind = \"fifo\""),
            ("marking without a threshold", "threshold = \"30KB\"\n", ""),
            (
                "marking that ends before it begins",
                "kind = \"step\"\nthreshold = \"30KB\"",
                "kind = \"red\"\nmin = \"90KB\"\nmax = \"30KB\"",
            ),
            ("an unknown kind of trimming", "[trim]\nkind = \"none\"", "[trim]\nkind = \"npd\""),
            ("trimming and mirroring", "[trim]\nkind = \"none\"", "[trim]\nkind = \"ndp\"\n[mirror]"),
            ("an unknown kind of mirroring", "[trim]\nkind = \"none\"", "[mirror]\nkind = \"deflect\""),
            (
                "mirroring with one queue",
                "[switches.leaf1]",
                "[switches.leaf1.mirror]\n[switches.leaf1.policy]\nkind = \"cs\"\n[switches.leaf1.scheduler]\n\
                 kind = \"fifo\"\n[switches.leaf1]\nqueues = 1",
            ),
            (
                "a class that headers cannot have",
                "[switches.leaf1]",
                "[switches.leaf1.mirror]\nclass = 2\n[switches.leaf1]",
            ),
            ("nothing left of a packet", "[trim]\nkind = \"none\"", "[mirror]\nsize = 0"),
            ("a slow recirculation port", "[trim]\nkind = \"none\"", "[mirror]\nrate = \"1Kbps\""),
            ("a pipeline without ports", "[trim]\nkind = \"none\"", "[mirror]\nports_per_pipeline = 0"),
            ("settings of mirroring that is off", "[trim]\nkind = \"none\"", "[mirror]\nkind = \"none\"\nsize = 64"),
            ("an unknown tier", "[tier.spine]\n", "[tier.spines]\n"),
            ("a tier of another topology", "[tier.spine]\n", "[tier.aggregation]\n"),
            ("a policy of a tier", "alpha = 8.0", "alpha = nan"),
            ("an unknown switch", "[switches.leaf1]", "[switches.leaf9]"),
            ("no packet could wait", "queue_capacity = 100", "queue_capacity = 0"),
            ("hosts that trim", "buffer = \"1MB\"", "buffer = \"1MB\"\ntrim = { kind = \"ndp\" }"),
            ("a host's queue without a buffer", "kind = \"managed\"\nbuffer = \"1MB\"", "kind = \"managed\""),
            ("settings of a queue that is not managed", "kind = \"managed\"", "kind = \"fifo\""),
            ("a turn that sends nothing", "kind = \"managed\"\nbuffer = \"1MB\"", "quantum = 0"),
            ("less than a packet on the wire", "kind = \"managed\"\nbuffer = \"1MB\"", "bql = \"1KB\""),
            ("small queues without a time", "kind = \"managed\"\nbuffer = \"1MB\"", "small_queue = \"on\""),
            ("two limits", "kind = \"managed\"\nbuffer = \"1MB\"", "kind = \"fifo\"\nlimit = 9\nlimit_bytes = \"1MB\""),
            ("a limit below a packet", "kind = \"managed\"\nbuffer = \"1MB\"", "kind = \"fifo\"\nlimit_bytes = 100"),
        ],
    );
    insta::assert_snapshot!(all);
}

#[test]
fn transports() {
    let all = snapshot(
        SOUND,
        &[
            ("an unknown kind", "kind = \"cubic\"", "kind = \"qubic\""),
            ("no kind", "kind = \"cubic\"\n", ""),
            ("no window", "initial_window = \"bdp\"", "initial_window = 0"),
            ("a window in words", "initial_window = \"bdp\"", "initial_window = \"bpd\""),
            ("timeouts the wrong way round", "rto_min = \"1ms\"", "rto_min = \"1ms\"\nrto_max = \"10us\""),
            ("a class that no switch has", "ack_class = 1", "ack_class = 2"),
            ("a delay that does nothing", "ack_class = 1", "ack_every = 1\nack_delay = \"1ms\""),
            ("a part of another stack", "ack_class = 1", "stack = \"rfc\"\ntail_loss_probe = true"),
            ("a stack that nobody has", "ack_class = 1", "stack = \"windows\""),
            ("what Linux has no choice of", "ack_class = 1", "recovery = \"newreno\""),
            ("a gain that Linux cannot have", "ack_class = 1", "gain = 0.1"),
            ("a window without room", "ack_class = 1", "receive_window = 100"),
            ("a gain above one", "rto_min = \"1ms\"", "gain = 2"),
            ("a packet of nothing", "mss = 8960", "mss = 0"),
            ("a packet in words", "mss = 8960", "mss = \"large\""),
            ("a key of another transport", "mss = 8960", "cut_per_ack = true"),
            ("a delay of a start that is off", "hystart = true", "hystart = false\nhystart_delay_min = \"1ms\""),
            (
                "a threshold without slow start",
                "kind = \"cubic\"\nmss = 8960\nhystart = true",
                "kind = \"timely\"\ninitial_ssthresh = 10",
            ),
            (
                "limits of delay the wrong way round",
                "kind = \"cubic\"\nmss = 8960\nhystart = true",
                "kind = \"timely\"\nt_high = \"10us\"",
            ),
            (
                "two timeouts",
                "kind = \"cubic\"\nmss = 8960\nhystart = true",
                "kind = \"pfabric\"\nrto = \"45us\"\nrto_rtts = 3.0",
            ),
            (
                "a timer that pFabric has not",
                "kind = \"cubic\"\nmss = 8960\nhystart = true",
                "kind = \"pfabric\"\nrto_min = \"1ms\"",
            ),
            ("an unknown rank", "kind = \"cubic\"\nmss = 8960\nhystart = true", "kind = \"pfabric\"\nrank = \"size\""),
            (
                "a window that NDP has not",
                "kind = \"cubic\"\nmss = 8960\nhystart = true",
                "kind = \"ndp\"\nmax_window = 10",
            ),
            ("on without off", "off = \"3ms\"\n", ""),
            ("a spread of nothing", "on = \"1ms\"\noff = \"3ms\"", "on_off = \"exponential\""),
            ("a limit that does nothing", "rate = \"1Gbps\"", "rate = \"1Gbps\"\nmax_payload = 9000"),
            ("a source that sends nothing", "rate = \"1Gbps\"", "rate = \"0Gbps\""),
        ],
    );
    insta::assert_snapshot!(all);
}

#[test]
fn workloads() {
    let all = snapshot(
        SOUND,
        &[
            ("an unknown kind", "kind = \"incast\"", "kind = \"in-cast\""),
            ("two workloads of one name", "name = \"copies\"", "name = \"web\""),
            ("an unknown transport", "transport = \"bulk\"", "transport = \"bulky\""),
            ("no transport where there are several", "bytes = \"1MB\"\ntransport = \"bulk\"", "bytes = \"1MB\""),
            ("a class that no switch has", "\"dctcp\"\nclass = 1", "\"dctcp\"\nclass = 7"),
            ("a load in percent", "load = 0.4", "load = \"40%\""),
            ("a load that no link can carry", "load = 0.4", "load = 1.3"),
            ("a load that all together cannot carry", "load = 0.4", "load = 0.95"),
            ("neither load nor rate", "load = 0.4\n", ""),
            ("both load and rate", "load = 0.4", "load = 0.4\nrate = 1000"),
            ("a rate that no memory holds", "load = 0.4", "rate = 1e13\nallow_overload = true"),
            ("an unknown distribution", "\"websearch\"", "\"web_search\""),
            ("a distribution that is not there", "\"websearch\"", "\"sizes/mine.txt\""),
            ("a distribution that does not reach 1", "\"websearch\"", "{ points = [[1000, 0.5], [2000, 0.9]] }"),
            ("a distribution that falls", "\"websearch\"", "{ points = [[1000, 0.5], [2000, 0.4], [3000, 1.0]] }"),
            ("a distribution of nothing", "\"websearch\"", "{ points = [] }"),
            ("an unknown shape", "\"websearch\"", "{ pareto = 1.2 }"),
            ("a range the wrong way round", "\"websearch\"", "{ uniform = [\"2KB\", \"1KB\"] }"),
            ("an unknown pattern", "\"inter-leaf\"", "\"inter-rack\""),
            ("a host that is not there", "pattern = \"inter-leaf\"", "from = \"0-40\""),
            ("the same host twice", "pattern = \"inter-leaf\"", "from = [1, 2, 1]"),
            ("nobody to send to", "pattern = \"inter-leaf\"", "from = [1]\nto = [1]"),
            ("a stop before the start", "load = 0.4", "load = 0.4\nstart = \"5ms\"\nstop = \"4ms\""),
            ("a start after the end", "load = 0.4", "load = 0.4\nstart = \"20ms\""),
            ("more responses than hosts", "fan_in = 16", "fan_in = 32"),
            ("a share of nothing", "request = \"30%\"", "request = \"0%\""),
            ("queries that no link can carry", "rate = 2000", "rate = 200000"),
            ("a rate for queries that come once", "rate = 2000", "rate = 2000\narrivals = \"once\""),
            ("a flow of nothing", "bytes = \"1MB\"", "bytes = 0"),
            ("a key of another workload", "bytes = \"1MB\"", "bytes = \"1MB\"\nload = 0.3"),
            (
                "a ring with chunks",
                "kind = \"permutation\"\nbytes = \"1MB\"",
                "kind = \"all-reduce\"\nbytes = \"1MB\"\nchunks = 4",
            ),
            (
                "a file of flows that is not there",
                "kind = \"permutation\"\nbytes = \"1MB\"",
                "kind = \"csv\"\npath = \"flows.csv\"",
            ),
            (
                "a list where a table is needed",
                "[[workload]]\nname = \"copies\"",
                "[workload.copies]\nname = \"copies\"",
            ),
        ],
    );
    insta::assert_snapshot!(all);
}

#[test]
fn failures_and_measurements() {
    let telemetry = SOUND.replace("kind = \"ecmp\"", "kind = \"spray-random\"");
    let sprayed = snapshot(
        &telemetry,
        &[("telemetry of changing paths", "kind = \"cubic\"\nmss = 8960\nhystart = true", "kind = \"powertcp\"")],
    );
    let failures = snapshot(
        SOUND,
        &[
            ("a link that is not there", "[\"leaf0\", \"spine1\"]", "[\"leaf0\", \"leaf1\"]"),
            ("a switch that is not there", "[\"leaf0\", \"spine1\"]", "[\"leaf0\", \"spin1\"]"),
            ("half a link", "[\"leaf0\", \"spine1\"]", "\"leaf0\""),
            ("a link too many", "index = 1", "index = 2"),
            ("a repair before the failure", "until = \"8ms\"", "until = \"3ms\""),
            ("two things at once", "until = \"8ms\"", "switch = \"spine0\""),
            ("nothing that fails", "link = [\"leaf0\", \"spine1\"]\nindex = 1", ""),
            ("no time", "at = \"5ms\"\n", ""),
            (
                "the same again",
                "until = \"8ms\"",
                "until = \"8ms\"\n[[failure]]\nat = \"6ms\"\nlink = [\"spine1\", \"leaf0\"]\nindex = 1",
            ),
            ("samples too often", "sample = \"20us\"", "sample = 5"),
            ("a switch that nobody knows", "[\"spine1\", \"leaf0\"]", "[\"spine1\", \"leaf\"]"),
            ("a word that means nothing", "[\"spine1\", \"leaf0\"]", "\"some\""),
            ("a flow that there will not be", "trace_flows = [1, 3]", "trace_flows = [1, 3000000]"),
            ("flows in words", "trace_flows = [1, 3]", "trace_flows = \"all\""),
        ],
    );
    let all = sprayed + &failures;
    insta::assert_snapshot!(all);
}

#[test]
fn arguments() {
    let mut all = String::new();
    for (key, value) in [
        ("policy.kind", "abn"),
        ("policy.alpha", "-1"),
        ("policy.alpha", "[1.0"),
        ("policy.window", "5ms"),
        ("topology.leafs", "5"),
        ("topology.kind", "fat-tree"),
        ("workload.9.class", "0"),
        ("workload.web.load", "0.5"),
        ("workload.0.load", "many"),
        ("duration.end", "5ms"),
        ("transport.dctcp.mss", "1.5KB/s"),
        ("", "5"),
        ("policy..alpha", "5"),
        ("switch.buffer", "0B"),
        ("measure.timeline", "leaf7"),
        ("duraton", "5ms"),
    ] {
        let sets = [(key.to_owned(), value.to_owned())];
        let error = error_of(SOUND, &sets).unwrap_or_else(|| panic!("{key}={value}: this was accepted"));
        let _ = writeln!(all, "# --set {key}={value}\n{error}\n");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn sweeps() {
    let grid = "[sweep.grid]\n\"workload.0.load\" = [0.2, 0.4]\n";
    let two = "[[sweep.variant]]\nname = \"DT\"\n[[sweep.variant]]\nname = \"ABM\"\n\"policy.kind\" = \"abm\"\n";
    let mut all = String::new();
    for (what, text, set) in [
        ("an unknown key", "[sweep]\nseed = [1, 2]\n".to_owned(), None),
        ("seeds in words", "[sweep]\nseeds = \"1 to 5\"\n".to_owned(), None),
        ("seeds the wrong way round", "[sweep]\nseeds = \"5-1\"\n".to_owned(), None),
        ("a seed twice", "[sweep]\nseeds = [1, 2, 1]\n".to_owned(), None),
        ("no seeds", "[sweep]\nseeds = []\n".to_owned(), None),
        ("a grid of one value", "[sweep.grid]\n\"policy.alpha\" = 0.5\n".to_owned(), None),
        ("a grid of nothing", "[sweep.grid]\n\"policy.alpha\" = []\n".to_owned(), None),
        ("a value that is not right", "[sweep.grid]\n\"policy.alpha\" = [0.5, -1]\n".to_owned(), None),
        ("a key that is not there", "[sweep.grid]\n\"policy.alfa\" = [0.5]\n".to_owned(), None),
        ("a value twice", "[sweep.grid]\n\"policy.alpha\" = [0.5, 0.5]\n".to_owned(), None),
        ("a seed in the grid", "[sweep.grid]\nseed = [1, 2]\n".to_owned(), None),
        ("a load at which links are full", "[sweep.grid]\n\"workload.0.load\" = [0.2, 0.95]\n".to_owned(), None),
        ("a setting that needs another", "[sweep.grid]\n\"switch.queues\" = [2, 3]\n".to_owned(), None),
        ("two variants of one name", two.replace("ABM", "DT"), None),
        ("a variant without a name", two.replace("name = \"ABM\"\n", ""), None),
        ("a variant with a slip", two.replace("\"abm\"", "\"amb\""), None),
        ("a variant of what the grid has", format!("{grid}{two}\"workload.0.load\" = 0.3\n"), None),
        ("an argument for what is swept", grid.to_owned(), Some(("workload.0.load", "0.1"))),
        ("an argument for the seed", "[sweep]\nseeds = [1, 2]\n".to_owned(), Some(("seed", "3"))),
        ("an argument that is wrong", grid.to_owned(), Some(("policy.alpha", "-1"))),
        ("more runs than anybody waits for", format!("[sweep]\nseeds = \"1-60000\"\n{grid}"), None),
    ] {
        let sets: Vec<_> =
            set.iter().map(|(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned())).collect();
        let error = sweep::read("dir/bad.toml", &format!("{SOUND}{text}"), &sets).err();
        let error = error.unwrap_or_else(|| panic!("{what}: this was accepted"));
        let _ = writeln!(all, "# {what}\n{error}\n");
    }
    insta::assert_snapshot!(all);
}
