//! What came of a script: the kernel beside the simulator.

use super::{ScriptFile, simulate};
use crate::error::Result;
use forebay_script::compare::{Comparison, ms};
use forebay_script::trace::Trace;

/// What came of a script.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The script.
    pub file: ScriptFile,
    /// What the kernel sent.
    pub kernel: Trace,
    /// What the simulator sent, and where the two part; or what of the script the simulator cannot do.
    pub simulated: std::result::Result<(Trace, Comparison), &'static str>,
}

impl Outcome {
    /// Simulates a script and compares it with what the kernel sent.
    pub fn new(file: &ScriptFile, kernel: Trace) -> Result<Self> {
        let simulated = match simulate::missing(&file.script) {
            Some(missing) => Err(missing),
            None => {
                let trace = simulate::simulate(file)?;
                let comparison = Comparison::new(&kernel, &trace);
                Ok((trace, comparison))
            }
        };
        Ok(Self { file: file.clone(), kernel, simulated })
    }

    /// Whether both sent the same, in the same order and at the same times.
    pub fn agrees(&self) -> bool {
        matches!(&self.simulated, Ok((_, comparison)) if comparison.agrees())
    }

    /// In a line: what is the same, or where they part.
    pub fn verdict(&self) -> String {
        match &self.simulated {
            Ok((trace, comparison)) => comparison.verdict(&self.kernel, trace),
            Err(missing) => format!("not simulated: {missing}"),
        }
    }

    /// The largest difference of times of a retransmission that both have.
    pub fn apart(&self) -> String {
        let worst = self.simulated.as_ref().ok().and_then(|(_, comparison)| comparison.worst);
        worst.map_or_else(|| "-".to_owned(), |worst| ms(worst.by()))
    }

    /// Retransmissions of the kernel and of the simulator.
    pub fn retransmissions(&self) -> String {
        let of = |trace: &Trace| trace.events.iter().filter(|event| event.is_retransmission()).count();
        match &self.simulated {
            Ok((trace, _)) => format!("{}, {}", of(&self.kernel), of(trace)),
            Err(_) => format!("{}, -", of(&self.kernel)),
        }
    }

    /// The lines around the place where they part.
    pub fn excerpt(&self) -> String {
        match &self.simulated {
            Ok((trace, comparison)) => comparison.excerpt(("kernel", &self.kernel), ("simulator", trace)),
            Err(_) => String::new(),
        }
    }
}

/// A line for each script, in columns.
pub fn lines(outcomes: &[Outcome]) -> String {
    let widest = outcomes.iter().map(|outcome| outcome.file.name.len()).max().unwrap_or(0);
    let line = |outcome: &Outcome| {
        let (again, apart) = (outcome.retransmissions(), outcome.apart());
        format!("{:widest$}  {again:>8}  {apart:>11}  {}\n", outcome.file.name, outcome.verdict())
    };
    outcomes.iter().map(line).collect()
}

/// How many agree, in a sentence.
pub fn summary(outcomes: &[Outcome]) -> String {
    let agree = outcomes.iter().filter(|outcome| outcome.agrees()).count();
    let ordered = |outcome: &&Outcome| matches!(&outcome.simulated, Ok((_, own)) if own.parting.is_none());
    let same = outcomes.iter().filter(ordered).count();
    let simulated = outcomes.iter().filter(|outcome| outcome.simulated.is_ok()).count();
    format!(
        "Of {} scripts the simulator can play {simulated}: in {same} it sends the same segments in the same order as the kernel, and in {agree} of these \
         all retransmissions at the same times.",
        outcomes.len()
    )
}
