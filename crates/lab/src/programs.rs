//! Real programs on the hosts of an experiment: started at their times, their output kept, their main numbers found in
//! it.

use crate::clock;
use crate::error::{self, Result};
use crate::layout::Layout;
use crate::program::cannot_start;
use crate::switch_process::own_program;
use forebay_results::stats::{mean, percentile};
use forebay_settings::{Diagnostic, Table};
use forebay_tm::Duration;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration as Span, Instant};

/// What is looked for in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parse {
    /// Nothing.
    Nothing,
    /// The JSON of `iperf3 -J`.
    Iperf3,
    /// The lines of `ping`.
    Ping,
    /// A JSON object of numbers, such as that of `forebay lab load`.
    Json,
}

/// A `[[program]]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What it is called in results.
    pub name: String,
    /// The scenario's name of its host.
    pub host: String,
    /// The command, with `{host1}` for the address of a host.
    pub command: String,
    /// It is started before the experiment and ended after it.
    pub server: bool,
    /// When it starts.
    pub start: Duration,
    /// What is looked for in its output.
    pub parse: Parse,
}

const KEYS: [&str; 6] = ["name", "host", "command", "server", "start", "parse"];

/// Reads a `[[program]]` table.
pub fn read(table: &Table<'_>) -> std::result::Result<Program, Diagnostic> {
    table.allow(&KEYS, |_| false, "")?;
    let name = table.need("name", "name = \"ping\"")?;
    let text = name.text()?;
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
        return Err(name.error("its output is kept in a file of this name", "give letters, digits, dashes"));
    }
    let words = [("none", Parse::Nothing), ("iperf3", Parse::Iperf3), ("ping", Parse::Ping), ("json", Parse::Json)];
    Ok(Program {
        name: text.to_owned(),
        host: table.need("host", "host = \"host0\"")?.text()?.to_owned(),
        command: table.need("command", "command = \"ping -c 10 {host1}\"")?.text()?.to_owned(),
        server: table.get("server").map_or(Ok(false), |value| value.boolean())?,
        start: table.get("start").map_or(Ok(Duration::ZERO), |value| value.duration())?,
        parse: table.get("parse").map_or(Ok(Parse::Nothing), |value| value.word(&words))?,
    })
}

/// A program that runs.
struct Running {
    program: Program,
    child: Child,
    output: PathBuf,
}

/// All programs of a run.
pub struct Programs {
    waiting: Vec<Program>,
    running: Vec<Running>,
    names: Vec<String>,
    layout: Layout,
    directory: PathBuf,
}

impl Programs {
    /// Starts the servers. `names` are the scenario's names of the hosts; outputs go into `directory`.
    pub fn start(programs: &[Program], names: &[String], layout: &Layout, directory: &Path) -> Result<Self> {
        let mut own = Self {
            waiting: Vec::new(),
            running: Vec::new(),
            names: names.to_vec(),
            layout: layout.clone(),
            directory: directory.to_owned(),
        };
        for program in programs {
            if program.server { own.launch(program)? } else { own.waiting.push(program.clone()) }
        }
        own.waiting.sort_by_key(|program| std::cmp::Reverse(program.start));
        Ok(own)
    }

    fn launch(&mut self, program: &Program) -> Result<()> {
        let number = self.names.iter().position(|name| *name == program.host).ok_or_else(|| {
            let names = format!("there are {} to {}", self.names[0], self.names[self.names.len() - 1]);
            error::problem(
                format_args!("program {}: the scenario has no host \"{}\"", program.name, program.host),
                names,
            )
        })?;
        let output = self.directory.join(format!("{}.out", program.name));
        let file = File::create(&output).map_err(|error| error::of_file(&output, "write", &error))?;
        let errors = file.try_clone().map_err(|error| error::of_file(&output, "write", &error))?;
        let mut command = Command::new("ip");
        command.args([
            "netns",
            "exec",
            &self.layout.hosts[number].namespace,
            "sh",
            "-c",
            &self.filled(&program.command)?,
        ]);
        command.stdin(Stdio::null()).stdout(file).stderr(errors).process_group(0);
        let child = command.spawn().map_err(|error| cannot_start("ip", &error))?;
        self.running.push(Running { program: program.clone(), child, output });
        Ok(())
    }

    /// The command with addresses in place of the hosts' names.
    fn filled(&self, command: &str) -> Result<String> {
        let mut filled = command.to_owned();
        for (name, host) in self.names.iter().zip(&self.layout.hosts) {
            filled = filled.replace(&format!("{{{name}}}"), &host.address.to_string());
        }
        match filled.strip_prefix("forebay ") {
            Some(rest) => Ok(format!("{} {rest}", own_program()?)),
            None => Ok(filled),
        }
    }

    /// Starts those whose time has come.
    pub fn look(&mut self, now: u64) -> Result<()> {
        while self.waiting.last().is_some_and(|program| program.start.ps() / 1_000 <= now) {
            let Some(program) = self.waiting.pop() else { break };
            self.launch(&program)?;
        }
        Ok(())
    }

    /// Whether all that end by themselves have.
    pub fn are_done(&mut self) -> bool {
        let ended = |own: &mut Running| own.program.server || !matches!(own.child.try_wait(), Ok(None));
        self.waiting.is_empty() && self.running.iter_mut().all(ended)
    }

    /// Ends all programs. Their numbers, by `NAME.NUMBER`, and what went wrong.
    pub fn finish(mut self) -> (BTreeMap<String, f64>, Vec<String>) {
        let (mut numbers, mut problems) = (BTreeMap::new(), Vec::new());
        for mut own in self.running.drain(..) {
            let status = own.child.try_wait();
            let name = &own.program.name;
            match status {
                Ok(Some(status)) if !status.success() && !own.program.server => {
                    problems.push(format!("program {name} failed: {status}"));
                }
                Ok(None) => {
                    if !own.program.server {
                        problems.push(format!("program {name} had not ended when the run was over"));
                    }
                    end(&mut own.child);
                }
                _ => {}
            }
            let said = std::fs::read_to_string(&own.output).unwrap_or_default();
            let found = parse(own.program.parse, &said);
            if found.is_empty() && own.program.parse != Parse::Nothing {
                problems.push(format!(
                    "program {name}: no numbers in what it said: {}",
                    said.trim().lines().next().unwrap_or("")
                ));
            }
            numbers.extend(found.into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
        }
        (numbers, problems)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        for own in &mut self.running {
            end(&mut own.child);
        }
    }
}

/// Ends a program and what it has started.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    for signal in [Signal::TERM, Signal::KILL] {
        if let Some(group) = group {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, signal);
        }
        let limit = Instant::now() + Span::from_secs(2);
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < limit {
            clock::sleep_until(clock::now() + 10_000_000);
        }
    }
    // It has ended, or cannot be ended.
    let _ = child.try_wait();
}

/// The main numbers of an output.
fn parse(kind: Parse, said: &str) -> BTreeMap<String, f64> {
    match kind {
        Parse::Nothing => BTreeMap::new(),
        Parse::Iperf3 => iperf3(said).unwrap_or_default(),
        Parse::Ping => ping(said),
        Parse::Json => json(said),
    }
}

/// The last line that is an object of numbers.
fn json(said: &str) -> BTreeMap<String, f64> {
    said.lines().rev().map(numbers_of).find(|numbers| !numbers.is_empty()).unwrap_or_default()
}

/// The numbers of a JSON object; none if it is not one.
pub fn numbers_of(text: &str) -> BTreeMap<String, f64> {
    let object: Option<Value> = serde_json::from_str(text).ok();
    let numbers = object.as_ref().and_then(Value::as_object).into_iter().flatten();
    numbers.filter_map(|(key, value)| Some((key.clone(), value.as_f64()?))).collect()
}

fn iperf3(said: &str) -> Option<BTreeMap<String, f64>> {
    let report: Value = serde_json::from_str(said).ok()?;
    let end = &report["end"];
    let sum = ["sum_received", "sum"].iter().find_map(|key| end.get(key))?;
    let mut numbers = BTreeMap::from([("goodput_mbps".to_owned(), sum["bits_per_second"].as_f64()? / 1e6)]);
    let retransmits = end["sum_sent"]["retransmits"].as_f64();
    numbers.extend(retransmits.map(|value| ("retransmits".to_owned(), value)));
    numbers.extend(sum["lost_percent"].as_f64().map(|value| ("lost_percent".to_owned(), value)));
    Some(numbers)
}

fn ping(said: &str) -> BTreeMap<String, f64> {
    let time = |line: &str| line.split_once("time=")?.1.split_whitespace().next()?.parse::<f64>().ok();
    let times: Vec<f64> = said.lines().filter_map(time).collect();
    let mut numbers = percentiles(times, "_ms");
    let lost = said.lines().find_map(|line| line.split_once("% packet loss")?.0.rsplit(' ').next()?.parse().ok());
    numbers.extend(lost.map(|lost| ("lost_percent".to_owned(), lost)));
    numbers
}

/// Mean, median, 99th percentile and the largest of numbers, with a unit behind their names; nothing of none.
pub fn percentiles(mut values: Vec<f64>, unit: &str) -> BTreeMap<String, f64> {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| percentile(&values, share);
    let named = [("mean", mean(&values)), ("p50", at(0.5)), ("p99", at(0.99)), ("max", at(1.0))];
    named.into_iter().filter_map(|(name, value)| Some((format!("{name}{unit}"), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_outputs() {
        let said = "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=1.5 ms\n64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.5 ms\n\
                    3 packets transmitted, 2 received, 33.3333% packet loss, time 3ms\n";
        let numbers = parse(Parse::Ping, said);
        assert_eq!((numbers["mean_ms"], numbers["p50_ms"], numbers["max_ms"]), (1.0, 0.5, 1.5));
        assert_eq!(numbers["lost_percent"], 33.3333);
        let said = r#"{"end":{"sum_sent":{"retransmits":3},"sum_received":{"bits_per_second":94100000.0}}}"#;
        let numbers = parse(Parse::Iperf3, said);
        assert_eq!((numbers["goodput_mbps"], numbers["retransmits"]), (94.1, 3.0));
        assert_eq!(
            parse(Parse::Json, "working\n{\"p99_us\": 7, \"text\": \"no\"}\n"),
            [("p99_us".to_owned(), 7.0)].into()
        );
        for kind in [Parse::Iperf3, Parse::Ping, Parse::Json] {
            assert!(parse(kind, "it broke\n").is_empty());
        }
    }

    #[test]
    fn percentiles_are_of_the_numbers() {
        let numbers = percentiles((1..=200).map(f64::from).rev().collect(), "_us");
        assert_eq!((numbers["p50_us"], numbers["p99_us"], numbers["max_us"]), (100.0, 198.0, 200.0));
    }
}
