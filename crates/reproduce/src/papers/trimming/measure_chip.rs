//! Numbers of runs with programmable chips: what flows get, what is trimmed and where, how long the queues inside the
//! chip are, and when ports are pessimistic.

use super::measure;
use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_pisa::programs::ProgramConfig;
use forebay_sim::measure::chip::ChipRecord;
use forebay_sim::measure::trace::{Place, TraceEvent, What};
use forebay_sim::packet::{Kind, Packet, flag};
use forebay_tm::Instant;

/// Ports whose modes are kept over time.
const SHOWN: [u64; 4] = [0, 1, 7, 15];
/// The phase in which senders send their first window of 1,000 packets at line rate.
const INCAST_US: f64 = 120.0;
/// The first of the receivers' ports.
const RECEIVERS: u64 = 64;

/// What the control loop does: figures 6 to 9.
pub(super) fn control_loop(run: &Run<'_>, metrics: &mut Metrics) {
    let seconds = run.result.end.since(Instant::ZERO).ps() as f64 / 1e12;
    let rates = run.result.flows.iter().map(|flow| {
        let common = &run.scenario.transports[usize::from(flow.spec.transport)].1.common;
        f64::from(flow.received) * f64::from(common.mss) * 8.0 / seconds / 1e9
    });
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_by(f64::total_cmp);
    let count = rates.len() as f64;
    metrics.set("rate.mean", rates.iter().sum::<f64>() / count);
    metrics.set("rate.least", rates.first().copied().unwrap_or(f64::NAN));
    metrics.set("rate.most", rates.last().copied().unwrap_or(f64::NAN));
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    metrics.set("fairness", rates.iter().sum::<f64>().powi(2) / (count * squares));
    // Flows that share a receiver with another.
    let sharing = |flow: &&forebay_sim::flow::FlowRecord| {
        run.result.flows.iter().filter(|other| other.spec.dst == flow.spec.dst).count() > 1
    };
    let shared: Vec<f64> = run.result.flows.iter().filter(sharing).map(|flow| f64::from(flow.received)).collect();
    let payload = run.scenario.transports.first().map_or(0, |(_, config)| config.common.mss);
    let shared = shared.iter().sum::<f64>() / shared.len() as f64 * f64::from(payload) * 8.0 / seconds / 1e9;
    metrics.set("rate.shared", shared);
    metrics.set("trims", run.result.flows.iter().map(|flow| f64::from(flow.trims)).sum());
    metrics.set("drops", run.result.flows.iter().map(|flow| f64::from(flow.drops)).sum());
    let Some(chip) = run.result.chips.first() else { return };
    of_chip(chip, metrics);
    if let Some(ProgramConfig::Trim(trim)) = run.scenario.switches[0].chip.as_ref().map(|chip| &chip.program) {
        modes(chip, trim.pessimistic.ps() as f64 / 1e6, trim.half().ps() as f64 / 1e6, metrics);
    }
}

/// Where packets were trimmed, and how long the queues inside the chip were.
fn of_chip(chip: &ChipRecord, metrics: &mut Metrics) {
    let sum = |value: fn(&forebay_sim::measure::chip::PipelineRecord) -> u64| {
        chip.pipelines.iter().map(value).sum::<u64>() as f64
    };
    metrics.set("trims.ingress", sum(|pipeline| pipeline.trimmed_at_ingress));
    metrics.set("trims.deflected", sum(|pipeline| pipeline.trimmed_at_egress));
    metrics.set("deflection.peak", chip.deflection_peak() as f64);
    metrics.set("deflection.full", sum(|pipeline| pipeline.deflection.full));
    metrics.set("recirculated.bytes", sum(|pipeline| pipeline.recirculation.bytes));
}

/// When ports were pessimistic, by the notifications that the first pipeline got.
fn modes(chip: &ChipRecord, pessimistic: f64, half: f64, metrics: &mut Metrics) {
    let ports = 0..16u64;
    let mut shares = Vec::new();
    for port in ports {
        let of_port = chip.controls.iter().filter(|note| note.kind == NOTIFY && note.value == RECEIVERS + port);
        let times: Vec<f64> = of_port.map(|note| note.at.ps() as f64 / 1e6).collect();
        let spans = spans(&times, pessimistic);
        if SHOWN.contains(&port) {
            metrics.curve(format!("mode.port{port}"), &steps(&spans, half, port as f64));
        }
        let inside = spans.iter().map(|(from, to)| (to.min(INCAST_US) - from.min(INCAST_US)).max(0.0));
        shares.push(inside.sum::<f64>() / INCAST_US);
    }
    metrics.set("pessimistic.most", shares.iter().copied().fold(0.0, f64::max));
    let congested: Vec<f64> = shares.into_iter().filter(|share| *share > 0.0).collect();
    metrics.set("pessimistic.ports", congested.len() as f64);
    metrics.set("pessimistic.mean", congested.iter().sum::<f64>() / congested.len() as f64);
}

/// The number of the program's second kind of control packet, the notification.
const NOTIFY: u8 = 5;

/// The spans of time that follow some instants, where they overlap as one.
fn spans(times: &[f64], length: f64) -> Vec<(f64, f64)> {
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for time in times {
        match spans.last_mut() {
            Some(last) if *time <= last.1 => last.1 = time + length,
            _ => spans.push((*time, time + length)),
        }
    }
    spans
}

/// A line that is raised by 0.8 in the spans and by 0.4 for a while after each.
fn steps(spans: &[(f64, f64)], half: f64, base: f64) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, base)];
    for (number, (from, to)) in spans.iter().enumerate() {
        let before = points.last().map_or(base, |point| point.1);
        points.extend([(*from, before), (*from, base + 0.8), (*to, base + 0.8), (*to, base + 0.4)]);
        let next = spans.get(number + 1).map_or(f64::INFINITY, |next| next.0);
        if to + half < next {
            points.extend([(to + half, base + 0.4), (to + half, base)]);
        }
    }
    points
}

/// What arrives at the first receiver when flows start one after the other: figures 11 and 12.
pub(super) fn arrivals(run: &Run<'_>, metrics: &mut Metrics) {
    measure::headers(run, metrics);
    if let Some(chip) = run.result.chips.first() {
        of_chip(chip, metrics);
    }
    let is_reply =
        |packet: &Packet| matches!(packet.kind, Kind::Ack | Kind::Nack | Kind::Pull) || packet.has(flag::RETURNED);
    let goes_there = |packet: &Packet| {
        let flow = run.plan.flows.get(packet.flow as usize);
        flow.is_some_and(|flow| flow.dst == RECEIVERS as u32) && !is_reply(packet)
    };
    let sent = run.result.trace.iter().filter(|event| {
        event.what == What::Sent && matches!(event.place, Place::Switch(..)) && goes_there(&event.packet)
    });
    let packets: Vec<_> = sent.collect();
    let flows: Vec<u32> =
        (0..).zip(&run.plan.flows).filter(|(_, flow)| flow.dst == RECEIVERS as u32).map(|(n, _)| n).collect();
    rates_over_time(run, &flows, &packets, metrics);
    let [first_flow, second_flow, ..] = flows[..] else { return };
    let first = |trimmed: bool| {
        packets
            .iter()
            .filter(|event| event.packet.flow == first_flow && event.packet.has(flag::TRIMMED) == trimmed)
            .map(|event| (event.at.ps() as f64 / 1e6, f64::from(event.packet.seq)))
            .collect::<Vec<_>>()
    };
    let second = run.plan.flows[second_flow as usize].start.ps() as f64 / 1e6;
    let since = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        points.into_iter().map(|(at, seq)| (at - second, seq)).filter(|(at, _)| (-1.0..20.0).contains(at)).collect()
    };
    let (data, headers) = (since(first(false)), since(first(true)));
    metrics.curve("sequence.data", &data);
    metrics.curve("sequence.headers", &headers);
    if let Some((at, _)) = headers.first() {
        metrics.set("first_header", *at);
    }
    // How long before the data packet that its sender sent just before it a header arrives, at most.
    let lead = headers.iter().filter_map(|(at, seq)| {
        let before = data.iter().filter(|(_, own)| own < seq).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (before.0 > *at).then_some(before.0 - at)
    });
    metrics.set("lead", lead.fold(0.0, f64::max));
    // The queue is gone when a header jumps it by no more than half a microsecond, four packets.
    let drained = headers.iter().find(|(at, seq)| {
        let before = data.iter().filter(|(_, own)| own < seq).max_by(|a, b| a.1.total_cmp(&b.1));
        *at > 7.0 && before.is_some_and(|before| before.0 - at <= 0.5)
    });
    metrics.set_some("drained", drained.map(|(at, _)| *at));
}

/// What each flow gets in steps of 10 us, in Gb/s of data packets.
fn rates_over_time(run: &Run<'_>, flows: &[u32], packets: &[&TraceEvent], metrics: &mut Metrics) {
    const STEP_US: f64 = 10.0;
    let end = run.result.end.ps() as f64 / 1e6;
    for (number, flow) in (1..).zip(flows) {
        let mut bins = vec![0.0; (end / STEP_US).ceil() as usize];
        for event in packets.iter().filter(|event| event.packet.flow == *flow && !event.packet.has(flag::TRIMMED)) {
            let bin = (event.at.ps() as f64 / 1e6 / STEP_US) as usize;
            if let Some(bin) = bins.get_mut(bin) {
                *bin += f64::from(event.packet.bytes) * 8.0 / (STEP_US * 1e3);
            }
        }
        let points: Vec<(f64, f64)> =
            bins.iter().enumerate().map(|(bin, rate)| ((bin as f64 + 0.5) * STEP_US, *rate)).collect();
        metrics.curve(format!("rate.flow{number}"), &points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_make_spans_that_grow_together() {
        assert_eq!(spans(&[1.0, 4.0, 20.0], 6.0), [(1.0, 10.0), (20.0, 26.0)]);
        assert!(spans(&[], 6.0).is_empty());
    }

    #[test]
    fn a_line_steps_up_and_down_again() {
        let line = steps(&[(1.0, 7.0)], 18.0, 2.0);
        assert_eq!(line, [(0.0, 2.0), (1.0, 2.0), (1.0, 2.8), (7.0, 2.8), (7.0, 2.4), (25.0, 2.4), (25.0, 2.0)]);
        let two = steps(&[(1.0, 7.0), (20.0, 26.0)], 18.0, 0.0);
        assert_eq!(two[5], (20.0, 0.4), "the half mode lasts until the next notification");
    }
}
