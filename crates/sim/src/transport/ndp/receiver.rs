//! The receiving end of NDP.

use super::NdpConfig;
use crate::packet::{Kind, Packet, flag};
use crate::transport::arrived::Arrived;
use crate::transport::config::Common;
use crate::transport::first_window::initial_packets;
use crate::transport::{FlowInfo, Reply};
use forebay_tm::Instant;

/// The receiving end.
#[derive(Clone, Debug)]
pub struct NdpReceiver {
    arrived: Arrived,
    received: u32,
    packets: u32,
    /// Packets that may still come without another pull: of the first window, and of pulls sent.
    expected: u32,
    /// Pulls that are due to the sender and not sent yet.
    owed: u32,
    /// Pulls sent.
    pulls: u32,
    /// Whether the flow stands in the host's [`PullQueue`](super::PullQueue).
    queued: bool,
}

impl NdpReceiver {
    /// The receiver of a flow.
    pub fn new(common: &Common, _own: &NdpConfig, flow: FlowInfo) -> Self {
        let first = initial_packets(common, &flow).min(flow.packets);
        Self {
            // Packets overtake each other by about a window at most.
            arrived: Arrived::new(first.min(1_024)),
            received: 0,
            packets: flow.packets,
            expected: first,
            owed: 0,
            pulls: 0,
            queued: false,
        }
    }

    /// A data packet, whole or cut to its header, becomes its ACK or NACK. The header of a packet that has arrived
    /// before is acknowledged, since it need not be sent again. [`Reply::PacketAndPull`] asks the host to put the flow
    /// into its pull queue, where it is not yet.
    #[inline]
    pub fn on_packet(&mut self, _now: Instant, packet: &mut Packet) -> Reply {
        let number = packet.seq;
        let mut kind = Kind::Ack;
        // Duplicates come of lost ACKs and of timers that ran out too early; they were not pulled, so they are not
        // counted.
        if !self.arrived.contains(number) {
            self.expected = self.expected.saturating_sub(1);
            if packet.has(flag::TRIMMED) {
                kind = Kind::Nack;
            } else {
                self.arrived.insert(number);
                self.arrived.settle();
                self.received += 1;
            }
        }
        packet.kind = kind;
        packet.echo = number;
        packet.seq = self.arrived.base();
        packet.block = (self.pulls, self.pulls);
        packet.flags &= flag::CE | flag::TRACED;

        let missing = self.packets - self.received;
        if missing == 0 {
            self.owed = 0;
        } else if missing - self.owed.min(missing) > self.expected {
            self.owed += 1;
        }
        if self.owed > 0 && !self.queued {
            self.queued = true;
            return Reply::PacketAndPull;
        }
        Reply::Packet
    }

    /// The flow's turn in the pull queue has come: counts a pull and returns its number, the `seq` of the pull packet.
    #[inline]
    pub fn pull_sent(&mut self) -> u32 {
        self.pulls += 1;
        self.expected = self.expected.saturating_add(1);
        self.owed = self.owed.saturating_sub(1);
        self.queued = self.owed > 0;
        self.pulls
    }

    /// Whether the flow must stand in the pull queue: asked after [`NdpReceiver::pull_sent`], it says whether to go to
    /// its end again.
    #[inline]
    pub fn wants_pull(&self) -> bool {
        self.queued && !self.is_complete()
    }

    /// Whether every packet has come in.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.received == self.packets
    }

    /// Different data packets that have come in whole.
    pub fn received(&self) -> u32 {
        self.received
    }

    /// Whether the flow's last packet, which may be shorter than the others, has come in whole.
    pub fn has_last(&self) -> bool {
        self.arrived.contains(self.packets - 1)
    }
}
