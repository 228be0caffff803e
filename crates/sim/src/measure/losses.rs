//! Packets that were lost outside the buffers: on links that do not work, and in switches that have no route for them.

use crate::flow::NONE;
use crate::packet::{Kind, Packet};
use forebay_tm::Instant;
use std::collections::BTreeMap;

/// A packet that was lost outside the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LossRecord {
    /// When: when the link failed, if it was on it or lined up for it; else when it would have been sent.
    pub at: Instant,
    /// The node that sends on the link: hosts first, then switches; `None`: there was no route.
    pub node: Option<u32>,
    /// Its port.
    pub port: u32,
    /// Its flow, a number in [`RunResult::flows`](super::RunResult::flows), or [`NONE`].
    pub flow: u32,
    /// Its class.
    pub class: u8,
    /// Its length on the wire.
    pub bytes: u32,
}

/// Keeps losses, up to a number of them. Those of each link come in order of time, so that the first of all are among
/// the first of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    on: bool,
    limit: usize,
    /// The node and port that send on each link.
    ends: Vec<(u32, u32)>,
    records: Vec<LossRecord>,
    /// How many are kept of each link; [`NONE`]: without a route.
    kept: BTreeMap<u32, usize>,
}

impl Losses {
    /// `outgoing` are the links that each node sends on.
    pub(crate) fn new(outgoing: &[Vec<u32>], links: usize, limit: usize) -> Self {
        let mut ends = vec![(NONE, NONE); links];
        for (node, links) in outgoing.iter().enumerate() {
            for (port, link) in links.iter().enumerate() {
                ends[*link as usize] = (node as u32, port as u32);
            }
        }
        Self { on: true, limit, ends, ..Self::default() }
    }

    /// The same before anything has happened.
    pub(crate) fn replica(&self) -> Self {
        Self { records: Vec::new(), kept: BTreeMap::new(), ..self.clone() }
    }

    /// A packet is lost on a link, or without one.
    pub(crate) fn keep(&mut self, at: Instant, link: Option<u32>, packet: &Packet) {
        if !self.on || packet.kind == Kind::Pause {
            return;
        }
        let kept = self.kept.entry(link.unwrap_or(NONE)).or_default();
        if *kept == self.limit {
            return;
        }
        *kept += 1;
        let end = link.map(|link| self.ends[link as usize]);
        self.records.push(LossRecord {
            at,
            node: end.map(|(node, _)| node),
            port: end.map_or(NONE, |(_, port)| port),
            flow: packet.flow,
            class: packet.class,
            bytes: packet.bytes,
        });
    }

    /// Takes over what was lost in a partition.
    pub(crate) fn join(&mut self, part: Self) {
        self.records.extend(part.records);
    }

    /// All in order of time; flows by their numbers in the result.
    pub(crate) fn finish(&mut self, place: impl Fn(u32) -> u32) -> Vec<LossRecord> {
        let mut records = core::mem::take(&mut self.records);
        records.iter_mut().for_each(|record| record.flow = place(record.flow));
        records.sort_unstable();
        records.truncate(self.limit);
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_losses_of_all_links_are_kept() {
        let mut losses = Losses::new(&[vec![], vec![4, 2]], 5, 3);
        let packet = |flow| Packet { flow, bytes: 1_500, ..Packet::default() };
        for (at, link) in [(10, Some(4)), (20, Some(4)), (30, Some(4)), (40, Some(4)), (5, Some(2)), (15, None)] {
            losses.keep(Instant::from_ps(at), link, &packet(at as u32));
        }
        losses.keep(Instant::from_ps(1), None, &Packet { kind: Kind::Pause, ..packet(1) });
        let mut other = losses.replica();
        other.keep(Instant::from_ps(12), Some(2), &packet(12));
        losses.join(other);
        let found = losses.finish(|flow| flow + 100);
        let found: Vec<_> = found.iter().map(|loss| (loss.at.ps(), loss.node, loss.port, loss.flow)).collect();
        assert_eq!(found, [(5, Some(1), 1, 105), (10, Some(1), 0, 110), (12, Some(1), 1, 112)]);
    }
}
