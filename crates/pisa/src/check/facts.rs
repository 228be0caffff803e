//! What is known where a statement runs, and which two statements never run for the same packet.

use crate::names::{Names, Value};
use crate::syntax::{Condition, Relation, Test};
use std::collections::BTreeMap;

/// How often a word has been written so far in a pass: two reads with equal numbers see the same value.
pub(crate) type Versions = BTreeMap<u8, u32>;

/// One side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    Number(u64),
    Field { word: u8, low: u32, bits: u32, version: u32 },
}

/// A comparison that holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    left: Term,
    relation: Relation,
    right: Term,
}

impl Fact {
    fn new(test: &Test, names: &Names<'_>, versions: &Versions) -> Option<Self> {
        let term = |operand| {
            Some(match names.value(operand, None).ok()? {
                Value::Number(number) => Term::Number(number),
                Value::Word { word, low, bits, .. } => {
                    Term::Field { word, low, bits, version: versions.get(&word).copied().unwrap_or(0) }
                }
            })
        };
        let (left, right) = (term(&test.left)?, term(&test.right)?);
        Some(match left {
            Term::Number(_) => Self { left: right, relation: mirrored(test.relation), right: left },
            Term::Field { .. } => Self { left, relation: test.relation, right },
        })
    }

    /// Whether the two cannot hold together.
    fn contradicts(&self, other: &Self) -> bool {
        if self.left != other.left {
            return false;
        }
        if self.right == other.right {
            return outcomes(self.relation) & outcomes(other.relation) == 0;
        }
        let (Term::Number(a), Term::Number(b)) = (self.right, other.right) else { return false };
        let (first, second) = (range(self.relation, a), range(other.relation, b));
        first.0.max(second.0) > first.1.min(second.1)
    }
}

/// The facts of a condition that holds.
pub(crate) fn held(condition: &Condition, names: &Names<'_>, versions: &Versions) -> Vec<Fact> {
    if condition.any && condition.tests.len() > 1 {
        return Vec::new();
    }
    condition.tests.iter().filter_map(|test| Fact::new(test, names, versions)).collect()
}

/// The facts of a condition that does not hold.
pub(crate) fn failed(condition: &Condition, names: &Names<'_>, versions: &Versions) -> Vec<Fact> {
    if !condition.any && condition.tests.len() > 1 {
        return Vec::new();
    }
    let negated = |fact: Fact| Fact { relation: fact.relation.negated(), ..fact };
    condition.tests.iter().filter_map(|test| Fact::new(test, names, versions)).map(negated).collect()
}

/// Whether some two facts cannot hold together.
pub(crate) fn contradict(a: &[Fact], b: &[Fact]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.contradicts(b)))
}

/// The comparison seen from the other side.
fn mirrored(relation: Relation) -> Relation {
    match relation {
        Relation::Less => Relation::More,
        Relation::AtMost => Relation::AtLeast,
        Relation::More => Relation::Less,
        Relation::AtLeast => Relation::AtMost,
        same => same,
    }
}

/// Which of less, equal and more a comparison allows.
fn outcomes(relation: Relation) -> u8 {
    match relation {
        Relation::Less => 1,
        Relation::Equal => 2,
        Relation::More => 4,
        Relation::AtMost => 3,
        Relation::Different => 5,
        Relation::AtLeast => 6,
    }
}

/// The least and the most that a comparison with a number allows; all if it is only not that number.
fn range(relation: Relation, number: u64) -> (u64, u64) {
    match relation {
        Relation::Equal => (number, number),
        Relation::Different => (0, u64::MAX),
        // Nothing is less than 0, and nothing more than the most: the range is empty.
        Relation::Less => number.checked_sub(1).map_or((1, 0), |most| (0, most)),
        Relation::AtMost => (0, number),
        Relation::More => number.checked_add(1).map_or((1, 0), |least| (least, u64::MAX)),
        Relation::AtLeast => (number, u64::MAX),
    }
}
