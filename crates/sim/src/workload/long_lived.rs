//! Flows that go on until the workload stops.

use super::pattern::{Destinations, Pattern};
use super::planner::{Draft, Planner, span_below};
use crate::flow::FlowSpec;
use crate::transport::FlowInfo;
use forebay_tm::Duration;

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

impl LongLivedConfig {
    pub(super) fn plan(&self, planner: &Planner<'_>) -> Draft {
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
