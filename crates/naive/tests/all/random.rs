//! Random cases run through, and make everything happen that can.

use forebay_naive::{Dice, Reason, Verdict, random_case, run, run_observed};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

#[test]
fn everything_happens_somewhere() {
    let mut verdicts = BTreeSet::new();
    let mut reasons = BTreeSet::new();
    let mut deciders = Vec::new();
    let (mut arrivals_seen, mut marked, mut at_an_end, mut sent) = (0, 0, 0, 0);
    for seed in 0..2000 {
        let (switch, arrivals) = random_case(&mut Dice::from_seed(seed));
        assert!((20..=300).contains(&arrivals.len()));
        let outcomes = run(&switch, &arrivals);
        assert_eq!(outcomes.len(), arrivals.len());
        let ends: BTreeSet<u64> = outcomes.iter().filter_map(|o| o.end).collect();
        for (arrival, outcome) in arrivals.iter().zip(&outcomes) {
            verdicts.insert(outcome.verdict);
            reasons.insert(outcome.reason);
            arrivals_seen += 1;
            marked += usize::from(outcome.marked);
            sent += usize::from(outcome.verdict == Verdict::Sent);
            at_an_end += usize::from(ends.contains(&arrival.time));
        }
        let pair = (discriminant(&switch.policy), discriminant(&switch.scheduler));
        if !deciders.contains(&pair) {
            deciders.push(pair);
        }
    }
    assert_eq!(verdicts, BTreeSet::from(Verdict::ALL));
    assert_eq!(reasons, BTreeSet::from(Reason::ALL));
    assert_eq!(deciders.len(), 11 * 8, "every policy with every scheduler");
    println!("{arrivals_seen} arrivals: {sent} sent, {marked} marked, {at_an_end} at an end");
    assert!(marked > 1000);
    assert!(at_an_end * 5 > arrivals_seen, "many coincide with an end");
    assert!(sent * 4 > arrivals_seen && sent * 4 < arrivals_seen * 3);
}

/// The mixed fates of one policy or scheduler are not hidden behind another's.
#[test]
fn every_reason_happens_often() {
    let mut counts: BTreeMap<(Verdict, Reason), usize> = BTreeMap::new();
    for seed in 0..1000 {
        let (switch, arrivals) = random_case(&mut Dice::from_seed(seed));
        for outcome in run(&switch, &arrivals) {
            *counts.entry((outcome.verdict, outcome.reason)).or_default() += 1;
        }
    }
    println!("{counts:#?}");
    let rejections = [Reason::Rank, Reason::QueueFull, Reason::Full, Reason::Threshold];
    for reason in rejections {
        for verdict in [Verdict::Dropped, Verdict::Trimmed, Verdict::Returned] {
            assert!(counts[&(verdict, reason)] >= 100, "{verdict:?} {reason:?}");
        }
    }
    let drops = [Reason::Oversize, Reason::PushedOut, Reason::Expelled, Reason::HeaderFull];
    for reason in drops {
        assert!(counts[&(Verdict::Dropped, reason)] >= 100, "{reason:?}");
    }
}

#[test]
fn bytes_throw_cases_too() {
    let (switch, arrivals) = random_case(&mut Dice::from_bytes(&[]));
    assert_eq!(arrivals.len(), 1);
    assert_eq!(run(&switch, &arrivals).len(), 1);

    let mut dice = Dice::from_seed(7);
    for length in 0..300 {
        let bytes: Vec<u8> = (0..length).map(|_| dice.below(256) as u8).collect();
        let (switch, arrivals) = random_case(&mut Dice::from_bytes(&bytes));
        let mut last = None;
        let outcomes = run_observed(&switch, &arrivals, &mut |time, lengths| {
            assert!(last < Some(time), "instants go forward");
            last = Some(time);
            assert!(lengths.iter().sum::<u64>() <= switch.buffer);
        });
        assert_eq!(outcomes, run(&switch, &arrivals));
        assert_eq!(random_case(&mut Dice::from_bytes(&bytes)).1, arrivals);
    }
}
