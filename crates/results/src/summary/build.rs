//! From a result to a summary.

use super::{
    BufferGroup, CostInfo, Distribution, DropCount, Engine, FlowGroup, LinkGroup, PauseSummary, QueryGroup, RunInfo,
    Summary,
};
use crate::buckets::{ALL, BUCKETS};
use crate::flows::{is_finite, is_measured, workload_name};
use crate::links::{Direction, directions};
use crate::places::{is_buffer, is_port, switch_of};
use crate::queries::{completion_time, slowdown};
use forebay_sim::flow::FlowRecord;
use forebay_sim::measure::{PlaceRecord, QueryRecord, RunResult};
use forebay_sim::scenario::Scenario;
use forebay_tm::{Counters, Duration, Reason};

/// The build that this is: see [`RunInfo::build`].
pub const BUILD: &str = env!("FOREBAY_BUILD");

/// The summary of a run. Loads are not part of a result: who knows them adds them.
pub fn summarize(scenario: &Scenario, result: &RunResult) -> Summary {
    let cost = &result.cost;
    Summary {
        run: RunInfo {
            name: scenario.name.clone(),
            seed: scenario.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: Some(BUILD.to_owned()),
            schema: Some(crate::schema::VERSION),
            from_ps: Some(scenario.measure.from.ps()),
            end_ps: result.end.ps(),
            interrupted: result.interrupted,
            lost_to_failures: result.lost_to_failures,
            dropped_at_hosts: result.nic_drops,
        },
        flows: flow_groups(scenario, result),
        endless_flows: result.flows.iter().filter(|flow| !is_finite(flow)).count() as u64,
        queries: query_groups(scenario, result),
        buffers: buffer_groups(scenario, result),
        links: link_groups(scenario, result),
        loads: Vec::new(),
        pauses: PauseSummary::of(scenario, result),
        engine: Engine { events: cost.events, hops: cost.hops },
        cost: CostInfo {
            cpu_seconds: cost.cpu_seconds,
            hops_per_cpu_second: (cost.cpu_seconds > 0.0).then(|| cost.hops as f64 / cost.cpu_seconds),
            peak_memory: cost.peak_memory,
        },
    }
}

fn microseconds(time: Duration) -> f64 {
    time.ps() as f64 / 1e6
}

fn flow_groups(scenario: &Scenario, result: &RunResult) -> Vec<FlowGroup> {
    let counts = |flow: &&FlowRecord| is_finite(flow) && is_measured(scenario, flow.spec.start);
    let finite: Vec<&FlowRecord> = result.flows.iter().filter(counts).collect();
    let mut groups = Vec::new();
    let mut add = |by: &str, group: &str, flows: &[&FlowRecord]| {
        let by_size = BUCKETS.iter().map(|bucket| {
            let flows = flows.iter().filter(|flow| bucket.holds(flow.spec.bytes)).copied();
            flow_group(by, group, bucket.name, &flows.collect::<Vec<_>>())
        });
        groups.extend(by_size.filter(|group| group.flows > 0 || group.size == ALL));
    };
    add(ALL, ALL, &finite);
    for (index, workload) in scenario.workloads.iter().enumerate() {
        let of_workload = finite.iter().filter(|flow| usize::from(flow.spec.workload) == index);
        add("workload", &workload.name, &of_workload.copied().collect::<Vec<_>>());
    }
    let mut classes: Vec<u8> = finite.iter().map(|flow| flow.spec.class).collect();
    classes.sort_unstable();
    classes.dedup();
    if classes.len() > 1 {
        for class in classes {
            let of_class = finite.iter().filter(|flow| flow.spec.class == class);
            add("class", &class.to_string(), &of_class.copied().collect::<Vec<_>>());
        }
    }
    groups
}

fn flow_group(by: &str, group: &str, size: &str, flows: &[&FlowRecord]) -> FlowGroup {
    let sum = |count: fn(&FlowRecord) -> u32| flows.iter().map(|flow| u64::from(count(flow))).sum();
    FlowGroup {
        by: by.to_owned(),
        group: group.to_owned(),
        size: size.to_owned(),
        flows: flows.len() as u64,
        complete: flows.iter().filter(|flow| flow.is_complete()).count() as u64,
        fct_us: Distribution::of(flows.iter().filter_map(|flow| flow.fct().map(microseconds)).collect()),
        slowdown: Distribution::of(flows.iter().filter_map(|flow| flow.slowdown()).collect()),
        retransmissions: sum(|flow| flow.retransmissions),
        timeouts: sum(|flow| flow.timeouts),
    }
}

fn query_groups(scenario: &Scenario, result: &RunResult) -> Vec<QueryGroup> {
    let measured = result.queries.iter().filter(|query| is_measured(scenario, query.spec.start));
    let measured: Vec<&QueryRecord> = measured.collect();
    let mut workloads: Vec<u16> = measured.iter().map(|query| query.spec.workload).collect();
    workloads.sort_unstable();
    workloads.dedup();
    let mut groups = Vec::new();
    if workloads.len() > 1 {
        groups.push(query_group(ALL, &measured));
    }
    for workload in workloads {
        let queries: Vec<&QueryRecord> =
            measured.iter().filter(|query| query.spec.workload == workload).copied().collect();
        groups.push(query_group(workload_name(scenario, workload), &queries));
    }
    groups
}

/// There is at least one query.
fn query_group(workload: &str, queries: &[&QueryRecord]) -> QueryGroup {
    let sum = |count: fn(&QueryRecord) -> u32| queries.iter().map(|query| u64::from(count(query))).sum();
    let times: Vec<f64> = queries.iter().filter_map(|query| completion_time(query).map(microseconds)).collect();
    QueryGroup {
        workload: workload.to_owned(),
        queries: queries.len() as u64,
        complete: times.len() as u64,
        qct_us: Distribution::of(times),
        slowdown: Distribution::of(queries.iter().filter_map(|query| slowdown(query)).collect()),
        without_drops: queries.iter().filter(|query| query.drops == 0).count() as f64 / queries.len() as f64,
        drops: sum(|query| query.drops),
        trims: sum(|query| query.trims),
        timeouts: sum(|query| query.timeouts),
    }
}

fn buffer_groups(scenario: &Scenario, result: &RunResult) -> Vec<BufferGroup> {
    let mut tiers: Vec<(&str, Vec<&PlaceRecord>)> = Vec::new();
    for place in result.places.iter().filter(|place| is_buffer(place)) {
        let tier = switch_of(scenario, place).map_or("", |switch| &switch.tier);
        match tiers.iter_mut().find(|(known, _)| *known == tier) {
            Some((_, places)) => places.push(place),
            None => tiers.push((tier, vec![place])),
        }
    }
    tiers.into_iter().map(|(tier, places)| buffer_group(tier, &places)).collect()
}

/// There is at least one buffer. Percentiles cannot be had from those of the parts: the tier's is the mean of its
/// buffers'.
fn buffer_group(tier: &str, places: &[&PlaceRecord]) -> BufferGroup {
    let sum = |count: fn(&Counters) -> u64| places.iter().map(|place| count(&place.counters)).sum::<u64>();
    let shares = |bytes: fn(&PlaceRecord) -> f64| -> Vec<f64> {
        places.iter().map(|place| bytes(place) / place.size.as_f64().max(1.0)).collect()
    };
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    let largest = |shares: &[f64]| shares.iter().copied().fold(0.0, f64::max);
    let p99 = shares(|place| place.occupancy.percentile(0.99) as f64);
    let drops = Reason::ALL.into_iter().map(|reason| DropCount {
        reason: reason.as_str().to_owned(),
        packets: places.iter().map(|place| place.counters.dropped_by(reason).packets).sum(),
    });
    BufferGroup {
        tier: tier.to_owned(),
        buffers: places.len() as u64,
        size: places.iter().map(|place| place.size.get()).sum(),
        occupancy_mean: mean(&shares(|place| place.occupancy.mean())),
        occupancy_p50: mean(&shares(|place| place.occupancy.percentile(0.5) as f64)),
        occupancy_p99: mean(&p99),
        occupancy_p99_worst: largest(&p99),
        occupancy_max: largest(&shares(|place| place.occupancy.max() as f64)),
        offered: sum(|counters| counters.offered.packets),
        sent: sum(|counters| counters.sent.packets),
        dropped: sum(|counters| counters.dropped.packets),
        drops: drops.filter(|drops| drops.packets > 0).collect(),
        expelled: sum(|counters| counters.expelled().packets),
        marked: sum(|counters| counters.marked.packets),
        trimmed: sum(|counters| counters.trimmed.packets),
        returned: sum(|counters| counters.returned.packets),
    }
}

/// Ports that have no record were idle: the means are over the ports of the plan.
fn link_groups(scenario: &Scenario, result: &RunResult) -> Vec<LinkGroup> {
    let directions = directions(&scenario.network);
    let group = |direction: Direction| {
        let ports = directions.iter().flatten().filter(|port| **port == direction).count();
        let leads_there = |place: &&PlaceRecord| {
            let port = place.port.map_or(usize::MAX, |port| port as usize);
            is_port(place)
                && directions.get(place.switch as usize).and_then(|ports| ports.get(port)) == Some(&direction)
        };
        // A run that ended at its start has used nothing, whatever 0 over 0 is.
        let utilization = |place: &PlaceRecord| if place.utilization.is_finite() { place.utilization } else { 0.0 };
        let used = || result.places.iter().filter(leads_there).map(utilization);
        LinkGroup {
            to: direction.name().to_owned(),
            ports: ports as u64,
            utilization_mean: used().sum::<f64>() / ports.max(1) as f64,
            utilization_max: used().fold(0.0, f64::max),
        }
    };
    Direction::ALL.into_iter().map(group).filter(|group| group.ports > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::{LONG, SHORT};
    use crate::testing;
    use forebay_sim::transport::FlowInfo;

    fn busy() -> Summary {
        let (scenario, result) = testing::busy(8, 1);
        summarize(&scenario, &result)
    }

    #[test]
    fn percentiles_of_a_ramp_of_slowdowns() {
        let summary = busy();
        let long = summary.flows_of("workload", "websearch", LONG).unwrap();
        assert_eq!((long.flows, long.complete), (100, 100));
        let expected = Distribution { mean: 50.5, p50: 50.0, p95: 95.0, p99: 99.0, p999: 100.0 };
        assert_eq!(long.slowdown, Some(expected));
        // Ideal times are 10 us.
        assert_eq!(long.fct_us.unwrap().p99, 990.0);
        let short = summary.flows_of("workload", "websearch", SHORT).unwrap();
        assert_eq!(short.flows, 200);
        assert_eq!(short.slowdown.unwrap().p99, 99.0);
    }

    #[test]
    fn incomplete_and_endless_flows_have_no_times() {
        let summary = busy();
        let incast = summary.flows_of("workload", "incast", ALL).unwrap();
        assert_eq!((incast.flows, incast.complete), (10, 9));
        assert_eq!(summary.flows_of("all", ALL, ALL).unwrap().flows, 410);
        // By class: class 0 is web search, class 1 incast.
        assert_eq!(summary.flows_of("class", "1", ALL).unwrap().slowdown, incast.slowdown);
        // Incast has no long flows.
        assert_eq!(summary.flows_of("workload", "incast", LONG), None);

        let mut result = testing::result();
        result.flows = vec![testing::flow(0, FlowInfo::ENDLESS, 10, 10), testing::flow(0, 1, 10, 10)];
        let summary = summarize(&testing::scenario(), &result);
        assert_eq!(summary.endless_flows, 1);
        assert_eq!(summary.flows_of("all", ALL, ALL).unwrap().flows, 1);
        // One class only: nothing by class.
        assert!(summary.flows.iter().all(|group| group.by != "class"));
    }

    #[test]
    fn queries() {
        let summary = busy();
        let [queries] = &summary.queries[..] else { panic!("one workload has queries") };
        assert_eq!((queries.queries, queries.complete), (5, 4));
        assert_eq!(queries.qct_us.unwrap().mean, 250.0);
        assert_eq!(queries.slowdown.unwrap().p99, 4.0);
        assert_eq!(queries.without_drops, 0.6);
        assert_eq!((queries.drops, queries.timeouts), (4, 2));
    }

    #[test]
    fn buffers_by_tier() {
        let summary = busy();
        let [leaf, spine] = &summary.buffers[..] else { panic!("two tiers") };
        assert_eq!((leaf.tier.as_str(), leaf.buffers, leaf.size), ("leaf", 2, 9_000));
        // leaf0 was offered 5 packets and holds 3.
        assert_eq!((leaf.offered, leaf.dropped), (5, 2));
        assert_eq!(leaf.drops, [DropCount { reason: "full".to_owned(), packets: 2 }]);
        // A third of the buffer for half of the time.
        assert!((leaf.occupancy_mean - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(leaf.occupancy_p50, 0.0);
        assert!((leaf.occupancy_p99 - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!((spine.offered, spine.dropped), (2, 0));
        assert!(spine.drops.is_empty());
        assert_eq!(summary.dropped(), 2);
    }

    #[test]
    fn links_by_direction_count_idle_ports() {
        let summary = busy();
        // leaf0's port 0 leads to a host and was busy half of the time; there are three such ports in all.
        let host = summary.links_to("host").unwrap();
        assert_eq!((host.ports, host.utilization_max), (3, 0.5));
        assert!((host.utilization_mean - 0.5 / 3.0).abs() < 1e-12);
        // leaf1's port 0 leads up and is idle, as is leaf0's port 2, of which there is no record.
        assert_eq!(summary.links_to("up").unwrap().utilization_mean, 0.0);
        assert_eq!(summary.links_to("down").unwrap().utilization_mean, 0.125);
        assert_eq!(summary.links_to("across"), None);
    }

    #[test]
    fn json_keeps_everything_and_its_order() {
        let mut summary = busy();
        summary.run.seed = u64::MAX;
        summary.loads = vec![super::super::Load {
            workload: "websearch".to_owned(),
            offered_wire: Some(0.4),
            ..super::super::Load::default()
        }];
        let text = summary.to_json();
        assert_eq!(Summary::from_json(&text).unwrap(), summary);
        let keys = ["\"run\"", "\"flows\"", "\"queries\"", "\"buffers\"", "\"links\"", "\"engine\"", "\"cost\""];
        let places: Vec<usize> = keys.iter().map(|key| text.find(key).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn only_the_cost_differs_between_repetitions() {
        let (scenario, mut result) = testing::busy(8, 1);
        let first = summarize(&scenario, &result);
        result.cost.cpu_seconds = 7.25;
        result.cost.peak_memory += 1;
        let second = summarize(&scenario, &result);
        assert_ne!(first.cost, second.cost);
        assert_eq!(Summary { cost: first.cost, ..second }, first);
    }

    #[test]
    fn a_run_without_anything() {
        let summary = summarize(&testing::scenario(), &RunResult::default());
        assert_eq!(summary.flows_of("all", ALL, ALL).unwrap().fct_us, None);
        assert_eq!(summary.cost.hops_per_cpu_second, None);
        assert!(summary.queries.is_empty() && summary.buffers.is_empty());
        assert_eq!(Summary::from_json(&summary.to_json()).unwrap(), summary);
    }

    #[test]
    fn errors_in_json_say_where() {
        let text = busy().to_json().replacen("\"flows\": 410", "\"flows\": -1", 1);
        assert!(
            Summary::from_json(&text)
                .unwrap_err()
                .starts_with("flows[0].flows: invalid value: integer `-1`, expected u64")
        );
        assert!(Summary::from_json("{").unwrap_err().contains("EOF while parsing"));
        assert!(Summary::from_json("{}").unwrap_err().contains("missing field `run`"));
    }
}
