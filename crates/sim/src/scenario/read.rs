//! A whole scenario file.

use super::switches::Switches;
use super::{PathChoice, Scenario, check, measure, pfc, read_failure, read_topology, read_transport};
use crate::routing::Ports;
use crate::transport::Stack;
use crate::workload::{self, WorkloadContext};
use forebay_settings::{Diagnostic, Document, Settings, Table, read_settings, setting_keys};
use forebay_tm::described::Wrong;
use forebay_tm::{Bytes, Duration, settings};
use std::path::Path;

settings! {
    /// The keys that stand in no table.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TopKeys {
        /// What results call it; default the file's name.
        pub name: Option<String> = None,
        /// The seed of all random draws.
        pub seed: u64 = 1,
        /// Workloads start flows before this time, unless they set `stop`; at least 1 ns.
        pub duration: Duration = Duration::from_us(10_000); is_some_time => given,
        /// A run ends once `duration` is over and all finite flows are complete, at the latest at `duration` + `drain`.
        /// It ends before `duration` only if no event is left.
        pub drain: Duration = Duration::from_us(1_000_000),
        /// The TCP implementation that `reno`, `cubic` and `dctcp` follow, unless a transport sets its own: see
        /// [stacks](#stacks); default `"linux"`.
        pub stack: Option<Stack> = None,
    }
}

settings! {
    /// The table `[routing]`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RoutingKeys {
        /// `"ecmp"`: a flow keeps one of the shortest paths, chosen by a hash; `"spray-random"`: every packet takes a
        /// random one; `"spray-round-robin"`: a flow's packets take them in turn.
        pub kind: PathChoice = PathChoice::Ecmp,
        /// The time from a failure or repair until the routes change.
        pub reroute: Duration = Duration::from_us(1_000),
    }
}

/// The tables. A single run passes over the last two: what a sweep changes, and what its smaller scales leave out.
const TABLES: [&str; 20] = [
    "topology",
    "routing",
    "switch",
    "policy",
    "scheduler",
    "ecn",
    "trim",
    "ingress",
    "pfc",
    "mirror",
    "chip",
    "tier",
    "switches",
    "nic",
    "transport",
    "workload",
    "failure",
    "measure",
    "sweep",
    "scale",
];

fn is_some_time(duration: &Duration) -> Result<(), Wrong> {
    if *duration >= Duration::from_ps(1_000) {
        return Ok(());
    }
    let remedy = "give a time such as \"10ms\"; a number without a unit counts picoseconds";
    Err(Wrong::new(format!("nothing could happen in {duration}"), remedy))
}

impl Scenario {
    /// Reads a scenario from the text of a file, changed by `sets`: pairs of a key such as `policy.kind` and a value,
    /// as [`Settings`] takes them. `file` is what errors call it; relative paths in it start at its directory.
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
    let known: Vec<&str> = setting_keys(TopKeys::FIELDS).into_iter().chain(TABLES).collect();
    root.allow(&known, |_| false, "")?;
    let mut top = TopKeys::default();
    read_settings(root, &mut top)?;
    check_times(root, &top)?;
    let (topology, network) = read_topology::read(root)?;
    let routing = routing(root)?;
    let ports = Ports::new(&network);
    let switches = Switches::read(root, &network)?;
    let setups = switches.setups(&network, &ports, top.seed)?;
    let classes = Switches::classes(&setups);
    let tables = root.tables("workload")?;
    if tables.is_empty() {
        return Err(Diagnostic {
            problem: "there is no traffic".into(),
            remedy: "add a line [[workload]], and its kind and other keys below it".into(),
            ..root.missing("workload", "")
        });
    }
    let transports = read_transport::read(root, &tables, top.stack.unwrap_or(Stack::Linux), classes)?;
    let largest = check::largest_packet(&transports);
    let nic = match pfc::nic(root, &setups, Switches::queues(&setups))? {
        Some(nic) => nic,
        None => switches.nic(&network, &ports, Switches::queues(&setups), top.seed, largest)?,
    };
    let changes = read_failure::read(root, &network)?;
    let measure = measure::read(root, &network, top.duration)?;
    let mut scenario = Scenario {
        name: top.name.unwrap_or_else(|| stem(file)),
        seed: top.seed,
        duration: top.duration,
        drain: top.drain,
        network,
        paths: routing.kind,
        switches: setups,
        nic,
        transports,
        workloads: Vec::new(),
        changes,
        reroute: routing.reroute,
        measure,
    };
    check::check_links(&scenario, root)?;
    scenario.workloads = workloads(&scenario, &tables, Path::new(file), classes)?;
    scenario.measure.progress = measure::progress(root, &scenario.workloads)?;
    check::check(&scenario, root, &tables)?;
    Ok((scenario, topology, switches))
}

/// The name of a file, without its directory and ending.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Refuses times that cannot be counted: half of all time is left for what happens around the end.
fn check_times(root: &Table<'_>, TopKeys { duration, drain, .. }: &TopKeys) -> Result<(), Diagnostic> {
    if duration.ps().saturating_add(drain.ps()) <= u64::MAX / 2 {
        return Ok(());
    }
    let key = if drain > duration { "drain" } else { "duration" };
    Err(root.locate(key, "this is too long to be counted in picoseconds", "keep the sum below 100 days"))
}

fn routing(root: &Table<'_>) -> Result<RoutingKeys, Diagnostic> {
    let mut routing = RoutingKeys::default();
    if let Some(table) = root.table("routing")? {
        table.allow(&setting_keys(RoutingKeys::FIELDS), |_| false, "")?;
        read_settings(&table, &mut routing)?;
    }
    Ok(routing)
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
