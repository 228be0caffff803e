//! PACKS: strict-priority FIFO queues, to which packets are admitted and assigned by the quantile of their rank (Alcoz,
//! Vass, Namyar, Arzani, Retvari and Vanbever, NSDI 2025).
//!
//! A window of recent ranks gives the quantile of an arriving rank: the share of the window that is strictly smaller.
//! The packet joins the most important queue `i` that has room and for which `quantile <= (1/(1-k)) * F_i / C`, where
//! `F_i` is the room in queues 0 to `i` and `C` that of all queues when they are empty; without such a queue it is
//! dropped. So a rank is admitted as in AIFO with a queue of size `C`, and the order among the queues is that of the
//! quantiles.

use super::aifo::Window;
use super::{ActiveScheduler, Discipline, Join, Lanes, Scheduler, SchedulerSettings, Service, check_capacity};
use crate::config::{ConfigError, TmConfig, ValidConfig, check_share};
use crate::described::settings;
use crate::packet::Packet;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of PACKS.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PacksConfig {
        /// FIFO queues per port.
        pub queues: usize = 8 => needed,
        /// Packets that each holds.
        pub capacity: usize = 10 => needed,
        /// The share of the capacity below which every packet is admitted: `k`.
        pub headroom: f64 = 0.1 => needed,
        /// Ranks in the window.
        pub window: usize = 1_000,
    }
}

impl SchedulerSettings for PacksConfig {
    fn service(&self) -> Service {
        Service::OwnOrder
    }

    fn uses_ranks(&self) -> bool {
        true
    }

    fn layout(&self) -> Option<Vec<u64>> {
        Some(vec![self.queues as u64])
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        check_capacity("scheduler.queues", self.queues)?;
        check_capacity("scheduler.capacity", self.capacity)?;
        check_capacity("scheduler.window", self.window)?;
        check_share("scheduler.headroom", self.headroom)
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        let port = Port { window: Window::sampled(self.window, 1), lanes: Lanes::new(self.queues) };
        Scheduler::Packs(Packs { config: self.clone(), ports: vec![port; switch.rates.len()] }).into()
    }
}

#[derive(Clone, Debug)]
struct Port {
    window: Window,
    lanes: Lanes,
}

#[derive(Clone, Debug)]
pub(crate) struct Packs {
    config: PacksConfig,
    ports: Vec<Port>,
}

impl Discipline for Packs {
    /// The rank enters the window, whether the packet finds room or not.
    fn join(&mut self, packet: &Packet, rank: u64) -> Join {
        let PacksConfig { queues, capacity, headroom, .. } = self.config;
        let Port { window, lanes } = &mut self.ports[packet.port as usize];
        window.push(rank);
        let (smaller, entries) = (window.smaller(rank) as f64, window.entries() as f64);
        let least_room = smaller * ((queues * capacity) as f64 * (1.0 - headroom));
        let mut room = 0;
        for lane in 0..queues {
            let here = capacity.saturating_sub(lanes.len(lane));
            room += here;
            if here > 0 && least_room <= room as f64 * entries {
                return Join::Yes(lane as u32);
            }
        }
        Join::No
    }

    fn lanes(&self, port: usize) -> Option<&Lanes> {
        Some(&self.ports[port].lanes)
    }

    fn lanes_mut(&mut self, port: usize) -> Option<&mut Lanes> {
        Some(&mut self.ports[port].lanes)
    }

    /// With a window of another size the ranks seen so far are forgotten.
    fn inherit(&mut self, earlier: &Self) {
        for (port, old) in self.ports.iter_mut().zip(&earlier.ports) {
            port.lanes.clone_from(&old.lanes);
            if self.config.window == earlier.config.window {
                port.window.clone_from(&old.window);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::SchedulerConfig;
    use crate::{Bytes, Duration, Instant, Outcome, PacketId, Tm, Verdict, Wire};

    fn switch() -> Tm {
        let mut config = TmConfig::new(vec!["10Gbps".parse().unwrap()], Bytes::new(99_999));
        config.scheduler = SchedulerConfig::Packs(PacksConfig { queues: 2, capacity: 2, headroom: 0.0, window: 4 });
        Tm::new(config.validate().unwrap())
    }

    fn arrives(tm: &mut Tm, rank: u64) -> bool {
        let packet = Packet { id: PacketId(rank), bytes: 1_000, rank, ..Packet::default() };
        matches!(tm.offer(Instant::ZERO, &packet, Wire::Busy), Outcome::Verdict(Verdict::Queued { .. }))
    }

    fn sent(tm: &mut Tm) -> Vec<u64> {
        core::iter::from_fn(|| tm.dequeue(Instant::ZERO + Duration::from_us(1), 0)).map(|packet| packet.id.0).collect()
    }

    /// Two queues of two packets. Rank 10 is alone in the window: quantile 0, queue 0. Of 10 and 20, 20 has quantile
    /// 1/2; queue 0 has room for 1 of 4, all queues for 3 of 4: queue 1. Then 5 has quantile 0: queue 0, which is full.
    /// 4: queue 1.
    #[test]
    fn quantiles_decide_the_queue() {
        let mut tm = switch();
        assert!([10, 20, 5, 4].into_iter().all(|rank| arrives(&mut tm, rank)));
        assert!(!arrives(&mut tm, 1), "there is no room");
        assert_eq!(sent(&mut tm), [10, 5, 20, 4]);
        assert!(tm.is_consistent());
    }

    /// Room for 2 of 4: a rank above half of the window is dropped, one below is not.
    #[test]
    fn a_large_rank_is_dropped_while_there_is_room() {
        let mut tm = switch();
        assert!(arrives(&mut tm, 1) && arrives(&mut tm, 2));
        // Of 1, 2 and 3, two are smaller: quantile 2/3 above 2/4.
        assert!(!arrives(&mut tm, 3));
        assert!(arrives(&mut tm, 1));
    }
}
