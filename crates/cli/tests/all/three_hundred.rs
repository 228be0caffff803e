//! Three hundred bad inputs in all: with the cases of `bad_input.rs`, `simulation_errors.rs` and `deep_input.rs`, those
//! here. None panics, hangs, changes a file or ends with another code than 2, and each says what is wrong. Hardly any
//! needs a simulation.

use crate::simulation;

use simulation::{SMALL, directory, files};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Settings of a sound scenario, and what the error says.
const SETTINGS: &[(&str, &str)] = &[
    ("duration=0s", "duration: nothing could happen in 0ps"),
    ("duration=-1ms", "duration: \"-1ms\" is not a time: it does not start with a number"),
    ("duration=1", "duration: nothing could happen in 1ps"),
    ("duration=\"1 fortnight\"", "duration: \"1 fortnight\" is not a time: there is no unit \"fortnight\""),
    ("drain=-1us", "drain: \"-1us\" is not a time: it does not start with a number"),
    ("seed=-1", "seed: -1 is below zero"),
    ("seed=1.5", "seed: this is a number with a decimal point"),
    ("seed=99999999999999999999999", "seed: 99999999999999999999999 is too large"),
    ("name=3", "name: this is an integer"),
    ("topology.kind=ring", "topology.kind: \"ring\" is unknown"),
    ("topology.hosts=0", "topology.hosts: there must be at least one"),
    ("topology.hosts=1", "topology: the network has 1 host"),
    ("topology.hosts=-4", "topology.hosts: -4 is below zero"),
    ("topology.hosts=4.5", "topology.hosts: this is a number with a decimal point"),
    ("topology.hosts=99999999999", "topology.hosts: 99999999999 ports of a switch are too many"),
    ("topology.hosts=many", "topology.hosts: this is a string"),
    ("topology.rate=0Gbps", "topology.rate: nothing would ever arrive at this rate"),
    ("topology.rate=10", "topology.rate: a packet of 1500 bytes would need 1200s on the link between"),
    ("topology.rate=10GB", "topology.rate: \"10GB\" is not a rate: there is no unit \"GB\""),
    ("topology.rate=-10Gbps", "topology.rate: \"-10Gbps\" is not a rate: it does not start with a number"),
    ("topology.rate=1e400Gbps", "topology.rate: \"1e400Gbps\" is not a rate: there is no unit \"e400Gbps\""),
    ("topology.delay=-1us", "topology.delay: \"-1us\" is not a time: it does not start with a number"),
    ("topology.delay=1parsec", "topology.delay: \"1parsec\" is not a time: there is no unit \"parsec\""),
    ("topology.spines=4", "topology.spines: this key does nothing with kind = \"single\""),
    ("topology.host=4", "topology.host: this key does nothing with kind = \"single\""),
    ("switch.buffer=0B", "switch.buffer: 0B: the buffer is out of range"),
    ("switch.buffer=-1KB", "switch.buffer: \"-1KB\" is not a size: it does not start with a number"),
    ("switch.buffer=60Gbps", "switch.buffer: \"60Gbps\" is not a size: there is no unit \"Gbps\""),
    ("switch.buffer=1.5B", "switch.buffer: \"1.5B\" is not a whole number of B"),
    ("switch.buffer=99999999999TB", "switch.buffer: \"99999999999TB\" is not a size: there is no unit \"TB\""),
    ("switch.buffers=60KB", "switch.buffers: there is no such key"),
    ("switch.queues=0", "switch.queues: 0: the number of queues per port is out of range"),
    ("switch.queues=65", "switch.queues: 65: the number of queues per port is out of range"),
    ("switch.queues=\"two\"", "switch.queues: this is a string"),
    ("switch.cell=0B", "switch.cell: 0B: the cell is out of range"),
    ("switch.cell=-1B", "switch.cell: \"-1B\" is not a size: it does not start with a number"),
    ("policy.kind=best", "policy.kind: \"best\" is unknown"),
    ("policy.kind=1", "policy.kind: this is an integer"),
    ("policy.kind=\"\"", "policy.kind: \"\" is unknown"),
    ("policy.alpha=-1", "policy.alpha: -1: a threshold cannot be negative"),
    ("policy.alpha=nan", "policy.alpha: NaN: this is not a number"),
    ("policy.alpha=inf", "policy.alpha: inf: a threshold must be finite"),
    ("policy.alpha=[]", "policy.alpha: a list of 0: one value is needed for each queue number"),
    ("policy.alpha=[1,2,3]", "policy.alpha: a list of 3: one value is needed for each queue number"),
    ("policy.alpha=\"1\"", "policy.alpha: this is a string"),
    ("policy.alpha=true", "policy.alpha: this is true or false"),
    ("policy.interval=1us", "policy.interval: this key does nothing with kind = \"dt\""),
    ("policy.reserved=1.5", "policy.reserved: 1.5: it must be at least 0 and less than 1"),
    ("policy=3", "policy: this must be a table"),
    ("policy={}", "policy.kind: this key is missing"),
    ("scheduler.kind=fair", "scheduler.kind: \"fair\" is unknown"),
    ("scheduler.kind=3", "scheduler.kind: this is an integer"),
    ("scheduler.weights=[1]", "scheduler.kind: this key is missing"),
    ("scheduler.quantum=0", "scheduler.kind: this key is missing"),
    ("ecn.kind=blue", "ecn.kind: \"blue\" is unknown"),
    ("ecn.threshold=-1", "ecn.kind: this key is missing"),
    ("ecn.kind=step", "ecn.threshold: this key is missing"),
    ("trim.kind=cut", "trim.kind: \"cut\" is unknown"),
    ("trim.size=0", "trim.size: 0B: a header is 1 byte to 2GiB long"),
    ("transport.dctcp.rto_min=0s", "transport.dctcp.rto_min: it must be longer than nothing"),
    ("transport.dctcp.rto_min=-1ms", "transport.dctcp.rto_min: \"-1ms\" is not a time: it does not start with a"),
    ("transport.dctcp.mss=0", "transport.dctcp.mss: 0B is out of range"),
    ("transport.dctcp.mss=-1", "transport.dctcp.mss: -1 is below zero"),
    ("transport.dctcp.mss=99999999", "transport.dctcp.mss: 99.999999MB is out of range"),
    ("transport.dctcp.initial_window=0", "transport.dctcp.initial_window: there must be at least one"),
    ("transport.dctcp.initial_window=-1", "transport.dctcp.initial_window: -1 is below zero"),
    ("transport.dctcp.initial_window=large", "transport.dctcp.initial_window: \"large\" is unknown"),
    ("transport.dctcp.g=2", "transport.dctcp.g: this key does nothing with kind = \"dctcp\""),
    ("transport.dctcp.g=-0.1", "transport.dctcp.g: this key does nothing with kind = \"dctcp\""),
    ("transport.dctcp.kind=quic", "transport.dctcp.kind: \"quic\" is unknown"),
    ("transport.dctcp.window=3", "transport.dctcp.window: there is no such key"),
    ("workload=3", "workload: this must be a list of tables"),
    ("workload=[]", "workload: there is no traffic"),
    ("workload.0.kind=random", "workload.0.kind: \"random\" is unknown"),
    ("workload.0.load=0", "workload.0.load: 0 is not above 0"),
    ("workload.0.load=-0.5", "workload.0.load: -0.5 is not above 0"),
    ("workload.0.load=nan", "workload.0.load: NaN is not above 0"),
    ("workload.0.load=half", "workload.0.load: this is a string"),
    ("workload.0.load=11", "workload.0.load: the link from host0 to switch0 would have to carry 1130.8%"),
    ("workload.0.sizes=tiny", "workload.0.sizes: there is no distribution \"tiny\""),
    ("workload.0.sizes=0B", "workload.0.sizes: 0B is not the size of a flow"),
    ("workload.0.sizes=-1KB", "workload.0.sizes: there is no distribution \"-1KB\""),
    ("workload.0.transport=udpp", "workload.0.transport: there is no transport \"udpp\""),
    ("workload.0.transport=3", "workload.0.transport: this is an integer"),
    ("workload.0.rate=3", "workload.0.rate: there is a load, too"),
    ("workload.0.class=-1", "workload.0.class: -1 is below zero"),
    ("workload.0.class=64", "workload.0.class: there is no class 64: a port has 1 queues"),
    ("workload.0.class=high", "workload.0.class: this is a string"),
    ("workload.0.pattern=everywhere", "workload.0.pattern: \"everywhere\" is unknown"),
    ("workload.0.sources=[99]", "workload.0.sources: there is no such key"),
    ("workload.0.name=3", "workload.0.name: this is an integer"),
    ("workload.0.name=bursts", "workload.1.name: another workload is called \"bursts\""),
    ("workload.0.fan_in=3", "workload.0.fan_in: this key does nothing with kind = \"poisson\""),
    ("workload.1.request=0B", "workload.1.request: 0B is not the size of a flow"),
    ("workload.1.request=-1KB", "workload.1.request: \"-1KB\" is not a size: it does not start with a number"),
    ("workload.1.request=\"0%\"", "workload.1.request: this is not a share of the buffer, 60KB"),
    ("workload.1.fan_in=0", "workload.1.fan_in: 0 is not enough"),
    ("workload.1.fan_in=4", "workload.1.fan_in: 4 cannot respond: some host has only 3 to ask"),
    ("workload.1.fan_in=99", "workload.1.fan_in: 99 cannot respond: some host has only 3 to ask"),
    ("workload.1.fan_in=1.5", "workload.1.fan_in: this is a number with a decimal point"),
    ("workload.1.rate=0", "workload.1.rate: 0 is not above 0"),
    ("workload.1.rate=-1", "workload.1.rate: -1 is not above 0"),
    ("workload.1.rate=1e300", "workload.1.rate: the link from host0 to switch0 would have to carry 1.9e"),
    ("workload.9.load=1", "workload.9: the list has no element \"9\""),
    ("workload.x.load=1", "workload.x: the list has no element \"x\""),
    ("measure.sample=0s", "measure.sample: this is too often"),
    ("measure.sample=-1us", "measure.sample: \"-1us\" is not a time: it does not start with a number"),
    ("measure.sample=1ps", "measure.sample: this is too often"),
    ("measure.sample=often", "measure.sample: \"often\" is not a time: it does not start with a number"),
    ("measure.queues=some", "measure.queues: \"some\" is unknown"),
    ("measure.queues=[\"switch9\"]", "measure.queues: the topology has no switch \"switch9\""),
    ("measure.timeline=[\"leaf0\"]", "measure.timeline: the topology has no switch \"leaf0\""),
    ("measure.timeline=3", "measure.timeline: this is not a list"),
    ("measure.progress=[\"nobody\"]", "measure.progress: there is no workload \"nobody\""),
    ("measure.progress=1", "measure.progress: this is not a list"),
    ("measure.trace_flows=all", "measure.trace_flows: this is not a list"),
    ("measure.trace_flows=[-1]", "measure.trace_flows: -1 is below zero"),
    ("measure.trace_flows=[\"a\"]", "measure.trace_flows: this is a string"),
    ("nic.kind=magic", "nic.kind: \"magic\" is unknown"),
    ("nic.queues=0", "nic.queues: this key does nothing with kind = \"fq\""),
    ("nic.buffer=0B", "nic.buffer: this key does nothing with kind = \"fq\""),
    ("routing.kind=psychic", "routing.kind: \"psychic\" is unknown"),
    ("routing=3", "routing: this must be a table"),
    ("chip.kind=tofino9", "chip: this is for programmable chips"),
    ("chip.program=none", "chip: this is for programmable chips"),
    ("mirror.kind=x", "mirror.kind: \"x\" is unknown"),
    ("mirror.port=99", "mirror.port: there is no such key"),
    ("pfc.kind=x", "pfc.kind: there is no such key"),
    ("failure=3", "failure: this must be a list of tables"),
    ("failure=[{}]", "failure.0.at: this key is missing"),
    ("failure=[{at=\"1us\"}]", "failure.0.link: this key is missing"),
    ("failure=[{at=\"1us\",link=[\"host0\",\"host1\"]}]", "failure.0.link: there is no link between host0 and host1"),
    ("failure=[{at=\"1us\",link=[\"host0\"]}]", "failure.0.link: a link has two ends"),
    (
        "failure=[{at=\"1us\",link=[\"host0\",\"switch0\"],until=\"0us\"}]",
        "failure.0.until: the repair, at 0ps, does not come after the failure, at 1us",
    ),
    (
        "failure=[{at=\"-1us\",link=[\"host0\",\"switch0\"]}]",
        "failure.0.at: \"-1us\" is not a time: it does not start with a number",
    ),
    ("failure=[{at=\"1us\",switch=\"leaf7\"}]", "failure.0.switch: the topology has no switch \"leaf7\""),
    ("nonsense=1", "nonsense: there is no such key"),
    ("nonsense.more=1", "nonsense: there is no such key"),
    ("\"a b\"=1", "\"a b\": there is no such key"),
    ("[policy]", "there is no \"=\""),
    ("=", "\"\" is not a key"),
    ("==", "\"\" is not a key"),
    ("policy..alpha=1", "\"policy..alpha\" is not a key"),
    (".alpha=1", "\".alpha\" is not a key"),
    ("policy.alpha.x=1", "policy.alpha: this is not a table"),
];

/// Commands in a directory of the files of [`set_up`], and what the error says.
const COMMANDS: &[(&str, &str)] = &[
    ("frobnicate", "unrecognized subcommand 'frobnicate'"),
    ("--nonsense", "unexpected argument '--nonsense' found"),
    ("run small.toml --seed 1 --seed 2", "the argument '--seed <N>' cannot be used multiple times"),
    ("run small.toml --threads 0", "invalid value '0' for '--threads <N>': number would be zero for non-zero"),
    ("run small.toml --threads -1", "unexpected argument '-1' found"),
    ("run small.toml --threads many", "invalid value 'many' for '--threads <N>': invalid digit found in string"),
    ("run small.toml --out", "a value is required for '--out <DIR>' but none was supplied"),
    ("run small.toml --out /dev/null", "/dev/null: this is not a directory"),
    (
        "run small.toml --out /proc/nowhere/x",
        "/proc/nowhere/x: cannot write it: No such file or directory (os error 2)",
    ),
    ("run /dev/null", "/dev/null:1: the file is empty"),
    ("run a.csv", "a.csv:1: this is not TOML: key with no value, expected `=`"),
    ("run sw.toml", "sw.toml:1: ports: there is no such key"),
    ("run good/summary.json", "good/summary.json:1: this is not TOML: invalid key-value pair, expected key"),
    ("run small.toml --set", "a value is required for '--set <KEY=VALUE>' but none was supplied"),
    ("run small.toml --nonsense", "unexpected argument '--nonsense' found"),
    ("run small.toml --csv=3", "unexpected value '3' for '--csv' found; no more were expected"),
    ("sweep small.toml --shard 0/3", "--shard 0/3: there is no part 0 of 3"),
    ("sweep small.toml --shard 4/3", "--shard 4/3: there is no part 4 of 3"),
    ("sweep small.toml --shard 1/0", "--shard 1/0: there are no parts"),
    ("sweep small.toml --shard x", "--shard x: this is not a part"),
    ("sweep small.toml --shard 1-3", "--shard 1-3: this is not a part"),
    ("sweep small.toml --shard 1/3 --merge", "the argument '--shard <I/N>' cannot be used with '--merge'"),
    ("sweep small.toml --merge --out nothing-here", "nothing-here: none of the 1 runs is here"),
    ("sweep small.toml --scale quick", "small.toml:1: scale: there is no [scale.quick]"),
    ("sweep small.toml --seeds 0-", "--seeds 0-: these are not seeds"),
    ("sweep small.toml --seeds -3", "unexpected argument '-3' found"),
    ("sweep small.toml --seeds 1,,2", "--seeds 1,,2: these are not seeds"),
    ("sweep small.toml --seeds 1.5", "--seeds 1.5: these are not seeds"),
    ("sweep small.toml --seeds 99999999999999999999999", "--seeds 99999999999999999999999: these are not seeds"),
    ("sweep small.toml --nodes 2", "the following required arguments were not provided:"),
    (
        "sweep small.toml --slurm --dry-run --nodes 0",
        "invalid value '0' for '--nodes <N>': number would be zero for non-zero type",
    ),
    ("sweep small.toml --slurm --dry-run --time soon", "--time soon: this is not a time of Slurm's"),
    ("sweep small.toml --slurm --shard 1/2", "the argument '--slurm' cannot be used with '--shard <I/N>'"),
    ("sweep small.toml --dry-run", "the following required arguments were not provided:"),
    ("sweep small.toml --jobs -1", "unexpected argument '-1' found"),
    (
        "sweep small.toml --jobs 99999999999999999999",
        "invalid value '99999999999999999999' for '--jobs <N>': number too large to",
    ),
    ("sweep small.toml --out good", "good: these are the results of a run"),
    ("sweep small.toml --grid policy.kind=dt,best", "--grid \"policy.kind=best\": policy.kind: \"best\" is unknown"),
    ("sweep small.toml --grid nonsense=1,2", "--grid \"nonsense=1\": nonsense: there is no such key"),
    ("sweep small.toml --grid =1", "--grid =1: this is not a key with values"),
    (
        "sweep small.toml --grid workload.0.load=0.1,5",
        "--grid \"workload.0.load=5\": workload.0.load: the link from host0 to switch0",
    ),
    ("sweep badsweep.toml", "badsweep.toml:41: sweep.seeds: there is no seed here"),
    ("check", "the following required arguments were not provided:"),
    ("check good", "good: cannot read it: Is a directory (os error 21)"),
    ("check a.csv", "a.csv:1: this is not TOML: key with no value, expected `=`"),
    ("check small.toml --seed x", "invalid value 'x' for '--seed <N>': invalid digit found in string"),
    (
        "check small.toml --set transport.dctcp.rto_max=1s --set transport.dctcp.rto_min=9s",
        "transport.dctcp.rto_max: the longest timeout, 1s, is below the shortest, 9s",
    ),
    ("check /dev/zero", "/dev/zero: more than 16777216 bytes are too many for a file of settings"),
    ("compare", "the following required arguments were not provided:"),
    ("compare good", "2 values required by '<RESULTS> <RESULTS>...'; only 1 was provided"),
    ("compare good nowhere", "nowhere: there is no such directory"),
    ("compare good a.csv", "a.csv: not a directory"),
    ("compare good swept", "swept: this is a sweep of 2 points"),
    ("report nowhere", "nowhere: there is no such directory"),
    ("report a.csv", "a.csv: not a directory"),
    ("report /dev/null", "/dev/null: not a directory"),
    ("report good --out good", "good: cannot write it: is a directory"),
    ("report good --out /proc/x.html", "/proc/x.html: cannot write it: No such file or directory (os error 2)"),
    ("report good --out small.toml", "small.toml: there is another file of this name, which Forebay has not"),
    ("report good good/flows.parquet", "good/flows.parquet: not a directory"),
    ("replay", "the following required arguments were not provided:"),
    ("replay sw.toml", "the following required arguments were not provided:"),
    ("replay sw.toml nowhere.csv", "nowhere.csv: cannot read it: No such file or directory (os error 2)"),
    ("replay nowhere.toml a.csv", "nowhere.toml: cannot read it: No such file or directory (os error 2)"),
    ("replay a.csv sw.toml", "a.csv:1: this is not TOML: key with no value, expected `=`"),
    ("replay sw.toml small.toml", "small.toml:1: seed = 1: there is no column \"seed = 1\""),
    ("replay small.toml a.csv", "small.toml:2: duration: there is no such key"),
    ("replay sw.toml /dev/null", "/dev/null:1: the file is empty"),
    ("replay sw.toml good/flows.parquet", "error: good/flows.parquet:1: "),
    ("replay sw.toml escape.csv", "escape.csv:1: \u{fffd}[31mbytes: there is no column"),
    ("replay sw.toml .", ".: cannot read it: Is a directory (os error 21)"),
    ("replay sw.toml a.csv --explain -1", "unexpected argument '-1' found"),
    ("replay sw.toml a.csv --explain 99", "--explain 99: there is no such packet"),
    ("replay sw.toml a.csv --explain x", "invalid value 'x' for '--explain <N>': invalid digit found in string"),
    ("replay sw.toml a.csv --every 1us", "the following required arguments were not provided:"),
    ("replay sw.toml a.csv --timeline t.csv --every -1us", "unexpected argument '-1' found"),
    (
        "replay sw.toml a.csv --timeline t.csv --every soon",
        "invalid value 'soon' for '--every <TIME>': \"soon\" is not a time: it does",
    ),
    ("replay sw.toml a.csv --compare", "a value is required for '--compare <POLICY,...>' but none was supplied"),
    ("replay sw.toml a.csv --compare dt,dt,nonsense", "--compare \"nonsense\": kind: \"nonsense\" is unknown"),
    ("replay sw.toml a.csv --pauses p.csv", "--pauses: the switch has no ingress side"),
    ("replay sw.toml a.csv -o /proc/x", "/proc/x: cannot write it: No such file or directory (os error 2)"),
    ("replay sw.toml a.csv -o a.csv", "a.csv: this file is read by the same command, and would be lost"),
    ("replay sw.toml a.csv -o x --timeline x", "x: this file is written twice by the same command"),
    ("replay sw.toml a.csv --json", "--json: there is no table to print"),
    ("replay sw.toml junk.pcap", "junk.pcap:1: this is not UTF-8 text"),
    ("replay sw.toml cut.pcap", "cut.pcap: at byte 24: the head of a packet is not whole"),
    ("replay sw.toml junk.gz", "junk.gz:1: this is not UTF-8 text"),
    ("replay sw.toml cut.csv.gz", "cut.csv.gz: cannot read it: incomplete deflate stream"),
    ("replay sw.toml junk.pcapng", "junk.pcapng:1: this is not UTF-8 text"),
    ("demo --write /proc/x", "/proc/x: cannot write it: No such file or directory (os error 2)"),
    ("demo --write sw.toml", "sw.toml: cannot write it: File exists (os error 17)"),
    ("demo extra", "unexpected argument 'extra' found"),
    ("init --topology ring", "--topology ring: there is no such topology"),
    ("init --policy best", "--policy best: there is no such policy"),
    ("init --scheduler best", "--scheduler best: there is no such scheduler"),
    ("init --transport quic", "--transport quic: there is no such transport"),
    ("init --workload some", "--workload some: there is no such workload"),
    ("init sw.toml --policy dt", "sw.toml: there is another file of this name, which Forebay has not written"),
    ("init nowhere/x.toml --policy dt", "nowhere/x.toml: cannot write it: No such file or directory (os error 2)"),
    ("init . --policy dt", ".: cannot write it: is a directory"),
    ("list", "the following required arguments were not provided:"),
    ("list nonsense", "invalid value 'nonsense' for '<WHAT>'"),
    ("list policies extra", "unexpected argument 'extra' found"),
    ("list --json", "the following required arguments were not provided:"),
    ("bench", "the following required arguments were not provided:"),
    ("bench nowhere.toml", "nowhere.toml: cannot read it: No such file or directory (os error 2)"),
    ("bench small.toml --limit x", "invalid value 'x' for '--limit <N>': invalid float literal"),
    ("bench small.toml --native --limit 3", "the argument '--native' cannot be used with '--limit <N>'"),
    (
        "bench small.toml --threads 0 --native",
        "invalid value '0' for '--threads <N>': number would be zero for non-zero",
    ),
    ("reproduce nothing", "nothing: there is no such paper or figure"),
    ("reproduce fb/fig99", "fb/fig99: there is no such paper or figure"),
    ("reproduce --quick --full", "the argument '--quick' cannot be used with '--full'"),
    ("reproduce --scenarios nowhere", "nowhere/fb/fig3.toml: cannot read it: No such file or directory (os error"),
    ("reproduce --render nowhere.json.gz", "the following required arguments were not provided:"),
    ("reproduce --render a.csv", "the following required arguments were not provided:"),
    ("reproduce --shard 5/2", "--shard 5/2: there is no part 5 of 2"),
    ("reproduce --jobs 0", "invalid value '0' for '--jobs <N>': number would be zero for non-zero type"),
    ("live nowhere.toml", "nowhere.toml: cannot read it: No such file or directory (os error 2)"),
    ("live sw.toml --duration soon", "invalid value 'soon' for '--duration <TIME>': \"soon\" is not a time: it does"),
    ("live sw.toml --set x", "--set x: there is no \"=\""),
    ("live sw.toml --script nowhere.toml", "the following required arguments were not provided:"),
    ("live small.toml", "small.toml:2: duration: there is no such key"),
    ("lab nonsense", "unrecognized subcommand 'nonsense'"),
    ("lab run nowhere.toml", "nowhere.toml: cannot read it: No such file or directory (os error 2)"),
    ("lab run small.toml", "small.toml:1: seed: there is no such key"),
    ("lab script nowhere.toml", "nowhere.toml: cannot read it: No such file or directory (os error 2)"),
    ("lab script sw.toml", "sw.toml:1: ports: there is no such key"),
    ("lab --prefix toolongtobeaprefix run x.toml", "x.toml: cannot read it: No such file or directory (os error 2)"),
    ("pisa nonsense", "unrecognized subcommand 'nonsense'"),
    ("pisa check nowhere.pisa", "nowhere.pisa: there is no such file or program"),
    ("pisa check a.csv", "a.csv:1: \"=\" is expected, not the end of the line; write \"=\" here"),
    ("pisa check /dev/null", "/dev/null:1: the program has no name; begin the file with a line such as:"),
    ("pisa show nothing", "nothing: there is no such file or program"),
    ("rtl --render nowhere.json", "nowhere.json: cannot read it: No such file or directory (os error 2)"),
    ("rtl --render a.csv", "a.csv: expected ident at line 1 column 2"),
    ("rtl --write sw.toml", "sw.toml: cannot write it: File exists (os error 17)"),
    ("completions", "the following required arguments were not provided:"),
    ("completions tcsh", "invalid value 'tcsh' for '<SHELL>'"),
    ("manual", "the following required arguments were not provided:"),
    ("manual sw.toml", "sw.toml: cannot write it: File exists (os error 17)"),
    ("manual /proc/x", "/proc/x: cannot write it: No such file or directory (os error 2)"),
    ("sonic nonsense", "unrecognized subcommand 'nonsense'"),
    ("sonic predict nowhere.json", "nowhere.json: cannot read it: No such file or directory (os error 2)"),
    ("sonic predict a.csv", "a.csv:1:2: expected ident"),
    ("sonic lint a.csv", "a.csv:1:2: expected ident"),
    ("sonic import a.csv", "a.csv:1:2: expected ident"),
    ("sonic check a.csv", "unrecognized subcommand 'check'"),
    ("sonic advise a.csv --goals nowhere.toml", "unexpected argument '--goals' found"),
    ("sonic hardware nowhere.csv", "nowhere.csv: cannot read it: No such file or directory (os error 2)"),
    ("sonic predict small.toml", "small.toml:1:1: expected value"),
    ("sonic predict a.csv --chip abacus", "a.csv:1:2: expected ident"),
    (
        "run small.toml --set policy.alpha=1 --set policy.alpha=x",
        "--set \"policy.alpha=x\": policy.alpha: this is a string",
    ),
    ("run twice.toml", "twice.toml:25: load: this key is there twice"),
    ("run both.toml", "both.toml:11: switch.buffer_per_port_per_gbps: the size of the buffer is"),
    ("check badsweep.toml", "badsweep.toml:41: sweep.seeds: there is no seed here"),
    ("compare good d", "d: not the result of a finished run: it has no summary.json"),
    ("report good d", "d: not the result of a finished run: it has no summary.json"),
    ("report d", "d: not the result of a finished run: it has no summary.json"),
    ("sweep both.toml", "both.toml:11: switch.buffer_per_port_per_gbps: the size of the buffer is"),
    ("sweep small.toml --set sweep.seeds=\"5-1\"", "--set \"sweep.seeds=\"5-1\"\": sweep.seeds: there is no seed here"),
    ("sweep small.toml --set sweep.grid=3", "--set \"sweep.grid=3\": sweep.grid: this must be a table"),
    ("live twice.toml", "twice.toml:25: load: this key is there twice"),
    ("init small.toml --workload poisson", "small.toml: there is another file of this name, which Forebay has not"),
    ("pisa show a.csv", "a.csv:1: \"=\" is expected, not the end of the line; write \"=\" here"),
    ("pisa list extra", "unexpected argument 'extra' found"),
    ("sweep small.toml --grid policy.alpha=1,,2", "there is nothing between two commas, or behind the last"),
    ("sweep small.toml --grid policy.alpha=1,2,", "there is nothing between two commas, or behind the last"),
];

/// The tables that a page is made of. One that is empty, cut off, another table or a directory is refused.
const TABLES: [&str; 13] = [
    "breakdown",
    "buffers",
    "collectives",
    "drops",
    "flows",
    "holders",
    "hops",
    "losses",
    "queries",
    "queue_timeline",
    "queues",
    "responses",
    "topology",
];

const SWITCH: &str = "ports = 2\nrate = \"8Gbps\"\nbuffer = 8000\n[policy]\nkind = \"cs\"\n";
const ARRIVALS: &[u8] = b"time_ps,bytes,port,queue\n0,1000,0,0\n0,1000,0,0\n";
/// The head of a capture, and the first bytes of a packet's.
const CUT_CAPTURE: &[u8] =
    b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x40\0";

/// Sound files, damaged ones, the result of a run, that of a sweep, and an empty directory.
fn set_up() -> tempfile::TempDir {
    let directory = directory();
    let write = |name: &str, contents: &[u8]| std::fs::write(directory.path().join(name), contents).unwrap();
    write("sw.toml", SWITCH.as_bytes());
    write("a.csv", ARRIVALS);
    write("twice.toml", SMALL.replace("load = 0.5", "load = 0.5\nload = 0.6").as_bytes());
    write("both.toml", SMALL.replace("buffer = ", "buffer_per_port_per_gbps = \"5KB\"\nbuffer = ").as_bytes());
    write("badsweep.toml", format!("{SMALL}\n[sweep]\nseeds = \"5-1\"\n").as_bytes());
    let junk: Vec<u8> = (0..3000u32).map(|i| (i * i % 251) as u8 | 0x80).collect();
    ["junk.pcap", "junk.pcapng", "junk.gz"].iter().for_each(|name| write(name, &junk));
    write("cut.pcap", CUT_CAPTURE);
    write("escape.csv", b"time_ps,\x1b[31mbytes\n");
    let zipped = Command::new("gzip").arg("-c").arg(directory.path().join("a.csv")).output().unwrap().stdout;
    write("cut.csv.gz", &zipped[..40]);
    std::fs::create_dir(directory.path().join("d")).unwrap();
    let all = "run small.toml --set measure.drops=all --set measure.breakdown=true --out good";
    for args in [all, "sweep small.toml --seeds 1-2 --grid policy.alpha=1,2 --out swept"] {
        let output = simulation::forebay(directory.path(), args);
        assert!(output.status.success(), "{output:?}");
    }
    directory
}

/// Runs a command, which has ten seconds.
fn run(directory: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
    command.args(args).current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
            panic!("{args:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.wait_with_output().unwrap()
}

/// A bad input is refused.
fn assert_refused(directory: &Path, args: &[&str], says: &str, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let output = run(directory, args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {error}");
    assert!(output.stdout.is_empty(), "{args:?} prints something");
    assert!(error.contains(says), "{args:?} should say {says:?}\n{error}");
    assert!(!error.contains('\x1b'), "{args:?} sends what is in a file to the terminal: {error:?}");
    assert!(!error.contains("panicked") && error.lines().count() <= 60 && error.len() < 6_000, "{args:?}\n{error}");
    assert!(files(directory) == *before, "{args:?} writes, changes or loses a file");
}

#[test]
fn three_hundred_bad_inputs_are_refused() {
    let directory = set_up();
    let before = files(directory.path());
    for (setting, says) in SETTINGS {
        assert_refused(directory.path(), &["check", "small.toml", "--set", setting], says, &before);
    }
    for (args, says) in COMMANDS {
        assert_refused(directory.path(), &args.split_whitespace().collect::<Vec<_>>(), says, &before);
    }
    assert!(SETTINGS.len() + COMMANDS.len() >= 300);
}

#[test]
fn damaged_tables_are_refused() {
    let directory = set_up();
    let good = directory.path().join("good");
    let other = std::fs::read(good.join("ports.parquet")).unwrap();
    for table in TABLES {
        let file = good.join(format!("{table}.parquet"));
        let whole = std::fs::read(&file).unwrap();
        for damaged in [&[][..], &whole[..whole.len() * 2 / 3], &other] {
            std::fs::write(&file, damaged).unwrap();
            let before = files(directory.path());
            let says = format!("error: good/{table}.parquet: cannot read it: ");
            assert_refused(directory.path(), &["report", "good", "--out", "page.html"], &says, &before);
        }
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert_refused(
            directory.path(),
            &["report", "good"],
            &format!("good/{table}.parquet"),
            &files(directory.path()),
        );
        std::fs::remove_dir(&file).unwrap();
        std::fs::write(&file, whole).unwrap();
    }
    // Every bit of a summary that is turned around leaves a summary, or an error.
    let summary = good.join("summary.json");
    let whole = std::fs::read(&summary).unwrap();
    for place in (0..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        std::fs::write(&summary, damaged).unwrap();
        let output = run(directory.path(), &["compare", "good", "good"]);
        assert!(matches!(output.status.code(), Some(0 | 2)), "byte {place}: {output:?}");
    }
}
