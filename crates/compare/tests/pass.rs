//! `Tm::pass` comes to the same as `Tm::arrive` and `Tm::transmit`, in what it says and in everything that follows.

use forebay_compare::random_config;
use forebay_naive::Dice;
use forebay_tm::mark::{MarkAction, MarkConfig, StepConfig};
use forebay_tm::rank::RankConfig;
use forebay_tm::schedule::{AifoConfig, DrrConfig, SchedulerConfig};
use forebay_tm::{Bytes, Instant, Packet, PacketId, Tm, Verdict};

/// Calls of two switches with the same settings: one lets packets pass, the other takes two steps. Returns how
/// many passed, and how many joined their queues by the short way.
fn compare(dice: &mut Dice) -> (u32, u32) {
    let (mut passed, mut joined) = (0, 0);
    let (ports, queues) = (1 + dice.below(3) as usize, dice.pick(&[1, 2, 1, 3]));
    let mut config = random_config(dice, ports, queues);
    if dice.below(4) > 0 {
        // Packets can pass only where little is beyond the plain path.
        (config.cell, config.cell_pointers) = (Bytes::new(1), false);
        config.rank = RankConfig::Given;
        config.queue_capacity = dice.pick(&[None, None, Some(1), Some(3)]);
        if dice.below(3) > 0 {
            config.trim = None;
        }
        let step =
            |threshold| MarkConfig::Step(StepConfig { threshold: Bytes::new(threshold), action: MarkAction::Mark });
        config.mark = dice.pick(&[None, None, Some(step(0)), Some(step(3_000))]);
        config.scheduler = match queues {
            1 => dice.pick(&[SchedulerConfig::Fifo, SchedulerConfig::Aifo(AifoConfig::default())]),
            _ => dice.pick(&[
                SchedulerConfig::RoundRobin,
                SchedulerConfig::Strict,
                SchedulerConfig::DeficitRoundRobin(DrrConfig::default()),
            ]),
        };
    }
    let Ok(config) = config.validate() else { return (0, 0) };
    let knows = |class| config.policy.knows_class(class);
    let classes = (0..3).filter(|class| knows(*class)).count() as u64;
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
                let at = *free;
                let (mut lost_one, mut lost_two) = (Vec::new(), Vec::new());
                let plainly = one.transmit_plainly(now.max(at), port);
                let departure = plainly.or_else(|| one.transmit(now.max(at), port, &mut |lost| lost_one.push(lost)));
                assert_eq!(departure, two.transmit(now.max(at), port, &mut |lost| lost_two.push(lost)));
                assert_eq!(lost_one, lost_two);
                let Some(departure) = departure else { break };
                *free = now + one.rate(port).serialization(u64::from(departure.bytes));
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
        };
        let port = packet.port as usize;
        let (mut lost_one, mut lost_two) = (Vec::new(), Vec::new());
        let idle = free[port] <= now;
        let passes = idle
            && (one.pass_by_length(now, packet.port, packet.queue, packet.bytes, packet.unscheduled, || packet.rank)
                || one.pass(now, &packet, &mut |lost| lost_one.push(lost)));
        let verdict = two.arrive(now, &packet, &mut |lost| lost_two.push(lost));
        match passes {
            true => {
                passed += 1;
                assert_eq!(verdict, Verdict::Queued { marked: false });
                let departure = two.transmit(now, port, &mut |lost| lost_two.push(lost)).expect("it leaves at once");
                assert_eq!((departure.id, departure.bytes), (packet.id, packet.bytes));
                free[port] = now + one.rate(port).serialization(u64::from(packet.bytes));
            }
            false => {
                let Packet { id, port: at, queue, bytes, rank, ect, unscheduled, .. } = packet;
                match one.join_by_length(now, id, at, queue, bytes, rank, ect, unscheduled) {
                    Some(marked) => {
                        joined += 1;
                        assert_eq!(verdict, Verdict::Queued { marked });
                    }
                    None => assert_eq!(verdict, one.arrive(now, &packet, &mut |lost| lost_one.push(lost))),
                }
                if idle && matches!(verdict, Verdict::Queued { .. } | Verdict::Trimmed { .. }) {
                    let departure = one.transmit(now, port, &mut |lost| lost_one.push(lost));
                    assert_eq!(departure, two.transmit(now, port, &mut |lost| lost_two.push(lost)));
                    if let Some(departure) = departure {
                        free[port] = now + one.rate(port).serialization(u64::from(departure.bytes));
                    }
                }
            }
        }
        assert_eq!(lost_one, lost_two);
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
    (passed, joined)
}

#[test]
fn passing_is_arriving_and_leaving() {
    let both = (0..3_000).map(|seed| compare(&mut Dice::from_seed(seed)));
    let (passed, joined) = both.fold((0, 0), |sum, case| (sum.0 + case.0, sum.1 + case.1));
    assert!(passed > 20_000 && joined > 15_000, "only {passed} packets passed, and {joined} joined");
}
