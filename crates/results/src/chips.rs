//! The table of the pipelines of programmable chips.

use crate::table::Table;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::chip::{PipelineRecord, SideRecord};
use forebay_sim::scenario::Scenario;

/// A number of a pipeline.
type Get = fn(&PipelineRecord) -> u64;
/// One of its inner ports.
type Side = fn(&PipelineRecord) -> &SideRecord;
/// A number of one of its inner ports.
type GetSide = fn(&SideRecord) -> u64;

/// One row for each pipeline of each chip: packets, and bytes where it says so.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let switch = |index: u32| scenario.network.switches.get(index as usize).map_or("", |switch| &switch.name);
    let program = |index: u32| {
        let chip = scenario.switches.get(index as usize).and_then(|setup| setup.chip.as_ref());
        chip.map_or("", |chip| chip.program.name())
    };
    let numbered = |chip| (0u64..).zip(chip);
    let rows: Vec<(u32, u64, &PipelineRecord)> = result
        .chips
        .iter()
        .flat_map(|chip| numbered(&chip.pipelines).map(|(number, pipeline)| (chip.switch, number, pipeline)))
        .collect();
    let mut table = Table::new();
    table.text("switch", rows.iter().map(|row| switch(row.0)));
    table.text("program", rows.iter().map(|row| program(row.0)));
    table.count("pipeline", rows.iter().map(|row| row.1));
    let counts: [(&str, Get); 4] = [
        ("trimmed_at_ingress", |pipeline| pipeline.trimmed_at_ingress),
        ("trimmed_at_egress", |pipeline| pipeline.trimmed_at_egress),
        ("dropped_at_ingress", |pipeline| pipeline.dropped_at_ingress),
        ("dropped_at_egress", |pipeline| pipeline.dropped_at_egress),
    ];
    for (name, count) in counts {
        table.count(name, rows.iter().map(|row| count(row.2)));
    }
    let sides: [(&str, Side); 2] =
        [("deflection", |pipeline| &pipeline.deflection), ("recirculation", |pipeline| &pipeline.recirculation)];
    let of_side: [(&str, GetSide); 4] = [
        ("packets", |side| side.packets),
        ("bytes", |side| side.bytes),
        ("full", |side| side.full),
        ("peak", |side| side.peak),
    ];
    for (name, side) in sides {
        for (what, count) in of_side {
            table.count(&format!("{name}_{what}"), rows.iter().map(|row| count(side(row.2))));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use forebay_sim::measure::chip::ChipRecord;

    #[test]
    fn pipelines_have_a_row_each() {
        let mut result = testing::result();
        let pipeline = PipelineRecord {
            trimmed_at_ingress: 7,
            recirculation: SideRecord { bytes: 640, ..SideRecord::default() },
            ..PipelineRecord::default()
        };
        let pipelines = vec![PipelineRecord::default(), pipeline];
        result.chips = vec![ChipRecord { switch: 1, pipelines, ..ChipRecord::default() }];
        let table = table(&testing::scenario(), &result);
        assert_eq!(table.column("switch").unwrap().text(1), Some("spine0"));
        for (column, value) in [("pipeline", 1.0), ("trimmed_at_ingress", 7.0), ("recirculation_bytes", 640.0)] {
            assert_eq!(table.column(column).unwrap().number(1), Some(value), "{column}");
        }
    }
}
