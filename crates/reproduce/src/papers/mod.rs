//! The papers.

mod abm;
mod aifo;
mod fb;
mod measure_fluid;
mod measure_resources;
mod measure_twin;
mod occamy;
mod trimming;

use crate::figure::Paper;

/// All of them, each with its figures in the order of their numbers, then what has no number.
pub fn all() -> Vec<Paper> {
    let mut papers = vec![fb::paper(), abm::paper(), occamy::paper(), aifo::paper(), trimming::paper()];
    for paper in &mut papers {
        paper.figures.sort_by_key(|figure| {
            let digits = figure.number.find(|c: char| !c.is_ascii_digit()).unwrap_or(figure.number.len());
            figure.number[..digits].parse().unwrap_or(u32::MAX)
        });
    }
    papers
}
