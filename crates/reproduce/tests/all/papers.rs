//! What must be true of every figure of every paper.

use forebay_reproduce::job::{Source, plan};
use forebay_reproduce::record::Reproduction;
use forebay_reproduce::statement::{self, Mark};
use forebay_reproduce::{Figure, Paper, Scale, Table, Verdict, papers, render};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scenarios() -> PathBuf {
    project().join("scenarios")
}

/// The committed numbers.
fn record() -> Reproduction {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = BYTES.get_or_init(|| std::fs::read(project().join("docs").join(render::RECORD)).unwrap());
    Reproduction::from_file(bytes).unwrap()
}

fn each(mut check: impl FnMut(&Paper, &Figure)) {
    for paper in papers::all() {
        for figure in &paper.figures {
            check(&paper, figure);
        }
    }
}

#[test]
fn each_figure_has_its_files_and_each_file_its_figure() {
    let mut known = BTreeSet::new();
    each(|paper, figure| {
        let directory = scenarios().join(paper.id);
        let path = directory.join(format!("{}.toml", figure.id));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), figure.text, "{}", path.display());
        assert!(known.insert(path), "{}/{} is there twice", paper.id, figure.id);
        for (name, text) in figure.files {
            assert_eq!(std::fs::read_to_string(directory.join(name)).unwrap(), *text, "{name}");
        }
        assert!(!figure.title.is_empty() && !figure.setting.is_empty() && !figure.number.is_empty(), "{}", figure.id);
        let claims = directory.join("claims").join(format!("{}.toml", figure.id));
        let text = std::fs::read_to_string(&claims).unwrap();
        assert_eq!(statement::read("", &text).unwrap(), figure.statements(paper.id), "{}", claims.display());
        known.insert(claims);
    });
    for paper in papers::all() {
        for directory in [scenarios().join(paper.id), scenarios().join(paper.id).join("claims")] {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let is_scenario = path.extension().is_some_and(|end| end == "toml");
                assert!(!is_scenario || known.contains(&path), "{} belongs to no figure", path.display());
            }
        }
    }
}

#[test]
fn each_figure_can_be_run_at_each_scale() {
    each(|paper, figure| {
        let name = scenarios().join(paper.id).join(format!("{}.toml", figure.id));
        let source = Source { name: name.display().to_string(), text: figure.text.to_owned() };
        let jobs = Scale::ALL.map(|scale| match plan(paper, figure, scale, &source) {
            Ok(plan) => plan.jobs.len(),
            Err(error) => panic!("{}/{} at the {} scale: {error}", paper.id, figure.id, scale.name()),
        });
        assert!(jobs[0] > 0 && jobs.is_sorted(), "{}/{} has {jobs:?} jobs", paper.id, figure.id);
    });
}

/// Without numbers there is no verdict: none is written down beforehand.
#[test]
fn claims_without_numbers_have_no_verdict() {
    let mut wrong = Vec::new();
    each(|paper, figure| {
        for scale in Scale::ALL {
            for claim in figure.judged(paper.id, &Table::new(scale, vec![])) {
                if claim.verdict(scale) != Verdict::Missing {
                    wrong.push(claim.id);
                }
            }
        }
    });
    assert!(wrong.is_empty(), "these have a verdict: {wrong:#?}");
}

/// Every statement of the files has numbers in the record, and every number its statement.
#[test]
fn statements_and_measurements_belong_together() {
    let record = record();
    let mut wrong = Vec::new();
    let mut ids = BTreeSet::new();
    each(|paper, figure| {
        let Some(result) = record.result(paper.id, figure.id) else { return };
        let name = format!("{}/{}", paper.id, figure.id);
        let statements = figure.statements(paper.id);
        result.table.set_deterministic(statements.deterministic);
        let measured: BTreeSet<String> =
            (figure.claims)(&result.table).iter().map(|one| one.statement().to_owned()).collect();
        let said: BTreeSet<String> = statements.all.iter().map(|one| one.id.clone()).collect();
        wrong.extend(said.difference(&measured).map(|id| format!("{name}: nothing is measured for {id}")));
        wrong.extend(measured.difference(&said).map(|id| format!("{name}: there is no statement {id}")));
        for claim in figure.judged(paper.id, &result.table) {
            if claim.words.contains('{') || claim.reason(record.scale).is_some_and(|reason| reason.contains('{')) {
                wrong.push(format!("{}: a place is not filled: {}", claim.id, claim.words));
            }
            if claim.verdict(record.scale).has_cause() && claim.mark != Mark::Appendix && claim.cause.is_none() {
                wrong.push(format!("{}: {} without a cause", claim.id, claim.verdict(record.scale).words()));
            }
            wrong.extend((!ids.insert(claim.id.clone())).then(|| format!("{}: there twice", claim.id)));
        }
        // What is said about a setting is about one that there is.
        let places: BTreeSet<String> =
            (figure.claims)(&result.table).iter().map(|one| format!("{} {}", one.statement(), one.place())).collect();
        for statement in &statements.all {
            for (place, _) in &statement.at {
                if !places.contains(&format!("{} {place}", statement.id)) {
                    wrong.push(format!("{name}: {} has no setting {place}", statement.id));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A reason that is not a conjecture names runs that are there.
#[test]
fn evidence_is_in_the_record() {
    let record = record();
    let mut wrong = Vec::new();
    each(|paper, figure| {
        for statement in figure.statements(paper.id).all {
            let details = statement.at.iter().map(|(_, own)| own).chain([&statement.details]);
            for run in details.flat_map(|details| &details.evidence) {
                let (name, variant) = run.split_once(": ").unwrap_or((run, ""));
                let result = name.split_once('/').and_then(|(paper, figure)| record.result(paper, figure));
                let found =
                    result.is_some_and(|result| variant.is_empty() || result.table.variants().contains(&variant));
                if !found {
                    wrong.push(format!("{}/{} {}: {run}", paper.id, figure.id, statement.id));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "these are in no record: {wrong:#?}");
}

/// Nobody types a verdict: what is committed is what the committed numbers give.
#[test]
fn the_committed_pages_are_made_from_the_committed_numbers() {
    let docs = project().join("docs");
    let mut made = BTreeSet::new();
    for (name, contents) in render::files(&papers::all(), &record(), "../scenarios") {
        let committed = std::fs::read(docs.join(&name)).unwrap_or_default();
        assert!(
            committed == contents,
            "docs/{name} is not what forebay reproduce --render docs/{} --docs docs makes",
            render::RECORD
        );
        made.insert(name);
    }
    for entry in std::fs::read_dir(docs.join(render::PAGES)).unwrap() {
        let name = format!("{}/{}", render::PAGES, entry.unwrap().file_name().to_string_lossy());
        assert!(made.contains(&name), "docs/{name} is made by nothing");
    }
    assert!(std::fs::metadata(docs.join(render::RECORD)).unwrap().len() < 1_000_000);
}

/// About ten headline claims a paper.
#[test]
fn each_paper_has_headline_claims() {
    let record = record();
    for paper in papers::all() {
        let all = paper.figures.iter().filter_map(|figure| Some((figure, record.result(paper.id, figure.id)?)));
        let claims = all.flat_map(|(figure, result)| figure.judged(paper.id, &result.table));
        let headlines = claims.filter(|claim| claim.mark == Mark::Headline).count();
        assert!((8..=16).contains(&headlines), "{} has {headlines}", paper.id);
    }
}

/// Every panel asks for something and says what it shows, in which unit.
#[test]
fn panels_have_labels() {
    each(|paper, figure| {
        for panel in &figure.panels {
            let plot = panel.plot(&Table::new(Scale::Quick, vec![]));
            assert!(!plot.title.is_empty() && !plot.y.label.is_empty(), "{}/{}", paper.id, figure.id);
        }
    });
}
