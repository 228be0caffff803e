//! Trials of goals about pause: the configuration is the one switch of a simulated network with priority flow control,
//! whose senders stop when they are asked to. Each trial is run with several seeds.

use crate::goal::{Goal, Traffic};
use crate::levels::{elsewhere, tables_of};
use crate::measured::told;
use crate::trial::{Shown, Spread, Trial};
use forebay_results::stats::Interval;
use forebay_runner::scenario_file::read_text;
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_sim::{engine, workload};
use forebay_sonic::SonicError;
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::import::{Imported, import_ports};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::{Bytes, Duration, Rate, TmConfig};
use serde_json::Value;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

/// Seeds of each trial.
pub(super) const SEEDS: u64 = 4;

/// Payload of packets, and what headers add.
const PAYLOAD: u64 = 1_436;
const HEADER: u64 = 64;

/// The size of packets on the wire.
pub(super) const PACKET: u64 = PAYLOAD + HEADER;

/// The most ports that carry a load.
const MOST_PORTS: usize = 32;

/// Light takes so long for a metre of cable.
const PS_PER_METRE: u64 = 5_000;

/// Senders of a congested class have been sending for so long when a burst comes, in microseconds.
const BEFORE_BURST: u64 = 100;

/// Flows start within so many microseconds, each at a moment that the seed draws.
const SPREAD: u64 = 10;

/// The congestion that a trial is to last for, in microseconds.
const LASTS: u64 = 500;

/// A configuration as a switch of a network.
pub(super) struct Network<'a> {
    file: &'a str,
    /// The configuration as it is written.
    json: String,
    config: Config,
    chip: &'static forebay_sonic::chip::Chip,
    rate: Rate,
    /// Ports that are up and have that rate.
    ports: usize,
    /// Another policy on egress, and its buffer.
    policy: Option<(PolicyConfig, Bytes)>,
}

impl<'a> Network<'a> {
    pub(super) fn new(file: &'a str, config: &Value, chip: Option<&str>) -> Result<Self, SonicError> {
        let json = config.to_string();
        let config = Config::parse(file, &json)?;
        let chip = config.chip(chip)?;
        let mut up = config.ports.iter().filter(|port| port.is_up).map(|port| port.speed);
        let speed = up.next().ok_or_else(|| SonicError::new("PORT", "no port is up", "set admin_status to up"))?;
        let ports = 1 + up.filter(|other| *other == speed).count();
        let rate = Rate::from_bps(speed.saturating_mul(1_000_000));
        Ok(Self { file, json, chip, rate, ports, config, policy: None })
    }

    /// The same with the egress side of a trial.
    pub(super) fn with_policy_of(self, trial: &Trial) -> Self {
        let egress = &trial.switch.switch;
        Self { policy: Some((egress.policy.clone(), egress.buffer)), ..self }
    }

    /// Tries a goal with each seed.
    pub(super) fn run(&self, goal: &Goal) -> Result<Shown, SonicError> {
        let last = self.config.queues.keys().map(|(_, queue)| *queue).max().unwrap_or(0);
        let from = if let Goal::NoPause { from: Some((from, _)), .. } = goal { *from } else { 0 };
        if let Some(queue) = [goal.queue(), from].into_iter().find(|queue| *queue > last) {
            let problem = format!("there is no queue {queue}");
            return Err(SonicError::new(goal.words(), problem, format!("ports have queues 0 to {last}")));
        }
        match goal {
            Goal::NoPause { queue, traffic, from } => self.no_pause(goal, *queue, traffic, *from),
            Goal::Lossless { queue, senders, cable } => self.lossless(goal, *queue, *senders, *cable),
            Goal::Scenario { queue, file } => self.scenario_of(goal, *queue, file),
            _ => unreachable!("other goals are tried in the core alone"),
        }
    }

    /// The switch with so many ports in use.
    fn switch(&self, goal: &Goal, ports: usize) -> Result<Imported, SonicError> {
        if ports > self.ports {
            let problem = format!("that takes {ports} ports of {}, and {} are up", self.rate, self.ports);
            return Err(SonicError::new(goal.words(), problem, "ask for fewer senders"));
        }
        import_ports(&Device::new(&self.config, self.chip), self.file, &vec![self.rate; ports])
    }

    /// The longest cable of the ports, in metres; if none is known, 5.
    fn cable(&self) -> u64 {
        self.config.ports.iter().filter(|port| port.is_up).filter_map(|port| port.cable).max().unwrap_or(5)
    }

    /// The scenario but for its traffic.
    fn scenario(&self, switch: &str, ports: usize, metres: u64, time: u64) -> String {
        format!(
            "seed = 1\nduration = \"{time}us\"\ndrain = \"1ms\"\n[topology]\nkind = \"single\"\nhosts = {ports}\nrate = \"{}\"\ndelay = \"{}\"\n{switch}\n\
             [transport.rdma]\nkind = \"dcqcn\"\nmss = {PAYLOAD}\nheader = {HEADER}\n",
            self.rate,
            Duration::from_ps(PS_PER_METRE * metres)
        )
    }

    fn no_pause(
        &self,
        goal: &Goal,
        queue: u8,
        traffic: &Traffic,
        from: Option<(u8, usize)>,
    ) -> Result<Shown, SonicError> {
        // Host 0 is congested by the next ones; then comes the receiver of the burst, then its senders.
        let first = from.map_or(0, |(_, congested)| congested + 1);
        let (ports, time) = match traffic {
            Traffic::Load { .. } => (self.ports.min(MOST_PORTS).max(first + 2), LASTS),
            Traffic::Burst { senders, .. } => (first + 1 + senders, LASTS),
        };
        let switch = self.switch(goal, ports)?;
        let mut text = self.scenario(&(switch.scenario.clone() + &switch.marking), ports, self.cable(), time);
        if let Some((class, congested)) = from {
            let pairs: Vec<String> = (1..=congested).map(|host| format!("[{host}, 0]")).collect();
            let _ = write!(
                text,
                "[[workload]]\nname = \"congested\"\nkind = \"long-lived\"\nclass = {class}\npairs = [{}]\nspread = \"{SPREAD}us\"\n",
                pairs.join(", ")
            );
        }
        match traffic {
            Traffic::Load { percent, sizes } => {
                let hosts: Vec<String> = (first..ports).map(|host| host.to_string()).collect();
                let (hosts, sizes) = (hosts.join(", "), forebay_settings::quoted(sizes));
                let _ = write!(
                    text,
                    "[[workload]]\nname = \"load\"\nkind = \"poisson\"\nclass = {queue}\nsizes = {sizes}\nload = {}\nfrom = [{hosts}]\nto = [{hosts}]\n",
                    *percent as f64 / 100.0
                );
            }
            Traffic::Burst { senders, bytes } => {
                let hosts: Vec<String> = (first + 1..ports).map(|host| host.to_string()).collect();
                let start = if from.is_some() { BEFORE_BURST } else { 0 };
                let _ = write!(
                    text,
                    "[[workload]]\nname = \"burst\"\nkind = \"incast\"\nclass = {queue}\nhosts = [{first}]\nfrom = [{}]\nfan_in = {senders}\nrequest = {}\n\
                     arrivals = \"once\"\nstart = \"{start}us\"\njitter = \"{SPREAD}us\"\n",
                    hosts.join(", "),
                    bytes.get() * *senders as u64
                );
            }
        }
        let scenario = self.read(goal, &text)?;
        let group = self.group(goal, &scenario, queue)?;
        let results = simulate(scenario);
        let of_class = |class| results.iter().map(|result| goodput(result, |of| of == class)).sum::<u64>() / SEEDS;
        Ok(verdict(&results, Some(group), |_| true, |_| true, from.map(|(class, _)| of_class(class))))
    }

    fn lossless(&self, goal: &Goal, queue: u8, senders: usize, cable: Option<u64>) -> Result<Shown, SonicError> {
        let (ports, metres) = (senders + 1, cable.unwrap_or_else(|| self.cable()));
        // Nobody slows down by marks: only pause stops them.
        let switch = self.switch(goal, ports)?;
        let mut text = self.scenario(&switch.scenario, ports, metres, LASTS);
        let pairs: Vec<String> = (1..=senders).map(|host| format!("[{host}, 0]")).collect();
        let _ = write!(
            text,
            "[[workload]]\nkind = \"long-lived\"\nclass = {queue}\npairs = [{}]\nspread = \"{SPREAD}us\"\n",
            pairs.join(", ")
        );
        let scenario = self.read(goal, &text)?;
        self.group(goal, &scenario, queue)?;
        let lost: Vec<f64> = simulate(scenario).iter().map(|result| lost(result, |_| true)).collect();
        let spread = Spread::of(&lost);
        let words = match spread.mean == 0.0 {
            true => format!("nothing is lost over {metres} m, with {SEEDS} seeds"),
            false => format!("{spread} packets are lost over {metres} m, with {SEEDS} seeds"),
        };
        Ok(Shown {
            met: spread.mean == 0.0,
            words,
            degree: 1.0 / (1.0 + spread.mean),
            others: None,
            spread: Some(spread),
        })
    }

    /// A scenario whose switches are made from the configuration.
    fn scenario_of(&self, goal: &Goal, queue: u8, file: &Path) -> Result<Shown, SonicError> {
        let text = read_text(file).map_err(|error| told(&error))?;
        let failed = |error: std::io::Error| {
            SonicError::new(goal.words(), format!("the configuration cannot be kept for the run: {error}"), "")
        };
        let mut config = tempfile::NamedTempFile::new().map_err(failed)?;
        config.write_all(self.json.as_bytes()).map_err(failed)?;
        let (name, path) = (file.display().to_string(), config.path().display().to_string());
        let set = |key: String, value: &str| (key, forebay_settings::quoted(value));
        let sets: Vec<(String, String)> = tables_of(&name, &text, self.file)?
            .into_iter()
            .flat_map(|table| {
                [set(format!("{table}.sonic"), &path), set(format!("{table}.sonic_chip"), &self.chip.name)]
            })
            .collect();
        let read = Scenario::read(&name, &text, &sets).map_err(|error| told(&error))?;
        let own: Vec<bool> = read.switches.iter().map(|switch| switch.sonic.as_deref() == Some(&*path)).collect();
        if !own.contains(&true) {
            return Err(elsewhere(&name, self.file, "each has a configuration of its own"));
        }
        let is_advised = |switch: usize| own[switch];
        let scenario = self.with_policy(goal, read, is_advised)?;
        let group = lossless_group(&scenario, queue, is_advised);
        let results = simulate(scenario);
        let is_own = |class: u8| class == queue;
        if !results.iter().any(|result| result.flows.iter().any(|flow| is_own(flow.spec.class))) {
            let problem = format!("no flow of the scenario has class {queue}");
            return Err(SonicError::new(goal.words(), problem, "ask for a queue that has some"));
        }
        let others = results.iter().map(|result| goodput(result, |class| !is_own(class))).sum::<u64>() / SEEDS;
        Ok(verdict(&results, group, is_advised, is_own, Some(others).filter(|others| *others > 0)))
    }

    /// The PG of a queue, which is to be lossless.
    fn group(&self, goal: &Goal, scenario: &Scenario, queue: u8) -> Result<u8, SonicError> {
        lossless_group(scenario, queue, |_| true).ok_or_else(|| {
            let problem = format!("the PG of queue {queue} is lossy: it drops, and never pauses");
            SonicError::new(goal.words(), problem, "ask for a queue of a lossless class")
        })
    }

    fn read(&self, goal: &Goal, text: &str) -> Result<Scenario, SonicError> {
        let scenario = Scenario::read("the trial", text, &[])
            .map_err(|error| refused(goal, &error.field, &error.problem, error.remedy))?;
        self.with_policy(goal, scenario, |_| true)
    }

    /// A scenario in which some switches have the other policy, if there is one.
    fn with_policy(
        &self,
        goal: &Goal,
        mut scenario: Scenario,
        of: impl Fn(usize) -> bool,
    ) -> Result<Scenario, SonicError> {
        let Some((policy, buffer)) = &self.policy else { return Ok(scenario) };
        let switches = scenario.switches.iter_mut().enumerate().filter(|(switch, _)| of(*switch));
        for switch in switches.flat_map(|(_, switch)| &mut switch.buffers) {
            let other = TmConfig { policy: policy.clone(), buffer: *buffer, ..switch.clone().into_inner() };
            *switch = other.validate().map_err(|error| refused(goal, error.field, &error.problem, error.remedy))?;
        }
        Ok(scenario)
    }
}

fn refused(goal: &Goal, field: &str, problem: &str, remedy: String) -> SonicError {
    SonicError::new(goal.words(), format!("{field}: {problem}"), remedy)
}

/// The PG of a queue at some of the switches, if it is lossless.
fn lossless_group(scenario: &Scenario, queue: u8, of: impl Fn(usize) -> bool) -> Option<u8> {
    let mut switches = scenario.switches.iter().enumerate().filter(|(switch, _)| of(*switch));
    let side = switches.find_map(|(_, switch)| switch.ingress.as_ref())?;
    let group = *side.file.of_queue.get(usize::from(queue))?;
    let mut groups = side.file.config.groups.iter().filter(|of| of.number == group);
    groups.any(|of| of.lossless.is_some()).then_some(group)
}

/// Runs a scenario with each seed.
fn simulate(mut scenario: Scenario) -> Vec<RunResult> {
    let run = |seed: u64| {
        scenario.seed = seed;
        let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
        engine::run(&scenario, &plan, &mut |_| true)
    };
    (1..=SEEDS).map(run).collect()
}

/// Whether a PG of some switches has asked for pause, if it is lossless, and whether flows of some classes have lost
/// packets anywhere.
fn verdict(
    results: &[RunResult],
    group: Option<u8>,
    switches: impl Fn(usize) -> bool,
    classes: impl Fn(u8) -> bool,
    others: Option<u64>,
) -> Shown {
    let requests = |result: &RunResult| {
        let own = result.pauses.requests.iter().filter(|request| switches(request.switch as usize));
        own.filter(|request| Some(request.group) == group).count() as f64
    };
    let pauses = Spread::of(&results.iter().map(requests).collect::<Vec<_>>());
    let lost = Spread::of(&results.iter().map(|result| lost(result, &classes)).collect::<Vec<_>>());
    let losses = match lost.mean == 0.0 {
        true => "nothing is lost".to_owned(),
        false => format!("{lost} packets are lost"),
    };
    let words = match group {
        Some(group) if pauses.mean > 0.0 && lost.mean == 0.0 => format!("PG {group} asks for pause {pauses} times"),
        Some(group) if pauses.mean > 0.0 => format!("PG {group} asks for pause {pauses} times, {losses}"),
        Some(group) if lost.mean == 0.0 => format!("PG {group} never asks for pause"),
        Some(group) => format!("PG {group} never asks for pause, {losses}"),
        None => losses,
    };
    // A packet that is lost is no pause, and no better.
    let missed = pauses.mean + lost.mean;
    Shown {
        met: missed == 0.0,
        words: format!("{words}, with {SEEDS} seeds"),
        degree: 1.0 / (1.0 + missed),
        others,
        spread: Some(if group.is_some() { pauses } else { lost }),
    }
}

/// The packets that flows of some classes have lost.
fn lost(result: &RunResult, classes: impl Fn(u8) -> bool) -> f64 {
    let flows = result.flows.iter().filter(|flow| classes(flow.spec.class));
    flows.map(|flow| f64::from(flow.drops)).sum()
}

/// The goodput of some classes, in bytes a second.
fn goodput(result: &RunResult, classes: impl Fn(u8) -> bool) -> u64 {
    let flows = result.flows.iter().filter(|flow| classes(flow.spec.class));
    let bytes: u64 = flows.map(|flow| u64::from(flow.received) * PAYLOAD).sum();
    (bytes as f64 * 1e12 / result.end.ps().max(1) as f64) as u64
}

/// The headroom that a PG needs for packets of [`PACKET`] bytes on a cable: those that its sender begins before a frame
/// of 64 bytes stops it, behind a packet that is being sent, and the one that did not fit (docs/scenario.md).
pub(super) fn headroom(rate: Rate, metres: u64, cell: u64) -> Bytes {
    let time = |bytes: u64| rate.serialization(bytes).ps();
    let flight = 2 * PS_PER_METRE * metres + time(64) + time(PACKET);
    let packets = 1 + flight.div_ceil(time(PACKET).max(1));
    Bytes::new(packets * PACKET.div_ceil(cell) * cell)
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        let interval = Interval::of(values).unwrap_or(Interval { mean: 0.0, half: None });
        Self { mean: interval.mean, half: interval.half }
    }
}
