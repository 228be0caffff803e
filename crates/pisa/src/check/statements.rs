//! Statements one by one: names, widths, and what can be done where.

use super::Context;
use super::flat::{Point, What};
use crate::DATA;
use crate::error::{Fault, fault};
use crate::names::{Names, Symbol, Value as Read, word};
use crate::syntax::{Access, Action, Direction, Expression, Operand, Operation, Register, Test, Value};
use crate::target::Target;

/// All that is wrong with one condition or statement.
pub(super) fn check(context: &mut Context<'_>, point: &Point<'_>) {
    let (names, target) = (context.names, context.target);
    let mut results: Vec<Result<(), Fault>> = Vec::new();
    for operand in point.reads() {
        results.push(readable(operand, point.direction, target));
    }
    for name in point.writes() {
        results.push(writable(name, point.direction, names));
    }
    match point.what {
        What::Condition(condition) => results.extend(condition.tests.iter().map(|test| comparable(test, None, names))),
        What::Statement(statement) => results.push(action(&statement.action, point, names)),
    }
    for fault in results.into_iter().filter_map(Result::err) {
        context.error(point.line, point.place(), fault);
    }
}

fn action(action: &Action, point: &Point<'_>, names: &Names<'_>) -> Result<(), Fault> {
    match action {
        Action::Assign { to, value } => {
            let bits = expression_bits(value, None, names)?;
            into_field(&value.to_string(), bits, to, names)
        }
        Action::Access(access) => check_access(access, point, names),
        Action::Meter { to, meter, index, bytes } => {
            let (direction, declared) = names.meter(meter)?;
            bound(meter, (direction, declared.stage), point)?;
            names.value(bytes, None)?;
            in_range(meter, index, names.size(&declared.entries)?, names)?;
            into_field(&format!("the colour of {meter}"), 2, to, names)
        }
        Action::Lookup { to, table, keys } => lookup(to, table, keys, point, names),
        Action::Trim | Action::Multicast(_) | Action::Recirculate if point.direction == Direction::Egress => fault(
            format!("{} is not possible at egress", word_of(action)),
            "the port is fixed and the packet is on its way out: do it at ingress",
        ),
        Action::Mirror(kind) | Action::Multicast(kind) => match names.kind(kind)? {
            DATA => fault("a copy cannot be a packet with its payload (DATA)", "declare a kind of packet for it"),
            _ => Ok(()),
        },
        Action::Drop | Action::Trim | Action::Mark | Action::Recirculate => Ok(()),
    }
}

fn word_of(action: &Action) -> &'static str {
    match action {
        Action::Trim => "trim",
        Action::Recirculate => "recirculate",
        _ => "multicast",
    }
}

fn lookup(to: &[String], table: &str, keys: &[Operand], point: &Point<'_>, names: &Names<'_>) -> Result<(), Fault> {
    let (direction, declared) = names.table(table)?;
    bound(table, (direction, declared.stage), point)?;
    if keys.len() != declared.keys.len() {
        return fault(
            format!("{table} is given {} keys and has {}", keys.len(), declared.keys.len()),
            "give one for each column",
        );
    }
    if to.len() != declared.results.len() {
        return fault(
            format!("{table} has {} results, and {} are taken", declared.results.len(), to.len()),
            "write one field for each, separated by commas",
        );
    }
    for (key, (column, bits)) in keys.iter().zip(&declared.keys) {
        let value = names.value(key, None)?;
        if u64::from(value.bits()) > *bits {
            return too_wide(
                &key.to_string(),
                value.bits(),
                &format!("the key {column} of {table}"),
                *bits as u32,
                names,
            );
        }
    }
    for (to, (column, bits)) in to.iter().zip(&declared.results) {
        into_field(&format!("the result {column} of {table}"), *bits as u32, to, names)?;
    }
    Ok(())
}

fn check_access(access: &Access, point: &Point<'_>, names: &Names<'_>) -> Result<(), Fault> {
    let (direction, register) = names.register(&access.register)?;
    bound(&access.register, (direction, register.stage), point)?;
    in_range(&access.register, &access.index, names.size(&register.entries)?, names)?;
    if access.mem2.is_some() && !register.pair {
        names.value(&Operand::Name("mem2".to_owned()), Some(register))?;
    }
    for operand in access.operands() {
        let value = names.value(operand, Some(register))?;
        if value.bits() > register.bits {
            return too_wide(
                &operand.to_string(),
                value.bits(),
                &format!("the ALU of {}", register.name),
                register.bits,
                names,
            );
        }
    }
    for test in access.tests() {
        comparable(test, Some(register), names)?;
    }
    let (Some(out), Some(to)) = (&access.out, &access.to) else { return Ok(()) };
    let from = format!("what {} gives", register.name);
    if let Value::Truth(_) = out.value {
        return into_field(&from, 1, to, names);
    }
    let Value::Expression(value) = &out.value else { return Ok(()) };
    for expression in std::iter::once(value).chain(&out.otherwise) {
        into_field(&from, expression_bits(expression, Some(register), names)?, to, names)?;
    }
    Ok(())
}

/// An array is only where it is declared to be.
fn bound(name: &str, (direction, stage): (Direction, u64), point: &Point<'_>) -> Result<(), Fault> {
    if direction != point.direction {
        return fault(
            format!("{name} belongs to {direction} and is used at {}", point.direction),
            "the two share no state: carry the value in a packet that is recirculated or mirrored",
        );
    }
    if point.stage < stage {
        return fault(
            format!("{name} is used before its stage, which is {stage}"),
            format!("use it in stage {stage}, or declare it @ {}", point.stage),
        );
    }
    if point.stage > stage {
        return fault(
            format!("{name} is used after its stage, which is {stage}"),
            format!("use it in stage {stage} and keep the result in a field, or declare it @ {}", point.stage),
        );
    }
    Ok(())
}

fn in_range(name: &str, index: &Operand, entries: u64, names: &Names<'_>) -> Result<(), Fault> {
    match names.value(index, None)? {
        Read::Number(number) if number >= entries => {
            fault(format!("{name} has no entry {number}: it has {entries}"), "count from 0, or declare more entries")
        }
        _ => Ok(()),
    }
}

fn readable(operand: &Operand, direction: Direction, target: &Target) -> Result<(), Fault> {
    match (operand.name(), direction) {
        (Some(name @ ("wait" | "enqueued_depth")), Direction::Ingress) => fault(
            format!("{name} is not known at ingress: the packet has not been in a queue yet"),
            "read it at egress and carry it back in a packet that is recirculated or mirrored",
        ),
        (Some("depth"), Direction::Ingress) if !target.depth_at_ingress => fault(
            format!("{} does not tell programs at ingress how long a queue is", target.name),
            "read depth at egress and carry it back, or take tofino2",
        ),
        _ => Ok(()),
    }
}

fn writable(name: &str, direction: Direction, names: &Names<'_>) -> Result<(), Fault> {
    match names.get(name) {
        Some(Symbol::Field(word::OUT_PORT | word::OUT_QUEUE, _)) if direction == Direction::Egress => {
            fault(format!("{name} is fixed at egress"), "choose it at ingress")
        }
        Some(Symbol::Field(word::OUT_PORT | word::OUT_QUEUE | word::HEADERS.., _)) => Ok(()),
        Some(Symbol::Field(..)) => fault(format!("{name} cannot be written"), "write a field of your own"),
        _ => names.missing(name, "a field", |symbol| matches!(symbol, Symbol::Field(..))),
    }
}

/// A number must fit into what it is compared with.
fn comparable(test: &Test, register: Option<&Register>, names: &Names<'_>) -> Result<(), Fault> {
    let (left, right) = (names.value(&test.left, register)?, names.value(&test.right, register)?);
    let (number, field, bits) = match (left, right) {
        (Read::Number(number), Read::Word { bits, .. }) => (number, &test.right, bits),
        (Read::Word { bits, .. }, Read::Number(number)) => (number, &test.left, bits),
        _ => return Ok(()),
    };
    if Read::Number(number).bits() <= bits {
        return Ok(());
    }
    fault(format!("{field} has {bits} bits and is never {number}"), "compare it with a number that it can be")
}

/// How wide what an expression gives can be before it is cut.
fn expression_bits(expression: &Expression, register: Option<&Register>, names: &Names<'_>) -> Result<u32, Fault> {
    let (operation, a, b) = match expression {
        Expression::Copy(operand) => return Ok(names.value(operand, register)?.bits()),
        Expression::Operation(operation, a, b) => (operation, names.value(a, register)?, names.value(b, register)?),
    };
    let (left, right) = (a.bits(), b.bits());
    Ok(match operation {
        Operation::Add | Operation::Subtract | Operation::Max | Operation::Or | Operation::Xor => left.max(right),
        Operation::Min | Operation::And => left.min(right),
        Operation::SubtractToZero | Operation::ShiftLeft => left,
        Operation::ShiftRight => match b {
            Read::Number(by) => left.saturating_sub(by.min(64) as u32),
            Read::Word { .. } => left,
        },
    })
}

fn into_field(what: &str, bits: u32, to: &str, names: &Names<'_>) -> Result<(), Fault> {
    match names.get(to) {
        Some(Symbol::Field(_, room)) if bits > room => too_wide(what, bits, to, room, names),
        // What is not a field is told of where it is written.
        _ => Ok(()),
    }
}

fn too_wide(what: &str, bits: u32, room_of: &str, room: u32, names: &Names<'_>) -> Result<(), Fault> {
    let last = room.saturating_sub(1);
    let remedy = match (what.parse::<u64>(), names.get(what)) {
        (Ok(_), _) | (_, Some(Symbol::Number(_) | Symbol::Kind(_))) => "take a smaller number, or make room".to_owned(),
        (_, Some(_)) => format!("cut it, as {what}[{last}:0], or make room"),
        _ => format!("cut what goes in, such as now[{last}:0], or make room"),
    };
    fault(format!("{what} is {bits} bits wide and {room_of} has {room}"), remedy)
}
