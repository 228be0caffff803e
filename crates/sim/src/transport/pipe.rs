//! For tests: a sender and a receiver with a pipe between them that delays, queues, drops, marks and repeats.

use super::config::TransportConfig;
use super::congestion::AckEvent;
use super::{FlowInfo, Receiver, Reply, Segment, Sender, Stack, TransportKind};
use crate::packet::{HopStamp, Packet, Telemetry, flag};
use forebay_tm::{Duration, Instant, Rate};
use std::collections::BTreeMap;

/// A transport by the RFCs.
pub(super) fn rfc(name: &str) -> TransportConfig {
    TransportConfig::of(TransportKind::named(name).unwrap(), Stack::Rfc)
}

/// An ACK of one packet.
pub(super) fn ack() -> AckEvent<'static> {
    AckEvent {
        now: Instant::ZERO,
        acked: 1,
        una: 0,
        next: 0,
        echo: 0,
        marked: false,
        recovering: false,
        limited: true,
        rtt: Duration::ZERO,
        telemetry: None,
    }
}

/// What the pipe does to a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fate {
    pub(super) drop: bool,
    pub(super) mark: bool,
    pub(super) repeat: bool,
    pub(super) delay: Duration,
}

#[derive(Clone, Debug)]
enum Event {
    Data(Packet, Telemetry),
    Ack(Packet, Telemetry),
}

/// The pipe. The base RTT is one half for data, the serialization of a full packet on the bottleneck included, if there
/// is one, and one half for ACKs.
pub(super) struct Pipe {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) now: Instant,
    /// All that was sent.
    pub(super) sent: Vec<(Instant, Segment)>,
    /// The rate of the bottleneck.
    bottleneck: Option<Rate>,
    free_at: Instant,
    passed: u64,
    config: TransportConfig,
    flow: FlowInfo,
    events: BTreeMap<(Instant, u64), Event>,
    number: u64,
}

pub(super) fn flow(config: &TransportConfig, packets: u32) -> FlowInfo {
    FlowInfo {
        bytes: u64::from(packets) * u64::from(config.common.mss),
        packets,
        base_rtt: Duration::from_us(80),
        open_rtt: Duration::from_us(80),
        rate: Rate::from_gbps(10),
        number: 0,
        seed: 0,
        until: Instant::NEVER,
    }
}

impl Pipe {
    pub(super) fn new(config: &TransportConfig, packets: u32, bottleneck: Option<Rate>) -> Self {
        Self::of(config, flow(config, packets), bottleneck)
    }

    pub(super) fn of(config: &TransportConfig, flow: FlowInfo, bottleneck: Option<Rate>) -> Self {
        let now = Instant::from_ps(1_000_000);
        Self {
            sender: Sender::new(config, flow, now),
            receiver: Receiver::new(config, flow, false),
            now,
            sent: Vec::new(),
            bottleneck,
            free_at: Instant::ZERO,
            passed: 0,
            config: config.clone(),
            flow,
            events: BTreeMap::new(),
            number: 0,
        }
    }

    fn at(&mut self, when: Instant, event: Event) {
        self.number += 1;
        self.events.insert((when, self.number), event);
    }

    fn half(&self) -> Duration {
        Duration::from_ps(self.flow.base_rtt.ps() / 2)
    }

    /// Bytes that wait at the bottleneck.
    pub(super) fn queued(&self) -> u64 {
        let Some(rate) = self.bottleneck else { return 0 };
        (u128::from(self.free_at.since(self.now).ps()) * u128::from(rate.bps()) / 8_000_000_000_000) as u64
    }

    fn send_all(&mut self, fate: &mut impl FnMut(&Self, &Packet) -> Fate) {
        while let Some(segment) = self.sender.poll(self.now) {
            self.sent.push((self.now, segment));
            let bytes = segment.payload + self.config.common.header;
            let mut packet = Packet {
                kind: segment.kind,
                seq: segment.seq,
                flags: segment.flags,
                rank: segment.rank,
                echo: self.sender.echo(),
                sent_at: self.now,
                bytes,
                ..Packet::default()
            };
            let fate = fate(self, &packet);
            if fate.drop {
                continue;
            }
            if fate.mark {
                packet.flags |= flag::CE;
            }
            let mut telemetry = Telemetry::default();
            let mut leaves = self.now;
            if let Some(rate) = self.bottleneck {
                let queued = self.queued();
                self.free_at = self.free_at.max(self.now) + rate.serialization(u64::from(bytes));
                let full = rate.serialization(u64::from(self.config.common.mss + self.config.common.header));
                leaves = Instant::from_ps(self.free_at.ps().saturating_sub(full.ps()));
                self.passed += u64::from(bytes);
                telemetry.push(HopStamp { at: leaves, sent: self.passed, queued, rate: rate.bps() });
            }
            let arrives = leaves + self.half() + fate.delay;
            for copy in 0..1 + u64::from(fate.repeat) {
                self.at(arrives + Duration::from_us(copy), Event::Data(packet, telemetry));
            }
        }
    }

    /// Runs until the sender is done, or until a time; whether it is done. `fate` is asked for each data packet,
    /// `lose_ack` for each ACK.
    pub(super) fn run(
        &mut self,
        until: Instant,
        mut fate: impl FnMut(&Self, &Packet) -> Fate,
        mut lose_ack: impl FnMut(&Packet) -> bool,
    ) -> bool {
        self.send_all(&mut fate);
        while !self.sender.is_done() {
            let event = self.events.first_key_value().map_or(Instant::NEVER, |((at, _), _)| *at);
            let wake = self.sender.deadline().min(self.sender.paced_until());
            let tick = self.receiver.deadline();
            let next = event.min(wake).min(tick);
            if next >= until {
                return false;
            }
            assert!(next >= self.now, "time goes back");
            self.now = next;
            if tick == next {
                let mut packet = Packet::default();
                if self.receiver.on_deadline(next, &mut packet) == Reply::Packet && !lose_ack(&packet) {
                    self.at(next + self.half(), Event::Ack(packet, Telemetry::default()));
                }
            } else if event == next {
                match self.events.pop_first().unwrap().1 {
                    Event::Data(mut packet, telemetry) => {
                        if self.receiver.on_packet(next, &mut packet) == Reply::Packet && !lose_ack(&packet) {
                            self.at(next + self.half(), Event::Ack(packet, telemetry));
                        }
                    }
                    Event::Ack(packet, telemetry) => self.sender.on_reply(next, &packet, Some(&telemetry)),
                }
            } else {
                self.sender.on_deadline(next);
            }
            self.send_all(&mut fate);
        }
        true
    }

    /// Runs with the same fate for all.
    pub(super) fn run_to_end(&mut self, fate: impl FnMut(&Self, &Packet) -> Fate) {
        assert!(self.run(Instant::from_ps(100_000_000_000_000), fate, |_| false), "the flow does not end");
        assert!(self.receiver.is_complete());
    }

    /// Times a packet was sent.
    pub(super) fn sendings(&self, seq: u32) -> usize {
        self.sent.iter().filter(|(_, segment)| segment.seq == seq).count()
    }
}
