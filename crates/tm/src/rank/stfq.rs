//! Start-time fair queueing: the rank is the virtual start time (AIFO figure 1).
//!
//! `start = max(virtual time of the port, finish of the flow's last packet)`, `finish = start + L * 2^20 / weight`. The
//! virtual time is the start tag of the packet that the port picked last. A packet that does not join its queue leaves
//! no finish tag behind, so that a flow does not pay for what was dropped.

use super::{ActiveRank, RankFunction, RankSettings};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use crate::described::settings;
use crate::flow_table::FlowTable;
use crate::packet::Packet;
use crate::units::Instant;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of STFQ.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct StfqConfig {
        /// The weight of a flow, by the class of its packets; classes beyond the list have weight 1.
        pub flow_weights: PerQueue<u32> = PerQueue::All(1),
    }
}

impl RankSettings for StfqConfig {
    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        if self.flow_weights.values().contains(&0) {
            return Err(ConfigError::new("scheduler.flow_weights", 0, "a flow without weight is never sent")
                .remedy("give weights of 1 or more"));
        }
        Ok(())
    }

    fn start(&self, switch: &ValidConfig) -> ActiveRank {
        Stfq::new(self, switch).into()
    }
}

#[derive(Clone, Debug)]
struct Port {
    virtual_time: u64,
    /// Nothing waits, so that no start tag below the virtual time can be picked any more.
    empty: bool,
    finish: FlowTable<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Stfq {
    weights: PerQueue<u32>,
    ports: Vec<Port>,
}

impl Stfq {
    pub(super) fn new(config: &StfqConfig, switch: &ValidConfig) -> Self {
        let port = Port { virtual_time: 0, empty: true, finish: FlowTable::new() };
        Self { weights: config.flow_weights.clone(), ports: vec![port; switch.rates.len()] }
    }
}

impl RankFunction for Stfq {
    fn rank(&self, _: Instant, packet: &Packet) -> u64 {
        let port = &self.ports[packet.port as usize];
        port.finish.get(packet.flow).map_or(port.virtual_time, |finish| finish.max(port.virtual_time))
    }

    fn joined(&mut self, packet: &Packet, start: u64) {
        let weight = u64::from(self.weights.get(packet.class as usize).unwrap_or(1));
        let port = &mut self.ports[packet.port as usize];
        let (virtual_time, empty) = (port.virtual_time, port.empty);
        // While packets wait, the virtual time may still fall back to one of their tags (in a queue that does not sort
        // exactly), so finish tags are only forgotten when none does.
        let needed = |finish: &u64| !empty || *finish > virtual_time;
        *port.finish.entry(packet.flow, || 0, needed) = start.saturating_add((u64::from(packet.bytes) << 20) / weight);
        port.empty = false;
    }

    fn picked(&mut self, port: usize, start: u64, empty: bool) {
        let port = &mut self.ports[port];
        port.virtual_time = start;
        port.empty = empty;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TmConfig;
    use crate::units::{Bytes, Rate};

    #[test]
    fn flows_take_turns_by_weight() {
        let switch = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(1_000_000)).validate().unwrap();
        let mut stfq = Stfq::new(&StfqConfig { flow_weights: PerQueue::Each(vec![1, 2]) }, &switch);
        let packet = |class: u32| Packet { bytes: 1_000, flow: u64::from(class), class, ..Packet::default() };
        let mut tag = |class| {
            let rank = stfq.rank(Instant::ZERO, &packet(class));
            stfq.joined(&packet(class), rank);
            rank >> 20
        };
        // The flow of weight 2 gets a start tag every 500, that of weight 1 every 1000.
        assert_eq!([tag(0), tag(0), tag(1), tag(1), tag(1)], [0, 1_000, 0, 500, 1_000]);
        // A flow that was idle does not catch up: it starts at the virtual time.
        stfq.picked(0, 1_000 << 20, false);
        let late = Packet { bytes: 1_000, flow: 9, ..Packet::default() };
        assert_eq!(stfq.rank(Instant::ZERO, &late) >> 20, 1_000);
    }

    #[test]
    fn a_dropped_packet_leaves_no_tag() {
        let switch = TmConfig::new(vec![Rate::from_gbps(10)], Bytes::new(1_000_000)).validate().unwrap();
        let stfq = Stfq::new(&StfqConfig::default(), &switch);
        let packet = Packet { bytes: 1_000, ..Packet::default() };
        assert_eq!(stfq.rank(Instant::ZERO, &packet), 0);
        assert_eq!(stfq.rank(Instant::ZERO, &packet), 0);
    }
}
