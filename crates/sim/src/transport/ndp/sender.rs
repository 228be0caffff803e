//! The sending end of NDP.

use super::NdpConfig;
use crate::packet::{Kind, Packet, Telemetry, flag};
use crate::transport::config::Common;
use crate::transport::first_window::{Ranks, initial_packets, unscheduled_packets};
use crate::transport::{FlowInfo, Segment, SenderStats};
use forebay_tm::{Duration, Instant};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent; no reply yet.
    Outstanding,
    /// Arrived as a header; waits for a pull.
    Nacked,
    /// Turned around, or given up by the timer; waits to be sent again. The receiver has not heard of it and still
    /// expects it.
    Lost,
    /// Arrived.
    Acked,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    state: State,
}

/// The sending end.
///
/// # Packets that the receiver has not heard of
///
/// A packet that was turned around by a switch, or whose timer ran out, brings no pull, while the receiver goes on
/// expecting it. The sender may therefore send one packet without a pull for each of them; but not at once, or an
/// incast would only be repeated. The packet itself joins the packets to be sent again, and the right to send is
/// *held*. One held right is released
/// * when a packet comes back and no other reply or pull can be expected (nothing is outstanding, and the receiver has
///   sent all the pulls that it will), or when most replies of late, over about a first window, were ACKs: then the way
///   back was an exception and the packet goes out again at once. These are the two cases of the NDP paper;
/// * when the retransmission timer runs out;
/// * at each ACK; and two at each ACK that no pull will follow, so that what is under way doubles every round trip
///   either way.
///
/// The paper's sender leaves returned packets to the pulls and never uses the right again, so that each return narrows
/// its window by one for good; here the window opens again when packets get through.
///
/// # Timer
///
/// One timer for the flow, for the packet that is outstanding longest, armed lazily: acknowledgements do not touch it;
/// when it runs out the outstanding packets are looked through, and it is set anew if none is as old as the timeout. If
/// one is, all that are at least half as old are given up with it, since they were lost together, and one is sent. A
/// sender that has something to send, nothing outstanding and heard nothing for a timeout sends one packet on the next
/// pull's account: the pull may have been lost. The timeout is `rto_initial` until the first reply, `rto_min`
/// afterwards, and doubles, up to `rto_max`, each time it runs out until a reply comes.
#[derive(Clone, Debug)]
pub struct NdpSender {
    flow: FlowInfo,
    mss: u32,
    /// The first window, within the flow.
    first: u32,
    /// Packets below this number are unscheduled.
    unscheduled: u32,
    ranks: Ranks,
    ect: u16,
    /// The packets `first_unacked..next`.
    sent: VecDeque<Sent>,
    first_unacked: u32,
    next: u32,
    outstanding: u32,
    bytes_left: u64,
    /// To be sent again, in this order; those that are acknowledged meanwhile are skipped.
    again: VecDeque<u32>,
    /// Pulls the receiver is known to have sent.
    pulled: u32,
    /// Packets that may be sent: pulls and released rights less what was sent for them. Below zero after a packet on
    /// account.
    credit: i64,
    /// One packet may be sent whatever the credit.
    on_account: bool,
    /// Rights to send that are held.
    held: u32,
    /// ACKs and NACKs.
    replies: u32,
    /// NACKs that brought or will bring a pull.
    nacks: u32,
    /// Replies of late: ACKs, and NACKs and returns.
    good: u32,
    bad: u32,
    timer: Instant,
    heard: Instant,
    replied: bool,
    backoff: u32,
    rto_initial: Duration,
    rto_min: Duration,
    rto_max: Duration,
    stats: SenderStats,
}

impl NdpSender {
    /// The sender of a flow that starts now.
    pub fn new(common: &Common, _own: &NdpConfig, flow: FlowInfo, now: Instant) -> Self {
        let first = initial_packets(common, &flow).min(flow.packets);
        let mut sender = Self {
            flow,
            mss: common.mss,
            first,
            unscheduled: unscheduled_packets(common, &flow),
            ranks: Ranks::new(common),
            ect: if common.ecn { flag::ECT } else { 0 },
            sent: VecDeque::with_capacity(first.min(1_024) as usize),
            first_unacked: 0,
            next: 0,
            outstanding: 0,
            bytes_left: flow.bytes,
            again: VecDeque::new(),
            pulled: 0,
            credit: 0,
            on_account: false,
            held: 0,
            replies: 0,
            nacks: 0,
            good: 0,
            bad: 0,
            timer: Instant::NEVER,
            heard: now,
            replied: false,
            backoff: 0,
            rto_initial: common.rto_initial,
            rto_min: common.rto_min,
            rto_max: common.rto_max,
            stats: SenderStats::default(),
        };
        sender.timer = now + sender.timeout();
        sender
    }

    /// An ACK, a NACK, a pull, or a packet of its own that was turned around.
    #[inline]
    pub fn on_reply(&mut self, now: Instant, packet: &Packet, _telemetry: Option<&Telemetry>) {
        self.heard = now;
        self.replied = true;
        if self.backoff > 0 {
            self.backoff = 0;
            self.timer = self.timer.min(now + self.timeout());
        }
        match packet.kind {
            Kind::Ack => {
                self.replies += 1;
                self.on_pull(packet.block.0);
                self.on_ack(packet);
            }
            Kind::Nack => {
                self.replies += 1;
                self.on_pull(packet.block.0);
                self.on_nack(packet);
            }
            Kind::Pull => self.on_pull(packet.seq),
            Kind::Data | Kind::Probe => self.on_return(packet),
            // Hosts keep frames to themselves.
            Kind::Pause => {}
        }
        if self.held > 0 && self.nothing_expected() {
            self.release(1);
        }
    }

    #[inline]
    fn on_pull(&mut self, number: u32) {
        if number > self.pulled {
            self.credit += i64::from(number - self.pulled);
            self.pulled = number;
        }
    }

    #[inline]
    fn on_ack(&mut self, packet: &Packet) {
        let mut new = self.acknowledge(packet.echo);
        // Packets below the first missing one are there, even if their own ACKs were lost.
        for number in self.first_unacked..packet.seq.min(self.next) {
            new |= self.acknowledge(number);
        }
        while self.sent.front().is_some_and(|sent| sent.state == State::Acked) {
            self.sent.pop_front();
            self.first_unacked += 1;
        }
        if new {
            self.remember(true);
            if self.held > 0 {
                self.release(if self.pulls_to_come() > 0 { 1 } else { 2 });
            }
        }
    }

    /// A packet is known to have arrived; says whether that is news.
    #[inline]
    fn acknowledge(&mut self, number: u32) -> bool {
        let Some(sent) = self.sent_mut(number) else { return false };
        let before = sent.state;
        sent.state = State::Acked;
        match before {
            State::Acked => return false,
            State::Outstanding => self.outstanding -= 1,
            // It was under way after all: the receiver has counted it.
            State::Lost => self.held = self.held.saturating_sub(1),
            State::Nacked => {}
        }
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(self.flow.payload(number, self.mss)));
        true
    }

    fn on_nack(&mut self, packet: &Packet) {
        let Some(sent) = self.sent_mut(packet.echo) else { return };
        // A NACK of an earlier copy says nothing about the last one.
        let current = packet.sent_at >= sent.at;
        match sent.state {
            State::Outstanding if current => {
                sent.state = State::Nacked;
                self.outstanding -= 1;
                self.again.push_back(packet.echo);
            }
            State::Lost => {
                sent.state = State::Nacked;
                self.held = self.held.saturating_sub(1);
            }
            _ => return,
        }
        self.nacks += 1;
        self.remember(false);
    }

    fn on_return(&mut self, packet: &Packet) {
        let Some(sent) = self.sent_mut(packet.seq) else { return };
        if sent.state != State::Outstanding || packet.sent_at < sent.at {
            return;
        }
        sent.state = State::Lost;
        self.outstanding -= 1;
        self.again.push_back(packet.seq);
        self.held += 1;
        self.remember(false);
        if self.good > self.bad {
            self.release(1);
        }
    }

    /// What has become of a packet that is not below the first unacknowledged one and has been sent.
    #[inline]
    fn sent_mut(&mut self, number: u32) -> Option<&mut Sent> {
        let place = number.checked_sub(self.first_unacked)?;
        self.sent.get_mut(place as usize)
    }

    /// Counts a reply; old ones fade.
    #[inline]
    fn remember(&mut self, good: bool) {
        if good {
            self.good += 1;
        } else {
            self.bad += 1;
        }
        if self.good + self.bad > self.first {
            self.good /= 2;
            self.bad /= 2;
        }
    }

    #[inline]
    fn release(&mut self, rights: u32) {
        let rights = rights.min(self.held);
        self.held -= rights;
        self.credit += i64::from(rights);
    }

    /// Pulls that the receiver is bound to send yet, as far as is known: one for each packet beyond the first window
    /// and for each header, but no more than packets that have arrived there.
    fn pulls_to_come(&self) -> i64 {
        let needed = u64::from(self.flow.packets - self.first) + u64::from(self.nacks);
        needed.min(u64::from(self.replies)) as i64 - i64::from(self.pulled)
    }

    /// Whether no reply and no pull can come unless something is sent that may not be sent.
    fn nothing_expected(&self) -> bool {
        self.outstanding == 0 && self.credit <= 0 && self.next >= self.first && self.pulls_to_come() <= 0
    }

    /// The next packet to send now.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        if self.next < self.first {
            return Some(self.send_new(now));
        }
        if self.credit <= 0 && !self.on_account {
            return None;
        }
        let segment = self.send_again(now).or_else(|| (self.next < self.flow.packets).then(|| self.send_new(now)))?;
        self.credit -= 1;
        self.on_account = false;
        Some(segment)
    }

    #[inline]
    fn send_new(&mut self, now: Instant) -> Segment {
        let number = self.next;
        self.next += 1;
        self.sent.push_back(Sent { at: now, state: State::Outstanding });
        self.outstanding += 1;
        self.segment(number, if number < self.unscheduled { flag::UNSCHEDULED } else { 0 })
    }

    fn send_again(&mut self, now: Instant) -> Option<Segment> {
        while let Some(number) = self.again.pop_front() {
            let Some(sent) = self.sent_mut(number) else { continue };
            if matches!(sent.state, State::Nacked | State::Lost) {
                *sent = Sent { at: now, state: State::Outstanding };
                self.outstanding += 1;
                self.stats.retransmissions += 1;
                return Some(self.segment(number, flag::RETRANSMISSION));
            }
        }
        None
    }

    #[inline]
    fn segment(&self, number: u32, flags: u16) -> Segment {
        let last = if number + 1 == self.flow.packets { flag::LAST } else { 0 };
        Segment {
            kind: Kind::Data,
            seq: number,
            payload: self.flow.payload(number, self.mss),
            rank: self.ranks.of(self.bytes_left),
            flags: flags | self.ect | last,
        }
    }

    fn timeout(&self) -> Duration {
        let base = if self.replied { self.rto_min } else { self.rto_initial };
        let longer = base.ps().saturating_mul(1 << self.backoff.min(32));
        Duration::from_ps(longer.min(self.rto_max.ps()).max(base.ps()))
    }

    /// When the timer must be looked at.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.is_done() { Instant::NEVER } else { self.timer }
    }

    /// The timer has run out, or must be set anew.
    pub fn on_deadline(&mut self, now: Instant) {
        if now < self.timer || self.is_done() {
            return;
        }
        let timeout = self.timeout();
        let outstanding = || self.sent.iter().filter(|sent| sent.state == State::Outstanding).map(|sent| sent.at);
        let waiting_since = outstanding().min().unwrap_or(self.heard);
        if now < waiting_since + timeout {
            self.timer = waiting_since + timeout;
            return;
        }
        self.give_up(now, Duration::from_ps(timeout.ps() / 2));
        self.stats.timeouts += 1;
        self.backoff += 1;
        self.timer = now + self.timeout();
        self.release(1);
        self.on_account = self.credit <= 0;
    }

    /// Outstanding packets that are at least so old are lost.
    fn give_up(&mut self, now: Instant, age: Duration) {
        for (place, sent) in self.sent.iter_mut().enumerate() {
            if sent.state == State::Outstanding && sent.at + age <= now {
                sent.state = State::Lost;
                self.outstanding -= 1;
                self.held += 1;
                self.again.push_back(self.first_unacked + place as u32);
            }
        }
    }

    /// Whether every packet has been acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.first_unacked == self.flow.packets
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        self.stats
    }
}
