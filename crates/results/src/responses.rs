//! Traced flows over time: what their senders knew after each response.

use crate::table::Table;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, ResponseSample, TraceEvent, What};
use forebay_sim::packet::{Kind, flag};
use forebay_sim::scenario::Scenario;
use std::collections::HashMap;

/// What has been sent of a flow until a moment.
#[derive(Clone, Copy, Default)]
struct Sent {
    /// The first packet that has not been sent.
    next: u64,
    retransmitted: u64,
}

/// Whether a host hands a data packet of its own to its link, or to the queue in front of it.
fn is_sent(event: &TraceEvent) -> bool {
    matches!(event.place, Place::Host(_)) && event.packet.kind == Kind::Data && matches!(event.what, What::Sent)
}

/// For each response, what had been sent of its flow by then.
fn sent_by_responses(result: &RunResult) -> Vec<Sent> {
    let mut events: Vec<&TraceEvent> = result.trace.iter().filter(|event| is_sent(event)).collect();
    events.sort_by_key(|event| event.at);
    let mut sent: HashMap<u32, Sent> = HashMap::new();
    let mut next = 0;
    let mut so_far = |response: &ResponseSample| {
        while let Some(event) = events.get(next).filter(|event| event.at <= response.at) {
            let flow = sent.entry(event.packet.flow).or_default();
            flow.next = flow.next.max(u64::from(event.packet.seq) + 1);
            flow.retransmitted += u64::from(event.packet.has(flag::RETRANSMISSION));
            next += 1;
        }
        sent.get(&response.flow).copied().unwrap_or_default()
    };
    result.responses.iter().map(&mut so_far).collect()
}

/// A row for each response that came in at the sender of a flow of `measure.trace_flows`.
pub fn table(_: &Scenario, result: &RunResult) -> Table {
    let (responses, sent) = (&result.responses, sent_by_responses(result));
    let start = |response: &ResponseSample| result.flows.get(response.flow as usize).map(|flow| flow.spec.start);
    let round_trip = |response: &ResponseSample| {
        let is_known = start(response).is_some_and(|start| response.sent_at >= start) && response.missing.is_some();
        is_known.then(|| response.at.since(response.sent_at).ps())
    };
    let outstanding = |(response, sent): (&ResponseSample, &Sent)| {
        response.missing.map(|missing| sent.next.saturating_sub(u64::from(missing)))
    };
    let mut table = Table::new();
    table.count("at_ps", responses.iter().map(|response| response.at.ps()));
    table.count("flow", responses.iter().map(|response| u64::from(response.flow)));
    table.optional_count("rtt_ps", responses.iter().map(round_trip));
    table.optional_count("window_packets", responses.iter().map(|response| response.window.map(u64::from)));
    table.optional_count("acked_packets", responses.iter().map(|response| response.missing.map(u64::from)));
    table.optional_count("outstanding_packets", responses.iter().zip(&sent).map(outstanding));
    table.count("retransmitted_packets", sent.iter().map(|sent| sent.retransmitted));
    table
}
