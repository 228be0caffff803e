//! The rules: what a chip can do. Each rule has a file; all of them look at the same list of what happens in a pass.

mod declared;
mod facts;
pub(crate) mod flat;
mod limits;
mod passes;
mod statements;

use crate::checked::Checked;
use crate::compile::{self, Places, Span};
use crate::error::{Error, Errors, Fault};
use crate::meter::Buckets;
use crate::names::{KINDS, Names};
use crate::resources::Resources;
use crate::syntax::{Direction, Syntax};
use crate::table::Entries;
use crate::target::Target;

/// The most conditions and statements of a pass: far more than fit into stages, and few enough to compare all with all.
const MOST: usize = 5000;

/// What the rules need to know, and what they have found.
pub(crate) struct Context<'a> {
    pub(crate) syntax: &'a Syntax,
    pub(crate) names: &'a Names<'a>,
    pub(crate) target: &'a Target,
    file: &'a str,
    errors: Vec<Error>,
}

impl Context<'_> {
    fn error(&mut self, line: usize, place: String, (problem, remedy): Fault) {
        self.errors.push(Error { file: self.file.to_owned(), line, place, problem, remedy });
    }
}

/// Checks a program by all rules, then compiles it.
pub(crate) fn check(
    file: &str,
    syntax: &Syntax,
    target: &Target,
    constants: &[(&str, u64)],
) -> Result<Checked, Errors> {
    let (names, faults) = Names::new(syntax, constants);
    let mut context = Context { syntax, names: &names, target, file, errors: Vec::new() };
    for (line, fault) in faults {
        context.error(line, String::new(), fault);
    }
    declared::check(&mut context, constants);
    let mut points = Vec::new();
    for direction in [Direction::Ingress, Direction::Egress] {
        let here = flat::flat(syntax.section(direction), direction, &names);
        for point in &here {
            statements::check(&mut context, point);
        }
        if let Some(point) = here.get(MOST) {
            let problem = format!("{} conditions and statements in one pass", here.len());
            context.error(point.line, point.place(), (problem, format!("at most {MOST} are checked: leave some out")));
            continue;
        }
        passes::check_accesses(&mut context, &here);
        passes::check_order(&mut context, &here);
        points.extend(here);
    }
    let resources = limits::check(&mut context, &points);
    if context.errors.is_empty() {
        match finish(syntax, &names, target, resources) {
            Ok(checked) => return Ok(checked),
            Err(fault) => context.error(1, String::new(), fault),
        }
    }
    Err(sorted(context.errors))
}

fn sorted(mut errors: Vec<Error>) -> Errors {
    errors.sort_by_key(|error| error.line);
    errors.dedup();
    Errors(errors)
}

/// Lays arrays out and compiles.
fn finish(syntax: &Syntax, names: &Names<'_>, target: &Target, resources: Resources) -> Result<Checked, Fault> {
    let mut places = Places::default();
    let mut widths = std::collections::BTreeMap::new();
    let (mut registers, mut meters, mut tables) = (0, 0, Vec::new());
    for direction in [Direction::Ingress, Direction::Egress] {
        let section = syntax.section(direction);
        for register in &section.registers {
            let span = Span { base: registers, entries: names.size(&register.entries)? as u32 };
            registers += span.entries * if register.pair { 2 } else { 1 };
            places.registers.insert(register.name.clone(), span);
            widths.insert(register.name.clone(), (register.bits, register.pair));
        }
        for meter in &section.meters {
            let span = Span { base: meters, entries: names.size(&meter.entries)? as u32 };
            meters += span.entries;
            places.meters.insert(meter.name.clone(), span);
        }
        for table in &section.tables {
            let widths = |columns: &[(String, u64)]| columns.iter().map(|(_, bits)| *bits as u32).collect();
            places.tables.insert(table.name.clone(), tables.len() as u16);
            let size = names.size(&table.size)? as usize;
            tables.push(Entries::new(table.ternary, widths(&table.keys), widths(&table.results), size));
        }
    }
    let code = compile::compile(syntax, names, &places)?;
    let own = syntax.packets.iter().enumerate().map(|(i, packet)| (packet.name.clone(), (KINDS.len() + i) as u8));
    Ok(Checked {
        name: syntax.name.clone(),
        target: *target,
        code,
        places,
        widths,
        registers: registers as usize,
        meters: vec![Buckets::none(); meters as usize].into_boxed_slice(),
        tables,
        kinds: KINDS.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).chain(own).collect(),
        headers: syntax.headers.iter().map(|header| header.name.clone()).collect(),
        initial: Vec::new(),
        fields: syntax
            .fields
            .iter()
            .filter_map(|field| Some((field.name.clone(), names.field_word(&field.name)?)))
            .collect(),
        resources,
    })
}
