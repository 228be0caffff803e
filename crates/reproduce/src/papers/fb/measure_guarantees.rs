//! FB's guarantees, each tried on a switch with an alpha that is a margin away from what the equation asks for.

use super::measure_analysis::{HIGH, shared};
use crate::figure::Point;
use crate::metrics::Metrics;
use crate::papers::measure_fluid::{Fluid, PORT};
use forebay_analysis::fb::{self, Absorb};
use forebay_analysis::transient::Regime;

const BITS: f64 = 8.0;

/// `bound`: what the equation asks of the alpha; `alpha`: what it is here; `got`: what there was over what was
/// promised; `lost`: packets of the burst that were lost (equations 7 and 8).
pub(super) fn guarantee(point: &Point) -> Result<Metrics, String> {
    match point.text("equation") {
        Some("6") => minimum(point),
        Some("7") => fair_share(point),
        Some("8") => absorption(point, fb::alpha_high_as_printed),
        Some("8 corrected") => absorption(point, fb::alpha_high),
        _ => Err("equation: 6, 7, 8 or \"8 corrected\" is meant".to_owned()),
    }
}

fn fluid(point: &Point, ports: usize, alphas: (f64, f64)) -> Result<Fluid, String> {
    Fluid::new(&shared("FB", (ports, 2), point.need("buffer")?, alphas)?, point.need("packet")? as u32)
}

/// Equation 6: all queues of the high priority are overloaded, and two of the low one. Promised: `minimum` of the
/// buffer for the low priority.
fn minimum(point: &Point) -> Result<Metrics, String> {
    let (buffer, high_queues) = (point.need("buffer")?, point.need("high_queues")? as usize);
    let (promised, alpha_high) = (point.need("minimum")?, point.need("alpha_high")?);
    let bound = fb::alpha_low_for(promised, 1.0, alpha_high);
    let alpha_low = bound * point.need("margin")?;
    let mut fluid = fluid(point, 2 + high_queues, (alpha_high, alpha_low))?;
    for port in 0..2 + high_queues {
        fluid.overload(port, &[if port < 2 { 1 } else { HIGH }]);
    }
    fluid.settle()?;
    fluid.settle()?;
    let [low] = fluid.mean(100e-6, |fluid| [fluid.threshold(0, 1) + fluid.threshold(1, 1)])?;
    let mut metrics = Metrics::default();
    metrics.set("bound", bound);
    metrics.set("alpha", alpha_low);
    metrics.set("got", low / buffer / promised);
    metrics.set("got_equation", fb::minimum_of_low(1.0, alpha_low, alpha_high) / promised);
    Ok(metrics)
}

/// A buffer that one queue of the low priority holds, at port 1.
fn held_by_one(point: &Point, alphas: (f64, f64)) -> Result<Fluid, String> {
    let mut fluid = fluid(point, 2, alphas)?;
    fluid.overload(1, &[1]);
    fluid.settle()?;
    Ok(fluid)
}

/// Equation 7. Promised: that the burst has its share of the steady state before it loses. It ends a few packets before
/// that.
fn fair_share(point: &Point) -> Result<Metrics, String> {
    let (buffer, packet) = (point.need("buffer")?, point.need("packet")?);
    let (rate, alpha_high) = (point.need("rate")? * PORT, point.need("alpha_high")?);
    let bound = fb::alpha_low_for_fair_share(rate, PORT);
    let alpha_low = bound * point.need("margin")?;
    let transient = fb::worst_case(buffer, PORT, alpha_low, alpha_high, rate);
    let share = transient.fair_share();
    let mut metrics = Metrics::default();
    metrics.set("bound", bound);
    metrics.set("alpha", alpha_low);
    let most = 4.0 * share * BITS / (rate - PORT);
    let loss = held_by_one(point, (alpha_high, alpha_low))?.burst_until_loss((0, HIGH), rate, most, |_, _| ())?;
    metrics.set("got", loss.map_or(f64::NAN, |loss| loss.length / share));
    metrics.set("got_equation", transient.tolerance() / share);
    // Thresholds move in steps of alpha packets.
    let slack = (2.0 + alpha_high) * packet;
    let lasts = (share - slack) * BITS / (rate - PORT);
    let lost = held_by_one(point, (alpha_high, alpha_low))?.burst((0, HIGH), rate, lasts)?;
    metrics.set("lost", lost as f64);
    Ok(metrics)
}

/// Equation 8. Promised: that the burst loses nothing while it lasts.
fn absorption(point: &Point, bound: fn(f64, f64, f64, Absorb) -> Option<f64>) -> Result<Metrics, String> {
    let (buffer, alpha_low) = (point.need("buffer")?, point.need("alpha_low")?);
    let burst = Absorb { rate: point.need("rate")? * PORT, duration: point.need("duration")? * 1e-6 };
    let bound = bound(buffer, PORT, alpha_low, burst).ok_or("no alpha_H absorbs this burst")?;
    let alpha_high = bound * point.need("margin")?;
    let transient = fb::worst_case(buffer, PORT, alpha_low, alpha_high, burst.rate);
    let mut metrics = Metrics::default();
    metrics.set("bound", bound);
    metrics.set("alpha", alpha_high);
    metrics.set("tracks", f64::from(u8::from(transient.growth().1 == Regime::Tracking)));
    let alphas = (alpha_high, alpha_low);
    let loss = held_by_one(point, alphas)?.burst_until_loss((0, HIGH), burst.rate, 4.0 * burst.duration, |_, _| ())?;
    metrics.set("got", loss.map_or(f64::NAN, |loss| loss.after / burst.duration));
    metrics.set("got_equation", transient.zero_loss_time() / burst.duration);
    let lost = held_by_one(point, alphas)?.burst((0, HIGH), burst.rate, burst.duration)?;
    metrics.set("lost", lost as f64);
    Ok(metrics)
}
