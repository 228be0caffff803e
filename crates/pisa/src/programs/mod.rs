//! The programs that come with the crate, and their control planes: each fills its program's tables, sets its meters,
//! and says which control packets the chip's generators make.

mod aifo;
mod deflect;
mod fb;
mod file;
mod occamy;
mod sp_pifo;
mod trim;
mod trim_depth;
mod trim_n;

pub use aifo::AifoProgram;
pub use deflect::DeflectProgram;
pub use fb::FbProgram;
pub use file::{FileProgram, TableEntry};
pub use occamy::OccamyProgram;
pub use sp_pifo::SpPifoProgram;
pub use trim::{Form, Notify, TrimProgram};
pub use trim_depth::TrimDepthProgram;
pub use trim_n::TrimNProgram;

use crate::{Checked, Errors, HEADERS, LoadError, MeterConfig, Program, Target};
use core::fmt;
use forebay_tm::described::{Described, Wrong};

/// What a control plane has to know of the chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The rates of the ports in bits per second.
    pub rates: Vec<u64>,
    /// Queues of each port.
    pub queues: usize,
    /// Bytes of a cell, in which the chip gives queue lengths; 1 if it counts bytes.
    pub cell: u64,
    /// The buffer in cells.
    pub buffer: u64,
    /// Pipelines.
    pub pipelines: usize,
}

impl Facts {
    /// Ports there are.
    pub fn ports(&self) -> usize {
        self.rates.len()
    }

    /// Queues of all ports.
    pub fn all_queues(&self) -> usize {
        self.ports() * self.queues
    }

    /// Cells that so many bytes take.
    pub fn cells(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.cell)
    }
}

/// Control packets that a packet generator makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generator {
    /// The pipeline that they come in by.
    pub pipeline: u32,
    /// When the first one comes, in ps.
    pub start: u64,
    /// How far they are apart, in ps; 0: there is only one.
    pub period: u64,
    /// Their kind, by the program's numbers.
    pub kind: u8,
    /// What they carry.
    pub headers: [u64; HEADERS],
}

/// A program that is ready to run.
#[derive(Clone, Debug)]
pub struct Image {
    /// Checked, with its tables filled and its meters set.
    pub program: Checked,
    /// What starts its control packets.
    pub generators: Vec<Generator>,
}

/// Why a program cannot run on a chip.
#[derive(Clone, Debug)]
pub enum ProgramError {
    /// The chip cannot do what the program asks.
    Refused(Errors),
    /// The control plane asked for something that is not there or does not fit.
    Load(LoadError),
    /// An option does not fit the chip: the option, what is wrong with it, and what would be right.
    Option(&'static str, String, String),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(errors) => errors.fmt(f),
            Self::Load(error) => error.fmt(f),
            Self::Option(option, problem, remedy) => write!(f, "{option}: {problem}; {remedy}"),
        }
    }
}

impl From<Errors> for ProgramError {
    fn from(errors: Errors) -> Self {
        Self::Refused(errors)
    }
}

impl From<LoadError> for ProgramError {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// A program with its options.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgramConfig {
    /// Trimming with meters, deflection and a control loop.
    Trim(TrimProgram),
    /// Trimming that owes packets.
    TrimN(TrimNProgram),
    /// Deflection alone.
    Deflect(DeflectProgram),
    /// Trimming where ingress sees queue lengths.
    TrimDepth(TrimDepthProgram),
    /// FB.
    Fb(FbProgram),
    /// AIFO.
    Aifo(AifoProgram),
    /// SP-PIFO.
    SpPifo(SpPifoProgram),
    /// Occamy.
    Occamy(OccamyProgram),
    /// One from a file.
    File(FileProgram),
}

/// The texts of the programs that come with the crate, by name.
pub const TEXTS: [(&str, &str); 9] = [
    ("aifo", include_str!("../../programs/aifo.pisa")),
    ("deflect", include_str!("../../programs/deflect.pisa")),
    ("fb", include_str!("../../programs/fb.pisa")),
    ("occamy", include_str!("../../programs/occamy.pisa")),
    ("sp-pifo", include_str!("../../programs/sp-pifo.pisa")),
    ("trim", include_str!("../../programs/trim.pisa")),
    ("trim-depth", include_str!("../../programs/trim-depth.pisa")),
    ("trim-n", include_str!("../../programs/trim-n.pisa")),
    ("trim-sonic", include_str!("../../programs/trim-sonic.pisa")),
];

impl ProgramConfig {
    /// The name of the program.
    pub fn name(&self) -> &str {
        match self {
            Self::Trim(config) => config.text_name(),
            Self::TrimN(_) => "trim-n",
            Self::Deflect(_) => "deflect",
            Self::TrimDepth(_) => "trim-depth",
            Self::Fb(_) => "fb",
            Self::Aifo(_) => "aifo",
            Self::SpPifo(_) => "sp-pifo",
            Self::Occamy(_) => "occamy",
            Self::File(config) => &config.file,
        }
    }

    /// A program that comes with the crate, with its default options.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "trim" => Self::Trim(TrimProgram::default()),
            "trim-sonic" => Self::Trim(TrimProgram { form: Form::Sonic, ..TrimProgram::default() }),
            "trim-n" => Self::TrimN(TrimNProgram::default()),
            "deflect" => Self::Deflect(DeflectProgram::default()),
            "trim-depth" => Self::TrimDepth(TrimDepthProgram::default()),
            "fb" => Self::Fb(FbProgram::default()),
            "aifo" => Self::Aifo(AifoProgram::default()),
            "sp-pifo" => Self::SpPifo(SpPifoProgram),
            "occamy" => Self::Occamy(OccamyProgram::default()),
            _ => return None,
        })
    }

    /// The options of a program that comes with the crate, if it has any.
    pub fn settings(&mut self) -> Option<&mut dyn Described> {
        match self {
            Self::Trim(config) => Some(config),
            Self::TrimN(config) => Some(config),
            Self::TrimDepth(config) => Some(config),
            Self::Fb(config) => Some(config),
            Self::Aifo(config) => Some(config),
            Self::Occamy(config) => Some(config),
            Self::Deflect(_) | Self::SpPifo(_) | Self::File(_) => None,
        }
    }

    /// The program with another queue for the headers of cut packets, where it has one.
    pub fn with_header_queue(mut self, queue: u64) -> Self {
        match &mut self {
            Self::Trim(config) => config.header_queue = queue,
            Self::TrimN(config) => config.header_queue = queue,
            Self::Deflect(config) => config.header_queue = queue,
            Self::TrimDepth(config) => config.header_queue = queue,
            Self::Fb(_) | Self::Aifo(_) | Self::SpPifo(_) | Self::Occamy(_) | Self::File(_) => {}
        }
        self
    }

    /// Whether it cuts packets, for which headers need a queue of their own and deflection is on unless it is switched
    /// off.
    pub fn trims(&self) -> bool {
        matches!(self, Self::Trim(_) | Self::TrimN(_) | Self::Deflect(_) | Self::TrimDepth(_))
    }

    /// Checks the program against a chip and lets its control plane set it up.
    pub fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        match self {
            Self::Trim(config) => config.load(target, facts),
            Self::TrimN(config) => config.load(target, facts),
            Self::Deflect(config) => config.load(target),
            Self::TrimDepth(config) => config.load(target, facts),
            Self::Fb(config) => config.load(target, facts),
            Self::Aifo(config) => config.load(target, facts),
            Self::SpPifo(config) => config.load(target, facts),
            Self::Occamy(config) => config.load(target, facts),
            Self::File(config) => config.load(target, facts),
        }
    }
}

/// A program of the crate, checked against a target.
fn checked(name: &str, target: &Target, constants: &[(&str, u64)]) -> Result<Checked, ProgramError> {
    let text = TEXTS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
    let program = Program::parse(&format!("{name}.pisa"), text)?;
    Ok(program.check(target, constants)?)
}

/// Refuses options outside the ranges that their descriptions have.
fn within_ranges<S: Described + Clone>(options: &S) -> Result<(), ProgramError> {
    for (number, field) in options.fields().iter().enumerate() {
        let again = options.clone().set(number, options.get(number));
        again.map_err(|Wrong { problem, remedy }| ProgramError::Option(field.key, problem, remedy))?;
    }
    Ok(())
}

/// A number of packets that recirculate.
fn up_to_64(packets: &u64) -> Result<(), Wrong> {
    if (1..=64).contains(packets) {
        return Ok(());
    }
    Err(Wrong::new(format!("{packets} is out of range"), "give 1 to 64"))
}

/// Refuses chips of several pipelines for programs whose state has to be in one place.
fn one_pipeline(name: &str, facts: &Facts) -> Result<(), ProgramError> {
    if facts.pipelines == 1 {
        return Ok(());
    }
    let problem = format!(
        "{name} keeps what it knows of all queues in one pipeline, and there are {} pipelines for {} ports",
        facts.pipelines,
        facts.ports()
    );
    Err(ProgramError::Option("chip.ports_per_pipeline", problem, format!("give {} or more", facts.ports())))
}

/// The table that tells where the queues of a port are.
fn fill_places(program: &mut Checked, table: &str, facts: &Facts) -> Result<(), ProgramError> {
    for port in 0..facts.ports() {
        for queue in 0..facts.queues {
            let index = (port * facts.queues + queue) as u64;
            program.insert(table, &[port as u64, queue as u64], &[index])?;
        }
    }
    Ok(())
}

/// A meter of one rate for all entries: what exceeds it is red.
fn single_rate(rate: u64, burst: u64) -> MeterConfig {
    MeterConfig { committed: rate, peak: rate, committed_burst: burst, peak_burst: burst }
}

/// The kind of control packet that a program calls so.
fn kind(program: &Checked, packet: &str) -> u8 {
    program.kind(packet).expect("the programs of this crate declare what their control planes use")
}

/// What a control packet carries, by the names of the program.
fn headers(program: &Checked, values: &[(&str, u64)]) -> [u64; HEADERS] {
    let mut headers = [0; HEADERS];
    for (name, value) in values {
        let place = program.header(name).expect("the programs of this crate declare what their control planes use");
        headers[place] = *value;
    }
    headers
}
