//! The table of buffers, ports and queues.

use crate::table::Table;
use forebay_sim::measure::{PlaceRecord, RunResult};
use forebay_sim::network::SwitchPlan;
use forebay_sim::scenario::Scenario;
use forebay_tm::{Count, Counters, Reason};

/// The occupancy percentiles of the table, with the names of their columns.
const PERCENTILES: [(&str, f64); 4] =
    [("occupancy_p50", 0.5), ("occupancy_p95", 0.95), ("occupancy_p99", 0.99), ("occupancy_p999", 0.999)];

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
    format!("dropped_{}", reason.as_str().replace('-', "_"))
}

/// One row for each buffer (`port` absent), each port (`queue` absent) and each queue; ports and queues where nothing
/// was offered are left out. Occupancy is in bytes; `utilization` is there for ports only, size and memory for whole
/// buffers only.
pub fn table(scenario: &Scenario, result: &RunResult) -> Table {
    let kept = |place: &&PlaceRecord| is_buffer(place) || place.counters.offered.packets > 0;
    let places: Vec<&PlaceRecord> = result.places.iter().filter(kept).collect();
    let of_buffers = |value: fn(&PlaceRecord) -> u64| {
        places.iter().map(move |place| is_buffer(place).then(|| value(place))).collect::<Vec<_>>()
    };
    let mut table = Table::new();
    table.text("switch", places.iter().map(|place| switch_of(scenario, place).map_or("", |switch| &switch.name)));
    table.text("tier", places.iter().map(|place| switch_of(scenario, place).map_or("", |switch| &switch.tier)));
    table.count("buffer", places.iter().map(|place| u64::from(place.buffer)));
    table.optional_count("port", places.iter().map(|place| place.port.map(u64::from)));
    table.optional_count("queue", places.iter().map(|place| place.queue.map(u64::from)));
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
    table.count("expelled", places.iter().map(|place| place.counters.expelled().packets));
    table.count("marked", places.iter().map(|place| place.counters.marked.packets));
    table.count("trimmed", places.iter().map(|place| place.counters.trimmed.packets));
    table.count("returned", places.iter().map(|place| place.counters.returned.packets));
    table.float("occupancy_mean", places.iter().map(|place| place.occupancy.mean()));
    for (name, p) in PERCENTILES {
        table.count(name, places.iter().map(|place| place.occupancy.percentile(p)));
    }
    table.count("occupancy_max", places.iter().map(|place| place.occupancy.max()));
    table.count("peak", places.iter().map(|place| place.counters.peak.get()));
    table.optional_float("utilization", places.iter().map(|place| is_port(place).then_some(place.utilization)));
    table.optional_count("buffer_size", of_buffers(|place| place.size.get()));
    table.optional_count("memory_read_transmission", of_buffers(|place| place.memory.transmission.get()));
    table.optional_count("memory_read_expulsion", of_buffers(|place| place.memory.expulsion.get()));
    let memory_use = places.iter().map(|place| is_buffer(place).then_some(place.memory_use_at_drops.mean()));
    table.optional_float("memory_use_at_drops", memory_use);
    let buffer_use = places.iter().map(|place| is_buffer(place).then_some(place.buffer_use_at_drops.mean()));
    table.optional_float("buffer_use_at_drops", buffer_use);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn levels_are_told_by_what_is_absent() {
        let mut result = testing::result();
        result.places = testing::places(0, 5, 0.25);
        let table = table(&testing::scenario(), &result);
        // The buffer, port 0 and its queue; port 1 saw nothing.
        assert_eq!(table.rows(), 3);
        let int = |name: &str, row| table.column(name).unwrap().int(row);
        assert_eq!([int("port", 0), int("port", 1), int("port", 2)], [None, Some(0), Some(0)]);
        assert_eq!([int("queue", 0), int("queue", 1), int("queue", 2)], [None, None, Some(0)]);
        assert_eq!(table.column("switch").unwrap().text(0), Some("leaf0"));
        assert_eq!(table.column("tier").unwrap().text(0), Some("leaf"));
        assert_eq!(int("buffer_size", 0), Some(4_500));
        assert_eq!(int("buffer_size", 1), None);
        assert_eq!(table.column("utilization").unwrap().number(0), None);
        assert_eq!(table.column("utilization").unwrap().number(1), Some(0.25));
        assert_eq!(table.column("utilization").unwrap().number(2), None);
        // Nothing was dropped where the memory was measured: NaN in the record, absent here.
        assert_eq!(table.column("memory_use_at_drops").unwrap().number(0), None);
    }

    #[test]
    fn drops_are_counted_by_reason() {
        let mut result = testing::result();
        // Three packets fit the buffer; five are offered and none is sent.
        result.places = testing::places(0, 5, 0.25);
        let table = table(&testing::scenario(), &result);
        let int = |name: &str| table.column(name).unwrap().int(0);
        assert_eq!(int("offered_packets"), Some(5));
        assert_eq!(int("offered_bytes"), Some(7_500));
        assert_eq!(int("admitted_packets"), Some(3));
        assert_eq!(int("dropped_packets"), Some(2));
        assert_eq!(int("dropped_full"), Some(2));
        assert_eq!(int("dropped_queue_full"), Some(0));
        assert_eq!(int("peak"), Some(4_500));
    }
}
