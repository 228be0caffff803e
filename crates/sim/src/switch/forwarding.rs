//! What all kinds of switches have: ports, a forwarding table, and what was found when packets were dropped.

use super::port::Port;
use crate::measure::histogram::Shares;
use crate::net::Net;
use crate::packet::{Metadata, Packet};
use crate::paths::switch_salt;
use crate::prefetch;
use crate::routing::{NextHops, Routes, choose};
use crate::scenario::{PathChoice, SwitchSetup};
use forebay_tm::random::{Random, mix};
use forebay_tm::{Instant, View};

/// What was found when packets were dropped in a buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtDrops {
    /// The share of the ports' rate that was being sent.
    pub(crate) memory: Shares,
    /// The share of the buffer that was used.
    pub(crate) buffer: Shares,
}

/// The ports of a switch and its forwarding table.
pub(crate) struct Forwarding {
    pub(crate) number: u32,
    pub(crate) ports: Vec<Port>,
    ports_per_buffer: usize,
    /// The link that its port 0 receives from; those of the other ports follow, then those that come from the switch
    /// itself.
    pub(crate) first_incoming: u32,
    /// Of each buffer.
    pub(crate) at_drops: Vec<AtDrops>,
    next_hops: NextHops,
    /// What equal-cost choices are salted with.
    salt: u32,
    spray: Random,
}

impl Forwarding {
    /// `out` are the links that the ports send on; those that they receive from stand together, from `first_incoming`
    /// on.
    pub(super) fn new(number: u32, setup: &SwitchSetup, out: &[u32], first_incoming: u32, seed: u64) -> Self {
        let port = |(port, out): (usize, &u32)| {
            Port::new(*out, (port / setup.ports_per_buffer) as u32, (port % setup.ports_per_buffer) as u32)
        };
        Self {
            number,
            ports: out.iter().enumerate().map(port).collect(),
            ports_per_buffer: setup.ports_per_buffer,
            first_incoming,
            at_drops: vec![AtDrops::default(); setup.buffers.len()],
            next_hops: NextHops::default(),
            salt: switch_salt(seed, number),
            spray: Random::stream(seed, "spray", u64::from(number)),
        }
    }

    /// Takes new routes.
    pub(crate) fn reroute(&mut self, routes: &Routes) {
        self.next_hops = routes.of_switch(self.number as usize);
    }

    /// Asks for the ports and the table.
    pub(crate) fn look_ahead(&self) {
        prefetch::slice(&self.ports);
        self.next_hops.look_ahead();
    }

    /// The port that a packet leaves by.
    #[inline(always)]
    pub(crate) fn next_hop(&mut self, metadata: &Metadata, net: &mut Net) -> Option<usize> {
        let Metadata { packet: slot, to, hash, .. } = *metadata;
        let (salt, spray, paths) = (self.salt, &mut self.spray, net.paths);
        let arena = &mut net.wires.arena;
        self.next_hops.port(to, |count| match paths {
            PathChoice::Ecmp => choose(hash, salt, count),
            _ => spread(paths, salt, arena.get_mut(slot), count, spray),
        })
    }

    /// The number of a buffer's port.
    pub(crate) fn port_number(&self, buffer: usize, local: usize) -> usize {
        buffer * self.ports_per_buffer + local
    }

    /// The ports of a buffer.
    pub(crate) fn ports_of(&self, buffer: usize) -> &[Port] {
        let first = self.port_number(buffer, 0);
        &self.ports[first..(first + self.ports_per_buffer).min(self.ports.len())]
    }

    /// The link that a port sends on.
    pub(crate) fn outgoing(&self, port: usize) -> u32 {
        self.ports[port].out
    }

    /// Notes how busy the memory and how full the buffer was when a packet was dropped.
    pub(crate) fn note_drop(&mut self, now: Instant, buffer: usize, tm: &impl View) {
        let (mut sending, mut all) = (0u64, 0u64);
        for port in self.ports.iter().filter(|port| port.buffer as usize == buffer) {
            let rate = tm.rate(port.local as usize).bps();
            all += rate;
            sending += if port.free_at > now { rate } else { 0 };
        }
        let used = tm.used().as_f64() / tm.config().buffer.as_f64();
        let note = &mut self.at_drops[buffer];
        note.memory.record(sending as f64 / all as f64);
        note.buffer.record(used);
    }
}

/// Which of `count` equal next hops a sprayed packet takes.
#[inline(never)]
fn spread(paths: PathChoice, salt: u32, packet: &mut Packet, count: usize, random: &mut Random) -> usize {
    if paths == PathChoice::SprayRandom {
        return (random.unit() * count as f64) as usize;
    }
    // One after the other, from a start of the flow's own. A packet that was spread over `count` next hops before moves
    // on here only once in `count` packets, so that all combinations are taken.
    let rounds = (0..packet.spreads).fold(packet.seq as usize, |rounds, _| rounds / count);
    packet.spreads += 1;
    ((mix(u64::from(packet.hash ^ salt)) >> 33) as usize + rounds) % count
}
