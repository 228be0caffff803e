//! Where two traces of a script part.

use crate::trace::{Event, Kind, Trace};
use forebay_tm::Duration;

/// A segment as it was sent: from which side, which one, which time.
type Sent = (bool, u64, u32);

/// The data segments of a flow in the order in which they were sent.
fn sent(trace: &Trace, flow: u32) -> impl Iterator<Item = (Sent, &Event)> {
    trace.events.iter().filter(move |event| event.flow == flow).filter_map(|event| match event.kind {
        Kind::Data(at, _) => Some(((event.side == crate::trace::Side::Sender, at.0, event.decision.count), event)),
        _ => None,
    })
}

/// The flows of a trace.
fn flows(trace: &Trace) -> u32 {
    trace.events.iter().map(|event| event.flow + 1).max().unwrap_or(0)
}

/// Whether two traces have the same segments in the same order, flow by flow.
pub fn is_same_order(one: &Trace, other: &Trace) -> bool {
    let all = flows(one).max(flows(other));
    (0..all).all(|flow| sent(one, flow).map(|(sent, _)| sent).eq(sent(other, flow).map(|(sent, _)| sent)))
}

/// When the first data of a flow was sent.
pub fn first_data(trace: &Trace, flow: u32) -> Option<Duration> {
    sent(trace, flow).next().map(|(_, event)| event.at)
}
