//! Jobs: one point of a figure's sweep with one seed.

use crate::figure::{Figure, Paper, Point, Run, Scale, Work};
use crate::metrics::Metrics;
use forebay_results::Fingerprint;
use forebay_results::summary::{add_loads, summarize};
use forebay_settings::{Diagnostic, Document};
use forebay_sim::scenario::sweep::{Checked, read_at};
use forebay_sim::scenario::{Scenario, describe};
use forebay_sim::{engine, workload};

include!(concat!(env!("OUT_DIR"), "/fingerprints.rs"));

/// A figure's file as it is read: its name tells errors and relative paths where it stands.
pub struct Source {
    /// The path.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// One run.
pub struct Job {
    /// Which.
    pub point: Point,
    /// What the result depends on, hashed: the settings, the seed, and the code.
    pub key: u128,
    sets: Vec<(String, String)>,
}

/// What a figure needs at a scale.
pub struct FigurePlan {
    /// In the order of the sweep.
    pub jobs: Vec<Job>,
    /// The seeds of each point.
    pub seeds: Vec<u64>,
    /// How many seeds may be run until all is decided.
    pub most_seeds: usize,
    /// What the scale says about itself.
    pub says: Option<String>,
}

/// The jobs of a figure. All of its points are read before any is run.
pub fn plan(paper: &Paper, figure: &Figure, scale: Scale, source: &Source) -> Result<FigurePlan, Diagnostic> {
    plan_of(paper, figure, scale, source, None)
}

/// The jobs of a figure for further seeds of some of its points, which are given without a seed.
pub fn plan_further(
    paper: &Paper,
    figure: &Figure,
    scale: Scale,
    source: &Source,
    further: &[(Point, Vec<u64>)],
) -> Result<FigurePlan, Diagnostic> {
    let mut seeds: Vec<u64> = further.iter().flat_map(|(_, seeds)| seeds.iter().copied()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let mut plan = plan_of(paper, figure, scale, source, Some(&seeds))?;
    plan.jobs.retain(|job| {
        let point = job.point.without_seed();
        further.iter().any(|(own, seeds)| *own == point && seeds.contains(&job.point.seed))
    });
    Ok(plan)
}

fn plan_of(
    paper: &Paper,
    figure: &Figure,
    scale: Scale,
    source: &Source,
    seeds: Option<&[u64]>,
) -> Result<FigurePlan, Diagnostic> {
    let checked = match figure.work {
        Work::Simulate(_) => Checked::Scenarios,
        Work::Compute(_) => Checked::Names,
    };
    // The file itself is the full scale, unless it says what that is.
    let has = |name: &str| has_scale(source, name);
    let name = if scale == Scale::Full && !has("full")? { None } else { Some(scale.name()) };
    let mut plan = read_at(&source.name, &source.text, &[], name, checked)?;
    if let Some(seeds) = seeds {
        plan.seeds = seeds.to_vec();
    }
    let parameters = match figure.work {
        Work::Simulate(_) => Vec::new(),
        Work::Compute(_) => parameters(source, &plan.sets)?,
    };
    let measure = MEASURES.iter().find(|(id, _)| *id == paper.id).map_or("", |(_, hash)| *hash);
    let mut jobs = Vec::new();
    for point in &plan.points {
        let sets: Vec<(String, String)> = plan.sets.iter().chain(&point.settings).cloned().collect();
        // The seeds of a point differ in nothing else.
        let described = match figure.work {
            Work::Simulate(_) => describe(&source.name, &source.text, &sets)?,
            Work::Compute(_) => String::new(),
        };
        for seed in &plan.seeds {
            let mut sets = sets.clone();
            sets.push(("seed".to_owned(), seed.to_string()));
            let own = point.settings.iter().filter(|setting| !point.grid.contains(setting)).cloned().collect();
            let job = Point {
                variant: point.variant.clone(),
                own,
                grid: point.grid.clone(),
                parameters: parameters.clone(),
                seed: *seed,
            };
            let mut hash = Fingerprint::new();
            for part in [ENGINE, measure, figure.id, &described, &format!("{job:?}")] {
                hash.add(part);
            }
            for (name, text) in figure.files {
                hash.add(name);
                hash.add(text);
            }
            jobs.push(Job { point: job, key: hash.0, sets });
        }
    }
    Ok(FigurePlan { jobs, seeds: plan.seeds, most_seeds: plan.most_seeds, says: plan.says })
}

fn has_scale(source: &Source, name: &str) -> Result<bool, Diagnostic> {
    let document = Document::parse(&source.name, &source.text)?;
    Ok(document.root().table("scale")?.is_some_and(|scales| scales.has(name)))
}

/// `[parameters]` of an analysis file, with what the scale sets in their place.
fn parameters(source: &Source, sets: &[(String, String)]) -> Result<Vec<(String, String)>, Diagnostic> {
    let document = Document::parse(&source.name, &source.text)?;
    let root = document.root();
    root.allow(&["name", "kind", "seed", "parameters", "sweep", "scale"], |_| false, "")?;
    let kind = root.need("kind", "kind = \"analysis\"")?;
    kind.word(&[("analysis", ())])?;
    let mut all: Vec<(String, String)> = Vec::new();
    if let Some(table) = root.table("parameters")? {
        let known = table.keys();
        all = known.iter().filter_map(|key| Some(((*key).to_owned(), table.get(key)?.to_argument()))).collect();
    }
    for (key, value) in sets {
        let key = key.strip_prefix("parameters.").unwrap_or(key);
        match all.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => value.clone_into(old),
            None => {
                let problem = format!("a scale sets {key}, which is no parameter");
                return Err(root.error(problem, "name a key of [parameters]"));
            }
        }
    }
    Ok(all)
}

/// Runs a job. `go_on` is asked now and then; `Ok(None)` if it said no.
pub fn run(
    figure: &Figure,
    source: &Source,
    job: &Job,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Metrics>, String> {
    let measure = match figure.work {
        Work::Compute(compute) => return compute(&job.point).map(Some),
        Work::Simulate(measure) => measure,
    };
    let scenario = Scenario::read(&source.name, &source.text, &job.sets).map_err(|error| error.to_string())?;
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    let result = engine::run(&scenario, &plan, &mut |_| go_on());
    if result.interrupted {
        return Ok(None);
    }
    let mut summary = summarize(&scenario, &result);
    add_loads(&mut summary, &scenario, &plan);
    let mut metrics = Metrics::standard(&summary);
    let run = Run { scenario: &scenario, plan: &plan, result: &result, summary: &summary, point: &job.point };
    measure(&run, &mut metrics);
    // What it cost is for plans of what to run, not for results: it differs from run to run.
    metrics.set("cost.cpu_seconds", summary.cost.cpu_seconds);
    Ok(Some(metrics))
}
