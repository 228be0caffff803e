//! Queries: a host asks, many hosts respond at once.

use super::WorkloadSettings;
use super::distribution::SizeDistribution;
use super::load::{Bits, Offered};
use super::pattern::{Destinations, Pattern, Reach};
use super::planner::{Draft, Planner, span_below};
use super::read::{Reader, positive};
use super::read_hosts::REACHES;
use super::read_sizes::size;
use crate::flow::FlowSpec;
use crate::transport::Common;
use forebay_settings::{Diagnostic, Value};
use forebay_tm::described::{Field, Kind};
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
    /// Payload of all responses together.
    pub request: Bytes,
    /// How many responses there are.
    pub fan_in: u32,
    /// How many servers a host that responds has, each with a response of its own.
    pub servers_per_host: u32,
    /// When queries are made.
    pub arrivals: Arrivals,
    /// Queries a second of each host that asks.
    pub rate_per_host: f64,
    /// From whom (`from`: the hosts that ask) to whom (`to`: the hosts that may respond).
    pub pattern: Pattern,
    /// Each response starts up to so much later, drawn evenly.
    pub jitter: Duration,
    /// Payload of the request to each host that responds; zero: the responses start by themselves.
    pub request_bytes: Bytes,
}

impl IncastConfig {
    /// Payload of one response: its part of the request, rounded up.
    pub fn response(&self) -> u64 {
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
}

impl WorkloadSettings for IncastConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::optional(
            "request",
            Kind::Special("size, percent of the buffer"),
            "Payload of all responses together; this or `request_share` is needed.",
        ),
        Field::optional("request_share", Kind::Real, "The same as a share of the buffer."),
        Field::optional("fan_in", Kind::Count, "Responses; default all that may respond."),
        Field::optional(
            "servers_per_host",
            Kind::Count,
            "Servers of a host, each with a response of its own; default 1.",
        ),
        Field::optional(
            "rate",
            Kind::Real,
            "Queries a second of all hosts that ask; this or `rate_per_host` is needed, but with `\"once\"`.",
        ),
        Field::optional("rate_per_host", Kind::Real, "Queries a second of each host that asks."),
        Field::optional(
            "arrivals",
            Kind::Special("`\"poisson\"`, `\"periodic\"`, `\"once\"`"),
            "When queries are made; default `\"poisson\"`.",
        ),
        Field::optional("hosts", Kind::Special("hosts"), "Who asks; default all."),
        Field::optional("responders", Kind::Special("pattern"), "Who is asked; default `\"uniform\"`."),
        Field::optional("from", Kind::Special("hosts"), "Who may respond; default all."),
        Field::optional("jitter", Kind::Duration, "Each response starts up to so much later; default 0."),
        Field::optional(
            "request_bytes",
            Kind::Bytes,
            "Payload of the request to each responder; default 0: responses start by themselves.",
        ),
        Field::optional("allow_overload", Kind::Flag, "A link may be asked for more than it can carry; default false."),
        Field::optional(
            "classes",
            Kind::Special("whole number, `\"all\"`"),
            "Each flow draws one of so many classes, from `class` on; default 1.",
        ),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let words = [("poisson", Arrivals::Poisson), ("periodic", Arrivals::Periodic), ("once", Arrivals::Once)];
        let arrivals = reader.optional("arrivals", Arrivals::default(), |value| value.word(&words))?;
        let mut reach = Reach::default();
        if let Some(value) = reader.get("responders") {
            reach = value.word(&REACHES)?;
            reader.hosts.check_reach(&value, reach)?;
        }
        let pattern = Pattern {
            from: reader.hosts.hosts(reader.table, "hosts")?,
            to: reader.hosts.hosts(reader.table, "from")?,
            reach,
        };
        let destinations = Destinations::new(&pattern, &reader.hosts.racks);
        let fewest = destinations.senders().iter().map(|host| destinations.count(&reader.hosts.racks, *host)).min();
        let servers_per_host = reader.optional("servers_per_host", 1, |value| match value.number()? {
            count @ 1..=1024 => Ok(count),
            count => Err(value.error(format!("a host cannot have {count} servers"), "give 1 to 1024")),
        })?;
        let fewest = fewest.unwrap_or(0).saturating_mul(servers_per_host as usize);
        let fan_in = match reader.get("fan_in") {
            Some(value) => {
                let fan_in = reader.count("fan_in", 1)?;
                if fan_in as usize > fewest {
                    let problem = format!("{fan_in} cannot respond: some host has only {fewest} to ask");
                    return Err(value.error(problem, format!("give at most {fewest}")));
                }
                fan_in
            }
            None if fewest == 0 => {
                let missing = reader.table.missing("from", "from = \"all\"");
                return Err(Diagnostic { problem: "some host has nobody to ask".to_owned(), ..missing });
            }
            None => u32::try_from(fewest).unwrap_or(u32::MAX),
        };
        Ok(Self {
            request: request(reader)?,
            fan_in,
            servers_per_host,
            arrivals,
            rate_per_host: query_rate(reader, arrivals, destinations.senders().len())?,
            pattern,
            jitter: reader.duration("jitter", Duration::ZERO)?,
            request_bytes: reader.optional("request_bytes", Bytes::ZERO, Value::bytes)?,
        })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let racks = planner.racks;
        let destinations = Destinations::new(&self.pattern, racks);
        let askers = destinations.senders();
        let (response, fan_in, servers) = (self.response(), self.fan_in as usize, self.servers_per_host as usize);
        let mut draft = Draft::default();
        for (place, host) in askers.iter().enumerate() {
            let mut choices = planner.stream("responders", *host);
            let mut jitter = planner.stream("jitter", *host);
            for start in self.times(planner, place, askers.len(), *host) {
                let responders = destinations.draw_servers(racks, *host, servers, fan_in, &mut choices);
                let query = draft.queries.len() as u32;
                let count = responders.len() as u32;
                draft.queries.push(planner.query(start, *host, count, response * u64::from(count)));
                for responder in responders {
                    let late = span_below(self.jitter, &mut jitter);
                    let mut flow = FlowSpec { query, ..planner.flow(responder, *host, response) };
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

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        let queries = if self.arrivals == Arrivals::Once { 1.0 } else { self.rate_per_host * reader.seconds() };
        reader.members(&self.pattern.from) * queries * f64::from(self.fan_in) * 2.0
    }

    fn offer(&self, offered: &mut Offered<'_>, packets: &Common) -> bool {
        if self.arrivals == Arrivals::Once {
            return false;
        }
        let rate = self.rate_per_host * f64::from(self.fan_in);
        let flow = |bytes| Bits::of_flow(&SizeDistribution::Fixed(bytes), packets).scaled(rate);
        let responses = flow(Bytes::new(self.response()));
        offered.add_pattern(&self.pattern, |_| responses, true);
        if self.request_bytes.get() > 0 {
            let requests = flow(self.request_bytes);
            offered.add_pattern(&self.pattern, |_| requests, false);
        }
        true
    }
}

/// `request` in bytes or percent of the buffer, or `request_share` of it.
fn request(reader: &Reader<'_, '_>) -> Result<Bytes, Diagnostic> {
    let buffer = reader.context.buffer;
    let of_buffer = |value: &Value<'_>, share: f64| {
        let bytes = (share * buffer.as_f64()).round();
        if share.is_finite() && bytes >= 1.0 && bytes < (1u64 << 53) as f64 {
            Ok(Bytes::new(bytes as u64))
        } else {
            let problem = format!("this is not a share of the buffer, {buffer}");
            Err(value.error(problem, "give a share such as \"30%\", at least a byte"))
        }
    };
    match (reader.get("request"), reader.get("request_share")) {
        (Some(_), Some(share)) => Err(share.error("there is a request, too", "give either request or request_share")),
        (None, None) => Err(reader.table.missing("request", "request = \"30%\"")),
        (None, Some(share)) => of_buffer(&share, share.real()?),
        (Some(value), None) => {
            let percent = if value.is_text() { value.text()?.strip_suffix('%') } else { None };
            match percent {
                Some(number) => of_buffer(&value, number.trim().parse::<f64>().unwrap_or(f64::NAN) / 100.0),
                None => size(&value),
            }
        }
    }
}

/// Queries a second of each host that asks.
fn query_rate(reader: &Reader<'_, '_>, arrivals: Arrivals, askers: usize) -> Result<f64, Diagnostic> {
    match (reader.get("rate"), reader.get("rate_per_host")) {
        (Some(value), _) | (_, Some(value)) if arrivals == Arrivals::Once => {
            Err(value.error("this does nothing with arrivals = \"once\"", "remove it"))
        }
        (Some(_), Some(each)) => Err(each.error("there is a rate, too", "give either rate or rate_per_host")),
        (Some(all), None) => positive(&all).map(|rate| rate / askers as f64),
        (None, Some(each)) => positive(&each),
        (None, None) if arrivals == Arrivals::Once => Ok(0.0),
        (None, None) => Err(reader.table.missing("rate", "rate = 1000")),
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
    fn the_whole_next_leaf_responses() {
        let network = leaf_spine(2, 32, 2, 4);
        let plan = plan_of(WorkloadKind::Incast(config(Arrivals::Poisson, 200.0)), 100, &network, 1);
        // 64 hosts, 200 a second, 0.1 s: 1280 queries, standard deviation 36.
        assert!(plan.queries.len().abs_diff(1_280) < 4 * 36, "{}", plan.queries.len());
        assert_eq!(plan.flows.len(), plan.queries.len() * 32);
        assert!(plan.triggers.is_empty());
        for (index, query) in plan.queries.iter().enumerate() {
            assert_eq!((query.fan_in, query.bytes), (32, 1_179_648));
            let responses: Vec<_> = plan.flows.iter().filter(|flow| flow.query == index as u32).collect();
            let leaf = if query.host < 32 { 32..64 } else { 0..32 };
            let mut sources: Vec<u32> = responses.iter().map(|flow| flow.src).collect();
            sources.sort_unstable();
            assert_eq!(sources, leaf.collect::<Vec<u32>>());
            let right = |flow: &&FlowSpec| flow.bytes == 36_864 && flow.start == query.start && flow.dst == query.host;
            assert!(responses.iter().all(right));
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
            assert_eq!(query.bytes, 102, "three responses of 34 bytes");
        }
    }

    #[test]
    fn a_host_responses_for_each_of_its_servers() {
        let kind = |fan_in| IncastConfig {
            pattern: Pattern { from: Some(vec![0]), to: Some((1..6).collect()), ..Pattern::default() },
            fan_in,
            servers_per_host: 8,
            request: Bytes::new(4_000),
            ..config(Arrivals::Once, 0.0)
        };
        let responses = |fan_in| {
            let plan = plan_of(WorkloadKind::Incast(kind(fan_in)), 10, &leaf_spine(2, 4, 1, 1), 1);
            assert_eq!((plan.queries[0].fan_in, plan.flows.len()), (fan_in, fan_in as usize));
            assert!(plan.flows.iter().all(|flow| flow.bytes == u64::from(4_000u32.div_ceil(fan_in))));
            (1..6).map(|host| plan.flows.iter().filter(|flow| flow.src == host).count()).collect::<Vec<_>>()
        };
        assert_eq!(responses(40), [8; 5], "all servers");
        let some = responses(20);
        assert!(some.iter().all(|count| *count <= 8) && some.iter().any(|count| *count > 1), "{some:?}");
    }

    #[test]
    fn requests_trigger_the_responses() {
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
            let (request, response) = (plan.flows[*before as usize], plan.flows[*after as usize]);
            assert_eq!((request.src, request.bytes, request.query, request.waits_for), (2, 64, NONE, 0));
            assert_eq!((response.dst, response.src, response.query, response.waits_for), (2, request.dst, 0, 1));
            assert!(response.start < Instant::ZERO + Duration::from_us(5), "a delay, not a time");
        }
        let delays: Vec<_> = plan.flows.iter().filter(|flow| flow.query == 0).map(|flow| flow.start).collect();
        assert!(delays.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
