//! What a circuit costs, as Yosys says: mapped to the cells of a Xilinx 7-series FPGA, and to gates.

use crate::sources::SOURCES;
use crate::tools::{Problem, file_problem, run};
use crate::units::Unit;
use forebay_results::Fingerprint;
use forebay_runner::pool;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a unit costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// The unit's name.
    #[serde(skip_serializing)]
    pub name: String,
    /// Look-up tables of up to 6 inputs.
    pub luts: u64,
    /// Flip-flops.
    pub flip_flops: u64,
    /// Carry elements of 4 bits.
    pub carries: u64,
    /// Multiplexers behind look-up tables.
    pub muxes: u64,
    /// Block memories of 36 kb; one of 18 kb counts, too.
    pub block_memories: u64,
    /// Cells of any kind on the longest path between registers and ports.
    pub depth: u64,
    /// Gates of two inputs, multiplexers and inverters; not for circuits with block memories.
    pub gates: Option<u64>,
    /// How many of them are on the longest path.
    pub gate_depth: Option<u64>,
}

impl Cost {
    /// As JSON, with what the unit is.
    pub fn to_json(&self, unit: &Unit) -> Value {
        #[derive(Serialize)]
        struct Row<'a> {
            name: &'a str,
            table: &'a str,
            module: &'a str,
            parameters: serde_json::Map<String, Value>,
            #[serde(flatten)]
            cost: &'a Cost,
        }
        let parameters = unit.parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        json!(Row { name: &self.name, table: unit.table.name(), module: unit.module, parameters, cost: self })
    }
}

/// Costs that are kept in a directory as soon as they are known, one file for each unit, so that work that was stopped
/// goes on where it was. A file counts for the same sources, the same parameters and the same Yosys.
#[derive(Clone, Debug)]
pub struct Kept {
    directory: PathBuf,
    yosys: String,
}

impl Kept {
    /// In a directory, which is made if it is not there. `yosys` is the version that synthesizes.
    pub fn new(directory: &Path, yosys: &str) -> Result<Self, Problem> {
        std::fs::create_dir_all(directory).map_err(|error| file_problem(directory, &error))?;
        Ok(Self { directory: directory.to_owned(), yosys: yosys.to_owned() })
    }

    fn path(&self, unit: &Unit) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        self.directory.join(format!("{}.json", unit.name.chars().map(plain).collect::<String>()))
    }

    /// What a cost depends on.
    fn key(&self, unit: &Unit) -> String {
        let parameters = format!("{} {} {:?}", self.yosys, unit.module, unit.parameters);
        let sources = SOURCES.iter().flat_map(|(name, text)| [*name, *text]);
        Fingerprint::of(sources.chain([parameters.as_str()])).to_string()
    }

    /// The cost of a unit, if it is known.
    pub fn get(&self, unit: &Unit) -> Option<Cost> {
        let mut value: Value = serde_json::from_str(&std::fs::read_to_string(self.path(unit)).ok()?).ok()?;
        (value["key"].as_str()? == self.key(unit)).then(|| serde_json::from_value(value["cost"].take()).ok()).flatten()
    }

    /// Keeps the cost of a unit. The file appears whole or not at all.
    pub fn put(&self, unit: &Unit, cost: &Cost) -> Result<(), Problem> {
        let path = self.path(unit);
        let part = path.with_extension("part");
        let text = format!("{:#}\n", json!({ "key": self.key(unit), "cost": cost.to_json(unit) }));
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, &path))
            .map_err(|error| file_problem(&path, &error))
    }
}

/// Synthesizes units, as many at a time as there are cores, the same circuit once. `rtl` has the sources; what is kept
/// is not made again.
pub fn synthesize_all(
    units: &[&Unit],
    rtl: &Path,
    kept: Option<&Kept>,
    tell: &(impl Fn(&str) + Sync),
) -> Result<Vec<Cost>, Problem> {
    let is_same = |a: &Unit, b: &Unit| (a.module, a.parameters) == (b.module, b.parameters);
    let first = |of: &Unit| units.iter().position(|unit| is_same(unit, of)).unwrap_or(0);
    let costs = pool::run(units.len(), pool::cores(), &|| false, |index| {
        let unit = units[index];
        if first(unit) < index {
            return Ok(None);
        }
        let place = format!("{} of {}: {}", index + 1, units.len(), unit.name);
        if let Some(cost) = kept.and_then(|kept| kept.get(unit)) {
            tell(&format!("{place} (finished before)"));
            return Ok(Some(cost));
        }
        tell(&place);
        let cost = synthesize(unit, rtl)?;
        kept.map_or(Ok(()), |kept| kept.put(unit, &cost))?;
        Ok(Some(cost))
    })?;
    let costs: Vec<Cost> = costs.into_iter().flatten().collect();
    let of = |unit: &&Unit| {
        let name = units[first(unit)].name;
        costs.iter().find(|cost| cost.name == name).map(|cost| Cost { name: unit.name.to_owned(), ..cost.clone() })
    };
    Ok(units.iter().filter_map(of).collect())
}

/// Synthesizes a unit.
pub fn synthesize(unit: &Unit, rtl: &Path) -> Result<Cost, Problem> {
    let module = unit.module;
    let read = |script: &str| {
        let set: String =
            unit.parameters.iter().map(|(name, value)| format!("chparam -set {name} {value} {module}; ")).collect();
        format!("read_verilog *.v; {set}{script}")
    };
    let fpga = yosys(
        rtl,
        &read(&format!("synth_xilinx -family xc7 -noiopad -noclkbuf -flatten -top {module}")),
        "delete t:FD* t:RAMB*;",
    )?;
    let block_memories = fpga.count(|cell| cell.starts_with("RAMB"));
    // Large memories are not made of gates.
    let gates = if block_memories == 0 {
        let script = format!("synth -flatten -top {module}; abc -g AND,NAND,OR,NOR,XOR,XNOR,MUX; opt_clean");
        let gates = yosys(rtl, &read(&script), "")?;
        Some((gates.count(|cell| !cell.contains("FF")), gates.depth))
    } else {
        None
    };
    Ok(Cost {
        name: unit.name.to_owned(),
        luts: fpga.count(|cell| cell.starts_with("LUT")),
        flip_flops: fpga.count(|cell| cell.starts_with("FD")),
        carries: fpga.count(|cell| cell == "CARRY4"),
        muxes: fpga.count(|cell| cell.starts_with("MUXF")),
        block_memories,
        depth: fpga.depth,
        gates: gates.map(|(gates, _)| gates),
        gate_depth: gates.map(|(_, depth)| depth),
    })
}

/// A netlist: how many cells of each kind, and how many on the longest path.
struct Netlist {
    cells: Vec<(String, u64)>,
    depth: u64,
}

impl Netlist {
    fn count(&self, kind: impl Fn(&str) -> bool) -> u64 {
        self.cells.iter().filter(|(name, _)| kind(name)).map(|(_, count)| count).sum()
    }
}

/// Runs Yosys in the directory of the sources. `cut` is a command that ends paths at registers and memories that Yosys
/// does not know as such.
fn yosys(rtl: &Path, script: &str, cut: &str) -> Result<Netlist, Problem> {
    let scratch = tempfile::tempdir().map_err(|error| file_problem(&std::env::temp_dir(), &error))?;
    let (stat, path) = (scratch.path().join("stat.json"), scratch.path().join("path.txt"));
    let script =
        format!("{script}; tee -q -o {} stat -json; {cut} tee -q -o {} ltp -noff", stat.display(), path.display());
    run(Command::new("yosys").current_dir(rtl).args(["-q", "-p", &script]))?;
    let read = |file: &Path| std::fs::read_to_string(file).map_err(|error| file_problem(file, &error));
    let unclear = |what: &str| Problem {
        what: format!("yosys did not say {what}"),
        help: "use the version of Debian 12, 0.23".to_owned(),
    };
    let stat: Value = serde_json::from_str(&read(&stat)?).map_err(|_| unclear("what it counted, as JSON"))?;
    let kinds = stat["design"]["num_cells_by_type"].as_object().ok_or_else(|| unclear("how many cells there are"))?;
    let cells = kinds.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap_or(0))).collect();
    let said = read(&path)?;
    let depth =
        said.split_once("(length=").and_then(|(_, rest)| rest.split_once(')')).and_then(|(n, _)| n.parse().ok());
    Ok(Netlist { cells, depth: depth.ok_or_else(|| unclear("how long the longest path is"))? })
}
