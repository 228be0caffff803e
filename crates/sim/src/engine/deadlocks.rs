//! When the engine looks for deadlocks: now and then, and at the end.

use super::Parts;
use crate::deadlock::{Deadlocks, Peers, Waits};
use crate::measure::pauses::DeadlockRecord;
use crate::routing::Ports;
use crate::scenario::{NicSetup, Scenario};
use forebay_tm::{Duration, Instant};

/// Looks for deadlocks in a network that pauses.
pub(super) struct DeadlockWatch {
    interval: Duration,
    next: Instant,
    deadlocks: Deadlocks,
}

impl DeadlockWatch {
    /// `None` if no switch pauses.
    pub(super) fn new(scenario: &Scenario, cabling: &Ports) -> Option<Self> {
        let NicSetup::Lossless { pfc, .. } = &scenario.nic else { return None };
        let interval = pfc.deadlock_interval;
        Some(Self { interval, next: Instant::ZERO + interval, deadlocks: Deadlocks::new(peers(scenario, cabling)) })
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Looks at all switches, which are where they are just before an instant.
    pub(super) fn look(&mut self, now: Instant, parts: &mut Parts<'_>) {
        let mut waits = Vec::new();
        for switch in parts.parts.iter_mut().flat_map(|part| &mut part.switches) {
            let number = switch.forwarding().number as usize;
            if waits.len() <= number {
                waits.resize_with(number + 1, Waits::default);
            }
            waits[number] = switch.waits(now).unwrap_or_default();
        }
        self.deadlocks.look(now, &waits);
        if now >= self.next {
            self.next = self.next + self.interval;
        }
    }

    pub(super) fn records(&mut self) -> Vec<DeadlockRecord> {
        self.deadlocks.records()
    }
}

/// What is at the other end of each port of each switch.
fn peers(scenario: &Scenario, cabling: &Ports) -> Peers {
    let network = &scenario.network;
    let hosts = network.hosts.len();
    let of_switch = |node: usize| {
        let peer = |port: &crate::routing::Port| {
            if network.is_host(port.peer) {
                return None;
            }
            let far = cabling
                .of(port.peer)
                .iter()
                .position(|other| other.link.cable == port.link.cable && other.link.forward != port.link.forward);
            Some((port.peer - hosts as u32, far? as u32))
        };
        cabling.of(node as u32).iter().map(peer).collect()
    };
    (hosts..network.nodes()).map(of_switch).collect()
}
