//! A pass as a list: every condition and statement in the order of the text, with what must hold for it to run.

use super::facts::{Fact, Versions, contradict, failed, held};
use crate::names::{Names, Symbol};
use crate::parse::place;
use crate::syntax::{Action, Condition, Direction, Expression, Item, Operand, Section, Statement, When};

/// A condition or a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    Condition(&'a Condition),
    Statement(&'a Statement),
}

/// A condition or a statement and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Point<'a> {
    pub(crate) direction: Direction,
    pub(crate) stage: u64,
    pub(crate) line: usize,
    pub(crate) what: What<'a>,
    /// The blocks around it, and the arm in each.
    arms: Vec<(usize, usize)>,
    facts: Vec<Fact>,
}

impl<'a> Point<'a> {
    /// Whether no packet meets both.
    pub(crate) fn excludes(&self, other: &Self) -> bool {
        let other_arm = |(block, arm): &(usize, usize)| other.arms.iter().any(|(b, a)| b == block && a != arm);
        self.arms.iter().any(other_arm) || contradict(&self.facts, &other.facts)
    }

    /// The stage in words.
    pub(crate) fn place(&self) -> String {
        place(self.stage, self.direction)
    }

    /// The block and arm that it stands in.
    pub(crate) fn block(&self) -> Option<(usize, usize)> {
        self.arms.last().copied()
    }

    /// The statement's action.
    pub(crate) fn action(&self) -> Option<&'a Action> {
        match self.what {
            What::Condition(_) => None,
            What::Statement(statement) => Some(&statement.action),
        }
    }

    /// What it reads, `mem` and `mem2` excepted.
    pub(crate) fn reads(&self) -> Vec<&'a Operand> {
        let mut reads: Vec<&Operand> = match self.what {
            What::Condition(condition) => condition.tests.iter().flat_map(|test| [&test.left, &test.right]).collect(),
            What::Statement(statement) => match &statement.action {
                Action::Assign { value, .. } => Expression::operands(value).collect(),
                Action::Access(access) => std::iter::once(&access.index).chain(access.operands()).collect(),
                Action::Meter { index, bytes, .. } => vec![index, bytes],
                Action::Lookup { keys, .. } => keys.iter().collect(),
                _ => Vec::new(),
            },
        };
        reads.retain(|operand| !matches!(operand.name(), Some("mem" | "mem2")));
        reads
    }

    /// The fields that it writes.
    pub(crate) fn writes(&self) -> Vec<&'a str> {
        self.action().map(Action::writes).unwrap_or_default()
    }
}

/// The list that is being made.
struct Flat<'a> {
    names: &'a Names<'a>,
    direction: Direction,
    stage: u64,
    points: Vec<Point<'a>>,
    versions: Versions,
    blocks: usize,
    arms: Vec<(usize, usize)>,
    facts: Vec<Fact>,
}

/// The list of a section.
pub(crate) fn flat<'a>(section: &'a Section, direction: Direction, names: &'a Names<'a>) -> Vec<Point<'a>> {
    let mut flat = Flat {
        names,
        direction,
        stage: 0,
        points: Vec::new(),
        versions: Versions::new(),
        blocks: 0,
        arms: Vec::new(),
        facts: Vec::new(),
    };
    for stage in &section.stages {
        flat.stage = stage.number;
        flat.items(&stage.items);
    }
    flat.points
}

impl<'a> Flat<'a> {
    fn items(&mut self, items: &'a [Item]) {
        for item in items {
            match item {
                Item::Statement(statement) => {
                    self.point(statement.line, What::Statement(statement));
                    let writes = self.points.last().map(Point::writes).unwrap_or_default();
                    for name in writes {
                        if let Some(Symbol::Field(word, _)) = self.names.get(name) {
                            *self.versions.entry(word).or_default() += 1;
                        }
                    }
                }
                Item::When(when) => self.when(when),
            }
        }
    }

    fn when(&mut self, when: &'a When) {
        let block = self.blocks;
        self.blocks += 1;
        let outside = self.facts.len();
        for (number, arm) in when.arms.iter().enumerate() {
            self.arms.push((block, number));
            self.point(arm.line, What::Condition(&arm.condition));
            let not_so_far = self.facts.len();
            let negation = failed(&arm.condition, self.names, &self.versions);
            self.facts.extend(held(&arm.condition, self.names, &self.versions));
            self.items(&arm.items);
            self.facts.truncate(not_so_far);
            self.facts.extend(negation);
            self.arms.pop();
        }
        if let Some(items) = &when.otherwise {
            self.arms.push((block, when.arms.len()));
            self.items(items);
            self.arms.pop();
        }
        self.facts.truncate(outside);
    }

    fn point(&mut self, line: usize, what: What<'a>) {
        self.points.push(Point {
            direction: self.direction,
            stage: self.stage,
            line,
            what,
            arms: self.arms.clone(),
            facts: self.facts.clone(),
        });
    }
}
