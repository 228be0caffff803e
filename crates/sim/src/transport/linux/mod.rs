//! TCP as Linux has it, for Reno, Cubic and DCTCP: how losses are found and repaired, when the window is cut and when
//! that is taken back, what timers there are, and how a receiver acknowledges. It follows Linux 6.18; `docs/kernel.md`
//! has where the two part.
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

use forebay_settings::check::at_least_one;
use forebay_tm::described::OrOff;
use forebay_tm::{Bytes, Duration};
use forebay_tm::{settings, words};

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By time: a packet is lost when one that was sent later has arrived, and a reordering window is over (RACK, RFC
    /// 8985). Eviction retransmissions are found, too.
    Rack,
    /// By counting: a packet is lost when three above it have arrived (RFC 6675). Eviction retransmissions wait for the
    /// timer.
    Count,
}

words! {
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

words! {
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

words! {
    Connections { New = "new", Kept = "kept" }
}

settings! {
    /// The parts of Linux's TCP that can be switched off or set.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LinuxConfig {
        /// `"rack"`: a packet is lost when one that was sent later has arrived and a reordering window is over (RFC
        /// 8985); lost retransmissions are detected, too. Until reordering has been seen, the window is zero once
        /// three packets have arrived out of order; afterwards it is a quarter of the shortest round trip, more after
        /// duplicate SACKs, at most the smoothed round trip. `"count"`: a packet is lost when three later ones have
        /// arrived (RFC 6675).
        pub loss_detection: LossDetection = LossDetection::Rack,
        /// If no ACK comes for two round trips and 2 ms (for a single packet in flight 200 ms more, `rto_min`), new
        /// data or the last packet is sent once as a probe.
        pub tail_loss_probe: bool = true,
        /// How the window is reduced: proportional rate reduction (RFC 6937), or `"at-once"`.
        pub rate_reduction: RateReduction = RateReduction::Proportional,
        /// After a timeout new data goes before retransmissions, to find out whether the timeout was spurious (RFC
        /// 5682).
        pub frto: bool = true,
        /// A window reduction is undone when time stamps (RFC 3522) or duplicate SACKs (RFC 3708) show that nothing
        /// was lost.
        pub undo: bool = true,
        /// After ten packets, the next go out at twice the window per smoothed round trip in the first half of slow
        /// start and at 1.2 times it afterwards, in bursts: those of a millisecond at that rate, at least two
        /// packets, and up to 64 KB where the shortest round trip is below half a millisecond. Linux paces where its
        /// qdisc is `fq`.
        pub pacing: bool = true,
        /// The window of an idle connection is halved for each retransmission timeout, down to `initial_window`.
        pub idle_restart: bool = true,
        /// The connection of a new flow. `"kept"`: an idle connection of the same transport between the same hosts is
        /// reused, if there is one, with its window, threshold and round trip, without a handshake.
        pub connections: Connections = Connections::New,
        /// The largest burst that a host builds as one segment, such as `"64KB"`. New data then waits until a third
        /// of the window, or the largest burst, can go at once, if an ACK is due soon.
        pub segmentation_offload: Option<Bytes> as OrOff<Bytes> = None,
        /// Packets of a burst that the receiver merges into one (GRO); it sends that many times fewer ACKs.
        pub receive_offload: u32 = 1; at_least_one,
        /// The kernel's timers (timeouts, probes, delayed ACKs, not pacing) expire at ticks, later than requested:
        /// rounded up to ticks, the current tick not counted, with a granularity of 8 ticks from 63 ticks on and 64
        /// from 504 on. 4 ms is `CONFIG_HZ=250`. `"0s"`: timers are exact.
        pub timer_tick: Duration = Duration::from_us(4_000),
        /// ACKs at the start of a connection that are not delayed. While the receive window grows, no ACK is delayed.
        pub quick_acks: u32 = 16,
        /// After three ACKs for out-of-order packets, further ACKs are delayed by 5% of the base round trip, at most
        /// 1 ms and 44 packets.
        pub sack_compression: bool = true,
        /// The largest receive window; the default is that of 32 MiB of memory. The window grows by two packets for
        /// each that arrives, within the memory, which grows to twice the bytes that arrive in a round trip. The
        /// receiver estimates the round trip from time stamps in whole milliseconds, or below one millisecond from
        /// the duration of a window, so the estimate includes queueing.
        pub receive_window_max: Bytes = Bytes::new(20 << 20),
    }
}

#[cfg(test)]
mod tests;
