//! A scenario as it was resolved: with what arguments changed, and with every default written out.

use super::read::{read, with_document};
use super::read_program::NOTIFY;
use super::switches::{BufferSize, Part, SwitchSettings};
use super::{
    ChipKind, ChipSetup, FifoLimit, Handoff, MeasureSetup, MirrorSetup, NicSetup, PathChoice, Scenario, read_transport,
};
use forebay_pisa::programs::{Notify, ProgramConfig};
use forebay_settings::{Diagnostic, quoted, write_switch_tables};
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
        out.head("[topology]").0.push_str(&topology.to_toml());
        out.routing(&scenario);
        for (part, settings) in switches.parts() {
            out.switch(part, settings);
        }
        out.nic(&scenario.nic);
        for (name, config) in &scenario.transports {
            out.head(&format!("[transport.{}]", quoted(name))).0.push_str(&read_transport::lines(config));
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

    fn top(&mut self, scenario: &Scenario) {
        self.word("name", &scenario.name).bare("seed", scenario.seed);
        self.word("duration", scenario.duration).word("drain", scenario.drain);
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
