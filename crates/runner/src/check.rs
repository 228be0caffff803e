//! What a scenario is in numbers, before it runs.

use crate::Prepared;
use crate::estimate::Estimate;
use forebay_results::text::{TextTable as Table, bytes};
use forebay_sim::paths::{HostPath, path_between};
use forebay_sim::scenario::Scenario;
use forebay_sim::scenario::sweep::SweepPlan;
use forebay_sim::workload::{self, Load};
use forebay_tm::{Bytes, Duration, Rate};
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
    text.push_str(&tiers(scenario));
    text.push('\n');
    text.push_str(&ways(scenario));
    text.push('\n');
    text.push_str(&traffic(prepared));
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

/// The switches of each tier, and their buffers; switches of a tier that differ have lines of their own.
fn tiers(scenario: &Scenario) -> String {
    /// A network in which every switch is another is not told in full.
    const MOST: usize = 20;
    let mut kinds: Vec<(Vec<String>, usize)> = Vec::new();
    for (switch, setup) in scenario.network.switches.iter().zip(&scenario.switches) {
        let Some(config) = setup.buffers.first() else { continue };
        let ports: usize = setup.buffers.iter().map(|config| config.rates.len()).sum();
        let gbps: f64 = config.rates.iter().map(|rate| rate.bps() as f64 / 1e9).sum();
        let buffer = match setup.buffers.len() {
            1 => format!("{} B", config.buffer.get()),
            n => format!("{n} x {} B", config.buffer.get()),
        };
        let cells = vec![
            ports.to_string(),
            buffer,
            format!("{:.2} KB", config.buffer.as_f64() / gbps / 1e3),
            config.queues.to_string(),
            config.policy.name().to_owned(),
            config.scheduler.name().to_owned(),
        ];
        let row: Vec<String> = std::iter::once(switch.tier.clone()).chain(cells).collect();
        match kinds.iter_mut().find(|(known, _)| *known == row) {
            Some((_, count)) => *count += 1,
            None => kinds.push((row, 1)),
        }
    }
    let mut table =
        Table::new(1, ["tier", "switches", "ports", "buffer", "per port per Gb/s", "queues", "policy", "scheduler"]);
    for (row, count) in kinds.iter().take(MOST) {
        let (tier, others) = row.split_at(1);
        table.row([tier, &[count.to_string()], others].concat());
    }
    let mut text = table.render();
    if let Some(more @ 1..) = kinds.len().checked_sub(MOST) {
        let _ = writeln!(text, "... and {} of switches", counted(more, "other kind", "other kinds"));
    }
    text
}

/// Base round trips and bandwidth-delay products: the shortest and the longest way from host 0.
fn ways(scenario: &Scenario) -> String {
    let mut table =
        Table::new(2, ["transport", "from host 0 to", "links", "base RTT", "bottleneck", "BDP", "in packets"]);
    for (name, transport) in &scenario.transports {
        let to = |host: u32| (host, path_between(scenario, 0, host, &transport.common));
        // Hosts are numbered rack by rack: the nearest and the farthest are the next one and the last one.
        let last = scenario.network.hosts.len() as u32 - 1;
        let mut rows = vec![to(1), to(last)];
        rows.dedup_by_key(|(_, way)| *way);
        for (host, HostPath { links, base_rtt, bottleneck }) in rows {
            let bdp = bytes_in(bottleneck, base_rtt);
            let packet = u64::from(transport.common.mss + transport.common.header);
            table.row(vec![
                name.clone(),
                scenario.network.hosts[host as usize].clone(),
                links.to_string(),
                base_rtt.to_string(),
                bottleneck.to_string(),
                bdp.to_string(),
                bdp.get().div_ceil(packet).to_string(),
            ]);
        }
    }
    table.render()
}

fn bytes_in(rate: Rate, time: Duration) -> Bytes {
    Bytes::new((u128::from(rate.bps()) * u128::from(time.ps()) / 8_000_000_000_000) as u64)
}

/// What the workloads ask for, and what the flows of this seed come to.
fn traffic(prepared: &Prepared) -> String {
    let Prepared { scenario, plan, .. } = prepared;
    let (network, transports) = (&scenario.network, &scenario.transports);
    let percent = |load: Option<Load>| load.map_or("-".to_owned(), |load| format!("{:.2}%", 100.0 * load.payload));
    let header = ["workload", "transport", "class", "flows", "payload"];
    let loads = ["host links, expected", "host links, this seed", "uplinks, expected", "uplinks, this seed"];
    let mut rows = Vec::new();
    for (number, config) in scenario.workloads.iter().enumerate() {
        let flows = plan.flows.iter().filter(|flow| usize::from(flow.workload) == number);
        let finite = flows.clone().filter(|flow| flow.bytes != u64::MAX).map(|flow| flow.bytes);
        let expected = workload::expected_load(std::slice::from_ref(config), network, transports);
        let planned = workload::achieved_load(plan, &scenario.workloads, Some(number), network, transports);
        rows.push(vec![
            config.name.clone(),
            transports[usize::from(config.transport)].0.clone(),
            config.class.to_string(),
            flows.count().to_string(),
            bytes(finite.map(|bytes| bytes as f64).sum()),
            percent(expected.as_ref().map(|load| load.host_links)),
            percent(Some(planned.host_links)),
            percent(expected.as_ref().and_then(|load| load.uplinks)),
            percent(planned.uplinks),
        ]);
    }
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
    let all = workload::achieved_load(plan, &scenario.workloads, None, network, transports);
    if let Some(busiest) = all.busiest {
        let more = if busiest.load > 1.0 { ": more than can be sent within the duration" } else { "" };
        let (load, link) = (100.0 * busiest.load, busiest.link);
        let _ = writeln!(text, "Highest load with this seed, headers included: {load:.2}% of {link}{more}.");
    }
    text
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
