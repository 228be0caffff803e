//! A switch that plays a script: it holds packets for half a round trip, does to some of them what the script says, and
//! keeps what it saw.

use super::plain::PlainSwitch;
use super::{Forwarding, Rejected, SwitchKind, like_its_switch, runs_for_slots};
use crate::event_queue::NEVER;
use crate::flows::FlowTable;
use crate::net::{Context, Net};
use crate::packet::{Kind, Metadata, Packet, flag};
use forebay_script::director::Subject;
use forebay_script::file::Script;
use forebay_script::play::{DelayLine, Fate, Play};
use forebay_script::trace::{self, Acknowledgement, Bits, Event, Position, Side};
use forebay_tm::{Duration, Instant, Rate, View};

/// How fast hosts send to such a switch: they are not what a script is about.
pub(crate) const HOST_RATE: Rate = Rate::from_gbps(100);

/// The echo of an ACK that is about no packet.
const NO_ECHO: u32 = u32::MAX;

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// When its first packet was seen.
    start: Option<Instant>,
    /// What was last acknowledged.
    next: Option<u32>,
}

/// A script that is being played, and what was seen.
struct Scripted {
    play: Play,
    held: DelayLine<Metadata>,
    flows: Vec<Known>,
    events: Vec<Event>,
}

impl Scripted {
    fn new(script: &Script) -> Self {
        let flows = vec![Known::default(); script.flows.len()];
        Self { play: Play::new(script), held: DelayLine::default(), flows, events: Vec::new() }
    }

    /// A packet has come: what becomes of it.
    fn meet(&mut self, now: Instant, packet: &Packet, flows: &FlowTable) -> Fate {
        let (flow, seq) = (packet.flow, packet.seq);
        let Some(known) = self.flows.get_mut(flow as usize) else {
            return self.play.meet(now, Duration::ZERO, flow, Side::Sender, None);
        };
        let start = *known.start.get_or_insert(now);
        let marked = packet.has(flag::CE);
        let mut bits = Bits { ect: packet.has(flag::ECT), ..Bits::default() };
        let mut acknowledgement = None;
        let (side, kind, subject) = match packet.kind {
            Kind::Data => {
                let header = flows.header(flow);
                bits.ce = marked;
                let kind = trace::Kind::Data(Position::of(seq), packet.bytes.saturating_sub(header));
                (Side::Sender, kind, Some(Subject::Data { segment: seq }))
            }
            Kind::Probe if seq > 0 => (Side::Sender, trace::Kind::Ack(Position::default()), None),
            Kind::Probe => (Side::Sender, trace::Kind::Syn, Some(Subject::Syn)),
            Kind::Ack if packet.echo == NO_ECHO => (Side::Receiver, trace::Kind::SynAck, Some(Subject::SynAck)),
            Kind::Ack => {
                bits.ece = marked;
                let (from, to) = packet.block;
                acknowledgement = Some(Acknowledgement {
                    next: Position::of(seq),
                    sack: if to > from { vec![(Position::of(from), Position::of(to))] } else { Vec::new() },
                    again: known.next == Some(seq),
                    ..Acknowledgement::default()
                });
                known.next = Some(seq);
                (Side::Receiver, trace::Kind::Ack(Position::default()), Some(Subject::Ack { next: seq }))
            }
            Kind::Nack | Kind::Pull | Kind::Pause => (Side::Receiver, trace::Kind::Ack(Position::default()), None),
        };
        // The wire behind the port is a real one here, and takes its own time.
        let fate = self.play.meet(now, Duration::ZERO, flow, side, subject);
        let at = now.since(start);
        self.events.push(Event { at, flow, side, kind, bits, acknowledgement, decision: fate.decision });
        fate
    }
}

/// A switch that plays a script.
pub(crate) struct ScriptedSwitch {
    switch: PlainSwitch,
    script: Scripted,
}

impl ScriptedSwitch {
    pub(super) fn new(switch: PlainSwitch, script: &Script) -> Self {
        Self { switch, script: Scripted::new(script) }
    }

    /// What it has seen.
    pub(super) fn seen(&mut self) -> Vec<Event> {
        core::mem::take(&mut self.script.events)
    }

    /// The slot behind the ports is for the packet that goes on next.
    fn wait_for_held<const NODES: usize>(&mut self, mut cx: Context<'_, NODES>) {
        let slot = self.switch.forwarding.ports.len();
        let next = self.script.held.next();
        cx.events.set(slot, next.map_or(NEVER, |at| cx.net.wires.clock.timer(at, slot)));
    }
}

impl SwitchKind for ScriptedSwitch {
    runs_for_slots!();

    like_its_switch!();

    fn due<const NODES: usize>(&mut self, now: Instant, slot: usize, mut cx: Context<'_, NODES>) {
        if slot < self.switch.forwarding.ports.len() {
            return self.switch.transmit(now, slot, cx);
        }
        // Packets that were held go on.
        while let Some(metadata) = self.script.held.pop(now) {
            self.switch.forward(now, metadata, cx.reborrow());
        }
        self.wait_for_held(cx);
    }

    /// A packet is held, or it is gone.
    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        _: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected> {
        let packet = cx.net.wires.arena.get_mut(metadata.packet);
        let fate = self.script.meet(now, packet, &cx.net.flows);
        if fate.decision.drop {
            cx.net.wires.lose(metadata.packet);
            return None;
        }
        if fate.decision.mark && packet.has(flag::ECT) {
            packet.flags |= flag::CE;
        }
        let packet = *packet;
        self.script.held.push(fate.release, metadata);
        if let Some(at) = fate.copy {
            let copy = cx.net.wires.arena.insert(packet);
            self.script.held.push(at, cx.net.wires.arena.metadata(copy, metadata.bytes()));
        }
        self.wait_for_held(cx);
        None
    }
}
