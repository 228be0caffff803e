//! One run of an experiment: the switch is started, the hosts do what the plan says, and what was seen becomes a
//! result.

use crate::clock;
use crate::congestion::{Kernel, Loaded};
use crate::error::{self, Result};
use crate::expect::STALLED;
use crate::experiment::{Experiment, SwitchKind};
use crate::fleet::{Fleet, Observed};
use crate::layout::{Layout, Switch};
use crate::measured::{self, Sample, Seen, SeenSwitch};
use crate::metrics::{HOST_COUNTERS, POLLUTED};
use crate::network::{self, Lock};
use crate::programs::Programs;
use crate::switch_file;
use crate::switch_process::{SwitchProcess, own_program};
use crate::translate::{self, Translated};
use forebay_control::client::Client;
use forebay_live::snapshot::Snapshot;
use forebay_sim::flow::{NONE, TrafficPlan};
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_sim::transport::TransportKind;
use serde_json::{Map, Value, json};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// How often the switch is looked at, in nanoseconds.
const LOOK: u64 = 50_000_000;
/// How long the hosts are left alone before the start, so that the switch has settled.
const SETTLE: u64 = 200_000_000;

/// A run that is over.
pub struct Finished {
    /// As the simulator would have measured it.
    pub result: RunResult,
    /// What else is known, as JSON: stalls, tries, congestion controls, the kernels' counters, programs.
    pub record: Value,
    /// Numbers for expectations: of programs, datagrams and long flows.
    pub numbers: BTreeMap<String, f64>,
    /// Where the outputs of programs are.
    pub outputs: PathBuf,
}

impl Finished {
    /// The numbers as JSON.
    pub fn numbers_text(&self) -> String {
        format!("{:#}\n", json!(self.numbers))
    }
}

/// A lab that is up for an experiment. It is taken down when this goes.
pub struct Site {
    layout: Layout,
    held: Lock,
    keep: bool,
    /// DCTCP, if it had to be loaded, or why it could not be.
    dctcp: OnceCell<Result<Loaded>>,
}

impl Site {
    /// Makes the lab of a scenario.
    pub fn make(prefix: &str, scenario: &Scenario, keep: bool) -> Result<Self> {
        let layout = translate::layout(prefix, scenario)?;
        let held = network::lock(prefix)?;
        let site = Self { layout, held, keep, dctcp: OnceCell::new() };
        network::up(&site.layout, &network::HostSettings::default(), &site.held)?;
        Ok(site)
    }

    /// What the kernel offers, with DCTCP if a scenario wants it and it can be had.
    fn kernel(&self, experiment: &Experiment, scenario: &Scenario) -> Kernel {
        let wanted = scenario.transports.iter().any(|(_, own)| matches!(own.kind, TransportKind::Dctcp(_)));
        if wanted && !Kernel::ask().has_dctcp() {
            let directory = network::state_directory(&self.layout.prefix);
            self.dctcp.get_or_init(|| Loaded::load(&experiment.dctcp, &directory));
        }
        Kernel::ask()
    }

    /// Runs a scenario. A run that stalls of the machine have polluted is repeated; the try with the fewest counts.
    /// None if `is_stopped` says so.
    pub fn run(
        &self,
        experiment: &Experiment,
        scenario: &Scenario,
        plan: &TrafficPlan,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Finished>> {
        let layout = translate::layout(&self.layout.prefix, scenario)?;
        if layout != self.layout {
            return Err(error::problem("the points of an experiment have different hosts", "sweep something else"));
        }
        let kernel = self.kernel(experiment, scenario);
        let mut translated = translate::translate(scenario, plan, &layout, &kernel)?;
        translated.treatment.backend.clone_from(&experiment.lab.backend);
        translated.treatment.overhead = Some(experiment.lab.overhead);
        translated.hosts.paced = experiment.lab.paced;
        network::up(&layout, &translated.hosts, &self.held)?;
        let mut given_up = Vec::new();
        let mut best: Option<(f64, Finished)> = None;
        loop {
            let run = Run { experiment, scenario, plan, layout: &layout, translated: &translated };
            let Some(finished) = run.once(given_up.len(), is_stopped)? else { return Ok(None) };
            let stalled = finished.record["given_up_us"].as_f64().unwrap_or(0.0);
            given_up.push(stalled);
            let (least, mut finished) = match best.take() {
                Some((least, before)) if least <= stalled => (least, before),
                _ => (stalled, finished),
            };
            let polluted = least * 1e6 > experiment.lab.stall_limit.ps() as f64;
            if polluted && (given_up.len() as u32) < experiment.lab.tries {
                best = Some((least, finished));
                continue;
            }
            finished.record["given_up_us_of_tries"] = json!(given_up);
            finished.record["polluted"] = json!(polluted);
            if let Some(Err(error)) = self.dctcp.get() {
                finished.record["no_dctcp"] = json!(error.to_string());
            }
            finished.numbers.insert(POLLUTED.to_owned(), f64::from(u8::from(polluted)));
            let share = least * 1e6 / (scenario.duration.ps().max(1)) as f64;
            finished.numbers.insert(STALLED.to_owned(), share);
            return Ok(Some(finished));
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed now, `forebay lab down` removes.
            let _ = network::down(&self.layout.prefix, &self.held);
        }
    }
}

/// One try.
struct Run<'a> {
    experiment: &'a Experiment,
    scenario: &'a Scenario,
    plan: &'a TrafficPlan,
    layout: &'a Layout,
    translated: &'a Translated,
}

impl Run<'_> {
    fn once(&self, number: usize, is_stopped: &dyn Fn() -> bool) -> Result<Option<Finished>> {
        let state = network::state_directory(&self.layout.prefix);
        let outputs = state.join(format!("programs{number}"));
        // Those of the point before.
        let _ = std::fs::remove_dir_all(&outputs);
        std::fs::create_dir_all(&outputs).map_err(|error| error::of_file(&outputs, "make", &error))?;
        let switches = self.start_switches(&state)?;
        let forebay = own_program()?;
        let counters_before = self.host_counters()?;
        let mut programs =
            Programs::start(&self.experiment.programs, &self.scenario.network.hosts, self.layout, &outputs)?;
        let mut fleet = Fleet::start(&forebay, self.layout, &self.translated.job, &state)?;
        clock::sleep_until(clock::now() + SETTLE);
        let origin = fleet.go()?;
        let watch = |switch: &SwitchProcess| Ok(Watch::start(switch.control()?, origin));
        let watches = switches.iter().map(watch).collect::<Result<Vec<_>>>()?;
        let ns = |ps: u64| ps / 1_000;
        let duration = ns(self.scenario.duration.ps());
        let last = duration + ns(self.scenario.drain.ps());
        let mut failed = None;
        let finite = self.translated.job.flows.iter().filter(|flow| flow.bytes.is_some()).count();
        fleet.listen_until(last, &mut |observed, now| {
            if let Err(error) = programs.look(now) {
                failed = Some(error);
            }
            let done = now >= duration && observed.ended.len() >= finite && programs.are_done();
            failed.is_some() || is_stopped() || done
        });
        let end = clock::now().saturating_sub(origin);
        let samples: Vec<_> = watches.into_iter().map(Watch::stop).collect();
        let observed = fleet.stop();
        let (numbers, problems) = programs.finish();
        let stop = |(switch, samples): (SwitchProcess, _)| Ok(SeenSwitch { samples, last: parse(&switch.stop()?)? });
        let mut seen_switches = switches.into_iter().zip(samples).map(stop).collect::<Result<Vec<_>>>()?;
        if seen_switches.is_empty() {
            // A bridge counts nothing.
            seen_switches.push(SeenSwitch::default());
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if is_stopped() {
            return Ok(None);
        }
        let seen = Seen { observed: &observed, switches: &seen_switches, end };
        let result = measured::result(self.scenario, self.plan, &seen);
        let counters = difference(&counters_before, &self.host_counters()?);
        let record = self.record(&seen, &counters, &numbers, &problems);
        let numbers = self.numbers(&observed, &result, &counters, numbers);
        Ok(Some(Finished { result, record, numbers, outputs }))
    }

    /// Starts the live switches, or makes a bridge.
    fn start_switches(&self, state: &Path) -> Result<Vec<SwitchProcess>> {
        let configs = &self.translated.configs;
        if self.experiment.lab.switch == SwitchKind::Bridge {
            if self.layout.is_routed() {
                return Err(error::problem("a bridge is one switch", "give the scenario topology.kind = \"single\""));
            }
            let queue = configs[0].buffer.get() / self.layout.hosts.len() as u64;
            network::bridge(self.layout, queue)?;
            return Ok(Vec::new());
        }
        let start = |(number, switch): (usize, &Switch)| {
            let (file, directory) = (state.join(format!("{}.toml", switch.name)), state.join(&switch.name));
            std::fs::create_dir_all(&directory).map_err(|error| error::of_file(&directory, "make", &error))?;
            let treatment = &self.translated.treatment;
            let text = switch_file::write(self.layout, number, &configs[number], treatment, &directory);
            std::fs::write(&file, text).map_err(|error| error::of_file(&file, "write", &error))?;
            SwitchProcess::start(&own_program()?, &switch.namespace, &file, &directory)
        };
        self.layout.switches.iter().enumerate().map(start).collect()
    }

    /// What the kernels of all hosts have counted.
    fn host_counters(&self) -> Result<BTreeMap<String, i64>> {
        let mut sums = BTreeMap::new();
        for host in &self.layout.hosts {
            for (name, value) in network::host_counters(&host.namespace)? {
                *sums.entry(name).or_default() += value;
            }
        }
        Ok(sums)
    }

    /// What else is known of the run.
    fn record(
        &self,
        seen: &Seen<'_>,
        counters: &BTreeMap<String, i64>,
        programs: &BTreeMap<String, f64>,
        problems: &[String],
    ) -> Value {
        let transports = self.scenario.transports.iter().zip(&self.translated.chosen).map(|((name, _), chosen)| {
            let carried = match chosen {
                None => json!("udp"),
                Some(chosen) => match chosen.instead_of {
                    None => json!(chosen.name),
                    Some(wanted) => json!(format!("{} with ECN, as the kernel has no {wanted}", chosen.name)),
                },
            };
            (name.clone(), carried)
        });
        let observed = seen.observed;
        let datagrams = observed.datagrams.iter().map(|(flow, own)| {
            json!({ "flow": flow, "sent": own.sent, "whole": own.whole, "headers": own.headers, "again": own.again })
        });
        let is_live = self.experiment.lab.switch == SwitchKind::Live;
        // A bridge counts none of these.
        let counted = |value: Value| if is_live { value } else { Value::Null };
        let of_switch = |(switch, own): (&Switch, &SeenSwitch)| {
            let outside = own.last.ports.iter().map(|port| json!({ "port": port.name, "outside": port.outside }));
            json!({
                "name": switch.name,
                "given_up_us": own.last.stalls.given_up.ps() as f64 / 1e6,
                "stalls": counted(json!(own.last.stalls)),
                "outside_the_buffer": outside.collect::<Vec<_>>(),
                "unforwarded": counted(json!(own.last.unforwarded)),
                "cost": counted(json!(own.last.cost)),
            })
        };
        let switches: Vec<Value> = self.layout.switches.iter().zip(seen.switches).map(of_switch).collect();
        // A run is as polluted as the switch that stalled most.
        let stalled = |own: &&Value| (own["given_up_us"].as_f64().unwrap_or(0.0) * 1e3) as u64;
        let worst = switches.iter().max_by_key(stalled).cloned().unwrap_or_default();
        json!({
            "live": true,
            "switch": if is_live { "forebay" } else { "bridge" },
            "transports": transports.collect::<Map<_, _>>(),
            "given_up_us": worst["given_up_us"],
            "stalls": worst["stalls"],
            "outside_the_buffer": worst["outside_the_buffer"],
            "unforwarded": worst["unforwarded"],
            "cost": worst["cost"],
            "switches": if switches.len() > 1 { json!(switches) } else { Value::Null },
            "hosts": counters.iter().filter(|(_, value)| **value != 0).collect::<BTreeMap<_, _>>(),
            "programs": programs,
            "datagrams": datagrams.collect::<Vec<_>>(),
            "problems": observed.failures.iter().chain(problems).collect::<Vec<_>>(),
        })
    }

    /// Numbers for expectations.
    fn numbers(
        &self,
        observed: &Observed,
        result: &RunResult,
        counters: &BTreeMap<String, i64>,
        mut numbers: BTreeMap<String, f64>,
    ) -> BTreeMap<String, f64> {
        for key in HOST_COUNTERS {
            numbers.extend(counters.get(key).map(|value| (format!("hosts.{key}"), *value as f64)));
        }
        let sent: u64 = observed.datagrams.values().filter_map(|own| own.sent).sum();
        if sent > 0 {
            let arrived =
                |get: fn(&crate::fleet::Datagrams) -> u64| observed.datagrams.values().map(get).sum::<u64>() as f64;
            let (whole, headers) = (arrived(|own| own.whole), arrived(|own| own.headers));
            numbers.insert("datagrams.whole_share".to_owned(), whole / sent as f64);
            numbers.insert("datagrams.missing".to_owned(), sent as f64 - whole - headers);
        }
        numbers.extend(last_rates(self.scenario, result));
        numbers.extend(workload_times(self.scenario, result));
        numbers
    }
}

/// The rates of flows whose progress was noted over the last quarter of the run, by workload, in Mb/s.
pub fn last_rates(scenario: &Scenario, result: &RunResult) -> BTreeMap<String, f64> {
    let mut rates = BTreeMap::new();
    let end = scenario.duration.ps();
    let from = end - end / 4;
    for (number, flow) in result.flows.iter().enumerate() {
        let own = || result.progress.iter().filter(move |sample| sample.flow as usize == number);
        let last_until = |at: u64| own().rfind(|sample| sample.at.ps() <= at);
        let before = last_until(from);
        let Some(last) = last_until(end) else { continue };
        let (start, bytes) = before.map_or((from, 0), |sample| (sample.at.ps(), sample.bytes));
        let seconds = (end.saturating_sub(start)) as f64 / 1e12;
        let rate = last.bytes.saturating_sub(bytes) as f64 * 8.0 / 1e6 / seconds.max(1e-9);
        let name = scenario.workloads.get(usize::from(flow.spec.workload)).map_or("", |own| own.name.as_str());
        *rates.entry(format!("{name}.last_mbps")).or_default() += rate;
    }
    rates
}

/// Mean and 99th percentile of completion times, by workload: of queries where there are some, else of flows, in
/// microseconds.
pub fn workload_times(scenario: &Scenario, result: &RunResult) -> BTreeMap<String, f64> {
    let mut numbers = BTreeMap::new();
    for (number, workload) in scenario.workloads.iter().enumerate() {
        let us = |start: forebay_tm::Instant, end: forebay_tm::Instant| end.since(start).ps() as f64 / 1e6;
        let queries = result.queries.iter().filter(|query| usize::from(query.spec.workload) == number);
        let complete = queries.filter(|query| query.end != forebay_tm::Instant::NEVER);
        let mut times: Vec<f64> = complete.map(|query| us(query.spec.start, query.end)).collect();
        if times.is_empty() {
            let own = |flow: &&forebay_sim::flow::FlowRecord| {
                usize::from(flow.spec.workload) == number && flow.is_complete() && flow.spec.query == NONE
            };
            times = result.flows.iter().filter(own).map(|flow| us(flow.spec.start, flow.end)).collect();
        }
        let named = crate::programs::percentiles(times, "_us");
        numbers.extend(named.into_iter().map(|(key, value)| (format!("{}.{key}", workload.name), value)));
    }
    numbers
}

fn difference(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    after.iter().map(|(name, value)| (name.clone(), value - before.get(name).copied().unwrap_or(0))).collect()
}

fn parse(text: &str) -> Result<Snapshot> {
    serde_json::from_str(text).map_err(|error| {
        error::problem(format_args!("the switch's counters are not as they should be: {error}"), "see counters.json")
    })
}

/// Looks at the switch again and again, in a thread.
struct Watch {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

impl Watch {
    fn start(mut control: Client, origin: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut samples: Vec<Sample> = Vec::new();
            let mut next = origin;
            while !seen.load(Ordering::Acquire) {
                clock::sleep_until(next);
                next += LOOK;
                let Ok(snapshot) = control.snapshot() else { break };
                let is_new = samples.last().is_none_or(|last| last.snapshot.sequence != snapshot.sequence);
                if is_new {
                    samples.push(Sample { at: clock::now().saturating_sub(origin), snapshot });
                }
            }
            samples
        });
        Self { over, thread }
    }

    fn stop(self) -> Vec<Sample> {
        self.over.store(true, Ordering::Release);
        self.thread.join().unwrap_or_default()
    }
}
