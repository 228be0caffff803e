//! From workloads to the list of flows.

use super::WorkloadConfig;
use super::racks::Racks;
use crate::flow::{FlowSpec, NONE, QuerySpec, Session, TrafficPlan};
use crate::network::NetworkPlan;
use crate::transport::{Common, TransportConfig};
use forebay_tm::random::Random;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Instant};
use std::collections::BTreeMap;

/// What a workload needs while it plans.
pub struct Planner<'a> {
    /// The workload.
    pub config: &'a WorkloadConfig,
    /// The network, as workloads see it.
    pub racks: &'a Racks,
    /// The packets of its transport.
    pub packets: &'a Common,
    index: u16,
    seed: u64,
}

impl Planner<'_> {
    /// The random stream of a host for a purpose of this workload.
    pub fn stream(&self, purpose: &str, host: u32) -> Random {
        let purpose = format!("workload {} {} {purpose}", self.index, self.config.kind.name());
        Random::stream(self.seed, &purpose, u64::from(host))
    }

    /// A flow of this workload from its start on.
    pub fn flow(&self, src: u32, dst: u32, bytes: u64) -> FlowSpec {
        FlowSpec {
            start: self.config.start,
            src,
            dst,
            bytes,
            class: self.config.class,
            transport: self.config.transport,
            workload: self.index,
            ..FlowSpec::default()
        }
    }

    /// Draws the class of each flow, where there are several. Each sender has its own draws.
    fn spread_over_classes(&self, flows: &mut [FlowSpec]) {
        if self.config.classes == 1 {
            return;
        }
        let mut draws: BTreeMap<u32, Random> = BTreeMap::new();
        for flow in flows {
            let draw = draws.entry(flow.src).or_insert_with(|| self.stream("classes", flow.src));
            flow.class += draw.below(u64::from(self.config.classes)) as u8;
        }
    }

    /// A query of this workload.
    pub fn query(&self, start: Instant, host: u32, fan_in: u32, bytes: u64) -> QuerySpec {
        QuerySpec { start, host, fan_in, bytes, workload: self.index }
    }

    /// The number of this workload in the scenario.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// The times at which something happens `rate` times a second at random, from the start of the workload until it
    /// stops.
    pub fn poisson_times(&self, rate: f64, mut random: Random) -> impl Iterator<Item = Instant> {
        let mean = PS_PER_SECOND as f64 / rate;
        let mut now = self.config.start;
        std::iter::from_fn(move || {
            // The cast saturates: a gap too long to count is past the end of time.
            now = now + Duration::from_ps(exponential(&mut random, mean).round() as u64);
            Some(now)
        })
        .take_while(|at| *at < self.config.stop)
    }

    /// The starts of repeated rounds: only one without a period.
    pub fn rounds(&self, every: Option<Duration>) -> impl Iterator<Item = Instant> {
        std::iter::successors(Some(self.config.start), move |at| every.and_then(|every| at.checked_add(every)))
            .take_while(|at| *at < self.config.stop)
    }
}

/// A random span below `limit`; zero if the limit is.
pub fn span_below(limit: Duration, random: &mut Random) -> Duration {
    Duration::from_ps(random.below(limit.ps()))
}

/// An exponential draw with the given mean.
pub fn exponential(random: &mut Random, mean: f64) -> f64 {
    -mean * (-random.unit()).ln_1p()
}

/// What one workload has planned; flows and queries are numbered within it.
#[derive(Default)]
pub struct Draft {
    /// Its flows.
    pub flows: Vec<FlowSpec>,
    triggers: Vec<(u32, u32)>,
    /// Its queries.
    pub queries: Vec<QuerySpec>,
    /// Its closed-loop clients.
    pub sessions: Vec<Session>,
}

impl Draft {
    /// Adds a flow; its number.
    pub fn push(&mut self, flow: FlowSpec) -> u32 {
        self.flows.push(flow);
        self.flows.len() as u32 - 1
    }

    /// Flow `after` waits for flow `before`, which arrives where `after` starts. From now on the start of `after`
    /// counts from the last arrival that it waits for.
    pub fn wait(&mut self, before: u32, after: u32) {
        debug_assert_eq!(self.flows[before as usize].dst, self.flows[after as usize].src);
        self.flows[after as usize].waits_for += 1;
        self.triggers.push((before, after));
    }
}

/// Plans all workloads of a scenario. Flows are in the order of (start, workload, number within the workload), where
/// the start of a flow that waits for others is the span after the last of them; queries are in the same order.
pub fn plan(
    workloads: &[WorkloadConfig],
    network: &NetworkPlan,
    transports: &[(String, TransportConfig)],
    seed: u64,
) -> TrafficPlan {
    let racks = Racks::of(network);
    let defaults = Common::default();
    let mut all = Draft::default();
    for (index, config) in workloads.iter().enumerate() {
        let packets = transports.get(usize::from(config.transport)).map_or(&defaults, |(_, own)| &own.common);
        let planner = Planner { config, racks: &racks, packets, index: index as u16, seed };
        let mut part = config.kind.plan(&planner);
        planner.spread_over_classes(&mut part.flows);
        let (flows, queries) = (all.flows.len() as u32, all.queries.len() as u32);
        all.flows.extend(
            part.flows
                .into_iter()
                .map(|flow| FlowSpec { query: if flow.query == NONE { NONE } else { flow.query + queries }, ..flow }),
        );
        all.triggers.extend(part.triggers.into_iter().map(|(before, after)| (before + flows, after + flows)));
        all.queries.extend(part.queries);
        all.sessions.extend(part.sessions);
    }
    sort(all)
}

/// Puts flows and queries into the order of their starts and renumbers what points at them. The sorts are stable, so
/// that the order of workloads, and within one, decides among equal starts.
fn sort(draft: Draft) -> TrafficPlan {
    let (queries, query_numbers) = sorted(&draft.queries, |query| query.start);
    let (mut flows, flow_numbers) = sorted(&draft.flows, |flow| flow.start);
    for flow in flows.iter_mut().filter(|flow| flow.query != NONE) {
        flow.query = query_numbers[flow.query as usize];
    }
    let renumbered = |flow: u32| flow_numbers[flow as usize];
    let mut triggers: Vec<(u32, u32)> =
        draft.triggers.iter().map(|(before, after)| (renumbered(*before), renumbered(*after))).collect();
    triggers.sort_unstable();
    TrafficPlan { flows, triggers, queries, sessions: draft.sessions, ..TrafficPlan::default() }
}

/// The things in the order of a key, and the new number of each.
fn sorted<T: Copy>(things: &[T], key: impl Fn(&T) -> Instant) -> (Vec<T>, Vec<u32>) {
    let mut order: Vec<u32> = (0..things.len() as u32).collect();
    order.sort_by_key(|index| key(&things[*index as usize]));
    let mut numbers = vec![0; things.len()];
    for (new, old) in order.iter().enumerate() {
        numbers[*old as usize] = new as u32;
    }
    (order.into_iter().map(|index| things[index as usize]).collect(), numbers)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leaf_spine, one_switch, transports, workload};
    use super::super::{
        Amount, Arrivals, IncastConfig, LoadOf, Pattern, PoissonConfig, SizeDistribution, WorkloadKind,
    };
    use super::*;
    use forebay_tm::Bytes;

    fn poisson() -> WorkloadConfig {
        let config = PoissonConfig {
            sizes: SizeDistribution::bundled("websearch").unwrap(),
            amount: Amount::Rate(50_000.0),
            pattern: Pattern::default(),
        };
        workload(WorkloadKind::Poisson(config), 10)
    }

    fn incast() -> WorkloadConfig {
        let config = IncastConfig {
            request: Bytes::new(100_000),
            fan_in: 5,
            servers_per_host: 1,
            arrivals: Arrivals::Poisson,
            rate_per_host: 1_000.0,
            pattern: Pattern::default(),
            jitter: Duration::from_us(3),
            request_bytes: Bytes::new(100),
        };
        workload(WorkloadKind::Incast(config), 10)
    }

    fn of_workload(plan: &TrafficPlan, index: u16) -> Vec<FlowSpec> {
        plan.flows.iter().filter(|flow| flow.workload == index).copied().collect()
    }

    #[test]
    fn another_workload_changes_nothing_of_the_first() {
        let network = leaf_spine(2, 4, 2, 1);
        let alone = plan(&[poisson()], &network, &transports(), 7);
        let together = plan(&[poisson(), incast()], &network, &transports(), 7);
        assert!(alone.flows.len() > 400);
        assert_eq!(alone.flows, of_workload(&together, 0));
        assert_eq!(alone.flows, plan(&[poisson()], &network, &transports(), 7).flows);
        assert_ne!(alone.flows, plan(&[poisson()], &network, &transports(), 8).flows);
        let twice = plan(&[poisson(), poisson()], &network, &transports(), 7);
        let starts = |index| of_workload(&twice, index).iter().map(|flow| flow.start).collect::<Vec<_>>();
        assert_ne!(starts(0), starts(1), "two workloads of the same settings are not copies");
    }

    #[test]
    fn another_host_changes_nothing_of_the_others() {
        let mut config = poisson();
        if let WorkloadKind::Poisson(own) = &mut config.kind {
            own.amount = Amount::Load { share: 0.3, of: LoadOf::HostLinks, with_headers: false };
            own.sizes = SizeDistribution::Fixed(Bytes::new(20_000));
            own.pattern.to = Some(vec![0, 1, 2, 3]);
        }
        let flows = |hosts| plan(std::slice::from_ref(&config), &one_switch(hosts), &transports(), 7).flows;
        let (eight, nine) = (flows(8), flows(9));
        assert!(nine.len() > eight.len() && eight.len() > 1_000);
        assert_eq!(eight, nine.into_iter().filter(|flow| flow.src < 8).collect::<Vec<_>>());
    }

    #[test]
    fn flows_are_spread_over_classes_and_nothing_else_changes() {
        let network = leaf_spine(2, 4, 2, 1);
        let spread = WorkloadConfig { classes: 4, ..poisson() };
        let flows = plan(&[spread], &network, &transports(), 7).flows;
        let of = |class: u8| flows.iter().filter(|flow| flow.class == class).count();
        assert_eq!(of(0) + (5..=255).map(of).sum::<usize>(), 0);
        // A quarter each: the standard deviation is the root of n * 3/16.
        let (n, quarter) = (flows.len() as f64, flows.len() as f64 / 4.0);
        assert!((1..5).all(|class| (of(class) as f64 - quarter).abs() < 4.0 * (n * 3.0 / 16.0).sqrt()));
        let plain: Vec<FlowSpec> = flows.into_iter().map(|flow| FlowSpec { class: 1, ..flow }).collect();
        assert_eq!(plain, plan(&[poisson()], &network, &transports(), 7).flows);
    }

    #[test]
    fn everything_is_in_order_and_points_where_it_should() {
        let network = leaf_spine(2, 4, 2, 1);
        let plan = plan(&[incast(), poisson(), incast()], &network, &transports(), 7);
        assert!(plan.flows.is_sorted_by_key(|flow| (flow.start, flow.workload)));
        assert!(plan.queries.is_sorted_by_key(|query| (query.start, query.workload)));
        assert!(plan.triggers.is_sorted());
        let mut responses = vec![0; plan.queries.len()];
        for flow in plan.flows.iter().filter(|flow| flow.query != NONE) {
            let query = plan.queries[flow.query as usize];
            assert_eq!((query.host, query.workload), (flow.dst, flow.workload));
            responses[flow.query as usize] += 1;
        }
        assert!(responses.iter().all(|count| *count == 5));
        let mut waits = vec![0; plan.flows.len()];
        for (before, after) in &plan.triggers {
            let (request, response) = (plan.flows[*before as usize], plan.flows[*after as usize]);
            assert_eq!((request.src, request.dst), (response.dst, response.src));
            assert_eq!(plan.queries[response.query as usize].start, request.start);
            waits[*after as usize] += 1;
        }
        assert!(plan.flows.iter().zip(waits).all(|(flow, waits)| flow.waits_for == waits));
        assert_eq!(plan.triggers.len(), plan.queries.len() * 5);
    }

    #[test]
    fn exponential_draws_have_mean_and_variance() {
        let mut random = Random::stream(1, "test", 0);
        let draws: Vec<f64> = (0..100_000).map(|_| exponential(&mut random, 3.0)).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        // Standard deviations of the estimates: 3/sqrt(n) = 0.0095, and sqrt(8) * 9/sqrt(n) = 0.08.
        assert!((mean - 3.0).abs() < 0.045 && (variance - 9.0).abs() < 0.4, "{mean} {variance}");
        assert!(draws.iter().all(|x| x.is_finite() && *x >= 0.0));
    }
}
