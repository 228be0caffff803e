//! A scenario as it was resolved: with what arguments changed, and with every default written out.

use super::read::{read, with_document};
use super::read_program::NOTIFY;
use super::read_transport::Flavour;
use super::switches::{BufferSize, Part, SwitchSettings};
use super::{ChipKind, ChipSetup, FifoLimit, Handoff, MeasureSetup, MirrorSetup, NicSetup, PathChoice, Scenario};
use crate::topology::{Graph, Topology, Wire};
use crate::transport::cubic::SlowStartExit;
use crate::transport::linux::{LinuxConfig, LossDetection, RateReduction};
use crate::transport::pfabric::RankBy;
use crate::transport::udp::{Arrivals, Spread, UdpConfig};
use crate::transport::{InitialWindow, Recovery, TransportConfig, TransportKind};
use forebay_pisa::programs::{Notify, ProgramConfig, TableEntry};
use forebay_settings::{Diagnostic, quoted, setting_text, write_switch_tables};
use forebay_tm::{Bytes, Duration};
use std::fmt::Display;

/// A scenario file, changed by arguments as [`Scenario::read`] does, as a file that needs no arguments and reads back to the same
/// scenario.
///
/// Workloads and failures are written as they were given, not with their defaults.
pub fn describe(file: &str, text: &str, sets: &[(String, String)]) -> Result<String, Diagnostic> {
    with_document(file, text, sets, |root| {
        let (scenario, topology, switches) = read(file, root)?;
        let mut out = Writer::default();
        out.top(&scenario);
        out.topology(&topology);
        out.routing(&scenario);
        for (part, settings) in switches.parts() {
            out.switch(part, settings);
        }
        out.nic(&scenario.nic);
        for (name, config) in &scenario.transports {
            out.transport(name, config);
        }
        for (key, tables) in [("workload", root.tables("workload")?), ("failure", root.tables("failure")?)] {
            for table in tables {
                out.head(&format!("[[{key}]]")).0.push_str(&table.to_toml());
            }
        }
        out.measure(&scenario.measure, &scenario);
        Ok(out.0)
    })
}

/// TOML in the making.
#[derive(Default)]
struct Writer(String);

impl Writer {
    fn head(&mut self, head: &str) -> &mut Self {
        self.0.push_str(&format!("\n{head}\n"));
        self
    }

    /// A number, a list or a boolean.
    fn bare(&mut self, key: &str, value: impl Display) -> &mut Self {
        self.0.push_str(&format!("{key} = {value}\n"));
        self
    }

    /// A word, a value with a unit, or any text.
    fn word(&mut self, key: &str, value: impl Display) -> &mut Self {
        self.0.push_str(&format!("{key} = {}\n", quoted(&value.to_string())));
        self
    }

    /// A number with a fraction, so that it reads back as the same.
    fn real(&mut self, key: &str, value: f64) -> &mut Self {
        self.0.push_str(&format!("{key} = {value:?}\n"));
        self
    }

    fn top(&mut self, scenario: &Scenario) {
        self.word("name", &scenario.name).bare("seed", scenario.seed);
        self.word("duration", scenario.duration).word("drain", scenario.drain);
    }

    fn wire(&mut self, prefix: &str, wire: Wire) -> &mut Self {
        self.word(&format!("{prefix}rate"), wire.rate).word(&format!("{prefix}delay"), wire.delay)
    }

    fn topology(&mut self, topology: &Topology) {
        self.head("[topology]");
        match topology {
            Topology::Single(config) => {
                self.word("kind", "single").bare("hosts", config.hosts).wire("", config.wire);
            }
            Topology::Dumbbell(config) => {
                self.word("kind", "dumbbell").bare("left", config.left).bare("right", config.right);
                self.wire("", config.edge).wire("bottleneck_", config.bottleneck);
            }
            Topology::LeafSpine(config) => {
                self.word("kind", "leaf-spine").bare("leaves", config.leaves).bare("spines", config.spines);
                self.bare("hosts_per_leaf", config.hosts_per_leaf).bare("parallel", config.parallel);
                self.wire("host_", config.host).wire("uplink_", config.uplink);
            }
            Topology::FatTree(config) => {
                self.word("kind", "fat-tree").bare("k", config.k).bare("oversubscription", config.oversubscription);
                self.wire("host_", config.host).wire("aggregation_", config.aggregation).wire("core_", config.core);
            }
            Topology::Graph(config) => self.graph(config),
        }
    }

    fn graph(&mut self, graph: &Graph) {
        self.word("kind", "graph");
        for switch in &graph.switches {
            self.head("[[topology.switch]]").word("name", &switch.name).word("tier", &switch.tier);
        }
        for name in &graph.named_hosts {
            self.head("[[topology.host]]").word("name", name);
        }
        for hosts in &graph.hosts {
            self.head("[[topology.hosts]]").word("switch", &hosts.switch).bare("count", hosts.count);
            self.wire("", hosts.wire);
        }
        for link in &graph.links {
            self.head("[[topology.link]]").word("from", &link.from).word("to", &link.to);
            self.wire("", link.wire).bare("count", link.count);
        }
    }

    fn routing(&mut self, scenario: &Scenario) {
        let kind = match scenario.paths {
            PathChoice::Ecmp => "ecmp",
            PathChoice::SprayRandom => "spray-random",
            PathChoice::SprayRoundRobin => "spray-round-robin",
        };
        self.head("[routing]").word("kind", kind).word("reroute", scenario.reroute);
    }

    fn switch(&mut self, part: Part<'_>, settings: &SwitchSettings) {
        let (head, prefix) = match part {
            Part::All => ("switch".to_owned(), String::new()),
            Part::Tier(name) => (format!("tier.{}", quoted(name)), format!("tier.{}.", quoted(name))),
            Part::Switch(name) => (format!("switches.{}", quoted(name)), format!("switches.{}.", quoted(name))),
            Part::Nic => ("nic".to_owned(), "nic.".to_owned()),
        };
        self.head(&format!("[{head}]"));
        if let Part::Nic = part {
            self.word("kind", "managed");
        }
        if let Some(chip) = &settings.chip {
            self.word("kind", chip.as_ref().map_or("plain", |chip| chip.kind.as_str()));
            if let Some(chip) = chip {
                self.word("program", chip.program.name());
            }
        }
        match settings.buffer {
            Some(BufferSize::Whole(bytes)) => self.word("buffer", bytes),
            Some(BufferSize::PerPortPerGbps(bytes)) => self.word("buffer_per_port_per_gbps", bytes),
            None => &mut *self,
        };
        for (key, value) in [
            ("ports_per_buffer", settings.ports_per_buffer),
            ("queues", settings.queues),
            ("queue_capacity", settings.queue_capacity),
        ] {
            if let Some(value) = value {
                self.bare(key, value);
            }
        }
        if let Some(cell) = settings.cell {
            self.word("cell", cell);
        }
        if let Some(cell_pointers) = settings.cell_pointers {
            self.bare("cell_pointers", cell_pointers);
        }
        write_switch_tables(&prefix, &settings.tables, &mut self.0);
        if let Some(mirror) = &settings.mirror {
            self.head(&format!("[{prefix}mirror]"));
            self.mirror(mirror.as_ref());
        }
        if let Some(Some(chip)) = &settings.chip {
            self.chip(&prefix, chip);
        }
    }

    /// `[nic]`; what is managed is written with the switches.
    fn nic(&mut self, nic: &NicSetup) {
        match nic {
            NicSetup::Managed(_) => {}
            NicSetup::Unlimited => {
                self.head("[nic]").word("kind", "unlimited");
            }
            NicSetup::Fifo(limit, handoff) => {
                self.head("[nic]").word("kind", "fifo");
                match limit {
                    FifoLimit::Packets(packets) => self.bare("limit", packets),
                    FifoLimit::Bytes(bytes) => self.word("limit_bytes", bytes),
                };
                self.handoff(handoff);
            }
            NicSetup::Fq(fq, handoff) => {
                self.head("[nic]").word("kind", "fq").bare("quantum", fq.quantum);
                self.bare("initial_quantum", fq.initial_quantum).bare("flow_limit", fq.flow_limit);
                self.bare("limit", fq.limit).word("refill_delay", fq.refill_delay).handoff(handoff);
            }
        }
    }

    fn handoff(&mut self, handoff: &Handoff) {
        self.word("bql", handoff.bql);
        match handoff.small_queue {
            Some(span) => self.word("small_queue", span),
            None => self.word("small_queue", "off"),
        };
    }

    fn chip(&mut self, prefix: &str, chip: &ChipSetup) {
        self.head(&format!("[{prefix}chip]")).bare("ports_per_pipeline", chip.ports_per_pipeline);
        self.word("recirculation_rate", chip.recirculation.rate);
        self.bare("recirculation_capacity", chip.recirculation.capacity).word("latency", chip.latency);
        self.bare("deflect", chip.deflect).word("deflection_rate", chip.deflection.rate);
        self.bare("deflection_capacity", chip.deflection.capacity).word("header", chip.header);
        self.bare("header_class", chip.header_class).word("egress_rate", chip.egress_rate);
        if chip.kind == ChipKind::Tofino2 {
            self.word("depth_delay", chip.depth_delay);
        }
        self.bare("witness", chip.witness).bare("keep_controls", chip.keep_controls);
        let mut options = Self::default();
        options.program(&chip.program);
        if !options.0.is_empty() {
            self.head(&format!("[{prefix}chip.options]"));
            self.0.push_str(&options.0);
        }
    }

    fn program(&mut self, program: &ProgramConfig) {
        let ns = |ns: u64| Duration::from_ps(1_000 * ns);
        match program {
            ProgramConfig::Trim(it) => {
                self.word("pessimistic", ns(it.pessimistic)).word("half", ns(it.half));
                if let Some(share) = it.share {
                    self.bare("share", share as f64 / 1_000.0);
                }
                self.notify(it.notify).word("burst", Bytes::new(it.burst));
            }
            ProgramConfig::TrimN(it) => {
                self.bare("packets", it.packets).notify(if it.all { Notify::All } else { Notify::One });
                self.word("burst", Bytes::new(it.burst));
            }
            ProgramConfig::TrimDepth(it) => {
                self.word("limit", Bytes::new(it.limit));
            }
            ProgramConfig::Fb(it) => {
                self.bare("alpha", format!("{:?}", it.alpha));
                if !it.groups.is_empty() {
                    self.bare("groups", format!("{:?}", it.group_lists(it.groups.len())));
                }
                self.word("interval", ns(it.interval)).word("congested", Bytes::new(it.congested));
                self.bare("single", it.single);
            }
            ProgramConfig::Aifo(it) => {
                self.bare("capacity", it.capacity).word("packet", Bytes::new(it.packet));
                self.bare("headroom", it.headroom).bare("sample", it.sample).bare("workers", it.workers);
            }
            ProgramConfig::Occamy(it) => {
                self.bare("alpha", it.alpha).bare("expel", it.expel).bare("syncs", it.syncs);
            }
            ProgramConfig::File(it) => {
                let constants = it.constants.iter().map(|(name, value)| format!("{name} = {value}"));
                self.bare("constants", format!("{{ {} }}", constants.collect::<Vec<_>>().join(", ")));
                let entry = |entry: &TableEntry| {
                    format!(
                        "{{ table = {}, key = {:?}, result = {:?} }}",
                        quoted(&entry.table),
                        entry.key,
                        entry.result
                    )
                };
                self.bare("entries", format!("[{}]", it.entries.iter().map(entry).collect::<Vec<_>>().join(", ")));
            }
            ProgramConfig::Deflect(_) | ProgramConfig::SpPifo(_) => {}
        }
    }

    fn notify(&mut self, notify: Notify) -> &mut Self {
        let word = NOTIFY.iter().find(|(_, known)| *known == notify).map_or("all", |(word, _)| word);
        self.word("notify", word)
    }

    fn mirror(&mut self, mirror: Option<&MirrorSetup>) {
        let Some(mirror) = mirror else {
            self.word("kind", "none");
            return;
        };
        self.word("kind", "generic").word("size", mirror.size).word("rate", mirror.rate);
        self.bare("capacity", mirror.capacity).word("delay", mirror.delay).bare("class", mirror.class);
        if mirror.ports_per_pipeline < usize::MAX {
            self.bare("ports_per_pipeline", mirror.ports_per_pipeline);
        }
    }

    fn transport(&mut self, name: &str, config: &TransportConfig) {
        let kind = config.kind.name();
        self.head(&format!("[transport.{}]", quoted(name))).word("kind", kind);
        let mut common = Self::default();
        let it = &config.common;
        common
            .word("stack", it.stack.name())
            .bare("mss", it.mss)
            .bare("header", it.header)
            .bare("ack_bytes", it.ack_bytes);
        match it.initial_window {
            InitialWindow::Packets(packets) => common.bare("initial_window", packets),
            InitialWindow::Bdp => common.word("initial_window", "bdp"),
            InitialWindow::Flow => common.word("initial_window", "flow"),
        };
        for (key, value) in [("max_window", it.max_window), ("initial_ssthresh", it.initial_ssthresh)] {
            if let Some(value) = value {
                common.bare(key, value);
            }
        }
        common.word("rto_min", it.rto_min).word("rto_initial", it.rto_initial).word("rto_max", it.rto_max);
        common.bare("ack_every", it.ack_every);
        if it.ack_every > 1 {
            common.word("ack_delay", it.ack_delay);
        }
        common.bare("ecn", it.ecn);
        if let Some(class) = it.ack_class {
            common.bare("ack_class", class);
        }
        if let Some(bytes) = it.unscheduled {
            common.word("unscheduled", bytes);
        }
        if let Some(rank) = it.fixed_rank {
            common.bare("fixed_rank", rank);
        }
        let recovery = if it.recovery == Recovery::Sack { "sack" } else { "newreno" };
        common.bare("handshake", it.handshake).word("recovery", recovery);
        if let Some(bytes) = it.receive_window {
            common.word("receive_window", bytes);
        }
        common.linux(&it.linux);
        common.own(&config.kind);
        // Only what means something to the kind.
        let flavour = Flavour { kind, stack: it.stack };
        let known = |line: &&str| line.split(' ').next().is_some_and(|key| flavour.knows(key));
        for line in common.0.lines().filter(known) {
            self.0.push_str(&format!("{line}\n"));
        }
    }

    /// The parts of Linux's TCP.
    fn linux(&mut self, linux: &LinuxConfig) {
        let name = |names: &[(&'static str, bool)]| names.iter().find(|(_, this)| *this).map_or("", |(name, _)| name);
        let detection = LossDetection::NAMES.map(|(name, value)| (name, value == linux.loss_detection));
        let reduction = RateReduction::NAMES.map(|(name, value)| (name, value == linux.rate_reduction));
        self.word("loss_detection", name(&detection)).bare("tail_loss_probe", linux.tail_loss_probe);
        self.word("rate_reduction", name(&reduction)).bare("frto", linux.frto).bare("undo", linux.undo);
        self.bare("pacing", linux.pacing).bare("idle_restart", linux.idle_restart);
        self.word("connections", if linux.keep_connections { "kept" } else { "new" });
        match linux.segmentation_offload {
            Some(bytes) => self.word("segmentation_offload", bytes),
            None => self.word("segmentation_offload", "off"),
        };
        self.bare("receive_offload", linux.receive_offload).word("timer_tick", linux.timer_tick);
        self.bare("quick_acks", linux.quick_acks).bare("sack_compression", linux.sack_compression);
        self.word("receive_window_max", linux.receive_window_max);
    }

    /// A transport's own settings.
    fn own(&mut self, kind: &TransportKind) {
        match kind {
            TransportKind::Cubic(own) => {
                self.real("c", own.c).real("beta", own.beta);
                match own.hystart {
                    SlowStartExit::Congestion => self.bare("hystart", false),
                    SlowStartExit::HyStart => self.bare("hystart", true),
                    SlowStartExit::HyStartPlusPlus => self.word("hystart", "++"),
                };
                self.bare("fast_convergence", own.fast_convergence);
                if own.hystart != SlowStartExit::Congestion {
                    self.word("hystart_delay_min", own.hystart_delay_min);
                }
                self.bare("reno_friendly", own.reno_friendly);
                if let Some(probe) = own.probe {
                    self.bare("probe", probe);
                }
            }
            TransportKind::Dctcp(own) => {
                self.real("gain", own.gain).real("initial_alpha", own.initial_alpha);
                self.bare("cut_per_ack", own.cut_per_ack);
            }
            TransportKind::Timely(own) => {
                self.real("alpha", own.alpha).real("beta", own.beta);
                self.word("t_low", own.t_low).word("t_high", own.t_high);
                self.word("additive", own.additive).bare("hyper_after", own.hyper_after);
                self.word("min_rate", own.min_rate);
            }
            TransportKind::PowerTcp(own) => {
                self.real("gamma", own.gamma).word("additive", own.additive);
            }
            TransportKind::ThetaPowerTcp(own) => {
                self.real("gamma", own.gamma).word("additive", own.additive);
            }
            TransportKind::PFabric(own) => {
                match own.rto {
                    Some(rto) => self.word("rto", rto),
                    None => self.real("rto_rtts", own.rto_rtts),
                };
                let rank = match own.rank {
                    RankBy::Remaining => "remaining",
                    RankBy::FromSequence => "from-sequence",
                };
                self.bare("probe_after", own.probe_after).word("rank", rank);
            }
            TransportKind::Udp(own) => self.udp(own),
            TransportKind::Custom(custom) => {
                for (number, field) in custom.settings().fields().iter().enumerate() {
                    if let Some(text) = setting_text(&custom.settings().get(number)) {
                        self.bare(field.key, text);
                    }
                }
            }
            TransportKind::Reno(_) | TransportKind::Ndp(_) => {}
        }
    }

    fn udp(&mut self, own: &UdpConfig) {
        let spread = |spread| match spread {
            Spread::Constant => "constant",
            Spread::Exponential => "exponential",
        };
        if let Some(rate) = own.rate {
            self.word("rate", rate);
        }
        let arrivals = match own.arrivals {
            Arrivals::Constant => "constant",
            Arrivals::Poisson => "poisson",
        };
        self.word("arrivals", arrivals).word("sizes", spread(own.sizes));
        if own.sizes == Spread::Exponential {
            self.bare("max_payload", own.max_payload);
        }
        if let (Some(on), Some(off)) = (own.on, own.off) {
            self.word("on", on).word("off", off).word("on_off", spread(own.on_off));
        }
    }

    fn measure(&mut self, measure: &MeasureSetup, scenario: &Scenario) {
        let plan = &scenario.network;
        self.head("[measure]").word("from", measure.from).word("sample", measure.sample);
        self.bare("breakdown", measure.breakdown).bare("drops_limit", measure.drops_limit);
        let of_switches = [
            ("timeline", &measure.timeline),
            ("queues", &measure.queues),
            ("drops", &measure.drops),
            ("trace_switches", &measure.trace_switches),
        ];
        for (key, switches) in of_switches {
            let names = switches.iter().map(|switch| quoted(&plan.switches[*switch].name));
            self.some_of(key, &names.collect::<Vec<_>>(), plan.switches.len());
        }
        let names = measure.progress.iter().map(|workload| quoted(&scenario.workloads[*workload].name));
        self.some_of("progress", &names.collect::<Vec<_>>(), scenario.workloads.len());
        self.bare("trace_flows", format!("{:?}", measure.trace_flows));
    }

    /// A list of names, or `"all"` if they are all there are.
    fn some_of(&mut self, key: &str, names: &[String], of: usize) {
        if names.len() == of {
            self.word(key, "all");
        } else {
            self.bare(key, format!("[{}]", names.join(", ")));
        }
    }
}
