//! How far thresholds made of shifts are from the formulas.
//!
//! Over a grid of states, the ratio of the unit's threshold to the formula's. On random traffic through the core, how
//! many packets would get another verdict from the unit, which is only asked ([`Accuracy::product`],
//! [`Accuracy::whole`]). And on the same traffic through a switch in which the unit decides, what becomes of the
//! packets there ([`Accuracy::closed`]).

mod asked;
mod closed;
mod grid;
mod open;
mod traffic;

use asked::Unit;
use forebay_tm::admit::{AbmConfig, FlexibleBufferConfig, PolicyConfig};
use forebay_tm::{Duration, PerQueue};
use serde::{Deserialize, Serialize};

/// A form of a unit, under the name of its row of costs.
#[derive(Clone, Copy, Debug)]
struct Form {
    name: &'static str,
    /// Digits of its factors.
    terms: usize,
    /// ABM: steps of a share, as a logarithm.
    log_shares: u32,
}

const fn form(name: &'static str, terms: usize, log_shares: u32) -> Form {
    Form { name, terms, log_shares }
}

const FB: &[Form] = &[form("FB, 1 shift", 1, 0), form("FB, 2 shifts", 2, 0), form("FB, 3 shifts", 3, 0)];
const ABM: &[Form] = &[
    form("ABM, 1 shift", 1, 5),
    form("ABM, 2 shifts", 2, 5),
    form("ABM, 3 shifts", 3, 5),
    form("ABM, 3 shifts, finer shares", 3, 7),
];

/// Bits of a length.
const WIDTH: u32 = 16;
/// Ports.
const PORTS: usize = 8;
/// Queues of each port.
const CLASSES: usize = 8;
/// The whole buffer of the traffic's switch.
const CELLS: u64 = 8_191;
/// Of the queue numbers: from 8 to 1/4.
const ALPHA_SHIFTS: [u32; CLASSES] = [6, 5, 4, 3, 3, 2, 2, 1];
/// Cycles of ABM's window, as a logarithm: 8.2 us at 1 GHz, in which a port sends 1,024 cells.
const LOG_WINDOW: u32 = 13;
/// Where the values of something lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The least.
    pub min: f64,
    /// One of a hundred is not above this.
    pub p1: f64,
    /// The middle.
    pub p50: f64,
    /// One of a hundred is not below this.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Distribution {
    /// Of some values, at least one; to four digits, as in the page's numbers.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let at = |share: f64| (values[(share * last as f64).round() as usize] * 1e4).round() / 1e4;
        Self { min: at(0.0), p1: at(0.01), p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

/// Verdicts that differ from the core's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differences {
    /// Packets that the core rejects and the unit would admit.
    pub admitted: u64,
    /// Packets that the core admits and the unit would reject.
    pub rejected: u64,
}

impl Differences {
    fn count(&mut self, core: bool, unit: bool) {
        self.admitted += u64::from(unit && !core);
        self.rejected += u64::from(core && !unit);
    }
}

/// How accurate a unit is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The unit's name, that of its row of costs.
    pub name: String,
    /// The threshold over that of the formula, over a grid of states.
    pub ratio: Distribution,
    /// Packets of the traffic.
    pub arrivals: u64,
    /// Of these, packets that the core rejects.
    pub rejected: u64,
    /// With the core's own n and m, so that only the product differs.
    pub product: Differences,
    /// With the unit's own counters.
    pub whole: Differences,
    /// In a switch in which the unit decides, packets whose fate differs from that in the core.
    pub closed: Differences,
}

/// Everything: the units of FB, then those of ABM.
pub fn all() -> Vec<Accuracy> {
    let mut rows = measure::<asked::Fb>(FB, fb_policy(), grid::fb);
    rows.extend(measure::<asked::Abm>(ABM, abm_policy(), grid::abm));
    rows
}

fn measure<U: Unit>(forms: &[Form], policy: PolicyConfig, ratio: fn(&Form) -> Distribution) -> Vec<Accuracy> {
    let arrivals = traffic::arrivals();
    let open = open::run::<U>(policy, &arrivals, forms);
    let row = |(at, form): (usize, &Form)| {
        let mut closed = Differences::default();
        for (core, unit) in open.admitted.iter().zip(closed::run(&mut U::new(*form), &arrivals)) {
            closed.count(*core, unit);
        }
        Accuracy {
            name: form.name.to_owned(),
            ratio: ratio(form),
            arrivals: arrivals.len() as u64,
            rejected: open.admitted.iter().filter(|admitted| !**admitted).count() as u64,
            product: open.product[at],
            whole: open.whole[at],
            closed,
        }
    };
    forms.iter().enumerate().map(row).collect()
}

fn alphas() -> PerQueue<f64> {
    PerQueue::Each(ALPHA_SHIFTS.map(|shift| 2f64.powi(shift as i32 - 3)).to_vec())
}

fn fb_policy() -> PolicyConfig {
    PolicyConfig::FlexibleBuffer(FlexibleBufferConfig { alpha: alphas(), ..FlexibleBufferConfig::default() })
}

fn abm_policy() -> PolicyConfig {
    let interval = Duration::from_ps(1_000 << LOG_WINDOW);
    PolicyConfig::Abm(AbmConfig { alpha: alphas(), interval, ..AbmConfig::default() })
}
