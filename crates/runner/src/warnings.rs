//! Settings with which no packet can get through: allowed, but hardly meant. What switches leave out of the SONiC
//! configuration that they are made from.

use forebay_results::text::bytes;
use forebay_sim::scenario::Scenario;
use forebay_tm::{Instant, Packet, Tm, ValidConfig, Verdict, Wire};

/// More are not told.
const MOST: usize = 5;

/// One line for each workload and kind of switch whose empty buffer does not take a full packet of it.
pub fn of(scenario: &Scenario) -> Vec<String> {
    let mut found: Vec<(String, String, usize)> = Vec::new();
    let mut tried: Vec<(&ValidConfig, Vec<Option<String>>)> = Vec::new();
    for (switch, setup) in scenario.network.switches.iter().zip(&scenario.switches) {
        // Chips decide by their programs.
        for config in setup.buffers.iter().filter(|_| setup.chip.is_none()) {
            let known = tried.iter().position(|(other, _)| *other == config);
            let place = known.unwrap_or_else(|| {
                tried.push((config, refusals(scenario, config)));
                tried.len() - 1
            });
            for problem in tried[place].1.iter().flatten() {
                match found.iter_mut().find(|(_, told, _)| told == problem) {
                    Some((_, _, others)) => *others += 1,
                    None => found.push((switch.name.clone(), problem.clone(), 0)),
                }
            }
        }
    }
    let line = |(switch, problem, others): (String, String, usize)| match others {
        0 => format!("warning: {switch} {problem}"),
        1 => format!("warning: {switch} and another {problem}"),
        _ => format!("warning: {switch} and {others} others {problem}"),
    };
    found.into_iter().take(MOST).map(line).chain(left_out(scenario)).collect()
}

/// One line for all switches that leave out the same of their SONiC configuration, or have it in another way.
fn left_out(scenario: &Scenario) -> Vec<String> {
    let mut found: Vec<(&str, &[String], usize)> = Vec::new();
    for (switch, setup) in scenario.network.switches.iter().zip(&scenario.switches) {
        match found.iter_mut().find(|(_, known, _)| *known == setup.left_out) {
            Some((_, _, others)) => *others += 1,
            None => found.push((&switch.name, &setup.left_out, 0)),
        }
    }
    let line = |(switch, left_out, others): (&str, &[String], usize)| {
        let who = match others {
            0 => switch.to_owned(),
            1 => format!("{switch} and another"),
            _ => format!("{switch} and {others} others"),
        };
        format!("note: {who} is not all that its SONiC configuration says: {}", left_out.join("; "))
    };
    found.into_iter().filter(|(_, left_out, _)| !left_out.is_empty()).take(MOST).map(line).collect()
}

/// For each workload, what is wrong if an empty buffer does not take its packet.
fn refusals(scenario: &Scenario, config: &ValidConfig) -> Vec<Option<String>> {
    let refusal = |workload: &forebay_sim::workload::WorkloadConfig| {
        let (name, transport) = scenario.transports.get(usize::from(workload.transport))?;
        let size = transport.common.mss + transport.common.header;
        let queue = u32::from(workload.class);
        if queue as usize >= config.queues {
            return None;
        }
        let packet = Packet { bytes: size, queue, class: queue, ect: true, ..Packet::default() };
        let (outcome, why) = Tm::new(config.clone()).offer_explained(Instant::ZERO, &packet, Wire::Busy);
        let (done, reason) = match outcome.verdict() {
            Verdict::Queued { .. } => return None,
            Verdict::Trimmed { reason } => ("trims", reason),
            Verdict::Returned { reason } => ("returns", reason),
            Verdict::Dropped { reason } => ("drops", reason),
        };
        let limit = match why.threshold {
            Some(threshold) if config.buffer.get() >= u64::from(size) => {
                format!("its threshold is {}", bytes(threshold.value))
            }
            _ => format!("its buffer is {}", bytes(config.buffer.as_f64())),
        };
        Some(format!(
            "{done} every full packet of \"{}\" ({name}, {size} B, queue {queue}), even with nothing in its buffer ({}): {limit}",
            workload.name,
            reason.as_str(),
        ))
    };
    scenario.workloads.iter().map(refusal).collect()
}
