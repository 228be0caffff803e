//! AFQ, approximate fair queueing: a calendar of FIFO queues, one per round, and a sketch of every flow's bid (Sharma
//! et al., NSDI 2018).
//!
//! A packet's bid is `max(bid of its flow, round * bytes_per_round) + L`; it is sent in the round `bid /
//! bytes_per_round`. A packet whose round is `queues` or more away is dropped, and its flow's bid stays as it was. The
//! bids are kept in a count-min sketch, which never bids too low. The round moves on when its queue is empty and
//! another is not.
//!
//! `queues` or more, not more than `queues`: the calendar has a queue for each of the rounds from the current one, `r`,
//! to `r + queues - 1`. A packet of round `r + queues` would join the queue that is being served and leave with round
//! `r`, before the packets of its flow that bid less.

use super::{ActiveScheduler, Discipline, Join, Scheduler, SchedulerSettings, Service, check_capacity};
use crate::buffer::{Descriptors, List, Slot};
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::settings;
use crate::packet::Packet;
use crate::random::mix;
use crate::units::Bytes;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of AFQ.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AfqConfig {
        /// FIFO queues in the calendar.
        pub queues: usize = 32 => needed,
        /// Bytes that a flow may send per round.
        pub bytes_per_round: Bytes = Bytes::new(1_500) => needed "1500",
        /// Rows of the sketch.
        pub rows: usize = 4,
        /// Counters per row.
        pub columns: usize = 1_024,
    }
}

impl SchedulerSettings for AfqConfig {
    fn service(&self) -> Service {
        Service::OwnOrder
    }

    fn layout(&self) -> Option<Vec<u64>> {
        Some(vec![self.queues as u64, self.bytes_per_round.get(), self.rows as u64, self.columns as u64])
    }

    fn start(&self, switch: &ValidConfig) -> ActiveScheduler {
        Scheduler::Afq(Afq::new(self, switch)).into()
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        check_capacity("scheduler.queues", self.queues)?;
        check_capacity("scheduler.rows", self.rows)?;
        check_capacity("scheduler.columns", self.columns)?;
        check_capacity("scheduler.columns", self.rows * self.columns)?;
        if self.bytes_per_round == Bytes::ZERO || self.bytes_per_round.get() > 1 << 31 {
            return Err(ConfigError::new("scheduler.bytes_per_round", self.bytes_per_round, "it is out of range")
                .remedy("give 1 byte to 2GiB, such as bytes_per_round = 1500"));
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct Port {
    round: u64,
    lanes: Vec<List>,
    packets: usize,
    /// `rows * columns` bids.
    sketch: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Afq {
    bytes_per_round: u64,
    columns: usize,
    ports: Vec<Port>,
}

impl Afq {
    fn new(config: &AfqConfig, switch: &ValidConfig) -> Self {
        let port = Port {
            round: 0,
            lanes: vec![List::default(); config.queues],
            packets: 0,
            sketch: vec![0; config.rows * config.columns],
        };
        Self {
            bytes_per_round: config.bytes_per_round.get(),
            columns: config.columns,
            ports: vec![port; switch.rates.len()],
        }
    }
}

impl Discipline for Afq {
    /// Whether there is a round for the packet; if so, its bid is entered.
    fn join(&mut self, packet: &Packet, _: u64) -> Join {
        let Port { round, lanes, sketch, .. } = &mut self.ports[packet.port as usize];
        let (flow, columns) = (packet.flow, self.columns);
        let counter = |row: usize| (mix(flow ^ mix(row as u64)) % columns as u64) as usize;
        let last = sketch.chunks(columns).enumerate().map(|(row, bids)| bids[counter(row)]).min().unwrap_or(0);
        let bid = last.max(*round * self.bytes_per_round) + u64::from(packet.bytes);
        let in_round = bid / self.bytes_per_round;
        if in_round - *round >= lanes.len() as u64 {
            return Join::No;
        }
        for (row, bids) in sketch.chunks_mut(columns).enumerate() {
            let held = &mut bids[counter(row)];
            *held = (*held).max(bid);
        }
        Join::Yes((in_round % lanes.len() as u64) as u32)
    }

    fn insert(&mut self, packet: &Packet, slot: Slot, lane: u32, slots: &mut Descriptors) {
        let port = &mut self.ports[packet.port as usize];
        slots.push_back(&mut port.lanes[lane as usize], slot);
        port.packets += 1;
    }

    fn head(&self, port: usize) -> Option<Slot> {
        let Port { round, lanes, .. } = &self.ports[port];
        let n = lanes.len() as u64;
        (*round..round + n).find_map(|round| lanes[(round % n) as usize].head())
    }

    fn take_head(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        let Port { round, lanes, packets, .. } = &mut self.ports[port];
        if *packets == 0 {
            return None;
        }
        let n = lanes.len() as u64;
        while lanes[(*round % n) as usize].is_empty() {
            *round += 1;
        }
        *packets -= 1;
        slots.pop_front(&mut lanes[(*round % n) as usize])
    }

    fn take_tail(&mut self, port: usize, slots: &mut Descriptors) -> Option<Slot> {
        let Port { round, lanes, packets, .. } = &mut self.ports[port];
        let n = lanes.len() as u64;
        let last = (*round..*round + n).rev().find(|round| !lanes[(round % n) as usize].is_empty())?;
        *packets -= 1;
        slots.pop_back(&mut lanes[(last % n) as usize])
    }

    fn waiting(&self, port: usize, slots: &Descriptors) -> Vec<Slot> {
        self.ports[port].lanes.iter().flat_map(|lane| slots.iter(lane)).collect()
    }

    fn inherit(&mut self, earlier: &Self) {
        self.ports.clone_from(&earlier.ports);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TmConfig;
    use crate::units::Rate;

    #[test]
    fn a_flow_gets_one_round_per_share_and_no_more_rounds_than_queues() {
        let switch = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(1_000_000)).validate().unwrap();
        let config = AfqConfig { queues: 4, bytes_per_round: Bytes::new(1_000), ..AfqConfig::default() };
        let mut afq = Afq::new(&config, &switch);
        let packet = |flow, bytes| Packet { flow, bytes, ..Packet::default() };
        // 600-byte packets of one flow: bids 600, 1200, 1800, 2400, 3000, 3600; then 4200 is four rounds away.
        let lanes: Vec<_> = (0..7).map(|_| afq.join(&packet(1, 600), 0)).collect();
        assert_eq!(
            lanes,
            [Join::Yes(0), Join::Yes(1), Join::Yes(1), Join::Yes(2), Join::Yes(3), Join::Yes(3), Join::No]
        );
        // Another flow starts in the current round.
        assert_eq!(afq.join(&packet(2, 600), 0), Join::Yes(0));
    }

    /// Four queues of 1,000 bytes a round, by hand. In round 0 the last bid that is admitted is 3,999, in round 1 it is
    /// 4,999.
    #[test]
    fn the_calendar_ends_one_byte_before_the_round_that_shares_the_queue_in_service() {
        let switch = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(1_000_000)).validate().unwrap();
        let config = AfqConfig { queues: 4, bytes_per_round: Bytes::new(1_000), ..AfqConfig::default() };
        let mut afq = Afq::new(&config, &switch);
        let packet = |flow, bytes| Packet { flow, bytes, ..Packet::default() };
        // A bid of 4,000 is round 4, whose queue would be that of round 0; one of 3,999 is round 3.
        assert_eq!(afq.join(&packet(1, 4_000), 0), Join::No);
        assert_eq!(afq.join(&packet(1, 3_999), 0), Join::Yes(3), "a packet that was dropped has not raised the bid");
        assert_eq!(afq.join(&packet(1, 1), 0), Join::No);
        // The bid of 3,999 stays when round 1 begins.
        afq.ports[0].round = 1;
        assert_eq!(afq.join(&packet(1, 1_001), 0), Join::No);
        assert_eq!(afq.join(&packet(1, 1_000), 0), Join::Yes(0), "round 4, in the queue that round 0 has left");
        // A flow that sent nothing bids from the beginning of the round: 1,000 + 4,000 is round 5.
        assert_eq!(afq.join(&packet(2, 4_000), 0), Join::No);
        assert_eq!(afq.join(&packet(2, 3_999), 0), Join::Yes(0));
    }

    /// The setting of AIFO's authors, 32 rounds of 80 bytes, with packets of 1,500 bytes, by hand: a flow has one
    /// packet on the wire and one in the queue, not two.
    #[test]
    fn a_horizon_of_2560_bytes_queues_one_packet_a_flow() {
        let switch = TmConfig::new(vec![Rate::from_gbps(1)], Bytes::new(1_000_000)).validate().unwrap();
        let config = AfqConfig { queues: 32, bytes_per_round: Bytes::new(80), ..AfqConfig::default() };
        let mut afq = Afq::new(&config, &switch);
        let packet = Packet { flow: 1, bytes: 1_500, ..Packet::default() };
        // 1,500 / 80 is round 18. It leaves at once, and its round becomes the current one.
        assert_eq!(afq.join(&packet, 0), Join::Yes(18));
        afq.ports[0].round = 18;
        // 3,000 / 80 is round 37, 19 away; 4,500 / 80 is round 56, 38 away.
        assert_eq!(afq.join(&packet, 0), Join::Yes(37 % 32));
        assert_eq!(afq.join(&packet, 0), Join::No);
        // The second is on the wire: there is room for the third.
        afq.ports[0].round = 37;
        assert_eq!(afq.join(&packet, 0), Join::Yes(56 % 32));
        assert_eq!(afq.join(&packet, 0), Join::No);
    }
}
