//! Flows from a file: `start_s,src,dst,bytes`, and `class` and `query` if wanted, in any order.
//!
//! Times are seconds from the start of the workload, decimal fractions down to the picosecond; they are read as they
//! stand, not by way of a binary fraction. Flows with the same query are the responses to one query of their
//! destination, which starts with the first of them.

use super::WorkloadSettings;
use super::planner::{Draft, Planner};
use super::read::Reader;
use super::read_sizes::read_file;
use crate::flow::{FlowSpec, QuerySpec};
use forebay_settings::{Diagnostic, nearest};
use forebay_tm::described::{Field, Kind};
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Instant};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvFlow {
    /// From the start of the workload.
    pub start: Duration,
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Payload.
    pub bytes: u64,
    /// Its class, if the file gives one.
    pub class: Option<u8>,
    /// Its query, numbered from 0 in the order of the file.
    pub query: Option<u32>,
}

/// Flows from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvConfig {
    /// The file, as the scenario names it.
    pub path: String,
    /// In the order of the file.
    pub flows: Arc<[CsvFlow]>,
}

/// What the values of a file are checked against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Hosts are below this.
    pub(super) hosts: u32,
    /// Classes are below this.
    pub(super) queues: usize,
    /// The time in the file at which the workload starts.
    pub(super) origin: Duration,
    /// Flows start before this, counted from the start of the workload.
    pub(super) span: Duration,
    /// Later flows are left out; otherwise they are errors.
    pub(super) cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Start,
    Src,
    Dst,
    Bytes,
    Class,
    Query,
}

const COLUMNS: [(&str, Column); 6] = [
    ("start_s", Column::Start),
    ("src", Column::Src),
    ("dst", Column::Dst),
    ("bytes", Column::Bytes),
    ("class", Column::Class),
    ("query", Column::Query),
];

const NEEDED: usize = 4;

const EXAMPLE: &str = "start with the line start_s,src,dst,bytes";

fn name_of(column: Column) -> &'static str {
    COLUMNS[column as usize].0
}

/// A line and where it stands.
struct Line<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn error(
        &self,
        span: Range<usize>,
        field: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::of_line(self.file, self.number, self.text, span, field, problem, remedy)
    }

    /// The values, without white space around them, and their columns.
    fn values(&self) -> impl Iterator<Item = (Range<usize>, &'a str)> {
        let text = self.text;
        let mut start = 0;
        text.split(',').map(move |raw| {
            let value = raw.trim();
            let from = start + (raw.len() - raw.trim_start().len());
            start += raw.len() + 1;
            (from..from + value.len(), value)
        })
    }

    fn columns(&self) -> Result<Vec<Column>, Diagnostic> {
        if !self.text.contains(|c: char| c.is_ascii_alphabetic()) {
            return Err(self.error(0..self.text.len(), "", "this line does not name the columns", EXAMPLE));
        }
        let known: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        let mut columns = Vec::new();
        for (span, name) in self.values() {
            let Some((_, column)) = COLUMNS.iter().find(|(known, _)| *known == name) else {
                let remedy = match nearest(name, &known) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("{EXAMPLE}; the other columns are {}", known[NEEDED..].join(", ")),
                };
                return Err(self.error(span, name, format!("there is no column \"{name}\""), remedy));
            };
            if columns.contains(column) {
                return Err(self.error(span, name, "this column is there twice", "remove one of them"));
            }
            columns.push(*column);
        }
        for (name, column) in &COLUMNS[..NEEDED] {
            if !columns.contains(column) {
                return Err(self.error(0..self.text.len(), name, "this column is missing", EXAMPLE));
            }
        }
        Ok(columns)
    }

    fn integer(&self, span: &Range<usize>, text: &str, column: Column) -> Result<u64, Diagnostic> {
        text.parse().map_err(|_| {
            let problem = if text.is_empty() {
                "there is no value".to_owned()
            } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
                format!("{text} is too large")
            } else {
                format!("\"{text}\" is not a whole number")
            };
            self.error(span.clone(), name_of(column), problem, "give a whole number, 0 or more")
        })
    }

    fn below(
        &self,
        span: &Range<usize>,
        text: &str,
        column: Column,
        limit: u64,
        what: &str,
    ) -> Result<u64, Diagnostic> {
        let value = self.integer(span, text, column)?;
        if value < limit {
            return Ok(value);
        }
        let problem = format!("there is no {what} {value}");
        Err(self.error(span.clone(), name_of(column), problem, format!("give 0 to {}", limit.saturating_sub(1))))
    }
}

/// Seconds as decimal text, in picoseconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| not_seconds(text))?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(not_seconds(text));
    }
    let fraction = fraction.trim_end_matches('0');
    let digits: String = whole.chars().chain(fraction.chars()).collect();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(not_seconds(text));
    }
    let too_large = || format!("{text} seconds are too many");
    if digits.bytes().all(|byte| byte == b'0') {
        return Ok(Duration::ZERO);
    }
    let value: u128 = digits.parse().map_err(|_| too_large())?;
    // The value is digits * 10^(exponent - decimals) seconds.
    let power = i64::from(exponent) - fraction.len() as i64 + i64::from(PS_PER_SECOND.ilog10());
    let scale = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10u128.checked_pow(power));
    let ps = if power >= 0 {
        scale.and_then(|scale| value.checked_mul(scale)).ok_or_else(too_large)?
    } else {
        match scale {
            Some(scale) if value % scale == 0 => value / scale,
            _ => return Err(format!("{text} is finer than a picosecond")),
        }
    };
    u64::try_from(ps).map(Duration::from_ps).map_err(|_| too_large())
}

fn not_seconds(text: &str) -> String {
    if text.is_empty() { "there is no value".to_owned() } else { format!("\"{text}\" is not a number of seconds") }
}

/// A query as far as it has been read.
struct Known {
    number: u32,
    host: u32,
}

/// Reads a file of flows; `file` is what errors call it.
pub(super) fn parse(file: &str, text: &str, limits: &Limits) -> Result<Vec<CsvFlow>, Diagnostic> {
    let mut lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(index, text)| Line { file, number: index + 1, text })
        .filter(|line| !line.text.trim().is_empty());
    let Some(header) = lines.next() else {
        return Err(Diagnostic::of_file(file, "the file is empty", EXAMPLE));
    };
    let columns = header.columns()?;
    let mut queries: BTreeMap<u64, Known> = BTreeMap::new();
    let mut flows = Vec::new();
    for line in lines {
        if let Some(flow) = read_line(&line, &columns, limits, &mut queries)? {
            flows.push(flow);
        }
    }
    Ok(flows)
}

/// The flow of a line; `None` if it is left out.
fn read_line(
    line: &Line<'_>,
    columns: &[Column],
    limits: &Limits,
    queries: &mut BTreeMap<u64, Known>,
) -> Result<Option<CsvFlow>, Diagnostic> {
    let values: Vec<_> = line.values().collect();
    if values.len() != columns.len() {
        let problem = format!("there are {} values for {} columns", values.len(), columns.len());
        let remedy = format!("give {} values, as the first line says", columns.len());
        return Err(line.error(0..line.text.len(), "", problem, remedy));
    }
    let mut flow = CsvFlow { start: Duration::ZERO, src: 0, dst: 0, bytes: 0, class: None, query: None };
    let mut query = None;
    let mut is_late = false;
    for ((span, value), column) in values.iter().zip(columns) {
        let host = || line.below(span, value, *column, u64::from(limits.hosts), "host").map(|host| host as u32);
        match column {
            Column::Start => {
                let remedy = "give seconds such as 0.000012, down to the picosecond";
                let at = seconds(value).map_err(|problem| line.error(span.clone(), "start_s", problem, remedy))?;
                if at < limits.origin {
                    let problem = format!("{value} is before the origin, {}", limits.origin);
                    return Err(line.error(span.clone(), "start_s", problem, "give an earlier origin"));
                }
                flow.start = Duration::from_ps(at.ps() - limits.origin.ps());
                is_late = flow.start >= limits.span;
                if is_late && !limits.cut {
                    let problem = format!("this flow starts when the workload is over, after {}", limits.span);
                    let remedy = "give a longer duration, or a stop to leave out what is later";
                    return Err(line.error(span.clone(), "start_s", problem, remedy));
                }
            }
            Column::Src => flow.src = host()?,
            Column::Dst => flow.dst = host()?,
            Column::Bytes => {
                flow.bytes = line.integer(span, value, *column)?;
                if flow.bytes == 0 || flow.bytes == u64::MAX {
                    return Err(line.error(span.clone(), "bytes", format!("{value} is not a size"), "give at least 1"));
                }
            }
            Column::Class => {
                let limit = limits.queues.min(256) as u64;
                flow.class = Some(line.below(span, value, *column, limit, "class")? as u8);
            }
            // Flows without a query may stand between those that have one.
            Column::Query if value.is_empty() => {}
            Column::Query => query = Some((line.integer(span, value, *column)?, span.clone())),
        }
    }
    if flow.src == flow.dst {
        let problem = format!("host {} sends to itself", flow.src);
        return Err(line.error(0..line.text.len(), "dst", problem, "give another destination"));
    }
    if is_late {
        return Ok(None);
    }
    if let Some((name, span)) = query {
        let next = queries.len() as u32;
        let known = queries.entry(name).or_insert(Known { number: next, host: flow.dst });
        if known.host != flow.dst {
            let problem = format!("the responses to query {name} go to host {} and host {}", known.host, flow.dst);
            return Err(line.error(span, "query", problem, "give all responses to a query the same destination"));
        }
        flow.query = Some(known.number);
    }
    Ok(Some(flow))
}

impl WorkloadSettings for CsvConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::needed("path", Kind::Special("path"), "The file, seen from the directory of the scenario."),
        Field::optional("origin", Kind::Duration, "The time in the file at which the workload starts; default 0."),
        Field::optional("limit", Kind::Count, "Only the first so many flows of the file; default all."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let value = reader.table.need("path", "path = \"flows.csv\"")?;
        let (name, text) = read_file(&value, reader.context)?;
        let limits = Limits {
            hosts: reader.hosts.racks.hosts(),
            queues: reader.context.queues,
            origin: reader.duration("origin", Duration::ZERO)?,
            span: reader.span,
            cut: reader.get("stop").is_some(),
        };
        let mut flows = parse(&name, &text, &limits)?;
        if let Some(value) = reader.get("limit") {
            let limit: usize = value.number()?;
            if limit == 0 || limit > flows.len() {
                let problem = format!("there are {} flows in {name}", flows.len());
                return Err(value.error(problem, format!("give 1 to {}", flows.len())));
            }
            flows.truncate(limit);
        }
        Ok(Self { path: value.text()?.to_owned(), flows: flows.into() })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let mut draft = Draft::default();
        let count = self.flows.iter().filter_map(|flow| flow.query).max().map_or(0, |last| last as usize + 1);
        let mut queries: Vec<QuerySpec> = vec![planner.query(Instant::NEVER, 0, 0, 0); count];
        for row in self.flows.iter() {
            let flow = planner.flow(row.src, row.dst, row.bytes);
            let start = flow.start + row.start;
            let mut spec = FlowSpec { start, class: row.class.unwrap_or(flow.class), ..flow };
            if let Some(number) = row.query {
                let query = &mut queries[number as usize];
                query.start = query.start.min(start);
                query.host = row.dst;
                query.fan_in += 1;
                query.bytes += row.bytes;
                spec.query = number;
            }
            draft.push(spec);
        }
        draft.queries = queries;
        draft
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{one_switch, plan_of};
    use super::*;

    fn limits() -> Limits {
        Limits { hosts: 8, queues: 2, origin: Duration::ZERO, span: Duration::from_us(1_000_000), cut: false }
    }

    #[test]
    fn times_are_exact_to_the_picosecond() {
        for (text, ps) in [
            ("0", 0),
            ("1.000000000001", 1_000_000_000_001),
            ("0.12133819597", 121_338_195_970),
            ("3.", 3_000_000_000_000),
            (".5", 500_000_000_000),
            ("1e-6", 1_000_000),
            ("0.10000000000000000000000000000000000000000000000000", 100_000_000_000),
            ("000000000000000000000000000000000000000000000000001", 1_000_000_000_000),
            (".0", 0),
            ("2.5e-7", 250_000),
        ] {
            assert_eq!(seconds(text).unwrap().ps(), ps, "{text}");
        }
        assert!(seconds("1.5E-12").unwrap_err().contains("finer than a picosecond"));
        // More digits than a double has.
        assert_eq!(seconds("18446744.073709551615").unwrap().ps(), u64::MAX);
        for bad in ["", "x", "1.2.3", "-1", "1e", "18446744.073709551616", "1e99", "1e-99", "+-1", "nan"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn columns_in_any_order() {
        let text =
            "dst, src,bytes,query,start_s,class\n1,0,100,7,0.5,1\n1,2,50,7,0.25,0\n\n3,2,60,,0.1,0\n4,2,9,1,0.1,0\n";
        let flows = parse("f.csv", text, &limits()).unwrap();
        let config = CsvConfig { path: "f.csv".to_owned(), flows: flows.into() };
        let plan = plan_of(WorkloadKind::Csv(config), 1_000, &one_switch(8), 1);
        assert_eq!(plan.flows.len(), 4);
        assert_eq!(plan.queries.len(), 2);
        let last = plan.flows[3];
        assert_eq!((last.src, last.dst, last.bytes, last.class), (0, 1, 100, 1));
        assert_eq!(last.start.ps(), 500_000_000_000);
        let query = plan.queries[last.query as usize];
        assert_eq!((query.host, query.fan_in, query.bytes, query.start.ps()), (1, 2, 150, 250_000_000_000));
        assert_eq!(plan.flows[2].query, last.query);
    }

    #[test]
    fn errors_name_the_line_and_the_place() {
        let head = "start_s,src,dst,bytes,class,query\n";
        for (text, line, field, columns, problem) in [
            ("0,1,2,3\n".to_owned(), 1, "", 0..7, "does not name the columns"),
            ("start,src,dst,bytes\n".to_owned(), 1, "start", 0..5, "no column \"start\""),
            ("start_s,src,dst\n".to_owned(), 1, "bytes", 0..15, "missing"),
            ("start_s,src,src,bytes\n".to_owned(), 1, "src", 12..15, "twice"),
            (format!("{head}0,1,2,10,0,0\nx,1,2,3,0,0\n"), 3, "start_s", 0..1, "\"x\" is not a number of seconds"),
            (format!("{head}0,8,2,10,0,0\n"), 2, "src", 2..3, "there is no host 8"),
            (format!("{head}0,1,-2,10,0,0\n"), 2, "dst", 4..6, "\"-2\" is not a whole number"),
            (format!("{head}0,1,2,1.5,0,0\n"), 2, "bytes", 6..9, "\"1.5\" is not a whole number"),
            (format!("{head}0,1,2,0,0,0\n"), 2, "bytes", 6..7, "0 is not a size"),
            (format!("{head}0,1,2,9,2,0\n"), 2, "class", 8..9, "there is no class 2"),
            (format!("{head}0,1,1,9,0,0\n"), 2, "dst", 0..11, "sends to itself"),
            (format!("{head}0,1,2,9,0\n"), 2, "", 0..9, "5 values for 6 columns"),
            (format!("{head}0,1,2,9,0,4\n0,1,3,9,0,4\n"), 3, "query", 10..11, "go to host 2 and host 3"),
            (format!("{head}\n1.0, 1,2,9,0,4\n"), 3, "start_s", 0..3, "when the workload is over, after 1s"),
            (format!("{head}0, 9,2,9,0,4\n"), 2, "src", 3..4, "no host 9"),
        ] {
            let error = parse("f.csv", &text, &limits()).expect_err(&text);
            assert_eq!((error.line, error.field.as_str()), (Some(line), field), "{text}{error}");
            assert_eq!(error.excerpt.as_ref().map(|(_, columns)| columns.clone()), Some(columns), "{text}{error}");
            assert!(error.problem.contains(problem), "{text}{error}");
            assert!(!error.remedy.is_empty());
        }
        assert!(parse("f.csv", "\n", &limits()).unwrap_err().problem.contains("empty"));
    }

    #[test]
    fn an_origin_and_a_cut() {
        let text = "start_s,src,dst,bytes\n1.1,0,1,5\n1.2,0,1,6\n1.4,0,1,7\n";
        let window =
            Limits { origin: Duration::from_us(1_100_000), span: Duration::from_us(200_000), cut: true, ..limits() };
        let flows = parse("f.csv", text, &window).unwrap();
        assert_eq!(flows.iter().map(|flow| flow.start.ps()).collect::<Vec<_>>(), [0, 100_000_000_000]);
        let late = Limits { origin: Duration::from_us(1_150_000), ..window };
        let error = parse("f.csv", text, &late).unwrap_err();
        assert!(error.line == Some(2) && error.problem.contains("before the origin, 1.15s"), "{error}");
    }
}
