//! AIFO, PIFO and FIFO under constant overload, on the traffic manager alone (theorems 1 and 2).

use crate::figure::Point;
use crate::metrics::Metrics;
use forebay_analysis::aifo;
use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::random::Random;
use forebay_tm::schedule::{AifoConfig, PifoConfig, SchedulerConfig};
use forebay_tm::{Bytes, Departure, Eviction, Instant, Packet, PacketId, Rate, Tm, TmConfig, Verdict};
use std::collections::HashSet;

/// 1250 bytes at 10 Gb/s: the port drains a packet in a microsecond, and rates are shares of the link.
const LENGTH: u32 = 1_250;
const US: u64 = 1_000_000;
/// Ranks are kept in the packets' ids, since a FIFO does not look at them.
const RANKS: u64 = 64;

/// What a point of the sweep asks for.
struct Case {
    scheduler: SchedulerConfig,
    capacity: usize,
    headroom: f64,
    /// Of each rank, as a share of the link.
    rates: Vec<f64>,
    /// Times in ps, and ranks.
    arrivals: Vec<(u64, u64)>,
    /// When measuring starts, and ends.
    from: u64,
    until: u64,
}

impl Case {
    fn new(point: &Point) -> Result<Self, String> {
        let (capacity, headroom) = (point.need("capacity")? as usize, point.need("headroom")?);
        let rates: Result<Vec<f64>, _> =
            point.text("rates").unwrap_or_default().split_whitespace().map(str::parse).collect();
        let rates = rates.map_err(|error| format!("rates: {error}"))?;
        if rates.is_empty() || rates.len() as u64 > RANKS {
            return Err(format!("rates: there are {} of them", rates.len()));
        }
        let scheduler = match point.variant.as_str() {
            "AIFO" => SchedulerConfig::Aifo(AifoConfig {
                capacity,
                headroom,
                window: point.need("window")? as usize,
                sample: 1,
            }),
            "PIFO" => SchedulerConfig::Pifo(PifoConfig { capacity }),
            _ => SchedulerConfig::Fifo,
        };
        let from = point.need("settling")? as u64 * US;
        let until = from + point.need("time")? as u64 * US;
        let random = point.text("arrivals") == Some("random");
        let arrivals = arrivals(&rates, random, until, point.seed);
        Ok(Self { scheduler, capacity, headroom, rates, arrivals, from, until })
    }

    /// What theorem 1 says of the rates at which ranks leave.
    fn by_theorem(&self) -> Vec<f64> {
        match self.scheduler {
            SchedulerConfig::Fifo => aifo::departures_of_fifo(&self.rates, 1.0),
            _ => aifo::departures_by_rank(&self.rates, 1.0),
        }
    }

    fn run(&self, scheduler: &SchedulerConfig) -> Result<Sent, String> {
        let mut config = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(100_000_000));
        config.queue_capacity = (*scheduler == SchedulerConfig::Fifo).then_some(self.capacity);
        config.scheduler = scheduler.clone();
        let mut driver = Driver::new(Tm::new(config.validate().map_err(|error| error.to_string())?));
        let mut sent = Sent { from: Instant::from_ps(self.from), packets: Vec::new(), waiting: 0.0, looks: 0 };
        for (id, (time, rank)) in (0..).zip(&self.arrivals) {
            let id = PacketId(RANKS * id + rank);
            let packet = Packet { id, bytes: LENGTH, rank: *rank, ..Packet::default() };
            let now = Instant::from_ps(*time);
            driver.arrive(now, &packet, &mut sent).map_err(|error| error.to_string())?;
            sent.look(now, driver.tm());
        }
        Ok(sent)
    }
}

/// Arrivals of each rank: evenly spaced, each rank with a phase of its own, or at random instants of the same density.
fn arrivals(rates: &[f64], random: bool, until: u64, seed: u64) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for (rank, rate) in (0..).zip(rates) {
        let mut draws = Random::stream(seed, "arrivals", rank);
        let count = until as f64 / US as f64 * rate;
        let phase = draws.unit();
        for number in 0..count as u64 {
            let place = if random { draws.unit() * count } else { number as f64 + phase };
            all.push(((place / rate * US as f64) as u64, rank));
        }
    }
    all.sort_unstable();
    all.retain(|(time, _)| *time < until);
    all
}

/// What was sent, and how long the queue was.
struct Sent {
    /// When measuring starts.
    from: Instant,
    /// When it was picked, and its id.
    packets: Vec<(Instant, u64)>,
    waiting: f64,
    looks: u64,
}

impl Sent {
    /// The length of the queue right after an arrival.
    fn look(&mut self, now: Instant, tm: &Tm) {
        if now >= self.from {
            self.waiting += tm.queue_bytes(0).as_f64() / f64::from(LENGTH);
            self.looks += 1;
        }
    }

    /// Packets of each rank in the interval that is measured, a microsecond.
    fn rates(&self, ranks: usize, case: &Case) -> Vec<f64> {
        let mut counts = vec![0u64; ranks];
        for (_, id) in self.packets.iter().filter(|(at, _)| *at >= self.from) {
            counts[(id % RANKS) as usize] += 1;
        }
        counts.iter().map(|count| *count as f64 * US as f64 / (case.until - case.from) as f64).collect()
    }
}

impl Observer for Sent {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, now: Instant, _: usize, departure: &Departure, _: Instant) {
        self.packets.push((now, departure.id.0));
    }
    fn evicted(&mut self, _: Eviction) {}
}

/// Theorem 1: the rate of each rank (`rate.1` and so on), the largest distance of any from what the theorem says
/// (`off`), and the length of the queue, beside that of the theorem and that of the quantile that AIFO really takes.
pub(super) fn departures(point: &Point) -> Result<Metrics, String> {
    let case = Case::new(point)?;
    let sent = case.run(&case.scheduler)?;
    let rates = sent.rates(case.rates.len(), &case);
    let theorem = case.by_theorem();
    let mut metrics = Metrics::default();
    for (number, (rate, said)) in (1..).zip(rates.iter().zip(&theorem)) {
        metrics.set(format!("rate.{number}"), *rate);
        metrics.set(format!("theorem.{number}"), *said);
    }
    let ranks = |values: &[f64]| (1..).map(f64::from).zip(values.iter().copied()).collect::<Vec<_>>();
    metrics.curve("rates", &ranks(&rates));
    metrics.curve("theorem", &ranks(&theorem));
    metrics.set("off", rates.iter().zip(&theorem).map(|(rate, said)| (rate - said).abs()).fold(0.0, f64::max));
    metrics.set("queue", sent.waiting / sent.looks as f64);
    let last = aifo::margin(&case.rates, 1.0).ok_or("rates: the link is not overloaded")?;
    let length = |quantile| aifo::queue_length(case.capacity as f64, case.headroom, quantile);
    // The paper counts ranks, with the own one; the algorithm counts packets of smaller ranks.
    metrics.set("queue.theorem", length((last + 1) as f64 / case.rates.len() as f64));
    metrics.set("queue.quantile", length(aifo::quantile(&case.rates, last)));
    // Whether the ranks up to n* are more than the link.
    let filled: f64 = case.rates[..=last].iter().sum();
    metrics.set("margin.over", filled - 1.0);
    metrics.set("margin.part", theorem[last]);
    Ok(metrics)
}

/// Theorem 2: the gap to PIFO over time (equation 1), by packets (`gap`) and by how many of each rank (`gap_by_rank`),
/// as curves and at the end (`gap.end`, `gap_by_rank.end`).
pub(super) fn gaps(point: &Point) -> Result<Metrics, String> {
    const STEPS: usize = 60;
    let case = Case::new(point)?;
    let (own, pifo) =
        (case.run(&case.scheduler)?, case.run(&SchedulerConfig::Pifo(PifoConfig { capacity: case.capacity }))?);
    let (mut by_packet, mut by_rank) = (Vec::new(), Vec::new());
    for step in 1..=STEPS {
        // From a thousandth of the time to all of it.
        let share = 1e-3f64.powf(1.0 - step as f64 / STEPS as f64);
        let until = Instant::from_ps((case.until as f64 * share) as u64);
        let sets = [&own, &pifo].map(|sent| {
            let until = sent.packets.partition_point(|(at, _)| *at < until);
            sent.packets[..until].iter().map(|(_, id)| *id).collect::<HashSet<u64>>()
        });
        let both = (sets[0].len() + sets[1].len()) as f64;
        if both == 0.0 {
            continue;
        }
        let differ = sets[0].symmetric_difference(&sets[1]).count() as f64;
        let counts = sets.map(|set| {
            let mut counts = vec![0.0; case.rates.len()];
            set.iter().for_each(|id| counts[(id % RANKS) as usize] += 1.0);
            counts
        });
        let milliseconds = until.ps() as f64 / 1e9;
        by_packet.push((milliseconds, differ / both));
        by_rank.push((milliseconds, aifo::gap_of_rates(&counts[1], &counts[0])));
    }
    let mut metrics = Metrics::default();
    let last = |curve: &[(f64, f64)]| curve.last().map(|(_, gap)| *gap);
    metrics.set_some("gap.end", last(&by_packet));
    metrics.set_some("gap_by_rank.end", last(&by_rank));
    metrics.curve("gap", &by_packet);
    metrics.curve("gap_by_rank", &by_rank);
    if let Some(margin) = aifo::margin(&case.rates, 1.0) {
        metrics.set("margin.part", aifo::departures_by_rank(&case.rates, 1.0)[margin]);
    }
    Ok(metrics)
}
