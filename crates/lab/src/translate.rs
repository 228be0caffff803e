//! From a scenario of the simulator to what real hosts and a real switch are to do.

use crate::congestion::{Chosen, Kernel};
use crate::error::{self, Result};
use crate::job::{Job, JobFlow, JobKind, JobSession};
use crate::layout::{Layout, Switch};
use crate::network::HostSettings;
use crate::switch_file::{TOP_RANK, Treatment};
use forebay_sim::flow::{FlowSpec, TrafficPlan};
use forebay_sim::scenario::{Scenario, SwitchSetup};
use forebay_sim::transport::udp::{Arrivals, Spread};
use forebay_sim::transport::{FlowInfo, InitialWindow, TransportConfig, TransportKind};
use forebay_sim::workload::exponential;
use forebay_tm::random::Random;
use forebay_tm::{Instant, Rate, TmConfig};

/// Bytes of a segment that time stamps take from its payload.
const TCP_OPTIONS: u32 = 12;
/// The most requests of a closed-loop client that are drawn beforehand.
const MOST_ASKS: u64 = 200_000;
/// No request is answered faster than this, in nanoseconds.
const FASTEST: u64 = 50_000;

/// A scenario as a lab runs it.
#[derive(Clone, Debug)]
pub struct Translated {
    /// What the traffic managers of the switches do.
    pub configs: Vec<TmConfig>,
    /// What else the switch must know.
    pub treatment: Treatment,
    /// How the hosts' kernels behave.
    pub hosts: HostSettings,
    /// What the hosts do.
    pub job: Job,
    /// The congestion control of each transport, in the order of the scenario.
    pub chosen: Vec<Option<Chosen>>,
}

fn unsupported(what: &str, remedy: &str) -> forebay_settings::Diagnostic {
    error::problem(format_args!("a lab cannot do what the scenario asks for: {what}"), remedy)
}

/// The rate of a host's link.
fn rate_of(scenario: &Scenario, host: u32) -> Rate {
    scenario
        .network
        .cables
        .iter()
        .find(|cable| cable.a == host || cable.b == host)
        .map_or(Rate::default(), |cable| cable.rate)
}

/// The hosts and switches of a scenario: a star, or leaves and spines.
pub fn layout(prefix: &str, scenario: &Scenario) -> Result<Layout> {
    if scenario.switches.iter().any(|switch| switch.buffers.len() != 1) {
        return Err(unsupported("several buffers in a switch", "give it one buffer"));
    }
    if !scenario.changes.is_empty() {
        return Err(unsupported("failures", "remove [[failure]]"));
    }
    if scenario.switches.iter().any(|switch| switch.mirror.is_some()) {
        return Err(unsupported("mirroring on drop", "remove [mirror], or use [trim]"));
    }
    if scenario.network.switches.len() > 1 {
        return Layout::of_network(prefix, &scenario.network);
    }
    let hosts = 0..scenario.network.hosts.len() as u32;
    Layout::star(prefix, &hosts.map(|host| rate_of(scenario, host)).collect::<Vec<_>>())
}

/// Translates a scenario and its plan for a layout of it.
pub fn translate(scenario: &Scenario, plan: &TrafficPlan, layout: &Layout, kernel: &Kernel) -> Result<Translated> {
    let config = |(setup, switch): (&SwitchSetup, &Switch)| {
        let mut config: TmConfig = (*setup.buffers[0]).clone();
        config.rates = switch.ports.iter().map(|port| port.rate).collect();
        config
    };
    let configs: Vec<TmConfig> = scenario.switches.iter().zip(&layout.switches).map(config).collect();
    let chosen =
        scenario.transports.iter().map(|(_, config)| kernel.choose(&config.kind)).collect::<Result<Vec<_>>>()?;
    let rank_by_dscp = scenario.transports.iter().any(|(_, transport)| transport.common.fixed_rank.is_some());
    let classes = 1 + scenario.workloads.iter().map(|own| own.class + own.classes - 1).max().map_or(0, usize::from);
    let acks = scenario.transports.iter().filter_map(|(_, own)| own.common.ack_class);
    let classes = acks.map(|class| usize::from(class) + 1).fold(classes, usize::max);
    if classes > TOP_RANK as usize {
        return Err(unsupported("more classes than code points", "give fewer classes"));
    }
    if rank_by_dscp && configs.iter().any(|config| config.queues > 1) {
        let remedy = "give one queue a port, or remove fixed_rank";
        return Err(unsupported("fixed ranks beside several queues, which need the code points", remedy));
    }
    let hosts = host_settings(scenario, &chosen)?;
    let words = Words { scenario, chosen: &chosen, rank_by_dscp };
    let flows = plan.flows.iter().map(|flow| words.flow(flow)).collect::<Result<Vec<_>>>()?;
    let sessions = (0..plan.sessions.len()).map(|number| words.session(plan, number)).collect::<Result<Vec<_>>>()?;
    let job = Job {
        hosts: layout.hosts.iter().map(|host| host.address).collect(),
        sample: nanoseconds(Instant::ZERO + scenario.measure.sample).max(1_000_000),
        flows,
        triggers: plan.triggers.clone(),
        sessions,
    };
    let treatment = Treatment { classes, rank_by_dscp, overhead: Some(0), ..Treatment::default() };
    Ok(Translated { configs, treatment, hosts, job, chosen })
}

fn host_settings(scenario: &Scenario, chosen: &[Option<Chosen>]) -> Result<HostSettings> {
    let tcp = || scenario.transports.iter().zip(chosen).filter_map(|((_, own), chosen)| Some((own, chosen.as_ref()?)));
    let ecn = tcp().any(|(own, chosen)| own.common.ecn && !chosen.brings_ecn);
    let mut settings = HostSettings { ecn, ..HostSettings::default() };
    if let Some((first, chosen)) = tcp().next() {
        // A route's congestion control is stronger than a connection's own: it is for programs, where all flows have
        // the same.
        let is_only = tcp().all(|(_, other)| other.name == chosen.name);
        settings.congestion_control = is_only.then(|| chosen.name.clone());
        settings.initial_window = match first.common.initial_window {
            InitialWindow::Packets(packets) => Some(packets),
            InitialWindow::Flow => Some(1_000),
            InitialWindow::Bdp => {
                return Err(unsupported(
                    "a first window of the bandwidth-delay product",
                    "give initial_window in packets",
                ));
            }
        };
        settings.rto_min = Some(first.common.rto_min);
        settings.mss = Some(first.common.mss + TCP_OPTIONS);
    }
    Ok(settings)
}

fn nanoseconds(at: Instant) -> u64 {
    at.ps() / 1_000
}

/// What is needed to say what a flow does.
struct Words<'a> {
    scenario: &'a Scenario,
    chosen: &'a [Option<Chosen>],
    rank_by_dscp: bool,
}

impl Words<'_> {
    fn transport(&self, number: u16) -> (&TransportConfig, String) {
        let transport = &self.scenario.transports[usize::from(number)].1;
        let name = self.chosen[usize::from(number)].as_ref().map_or_else(String::new, |chosen| chosen.name.clone());
        (transport, name)
    }

    fn dscp(&self, class: u8, transport: &TransportConfig) -> u8 {
        match transport.common.fixed_rank {
            Some(rank) if self.rank_by_dscp => (TOP_RANK - rank.min(TOP_RANK)) as u8,
            _ => class,
        }
    }

    fn flow(&self, flow: &FlowSpec) -> Result<JobFlow> {
        let (transport, congestion_control) = self.transport(flow.transport);
        let common = &transport.common;
        let dscp = self.dscp(flow.class, transport);
        let kind = match &transport.kind {
            TransportKind::Udp(udp) => {
                let plain = udp.arrivals == Arrivals::Constant && udp.sizes == Spread::Constant && udp.on.is_none();
                if !plain {
                    return Err(unsupported(
                        "UDP that is not at a constant rate",
                        "leave out arrivals, sizes, on and off",
                    ));
                }
                let rate = udp.rate.unwrap_or_else(|| rate_of(self.scenario, flow.src)).bps();
                JobKind::Udp { payload: common.mss, header: common.header, rate, rank: common.fixed_rank.unwrap_or(0) }
            }
            _ => JobKind::Tcp {
                congestion_control,
                ack_dscp: if self.rank_by_dscp { dscp } else { common.ack_class.unwrap_or(dscp) },
                ahead: !common.handshake,
            },
        };
        let end = Instant::ZERO + self.scenario.duration;
        Ok(JobFlow {
            start: nanoseconds(flow.start),
            src: flow.src as usize,
            dst: flow.dst as usize,
            bytes: (flow.bytes != FlowInfo::ENDLESS).then_some(flow.bytes),
            dscp,
            waits: flow.waits_for,
            until: if flow.bytes == FlowInfo::ENDLESS { nanoseconds(flow.until.min(end)) } else { u64::MAX },
            progress: self.scenario.measure.progress.contains(&usize::from(flow.workload)),
            kind,
        })
    }

    /// The requests of a client, with the draws that the simulator makes.
    fn session(&self, plan: &TrafficPlan, number: usize) -> Result<JobSession> {
        let session = &plan.sessions[number];
        let (transport, congestion_control) = self.transport(session.transport);
        if congestion_control.is_empty() {
            return Err(unsupported("clients that ask over UDP", "give the workload a TCP transport"));
        }
        let mut random = Random::stream(self.scenario.seed, "session", number as u64);
        let (start, until) = (nanoseconds(session.start), nanoseconds(session.until));
        let mean = session.think.ps() as f64 / 1e3;
        let (mut at, mut asks) = (start, Vec::new());
        while at < until && (asks.len() as u64) < MOST_ASKS {
            let server = session.server(random.unit()) as usize;
            let bytes = session.response.sample(random.unit());
            let think = if session.think_constant { mean } else { exponential(&mut random, mean) } as u64;
            asks.push((server, bytes, think));
            at += think + FASTEST;
        }
        Ok(JobSession {
            client: session.client as usize,
            start,
            until,
            request: session.request_bytes,
            dscp: self.dscp(session.class, transport),
            congestion_control,
            asks,
        })
    }
}
