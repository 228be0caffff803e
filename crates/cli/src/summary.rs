//! `--summary`: the counters of every queue that saw a packet.

use crate::table::{Table, percent};
use forebay_tm::View as _;
use forebay_tm::ingress::GroupConfig;
use forebay_tm::mmu::GroupCounters;
use forebay_tm::{Bytes, Counters, Mmu, Reason, Side, Tm};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The same as JSON: a row for each queue that saw a packet, and one for all of the switch, without a port; and the
/// ingress side, if there is one: a row for each group that refused a packet or paused.
pub(crate) fn json(tm: &Tm, mmu: Option<&Mmu>) -> String {
    let queues = tm.config().queues;
    let used = (0..tm.config().total_queues()).filter(|queue| tm.queue_counters(*queue).offered.packets > 0);
    let row = |queue: usize| counters(Some((queue / queues, queue % queues)), &tm.queue_counters(queue));
    let rows: Vec<Value> = used.map(row).chain([counters(None, &tm.pool_counters())]).collect();
    let reads = tm.memory_reads();
    let mut value = json!({
        "buffer_bytes": tm.config().buffer.get(),
        "rows": rows,
        "memory_read_for_transmission": reads.transmission.get(),
        "memory_read_for_expulsion": reads.expulsion.get(),
    });
    if let (Some(mmu), Some(value)) = (mmu, value.as_object_mut()) {
        let group = |(group, counters): (&GroupConfig, &GroupCounters)| {
            json!({
                "port": group.port,
                "pg": group.number,
                "refused_packets": counters.refused,
                "pauses": counters.pauses,
                "paused_ps": counters.paused.ps(),
                "is_paused": counters.paused_since.is_some(),
            })
        };
        value.insert("groups".to_owned(), groups(mmu).map(group).collect::<Vec<_>>().into());
    }
    format!("{value:#}\n")
}

/// The groups to which something has happened.
fn groups(mmu: &Mmu) -> impl Iterator<Item = (&GroupConfig, &GroupCounters)> {
    let groups = mmu.ingress().config().groups.iter().zip(mmu.group_counters());
    groups.filter(|(_, counters)| counters.refused > 0 || counters.pauses > 0)
}

/// The ingress side: what was dropped by each side, and the groups that refused a packet or paused.
pub(crate) fn tell_ingress(mmu: &Mmu) -> String {
    let pool = mmu.egress().pool_counters();
    let of = |side: Side| Reason::every().filter(move |reason| reason.side() == side);
    let dropped = |side| of(side).map(|reason| pool.dropped_by(reason).packets).sum::<u64>();
    let mut text = format!("\ndropped: {} on ingress, {} on egress\n", dropped(Side::Ingress), dropped(Side::Egress));
    let mut table = Table::new(1, ["group", "refused", "pauses", "paused for"]);
    let mut any = false;
    for (group, counters) in groups(mmu) {
        any = true;
        table.row(vec![
            format!("port {} pg {}", group.port, group.number),
            counters.refused.to_string(),
            counters.pauses.to_string(),
            counters.paused.to_string() + if counters.paused_since.is_some() { ", and is" } else { "" },
        ]);
    }
    if any {
        text.push_str(&table.render());
    }
    text
}

/// The counters of a queue, or of the whole switch.
pub(crate) fn counters(place: Option<(usize, usize)>, counters: &Counters) -> Value {
    let dropped = |reason: Reason| (reason.as_str().to_owned(), counters.dropped_by(reason).packets.into());
    let by_reason: Map<String, Value> =
        Reason::every().filter(|reason| counters.dropped_by(*reason).packets > 0).map(dropped).collect();
    json!({
        "port": place.map(|(port, _)| port),
        "queue": place.map(|(_, queue)| queue),
        "offered_packets": counters.offered.packets,
        "offered_bytes": counters.offered.bytes,
        "sent_packets": counters.sent.packets,
        "dropped_packets": counters.dropped.packets,
        "dropped_by_reason": by_reason,
        "trimmed_packets": counters.trimmed.packets,
        "returned_packets": counters.returned.packets,
        "marked_packets": counters.marked.packets,
        "peak_bytes": counters.peak.get(),
    })
}

pub(crate) fn tell(tm: &Tm) -> String {
    let pool = tm.pool_counters();
    let reasons: Vec<Reason> = Reason::every().filter(|reason| pool.dropped_by(*reason).packets > 0).collect();
    let optional = |name: &'static str, count: u64| (count > 0).then_some(name);
    let mut header = vec!["queue", "offered", "bytes", "sent", "dropped", "loss"];
    header.extend(reasons.iter().map(|reason| reason.as_str()));
    header.extend(optional("trimmed", pool.trimmed.packets));
    header.extend(optional("returned", pool.returned.packets));
    header.extend(optional("marked", pool.marked.packets));
    header.push("peak");
    let row = |name: String, counters: &Counters| {
        let mut cells = vec![
            name,
            counters.offered.packets.to_string(),
            Bytes::new(counters.offered.bytes).to_string(),
            counters.sent.packets.to_string(),
            counters.dropped.packets.to_string(),
            percent(counters.dropped.packets, counters.offered.packets),
        ];
        cells.extend(reasons.iter().map(|reason| counters.dropped_by(*reason).packets.to_string()));
        for (total, count) in
            [(pool.trimmed, counters.trimmed), (pool.returned, counters.returned), (pool.marked, counters.marked)]
        {
            if total.packets > 0 {
                cells.push(count.packets.to_string());
            }
        }
        cells.push(counters.peak.to_string());
        cells
    };
    let mut table = Table::new(1, header.clone());
    let queues = tm.config().queues;
    for port in 0..tm.config().rates.len() {
        let used: Vec<usize> =
            (0..queues).filter(|k| tm.queue_counters(port * queues + k).offered.packets > 0).collect();
        for k in &used {
            table.row(row(format!("port {port} queue {k}"), &tm.queue_counters(port * queues + k)));
        }
        if used.len() > 1 {
            table.row(row(format!("port {port} all"), &tm.port_counters(port)));
        }
    }
    table.row(row("all".to_owned(), &pool));
    let mut text = table.render();
    let reads = tm.memory_reads();
    let _ = writeln!(
        text,
        "buffer {}, peak {} ({}); memory read for transmission {}, for packets pushed out or expelled {}",
        tm.config().buffer,
        pool.peak,
        percent(pool.peak.get(), tm.config().buffer.get()),
        reads.transmission,
        reads.expulsion
    );
    text
}
