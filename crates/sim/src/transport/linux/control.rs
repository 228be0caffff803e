//! Congestion control as Linux has it: the sender owns window and threshold; a control says how the window grows, where
//! it is cut to, and what it was before a cut that turns out to be wrong. Windows are whole packets.

use super::super::config::{TransportConfig, TransportKind, without_stack};
use super::super::cubic::{CubicConfig, SlowStartExit};
use super::super::dctcp::DctcpConfig;
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Duration, Instant};

/// No slow-start threshold yet.
pub(super) const NO_THRESHOLD: u32 = i32::MAX as u32;

/// The least threshold.
const LEAST: u32 = 2;

/// The window, which the sender owns.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Packets that may be in flight.
    pub(super) size: u32,
    /// The slow-start threshold.
    pub(super) threshold: u32,
    /// Packets acknowledged that have not made it grow yet.
    pub(super) credit: u32,
    /// The largest that it may become.
    pub(super) max: u32,
}

impl Window {
    #[inline(always)]
    pub(super) fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// Grows by a packet for each that was acknowledged, up to the threshold; how many are left over.
    #[inline(always)]
    fn slow_start(&mut self, acked: u32) -> u32 {
        let grown = self.size.saturating_add(acked).min(self.threshold);
        let left = acked - (grown - self.size);
        self.size = grown.min(self.max);
        left
    }

    /// Grows by a packet for each `per` that were acknowledged.
    #[inline(always)]
    fn avoid_congestion(&mut self, per: u32, acked: u32) {
        if self.credit >= per {
            self.credit = 0;
            self.size += 1;
        }
        self.credit += acked;
        if self.credit >= per {
            let steps = self.credit / per;
            self.credit -= steps * per;
            self.size += steps;
        }
        self.size = self.size.min(self.max);
    }
}

/// What a control may look at when packets have been acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) now: Instant,
    /// Packets that are newly known to have arrived.
    pub(super) delivered: u32,
    /// The first packet that is not acknowledged, and the next to be sent.
    pub(super) una: u32,
    pub(super) next: u32,
    /// The round trip of the latest of them; zero if it is not known.
    pub(super) rtt: Duration,
    /// They bring an echo of congestion experienced.
    pub(super) marked: bool,
    /// Packets of this sender are paced.
    pub(super) paced: bool,
    /// The smoothed round trip.
    pub(super) smoothed: Duration,
}

/// The congestion controls.
#[derive(Clone, Debug)]
pub(super) enum Control {
    Reno,
    Cubic(Box<Cubic>),
    Dctcp(Dctcp),
}

impl Control {
    pub(super) fn new(config: &TransportConfig) -> Self {
        match &config.kind {
            TransportKind::Cubic(own) => Self::Cubic(Box::new(Cubic::new(own, config.linux.timer_tick))),
            TransportKind::Dctcp(own) => Self::Dctcp(Dctcp::new(own)),
            TransportKind::Reno(_) => Self::Reno,
            // They never come here.
            without_stack!() => Self::Reno,
        }
    }

    /// Packets have been acknowledged, whatever the state.
    #[inline(always)]
    pub(super) fn on_acked(&mut self, acked: &Acked, window: &mut Window) {
        match self {
            Self::Reno => {}
            Self::Dctcp(own) => own.on_acked(acked),
            Self::Cubic(own) => own.on_acked(acked, window),
        }
    }

    /// The window may grow.
    #[inline(always)]
    pub(super) fn grow(&mut self, now: Instant, window: &mut Window, mut acked: u32) {
        if window.in_slow_start() {
            if let Self::Cubic(own) = self {
                acked = own.slowed(acked);
            }
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        match self {
            Self::Cubic(own) => {
                let per = own.per_packet(now, window.size, acked);
                window.avoid_congestion(per, acked);
            }
            _ => window.avoid_congestion(window.size, acked),
        }
    }

    /// The threshold after congestion, which a mark or a loss has told of.
    pub(super) fn reduced(&mut self, window: &Window) -> u32 {
        match self {
            Self::Reno => (window.size / 2).max(LEAST),
            Self::Cubic(own) => own.reduced(window.size),
            Self::Dctcp(own) => own.reduced(window.size),
        }
    }

    /// Losses are about to be repaired, or the timer ran out; the threshold has been reduced.
    pub(super) fn on_loss(&mut self, window: &mut Window, timeout: bool) {
        match self {
            Self::Reno => {}
            Self::Cubic(own) => {
                if timeout {
                    own.reset();
                }
            }
            // A loss halves, however few marks there were.
            Self::Dctcp(own) => {
                own.before_loss = window.size;
                window.threshold = (window.size / 2).max(LEAST);
            }
        }
    }

    /// The window to go back to when a cut turns out to be wrong; `prior` is what the sender remembers.
    pub(super) fn before_cut(&self, window: &Window, prior: u32) -> u32 {
        match self {
            Self::Dctcp(own) => window.size.max(own.before_loss),
            _ => window.size.max(prior),
        }
    }

    /// Packets are numbered from 0 again, with the next flow of a connection, after a pause.
    pub(super) fn renumber(&mut self, now: Instant, last_sent: Instant) {
        match self {
            Self::Reno => {}
            Self::Cubic(own) => {
                own.round_ends = 0;
                // The cubic does not go on in a pause.
                if let Some(start) = own.epoch {
                    own.epoch = Some((start + now.since(last_sent)).min(now));
                }
            }
            Self::Dctcp(own) => own.round_ends = 0,
        }
    }

    /// Alpha of DCTCP, of 1,024.
    #[cfg(test)]
    pub(super) fn alpha(&self) -> Option<u32> {
        match self {
            Self::Dctcp(own) => Some(own.alpha),
            _ => None,
        }
    }
}

/// DCTCP (SIGCOMM 2010; RFC 8257) in the integers of Linux: alpha in parts of 1,024.
#[derive(Clone, Debug)]
pub(super) struct Dctcp {
    alpha: u32,
    /// The gain is 2^-shift.
    shift: u32,
    /// Packets delivered, and delivered with an echoed mark, since alpha was last updated.
    delivered: u32,
    marked: u32,
    /// Alpha is updated when this packet is acknowledged.
    round_ends: u32,
    before_loss: u32,
}

impl Dctcp {
    const ONE: u32 = 1_024;

    fn new(config: &DctcpConfig) -> Self {
        Self {
            alpha: (config.initial_alpha * f64::from(Self::ONE)).round() as u32,
            shift: (1.0 / config.gain).log2().round() as u32,
            delivered: 0,
            marked: 0,
            round_ends: 0,
            before_loss: 0,
        }
    }

    /// Equation 1 of the paper, once per window of data.
    #[inline(always)]
    fn on_acked(&mut self, acked: &Acked) {
        self.delivered += acked.delivered;
        if acked.marked {
            self.marked += acked.delivered;
        }
        if acked.una >= self.round_ends {
            self.update(acked.next);
        }
    }

    #[inline(never)]
    fn update(&mut self, next: u32) {
        let decayed = self.alpha >> self.shift;
        self.alpha -= if decayed == 0 { self.alpha } else { decayed };
        if self.marked > 0 {
            let share = (u64::from(self.marked) << (10 - self.shift)) / u64::from(self.delivered.max(1));
            self.alpha = (self.alpha + share as u32).min(Self::ONE);
        }
        self.round_ends = next;
        self.delivered = 0;
        self.marked = 0;
    }

    /// Equation 2 of the paper.
    fn reduced(&mut self, window: u32) -> u32 {
        self.before_loss = window;
        let cut = (u64::from(window) * u64::from(self.alpha)) >> 11;
        (window - cut as u32).max(LEAST)
    }
}

/// Cubic in the integers of Linux: time in ticks of the kernel's clock and in units of 2^-10 s, the window in packets.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    /// `W_max`; zero until the first cut, and after a timeout.
    w_max: u32,
    /// When congestion avoidance began, if it has.
    epoch: Option<Instant>,
    /// When the cubic reaches its flat part, in 2^-10 s, and the window there.
    k: u64,
    origin: u32,
    /// What Reno would have, and packets acknowledged that have not made that grow.
    reno: u32,
    acked: u32,
    /// Packets to be acknowledged for each that the window grows by.
    per: u32,
    /// When that was worked out, and for which window.
    computed: Instant,
    computed_for: u32,
    /// The shortest round trip.
    least: Duration,
    // HyStart.
    exit: SlowStartExit,
    found: bool,
    round_ends: u32,
    round_start: Instant,
    last_ack: Instant,
    round_least: Duration,
    /// The shortest round trip of the round before (HyStart++), and what it was as conservative slow start began.
    before_least: Duration,
    baseline: Duration,
    /// Rounds of conservative slow start that are left; zero if it is not on.
    conservative: u32,
    slow_credit: u32,
    samples: u32,
    // Settings.
    /// 1,024 times beta.
    beta: u32,
    /// 1,024 times c.
    scale: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    delay_min: Duration,
    tick: u64,
}

const UNKNOWN: Duration = Duration::from_ps(u64::MAX);

impl Cubic {
    const ONE: u32 = 1_024;
    /// HyStart looks at windows from this size on.
    const LOW_WINDOW: u32 = 16;
    /// ACKs that come in within this time of each other are a train.
    const TRAIN_GAP: Duration = Duration::from_us(2_000);
    /// Round trips of a round that are looked at before delays are compared.
    const SAMPLES: u32 = 8;
    /// The most that delays may grow by before slow start ends.
    const DELAY_MAX: Duration = Duration::from_us(16_000);
    /// Rounds of conservative slow start (RFC 9406), and how much slower it is.
    const CONSERVATIVE_ROUNDS: u32 = 5;
    const CONSERVATIVE_DIVISOR: u32 = 4;

    fn new(config: &CubicConfig, tick: Duration) -> Self {
        Self {
            w_max: 0,
            epoch: None,
            k: 0,
            origin: 0,
            reno: 0,
            acked: 0,
            per: 0,
            computed: Instant::ZERO,
            computed_for: 0,
            least: UNKNOWN,
            exit: config.hystart,
            found: false,
            round_ends: 0,
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            round_least: UNKNOWN,
            before_least: UNKNOWN,
            baseline: UNKNOWN,
            conservative: 0,
            slow_credit: 0,
            samples: 0,
            beta: (config.beta * f64::from(Self::ONE)).round() as u32,
            scale: (config.c * f64::from(Self::ONE)).round() as u64,
            fast_convergence: config.fast_convergence,
            reno_friendly: config.reno_friendly,
            delay_min: config.hystart_delay_min,
            tick: tick.ps().max(1),
        }
    }

    fn reset(&mut self) {
        self.w_max = 0;
        self.epoch = None;
        self.computed_for = 0;
        self.least = UNKNOWN;
        self.found = false;
        self.round_ends = 0;
        self.conservative = 0;
    }

    /// Times as the kernel's clock has them.
    fn ticks(&self, at: Instant) -> u64 {
        at.ps() / self.tick
    }

    fn on_acked(&mut self, acked: &Acked, window: &mut Window) {
        if acked.rtt == Duration::ZERO {
            return;
        }
        // Round trips in the second after a recovery are not looked at.
        if let Some(epoch) = self.epoch {
            if acked.now.since(epoch).ps() < PS_PER_SECOND {
                return;
            }
        }
        self.least = self.least.min(acked.rtt);
        if !self.found && window.in_slow_start() {
            match self.exit {
                SlowStartExit::Congestion => {}
                SlowStartExit::HyStart => self.watch(acked, window),
                SlowStartExit::HyStartPlusPlus => self.watch_plus_plus(acked, window),
            }
        }
    }

    fn new_round(&mut self, acked: &Acked) -> bool {
        let new = acked.una > self.round_ends;
        if new {
            self.round_start = acked.now;
            self.last_ack = acked.now;
            self.round_ends = acked.next;
            self.before_least = self.round_least;
            self.round_least = UNKNOWN;
            self.samples = 0;
        }
        new
    }

    /// HyStart as in Linux: slow start ends when the ACKs of a round come in for half of the shortest round trip (all
    /// of it where packets are paced), or when the shortest of eight round trips is longer than the shortest of all by
    /// an eighth.
    #[inline(never)]
    fn watch(&mut self, acked: &Acked, window: &mut Window) {
        self.new_round(acked);
        if window.size < Self::LOW_WINDOW {
            return;
        }
        if acked.now.since(self.last_ack) <= Self::TRAIN_GAP {
            self.last_ack = acked.now;
            // Offloads may hold ACKs back for as long as four aggregates of 64 KB take (about 180 packets) at the rate
            // of slow start, at most a millisecond.
            let offload = (acked.smoothed.ps() * 90 / u64::from(window.size.max(1))).min(1_000_000_000);
            let mut limit = self.least.ps() + offload;
            if !acked.paced {
                limit /= 2;
            }
            if acked.now.since(self.round_start).ps() > limit {
                self.leave_slow_start(window);
            }
        }
        self.round_least = self.round_least.min(acked.rtt);
        if self.samples < Self::SAMPLES {
            self.samples += 1;
            return;
        }
        let slack = Duration::from_ps(self.least.ps() / 8).max(self.delay_min).min(Self::DELAY_MAX.max(self.delay_min));
        if self.round_least.ps() > self.least.ps() + slack.ps() {
            self.leave_slow_start(window);
        }
    }

    /// HyStart++ (RFC 9406): when round trips grow, slow start goes on at a quarter of its pace for five rounds, and at
    /// full pace again if they turn out to be short.
    #[inline(never)]
    fn watch_plus_plus(&mut self, acked: &Acked, window: &mut Window) {
        if self.new_round(acked) && self.conservative > 0 {
            self.conservative -= 1;
            if self.conservative == 0 {
                return self.leave_slow_start(window);
            }
        }
        self.round_least = self.round_least.min(acked.rtt);
        self.samples += 1;
        if self.samples < Self::SAMPLES {
            return;
        }
        if self.conservative > 0 {
            if self.round_least < self.baseline {
                self.conservative = 0;
                self.baseline = UNKNOWN;
            }
        } else if self.before_least != UNKNOWN {
            let slack = Duration::from_ps(self.before_least.ps() / 8)
                .max(self.delay_min)
                .min(Self::DELAY_MAX.max(self.delay_min));
            if self.round_least.ps() >= self.before_least.ps() + slack.ps() {
                self.baseline = self.round_least;
                self.conservative = Self::CONSERVATIVE_ROUNDS;
            }
        }
    }

    /// How many of the packets acknowledged count in slow start: in its conservative part every fourth.
    fn slowed(&mut self, acked: u32) -> u32 {
        if self.conservative == 0 {
            return acked;
        }
        self.slow_credit += acked;
        let counted = self.slow_credit / Self::CONSERVATIVE_DIVISOR;
        self.slow_credit %= Self::CONSERVATIVE_DIVISOR;
        counted
    }

    fn leave_slow_start(&mut self, window: &mut Window) {
        self.found = true;
        window.threshold = window.size;
    }

    /// Packets to be acknowledged for each that the window grows by.
    fn per_packet(&mut self, now: Instant, window: u32, acked: u32) -> u32 {
        self.acked += acked;
        let since = self.ticks(now) - self.ticks(self.computed);
        if self.computed_for == window && since <= PS_PER_SECOND / 32 / self.tick {
            return self.per;
        }
        if self.epoch.is_none() || since > 0 {
            self.computed = now;
            self.computed_for = window;
            self.follow_cubic(now, window, acked);
        }
        if self.reno_friendly {
            self.follow_reno(window);
        }
        self.per = self.per.max(2);
        self.per
    }

    /// The cubic function (RFC 9438, equation 1), a shortest round trip ahead.
    fn follow_cubic(&mut self, now: Instant, window: u32, acked: u32) {
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.acked = acked;
            self.reno = window;
            if self.w_max <= window {
                self.k = 0;
                self.origin = window;
            } else {
                let cube = (1u64 << 40) / self.scale.max(1) * u64::from(self.w_max - window);
                self.k = cube_root(cube);
                self.origin = self.w_max;
            }
            now
        });
        let least = if self.least == UNKNOWN { 0 } else { self.least.ps().div_ceil(self.tick) };
        let ticks = self.ticks(now) - self.ticks(epoch) + least;
        let t = (u128::from(ticks) * u128::from(self.tick) * 1_024 / u128::from(PS_PER_SECOND)) as u64;
        let away = u128::from(t.abs_diff(self.k));
        let delta = u32::try_from((u128::from(self.scale) * away * away * away) >> 40).unwrap_or(u32::MAX / 2);
        let target = if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) };
        self.per = if target > window { window / (target - window) } else { window.saturating_mul(100) };
        // As long as the limit is not known: 5% a round trip at least.
        if self.w_max == 0 {
            self.per = self.per.min(20);
        }
    }

    /// Never slower than Reno would be with cubic's beta (RFC 9438, section 4.3).
    fn follow_reno(&mut self, window: u32) {
        let scale = 8 * (Self::ONE + self.beta) / 3 / (Self::ONE - self.beta).max(1);
        let per = (window * scale) >> 3;
        if per > 0 {
            while self.acked > per {
                self.acked -= per;
                self.reno += 1;
            }
        }
        if self.reno > window {
            self.per = self.per.min(window / (self.reno - window));
        }
    }

    /// The threshold after a cut (RFC 9438, sections 4.6 and 4.7).
    fn reduced(&mut self, window: u32) -> u32 {
        self.epoch = None;
        self.w_max = if self.fast_convergence && window < self.w_max {
            (u64::from(window) * u64::from(Self::ONE + self.beta) / u64::from(2 * Self::ONE)) as u32
        } else {
            window
        };
        ((u64::from(window) * u64::from(self.beta) / u64::from(Self::ONE)) as u32).max(LEAST)
    }
}

/// The whole part of a cube root.
fn cube_root(of: u64) -> u64 {
    let mut root = (of as f64).cbrt() as u64;
    while root * root * root > of {
        root -= 1;
    }
    while (root + 1) * (root + 1) * (root + 1) <= of {
        root += 1;
    }
    root
}
