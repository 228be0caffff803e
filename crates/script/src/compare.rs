//! Where two traces of a script part.

use crate::trace::{Event, Kind, Side, Trace, us};
use forebay_tm::Duration;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Times of retransmissions may differ by so much ...
const SLACK: Duration = Duration::from_us(2_000);
/// ... or by this share of the time since the flow's first data, in percent.
const SHARE: u64 = 10;
/// Lines around the place where traces part.
const BEFORE: usize = 6;
const AFTER: usize = 8;

/// A segment as it was sent: by the sender or not, from which byte on, for which time.
type Sent = (bool, u64, u32);

/// The data segments of a flow in the order in which they were sent, with their places in the trace.
fn sent(trace: &Trace, flow: u32) -> Vec<(Sent, usize)> {
    let of = |(place, event): (usize, &Event)| match event.kind {
        Kind::Data(at, _) if event.flow == flow => {
            Some(((event.side == Side::Sender, at.0, event.decision.count), place))
        }
        _ => None,
    };
    trace.events.iter().enumerate().filter_map(of).collect()
}

/// The flows of a trace.
fn flows(trace: &Trace) -> u32 {
    trace.events.iter().map(|event| event.flow + 1).max().unwrap_or(0)
}

/// Where the orders of two traces part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The flow.
    pub flow: u32,
    /// So many data segments of the flow are the same before.
    pub same: usize,
    /// The places of what differs in each trace; none where it has ended.
    pub places: [Option<usize>; 2],
}

/// The first place where the data segments of two traces are not the same in the same order, flow by flow.
pub fn parting(one: &Trace, other: &Trace) -> Option<Parting> {
    (0..flows(one).max(flows(other))).find_map(|flow| {
        let (a, b) = (sent(one, flow), sent(other, flow));
        let same = a.iter().zip(&b).take_while(|((a, _), (b, _))| a == b).count();
        let place = |list: &[(Sent, usize)]| list.get(same).map(|(_, place)| *place);
        (same < a.len().max(b.len())).then(|| Parting { flow, same, places: [place(&a), place(&b)] })
    })
}

/// Whether two traces have the same segments in the same order, flow by flow.
pub fn is_same_order(one: &Trace, other: &Trace) -> bool {
    parting(one, other).is_none()
}

/// A retransmission that is in both traces, at different times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Where it is in each trace.
    pub places: [usize; 2],
    /// When it was sent in each, since the flow's first data.
    pub times: [Duration; 2],
}

impl Apart {
    /// By how much the times differ.
    pub fn by(&self) -> Duration {
        let [a, b] = self.times;
        Duration::from_ps(a.ps().abs_diff(b.ps()))
    }

    /// Whether they differ by no more than they may.
    pub fn is_within(&self) -> bool {
        self.by() <= SLACK || self.by().ps() * 100 <= self.times[0].ps() * SHARE
    }
}

/// What two traces of a script have in common. The first is the one that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Where the orders of segments part; none if they are the same.
    pub parting: Option<Parting>,
    /// Retransmissions in each.
    pub retransmissions: [usize; 2],
    /// The retransmission of both whose times differ most.
    pub worst: Option<Apart>,
    /// The first retransmission of both whose times differ by more than they may.
    pub late: Option<Apart>,
}

impl Comparison {
    /// Compares two traces.
    pub fn new(right: &Trace, other: &Trace) -> Self {
        let (mut retransmissions, mut pairs) = ([0; 2], Vec::new());
        for flow in 0..flows(right).max(flows(other)) {
            let (a, b) = (sent(right, flow), sent(other, flow));
            let again = |list: &[(Sent, usize)]| list.iter().filter(|((.., count), _)| *count > 1).count();
            retransmissions = [retransmissions[0] + again(&a), retransmissions[1] + again(&b)];
            let (Some((_, first)), Some((_, second))) = (a.first().copied(), b.first().copied()) else { continue };
            let starts = [right.events[first].at, other.events[second].at];
            let places: BTreeMap<Sent, usize> = b.into_iter().collect();
            for (segment, place) in a.into_iter().filter(|((.., count), _)| *count > 1) {
                let Some(twin) = places.get(&segment).copied() else { continue };
                let since = |at: Duration, start: Duration| Duration::from_ps(at.ps().saturating_sub(start.ps()));
                let times = [since(right.events[place].at, starts[0]), since(other.events[twin].at, starts[1])];
                pairs.push(Apart { places: [place, twin], times });
            }
        }
        Self {
            parting: parting(right, other),
            retransmissions,
            worst: pairs.iter().copied().max_by_key(Apart::by),
            late: pairs.iter().copied().find(|pair| !pair.is_within()),
        }
    }

    /// Whether both have sent the same in the same order, and retransmissions at the same times.
    pub fn agrees(&self) -> bool {
        self.parting.is_none() && self.late.is_none()
    }

    /// In words: what is the same, or where the two part.
    pub fn verdict(&self, right: &Trace, other: &Trace) -> String {
        let segment = |trace: &Trace, place: Option<usize>| match place.map(|place| &trace.events[place]) {
            Some(Event { kind: Kind::Data(at, _), decision, side, .. }) => {
                let what = if *side == Side::Sender { "segment" } else { "reply" };
                match decision.count {
                    1 => format!("{what} {at}"),
                    count => format!("{what} {at} for time {count}"),
                }
            }
            _ => "nothing".to_owned(),
        };
        if let Some(Parting { flow, same, places }) = self.parting {
            let flow = if flows(right) > 1 { format!("flow {flow}, ") } else { String::new() };
            let (a, b) = (segment(right, places[0]), segment(other, places[1]));
            return format!("{flow}after {same} segments: {a}, not {b}");
        }
        match self.late {
            Some(late) => {
                let [a, b] = late.times.map(ms);
                format!("{} after {a}, not after {b}", segment(right, Some(late.places[0])))
            }
            None => "agrees".to_owned(),
        }
    }

    /// The place where the two part, with lines around it, or nothing.
    pub fn excerpt(&self, right: (&str, &Trace), other: (&str, &Trace)) -> String {
        let (flow, places) = match (self.parting, self.late) {
            (Some(parting), _) => (parting.flow, parting.places),
            (None, Some(late)) => (right.1.events[late.places[0]].flow, late.places.map(Some)),
            (None, None) => return String::new(),
        };
        let mut out = String::new();
        for ((name, trace), place) in [right, other].into_iter().zip(places) {
            let _ = writeln!(out, "  {name}:");
            let own: Vec<usize> = (0..trace.events.len()).filter(|event| trace.events[*event].flow == flow).collect();
            let middle = place.map_or(own.len(), |place| own.partition_point(|event| *event < place));
            for event in &own[middle.saturating_sub(BEFORE)..own.len().min(middle + AFTER)] {
                let sign = if place == Some(*event) { '*' } else { ' ' };
                let _ = writeln!(out, "  {sign} {}", trace.events[*event]);
            }
            if place.is_none() {
                let _ = writeln!(out, "  *           (nothing more)");
            }
        }
        out
    }
}

/// A time in milliseconds, to a microsecond.
pub fn ms(time: Duration) -> String {
    let us = us(time);
    format!("{}.{:03} ms", us / 1_000, us % 1_000)
}
