//! Points that hardware tests assert, beside what the core does with the same configuration.
//!
//! Each row of the CSV file is a switch: its pools and profiles become cells by the rules of its chip family
//! ([`crate::rules`]), and packets are sent through both sides of the core until it pauses and drops
//! ([`crate::blocked`]).

use crate::SonicError;
use crate::blocked::Parts;
use crate::chip::{Chip, SizeMeaning};
use crate::fill::Side;
use crate::rules::{PoolBytes, ProfileBytes, Reserved, Threshold};
use forebay_tm::ConfigError;
use forebay_tm::ingress::{Limit, MAX_CELLS, PoolConfig};
use serde::Serialize;

/// A row, read.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub row: String,
    chip: Chip,
    device: String,
    topo: String,
    packet: u32,
    ingress: PoolBytes,
    egress: Option<PoolBytes>,
    group: ProfileBytes,
    lossy_group: Threshold,
    lossy_queue: Option<ProfileBytes>,
    reserved: Reserved,
    several: Option<Several>,
    asserted: Asserted,
}

#[derive(Clone, Copy, Debug)]
enum Several {
    Equal(usize),
    OneByOne(usize),
}

#[derive(Clone, Copy, Debug, Default)]
struct Asserted {
    pause: Option<u64>,
    ingress_drop: Option<u64>,
    egress_drop: Option<u64>,
    several: Option<u64>,
}

/// What was simulated and what is asserted, in packets; in cells where the file has these (Spectrum). An error is
/// relative.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The row.
    pub row: String,
    /// The chip family.
    pub asic: String,
    /// The device.
    pub device: String,
    /// The packet that asks for pause.
    pub pause_simulated: Option<u64>,
    /// As the hardware test has it.
    pub pause_asserted: Option<u64>,
    /// simulated / asserted - 1.
    pub pause_error: Option<f64>,
    /// The packet that ingress drops.
    pub ingress_drop_simulated: Option<u64>,
    /// As the hardware test has it.
    pub ingress_drop_asserted: Option<u64>,
    /// simulated / asserted - 1.
    pub ingress_drop_error: Option<f64>,
    /// The packet of a lossy queue that is dropped.
    pub egress_drop_simulated: Option<u64>,
    /// As the hardware test has it.
    pub egress_drop_asserted: Option<u64>,
    /// simulated / asserted - 1.
    pub egress_drop_error: Option<f64>,
    /// The side that dropped it.
    pub egress_drop_side: Option<&'static str>,
    /// The packet of each of several PGs, filled equally or one by one, that asks for pause.
    pub several_simulated: Option<u64>,
    /// As the hardware test has it.
    pub several_asserted: Option<u64>,
    /// simulated / asserted - 1.
    pub several_error: Option<f64>,
    /// Cells that the PG has when it asks to resume.
    pub resume_simulated: Option<u64>,
    /// Shared cells of a partition, and how they came about.
    pub derivation: Vec<String>,
}

/// How many of the asserted points are within a share of the simulated ones: (within, all).
pub fn within(errors: impl Iterator<Item = Option<f64>>, share: f64) -> (usize, usize) {
    let errors: Vec<f64> = errors.flatten().collect();
    (errors.iter().filter(|error| error.abs() <= share).count(), errors.len())
}

/// Reads rows.
///
/// # Errors
/// If a column is missing, or a value is not what its column has.
pub fn read_rows(file: &str, text: &str) -> Result<Vec<Row>, SonicError> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| unreadable(file, &error))?.clone();
    let mut rows = vec![];
    for (place, record) in reader.records().enumerate() {
        let record = record.map_err(|error| unreadable(file, &error))?;
        let line = record.position().map_or(place as u64 + 2, csv::Position::line);
        rows.push(Fields { file, line, headers: &headers, record: &record }.row()?);
    }
    if rows.is_empty() {
        return Err(SonicError::new(file, "it has no rows", "give a header and a line for each switch"));
    }
    Ok(rows)
}

fn unreadable(file: &str, error: &csv::Error) -> SonicError {
    let line = error.position().map_or(String::new(), |position| format!(":{}", position.line()));
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, where the header has {expected_len}")
        }
        _ => error.to_string(),
    };
    SonicError::new(
        format!("{file}{line}"),
        problem,
        "write comma-separated values with a header, as in docs/operators.md",
    )
}

struct Fields<'a> {
    file: &'a str,
    line: u64,
    headers: &'a csv::StringRecord,
    record: &'a csv::StringRecord,
}

impl Fields<'_> {
    fn error(&self, column: &str, problem: impl Into<String>, remedy: impl Into<String>) -> SonicError {
        SonicError::new(format!("{}:{}: column {column}", self.file, self.line), problem, remedy)
    }

    /// The text of a column, or nothing if it is empty.
    fn text(&self, column: &str) -> Result<Option<&str>, SonicError> {
        let place = self.headers.iter().position(|header| header.trim() == column);
        let place = place.ok_or_else(|| self.error(column, "there is no such column", "add it; it may be empty"))?;
        Ok(self.record.get(place).map(str::trim).filter(|text| !text.is_empty()))
    }

    fn need(&self, column: &str) -> Result<&str, SonicError> {
        self.text(column)?.ok_or_else(|| self.error(column, "it is empty", "give a value"))
    }

    fn number<T: std::str::FromStr>(&self, column: &str) -> Result<Option<T>, SonicError> {
        let Some(text) = self.text(column)? else { return Ok(None) };
        let number =
            text.parse().map_err(|_| self.error(column, format!("\"{text}\" is not a number"), "give a whole number"));
        number.map(Some)
    }

    fn need_number<T: std::str::FromStr>(&self, column: &str) -> Result<T, SonicError> {
        self.need(column)?;
        self.number(column)?.ok_or_else(|| self.error(column, "it is empty", "give a whole number"))
    }

    fn exponent(&self, column: &str) -> Result<i64, SonicError> {
        let th = self.need_number(column)?;
        if (-8..=7).contains(&th) {
            return Ok(th);
        }
        Err(self.error(column, format!("{th} is not a dynamic_th"), "give a whole number from -8 to 7"))
    }

    /// `dynamic 3` or `static 44302336`.
    fn threshold(&self, column: &str) -> Result<Threshold, SonicError> {
        // Without a limit, the pool is one.
        let Some(text) = self.text(column)? else { return Ok(Threshold::Static(u64::MAX)) };
        let threshold = match text.split_once(' ') {
            Some(("dynamic", th)) => th.trim().parse().ok().filter(|th| (-8..=7).contains(th)).map(Threshold::Dynamic),
            Some(("static", bytes)) => bytes.trim().parse().ok().map(Threshold::Static),
            _ => None,
        };
        threshold.ok_or_else(|| {
            self.error(
                column,
                format!("\"{text}\" is not a limit"),
                "write \"dynamic 3\" (-8 to 7) or \"static 44302336\"",
            )
        })
    }

    /// The family, with what the row says itself.
    fn chip(&self) -> Result<Chip, SonicError> {
        let name = self.need("asic")?;
        let mut chip = Chip::by_name(name)
            .map_err(|error| self.error("asic", error.place + ": " + &error.problem, error.remedy))?
            .clone();
        if let Some(sem) = self.text("sem")? {
            chip.size = match sem {
                "net" => SizeMeaning::Net,
                "gross" | "gross_pg" | "gross_hdrm" => SizeMeaning::Gross,
                _ => {
                    let remedy = "write net, gross, gross_pg or gross_hdrm, or leave it empty";
                    return Err(self.error("sem", format!("\"{sem}\" is not a reading of sizes"), remedy));
                }
            };
        }
        // A gross size includes the minimums of PGs: where nothing is reserved though PGs have minimums, the size is
        // net.
        let reserves_nothing = self.number("pg_res")? == Some(0) && self.number("q_res")?.unwrap_or(0) == 0;
        if self.text("sem")?.is_none() && reserves_nothing && self.need_number::<u64>("pg_size")? > 0 {
            chip.size = SizeMeaning::Net;
        }
        chip.cell = self.number("cell")?.unwrap_or(chip.cell);
        chip.partitions = self.number("parts")?.unwrap_or(chip.partitions);
        for (column, value) in [("cell", u64::from(chip.cell)), ("parts", chip.partitions)] {
            if value == 0 || value > 1 << 16 {
                return Err(self.error(column, format!("{value} cannot be"), "give a whole number from 1 to 65536"));
            }
        }
        Ok(chip)
    }

    fn several(&self) -> Result<Option<Several>, SonicError> {
        let Some(text) = self.text("n_multi")? else { return Ok(None) };
        let (count, several): (_, fn(usize) -> Several) = match text.strip_prefix("seq") {
            Some(count) => (count, Several::OneByOne),
            None => (text, Several::Equal),
        };
        let count = count.parse().ok().filter(|count| (1..=4096).contains(count));
        let remedy = "write a number of PGs such as 10, or seq2 for two of them one by one";
        count
            .map(|count| Some(several(count)))
            .ok_or_else(|| self.error("n_multi", format!("\"{text}\" is not a number of PGs"), remedy))
    }

    fn row(&self) -> Result<Row, SonicError> {
        let chip = self.chip()?;
        let group = ProfileBytes {
            size: self.need_number("pg_size")?,
            threshold: Threshold::Dynamic(self.exponent("pg_th")?),
            xon: self.number("pg_xon")?.unwrap_or(0),
            xoff: Some(self.need_number("pg_xoff")?),
            xon_offset: self.number("pg_xon_offset")?.unwrap_or(0),
        };
        let egress = self.number("egr_size")?.map(|size| PoolBytes { size, xoff: 0 });
        let queue =
            |size, th| ProfileBytes { size, threshold: Threshold::Dynamic(th), xon: 0, xoff: None, xon_offset: 0 };
        let lossy_queue = match egress {
            Some(_) if self.text("elossy_th")?.is_some() => {
                Some(queue(self.number("elossy_size")?.unwrap_or(0), self.exponent("elossy_th")?))
            }
            _ => None,
        };
        let packet = self.need_number("pkt_bytes")?;
        if packet == 0 || packet > 1 << 16 {
            return Err(self.error("pkt_bytes", format!("{packet} is not the size of a packet"), "give 1 to 65536"));
        }
        Ok(Row {
            row: self.need("row")?.to_owned(),
            device: self.text("device")?.unwrap_or("").to_owned(),
            topo: self.text("topo")?.unwrap_or("").to_owned(),
            packet,
            ingress: PoolBytes { size: self.need_number("ing_size")?, xoff: self.number("ing_xoff")?.unwrap_or(0) },
            egress,
            group,
            lossy_group: self.threshold("ing_lossy_th")?,
            lossy_queue,
            reserved: Reserved {
                groups: self.number("pg_res")?.unwrap_or(0),
                queues: self.number("q_res")?.unwrap_or(0),
            },
            several: self.several()?,
            asserted: Asserted {
                pause: self.number("pfc")?,
                ingress_drop: self.number("ingr")?,
                egress_drop: self.number("egr")?,
                several: self.number("multi")?,
            },
            chip,
        })
    }
}

/// Dual-ToR switches have two lossless PGs more on their ports than the usual two.
const LOSSLESS_PGS: u64 = 2;
const DUAL_TOR_LOSSLESS_PGS: u64 = 4;

impl Row {
    /// Builds the row's switch, fills it with packets, and puts what happens beside what is asserted.
    ///
    /// # Errors
    /// If the row's numbers do not make a switch.
    pub fn compare(&self) -> Result<Compared, SonicError> {
        let named = |error: SonicError| SonicError { place: format!("row {}: {}", self.row, error.place), ..error };
        let core = |error: ConfigError| {
            SonicError::new(format!("row {}: {} = {}", self.row, error.field, error.value), error.problem, error.remedy)
        };
        let shared = self.chip.ingress_shared(&self.ingress, self.reserved).map_err(named)?;
        let parts = self.parts(shared.cells).map_err(named)?;
        let blocked = |senders: usize| parts.blocked(senders, self.packet).map_err(core);
        let filled = blocked(1)?.fill();
        let several = match self.several {
            Some(Several::Equal(count)) => blocked(count)?.fill().pause,
            Some(Several::OneByOne(count)) => blocked(count)?.fill_one_by_one(),
            None => None,
        };
        let lossy = match parts.queue {
            Some(_) => Some(blocked(1)?.fill_lossy()),
            None => None,
        };
        let mut derivation = shared.steps;
        derivation.extend(parts.lossless.group.steps);
        let of = |packets: Option<u64>| packets.map(|packets| self.shown(packets));
        Ok(Compared {
            row: self.row.clone(),
            asic: self.chip.name.clone(),
            device: self.device.clone(),
            pause_simulated: of(filled.pause),
            pause_asserted: self.asserted.pause,
            pause_error: error_of(of(filled.pause), self.asserted.pause),
            ingress_drop_simulated: Some(self.shown(filled.drop)),
            ingress_drop_asserted: self.asserted.ingress_drop,
            ingress_drop_error: error_of(Some(self.shown(filled.drop)), self.asserted.ingress_drop),
            egress_drop_simulated: of(lossy.map(|(packets, _)| packets)),
            egress_drop_asserted: self.asserted.egress_drop,
            egress_drop_error: error_of(of(lossy.map(|(packets, _)| packets)), self.asserted.egress_drop),
            egress_drop_side: lossy.map(|(_, side)| side),
            several_simulated: of(several),
            several_asserted: self.asserted.several,
            several_error: error_of(of(several), self.asserted.several),
            resume_simulated: filled.resume,
            derivation,
        })
    }

    /// The row's lossless PG in a pool of so many shared cells: what [`Row::compare`] fills.
    pub fn lossless(&self, shared: u64) -> Side {
        let is_dual_tor = [&self.topo, &self.device]
            .iter()
            .any(|text| text.to_ascii_lowercase().replace('-', "").contains("dualtor"));
        let groups = if is_dual_tor { DUAL_TOR_LOSSLESS_PGS } else { LOSSLESS_PGS };
        let group = self.chip.group(&self.group, self.group.xoff.unwrap_or(0).saturating_mul(groups));
        let pool = PoolConfig { shared, headroom: self.chip.headroom_pool(&self.ingress) };
        Side { cell: self.chip.cell, pool, port: Limit::None, group }
    }

    /// Shared cells of the row's ingress pool in a partition.
    ///
    /// # Errors
    /// As [`Row::compare`].
    pub fn shared(&self) -> Result<u64, SonicError> {
        Ok(self.chip.ingress_shared(&self.ingress, self.reserved)?.cells)
    }

    /// The size of the row's packets.
    pub fn packet(&self) -> u32 {
        self.packet
    }

    /// Packets as the file counts them: packets of one cell, or the cells of larger ones.
    fn shown(&self, packets: u64) -> u64 {
        packets * self.chip.cells_up(u64::from(self.packet))
    }

    /// Both sides of one partition. A row does not name the ingress pool of lossy packets. It is the one of lossless
    /// packets, unless the egress pool is larger, for then there must be another.
    ///
    /// # Errors
    /// As [`Row::compare`].
    pub fn parts(&self, shared: u64) -> Result<Parts, SonicError> {
        let side = |shared, group| {
            let pool = PoolConfig { shared, headroom: None };
            Side { cell: self.chip.cell, pool, port: Limit::None, group }
        };
        let queue = match (&self.egress, &self.lossy_queue) {
            (Some(egress), Some(queue)) => {
                let derived = self.chip.egress_shared(egress, Some(&self.ingress), self.reserved)?;
                Some(side(derived.cells, self.chip.queue(queue)))
            }
            _ => None,
        };
        let in_one_pool = self.egress.as_ref().is_none_or(|egress| egress.size <= self.ingress.size);
        let profile = ProfileBytes { size: 0, threshold: self.lossy_group, xon: 0, xoff: None, xon_offset: 0 };
        let mut group = self.chip.queue(&profile);
        if !in_one_pool {
            group.limit = Limit::None;
        }
        let lossy = side(if in_one_pool { shared } else { MAX_CELLS }, group);
        Ok(Parts { lossless: self.lossless(shared), lossy, in_one_pool, queue })
    }
}

fn error_of(simulated: Option<u64>, asserted: Option<u64>) -> Option<f64> {
    let (simulated, asserted) = (simulated?, asserted.filter(|asserted| *asserted > 0)?);
    Some(simulated as f64 / asserted as f64 - 1.0)
}
