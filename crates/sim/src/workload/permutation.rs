//! Each host sends to one other host and hears from one: the pattern that a fabric without contention carries in full.

use super::WorkloadSettings;
use super::pattern::hosts_or_all;
use super::planner::{Draft, Planner, span_below};
use super::read::Reader;
use super::read_sizes::size;
use crate::flow::FlowSpec;
use crate::transport::FlowInfo;
use forebay_settings::Diagnostic;
use forebay_tm::described::{Field, Kind};
use forebay_tm::random::Random;
use forebay_tm::{Bytes, Duration, Instant};

/// Settings of a permutation.
#[derive(Clone, Debug, PartialEq)]
pub struct PermutationConfig {
    /// Of each flow; `None`: flows go on until the workload stops.
    pub bytes: Option<Bytes>,
    /// Who takes part; `None` is all hosts.
    pub hosts: Option<Vec<u32>>,
    /// Flows start within so much time, drawn evenly.
    pub spread: Duration,
}

/// A random order in which nothing is where it was, every such order as likely as another. About e = 2.7 shuffles are
/// drawn until one has no fixed point.
fn derangement(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    while count > 1 && order.iter().enumerate().any(|(place, thing)| place == *thing) {
        random.shuffle(&mut order);
    }
    order
}

impl WorkloadSettings for PermutationConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::needed("bytes", Kind::Special("size, `\"endless\"`"), "Of each flow."),
        Field::optional("hosts", Kind::Special("hosts"), "Who takes part; default all."),
        Field::optional("spread", Kind::Duration, "Flows start within so much time; default 0."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let value = reader.table.need("bytes", "bytes = \"2MB\"")?;
        let is_endless = value.is_text() && value.text()? == "endless";
        Ok(Self {
            bytes: if is_endless { None } else { Some(size(&value)?) },
            hosts: reader.group()?,
            spread: reader.duration("spread", Duration::ZERO)?,
        })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let hosts = hosts_or_all(self.hosts.as_deref(), planner.racks);
        let mut draft = Draft::default();
        if hosts.len() < 2 {
            return draft;
        }
        let order = derangement(hosts.len(), &mut planner.stream("order", 0));
        for (src, to) in hosts.iter().zip(order) {
            let late = span_below(self.spread, &mut planner.stream("spread", *src));
            let flow = planner.flow(*src, hosts[to], self.bytes.map_or(FlowInfo::ENDLESS, Bytes::get));
            let until = if self.bytes.is_none() { planner.config.stop } else { Instant::NEVER };
            draft.push(FlowSpec { start: flow.start + late, until, ..flow });
        }
        draft
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{one_switch, plan_of};
    use super::*;

    #[test]
    fn a_permutation_has_no_fixed_point() {
        for seed in 0..20 {
            let kind = PermutationConfig { bytes: Some(Bytes::new(9)), hosts: None, spread: Duration::ZERO };
            let plan = plan_of(WorkloadKind::Permutation(kind), 1, &one_switch(37), seed);
            let mut from: Vec<u32> = plan.flows.iter().map(|flow| flow.src).collect();
            let mut to: Vec<u32> = plan.flows.iter().map(|flow| flow.dst).collect();
            assert!(plan.flows.iter().all(|flow| flow.src != flow.dst && flow.bytes == 9));
            from.sort_unstable();
            to.sort_unstable();
            assert_eq!(from, (0..37).collect::<Vec<_>>());
            assert_eq!(to, from);
        }
    }

    #[test]
    fn every_derangement_is_as_likely() {
        let mut random = Random::stream(1, "test", 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..9_000 {
            *counts.entry(derangement(4, &mut random)).or_insert(0u32) += 1;
        }
        // There are 9; 1000 each, five standard deviations are 149.
        assert_eq!(counts.len(), 9);
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 149), "{counts:?}");
    }

    #[test]
    fn endless_flows_stop_with_the_workload() {
        let kind = PermutationConfig { bytes: None, hosts: Some(vec![3, 5]), spread: Duration::from_us(10) };
        let plan = plan_of(WorkloadKind::Permutation(kind), 1, &one_switch(8), 1);
        assert_eq!(plan.flows.len(), 2);
        for flow in &plan.flows {
            assert_eq!((flow.bytes, flow.until), (FlowInfo::ENDLESS, Instant::from_ps(1_000_000_000)));
            assert!(flow.start.ps() < 10_000_000);
        }
    }
}
