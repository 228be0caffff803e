//! Counters of a live switch, read from the JSON of its snapshots.

use forebay_tm::counters::{Count, Counters};
use forebay_tm::{Bytes, MemoryReads, Reason};
use serde_json::Value;

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

/// A count of packets and bytes.
pub fn count(value: &Value) -> Count {
    Count { packets: number(value, "packets"), bytes: number(value, "bytes") }
}

/// The counters of a queue, of a port or of all.
pub fn counters(value: &Value) -> Counters {
    let mut counters = Counters::default();
    counters.offered = count(&value["offered"]);
    counters.admitted = count(&value["admitted"]);
    counters.sent = count(&value["sent"]);
    counters.marked = count(&value["marked"]);
    counters.trimmed = count(&value["trimmed"]);
    counters.headers_sent = count(&value["headers_sent"]);
    counters.returned = count(&value["returned"]);
    counters.waiting = count(&value["waiting"]);
    counters.peak = Bytes::new(number(value, "peak_bytes"));
    for reason in Reason::ALL {
        counters.count_dropped(reason, count(&value["drops"][reason.as_str()]));
    }
    counters
}

/// What a buffer's memory was read for.
pub fn memory(value: &Value) -> MemoryReads {
    MemoryReads {
        transmission: Bytes::new(number(value, "transmission_bytes")),
        expulsion: Bytes::new(number(value, "expulsion_bytes")),
    }
}

/// Frames that were received by the ports to hosts, that were sent by these, and that were lost outside the buffer at any port.
pub fn outside(snapshot: &Value, is_to_host: impl Fn(usize) -> bool) -> (u64, u64, u64) {
    let ports = snapshot["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_hosts = || ports.iter().enumerate().filter(|(number, _)| is_to_host(*number)).map(|(_, port)| port);
    let received = of_hosts().map(|port| count(&port["received"]).packets).sum();
    let sent = |port: &Value| {
        let counters = counters(&port["counters"]);
        counters.sent.packets + counters.headers_sent.packets
    };
    let delivered = of_hosts().map(sent).sum();
    let lost = |port: &Value| {
        port["outside"].as_object().into_iter().flatten().filter_map(|(_, lost)| lost.as_u64()).sum::<u64>()
    };
    (received, delivered, ports.iter().map(lost).sum())
}

/// Microseconds that were given up after stalls.
pub fn given_up_us(snapshot: &Value) -> f64 {
    snapshot["stalls"]["given_up_us"].as_f64().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counters_are_read_with_their_reasons() {
        let value = json!({
            "offered": {"packets": 10, "bytes": 1000},
            "sent": {"packets": 7, "bytes": 700},
            "drops": {"expelled": {"packets": 2, "bytes": 200}},
            "peak_bytes": 400,
        });
        let counters = counters(&value);
        assert_eq!((counters.offered.packets, counters.sent.bytes, counters.peak.get()), (10, 700, 400));
        assert_eq!((counters.dropped.packets, counters.expelled().bytes), (2, 200));
        let snapshot = json!({
            "ports": [
                {"received": {"packets": 3, "bytes": 1}, "outside": {"receive_overruns": 1, "send_failures": 2}},
                {"received": {"packets": 9, "bytes": 1}, "counters": {"sent": {"packets": 4, "bytes": 1}}},
            ],
            "stalls": {"given_up_us": 1.5},
        });
        assert_eq!((outside(&snapshot, |port| port == 0), given_up_us(&snapshot)), ((3, 0, 3), 1.5));
        assert_eq!(outside(&snapshot, |_| true), (12, 4, 3));
    }
}
