//! The tables of buffers, of ports and of queues: one for each level, so that nothing is counted twice in a sum.

use crate::table::Table;
use crate::topology::{self, PortEnd};
use forebay_sim::measure::{PlaceRecord, RunResult};
use forebay_sim::network::SwitchPlan;
use forebay_sim::scenario::Scenario;
use forebay_tm::{Count, Counters, Reason};

/// The occupancy percentiles of the tables, with the names of their columns.
const PERCENTILES: [(&str, f64); 4] = [
    ("occupancy_p50_bytes", 0.5),
    ("occupancy_p95_bytes", 0.95),
    ("occupancy_p99_bytes", 0.99),
    ("occupancy_p999_bytes", 0.999),
];

/// One of the counts of a place.
type Get = fn(&Counters) -> Count;

/// The switch of a record.
pub(crate) fn switch_of<'a>(scenario: &'a Scenario, place: &PlaceRecord) -> Option<&'a SwitchPlan> {
    scenario.network.switches.get(place.switch as usize)
}

/// Whether a record is of a whole buffer.
pub(crate) fn is_buffer(place: &PlaceRecord) -> bool {
    place.port.is_none()
}

/// Whether a record is of a whole port.
pub(crate) fn is_port(place: &PlaceRecord) -> bool {
    place.port.is_some() && place.queue.is_none()
}

/// The name of the column with the packets dropped for a reason.
pub fn drop_column(reason: Reason) -> String {
    format!("dropped_{}_packets", reason.as_str().replace('-', "_"))
}

/// The columns that tell which place it is, down to the buffer.
fn identify(table: &mut Table, scenario: &Scenario, places: &[&PlaceRecord]) {
    table.text("switch", places.iter().map(|place| switch_of(scenario, place).map_or("", |switch| &switch.name)));
    table.text("tier", places.iter().map(|place| switch_of(scenario, place).map_or("", |switch| &switch.tier)));
    table.count("buffer", places.iter().map(|place| u64::from(place.buffer)));
}

/// What went through places, and how full they were.
fn measure(table: &mut Table, places: &[&PlaceRecord]) {
    let both: [(&str, Get); 4] = [
        ("offered", |counters| counters.offered),
        ("admitted", |counters| counters.admitted),
        ("sent", |counters| counters.sent),
        ("dropped", |counters| counters.dropped),
    ];
    for (name, count) in both {
        table.count(&format!("{name}_packets"), places.iter().map(|place| count(&place.counters).packets));
        table.count(&format!("{name}_bytes"), places.iter().map(|place| count(&place.counters).bytes));
    }
    for reason in Reason::ALL {
        table.count(&drop_column(reason), places.iter().map(|place| place.counters.dropped_by(reason).packets));
    }
    let packets: [(&str, Get); 3] = [
        ("marked_packets", |counters| counters.marked),
        ("trimmed_packets", |counters| counters.trimmed),
        ("returned_packets", |counters| counters.returned),
    ];
    for (name, count) in packets {
        table.count(name, places.iter().map(|place| count(&place.counters).packets));
    }
    table.float("occupancy_mean_bytes", places.iter().map(|place| place.occupancy.mean()));
    for (name, p) in PERCENTILES {
        table.count(name, places.iter().map(|place| place.occupancy.percentile(p)));
    }
    table.count("occupancy_max_bytes", places.iter().map(|place| place.occupancy.max()));
    table.count("peak_bytes", places.iter().map(|place| place.counters.peak.get()));
}

/// A row for each buffer.
pub fn buffers(scenario: &Scenario, result: &RunResult) -> Table {
    let places: Vec<&PlaceRecord> = result.places.iter().filter(|place| is_buffer(place)).collect();
    let mut table = Table::new();
    identify(&mut table, scenario, &places);
    table.count("size_bytes", places.iter().map(|place| place.size.get()));
    measure(&mut table, &places);
    table.count("read_to_send_bytes", places.iter().map(|place| place.memory.transmission.get()));
    table.count("read_to_expel_bytes", places.iter().map(|place| place.memory.expulsion.get()));
    table.optional_float("memory_use_at_drops", places.iter().map(|place| Some(place.memory_use_at_drops.mean())));
    table.optional_float("buffer_use_at_drops", places.iter().map(|place| Some(place.buffer_use_at_drops.mean())));
    table
}

/// A row for each port where anything was offered.
pub fn ports(scenario: &Scenario, result: &RunResult) -> Table {
    let used = |place: &&PlaceRecord| is_port(place) && place.counters.offered.packets > 0;
    let places: Vec<&PlaceRecord> = result.places.iter().filter(used).collect();
    let network = &scenario.network;
    let ends = topology::ports(network);
    let end = |place: &&PlaceRecord| -> Option<&PortEnd> {
        let key = (network.hosts.len() as u32 + place.switch, place.port?);
        ends.binary_search_by_key(&key, |end| (end.node, end.port)).ok().map(|index| &ends[index])
    };
    let mut table = Table::new();
    identify(&mut table, scenario, &places);
    table.count("port", places.iter().map(|place| u64::from(place.port.unwrap_or_default())));
    let peers = places.iter().map(|place| end(place).map_or("", |end| topology::name(network, end.peer)));
    table.text("peer", peers);
    table.count("rate_bps", places.iter().map(|place| end(place).map_or(0, |end| end.rate.bps())));
    measure(&mut table, &places);
    table.float("utilization", places.iter().map(|place| place.utilization));
    table
}

/// A row for each queue where anything was offered.
pub fn queues(scenario: &Scenario, result: &RunResult) -> Table {
    let used = |place: &&PlaceRecord| place.queue.is_some() && place.counters.offered.packets > 0;
    let places: Vec<&PlaceRecord> = result.places.iter().filter(used).collect();
    let mut table = Table::new();
    identify(&mut table, scenario, &places);
    table.count("port", places.iter().map(|place| u64::from(place.port.unwrap_or_default())));
    table.count("queue", places.iter().map(|place| u64::from(place.queue.unwrap_or_default())));
    measure(&mut table, &places);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Three packets fit the buffer; five are offered for port 0 and none is sent.
    fn tables() -> [Table; 3] {
        let mut result = testing::result();
        result.places = testing::places(0, 5, 0.25);
        let scenario = testing::scenario();
        [buffers(&scenario, &result), ports(&scenario, &result), queues(&scenario, &result)]
    }

    #[test]
    fn every_level_has_its_own_table_and_the_same_sums() {
        for table in tables() {
            let int = |name: &str| table.column(name).unwrap().int(0);
            // Port 1 saw nothing, and is left out.
            assert_eq!(table.rows(), 1);
            assert_eq!(table.column("switch").unwrap().text(0), Some("leaf0"));
            assert_eq!(table.column("tier").unwrap().text(0), Some("leaf"));
            assert_eq!((int("offered_packets"), int("offered_bytes")), (Some(5), Some(7_500)));
            assert_eq!((int("admitted_packets"), int("dropped_packets")), (Some(3), Some(2)));
            assert_eq!((int("dropped_full_packets"), int("dropped_queue_full_packets")), (Some(2), Some(0)));
            assert_eq!(int("peak_bytes"), Some(4_500));
        }
    }

    #[test]
    fn what_only_one_level_has() {
        let [buffers, ports, queues] = tables();
        assert_eq!(buffers.column("size_bytes").unwrap().int(0), Some(4_500));
        // Nothing was dropped where the memory was measured: NaN in the record, absent here.
        assert_eq!(buffers.column("memory_use_at_drops").unwrap().number(0), None);
        assert_eq!(ports.column("utilization").unwrap().number(0), Some(0.25));
        assert_eq!(ports.column("peer").unwrap().text(0), Some("host0"));
        assert_eq!(ports.column("rate_bps").unwrap().int(0), Some(10_000_000_000));
        assert_eq!(queues.column("queue").unwrap().int(0), Some(0));
        assert!(queues.column("utilization").is_none() && ports.column("size_bytes").is_none());
    }
}
