//! A burst comes to a buffer that other queues hold in steady state: how fast everything changes, and when the burst
//! first loses.
//!
//! From time 0 on, `M` empty queues with factor `omega` get traffic at `r` and drain at `d` each. Queue `i` of those
//! that hold the buffer has more arrivals than it can send. As the total `Q` grows its threshold falls by `omega_i *
//! Q'`. If that is slower than its drain rate `g_i` it stays at its threshold (it *tracks*); if not, it sends at `g_i`,
//! is above its threshold, and admits nothing (it *lags*). So
//!
//! ```text
//! Q' = M*(r - d) + sum_i max(-g_i, -omega_i * Q')
//! ```
//!
//! Everything is linear until a queue of the burst meets its threshold, at `t1` with `(r - d)*t1 = omega*(B - Q(0) -
//! Q'*t1)`:
//!
//! ```text
//! t1 = omega * (B - Q(0)) / ((r - d) + omega * Q')
//! ```
//!
//! When all queues track this is ABM's theorem 4 (equations 29 and 34), when all lag its theorem 5 (equation 39). The
//! maximum settles which; ABM's equation 28 does so for all queues at once, which is the same where `omega_i / g_i` is
//! the same for all. In the general case some track and some lag.
//!
//! The factor of a held queue may fall as the burst comes, since there are more queues of its priority now or its port
//! has to be shared (ABM's set `G_e`). It is then above its threshold at once and lags. As in the paper it is taken to
//! do so until `t1`.

use crate::{BITS, steady};

/// A queue that holds buffer when the burst comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// Its factor before the burst, by which it has filled the buffer.
    pub omega_before: f64,
    /// Its factor from the burst on; at most [`Held::omega_before`].
    pub omega: f64,
    /// The rate at which it drains from the burst on, in bits per second.
    pub drain: f64,
}

impl Held {
    /// A queue whose factor the burst does not change.
    pub fn new(omega: f64, drain: f64) -> Self {
        Self { omega_before: omega, omega, drain }
    }

    fn is_affected(&self) -> bool {
        self.omega < self.omega_before
    }
}

/// Traffic that comes to queues which were empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// How many queues get it.
    pub queues: u32,
    /// The factor of each.
    pub omega: f64,
    /// The arrival rate at each, in bits per second.
    pub rate: f64,
    /// The rate at which each drains, in bits per second.
    pub drain: f64,
}

impl Burst {
    /// How fast each queue grows, in bytes per second; not negative.
    fn growth(&self) -> f64 {
        (self.rate - self.drain).max(0.0) / BITS
    }
}

/// How the queues that hold the buffer follow their thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// All stay at their thresholds (ABM's case 1, DT's healthy behaviour): the burst gets its share of the steady
    /// state.
    Tracking,
    /// Some cannot drain as fast as their thresholds fall.
    Mixed,
    /// None can (ABM's case 2): the burst loses before it has its share.
    Lagging,
}

/// A burst and the buffer it comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Transient {
    /// The shared buffer in bytes.
    pub buffer: f64,
    /// The queues that hold it.
    pub held: Vec<Held>,
    /// The burst.
    pub burst: Burst,
}

impl Transient {
    /// What is free as the burst comes, in bytes: `B / (1 + sum of omega_before)` (ABM eq. 18).
    pub fn free_at_start(&self) -> f64 {
        let omegas: Vec<f64> = self.held.iter().map(|held| held.omega_before).collect();
        steady::free(self.buffer, &omegas)
    }

    /// `Q'`: how fast the total grows, in bytes per second, and in which regime.
    pub fn growth(&self) -> (f64, Regime) {
        let (affected, mut tracking): (Vec<Held>, Vec<Held>) = self.held.iter().partition(|held| held.is_affected());
        let drained = |held: &[Held]| held.iter().map(|held| held.drain).sum::<f64>() / BITS;
        let mut inflow = f64::from(self.burst.queues) * self.burst.growth() - drained(&affected);
        // A queue tracks while `Q' <= g / omega`. Those that fall behind first come last.
        let limit = |held: &Held| held.drain / BITS / held.omega;
        tracking.sort_by(|a, b| limit(b).total_cmp(&limit(a)));
        let mut lagging = 0;
        loop {
            let growth = inflow / (1.0 + tracking.iter().map(|held| held.omega).sum::<f64>());
            match tracking.last() {
                // At the limit itself both descriptions agree; rounding must not turn it into a queue that lags.
                Some(held) if growth > limit(held) * (1.0 + 1e-12) => {
                    inflow -= held.drain / BITS;
                    tracking.pop();
                    lagging += 1;
                }
                _ => {
                    let regime = match (lagging, tracking.len()) {
                        (0, _) => Regime::Tracking,
                        (_, 0) => Regime::Lagging,
                        _ => Regime::Mixed,
                    };
                    return (growth, regime);
                }
            }
        }
    }

    /// `t1`: for how many seconds the burst loses nothing. Infinite for a burst that its ports can send as it comes.
    pub fn zero_loss_time(&self) -> f64 {
        let fill = self.burst.growth();
        let (growth, _) = self.growth();
        let closing = fill + self.burst.omega * growth;
        if fill == 0.0 || closing <= 0.0 { f64::INFINITY } else { self.burst.omega * self.free_at_start() / closing }
    }

    /// How long a queue of the burst is when it first loses, in bytes: `(r - d) * t1`, ABM's *burst tolerance* in
    /// equations 8, 10 and 11.
    pub fn tolerance(&self) -> f64 {
        if self.burst.growth() == 0.0 { f64::INFINITY } else { self.burst.growth() * self.zero_loss_time() }
    }

    /// How much has come to a queue of the burst when it first loses, in bytes: `r * t1`, ABM's *burst tolerance* in
    /// equation 42, which figure 5 shows.
    pub fn volume(&self) -> f64 {
        self.burst.rate / BITS * self.zero_loss_time()
    }

    /// The length of a queue of the burst in the steady state that would follow, in bytes: its fair share.
    pub fn fair_share(&self) -> f64 {
        let held: f64 = self.held.iter().map(|held| held.omega).sum();
        self.burst.omega * self.buffer / (1.0 + held + f64::from(self.burst.queues) * self.burst.omega)
    }

    /// The largest arrival rate at each queue of the burst, in bits per second, at which all queues track (ABM eq. 28,
    /// there for the sum of all queues):
    ///
    /// ```text
    /// r <= d + (1/M) * ( (1 + W)*min_i(g_i / omega_i) + sum over affected of g_j )
    /// ```
    ///
    /// with `W` the sum over those not affected, which also the minimum is over.
    pub fn tracking_rate(&self) -> f64 {
        let unaffected = || self.held.iter().filter(|held| !held.is_affected());
        let all: f64 = 1.0 + unaffected().map(|held| held.omega).sum::<f64>();
        let slowest = unaffected().map(|held| held.drain / held.omega).fold(f64::INFINITY, f64::min);
        let affected: f64 = self.held.iter().filter(|held| held.is_affected()).map(|held| held.drain).sum();
        self.burst.drain + (all * slowest + affected) / f64::from(self.burst.queues)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assert_near;

    const PORT: f64 = 10e9;

    fn one(rate: f64) -> Burst {
        Burst { queues: 1, omega: 2.0, rate, drain: PORT }
    }

    #[test]
    fn a_burst_that_is_tracked_gets_its_fair_share() {
        let transient = Transient { buffer: 9e6, held: vec![Held::new(0.1, PORT); 2], burst: one(5.0 * PORT) };
        assert_eq!(transient.growth().1, Regime::Tracking);
        assert_near(transient.tolerance(), transient.fair_share());
        assert_near(transient.volume(), transient.fair_share() * 5.0 / 4.0);
    }

    #[test]
    fn beyond_the_tracking_rate_it_gets_less() {
        let held = vec![Held::new(0.1, PORT), Held::new(0.5, PORT), Held::new(0.5, PORT)];
        let mut transient = Transient { buffer: 9e6, held, burst: one(0.0) };
        let limit = transient.tracking_rate();
        for (factor, regime) in [(1.0, Regime::Tracking), (1.001, Regime::Mixed), (20.0, Regime::Lagging)] {
            transient.burst.rate = limit * factor;
            assert_eq!(transient.growth().1, regime, "{factor}");
            let short = transient.fair_share() - transient.tolerance();
            assert_eq!(short > 1e-3, regime != Regime::Tracking, "short by {short} bytes at {factor}");
        }
    }

    #[test]
    fn at_the_tracking_rate_both_descriptions_agree() {
        let held = vec![Held::new(0.5, PORT)];
        let mut transient = Transient { buffer: 9e6, held, burst: one(0.0) };
        let limit = transient.tracking_rate();
        transient.burst.rate = limit * (1.0 - 1e-13);
        let below = transient.zero_loss_time();
        transient.burst.rate = limit * (1.0 + 1e-10);
        assert_eq!(transient.growth().1, Regime::Lagging);
        assert!((transient.zero_loss_time() / below - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_port_can_send_is_never_lost() {
        let transient = Transient { buffer: 9e6, held: vec![Held::new(8.0, PORT)], burst: one(PORT) };
        assert_eq!(transient.zero_loss_time(), f64::INFINITY);
        assert_eq!(transient.tolerance(), f64::INFINITY);
    }

    #[test]
    fn in_an_empty_buffer_a_burst_has_the_threshold_to_itself() {
        let transient = Transient { buffer: 9e6, held: vec![], burst: one(3.0 * PORT) };
        assert_near(transient.tolerance(), 9e6 * 2.0 / 3.0);
        assert_eq!(transient.tracking_rate(), f64::INFINITY);
    }

    #[test]
    fn a_queue_whose_factor_falls_makes_room_at_its_own_rate() {
        let affected = Held { omega_before: 1.0, omega: 0.5, drain: PORT };
        let transient = Transient { buffer: 9e6, held: vec![affected], burst: one(2.0 * PORT) };
        // What comes goes: the free half of the buffer stays as it is.
        assert_eq!(transient.growth(), (0.0, Regime::Tracking));
        assert_near(transient.tolerance(), 2.0 * 4.5e6);
    }
}
