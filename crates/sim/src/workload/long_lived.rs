//! Flows that go on until the workload stops.

use super::WorkloadSettings;
use super::pattern::{Destinations, Pattern};
use super::planner::{Draft, Planner, span_below};
use super::read::Reader;
use crate::flow::FlowSpec;
use crate::transport::FlowInfo;
use forebay_settings::{Diagnostic, Value};
use forebay_tm::Duration;
use forebay_tm::described::{Field, Kind};

/// Between whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Given one by one: source and destination.
    Given(Vec<(u32, u32)>),
    /// Each sender of a pattern draws its destinations.
    Drawn(Pattern),
}

/// Settings of long-lived flows.
#[derive(Clone, Debug, PartialEq)]
pub struct LongLivedConfig {
    /// Between whom.
    pub pairs: Pairs,
    /// Flows of each pair, or of each sender.
    pub count: u32,
    /// Flows start within so much time, drawn evenly.
    pub spread: Duration,
}

impl WorkloadSettings for LongLivedConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::optional(
            "pairs",
            Kind::Special("list of pairs of hosts"),
            "Source and destination of each pair, instead of `pattern`, `from` and `to`.",
        ),
        Field::optional("pattern", Kind::Special("pattern"), "Who is sent to; default `\"uniform\"`."),
        Field::optional("from", Kind::Special("hosts"), "Who sends; default all."),
        Field::optional("to", Kind::Special("hosts"), "Who may be sent to; default all."),
        Field::optional("count", Kind::Count, "Flows of each pair, or of each sender; default 1."),
        Field::optional("spread", Kind::Duration, "Flows start within so much time; default 0."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        Ok(Self {
            pairs: Pairs::read(reader)?,
            count: reader.count("count", 1)?,
            spread: reader.duration("spread", Duration::ZERO)?,
        })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let mut draft = Draft::default();
        let mut add = |src: u32, dst: u32, late: Duration| {
            let flow = planner.flow(src, dst, FlowInfo::ENDLESS);
            draft.push(FlowSpec { start: flow.start + late, until: planner.config.stop, ..flow });
        };
        match &self.pairs {
            Pairs::Given(pairs) => {
                // A host may be in several pairs; the place in the list names the stream.
                for (place, (src, dst)) in pairs.iter().enumerate() {
                    let mut spread = planner.stream("spread", place as u32);
                    (0..self.count).for_each(|_| add(*src, *dst, span_below(self.spread, &mut spread)));
                }
            }
            Pairs::Drawn(pattern) => {
                let destinations = Destinations::new(pattern, planner.racks);
                for src in destinations.senders() {
                    let mut spread = planner.stream("spread", *src);
                    let mut choices = planner.stream("destinations", *src);
                    for _ in 0..self.count {
                        let Some(dst) = destinations.draw(planner.racks, *src, &mut choices) else { break };
                        add(*src, dst, span_below(self.spread, &mut spread));
                    }
                }
            }
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        let pairs = match &self.pairs {
            Pairs::Given(pairs) => pairs.len() as f64,
            Pairs::Drawn(pattern) => reader.members(&pattern.from),
        };
        pairs * f64::from(self.count)
    }
}

impl Pairs {
    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let Some(value) = reader.get("pairs") else { return reader.pattern().map(Self::Drawn) };
        for key in ["pattern", "from", "to"] {
            if let Some(other) = reader.get(key) {
                return Err(other.error("there are pairs, too", "give either pairs, or pattern, from and to"));
            }
        }
        let example = "give pairs of hosts, source and destination, such as [[0, 5], [1, 6]]";
        let pairs = value.list().filter(|pairs| !pairs.is_empty());
        let pairs = pairs.ok_or_else(|| value.error("this is not a list of pairs", example))?;
        let read = |pair: &Value<'_>| {
            let Some([src, dst]) = pair.list().and_then(|ends| <[Value<'_>; 2]>::try_from(ends).ok()) else {
                return Err(pair.error("this is not a pair", example));
            };
            let (src, dst) = (reader.hosts.host(&src)?, reader.hosts.host(&dst)?);
            if src == dst {
                return Err(pair.error(format!("host {src} sends to itself"), "give another destination"));
            }
            Ok((src, dst))
        };
        pairs.iter().map(read).collect::<Result<_, _>>().map(Self::Given)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{leaf_spine, plan_of};
    use super::*;
    use crate::workload::Reach;
    use forebay_tm::Instant;

    #[test]
    fn flows_go_on_until_the_stop() {
        let given = LongLivedConfig { pairs: Pairs::Given(vec![(0, 5), (0, 6)]), count: 3, spread: Duration::ZERO };
        let plan = plan_of(WorkloadKind::LongLived(given), 2, &leaf_spine(2, 4, 1, 1), 1);
        assert_eq!(plan.flows.iter().map(|flow| (flow.src, flow.dst)).filter(|pair| *pair == (0, 6)).count(), 3);
        let endless = |flow: &FlowSpec| {
            (flow.start, flow.bytes, flow.until) == (Instant::ZERO, u64::MAX, Instant::from_ps(2_000_000_000))
        };
        assert!(plan.flows.len() == 6 && plan.flows.iter().all(endless));

        let pattern = Pattern { from: Some(vec![1, 2]), to: None, reach: Reach::OtherRacks };
        let drawn = LongLivedConfig { pairs: Pairs::Drawn(pattern), count: 2, spread: Duration::from_us(100) };
        let plan = plan_of(WorkloadKind::LongLived(drawn), 2, &leaf_spine(2, 4, 1, 1), 1);
        assert_eq!(plan.flows.len(), 4);
        assert!(plan.flows.iter().all(|flow| flow.dst >= 4 && flow.start.ps() < 100_000_000));
    }
}
