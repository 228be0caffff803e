//! The sending end: what is sent when. What an ACK means is in `recovery.rs`.

mod pacing;
mod sending;
mod state;
mod timers;

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

pub(super) use state::{Purpose, Rack, Reduction, State, Timer, Undo, special};

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
    /// Probes that were sent, for the record.
    pub(super) probes_sent: u32,
    /// The next new packet tells the receiver that the window was cut.
    pub(super) cwr: bool,
    pub(super) losses: u32,
    window_end: u32,
    /// The time stamp of the last ACK.
    pub(super) peer_stamp: u32,
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

impl Parts {
    fn of(config: &TransportConfig) -> Self {
        let linux = &config.linux;
        Self {
            rack: linux.loss_detection == super::LossDetection::Rack,
            probe: linux.tail_loss_probe,
            proportional: linux.rate_reduction == RateReduction::Proportional,
            frto: linux.frto,
            undo: linux.undo,
            idle_restart: linux.idle_restart,
            counts_marks: matches!(config.kind, TransportKind::Dctcp(_)),
        }
    }
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
        let (common, linux) = (&config.common, &config.linux);
        let limits = Limits::new(common, &flow);
        let draw = mix(flow.seed ^ mix(u64::from(flow.number)));
        let opens = common.handshake && connection.is_none();
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
            window: first_window(&limits),
            timer: Timer::new(),
            flags: if common.ecn { flag::ECT } else { 0 },
            parts: Parts::of(config),
            mss: common.mss.max(1),
            packets: flow.packets,
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            bytes: flow.bytes,
            times: Times::new(limits.initial_window.min(flow.packets)),
            board: Board::default(),
            trip: first_trip(common, &flow, connection.is_some()),
            rack: Rack::new(),
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
            probes_sent: 0,
            cwr: false,
            losses: 0,
            window_end: room,
            peer_stamp: 0,
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

    // ---- ACKs
    // --------------------------------------------------------------------------------------------------------

    /// An ACK has come in; anything else is ignored.
    #[inline]
    pub fn on_reply(&mut self, now: Instant, packet: &Packet) {
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
        self.peer_stamp = packet.echo;
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

    /// The time stamp of the last ACK; 0 before the first.
    #[inline(always)]
    pub fn peer_stamp(&self) -> u32 {
        self.peer_stamp
    }

    /// The congestion window in packets.
    pub(crate) fn congestion_window(&self) -> u32 {
        self.window.size
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }

    /// Tail loss probes that it has sent.
    pub(crate) fn loss_probes(&self) -> u32 {
        self.probes_sent
    }
}

/// The window before anything has been acknowledged.
fn first_window(limits: &Limits) -> Window {
    Window {
        size: limits.initial_window,
        threshold: limits.initial_threshold.unwrap_or(NO_THRESHOLD),
        credit: 0,
        max: limits.max_window,
    }
}

/// What is known of the round trip at the start of a flow, whose connection may have been kept.
fn first_trip(common: &Common, flow: &FlowInfo, is_kept: bool) -> RoundTrip {
    let mut trip = RoundTrip::new(common.rto_min, common.rto_initial, common.rto_max);
    if !common.handshake && !is_kept {
        // The connection was opened beforehand, and the handshake has measured the round trip.
        trip.observe_least(flow.open_rtt);
        trip.sample(flow.open_rtt, 0, 0);
    }
    trip
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
