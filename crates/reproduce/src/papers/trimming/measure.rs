//! Numbers of the runs: when headers arrive, what connections get, how long round trips take.

use crate::figure::Run;
use crate::metrics::Metrics;
use forebay_sim::flow::NONE;
use forebay_sim::measure::chip::ChipRecord;
use forebay_sim::measure::trace::{Place, What};
use forebay_sim::packet::flag;
use forebay_tm::{Duration, Instant};

/// How long connections have before their effect is measured.
const WARM_UP: Duration = Duration::from_us(50_000);

/// A connection that gets less than this share of its link shares it with another.
const ALONE: f64 = 0.8;

fn microseconds(span: Duration) -> f64 {
    span.ps() as f64 / 1e6
}

/// The value below which a share of sorted numbers lies; NaN if there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let index = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(index.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// Sets quantiles and the distribution of some numbers.
fn distribution(metrics: &mut Metrics, name: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    for percent in [1, 10, 25, 50, 75, 90, 99] {
        metrics.set(format!("{name}.p{percent}"), quantile(&values, f64::from(percent) / 100.0));
    }
    let count = values.len() as f64;
    let points: Vec<(f64, f64)> = (1..).zip(values).map(|(rank, value)| (value, f64::from(rank) / count)).collect();
    metrics.curve(name, &points);
}

/// When the headers of trimmed packets reach the host they are sent to: the receiver, or the sender if they were
/// returned. Packets that were sent again, when pulls pace the senders, do not count.
pub(super) fn headers(run: &Run<'_>, metrics: &mut Metrics) {
    let cable = &run.scenario.network.cables[0];
    let sent = run.result.trace.iter().filter(|event| {
        let is_first = event.packet.has(flag::TRIMMED) && !event.packet.has(flag::RETRANSMISSION);
        is_first && event.what == What::Sent && matches!(event.place, Place::Switch(..))
    });
    let arrivals: Vec<f64> = sent
        .map(|event| {
            let sent = event.at + cable.rate.serialization(u64::from(event.packet.bytes));
            microseconds((sent + cable.delay).since(Instant::ZERO))
        })
        .collect();
    metrics.set("headers.count", arrivals.len() as f64);
    distribution(metrics, "headers", arrivals);
    metrics.set("headers.lost", run.result.flows.iter().map(|flow| f64::from(flow.drops)).sum());
    let peak = run.result.recirculation.iter().map(|port| port.peak).max();
    metrics.set_some("recirculation.peak", peak.map(|peak| peak as f64));
    let peak = run.result.chips.first().map(ChipRecord::deflection_peak);
    metrics.set_some("deflection.peak", peak.map(|peak| peak as f64));
}

/// What each connection of the first workload gets, in Gb/s on the wire.
pub(super) fn connections(run: &Run<'_>, metrics: &mut Metrics) {
    let seconds = run.scenario.duration.ps() as f64 / 1e12;
    let line = run.scenario.network.cables[0].rate.bps() as f64 / 1e9;
    let rates = run.result.flows.iter().map(|flow| {
        let common = &run.scenario.transports[usize::from(flow.spec.transport)].1.common;
        f64::from(flow.received) * f64::from(common.mss + common.header) * 8.0 / seconds / 1e9
    });
    let mut rates: Vec<f64> = rates.collect();
    rates.sort_by(f64::total_cmp);
    for (name, rate) in ["slowest", "middle", "fastest"].iter().zip(&rates) {
        metrics.set(format!("rate.{name}"), *rate);
    }
    metrics.set("rate.all", rates.iter().sum());
    let sharing = rates.iter().filter(|rate| **rate < ALONE * line).count();
    metrics.set("meet", f64::from(u8::from(sharing > 0)));
    if sharing == 2 {
        metrics.set("rate.of_two", (rates[0] + rates[1]) / 2.0);
    }
}

/// A request and its answer.
struct RoundTrip {
    start: Instant,
    /// [`Instant::NEVER`] if the answer has not come.
    end: Instant,
    /// A packet of it was lost.
    timeouts: u32,
}

/// The round trips of all closed-loop clients, in order of start.
fn round_trips(run: &Run<'_>) -> Vec<RoundTrip> {
    let mut trips: Vec<RoundTrip> = Vec::new();
    // The last round trip of each session: answers follow their requests.
    let mut last = std::collections::BTreeMap::new();
    for flow in run.result.flows.iter().filter(|flow| flow.spec.session != NONE) {
        if !flow.spec.is_response {
            last.insert(flow.spec.session, trips.len());
            trips.push(RoundTrip { start: flow.spec.start, end: Instant::NEVER, timeouts: flow.timeouts });
        } else if let Some(trip) = last.get(&flow.spec.session) {
            trips[*trip].end = flow.end;
            trips[*trip].timeouts += flow.timeouts;
        }
    }
    trips
}

/// When the long connections start.
fn load_start(run: &Run<'_>) -> Instant {
    let endless = run.plan.flows.iter().filter(|flow| flow.session == NONE);
    endless.map(|flow| flow.start).min().unwrap_or(Instant::NEVER)
}

/// Ping times before the long connections start and while they send. Pings that were lost have none.
pub(super) fn pings(run: &Run<'_>, metrics: &mut Metrics) {
    let (idle_until, busy_from) = (load_start(run), load_start(run) + WARM_UP);
    let (mut idle, mut busy, mut lost) = (Vec::new(), Vec::new(), 0.0);
    for trip in round_trips(run) {
        let is_busy = trip.start >= busy_from;
        if trip.timeouts > 0 {
            lost += f64::from(u8::from(is_busy));
        } else if trip.end != Instant::NEVER {
            let time = microseconds(trip.end.since(trip.start));
            if is_busy {
                busy.push(time);
            } else if trip.end < idle_until {
                idle.push(time);
            }
        }
    }
    metrics.set("busy.lost", lost / (lost + busy.len() as f64));
    distribution(metrics, "idle", idle);
    distribution(metrics, "busy", busy);
    metrics.set("added", metrics.get("busy.p50") - metrics.get("idle.p50"));
}

/// Seconds that 1,000 requests of each client take, by how many were answered before the long connections start and
/// while they send.
pub(super) fn requests(run: &Run<'_>, metrics: &mut Metrics) {
    let sessions = run.plan.sessions.len() as f64;
    let (idle_until, busy_from) = (load_start(run), load_start(run) + WARM_UP);
    let end = Instant::ZERO + run.scenario.duration;
    let trips = round_trips(run);
    for (name, from, to) in [("idle", Instant::ZERO, idle_until), ("busy", busy_from, end)] {
        let answered = trips.iter().filter(|trip| (from..to).contains(&trip.end)).count() as f64;
        metrics.set(format!("{name}.seconds"), 1_000.0 * to.since(from).ps() as f64 / 1e12 * sessions / answered);
        let within = trips.iter().filter(|trip| (from..to).contains(&trip.start));
        let (lost, all) =
            within.fold((0.0, 0.0), |(lost, all), trip| (lost + f64::from(u8::from(trip.timeouts > 0)), all + 1.0));
        metrics.set(format!("{name}.lost"), lost / all);
    }
    metrics.set("times", metrics.get("busy.seconds") / metrics.get("idle.seconds"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.01, 0.25, 0.5, 0.75, 0.99].map(|share| quantile(&values, share)), [1.0, 1.0, 2.0, 3.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
