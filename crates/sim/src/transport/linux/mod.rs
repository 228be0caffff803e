//! TCP as Linux has it, for Reno, Cubic and DCTCP: how losses are found and repaired, when the window is cut and when that is taken back, what timers
//! there are, and how a receiver acknowledges. It follows Linux 6.18; `docs/kernel.md` has where the two part.
//!
//! Its parts can be switched off one by one ([`LinuxConfig`]); what is left is then what the RFCs before them say.

mod control;
mod receiver;
mod recovery;
mod round_trip;
mod sender;
mod sent;

pub use receiver::LinuxReceiver;
pub use sender::{Connection, LinuxSender, Writes};

use forebay_tm::{Bytes, Duration};

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By time: a packet is lost when one that was sent later has arrived, and a reordering window is over (RACK, RFC 8985). Lost
    /// retransmissions are found, too.
    Rack,
    /// By counting: a packet is lost when three above it have arrived (RFC 6675). Lost retransmissions wait for the timer.
    Count,
}

impl LossDetection {
    /// The names in files.
    pub const NAMES: [(&'static str, Self); 2] = [("rack", Self::Rack), ("count", Self::Count)];
}

/// How the window gets to its new size when it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateReduction {
    /// In proportion to what arrives, over a round trip (RFC 6937).
    Proportional,
    /// At once; what is in flight has to leave the network first.
    AtOnce,
}

impl RateReduction {
    /// The names in files.
    pub const NAMES: [(&'static str, Self); 2] = [("proportional", Self::Proportional), ("at-once", Self::AtOnce)];
}

/// The parts of Linux's TCP that can be switched off or set.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxConfig {
    /// How losses are found.
    pub loss_detection: LossDetection,
    /// A probe is sent two round trips after the last packet, if its ACK has not come (RFC 8985, section 7).
    pub tail_loss_probe: bool,
    /// How the window gets to its new size.
    pub rate_reduction: RateReduction,
    /// After a timeout new data goes first, to find out whether the timeout was spurious (F-RTO, RFC 5682).
    pub frto: bool,
    /// A cut of the window is taken back when time stamps or duplicate SACKs show that nothing was lost (RFC 3522, 3708).
    pub undo: bool,
    /// Packets are paced at twice the window per round trip in slow start, and at 1.2 times it afterwards.
    pub pacing: bool,
    /// A window that was not used for a retransmission timeout falls back to the first window.
    pub idle_restart: bool,
    /// A new flow goes over the connection of an earlier one between the same hosts, if that is idle.
    pub keep_connections: bool,
    /// Largest bursts that a host builds as one segment, in bytes; none: it sends packet by packet. With this, sending waits until
    /// there is enough for a large burst.
    pub segmentation_offload: Option<Bytes>,
    /// Packets of a burst that a receiver takes for one; 1: it looks at each.
    pub receive_offload: u32,
    /// The kernel's timers run out at ticks of so long; zero: they are exact.
    pub timer_tick: Duration,
    /// The first ACKs of a connection that are not held back.
    pub quick_acks: u32,
    /// After three ACKs for packets out of order, the next ones may be held back for 5% of the round trip, at most a millisecond, and at most
    /// 44 packets.
    pub sack_compression: bool,
    /// What the receive window may grow to.
    pub receive_window_max: Bytes,
}

impl Default for LinuxConfig {
    fn default() -> Self {
        Self {
            loss_detection: LossDetection::Rack,
            tail_loss_probe: true,
            rate_reduction: RateReduction::Proportional,
            frto: true,
            undo: true,
            pacing: true,
            idle_restart: true,
            keep_connections: false,
            segmentation_offload: None,
            receive_offload: 1,
            timer_tick: Duration::from_us(4_000),
            quick_acks: 16,
            sack_compression: true,
            receive_window_max: Bytes::new(20 << 20),
        }
    }
}

#[cfg(test)]
mod tests;
