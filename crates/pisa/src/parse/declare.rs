//! Declarations: what a program has.

use super::{Line, Parser};
use crate::error::{Fault, fault};
use crate::syntax::{Constant, Direction, Meter, Named, Register, Table, Variable};
use crate::token::Token;

impl Parser {
    /// What belongs to the whole program.
    pub(super) fn declare(&mut self, what: &str, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        if self.direction.is_some() {
            return fault(format!("a {what} inside of a section"), "declare it before ingress and egress");
        }
        if what == "program" {
            return self.declare_name(line);
        }
        let name = line.name()?;
        let number = line.number;
        match what {
            "constant" => {
                let default = if line.takes("=") { Some(line.whole()?) } else { None };
                self.syntax.constants.push(Constant { name, default, line: number });
            }
            "packet" => self.syntax.packets.push(Named { name, line: number }),
            _ => {
                line.sign(":")?;
                let variable = Variable { name, bits: line.whole()?, line: number };
                let to = if what == "header" { &mut self.syntax.headers } else { &mut self.syntax.fields };
                to.push(variable);
            }
        }
        line.end()
    }

    /// The name of the program: words with hyphens.
    fn declare_name(&mut self, line: &mut Line<'_>) -> Result<(), Fault> {
        if self.named {
            return fault("a second name of the program", "leave this line out");
        }
        while let Some(token @ (Token::Word(_) | Token::Number(_) | Token::Sign("-"))) = line.peek() {
            self.syntax.name.push_str(&token.to_string());
            line.skip();
        }
        self.named = !self.syntax.name.is_empty();
        if self.named { line.end() } else { line.expected("a name") }
    }

    /// What belongs to a section: registers, meters, tables.
    pub(super) fn declare_array(&mut self, what: &str, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        if !self.open.is_empty() {
            return fault(format!("a {what} inside of a when block"), "declare it before the first stage");
        }
        let name = line.name()?;
        line.sign(":")?;
        let number = line.number;
        let Some(section) = self.section() else {
            return fault(
                format!("the {what} {name} belongs neither to ingress nor to egress"),
                "declare it below one of them",
            );
        };
        match what {
            "register" => section.registers.push(register(name, line)?),
            "meter" => {
                let entries = line.size()?;
                section.meters.push(Meter { name, entries, stage: binding(line)?, line: number });
            }
            _ => section.tables.push(table(name, line)?),
        }
        line.end()
    }

    /// `ingress` and `egress`.
    pub(super) fn begin_section(&mut self, direction: Direction, line: &mut Line<'_>) -> Result<(), Fault> {
        line.skip();
        self.close_stage();
        self.direction = Some(direction);
        if self.seen.contains(&direction) {
            return fault(format!("a second {direction} section"), "put all of it into one");
        }
        self.seen.push(direction);
        line.end()
    }
}

/// `@ stage`
fn binding(line: &mut Line<'_>) -> Result<u64, Fault> {
    line.sign("@")?;
    line.whole()
}

fn register(name: String, line: &mut Line<'_>) -> Result<Register, Fault> {
    let number = line.number;
    let bits = line.whole()?;
    let second = if line.takes("+") { Some(line.whole()?) } else { None };
    if !matches!(bits, 8 | 16 | 32) {
        return fault(
            format!("a register of {bits} bits"),
            "registers have 8, 16 or 32 bits, or two such values (32+32)",
        );
    }
    if second.is_some_and(|second| second != bits) {
        return fault("the two values of an entry differ in width", "make both 8, 16 or 32 bits wide");
    }
    line.word("x")?;
    let entries = line.size()?;
    let stage = binding(line)?;
    Ok(Register { name, bits: bits as u32, pair: second.is_some(), entries, stage, line: number })
}

/// `exact(key bits, ...) -> result bits, ... size entries @ stage`
fn table(name: String, line: &mut Line<'_>) -> Result<Table, Fault> {
    let number = line.number;
    let ternary = line.takes_word("ternary");
    if !ternary && !line.takes_word("exact") {
        return line.expected("exact or ternary");
    }
    line.sign("(")?;
    let keys = columns(line)?;
    line.sign(")")?;
    line.sign("->")?;
    let results = columns(line)?;
    line.word("size")?;
    let size = line.size()?;
    Ok(Table { name, ternary, keys, results, size, stage: binding(line)?, line: number })
}

/// `name bits, ...`
fn columns(line: &mut Line<'_>) -> Result<Vec<(String, u64)>, Fault> {
    let mut columns = Vec::new();
    loop {
        columns.push((line.name()?, line.whole()?));
        if !line.takes(",") {
            return Ok(columns);
        }
    }
}
