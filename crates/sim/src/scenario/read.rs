//! A whole scenario file.

use super::switches::Switches;
use super::{MeasureSetup, PathChoice, Scenario, check, read_failure, read_topology, read_transport};
use crate::network::NetworkPlan;
use crate::routing::Ports;
use crate::workload::{self, WorkloadContext};
use forebay_settings::{Diagnostic, Document, Settings, Table, Value};
use forebay_tm::{Bytes, Duration};
use std::path::Path;

const TOP_KEYS: [&str; 23] = [
    "stack",
    "name",
    "seed",
    "duration",
    "drain",
    "topology",
    "routing",
    "switch",
    "policy",
    "scheduler",
    "ecn",
    "trim",
    "mirror",
    "chip",
    "tier",
    "switches",
    "nic",
    "transport",
    "workload",
    "failure",
    "measure",
    // What a sweep changes, and what its smaller scales leave out; a single run passes over them.
    "sweep",
    "scale",
];

/// A second.
const SECOND: Duration = Duration::from_us(1_000_000);

impl Scenario {
    /// Reads a scenario from the text of a file, changed by `sets`: pairs of a key such as `policy.kind` and a value, as
    /// [`Settings`] takes them. `file` is what errors call it; relative paths in it start at its directory.
    pub fn read(file: &str, text: &str, sets: &[(String, String)]) -> Result<Self, Diagnostic> {
        with_document(file, text, sets, |root| Ok(read(file, root)?.0))
    }
}

/// Parses a file, changes it and hands its outermost table on.
pub(super) fn with_document<T>(
    file: &str,
    text: &str,
    sets: &[(String, String)],
    read: impl FnOnce(&Table<'_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    if text.trim().is_empty() {
        let remedy = "describe a scenario: duration, [topology], [switch], [policy] and [[workload]]";
        return Err(Diagnostic { line: Some(1), ..Diagnostic::of_file(file, "the file is empty", remedy) });
    }
    let settings = Settings::new(text, sets)?;
    let document = Document::parse_with(file, text, &settings)?;
    read(&document.root())
}

/// Reads everything; the topology and the switches' settings come back as they were given, too.
pub(super) fn read<'d>(
    file: &str,
    root: &Table<'d>,
) -> Result<(Scenario, read_topology::Topology, Switches<'d>), Diagnostic> {
    if let Some(kind) = root.get("kind").filter(|kind| kind.text() == Ok("analysis")) {
        let remedy = "give it to forebay reproduce, as PAPER/FIGURE";
        return Err(kind.error("this is no scenario but parameters of an analysis", remedy));
    }
    root.allow(&TOP_KEYS, |_| false, "")?;
    let name = name_of(file, root)?;
    let seed = root.get("seed").map_or(Ok(1), |value| value.integer())?;
    let (duration, drain) = times(root)?;
    let (topology, network) = read_topology::read(root)?;
    let (paths, reroute) = routing(root)?;
    let ports = Ports::new(&network);
    let switches = Switches::read(root, &network)?;
    let setups = switches.setups(&network, &ports, seed)?;
    let classes = Switches::classes(&setups);
    let tables = root.tables("workload")?;
    if tables.is_empty() {
        return Err(Diagnostic {
            problem: "there is no traffic".into(),
            remedy: "add a line [[workload]], and its kind and other keys below it".into(),
            ..root.missing("workload", "")
        });
    }
    let transports = read_transport::read(root, &tables, classes)?;
    let largest = check::largest_packet(&transports);
    let nic = switches.nic(&network, &ports, Switches::queues(&setups), seed, largest)?;
    let changes = read_failure::read(root, &network)?;
    let measure = measure(root, &network, duration)?;
    let mut scenario = Scenario {
        name,
        seed,
        duration,
        drain,
        network,
        paths,
        switches: setups,
        nic,
        transports,
        workloads: Vec::new(),
        changes,
        reroute,
        measure,
    };
    check::check_links(&scenario, root)?;
    scenario.workloads = workloads(&scenario, &tables, Path::new(file), classes)?;
    scenario.measure.progress = progress(root, &scenario.workloads)?;
    check::check(&scenario, root, &tables)?;
    Ok((scenario, topology, switches))
}

/// The name that the file gives, or that of the file.
fn name_of(file: &str, root: &Table<'_>) -> Result<String, Diagnostic> {
    if let Some(value) = root.get("name") {
        return value.text().map(str::to_owned);
    }
    let stem = Path::new(file).file_stem();
    Ok(stem.map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned()))
}

/// The duration and what comes after it.
fn times(root: &Table<'_>) -> Result<(Duration, Duration), Diagnostic> {
    let value = root.need("duration", "duration = \"10ms\"")?;
    let duration = value.duration()?;
    if duration < Duration::from_ps(1_000) {
        let problem = format!("nothing could happen in {duration}");
        return Err(value.error(problem, "give a time such as \"10ms\"; a number without a unit counts picoseconds"));
    }
    let drain = root.get("drain").map_or(Ok(SECOND), |value| value.duration())?;
    // Half of all time is left for what happens around the end.
    if duration.ps().saturating_add(drain.ps()) > u64::MAX / 2 {
        let key = if drain > duration { "drain" } else { "duration" };
        return Err(root.locate(key, "this is too long to be counted in picoseconds", "keep the sum below 100 days"));
    }
    Ok((duration, drain))
}

fn routing(root: &Table<'_>) -> Result<(PathChoice, Duration), Diagnostic> {
    let (mut paths, mut reroute) = (PathChoice::default(), Duration::from_us(1_000));
    if let Some(table) = root.table("routing")? {
        table.allow(&["kind", "reroute"], |_| false, "")?;
        if let Some(value) = table.get("kind") {
            paths = value.word(&[
                ("ecmp", PathChoice::Ecmp),
                ("spray-random", PathChoice::SprayRandom),
                ("spray-round-robin", PathChoice::SprayRoundRobin),
            ])?;
        }
        if let Some(value) = table.get("reroute") {
            reroute = value.duration()?;
        }
    }
    Ok((paths, reroute))
}

/// Keys of `[measure]`.
const MEASURE_KEYS: [&str; 10] = [
    "from",
    "sample",
    "timeline",
    "queues",
    "progress",
    "breakdown",
    "drops",
    "drops_limit",
    "trace_flows",
    "trace_switches",
];

fn measure(root: &Table<'_>, plan: &NetworkPlan, duration: Duration) -> Result<MeasureSetup, Diagnostic> {
    let mut setup = MeasureSetup {
        from: Duration::ZERO,
        breakdown: false,
        drops: Vec::new(),
        drops_limit: 500_000,
        sample: Duration::from_us(10),
        timeline: Vec::new(),
        queues: Vec::new(),
        progress: Vec::new(),
        trace_flows: Vec::new(),
        trace_switches: Vec::new(),
    };
    let Some(table) = root.table("measure")? else { return Ok(setup) };
    table.allow(&MEASURE_KEYS, |_| false, "")?;
    if let Some(value) = table.get("from") {
        setup.from = value.duration()?;
        if setup.from >= duration && setup.from > Duration::ZERO {
            let remedy = format!("give less than the duration, {duration}");
            return Err(value.error("nothing would be measured", remedy));
        }
    }
    if let Some(value) = table.get("breakdown") {
        setup.breakdown = value.boolean()?;
    }
    if let Some(value) = table.get("drops_limit") {
        setup.drops_limit = value.number()?;
    }
    if let Some(value) = table.get("sample") {
        setup.sample = value.duration()?;
        if setup.sample < Duration::from_ps(1_000) {
            return Err(value.error("this is too often", "give 1ns or more, such as \"10us\""));
        }
    }
    let switches = |key: &str| -> Result<Vec<usize>, Diagnostic> {
        let Some(value) = table.get(key) else { return Ok(Vec::new()) };
        let Some(names) = value.list() else {
            value.word(&[("all", ())]).map_err(|error| Diagnostic {
                remedy: "give \"all\", or a list of switches such as [\"leaf0\"]".into(),
                ..error
            })?;
            return Ok((0..plan.switches.len()).collect());
        };
        let mut switches: Vec<usize> =
            names.iter().map(|name| read_failure::switch(plan, name)).collect::<Result<_, _>>()?;
        switches.sort_unstable();
        switches.dedup();
        Ok(switches)
    };
    setup.drops = switches("drops")?;
    setup.timeline = switches("timeline")?;
    setup.queues = switches("queues")?;
    setup.trace_switches = switches("trace_switches")?;
    if let Some(value) = table.get("trace_flows") {
        let flows = value.list().ok_or_else(|| value.error("this is not a list", "give flows such as [0, 7]"))?;
        setup.trace_flows = flows.iter().map(Value::number).collect::<Result<_, _>>()?;
        setup.trace_flows.sort_unstable();
        setup.trace_flows.dedup();
    }
    Ok(setup)
}

/// The workloads whose flows' progress is sampled.
fn progress(root: &Table<'_>, workloads: &[workload::WorkloadConfig]) -> Result<Vec<usize>, Diagnostic> {
    let Some(value) = root.table("measure")?.and_then(|table| table.get("progress")) else { return Ok(Vec::new()) };
    let Some(names) = value.list() else {
        value.word(&[("all", ())]).map_err(|error| Diagnostic {
            remedy: "give \"all\", or a list of workloads' names such as [\"incast\"]".into(),
            ..error
        })?;
        return Ok((0..workloads.len()).collect());
    };
    let mut chosen = Vec::with_capacity(names.len());
    for value in &names {
        let name = value.text()?;
        let Some(index) = workloads.iter().position(|workload| workload.name == name) else {
            let known: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
            let problem = format!("there is no workload \"{name}\"");
            return Err(value.error(problem, format!("give one of: {}", known.join(", "))));
        };
        chosen.push(index);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

fn workloads(
    scenario: &Scenario,
    tables: &[Table<'_>],
    file: &Path,
    classes: usize,
) -> Result<Vec<workload::WorkloadConfig>, Diagnostic> {
    let context = WorkloadContext {
        network: &scenario.network,
        duration: scenario.duration,
        transports: &scenario.transports,
        queues: classes,
        buffer: smallest_edge_buffer(scenario),
        directory: file.parent().unwrap_or(Path::new("")),
    };
    let mut workloads: Vec<workload::WorkloadConfig> = Vec::with_capacity(tables.len());
    for (index, table) in tables.iter().enumerate() {
        let mut config = workload::read(table, &context)?;
        // Results tell workloads by their names.
        if workloads.iter().any(|other| other.name == config.name) {
            if let Some(value) = table.get("name") {
                let problem = format!("another workload is called \"{}\"", config.name);
                return Err(value.error(problem, "give each workload its own name"));
            }
            config.name = format!("{} {index}", config.name);
        }
        workloads.push(config);
    }
    Ok(workloads)
}

/// The smallest buffer among those with a host at one of their ports.
fn smallest_edge_buffer(scenario: &Scenario) -> Bytes {
    let plan = &scenario.network;
    let ports = Ports::new(plan);
    let buffers = scenario.switches.iter().enumerate().flat_map(|(switch, setup)| {
        let groups = ports.of(plan.switch_node(switch)).chunks(setup.ports_per_buffer);
        let with_hosts =
            groups.zip(&setup.buffers).filter(|(ports, _)| ports.iter().any(|port| plan.is_host(port.peer)));
        with_hosts.map(|(_, buffer)| buffer.buffer).collect::<Vec<_>>()
    });
    buffers.min().unwrap_or(Bytes::ZERO)
}
