//! `--summary`: the counters of every queue that saw a packet.

use crate::table::{Table, percent};
use forebay_tm::{Bytes, Counters, Reason, Tm};
use std::fmt::Write;

pub(crate) fn tell(tm: &Tm) -> String {
    let pool = tm.pool_counters();
    let reasons: Vec<Reason> = Reason::ALL.into_iter().filter(|reason| pool.dropped_by(*reason).packets > 0).collect();
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
