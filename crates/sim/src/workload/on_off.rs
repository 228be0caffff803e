//! Bursts: each host sends a burst, is silent, sends the next.

use super::WorkloadSettings;
use super::distribution::SizeDistribution;
use super::load::{Bits, Offered};
use super::pattern::{Destinations, Pattern};
use super::planner::{Draft, Planner, span_below};
use super::read::{Reader, period};
use crate::flow::FlowSpec;
use crate::transport::Common;
use forebay_settings::Diagnostic;
use forebay_tm::Duration;
use forebay_tm::described::{Field, Kind};
use forebay_tm::units::PS_PER_SECOND;

/// Settings of bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOffConfig {
    /// Of the bursts.
    pub sizes: SizeDistribution,
    /// From the start of a burst to the start of the next.
    pub period: Duration,
    /// Each burst starts up to so much later, drawn evenly.
    pub jitter: Duration,
    /// All hosts start together; otherwise each somewhere within the first period.
    pub together: bool,
    /// Who sends to whom; each burst draws its destination.
    pub pattern: Pattern,
}

impl WorkloadSettings for OnOffConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::needed("sizes", Kind::Special("size distribution"), "Sizes of the bursts."),
        Field::optional(
            "interpolation",
            Kind::Special("`\"linear\"`, `\"step\"`"),
            "Between the points of a size distribution; default what its source says.",
        ),
        Field::needed("period", Kind::Duration, "From the start of a burst to the start of the next."),
        Field::optional("jitter", Kind::Duration, "Each burst starts up to so much later; default 0."),
        Field::optional(
            "phase",
            Kind::Special("`\"random\"`, `\"same\"`"),
            "Whether hosts start together; default `\"random\"`: each within the first period.",
        ),
        Field::optional("pattern", Kind::Special("pattern"), "Who is sent to; default `\"uniform\"`."),
        Field::optional("from", Kind::Special("hosts"), "Who sends; default all."),
        Field::optional("to", Kind::Special("hosts"), "Who may be sent to; default all."),
        Field::optional("allow_overload", Kind::Flag, "A link may be asked for more than it can carry; default false."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        Ok(Self {
            sizes: reader.sizes("sizes")?,
            period: period(&reader.table.need("period", "period = \"1ms\"")?)?,
            jitter: reader.duration("jitter", Duration::ZERO)?,
            together: reader.optional("phase", false, |value| value.word(&[("random", false), ("same", true)]))?,
            pattern: reader.pattern()?,
        })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let destinations = Destinations::new(&self.pattern, planner.racks);
        let mut draft = Draft::default();
        for src in destinations.senders() {
            let mut sizes = planner.stream("sizes", *src);
            let mut choices = planner.stream("destinations", *src);
            let mut jitter = planner.stream("jitter", *src);
            let phase = if self.together {
                Duration::ZERO
            } else {
                span_below(self.period, &mut planner.stream("phase", *src))
            };
            for round in planner.rounds(Some(self.period)) {
                let start = round + phase;
                if start >= planner.config.stop {
                    break;
                }
                let Some(dst) = destinations.draw(planner.racks, *src, &mut choices) else { break };
                let bytes = self.sizes.sample(sizes.unit());
                let start = start + span_below(self.jitter, &mut jitter);
                draft.push(FlowSpec { start, ..planner.flow(*src, dst, bytes) });
            }
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        reader.members(&self.pattern.from) * reader.rounds(Some(self.period))
    }

    fn offer(&self, offered: &mut Offered<'_>, packets: &Common) -> bool {
        let rate = PS_PER_SECOND as f64 / self.period.ps().max(1) as f64;
        let bits = Bits::of_flow(&self.sizes, packets).scaled(rate);
        offered.add_pattern(&self.pattern, |_| bits, false);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{one_switch, plan_of};
    use super::*;
    use forebay_tm::Bytes;

    fn starts(together: bool, jitter: Duration) -> Vec<(u32, u64)> {
        let kind = OnOffConfig {
            sizes: SizeDistribution::Fixed(Bytes::new(30_000)),
            period: Duration::from_us(100),
            jitter,
            together,
            pattern: Pattern { from: Some(vec![1, 2]), to: Some(vec![0]), ..Pattern::default() },
        };
        let plan = plan_of(WorkloadKind::OnOff(kind), 1, &one_switch(4), 1);
        assert!(plan.flows.iter().all(|flow| flow.dst == 0 && flow.bytes == 30_000));
        plan.flows.iter().map(|flow| (flow.src, flow.start.ps())).collect()
    }

    #[test]
    fn bursts_come_every_period() {
        let together = starts(true, Duration::ZERO);
        assert_eq!(together.len(), 20);
        assert!(together.iter().enumerate().all(|(i, (_, at))| *at == (i as u64 / 2) * 100_000_000));
        let late = starts(true, Duration::from_us(10));
        assert!(
            late.iter().enumerate().all(|(i, (_, at))| (0..10_000_000).contains(&(at - (i as u64 / 2) * 100_000_000)))
        );
        assert_ne!(late, together);
        let apart = starts(false, Duration::ZERO);
        let of = |host| apart.iter().filter(move |(src, _)| *src == host).map(|(_, at)| *at).collect::<Vec<_>>();
        assert_ne!(of(1)[0], of(2)[0]);
        assert!(of(1).windows(2).all(|pair| pair[1] - pair[0] == 100_000_000));
    }
}
