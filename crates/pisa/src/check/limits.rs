//! What a stage has only so much of, and what a packet can carry.

use super::Context;
use super::flat::Point;
use crate::parse::place;
use crate::resources::{Resources, of_stage, phv_bits};
use crate::syntax::Direction;
use std::collections::BTreeSet;

const DIRECTIONS: [Direction; 2] = [Direction::Ingress, Direction::Egress];

/// Holds every stage to its limits and adds up what they need. Ingress and egress share the resources of a stage.
pub(super) fn check(context: &mut Context<'_>, points: &[Point<'_>]) -> Resources {
    let mut sum = Resources::default();
    for stage in stages(context) {
        let each = DIRECTIONS.map(|direction| of_stage(context.syntax, context.names, points, direction, stage));
        let together = each[0].plus(each[1]);
        sum = sum.plus(together);
        let at = if together.ingress_stages == 0 { Direction::Egress } else { Direction::Ingress };
        let place = match (together.ingress_stages, together.egress_stages) {
            (1, 1) => format!("stage {stage} of ingress and egress"),
            _ => place(stage, at),
        };
        check_stage(context, &together, line_of(context, at, stage), &place);
    }
    sum.phv_bits = DIRECTIONS.map(|direction| phv_bits(context.names, points, direction)).iter().sum();
    let most = context.target.phv_bits;
    if sum.phv_bits > most {
        let problem =
            format!("the fields of a packet need {} bits and {} has {most}", sum.phv_bits, context.target.name);
        context.error(1, String::new(), (problem, "use fewer or narrower fields".to_owned()));
    }
    sum
}

fn check_stage(context: &mut Context<'_>, needs: &Resources, line: usize, place: &str) {
    let target = context.target;
    let alus = needs.stateful_alus + needs.meters;
    let rows = [
        (
            alus,
            target.stateful_alus,
            "stateful ALUs (one a register array, one a meter)",
            "move an array to another stage",
        ),
        (needs.tables, target.tables, "logical tables", "move statements to another stage"),
        (needs.gateways, target.gateways, "gateways (comparisons)", "compare in another stage, or use a table"),
        (needs.crossbar_bytes, target.crossbar_bytes, "crossbar bytes", "match and compare fewer fields here"),
        (needs.hash_bits, target.hash_bits, "hash bits", "move a table or an array to another stage"),
        (
            needs.sram_blocks,
            target.sram_blocks,
            "blocks of SRAM (16 KB)",
            "make a table or an array smaller, or move it",
        ),
        (
            needs.tcam_blocks,
            target.tcam_blocks,
            "blocks of TCAM (512 entries of 44 bits)",
            "make a ternary table smaller, or move it",
        ),
    ];
    for (needed, there, what, remedy) in rows {
        if needed > there {
            let problem = format!("{needed} {what} are needed and a stage has {there}");
            context.error(line, place.to_owned(), (problem, remedy.to_owned()));
        }
    }
}

/// All stages that something is declared or done in.
fn stages(context: &Context<'_>) -> BTreeSet<u64> {
    let mut all = BTreeSet::new();
    for section in DIRECTIONS.map(|direction| context.syntax.section(direction)) {
        all.extend(section.stages.iter().map(|stage| stage.number));
        all.extend(section.registers.iter().map(|register| register.stage));
        all.extend(section.meters.iter().map(|meter| meter.stage));
        all.extend(section.tables.iter().map(|table| table.stage));
    }
    all
}

/// The line to blame: that of the stage, or of what is declared in it.
fn line_of(context: &Context<'_>, direction: Direction, stage: u64) -> usize {
    let section = context.syntax.section(direction);
    let stages = section.stages.iter().map(|of| (of.number, of.line));
    let registers = section.registers.iter().map(|of| (of.stage, of.line));
    let meters = section.meters.iter().map(|of| (of.stage, of.line));
    let tables = section.tables.iter().map(|of| (of.stage, of.line));
    let mut lines = stages.chain(registers).chain(meters).chain(tables);
    lines.find(|(number, _)| *number == stage).map_or(1, |(_, line)| line)
}
