//! What the packets that a receiver gets, one by one, say about a scheduler (figures 12 and 13).

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_sim::engine;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, What};
use forebay_sim::packet::{Kind, Packet};
use forebay_sim::scenario::{NicSetup, Scenario};
use forebay_tm::schedule::{PifoConfig, SchedulerConfig};
use std::collections::HashSet;

/// Packets of the log that the paper shows, and of the small flow's part of it.
const LOGGED: usize = 60_000;
const LOGGED_OF_SMALL: usize = 300;
/// The PIFO that the others are compared with.
const PIFO: PifoConfig = PifoConfig { capacity: 79 };
/// The flows' workloads, in the order of the file, with their names.
const FLOWS: [&str; 3] = ["large", "medium", "small"];
const LARGE: u16 = 0;
const MEDIUM: u16 = 1;
const SMALL: u16 = 2;

/// A packet of the log: the workload of its flow, and the packet.
type Logged = (u16, Packet);

/// Numbers of the log: where flows end and how much of them overlaps, which packets are there that PIFO would not have
/// let through, and which were overtaken.
pub(super) fn packet_log(run: &Run<'_>, metrics: &mut Metrics) {
    let log = log_of(run.result);
    let shown = &log[..log.len().min(LOGGED)];
    for (number, name) in (0..).zip(FLOWS) {
        let of_flow = || shown.iter().enumerate().filter(|(_, (workload, _))| *workload == number);
        let ranks: Vec<(f64, f64)> =
            of_flow().map(|(order, (_, packet))| (order as f64, f64::from(packet.rank))).collect();
        metrics.curve(format!("ranks.{name}"), &ranks);
        metrics.set_some(format!("end.{name}"), end_of(&log, number).map(|order| order as f64));
    }
    metrics.set_some("overlap.small_medium", overlap(&log, SMALL, MEDIUM));
    metrics.set_some("overlap.medium_large", overlap(&log, MEDIUM, LARGE));
    metrics.set_some("overlap_to_last.small_medium", before(&log, last_of(&log, SMALL), MEDIUM));
    metrics.set_some("overlap_to_last.medium_large", before(&log, last_of(&log, MEDIUM), LARGE));

    let ideal = log_of(&run_with_pifo(run));
    metrics.set("gap_to_pifo", gap(&ideal[..ideal.len().min(LOGGED)], shown));
    metrics.set("duplicates", duplicates(shown) as f64);

    let small: Vec<&Packet> =
        log.iter().filter(|(workload, _)| *workload == SMALL).map(|(_, packet)| packet).take(LOGGED_OF_SMALL).collect();
    let sequence: Vec<(f64, f64)> =
        small.iter().zip(0..).map(|(packet, order)| (f64::from(order), f64::from(packet.rank))).collect();
    metrics.curve("first_of_small", &sequence);
    metrics.set("overtaken", overtaken(small.iter().map(|packet| packet.sent_at.ps())) as f64);
    metrics.set("out_of_sequence", overtaken(small.iter().map(|packet| u64::from(packet.seq))) as f64);
}

/// The data packets that reached their receiver, in the order in which they did.
fn log_of(result: &RunResult) -> Vec<Logged> {
    let received = result.trace.iter().filter(|event| {
        event.what == What::Received && matches!(event.place, Place::Host(_)) && event.packet.kind == Kind::Data
    });
    let mut received: Vec<_> = received.collect();
    received.sort_by_key(|event| event.at);
    received.iter().map(|event| (result.flows[event.packet.flow as usize].spec.workload, event.packet)).collect()
}

/// The same flows with PIFO at the switch and in front of the hosts' links.
fn run_with_pifo(run: &Run<'_>) -> RunResult {
    let mut scenario: Scenario = run.scenario.clone();
    let hosts = match &mut scenario.nic {
        NicSetup::Managed(configs) => configs.as_mut_slice(),
        NicSetup::Unlimited | NicSetup::Fifo(..) | NicSetup::Fq(..) | NicSetup::Lossless { .. } => &mut [],
    };
    for place in scenario.switches.iter_mut().flat_map(|setup| &mut setup.buffers).chain(hosts) {
        let mut config = place.clone().into_inner();
        config.scheduler = SchedulerConfig::Pifo(PIFO);
        config.queue_capacity = None;
        if let Ok(valid) = config.validate() {
            *place = valid;
        }
    }
    engine::run(&scenario, run.plan, &mut |_| true)
}

/// The place in the log where 99% of a flow's packets have come: the last ones may be stragglers that were sent again
/// much later.
fn end_of(log: &[Logged], workload: u16) -> Option<usize> {
    let places: Vec<usize> = (0..log.len()).filter(|place| log[*place].0 == workload).collect();
    places.get((places.len() * 99 / 100).saturating_sub(1)).copied()
}

/// Packets of a flow that come before the end of a flow that should have gone first.
fn overlap(log: &[Logged], first: u16, second: u16) -> Option<f64> {
    before(log, end_of(log, first), second)
}

/// The place of a flow's very last packet.
fn last_of(log: &[Logged], workload: u16) -> Option<usize> {
    log.iter().rposition(|(own, _)| *own == workload)
}

/// Packets of a flow before a place.
fn before(log: &[Logged], place: Option<usize>, flow: u16) -> Option<f64> {
    Some(log[..place?].iter().filter(|(workload, _)| *workload == flow).count() as f64)
}

/// Packets that had come before.
fn duplicates(log: &[Logged]) -> usize {
    let mut seen = HashSet::new();
    log.iter().filter(|(workload, packet)| !seen.insert((*workload, packet.seq))).count()
}

/// The share of packets that only one of two logs has (equation 1), a packet sent twice counted once.
fn gap(a: &[Logged], b: &[Logged]) -> f64 {
    let set = |log: &[Logged]| log.iter().map(|(workload, packet)| (*workload, packet.seq)).collect::<HashSet<_>>();
    let (a, b) = (set(a), set(b));
    a.symmetric_difference(&b).count() as f64 / (a.len() + b.len()) as f64
}

/// Those that come after a larger one.
fn overtaken(values: impl Iterator<Item = u64>) -> usize {
    let mut largest = 0;
    values
        .filter(|value| {
            largest = largest.max(*value);
            *value < largest
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(packets: &[(u16, u32)]) -> Vec<Logged> {
        packets.iter().map(|(workload, seq)| (*workload, Packet { seq: *seq, ..Packet::default() })).collect()
    }

    #[test]
    fn logs_are_compared_by_their_packets() {
        let log = logged(&[(SMALL, 0), (MEDIUM, 0), (SMALL, 2), (SMALL, 1), (MEDIUM, 1), (LARGE, 0), (MEDIUM, 2)]);
        // Of three packets, the second is the last within 99%.
        assert_eq!(end_of(&log, SMALL), Some(2));
        assert_eq!(overlap(&log, SMALL, MEDIUM), Some(1.0));
        assert_eq!(overlap(&log, MEDIUM, LARGE), Some(0.0));
        assert_eq!(overlap(&log[..1], MEDIUM, LARGE), None);
        assert_eq!(before(&log, last_of(&log, MEDIUM), LARGE), Some(1.0));
        assert_eq!(gap(&log, &log), 0.0);
        // The second log has a packet twice, and lacks the last one.
        let other = logged(&[(SMALL, 0), (SMALL, 0), (MEDIUM, 0), (SMALL, 2), (SMALL, 1), (MEDIUM, 1), (LARGE, 0)]);
        assert_eq!(gap(&log, &other), 1.0 / 13.0);
        assert_eq!((duplicates(&log), duplicates(&other)), (0, 1));
        assert_eq!(overtaken([0, 1, 3, 2, 4, 0, 5].into_iter()), 2);
    }
}
