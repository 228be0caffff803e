//! A packet that is offered to an idle wire comes to the same as one that is queued and then picked, in what is said
//! and in everything that follows.

use forebay_compare::random_config;
use forebay_naive::Dice;
use forebay_tm::View as _;
use forebay_tm::mark::{MarkAction, MarkConfig, StepConfig};
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::{AifoConfig, DrrConfig, SchedulerConfig};
use forebay_tm::{Bytes, Instant, Outcome, Packet, PacketId, Tm, TmConfig, Verdict, Wire};

/// Settings that most often lead to the fast path.
fn config(dice: &mut Dice, ports: usize, queues: usize) -> TmConfig {
    let mut config = random_config(dice, ports, queues);
    if dice.below(4) == 0 {
        return config;
    }
    (config.cell, config.cell_pointers) = (Bytes::new(1), false);
    config.rank = RankConfig::Given;
    config.queue_capacity = dice.pick(&[None, None, Some(1), Some(3)]);
    if dice.below(3) > 0 {
        config.trim = None;
    }
    let step = |threshold| MarkConfig::Step(StepConfig { threshold: Bytes::new(threshold), action: MarkAction::Mark });
    config.mark = dice.pick(&[None, None, Some(step(0)), Some(step(3_000))]);
    config.scheduler = match queues {
        1 => dice.pick(&[SchedulerConfig::Fifo, SchedulerConfig::Aifo(AifoConfig::default())]),
        _ => dice.pick(&[
            SchedulerConfig::RoundRobin,
            SchedulerConfig::Strict,
            SchedulerConfig::DeficitRoundRobin(DrrConfig::default()),
        ]),
    };
    config
}

/// Calls of two switches with the same settings: one is told of idle wires, the other takes two steps. Returns how many
/// packets were sent at once, and how many waited.
fn compare(dice: &mut Dice) -> (u32, u32) {
    let (mut sent, mut waited) = (0, 0);
    let (ports, queues) = (1 + dice.below(3) as usize, dice.pick(&[1, 2, 1, 3]));
    let Ok(config) = config(dice, ports, queues).validate() else { return (0, 0) };
    let classes = (0..3).filter(|class| config.policy.knows_class(*class)).count() as u64;
    let (mut one, mut two) = (Tm::new(config.clone()), Tm::new(config));
    let mut now = Instant::ZERO;
    let mut free = vec![Instant::ZERO; ports];
    for id in 0..400 {
        if dice.is_exhausted() {
            break;
        }
        now = Instant::from_ps(now.ps() + dice.pick(&[0, 0, 100_000, 1_200_000, 2_500_000]));
        // What the wires have finished since.
        for (port, free) in free.iter_mut().enumerate() {
            while *free <= now && one.has_packets(port) {
                let departure = one.dequeue(now, port);
                assert_eq!(departure, two.dequeue(now, port));
                let Some(departure) = departure else { break };
                *free = now + one.rate(port).serialization(u64::from(departure.bytes()));
            }
        }
        let packet = Packet {
            id: PacketId(id),
            bytes: dice.pick(&[64, 1_500, 1_000, 9_000]) as u32,
            port: dice.below(ports as u64) as u32,
            queue: dice.below(queues as u64) as u32,
            class: dice.below(classes) as u32,
            flow: dice.below(4),
            rank: dice.below(20),
            eligible: Instant::ZERO,
            unscheduled: dice.below(2) == 1,
            ect: dice.below(2) == 1,
            ..Packet::default()
        };
        let port = packet.port as usize;
        let idle = free[port] <= now;
        let outcome = one.offer(now, &packet, if idle { Wire::Idle } else { Wire::Busy });
        let alone = !two.has_packets(port);
        assert_eq!(two.offer(now, &packet, Wire::Busy), Outcome::Verdict(outcome.verdict()));
        let departure = match outcome {
            Outcome::Sent => {
                sent += 1;
                outcome.departure(&packet)
            }
            Outcome::Verdict(verdict) => {
                waited += 1;
                let simple = verdict == (Verdict::Queued { marked: false }) && !one.has_evictions();
                let at_once = idle && alone && simple && one.config().policy.name() != "ib";
                assert!(!at_once, "it has to leave at once: {packet:?}");
                if idle { one.dequeue(now, port) } else { None }
            }
        };
        if idle {
            assert_eq!(departure, two.dequeue(now, port));
        }
        if let Some(departure) = departure {
            free[port] = now + one.rate(port).serialization(u64::from(departure.bytes()));
        }
        assert!(one.drain_evictions().eq(two.drain_evictions()));
        // Occamy looks for packets to expel at other times when it has seen less, and finds the same.
        if one.config().policy.name() != "occamy" {
            assert_eq!(one.due(), two.due());
        }
        assert_eq!(one.memory_reads(), two.memory_reads());
        for port in 0..ports {
            assert_eq!(one.port_counters(port), two.port_counters(port));
        }
        for queue in 0..ports * queues {
            assert_eq!(one.queue_counters(queue), two.queue_counters(queue));
            assert_eq!(one.threshold(queue), two.threshold(queue));
        }
        assert!(one.is_consistent());
    }
    (sent, waited)
}

#[test]
fn at_once_is_queued_and_picked() {
    let both = (0..3_000).map(|seed| compare(&mut Dice::from_seed(seed)));
    let (sent, waited) = both.fold((0, 0), |sum, case| (sum.0 + case.0, sum.1 + case.1));
    assert!(sent > 20_000 && waited > 15_000, "only {sent} packets were sent at once, and {waited} waited");
}
