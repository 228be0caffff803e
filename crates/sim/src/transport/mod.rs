//! Transports: state machines without a clock and without I/O, one file each.
//!
//! A flow has a [`Sender`] at one host and a [`Receiver`] at another. The host brings what arrives and what time it is;
//! a sender says what to send next ([`Sender::poll`]) and when it wants to be woken ([`Sender::deadline`]); a receiver
//! turns the packet it is given into its reply. Packets of a flow are numbered from 0; all but the last carry `mss`
//! bytes of payload.

mod arrived;
pub mod config;
pub mod custom;
pub mod dcqcn;
pub mod linux;
pub mod ndp;
pub mod pfabric;
pub mod receiver;
pub mod stream;
pub mod udp;

mod bit_ring;
pub mod congestion;
mod first_window;
mod rto;
mod scoreboard;
mod window;

#[cfg(test)]
mod pipe;

pub mod cubic;
pub mod dctcp;
pub mod powertcp;
pub mod reno;
pub mod theta_powertcp;
pub mod timely;

pub use config::{
    Common, HandshakeAck, InitialWindow, Recovery, Stack, TransportConfig, TransportKind, TransportSettings,
};
pub use custom::{AnyCongestion, CongestionSettings, CustomTransport, custom_transport};

use crate::packet::{Kind, Packet, Telemetry};
use config::streams;
use forebay_tm::{Duration, Instant, Rate};

/// What a transport knows of its flow from the start.
#[derive(Clone, Copy, Debug)]
pub struct FlowInfo {
    /// Payload in all; [`FlowInfo::ENDLESS`] for a flow that goes on as long as the run.
    pub bytes: u64,
    /// Packets in all: `ceil(bytes / mss)`, at least 1.
    pub packets: u32,
    /// The time from sending a full packet until its ACK is back, on the empty network.
    pub base_rtt: Duration,
    /// The round trip of a header alone, which is what a handshake measures.
    pub open_rtt: Duration,
    /// The rate of the sender's own link.
    pub rate: Rate,
    /// What tells the flow from others, for random streams.
    pub number: u32,
    /// The seed of the run.
    pub seed: u64,
    /// When the flow must stop sending (constant-rate and on-off sources); [`Instant::NEVER`] for others.
    pub until: Instant,
}

impl FlowInfo {
    /// The size of a flow without end.
    pub const ENDLESS: u64 = u64::MAX;

    /// Packets that a payload needs.
    pub fn packets_of(bytes: u64, mss: u32) -> u32 {
        if bytes == Self::ENDLESS {
            return u32::MAX;
        }
        u32::try_from(bytes.div_ceil(u64::from(mss)).max(1)).unwrap_or(u32::MAX)
    }

    /// The payload of packet `seq`.
    #[inline]
    pub fn payload(&self, seq: u32, mss: u32) -> u32 {
        if seq + 1 < self.packets || self.bytes == Self::ENDLESS {
            mss
        } else {
            (self.bytes - u64::from(seq) * u64::from(mss)) as u32
        }
    }
}

/// What a sender puts on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Data or a probe.
    pub kind: Kind,
    /// The packet number.
    pub seq: u32,
    /// Payload; the host adds the header.
    pub payload: u32,
    /// The rank for schedulers that sort.
    pub rank: u32,
    /// Bits of [`flag`](crate::packet::flag).
    pub flags: u16,
}

/// What a sender has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Data packets sent again.
    pub retransmissions: u32,
    /// Retransmission timers that ran out.
    pub timeouts: u32,
}

/// The sending end of a flow. The representation keeps the tag a plain number, which is cheaper to branch on.
#[derive(Clone, Debug)]
#[repr(u8)]
pub enum Sender {
    /// TCP as Linux has it.
    Linux(Box<linux::LinuxSender>),
    /// TCP and its relatives: a window, SACK, a retransmission timer.
    Stream(stream::StreamSender),
    /// pFabric.
    PFabric(pfabric::PFabricSender),
    /// NDP.
    Ndp(ndp::NdpSender),
    /// UDP.
    Udp(udp::UdpSender),
    /// DCQCN.
    Dcqcn(Box<dcqcn::DcqcnSender>),
}

macro_rules! each_sender {
    ($sender:expr, $inner:ident => $body:expr) => {
        match $sender {
            Sender::Linux($inner) => $body,
            Sender::Stream($inner) => $body,
            Sender::PFabric($inner) => $body,
            Sender::Ndp($inner) => $body,
            Sender::Udp($inner) => $body,
            Sender::Dcqcn($inner) => $body,
        }
    };
}

impl Sender {
    /// The sender of a flow that starts now, on a connection of its own.
    pub fn new(config: &TransportConfig, flow: FlowInfo, now: Instant) -> Self {
        match &config.kind {
            TransportKind::PFabric(own) => Self::PFabric(pfabric::PFabricSender::new(&config.common, own, flow, now)),
            TransportKind::Ndp(own) => Self::Ndp(ndp::NdpSender::new(&config.common, own, flow, now)),
            TransportKind::Udp(own) => Self::Udp(udp::UdpSender::new(&config.common, own, flow, now)),
            TransportKind::Dcqcn(own) => Self::Dcqcn(Box::new(dcqcn::DcqcnSender::new(&config.common, own, flow, now))),
            streams!() => match config.is_linux() {
                true => Self::on_connection(config, flow, now, None),
                false => Self::Stream(stream::StreamSender::new(config, flow, now)),
            },
        }
    }

    /// The sender of a flow of Linux's TCP, on a connection that an earlier flow has left, if there is one.
    pub fn on_connection(
        config: &TransportConfig,
        flow: FlowInfo,
        now: Instant,
        connection: Option<linux::Connection>,
    ) -> Self {
        Self::Linux(Box::new(linux::LinuxSender::new(config, flow, now, connection)))
    }

    /// The connection, when all has been delivered, if it can carry another flow.
    pub fn connection(&self) -> Option<linux::Connection> {
        match self {
            Self::Linux(sender) => sender.leave(),
            _ => None,
        }
    }

    /// A reply (ACK, NACK, pull) or a packet of its own that was turned around has come in.
    #[inline]
    pub fn on_reply(&mut self, now: Instant, packet: &Packet, telemetry: Option<&Telemetry>) {
        match self {
            Self::Linux(sender) => sender.on_reply(now, packet),
            Self::Stream(sender) => sender.on_reply(now, packet, telemetry),
            Self::PFabric(sender) => sender.on_reply(now, packet, telemetry),
            Self::Ndp(sender) => sender.on_reply(now, packet, telemetry),
            Self::Udp(sender) => sender.on_reply(now, packet, telemetry),
            Self::Dcqcn(sender) => sender.on_reply(now, packet),
        }
    }

    /// The next packet to send now, if there is one. Called until there is none.
    #[inline(always)]
    pub fn poll(&mut self, now: Instant) -> Option<Segment> {
        each_sender!(self, sender => sender.poll(now))
    }

    /// When [`Sender::on_deadline`] must be called. May move at any call.
    #[inline]
    pub fn deadline(&self) -> Instant {
        each_sender!(self, sender => sender.deadline())
    }

    /// When pacing lets the next packet go: [`Sender::poll`] is to be called then. Never if something else keeps it
    /// back.
    #[inline]
    pub fn paced_until(&self) -> Instant {
        match self {
            Self::Linux(sender) => sender.paced_until(),
            _ => Instant::NEVER,
        }
    }

    /// The deadline has come. [`Sender::poll`] follows.
    pub fn on_deadline(&mut self, now: Instant) {
        each_sender!(self, sender => sender.on_deadline(now));
    }

    /// When it is to be called next, if nothing comes in; none if it is done.
    #[inline(always)]
    pub(crate) fn wake(&self) -> Option<Wake> {
        match self {
            Self::Linux(sender) => {
                let wake = Wake { deadline: sender.deadline(), release: sender.paced_until() };
                (!sender.is_done()).then_some(wake)
            }
            _ => (!self.is_done()).then(|| Wake { deadline: self.deadline(), release: Instant::NEVER }),
        }
    }

    /// Whether everything has been delivered, as far as the sender knows, and it can be forgotten.
    #[inline]
    pub fn is_done(&self) -> bool {
        each_sender!(self, sender => sender.is_done())
    }

    /// How much may wait in its host before it is not polled any more; `link` is what its host's link carries in
    /// `span`. None if it sends whatever waits, as UDP.
    #[inline]
    pub fn small_queue(&self, span: Duration, link: u64) -> Option<SmallQueue> {
        match self {
            Self::Linux(sender) => Some(sender.small_queue(span)),
            Self::Udp(_) => None,
            _ => Some(SmallQueue { bytes: link, segment: 0 }),
        }
    }

    /// The receiver's time stamp that its packets carry back; 0 if there is none.
    #[inline(always)]
    pub fn echo(&self) -> u32 {
        match self {
            Self::Linux(sender) => sender.peer_stamp(),
            _ => 0,
        }
    }

    /// The congestion window in packets, if it has one.
    pub fn window(&self) -> Option<u32> {
        match self {
            Self::Linux(sender) => Some(sender.congestion_window()),
            Self::Stream(sender) => Some(sender.congestion_window()),
            Self::PFabric(sender) => Some(sender.congestion_window()),
            Self::Ndp(_) | Self::Udp(_) | Self::Dcqcn(_) => None,
        }
    }

    /// What it has been through.
    pub fn stats(&self) -> SenderStats {
        each_sender!(self, sender => sender.stats())
    }

    /// Tail loss probes that it has sent.
    pub fn loss_probes(&self) -> u32 {
        if let Self::Linux(sender) = self { sender.loss_probes() } else { 0 }
    }
}

/// When a sender is to be called.
pub(crate) struct Wake {
    /// See [`Sender::deadline`].
    pub(crate) deadline: Instant,
    /// See [`Sender::paced_until`].
    pub(crate) release: Instant,
}

/// What may wait of a sender in its host (TCP small queues).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallQueue {
    /// Bytes that may wait.
    pub bytes: u64,
    /// With segmentation offload, the bytes of the segment that is handed over as a whole as long as no more than that
    /// waits; else zero.
    pub segment: u64,
}

/// What becomes of a packet that a receiver was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing is sent back.
    Nothing,
    /// The packet has been made into the reply.
    Packet,
    /// The packet has been made into the reply, and the host owes the sender a pull (NDP).
    PacketAndPull,
}

/// The receiving end of a flow. The representation keeps the tag a plain number, which is cheaper to branch on.
#[derive(Clone, Debug)]
#[repr(u8)]
pub enum Receiver {
    /// TCP as Linux has it.
    Linux(linux::LinuxReceiver),
    /// TCP, its relatives and pFabric: cumulative and selective acknowledgement.
    Stream(receiver::StreamReceiver),
    /// NDP.
    Ndp(ndp::NdpReceiver),
    /// UDP: counts.
    Udp(udp::UdpReceiver),
    /// DCQCN: in order alone.
    Dcqcn(dcqcn::DcqcnReceiver),
}

impl Receiver {
    /// The receiver of a flow; `kept` if its connection has carried another before.
    pub fn new(config: &TransportConfig, flow: FlowInfo, kept: bool) -> Self {
        match &config.kind {
            TransportKind::Ndp(own) => Self::Ndp(ndp::NdpReceiver::new(&config.common, own, flow)),
            TransportKind::Udp(_) => Self::Udp(udp::UdpReceiver::new(config.common.header)),
            TransportKind::Dcqcn(own) => Self::Dcqcn(dcqcn::DcqcnReceiver::new(own, flow)),
            streams!() | TransportKind::PFabric(_) => match config.is_linux() {
                true => Self::Linux(linux::LinuxReceiver::new(config, flow, kept)),
                false => Self::Stream(receiver::StreamReceiver::new(config, flow)),
            },
        }
    }

    /// A packet of the sender has come in; it is made into the reply in place (`kind`, `seq`, `echo`, `block` and
    /// `flags`; the host sees to the rest: direction, length, queue).
    #[inline]
    pub fn on_packet(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        match self {
            Self::Linux(receiver) => receiver.on_packet(now, packet),
            Self::Stream(receiver) => receiver.on_packet(now, packet),
            Self::Ndp(receiver) => receiver.on_packet(now, packet),
            Self::Udp(receiver) => receiver.on_packet(now, packet),
            Self::Dcqcn(receiver) => receiver.on_packet(now, packet),
        }
    }

    /// When [`Receiver::on_deadline`] must be called (delayed ACKs).
    #[inline]
    pub fn deadline(&self) -> Instant {
        match self {
            Self::Linux(receiver) => receiver.deadline(),
            Self::Stream(receiver) => receiver.deadline(),
            _ => Instant::NEVER,
        }
    }

    /// The deadline has come: the reply that was held back, to be sent from a new packet.
    pub fn on_deadline(&mut self, now: Instant, packet: &mut Packet) -> Reply {
        match self {
            Self::Linux(receiver) => receiver.on_deadline(now, packet),
            Self::Stream(receiver) => receiver.on_deadline(now, packet),
            _ => Reply::Nothing,
        }
    }

    /// Whether every packet has come in.
    #[inline]
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Linux(receiver) => receiver.is_complete(),
            Self::Stream(receiver) => receiver.is_complete(),
            Self::Ndp(receiver) => receiver.is_complete(),
            Self::Udp(receiver) => receiver.is_complete(),
            Self::Dcqcn(receiver) => receiver.is_complete(),
        }
    }

    /// Different data packets that have come in.
    pub fn received(&self) -> u32 {
        match self {
            Self::Linux(receiver) => receiver.received(),
            Self::Stream(receiver) => receiver.received(),
            Self::Ndp(receiver) => receiver.received(),
            Self::Udp(receiver) => receiver.received(),
            Self::Dcqcn(receiver) => receiver.received(),
        }
    }

    /// Payload that has come in, every byte counted once, of a flow of `bytes` in packets of `mss`.
    pub fn payload(&self, bytes: u64, mss: u32) -> u64 {
        let (received, has_last) = match self {
            Self::Linux(receiver) => (receiver.received(), receiver.has_last()),
            Self::Stream(receiver) => (receiver.received(), receiver.has_last()),
            Self::Ndp(receiver) => (receiver.received(), receiver.has_last()),
            Self::Udp(receiver) => return receiver.payload(),
            Self::Dcqcn(receiver) => (receiver.received(), receiver.is_complete()),
        };
        let whole = u64::from(received) * u64::from(mss);
        // Only the last packet may be shorter than the others.
        if has_last { whole - (u64::from(mss) - bytes % u64::from(mss)) % u64::from(mss) } else { whole }
    }
}
