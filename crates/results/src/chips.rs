//! The tables of programmable chips: their pipelines, and control packets that were kept.

use crate::table::Table;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::chip::{PipelineRecord, ReferenceRecord, SideRecord};
use forebay_sim::scenario::Scenario;

/// A number of a pipeline.
type Get = fn(&PipelineRecord) -> u64;
/// One of its inner ports.
type Side = fn(&PipelineRecord) -> &SideRecord;
/// A number of one of its inner ports.
type GetSide = fn(&SideRecord) -> u64;

/// A number of a chip's witness.
type GetWitness = fn(&ReferenceRecord) -> u64;

/// The name of a switch.
fn switch_name(scenario: &Scenario, index: u32) -> &str {
    scenario.network.switches.get(index as usize).map_or("", |switch| &switch.name)
}

/// One row for each control packet that was kept.
pub fn controls(scenario: &Scenario, result: &RunResult) -> Table {
    let notes = || result.chips.iter().flat_map(|chip| chip.controls.iter().map(|note| (chip.switch, note)));
    let mut table = Table::new();
    table.count("at_ps", notes().map(|(_, note)| note.at.ps()));
    table.text("switch", notes().map(|(switch, _)| switch_name(scenario, switch)));
    table.count("kind", notes().map(|(_, note)| u64::from(note.kind)));
    table.count("value", notes().map(|(_, note)| note.value));
    table
}

/// One row for each pipeline of each chip: packets, and bytes where it says so.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let switch = |index: u32| switch_name(scenario, index);
    let chip = |index: u32| scenario.switches.get(index as usize).and_then(|setup| setup.chip.as_ref());
    let program = |index: u32| chip(index).map_or("", |chip| chip.program.name());
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
        ("trimmed_at_ingress_packets", |pipeline| pipeline.trimmed_at_ingress),
        ("trimmed_at_egress_packets", |pipeline| pipeline.trimmed_at_egress),
        ("dropped_at_ingress_packets", |pipeline| pipeline.dropped_at_ingress),
        ("dropped_at_egress_packets", |pipeline| pipeline.dropped_at_egress),
    ];
    for (name, count) in counts {
        table.count(name, rows.iter().map(|row| count(row.2)));
    }
    let sides: [(&str, Side); 2] =
        [("deflection", |pipeline| &pipeline.deflection), ("recirculation", |pipeline| &pipeline.recirculation)];
    let of_side: [(&str, GetSide); 4] = [
        ("packets", |side| side.packets),
        ("bytes", |side| side.bytes),
        ("full_packets", |side| side.full),
        ("peak_packets", |side| side.peak),
    ];
    for (name, side) in sides {
        for (what, count) in of_side {
            table.count(&format!("{name}_{what}"), rows.iter().map(|row| count(side(row.2))));
        }
    }
    // Chips with a witness have one pipeline.
    let of_witness: [(&str, GetWitness); 4] = [
        ("both_take_packets", |witness| witness.both),
        ("ideal_alone_takes_packets", |witness| witness.ideal_only),
        ("chip_alone_takes_packets", |witness| witness.chip_only),
        ("neither_takes_packets", |witness| witness.neither),
    ];
    for (name, count) in of_witness {
        let of_chip = |index: u32| {
            let found = result.chips.iter().find(|chip| chip.switch == index);
            found.filter(|_| chip(index).is_some_and(|chip| chip.witness)).map(|chip| count(&chip.witness))
        };
        table.optional_count(name, rows.iter().map(|row| of_chip(row.0)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use forebay_sim::measure::chip::{ChipRecord, ControlNote};
    use forebay_tm::Instant;

    #[test]
    fn pipelines_have_a_row_each() {
        let mut result = testing::result();
        let pipeline = PipelineRecord {
            trimmed_at_ingress: 7,
            recirculation: SideRecord { bytes: 640, ..SideRecord::default() },
            ..PipelineRecord::default()
        };
        let pipelines = vec![PipelineRecord::default(), pipeline];
        let controls = vec![ControlNote { at: Instant::from_ps(30), kind: 5, value: 9 }];
        result.chips = vec![ChipRecord { switch: 1, pipelines, controls, ..ChipRecord::default() }];
        let kept = super::controls(&testing::scenario(), &result);
        let row: Vec<_> = kept.columns().iter().map(|column| column.number(0)).collect();
        assert_eq!((kept.rows(), row), (1, vec![Some(30.0), None, Some(5.0), Some(9.0)]));
        let table = table(&testing::scenario(), &result);
        assert_eq!(table.column("both_take_packets").unwrap().number(0), None, "without a witness");
        assert_eq!(table.column("switch").unwrap().text(1), Some("spine0"));
        for (column, value) in [("pipeline", 1.0), ("trimmed_at_ingress_packets", 7.0), ("recirculation_bytes", 640.0)]
        {
            assert_eq!(table.column(column).unwrap().number(1), Some(value), "{column}");
        }
    }
}
