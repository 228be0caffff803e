//! The `[sweep]` table: one scenario with several settings and seeds.
//!
//! Every combination of a variant and of the grid's values is a point; each point is run with every seed. A point is
//! nothing but a list of settings, as arguments give them, so that it can be run alone.

use super::Scenario;
use super::read::with_document;
use super::scale::{self, Scale};
use forebay_settings::{Diagnostic, Table, Value};
use std::collections::BTreeSet;

/// Runs that a sweep can have.
const MOST_RUNS: usize = 100_000;

/// All runs of a sweep: each point with each seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepPlan {
    /// At least one, all different.
    pub seeds: Vec<u64>,
    /// How many seeds may be run until the results decide; as many as `seeds` if nothing is said.
    pub most_seeds: usize,
    /// At least one, with different labels.
    pub points: Vec<SweepPoint>,
    /// What the scale sets for all points: to be applied after the command line's settings and before a point's own.
    pub sets: Vec<(String, String)>,
    /// What the scale says about itself.
    pub says: Option<String>,
}

/// One combination of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepPoint {
    /// What it is called: "DT alpha=0.5"; empty if there is nothing to tell the only point from others.
    pub label: String,
    /// Keys and values, to be applied in this order after those of the command line and of the scale.
    pub settings: Vec<(String, String)>,
    /// The name of its variant; empty if there are no variants.
    pub variant: String,
    /// Its values of the grid's keys: those settings that are not the variant's.
    pub grid: Vec<(String, String)>,
}

/// What the points of a sweep are checked as before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// As scenarios.
    Scenarios,
    /// Not at all: the keys of the grid are names that someone else gives a meaning.
    Names,
}

/// A value that a sweep gives to a key, and where it stands.
pub(super) struct Given<'d> {
    pub(super) key: String,
    pub(super) value: Value<'d>,
}

/// A key of the grid and its values.
struct Axis<'d> {
    key: String,
    place: Value<'d>,
    values: Vec<Value<'d>>,
}

/// A named alternative.
struct Variant<'d> {
    name: &'d str,
    place: Value<'d>,
    settings: Vec<Given<'d>>,
}

/// A point with the places that its settings come from.
#[derive(Clone)]
struct Draft<'p, 'd> {
    label: String,
    variant: &'p str,
    /// Where the point as a whole is named.
    place: Option<&'p Value<'d>>,
    /// The variant's first.
    settings: Vec<(&'p str, &'p Value<'d>)>,
    /// How many of the settings are the variant's.
    own: usize,
}

impl Draft<'_, '_> {
    fn settings(&self) -> Vec<(String, String)> {
        self.settings.iter().map(|(key, value)| ((*key).to_owned(), value.to_argument())).collect()
    }
}

/// Reads the sweep of a scenario file, with `sets` applied to all of its points; a file without `[sweep]` has one point
/// without settings and without a label. Every point is read as a scenario, so that a sweep that cannot run to its end
/// does not begin.
pub fn read(file: &str, text: &str, sets: &[(String, String)]) -> Result<SweepPlan, Diagnostic> {
    read_at(file, text, sets, None, Checked::Scenarios)
}

/// Reads the sweep as one of the file's scales, `[scale.NAME]`, has it; `None`: as the file itself has it.
pub fn read_at(
    file: &str,
    text: &str,
    sets: &[(String, String)],
    scale: Option<&str>,
    checked: Checked,
) -> Result<SweepPlan, Diagnostic> {
    with_document(file, text, sets, |root| {
        let scale = scale.map_or(Ok(Scale::default()), |name| scale::read(root, name, sets))?;
        let seed = root.get("seed").map_or(Ok(1), |value| value.integer())?;
        let (mut seeds, mut grid, mut variants) = (vec![seed], Vec::new(), Vec::new());
        let mut most_seeds = scale.most_seeds.clone();
        if let Some(table) = root.table("sweep")? {
            table.allow(&["seeds", "most_seeds", "grid", "variant"], |_| false, "")?;
            // What a scale says about seeds is all that there is to say.
            most_seeds = most_seeds.or_else(|| table.get("most_seeds").filter(|_| scale.seeds.is_none()));
            if let Some(value) = table.get("seeds") {
                seeds = read_seeds(&value)?;
                refuse_given("seed", &value, sets)?;
            }
            grid = read_grid(&table, sets)?;
            variants = read_variants(&table, &grid, sets)?;
        }
        if let Some(value) = &scale.seeds {
            seeds = read_seeds(value)?;
            refuse_given("seed", value, sets)?;
        }
        let most_seeds = most_seeds.map_or(Ok(seeds.len()), |value| read_most(&value, seeds.len()))?;
        for (key, value) in &scale.grid {
            let values = list_of(value)?;
            match grid.iter_mut().find(|axis| axis.key == *key) {
                Some(axis) => axis.values = values,
                None => return Err(value.error(format!("the sweep's grid has no {key}"), "name a key of [sweep.grid]")),
            }
        }
        if let Some(kept) = &scale.variants {
            let names = kept.iter().map(Value::text).collect::<Result<Vec<_>, _>>()?;
            let unknown = |name: &&str| !variants.iter().any(|variant| variant.name == *name);
            if let Some((value, name)) = kept.iter().zip(&names).find(|(_, name)| unknown(name)) {
                let problem = format!("no variant is called \"{name}\"");
                return Err(value.error(problem, "name variants of [[sweep.variant]]"));
            }
            variants.retain(|variant| names.contains(&variant.name));
        }
        let table = root.table("sweep")?;
        check_runs(table.as_ref().unwrap_or(root), &seeds, &grid, &variants)?;
        let drafts = drafts(&grid, &variants);
        check_labels(&drafts)?;
        let all_sets: Vec<(String, String)> = sets.iter().chain(&scale.sets).cloned().collect();
        for draft in drafts.iter().filter(|_| checked == Checked::Scenarios) {
            check_point(file, text, &all_sets, draft)?;
        }
        let point = |draft: &Draft<'_, '_>| {
            let settings = draft.settings();
            let grid = settings[draft.own..].to_vec();
            SweepPoint { label: draft.label.clone(), settings, variant: draft.variant.to_owned(), grid }
        };
        Ok(SweepPlan {
            seeds,
            most_seeds,
            points: drafts.iter().map(point).collect(),
            sets: scale.sets,
            says: scale.says,
        })
    })
}

/// A limit of seeds, not below those that are run anyway.
fn read_most(value: &Value<'_>, seeds: usize) -> Result<usize, Diagnostic> {
    let most: usize = value.number()?;
    if most < seeds || most > MOST_RUNS {
        let problem = format!("{seeds} seeds are run, and {most} should be the most");
        return Err(value.error(problem, format!("give {seeds} to {MOST_RUNS}")));
    }
    Ok(most)
}

/// A list of seeds, or a range such as "1-5".
fn read_seeds(value: &Value<'_>) -> Result<Vec<u64>, Diagnostic> {
    const FORMS: &str = "give a list such as [1, 2, 3], or a range such as \"1-5\"";
    let seeds: Vec<u64> = if let Some(list) = value.list() {
        list.iter().map(Value::integer).collect::<Result<_, _>>()?
    } else if value.is_text() {
        let text = value.text()?;
        let range = text
            .split_once('-')
            .and_then(|(first, last)| Some(first.trim().parse::<u64>().ok()?..=last.trim().parse::<u64>().ok()?));
        match range {
            Some(range) if range.end() - range.start().min(range.end()) < MOST_RUNS as u64 => range.collect(),
            _ => return Err(value.error(format!("\"{text}\" is not a range of seeds"), FORMS)),
        }
    } else {
        vec![value.integer().map_err(|error| Diagnostic { remedy: FORMS.to_owned(), ..error })?]
    };
    if seeds.is_empty() {
        return Err(value.error("there is no seed here", FORMS));
    }
    let mut seen = BTreeSet::new();
    match seeds.iter().find(|seed| !seen.insert(**seed)) {
        Some(twice) => Err(value.error(format!("the seed {twice} is there twice"), "give each seed once")),
        None => Ok(seeds),
    }
}

/// The keys and values of a table; a key with a dot in it is a path, and tables under other keys lead on.
pub(super) fn settings_of<'d>(
    table: &Table<'d>,
    before: &str,
    skip: &str,
    all: &mut Vec<Given<'d>>,
) -> Result<(), Diagnostic> {
    for key in table.keys().into_iter().filter(|key| *key != skip) {
        let Some(value) = table.get(key) else { continue };
        let path = if before.is_empty() { key.to_owned() } else { format!("{before}.{key}") };
        match table.table(key) {
            Ok(Some(inner)) if !key.contains('.') => settings_of(&inner, &path, "", all)?,
            _ if path == "seed" => {
                return Err(value.error("a seed is no setting to sweep", "give seeds = [1, 2, 3] in [sweep]"));
            }
            _ if path.split('.').any(str::is_empty) => {
                let remedy = "write the key with its tables before it, such as \"policy.alpha\"";
                return Err(value.error(format!("\"{path}\" is not a key"), remedy));
            }
            _ => all.push(Given { key: path, value }),
        }
    }
    Ok(())
}

/// Whether two keys name the same setting, or one a part of the other.
fn are_related(a: &str, b: &str) -> bool {
    let within = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    a == b || within(a, b) || within(b, a)
}

/// Refuses to sweep what an argument has fixed.
pub(super) fn refuse_given(key: &str, value: &Value<'_>, sets: &[(String, String)]) -> Result<(), Diagnostic> {
    match sets.iter().find(|(set, _)| are_related(set.trim(), key)) {
        Some((set, to)) => {
            let problem = format!("--set \"{set}={to}\" gives this to all points, and the sweep gives it to each");
            Err(value.error(problem, "leave one of the two out"))
        }
        None => Ok(()),
    }
}

/// The values of a key of the grid.
fn list_of<'d>(value: &Value<'d>) -> Result<Vec<Value<'d>>, Diagnostic> {
    let values = value.list().filter(|values| !values.is_empty());
    values.ok_or_else(|| value.error("a grid takes a list of values", "write [0.5, 1.0, 2.0]"))
}

fn read_grid<'d>(table: &Table<'d>, sets: &[(String, String)]) -> Result<Vec<Axis<'d>>, Diagnostic> {
    let Some(grid) = table.table("grid")? else { return Ok(Vec::new()) };
    let mut given = Vec::new();
    settings_of(&grid, "", "", &mut given)?;
    let mut axes: Vec<Axis<'d>> = Vec::new();
    for Given { key, value } in given {
        let values = list_of(&value)?;
        refuse_given(&key, &value, sets)?;
        if let Some(other) = axes.iter().find(|axis| are_related(&axis.key, &key)) {
            return Err(value.error(format!("the grid gives {} already", other.key), "leave one of the two out"));
        }
        axes.push(Axis { key, place: value, values });
    }
    Ok(axes)
}

fn read_variants<'d>(
    table: &Table<'d>,
    grid: &[Axis<'d>],
    sets: &[(String, String)],
) -> Result<Vec<Variant<'d>>, Diagnostic> {
    let mut variants = Vec::new();
    for table in table.tables("variant")? {
        let place = table.need("name", "name = \"DT\"")?;
        let name = place.text()?;
        if name.trim().is_empty() {
            return Err(place.error("this name is empty", "give it a name"));
        }
        if variants.iter().any(|other: &Variant<'d>| other.name == name) {
            return Err(place.error(format!("two variants are called \"{name}\""), "give each its own name"));
        }
        let mut settings = Vec::new();
        settings_of(&table, "", "name", &mut settings)?;
        for Given { key, value } in &settings {
            refuse_given(key, value, sets)?;
            if let Some(axis) = grid.iter().find(|axis| are_related(&axis.key, key)) {
                let problem = format!("the grid gives {}, too", axis.key);
                return Err(value.error(problem, "leave one of the two out"));
            }
        }
        variants.push(Variant { name, place, settings });
    }
    Ok(variants)
}

fn check_runs(table: &Table<'_>, seeds: &[u64], grid: &[Axis<'_>], variants: &[Variant<'_>]) -> Result<(), Diagnostic> {
    let counts = grid.iter().map(|axis| axis.values.len()).chain([seeds.len(), variants.len().max(1)]);
    let runs = counts.fold(1usize, usize::saturating_mul);
    if runs <= MOST_RUNS {
        return Ok(());
    }
    Err(table.error(format!("these are {runs} runs"), format!("give fewer values or seeds: at most {MOST_RUNS} runs")))
}

/// All points; the last key of the grid changes fastest, the variant slowest.
fn drafts<'p, 'd>(grid: &'p [Axis<'d>], variants: &'p [Variant<'d>]) -> Vec<Draft<'p, 'd>> {
    let named = |variant: &'p Variant<'d>| Draft {
        label: variant.name.to_owned(),
        variant: variant.name,
        place: Some(&variant.place),
        settings: variant.settings.iter().map(|given| (given.key.as_str(), &given.value)).collect(),
        own: variant.settings.len(),
    };
    let mut drafts: Vec<Draft<'p, 'd>> = variants.iter().map(named).collect();
    if drafts.is_empty() {
        let place = grid.first().map(|axis| &axis.place);
        drafts.push(Draft { label: String::new(), variant: "", place, settings: Vec::new(), own: 0 });
    }
    for axis in grid {
        let name = short_key(&axis.key, grid);
        let with = |draft: Draft<'p, 'd>| {
            axis.values.iter().map(move |value| {
                let part = format!("{name}={}", value.to_argument().trim_matches('"'));
                let label = if draft.label.is_empty() { part } else { format!("{} {part}", draft.label) };
                let mut settings = draft.settings.clone();
                settings.push((axis.key.as_str(), value));
                Draft { label, settings, ..draft.clone() }
            })
        };
        drafts = drafts.into_iter().flat_map(with).collect();
    }
    drafts
}

/// The last part of a key, if no other key of the grid ends with the same.
fn short_key<'k>(key: &'k str, grid: &[Axis<'_>]) -> &'k str {
    let last = |key: &'k str| key.rsplit('.').next().unwrap_or(key);
    let ends_alike = |axis: &&Axis<'_>| axis.key.rsplit('.').next() == Some(last(key));
    if grid.iter().filter(ends_alike).count() == 1 { last(key) } else { key }
}

fn check_labels(drafts: &[Draft<'_, '_>]) -> Result<(), Diagnostic> {
    let mut seen = BTreeSet::new();
    for draft in drafts {
        // Variants have different names, so it is mostly a value that is there twice.
        let place = draft.settings.last().map(|(_, value)| *value).or(draft.place);
        if let (false, Some(place)) = (seen.insert(draft.label.as_str()), place) {
            let problem = format!("two points are called \"{}\"", draft.label);
            return Err(place.error(problem, "give each value once"));
        }
    }
    Ok(())
}

/// Reads a point as a scenario. An error of one of its settings is shown where the sweep gives it.
fn check_point(file: &str, text: &str, sets: &[(String, String)], draft: &Draft<'_, '_>) -> Result<(), Diagnostic> {
    let settings = draft.settings();
    let all: Vec<(String, String)> = sets.iter().chain(&settings).cloned().collect();
    let Err(error) = Scenario::read(file, text, &all) else { return Ok(()) };
    let names = settings.iter().map(|(key, value)| format!("--set \"{key}={value}\""));
    let place = names.zip(&draft.settings).find(|(name, _)| *name == error.file).map(|(_, setting)| setting);
    if let Some((key, value)) = place {
        let problem = if error.field == *key { error.problem } else { format!("{}: {}", error.field, error.problem) };
        return Err(value.error(problem, error.remedy));
    }
    // What is wrong without the sweep is no fault of the sweep's.
    if Scenario::read(file, text, sets).is_err_and(|plain| plain == error) {
        return Err(error);
    }
    let Some(place) = draft.place else { return Err(error) };
    let line = error.line.map_or_else(String::new, |line| format!("line {line}, "));
    let problem = format!("the point \"{}\" cannot run: {line}{}: {}", draft.label, error.field, error.problem);
    Err(place.error(problem, error.remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
seed = 9
duration = "1ms"
[topology]
kind = "single"
hosts = 4
rate = "10Gbps"
delay = "1us"
[switch]
buffer = "1MB"
[policy]
kind = "dt"
alpha = 1.0
[[workload]]
kind = "poisson"
sizes = "20KB"
load = 0.3
transport = "dctcp"
"#;

    fn plan(sweep: &str, sets: &[(&str, &str)]) -> Result<SweepPlan, String> {
        let sets: Vec<_> = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        read("dir/test.toml", &format!("{SCENARIO}{sweep}"), &sets).map_err(|error| error.to_string())
    }

    fn labels(plan: &SweepPlan) -> Vec<&str> {
        plan.points.iter().map(|point| point.label.as_str()).collect()
    }

    fn settings(point: &SweepPoint) -> Vec<(&str, &str)> {
        point.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
    }

    #[test]
    fn every_variant_meets_every_value() {
        let plan = plan(
            "[sweep]\nseeds = \"3-5\"\n[sweep.grid]\n\"workload.0.load\" = [0.2, 0.4]\n\
             switch.buffer = [\"1MB\", 2_000_000]\n\
             [[sweep.variant]]\nname = \"DT\"\n[[sweep.variant]]\nname = \"ABM\"\n\"policy.kind\" = \"abm\"\n\
             policy.alpha = 0.5\n",
            &[],
        )
        .unwrap();
        assert_eq!(plan.seeds, [3, 4, 5]);
        assert_eq!(
            labels(&plan)[..3],
            ["DT load=0.2 buffer=1MB", "DT load=0.2 buffer=2000000", "DT load=0.4 buffer=1MB"]
        );
        assert_eq!(plan.points.len(), 8);
        assert_eq!(
            settings(&plan.points[7]),
            [("policy.kind", "abm"), ("policy.alpha", "0.5"), ("workload.0.load", "0.4"), ("switch.buffer", "2000000")]
        );
    }

    #[test]
    fn what_is_left_out_comes_from_the_scenario() {
        let alone = plan("", &[("seed", "4")]).unwrap();
        assert_eq!((alone.seeds.as_slice(), labels(&alone)), (&[4][..], vec![""]));
        assert!(alone.points[0].settings.is_empty());
        let only_seeds = plan("[sweep]\nseeds = [2, 1]\n", &[]).unwrap();
        assert_eq!((only_seeds.seeds.as_slice(), only_seeds.points.len()), (&[2, 1][..], 1));
        let only_grid = plan("[sweep.grid]\n\"policy.alpha\" = [0.5]\n", &[("workload.0.load", "0.5")]).unwrap();
        assert_eq!((only_grid.seeds.as_slice(), labels(&only_grid)), (&[9][..], vec!["alpha=0.5"]));
    }

    #[test]
    fn keys_that_end_alike_are_told_apart_and_values_keep_their_type() {
        let sweep = "[sweep.grid]\n\"policy.kind\" = [\"dt\"]\n\"ecn.kind\" = [\"step\"]\n\
         \"ecn.threshold\" = [\"30KB\"]\n\
                     \"name\" = [\"true\", \"a, b\"]\n";
        let plan = plan(sweep, &[]).unwrap();
        assert_eq!(labels(&plan)[0], "policy.kind=dt ecn.kind=step threshold=30KB name=true");
        let values: Vec<&str> = plan.points.iter().map(|point| point.settings[3].1.as_str()).collect();
        assert_eq!(values, ["\"true\"", "\"a, b\""]);
        let sets: Vec<_> = plan.points[1].settings.clone();
        assert_eq!(Scenario::read("test.toml", SCENARIO, &sets).unwrap().name, "a, b");
    }

    #[test]
    fn a_sweep_may_go_on_with_further_seeds() {
        let most = |sweep: &str, scale: &str, name| {
            let text = format!("{SCENARIO}[sweep]\n{sweep}\n[scale.quick]\n{scale}\n");
            read_at("x.toml", &text, &[], name, Checked::Scenarios).map(|plan| (plan.seeds.len(), plan.most_seeds))
        };
        assert_eq!(most("seeds = \"1-3\"", "", None), Ok((3, 3)));
        assert_eq!(most("seeds = \"1-3\"\nmost_seeds = 9", "", None), Ok((3, 9)));
        assert_eq!(most("seeds = \"1-3\"\nmost_seeds = 9", "", Some("quick")), Ok((3, 9)));
        assert_eq!(most("seeds = \"1-3\"\nmost_seeds = 9", "seeds = [1]", Some("quick")), Ok((1, 1)));
        assert_eq!(most("seeds = \"1-3\"", "seeds = [1]\nmost_seeds = 4", Some("quick")), Ok((1, 4)));
        let error = most("seeds = \"1-3\"\nmost_seeds = 2", "", None).unwrap_err().to_string();
        assert!(error.contains("3 seeds are run") && error.contains("give 3 to"), "{error}");
    }

    #[test]
    fn a_scale_takes_other_seeds_values_and_settings_and_fewer_variants() {
        let text = format!(
            "{SCENARIO}[sweep]\nseeds = \"1-9\"\n[sweep.grid]\n\"workload.0.load\" = [0.2, 0.4]\n\
             [[sweep.variant]]\nname = \"DT\"\n[[sweep.variant]]\nname = \"ABM\"\n\"policy.kind\" = \"abm\"\n\
             [scale.quick]\nseeds = [7]\nset = {{ duration = \"2ms\", \"topology.hosts\" = 5 }}\n\
             grid = {{ \"workload.0.load\" = [0.5] }}\nvariants = [\"ABM\"]\nsays = \"short\"\n"
        );
        let at = |scale: Option<&str>| read_at("test.toml", &text, &[], scale, Checked::Scenarios).unwrap();
        let quick = at(Some("quick"));
        assert_eq!((quick.seeds.as_slice(), labels(&quick)), (&[7][..], vec!["ABM load=0.5"]));
        let point = &quick.points[0];
        assert_eq!((point.variant.as_str(), point.grid.len(), point.grid[0].1.as_str()), ("ABM", 1, "0.5"));
        let given: Vec<_> = quick.sets.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(given, [("duration", "2ms"), ("topology.hosts", "5")]);
        assert_eq!((quick.says.as_deref(), quick.most_seeds), (Some("short"), 1));
        let own = at(None);
        assert_eq!((own.seeds.len(), own.points.len(), own.sets.len()), (9, 4, 0));
        let bad = |scale: &str, part: &str| {
            let text = format!("{text}[scale.bad]\n{part}\n");
            read_at("test.toml", &text, &[], Some(scale), Checked::Scenarios).unwrap_err().to_string()
        };
        assert!(bad("slow", "").contains("there is no [scale.slow]"), "{}", bad("slow", ""));
        for (part, problem) in [
            ("variants = [\"FB\"]", "no variant is called \"FB\""),
            ("grid = { \"policy.alpha\" = [1.0] }", "the sweep's grid has no policy.alpha"),
            ("set = { \"topology.hosts\" = 0 }", "topology.hosts"),
            ("sets = 1", "sets"),
        ] {
            assert!(bad("bad", part).contains(problem), "{}", bad("bad", part));
        }
    }

    #[test]
    fn a_single_run_passes_over_the_sweep() {
        let text = format!("{SCENARIO}[sweep.grid]\n\"policy.alpha\" = [-1]\n[scale.quick]\nseeds = 0\n");
        assert!(Scenario::read("test.toml", &text, &[]).is_ok());
    }
}
