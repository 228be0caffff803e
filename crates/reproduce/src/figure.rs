//! Papers and their figures.

use crate::claim::Claim;
use crate::measured::Measured;
use crate::metrics::Metrics;
use crate::panel::Panel;
use crate::statement::{self, Statements};
use crate::table::Table;
use forebay_results::Summary;
use forebay_sim::flow::TrafficPlan;
use forebay_sim::measure::RunResult;
use forebay_sim::scenario::Scenario;
use forebay_tm::{Bytes, Duration, Rate};
use serde::{Deserialize, Serialize};

/// How much of an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// All papers in at most 10 minutes on two cores.
    Quick,
    /// All papers in about two hours on two cores.
    Default,
    /// What the paper did.
    Full,
}

impl Scale {
    /// The smallest first.
    pub const ALL: [Self; 3] = [Self::Quick, Self::Default, Self::Full];

    /// As in `[scale.NAME]`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Full => "full",
        }
    }

    /// The argument that asks for it; empty for the default.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Quick => " --quick",
            Self::Default => "",
            Self::Full => " --full",
        }
    }
}

/// A paper and what of it is made again.
pub struct Paper {
    /// The name of its directory of scenarios.
    pub id: &'static str,
    /// What its system is called.
    pub system: &'static str,
    /// Its title, where and when it was published.
    pub title: &'static str,
    /// What holds for all of its experiments: what the paper used and what is used here.
    pub about: &'static str,
    /// In the order of the paper.
    pub figures: Vec<Figure>,
}

/// An experiment: one file, one table of numbers.
pub struct Figure {
    /// The name of its file.
    pub id: &'static str,
    /// As the paper counts: "6", "7a, c"; or what it is, such as "theorem 1".
    pub number: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// The paper's settings, and what differs here.
    pub setting: &'static str,
    /// The file: a scenario with `[sweep]` and `[scale.*]`.
    pub text: &'static str,
    /// Further files that the scenario names, as `(name, text)`; they stand beside it.
    pub files: &'static [(&'static str, &'static str)],
    /// What a point of the sweep is.
    pub work: Work,
    /// Plots.
    pub panels: Vec<Panel>,
    /// What was measured for the statements of its file of claims.
    pub claims: fn(&Table) -> Vec<Measured>,
}

include!(concat!(env!("OUT_DIR"), "/claims.rs"));

/// What a figure of variants is called and shows.
pub(crate) struct Variant {
    pub(crate) id: &'static str,
    pub(crate) number: &'static str,
    pub(crate) title: &'static str,
    pub(crate) setting: &'static str,
    pub(crate) text: &'static str,
}

impl Figure {
    /// The same measures and plots with another file, about which the paper says nothing: runs that show what a figure
    /// depends on.
    pub(crate) fn variant(self, of: &Variant) -> Self {
        let Variant { id, number, title, setting, text } = *of;
        Self { id, number, title, setting, text, files: &[], claims: |_| Vec::new(), ..self }
    }

    /// What the paper says about it: `scenarios/<paper>/claims/<figure>.toml`, which comes with the program.
    ///
    /// # Panics
    /// If the file is not right; a test reads them all.
    pub fn statements(&self, paper: &str) -> Statements {
        let found = CLAIMS.iter().find(|(own, figure, _)| *own == paper && *figure == self.id);
        let Some((_, _, text)) = found else { return Statements::default() };
        match statement::read(&format!("scenarios/{paper}/claims/{}.toml", self.id), text) {
            Ok(statements) => statements,
            Err(error) => panic!("{error}"),
        }
    }

    /// The statements with what a table has for them, in the order of the file.
    ///
    /// # Panics
    /// If statements and numbers do not fit each other; a test tries them all.
    pub fn judged(&self, paper: &str, table: &Table) -> Vec<Claim> {
        let statements = self.statements(paper);
        table.set_deterministic(statements.deterministic);
        let measured = (self.claims)(table);
        let prefix = format!("{paper}-{}", self.id.trim_start_matches("fig"));
        let of_statement = |statement: &statement::Statement| {
            let own: Vec<&Measured> = measured.iter().filter(|one| one.id == statement.id).collect();
            own.into_iter().map(|one| Claim::new(statement, one)).collect::<Result<Vec<_>, _>>()
        };
        let claims: Result<Vec<Vec<Claim>>, String> = statements.all.iter().map(of_statement).collect();
        match claims {
            Ok(claims) => {
                let named = claims.into_iter().flatten().map(|mut claim| {
                    claim.id = format!("{prefix}-{}", claim.id);
                    claim
                });
                named.collect()
            }
            Err(problem) => panic!("{prefix}: {problem}"),
        }
    }
}

/// What a point of the sweep is.
#[derive(Clone, Copy)]
pub enum Work {
    /// A run of the simulator; the function adds to the standard metrics.
    Simulate(fn(&Run<'_>, &mut Metrics)),
    /// Something else that is computed from the point's parameters: `kind = "analysis"` files.
    Compute(fn(&Point) -> Result<Metrics, String>),
}

impl Work {
    /// A run of the simulator of which the standard metrics are enough.
    pub const STANDARD: Self = Self::Simulate(|_, _| {});
}

/// A run that has just ended.
pub struct Run<'r> {
    /// What was run.
    pub scenario: &'r Scenario,
    /// Its flows.
    pub plan: &'r TrafficPlan,
    /// What was measured.
    pub result: &'r RunResult,
    /// In few numbers.
    pub summary: &'r Summary,
    /// Where it stands in the sweep.
    pub point: &'r Point,
}

/// One point of a sweep with one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The name of the variant; empty if the sweep has none.
    pub variant: String,
    /// Where random draws start.
    pub seed: u64,
    /// What the variant sets.
    #[serde(with = "crate::record::pairs", default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<(String, String)>,
    /// Keys of the grid and their values.
    #[serde(with = "crate::record::pairs", default, skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<(String, String)>,
    /// `[parameters]` of an analysis file, with what the scale sets.
    #[serde(with = "crate::record::pairs", default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<(String, String)>,
}

impl Point {
    /// The point, whatever the seed.
    #[must_use]
    pub fn without_seed(&self) -> Self {
        Self { seed: 0, ..self.clone() }
    }

    /// The value of a key: of the grid, else of the variant, else of the parameters, without quotation marks.
    pub fn text(&self, key: &str) -> Option<&str> {
        let all = self.grid.iter().chain(&self.own).chain(&self.parameters);
        all.clone().find(|(known, _)| known == key).map(|(_, value)| value.trim_matches('"'))
    }

    /// The value of a key as a number: see [`number_of`]; NaN if there is none.
    pub fn number(&self, key: &str) -> f64 {
        self.text(key).map_or(f64::NAN, number_of)
    }

    /// The value of a parameter as a number; the error names it.
    pub fn need(&self, key: &str) -> Result<f64, String> {
        let number = self.number(key);
        if number.is_finite() { Ok(number) } else { Err(format!("{key}: there is no such number")) }
    }
}

/// A value as a number: plain; "30%" as a share; sizes in bytes; times in microseconds; rates in Gb/s. NaN if it is
/// none of these.
pub fn number_of(value: &str) -> f64 {
    let text = value.trim().trim_matches('"');
    if let Ok(number) = text.parse::<f64>() {
        return number;
    }
    if let Some(share) = text.strip_suffix('%') {
        return share.trim().parse::<f64>().map_or(f64::NAN, |percent| percent / 100.0);
    }
    if let Ok(time) = text.parse::<Duration>() {
        return time.ps() as f64 / 1e6;
    }
    if let Ok(rate) = text.parse::<Rate>() {
        return rate.bps() as f64 / 1e9;
    }
    text.parse::<Bytes>().map_or(f64::NAN, |bytes| bytes.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_numbers() {
        for (text, number) in
            [("0.4", 0.4), ("\"30%\"", 0.3), ("80us", 80.0), ("10Gbps", 10.0), ("9.6KB", 9600.0), ("-1", -1.0)]
        {
            assert_eq!(number_of(text), number, "{text}");
        }
        assert!(number_of("next-leaf").is_nan());
    }
}
