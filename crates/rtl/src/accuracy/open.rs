//! The core decides, and units are asked what they would have said.
//!
//! A byte of the core is a cell here, and a nanosecond a cycle. Every port sends a cell in 8 cycles.

use super::asked::{Asked, Unit};
use super::traffic::Arrival;
use super::{ALPHA_SHIFTS, CELLS, CLASSES, Differences, Form, PORTS};
use forebay_tm::admit::PolicyConfig;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{Bytes, Departure, Eviction, Instant, Packet, Rate, Tm, TmConfig, Verdict};

/// What came out.
pub(super) struct Outcome {
    /// Per packet, whether the core admits it.
    pub(super) admitted: Vec<bool>,
    /// Per form of the unit, with the core's n and m, and with its own.
    pub(super) product: Vec<Differences>,
    pub(super) whole: Vec<Differences>,
}

/// What was sent: when, from which queue, and how many cells.
#[derive(Default)]
struct Sent(Vec<(Instant, usize, u64)>);

impl Observer for Sent {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}

    fn started(&mut self, now: Instant, port: usize, departure: &Departure, _: Instant) {
        let queue = port * CLASSES + usize::from(departure.queue().unwrap_or(0));
        self.0.push((now, queue, u64::from(departure.bytes())));
    }

    fn evicted(&mut self, _: Eviction) {}
}

impl Sent {
    /// Tells the units, and forgets.
    fn tell<U: Unit>(&mut self, lengths: &mut [u64], units: &mut [U]) {
        for (at, queue, cells) in self.0.drain(..) {
            lengths[queue] -= cells;
            for unit in units.iter_mut() {
                unit.sent(at.ps() / 1_000, queue, cells, lengths[queue] == 0);
            }
        }
    }
}

/// A switch with this policy.
fn switch(policy: PolicyConfig) -> Driver {
    let mut config = TmConfig::new(vec![Rate::from_gbps(1); PORTS], Bytes::new(CELLS));
    config.queues = CLASSES;
    config.scheduler = SchedulerConfig::RoundRobin;
    config.policy = policy;
    Driver::new(Tm::new(config.validate().expect("a valid switch")))
}

/// Runs the traffic through the core.
pub(super) fn run<U: Unit>(policy: PolicyConfig, arrivals: &[Arrival], forms: &[Form]) -> Outcome {
    let mut driver = switch(policy);
    let mut units: Vec<U> = forms.iter().map(|form| U::new(*form)).collect();
    let mut lengths = [0u64; PORTS * CLASSES];
    let mut sent = Sent::default();
    let nothing = vec![Differences::default(); units.len()];
    let mut outcome = Outcome { admitted: Vec::new(), product: nothing.clone(), whole: nothing };
    for Arrival { cycle, queue, cells } in arrivals.iter().copied() {
        let now = Instant::from_ps(1_000 * cycle);
        driver.advance(now, &mut sent).expect("the run is short");
        sent.tell(&mut lengths, &mut units);
        let asked = Asked {
            queue,
            length: lengths[queue],
            cells,
            remaining: CELLS - lengths.iter().sum::<u64>(),
            alpha_shift: ALPHA_SHIFTS[queue % CLASSES],
        };
        let (port, number) = ((queue / CLASSES) as u32, (queue % CLASSES) as u32);
        let packet = Packet { bytes: cells as u32, port, queue: number, ..Packet::default() };
        let (verdict, why) = driver.arrive_explained(now, &packet, &mut sent).expect("the run is short");
        let exact = why.threshold.unwrap_or_default();
        let admitted = matches!(verdict, Verdict::Queued { .. });
        outcome.admitted.push(admitted);
        for (at, unit) in units.iter_mut().enumerate() {
            outcome.product[at].count(admitted, asked.fits(unit.product(&asked, &exact)));
            outcome.whole[at].count(admitted, asked.fits(unit.threshold(cycle, &asked)));
            if admitted {
                unit.queued(queue, asked.length == 0);
            }
        }
        if admitted {
            lengths[queue] += cells;
        }
        sent.tell(&mut lengths, &mut units);
    }
    outcome
}
