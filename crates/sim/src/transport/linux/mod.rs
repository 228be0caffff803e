//! TCP as Linux has it, for Reno, Cubic and DCTCP: how losses are found and repaired, when the window is cut and when that is taken back, what timers
//! there are, and how a receiver acknowledges. It follows Linux 6.18; `docs/kernel.md` has where the two part.
//!
//! Its parts can be switched off one by one ([`LinuxConfig`]); what is left is then what the RFCs before them say.

mod control;
mod cuts;
mod receiver;
mod recovery;
mod round_trip;
mod sender;
mod sent;

pub use receiver::LinuxReceiver;
pub use sender::{Connection, LinuxSender, Writes};

use crate::described::OrOff;
use crate::described::check::at_least_one;
use crate::{setting_words, settings};
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

setting_words! {
    LossDetection { Rack = "rack", Count = "count" }
}

/// How the window gets to its new size when it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateReduction {
    /// In proportion to what arrives, over a round trip (RFC 6937).
    Proportional,
    /// At once; what is in flight has to leave the network first.
    AtOnce,
}

setting_words! {
    RateReduction { Proportional = "proportional", AtOnce = "at-once" }
}

/// What a new flow goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    /// A connection of its own.
    New,
    /// The connection of an earlier flow between the same hosts, if one is idle.
    Kept,
}

setting_words! {
    Connections { New = "new", Kept = "kept" }
}

settings! {
    /// The parts of Linux's TCP that can be switched off or set.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LinuxConfig {
        /// `"rack"`: a packet is lost when one that was sent later has arrived and a reordering window is over (RFC
        /// 8985); lost retransmissions are found, too. The window is zero once three packets have arrived out of
        /// order, until reordering has been seen; then a quarter of the shortest round trip, more after duplicate
        /// SACKs, at most the smoothed round trip. `"count"`: a packet is lost when three above it have arrived (RFC
        /// 6675).
        pub loss_detection: LossDetection = LossDetection::Rack,
        /// If no ACK comes for two round trips and 2 ms (200 ms more, `rto_min`, for a packet alone), new data or
        /// the last packet goes out once, to be answered.
        pub tail_loss_probe: bool = true,
        /// How the window gets to its new size: in proportion to what arrives (RFC 6937), or `"at-once"`.
        pub rate_reduction: RateReduction = RateReduction::Proportional,
        /// After a timeout new data goes before retransmissions, to find out whether the timeout was spurious (RFC
        /// 5682).
        pub frto: bool = true,
        /// A cut is taken back when time stamps (RFC 3522) or duplicate SACKs (RFC 3708) show that nothing was lost.
        pub undo: bool = true,
        /// After ten packets, the next go out at twice the window per smoothed round trip in the first half of slow
        /// start and at 1.2 times it afterwards, in bursts: those of a millisecond at that rate, at least two
        /// packets, and up to 64 KB where the shortest round trip is below half a millisecond. Linux paces where its
        /// qdisc is `fq`.
        pub pacing: bool = true,
        /// A window that was not used for a timeout is halved for each timeout, down to `initial_window`.
        pub idle_restart: bool = true,
        /// What a new flow goes over. `"kept"`: the connection of an earlier one of the same transport between the
        /// same hosts, if one is idle, with its window, threshold and round trip, without a handshake.
        pub connections: Connections = Connections::New,
        /// The largest burst that a host builds as one segment, such as `"64KB"`. New data then waits until a third
        /// of the window, or the largest burst, can go at once, if an ACK is due soon.
        pub segmentation_offload: Option<Bytes> as OrOff<Bytes> = None,
        /// Packets of a burst that the receiver takes for one: ACKs are so many times rarer.
        pub receive_offload: u32 = 1; at_least_one,
        /// The kernel's timers (timeouts, probes, delayed ACKs, not pacing) run out at ticks, later than asked for:
        /// rounded up to ticks, the tick at hand not counted, and with a grain of 8 ticks from 63 ticks on, 64 from
        /// 504 on. 4 ms is `CONFIG_HZ=250`. `"0s"`: they are exact.
        pub timer_tick: Duration = Duration::from_us(4_000),
        /// ACKs at the start of a connection that are not held back. While the receive window grows no ACK is.
        pub quick_acks: u32 = 16,
        /// After three ACKs for packets out of order, the next are held back for 5% of the base round trip, at most
        /// 1 ms and 44 packets.
        pub sack_compression: bool = true,
        /// What the receive window may grow to, of 32 MiB of memory by default: two packets for each that comes in,
        /// within memory, which follows twice what came in in a round trip. The receiver estimates that from time
        /// stamps in whole milliseconds, or below one from how long a window takes, so that it includes queues.
        pub receive_window_max: Bytes = Bytes::new(20 << 20),
    }
}

#[cfg(test)]
mod tests;
