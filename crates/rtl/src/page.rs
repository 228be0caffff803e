//! `docs/rtl.md` and `docs/rtl.json`.

use crate::accuracy::{self, Accuracy, Differences};
use crate::tools::{self, Problem};
use crate::units::{PUBLISHED, Table, UNITS, Unit};
use crate::yosys::{self, Cost, Kept};
use crate::{sources, verilator};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Everything that the page shows.
#[derive(Clone, Debug)]
pub struct Results {
    /// The version of Yosys, such as "Yosys 0.23".
    pub yosys: String,
    /// Per unit, in the order of [`UNITS`].
    pub costs: Vec<Cost>,
    /// Of the threshold units.
    pub accuracy: Vec<Accuracy>,
}

/// Lints every module, with all its parameters.
pub fn lint(rtl: &Path) -> Result<(), Problem> {
    for (module, _) in sources::SOURCES {
        verilator::lint(module, &[], rtl)?;
    }
    let with = UNITS.iter().filter(|unit| !unit.parameters.is_empty());
    with.into_iter().try_for_each(|unit| verilator::lint(unit.module, unit.parameters, rtl))
}

/// What small units cost.
#[derive(Debug)]
pub struct Quick {
    units: Vec<&'static Unit>,
    costs: Vec<Cost>,
}

/// Synthesizes the small units alone. `rtl` and `kept` are directories for the sources and for what is finished.
pub fn quick(rtl: &Path, kept: &Path, tell: &(impl Fn(&str) + Sync)) -> Result<Quick, Problem> {
    sources::write(rtl)?;
    let kept = Kept::new(kept, &tools::yosys_version()?)?;
    let units: Vec<&'static Unit> = UNITS.iter().filter(|unit| unit.quick).collect();
    let costs = yosys::synthesize_all(&units, rtl, Some(&kept), tell)?;
    Ok(Quick { units, costs })
}

impl Quick {
    /// As a table.
    pub fn to_text(&self) -> String {
        let mut text = table(&["", "LUTs", "flip-flops", "carries", "muxes", "depth", "gates", "gates deep"]);
        self.costs.iter().for_each(|cost| cost_row(&mut text, cost));
        let (few, all) = (self.units.len(), UNITS.len());
        let _ = writeln!(text, "\n{few} of {all} units; without --quick, all of them, and how accurate they are.");
        text
    }

    /// As JSON: the units of [`Results::to_json`].
    pub fn to_json(&self) -> Value {
        json!({ "units": units_json(&self.units, &self.costs) })
    }
}

fn units_json(units: &[&Unit], costs: &[Cost]) -> Value {
    units.iter().zip(costs).map(|(unit, cost)| cost.to_json(unit)).collect()
}

/// Lints, synthesizes and compares everything. `rtl` is a directory for the sources, `kept` for what is finished;
/// `tell` is told what begins.
pub fn make(rtl: &Path, kept: &Path, tell: &(impl Fn(&str) + Sync)) -> Result<Results, Problem> {
    sources::write(rtl)?;
    let yosys = tools::yosys_version()?;
    tell("lint");
    lint(rtl)?;
    let kept = Kept::new(kept, &yosys)?;
    let costs = yosys::synthesize_all(&UNITS.iter().collect::<Vec<_>>(), rtl, Some(&kept), tell)?;
    tell("accuracy");
    Ok(Results { yosys, costs, accuracy: accuracy::all() })
}

impl Results {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let units = units_json(&UNITS.iter().collect::<Vec<_>>(), &self.costs);
        json!({ "yosys": self.yosys, "units": units, "accuracy": self.accuracy })
    }

    /// What [`Results::to_json`] gave; `file` is where it stands.
    pub fn from_json(value: Value, file: &str) -> Result<Self, Problem> {
        #[derive(Deserialize)]
        struct Record {
            yosys: String,
            units: Vec<Cost>,
            accuracy: Vec<Accuracy>,
        }
        let help = "make it again: forebay rtl --docs DIR".to_owned();
        let problem = |why: &str| Problem {
            what: format!("{file}: this is not what forebay rtl writes, or from another version of it: {why}"),
            help,
        };
        match serde_json::from_value(value) {
            Ok(Record { yosys, units, accuracy }) => {
                if units.iter().map(|cost| cost.name.as_str()).eq(UNITS.iter().map(|unit| unit.name)) {
                    return Ok(Self { yosys, costs: units, accuracy });
                }
                Err(problem("other units"))
            }
            Err(error) => Err(problem(&error.to_string())),
        }
    }

    /// As a page.
    pub fn to_markdown(&self) -> String {
        include_str!("page.md")
            .replace("{yosys}", &self.yosys)
            .replace("{occamy}", &self.occamy())
            .replace("{scale}", &self.costs_of(Table::Scale))
            .replace("{thresholds}", &self.thresholds())
            .replace("{verdicts}", &self.verdicts())
            .replace("{parts}", &self.costs_of(Table::Parts))
    }

    fn rows(&self, table: Table) -> impl Iterator<Item = (&'static Unit, &Cost)> {
        UNITS.iter().zip(&self.costs).filter(move |(unit, _)| unit.table == table)
    }

    fn occamy(&self) -> String {
        let mut text = table(&[
            "unit",
            "LUTs",
            "the paper's",
            "flip-flops",
            "the paper's",
            "depth",
            "gates",
            "gates deep",
            "the paper's ns",
            "lines",
            "the paper's",
        ]);
        for (unit, cost) in self.rows(Table::Occamy) {
            let published = PUBLISHED.iter().find(|one| one.unit == unit.name);
            let paper = |value: &dyn Fn(&crate::units::Published) -> String| published.map_or_else(String::new, value);
            row(
                &mut text,
                &[
                    format!("{} (`{}.v`)", unit.name, unit.module),
                    number(cost.luts),
                    paper(&|one| number(u64::from(one.luts))),
                    number(cost.flip_flops),
                    paper(&|one| number(u64::from(one.flip_flops))),
                    number(cost.depth),
                    gates(cost),
                    cost.gate_depth.map_or_else(|| "-".to_owned(), number),
                    paper(&|one| one.nanoseconds.to_owned()),
                    number(sources::lines(unit.module) as u64),
                    paper(&|one| number(u64::from(one.lines))),
                ],
            );
        }
        let memories: u64 = self.rows(Table::Occamy).map(|(_, cost)| cost.block_memories).sum();
        let _ =
            writeln!(text, "\nAll of `occamy.v` has {memories} block memories of 36 kb beside that, for 65,535 cells.");
        text
    }

    fn costs_of(&self, of: Table) -> String {
        let mut text = table(&["", "LUTs", "flip-flops", "carries", "muxes", "depth", "gates", "gates deep"]);
        self.rows(of).for_each(|(_, cost)| cost_row(&mut text, cost));
        text
    }

    fn thresholds(&self) -> String {
        let mut text =
            table(&["unit", "LUTs", "flip-flops", "depth", "gates", "least", "1%", "median", "99%", "largest"]);
        for ((unit, cost), accuracy) in self.rows(Table::Thresholds).zip(&self.accuracy) {
            let mut cells =
                vec![unit.name.to_owned(), number(cost.luts), number(cost.flip_flops), number(cost.depth), gates(cost)];
            let ratio = accuracy.ratio;
            cells.extend([ratio.min, ratio.p1, ratio.p50, ratio.p99, ratio.max].map(|value| format!("{value:.3}")));
            row(&mut text, &cells);
        }
        text
    }

    fn verdicts(&self) -> String {
        let mut text = table(&[
            "unit",
            "packets",
            "rejected by the core",
            "product alone: admitted",
            "rejected",
            "whole unit: admitted",
            "rejected",
            "verdicts that differ",
            "in its own switch: rejected",
            "other fates",
        ]);
        for accuracy in &self.accuracy {
            let share = |of: Differences| {
                format!("{:.1}%", 100.0 * (of.admitted + of.rejected) as f64 / accuracy.arrivals as f64)
            };
            row(
                &mut text,
                &[
                    accuracy.name.clone(),
                    number(accuracy.arrivals),
                    number(accuracy.rejected),
                    number(accuracy.product.admitted),
                    number(accuracy.product.rejected),
                    number(accuracy.whole.admitted),
                    number(accuracy.whole.rejected),
                    share(accuracy.whole),
                    number(accuracy.rejected + accuracy.closed.rejected - accuracy.closed.admitted),
                    share(accuracy.closed),
                ],
            );
        }
        text
    }
}

fn cost_row(text: &mut String, cost: &Cost) {
    row(
        text,
        &[
            cost.name.clone(),
            number(cost.luts),
            number(cost.flip_flops),
            number(cost.carries),
            number(cost.muxes),
            number(cost.depth),
            gates(cost),
            cost.gate_depth.map_or_else(|| "-".to_owned(), number),
        ],
    );
}

fn gates(cost: &Cost) -> String {
    cost.gates.map_or_else(|| "-".to_owned(), number)
}

/// The head of a table: text on the left, numbers on the right.
fn table(heads: &[&str]) -> String {
    let rule: Vec<&str> = heads.iter().enumerate().map(|(at, _)| if at == 0 { "---" } else { "---:" }).collect();
    format!("| {} |\n| {} |\n", heads.join(" | "), rule.join(" | "))
}

fn row(text: &mut String, cells: &[String]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// `1,262`.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_counts_for_the_same_circuit_and_tool() {
        let directory = tempfile::tempdir().unwrap();
        let kept = Kept::new(directory.path(), "Yosys 1").unwrap();
        let [unit, other] = [&UNITS[0], &UNITS[1]];
        let name = unit.name.to_owned();
        let cost = Cost {
            name,
            luts: 1,
            flip_flops: 2,
            carries: 3,
            muxes: 4,
            block_memories: 0,
            depth: 5,
            gates: Some(6),
            gate_depth: Some(7),
        };
        assert_eq!(kept.get(unit), None);
        kept.put(unit, &cost).unwrap();
        assert_eq!((kept.get(unit), kept.get(other)), (Some(cost.clone()), None));
        assert_eq!(Kept::new(directory.path(), "Yosys 2").unwrap().get(unit), None);
        // Another circuit under the same name.
        let changed = Unit { parameters: &[("QUEUES", 3)], ..*unit };
        assert_eq!(kept.get(&changed), None);
        // Then nothing is synthesized, so that no tool is needed.
        let costs = yosys::synthesize_all(&[unit], Path::new("/nowhere"), Some(&kept), &|_| ()).unwrap();
        assert_eq!(costs, [cost]);
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!([0, 999, 1_262, 65_535, 1_000_000].map(number), ["0", "999", "1,262", "65,535", "1,000,000"]);
    }
}
