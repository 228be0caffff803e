//! What is synthesized, and what the Occamy paper says of it.

/// A module with parameters, as a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Its name in the tables.
    pub name: &'static str,
    /// The module.
    pub module: &'static str,
    /// Parameters that are not left as they are.
    pub parameters: &'static [(&'static str, u32)],
    /// Where it stands.
    pub table: Table,
    /// Whether it is small enough to be synthesized by every run of the tests.
    pub quick: bool,
}

/// The tables of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Occamy's parts, beside the paper's.
    Occamy,
    /// The selector with other numbers of queues and bits.
    Scale,
    /// The threshold units of FB and ABM.
    Thresholds,
    /// Parts of these.
    Parts,
}

impl Table {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Occamy => "occamy",
            Self::Scale => "scale",
            Self::Thresholds => "thresholds",
            Self::Parts => "parts",
        }
    }
}

/// Table 1 of the Occamy paper.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The unit that stands for it here.
    pub unit: &'static str,
    /// Look-up tables, by Vivado.
    pub luts: u32,
    /// Flip-flops, by Vivado.
    pub flip_flops: u32,
    /// Delay in a 45 nm technology, by Design Compiler.
    pub nanoseconds: &'static str,
    /// Lines of Verilog.
    pub lines: u32,
}

/// Table 1 and section 5.1 of the Occamy paper.
pub const PUBLISHED: &[Published] = &[
    Published { unit: "selector", luts: 1_262, flip_flops: 47, nanoseconds: "1.49", lines: 215 },
    Published { unit: "arbiter", luts: 3, flip_flops: 0, nanoseconds: "0.17", lines: 11 },
    Published { unit: "executor", luts: 47, flip_flops: 7, nanoseconds: "0.38", lines: 60 },
];

const fn unit(name: &'static str, module: &'static str, table: Table) -> Unit {
    Unit { name, module, parameters: &[], table, quick: true }
}

const fn scaled(name: &'static str, parameters: &'static [(&'static str, u32)], quick: bool) -> Unit {
    Unit { name, module: "occamy_selector", parameters, table: Table::Scale, quick }
}

const fn fb(name: &'static str, parameters: &'static [(&'static str, u32)]) -> Unit {
    Unit { name, module: "fb_threshold", parameters, table: Table::Thresholds, quick: true }
}

const fn abm(name: &'static str, parameters: &'static [(&'static str, u32)], quick: bool) -> Unit {
    Unit { name, module: "abm_threshold", parameters, table: Table::Thresholds, quick }
}

const fn part(name: &'static str, module: &'static str, parameters: &'static [(&'static str, u32)]) -> Unit {
    Unit { name, module, parameters, table: Table::Parts, quick: false }
}

const ONE: &[(&str, u32)] = &[("TERMS", 1)];
const TWO: &[(&str, u32)] = &[("TERMS", 2)];
const THREE: &[(&str, u32)] = &[("TERMS", 3)];

/// Everything that is synthesized.
pub const UNITS: &[Unit] = &[
    unit("selector", "occamy_selector", Table::Occamy),
    unit("of which the threshold and its comparisons", "occamy_threshold", Table::Occamy),
    unit("of which the round robin", "round_robin", Table::Occamy),
    unit("arbiter", "occamy_arbiter", Table::Occamy),
    unit("executor", "occamy_executor", Table::Occamy),
    Unit { name: "all of occamy.v", module: "occamy", parameters: &[], table: Table::Occamy, quick: false },
    scaled("8 queues, 16 bits", &[("LOG_QUEUES", 3)], true),
    scaled("16 queues, 16 bits", &[("LOG_QUEUES", 4)], true),
    scaled("32 queues, 16 bits", &[("LOG_QUEUES", 5)], false),
    scaled("64 queues, 12 bits", &[("LOG_CELLS", 12)], false),
    scaled("64 queues, 16 bits", &[], true),
    scaled("64 queues, 20 bits", &[("LOG_CELLS", 20)], false),
    scaled("128 queues, 16 bits", &[("LOG_QUEUES", 7)], false),
    scaled("256 queues, 16 bits", &[("LOG_QUEUES", 8)], false),
    scaled("512 queues, 16 bits", &[("LOG_QUEUES", 9)], false),
    fb("FB, 1 shift", ONE),
    fb("FB, 2 shifts", TWO),
    fb("FB, 3 shifts", THREE),
    abm("ABM, 1 shift", ONE, true),
    abm("ABM, 2 shifts", TWO, false),
    abm("ABM, 3 shifts", THREE, false),
    abm("ABM, 3 shifts, finer shares", &[("TERMS", 3), ("LOG_SHARES", 7)], false),
    part("product, 1 shift", "product", ONE),
    part("product, 2 shifts", "product", TWO),
    part("product, 3 shifts", "product", THREE),
    part("FB's table, 1 digit", "factor", ONE),
    part("FB's table, 3 digits", "factor", THREE),
    part("ABM's table, 1 digit", "factor", &[("TERMS", 1), ("LOG_A", 6), ("SHARES", 32)]),
    part("ABM's table, 3 digits", "factor", &[("TERMS", 3), ("LOG_A", 6), ("SHARES", 32)]),
    part("ABM's table, 3 digits, finer shares", "factor", &[("TERMS", 3), ("LOG_A", 8), ("SHARES", 128)]),
    part("comparison", "fits", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_published_units_exist() {
        for (at, unit) in UNITS.iter().enumerate() {
            assert!(UNITS[..at].iter().all(|other| other.name != unit.name), "{} stands there twice", unit.name);
            assert!(crate::sources::lines(unit.module) > 0, "{} is no module", unit.module);
        }
        for published in PUBLISHED {
            assert!(UNITS.iter().any(|unit| unit.name == published.unit), "{} is not synthesized", published.unit);
        }
    }
}
