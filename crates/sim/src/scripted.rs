//! A switch that plays a script: it holds packets for half a round trip, does to some of them what the script says, and keeps what it saw.

use crate::flows::FlowTable;
use crate::packet::{Kind, Metadata, Packet, flag};
use forebay_script::director::Subject;
use forebay_script::file::Script;
use forebay_script::play::{DelayLine, Fate, Play};
use forebay_script::trace::{self, Acknowledgement, Bits, Event, Position, Side};
use forebay_tm::{Duration, Instant, Rate};

/// How fast hosts send to such a switch: they are not what a script is about.
pub(crate) const HOST_RATE: Rate = Rate::from_gbps(100);

/// The echo of an answer that is about no packet.
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
pub(crate) struct Scripted {
    play: Play,
    pub(crate) held: DelayLine<Metadata>,
    flows: Vec<Known>,
    pub(crate) events: Vec<Event>,
}

impl Scripted {
    pub(crate) fn new(script: &Script) -> Self {
        let flows = vec![Known::default(); script.flows.len()];
        Self { play: Play::new(script), held: DelayLine::default(), flows, events: Vec::new() }
    }

    /// A packet has come: what becomes of it.
    pub(crate) fn meet(&mut self, now: Instant, packet: &Packet, flows: &FlowTable) -> Fate {
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
            Kind::Nack | Kind::Pull => (Side::Receiver, trace::Kind::Ack(Position::default()), None),
        };
        // The wire behind the port is a real one here, and takes its own time.
        let fate = self.play.meet(now, Duration::ZERO, flow, side, subject);
        let at = now.since(start);
        self.events.push(Event { at, flow, side, kind, bits, acknowledgement, decision: fate.decision });
        fate
    }
}
