//! What must be true of every figure of every paper.

use forebay_reproduce::job::{Source, plan};
use forebay_reproduce::{Figure, Paper, Scale, Table, Verdict, papers};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn each(mut check: impl FnMut(&Paper, &Figure)) {
    for paper in papers::all() {
        for figure in &paper.figures {
            check(&paper, figure);
        }
    }
}

#[test]
fn each_figure_has_its_file_and_each_file_its_figure() {
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
    });
    for paper in papers::all() {
        for entry in std::fs::read_dir(scenarios().join(paper.id)).unwrap() {
            let path = entry.unwrap().path();
            let is_scenario = path.extension().is_some_and(|end| end == "toml");
            assert!(!is_scenario || known.contains(&path), "{} belongs to no figure", path.display());
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
            for claim in (figure.claims)(&Table::new(scale, vec![])) {
                if claim.verdict(scale) != Verdict::Missing {
                    wrong.push(format!("{}/{}: {}", paper.id, figure.id, claim.words));
                }
            }
        }
    });
    assert!(wrong.is_empty(), "these have a verdict: {wrong:#?}");
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
