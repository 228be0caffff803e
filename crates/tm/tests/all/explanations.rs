//! Why a packet got its verdict: explaining changes nothing, and the numbers that are given lead to the verdict that
//! was given.

use crate::common;

use common::{Op, Outcome, apply, at, start, switches, with_operations};
use forebay_tm::View as _;
use forebay_tm::admit::{PolicyConfig, PoolsConfig, PushoutConfig};
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::trim::TrimConfig;
use forebay_tm::{Bytes, Eviction, Explanation, Holder, Packet, Reason, Threshold, Tm, TmConfig, Verdict, Wire};
use proptest::prelude::*;

/// The bytes in each queue.
fn lengths(tm: &Tm) -> Vec<u64> {
    (0..tm.config().total_queues()).map(|queue| tm.queue_bytes(queue).get()).collect()
}

/// The weight of a queue number, where the scheduler has weights.
fn weight(config: &TmConfig, k: usize) -> u32 {
    match &config.scheduler {
        SchedulerConfig::WeightedRoundRobin(wrr) => wrr.weights.at(k),
        SchedulerConfig::DeficitRoundRobin(drr) => drr.weights.at(k),
        SchedulerConfig::StrictOverDrr(groups) => groups.weights.at(k),
        _ => 1,
    }
}

/// The value of a threshold from its own terms, and the terms that can be seen from outside, from the queue lengths.
fn check_threshold(config: &TmConfig, why: &Explanation, threshold: &Threshold, lengths: &[u64], packet: &Packet) {
    let (k, queue) = (why.queue % config.queues, why.queue);
    let free = config.buffer.get() - lengths.iter().sum::<u64>();
    let remaining = threshold.remaining.map_or(0.0, Bytes::as_f64);
    let alpha = threshold.alpha.unwrap_or(0.0);
    let value = match &config.policy {
        PolicyConfig::Pools(pools) => return check_pools(pools, why, threshold),
        PolicyConfig::CompletePartitioning(_) => (config.buffer.get() / lengths.len() as u64) as f64,
        PolicyConfig::FlexibleBuffer(_) => ((alpha / threshold.n.unwrap()) * threshold.g.unwrap()) * remaining,
        PolicyConfig::EnhancedThresholds(_) if threshold.n.is_some() => config.buffer.as_f64() / threshold.n.unwrap(),
        PolicyConfig::Abm(_) => ((alpha * remaining) / threshold.n.unwrap()) * threshold.mu.unwrap(),
        _ => alpha * remaining,
    };
    assert_eq!(threshold.value, value, "{threshold:?}");

    // Non-empty queues, counting the packet's.
    let waits = |other: &usize| lengths[*other] > 0 || *other == queue;
    match &config.policy {
        PolicyConfig::DynamicThresholds(dt) if dt.reserved > 0.0 => {
            let reserve = threshold.reserved.map_or(0, Bytes::get);
            let taken: u64 = lengths.iter().map(|length| length.saturating_sub(reserve)).sum();
            let shared = config.buffer.get() - reserve * lengths.len() as u64;
            assert_eq!(threshold.remaining, Some(Bytes::new(shared.saturating_sub(taken))));
            assert_eq!(alpha, dt.alpha.at(k));
            return;
        }
        PolicyConfig::DynamicThresholds(dt) => assert_eq!(alpha, dt.alpha.at(k)),
        PolicyConfig::Reverie(reverie) => assert_eq!(alpha, reverie.alpha.at(k)),
        PolicyConfig::Occamy(occamy) => assert_eq!(alpha, occamy.alpha.at(k)),
        PolicyConfig::IntelligentBuffer(ib) => assert_eq!(alpha, ib.alpha.at(k)),
        PolicyConfig::Abm(abm) => {
            assert_eq!(alpha, abm.alpha_unscheduled.filter(|_| packet.unscheduled).unwrap_or(abm.alpha.at(k)));
        }
        PolicyConfig::TrafficAware(tdt) => {
            assert!([tdt.alpha.at(k), tdt.alpha_absorb, tdt.alpha_evacuate].contains(&alpha));
        }
        PolicyConfig::FlowAware(fab) => {
            let short = threshold.flow_bytes.unwrap() < fab.threshold.get();
            assert_eq!(alpha, if short { fab.alpha_short } else { fab.alpha.at(k) });
        }
        PolicyConfig::FlexibleBuffer(fb) => {
            let group =
                |k: usize| fb.groups.as_ref().map_or(k, |groups| groups.iter().position(|g| g.contains(&k)).unwrap());
            let n = (0..lengths.len()).filter(|other| group(other % config.queues) == group(k)).filter(waits).count();
            let first = queue - k;
            let weights = (first..first + config.queues).filter(waits).map(|other| weight(config, other - first));
            let all: u64 = weights.map(u64::from).sum();
            assert_eq!(threshold.n, Some(n as f64));
            assert_eq!(threshold.g, Some(f64::from(weight(config, k)) / all as f64));
        }
        PolicyConfig::CompletePartitioning(_) => return,
        // What these have set is theirs to know.
        PolicyConfig::EnhancedThresholds(edt) => match threshold.n {
            // An equal part for each queue that bursts is more than DT's threshold.
            Some(_) => return assert!(threshold.value > edt.alpha.at(k) * free as f64),
            None => assert_eq!(alpha, edt.alpha.at(k)),
        },
        PolicyConfig::Fba(_) | PolicyConfig::AbmOnDt(_) | PolicyConfig::Custom(_) => {}
        PolicyConfig::CompleteSharing(_) | PolicyConfig::Pushout(_) | PolicyConfig::Pools(_) => {
            unreachable!("they have no threshold of the whole buffer")
        }
    }
    assert_eq!(threshold.remaining, Some(Bytes::new(free)));
}

/// The threshold of a queue in a pool is the lower one of its limits.
fn check_pools(pools: &PoolsConfig, why: &Explanation, threshold: &Threshold) {
    let limit = pools.limit.values().iter().map(|limit| limit.as_f64()).fold(0.0, f64::max);
    let left = threshold.remaining.map_or(0.0, Bytes::as_f64);
    match threshold.alpha {
        Some(alpha) => assert_eq!(threshold.value, alpha * left, "{why:?}"),
        None => assert!(threshold.value <= limit),
    }
}

/// What the comparison of the numbers says.
fn check_verdict(config: &TmConfig, why: &Explanation, reason: Option<Reason>) {
    let fits = why.total + why.charge <= why.buffer;
    if let Some(test) = why.rank_test {
        let scaled = test.capacity as f64 * (1.0 - test.headroom);
        let passes = test.waiting < test.capacity
            && test.smaller as f64 * scaled <= (test.capacity - test.waiting) as f64 * test.entries as f64;
        // A drop for want of room for the header does not say why the packet was cut.
        assert!(passes == (reason != Some(Reason::Rank)) || reason == Some(Reason::HeaderFull));
    }
    let reserve = why.threshold.and_then(|threshold| threshold.reserved).map_or(0, Bytes::get);
    let filtered =
        why.threshold.and_then(|threshold| threshold.filtered).map(|filtered| filtered + why.charge.as_f64());
    let would_be = filtered.unwrap_or((why.length + why.charge).get().saturating_sub(reserve) as f64);
    match (reason, why.threshold) {
        (Some(Reason::Threshold), Some(threshold)) => assert!(would_be > threshold.value),
        (Some(Reason::Threshold), None) => panic!("rejected by a threshold that is not told"),
        // The reserve of others counts as taken.
        (Some(Reason::Full), Some(threshold)) if threshold.reserved.is_some() => {}
        (Some(Reason::Full), _) => assert!(!fits),
        (None, Some(threshold)) => assert!(would_be <= threshold.value || would_be == 0.0, "{would_be} {threshold:?}"),
        (Some(Reason::Oversize), _) => assert!(why.charge > why.buffer),
        _ => {}
    }
    if reason.is_none() && config.policy != PolicyConfig::Pushout(PushoutConfig {}) {
        assert!(fits);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn explanations_tell_the_truth_and_change_nothing((config, ops) in with_operations(switches(), 120)) {
        let mut tm = start(&config);
        let mut silent = tm.clone();
        let mut now = 0;
        for op in &ops {
            now += op.after();
            let mut outcomes = Vec::new();
            let Op::Arrive { packet, .. } = op else {
                apply(&mut tm, at(now), op, &mut Vec::new());
                apply(&mut silent, at(now), op, &mut outcomes);
                continue;
            };
            let (outcome, why) = tm.offer_explained(at(now), packet, Wire::Busy);
            let verdict = outcome.verdict();
            let lost: Vec<Eviction> = tm.drain_evictions().collect();
            apply(&mut silent, at(now), op, &mut outcomes);
            // The same as without an explanation, now and in what follows.
            let mut told: Vec<Outcome> = lost.iter().copied().map(Outcome::Lost).collect();
            told.push(Outcome::Arrived(verdict));
            prop_assert_eq!(told, outcomes);
            prop_assert_eq!(lengths(&tm), lengths(&silent));

            // The state that the packet met: what is there now, less the packet, plus what was pushed out for it.
            prop_assert_eq!((why.at, why.verdict, why.buffer), (at(now), Some(verdict), config.buffer));
            let charge = |bytes: u32| u64::from(bytes).div_ceil(config.cell.get()) * config.cell.get();
            prop_assert_eq!(why.charge.get(), charge(packet.bytes));
            let pushed_out: Vec<&Eviction> = lost.iter().filter(|lost| lost.reason == Reason::PushedOut).collect();
            let mut before = lengths(&tm);
            match verdict {
                Verdict::Queued { .. } => before[why.queue] -= charge(packet.bytes),
                Verdict::Trimmed { .. } => match &config.trim {
                    Some(TrimConfig::CutPayload(cut)) => {
                        before[why.queue] -= charge(packet.bytes.min(cut.size.get() as u32));
                    }
                    Some(TrimConfig::ToQueue(cut)) => {
                        let queue = packet.port as usize * config.queues + cut.queue;
                        before[queue] -= charge(packet.bytes.min(cut.size.get() as u32));
                    }
                    _ => {}
                },
                Verdict::Returned { .. } | Verdict::Dropped { .. } => {}
            }
            let held = before.clone();
            for lost in &pushed_out {
                before[lost.queue] += charge(lost.bytes);
            }
            // Others may be pushed out again for what is left of a packet, after it was rejected.
            let most = if let Some(TrimConfig::ToQueue(_)) = &config.trim { before.clone() } else { held.clone() };
            // A header of cut payload that is pushed out was charged like a packet of its length, so this is exact.
            prop_assert_eq!(why.total.get(), before.iter().sum::<u64>());
            prop_assert_eq!(why.length.get(), before[why.queue]);

            let reason = match verdict {
                Verdict::Queued { .. } => None,
                Verdict::Trimmed { reason } | Verdict::Returned { reason } => Some(reason),
                Verdict::Dropped { reason } => Some(reason),
            };
            if let Some(threshold) = &why.threshold {
                check_threshold(&config, &why, threshold, &before, packet);
            }
            check_verdict(&config, &why, reason);

            // Who holds the buffer, for packets that were kept out; not for those that their rank or a mark drops
            // later.
            let sum: u64 = why.holders.iter().map(|holder| holder.bytes.get()).sum();
            match reason {
                Some(Reason::Full | Reason::Threshold | Reason::QueueFull | Reason::Watermark | Reason::FairDrop) => {
                    prop_assert!((held.iter().sum::<u64>()..=most.iter().sum()).contains(&sum));
                    for holder in &why.holders {
                        prop_assert!((held[holder.queue]..=most[holder.queue]).contains(&holder.bytes.get()));
                    }
                    let order = |holder: &Holder| (std::cmp::Reverse(holder.bytes), holder.queue);
                    prop_assert!(why.holders.is_sorted_by_key(order));
                }
                None => prop_assert_eq!(sum, 0),
                _ => {}
            }
        }
    }
}
