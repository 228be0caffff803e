//! TCP: a reliable sender with a window, selective acknowledgement and a retransmission timer. How large the window is,
//! and whether packets are paced, is up to a [`Congestion`] control.
//!
//! Losses are found as in RFC 6675: a packet is lost when three packets above it have arrived; the lost ones are sent
//! again before new data, and what is in flight (`pipe`) stays within the window, which was cut once. A retransmission
//! that is lost is found by the timer, which takes all that has not arrived for lost (RFC 6298, 5.4 to 5.6). There are
//! no rescue retransmissions.

use super::config::{HandshakeAck, Recovery, TransportConfig};
use super::congestion::{AckEvent, Congestion, CongestionControl, Limits};
use super::first_window::{Ranks, unscheduled_packets};
use super::rto::Rto;
use super::scoreboard::Scoreboard;
use super::{FlowInfo, Segment, SenderStats};
use crate::packet::{Kind, Packet, Telemetry, flag};
use forebay_tm::{Duration, Instant};

/// What the sender is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// All is in order: the scoreboard is clean.
    Open,
    /// Packets have arrived out of order; none is known to be lost.
    Disorder,
    /// Losses are repaired; the window was cut and does not grow until `recover` has been acknowledged.
    Recovery,
    /// The timer ran out; the window grows from one packet. No cut for losses until `recover` has been acknowledged.
    Timeout,
}

/// What a connection still needs before data may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    /// Nothing.
    Done,
    /// The SYN-ACK.
    Request,
    /// A packet that acknowledges the SYN-ACK is to be sent, and then what was urgent is so again.
    Confirm { urgent: bool },
}

/// The `seq` of a probe that acknowledges a SYN-ACK; a SYN has 0.
pub(super) const CONFIRMS: u32 = 1;

/// What the sender has made of an ACK.
struct Observed {
    /// Packets that are now known to have arrived and were not before.
    acked: u32,
    /// The window was in use.
    limited: bool,
    /// A loss is being repaired, or was until now.
    recovering: bool,
    rtt: Duration,
}

impl Observed {
    /// As congestion controls want it.
    #[inline]
    fn event<'a>(
        &self,
        now: Instant,
        una: u32,
        next: u32,
        packet: &Packet,
        telemetry: Option<&'a Telemetry>,
    ) -> AckEvent<'a> {
        AckEvent {
            now,
            acked: self.acked,
            una,
            next,
            echo: packet.echo,
            marked: packet.has(flag::CE),
            recovering: self.recovering,
            limited: self.limited,
            rtt: self.rtt,
            telemetry,
        }
    }
}

/// The sending end.
#[derive(Clone, Debug)]
pub struct StreamSender {
    /// The first packet that is not acknowledged.
    una: u32,
    /// The first packet that has not been sent.
    next: u32,
    packets: u32,
    /// Packets that may be in flight.
    window: u32,
    /// When the retransmission timer runs out; never if nothing is in flight.
    rto_at: Instant,
    /// Packets below this may be sent: all, or before the first ACK what the receive window of a handshake has room
    /// for.
    limit: u32,
    /// The time between packets; zero if they are not paced.
    gap: Duration,
    /// When the last paced packet was sent; never if there was none.
    last_sent: Instant,
    rto: Rto,
    phase: Phase,
    /// The first retransmission of a recovery goes out whatever is in flight; so do the packets of a handshake.
    urgent: bool,
    /// What is left of the handshake; the window is zero until the SYN-ACK is there.
    handshake: Handshake,
    /// The SYN-ACK is acknowledged by a packet of its own.
    confirms: bool,
    recovery: Recovery,
    /// Flags of all packets.
    flags: u16,
    /// What had been sent when a loss was found.
    recover: u32,
    congestion: Congestion,
    mss: u32,
    /// Packets below this are unscheduled.
    unscheduled: u32,
    ranks: Ranks,
    /// Payload of the flow.
    bytes: u64,
    stats: SenderStats,
    scoreboard: Scoreboard,
}

impl StreamSender {
    /// The sender of a flow that starts now.
    pub fn new(config: &TransportConfig, flow: FlowInfo, _now: Instant) -> Self {
        let common = &config.common;
        let limits = Limits::new(common, &flow);
        let congestion = Congestion::new(config, &limits);
        Self {
            una: 0,
            next: 0,
            packets: flow.packets,
            window: if common.handshake { 0 } else { congestion.window().clamp(1, limits.max_window) },
            rto_at: Instant::NEVER,
            limit: common.receive_window.map_or(flow.packets, |bytes| {
                let room = bytes.get() / u64::from(common.mss.max(1));
                u32::try_from(room).unwrap_or(u32::MAX).clamp(1, flow.packets)
            }),
            gap: congestion.gap().unwrap_or(Duration::ZERO),
            last_sent: Instant::NEVER,
            rto: Rto::new(common),
            phase: Phase::Open,
            urgent: common.handshake,
            handshake: if common.handshake { Handshake::Request } else { Handshake::Done },
            confirms: common.handshake && common.handshake_ack == HandshakeAck::Alone,
            recovery: common.recovery,
            flags: if common.ecn { flag::ECT } else { 0 },
            recover: 0,
            congestion,
            mss: common.mss.max(1),
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            bytes: flow.bytes,
            stats: SenderStats::default(),
            scoreboard: Scoreboard::default(),
        }
    }

    /// Packets in flight.
    #[inline]
    fn pipe(&self) -> u32 {
        self.next - self.una - self.scoreboard.gone()
    }

    /// An ACK has come in; anything else is ignored.
    #[inline]
    pub fn on_reply(&mut self, now: Instant, packet: &Packet, telemetry: Option<&Telemetry>) {
        let seq = packet.seq;
        if (packet.kind != Kind::Ack) | (seq > self.next) {
            return;
        }
        let usual = (self.phase == Phase::Open) & (packet.block.1 == 0) & (packet.echo != u32::MAX);
        if !usual | (seq <= self.una) {
            return self.on_unusual(now, packet, telemetry);
        }
        let limited = self.is_limited(self.next - self.una);
        let acked = seq - self.una;
        self.una = seq;
        self.limit = self.packets;
        let rtt = now.since(packet.sent_at);
        self.rto.sample(rtt);
        self.restart_timer(now);
        // DCTCP is what most simulated hosts run; its few instructions are part of this path.
        let observed = Observed { acked, limited, recovering: false, rtt };
        if let Congestion::Dctcp(dctcp) = &mut self.congestion {
            dctcp.on_ack(&observed.event(now, self.una, self.next, packet, telemetry));
            self.window = dctcp.window();
        } else {
            self.tell_congestion(now, packet, telemetry, acked, limited);
        }
    }

    /// Whether so many packets in flight use the window: a sender that is not kept from sending by its window has no
    /// use for a larger one.
    #[inline]
    fn is_limited(&self, pipe: u32) -> bool {
        u64::from(pipe) * 2 >= u64::from(self.window)
    }

    /// New data was acknowledged.
    #[inline]
    fn restart_timer(&mut self, now: Instant) {
        self.rto.relax();
        self.rto_at = if self.una == self.next { Instant::NEVER } else { now + self.rto.timeout() };
    }

    #[inline(never)]
    fn tell_congestion(
        &mut self,
        now: Instant,
        packet: &Packet,
        telemetry: Option<&Telemetry>,
        acked: u32,
        limited: bool,
    ) {
        let observed = Observed { acked, limited, recovering: false, rtt: now.since(packet.sent_at) };
        self.congestion.on_ack(&observed.event(now, self.una, self.next, packet, telemetry));
        self.follow();
    }

    /// Takes over the window and the pacing of the congestion control.
    fn follow(&mut self) {
        self.window = self.congestion.window();
        self.gap = self.congestion.gap().unwrap_or(Duration::ZERO);
    }

    /// An ACK that acknowledges nothing new, or tells of packets out of order, or comes while losses are repaired.
    #[cold]
    #[inline(never)]
    fn on_unusual(&mut self, now: Instant, packet: &Packet, telemetry: Option<&Telemetry>) {
        if self.handshake == Handshake::Request {
            return self.open();
        }
        if self.confirms && packet.seq == 0 && packet.echo == u32::MAX {
            // The SYN-ACK again: the packet that acknowledged it was lost.
            self.handshake = Handshake::Confirm { urgent: self.urgent };
            self.urgent = true;
            return;
        }
        self.limit = self.packets;
        let limited = self.is_limited(self.pipe());
        let was_recovering = self.phase == Phase::Recovery;
        let advanced = packet.seq > self.una;
        let acked = self.take_stock(packet);
        // The reply to a probe tells nothing of a packet.
        let has_echo = packet.echo != u32::MAX;
        let rtt = if has_echo { now.since(packet.sent_at) } else { Duration::ZERO };
        if has_echo {
            self.rto.sample(rtt);
        }
        if advanced {
            self.restart_timer(now);
        }
        let recovering = was_recovering | (self.phase == Phase::Recovery);
        let telemetry = telemetry.filter(|_| has_echo);
        let observed = Observed { acked, limited, recovering, rtt };
        self.congestion.on_ack(&observed.event(now, self.una, self.next, packet, telemetry));
        self.follow();
    }

    /// The SYN-ACK is there: data may be sent.
    fn open(&mut self) {
        self.handshake = if self.confirms { Handshake::Confirm { urgent: false } } else { Handshake::Done };
        self.urgent = self.confirms;
        self.rto.relax();
        self.rto_at = Instant::NEVER;
        self.follow();
    }

    /// Brings the scoreboard up to date; how many packets are now known to have arrived.
    fn take_stock(&mut self, packet: &Packet) -> u32 {
        let mut acked = 0;
        let advanced = packet.seq > self.una;
        if advanced {
            acked += self.scoreboard.acknowledge(self.una, packet.seq);
            self.una = packet.seq;
        }
        let (from, to) = packet.block;
        acked += self.scoreboard.report(self.una, (from, to.min(self.next)));
        let repairing = matches!(self.phase, Phase::Recovery | Phase::Timeout) && self.una < self.recover;
        let lost = match self.recovery {
            Recovery::Sack => self.scoreboard.find_lost(self.una),
            Recovery::NewReno if repairing && self.phase == Phase::Timeout => false,
            Recovery::NewReno => self.scoreboard.find_first_lost(self.una, repairing && advanced),
        };
        if repairing {
            self.urgent |= lost && self.recovery == Recovery::NewReno;
        } else {
            self.urgent = lost;
            if lost {
                self.phase = Phase::Recovery;
                self.recover = self.next;
                self.congestion.on_congestion();
            } else {
                self.phase = if self.scoreboard.is_clean() { Phase::Open } else { Phase::Disorder };
            }
        }
        self.urgent &= self.scoreboard.has_lost();
        acked
    }

    /// The next packet to send now, if there is one: lost packets first.
    #[inline(always)]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if (self.pipe() >= self.window) & !self.urgent {
            return None;
        }
        if self.scoreboard.has_lost() | (self.gap != Duration::ZERO) | (self.handshake != Handshake::Done) {
            return self.poll_unusual(now);
        }
        if self.next >= self.limit {
            return None;
        }
        let seq = self.next;
        self.next = seq + 1;
        Some(self.send(now, seq, 0))
    }

    /// There are lost packets, or packets are paced, or this is the handshake.
    #[inline(never)]
    fn poll_unusual(&mut self, now: Instant) -> Option<Segment> {
        if self.handshake != Handshake::Done {
            return Some(self.shake_hands(now));
        }
        if self.gap != Duration::ZERO && now < self.paced_at() {
            return None;
        }
        self.urgent = false;
        if let Some(seq) = self.scoreboard.take_lost(self.una, self.next) {
            self.stats.retransmissions += 1;
            self.last_sent = now;
            return Some(self.send(now, seq, flag::RETRANSMISSION));
        }
        if self.next >= self.limit {
            return None;
        }
        let seq = self.next;
        self.congestion.on_sent(seq, self.una);
        self.next = seq + 1;
        self.last_sent = now;
        Some(self.send(now, seq, 0))
    }

    /// A packet of the handshake.
    fn shake_hands(&mut self, now: Instant) -> Segment {
        let mut seq = 0;
        if let Handshake::Confirm { urgent } = self.handshake {
            seq = CONFIRMS;
            self.urgent = urgent;
            self.handshake = Handshake::Done;
        } else {
            self.urgent = false;
            self.rto_at = now + self.rto.timeout();
        }
        let rank = self.ranks.of(self.bytes);
        Segment { kind: Kind::Probe, seq, payload: 0, rank, flags: flag::UNSCHEDULED }
    }

    #[inline]
    fn send(&mut self, now: Instant, seq: u32, extra: u16) -> Segment {
        if self.rto_at == Instant::NEVER {
            self.rto_at = now + self.rto.timeout();
        }
        let mut flags = self.flags | extra;
        if seq < self.unscheduled {
            flags |= flag::UNSCHEDULED;
        }
        let left = self.bytes - u64::from(seq) * u64::from(self.mss);
        let mut payload = self.mss;
        if seq + 1 == self.packets {
            flags |= flag::LAST;
            payload = left as u32;
        }
        Segment { kind: Kind::Data, seq, payload, rank: self.ranks.of(left), flags }
    }

    /// When pacing lets the next packet go; the first one goes at once.
    #[inline]
    fn paced_at(&self) -> Instant {
        if self.last_sent == Instant::NEVER { Instant::ZERO } else { self.last_sent + self.gap }
    }

    /// When the timer runs out, or pacing lets the next packet go, if there is one.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.gap == Duration::ZERO {
            return self.rto_at;
        }
        let lost = self.scoreboard.has_lost();
        let may_send = self.pipe() < self.window || (lost && self.urgent);
        if may_send && (lost || self.next < self.limit) {
            return self.paced_at().min(self.rto_at);
        }
        self.rto_at
    }

    /// The deadline has come. If it is the timer's, all that has not arrived is lost.
    pub fn on_deadline(&mut self, now: Instant) {
        if now < self.rto_at {
            return;
        }
        self.stats.timeouts += 1;
        self.congestion.on_timeout(self.rto.has_backed_off());
        self.rto.back_off();
        self.rto_at = now + self.rto.timeout();
        if self.handshake == Handshake::Request {
            // The window is that of a timeout when the connection opens at last (RFC 5681, section 3.1).
            self.urgent = true;
            return;
        }
        self.scoreboard.lose_all(self.una, self.next);
        self.phase = Phase::Timeout;
        self.urgent = false;
        self.recover = self.next;
        self.follow();
    }

    /// Whether everything has been acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.una >= self.packets
    }

    /// The congestion window in packets.
    pub(crate) fn congestion_window(&self) -> u32 {
        self.window
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
