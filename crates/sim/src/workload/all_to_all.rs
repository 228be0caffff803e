//! Each host sends the same amount to every other host.

use super::WorkloadSettings;
use super::pattern::hosts_or_all;
use super::planner::{Draft, Planner, span_below};
use super::read::Reader;
use crate::flow::FlowSpec;
use forebay_settings::Diagnostic;
use forebay_tm::described::{Field, Kind};
use forebay_tm::{Bytes, Duration};

/// Settings of all-to-all.
#[derive(Clone, Debug, PartialEq)]
pub struct AllToAllConfig {
    /// From each host to each other.
    pub bytes: Bytes,
    /// Who takes part; `None` is all hosts.
    pub hosts: Option<Vec<u32>>,
    /// Flows of a round start within so much time, drawn evenly.
    pub spread: Duration,
    /// A new round starts so often; `None`: there is one.
    pub every: Option<Duration>,
}

impl WorkloadSettings for AllToAllConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::needed("bytes", Kind::Bytes, "From each host to each other."),
        Field::optional("hosts", Kind::Special("hosts"), "Who takes part; default all."),
        Field::optional("spread", Kind::Duration, "Flows of a round start within so much time; default 0."),
        Field::optional("every", Kind::Duration, "A new round starts so often; default: there is one."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        Ok(Self {
            bytes: reader.need_size("bytes")?,
            hosts: reader.group()?,
            spread: reader.duration("spread", Duration::ZERO)?,
            every: reader.every()?,
        })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let hosts = hosts_or_all(self.hosts.as_deref(), planner.racks);
        let mut spreads: Vec<_> = hosts.iter().map(|host| planner.stream("spread", *host)).collect();
        let mut draft = Draft::default();
        for (round, start) in (0u32..).zip(planner.rounds(self.every)) {
            for (place, src) in hosts.iter().enumerate() {
                // Each begins with the host behind it, so that the first flows are not all to the same host.
                for step in 1..hosts.len() {
                    let dst = hosts[(place + step) % hosts.len()];
                    let late = span_below(self.spread, &mut spreads[place]);
                    let flow = planner.flow(*src, dst, self.bytes.get());
                    draft.push(FlowSpec { start: start + late, round, ..flow });
                }
            }
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        reader.members(&self.hosts).powi(2) * reader.rounds(self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{one_switch, plan_of};
    use super::*;

    #[test]
    fn every_pair_once_in_each_round() {
        let kind = AllToAllConfig {
            bytes: Bytes::new(5_000),
            hosts: Some(vec![1, 2, 4, 7]),
            spread: Duration::from_us(50),
            every: Some(Duration::from_us(400)),
        };
        let plan = plan_of(WorkloadKind::AllToAll(kind), 1, &one_switch(8), 1);
        assert_eq!(plan.flows.len(), 3 * 12, "rounds at 0, 400 and 800 us");
        for round in 0..3 {
            let from = round * 400_000_000;
            let mut pairs: Vec<(u32, u32)> = plan
                .flows
                .iter()
                .filter(|flow| (from..from + 50_000_000).contains(&flow.start.ps()))
                .map(|flow| (flow.src, flow.dst))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), 12, "round {round}");
            assert!(pairs.iter().all(|(src, dst)| src != dst));
        }
    }
}
