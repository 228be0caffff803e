//! The numbers that an experiment can have, by name: what its expectations may be about.

use crate::expect::{Expect, STALLED};
use crate::programs::{Parse, Program};
use forebay_results::sweep;
use forebay_settings::{Diagnostic, nearest};
use forebay_sim::scenario::Scenario;
use forebay_sim::transport::TransportKind;
use std::collections::BTreeSet;

/// Of the hosts' kernels, those that are numbers of a run.
pub(crate) const HOST_COUNTERS: [&str; 3] = ["TcpRetransSegs", "TcpExtTCPTimeouts", "IpExtInCEPkts"];
/// The name of the number that says whether stalls have polluted a run.
pub(crate) const POLLUTED: &str = "polluted";

const STATISTICS: [&str; 4] = ["mean", "p50", "p99", "max"];

/// The names of an experiment's numbers.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    names: BTreeSet<String>,
    /// What the names begin with whose rest only a program's own output says.
    open: Vec<String>,
}

impl Metrics {
    /// Those of every experiment with these programs.
    pub fn new(programs: &[Program]) -> Self {
        let mut metrics = Self::default();
        metrics.names.extend(sweep::columns());
        metrics.names.extend([POLLUTED, STALLED].map(str::to_owned));
        metrics.names.extend(HOST_COUNTERS.map(|counter| format!("hosts.{counter}")));
        for Program { name, parse, .. } in programs {
            match parse {
                Parse::Nothing => {}
                Parse::Json => metrics.open.push(format!("{name}.")),
                Parse::Iperf3 => metrics.add(name, ["goodput_mbps", "retransmits", "lost_percent"]),
                Parse::Ping => {
                    metrics.add(name, STATISTICS.map(|statistic| format!("{statistic}_ms")));
                    metrics.add(name, ["lost_percent"]);
                }
            }
        }
        metrics
    }

    fn add<T: AsRef<str>>(&mut self, of: &str, names: impl IntoIterator<Item = T>) {
        self.names.extend(names.into_iter().map(|name| format!("{of}.{}", name.as_ref())));
    }

    /// Adds those of a scenario.
    pub fn add_scenario(&mut self, scenario: &Scenario) {
        for (number, workload) in scenario.workloads.iter().enumerate() {
            self.add(&workload.name, STATISTICS.map(|statistic| format!("{statistic}_us")));
            if scenario.measure.progress.contains(&number) {
                self.add(&workload.name, ["last_mbps"]);
            }
        }
        if scenario.transports.iter().any(|(_, own)| matches!(own.kind, TransportKind::Udp(_))) {
            self.add("datagrams", ["missing", "whole_share"]);
        }
    }

    /// Refuses an expectation about a number that no run can have.
    pub fn check(&self, expects: &[Expect]) -> Result<(), Diagnostic> {
        let is_known = |name: &str| self.names.contains(name) || self.open.iter().any(|start| name.starts_with(start));
        let Some(wrong) = expects.iter().find(|expect| !is_known(&expect.metric)) else { return Ok(()) };
        let names: Vec<&str> = self.names.iter().map(String::as_str).filter(|name| !name.ends_with("_ci95")).collect();
        let remedy = match nearest(&wrong.metric, &names) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("the numbers of this experiment are {}", names.join(", ")),
        };
        let problem = format!("\"{}\" is no number of this experiment", wrong.metric);
        Err(Diagnostic { problem, remedy, ..wrong.place.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use forebay_sim::scenario::sweep::{Checked, read_at};
    use std::path::Path;

    /// What an experiment's own check says, with `change` made to its expectations.
    fn checked(path: &Path, change: impl Fn(&mut Expect)) -> Result<(), Diagnostic> {
        let (mut experiment, _) = Experiment::read(path, &[]).unwrap();
        let plan = read_at(&experiment.scenario, &experiment.text, &[], Some("quick"), Checked::Scenarios).unwrap();
        let mut metrics = Metrics::new(&experiment.programs);
        for point in &plan.points {
            let sets: Vec<_> = plan.sets.iter().chain(&point.settings).cloned().collect();
            metrics.add_scenario(&Scenario::read(&experiment.scenario, &experiment.text, &sets).unwrap());
        }
        experiment.expects.iter_mut().for_each(change);
        metrics.check(&experiment.expects)
    }

    #[test]
    fn expectations_are_about_numbers_that_there_are() {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab");
        let files: Vec<_> = std::fs::read_dir(&lab).unwrap().map(|entry| entry.unwrap().path()).collect();
        let experiments = || files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        assert!(experiments().count() > 5);
        for path in experiments() {
            checked(path, |_| {}).unwrap();
            let error = checked(path, |expect| expect.metric.insert_str(0, "no-")).unwrap_err();
            assert!(error.line.is_some() && !error.remedy.is_empty(), "{error}");
            assert!(
                error.problem.starts_with("\"no-") && error.problem.ends_with(" is no number of this experiment"),
                "{error}"
            );
        }
        // What a program prints is known to the program alone; a workload without samples of its progress has no rate.
        let metric = |file: &str, name: &str| checked(&lab.join(file), |expect| expect.metric = name.to_owned());
        assert_eq!(metric("memcached.toml", "load.p42_us"), Ok(()));
        assert_eq!(metric("occamy-qct.toml", "query.p98_us").unwrap_err().remedy, "did you mean \"query.p99_us\"?");
        assert!(metric("occamy-qct.toml", "query.last_mbps").is_err());
        assert!(metric("occamy-qct.toml", "datagrams.missing").is_err());
        assert_eq!(metric("trimming.toml", "datagrams.missing"), Ok(()));
    }
}
