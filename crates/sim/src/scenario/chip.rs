//! Switches that are programmable chips: `kind` and `program` of a switch, and the table `[chip]` beside them, with the program's options in `[chip.options]`.

use super::read_program;
use super::read_topology::{delay, rate};
use forebay_pisa::Target;
use forebay_pisa::programs::{AifoProgram, Facts, Image, ProgramConfig, ProgramError};
use forebay_settings::{Diagnostic, Table};
use forebay_tm::admit::{Classes, DynamicThresholdsConfig, FlexibleBufferConfig, OccamyConfig, PolicyConfig};
use forebay_tm::schedule::{AifoConfig, SchedulerConfig, SpPifoConfig};
use forebay_tm::{Bytes, Duration, PerQueue, Rate, Reason, ValidConfig};

/// The kinds of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipKind {
    /// Four pipelines of 16 ports; ingress knows nothing of queues.
    Tofino,
    /// Its successor, whose ingress sees queue lengths.
    Tofino2,
}

impl ChipKind {
    /// What it is called in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tofino => "tofino",
            Self::Tofino2 => "tofino2",
        }
    }

    fn target(self) -> Target {
        match self {
            Self::Tofino => Target::tofino(),
            Self::Tofino2 => Target::tofino2(),
        }
    }
}

/// A port inside the chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideSetup {
    /// Its rate.
    pub rate: Rate,
    /// Packets that may wait in front of it.
    pub capacity: usize,
}

/// A programmable chip.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipSetup {
    /// What it can do.
    pub kind: ChipKind,
    /// What it runs.
    pub program: ProgramConfig,
    /// Ports of a pipeline. Default 16.
    pub ports_per_pipeline: usize,
    /// The port of each pipeline by which control packets come around. Default 100 Gb/s and 1,000 packets.
    pub recirculation: SideSetup,
    /// From the end of a control packet's transmission until it comes in. Default 1 us.
    pub latency: Duration,
    /// Whether packets without room are deflected. Default: if the program trims.
    pub deflect: bool,
    /// The port of each pipeline that they are deflected to. Default 100 Gb/s and 20,000 packets.
    pub deflection: SideSetup,
    /// Bytes of a header, and of a control packet. Default 64.
    pub header: Bytes,
    /// The class, and queue, of headers. Default 0.
    pub header_class: u8,
    /// How fast packets that the egress program drops are read. Default 100 Gb/s.
    pub egress_rate: Rate,
    /// How late ingress sees queue lengths, where it does. Default 20 ns.
    pub depth_delay: Duration,
    /// Whether the ideal runs beside the program. Default: no.
    pub witness: bool,
    /// Whether control packets are kept. Default: no.
    pub keep_controls: bool,
    /// Packet generators that the program needs on this switch.
    pub generators: usize,
}

const KEYS: [&str; 14] = [
    "options",
    "ports_per_pipeline",
    "recirculation_rate",
    "recirculation_capacity",
    "latency",
    "deflect",
    "deflection_rate",
    "deflection_capacity",
    "header",
    "header_class",
    "egress_rate",
    "depth_delay",
    "witness",
    "keep_controls",
];

impl ChipSetup {
    fn new(kind: ChipKind, program: ProgramConfig) -> Self {
        let fast = Rate::from_bps(100_000_000_000);
        Self {
            kind,
            deflect: program.trims(),
            program,
            ports_per_pipeline: 16,
            recirculation: SideSetup { rate: fast, capacity: 1_000 },
            latency: Duration::from_us(1),
            deflection: SideSetup { rate: fast, capacity: 20_000 },
            header: Bytes::new(64),
            header_class: 0,
            egress_rate: fast,
            depth_delay: Duration::from_ps(20_000),
            witness: false,
            keep_controls: false,
            generators: 0,
        }
    }

    /// The pipelines of a switch with so many ports.
    pub fn pipelines(&self, ports: usize) -> usize {
        ports.div_ceil(self.ports_per_pipeline)
    }

    /// Ports and packet generators inside the chip of a switch with so many ports.
    pub(crate) fn inside(&self, ports: usize) -> usize {
        2 * self.pipelines(ports) + self.generators
    }

    /// What the program's control plane knows of a switch with this buffer.
    pub(crate) fn facts(&self, buffer: &ValidConfig) -> Facts {
        let cell = buffer.cell.get().max(1);
        Facts {
            rates: buffer.rates.iter().map(|rate| rate.bps()).collect(),
            queues: buffer.queues,
            cell,
            buffer: buffer.buffer.get() / cell,
            pipelines: self.pipelines(buffer.rates.len()),
        }
    }

    /// The program, ready to run on a switch with this buffer.
    pub fn load(&self, buffer: &ValidConfig) -> Result<Image, ProgramError> {
        let program = self.program.clone().with_header_queue(u64::from(self.header_class));
        program.load(&self.kind.target(), &self.facts(buffer))
    }

    /// The ideal that the program stands for, on a switch with this buffer: what runs beside it as a witness, or instead of it. Programs that trim
    /// have none.
    pub fn ideal(&self, buffer: &ValidConfig) -> Option<ValidConfig> {
        let mut config = buffer.clone().into_inner();
        match &self.program {
            ProgramConfig::Fb(program) => {
                let groups = program.group_lists(buffer.queues);
                config.policy = PolicyConfig::FlexibleBuffer(FlexibleBufferConfig {
                    alpha: PerQueue::Each(program.alphas(buffer.queues)),
                    groups: (!program.single).then_some(groups),
                    classes: if program.single { Classes::Packet } else { Classes::Queue },
                });
            }
            ProgramConfig::Aifo(program) => {
                config.scheduler = SchedulerConfig::Aifo(AifoConfig {
                    capacity: program.capacity as usize,
                    headroom: program.headroom,
                    sample: program.sample,
                    window: AifoProgram::WINDOW,
                });
            }
            ProgramConfig::Occamy(program) => {
                let alpha = PerQueue::All(program.alpha as f64);
                config.policy = if program.expel {
                    PolicyConfig::Occamy(OccamyConfig { alpha, ..OccamyConfig::default() })
                } else {
                    PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, ..Default::default() })
                };
            }
            ProgramConfig::SpPifo(_) => {
                // Its queues are the scheduler's own.
                let (queues, default) = (config.queues, SpPifoConfig::default());
                let capacity = config.queue_capacity.take().unwrap_or(default.capacity);
                config.queues = 1;
                config.scheduler = SchedulerConfig::SpPifo(SpPifoConfig { queues, capacity });
            }
            _ => return None,
        }
        config.validate().ok()
    }

    /// The classes that share the queue of a port, if the program tells packets of one queue apart.
    pub(super) fn packet_classes(&self) -> Option<usize> {
        match &self.program {
            ProgramConfig::Fb(program) if program.single => Some(program.alpha.len()),
            _ => None,
        }
    }

    fn has_ideal(&self) -> bool {
        matches!(self.program, ProgramConfig::Fb(_) | ProgramConfig::Aifo(_))
    }

    /// Why a packet that the ingress program drops counts as dropped.
    pub(crate) fn reason(&self) -> Reason {
        if matches!(self.program, ProgramConfig::Aifo(_)) { Reason::Rank } else { Reason::Threshold }
    }
}

/// Reads what a level says: `keys` has `kind` and `program`, `tables` has `[chip]`. The inner `None` is `kind = "plain"`.
pub(super) fn read(keys: Option<&Table<'_>>, tables: &Table<'_>) -> Result<Option<Option<ChipSetup>>, Diagnostic> {
    const WORDS: [(&str, Option<ChipKind>); 3] =
        [("plain", None), ("tofino", Some(ChipKind::Tofino)), ("tofino2", Some(ChipKind::Tofino2))];
    let kind = keys.and_then(|keys| keys.get("kind")).map(|kind| kind.word(&WORDS)).transpose()?;
    let Some(Some(kind)) = kind else {
        refuse_stray(keys, tables)?;
        return Ok(kind.map(|_| None));
    };
    let name = keys.and_then(|keys| keys.get("program"));
    let Some(name) = name else {
        return Err(keys.unwrap_or(tables).missing("program", "program = \"trim\""));
    };
    let table = tables.table("chip")?;
    let options = table.as_ref().map(|table| table.table("options")).transpose()?.flatten();
    let program = read_program::read(&name, options.as_ref())?;
    let mut setup = ChipSetup::new(kind, program);
    if let Some(table) = table {
        read_chip(&table, &mut setup)?;
    }
    Ok(Some(Some(setup)))
}

/// Refuses what only chips have.
fn refuse_stray(keys: Option<&Table<'_>>, tables: &Table<'_>) -> Result<(), Diagnostic> {
    let remedy = "remove it, or give the switch kind = \"tofino\" here, too";
    let problem = "this is for programmable chips";
    if let Some(keys) = keys.filter(|keys| keys.has("program")) {
        return Err(keys.key_error("program", problem, remedy));
    }
    if tables.has("chip") {
        return Err(tables.key_error("chip", problem, remedy));
    }
    Ok(())
}

fn read_chip(table: &Table<'_>, setup: &mut ChipSetup) -> Result<(), Diagnostic> {
    table.allow(&KEYS, |_| false, "")?;
    if let Some(value) = table.get("ports_per_pipeline") {
        setup.ports_per_pipeline = super::switches::at_least_one(&value)?;
    }
    for (key, target) in [
        ("recirculation_rate", &mut setup.recirculation.rate),
        ("deflection_rate", &mut setup.deflection.rate),
        ("egress_rate", &mut setup.egress_rate),
    ] {
        if let Some(value) = table.get(key) {
            *target = rate(&value)?;
        }
    }
    for (key, target) in [
        ("recirculation_capacity", &mut setup.recirculation.capacity),
        ("deflection_capacity", &mut setup.deflection.capacity),
    ] {
        if let Some(value) = table.get(key) {
            *target = value.number()?;
        }
    }
    for (key, target) in [("latency", &mut setup.latency), ("depth_delay", &mut setup.depth_delay)] {
        if let Some(value) = table.get(key) {
            *target = delay(&value)?;
        }
    }
    if let Some(value) = table.get("depth_delay").filter(|_| setup.kind == ChipKind::Tofino) {
        return Err(value.error("ingress of this chip sees no queue lengths", "remove it, or give kind = \"tofino2\""));
    }
    for (key, target) in
        [("deflect", &mut setup.deflect), ("witness", &mut setup.witness), ("keep_controls", &mut setup.keep_controls)]
    {
        if let Some(value) = table.get(key) {
            *target = value.boolean()?;
        }
    }
    if let Some(value) = table.get("header") {
        setup.header = value.bytes()?;
        if setup.header == Bytes::ZERO || setup.header > Bytes::new(1 << 14) {
            return Err(value.error("a header has some bytes, not many", "give its bytes, such as 64"));
        }
    }
    if let Some(value) = table.get("header_class") {
        setup.header_class = value.number()?;
    }
    if let Some(value) = table.get("witness").filter(|_| setup.witness && !setup.has_ideal()) {
        let problem = format!("there is no ideal to run beside {}", setup.program.name());
        return Err(value.error(problem, "it is for fb and aifo; compare others with a plain switch in a sweep"));
    }
    Ok(())
}
