//! For the terminal.

use super::{COUNTED, View, count, tally};
use crate::figure::{Figure, Paper};
use crate::record::Reproduction;
use crate::statement::Mark;
use crate::unit::significant;
use crate::verdict::Verdict;
use forebay_results::text::TextTable;
use serde_json::{Value, json};

/// The figures and what they show.
pub fn list(papers: &[Paper]) -> String {
    let mut table = TextTable::new(3, ["figure", "in the paper", "what it shows"]);
    for paper in papers {
        for Figure { id, number, title, .. } in &paper.figures {
            table.row(vec![format!("{}/{id}", paper.id), (*number).to_owned(), (*title).to_owned()]);
        }
    }
    table.render()
}

/// The same as JSON.
pub fn list_json(papers: &[Paper]) -> Value {
    let figures = papers.iter().flat_map(|paper| paper.figures.iter().map(move |figure| (paper, figure)));
    let object = |(paper, Figure { id, number, title, .. }): (&Paper, &Figure)| json!({ "figure": format!("{}/{id}", paper.id), "number": number, "title": title });
    figures.map(object).collect()
}

/// The claims, figure by figure, and how many of them hold.
pub fn claims(papers: &[Paper], all: &Reproduction) -> String {
    let mut text = String::new();
    let (mut totals, mut headlines) = ([0; Verdict::ALL.len()], [0; Verdict::ALL.len()]);
    for paper in papers {
        for view in View::of_paper(paper, all) {
            text.push_str(&format!("{}  {}\n", view.name(), view.figure.title));
            // What is computed without the simulator has no cost of its own.
            let cost = match view.result.cpu_seconds {
                0.0 => String::new(),
                seconds => format!("; {} CPU seconds", significant(seconds)),
            };
            text.push_str(&format!("  {}{cost}\n", view.facts(all)));
            if let Some(says) = &view.result.says {
                text.push_str(&format!("  {says}\n"));
            }
            let mut table = TextTable::new(4, ["", "claim", "paper", "here"]);
            for claim in view.marked(&COUNTED) {
                let verdict = claim.verdict(all.scale);
                table.row(vec![
                    verdict.words().to_owned(),
                    claim.words.clone(),
                    claim.paper.clone(),
                    claim.ours.clone(),
                ]);
            }
            text.push_str(&table.render());
            text.push('\n');
            add(&mut totals, count([&view], all, &COUNTED));
            add(&mut headlines, count([&view], all, &[Mark::Headline]));
        }
    }
    for (name, counts) in [("headline claims", headlines), ("claims", totals)] {
        text.push_str(&format!("{} {name}: {}\n", counts.iter().sum::<usize>(), tally(counts)));
    }
    text
}

fn add(totals: &mut [usize], counts: [usize; Verdict::ALL.len()]) {
    for (total, own) in totals.iter_mut().zip(counts) {
        *total += own;
    }
}
