//! Stages and `when` blocks.

use super::{Line, Open, Parser};
use crate::error::{Fault, fault};
use crate::syntax::{Arm, Condition, Item, Stage, Statement, When};
use crate::token::Token;

/// How deep `when` blocks nest at most.
const DEPTH: usize = 3;

impl Parser {
    /// `stage N`
    pub(super) fn begin_stage(&mut self, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        self.close_stage();
        let number = line.whole()?;
        if self.direction.is_none() {
            return fault(
                format!("stage {number} belongs neither to ingress nor to egress"),
                "write one of them above it",
            );
        }
        let last = self.section().and_then(|section| section.stages.last()).map(|stage| stage.number);
        self.stage = Some(Stage { number, line: line.number, items: Vec::new() });
        line.end()?;
        match last {
            Some(last) if number <= last => fault(
                format!("stage {number} comes after stage {last}"),
                "a packet goes through the stages in ascending order: number them so",
            ),
            _ => Ok(()),
        }
    }

    /// Puts the stage that is being read into its section.
    pub(super) fn close_stage(&mut self) {
        while let Some(open) = self.open.pop() {
            let fault = ("this when block has no end".to_owned(), "write end below its last line".to_owned());
            self.error(open.line, fault);
            self.add_block(open);
        }
        if let Some(stage) = self.stage.take() {
            if let Some(section) = self.section() {
                section.stages.push(stage);
            }
        }
    }

    /// Adds an item to what is being read.
    fn add(&mut self, item: Item) {
        let items = match self.open.last_mut() {
            Some(Open { otherwise: Some(items), .. }) => Some(items),
            Some(Open { arms, .. }) => arms.last_mut().map(|arm| &mut arm.items),
            None => self.stage.as_mut().map(|stage| &mut stage.items),
        };
        if let Some(items) = items {
            items.push(item);
        }
    }

    /// Adds a block that has ended. Those that nest too deep have been told of and are left out, however deep they are.
    fn add_block(&mut self, open: Open) {
        if self.open.len() < DEPTH {
            self.add(Item::When(When { arms: open.arms, otherwise: open.otherwise, trailing: false }));
        }
    }

    /// `when condition`
    pub(super) fn begin_when(&mut self, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        let condition = whole_condition(line);
        let arm = Arm { condition: condition.clone().unwrap_or_default(), items: Vec::new(), line: line.number };
        self.open.push(Open { line: line.number, arms: vec![arm], otherwise: None });
        condition?;
        if self.stage.is_none() {
            return fault("a when block outside of a stage", "write stage and its number above it");
        }
        if self.open.len() > DEPTH {
            return fault(
                format!("when blocks nest {} deep", self.open.len()),
                format!("at most {DEPTH} are possible: join conditions with and, or keep one in a field"),
            );
        }
        Ok(())
    }

    /// `else` and `else when condition`
    pub(super) fn begin_else(&mut self, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        let condition = if line.takes_word("when") { Some(whole_condition(line)) } else { None };
        let Some(open) = self.open.last_mut() else {
            return fault("else without a when block", "write when and a condition above it");
        };
        if open.otherwise.is_some() {
            return fault("this when block has an else already", "write end first, or put the conditions above else");
        }
        match condition {
            None => {
                open.otherwise = Some(Vec::new());
                line.end()
            }
            Some(condition) => {
                let number = line.number;
                let empty = Arm { condition: Condition::default(), items: Vec::new(), line: number };
                open.arms.push(empty);
                let condition = condition?;
                if let Some(arm) = open.arms.last_mut() {
                    arm.condition = condition;
                }
                Ok(())
            }
        }
    }

    /// `end`
    pub(super) fn end_when(&mut self, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        let Some(open) = self.open.pop() else {
            return fault("end without a when block", "leave this line out");
        };
        self.add_block(open);
        line.end()
    }

    /// A statement, with or without a condition behind it.
    pub(super) fn add_statement(&mut self, line: &mut Line<'_>) -> Result<(), Fault> {
        let action = self.action(line)?;
        let statement = Item::Statement(Statement { line: line.number, action });
        let item = match line.peek() {
            Some(Token::Word(word)) if word == "when" => {
                line.skip();
                let arm = Arm { condition: line.condition()?, items: vec![statement], line: line.number };
                Item::When(When { arms: vec![arm], otherwise: None, trailing: true })
            }
            _ => statement,
        };
        line.end()?;
        if self.stage.is_none() {
            return fault("a statement outside of a stage", "write stage and its number above it");
        }
        self.add(item);
        Ok(())
    }
}

/// A condition that fills the rest of the line.
fn whole_condition(line: &mut Line<'_>) -> Result<Condition, Fault> {
    let condition = line.condition()?;
    line.end()?;
    Ok(condition)
}
