//! `forebay lab run`: every point of an experiment, live, with the result files of a sweep.

use crate::Failure;
use crate::args::LabRunArgs;
use crate::output::{self, cannot_write};
use crate::progress::RunsBar;
use crate::sets::settings;
use crate::sweep::finish;
use forebay_lab::expect::{self, Numbers, Outcome, Verdict};
use forebay_lab::experiment::Experiment;
use forebay_lab::metrics::Metrics;
use forebay_lab::point::{Finished, Site};
use forebay_results::summary::{add_loads, summarize};
use forebay_results::sweep::{SweepRow, sweep_table};
use forebay_results::table::{Column, Table};
use forebay_results::{Summary, write_summarized_run};
use forebay_runner::destination::{self, Kind, default_directory};
use forebay_runner::run::Keep;
use forebay_runner::sweep::{Done, Job, finished, jobs};
use forebay_runner::{Prepared, ScenarioFile};
use forebay_sim::scenario::sweep::{self, Checked, SweepPoint};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What is known of a live run beside the simulator's results.
const RECORD: &str = "lab.json";
/// What was expected of an experiment, and whether it holds.
pub(crate) const EXPECTED: &str = "expected.txt";
/// The numbers of a run that expectations are about.
const NUMBERS: &str = "numbers.json";

pub(crate) fn run(prefix: &str, args: &LabRunArgs) -> Result<(), Failure> {
    let (experiment, sets) = Experiment::read(&args.experiment, &settings(&args.set, None)?)?;
    let file = ScenarioFile { name: experiment.scenario.clone(), text: experiment.text.clone() };
    let scale = args.quick.then_some("quick");
    let plan = sweep::read_at(&file.name, &file.text, &sets, scale, Checked::Scenarios)?;
    let name = args.experiment.file_stem().map_or_else(|| "lab".into(), |stem| stem.to_string_lossy());
    let out = args.out.clone().unwrap_or_else(|| default_directory(&name, &sets, "live"));
    let sets: Vec<(String, String)> = sets.into_iter().chain(plan.sets).collect();
    let all = jobs(&plan.points, &plan.seeds, &sets, &out);
    let Some(first) = all.first() else { return Ok(()) };
    let first = prepare(&file, first, &experiment)?;
    let force = args.replace.force;
    let mut inputs = file.inputs(&first.resolved);
    inputs.reads(&args.experiment);
    let mut metrics = Metrics::new(&experiment.programs);
    for job in &all {
        let Prepared { scenario, resolved, .. } = prepare(&file, job, &experiment)?;
        metrics.add_scenario(&scenario);
        destination::keep_inputs(&job.directory, &inputs)?;
        destination::keep_others(&job.directory, &resolved, force)?;
    }
    metrics.check(&experiment.expects)?;
    let claim = destination::prepare(&out, Kind::Sweep, &inputs, force)?;
    output::stop_gently();
    let site = Site::make(prefix, &first.scenario, args.keep)?;
    let bar = RunsBar::new(all.len(), args.quiet);
    let mut results = Vec::new();
    for job in &all {
        let done = if output::is_interrupted() { None } else { one(&site, &file, &experiment, job, args.csv)? };
        if done.is_some() {
            bar.finished(&job.label);
        }
        results.push(done);
    }
    drop(bar);
    let verdicts = judge(&experiment, &plan.points, &all, &results);
    let text = expect::render(&verdicts);
    let path = out.join(EXPECTED);
    std::fs::write(&path, &text).map_err(|error| cannot_write(&path.display().to_string(), &error))?;
    let mut told = finish(&plan.points, &all, results, &out)?;
    told.text.push_str(&text);
    told.show(args.json, &as_json(&told.rows, &verdicts))?;
    drop(claim);
    told.end()?;
    let failed = verdicts.iter().filter(|verdict| verdict.holds != Some(true)).count();
    if args.check && failed > 0 {
        let said = format!("{failed} of {} expectations do not hold, or cannot be told", verdicts.len());
        return Err(Failure::Said(said));
    }
    Ok(())
}

/// The scenario of a job; its resolved text says that it was run live, and how.
fn prepare(file: &ScenarioFile, job: &Job, experiment: &Experiment) -> Result<Prepared, Failure> {
    let mut prepared = file.prepare(&job.sets)?;
    prepared.resolved.push_str(&format!("\n# live: {}\n", experiment.says));
    Ok(prepared)
}

/// The rows of the points, and what became of the expectations; null where that cannot be told.
fn as_json(points: &Value, verdicts: &[Verdict]) -> Value {
    let expected = |verdict: &Verdict| json!({ "expectation": verdict.text, "holds": verdict.holds });
    json!({ "points": points, "expected": verdicts.iter().map(expected).collect::<Value>() })
}

/// Runs one job, unless its result is there. None if it was interrupted.
fn one(
    site: &Site,
    file: &ScenarioFile,
    experiment: &Experiment,
    job: &Job,
    csv: bool,
) -> Result<Option<Done>, Failure> {
    let prepared = prepare(file, job, experiment)?;
    if let Some(summary) = finished(&job.directory, &prepared.resolved, Keep::tables(csv)) {
        return Ok(Some(Done { summary, before: true }));
    }
    destination::check(&job.directory, Kind::Run, false)?;
    let Prepared { scenario, plan, resolved } = &prepared;
    let Some(done) = site.run(experiment, scenario, plan, &output::is_interrupted)? else { return Ok(None) };
    let mut summary = summarize(scenario, &done.result);
    add_loads(&mut summary, scenario, plan);
    write_summarized_run(&job.directory, &summary, scenario, resolved, &done.result, csv)?;
    write_rest(&job.directory, &done)?;
    Ok(Some(Done { summary, before: false }))
}

/// Writes what the simulator has no files for: they come after the summary, which makes the directory ours.
fn write_rest(directory: &Path, done: &Finished) -> Result<(), Failure> {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|error| cannot_write(&path.display().to_string(), &error))
    };
    write(RECORD, &format!("{:#}\n", done.record))?;
    write(NUMBERS, &done.numbers_text())?;
    for entry in std::fs::read_dir(&done.outputs).into_iter().flatten().flatten() {
        let said = std::fs::read(entry.path()).unwrap_or_default();
        let path = directory.join(entry.file_name());
        std::fs::write(&path, said).map_err(|error| cannot_write(&path.display().to_string(), &error))?;
    }
    Ok(())
}

/// Compares what was measured with what the experiment expects.
fn judge(experiment: &Experiment, points: &[SweepPoint], jobs: &[Job], results: &[Option<Done>]) -> Vec<Verdict> {
    let outcome = |(number, point): (usize, &SweepPoint)| {
        let own = jobs.iter().zip(results).filter(|(job, _)| job.point == number);
        let done: Vec<(&Job, &Done)> = own.filter_map(|(job, done)| Some((job, done.as_ref()?))).collect();
        let grid: Vec<String> = point.grid.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let runs = done.iter().map(|run| (run.1.summary.run.seed, numbers(std::slice::from_ref(run)))).collect();
        Outcome { variant: point.variant.clone(), grid: grid.join(" "), numbers: numbers(&done), runs }
    };
    let outcomes: Vec<Outcome> = points.iter().enumerate().map(outcome).collect();
    expect::judge(&experiment.expects, &outcomes)
}

/// The numbers of a point: the columns of the sweep's table, and the means of what single runs have written beside.
fn numbers(done: &[(&Job, &Done)]) -> Numbers {
    let summaries: Vec<Summary> = done.iter().map(|(_, done)| done.summary.clone()).collect();
    if summaries.is_empty() {
        return Numbers::new();
    }
    let (table, _) = sweep_table(&[SweepRow { settings: Vec::new(), parameters: Vec::new(), seeds: summaries }]);
    let mut numbers = first_row(&table);
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (job, _) in done {
        let text = std::fs::read_to_string(job.directory.join(NUMBERS)).unwrap_or_default();
        for (name, value) in forebay_lab::programs::numbers_of(&text) {
            let (sum, count) = sums.entry(name).or_default();
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
    }
    numbers.extend(sums.into_iter().map(|(name, (sum, count))| (name, sum / count)));
    numbers
}

/// The numbers of a table's first row, by the names of their columns.
fn first_row(table: &Table) -> Numbers {
    let value = |column: &Column| column.number(0).or_else(|| column.int(0).map(|value| value as f64));
    table.columns().iter().filter_map(|column| Some((column.name().to_owned(), value(column)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_points_and_whether_expectations_hold() {
        let verdict = |text: &str, holds| Verdict { text: text.to_owned(), holds };
        let verdicts = [verdict("a", Some(true)), verdict("b", Some(false)), verdict("c", None)];
        let rows = json!([{ "point": "DT", "seeds": 1 }]);
        let expected = json!([
            { "expectation": "a", "holds": true },
            { "expectation": "b", "holds": false },
            { "expectation": "c", "holds": null },
        ]);
        assert_eq!(as_json(&rows, &verdicts), json!({ "points": rows, "expected": expected }));
    }
}
