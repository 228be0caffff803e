//! For the terminal.

use super::{VERDICTS, View, count};
use crate::figure::{Figure, Paper};
use crate::record::Reproduction;
use crate::unit::significant;
use forebay_results::text::TextTable;

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

/// The claims, figure by figure, and how many of them hold.
pub fn claims(papers: &[Paper], all: &Reproduction) -> String {
    let mut text = String::new();
    let mut totals = [0; 5];
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
            for claim in &view.claims {
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
            for (total, own) in totals.iter_mut().zip(count([&view], all)) {
                *total += own;
            }
        }
    }
    let counted = VERDICTS.iter().zip(totals).filter(|(_, count)| *count > 0);
    let counted: Vec<String> = counted.map(|(verdict, count)| format!("{count} {}", verdict.words())).collect();
    text.push_str(&format!("{} claims: {}\n", totals.iter().sum::<usize>(), counted.join(", ")));
    text
}
