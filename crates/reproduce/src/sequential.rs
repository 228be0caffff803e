//! Seeds one batch after the other, until every statement is decided or there are as many as the scenario allows.
//!
//! Only the points that an open statement rests on get further seeds: those without whose numbers it would read
//! otherwise. The seeds of a point are always the first ones of one list, so that what is compared stays paired.
//! Batches grow by a half of what there is, so that there are few looks at the intervals: each look is a chance for a
//! wrong decision.

use crate::claim::Claim;
use crate::figure::Point;
use crate::statement::Mark;
use crate::table::Table;

/// The seeds to run next, by point; none if all that counts is decided, or if the points that decide it have `most`.
/// The first seeds of each point are those of `base`; further ones count on from the largest.
pub fn next_seeds(
    judge: impl Fn(&Table) -> Vec<Claim>,
    table: &Table,
    base: &[u64],
    most: usize,
) -> Vec<(Point, Vec<u64>)> {
    let is_open = |claim: &Claim| claim.mark != Mark::Appendix && claim.verdict(table.scale()).is_open();
    let claims = judge(table);
    let open: Vec<&Claim> = claims.iter().filter(|claim| is_open(claim)).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let points = table.points();
    // Which points have a part in which of the open statements.
    let parts: Vec<Vec<bool>> = points
        .iter()
        .map(|(point, _)| {
            let blank = judge(&table.without(point));
            open.iter().map(|claim| !blank.contains(claim)).collect()
        })
        .collect();
    let wanted = |statement: usize| {
        let own = || points.iter().zip(&parts).filter(|(_, part)| part[statement]).map(|((_, seeds), _)| seeds.len());
        let (least, largest) = (own().min().unwrap_or(0), own().max().unwrap_or(0));
        // What other statements have run already comes first.
        if least < largest { largest } else { (least + least.div_ceil(2)).min(most) }
    };
    let wanted: Vec<usize> = (0..open.len()).map(wanted).collect();
    let further = points.into_iter().zip(&parts).filter_map(|((point, seeds), part)| {
        let wanted = part.iter().zip(&wanted).filter(|(is_part, _)| **is_part).map(|(_, wanted)| *wanted).max()?;
        let new: Vec<u64> = list(base).take(wanted).filter(|seed| !seeds.contains(seed)).collect();
        (!new.is_empty()).then_some((point, new))
    });
    further.collect()
}

/// The seeds of a point in their order: those of `base`, then further ones.
fn list(base: &[u64]) -> impl Iterator<Item = u64> {
    let first = base.iter().max().map_or(1, |last| last + 1);
    base.iter().copied().chain(first..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Figure, Paper, Scale, Work};
    use crate::job::{self, Source};
    use crate::measured::Measured;
    use crate::metrics::Metrics;
    use crate::statement::{self, Statement};
    use crate::table::Row;
    use crate::verdict::Verdict;

    /// A is above B by `gap` and what a seed adds, C by that alone.
    fn measure(point: &Point) -> Result<Metrics, String> {
        let noise = [1.0, -1.0, 0.6, -0.7, 0.2, -0.1][(point.seed % 6) as usize];
        let gap = point.need("gap")?;
        let mut metrics = Metrics::default();
        let y = match point.variant.as_str() {
            "A" => gap + noise,
            "C" => noise,
            _ => 0.0,
        };
        metrics.set("y", y);
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
                vec![
                    Measured::stat("above", &of("A").minus(&of("B"))),
                    Measured::stat("aside", &of("C").minus(&of("B"))),
                ]
            },
        }
    }

    /// A statement about A, and one about C that nothing decides.
    fn statements(mark: &str, mark_aside: &str) -> Vec<Statement> {
        let one = |id: &str, mark: &str| {
            format!(
                "[[claim]]\nid = \"{id}\"\nstatement = \"above B\"\nsection = \"1\"\nrule = \"direction\"\nmark = \"{mark}\"\npaper = \"above\"\n"
            )
        };
        statement::read("x.toml", &(one("above", mark) + &one("aside", mark_aside))).unwrap().all
    }

    /// Runs until there are no further seeds: the seeds of A, B and C, and the verdict about A.
    fn run(gap: f64, mark: &str, mark_aside: &str) -> ([Vec<u64>; 3], Verdict) {
        let paper = Paper { id: "none", system: "", title: "", about: "", figures: vec![] };
        let figure = figure();
        let variants = ["A", "B", "C"];
        let mut text =
            format!("kind = \"analysis\"\n[parameters]\ngap = {gap}\n[sweep]\nseeds = [1, 2]\nmost_seeds = 9\n");
        for name in variants {
            text.push_str(&format!("[[sweep.variant]]\nname = \"{name}\"\n"));
        }
        let source = Source { name: "x.toml".into(), text };
        let statements = statements(mark, mark_aside);
        let judge = |table: &Table| -> Vec<Claim> {
            let measured = (figure.claims)(table);
            statements.iter().zip(&measured).map(|(said, found)| Claim::new(said, found).unwrap()).collect()
        };
        let mut plan = job::plan(&paper, &figure, Scale::Full, &source).unwrap();
        let (base, most) = (plan.seeds.clone(), plan.most_seeds);
        let mut rows: Vec<Row> = Vec::new();
        loop {
            for job in &plan.jobs {
                let metrics = job::run(&figure, &source, job, &mut || true).unwrap().unwrap();
                rows.push(Row { point: job.point.clone(), metrics });
            }
            let table = Table::new(Scale::Full, rows.clone());
            let next = next_seeds(judge, &table, &base, most);
            if next.is_empty() {
                let of = |variant: &str| {
                    let own = rows.iter().filter(|row| row.point.variant == variant);
                    own.map(|row| row.point.seed).collect()
                };
                return (variants.map(of), judge(&table)[0].verdict(Scale::Full));
            }
            plan = job::plan_further(&paper, &figure, Scale::Full, &source, &next).unwrap();
            assert_eq!(plan.jobs.len(), next.iter().map(|(_, seeds)| seeds.len()).sum::<usize>());
        }
    }

    #[test]
    fn seeds_go_on_until_the_interval_decides() {
        // Two seeds decide a large difference; a small one takes more, and none is never decided.
        let two = vec![1, 2];
        let of = |gap, mark| run(gap, mark, "appendix");
        assert_eq!(of(20.0, "figure"), ([two.clone(), two.clone(), two.clone()], Verdict::Holds));
        let ([a, b, c], verdict) = of(0.9, "figure");
        assert!(a.len() > 2 && a.len() < 9 && verdict == Verdict::Holds, "{a:?} {verdict:?}");
        assert_eq!((&b, &c), (&a, &two), "only what the statement rests on has further seeds");
        let nine: Vec<u64> = (1..=9).collect();
        assert_eq!(of(0.0, "figure"), ([nine.clone(), nine.clone(), two.clone()], Verdict::Inconclusive));
        assert_eq!(of(0.0, "appendix").0, [two.clone(), two.clone(), two], "what is not counted is not run for");
        // B is part of both statements; the one about A is decided early.
        let ([a, b, c], verdict) = run(0.9, "figure", "figure");
        assert!(a.len() < 9 && verdict == Verdict::Holds, "{a:?} {verdict:?}");
        assert_eq!((b, c), (nine.clone(), nine));
    }
}
