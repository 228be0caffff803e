//! Packets that were watched, one by one.

use crate::packet::{Kind, Packet, Slot, flag};
use crate::wires::Wires;
use forebay_tm::{Instant, Reason, Verdict};

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A host handed it to its link, or a switch began to send it.
    Sent,
    /// It reached a host.
    Received,
    /// It joined a queue.
    Queued,
    /// It was dropped on arrival, or trimmed or turned around for this reason.
    Rejected(Reason),
    /// It was waiting and is gone.
    Lost(Reason),
}

/// Where something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// At a host.
    Host(u32),
    /// At a port of a switch.
    Switch(u32, u32),
}

/// One thing that happened to one packet.
#[derive(Clone, Copy, Debug)]
pub struct TraceEvent {
    /// When.
    pub at: Instant,
    /// Where.
    pub place: Place,
    /// What.
    pub what: What,
    /// The packet as it was.
    pub packet: Packet,
}

/// What the sender of a traced flow knew after a response had come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseSample {
    /// When.
    pub at: Instant,
    /// The flow, a number in [`RunResult::flows`](super::RunResult::flows).
    pub flow: u32,
    /// When the packet was sent that the response is about; before the flow's start if the response does not say.
    pub sent_at: Instant,
    /// The first packet that the receiver misses, if the response says so.
    pub missing: Option<u32>,
    /// The congestion window in packets, if the transport has one.
    pub window: Option<u32>,
}

/// Keeps what happens to chosen packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracer {
    /// Whether anything is watched at all.
    active: bool,
    flows: bool,
    switches: Vec<bool>,
    pub(crate) events: Vec<TraceEvent>,
    pub(crate) responses: Vec<ResponseSample>,
}

impl Tracer {
    pub(crate) fn new(flows: bool, watched: &[usize], switches: usize) -> Self {
        let mut of = vec![false; switches];
        for switch in watched {
            of[*switch] = true;
        }
        Self { active: flows || !watched.is_empty(), flows, switches: of, ..Self::default() }
    }

    /// Takes over what was kept in a partition.
    pub(crate) fn join(&mut self, part: Self) {
        self.events.extend(part.events);
        self.responses.extend(part.responses);
    }

    #[inline(always)]
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    fn wants(&self, switch: Option<u32>, packet: &Packet) -> bool {
        (self.flows && packet.has(flag::TRACED)) || switch.is_some_and(|switch| self.switches[switch as usize])
    }

    /// A response of a traced flow has come in.
    #[cold]
    #[inline(never)]
    pub(crate) fn response(&mut self, at: Instant, packet: &Packet, window: Option<u32>) {
        let missing = (packet.kind == Kind::Ack).then_some(packet.seq);
        self.responses.push(ResponseSample { at, flow: packet.flow, sent_at: packet.sent_at, missing, window });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn at_host(&mut self, at: Instant, host: u32, slot: Slot, what: What, wires: &Wires) {
        let packet = *wires.arena.get(slot);
        if self.wants(None, &packet) {
            self.events.push(TraceEvent { at, place: Place::Host(host), what, packet });
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn at_switch(&mut self, at: Instant, switch: u32, port: usize, slot: Slot, what: What, wires: &Wires) {
        let packet = *wires.arena.get(slot);
        if self.wants(Some(switch), &packet) {
            self.events.push(TraceEvent { at, place: Place::Switch(switch, port as u32), what, packet });
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn verdict(
        &mut self,
        at: Instant,
        switch: u32,
        port: usize,
        slot: Slot,
        verdict: Verdict,
        wires: &Wires,
    ) {
        let what = match verdict {
            Verdict::Queued { .. } => What::Queued,
            Verdict::Trimmed { reason } | Verdict::Returned { reason } | Verdict::Dropped { reason } => {
                What::Rejected(reason)
            }
        };
        self.at_switch(at, switch, port, slot, what, wires);
    }
}
