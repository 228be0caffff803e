//! Seeds one batch after the other, until every statement is decided or there are as many as the scenario allows.
//!
//! All points of a figure get the same further seeds, so that what is compared stays paired. Batches grow by a half of
//! what there is, so that there are few looks at the intervals: each look is a chance for a wrong decision.

use crate::claim::Claim;
use crate::figure::Scale;
use crate::statement::Mark;

/// The seeds to run next; none if all that counts is decided, or if `most` seeds are done.
pub fn next_seeds(claims: &[Claim], scale: Scale, done: &[u64], most: usize) -> Vec<u64> {
    let is_open = |claim: &Claim| claim.mark != Mark::Appendix && claim.verdict(scale).is_open();
    if done.len() >= most || !claims.iter().any(is_open) {
        return Vec::new();
    }
    let more = done.len().div_ceil(2).clamp(1, most - done.len());
    let first = done.iter().max().map_or(1, |last| last + 1);
    (first..).take(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Figure, Paper, Point, Work};
    use crate::job::{self, Source};
    use crate::measured::Measured;
    use crate::metrics::Metrics;
    use crate::statement;
    use crate::table::{Row, Table};
    use crate::verdict::Verdict;

    /// Two schemes whose difference is `gap`, with what a seed adds to one of them.
    fn measure(point: &Point) -> Result<Metrics, String> {
        let noise = [1.0, -1.0, 0.6, -0.7, 0.2, -0.1][(point.seed % 6) as usize];
        let gap = point.need("gap")?;
        let mut metrics = Metrics::default();
        metrics.set("y", if point.variant == "A" { gap + noise } else { 0.0 });
        Ok(metrics)
    }

    fn figure() -> Figure {
        Figure {
            id: "synthetic",
            number: "1",
            title: "t",
            setting: "s",
            text: "",
            files: &[],
            work: Work::Compute(measure),
            panels: vec![],
            claims: |table| {
                let of = |variant: &str| table.at(variant).get("y");
                vec![Measured::stat("above", &of("A").minus(&of("B")))]
            },
        }
    }

    const SAID: &str = "[[claim]]\nid = \"above\"\nstatement = \"A is above B\"\nsection = \"1\"\nrule = \"direction\"\nmark = \"figure\"\npaper = \"above\"\n";

    /// Runs until there are no further seeds: the seeds, and the last verdict.
    fn run(gap: f64, mark: &str) -> (Vec<u64>, Verdict) {
        let paper = Paper { id: "none", system: "", title: "", about: "", figures: vec![] };
        let figure = figure();
        let text = format!(
            "kind = \"analysis\"\n[parameters]\ngap = {gap}\n[sweep]\nseeds = [1, 2]\nmost_seeds = 9\n[[sweep.variant]]\nname = \"A\"\n[[sweep.variant]]\nname = \"B\"\n"
        );
        let source = Source { name: "x.toml".into(), text };
        let said = statement::read("x.toml", &SAID.replace("\"figure\"", &format!("\"{mark}\""))).unwrap();
        let mut plan = job::plan(&paper, &figure, Scale::Full, &source).unwrap();
        let (mut seeds, most) = (plan.seeds.clone(), plan.most_seeds);
        let mut rows: Vec<Row> = Vec::new();
        loop {
            for job in &plan.jobs {
                let metrics = job::run(&figure, &source, job, &mut || true).unwrap().unwrap();
                rows.push(Row { point: job.point.clone(), metrics });
            }
            let table = Table::new(Scale::Full, rows.clone());
            let claim = Claim::new(&said.all[0], &(figure.claims)(&table)[0]).unwrap();
            let next = next_seeds(std::slice::from_ref(&claim), Scale::Full, &seeds, most);
            if next.is_empty() {
                return (seeds, claim.verdict(Scale::Full));
            }
            plan = job::plan_further(&paper, &figure, Scale::Full, &source, &next).unwrap();
            assert_eq!(plan.jobs.len(), 2 * next.len(), "every point has every seed");
            seeds.extend(next);
        }
    }

    #[test]
    fn seeds_go_on_until_the_interval_decides() {
        // Two seeds decide a large difference; a small one takes more, and none is never decided.
        assert_eq!(run(20.0, "figure"), (vec![1, 2], Verdict::Holds));
        let (seeds, verdict) = run(0.9, "figure");
        assert!(seeds.len() > 2 && seeds.len() < 9 && verdict == Verdict::Holds, "{seeds:?} {verdict:?}");
        assert_eq!(run(0.0, "figure"), ((1..=9).collect(), Verdict::Inconclusive));
        assert_eq!(run(0.0, "appendix").0, [1, 2], "what is not counted is not run for");
    }
}
