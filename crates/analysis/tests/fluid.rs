//! The closed forms against the fluid itself, followed in small steps of time.
//!
//! A step is a 50,000th of the time that is looked at. Queues that would grow beyond their thresholds are held at them,
//! and queues above drain: nothing of what the closed forms assume about who tracks and who lags is in here.

use forebay_analysis::transient::{Burst, Held, Regime, Transient};
use forebay_analysis::{abm, dt, fb, steady};

const PORT: f64 = 10e9;
const BUFFER: f64 = 9e6;
const BITS: f64 = 8.0;
const STEPS: u32 = 50_000;

/// A queue of fluid.
#[derive(Clone, Debug)]
struct Queue {
    omega: f64,
    /// Bits per second.
    arrives: f64,
    drains: f64,
    bytes: f64,
}

struct Fluid {
    buffer: f64,
    queues: Vec<Queue>,
}

impl Fluid {
    fn free(&self) -> f64 {
        self.buffer - self.queues.iter().map(|queue| queue.bytes).sum::<f64>()
    }

    /// A step in time. Gives which queues could not take all that came.
    ///
    /// Queues take turns, and a queue meets the threshold that its own growth leaves: `q = omega * (free - (q - q
    /// before))`.
    fn step(&mut self, seconds: f64) -> Vec<bool> {
        let mut free = self.free();
        self.queues
            .iter_mut()
            .map(|queue| {
                let before = queue.bytes;
                let kept = (before - queue.drains / BITS * seconds).max(0.0);
                let wanted = (before + (queue.arrives - queue.drains) / BITS * seconds).max(0.0);
                let threshold = queue.omega * (free + before) / (1.0 + queue.omega);
                queue.bytes = wanted.min(threshold.max(kept));
                free -= queue.bytes - before;
                wanted > threshold
            })
            .collect()
    }
}

/// When the burst first loses, and how long its queue is then.
fn first_loss(transient: &Transient) -> (f64, f64) {
    let free = transient.free_at_start();
    let held = transient.held.iter().map(|held| Queue {
        omega: held.omega,
        arrives: 3.0 * PORT,
        drains: held.drain,
        bytes: held.omega_before * free,
    });
    let burst = transient.burst;
    let new = Queue { omega: burst.omega, arrives: burst.rate, drains: burst.drain, bytes: 0.0 };
    let mut fluid = Fluid { buffer: transient.buffer, queues: held.collect() };
    fluid.queues.extend(std::iter::repeat_n(new, burst.queues as usize));
    let step = transient.zero_loss_time() / f64::from(STEPS);
    for i in 1..2 * STEPS {
        if fluid.step(step).pop().unwrap() {
            return (f64::from(i) * step, fluid.queues.last().unwrap().bytes);
        }
    }
    panic!("nothing was lost in twice the time in which it should have been");
}

#[track_caller]
fn agrees(transient: &Transient) {
    let (time, length) = first_loss(transient);
    for (seen, expected) in [(time, transient.zero_loss_time()), (length, transient.tolerance())] {
        assert!((seen / expected - 1.0).abs() < 1e-3, "{seen} instead of {expected}: {transient:?}");
    }
}

fn burst(rate: f64, omega: f64) -> Burst {
    Burst { queues: 1, omega, rate: rate * PORT, drain: PORT }
}

#[test]
fn dt_loses_when_equation_8_says() {
    for alpha in [0.5, 1.0, 8.0] {
        for (ports, per_port) in [(1, 1), (4, 1), (14, 1), (2, 4)] {
            for rate in [1.2, 2.0, 5.0, 20.0] {
                agrees(&dt::burst(BUFFER, alpha, ports, per_port, PORT, burst(rate, alpha)));
            }
        }
    }
}

#[test]
fn abm_loses_when_theorems_4_and_5_say() {
    for (ports, per_port) in [(1, 1), (4, 1), (14, 1), (2, 4), (1, 8)] {
        for rate in [1.2, 2.0, 5.0, 20.0] {
            for queues in [1, 3] {
                let transient = abm::burst(BUFFER, 0.5, ports, per_port, PORT, Burst { queues, ..burst(rate, 0.5) });
                agrees(&transient);
                let theorems = abm::theorem_4(&transient).min(abm::theorem_5(&transient));
                assert!((theorems / transient.zero_loss_time() - 1.0).abs() < 1e-9);
            }
        }
    }
}

/// Queues of which some can follow their thresholds and some cannot: neither theorem, but in between.
#[test]
fn mixed_queues_are_in_between() {
    let held = vec![Held::new(0.1, PORT), Held::new(2.0, PORT / 4.0), Held::new(0.5, PORT / 2.0)];
    let transient = Transient { buffer: BUFFER, held, burst: burst(4.0, 1.0) };
    assert_eq!(transient.growth().1, Regime::Mixed);
    agrees(&transient);
    assert!(transient.zero_loss_time() < 0.99 * abm::theorem_4(&transient).min(abm::theorem_5(&transient)));
}

/// A queue whose factor has fallen drains, and the others follow their thresholds.
#[test]
fn affected_queues_drain() {
    let mut transient = abm::burst(BUFFER, 0.5, 3, 1, PORT, burst(1.8, 0.5));
    transient.held[0] = Held { omega_before: 0.5, omega: 0.05, drain: PORT / 4.0 };
    agrees(&transient);
}

/// A burst that ends just before, or just after, what FB's equations promise.
#[test]
fn fb_absorbs_what_alpha_high_promises() {
    for (alpha_low, rate, duration) in [(0.5, 10.0, 500e-6), (0.1, 10.0, 500e-6), (0.5, 3.0, 2e-3), (2.0, 4.0, 900e-6)]
    {
        let absorb = fb::Absorb { rate: rate * PORT, duration };
        let least = fb::alpha_high(BUFFER, PORT, alpha_low, absorb).unwrap();
        for (factor, lost) in [(0.98, true), (1.02, false)] {
            let transient = fb::worst_case(BUFFER, PORT, alpha_low, factor * least, absorb.rate);
            agrees(&transient);
            assert_eq!(first_loss(&transient).0 < duration, lost, "alpha_L {alpha_low}, {rate} ports, {factor}");
        }
    }
}

/// Queues that start empty fill the buffer to the steady state; with several alphas, too.
#[test]
fn steady_states_are_reached() {
    let omegas = [2.0, 1.0, 1.0, 0.25, 0.1];
    let queue = |omega: &f64| Queue { omega: *omega, arrives: 1.5 * PORT, drains: PORT, bytes: 0.0 };
    let mut fluid = Fluid { buffer: BUFFER, queues: omegas.iter().map(queue).collect() };
    // While the buffer fills some are above their thresholds; a few times what a port takes to send a buffer is enough.
    for _ in 0..STEPS {
        fluid.step(0.06 / f64::from(STEPS));
    }
    for queue in &fluid.queues {
        let expected = steady::threshold(BUFFER, queue.omega, &omegas);
        assert!((queue.bytes / expected - 1.0).abs() < 1e-3, "{} instead of {expected}", queue.bytes);
    }
    assert!((fluid.free() / steady::free(BUFFER, &omegas) - 1.0).abs() < 1e-3);
}
