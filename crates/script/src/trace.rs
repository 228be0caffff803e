//! What a switch saw of the flows of a script, as a list and as text, a line each.

use crate::director::Decision;
use crate::file::{MSS, Script};
use forebay_tm::Duration;
use std::fmt;

/// A place in the stream of one side: bytes from its first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(pub u64);

impl Position {
    /// The start of a segment.
    pub fn of(segment: u32) -> Self {
        Self(u64::from(segment) * u64::from(MSS))
    }

    /// The segment that it is in: that many are whole before it.
    pub fn segment(self) -> u32 {
        u32::try_from(self.0 / u64::from(MSS)).unwrap_or(u32::MAX)
    }

    /// In segments: `12`, or `12+100` a hundred bytes into it.
    fn parse(text: &str) -> Option<Self> {
        let (segments, bytes) = text.split_once('+').unwrap_or((text, "0"));
        let (segments, bytes): (u32, u32) = (segments.parse().ok()?, bytes.parse().ok()?);
        Some(Self(Self::of(segments).0 + u64::from(bytes)))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.segment())?;
        match self.0 % u64::from(MSS) {
            0 => Ok(()),
            bytes => write!(f, "+{bytes}"),
        }
    }
}

/// Which side a packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Whoever opened the connection.
    Sender,
    /// The other.
    Receiver,
}

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asks for a connection.
    Syn,
    /// The answer to that.
    SynAck,
    /// Carries payload from here on, so many bytes.
    Data(Position, u32),
    /// Acknowledges only. The sender's are told with where it stands in its own stream: probes stand a byte before what
    /// is next.
    Ack(Position),
}

/// What an acknowledgement says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Up to here all has arrived.
    pub next: Position,
    /// A block that has arrived twice.
    pub dsack: Option<(Position, Position)>,
    /// Blocks that have arrived beyond.
    pub sack: Vec<(Position, Position)>,
    /// Bytes that the other side may send beyond; none where nothing is known of windows.
    pub window: Option<u32>,
    /// It says the same `next` as the one before.
    pub again: bool,
}

/// Bits of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    /// Hand it to the application.
    pub psh: bool,
    /// The last.
    pub fin: bool,
    /// The connection is broken.
    pub rst: bool,
    /// ECN-capable.
    pub ect: bool,
    /// It came with a mark, before the script.
    pub ce: bool,
    /// Marks were heard of.
    pub cwr: bool,
    /// Marks are told of.
    pub ece: bool,
}

impl Bits {
    const NAMES: [&'static str; 7] = ["psh", "fin", "rst", "ect", "ce", "cwr", "ece"];

    fn all(&mut self) -> [&mut bool; 7] {
        [&mut self.psh, &mut self.fin, &mut self.rst, &mut self.ect, &mut self.ce, &mut self.cwr, &mut self.ece]
    }
}

/// A packet that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Since the flow's first packet.
    pub at: Duration,
    /// The flow.
    pub flow: u32,
    /// Where it comes from.
    pub side: Side,
    /// What it is.
    pub kind: Kind,
    /// Its bits.
    pub bits: Bits,
    /// What it acknowledges.
    pub acknowledgement: Option<Acknowledgement>,
    /// What the script does to it.
    pub decision: Decision,
}

impl Event {
    /// The segment of the sender that it carries.
    pub fn segment(&self) -> Option<u32> {
        match (self.side, self.kind) {
            (Side::Sender, Kind::Data(at, _)) => Some(at.segment()),
            _ => None,
        }
    }

    /// Whether it is payload that was sent before.
    pub fn is_retransmission(&self) -> bool {
        matches!(self.kind, Kind::Data(..)) && self.decision.count > 1
    }
}

/// Microseconds, rounded.
pub fn us(time: Duration) -> u64 {
    (time.ps() + 500_000) / 1_000_000
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.side == Side::Sender { '>' } else { '<' };
        write!(f, "{:>9} {} {direction} ", us(self.at), self.flow)?;
        let count = self.decision.count;
        match self.kind {
            Kind::Syn => write!(f, "syn tx {count}")?,
            Kind::SynAck => write!(f, "syn-ack tx {count}")?,
            Kind::Data(at, length) => write!(f, "seg {at} len {length} tx {count}")?,
            Kind::Ack(_) if self.side == Side::Receiver => write!(f, "ack nr {count}")?,
            Kind::Ack(at) => write!(f, "ack seq {at}")?,
        }
        let mut bits = self.bits;
        for (set, name) in bits.all().into_iter().zip(Bits::NAMES) {
            if *set {
                write!(f, " {name}")?;
            }
        }
        if let Some(own) = &self.acknowledgement {
            write!(f, " next {}", own.next)?;
            if let Some((from, to)) = own.dsack {
                write!(f, " dsack {from}-{to}")?;
            }
            for (number, (from, to)) in own.sack.iter().enumerate() {
                write!(f, "{}{from}-{to}", if number == 0 { " sack " } else { "," })?;
            }
            if let Some(window) = own.window {
                write!(f, " win {window}")?;
            }
            if own.again {
                f.write_str(" dup")?;
            }
        }
        let Decision { drop, mark, delay, hold, duplicate, .. } = self.decision;
        let mut done = Vec::new();
        done.extend(drop.then(|| "drop".to_owned()));
        done.extend(mark.then(|| "mark".to_owned()));
        if delay > Duration::ZERO {
            done.push(format!("{} {}us", if hold { "hold" } else { "delay" }, us(delay)));
        }
        done.extend(duplicate.map(|after| format!("duplicate {}us", us(after))));
        if done.is_empty() { Ok(()) } else { write!(f, " [{}]", done.join(", ")) }
    }
}

impl Event {
    /// Reads a line again. Times are whole microseconds then.
    pub fn parse(line: &str) -> Option<Self> {
        let (line, done) = match line.trim().split_once(" [") {
            Some((line, done)) => (line, done.strip_suffix(']')?),
            None => (line.trim(), ""),
        };
        let mut words = line.split_whitespace();
        let at = Duration::from_us(words.next()?.parse().ok().filter(|at| *at < 1 << 40)?);
        let flow = words.next()?.parse().ok()?;
        let side = match words.next()? {
            ">" => Side::Sender,
            "<" => Side::Receiver,
            _ => return None,
        };
        let mut decision = Decision::default();
        let kind = match (words.next()?, words.next()?, words.next()?) {
            ("syn", "tx", count) => {
                decision.count = count.parse().ok()?;
                Kind::Syn
            }
            ("syn-ack", "tx", count) => {
                decision.count = count.parse().ok()?;
                Kind::SynAck
            }
            ("ack", "nr", count) => {
                decision.count = count.parse().ok()?;
                Kind::Ack(Position::default())
            }
            ("ack", "seq", at) => Kind::Ack(Position::parse(at)?),
            ("seg", at, "len") => {
                let length = words.next()?.parse().ok()?;
                words.next().filter(|word| *word == "tx")?;
                decision.count = words.next()?.parse().ok()?;
                Kind::Data(Position::parse(at)?, length)
            }
            _ => return None,
        };
        let (mut bits, mut acknowledgement) = (Bits::default(), None::<Acknowledgement>);
        while let Some(word) = words.next() {
            match (word, &mut acknowledgement) {
                ("next", None) => {
                    let next = Position::parse(words.next()?)?;
                    acknowledgement = Some(Acknowledgement { next, ..Acknowledgement::default() });
                }
                ("dsack", Some(own)) => own.dsack = Some(block(words.next()?)?),
                ("sack", Some(own)) => own.sack = words.next()?.split(',').map(block).collect::<Option<_>>()?,
                ("win", Some(own)) => own.window = Some(words.next()?.parse().ok()?),
                ("dup", Some(own)) => own.again = true,
                (bit, _) => {
                    let place = Bits::NAMES.iter().position(|name| *name == bit)?;
                    *bits.all()[place] = true;
                }
            }
        }
        for action in done.split(", ").filter(|action| !action.is_empty()) {
            let time = || -> Option<Duration> {
                let us: u64 = action.split_once(' ')?.1.strip_suffix("us")?.parse().ok()?;
                (us < 1 << 40).then(|| Duration::from_us(us))
            };
            match action.split(' ').next()? {
                "drop" => decision.drop = true,
                "mark" => decision.mark = true,
                "delay" => decision.delay = time()?,
                "hold" => (decision.delay, decision.hold) = (time()?, true),
                "duplicate" => decision.duplicate = Some(time()?),
                _ => return None,
            }
        }
        Some(Self { at, flow, side, kind, bits, acknowledgement, decision })
    }
}

fn block(text: &str) -> Option<(Position, Position)> {
    let (from, to) = text.split_once('-')?;
    Some((Position::parse(from)?, Position::parse(to)?))
}

/// A list of events with what is known of how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Lines about it: keys and values.
    pub about: Vec<(String, String)>,
    /// In order of time.
    pub events: Vec<Event>,
}

impl Trace {
    /// What is said about a key.
    pub fn says(&self, key: &str) -> Option<&str> {
        self.about.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// The first flow of a script of which not everything is acknowledged by what was let through.
    pub fn unfinished(&self, script: &Script) -> Option<usize> {
        let heard = |flow: usize, side: Side| {
            let own = self.events.iter().filter(move |event| event.flow as usize == flow && event.side == side);
            let through = own.filter(|event| !event.decision.drop);
            through.filter_map(|event| Some(event.acknowledgement.as_ref()?.next)).max().unwrap_or_default()
        };
        script.flows.iter().enumerate().position(|(number, flow)| {
            heard(number, Side::Receiver) < Position::of(flow.segments())
                || heard(number, Side::Sender) < Position::of(flow.reply_segments())
        })
    }

    /// Reads a text; an error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut trace = Self::default();
        for (number, line) in text.lines().enumerate() {
            if let Some(about) = line.strip_prefix("# ") {
                let (key, value) = about.split_once(": ").unwrap_or((about, ""));
                trace.about.push((key.to_owned(), value.to_owned()));
            } else if !line.trim().is_empty() {
                let event = Event::parse(line).ok_or_else(|| format!("line {}: no event: {line}", number + 1))?;
                trace.events.push(event);
            }
        }
        Ok(trace)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.about {
            writeln!(f, "# {key}: {value}")?;
        }
        for event in &self.events {
            writeln!(f, "{event}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn position() -> impl Strategy<Value = Position> {
        (0u32..2_000_000, prop_oneof![Just(0u64), 0..u64::from(MSS)])
            .prop_map(|(segment, bytes)| Position(Position::of(segment).0 + bytes))
    }

    fn span() -> impl Strategy<Value = Duration> {
        (1u64..1 << 39).prop_map(Duration::from_us)
    }

    prop_compose! {
        fn decision()(
            count in any::<u32>(), drop in any::<bool>(), mark in any::<bool>(), hold in any::<bool>(),
            delay in prop::option::of(span()), duplicate in prop::option::of(span()),
        ) -> Decision {
            let hold = hold && delay.is_some();
            Decision { count, drop, mark, delay: delay.unwrap_or(Duration::ZERO), hold, duplicate }
        }
    }

    prop_compose! {
        fn acknowledgement()(
            next in position(), dsack in prop::option::of((position(), position())),
            sack in prop::collection::vec((position(), position()), 0..4),
            window in prop::option::of(any::<u32>()), again in any::<bool>(),
        ) -> Acknowledgement {
            Acknowledgement { next, dsack, sack, window, again }
        }
    }

    prop_compose! {
        fn event()(
            at in (0u64..1 << 39).prop_map(Duration::from_us), flow in any::<u32>(), from_sender in any::<bool>(),
            kind in prop_oneof![
                Just(Kind::Syn), Just(Kind::SynAck), (position(), any::<u32>()).prop_map(|(at, bytes)| Kind::Data(at, bytes)),
                position().prop_map(Kind::Ack),
            ],
            bits in prop::collection::vec(any::<bool>(), 7),
            acknowledgement in prop::option::of(acknowledgement()), decision in decision(),
        ) -> Event {
            let side = if from_sender { Side::Sender } else { Side::Receiver };
            let mut own = Bits::default();
            own.all().into_iter().zip(bits).for_each(|(bit, set)| *bit = set);
            // What is not written is not read: the ordinal of a sender's ACK, the place of a receiver's.
            let (kind, count) = match (side, kind) {
                (Side::Receiver, Kind::Ack(_)) => (Kind::Ack(Position::default()), decision.count),
                (Side::Sender, Kind::Ack(at)) => (Kind::Ack(at), 0),
                (_, kind) => (kind, decision.count),
            };
            Event { at, flow, side, kind, bits: own, acknowledgement, decision: Decision { count, ..decision } }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(events in prop::collection::vec(event(), 0..20)) {
            let about = vec![("kernel".to_owned(), "Linux: 6.18".to_owned())];
            let trace = Trace { about, events };
            prop_assert_eq!(Trace::parse(&trace.to_string()), Ok(trace));
        }

        #[test]
        fn no_text_is_too_strange(text in "[ -~\n]{0,200}", event in event(), cut in 0usize..100) {
            // What comes out is of no interest, only that something does.
            let _ = Trace::parse(&text);
            let line: String = event.to_string().chars().skip(cut % 7).take(cut).collect();
            let _ = Event::parse(&line);
        }
    }

    #[test]
    fn a_line_says_what_there_is() {
        let event = Event {
            at: Duration::from_us(62_058),
            flow: 0,
            side: Side::Receiver,
            kind: Kind::Ack(Position::default()),
            bits: Bits { ece: true, ..Bits::default() },
            acknowledgement: Some(Acknowledgement {
                next: Position::of(20),
                dsack: Some((Position::of(3), Position::of(4))),
                sack: vec![(Position::of(22), Position(Position::of(24).0 + 7)), (Position::of(30), Position::of(31))],
                window: Some(65_536),
                again: true,
            }),
            decision: Decision { count: 9, delay: Duration::from_us(5_000), ..Decision::default() },
        };
        let line = "    62058 0 < ack nr 9 ece next 20 dsack 3-4 sack 22-24+7,30-31 win 65536 dup [delay 5000us]";
        assert_eq!(event.to_string(), line);
        assert_eq!(Event::parse(line), Some(event));
        let error = Trace::parse("# kernel: x\n 1 0 > syn tx 1\n 2 0 > sin tx 1\n").unwrap_err();
        assert_eq!(error, "line 3: no event:  2 0 > sin tx 1");
    }

    #[test]
    fn a_flow_is_finished_when_its_sender_knows_it() {
        let text =
            "about = \"x\"\ncongestion_control = \"reno\"\n[[flow]]\nsegments = 2\n[[flow]]\nsegments = 1\nreply = 3\n";
        let script = crate::file::read("x.toml", text).unwrap();
        let unfinished = |lines: &[&str]| Trace::parse(&lines.join("\n")).unwrap().unfinished(&script);
        let [dropped, first, second, back] = [
            "1 0 < ack nr 1 next 2 [drop]",
            "2 0 < ack nr 2 next 2",
            "3 1 < ack nr 1 next 1",
            "4 1 > ack seq 1 next 3",
        ];
        assert_eq!(unfinished(&[dropped, second, back]), Some(0));
        assert_eq!(unfinished(&[first, second]), Some(1), "the replies are not acknowledged");
        assert_eq!(unfinished(&[dropped, first, second, back]), None);
    }
}
