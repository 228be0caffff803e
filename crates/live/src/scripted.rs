//! Ports around which a script plays: packets of its flows are held for half a round trip, and those that it names are dropped, marked,
//! delayed or doubled. What is seen is kept.
//!
//! This is a decorator of ports: a switch without a script has none of it.

use crate::attached::Attached;
use crate::backend::{Backend, be_punctual, wait_for};
use crate::edit;
use crate::frame::{Headers, Network};
use crate::linux::Interfaces;
use crate::pool::{Pool, Slot};
use crate::port::{Outside, Port, Received};
use crate::runtime::Opener;
use forebay_script::director::{Director, Subject};
use forebay_script::file::{FIRST_SENDER_PORT, RECEIVER_PORT, Script};
use forebay_script::trace::{Acknowledgement, Bits, Event, Kind, Position, Side, Trace};
use forebay_tm::Duration;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time;

/// What one side of a flow has shown of itself.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The number of its SYN.
    first: Option<u32>,
    /// By how much its windows are shifted.
    shift: u8,
    /// What it has last acknowledged.
    next: Option<Position>,
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// When its first packet was seen.
    start: Option<time::Duration>,
    ends: [End; 2],
    /// What was acknowledged, by acknowledgements that were let through: of the sender's data, of the receiver's.
    heard: [Position; 2],
}

/// A script that is being played.
#[derive(Debug)]
struct Play {
    script: Script,
    director: Director,
    start: time::Instant,
    flows: Vec<Known>,
    /// When the last packet was seen.
    last: time::Duration,
    events: Vec<Event>,
    /// Before this, nothing of a direction goes on.
    barriers: [time::Duration; 2],
}

/// A script that is being played, shared by all ports and whoever waits for its end.
#[derive(Clone, Debug)]
pub struct Stage {
    play: Arc<Mutex<Play>>,
}

/// What becomes of a frame at a port.
struct Fate {
    drop: bool,
    mark: bool,
    release: time::Duration,
    duplicate: Option<time::Duration>,
}

fn std_time(time: Duration) -> time::Duration {
    time::Duration::from_nanos(time.ps() / 1_000)
}

fn tm_time(time: time::Duration) -> Duration {
    Duration::from_ps((time.as_nanos() as u64).saturating_mul(1_000))
}

impl Stage {
    /// A script at its beginning. Time counts from now on.
    pub fn new(script: Script) -> Self {
        let play = Play {
            director: Director::new(&script),
            start: time::Instant::now(),
            flows: vec![Known::default(); script.flows.len()],
            last: time::Duration::ZERO,
            events: Vec::new(),
            barriers: [time::Duration::ZERO; 2],
            script,
        };
        Self { play: Arc::new(Mutex::new(play)) }
    }

    fn play(&self) -> MutexGuard<'_, Play> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all has been sent and acknowledged and nothing more has come for some time, or the script's time is over.
    pub fn is_over(&self) -> bool {
        let play = self.play();
        let now = play.start.elapsed();
        let settled = play.last + 3 * std_time(play.script.round_trip) + time::Duration::from_millis(100);
        let done = play.flows.iter().zip(&play.script.flows).all(|(known, flow)| {
            known.heard[0] >= Position::of(flow.segments()) && known.heard[1] >= Position::of(flow.reply_segments())
        });
        done && now >= settled || now >= std_time(play.script.limit)
    }

    /// What was seen so far.
    pub fn trace(&self) -> Trace {
        Trace { about: Vec::new(), events: self.play().events.clone() }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The options of a TCP header: kind and content.
fn options(header: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = header.get(20..).unwrap_or_default();
    std::iter::from_fn(move || {
        loop {
            match *rest.first()? {
                0 => return None,
                1 => rest = &rest[1..],
                kind => {
                    let length = usize::from(*rest.get(1)?);
                    let content = rest.get(2..length)?;
                    rest = &rest[length..];
                    return Some((kind, content));
                }
            }
        }
    })
}

const WINDOW_SCALE: u8 = 3;
const SACK: u8 = 5;

impl Play {
    /// What becomes of a frame; none if it is none of the script's.
    fn meet(&mut self, frame: &[u8], headers: &Headers) -> Option<Fate> {
        let Network::V4(v4) = headers.network else { return None };
        let (source, destination) = headers.ports.filter(|_| v4.protocol == 6)?;
        let (side, port) = match (source, destination) {
            (port, RECEIVER_PORT) => (Side::Sender, port),
            (RECEIVER_PORT, port) => (Side::Receiver, port),
            _ => return None,
        };
        let flow = u32::from(port.checked_sub(FIRST_SENDER_PORT)?);
        let now = self.start.elapsed();
        let event = self.event(frame, headers, (flow, side), now)?;
        let fate = self.fate(&event, frame.len(), now);
        let known = &mut self.flows[flow as usize];
        if let Some(own) = event.acknowledgement.as_ref().filter(|_| !event.decision.drop) {
            let heard = &mut known.heard[usize::from(side == Side::Sender)];
            *heard = own.next.max(*heard);
        }
        self.last = now;
        self.events.push(event);
        Some(fate)
    }

    /// A frame as an event, with what the script says.
    fn event(
        &mut self,
        frame: &[u8],
        headers: &Headers,
        (flow, side): (u32, Side),
        now: time::Duration,
    ) -> Option<Event> {
        let known = self.flows.get_mut(flow as usize)?;
        let at = headers.transport_at?;
        let (sequence, acknowledged) = (word(frame, at + 4)?, word(frame, at + 8)?);
        let flags = *frame.get(at + 13)?;
        let bit = |bit: u8| flags & 1 << bit != 0;
        let (fin, syn, rst, psh, ack, ece, cwr) = (bit(0), bit(1), bit(2), bit(3), bit(4), bit(6), bit(7));
        let header = frame.get(at..headers.end)?;
        let length = headers.packet_end()?.checked_sub(headers.end)? as u32;
        let window = u16::from_be_bytes([*frame.get(at + 14)?, *frame.get(at + 15)?]);
        let (own, other) = if side == Side::Sender { (0, 1) } else { (1, 0) };
        if syn {
            let scale = options(header).find(|(kind, _)| *kind == WINDOW_SCALE);
            let shift = scale.and_then(|(_, content)| content.first().copied()).unwrap_or(0);
            known.ends[own] = End { first: Some(sequence), shift: shift.min(14), next: None };
        }
        let start = *known.start.get_or_insert(now);
        // What lies before the first byte, such as a probe before there is any data, is taken for the first byte.
        let position = |first: Option<u32>, number: u32| {
            let offset = number.wrapping_sub(first?.wrapping_add(1)) as i32;
            Some(Position(offset.max(0) as u64))
        };
        let place = position(known.ends[own].first, sequence)?;
        let kind = match (syn, ack) {
            (true, false) => Kind::Syn,
            (true, true) => Kind::SynAck,
            _ if length > 0 => Kind::Data(place, length),
            _ => Kind::Ack(place),
        };
        let acknowledgement = (ack && !syn && !rst).then(|| {
            let first = known.ends[other].first;
            let next = position(first, acknowledged).unwrap_or_default();
            let mut blocks: Vec<(Position, Position)> = options(header)
                .filter(|(kind, _)| *kind == SACK)
                .flat_map(|(_, content)| content.chunks_exact(8))
                .filter_map(|block| Some((position(first, word(block, 0)?)?, position(first, word(block, 4)?)?)))
                .collect();
            // The first block tells of a duplicate if it lies below what is acknowledged, or within the second.
            let is_dsack = |blocks: &[(Position, Position)]| match blocks {
                [first, ..] if first.1 <= next => true,
                [first, second, ..] => second.0 <= first.0 && first.1 <= second.1,
                _ => false,
            };
            let dsack = is_dsack(&blocks).then(|| blocks.remove(0));
            let again = length == 0 && known.ends[own].next == Some(next);
            known.ends[own].next = Some(next);
            let window = Some(u32::from(window) << known.ends[own].shift);
            Acknowledgement { next, dsack, sack: blocks, window, again }
        });
        let next = acknowledgement.as_ref().map_or(0, |own| own.next.segment());
        let subject = match (side, kind) {
            (_, Kind::Syn) => Some(Subject::Syn),
            (_, Kind::SynAck) => Some(Subject::SynAck),
            (Side::Sender, Kind::Data(at, _)) => Some(Subject::Data { segment: at.segment() }),
            (Side::Receiver, Kind::Data(at, _)) => Some(Subject::Reply { segment: at.segment(), next }),
            (Side::Receiver, Kind::Ack(_)) if !rst => Some(Subject::Ack { next }),
            _ => None,
        };
        let decision = subject.map(|subject| self.director.decide(flow, subject)).unwrap_or_default();
        let class = headers.traffic_class().unwrap_or(0) & 3;
        // What the sender acknowledges is of interest only where the receiver sends.
        let replies = self.script.flows[flow as usize].reply > 0;
        Some(Event {
            at: tm_time(now - start),
            flow,
            side,
            kind,
            bits: Bits { psh, fin, rst, ect: class != 0, ce: class == 3, cwr, ece },
            acknowledgement: acknowledgement.filter(|_| side == Side::Receiver || replies),
            decision,
        })
    }

    /// When a packet goes on, and how.
    fn fate(&mut self, event: &Event, bytes: usize, now: time::Duration) -> Fate {
        let decision = event.decision;
        let way = usize::from(event.side == Side::Receiver);
        // A packet that crosses a wire is there when its last bit is, but the live switch sends it when its turn begins.
        let wire = std_time(self.script.rate.serialization(bytes as u64));
        let usual = now + std_time(self.script.round_trip) / 2 + wire;
        let release = (usual + std_time(decision.delay)).max(self.barriers[way]);
        if decision.hold && !decision.drop {
            self.barriers[way] = release;
        }
        Fate { drop: decision.drop, mark: decision.mark, release, duplicate: decision.duplicate.map(std_time) }
    }
}

/// A frame that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    release: time::Duration,
    /// Frames that go on at the same time keep their order.
    order: u64,
    slot: Slot,
    length: usize,
}

/// A port with a script around it.
#[derive(Debug)]
pub struct Scripted<P> {
    port: P,
    stage: Stage,
    start: time::Instant,
    fresh: Vec<Received>,
    held: BinaryHeap<Reverse<Held>>,
    order: u64,
}

impl<P> Scripted<P> {
    fn new(port: P, stage: Stage) -> Self {
        let start = stage.play().start;
        Self { port, stage, start, fresh: Vec::new(), held: BinaryHeap::new(), order: 0 }
    }

    fn hold(&mut self, release: time::Duration, slot: Slot, length: usize) {
        self.order += 1;
        self.held.push(Reverse(Held { release, order: self.order, slot, length }));
    }

    fn meet(&mut self, pool: &mut Pool, Received { slot, length }: Received) {
        let now = time::Duration::ZERO;
        let Some(headers) = Headers::parse(pool.bytes(slot, length)) else { return self.hold(now, slot, length) };
        let fate = self.stage.play().meet(pool.bytes(slot, length), &headers);
        let Some(fate) = fate else { return self.hold(now, slot, length) };
        if fate.drop {
            return pool.give(slot);
        }
        if fate.mark {
            edit::mark(pool.bytes_mut(slot, length), &headers);
        }
        self.hold(fate.release, slot, length);
        if let (Some(after), Some(copy)) = (fate.duplicate, fate.duplicate.and_then(|_| pool.take())) {
            let frame = pool.bytes(slot, length).to_vec();
            pool.bytes_mut(copy, length).copy_from_slice(&frame);
            self.hold(fate.release + after, copy, length);
        }
    }

    /// When the next frame goes on, from now.
    fn next(&self) -> Option<time::Duration> {
        let Reverse(first) = self.held.peek()?;
        Some(first.release.saturating_sub(self.start.elapsed()))
    }
}

impl<P: Port> Port for Scripted<P> {
    fn name(&self) -> &str {
        self.port.name()
    }

    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        let mut fresh = std::mem::take(&mut self.fresh);
        let result = self.port.receive(pool, &mut fresh, most);
        for frame in fresh.drain(..) {
            self.meet(pool, frame);
        }
        self.fresh = fresh;
        let now = self.start.elapsed();
        for _ in 0..most {
            match self.held.peek() {
                Some(Reverse(held)) if held.release <= now => {
                    frames.push(Received { slot: held.slot, length: held.length });
                    self.held.pop();
                }
                _ => break,
            }
        }
        result
    }

    fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        self.port.send(pool, slot, length);
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.port.flush(pool)
    }

    fn outside(&self) -> Outside {
        self.port.outside()
    }

    fn close(&mut self, pool: &mut Pool) {
        for Reverse(held) in self.held.drain() {
            pool.give(held.slot);
        }
        self.port.close(pool);
    }
}

/// Interfaces with a script around them.
#[derive(Debug)]
pub struct ScriptedInterfaces {
    interfaces: Interfaces,
    stage: Stage,
    is_punctual: bool,
}

impl ScriptedInterfaces {
    /// Those of a switch, on a stage.
    pub fn new(interfaces: Interfaces, stage: Stage) -> Self {
        Self { interfaces, stage, is_punctual: false }
    }
}

impl Opener for ScriptedInterfaces {
    type Port = Scripted<Backend>;

    fn open(&mut self, port: usize, pool: &mut Pool) -> io::Result<Self::Port> {
        Ok(Scripted::new(self.interfaces.open(port, pool)?, self.stage.clone()))
    }

    fn wait(&mut self, ports: &mut [Attached<Self::Port>], time: time::Duration) {
        if !self.is_punctual {
            be_punctual();
            self.is_punctual = true;
        }
        let next = ports.iter().filter_map(Attached::port).filter_map(Scripted::next).min();
        let time = next.map_or(time, |next| next.min(time));
        if !time.is_zero() {
            wait_for(ports.iter().filter_map(Attached::port).map(|port| &port.port), time);
        }
    }
}
