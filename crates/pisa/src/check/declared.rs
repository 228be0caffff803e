//! Declarations: sizes and widths that there can be, stages that there are, constants that are given.

use super::Context;
use crate::HEADERS;
use crate::error::Fault;
use crate::names::{FIELDS, KINDS};
use crate::parse::place;
use crate::syntax::{Direction, Operand, Table, Variable};

/// The widest field.
const WIDEST: u64 = 48;
/// The most bits of a key, and of one of its parts.
const KEY_BITS: u64 = 128;

pub(super) fn check(context: &mut Context<'_>, constants: &[(&str, u64)]) {
    let syntax = context.syntax;
    for constant in &syntax.constants {
        let is_given = constants.iter().any(|(name, _)| *name == constant.name);
        if !is_given && constant.default.is_none() {
            context.error(
                constant.line,
                String::new(),
                (
                    format!("the constant {} is not given", constant.name),
                    format!("give it when the program is loaded, or a default: constant {} = 1", constant.name),
                ),
            );
        }
    }
    too_many(context, "packet kinds", syntax.packets.len(), 256 - KINDS.len(), syntax.packets.last().map(|p| p.line));
    too_many(context, "header fields", syntax.headers.len(), HEADERS, syntax.headers.last().map(|h| h.line));
    too_many(context, "fields", syntax.fields.len(), FIELDS, syntax.fields.last().map(|f| f.line));
    for variable in syntax.headers.iter().chain(&syntax.fields) {
        width(context, variable);
    }
    for direction in [Direction::Ingress, Direction::Egress] {
        section(context, direction);
    }
}

fn too_many(context: &mut Context<'_>, what: &str, count: usize, most: usize, line: Option<usize>) {
    if count > most {
        let remedy = "leave some out, or use one for several purposes".to_owned();
        context.error(
            line.unwrap_or(1),
            String::new(),
            (format!("{count} {what} are more than the {most} there are"), remedy),
        );
    }
}

fn width(context: &mut Context<'_>, variable: &Variable) {
    if !(1..=WIDEST).contains(&variable.bits) {
        let problem = format!("{} is {} bits wide", variable.name, variable.bits);
        context.error(variable.line, String::new(), (problem, format!("a field has 1 to {WIDEST} bits: split it")));
    }
}

fn section(context: &mut Context<'_>, direction: Direction) {
    let section = context.syntax.section(direction);
    for stage in &section.stages {
        stage_is_there(context, direction, stage.number, stage.line);
    }
    for register in &section.registers {
        stage_is_there(context, direction, register.stage, register.line);
        size(context, direction, &register.name, &register.entries, register.stage, register.line);
    }
    for meter in &section.meters {
        stage_is_there(context, direction, meter.stage, meter.line);
        size(context, direction, &meter.name, &meter.entries, meter.stage, meter.line);
    }
    for table in &section.tables {
        stage_is_there(context, direction, table.stage, table.line);
        size(context, direction, &table.name, &table.size, table.stage, table.line);
        if let Some(fault) = columns(table) {
            context.error(table.line, place(table.stage, direction), fault);
        }
    }
}

fn stage_is_there(context: &mut Context<'_>, direction: Direction, stage: u64, line: usize) {
    let stages = context.target.stages;
    if stage >= stages {
        let problem = format!("{} has stages 0 to {} each way", context.target.name, stages - 1);
        context.error(line, place(stage, direction), (problem, "do more at the same time, or less".to_owned()));
    }
}

/// Sizes that are 0 or unknown; those that are too large are a matter of memory.
fn size(context: &mut Context<'_>, direction: Direction, name: &str, size: &Operand, stage: u64, line: usize) {
    let fault = match context.names.size(size) {
        Ok(0) => (format!("{name} has no entries"), "give it at least one".to_owned()),
        Ok(_) => return,
        Err(fault) => fault,
    };
    context.error(line, place(stage, direction), fault);
}

fn columns(table: &Table) -> Option<Fault> {
    let wrong = |(name, bits): &&(String, u64)| (!(1..=WIDEST).contains(bits)).then(|| (name.clone(), *bits));
    if let Some((name, bits)) = table.keys.iter().chain(&table.results).find_map(|column| wrong(&column)) {
        let problem = format!("the column {name} of {} is {bits} bits wide", table.name);
        return Some((problem, format!("a column has 1 to {WIDEST} bits: split it")));
    }
    let key: u64 = table.keys.iter().map(|(_, bits)| bits).sum();
    (key > KEY_BITS).then(|| {
        (format!("the key of {} has {key} bits", table.name), format!("at most {KEY_BITS} are possible: match on less"))
    })
}
