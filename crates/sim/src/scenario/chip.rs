//! Switches that are programmable chips: `kind` and `program` of a switch, and the table `[chip]` beside them, with the
//! program's options in `[chip.options]`.

use super::read_program;
use forebay_pisa::Target;
use forebay_pisa::programs::{AifoProgram, Facts, Image, ProgramConfig, ProgramError};
use forebay_settings::check::{at_least_one, carries, delay};
use forebay_settings::{Diagnostic, Table, read_settings, setting_keys};
use forebay_tm::admit::{Classes, DynamicThresholdsConfig, FlexibleBufferConfig, OccamyConfig, PolicyConfig};
use forebay_tm::described::Wrong;
use forebay_tm::schedule::{AifoConfig, SchedulerConfig, SpPifoConfig};
use forebay_tm::{Bytes, Duration, PerQueue, Rate, Reason, ValidConfig, describe, words};

/// The kinds of chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipKind {
    /// Four pipelines of 16 ports; ingress knows nothing of queues.
    Tofino,
    /// Its successor, whose ingress sees queue lengths.
    Tofino2,
}

impl ChipKind {
    fn target(self) -> Target {
        match self {
            Self::Tofino => Target::tofino(),
            Self::Tofino2 => Target::tofino2(),
        }
    }
}

/// What a switch is, as files have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// Traffic managers between links.
    Plain,
    /// [`ChipKind::Tofino`].
    Tofino,
    /// [`ChipKind::Tofino2`].
    Tofino2,
}

words! {
    Model { Plain = "plain", Tofino = "tofino", Tofino2 = "tofino2" }
}

impl Model {
    fn chip(self) -> Option<ChipKind> {
        match self {
            Self::Plain => None,
            Self::Tofino => Some(ChipKind::Tofino),
            Self::Tofino2 => Some(ChipKind::Tofino2),
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
    /// Ports of a pipeline.
    pub ports_per_pipeline: usize,
    /// The rate of the port of each pipeline by which control packets come around.
    pub recirculation_rate: Rate,
    /// What its queue holds.
    pub recirculation_capacity: usize,
    /// From the end of a control packet's transmission until it comes in.
    pub latency: Duration,
    /// Whether packets without room are deflected.
    pub deflect: bool,
    /// The rate of the port of each pipeline that they are deflected to.
    pub deflection_rate: Rate,
    /// What its queue holds.
    pub deflection_capacity: usize,
    /// Bytes of a header, and of a control packet.
    pub header: Bytes,
    /// The class, and queue, of headers.
    pub header_class: u8,
    /// How fast packets that the egress program drops are read.
    pub egress_rate: Rate,
    /// How late ingress sees queue lengths, where it does.
    pub depth_delay: Duration,
    /// Whether the ideal runs beside the program.
    pub witness: bool,
    /// Whether control packets are kept.
    pub keep_controls: bool,
    /// Packet generators that the program needs on this switch.
    pub generators: usize,
}

describe! {
    ChipSetup {
        /// Ports of each pipeline, in their order.
        ports_per_pipeline: usize; at_least_one,
        /// The rate of the recirculation port of each pipeline, which carries control packets.
        recirculation_rate: Rate; carries,
        /// Packets that the queue of a recirculation port holds.
        recirculation_capacity: usize,
        /// From the end of a control packet's transmission by that port to its arrival at ingress.
        latency: Duration; delay,
        /// Data packets without room go to the pipeline's deflection port instead of being dropped; true by default if
        /// the program trims.
        deflect: bool,
        /// The rate of the deflection port of each pipeline. The egress program sees a packet when its transmission
        /// begins.
        deflection_rate: Rate; carries,
        /// Packets that the queue of a deflection port holds.
        deflection_capacity: usize,
        /// Bytes of a cut packet, and of a control packet.
        header: Bytes; is_header,
        /// The queue of cut packets, at this switch and at all later ones.
        header_class: u8,
        /// The rate at which a packet is read that the egress program drops; the port sends its next packet afterwards.
        egress_rate: Rate; carries,
        /// `tofino2` only: ingress sees the lengths of queues as they were that long ago.
        depth_delay: Duration; delay,
        /// `fb` and `aifo` only: an exact reference switch gets the same data packets, and differing decisions are
        /// counted (`chips.parquet`).
        witness: bool,
        /// Record the control packets of the first pipeline (`controls.parquet`).
        keep_controls: bool,
    }
}

fn is_header(size: &Bytes) -> Result<(), Wrong> {
    if (1..=1 << 14).contains(&size.get()) {
        return Ok(());
    }
    Err(Wrong::new("a header has some bytes, not many", "give its bytes, such as 64"))
}

impl ChipSetup {
    pub(super) fn new(kind: ChipKind, program: ProgramConfig) -> Self {
        let fast = Rate::from_gbps(100);
        Self {
            kind,
            deflect: program.trims(),
            program,
            ports_per_pipeline: 16,
            recirculation_rate: fast,
            recirculation_capacity: 1_000,
            latency: Duration::from_us(1),
            deflection_rate: fast,
            deflection_capacity: 20_000,
            header: Bytes::new(64),
            header_class: 0,
            egress_rate: fast,
            depth_delay: Duration::from_ps(20_000),
            witness: false,
            keep_controls: false,
            generators: 0,
        }
    }

    /// The keys of `[chip]` that mean something to this chip.
    pub(super) fn knows(&self, key: &str) -> bool {
        key != "depth_delay" || self.kind == ChipKind::Tofino2
    }

    /// The port of each pipeline by which control packets come around.
    pub(crate) fn recirculation(&self) -> SideSetup {
        SideSetup { rate: self.recirculation_rate, capacity: self.recirculation_capacity }
    }

    /// The port of each pipeline that packets are deflected to.
    pub(crate) fn deflection(&self) -> SideSetup {
        SideSetup { rate: self.deflection_rate, capacity: self.deflection_capacity }
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

    /// The ideal that the program stands for, on a switch with this buffer: what runs beside it as a witness, or
    /// instead of it. Programs that trim have none.
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

/// Reads what a level says: `keys` has `kind` and `program`, `tables` has `[chip]`. The inner `None` is `kind =
/// "plain"`.
pub(super) fn read(
    model: Option<Model>,
    keys: Option<&Table<'_>>,
    tables: &Table<'_>,
) -> Result<Option<Option<ChipSetup>>, Diagnostic> {
    let Some(kind) = model.and_then(Model::chip) else {
        refuse_stray(keys, tables)?;
        return Ok(model.map(|_| None));
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
    let known: Vec<&str> = ["options"].into_iter().chain(setting_keys(ChipSetup::FIELDS)).collect();
    table.allow(&known, |_| false, "")?;
    read_settings(table, setup)?;
    if let Some(value) = table.get("depth_delay").filter(|_| !setup.knows("depth_delay")) {
        return Err(value.error("ingress of this chip sees no queue lengths", "remove it, or give kind = \"tofino2\""));
    }
    if let Some(value) = table.get("witness").filter(|_| setup.witness && !setup.has_ideal()) {
        let problem = format!("there is no ideal to run beside {}", setup.program.name());
        return Err(value.error(problem, "it is for fb and aifo; compare others with a plain switch in a sweep"));
    }
    Ok(())
}
