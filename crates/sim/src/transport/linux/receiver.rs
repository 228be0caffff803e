//! The receiving end: what is acknowledged when.

use super::super::bit_ring::BitRing;
use super::super::config::{TransportConfig, TransportKind};
use super::super::{FlowInfo, Reply};
use super::round_trip::Ticks;
use super::sender::{room, unscaled};
use crate::packet::{Block, Kind, MoreBlocks, Packet, flag};
use forebay_tm::random::mix;
use forebay_tm::{Duration, Instant};

/// The `echo` of a reply to a header alone.
const NO_ECHO: u32 = u32::MAX;
/// Acknowledgements for packets out of order that go out at once.
const AT_ONCE: u32 = 3;
/// And how many more may be held back.
const COMPRESSED: u32 = 44;
/// ACKs that go out at once after something unusual.
const QUICK: u32 = 16;
/// A pause that makes ACKs quick again.
const LONG: Duration = Duration::from_us(200_000);
/// After the first mark.
const QUICK_AFTER_MARK: u32 = 2;

/// How marks are echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    /// From a mark on until the sender says that it has cut its window (RFC 3168).
    Latched,
    /// As they are (DCTCP; RFC 8257, section 3.2).
    Exact,
}

/// The receiving end.
#[derive(Clone, Debug)]
pub struct LinuxReceiver {
    /// The first packet that is missing.
    expected: u32,
    /// Packets that have come in beyond it.
    beyond: u32,
    packets: u32,
    /// What was acknowledged last.
    told: u32,
    /// Packets that one ACK may acknowledge.
    every: u32,
    /// ACKs that go out at once.
    quick: u32,
    echo: Echo,
    /// The echo to give.
    marked: bool,
    /// A packet was ECN-capable.
    capable: bool,
    /// Its application does not read now and then, until this time ...
    pause: Option<(Instant, Instant)>,
    /// ... and so many packets wait for it.
    unread: u32,
    /// The time stamp to echo.
    stamp: Instant,
    /// When an ACK that is held back goes out at the latest, and since when it is held.
    ack_at: Instant,
    held_since: Instant,
    held_for: Duration,
    is_tick: bool,
    ack_delay: Duration,
    last_packet: Instant,
    /// ACKs for packets out of order: the packet that was missing, how many went out, how many are held.
    missing: u32,
    repeats: u32,
    compressed: u32,
    compress_for: Duration,
    /// Blocks that were told, the latest first.
    told_blocks: [Block; 4],
    ring: BitRing,
    ticks: Ticks,
    // The receive window in packets: now, what memory allows now and at most, received in this round, and in the round
    // before.
    room: u32,
    /// What a handshake can tell of it: its window is not scaled, and has 16 bits.
    handshake_room: u32,
    memory: u32,
    most_room: u32,
    round_received: u32,
    last_received: u32,
    round_start: Instant,
    trip: ReceiverTrip,
}

/// The round trip as a receiver estimates it.
///
/// Linux has samples from its time stamps that data carries back, in whole milliseconds, and from the time that a whole
/// window takes to come in, where these say nothing. A shorter sample is taken over as it is, a longer one of time
/// stamps with an eighth of the weight, a longer one of a window not at all.
#[derive(Clone, Debug)]
struct ReceiverTrip {
    /// Eight times the estimate; 0 before the first sample.
    smoothed8: u64,
    /// The time stamp that came back last.
    back: u32,
    /// The window that is being timed: when it began, and the packet that ends it.
    window_start: Instant,
    window_end: u32,
}

impl ReceiverTrip {
    const MILLISECOND: u64 = 1_000_000_000;
    /// Bits that a unit of a time stamp has: about a microsecond. A time stamp has 31 bits, and is not 0.
    const UNIT: u32 = 20;
    const STAMPS: u32 = u32::MAX >> 1;

    /// The time stamp of now.
    #[inline(always)]
    fn stamp(now: Instant) -> u32 {
        ((now.ps() >> Self::UNIT) as u32 & Self::STAMPS).max(1)
    }

    /// Data has come in up to `expected`, with a window of so many packets; the time stamp that it carries back.
    fn measure(&mut self, now: Instant, back: u32, expected: u32, window: u32) {
        if back != self.back {
            self.back = back;
            let ago = u64::from(Self::stamp(now).wrapping_sub(back) & Self::STAMPS) << Self::UNIT;
            // By a clock of milliseconds.
            let sample =
                (now.ps() / Self::MILLISECOND - now.ps().saturating_sub(ago) / Self::MILLISECOND) * Self::MILLISECOND;
            if self.smoothed8 == 0 || sample * 8 < self.smoothed8 {
                self.take_shorter(sample);
            } else {
                self.smoothed8 = self.smoothed8 - self.smoothed8 / 8 + sample;
            }
        }
        if self.window_start == Instant::NEVER || expected >= self.window_end {
            if self.window_start != Instant::NEVER {
                self.take_shorter(now.since(self.window_start).ps());
            }
            self.window_start = now;
            self.window_end = expected.saturating_add(window);
        }
    }

    fn take_shorter(&mut self, sample: u64) {
        if sample > 0 && (self.smoothed8 == 0 || sample * 8 < self.smoothed8) {
            self.smoothed8 = sample * 8;
        }
    }

    /// The estimate; the longest span there is before the first sample.
    fn estimate(&self) -> Duration {
        if self.smoothed8 == 0 { Duration::from_ps(u64::MAX) } else { Duration::from_ps(self.smoothed8 / 8) }
    }
}

impl LinuxReceiver {
    /// The receiver of a flow; `again` if its connection was used before.
    pub fn new(config: &TransportConfig, flow: FlowInfo, again: bool) -> Self {
        let (common, linux) = (&config.common, &config.linux);
        let draw = mix(flow.seed ^ mix(u64::from(flow.number) ^ 1 << 40));
        let most_room =
            u32::try_from(linux.receive_window_max.get() / u64::from(common.mss.max(1))).unwrap_or(u32::MAX);
        let room = room(common, linux);
        Self {
            expected: 0,
            beyond: 0,
            packets: flow.packets,
            told: 0,
            every: common.ack_every.max(1) * linux.receive_offload.max(1),
            quick: if again { 0 } else { linux.quick_acks },
            echo: if matches!(config.kind, TransportKind::Dctcp(_)) { Echo::Exact } else { Echo::Latched },
            marked: false,
            capable: false,
            pause: None,
            unread: 0,
            stamp: Instant::ZERO,
            ack_at: Instant::NEVER,
            held_since: Instant::ZERO,
            held_for: Duration::ZERO,
            is_tick: false,
            ack_delay: common.ack_delay,
            last_packet: Instant::ZERO,
            missing: 0,
            repeats: 0,
            compressed: 0,
            compress_for: if linux.sack_compression {
                Duration::from_ps(flow.base_rtt.ps() / 20).min(Duration::from_us(1_000))
            } else {
                Duration::ZERO
            },
            told_blocks: [(0, 0); 4],
            ring: BitRing::default(),
            ticks: Ticks::new(linux.timer_tick, draw),
            room,
            handshake_room: unscaled(common),
            // A receiver that has seen full packets counts a quarter more of them into the same memory: 1448 of 2304
            // bytes, not half, are payload.
            memory: (u64::from(room) * 1_448 / 1_152).min(u64::from(most_room.max(room))) as u32,
            most_room: most_room.max(room),
            round_received: 0,
            last_received: 10,
            round_start: Instant::NEVER,
            trip: ReceiverTrip { smoothed8: 0, back: 0, window_start: Instant::NEVER, window_end: 0 },
        }
    }

    /// Its application does not read from one time to another.
    pub fn with_pause(mut self, from: Instant, until: Instant) -> Self {
        self.pause = Some((from, until));
        self
    }

    /// A packet has come in; it is made into the ACK if there is to be one now.
    #[inline]
    pub fn on_packet(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let seq = packet.seq;
        let unusual = (seq != self.expected) | (self.beyond != 0) | (packet.kind != Kind::Data);
        // What changes the echo: a first mark, or a packet without one (DCTCP), or the word that the window was cut.
        let marked = packet.has(flag::CE);
        let changes = match self.echo {
            Echo::Exact => marked != self.marked,
            Echo::Latched => (marked & !self.marked) | packet.has(flag::CWR),
        };
        let waits = (now.since(self.last_packet) > LONG) | self.pause.is_some();
        if unusual | changes | packet.has(flag::TRIMMED) | (self.capable & !packet.has(flag::ECT)) | waits {
            return self.on_unusual(now, packet);
        }
        self.capable = packet.has(flag::ECT);
        self.expected = seq + 1;
        self.grow_room(now, packet.echo);
        if (self.told >= seq) & (packet.sent_at >= self.stamp) {
            self.stamp = packet.sent_at;
        }
        self.last_packet = now;
        self.acknowledge(now, packet)
    }

    /// A packet in order: it is acknowledged now, or waits for the next.
    #[inline(always)]
    fn acknowledge(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let due = self.expected - self.told >= self.every;
        if due | (self.quick != 0) | packet.has(flag::PUSH) {
            self.quick -= u32::from(self.quick != 0);
            return self.reply(now, packet);
        }
        if self.ack_at == Instant::NEVER {
            self.hold(now, self.ack_delay);
        }
        Reply::Nothing
    }

    #[inline(always)]
    fn hold(&mut self, now: Instant, span: Duration) {
        self.held_since = now;
        self.held_for = span;
        self.ack_at = now + span;
        self.is_tick = false;
    }

    /// Makes a packet into an ACK of all that has come in.
    #[inline(always)]
    fn reply(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        self.ack_at = Instant::NEVER;
        self.compressed = 0;
        self.told = self.expected;
        self.fill(now, packet, self.expected);
        if self.beyond != 0 {
            (packet.block, packet.more) = self.blocks();
        }
        Reply::Packet
    }

    #[inline(always)]
    fn fill(&self, now: Instant, packet: &mut Packet, seq: u32) {
        packet.kind = Kind::Ack;
        packet.seq = seq;
        packet.echo = ReceiverTrip::stamp(now);
        packet.block = (0, 0);
        packet.more = MoreBlocks::default();
        packet.window = self.room - self.unread.min(self.room);
        packet.sent_at = self.stamp;
        packet.flags = (packet.flags & flag::TRACED) | if self.marked { flag::CE } else { 0 };
    }

    /// What an ACK tells of packets out of order: the block that changed last first.
    fn blocks(&self) -> (Block, MoreBlocks) {
        let mut more = MoreBlocks::default();
        let near = |at: u32| at.checked_sub(self.expected).and_then(|distance| u16::try_from(distance).ok());
        for (place, (from, to)) in more.iter_mut().zip(self.told_blocks.iter().skip(1)) {
            if let (true, Some(from), Some(to)) = (to > from, near(*from), near(*to)) {
                *place = (from, to);
            }
        }
        (self.told_blocks[0], more)
    }

    /// The receive window grows by two packets for each that comes in, as far as memory allows. While it does, every
    /// packet is acknowledged at once, so that the sender gets to know.
    #[inline(always)]
    fn grow_room(&mut self, now: Instant, back: u32) {
        if self.memory < self.most_room {
            self.grow_memory(now, back);
        }
        if self.room < self.memory {
            self.room = (self.room + 2).min(self.memory);
            self.quick |= 1;
        }
    }

    /// Memory is given for twice what comes in in a round trip, and more while that grows.
    #[inline(never)]
    fn grow_memory(&mut self, now: Instant, back: u32) {
        self.trip.measure(now, back, self.expected, self.room);
        self.round_received += 1;
        if self.round_start == Instant::NEVER {
            self.round_start = now;
        }
        if now.since(self.round_start) < self.trip.estimate() {
            return;
        }
        let (received, before) = (u64::from(self.round_received), u64::from(self.last_received.max(1)));
        if received > before {
            let twice = 2 * received;
            let grown = twice + 2 * (twice * (received - before) / before);
            self.memory = self.memory.max(u32::try_from(grown).unwrap_or(u32::MAX).min(self.most_room));
            self.last_received = self.round_received;
        }
        self.round_received = 0;
        self.round_start = now;
    }

    /// Headers alone, marks, packets out of order, packets that fill a gap, duplicates.
    #[cold]
    #[inline(never)]
    fn on_unusual(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let seq = packet.seq;
        match packet.kind {
            Kind::Probe => return self.reply_to_probe(now, packet),
            Kind::Data if !packet.has(flag::TRIMMED) => {}
            _ => return Reply::Nothing,
        }
        // A long pause: the sender starts anew and waits for every ACK.
        if self.last_packet != Instant::ZERO && now.since(self.last_packet) > LONG {
            self.quick = self.quick.max(QUICK);
        }
        self.last_packet = now;
        if seq <= self.told && packet.sent_at >= self.stamp {
            self.stamp = packet.sent_at;
        }
        if seq < self.expected {
            self.quick = self.quick.max(QUICK);
            return self.reply_duplicate(now, packet);
        }
        let mut at_once = false;
        let before = self.expected;
        let completes = seq == self.expected && self.expected + 1 + self.beyond >= self.packets;
        if packet.has(flag::CWR) && self.echo == Echo::Latched {
            self.marked = false;
            at_once = true;
        }
        let mut owed = None;
        self.take_mark(packet, &mut at_once, &mut owed);
        self.capable |= packet.has(flag::ECT);
        if seq == self.expected {
            self.expected = seq + 1;
            self.grow_room(now, packet.echo);
            if self.beyond > 0 {
                self.fill_gap();
                // The gap is filled when nothing is left beyond it.
                at_once |= self.beyond == 0;
            }
        } else {
            // One more than the span, so that the missing packet at its start ends every block around the ring.
            self.ring.reserve(self.expected, seq - self.expected + 1);
            if self.ring.contains(seq) {
                self.quick = self.quick.max(QUICK);
                return self.reply_duplicate(now, packet);
            }
            self.ring.insert(seq);
            self.beyond += 1;
            self.grow_room(now, packet.echo);
            self.tell(seq);
        }
        if self.pause.is_some_and(|(from, until)| from <= now && now < until) && !completes {
            // The window does not move on, and only the timer makes an ACK.
            self.unread = self.unread.saturating_add(self.expected - before);
            if self.ack_at == Instant::NEVER {
                self.hold(now, self.ack_delay);
            }
            return Reply::Nothing;
        }
        if let (Some((seq, marked)), false) = (owed, completes) {
            return self.reply_owed(now, packet, seq, marked);
        }
        if at_once || completes {
            self.quick = self.quick.saturating_sub(1);
            return self.reply(now, packet);
        }
        if self.beyond == 0 {
            return self.acknowledge(now, packet);
        }
        self.acknowledge_beyond(now, packet)
    }

    /// Headers alone are answered at once.
    fn reply_to_probe(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let stamp = packet.sent_at;
        self.reply(now, packet);
        packet.echo = NO_ECHO;
        packet.sent_at = stamp;
        if self.received() == 0 {
            packet.window = packet.window.min(self.handshake_room);
        }
        Reply::Packet
    }

    /// What was held back is acknowledged with its own echo; this packet in a moment, with another.
    fn reply_owed(&mut self, now: Instant, packet: &mut Packet, seq: u32, marked: bool) -> Reply {
        let now_marked = core::mem::replace(&mut self.marked, marked);
        self.ack_at = Instant::NEVER;
        self.told = seq;
        self.fill(now, packet, seq);
        self.marked = now_marked;
        self.hold(now, Duration::ZERO);
        self.is_tick = true;
        Reply::Packet
    }

    /// Follows marks: what they make the echo, whether that is told at once, and what is owed before it.
    fn take_mark(&mut self, packet: &Packet, at_once: &mut bool, owed: &mut Option<(u32, bool)>) {
        let marked = packet.has(flag::CE);
        match self.echo {
            Echo::Exact => {
                if marked != self.marked {
                    if self.ack_at != Instant::NEVER {
                        *owed = Some((self.expected, self.marked));
                    }
                    *at_once = true;
                    self.marked = marked;
                }
            }
            Echo::Latched => {
                if marked && !self.marked {
                    self.quick = self.quick.max(QUICK_AFTER_MARK);
                    self.marked = true;
                } else if self.capable && !packet.has(flag::ECT) {
                    // A packet without ECN after ones with it: a retransmission, most likely.
                    self.quick = self.quick.max(QUICK_AFTER_MARK);
                }
            }
        }
    }

    fn reply_duplicate(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        let echo = packet.seq;
        self.quick = self.quick.saturating_sub(1);
        self.reply(now, packet);
        packet.echo = echo;
        packet.flags |= flag::DUPLICATE;
        Reply::Packet
    }

    fn fill_gap(&mut self) {
        if self.ring.contains(self.expected) {
            let (from, to) = self.ring.block_around(self.expected);
            self.ring.remove_range(from, to);
            self.beyond -= to - from;
            self.expected = to;
        }
        let mut kept = [(0, 0); 4];
        let blocks = self.told_blocks.iter().filter(|(_, to)| *to > self.expected);
        for (place, block) in kept.iter_mut().zip(blocks) {
            *place = *block;
        }
        self.told_blocks = kept;
    }

    /// The block of a packet comes first, and those that it has swallowed go.
    fn tell(&mut self, seq: u32) {
        let block = self.ring.block_around(seq);
        let mut kept = [(0, 0); 4];
        kept[0] = block;
        let others = self.told_blocks.iter().filter(|(from, to)| to > from && (*to < block.0 || *from > block.1));
        for (place, other) in kept[1..].iter_mut().zip(others) {
            *place = *other;
        }
        self.told_blocks = kept;
    }

    /// Something is missing: the first ACKs go out at once, the next ones may be held back for a moment.
    fn acknowledge_beyond(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        if self.missing != self.expected {
            self.missing = self.expected;
            self.repeats = 0;
        }
        let at_once = self.quick > 0 || self.expected - self.told >= self.every || self.compress_for == Duration::ZERO;
        if at_once || self.repeats < AT_ONCE || self.compressed >= COMPRESSED {
            if !at_once && self.repeats < AT_ONCE {
                self.repeats += 1;
            }
            self.quick = self.quick.saturating_sub(1);
            return self.reply(now, packet);
        }
        self.compressed += 1;
        if self.compressed == 1 {
            self.hold(now, self.compress_for);
            self.is_tick = true;
        }
        Reply::Nothing
    }

    /// Whether every packet has come in.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.expected >= self.packets
    }

    /// Different packets that have come in.
    pub fn received(&self) -> u32 {
        self.expected + self.beyond
    }

    /// Whether the flow's last packet, which may be shorter than the others, has come in.
    pub fn has_last(&self) -> bool {
        let last = self.packets - 1;
        last < self.expected || (self.beyond > 0 && self.ring.reaches(self.expected, last) && self.ring.contains(last))
    }

    /// When the ACK that is held back must go.
    #[inline]
    pub fn deadline(&self) -> Instant {
        match self.pause {
            Some((_, until)) if self.unread > 0 => self.ack_at.min(until),
            _ => self.ack_at,
        }
    }

    /// The ACK that was held back, in a new packet.
    pub fn on_deadline(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        if self.pause.is_some_and(|(_, until)| until <= now) {
            // All is read, and the sender is told that there is room again.
            self.pause = None;
            if core::mem::take(&mut self.unread) > 0 {
                return self.reply(now, packet);
            }
        }
        if now < self.ack_at {
            return Reply::Nothing;
        }
        if !self.is_tick {
            self.is_tick = true;
            self.ack_at = self.ticks.end(self.held_since, self.held_for).max(now);
            if self.ack_at > now {
                return Reply::Nothing;
            }
        }
        self.reply(now, packet)
    }
}
