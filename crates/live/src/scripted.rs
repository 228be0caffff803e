//! Ports around which a script plays: packets of its flows are held for half a round trip, and those that it names are
//! dropped, marked, delayed or doubled. What is seen is kept.
//!
//! This is a decorator of ports: a switch without a script has none of it.

use crate::attached::Attached;
use crate::backend::{Backend, Closed, Opened, wait_for};
use crate::edit;
use crate::frame::{Headers, Network};
use crate::linux::Interfaces;
use crate::pool::{Pool, Slot};
use crate::port::{Outside, Port, Received};
use crate::port_keeper::Opener;
use forebay_script::director::Subject;
use forebay_script::file::{FIRST_SENDER_PORT, RECEIVER_PORT, Script};
use forebay_script::play::{DelayLine, Fate, Play};
use forebay_script::trace::{Acknowledgement, Bits, Event, Kind, Position, Side, Trace};
use forebay_tm::{Duration, Instant};
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
    start: Option<Instant>,
    ends: [End; 2],
    /// What was acknowledged, by acknowledgements that were let through: of the sender's data, of the receiver's.
    heard: [Position; 2],
}

/// A script that is being played, and what was seen.
#[derive(Debug)]
struct Record {
    script: Script,
    play: Play,
    start: time::Instant,
    flows: Vec<Known>,
    /// When the last packet was seen.
    last: Instant,
    events: Vec<Event>,
}

/// A script that is being played, shared by all ports and whoever waits for its end.
#[derive(Clone, Debug)]
pub struct Stage {
    record: Arc<Mutex<Record>>,
}

/// The time since a start.
fn since(start: time::Instant) -> Instant {
    Instant::from_ps((start.elapsed().as_nanos() as u64).saturating_mul(1_000))
}

/// How long a script that has come to its end is still looked at.
const SETTLED: Duration = Duration::from_us(100_000);

impl Stage {
    /// A script at its beginning. Time counts from now on.
    pub fn new(script: Script) -> Self {
        let record = Record {
            play: Play::new(&script),
            start: time::Instant::now(),
            flows: vec![Known::default(); script.flows.len()],
            last: Instant::ZERO,
            events: Vec::new(),
            script,
        };
        Self { record: Arc::new(Mutex::new(record)) }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all has been sent and acknowledged and nothing more has come for some time, or the script's time is
    /// over.
    pub fn is_over(&self) -> bool {
        let record = self.record();
        let now = since(record.start);
        let settled = record.last + Duration::from_ps(3 * record.script.round_trip.ps()) + SETTLED;
        let done = record.flows.iter().zip(&record.script.flows).all(|(known, flow)| {
            known.heard[0] >= Position::of(flow.segments()) && known.heard[1] >= Position::of(flow.reply_segments())
        });
        done && now >= settled || now >= Instant::ZERO + record.script.limit
    }

    /// What was seen so far.
    pub fn trace(&self) -> Trace {
        Trace { about: Vec::new(), events: self.record().events.clone() }
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

impl Record {
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
        let now = since(self.start);
        let (event, fate) = self.event(frame, headers, (flow, side), now)?;
        let known = &mut self.flows[flow as usize];
        if let Some(own) = event.acknowledgement.as_ref().filter(|_| !event.decision.drop) {
            let heard = &mut known.heard[usize::from(side == Side::Sender)];
            *heard = own.next.max(*heard);
        }
        self.last = now;
        // What the sender acknowledges is of interest only where the receiver sends.
        let replies = self.script.flows[flow as usize].reply > 0;
        let acknowledgement = event.acknowledgement.filter(|_| side == Side::Receiver || replies);
        self.events.push(Event { acknowledgement, ..event });
        Some(fate)
    }

    /// A frame as an event, with what the script says.
    fn event(
        &mut self,
        frame: &[u8],
        headers: &Headers,
        (flow, side): (u32, Side),
        now: Instant,
    ) -> Option<(Event, Fate)> {
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
        // A packet that crosses a wire is there when its last bit is, but the live switch sends it when its turn
        // begins.
        let wire = self.script.rate.serialization(frame.len() as u64);
        let fate = self.play.meet(now, wire, flow, side, subject);
        let class = headers.traffic_class().unwrap_or(0) & 3;
        let event = Event {
            at: now.since(start),
            flow,
            side,
            kind,
            bits: Bits { psh, fin, rst, ect: class != 0, ce: class == 3, cwr, ece },
            acknowledgement,
            decision: fate.decision,
        };
        Some((event, fate))
    }
}

/// A port with a script around it.
#[derive(Debug)]
pub struct Scripted<P> {
    port: P,
    stage: Stage,
    start: time::Instant,
    fresh: Vec<Received>,
    held: DelayLine<Received>,
}

impl<P> Scripted<P> {
    fn new(port: P, stage: Stage) -> Self {
        let start = stage.record().start;
        Self { port, stage, start, fresh: Vec::new(), held: DelayLine::default() }
    }

    fn meet(&mut self, pool: &mut Pool, frame: Received) {
        let Received { mut slot, length } = frame;
        let bytes = pool.bytes(&slot, length);
        let headers = Headers::parse(bytes);
        let fate = headers.and_then(|headers| Some((self.stage.record().meet(bytes, &headers)?, headers)));
        // What is none of the script's goes on at once.
        let Some((fate, headers)) = fate else { return self.held.push(Instant::ZERO, Received { slot, length }) };
        if fate.decision.drop {
            return pool.give(slot);
        }
        if fate.decision.mark {
            edit::mark(pool.bytes_mut(&mut slot, length), &headers);
        }
        let copy = fate.copy.and_then(|at| Some((at, pool.copy(&slot, length)?)));
        self.held.push(fate.release, Received { slot, length });
        if let Some((at, slot)) = copy {
            self.held.push(at, Received { slot, length });
        }
    }

    /// When the next frame goes on, from now.
    fn next(&self) -> Option<time::Duration> {
        let (next, now) = (self.held.next()?, since(self.start));
        Some(if next <= now { time::Duration::ZERO } else { time::Duration::from_nanos(next.since(now).ps() / 1_000) })
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
        let now = since(self.start);
        frames.extend(std::iter::from_fn(|| self.held.pop(now)).take(most));
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

    fn abandon(&mut self, pool: &mut Pool) {
        for frame in self.held.drain() {
            pool.give(frame.slot);
        }
        self.port.abandon(pool);
    }

    fn close(&mut self, pool: &mut Pool) {
        self.abandon(pool);
        self.port.close(pool);
    }
}

/// Interfaces with a script around them.
#[derive(Debug)]
pub struct ScriptedInterfaces {
    interfaces: Interfaces,
    stage: Stage,
}

impl ScriptedInterfaces {
    /// Those of a switch, on a stage.
    pub fn new(interfaces: Interfaces, stage: Stage) -> Self {
        Self { interfaces, stage }
    }
}

impl Opener for ScriptedInterfaces {
    type Port = Scripted<Backend>;
    type Opened = (Opened, Stage);
    type Closed = Closed;

    fn prepare(&mut self, pool: &Pool) -> io::Result<()> {
        self.interfaces.prepare(pool)
    }

    fn open(&mut self, port: usize) -> io::Result<Self::Opened> {
        Ok((self.interfaces.open(port)?, self.stage.clone()))
    }

    fn join((opened, stage): Self::Opened, pool: &mut Pool) -> io::Result<Self::Port> {
        Ok(Scripted::new(opened.join(pool)?, stage))
    }

    fn close(&mut self, port: Self::Port) -> Closed {
        self.interfaces.close(port.port)
    }

    fn settle(closed: Closed, pool: &mut Pool) -> Outside {
        closed.settle(pool)
    }

    fn wait(ports: &mut [Attached<Self::Port>], time: time::Duration) {
        let next = ports.iter().filter_map(Attached::port).filter_map(Scripted::next).min();
        let time = next.map_or(time, |next| next.min(time));
        if !time.is_zero() {
            wait_for(ports.iter().filter_map(Attached::port).map(|port| &port.port), time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::testing::Build;

    const BUFFERS: u32 = 64;

    fn script(rules: &str) -> Script {
        let text = format!(
            "about = \"x\"\ncongestion_control = \"dctcp\"\nround_trip = \"2ms\"\nrate = \"1Gbps\"\n[[flow]]\nsegments = 9\n{rules}"
        );
        forebay_script::file::read("x.toml", &text).unwrap_or_else(|error| panic!("{error}"))
    }

    const FIN: u8 = 1;
    const SYN: u8 = 2;
    const PSH: u8 = 8;
    const ACK: u8 = 16;
    const ECE: u8 = 64;

    /// A segment of flow 0.
    struct Segment {
        from_sender: bool,
        sequence: u32,
        acknowledged: u32,
        flags: u8,
        options: Vec<u8>,
        payload: usize,
    }

    impl Segment {
        fn frame(&self) -> Vec<u8> {
            let ports = (FIRST_SENDER_PORT, RECEIVER_PORT);
            let ports = if self.from_sender { ports } else { (ports.1, ports.0) };
            let build = Build { ports, ..Build::all()[1] }.ect(2);
            let mut frame = build.frame(self.options.len() + self.payload);
            frame[38..42].copy_from_slice(&self.sequence.to_be_bytes());
            frame[42..46].copy_from_slice(&self.acknowledged.to_be_bytes());
            frame[46] = (((20 + self.options.len()) / 4) << 4) as u8;
            frame[47] = self.flags;
            frame[54..54 + self.options.len()].copy_from_slice(&self.options);
            frame
        }
    }

    fn data(segment: u32) -> Vec<u8> {
        let sequence = 1_001 + segment * 1_448;
        Segment { from_sender: true, sequence, acknowledged: 501, flags: ACK, options: vec![], payload: 1_448 }.frame()
    }

    fn ack(segments: u32, flags: u8, options: Vec<u8>) -> Vec<u8> {
        let acknowledged = 1_001 + segments * 1_448;
        Segment { from_sender: false, sequence: 501, acknowledged, flags, options, payload: 0 }.frame()
    }

    fn handshake() -> [Vec<u8>; 2] {
        let scale = |shift: u8| vec![1, 3, 3, shift];
        let syn =
            Segment { from_sender: true, sequence: 1_000, acknowledged: 0, flags: SYN, options: scale(7), payload: 0 };
        let answer = Segment {
            from_sender: false,
            sequence: 500,
            acknowledged: 1_001,
            flags: SYN | ACK,
            options: scale(2),
            payload: 0,
        };
        [syn.frame(), answer.frame()]
    }

    fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
        let mut options = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
        for (from, to) in blocks {
            for segment in [from, to] {
                options.extend((1_001 + segment * 1_448).to_be_bytes());
            }
        }
        options
    }

    struct Test {
        port: Scripted<Memory>,
        pool: Pool,
    }

    impl Test {
        fn new(rules: &str) -> Self {
            let port = Scripted::new(Memory::default(), Stage::new(script(rules)));
            Self { port, pool: Pool::new(BUFFERS, 2_048).unwrap() }
        }

        /// Gives frames, then waits until none is held. Returns what went on, with the milliseconds after which it did.
        fn give(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<(u128, Vec<u8>)> {
            let start = time::Instant::now();
            self.port.port.incoming.extend(frames);
            let (mut out, mut all) = (Vec::new(), Vec::new());
            loop {
                self.port.receive(&mut self.pool, &mut out, 64).unwrap();
                for frame in out.drain(..) {
                    all.push((start.elapsed().as_millis(), self.pool.bytes(&frame.slot, frame.length).to_vec()));
                    self.pool.give(frame.slot);
                }
                match self.port.next() {
                    Some(left) => std::thread::sleep(left),
                    None => return all,
                }
            }
        }

        /// The lines of what was seen, without times.
        fn lines(&self) -> Vec<String> {
            let events = self.port.stage.trace().events;
            events.iter().map(|event| event.to_string()[12..].to_owned()).collect()
        }
    }

    #[test]
    fn what_is_seen_is_told_in_segments() {
        let mut test = Test::new("");
        test.give(handshake());
        test.give([data(0), data(1), data(0)]);
        let pushed = Segment {
            from_sender: true,
            sequence: 1_001 + 2 * 1_448 + 7,
            acknowledged: 501,
            flags: ACK | PSH | FIN,
            options: vec![],
            payload: 100,
        };
        test.give([pushed.frame()]);
        test.give([
            ack(1, ACK, vec![]),
            ack(1, ACK | ECE, sack(&[(3, 4), (5, 7)])),
            ack(4, ACK, sack(&[(0, 1), (5, 7)])),
            ack(4, ACK, sack(&[(5, 6), (5, 7)])),
        ]);
        let expected = [
            "> syn tx 1 ect",
            "< syn-ack tx 1 ect",
            "> seg 0 len 1448 tx 1 ect",
            "> seg 1 len 1448 tx 1 ect",
            "> seg 0 len 1448 tx 2 ect",
            "> seg 2+7 len 100 tx 1 psh fin ect",
            "< ack nr 1 ect next 1 win 1024",
            "< ack nr 2 ect ece next 1 sack 3-4,5-7 win 1024 dup",
            "< ack nr 3 ect next 4 dsack 0-1 sack 5-7 win 1024",
            "< ack nr 4 ect next 4 dsack 5-6 sack 5-7 win 1024 dup",
        ];
        assert_eq!(test.lines(), expected);
    }

    #[test]
    fn frames_are_dropped_marked_doubled_delayed_and_held() {
        let rules = "[[drop]]\nsegment = 0\n[[mark]]\nsegment = 1\n[[duplicate]]\nsegment = 2\nafter = \"10ms\"\n\
                     [[delay]]\nsegment = 3\nby = \"30ms\"\n[[hold]]\nsegment = 5\nby = \"60ms\"\n";
        let mut test = Test::new(rules);
        test.give(handshake());
        let out = test.give((0..7).map(data));
        let came: Vec<(u32, bool)> = out
            .iter()
            .map(|(_, frame)| {
                let headers = Headers::parse(frame).unwrap();
                let segment = (headers.sequence(frame).unwrap() - 1_001) / 1_448;
                (segment, headers.traffic_class().unwrap() & 3 == 3)
            })
            .collect();
        let expected = [(1, true), (2, false), (4, false), (2, false), (3, false), (5, false), (6, false)];
        assert_eq!(came, expected);
        for ((at, _), least) in out.iter().zip([1, 1, 1, 11, 31, 61, 61]) {
            assert!(*at >= least, "after {at} ms, not {least}");
        }
        assert_eq!(test.pool.free(), BUFFERS as usize, "every frame buffer is back");
        assert_eq!(test.lines()[2], "> seg 0 len 1448 tx 1 ect [drop]");
        assert_eq!(test.lines()[7], "> seg 5 len 1448 tx 1 ect [hold 60000us]");
    }

    #[test]
    fn what_is_none_of_the_scripts_goes_on_at_once() {
        let mut test = Test::new("[[drop]]\nsegment = \"all\"\n");
        let others = [Build::all()[0].frame(100), Build::all()[1].frame(100), Build::all()[3].frame(100), vec![0; 9]];
        let mut out = Vec::new();
        test.port.port.incoming.extend(others.clone());
        test.port.receive(&mut test.pool, &mut out, 64).unwrap();
        let out: Vec<Vec<u8>> = out.iter().map(|frame| test.pool.bytes(&frame.slot, frame.length).to_vec()).collect();
        assert_eq!(out, others);
        assert!(test.lines().is_empty());
        // Before the handshake nothing is known of a flow's numbers.
        test.port.port.incoming.push_back(data(3));
        let mut out = Vec::new();
        test.port.receive(&mut test.pool, &mut out, 64).unwrap();
        assert_eq!((out.len(), test.lines().len()), (1, 0));
    }

    #[test]
    fn a_script_is_over_when_all_is_acknowledged() {
        let mut test = Test::new("[[drop]]\nack = 1\n");
        test.give(handshake());
        test.give((0..9).map(data));
        test.give([ack(9, ACK, vec![])]);
        let settled = time::Duration::from_millis(110);
        std::thread::sleep(settled);
        assert!(!test.port.stage.is_over(), "the ACK was lost");
        test.give([ack(9, ACK, vec![])]);
        std::thread::sleep(settled);
        assert!(test.port.stage.is_over());
    }
}
