//! What a scenario is in numbers, before it runs.

use crate::Prepared;
use crate::estimate::Estimate;
use forebay_results::text::{TextTable as Table, bytes};
use forebay_sim::paths::{HostPath, path_between};
use forebay_sim::scenario::Scenario;
use forebay_sim::scenario::sweep::SweepPlan;
use forebay_sim::workload::{self, Busiest, WorkloadConfig};
use forebay_tm::{Bytes, Duration, Rate};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// A number of things.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// What a scenario is in numbers, and what its sweep has if it is told, with the resolved scenario at the end.
pub fn tell(prepared: &Prepared, sweep: Option<&SweepPlan>) -> String {
    let Prepared { scenario, resolved, .. } = prepared;
    let mut text = String::new();
    let network = &scenario.network;
    let _ = writeln!(
        text,
        "{}: {}, {}, {}; seed {}",
        scenario.name,
        counted(network.hosts.len(), "host", "hosts"),
        counted(network.switches.len(), "switch", "switches"),
        counted(network.cables.len(), "cable", "cables"),
        scenario.seed
    );
    text.push('\n');
    text.push_str(&tiers_text(scenario));
    text.push('\n');
    text.push_str(&ways_text(scenario));
    text.push('\n');
    text.push_str(&traffic_text(prepared));
    text.push('\n');
    text.push_str(&course(prepared));
    if let Some(samples) = Estimate::new(prepared, false).tell() {
        let _ = writeln!(text, "{samples}");
    }
    if let Some(plan) = sweep.filter(|plan| plan.points.len() * plan.seeds.len() > 1) {
        let (points, seeds) = (plan.points.len(), plan.seeds.len());
        let (points_text, seeds_text) = (counted(points, "point", "points"), counted(seeds, "seed", "seeds"));
        let _ = writeln!(text, "The sweep has {points_text} with {seeds_text}: {} runs.", points * seeds);
    }
    let _ = write!(text, "\nThe resolved scenario:\n\n{resolved}");
    text
}

/// Switches of a tier that are alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Tier {
    tier: String,
    switches: usize,
    ports: usize,
    buffers: usize,
    buffer_bytes: u64,
    port_bps: u64,
    queues: usize,
    policy: String,
    scheduler: String,
}

/// The switches of each tier, and their buffers; switches of a tier that differ have rows of their own.
fn tiers(scenario: &Scenario) -> Vec<Tier> {
    let mut tiers: Vec<Tier> = Vec::new();
    for (switch, setup) in scenario.network.switches.iter().zip(&scenario.switches) {
        let Some(config) = setup.buffers.first() else { continue };
        let own = Tier {
            tier: switch.tier.clone(),
            switches: 1,
            ports: setup.buffers.iter().map(|config| config.rates.len()).sum(),
            buffers: setup.buffers.len(),
            buffer_bytes: config.buffer.get(),
            port_bps: config.rates.iter().map(|rate| rate.bps()).sum(),
            queues: config.queues,
            policy: config.policy.name().to_owned(),
            scheduler: config.scheduler.name().to_owned(),
        };
        match tiers.iter_mut().find(|known| Tier { switches: 1, ..(*known).clone() } == own) {
            Some(known) => known.switches += 1,
            None => tiers.push(own),
        }
    }
    tiers
}

fn tiers_text(scenario: &Scenario) -> String {
    /// A network in which every switch is another is not told in full.
    const MOST: usize = 20;
    let header = ["tier", "switches", "ports", "buffer", "per port per Gb/s", "queues", "policy", "scheduler"];
    let (mut table, tiers) = (Table::new(1, header), tiers(scenario));
    for tier in tiers.iter().take(MOST) {
        let buffer = match tier.buffers {
            1 => format!("{} B", tier.buffer_bytes),
            n => format!("{n} x {} B", tier.buffer_bytes),
        };
        table.row(vec![
            tier.tier.clone(),
            tier.switches.to_string(),
            tier.ports.to_string(),
            buffer,
            format!("{:.2} KB", tier.buffer_bytes as f64 / (tier.port_bps as f64 / 1e9) / 1e3),
            tier.queues.to_string(),
            tier.policy.clone(),
            tier.scheduler.clone(),
        ]);
    }
    let mut text = table.render();
    if let Some(more @ 1..) = tiers.len().checked_sub(MOST) {
        let _ = writeln!(text, "... and {} of switches", counted(more, "other kind", "other kinds"));
    }
    text
}

/// A path of a transport.
#[derive(Serialize)]
struct Way {
    transport: String,
    from: String,
    to: String,
    links: usize,
    base_rtt_ps: u64,
    bottleneck_bps: u64,
    bdp_bytes: u64,
    bdp_packets: u64,
}

/// Base round trips and bandwidth-delay products: the shortest and the longest way from host 0.
fn ways(scenario: &Scenario) -> Vec<Way> {
    let mut ways = Vec::new();
    for (name, transport) in &scenario.transports {
        let to = |host: u32| (host, path_between(scenario, 0, host, &transport.common));
        // Hosts are numbered rack by rack: the nearest and the farthest are the next one and the last one.
        let last = scenario.network.hosts.len() as u32 - 1;
        let mut rows = vec![to(1), to(last)];
        rows.dedup_by_key(|(_, way)| *way);
        for (host, HostPath { links, base_rtt, bottleneck }) in rows {
            let bdp = bytes_in(bottleneck, base_rtt).get();
            ways.push(Way {
                transport: name.clone(),
                from: scenario.network.hosts[0].clone(),
                to: scenario.network.hosts[host as usize].clone(),
                links,
                base_rtt_ps: base_rtt.ps(),
                bottleneck_bps: bottleneck.bps(),
                bdp_bytes: bdp,
                bdp_packets: bdp.div_ceil(u64::from(transport.common.mss + transport.common.header)),
            });
        }
    }
    ways
}

fn ways_text(scenario: &Scenario) -> String {
    let mut table =
        Table::new(2, ["transport", "from host 0 to", "links", "base RTT", "bottleneck", "BDP", "in packets"]);
    for way in ways(scenario) {
        table.row(vec![
            way.transport,
            way.to,
            way.links.to_string(),
            Duration::from_ps(way.base_rtt_ps).to_string(),
            Rate::from_bps(way.bottleneck_bps).to_string(),
            Bytes::new(way.bdp_bytes).to_string(),
            way.bdp_packets.to_string(),
        ]);
    }
    table.render()
}

fn bytes_in(rate: Rate, time: Duration) -> Bytes {
    Bytes::new((u128::from(rate.bps()) * u128::from(time.ps()) / 8_000_000_000_000) as u64)
}

/// A workload: loads are shares that count payload.
#[derive(Serialize)]
struct Traffic {
    workload: String,
    transport: String,
    class: u8,
    flows: usize,
    payload_bytes: u64,
    /// In the long run, and with the flows that this seed draws.
    host_links_expected: Option<f64>,
    host_links: f64,
    uplinks_expected: Option<f64>,
    uplinks: Option<f64>,
}

/// What the workloads ask for, and what the flows of this seed come to.
fn traffic(Prepared { scenario, plan, .. }: &Prepared) -> Vec<Traffic> {
    let (network, transports) = (&scenario.network, &scenario.transports);
    let workload = |(number, config): (usize, &WorkloadConfig)| {
        let flows = plan.flows.iter().filter(|flow| usize::from(flow.workload) == number);
        let finite = flows.clone().filter(|flow| flow.bytes != u64::MAX).map(|flow| flow.bytes);
        let expected = workload::expected_load(std::slice::from_ref(config), network, transports);
        let planned = workload::achieved_load(plan, &scenario.workloads, Some(number), network, transports);
        Traffic {
            workload: config.name.clone(),
            transport: transports[usize::from(config.transport)].0.clone(),
            class: config.class,
            flows: flows.count(),
            payload_bytes: finite.sum(),
            host_links_expected: expected.as_ref().map(|load| load.host_links.payload),
            host_links: planned.host_links.payload,
            uplinks_expected: expected.as_ref().and_then(|load| load.uplinks).map(|load| load.payload),
            uplinks: planned.uplinks.map(|load| load.payload),
        }
    };
    scenario.workloads.iter().enumerate().map(workload).collect()
}

/// The link with the highest load, headers included.
fn busiest(Prepared { scenario, plan, .. }: &Prepared) -> Option<Busiest> {
    workload::achieved_load(plan, &scenario.workloads, None, &scenario.network, &scenario.transports).busiest
}

fn traffic_text(prepared: &Prepared) -> String {
    let percent = |load: Option<f64>| load.map_or("-".to_owned(), |load| format!("{:.2}%", 100.0 * load));
    let header = ["workload", "transport", "class", "flows", "payload"];
    let loads = ["host links, expected", "host links, this seed", "uplinks, expected", "uplinks, this seed"];
    let cells = |of: Traffic| {
        vec![
            of.workload,
            of.transport,
            of.class.to_string(),
            of.flows.to_string(),
            bytes(of.payload_bytes as f64),
            percent(of.host_links_expected),
            percent(Some(of.host_links)),
            percent(of.uplinks_expected),
            percent(of.uplinks),
        ]
    };
    let rows: Vec<Vec<String>> = traffic(prepared).into_iter().map(cells).collect();
    // Columns that say nothing of any workload are left out.
    let is_told = |column: usize| column < header.len() || rows.iter().any(|row: &Vec<String>| row[column] != "-");
    let told: Vec<usize> = (0..header.len() + loads.len()).filter(|column| is_told(*column)).collect();
    let all: Vec<&str> = header.into_iter().chain(loads).collect();
    let mut table = Table::new(2, told.iter().map(|column| all[*column]));
    for row in &rows {
        table.row(told.iter().map(|column| row[*column].clone()).collect());
    }
    let mut text = table.render();
    text.push_str("Loads count payload. Expected: the long-run mean. This seed: the flows that this seed draws.\n");
    if let Some(busiest) = busiest(prepared) {
        let more = if busiest.load > 1.0 { ": more than can be sent within the duration" } else { "" };
        let (load, link) = (100.0 * busiest.load, busiest.link);
        let _ = writeln!(text, "Highest load with this seed, headers included: {load:.2}% of {link}{more}.");
    }
    text
}

/// The same as JSON. Loads are shares; what does not exist is null.
pub fn json(prepared: &Prepared, sweep: Option<&SweepPlan>) -> Value {
    let Prepared { scenario, resolved, plan, .. } = prepared;
    let network = &scenario.network;
    json!({
        "name": scenario.name,
        "seed": scenario.seed,
        "hosts": network.hosts.len(),
        "switches": network.switches.len(),
        "cables": network.cables.len(),
        "tiers": tiers(scenario),
        "paths": ways(scenario),
        "workloads": traffic(prepared),
        "busiest_link": busiest(prepared).map(|busiest| json!({ "link": busiest.link, "load": busiest.load })),
        "flows": plan.flows.len(),
        "queries": plan.queries.len(),
        "closed_loop_clients": plan.sessions.len(),
        "duration_ps": scenario.duration.ps(),
        "end_ps": scenario.duration.ps().saturating_add(scenario.drain.ps()),
        "samples": Estimate::new(prepared, false).json(),
        "sweep": sweep.map(|plan| json!({ "points": plan.points.len(), "seeds": plan.seeds.len() })),
        "scenario": resolved,
    })
}

/// What happens when.
fn course(Prepared { scenario, plan, .. }: &Prepared) -> String {
    let mut parts = Vec::new();
    if !plan.flows.is_empty() || plan.sessions.is_empty() {
        parts.push(counted(plan.flows.len(), "flow", "flows"));
    }
    if !plan.queries.is_empty() {
        parts.push(counted(plan.queries.len(), "query", "queries"));
    }
    if !plan.sessions.is_empty() {
        parts.push(counted(plan.sessions.len(), "closed-loop client", "closed-loop clients"));
    }
    let end = Duration::from_ps(scenario.duration.ps().saturating_add(scenario.drain.ps()));
    format!(
        "Planned: {}. They start before {}; the run ends when all flows are complete, at {end} at the latest.\n",
        parts.join(", "),
        scenario.duration
    )
}
