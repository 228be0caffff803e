//! Numbers of figures 3, 10 and 11 and of equations 2 to 4: two kinds of queues at one switch.

use super::measure_bench::{Bench, Moment, Outcome, Stream};
use crate::figure::{Point, number_of};
use crate::metrics::Metrics;
use forebay_analysis::occamy;
use forebay_tm::admit::{DynamicThresholdsConfig, OccamyConfig, PolicyConfig};
use forebay_tm::random::mix;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{Bytes, Duration, Instant, PerQueue, Rate, TmConfig};

fn gbps(number: f64) -> Rate {
    Rate::from_bps((number * 1e9) as u64)
}

fn microseconds(number: f64) -> Duration {
    Duration::from_ps((number * 1e6) as u64)
}

fn policy(name: &str, alpha: f64) -> Result<PolicyConfig, String> {
    let alpha = PerQueue::All(alpha);
    match name {
        "dt" => Ok(PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, ..Default::default() })),
        "occamy" => Ok(PolicyConfig::Occamy(OccamyConfig { alpha, ..Default::default() })),
        other => Err(format!("{other}: no such policy here")),
    }
}

/// A part of a packet's time, from 0 to 1, by seed.
fn phase(seed: u64) -> f64 {
    (mix(seed) >> 11) as f64 / (1u64 << 53) as f64
}

/// The share of the buffer that each of so many queues at their thresholds has: `alpha / (1 + alpha*n)`.
pub(super) fn fair_share(alpha: f64, queues: u32) -> f64 {
    (1.0 - occamy::free(1.0, alpha, queues)) / f64::from(queues)
}

/// Two queues over time, from 10 us before the burst on: times in microseconds, lengths in KB.
fn curves(metrics: &mut Metrics, outcome: &Outcome, burst_at: Duration) {
    let start = Instant::ZERO + burst_at;
    let before = Moment { at: start, ..outcome.before };
    let curve = |of: fn(&Moment) -> f64| {
        let shown = |moment: &Moment| (moment.at.since(start).ps() as f64 / 1e6, of(moment) / 1e3);
        let first = shown(&before);
        [(-10.0, first.1), first].into_iter().chain(outcome.moments.iter().map(shown)).collect::<Vec<_>>()
    };
    metrics.curve("lasting", &curve(|moment| moment.lasting));
    metrics.curve("burst", &curve(|moment| moment.burst));
    metrics.curve("threshold", &curve(|moment| moment.threshold));
}

/// How the queues stood, in shares of the buffer and of the fair share of two queues.
fn standings(metrics: &mut Metrics, outcome: &Outcome, buffer: f64, alpha: f64) {
    let fair = buffer * fair_share(alpha, 2);
    metrics.set("fair_kb", fair / 1e3);
    metrics.set("before.lasting", outcome.before.lasting / buffer);
    if let Some(moment) = outcome.at_first_loss {
        metrics.set("first_loss.of_fair_share", moment.burst / fair);
        metrics.set("first_loss.lasting_of_fair_share", moment.lasting / fair);
        metrics.set("first_loss.excess_of_buffer", (moment.lasting - moment.threshold) / buffer);
    }
    let end = outcome.at_end_of_burst;
    metrics.set("end.burst_of_lasting", end.burst / end.lasting);
}

/// Figure 3.
pub(super) fn healthy_or_not(point: &Point) -> Result<Metrics, String> {
    let (buffer, alpha, packet) = (point.need("buffer")?, point.need("alpha")?, point.need("packet")?);
    let (port, lasting, burst) = (point.need("port")?, point.need("lasting")?, point.need("burst")?);
    let is_same_port = point.need("same_port")? != 0.0;
    let mut switch = TmConfig::new(vec![gbps(port); 2], Bytes::new(buffer as u64));
    switch.policy = policy("dt", alpha)?;
    let (from, to) = if is_same_port {
        switch.queues = 2;
        switch.scheduler = SchedulerConfig::Strict;
        ((0, 1), (0, 0))
    } else {
        ((0, 0), (1, 0))
    };
    let burst_at = fill_time(buffer, lasting - port);
    // Until queue 1 has shrunk to its fair share and queue 2 has grown to it.
    let burst_bytes = burst / port * 1.5 * buffer;
    let bench = Bench {
        switch,
        packet: packet as u32,
        lasting: vec![Stream { port: from.0, queue: from.1, rate: gbps(lasting) }],
        bursts: vec![Stream { port: to.0, queue: to.1, rate: gbps(burst) }],
        burst_at,
        burst_packets: (burst_bytes / packet) as u64,
        after: Duration::ZERO,
        until_loss: false,
        phase: phase(point.seed),
    };
    let outcome = bench.run()?;
    let mut metrics = Metrics::default();
    standings(&mut metrics, &outcome, buffer, alpha);
    curves(&mut metrics, &outcome, burst_at);
    Ok(metrics)
}

/// How long it takes to fill a buffer at so many Gb/s, and a quarter more.
fn fill_time(buffer: f64, rate: f64) -> Duration {
    microseconds(1.25 * buffer * 8.0 / (rate * 1e3))
}

/// The testbed of figures 10 and 11, with a burst of so many bytes.
fn testbed(point: &Point, burst_bytes: f64) -> Result<Bench, String> {
    let ports = point.text("ports").ok_or("ports: there are none")?;
    let rates: Vec<f64> = ports.trim_matches(['[', ']']).split(',').map(number_of).collect();
    let [.., port, _] = rates[..] else { return Err(format!("ports: {ports} are too few")) };
    let (buffer, packet, lasting) = (point.need("buffer")?, point.need("packet")?, point.need("lasting")?);
    let mut switch = TmConfig::new(rates.iter().copied().map(gbps).collect(), Bytes::new(buffer as u64));
    switch.cell = Bytes::new(point.need("cell")? as u64);
    switch.policy = policy(point.text("policy").unwrap_or_default(), point.need("alpha")?)?;
    let receiver = |number: usize, rate: f64| Stream { port: number as u32, queue: 0, rate: gbps(rate) };
    Ok(Bench {
        switch,
        packet: packet as u32,
        lasting: vec![receiver(rates.len() - 2, lasting)],
        bursts: vec![receiver(rates.len() - 1, point.need("burst")?)],
        burst_at: fill_time(buffer, lasting - port),
        burst_packets: (burst_bytes / packet).round() as u64,
        after: Duration::ZERO,
        until_loss: false,
        phase: phase(point.seed),
    })
}

/// Figure 10.
pub(super) fn evolution(point: &Point) -> Result<Metrics, String> {
    let burst_bytes = point.need("burst")? * point.need("burst_time")? * 1e3 / 8.0;
    let bench = Bench { after: microseconds(point.need("look_on")?), ..testbed(point, burst_bytes)? };
    let outcome = bench.run()?;
    let mut metrics = Metrics::default();
    standings(&mut metrics, &outcome, point.need("buffer")?, point.need("alpha")?);
    curves(&mut metrics, &outcome, bench.burst_at);
    Ok(metrics)
}

/// Figure 11: the loss of a burst of this size, and the largest that is not hurt: what has come when an endless one
/// loses its first packet.
pub(super) fn absorption(point: &Point) -> Result<Metrics, String> {
    let size = point.need("size")?;
    let drained = Duration::from_us(2_000);
    let outcome = Bench { after: drained, ..testbed(point, size)? }.run()?;
    let mut metrics = Metrics::default();
    metrics.set("loss", outcome.burst_lost as f64 / outcome.burst_sent as f64);
    let buffer = point.need("buffer")?;
    let endless = Bench { until_loss: true, ..testbed(point, 10.0 * buffer)? };
    let absorbed = endless.run()?.packets_before_loss as f64 * f64::from(endless.packet);
    metrics.set("absorbed_kb", absorbed / 1e3);
    Ok(metrics)
}

/// A switch with `full` queues that have been full for long and `bursts` to others, each at a port of its own, and idle
/// ports.
struct Crowd<'p> {
    point: &'p Point,
    full: u32,
    bursts: u32,
    alpha: f64,
    buffer: f64,
    port: f64,
}

impl Crowd<'_> {
    fn bench(&self, burst: f64) -> Result<Bench, String> {
        let point = self.point;
        let ports = self.full + self.bursts + point.need("spare")? as u32;
        let mut switch = TmConfig::new(vec![gbps(self.port); ports as usize], Bytes::new(self.buffer as u64));
        switch.policy = policy(point.text("policy").unwrap_or_default(), self.alpha)?;
        let packet = point.need("packet")?;
        let stream = |port: u32, rate: f64| Stream { port, queue: 0, rate: gbps(rate) };
        Ok(Bench {
            switch,
            packet: packet as u32,
            lasting: (0..self.full).map(|port| stream(port, 2.0 * self.port)).collect(),
            bursts: (self.full..self.full + self.bursts).map(|port| stream(port, burst)).collect(),
            burst_at: fill_time(self.buffer, self.port * f64::from(self.full)),
            burst_packets: (100.0 * self.buffer / packet) as u64,
            after: Duration::ZERO,
            until_loss: true,
            phase: 0.0,
        })
    }

    fn fair_length(&self) -> f64 {
        self.buffer * fair_share(self.alpha, self.full + self.bursts)
    }

    /// The part of its fair share that a burst's queue has when a packet of a burst is first lost.
    fn part_of_fair_share(&self, burst: f64) -> Result<f64, String> {
        let outcome = self.bench(burst)?.run()?;
        Ok(outcome.at_first_loss.map_or(1.0, |moment| moment.burst / self.fair_length()))
    }

    /// The largest rate of bursts, in rates of a port, that get their fair share, to 0.5%. A packet moves thresholds by
    /// alpha packets: as much may be missing, twice, and 0.3%.
    fn fair_rate(&self) -> Result<f64, String> {
        let steps = 2.0 * self.alpha * self.point.need("packet")? / self.fair_length();
        let enough = 0.997 - steps;
        let (mut fair, mut unfair) = (1.05, 200.0);
        while unfair / fair > 1.005 {
            let middle = f64::sqrt(fair * unfair);
            if self.part_of_fair_share(middle * self.port)? >= enough {
                fair = middle;
            } else {
                unfair = middle;
            }
        }
        Ok(fair)
    }
}

/// Equations 2 to 4. Rates are in rates of a port.
pub(super) fn equations(point: &Point) -> Result<Metrics, String> {
    let (full, bursts) = (point.need("full")? as u32, point.need("bursts")? as u32);
    let (alpha, buffer, port) = (point.need("alpha")?, point.need("buffer")?, point.need("port")?);
    let crowd = Crowd { point, full, bursts, alpha, buffer, port };
    let before = crowd.bench(2.0 * port)?.run()?.before;
    // A full queue gets shorter by what its port sends and by its part of what is expelled.
    let shrinks = 1.0 + point.need("spare")? / f64::from(full);
    let mut metrics = Metrics::default();
    metrics.set("free", before.free / buffer);
    metrics.set("free.equation", occamy::free(1.0, alpha, full));
    metrics.set("fair_rate", crowd.fair_rate()?);
    metrics.set("fair_rate.equation", occamy::fair_rate(shrinks, alpha, bursts, full));
    // What equation 3 becomes where a burst's queue drains only at the rate of its port.
    metrics.set("fair_rate.port", occamy::fair_rate(shrinks, alpha, bursts, full) - shrinks + 1.0);
    metrics.set("half.part_of_fair_share", crowd.part_of_fair_share(2.0 * shrinks * port)?);
    Ok(metrics)
}
