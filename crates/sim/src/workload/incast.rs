//! Queries: a host asks, many hosts answer at once.

use super::pattern::{Destinations, Pattern};
use super::planner::{Draft, Planner, span_below};
use crate::flow::FlowSpec;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Bytes, Duration, Instant};

/// When queries are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// At random times.
    #[default]
    Poisson,
    /// At equal distances, the hosts in turn.
    Periodic,
    /// Every host asks once, at the start.
    Once,
}

/// Settings of queries.
#[derive(Clone, Debug, PartialEq)]
pub struct IncastConfig {
    /// Payload of all answers together.
    pub request: Bytes,
    /// How many answers there are.
    pub fan_in: u32,
    /// How many servers a host that answers has, each with an answer of its own.
    pub servers_per_host: u32,
    /// When queries are made.
    pub arrivals: Arrivals,
    /// Queries a second of each host that asks.
    pub rate_per_host: f64,
    /// From whom (`from`: the hosts that ask) to whom (`to`: the hosts that may answer).
    pub pattern: Pattern,
    /// Each answer starts up to so much later, drawn evenly.
    pub jitter: Duration,
    /// Payload of the request to each host that answers; zero: the answers start by themselves.
    pub request_bytes: Bytes,
}

impl IncastConfig {
    /// Payload of one answer: its part of the request, rounded up.
    pub fn answer(&self) -> u64 {
        self.request.get().div_ceil(u64::from(self.fan_in.max(1))).max(1)
    }

    fn times(&self, planner: &Planner<'_>, place: usize, askers: usize, host: u32) -> Vec<Instant> {
        let config = planner.config;
        match self.arrivals {
            Arrivals::Once => vec![config.start],
            Arrivals::Poisson => planner.poisson_times(self.rate_per_host, planner.stream("queries", host)).collect(),
            Arrivals::Periodic => {
                // From the number of the query, so that nothing adds up.
                let distance = PS_PER_SECOND as f64 / self.rate_per_host / askers as f64;
                let at = |round: usize| {
                    let number = place as f64 + askers as f64 * round as f64;
                    config.start + Duration::from_ps((number * distance).round() as u64)
                };
                (0..).map(at).take_while(|at| *at < config.stop).collect()
            }
        }
    }

    pub(super) fn plan(&self, planner: &Planner<'_>) -> Draft {
        let racks = planner.racks;
        let destinations = Destinations::new(&self.pattern, racks);
        let askers = destinations.senders();
        let (answer, fan_in, servers) = (self.answer(), self.fan_in as usize, self.servers_per_host as usize);
        let mut draft = Draft::default();
        for (place, host) in askers.iter().enumerate() {
            let mut choices = planner.stream("responders", *host);
            let mut jitter = planner.stream("jitter", *host);
            for start in self.times(planner, place, askers.len(), *host) {
                let responders = destinations.draw_servers(racks, *host, servers, fan_in, &mut choices);
                let query = draft.queries.len() as u32;
                let count = responders.len() as u32;
                draft.queries.push(planner.query(start, *host, count, answer * u64::from(count)));
                for responder in responders {
                    let late = span_below(self.jitter, &mut jitter);
                    let mut flow = FlowSpec { query, ..planner.flow(responder, *host, answer) };
                    if self.request_bytes == Bytes::ZERO {
                        flow.start = start + late;
                        draft.push(flow);
                    } else {
                        let request = planner.flow(*host, responder, self.request_bytes.get());
                        let before = draft.push(FlowSpec { start, ..request });
                        flow.start = Instant::ZERO + late;
                        let after = draft.push(flow);
                        draft.wait(before, after);
                    }
                }
            }
        }
        draft
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{leaf_spine, plan_of};
    use super::super::{Reach, WorkloadKind};
    use super::*;
    use crate::flow::NONE;

    fn config(arrivals: Arrivals, rate_per_host: f64) -> IncastConfig {
        IncastConfig {
            request: Bytes::new(1_179_648),
            fan_in: 32,
            servers_per_host: 1,
            arrivals,
            rate_per_host,
            pattern: Pattern { reach: Reach::NextRack, ..Pattern::default() },
            jitter: Duration::ZERO,
            request_bytes: Bytes::ZERO,
        }
    }

    #[test]
    fn the_whole_next_leaf_answers() {
        let network = leaf_spine(2, 32, 2, 4);
        let plan = plan_of(WorkloadKind::Incast(config(Arrivals::Poisson, 200.0)), 100, &network, 1);
        // 64 hosts, 200 a second, 0.1 s: 1280 queries, standard deviation 36.
        assert!(plan.queries.len().abs_diff(1_280) < 4 * 36, "{}", plan.queries.len());
        assert_eq!(plan.flows.len(), plan.queries.len() * 32);
        assert!(plan.triggers.is_empty());
        for (index, query) in plan.queries.iter().enumerate() {
            assert_eq!((query.fan_in, query.bytes), (32, 1_179_648));
            let answers: Vec<_> = plan.flows.iter().filter(|flow| flow.query == index as u32).collect();
            let leaf = if query.host < 32 { 32..64 } else { 0..32 };
            let mut sources: Vec<u32> = answers.iter().map(|flow| flow.src).collect();
            sources.sort_unstable();
            assert_eq!(sources, leaf.collect::<Vec<u32>>());
            let right = |flow: &&FlowSpec| flow.bytes == 36_864 && flow.start == query.start && flow.dst == query.host;
            assert!(answers.iter().all(right));
        }
    }

    #[test]
    fn periodic_queries_take_turns_at_equal_distances() {
        let kind = IncastConfig {
            pattern: Pattern { from: Some(vec![0, 5, 9]), ..Pattern::default() },
            fan_in: 3,
            request: Bytes::new(100),
            ..config(Arrivals::Periodic, 1_000.0)
        };
        let plan = plan_of(WorkloadKind::Incast(kind), 10, &leaf_spine(3, 4, 1, 1), 1);
        assert_eq!(plan.queries.len(), 30);
        for (i, query) in plan.queries.iter().enumerate() {
            assert_eq!(query.host, [0, 5, 9][i % 3]);
            assert_eq!(query.start.ps(), (i as f64 * 1e9 / 3.0).round() as u64);
            assert_eq!(query.bytes, 102, "three answers of 34 bytes");
        }
    }

    #[test]
    fn a_host_answers_for_each_of_its_servers() {
        let kind = |fan_in| IncastConfig {
            pattern: Pattern { from: Some(vec![0]), to: Some((1..6).collect()), ..Pattern::default() },
            fan_in,
            servers_per_host: 8,
            request: Bytes::new(4_000),
            ..config(Arrivals::Once, 0.0)
        };
        let answers = |fan_in| {
            let plan = plan_of(WorkloadKind::Incast(kind(fan_in)), 10, &leaf_spine(2, 4, 1, 1), 1);
            assert_eq!((plan.queries[0].fan_in, plan.flows.len()), (fan_in, fan_in as usize));
            assert!(plan.flows.iter().all(|flow| flow.bytes == u64::from(4_000u32.div_ceil(fan_in))));
            (1..6).map(|host| plan.flows.iter().filter(|flow| flow.src == host).count()).collect::<Vec<_>>()
        };
        assert_eq!(answers(40), [8; 5], "all servers");
        let some = answers(20);
        assert!(some.iter().all(|count| *count <= 8) && some.iter().any(|count| *count > 1), "{some:?}");
    }

    #[test]
    fn requests_trigger_the_answers() {
        let kind = IncastConfig {
            request_bytes: Bytes::new(64),
            jitter: Duration::from_us(5),
            fan_in: 11,
            pattern: Pattern { from: Some(vec![2]), ..Pattern::default() },
            ..config(Arrivals::Once, 0.0)
        };
        let plan = plan_of(WorkloadKind::Incast(kind), 10, &leaf_spine(3, 4, 1, 1), 1);
        assert_eq!((plan.queries.len(), plan.flows.len(), plan.triggers.len()), (1, 22, 11));
        for (before, after) in &plan.triggers {
            let (request, answer) = (plan.flows[*before as usize], plan.flows[*after as usize]);
            assert_eq!((request.src, request.bytes, request.query, request.waits_for), (2, 64, NONE, 0));
            assert_eq!((answer.dst, answer.src, answer.query, answer.waits_for), (2, request.dst, 0, 1));
            assert!(answer.start < Instant::ZERO + Duration::from_us(5), "a delay, not a time");
        }
        let delays: Vec<_> = plan.flows.iter().filter(|flow| flow.query == 0).map(|flow| flow.start).collect();
        assert!(delays.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
