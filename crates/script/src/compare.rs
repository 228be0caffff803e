//! Where two traces of a script part.

use crate::file::Script;
use crate::trace::{Event, Kind, Side, Trace, us};
use forebay_tm::Duration;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Times of retransmissions may differ by so much ...
const SLACK: Duration = Duration::from_us(2_000);
/// ... or by this share of the time since the flow's first data, in percent.
const SHARE: u64 = 10;
/// So many segments more or fewer may be in flight: Linux sends two at a time.
const WINDOW: u64 = 2;
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

/// How many segments are in flight when a segment is sent for the first time, itself included, as far as its sender
/// knows: by place, and by where the segment begins. `way` is how long an acknowledgement takes from the switch to the
/// sender.
fn in_flight(trace: &Trace, flow: u32, side: Side, way: Duration) -> Vec<(usize, u64, u64)> {
    let own = || trace.events.iter().enumerate().filter(|(_, event)| event.flow == flow);
    // Acknowledgements that are dropped never reach the sender.
    let mut heard: Vec<(Duration, u32)> = own()
        .filter(|(_, event)| event.side != side && !event.decision.drop)
        .filter_map(|(_, event)| {
            let next = event.acknowledgement.as_ref()?.next.segment();
            Some((Duration::from_ps(event.at.ps() + way.ps() + event.decision.delay.ps()), next))
        })
        .collect();
    heard.sort_unstable();
    let (mut heard, mut acknowledged) = (heard.into_iter().peekable(), 0);
    let mut flying = Vec::new();
    for (place, event) in own().filter(|(_, event)| event.side == side) {
        let Kind::Data(at, _) = event.kind else { continue };
        while let Some((_, next)) = heard.next_if(|(heard, _)| *heard <= event.at) {
            acknowledged = acknowledged.max(next);
        }
        if event.decision.count == 1 {
            flying.push((place, at.0, u64::from((at.segment() + 1).saturating_sub(acknowledged))));
        }
    }
    flying
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

/// A retransmission that is in both traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// Where it is in each trace.
    pub places: [usize; 2],
    /// When it was sent in each, since the flow's first data.
    pub times: [Duration; 2],
}

impl Retransmission {
    /// By how much the times differ.
    pub fn apart(&self) -> Duration {
        let [a, b] = self.times;
        Duration::from_ps(a.ps().abs_diff(b.ps()))
    }

    /// Whether they differ by no more than they may.
    fn is_within(&self) -> bool {
        self.apart() <= SLACK || self.apart().ps() * 100 <= self.times[0].ps() * SHARE
    }
}

/// A segment that is sent for the first time in both traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct First {
    /// Where it is in each trace.
    pub places: [usize; 2],
    /// How many segments were in flight then.
    pub in_flight: [u64; 2],
}

impl First {
    /// By how many segments they differ.
    pub fn apart(&self) -> u64 {
        self.in_flight[0].abs_diff(self.in_flight[1])
    }
}

/// How two traces differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// In the order of segments.
    Order(Parting),
    /// In the time of a retransmission.
    Time(Retransmission),
    /// In how many segments are in flight.
    Window(First),
}

impl Difference {
    fn places(&self) -> [Option<usize>; 2] {
        match self {
            Self::Order(parting) => parting.places,
            Self::Time(again) => again.places.map(Some),
            Self::Window(first) => first.places.map(Some),
        }
    }
}

/// What two traces of a script have in common. The first is the one that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Whether both send the same segments in the same order.
    pub same_order: bool,
    /// Retransmissions in each.
    pub retransmissions: [usize; 2],
    /// The largest difference of the times of a retransmission that is in both.
    pub apart: Option<Duration>,
    /// Whether all these differences are as small as they should be.
    pub same_times: bool,
    /// The largest difference of segments in flight when a segment is sent for the first time.
    pub window: u64,
    /// The first difference in the order of the trace that is right.
    pub first: Option<Difference>,
}

impl Comparison {
    /// Compares two traces of a script.
    pub fn new(script: &Script, right: &Trace, other: &Trace) -> Self {
        let (mut retransmissions, mut again, mut first) = ([0; 2], Vec::new(), Vec::new());
        let way = Duration::from_ps(script.round_trip.ps() / 2);
        for flow in 0..flows(right).max(flows(other)) {
            let (a, b) = (sent(right, flow), sent(other, flow));
            let count = |list: &[(Sent, usize)]| list.iter().filter(|((.., count), _)| *count > 1).count();
            retransmissions = [retransmissions[0] + count(&a), retransmissions[1] + count(&b)];
            for side in [Side::Sender, Side::Receiver] {
                let twins =
                    in_flight(other, flow, side, way).into_iter().map(|(place, at, flying)| (at, (place, flying)));
                let twins: BTreeMap<u64, (usize, u64)> = twins.collect();
                for (place, at, flying) in in_flight(right, flow, side, way) {
                    let Some((twin, other)) = twins.get(&at) else { continue };
                    first.push(First { places: [place, *twin], in_flight: [flying, *other] });
                }
            }
            let (Some((_, start)), Some((_, twin))) = (a.first(), b.first()) else { continue };
            let starts = [right.events[*start].at, other.events[*twin].at];
            let twins: BTreeMap<Sent, usize> = b.into_iter().collect();
            for (segment, place) in a.into_iter().filter(|((.., count), _)| *count > 1) {
                let Some(twin) = twins.get(&segment).copied() else { continue };
                let since = |at: Duration, start: Duration| Duration::from_ps(at.ps().saturating_sub(start.ps()));
                let times = [since(right.events[place].at, starts[0]), since(other.events[twin].at, starts[1])];
                again.push(Retransmission { places: [place, twin], times });
            }
        }
        let order = parting(right, other);
        let late = again.iter().copied().find(|again| !again.is_within());
        let wide = first.iter().copied().find(|first| first.apart() > WINDOW);
        let differences = [order.map(Difference::Order), late.map(Difference::Time), wide.map(Difference::Window)];
        // At the same segment the order comes first. Where the right trace is at its end, nothing comes after.
        let place = |difference: &Difference| difference.places()[0].unwrap_or(usize::MAX);
        Self {
            same_order: order.is_none(),
            retransmissions,
            apart: again.iter().map(Retransmission::apart).max(),
            same_times: late.is_none(),
            window: first.iter().map(First::apart).max().unwrap_or(0),
            first: differences.into_iter().flatten().min_by_key(place),
        }
    }

    /// Whether nothing differs by more than it may.
    pub fn agrees(&self) -> bool {
        self.first.is_none()
    }

    /// In words: that they agree, or where they part first.
    pub fn verdict(&self, right: &Trace, other: &Trace) -> String {
        let Some(difference) = self.first else { return "agrees".to_owned() };
        let [a, b] = difference.places();
        let (a, b) = (a.map(|place| &right.events[place]), b.map(|place| &other.events[place]));
        let flow = a.or(b).map_or(0, |event| event.flow);
        let flow = if flows(right) > 1 { format!("flow {flow}: ") } else { String::new() };
        match difference {
            Difference::Order(Parting { same, .. }) => {
                format!("{flow}after {same} segments {}, not {}", segment(a), segment(b))
            }
            Difference::Time(again) => {
                let [from, to] = again.times.map(ms);
                format!("{flow}{} after {from}, not after {to}", segment(a))
            }
            Difference::Window(first) => {
                let [from, to] = first.in_flight;
                format!("{flow}{from} in flight at {}, not {to}", segment(a))
            }
        }
    }

    /// The place where they part first, with lines around it; empty if they agree.
    pub fn excerpt(&self, right: (&str, &Trace), other: (&str, &Trace)) -> String {
        let Some(places) = self.first.map(|difference| difference.places()) else { return String::new() };
        let flow = match places {
            [Some(place), _] => right.1.events[place].flow,
            [None, Some(place)] => other.1.events[place].flow,
            [None, None] => 0,
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

/// What an event sends, in words.
fn segment(event: Option<&Event>) -> String {
    let Some(Event { kind: Kind::Data(at, _), decision, side, .. }) = event else { return "nothing".to_owned() };
    let what = if *side == Side::Sender { "segment" } else { "reply" };
    match decision.count {
        1 => format!("{what} {at}"),
        count => format!("{what} {at} for the {}", ordinal(count)),
    }
}

/// "second time", "3rd time".
fn ordinal(count: u32) -> String {
    match count {
        2 => "second time".to_owned(),
        3 => "third time".to_owned(),
        count => format!("{count}th time"),
    }
}

/// A time in milliseconds, to a microsecond.
pub fn ms(time: Duration) -> String {
    let us = us(time);
    format!("{}.{:03} ms", us / 1_000, us % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script() -> Script {
        let text = "about = \"x\"\ncongestion_control = \"reno\"\n[[flow]]\nsegments = 9\n";
        crate::file::read("x.toml", text).unwrap()
    }

    fn compare(one: &Trace, other: &Trace) -> Comparison {
        Comparison::new(&script(), one, other)
    }

    /// A trace of flow 0: times in milliseconds, segments, transmissions.
    fn trace(list: &[(u64, u32, u32)]) -> Trace {
        let line = |(ms, segment, count): &(u64, u32, u32)| format!("{ms}000 0 > seg {segment} len 1448 tx {count}\n");
        Trace::parse(&list.iter().map(line).collect::<String>()).unwrap()
    }

    #[test]
    fn times_count_from_the_first_data() {
        let right = trace(&[(40, 0, 1), (40, 1, 1), (100, 0, 2), (340, 1, 2)]);
        let other = trace(&[(10, 0, 1), (10, 1, 1), (72, 0, 2), (329, 1, 2)]);
        let comparison = compare(&right, &other);
        assert!(comparison.agrees(), "2 ms of 60 and 19 of 300 are nothing: {comparison:?}");
        assert_eq!(ms(comparison.apart.unwrap()), "19.000 ms");
        assert_eq!(comparison.verdict(&right, &other), "agrees");
        assert_eq!(comparison.excerpt(("a", &right), ("b", &other)), "");
    }

    #[test]
    fn a_late_retransmission_is_named() {
        let right = trace(&[(40, 0, 1), (100, 0, 2), (400, 0, 3)]);
        let other = trace(&[(40, 0, 1), (107, 0, 2), (900, 0, 3)]);
        let comparison = compare(&right, &other);
        assert!(comparison.same_order && !comparison.same_times && !comparison.agrees());
        let expected = "segment 0 for the second time after 60.000 ms, not after 67.000 ms";
        assert_eq!(comparison.verdict(&right, &other), expected);
        assert_eq!(ms(comparison.apart.unwrap()), "500.000 ms");
        let excerpt = comparison.excerpt(("kernel", &right), ("simulator", &other));
        assert!(excerpt.contains("  *    100000 0 > seg 0 len 1448 tx 2\n"), "{excerpt}");
        assert!(excerpt.contains("  *    107000 0 > seg 0 len 1448 tx 2\n"), "{excerpt}");
    }

    #[test]
    fn the_first_difference_of_order_is_named() {
        let right = trace(&[(40, 0, 1), (40, 1, 1), (80, 2, 1), (90, 0, 2)]);
        let other = trace(&[(40, 0, 1), (40, 1, 1), (80, 0, 2), (90, 2, 1)]);
        let comparison = compare(&right, &other);
        assert_eq!(parting(&right, &other), Some(Parting { flow: 0, same: 2, places: [Some(2), Some(2)] }));
        let expected = "after 2 segments segment 2, not segment 0 for the second time";
        assert_eq!(comparison.verdict(&right, &other), expected);
        assert_eq!(comparison.retransmissions, [1, 1]);
        let shorter = trace(&[(40, 0, 1), (40, 1, 1), (80, 2, 1)]);
        let comparison = compare(&right, &shorter);
        let expected = "after 3 segments segment 0 for the second time, not nothing";
        assert_eq!(comparison.verdict(&right, &shorter), expected);
        assert!(comparison.excerpt(("kernel", &right), ("simulator", &shorter)).ends_with("(nothing more)\n"));
        assert!(!compare(&shorter, &right).agrees(), "what is too much is a difference, too");
    }

    #[test]
    fn flows_are_compared_one_by_one() {
        let one = Trace::parse("1 0 > seg 0 len 9 tx 1\n1 1 > seg 0 len 9 tx 1\n2 1 > seg 1 len 9 tx 1\n").unwrap();
        let other = Trace::parse("1 1 > seg 0 len 9 tx 1\n2 1 > seg 1 len 9 tx 1\n1 0 > seg 0 len 9 tx 1\n").unwrap();
        assert!(compare(&one, &other).agrees());
        let less = Trace::parse("1 0 > seg 0 len 9 tx 1\n1 1 > seg 0 len 9 tx 1\n").unwrap();
        assert_eq!(compare(&one, &less).verdict(&one, &less), "flow 1: after 1 segments segment 1, not nothing");
    }

    /// Segments are sent four at a time when acknowledgements come: the round trip is 40 ms, so these take 20 from the
    /// switch.
    fn windows(acks: &str, times: [u64; 3]) -> Trace {
        let mut lines = String::new();
        for (number, ms) in times.iter().enumerate() {
            for segment in 4 * number..4 * number + 4 {
                lines.push_str(&format!("{ms}000 0 > seg {segment} len 1448 tx 1\n"));
            }
        }
        Trace::parse(&(lines + acks)).unwrap()
    }

    #[test]
    fn segments_in_flight_are_counted_as_their_sender_knows_them() {
        let acks = "60000 0 < ack nr 1 next 4\n100000 0 < ack nr 2 next 8\n";
        let right = windows(acks, [40, 81, 121]);
        let flying: Vec<u64> = in_flight(&right, 0, Side::Sender, Duration::from_us(20_000))
            .into_iter()
            .map(|(.., flying)| flying)
            .collect();
        assert_eq!(flying, [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
        let eager = windows(acks, [40, 81, 119]);
        let comparison = compare(&right, &eager);
        assert!(comparison.same_order && comparison.window == 4);
        assert_eq!(comparison.verdict(&right, &eager), "1 in flight at segment 8, not 5");
        let lost = windows(&acks.replace("next 8", "next 8 [drop]"), [40, 81, 121]);
        assert_eq!(compare(&right, &lost).window, 4);
        let late = windows(&acks.replace("next 8", "next 8 [delay 1500us]"), [40, 81, 121]);
        assert_eq!(compare(&right, &late).window, 4);
        let within = windows(&acks.replace("next 8", "next 6"), [40, 81, 121]);
        assert_eq!((compare(&right, &within).window, compare(&right, &within).agrees()), (2, true));
    }

    #[test]
    fn what_differs_first_is_named() {
        let right = trace(&[(40, 0, 1), (40, 1, 1), (100, 0, 2), (110, 2, 1)]);
        let other = trace(&[(40, 0, 1), (40, 1, 1), (140, 0, 2)]);
        let comparison = compare(&right, &other);
        assert!(!comparison.same_order && !comparison.same_times);
        assert!(matches!(comparison.first, Some(Difference::Time(_))), "{comparison:?}");
    }
}
