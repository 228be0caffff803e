//! Trials: a configuration, imported, with packets sent through both sides of the core.

use crate::goal::Goal;
use forebay_settings::{IngressFile, SwitchFile};
use forebay_sonic::SonicError;
use forebay_sonic::chip::Chip;
use forebay_sonic::config::Config;
use forebay_sonic::device::Device;
use forebay_sonic::import::import;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::{
    Bytes, Departure, Duration, Eviction, Instant, Mmu, MmuConfig, Packet, PacketId, PauseRequest, Rate, Reason,
    Verdict, View as _,
};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The size of packets, if the MTU allows it.
const PACKET: u64 = 1_500;

/// No trial takes more packets.
pub(super) const MOST_PACKETS: u64 = 20_000_000;

/// What a trial has shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// Whether the goal was met.
    pub met: bool,
    /// What was measured, in words.
    pub words: String,
    /// How far the goal was met: more is better, 1 is met.
    pub degree: f64,
    /// Bytes that a congested queue of the others held, or the goodput of its class in bytes a second, where there were
    /// any.
    pub others: Option<u64>,
    /// What was counted over seeds, where a network was simulated.
    pub spread: Option<Spread>,
}

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95% confidence interval.
    pub half: Option<f64>,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.mean)?;
        self.half.map_or(Ok(()), |half| write!(f, "±{half:.1}"))
    }
}

/// A configuration on its chip, imported.
pub(super) struct Trial {
    pub(super) switch: MmuConfig,
    pub(super) of_queue: Vec<u8>,
    /// Ports of one partition.
    ports: usize,
    pub(super) packet: u32,
    /// The ports that are up.
    pub(super) names: Vec<String>,
}

/// What becomes of the packets that a goal is about.
#[derive(Default)]
pub(super) struct Watch {
    /// Packets with ids from this on are looked at.
    pub(super) from: u64,
    /// Of so many queues of a port this one alone is looked at, and requests of this PG.
    pub(super) only: Option<(usize, u8, u8)>,
    pub(super) offered: u64,
    pub(super) lost: u64,
    /// Bytes of other queues that were not lost.
    pub(super) others: u64,
    pub(super) why: Option<Reason>,
    pub(super) marked: u64,
    pub(super) paused: Option<PauseRequest>,
    /// What was offered before the first request.
    pub(super) before_pause: u64,
}

impl Watch {
    /// What became of the packets, in words.
    pub(super) fn fate(&self) -> String {
        let why = self
            .why
            .map_or(String::new(), |reason| format!(", first by {} ({})", reason.as_str(), reason.side().as_str()));
        match self.lost {
            0 => format!("all of {} arrived", Bytes::new(self.offered)),
            lost => format!("{} of {} lost{why}", Bytes::new(lost), Bytes::new(self.offered)),
        }
    }
}

impl Observer for Watch {
    fn arrived(&mut self, _: Instant, packet: &Packet, verdict: Verdict) {
        if self.only.is_some_and(|(_, queue, _)| packet.queue != u32::from(queue)) {
            let is_lost = !matches!(verdict, Verdict::Queued { .. });
            self.others += if is_lost { 0 } else { u64::from(packet.bytes) };
            return;
        }
        if packet.id.0 < self.from {
            return;
        }
        self.offered += u64::from(packet.bytes);
        match verdict {
            Verdict::Queued { marked } => self.marked += u64::from(marked),
            Verdict::Trimmed { reason } | Verdict::Returned { reason } | Verdict::Dropped { reason } => {
                self.lost += u64::from(packet.bytes);
                self.why.get_or_insert(reason);
            }
        }
    }

    fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}

    fn evicted(&mut self, eviction: Eviction) {
        if self.only.is_some_and(|(queues, queue, _)| eviction.queue % queues != usize::from(queue)) {
            self.others -= u64::from(eviction.bytes);
            return;
        }
        if eviction.id.0 >= self.from {
            self.lost += u64::from(eviction.bytes);
            self.why.get_or_insert(eviction.reason);
        }
    }

    fn requested(&mut self, request: PauseRequest) {
        if self.only.is_none_or(|(_, _, group)| request.group == group) && self.paused.is_none() {
            self.paused = Some(request);
            self.before_pause = self.offered;
        }
    }
}

impl Trial {
    /// Reads and imports a configuration.
    pub(super) fn new(file: &str, config: &Value, chip: Option<&str>) -> Result<Self, SonicError> {
        let config = Config::parse(file, &config.to_string())?;
        let chip: &Chip = config.chip(chip)?;
        let imported = import(&Device::new(&config, chip), file)?;
        let wrong = |problem: String| SonicError::new(file, problem, "report this: an import must be readable");
        let switch = SwitchFile::parse("switch.toml", &imported.toml).map_err(|error| wrong(error.to_string()))?;
        let (switch, ingress) = switch.sides().map_err(|error| wrong(error.to_string()))?;
        let Some(IngressFile { config: ingress, of_queue }) = ingress else {
            return Err(SonicError::new(file, "no PG has a profile", "bind profiles in BUFFER_PG"));
        };
        let first = ingress.ports[0].partition;
        let ports = ingress.ports.iter().take_while(|port| port.partition == first).count();
        let packet = config.ports.iter().filter(|port| port.is_up).map(|port| port.mtu).min().unwrap_or(PACKET);
        let packet = packet.clamp(64, PACKET) as u32;
        let names = config.ports.iter().filter(|port| port.is_up).map(|port| port.name.clone()).collect();
        Ok(Self { switch: MmuConfig { switch: switch.into_inner(), ingress }, of_queue, ports, packet, names })
    }

    /// The same with another policy on the egress side, over the shared part of the queue's pool.
    pub(super) fn with_policy(&self, policy: PolicyConfig, queue: u8) -> Option<Self> {
        let PolicyConfig::Pools(pools) = &self.switch.switch.policy else { return None };
        let buffer = *pools.pools.values().get(pools.pool.at(usize::from(queue)))?;
        let mut switch = self.switch.clone();
        (switch.switch.policy, switch.switch.buffer) = (policy, buffer);
        let (of_queue, names) = (self.of_queue.clone(), self.names.clone());
        Some(Self { switch, of_queue, names, ..*self })
    }

    /// The factors of all queue numbers, as far as they have one.
    pub(super) fn alphas(&self) -> Option<forebay_tm::PerQueue<f64>> {
        let PolicyConfig::Pools(pools) = &self.switch.switch.policy else { return None };
        Some(pools.alpha.clone())
    }

    /// The rate of the first port.
    pub(super) fn rate(&self) -> Rate {
        self.switch.switch.rates[0]
    }

    /// Whether a packet of a queue is charged to a lossless PG.
    pub(super) fn is_lossless(&self, queue: u8) -> bool {
        let group = self.of_queue.get(usize::from(queue)).copied().unwrap_or(0);
        let groups = &self.switch.ingress.groups;
        groups.iter().any(|of| of.port == 0 && of.number == group && of.lossless.is_some())
    }

    /// Tries a goal.
    pub(super) fn run(&self, goal: &Goal) -> Result<Shown, SonicError> {
        let queues = self.switch.switch.queues;
        if usize::from(goal.queue()) >= queues {
            let problem = format!("there is no queue {}", goal.queue());
            return Err(SonicError::new(goal.words(), problem, format!("ports have queues 0 to {}", queues - 1)));
        }
        match goal {
            Goal::Burst { queue, senders, bytes, congested, with } => {
                self.burst(goal, *queue, (*senders, *bytes), (*congested, *with))
            }
            Goal::Isolate { queue, from, minimum } => self.isolate(goal, *queue, *from, *minimum),
            Goal::Latency { queue, below } => self.latency(*queue, *below),
            Goal::Marks { queue } => self.marks(*queue),
            Goal::Measured { queue, traffic } => self.measured(goal, *queue, traffic),
            Goal::NoPause { .. } | Goal::Lossless { .. } | Goal::Scenario { .. } => {
                unreachable!("these are tried in a network")
            }
        }
    }

    pub(super) fn start(&self) -> Result<Driver<Mmu>, SonicError> {
        let mmu = Mmu::new(self.switch.clone());
        let wrong = |error: forebay_tm::ConfigError| {
            SonicError::new(format!("{} = {}", error.field, error.value), error.problem, error.remedy)
        };
        Ok(Driver::new(mmu.map_err(wrong)?))
    }

    pub(super) fn packet(&self, id: u64, in_port: usize, port: usize, queue: u8) -> Packet {
        let group = self.of_queue.get(usize::from(queue)).copied().unwrap_or(0);
        let (in_port, port) = ((in_port % self.ports) as u32, port as u32);
        let queue = u32::from(queue);
        Packet { id: PacketId(id), bytes: self.packet, port, queue, in_port, group, ect: true, ..Packet::default() }
    }

    fn needs_ports(&self, goal: &Goal, ports: usize) -> Result<(), SonicError> {
        if ports <= self.ports {
            return Ok(());
        }
        let problem = format!("that takes {ports} ports, and a partition has {} that are up", self.ports);
        Err(SonicError::new(goal.words(), problem, "ask for fewer congested ports"))
    }

    /// Each of these ports gets packets of a queue at twice its rate until it has lost some, or for long enough.
    /// Returns the next id.
    fn congest(&self, driver: &mut Driver<Mmu>, ports: std::ops::Range<usize>, queue: u8) -> Result<u64, SonicError> {
        let (mut id, mut watch) = (0, Watch::default());
        let gap = self.rate().serialization(u64::from(self.packet)).ps() / 2;
        while watch.lost < ports.len() as u64 * 8 * u64::from(self.packet) && id < MOST_PACKETS {
            for port in ports.clone() {
                // Two senders of their own for each port.
                let packet =
                    self.packet(id, ports.end + 2 * port + (id / ports.len() as u64 % 2) as usize, port, queue);
                self.arrive(driver, driver.now(), &packet, &mut watch)?;
                id += 1;
            }
            let next = driver.now() + Duration::from_ps(gap);
            driver.advance(next, &mut watch).map_err(too_late)?;
        }
        Ok(id)
    }

    fn arrive(
        &self,
        driver: &mut Driver<Mmu>,
        now: Instant,
        packet: &Packet,
        watch: &mut Watch,
    ) -> Result<(), SonicError> {
        driver.arrive(now, packet, watch).map(|_| ()).map_err(too_late)
    }

    fn burst(
        &self,
        goal: &Goal,
        queue: u8,
        (senders, bytes): (usize, Bytes),
        (congested, with): (usize, u8),
    ) -> Result<Shown, SonicError> {
        self.needs_ports(goal, congested + 1)?;
        if self.is_lossless(queue) {
            let problem = "packets of this queue are paused, not lost: a burst must not pause";
            return Err(SonicError::new(goal.words(), problem, "ask for kind = \"no-pause\""));
        }
        let mut driver = self.start()?;
        let first = if congested > 0 { self.congest(&mut driver, 1..congested + 1, with)? } else { 0 };
        let held = |port: usize| {
            let tm = driver.tm().egress();
            tm.queue_bytes(tm.queue_index(port, usize::from(with))).get()
        };
        let others = (congested > 0).then(|| (1..=congested).map(held).sum::<u64>() / congested as u64);
        let mut watch = Watch { from: first, ..Watch::default() };
        let packets = bytes.get().div_ceil(u64::from(self.packet));
        let gap = self.rate().serialization(u64::from(self.packet)).ps();
        let (mut id, mut quiet) = (first, Watch { from: u64::MAX, ..Watch::default() });
        // The others go on at twice their rate: their packets have ids that are not looked at.
        let mut other = 1 << 40;
        watch.from = first;
        for number in 0..packets {
            let now = driver.now();
            for sender in 0..senders {
                let packet = self.packet(id, 1 + congested + sender, 0, queue);
                self.arrive(&mut driver, now, &packet, &mut watch)?;
                id += 1;
            }
            for port in 1..=congested {
                for second in 0..2 {
                    let packet = self.packet(other, 1 + congested + 2 * port + second, port, with);
                    self.arrive(&mut driver, now, &packet, &mut quiet)?;
                    other += 1;
                }
            }
            if number + 1 < packets {
                driver.advance(now + Duration::from_ps(gap), &mut quiet).map_err(too_late)?;
            }
        }
        let (offered, lost, words) = (watch.offered, watch.lost, watch.fate());
        Ok(Shown { met: lost == 0, words, degree: 1.0 - lost as f64 / offered.max(1) as f64, others, spread: None })
    }

    fn isolate(&self, goal: &Goal, queue: u8, from: u8, minimum: Bytes) -> Result<Shown, SonicError> {
        self.needs_ports(goal, 2)?;
        if usize::from(from) >= self.switch.switch.queues {
            let remedy = format!("ports have queues 0 to {}", self.switch.switch.queues - 1);
            return Err(SonicError::new(goal.words(), format!("there is no queue {from}"), remedy));
        }
        let mut driver = self.start()?;
        // All ports but one, as far as a trial can have them.
        let others = (self.ports - 1).min(64);
        let first = self.congest(&mut driver, 1..others + 1, from)?;
        let (now, mut watch) = (driver.now(), Watch { from: first, ..Watch::default() });
        let mut id = first;
        while watch.lost == 0 && watch.offered < 4 * minimum.get().max(1) {
            let packet = self.packet(id, id as usize, 0, queue);
            // Nothing leaves meanwhile: the wire of the port is busy after the first packet.
            self.arrive(&mut driver, now, &packet, &mut watch)?;
            id += 1;
        }
        let has = watch.offered - watch.lost;
        let words = format!("it has {} when {others} ports hold what queue {from} can have", Bytes::new(has));
        Ok(Shown {
            met: has >= minimum.get(),
            words,
            degree: has as f64 / minimum.get().max(1) as f64,
            others: None,
            spread: None,
        })
    }

    fn latency(&self, queue: u8, below: Duration) -> Result<Shown, SonicError> {
        let mut driver = self.start()?;
        self.congest(&mut driver, 0..1, queue)?;
        let tm = driver.tm().egress();
        let peak = tm.queue_counters(tm.queue_index(0, usize::from(queue))).peak;
        let wait = self.rate().serialization(peak.get());
        let words = format!("{peak} wait at most: {wait}");
        let degree = below.ps() as f64 / wait.ps().max(1) as f64;
        Ok(Shown { met: wait <= below, words, degree: degree.min(1.0), others: Some(peak.get()), spread: None })
    }

    fn marks(&self, queue: u8) -> Result<Shown, SonicError> {
        let mut driver = self.start()?;
        let mut watch = Watch::default();
        let mut id = 0;
        while watch.lost == 0 && watch.paused.is_none() && id < MOST_PACKETS {
            let packet = self.packet(id, 1, 0, queue);
            self.arrive(&mut driver, Instant::ZERO, &packet, &mut watch)?;
            id += 1;
        }
        let end = match (watch.paused, watch.why) {
            (Some(_), _) => "the pause",
            (None, Some(_)) => "the first drop",
            (None, None) => "the end",
        };
        let share = watch.marked as f64 / id.max(1) as f64;
        let words = format!("{} of {id} packets marked before {end} ({:.2}%)", watch.marked, 100.0 * share);
        Ok(Shown {
            met: watch.marked > 0,
            words,
            degree: if watch.marked > 0 { 1.0 } else { 0.0 },
            others: None,
            spread: None,
        })
    }
}

pub(super) fn too_late(error: forebay_tm::drive::EndOfTime) -> SonicError {
    SonicError::new("the trial", error.to_string(), "ask for a smaller burst")
}
