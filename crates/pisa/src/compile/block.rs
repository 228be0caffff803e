//! Conditions and blocks as jumps.

use super::{Compiler, Op};
use crate::error::Fault;
use crate::names::Value;
use crate::syntax::{Condition, Item, Register, Relation, When};

/// A comparison whose result is not known before the packet comes.
#[derive(Clone, Copy)]
pub(super) struct Unknown {
    left: Value,
    relation: Relation,
    right: Value,
}

/// A condition, as far as it is known.
pub(super) enum Folded {
    Known(bool),
    Unknown { tests: Vec<Unknown>, any: bool },
}

impl Compiler<'_> {
    pub(super) fn items(&mut self, items: &[Item]) -> Result<(), Fault> {
        for item in items {
            match item {
                Item::Statement(statement) => self.statement(statement)?,
                Item::When(when) => self.when(when)?,
            }
        }
        Ok(())
    }

    fn when(&mut self, when: &When) -> Result<(), Fault> {
        let before = self.done.clone();
        let mut ends = Vec::new();
        let mut done_at_ends = Vec::new();
        let mut to_next: Vec<usize> = Vec::new();
        let always = Vec::new();
        let last = when.otherwise.as_ref().unwrap_or(&always);
        let arms = when.arms.iter().map(|arm| (Some(&arm.condition), &arm.items)).chain([(None, last)]);
        for (condition, items) in arms {
            let folded = match condition {
                Some(condition) => self.fold(condition, None)?,
                None => Folded::Known(true),
            };
            if let Folded::Known(false) = folded {
                continue;
            }
            if !to_next.is_empty() {
                if condition.is_some() || !items.is_empty() {
                    ends.push(self.jump());
                }
                self.land(&to_next);
                to_next.clear();
            }
            self.done.clone_from(&before);
            let is_last = matches!(folded, Folded::Known(_));
            if let Folded::Unknown { tests, any } = folded {
                to_next = self.unless(&tests, any)?;
            }
            self.items(items)?;
            done_at_ends.push(self.done.clone());
            if is_last {
                break;
            }
        }
        self.land(&ends);
        self.done.retain(|done| done_at_ends.iter().all(|end| end.contains(done)));
        Ok(())
    }

    /// A condition with what is known taken out of it.
    pub(super) fn fold(&self, condition: &Condition, register: Option<&Register>) -> Result<Folded, Fault> {
        let mut tests = Vec::new();
        for test in &condition.tests {
            let left = self.names.value(&test.left, register)?;
            let right = self.names.value(&test.right, register)?;
            match (self.known(left), self.known(right)) {
                (Some(a), Some(b)) if test.relation.holds(a, b) == condition.any => {
                    return Ok(Folded::Known(condition.any));
                }
                (Some(_), Some(_)) => {}
                _ => tests.push(Unknown { left, relation: test.relation, right }),
            }
        }
        if tests.is_empty() {
            return Ok(Folded::Known(!condition.any));
        }
        Ok(Folded::Unknown { tests, any: condition.any })
    }

    /// Jumps that are taken unless a condition holds; where they go is set by [`Self::land`].
    pub(super) fn unless(&mut self, tests: &[Unknown], any: bool) -> Result<Vec<usize>, Fault> {
        if !any {
            return tests.iter().map(|test| self.jump_if(*test, false)).collect();
        }
        let Some((last, others)) = tests.split_last() else { return Ok(Vec::new()) };
        self.maybe(|compiler| {
            let mut hits = Vec::new();
            for test in others {
                hits.push(compiler.jump_if(*test, true)?);
            }
            let miss = compiler.jump_if(*last, false)?;
            compiler.land(&hits);
            Ok(vec![miss])
        })
    }

    /// A jump that is taken if a comparison holds, or if it does not.
    fn jump_if(&mut self, test: Unknown, holds: bool) -> Result<usize, Fault> {
        let (a, relation, b) = self.ordered(test)?;
        let relation = if holds { relation } else { relation.negated() };
        let (a, relation, b) = turned(a, relation, b);
        let jump = 0;
        self.ops.push(match relation {
            Relation::Equal => Op::IfEqual { a, b, jump },
            Relation::Different => Op::IfDifferent { a, b, jump },
            Relation::Less => Op::IfLess { a, b, jump },
            _ => Op::IfAtLeast { a, b, jump },
        });
        Ok(self.ops.len() - 1)
    }

    /// 1 or 0 for a comparison.
    pub(super) fn set(&mut self, to: u8, test: Unknown) -> Result<(), Fault> {
        let (a, relation, b) = self.ordered(test)?;
        let (a, relation, b) = turned(a, relation, b);
        self.ops.push(match relation {
            Relation::Equal => Op::SetEqual { to, a, b },
            Relation::Different => Op::SetDifferent { to, a, b },
            Relation::Less => Op::SetLess { to, a, b },
            _ => Op::SetAtLeast { to, a, b },
        });
        Ok(())
    }

    fn ordered(&mut self, test: Unknown) -> Result<(u8, Relation, u8), Fault> {
        Ok((self.word(test.left)?, test.relation, self.word(test.right)?))
    }

    /// A jump that is always taken.
    pub(super) fn jump(&mut self) -> usize {
        self.ops.push(Op::Jump { jump: 0 });
        self.ops.len() - 1
    }

    /// Lets jumps end here.
    pub(super) fn land(&mut self, jumps: &[usize]) {
        let here = self.ops.len() as u16;
        for jump in jumps {
            self.ops[*jump].set_jump(here);
        }
    }
}

/// The same comparison as one of the four that the machine has.
fn turned(a: u8, relation: Relation, b: u8) -> (u8, Relation, u8) {
    match relation {
        Relation::More => (b, Relation::Less, a),
        Relation::AtMost => (b, Relation::AtLeast, a),
        _ => (a, relation, b),
    }
}
