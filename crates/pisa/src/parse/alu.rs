//! What a stateful ALU does, between braces.

use super::Line;
use crate::error::{Fault, fault};
use crate::syntax::{Access, Choice, Test, Value};
use crate::token::Token;

/// The comparisons that a stateful ALU has.
const TESTS: usize = 2;

/// `{ out ...; mem = ...; mem2 = ... }`
pub(super) fn body(access: &mut Access, line: &mut Line<'_>) -> Result<(), Fault> {
    line.sign("{")?;
    loop {
        while line.takes(";") {}
        if line.takes("}") {
            break;
        }
        part(access, line)?;
        if !matches!(line.peek(), Some(Token::Sign(";" | "}"))) {
            return line.expected("\";\" or \"}\"");
        }
    }
    let register = &access.register;
    match (&access.to, &access.out) {
        (Some(to), None) => {
            return fault(format!("{register} gives nothing for {to}"), "say what it gives with out, such as out mem");
        }
        (None, Some(_)) => {
            return fault(
                format!("what {register} gives goes nowhere"),
                "write a field and = before it, or leave out away",
            );
        }
        (None, None) if access.mem.is_none() && access.mem2.is_none() => {
            return fault(
                format!("this access to {register} does nothing"),
                "write out, mem = or mem2 = between the braces",
            );
        }
        _ => {}
    }
    let mut tests: Vec<&Test> = Vec::new();
    for test in access.tests() {
        if !tests.contains(&test) {
            tests.push(test);
        }
    }
    if tests.len() > TESTS {
        return fault(
            format!("{} comparisons in one access to {register}", tests.len()),
            format!("a stateful ALU has {TESTS}: compare in a when block, or in an earlier stage"),
        );
    }
    Ok(())
}

/// One of the three parts.
fn part(access: &mut Access, line: &mut Line<'_>) -> Result<(), Fault> {
    let name = match line.peek() {
        Some(Token::Word(word)) if ["out", "mem", "mem2"].contains(&word.as_str()) => word.clone(),
        _ => return line.expected("out, mem = or mem2 ="),
    };
    line.skip();
    if name != "out" {
        line.sign("=")?;
    }
    let choice = choice(line)?;
    if name != "out" && matches!(choice.value, Value::Truth(_)) {
        return fault(
            "a comparison cannot be kept in a register",
            format!("write {name} = 1 if the comparison holds else 0"),
        );
    }
    let slot = match name.as_str() {
        "out" => &mut access.out,
        "mem" => &mut access.mem,
        _ => &mut access.mem2,
    };
    if slot.is_some() {
        return fault(format!("a second \"{name}\" in one access"), "an ALU has one of each: use if and else");
    }
    *slot = Some(choice);
    Ok(())
}

/// `E`, `E if C`, `E if C else E`, or `C`
fn choice(line: &mut Line<'_>) -> Result<Choice, Fault> {
    let is_call = matches!(line.peek(), Some(Token::Word(word)) if word == "min" || word == "max");
    let value = if is_call {
        Value::Expression(line.expression()?)
    } else {
        let first = line.operand()?;
        match line.relation() {
            Some(relation) => {
                let truth = line.condition_from(first, relation)?;
                return Ok(Choice { value: Value::Truth(truth), condition: None, otherwise: None });
            }
            None => Value::Expression(line.expression_from(first)?),
        }
    };
    let condition = if line.takes_word("if") { Some(line.condition()?) } else { None };
    let otherwise = if condition.is_some() && line.takes_word("else") { Some(line.expression()?) } else { None };
    Ok(Choice { value, condition, otherwise })
}
