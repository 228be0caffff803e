//! Traced flows over time: what their senders knew after each answer.

use crate::table::Table;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{AnswerSample, Place, TraceEvent, What};
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

/// For each answer, what had been sent of its flow by then.
fn sent_by_answers(result: &RunResult) -> Vec<Sent> {
    let mut events: Vec<&TraceEvent> = result.trace.iter().filter(|event| is_sent(event)).collect();
    events.sort_by_key(|event| event.at);
    let mut sent: HashMap<u32, Sent> = HashMap::new();
    let mut next = 0;
    let mut so_far = |answer: &AnswerSample| {
        while let Some(event) = events.get(next).filter(|event| event.at <= answer.at) {
            let flow = sent.entry(event.packet.flow).or_default();
            flow.next = flow.next.max(u64::from(event.packet.seq) + 1);
            flow.retransmitted += u64::from(event.packet.has(flag::RETRANSMISSION));
            next += 1;
        }
        sent.get(&answer.flow).copied().unwrap_or_default()
    };
    result.answers.iter().map(&mut so_far).collect()
}

/// A row for each answer that came in at the sender of a flow of `measure.trace_flows`.
pub fn table(_: &Scenario, result: &RunResult) -> Table {
    let (answers, sent) = (&result.answers, sent_by_answers(result));
    let start = |answer: &AnswerSample| result.flows.get(answer.flow as usize).map(|flow| flow.spec.start);
    let round_trip = |answer: &AnswerSample| {
        let is_known = start(answer).is_some_and(|start| answer.sent_at >= start) && answer.missing.is_some();
        is_known.then(|| answer.at.since(answer.sent_at).ps())
    };
    let outstanding = |(answer, sent): (&AnswerSample, &Sent)| {
        answer.missing.map(|missing| sent.next.saturating_sub(u64::from(missing)))
    };
    let mut table = Table::new();
    table.count("at_ps", answers.iter().map(|answer| answer.at.ps()));
    table.count("flow", answers.iter().map(|answer| u64::from(answer.flow)));
    table.optional_count("rtt_ps", answers.iter().map(round_trip));
    table.optional_count("window_packets", answers.iter().map(|answer| answer.window.map(u64::from)));
    table.optional_count("acked_packets", answers.iter().map(|answer| answer.missing.map(u64::from)));
    table.optional_count("outstanding_packets", answers.iter().zip(&sent).map(outstanding));
    table.count("retransmitted_packets", sent.iter().map(|sent| sent.retransmitted));
    table
}
