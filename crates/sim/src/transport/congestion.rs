//! What a congestion control is to the sender that holds it: a few events in, a window and perhaps a pacing gap out.

use super::FlowInfo;
use super::config::{Common, each_congestion};

pub use super::config::Congestion;
use super::first_window::initial_packets;
use crate::packet::Telemetry;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Instant, Rate};

/// An ACK, as congestion controls see it.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent<'a> {
    /// When it came in.
    pub now: Instant,
    /// Packets that are now known to have arrived and were not before.
    pub acked: u32,
    /// The first packet that is not acknowledged, after this ACK.
    pub una: u32,
    /// The packet that will be sent next, if it is a new one.
    pub next: u32,
    /// The packet that asked for this ACK; `u32::MAX` if it was a probe.
    pub echo: u32,
    /// The echo of congestion experienced.
    pub marked: bool,
    /// A loss is being repaired, and the window has been cut for it.
    pub recovering: bool,
    /// The window was in use, so that it may grow.
    pub limited: bool,
    /// The round trip of the packet that asked for this ACK; zero if it is not known.
    pub rtt: Duration,
    /// What the switches stamped on that packet.
    pub telemetry: Option<&'a Telemetry>,
}

/// What a congestion control knows of its flow from the start. Windows are in packets.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The first window, at least 1.
    pub initial_window: u32,
    /// The first slow-start threshold.
    pub initial_threshold: Option<u32>,
    /// The largest window, at least 1.
    pub max_window: u32,
    /// The round trip on the empty network.
    pub base_rtt: Duration,
    /// The rate of the sender's link.
    pub rate: Rate,
    /// Bytes of a full packet on the wire.
    pub wire: u32,
}

impl Limits {
    /// The limits of a flow.
    pub fn new(common: &Common, flow: &FlowInfo) -> Self {
        let wire = common.mss.saturating_add(common.header).max(1);
        let max_window = common.max_window.unwrap_or(u32::MAX).max(1);
        Self {
            initial_window: initial_packets(common, flow).min(max_window),
            initial_threshold: common.initial_ssthresh,
            max_window,
            base_rtt: flow.base_rtt,
            rate: flow.rate,
            wire,
        }
    }

    /// Packets, and parts of one, that `rate` sends in the base round trip.
    pub(super) fn packets_per_rtt(&self, rate: Rate) -> f64 {
        rate.bps() as f64 * self.base_rtt.ps() as f64 / (8.0 * PS_PER_SECOND as f64) / f64::from(self.wire)
    }
}

#[cfg(test)]
impl Default for Limits {
    fn default() -> Self {
        Self {
            initial_window: 10,
            initial_threshold: None,
            max_window: u32::MAX,
            base_rtt: Duration::from_us(80),
            rate: Rate::from_gbps(10),
            wire: 1_500,
        }
    }
}

/// A congestion control.
pub trait CongestionControl {
    /// An ACK has come in.
    fn on_ack(&mut self, ack: &AckEvent<'_>);

    /// A loss has been found, the first since the window was last cut for one.
    fn on_congestion(&mut self);

    /// The retransmission timer has run out; `again` if no new data was acknowledged since it last did.
    fn on_timeout(&mut self, again: bool);

    /// Packet `seq` is being sent for the first time, with `una` not acknowledged. Only told if packets are paced.
    #[inline]
    fn on_sent(&mut self, _seq: u32, _una: u32) {}

    /// Packets that may be in flight; at least 1.
    fn window(&self) -> u32;

    /// The time between full packets; `None` if they are not paced.
    #[inline]
    fn gap(&self) -> Option<Duration> {
        None
    }
}

impl CongestionControl for Congestion {
    #[inline]
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        each_congestion!(self, own => own.on_ack(ack));
    }

    fn on_congestion(&mut self) {
        each_congestion!(self, own => own.on_congestion());
    }

    fn on_timeout(&mut self, again: bool) {
        each_congestion!(self, own => own.on_timeout(again));
    }

    #[inline]
    fn on_sent(&mut self, seq: u32, una: u32) {
        // Only PowerTCP wants to know, and perhaps one of another crate.
        match self {
            Self::PowerTcp(own) => own.on_sent(seq, una),
            Self::Custom(own) => own.on_sent(seq, una),
            _ => {}
        }
    }

    #[inline]
    fn window(&self) -> u32 {
        each_congestion!(self, own => own.window())
    }

    #[inline]
    fn gap(&self) -> Option<Duration> {
        each_congestion!(self, own => own.gap())
    }
}

/// Once per window: true for the first event, then not until a packet that was sent after it has been acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OncePerWindow {
    until: u32,
}

impl OncePerWindow {
    /// Whether it is time again at an ACK (`una` and `next` as in [`AckEvent`]); if it is, the next time is a window
    /// away.
    #[inline]
    pub(super) fn take(&mut self, una: u32, next: u32) -> bool {
        let due = una > self.until;
        if due {
            self.until = next;
        }
        due
    }
}
