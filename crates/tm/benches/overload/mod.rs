//! The workload of the benchmarks: a switch at overload, one call of the core after the other, nothing in between.
//!
//! Queues are served round robin where a case does not say otherwise. All ports run at 100 Gb/s and never fall idle;
//! packets arrive for queues chosen at random, five for every four that can leave, so that the buffer policy rejects
//! some. Packets are of mixed sizes.

use forebay_tm::admit::{
    AbmConfig, AbmOnDtConfig, CompletePartitioningConfig, CompleteSharingConfig, DynamicThresholdsConfig, FbaConfig,
    FlexibleBufferConfig, FlowAwareConfig, IntelligentBufferConfig, OccamyConfig, PolicyConfig, PushoutConfig,
    ReverieConfig,
};
use forebay_tm::mark::{MarkAction, MarkConfig, StepConfig};
use forebay_tm::random::Random;
use forebay_tm::schedule::{AifoConfig, DrrConfig, PifoConfig, SchedulerConfig, SpPifoConfig, WrrConfig};
use forebay_tm::trim::{NdpConfig, TrimConfig};
use forebay_tm::{Bytes, Duration, Instant, Packet, PacketId, Rate, Tm, TmConfig, Verdict, Wire};
use std::hint::black_box;

/// A benchmark: a name, a policy, a scheduler, queues per port.
pub(crate) type Case = (&'static str, fn() -> PolicyConfig, fn() -> SchedulerConfig, usize);

/// What a name ending in `+ecn` or `+trim` adds.
fn add_ons(name: &str, config: &mut TmConfig) {
    if name.ends_with("+ecn") {
        config.mark = Some(MarkConfig::Step(StepConfig { threshold: Bytes::new(5_000), action: MarkAction::Mark }));
    }
    if name.ends_with("+trim") {
        config.trim = Some(TrimConfig::Ndp(NdpConfig::default()));
        config.queue_capacity = Some(8);
    }
}

fn drr() -> SchedulerConfig {
    SchedulerConfig::DeficitRoundRobin(DrrConfig::default())
}

fn rr() -> SchedulerConfig {
    SchedulerConfig::RoundRobin
}

fn dt() -> PolicyConfig {
    PolicyConfig::DynamicThresholds(DynamicThresholdsConfig::default())
}

/// Every case.
pub(crate) const CASES: [Case; 23] = [
    ("dt", dt, rr, 8),
    ("fb", || PolicyConfig::FlexibleBuffer(FlexibleBufferConfig::default()), rr, 8),
    ("abm", || PolicyConfig::Abm(AbmConfig::default()), rr, 8),
    ("occamy", || PolicyConfig::Occamy(OccamyConfig::default()), rr, 8),
    ("fab", || PolicyConfig::FlowAware(FlowAwareConfig::default()), rr, 8),
    ("aifo", dt, || SchedulerConfig::Aifo(AifoConfig { capacity: 100, ..AifoConfig::default() }), 1),
    ("aifo-every", dt, || SchedulerConfig::Aifo(AifoConfig { capacity: 100, sample: 1, ..AifoConfig::default() }), 1),
    ("pushout", || PolicyConfig::Pushout(PushoutConfig {}), rr, 8),
    ("cs", || PolicyConfig::CompleteSharing(CompleteSharingConfig {}), rr, 8),
    ("cp", || PolicyConfig::CompletePartitioning(CompletePartitioningConfig {}), rr, 8),
    (
        "dt-reserved",
        || {
            PolicyConfig::DynamicThresholds(DynamicThresholdsConfig {
                reserved: 0.188,
                ..DynamicThresholdsConfig::default()
            })
        },
        rr,
        8,
    ),
    ("fba", || PolicyConfig::Fba(FbaConfig::default()), rr, 8),
    ("abm-dt", || PolicyConfig::AbmOnDt(AbmOnDtConfig::default()), rr, 8),
    ("reverie", || PolicyConfig::Reverie(ReverieConfig::default()), rr, 8),
    ("ib", || PolicyConfig::IntelligentBuffer(IntelligentBufferConfig::default()), rr, 8),
    ("dt+ecn", dt, rr, 8),
    ("cs+trim", || PolicyConfig::CompleteSharing(CompleteSharingConfig {}), || SchedulerConfig::Fifo, 1),
    ("dt+drr", dt, drr, 8),
    ("dt+wrr", dt, || SchedulerConfig::WeightedRoundRobin(WrrConfig::default()), 8),
    ("dt+strict", dt, || SchedulerConfig::Strict, 8),
    ("dt+fifo", dt, || SchedulerConfig::Fifo, 1),
    ("dt+pifo", dt, || SchedulerConfig::Pifo(PifoConfig { capacity: 100 }), 1),
    ("dt+sp-pifo", dt, || SchedulerConfig::SpPifo(SpPifoConfig::default()), 1),
];

/// A switch at overload, ready to be driven.
pub(crate) struct Overload {
    tm: Tm,
    /// What happens next, again and again: a packet that arrives, and a port that sends before it (or none).
    steps: Vec<(Packet, Option<u32>)>,
    at: usize,
    now: u64,
    step: u64,
    /// What happened, so that nothing is optimized away, and for the report.
    pub(crate) admitted: u64,
    /// Packets sent.
    pub(crate) sent: u64,
    /// Packets pushed out or expelled.
    pub(crate) lost: u64,
}

impl Overload {
    /// Steps prepared beforehand.
    const STEPS: usize = 5 << 12;

    /// A switch with `queues` queues in all, its buffer filled.
    pub(crate) fn new(case: &Case, queues: usize) -> Self {
        let ports = queues / case.3;
        let mut config = TmConfig::new(vec![Rate::from_gbps(100); ports], Bytes::new(ports as u64 * 9_600 * 10));
        config.queues = case.3;
        config.policy = (case.1)();
        config.scheduler = (case.2)();
        add_ons(case.0, &mut config);
        let mut random = Random::stream(7, "benchmark", 0);
        let mut draw = |below: usize| (random.unit() * below as f64) as usize;
        let mut sender = 0;
        let steps = (0..Self::STEPS)
            .map(|id| {
                let packet = Packet {
                    id: PacketId(id as u64),
                    bytes: [64, 256, 576, 1_000, 1_500, 1_500][draw(6)],
                    port: draw(ports) as u32,
                    queue: draw(case.3) as u32,
                    flow: draw(1_000) as u64,
                    rank: draw(1_000) as u64,
                    ect: true,
                    ..Packet::default()
                };
                sender = (sender + usize::from(id % 5 != 4)) % ports;
                (packet, (id % 5 != 4).then_some(sender as u32))
            })
            .collect();
        // A port sends a packet of the mean size (816 B) every 65 ns.
        let step = Duration::from_ps(65_280 / ports as u64 * 4 / 5).ps();
        let tm = Tm::new(config.validate().expect("the benchmark's configuration is right"));
        let mut overload = Self { tm, steps, at: 0, now: 0, step, admitted: 0, sent: 0, lost: 0 };
        // Twice what the buffer holds, with nothing leaving, then a while of both.
        let silent = overload.steps.iter().map(|(packet, _)| (*packet, None)).collect();
        let steps = core::mem::replace(&mut overload.steps, silent);
        overload.step = 0;
        overload.run(2 * ports * 9_600 * 10 / 816);
        (overload.step, overload.steps) = (step, steps);
        overload.run(100 * ports);
        overload
    }

    /// The loop of [`Overload::run`] without the core.
    pub(crate) fn idle(&mut self, steps: usize) {
        let Self { now, admitted, sent, .. } = self;
        let mut left = steps;
        while left > 0 {
            let upto = (self.at + left).min(Self::STEPS);
            for (packet, port) in &self.steps[self.at..upto] {
                *now += self.step;
                if let Some(port) = port {
                    black_box(*port);
                    *sent += 1;
                }
                if black_box(packet.bytes) > 0 {
                    *admitted += 1;
                }
            }
            left -= upto - self.at;
            self.at = upto % Self::STEPS;
        }
    }

    /// `steps` arrivals and four fifths as many departures.
    pub(crate) fn run(&mut self, steps: usize) {
        let Self { tm, now, admitted, sent, lost, .. } = self;
        let mut left = steps;
        while left > 0 {
            let upto = (self.at + left).min(Self::STEPS);
            for (packet, port) in &self.steps[self.at..upto] {
                *now += self.step;
                let instant = Instant::from_ps(*now);
                if let Some(port) = port {
                    if let Some(departure) = tm.dequeue(instant, *port as usize) {
                        black_box(departure.bytes());
                        *sent += 1;
                    }
                }
                if let Verdict::Queued { .. } = tm.offer(instant, packet, Wire::Busy).verdict() {
                    *admitted += 1;
                }
            }
            *lost += tm.drain_evictions().count() as u64;
            left -= upto - self.at;
            self.at = upto % Self::STEPS;
        }
    }
}
