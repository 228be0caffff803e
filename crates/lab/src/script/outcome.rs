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
                let comparison = Comparison::new(&file.script, &kernel, &trace);
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
        let apart = self.simulated.as_ref().ok().and_then(|(_, comparison)| comparison.apart);
        apart.map_or_else(|| "-".to_owned(), ms)
    }

    /// The largest difference of segments in flight.
    pub fn window(&self) -> String {
        self.simulated.as_ref().map_or_else(|_| "-".to_owned(), |(_, comparison)| comparison.window.to_string())
    }

    /// Retransmissions of the kernel and of the simulator.
    pub fn retransmissions(&self) -> String {
        let of = |trace: &Trace| trace.events.iter().filter(|event| event.is_retransmission()).count();
        match &self.simulated {
            Ok((trace, _)) => format!("{}, {}", of(&self.kernel), of(trace)),
            Err(_) => format!("{}, -", of(&self.kernel)),
        }
    }

    /// A line of a table, in which names are so wide.
    pub fn line(&self, width: usize) -> String {
        let (again, apart) = (self.retransmissions(), self.apart());
        format!("{:width$}  {again:>8}  {apart:>11}  {:>6}  {}\n", self.file.name, self.window(), self.verdict())
    }

    /// The lines around the place where they part.
    pub fn excerpt(&self) -> String {
        match &self.simulated {
            Ok((trace, comparison)) => comparison.excerpt(("kernel", &self.kernel), ("simulator", trace)),
            Err(_) => String::new(),
        }
    }
}

/// How many agree, in a sentence.
pub fn summary(outcomes: &[Outcome]) -> String {
    let count = |is: fn(&Comparison) -> bool| {
        outcomes.iter().filter(|outcome| matches!(&outcome.simulated, Ok((_, own)) if is(own))).count()
    };
    let [simulated, order, times, agree] = [
        count(|_| true),
        count(|own| own.same_order),
        count(|own| own.same_order && own.same_times),
        count(Comparison::agrees),
    ];
    format!(
        "Of {} scripts the simulator can play {simulated}. In {order} of these it sends the same segments in the same order as the kernel, in {times} all retransmissions \
         at the same times as well, and in {agree} it also has as many segments in flight.",
        outcomes.len()
    )
}
