//! Statements.

use super::{Line, Parser};
use crate::error::{Fault, did_you_mean, fault};
use crate::syntax::{Access, Action};
use crate::token::Token;

/// Statements that are words.
const WORDS: [&str; 6] = ["drop", "trim", "mark", "recirculate", "mirror", "multicast"];

impl Parser {
    /// A statement without its condition.
    pub(super) fn action(&mut self, line: &mut Line<'_>) -> Result<Action, Fault> {
        if let Some(Token::Word(word)) = line.peek() {
            if WORDS.contains(&word.as_str()) {
                line.skip();
                return Ok(match word.as_str() {
                    "drop" => Action::Drop,
                    "trim" => Action::Trim,
                    "mark" => Action::Mark,
                    "recirculate" => Action::Recirculate,
                    "mirror" => Action::Mirror(line.name()?),
                    _ => Action::Multicast(line.name()?),
                });
            }
        }
        let first = line.name()?;
        match line.peek() {
            Some(Token::Sign("[")) => access(None, first, line),
            Some(Token::Sign("=")) => {
                line.skip();
                assignment(first, line)
            }
            Some(Token::Sign(",")) => {
                let mut to = vec![first];
                while line.takes(",") {
                    to.push(line.name()?);
                }
                line.sign("=")?;
                let table = line.name()?;
                lookup(to, table, line)
            }
            Some(Token::Sign("(")) => {
                fault(format!("the results of {first} go nowhere"), "write the fields that take them and = before it")
            }
            _ => fault(
                format!("{first} does not begin a statement"),
                did_you_mean(
                    &first,
                    WORDS.into_iter().chain(["when", "else", "end", "stage"]),
                    "see the statements in docs/pipelines.md",
                ),
            ),
        }
    }
}

/// What stands behind `field =`.
fn assignment(to: String, line: &mut Line<'_>) -> Result<Action, Fault> {
    match (line.peek(), line.peek_second()) {
        (Some(Token::Word(word)), Some(Token::Sign("("))) if word != "min" && word != "max" => {
            let table = line.name()?;
            lookup(vec![to], table, line)
        }
        (Some(Token::Word(_)), Some(Token::Sign("["))) => {
            let mut ahead = line.clone();
            if ahead.operand().is_ok() {
                return Ok(Action::Assign { to, value: line.expression()? });
            }
            let array = line.name()?;
            access(Some(to), array, line)
        }
        _ => {
            let value = line.expression()?;
            if line.relation().is_some() {
                return fault("an assignment does not compare", "assign 1 and 0 in a when block");
            }
            Ok(Action::Assign { to, value })
        }
    }
}

/// `(keys)`
fn lookup(to: Vec<String>, table: String, line: &mut Line<'_>) -> Result<Action, Fault> {
    line.sign("(")?;
    let mut keys = Vec::new();
    loop {
        keys.push(line.operand()?);
        if !line.takes(",") {
            break;
        }
    }
    line.sign(")")?;
    Ok(Action::Lookup { to, table, keys })
}

/// `[index] { ... }` of a register, or `[index](bytes)` of a meter.
fn access(to: Option<String>, array: String, line: &mut Line<'_>) -> Result<Action, Fault> {
    line.sign("[")?;
    let index = line.operand()?;
    line.sign("]")?;
    if line.takes("(") {
        let bytes = line.operand()?;
        line.sign(")")?;
        let Some(to) = to else {
            return fault(format!("the colour from {array} goes nowhere"), "write a field and = before it");
        };
        return Ok(Action::Meter { to, meter: array, index, bytes });
    }
    let mut access = Access { to, register: array, index, out: None, mem: None, mem2: None };
    super::alu::body(&mut access, line)?;
    Ok(Action::Access(Box::new(access)))
}
