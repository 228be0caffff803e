//! A snapshot as JSON. `docs/live-control.md` says what the keys mean.

use forebay_live::snapshot::{Fate, Loss, PortState, QueueState, Snapshot};
use forebay_tm::counters::{Count, Counters};
use forebay_tm::{Duration, Reason};
use serde_json::{Map, Value, json};

const PS_PER_US: f64 = 1e6;
const PS_PER_S: f64 = 1e12;

fn seconds(ps: u64) -> f64 {
    ps as f64 / PS_PER_S
}

fn microseconds(time: Duration) -> f64 {
    time.ps() as f64 / PS_PER_US
}

fn count(count: Count) -> Value {
    json!({"packets": count.packets, "bytes": count.bytes})
}

/// The reasons for which something was dropped, by their names in files.
fn drops(counters: &Counters) -> Map<String, Value> {
    Reason::ALL
        .iter()
        .map(|reason| (reason.as_str(), counters.dropped_by(*reason)))
        .filter(|(_, dropped)| dropped.packets > 0)
        .map(|(name, dropped)| (name.to_owned(), count(dropped)))
        .collect()
}

fn counters(counters: &Counters) -> Value {
    json!({
        "offered": count(counters.offered),
        "admitted": count(counters.admitted),
        "sent": count(counters.sent),
        "marked": count(counters.marked),
        "trimmed": count(counters.trimmed),
        "headers_sent": count(counters.headers_sent),
        "returned": count(counters.returned),
        "dropped": count(counters.dropped),
        "drops": drops(counters),
        "waiting": count(counters.waiting),
        "peak_bytes": counters.peak.get(),
    })
}

fn queue(queue: &QueueState) -> Value {
    json!({
        "bytes": queue.bytes.get(),
        "packets": queue.packets,
        "watermark_bytes": queue.watermark.get(),
        "threshold_bytes": queue.threshold,
        "counters": counters(&queue.counters),
    })
}

fn port(port: &PortState) -> Value {
    json!({
        "name": port.name,
        "is_up": port.is_up,
        "rate_bps": port.rate.bps(),
        "received": count(port.received),
        "transmitted": count(port.transmitted),
        "untrimmable": port.untrimmable,
        "counters": counters(&port.counters),
        "headers_waiting": port.headers_waiting,
        "outside": {
            "receive_overruns": port.outside.receive_overruns,
            "too_long": port.outside.too_long,
            "send_failures": port.outside.send_failures,
        },
        "queues": port.queues.iter().map(queue).collect::<Vec<_>>(),
    })
}

/// What became of a packet, and why if it was dropped.
pub(crate) fn fate(fate: Fate) -> (&'static str, Option<&'static str>) {
    match fate {
        Fate::Dropped(reason) => ("dropped", Some(reason.as_str())),
        Fate::Trimmed => ("trimmed", None),
        Fate::Returned => ("returned", None),
    }
}

fn loss(loss: &Loss) -> Value {
    let (fate, reason) = fate(loss.fate);
    json!({
        "time_s": seconds(loss.at.ps()),
        "port": loss.port,
        "queue": loss.queue,
        "bytes": loss.bytes,
        "fate": fate,
        "reason": reason,
    })
}

/// A snapshot as a JSON object. Its keys always come in the same order.
pub fn snapshot(snapshot: &Snapshot) -> Value {
    let Snapshot { unforwarded, books, stalls, cost, .. } = snapshot;
    let (pieces, free) = snapshot.pieces;
    json!({
        "sequence": snapshot.sequence,
        "uptime_s": seconds(snapshot.uptime.ps()),
        "time_s": seconds(snapshot.at.ps()),
        "policy": snapshot.policy,
        "buffer_bytes": snapshot.buffer.get(),
        "used_bytes": snapshot.used.get(),
        "total": counters(&snapshot.total),
        "memory": {
            "transmission_bytes": snapshot.memory.transmission.get(),
            "expulsion_bytes": snapshot.memory.expulsion.get(),
        },
        "ports": snapshot.ports.iter().map(port).collect::<Vec<_>>(),
        "unforwarded": {
            "runts": unforwarded.runts,
            "back": unforwarded.back,
            "no_route": unforwarded.no_route,
            "no_hops": unforwarded.no_hops,
            "storm": unforwarded.storm,
            "no_piece": unforwarded.no_piece,
        },
        "books": {
            "received": books.received,
            "copies": books.copies,
            "sent": books.sent,
            "dropped": books.dropped,
            "pushed_out": books.pushed_out,
            "untrimmable": books.untrimmable,
            "unreturned": books.unreturned,
            "unforwarded": books.unforwarded,
            "waiting": books.waiting,
            "missing": books.missing(),
        },
        "stalls": {
            "count": stalls.count,
            "total_us": microseconds(stalls.total),
            "longest_us": microseconds(stalls.longest),
            "given_up_us": microseconds(stalls.given_up),
        },
        "pieces": {"all": pieces, "free": free},
        "cost": {
            "busy_turns": cost.busy_turns,
            "turns": cost.turns,
            "packets": cost.packets,
            "core_ns": cost.core_ns,
            "io_ns": cost.io_ns,
        },
        "changes": snapshot.changes,
        "recent": snapshot.recent.iter().map(loss).collect::<Vec<_>>(),
    })
}
