//! Mirror on drop: a switch that cannot trim keeps the headers of the packets that its traffic managers reject.
//!
//! The header of a rejected packet goes to the recirculation port of the pipeline that the packet came in by, a link
//! from the switch to itself with a queue in front of it. When it comes out it arrives once more, at the port that had
//! no room for its packet: this port is the destination on its metadata.

use super::plain::{PlainSwitch, Rejected};
use super::{Forwarding, SwitchKind, like_its_switch, runs_for_slots};
use crate::event_queue::{FixedEventQueue, Key};
use crate::measure::RecirculationRecord;
use crate::net::{Context, Net};
use crate::packet::{Kind, Metadata, Packet, Slot, flag};
use crate::routing::Address;
use crate::scenario::MirrorSetup;
use crate::wires::Wires;
use forebay_tm::{Instant, PacketId, Reason, Verdict, View};
use std::collections::VecDeque;

/// The recirculation port of a pipeline.
struct Recirculation {
    /// The link from the switch to itself.
    link: u32,
    /// Its slot among the switch's arrivals.
    slot: usize,
    /// When what it was given so far has been sent.
    free_at: Instant,
    /// When the headers that were still waiting at the last look begin to be sent.
    starts: VecDeque<Instant>,
    record: RecirculationRecord,
}

/// The recirculation ports of a switch.
pub(crate) struct Mirror {
    setup: MirrorSetup,
    pipelines: Vec<Recirculation>,
}

impl Mirror {
    /// The mirror of a switch with so many ports. The recirculation links follow the links that the switch receives
    /// from, and their slots those of its ports.
    fn new(setup: &MirrorSetup, Forwarding { number, ports, first_incoming, .. }: &Forwarding) -> Self {
        let ports = ports.len();
        let pipelines = (0..setup.pipelines(ports)).map(|pipeline| Recirculation {
            link: first_incoming + (ports + pipeline) as u32,
            slot: ports + pipeline,
            free_at: Instant::ZERO,
            starts: VecDeque::new(),
            record: RecirculationRecord {
                switch: *number,
                pipeline: pipeline as u32,
                ..RecirculationRecord::default()
            },
        });
        Self { setup: setup.clone(), pipelines: pipelines.collect() }
    }

    /// Whether the header of a packet that was rejected for this reason is kept: headers, ACKs and what no buffer could
    /// ever hold are not.
    pub(crate) fn wants(packet: &Packet, reason: Reason) -> bool {
        packet.kind == Kind::Data && !packet.has(flag::TRIMMED) && reason != Reason::Oversize
    }

    /// Cuts a packet that came in by a port and found no room at another, and sends its header around. Returns `None`
    /// if there is no room in front of the recirculation port, either; else perhaps an event for a slot among the
    /// switch's arrivals.
    fn recirculate(
        &mut self,
        now: Instant,
        (from, to): (usize, usize),
        slot: Slot,
        wires: &mut Wires,
    ) -> Option<Option<(usize, Key)>> {
        let port = &mut self.pipelines[from / self.setup.ports_per_pipeline];
        while port.starts.front().is_some_and(|start| *start <= now) {
            port.starts.pop_front();
        }
        if port.free_at > now && port.starts.len() >= self.setup.capacity {
            port.record.full += 1;
            return None;
        }
        let packet = wires.arena.get_mut(slot);
        packet.flags |= flag::TRIMMED;
        packet.class = self.setup.class;
        packet.bytes = u64::from(packet.bytes).min(self.setup.size.get()) as u32;
        let bytes = packet.bytes;
        // It says where to go on: by a port of this switch.
        let to = Address::new(0, to);
        let metadata = Metadata::of(&Packet { to, ..*packet }, slot, bytes);
        let start = port.free_at.max(now);
        if start > now {
            port.starts.push_back(start);
        }
        port.record.mirrored += 1;
        port.record.peak = port.record.peak.max(port.starts.len() as u64);
        let (end, key) = wires.send_around(port.link, metadata, start);
        port.free_at = end;
        Some(key.map(|key| (port.slot, key)))
    }
}

/// A switch that mirrors.
pub(crate) struct MirrorSwitch {
    switch: PlainSwitch,
    mirror: Mirror,
}

impl MirrorSwitch {
    /// Its recirculation links have to follow those it receives from.
    pub(super) fn new(switch: PlainSwitch, setup: &MirrorSetup) -> Self {
        Self { mirror: Mirror::new(setup, &switch.forwarding), switch }
    }

    /// What went through the recirculation ports.
    pub(super) fn records(&self) -> impl Iterator<Item = RecirculationRecord> {
        self.mirror.pipelines.iter().map(|port| port.record)
    }

    /// Sends the header of a packet that came in by a port and was rejected around, if there is room. Returns whether
    /// it did.
    #[cold]
    fn mirrors<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        rejected: &Rejected,
        mut cx: Context<'_, NODES>,
    ) -> bool {
        let Rejected { port: number, slot, verdict: Verdict::Dropped { reason } } = *rejected else { return false };
        let packet = *cx.net.wires.arena.get(slot);
        if !Mirror::wants(&packet, reason) {
            return false;
        }
        let Some(event) = self.mirror.recirculate(now, (from, number), slot, &mut cx.net.wires) else { return false };
        if let Some((place, key)) = event {
            cx.events.set(FixedEventQueue::<NODES>::ARRIVALS + place, key);
        }
        let buffer = self.switch.forwarding.ports[number].buffer as usize;
        let is_last = self.switch.buffers[buffer].keep_header(PacketId(u64::from(slot)));
        debug_assert!(is_last, "it was dropped just now");
        cx.net.flows.trimmed(packet.flow);
        true
    }
}

impl SwitchKind for MirrorSwitch {
    runs_for_slots!();

    like_its_switch!();

    fn due<const NODES: usize>(&mut self, now: Instant, slot: usize, cx: Context<'_, NODES>) {
        self.switch.transmit(now, slot, cx);
    }

    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        if from < self.switch.forwarding.ports.len() {
            return self.switch.arrive_rare(now, metadata, cx);
        }
        // A header comes from recirculation, for the port that is its metadata's destination.
        self.switch.offer_rare(now, metadata.to.port(), metadata.packet, cx)
    }

    fn reject<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        rejected: &Rejected,
        mut cx: Context<'_, NODES>,
    ) {
        if !self.mirrors(now, from, rejected, cx.reborrow()) {
            self.switch.drop_or_return(now, rejected, cx);
        }
    }
}
