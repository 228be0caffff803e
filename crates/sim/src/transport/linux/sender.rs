//! The sending end: what is sent when. What an ACK means is in `recovery.rs`.

use super::super::config::{Common, TransportConfig, TransportKind};
use super::super::congestion::Limits;
use super::super::first_window::{Ranks, unscheduled_packets};
use super::super::{FlowInfo, Segment, SenderStats, SmallQueue};
use super::control::{Acked, Control, NO_THRESHOLD, Window};
use super::round_trip::{RoundTrip, Ticks};
use super::sent::{Board, Times};
use super::{LinuxConfig, RateReduction};
use crate::packet::{Kind, OPEN_WINDOW, Packet, flag};
use forebay_tm::random::mix;
use forebay_tm::{Duration, Instant};
use std::sync::Arc;

/// Packets that are sent before pacing begins.
const UNPACED: u32 = 10;

/// What the sender is about, in the order of how bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// All is in order.
    Open,
    /// Packets have arrived out of order; none is known to be lost.
    Disorder,
    /// A mark was echoed: the window shrinks to its threshold.
    Reduction,
    /// Losses are repaired, and the window shrinks to its threshold.
    Recovery,
    /// The timer ran out.
    Loss,
}

/// What the timer is for: there is one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Nothing,
    /// The retransmission timeout.
    Timeout,
    /// The tail loss probe.
    Probe,
    /// Packets that may be lost or late are lost now.
    Reordering,
    /// The receive window is closed.
    Persist,
}

/// A timer of the kernel: it is set often and rarely runs out, so that ticks are only worked out when it would.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    pub(super) purpose: Purpose,
    start: Instant,
    span: Duration,
    at: Instant,
    is_tick: bool,
}

impl Timer {
    const fn new() -> Self {
        Self {
            purpose: Purpose::Nothing,
            start: Instant::ZERO,
            span: Duration::ZERO,
            at: Instant::NEVER,
            is_tick: false,
        }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, purpose: Purpose, now: Instant, span: Duration) {
        *self = Self { purpose, start: now, span, at: now + span, is_tick: false };
    }

    pub(super) fn stop(&mut self) {
        self.purpose = Purpose::Nothing;
        self.at = Instant::NEVER;
    }
}

/// What the sender has to see to before it sends new data, as bits.
pub(super) mod special {
    /// The connection is not open yet.
    pub(crate) const OPENING: u8 = 1;
    /// The header of the handshake goes out.
    pub(crate) const KNOCK: u8 = 1 << 1;
    /// A tail loss probe goes out.
    pub(crate) const PROBE: u8 = 1 << 2;
    /// New data goes before retransmissions (F-RTO).
    pub(crate) const NEW_FIRST: u8 = 1 << 3;
    /// Retransmissions wait for the next ACK.
    pub(crate) const NO_REPAIR: u8 = 1 << 4;
    /// One retransmission goes out whatever is in flight.
    pub(crate) const FORCED: u8 = 1 << 5;
    /// The receive window is probed.
    pub(crate) const PERSIST: u8 = 1 << 6;
}

/// Loss detection by time (RFC 8985): what has arrived of what was sent last.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// When the packet that was sent last of all that have arrived was sent, and its number.
    pub(super) sent: Instant,
    pub(super) seq: u32,
    pub(super) repeated: bool,
    /// The round trip of the latest that has arrived.
    pub(super) rtt: Duration,
    /// Something has arrived since losses were last looked for.
    pub(super) advanced: bool,
    /// The reordering window in quarters of the shortest round trip.
    pub(super) steps: u32,
    /// Recoveries until that falls back to one.
    pub(super) persist: u32,
    /// A duplicate was reported since the last look.
    pub(super) duplicate: bool,
    /// Further duplicates count when this packet has been acknowledged.
    pub(super) adjusted: u32,
}

/// Whether a cut of the window may be taken back.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    /// The first packet that was not acknowledged when losses were found; none: there is nothing to take back.
    pub(super) marker: Option<u32>,
    /// Retransmissions of which no duplicate has been reported; none: nothing was sent again yet.
    pub(super) retransmissions: Option<u32>,
    /// When the first retransmission was sent.
    pub(super) first: Option<Instant>,
    /// Threshold and window before the cut; a threshold of zero: it is not to be taken back.
    pub(super) threshold: u32,
    pub(super) window: u32,
}

/// What proportional rate reduction counts (RFC 6937).
#[derive(Clone, Debug, Default)]
pub(super) struct Reduction {
    pub(super) prior: u32,
    pub(super) delivered: u32,
    pub(super) sent: u32,
}

/// What an application writes: how long after the connection is open, and packets in all by then.
pub type Writes = Arc<[(Duration, u32)]>;

/// Writes that are still to come.
#[derive(Clone, Debug)]
struct Writing {
    writes: Writes,
    next: usize,
    /// When the connection was opened; never if it is not yet.
    since: Instant,
}

impl Writing {
    /// When the next write comes.
    fn at(&self) -> Instant {
        match self.writes.get(self.next) {
            Some((after, _)) if self.since != Instant::NEVER => self.since + *after,
            _ => Instant::NEVER,
        }
    }
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct LinuxSender {
    pub(super) una: u32,
    pub(super) next: u32,
    /// Packets that have been written so far, and that the receiver has room for.
    limit: u32,
    pub(super) state: State,
    special: u8,
    /// Packets were sent since it was last looked whether the window is in use.
    burst: bool,
    /// Pacing alone keeps the next packet back.
    held_by_pace: bool,
    /// The last packet that was sent still waits in its host.
    in_host: bool,
    paced: bool,
    pub(super) window: Window,
    pub(super) timer: Timer,
    /// Packets up to this are marked ECN-capable, or not.
    flags: u16,
    pub(super) parts: Parts,
    mss: u32,
    packets: u32,
    unscheduled: u32,
    ranks: Ranks,
    bytes: u64,
    pub(super) times: Times,
    pub(super) board: Board,
    pub(super) trip: RoundTrip,
    pub(super) rack: Rack,
    pub(super) control: Control,
    // Whether the window is in use.
    is_limited: bool,
    most_out: u32,
    usage_ends: u32,
    /// Packets in flight at most since the window was last in full use, and when that was.
    used: u32,
    used_at: Instant,
    // Pacing.
    gap: Duration,
    pace_at: Instant,
    pace_sum: Duration,
    pace_credit: Duration,
    paced_burst: u32,
    burst_at: Instant,
    // Recovery.
    pub(super) high: u32,
    pub(super) reduction: Reduction,
    pub(super) undo: Undo,
    pub(super) frto: bool,
    pub(super) timeouts_in_a_row: u32,
    /// Degree of reordering in packets, and how often there was any.
    pub(super) reordering: u32,
    pub(super) reorderings: u32,
    pub(super) duplicates: u32,
    /// What had been sent when the probe was; zero if none is out.
    pub(super) probe_end: u32,
    pub(super) probe_repeats: bool,
    /// The next new packet tells the receiver that the window was cut.
    pub(super) cwr: bool,
    pub(super) losses: u32,
    window_end: u32,
    written: u32,
    writing: Option<Writing>,
    last_sent: Instant,
    initial_window: u32,
    knocks: u32,
    ticks: Ticks,
    offload: u32,
    /// Packets of the largest segment.
    largest: u32,
    wire: u32,
    pub(super) stats: SenderStats,
}

/// What a sender follows of its settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) rack: bool,
    pub(super) probe: bool,
    pub(super) proportional: bool,
    pub(super) frto: bool,
    pub(super) undo: bool,
    pub(super) idle_restart: bool,
    /// All packets are ECN-capable, retransmissions too, and marks are counted (DCTCP).
    pub(super) counts_marks: bool,
}

/// What a connection remembers between two flows.
#[derive(Clone, Debug)]
pub struct Connection {
    window: Window,
    trip: RoundTrip,
    control: Control,
    rack_steps: u32,
    reordering: u32,
    reorderings: u32,
    last_sent: Instant,
    room: u32,
    cwr: bool,
}

impl LinuxSender {
    /// The sender of a flow that starts now, on a connection of its own or on one that was left by an earlier flow.
    pub fn new(config: &TransportConfig, flow: FlowInfo, now: Instant, connection: Option<Connection>) -> Self {
        let (common, linux) = (&config.common, &config.common.linux);
        let limits = Limits::new(common, &flow);
        let draw = mix(flow.seed ^ mix(u64::from(flow.number)));
        let opens = common.handshake && connection.is_none();
        let mut trip = RoundTrip::new(common.rto_min, common.rto_initial, common.rto_max);
        if !common.handshake && connection.is_none() {
            // The connection was opened beforehand, and the handshake has measured the round trip.
            trip.observe_least(flow.open_rtt);
            trip.sample(flow.open_rtt, 0, 0);
        }
        let wire = common.mss + common.header;
        let mut room = room(common, linux);
        if opens {
            room = room.min(unscaled(common));
        }
        let mut sender = Self {
            una: 0,
            next: 0,
            limit: 0,
            state: State::Open,
            special: if opens { special::OPENING | special::KNOCK } else { 0 },
            burst: false,
            held_by_pace: false,
            in_host: false,
            paced: linux.pacing,
            window: Window {
                size: limits.initial_window,
                threshold: limits.initial_threshold.unwrap_or(NO_THRESHOLD),
                credit: 0,
                max: limits.max_window,
            },
            timer: Timer::new(),
            flags: if common.ecn { flag::ECT } else { 0 },
            parts: Parts {
                rack: linux.loss_detection == super::LossDetection::Rack,
                probe: linux.tail_loss_probe,
                proportional: linux.rate_reduction == RateReduction::Proportional,
                frto: linux.frto,
                undo: linux.undo,
                idle_restart: linux.idle_restart,
                counts_marks: matches!(config.kind, TransportKind::Dctcp(_)),
            },
            mss: common.mss.max(1),
            packets: flow.packets,
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            bytes: flow.bytes,
            times: Times::new(limits.initial_window.min(flow.packets)),
            board: Board::default(),
            trip,
            rack: Rack {
                sent: Instant::ZERO,
                seq: 0,
                repeated: false,
                rtt: Duration::ZERO,
                advanced: false,
                steps: 1,
                persist: 0,
                duplicate: false,
                adjusted: 0,
            },
            control: Control::new(config),
            is_limited: false,
            most_out: 0,
            usage_ends: 0,
            used: 0,
            used_at: now,
            gap: Duration::ZERO,
            pace_at: Instant::ZERO,
            pace_sum: Duration::ZERO,
            pace_credit: Duration::ZERO,
            paced_burst: 0,
            burst_at: Instant::NEVER,
            high: 0,
            reduction: Reduction::default(),
            undo: Undo { marker: None, retransmissions: None, first: None, threshold: 0, window: 0 },
            frto: false,
            timeouts_in_a_row: 0,
            reordering: 3,
            reorderings: 0,
            duplicates: 0,
            probe_end: 0,
            probe_repeats: false,
            cwr: false,
            losses: 0,
            window_end: room,
            written: flow.packets,
            writing: None,
            last_sent: now,
            initial_window: limits.initial_window,
            knocks: 0,
            ticks: Ticks::new(linux.timer_tick, draw),
            offload: linux
                .segmentation_offload
                .map_or(0, |bytes| (bytes.get() / u64::from(common.mss.max(1))).max(1) as u32),
            largest: (65_536 / common.mss.max(1)).max(2),
            wire,
            stats: SenderStats::default(),
        };
        if let Some(connection) = connection {
            sender.resume(now, connection);
        }
        sender.follow_room();
        sender.set_pace();
        sender
    }

    /// An application writes at these times; until then nothing is there to be sent.
    pub fn with_writes(mut self, now: Instant, writes: Writes) -> Self {
        let since = if self.is_opening() { Instant::NEVER } else { now };
        self.written = 0;
        self.writing = Some(Writing { writes, next: 0, since });
        self.take_writes(now);
        self.follow_room();
        self
    }

    fn resume(&mut self, now: Instant, connection: Connection) {
        self.window = connection.window;
        self.trip = connection.trip;
        self.trip.renumber();
        self.control = connection.control;
        self.control.renumber(now, connection.last_sent);
        self.rack.steps = connection.rack_steps;
        self.reordering = connection.reordering;
        self.reorderings = connection.reorderings;
        self.window_end = connection.room;
        self.last_sent = connection.last_sent;
        self.cwr = connection.cwr;
        self.restart_after_idle(now);
    }

    /// What the connection remembers for its next flow; none if it is not in a state to be used again.
    pub fn leave(&self) -> Option<Connection> {
        if !self.is_done() || self.special & special::OPENING != 0 {
            return None;
        }
        Some(Connection {
            window: self.window.clone(),
            trip: self.trip.clone(),
            control: self.control.clone(),
            rack_steps: self.rack.steps,
            reordering: self.reordering,
            reorderings: self.reorderings,
            last_sent: self.last_sent,
            room: self.window_end.saturating_sub(self.una),
            cwr: self.cwr,
        })
    }

    /// Packets that are not acknowledged.
    #[inline(always)]
    pub(super) fn out(&self) -> u32 {
        self.next - self.una
    }

    #[inline(always)]
    pub(super) fn in_flight(&self) -> u32 {
        self.board.in_flight(self.out())
    }

    #[inline(always)]
    pub(super) fn in_reduction(&self) -> bool {
        matches!(self.state, State::Reduction | State::Recovery)
    }

    /// Whether there is new data that the receiver has room for.
    pub(super) fn has_new(&self) -> bool {
        self.next < self.limit
    }

    #[inline(always)]
    fn follow_room(&mut self) {
        self.limit = self.written.min(self.window_end);
    }

    // ---- ACKs --------------------------------------------------------------------------------------------------------

    /// An ACK has come in; anything else is ignored.
    #[inline]
    pub fn on_answer(&mut self, now: Instant, packet: &Packet) {
        let seq = packet.seq;
        if (packet.kind != Kind::Ack) | (seq > self.next) {
            return;
        }
        if self.burst {
            self.end_burst(now);
        }
        let news =
            packet.block.1 | u32::from(packet.flags & flag::DUPLICATE) | u32::from(self.special) | self.probe_end;
        let in_order = matches!(self.state, State::Open | State::Reduction) & self.board.is_clean(self.una);
        if !(in_order & (news == 0) & (seq > self.una)) {
            return self.on_unusual(now, packet);
        }
        let (first, last) = (self.times.get(self.una), self.times.get(seq - 1));
        let delivered = seq - self.una;
        self.una = seq;
        self.timeouts_in_a_row = 0;
        self.take_room(packet);
        let rtt = now.since(last);
        self.rack.rtt = rtt;
        self.rack.sent = last;
        self.rack.seq = seq - 1;
        self.rack.repeated = false;
        self.rack.advanced = true;
        self.trip.observe_least(rtt);
        self.trip.sample(now.since(first), self.una, self.next);
        let acked = Acked {
            now,
            delivered,
            una: self.una,
            next: self.next,
            rtt,
            marked: packet.has(flag::CE),
            paced: self.paced,
            smoothed: self.trip.smoothed(),
        };
        self.control.on_acked(&acked, &mut self.window);
        if acked.marked | (self.state != State::Open) {
            self.follow_marks(acked.marked);
        }
        self.set_timer(now);
        if self.state == State::Reduction {
            self.reduce(delivered, 0, true);
        } else if self.is_in_use() {
            self.control.grow(now, &mut self.window, delivered);
        }
        self.set_pace();
    }

    /// The receive window of an ACK.
    #[inline(always)]
    pub(super) fn take_room(&mut self, packet: &Packet) {
        if packet.window != OPEN_WINDOW || self.window_end != OPEN_WINDOW {
            self.window_end = self.window_end.max(packet.seq.saturating_add(packet.window));
            self.follow_room();
        }
    }

    /// Whether the window is in use, so that it may grow.
    #[inline(always)]
    pub(super) fn is_in_use(&self) -> bool {
        self.is_limited || (self.window.in_slow_start() && self.window.size < 2 * self.most_out)
    }

    /// Packets have been sent as far as possible: was it the window that ended that?
    #[inline]
    fn end_burst(&mut self, now: Instant) {
        self.burst = false;
        let out = self.out();
        let limited = self.board.in_flight(out) >= self.window.size;
        if (self.una >= self.usage_ends) | limited | (!self.is_limited & (out > self.most_out)) {
            self.is_limited = limited;
            self.most_out = out;
            self.usage_ends = self.next;
        }
        if self.is_in_use() {
            self.used = 0;
            self.used_at = now;
        } else {
            self.used = self.used.max(out);
            if self.parts.idle_restart && now.since(self.used_at) >= self.trip.timeout() {
                self.shrink_unused(now);
            }
        }
    }

    /// The application does not use the window: it moves halfway to what is used (RFC 2861).
    #[cold]
    #[inline(never)]
    fn shrink_unused(&mut self, now: Instant) {
        let used = self.used.max(self.initial_window);
        if self.state == State::Open && used < self.window.size {
            self.window.threshold = self.current_threshold();
            self.window.size = (self.window.size + used) / 2;
        }
        self.used = 0;
        self.used_at = now;
    }

    /// The threshold that the window of now stands for.
    pub(super) fn current_threshold(&self) -> u32 {
        if self.in_reduction() {
            return self.window.threshold;
        }
        self.window.threshold.max(self.window.size / 2 + self.window.size / 4)
    }

    /// After a pause of more than a timeout the window halves for each timeout, down to the first window.
    fn restart_after_idle(&mut self, now: Instant) {
        let timeout = self.trip.timeout().ps().max(1);
        let mut idle = now.since(self.last_sent).ps();
        if !self.parts.idle_restart || self.out() > 0 || idle <= timeout || self.in_reduction() {
            return;
        }
        self.window.threshold = self.current_threshold();
        let floor = self.initial_window.min(self.window.size);
        while idle > timeout && self.window.size > floor {
            idle -= timeout;
            self.window.size /= 2;
        }
        self.window.size = self.window.size.max(floor);
        self.used = 0;
        self.used_at = now;
    }

    // ---- Sending -----------------------------------------------------------------------------------------------------

    /// The next packet to send now, if there is one.
    #[inline(always)]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if (self.special != 0) | (self.board.lost > self.board.again) {
            return self.poll_special(now);
        }
        self.poll_new(now)
    }

    #[inline(always)]
    fn poll_new(&mut self, now: Instant) -> Option<Segment> {
        let flight = self.in_flight();
        self.held_by_pace = false;
        if (flight >= self.window.size) | (self.next >= self.limit) {
            if self.burst | (self.next < self.limit) {
                self.end_burst(now);
            }
            return None;
        }
        if self.paced && !self.may_pace(now) {
            return None;
        }
        if self.offload != 0 && self.should_wait(now, flight) {
            self.is_limited = true;
            return None;
        }
        Some(self.send_new(now))
    }

    #[inline(always)]
    fn send_new(&mut self, now: Instant) -> Segment {
        let seq = self.next;
        self.times.push(self.una, seq, now);
        self.next = seq + 1;
        self.burst = true;
        self.last_sent = now;
        if self.in_reduction() {
            self.reduction.sent += 1;
        }
        self.arm_for_new(now);
        let mut segment = self.segment(seq, self.flags);
        if self.cwr {
            self.cwr = false;
            if self.flags & flag::ECT != 0 {
                segment.flags |= flag::CWR;
            }
        }
        segment
    }

    #[inline(always)]
    fn segment(&self, seq: u32, mut flags: u16) -> Segment {
        if seq < self.unscheduled {
            flags |= flag::UNSCHEDULED;
        }
        let left = self.bytes - u64::from(seq) * u64::from(self.mss);
        let mut payload = self.mss;
        if seq + 1 == self.packets {
            flags |= flag::LAST | flag::PUSH;
            payload = left as u32;
        } else if seq + 1 == self.written {
            flags |= flag::PUSH;
        }
        Segment { kind: Kind::Data, seq, payload, rank: self.ranks.of(left), flags }
    }

    /// The timer for new data: a probe if all goes well, else the timeout.
    #[inline(always)]
    fn arm_for_new(&mut self, now: Instant) {
        let alone = self.out() == 1;
        if self.probes() {
            if alone | (self.timer.start != now) | (self.timer.purpose != Purpose::Probe) | (self.out() == 2) {
                let since = now.since(self.times.get(self.una)).ps();
                let left = Duration::from_ps(self.trip.timeout().ps().saturating_sub(since));
                let mut span = self.trip.probe_after(alone);
                if left > Duration::ZERO {
                    span = span.min(left);
                }
                self.timer.set(Purpose::Probe, now, span);
            }
        } else if alone | (self.timer.purpose == Purpose::Probe) | (self.timer.purpose == Purpose::Nothing) {
            self.arm_timeout(now);
        }
    }

    /// Whether a tail loss probe may be sent when the time comes.
    #[inline(always)]
    fn probes(&self) -> bool {
        self.parts.probe & matches!(self.state, State::Open | State::Reduction)
    }

    /// Sets the retransmission timer; a probe or the reordering timer in its place has used up some of it.
    pub(super) fn arm_timeout(&mut self, now: Instant) {
        if self.out() == 0 {
            return self.timer.stop();
        }
        let mut span = self.trip.timeout();
        if matches!(self.timer.purpose, Purpose::Probe | Purpose::Reordering) {
            let since = now.since(self.times.get(self.una)).ps();
            span = Duration::from_ps(span.ps().saturating_sub(since).max(1_000_000));
        }
        self.timer.set(Purpose::Timeout, now, span);
    }

    /// The timer after an ACK of new data.
    #[inline(always)]
    pub(super) fn set_timer(&mut self, now: Instant) {
        let out = self.out();
        if out == 0 {
            self.timer.stop();
            if self.next < self.written && self.next >= self.window_end {
                self.timer.set(Purpose::Persist, now, self.trip.timeout());
            }
        } else if self.probes() {
            let span = self.trip.probe_after(out == 1).min(self.trip.timeout());
            self.timer.set(Purpose::Probe, now, span);
        } else {
            self.arm_timeout(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_special(&mut self, now: Instant) -> Option<Segment> {
        if self.special & special::OPENING != 0 {
            return self.knock(now);
        }
        if self.special & special::PERSIST != 0 {
            self.special &= !special::PERSIST;
            return Some(Segment { kind: Kind::Probe, seq: self.una, payload: 0, rank: 0, flags: flag::UNSCHEDULED });
        }
        if self.special & special::PROBE != 0 {
            self.special &= !special::PROBE;
            if let Some(probe) = self.send_probe(now) {
                return Some(probe);
            }
        }
        if self.special & special::NEW_FIRST != 0 {
            if let Some(segment) = self.poll_new(now) {
                return Some(segment);
            }
            self.special &= !special::NEW_FIRST;
            if self.next > self.high {
                self.special |= special::NO_REPAIR;
                return None;
            }
            self.frto = false;
        }
        if self.special & special::NO_REPAIR == 0 && self.board.lost > self.board.again {
            let forced = self.special & special::FORCED != 0;
            self.special &= !special::FORCED;
            self.held_by_pace = false;
            if !forced && self.in_flight() >= self.window.size {
                self.end_burst(now);
                return None;
            }
            if self.paced && !self.may_pace(now) {
                return None;
            }
            if let Some(seq) = self.board.next_lost(self.una, self.next) {
                return Some(self.send_again(now, seq));
            }
        }
        self.poll_new(now)
    }

    pub(super) fn send_again(&mut self, now: Instant, seq: u32) -> Segment {
        self.board.sent_again(self.una, seq, now, false);
        self.undo.retransmissions = Some(self.undo.retransmissions.unwrap_or(0) + 1);
        self.undo.first.get_or_insert(now);
        if self.in_reduction() {
            self.reduction.sent += 1;
        }
        if seq == self.una && self.timer.purpose != Purpose::Reordering {
            self.timer.set(Purpose::Timeout, now, self.trip.timeout());
        }
        self.repeat(now, seq)
    }

    fn repeat(&mut self, now: Instant, seq: u32) -> Segment {
        self.times.set(seq, now);
        self.stats.retransmissions += 1;
        self.last_sent = now;
        let ecn = if self.parts.counts_marks { self.flags } else { self.flags & !flag::ECT };
        self.segment(seq, ecn | flag::RETRANSMISSION)
    }

    /// The tail loss probe (RFC 8985, section 7.3): new data if there is any, whatever the window, else the last packet again, unless it has not
    /// left its host yet.
    fn send_probe(&mut self, now: Instant) -> Option<Segment> {
        let mut probe = None;
        if self.probe_end == 0 {
            self.probe_repeats = false;
            if self.has_new() {
                probe = Some(self.send_new(now));
            } else if self.next > self.una && !self.in_host {
                self.probe_repeats = true;
                self.board.sent_again(self.una, self.next - 1, now, true);
                probe = Some(self.repeat(now, self.next - 1));
            }
        }
        if probe.is_some() {
            self.probe_end = self.next;
            self.timer.purpose = Purpose::Nothing;
        }
        self.arm_timeout(now);
        probe
    }

    // ---- Handshake ---------------------------------------------------------------------------------------------------

    fn knock(&mut self, now: Instant) -> Option<Segment> {
        if self.special & special::KNOCK == 0 {
            return None;
        }
        self.special &= !special::KNOCK;
        self.knocks += 1;
        self.timer.set(Purpose::Timeout, now, self.trip.timeout());
        let rank = self.ranks.of(self.bytes);
        Some(Segment { kind: Kind::Probe, seq: 0, payload: 0, rank, flags: flag::UNSCHEDULED })
    }

    /// The answer to the header of the handshake.
    pub(super) fn open(&mut self, now: Instant, packet: &Packet) {
        self.special &= !(special::OPENING | special::KNOCK);
        self.timer.stop();
        let rtt = now.since(packet.sent_at);
        self.trip.observe_least(rtt);
        self.trip.sample(rtt, 0, 0);
        if self.knocks > 2 {
            self.window.size = 1;
        }
        self.take_room(packet);
        self.used_at = now;
        self.last_sent = now;
        if let Some(writing) = &mut self.writing {
            writing.since = now;
            self.take_writes(now);
        }
        self.set_pace();
    }

    // ---- Pacing ------------------------------------------------------------------------------------------------------

    /// The time between packets at the pacing rate, which says how large segments are even where nothing is paced.
    #[inline(always)]
    pub(super) fn set_pace(&mut self) {
        let packets = u64::from(self.window.size.max(self.out()));
        self.gap = Duration::from_ps(self.trip.smoothed().ps() * 100 / (packets * u64::from(self.pace_percent())));
    }

    /// Whether pacing lets a packet go now. Packets of one burst, as large as the kernel makes its segments, go together.
    #[inline(always)]
    fn may_pace(&mut self, now: Instant) -> bool {
        if (self.burst_at == now) & (self.paced_burst != 0) {
            self.paced_burst -= 1;
        } else {
            self.held_by_pace = now < self.pace_at;
            if self.held_by_pace {
                return false;
            }
            self.burst_at = now;
            self.paced_burst = self.burst_size() - 1;
            self.pace_credit = now.since(self.pace_at);
            self.pace_sum = Duration::ZERO;
            self.pace_at = now;
        }
        if self.next >= UNPACED {
            // Time that went by unused makes up for half of it at most.
            self.pace_sum = Duration::from_ps(self.pace_sum.ps() + self.gap.ps());
            let credit = self.pace_credit.min(Duration::from_ps(self.pace_sum.ps() / 2));
            self.pace_at = now + Duration::from_ps(self.pace_sum.ps() - credit.ps());
        }
        true
    }

    /// Packets that go together: those of a millisecond at the pacing rate, at least two, and up to 64 KB where round trips are short.
    #[inline]
    fn burst_size(&self) -> u32 {
        let largest = self.largest;
        let halvings = self.trip.least().ps() / 512_000_000;
        let more = if halvings < 32 { largest >> halvings } else { 0 };
        if more >= largest || self.gap == Duration::ZERO {
            return largest;
        }
        let at_rate = (1_000_000_000 / self.gap.ps()).min(u64::from(largest)) as u32;
        (at_rate + more).clamp(2, largest)
    }

    /// What may wait below: what goes out in `span` at the pacing rate, at least two segments.
    #[inline]
    pub fn small_queue(&self, span: Duration) -> SmallQueue {
        let bytes = self.bytes_in(span);
        if self.offload == 0 {
            return SmallQueue { bytes, segment: 0 };
        }
        let segment = u64::from(self.burst_size().min(self.offload)) * u64::from(self.wire);
        SmallQueue { bytes: bytes.max(2 * segment), segment }
    }

    /// Bytes that it sends in a time at the pacing rate.
    #[inline]
    fn bytes_in(&self, span: Duration) -> u64 {
        if self.gap != Duration::ZERO {
            return u64::from(self.wire).saturating_mul(span.ps()) / self.gap.ps();
        }
        let smoothed = u128::from(self.trip.smoothed().ps()) * 100;
        let packets = u128::from(self.window.size.max(self.out()));
        let sent = packets * u128::from(self.wire) * u128::from(self.pace_percent()) * u128::from(span.ps());
        u64::try_from(sent.checked_div(smoothed).unwrap_or(u128::MAX)).unwrap_or(u64::MAX)
    }

    /// The pacing rate in windows per hundred round trips: in the first half of slow start the window doubles in a round trip.
    #[inline(always)]
    fn pace_percent(&self) -> u32 {
        if self.window.size < self.window.threshold / 2 { 200 } else { 120 }
    }

    /// With segmentation offload, new data waits for more of the window if an ACK is about to open it: until a third of the window, or the largest
    /// segment, can go at once.
    #[cold]
    #[inline(never)]
    fn should_wait(&mut self, now: Instant, flight: u32) -> bool {
        if self.burst && self.last_sent == now {
            return false;
        }
        let room = (self.window.size - flight).min(self.limit - self.next);
        let goal = self.burst_size().min(self.offload);
        if self.state >= State::Recovery
            || room >= goal
            || self.next + room >= self.written
            || room >= self.window.size / 3
            || now.since(self.last_sent).ps() > 1_000_000_000
            || self.out() == 0
        {
            return false;
        }
        // The ACK of the oldest packet is not due soon.
        now.since(self.times.get(self.una)).ps() >= self.trip.smoothed().ps() / 2
    }

    // ---- Time --------------------------------------------------------------------------------------------------------

    /// When pacing lets the next packet go, if nothing else keeps it back.
    #[inline]
    pub fn paced_until(&self) -> Instant {
        if self.held_by_pace { self.pace_at } else { Instant::NEVER }
    }

    /// When the timer runs out, or an application writes.
    #[inline]
    pub fn deadline(&self) -> Instant {
        let mut at = self.timer.at;
        if let Some(writing) = &self.writing {
            at = at.min(writing.at());
        }
        at
    }

    /// Says, before a deadline, whether the last packet that was sent still waits in its host.
    pub fn set_in_host(&mut self, in_host: bool) {
        self.in_host = in_host;
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, now: Instant) {
        self.take_writes(now);
        if now < self.timer.at {
            return;
        }
        if !self.timer.is_tick {
            self.timer.at = self.ticks.end(self.timer.start, self.timer.span).max(now);
            self.timer.is_tick = true;
            if self.timer.at > now {
                return;
            }
        }
        let purpose = self.timer.purpose;
        self.timer.at = Instant::NEVER;
        match purpose {
            Purpose::Nothing => {}
            Purpose::Timeout => self.on_timeout(now),
            Purpose::Probe => self.special |= special::PROBE,
            Purpose::Reordering => self.on_reordering_timeout(now),
            Purpose::Persist => {
                self.special |= special::PERSIST;
                self.trip.back_off();
                self.timer.set(Purpose::Persist, now, self.trip.timeout());
            }
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        self.stats.timeouts += 1;
        if self.special & special::OPENING != 0 {
            // The first retries come at equal intervals.
            if self.knocks > 4 {
                self.trip.back_off();
            }
            self.special |= special::KNOCK;
            self.timer.set(Purpose::Timeout, now, self.trip.timeout());
            return;
        }
        self.enter_loss(now);
        self.timeouts_in_a_row += 1;
        self.trip.back_off();
        self.timer.set(Purpose::Timeout, now, self.trip.timeout());
    }

    fn take_writes(&mut self, now: Instant) {
        let Some(writing) = &mut self.writing else { return };
        let before = self.written;
        while writing.at() <= now {
            self.written = writing.writes[writing.next].1.min(self.packets);
            writing.next += 1;
        }
        if self.written > before {
            self.restart_after_idle(now);
            self.follow_room();
        }
    }

    pub(super) fn repair(&mut self) {
        self.special &= !(special::NO_REPAIR | special::NEW_FIRST);
    }

    pub(super) fn repair_forced(&mut self) {
        self.repair();
        self.special |= special::FORCED;
    }

    pub(super) fn new_data_first(&mut self) {
        self.special = (self.special & !special::NO_REPAIR) | special::NEW_FIRST;
    }

    pub(super) fn is_opening(&self) -> bool {
        self.special & special::OPENING != 0
    }

    pub(super) fn is_paced(&self) -> bool {
        self.paced
    }

    /// Whether everything has been acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una >= self.packets
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }
}

/// Packets that the window of a handshake can tell of: it is not scaled, and has 16 bits.
pub(super) fn unscaled(common: &Common) -> u32 {
    (u32::from(u16::MAX) / common.mss.max(1)).max(1)
}

/// Packets that a receiver has room for at first.
pub(super) fn room(common: &Common, linux: &LinuxConfig) -> u32 {
    let bytes = common.receive_window.unwrap_or(linux.receive_window_max).min(linux.receive_window_max);
    u32::try_from(bytes.get() / u64::from(common.mss.max(1))).unwrap_or(u32::MAX).max(1)
}
