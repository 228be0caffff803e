//! What only shows when all of a scenario is known.

use super::{PathChoice, Scenario};
use crate::transport::TransportConfig;
use crate::workload;
use forebay_settings::{Diagnostic, Table};
use forebay_tm::Duration;

/// A packet must be through a link within this time: clocks of nodes count so far ahead.
const LONGEST_HOP: Duration = Duration::from_us(4_000_000);

/// Checks a scenario that was read from a table, with its workloads' tables.
pub(super) fn check(scenario: &Scenario, root: &Table<'_>, workloads: &[Table<'_>]) -> Result<(), Diagnostic> {
    check_load(scenario, workloads)?;
    check_telemetry(scenario, root, workloads)?;
    check_traced(scenario, root)
}

/// The bytes of the largest packet of all transports on the wire.
pub(super) fn largest_packet(transports: &[(String, TransportConfig)]) -> u64 {
    transports.iter().map(|(_, config)| largest_packet_of(config)).max().unwrap_or(1)
}

fn largest_packet_of(config: &TransportConfig) -> u64 {
    let payload = config.kind.settings().largest_payload(&config.common);
    (u64::from(payload) + u64::from(config.common.header)).max(u64::from(config.common.ack_bytes))
}

/// Refuses links that are too slow for the packets of the scenario's transports; its workloads may be missing yet.
pub(super) fn check_links(scenario: &Scenario, root: &Table<'_>) -> Result<(), Diagnostic> {
    let plan = &scenario.network;
    let largest = largest_packet(&scenario.transports);
    let too_slow = plan.cables.iter().find(|cable| {
        let sending = cable.rate.serialization(largest);
        sending.ps().saturating_add(cable.delay.ps()) >= LONGEST_HOP.ps()
    });
    let (Some(cable), Some(table)) = (too_slow, root.table("topology")?) else { return Ok(()) };
    let (a, b, rate) = (plan.name(cable.a), plan.name(cable.b), cable.rate);
    let sending = cable.rate.serialization(largest);
    let problem = format!(
        "a packet of {largest} bytes would need {sending} on the link between {a} and {b} at {rate}, and a delay of {}",
        cable.delay
    );
    let remedy = format!("give a faster link, or a smaller mss: the two must be less than {LONGEST_HOP}");
    // At the key that gave the rate, if one did.
    let given = |key: &&str| key.ends_with("rate") && table.get(key).is_some_and(|value| value.rate() == Ok(rate));
    Err(match table.keys().into_iter().find(given) {
        Some(key) => table.locate(key, problem, remedy),
        None => table.error(problem, remedy),
    })
}

/// Refuses workloads that together ask a link for more than it can carry.
fn check_load(scenario: &Scenario, tables: &[Table<'_>]) -> Result<(), Diagnostic> {
    let Some(found) = workload::overload(&scenario.workloads, &scenario.network, &scenario.transports) else {
        return Ok(());
    };
    let percent = workload::percent;
    let part = |(index, share): &(usize, f64)| {
        format!("{} from workload {index} (\"{}\")", percent(*share), scenario.workloads[*index].name)
    };
    let parts: Vec<String> = found.shares.iter().map(part).collect();
    let (link, load) = (&found.busiest.link, percent(found.busiest.load));
    let problem = format!("{link} would have to carry {load} of the rate, headers included: {}", parts.join(", "));
    // At the one that asks for most, among those that are not meant to ask for too much; of equal ones, at the last.
    let unmeant = found.shares.iter().filter(|(index, _)| !scenario.workloads[*index].allow_overload);
    let most = unmeant.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let table = most.and_then(|(index, _)| tables.get(*index));
    let Some(table) = table else { return Ok(()) };
    let key = ["load", "rate", "rate_per_host", "period"].into_iter().find(|key| table.has(key)).unwrap_or("kind");
    Err(table.locate(key, problem, "give less, or allow_overload = true to each of them"))
}

/// PowerTCP compares the stamps of one packet with those of the packet before, hop by hop.
fn check_telemetry(scenario: &Scenario, root: &Table<'_>, tables: &[Table<'_>]) -> Result<(), Diagnostic> {
    if scenario.paths == PathChoice::Ecmp {
        return Ok(());
    }
    let wants = |transport: u16| {
        scenario.transports.get(usize::from(transport)).filter(|(_, own)| own.kind.settings().wants_telemetry())
    };
    let found =
        scenario.workloads.iter().zip(tables).find_map(|(own, table)| wants(own.transport).map(|it| (it, table)));
    let Some(((name, _), table)) = found else { return Ok(()) };
    let problem = format!(
        "\"{name}\" is PowerTCP, which compares its packets' telemetry hop by hop: their paths must not change from packet to packet"
    );
    let remedy = "give kind = \"ecmp\" to [routing], or use theta-powertcp, which needs no telemetry";
    Err(match table.get("transport") {
        Some(value) => value.error(problem, remedy),
        None => root.locate("routing.kind", problem, remedy),
    })
}

/// Refuses to trace flows that there will not be.
fn check_traced(scenario: &Scenario, root: &Table<'_>) -> Result<(), Diagnostic> {
    let Some(last) = scenario.measure.trace_flows.last() else { return Ok(()) };
    let plan = workload::plan(&scenario.workloads, &scenario.network, &scenario.transports, scenario.seed);
    let count = plan.flows.len();
    // Nobody knows how many flows closed-loop clients will add.
    if !plan.sessions.is_empty() || (*last as usize) < count {
        return Ok(());
    }
    let remedy = match count {
        0 => "remove it".to_owned(),
        _ => format!("give 0 to {}: flows are numbered in the order of their starts", count - 1),
    };
    Err(root.locate(
        "measure.trace_flows",
        format!("there is no flow {last}: the workloads plan {count} flows"),
        remedy,
    ))
}
