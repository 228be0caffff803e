//! What a sender keeps of its connection: its state, the timer, and what loss detection, undo and rate reduction count.

use forebay_tm::{Duration, Instant};

/// What the sender is about, in the order of how bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transport::linux) enum State {
    /// All is in order.
    Open,
    /// Packets have arrived out of order; none is known to be lost.
    Disorder,
    /// A mark was echoed: the window shrinks to its threshold.
    Reduction,
    /// Losses are repaired, and the window shrinks to its threshold.
    Recovery,
    /// The timer ran out.
    Loss,
}

/// What the timer is for: there is one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport::linux) enum Purpose {
    Nothing,
    /// The retransmission timeout.
    Timeout,
    /// The tail loss probe.
    Probe,
    /// Packets that may be lost or late are lost now.
    Reordering,
    /// The receive window is closed.
    Persist,
}

/// A timer of the kernel: it is set often and rarely runs out, so that ticks are only worked out when it would.
#[derive(Clone, Debug)]
pub(in crate::transport::linux) struct Timer {
    pub(in crate::transport::linux) purpose: Purpose,
    pub(super) start: Instant,
    pub(super) span: Duration,
    pub(super) at: Instant,
    pub(super) is_tick: bool,
}

impl Timer {
    pub(super) const fn new() -> Self {
        Self {
            purpose: Purpose::Nothing,
            start: Instant::ZERO,
            span: Duration::ZERO,
            at: Instant::NEVER,
            is_tick: false,
        }
    }

    #[inline(always)]
    pub(in crate::transport::linux) fn set(&mut self, purpose: Purpose, now: Instant, span: Duration) {
        *self = Self { purpose, start: now, span, at: now + span, is_tick: false };
    }

    pub(in crate::transport::linux) fn stop(&mut self) {
        self.purpose = Purpose::Nothing;
        self.at = Instant::NEVER;
    }
}

/// What the sender has to see to before it sends new data, as bits.
pub(in crate::transport::linux) mod special {
    /// The connection is not open yet.
    pub(crate) const OPENING: u8 = 1;
    /// The header of the handshake goes out.
    pub(crate) const KNOCK: u8 = 1 << 1;
    /// A tail loss probe goes out.
    pub(crate) const PROBE: u8 = 1 << 2;
    /// New data goes before retransmissions (F-RTO).
    pub(crate) const NEW_FIRST: u8 = 1 << 3;
    /// Retransmissions wait for the next ACK.
    pub(crate) const NO_REPAIR: u8 = 1 << 4;
    /// One retransmission goes out whatever is in flight.
    pub(crate) const FORCED: u8 = 1 << 5;
    /// The receive window is probed.
    pub(crate) const PERSIST: u8 = 1 << 6;
}

/// Loss detection by time (RFC 8985): what has arrived of what was sent last.
#[derive(Clone, Debug)]
pub(in crate::transport::linux) struct Rack {
    /// When the packet that was sent last of all that have arrived was sent, and its number.
    pub(in crate::transport::linux) sent: Instant,
    pub(in crate::transport::linux) seq: u32,
    pub(in crate::transport::linux) repeated: bool,
    /// The round trip of the latest that has arrived.
    pub(in crate::transport::linux) rtt: Duration,
    /// Something has arrived since losses were last looked for.
    pub(in crate::transport::linux) advanced: bool,
    /// The reordering window in quarters of the shortest round trip.
    pub(in crate::transport::linux) steps: u32,
    /// Recoveries until that falls back to one.
    pub(in crate::transport::linux) persist: u32,
    /// A duplicate was reported since the last look.
    pub(in crate::transport::linux) duplicate: bool,
    /// Further duplicates count when this packet has been acknowledged.
    pub(in crate::transport::linux) adjusted: u32,
}

impl Rack {
    /// Before anything has arrived.
    pub(super) fn new() -> Self {
        Self {
            sent: Instant::ZERO,
            seq: 0,
            repeated: false,
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            duplicate: false,
            adjusted: 0,
        }
    }
}

/// Whether a cut of the window may be taken back.
#[derive(Clone, Debug)]
pub(in crate::transport::linux) struct Undo {
    /// The first packet that was not acknowledged when losses were found; none: there is nothing to take back.
    pub(in crate::transport::linux) marker: Option<u32>,
    /// Retransmissions of which no duplicate has been reported; none: nothing was sent again yet.
    pub(in crate::transport::linux) retransmissions: Option<u32>,
    /// When the first retransmission was sent.
    pub(in crate::transport::linux) first: Option<Instant>,
    /// Threshold and window before the cut; a threshold of zero: it is not to be taken back.
    pub(in crate::transport::linux) threshold: u32,
    pub(in crate::transport::linux) window: u32,
}

/// What proportional rate reduction counts (RFC 6937).
#[derive(Clone, Debug, Default)]
pub(in crate::transport::linux) struct Reduction {
    pub(in crate::transport::linux) prior: u32,
    pub(in crate::transport::linux) delivered: u32,
    pub(in crate::transport::linux) sent: u32,
}
