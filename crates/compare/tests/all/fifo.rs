//! A switch that knows on arrival when packets leave says, counts and sends what any other switch with the same
//! settings does.

use forebay_compare::random_config;
use forebay_naive::Dice;
use forebay_tm::admit::{CompleteSharingConfig, DynamicThresholdsConfig, PolicyConfig, PushoutConfig};
use forebay_tm::mark::{MarkAction, MarkConfig, StepConfig};
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{Bytes, FifoTm, Instant, Packet, PacketId, PerQueue, Tm, TmConfig, Verdict, View, Wire};
use std::collections::HashMap;

fn config(dice: &mut Dice, ports: usize) -> TmConfig {
    let mut config = random_config(dice, ports, 1);
    let alpha = PerQueue::All(dice.pick(&[0.25, 1.0, 1.0, 8.0]));
    let dt = PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, reserved: 0.0 });
    config.policy = dice.pick(&[dt.clone(), dt, PolicyConfig::CompleteSharing(CompleteSharingConfig {})]);
    config.scheduler = SchedulerConfig::Fifo;
    (config.cell, config.cell_pointers) = (Bytes::new(1), false);
    (config.queue_capacity, config.trim) = (None, None);
    let step = |threshold| MarkConfig::Step(StepConfig { threshold: Bytes::new(threshold), action: MarkAction::Mark });
    config.mark = dice.pick(&[None, Some(step(0)), Some(step(3_000))]);
    config
}

/// A traffic manager with its wires.
struct Wired {
    tm: Tm,
    free_at: Vec<Instant>,
    /// When each packet left.
    left: HashMap<PacketId, Instant>,
}

impl Wired {
    /// Sends what can be sent up to an instant, and in it.
    fn advance(&mut self, now: Instant) {
        loop {
            let ports = (0..self.free_at.len()).filter(|port| self.tm.has_packets(*port));
            let Some(port) = ports.min_by_key(|port| self.free_at[*port]) else { return };
            let at = self.free_at[port];
            if at > now {
                return;
            }
            let departure = self.tm.dequeue(at, port).unwrap();
            self.left.insert(departure.id, at);
            self.free_at[port] = at + self.tm.rate(port).serialization(u64::from(departure.bytes()));
        }
    }
}

fn assert_same(one: &FifoTm, two: &Tm) {
    assert!(one.is_consistent() && two.is_consistent());
    assert_eq!((one.used(), one.memory_reads()), (two.used(), two.memory_reads()));
    assert_eq!(one.pool_counters(), two.pool_counters());
    for port in 0..two.config().rates.len() {
        assert_eq!(one.port_counters(port), two.port_counters(port));
        assert_eq!(one.queue_counters(port), two.queue_counters(port));
        assert_eq!((one.port_bytes(port), one.threshold(port)), (two.port_bytes(port), two.threshold(port)));
        assert_eq!(one.nonempty_queues(port), two.nonempty_queues(port));
    }
}

/// Returns how many packets waited, were marked and were dropped.
fn compare(dice: &mut Dice) -> [u32; 3] {
    let mut counts = [0; 3];
    let ports = 1 + dice.below(4) as usize;
    let Ok(config) = config(dice, ports).validate() else { return counts };
    let mut one = FifoTm::new(config.clone()).unwrap();
    let mut two = Wired { tm: Tm::new(config), free_at: vec![Instant::ZERO; ports], left: HashMap::new() };
    let (mut now, mut free_at, mut leaves) = (Instant::ZERO, vec![Instant::ZERO; ports], HashMap::new());
    for id in (0..400).map(PacketId) {
        if dice.is_exhausted() {
            break;
        }
        now = Instant::from_ps(now.ps() + dice.pick(&[0, 0, 100_000, 1_200_000, 2_500_000, 30_000_000]));
        let packet = Packet {
            id,
            bytes: dice.pick(&[64, 1_500, 1_000, 9_000]) as u32,
            port: dice.below(ports as u64) as u32,
            ect: dice.below(2) == 1,
            ..Packet::default()
        };
        let port = packet.port as usize;
        let verdict = one.offer(now, packet.port, packet.bytes, packet.ect, free_at[port]);
        two.advance(now);
        let idle = two.free_at[port] <= now;
        assert_eq!(two.tm.offer(now, &packet, Wire::Busy).verdict(), verdict);
        match verdict {
            Verdict::Queued { marked } => {
                let at = now.max(free_at[port]);
                leaves.insert(id, at);
                free_at[port] = at + one.rate(port).serialization(u64::from(packet.bytes));
                counts[0] += u32::from(at > now);
                counts[1] += u32::from(marked);
                // An idle wire takes it in the same instant.
                two.free_at[port] = two.free_at[port].max(if idle { now } else { Instant::ZERO });
            }
            _ => counts[2] += 1,
        }
        two.advance(now);
        if dice.below(3) == 0 {
            one.advance(now);
            assert_same(&one, &two.tm);
        }
    }
    two.advance(Instant::NEVER);
    one.advance(Instant::NEVER);
    assert_same(&one, &two.tm);
    assert_eq!(two.left, leaves);
    counts
}

#[test]
fn packets_leave_when_it_was_said_that_they_would() {
    let all = (0..3_000).map(|seed| compare(&mut Dice::from_seed(seed)));
    let sum = all.fold([0; 3], |sum, case| [sum[0] + case[0], sum[1] + case[1], sum[2] + case[2]]);
    assert!(sum.iter().all(|count| *count > 20_000), "too few packets waited, were marked, were dropped: {sum:?}");
}

#[test]
fn other_settings_are_not_taken() {
    let base = || TmConfig::new(vec!["10Gbps".parse().unwrap(); 2], Bytes::new(100_000));
    assert!(FifoTm::new(base().validate().unwrap()).is_some());
    let mut others = vec![base(); 5];
    others[0].queues = 2;
    others[0].scheduler = SchedulerConfig::RoundRobin;
    others[1].policy = PolicyConfig::Pushout(PushoutConfig {});
    others[2].cell = Bytes::new(80);
    others[3].queue_capacity = Some(10);
    let reserve = DynamicThresholdsConfig { reserved: 0.5, ..DynamicThresholdsConfig::default() };
    others[4].policy = PolicyConfig::DynamicThresholds(reserve);
    assert!(others.into_iter().all(|config| FifoTm::new(config.validate().unwrap()).is_none()));
}
