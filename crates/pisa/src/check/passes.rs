//! What a pass can do only once, and what a stage cannot do at the same time.

use super::Context;
use super::flat::Point;
use crate::error::Fault;
use crate::names::{Names, Symbol};
use crate::syntax::Action;

/// What a pass does only once.
fn once(action: &Action) -> Option<(String, &'static str)> {
    const BRANCHES: &str = "put the two into exclusive branches (when, else), or make one access of them";
    Some(match action {
        Action::Access(access) => (access.register.clone(), BRANCHES),
        Action::Meter { meter, .. } => (meter.clone(), BRANCHES),
        Action::Lookup { table, .. } => (table.clone(), BRANCHES),
        Action::Mirror(_) => ("mirror".to_owned(), "a pass makes one copy: put the two into exclusive branches"),
        Action::Multicast(_) => ("multicast".to_owned(), "a pass has one: put the two into exclusive branches"),
        _ => return None,
    })
}

/// A second access to an array in one pass.
pub(super) fn check_accesses(context: &mut Context<'_>, points: &[Point<'_>]) {
    let accesses: Vec<_> = points.iter().filter_map(|point| Some((point, once(point.action()?)?))).collect();
    for (i, (second, (name, remedy))) in accesses.iter().enumerate() {
        let first = accesses[..i].iter().find(|(first, (other, _))| name == other && !first.excludes(second));
        if let Some((first, _)) = first {
            let problem = format!("a second access to {name} in one pass (the first is on line {})", first.line);
            context.error(second.line, second.place(), (problem, (*remedy).to_owned()));
        }
    }
}

/// A field that is read after it was written in the same stage, or written twice there.
pub(super) fn check_order(context: &mut Context<'_>, points: &[Point<'_>]) {
    for (i, point) in points.iter().enumerate() {
        let before: Vec<&Point<'_>> = points[..i].iter().rev().take_while(|other| other.stage == point.stage).collect();
        let writer = |name: &str| {
            let writes = |other: &&&Point<'_>| other.writes().contains(&name) && !other.excludes(point);
            before.iter().find(writes).map(|other| other.line)
        };
        let mut faults: Vec<Fault> = Vec::new();
        for operand in point.reads() {
            let name = operand.name().unwrap_or_default();
            if let Some(line) = writer(name) {
                faults.push((
                    format!("{name} is read in the stage that writes it, on line {line}"),
                    "a stage does everything at once: read it in a later stage".to_owned(),
                ));
            }
        }
        let writes = point.writes();
        for (j, name) in writes.iter().enumerate() {
            let line = if writes[..j].contains(name) { Some(point.line) } else { writer(name) };
            if let Some(line) = line.filter(|_| is_field(name, context.names)) {
                faults.push((
                    format!("{name} is written twice in one stage, first on line {line}"),
                    "put the two into exclusive branches (when, else), or into two stages".to_owned(),
                ));
            }
        }
        for fault in faults {
            context.error(point.line, point.place(), fault);
        }
    }
}

fn is_field(name: &str, names: &Names<'_>) -> bool {
    matches!(names.get(name), Some(Symbol::Field(..)))
}
