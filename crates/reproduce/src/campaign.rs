//! Figures that were asked for: planned, run on several threads or in parts, and collected.
//!
//! The numbers of each run are kept as soon as it ends, under a key of everything they depend on, so that a campaign
//! goes on where it was stopped, and runs again only what has changed.

use crate::Metrics;
use crate::figure::{Figure, Paper, Point, Scale};
use crate::job::{self, FigurePlan, Job, Source};
use crate::record::{FigureResult, Reproduction};
use crate::sequential::next_seeds;
use crate::store::Store;
use crate::table::{Row, Table};
use forebay_runner::scenario_file::read_text;
use forebay_runner::shard::Shard;
use forebay_runner::{cannot_write, pool};
use forebay_settings::Diagnostic;
use std::path::Path;

/// Is told the name of each run that is finished.
pub type Finished = Box<dyn Fn(&str) + Sync>;

/// How a campaign is run.
pub struct Conditions<'a> {
    /// Runs at a time.
    pub threads: usize,
    /// Whether somebody wants it to stop.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Is told how many runs begin.
    pub watch: &'a dyn Fn(usize) -> Finished,
}

/// A figure that was asked for.
struct Chosen<'p> {
    paper: &'p Paper,
    figure: &'p Figure,
    source: Source,
    plan: FigurePlan,
    store: Store,
    /// All points, without their seeds, in the order of the sweep.
    order: Vec<Point>,
    /// Runs of a record.
    known: Vec<Row>,
}

impl Chosen<'_> {
    fn is(&self, result: &FigureResult) -> bool {
        self.paper.id == result.paper && self.figure.id == result.figure
    }

    /// Takes the runs of a record; what is left to run is what the record does not have, and one run that it has.
    fn go_on_from(&mut self, result: &FigureResult) {
        let rows = result.table.stored().iter();
        self.known = rows.filter(|row| self.order.contains(&row.point.without_seed())).cloned().collect();
        let has = |job: &Job| self.known.iter().any(|row| row.point == job.point);
        let check = self.plan.jobs.iter().filter(|job| has(job)).map(|job| job.key).min();
        self.plan.jobs.retain(|job| !has(job) || Some(job.key) == check);
    }

    /// The runs of the record and new ones in the order of the sweep. The error says where both have a run and differ.
    fn joined(&self, new: &[Row]) -> Result<Vec<Row>, String> {
        let mut all = self.known.clone();
        for row in new {
            match self.known.iter().find(|known| known.point == row.point) {
                Some(known) => known.metrics.is_part_of(&row.metrics).map_err(|problem| {
                    format!("{}/{} {}: {problem}", self.paper.id, self.figure.id, label_of(&row.point))
                })?,
                None => all.push(row.clone()),
            }
        }
        Ok(self.in_order(all))
    }

    /// In the order of the sweep.
    fn in_order(&self, mut rows: Vec<Row>) -> Vec<Row> {
        let place = |row: &Row| self.order.iter().position(|point| *point == row.point.without_seed());
        rows.sort_by_cached_key(|row| (place(row), row.point.seed));
        rows
    }
}

/// The figures that were asked for, with their jobs at a scale.
pub struct Campaign<'p> {
    scale: Scale,
    chosen: Vec<Chosen<'p>>,
}

impl<'p> Campaign<'p> {
    /// Plans figures and papers by their names, all without any. Scenarios are those of a directory, or those that come
    /// with Forebay, which are then put beside the results in `out`.
    pub fn plan(
        papers: &'p [Paper],
        what: &[String],
        scale: Scale,
        out: &Path,
        scenarios: Option<&Path>,
    ) -> Result<Self, Diagnostic> {
        let chosen = choose(papers, what)?.into_iter().map(|(paper, figure)| {
            let source = source_of(paper, figure, out, scenarios)?;
            let plan = job::plan(paper, figure, scale, &source)?;
            let mut order: Vec<Point> = plan.jobs.iter().map(|job| job.point.without_seed()).collect();
            order.dedup();
            let store = Store::new(out, paper.id, figure.id);
            Ok(Chosen { paper, figure, source, plan, store, order, known: Vec::new() })
        });
        Ok(Self { scale, chosen: chosen.collect::<Result<_, Diagnostic>>()? })
    }

    /// All runs, each with the number of its figure.
    fn jobs(&self) -> Vec<(usize, &Job)> {
        let all = self.chosen.iter().enumerate();
        all.flat_map(|(number, own)| own.plan.jobs.iter().map(move |job| (number, job))).collect()
    }

    /// The keys of all runs.
    pub fn keys(&self) -> Vec<String> {
        self.jobs().iter().map(|(_, job)| job.key.to_string()).collect()
    }

    /// Says whether a run, by its number, is finished.
    pub fn finished(&self) -> impl Fn(usize) -> bool {
        let jobs = self.jobs();
        move |run| {
            let (number, job) = jobs[run];
            self.chosen[number].store.has(job)
        }
    }

    /// What is there.
    pub fn collect(&self) -> Vec<FigureResult> {
        let get = |(number, job): &(usize, &Job)| self.chosen[*number].store.get(job);
        self.results(self.jobs().iter().map(get).collect())
    }

    /// Takes the runs of a record for done. One run of each figure is made all the same, and has to give the record's
    /// numbers.
    pub fn go_on_from(&mut self, record: &Reproduction) -> Result<(), String> {
        if record.scale != self.scale {
            return Err(format!("it is of the {} scale, not of the {} scale", record.scale.name(), self.scale.name()));
        }
        for own in &mut self.chosen {
            if let Some(result) = record.figures.iter().find(|result| own.is(result)) {
                own.go_on_from(result);
            }
        }
        Ok(())
    }

    /// Runs all figures, then those whose claims are open with further seeds, as many as their scenarios allow.
    pub fn run_until_decided(mut self, conditions: &Conditions<'_>) -> Result<Vec<FigureResult>, Diagnostic> {
        let mut all = self.run(Shard::ALL, conditions)?;
        for (own, result) in self.chosen.iter().zip(&mut all) {
            let rows = own.joined(result.table.stored()).map_err(|problem| {
                Diagnostic::of_file("the record", problem, "it is of another version: give the command without --from")
            })?;
            result.table = Table::new(self.scale, rows);
        }
        loop {
            for (own, result) in self.chosen.iter_mut().zip(&all) {
                own.plan.jobs.clear();
                if result.missing > 0 {
                    continue;
                }
                let (base, most) = (&own.plan.seeds, own.plan.most_seeds);
                let judge = |table: &Table| own.figure.judged(own.paper.id, table);
                let further = next_seeds(judge, &result.table, base, most);
                if !further.is_empty() {
                    own.plan.jobs = job::plan_further(own.paper, own.figure, self.scale, &own.source, &further)?.jobs;
                }
            }
            if (conditions.stopped)() || self.jobs().is_empty() {
                return Ok(all);
            }
            let more = self.run(Shard::ALL, conditions)?;
            let with = |((first, more), own): ((FigureResult, FigureResult), &Chosen<'_>)| {
                let rows = first.table.stored().iter().chain(more.table.stored()).cloned().collect();
                FigureResult {
                    missing: first.missing + more.missing,
                    cpu_seconds: first.cpu_seconds + more.cpu_seconds,
                    table: Table::new(self.scale, own.in_order(rows)),
                    ..first
                }
            };
            all = all.into_iter().zip(more).zip(&self.chosen).map(with).collect();
        }
    }

    /// Runs what is not finished yet of a part.
    pub fn run(&self, shard: Shard, conditions: &Conditions<'_>) -> Result<Vec<FigureResult>, Diagnostic> {
        let jobs = self.jobs();
        let finished = (conditions.watch)((0..jobs.len()).filter(|number| shard.has(*number)).count());
        let results = pool::run(jobs.len(), conditions.threads, conditions.stopped, |index| {
            let (number, job) = jobs[index];
            if !shard.has(index) {
                return Ok(None);
            }
            let own = &self.chosen[number];
            let label = format!("{}/{} {}", own.paper.id, own.figure.id, label_of(&job.point));
            let metrics = run_one(own, job, &label, conditions.stopped)?;
            if metrics.is_some() {
                finished(&label);
            }
            Ok::<_, Diagnostic>(metrics)
        })?;
        Ok(self.results(results))
    }

    /// The results of the figures, from those of their jobs in order.
    fn results(&self, results: Vec<Option<Metrics>>) -> Vec<FigureResult> {
        let mut results = results.into_iter();
        let of = |own: &Chosen<'_>| {
            let jobs = &own.plan.jobs;
            let row =
                |(job, metrics): (&Job, Option<Metrics>)| Some(Row { point: job.point.clone(), metrics: metrics? });
            let rows: Vec<Row> = jobs.iter().zip(results.by_ref()).filter_map(row).collect();
            let seconds = rows.iter().map(|row| row.metrics.get("cost.cpu_seconds"));
            FigureResult {
                paper: own.paper.id.to_owned(),
                figure: own.figure.id.to_owned(),
                says: own.plan.says.clone(),
                missing: jobs.len() - rows.len(),
                cpu_seconds: seconds.filter(|cost| cost.is_finite()).sum(),
                table: Table::new(self.scale, rows),
            }
        };
        self.chosen.iter().map(of).collect()
    }
}

/// The figures with these names, in the order of the papers.
fn choose<'p>(papers: &'p [Paper], what: &[String]) -> Result<Vec<(&'p Paper, &'p Figure)>, Diagnostic> {
    let all = || papers.iter().flat_map(|paper| paper.figures.iter().map(move |figure| (paper, figure)));
    let is = |name: &str, (paper, figure): &(&Paper, &Figure)| {
        let name = name.trim_end_matches(".toml").trim_end_matches('/');
        name == paper.id || name == format!("{}/{}", paper.id, figure.id)
    };
    for name in what {
        if !all().any(|one| is(name, &one)) {
            let known: Vec<&str> = papers.iter().map(|paper| paper.id).collect();
            let of_paper = papers.iter().find(|paper| name.split('/').next() == Some(paper.id));
            let help = match of_paper {
                Some(paper) => {
                    let ids: Vec<&str> = paper.figures.iter().map(|figure| figure.id).collect();
                    format!("{} has {}", paper.id, ids.join(", "))
                }
                None => format!("the papers are {}; --list names their figures", known.join(", ")),
            };
            return Err(Diagnostic::of_file(name, "there is no such paper or figure", help));
        }
    }
    Ok(all().filter(|one| what.is_empty() || what.iter().any(|name| is(name, one))).collect())
}

/// A figure's file: of a directory, or the one that comes with Forebay, put beside the results.
fn source_of(paper: &Paper, figure: &Figure, out: &Path, scenarios: Option<&Path>) -> Result<Source, Diagnostic> {
    let name = format!("{}.toml", figure.id);
    if let Some(directory) = scenarios {
        let path = directory.join(paper.id).join(name);
        return Ok(Source { name: path.display().to_string(), text: read_text(&path)? });
    }
    let directory = out.join("scenarios").join(paper.id);
    let failure = |error| Diagnostic::from(cannot_write(&directory.display().to_string(), &error));
    std::fs::create_dir_all(&directory).map_err(failure)?;
    for (name, text) in [(name.as_str(), figure.text)].iter().chain(figure.files) {
        let path = directory.join(name);
        // Other parts may be reading it.
        if std::fs::read_to_string(&path).is_ok_and(|there| there == **text) {
            continue;
        }
        let file = tempfile::NamedTempFile::new_in(&directory).map_err(failure)?;
        std::fs::write(file.path(), text).map_err(failure)?;
        file.persist(path).map_err(|error| failure(error.error))?;
    }
    Ok(Source { name: directory.join(name).display().to_string(), text: figure.text.to_owned() })
}

/// `None` if it was interrupted.
fn run_one(
    own: &Chosen<'_>,
    job: &Job,
    label: &str,
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Metrics>, Diagnostic> {
    if let Some(metrics) = own.store.get(job) {
        return Ok(Some(metrics));
    }
    let result = job::run(own.figure, &own.source, job, &mut || !stopped());
    let metrics = result.map_err(|problem| Diagnostic::of_file(label, problem, ""))?;
    if let Some(metrics) = &metrics {
        let failure = |error| cannot_write(&own.store.directory().display().to_string(), &error);
        own.store.put(job, metrics).map_err(failure)?;
    }
    Ok(metrics)
}

fn label_of(point: &Point) -> String {
    let value = |(key, value): &(String, String)| {
        format!(" {}={}", key.rsplit('.').next().unwrap_or(key), value.trim_matches('"'))
    };
    format!("{}{} seed {}", point.variant, point.grid.iter().map(value).collect::<String>(), point.seed)
}
