//! The surfaces of ABM's figures 4 and 5: by the equations, and on a switch.

use crate::figure::Point;
use crate::metrics::Metrics;
use crate::papers::measure_fluid::{Fluid, PORT, switch};
use forebay_analysis::dt::Class;
use forebay_analysis::transient::{Burst, Regime};
use forebay_analysis::{abm, dt};
use forebay_tm::admit::{AbmConfig, DynamicThresholdsConfig, PolicyConfig};
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{Duration, PerQueue, TmConfig};

/// Queue numbers of figure 4.
const AF: usize = 0;
const BE: usize = 1;
/// The queue number of the burst of figure 5; its port, 0, has nothing else.
const BURST: usize = 0;
/// Queues a port in figure 5. More than are ever congested: ABM takes a queue with less than one part of this for idle.
const QUEUES: usize = 32;
const MEGABYTE: f64 = 1e6;

fn shared(
    point: &Point,
    scheme: &str,
    (ports, queues): (usize, usize),
    alpha: PerQueue<f64>,
) -> Result<TmConfig, String> {
    let mut config = switch(ports, queues, point.need("buffer")?);
    config.policy = match scheme {
        "DT" => PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, reserved: 0.0 }),
        "ABM" => {
            let interval = Duration::from_us(point.need("interval")? as u64);
            PolicyConfig::Abm(AbmConfig { alpha, alpha_unscheduled: None, interval, ..AbmConfig::default() })
        }
        _ => return Err(format!("{scheme}: DT and ABM are meant")),
    };
    config.scheduler = SchedulerConfig::RoundRobin;
    Ok(config)
}

/// Figure 4: the free buffer and the length of a loss-sensitive queue, as shares of the buffer. Every queue has a port
/// to itself.
pub(super) fn steady_state(point: &Point) -> Result<Metrics, String> {
    let (buffer, packet) = (point.need("buffer")?, point.need("packet")? as u32);
    let (alpha_af, alpha_be) = (point.need("alpha_af")?, point.need("alpha_be")?);
    let (af, be) = (point.need("af")? as usize, point.need("be")? as usize);
    let config = shared(point, &point.variant, (af + be, 2), PerQueue::Each(vec![alpha_af, alpha_be]))?;
    let mut fluid = Fluid::new(&config, packet)?;
    for port in 0..af + be {
        fluid.overload(port, &[if port < af { AF } else { BE }]);
    }
    fluid.settle()?;
    let [free, length] = fluid.mean(100e-6, |fluid| [fluid.free(), fluid.length(0, AF)])?;
    let mut metrics = Metrics::default();
    metrics.set("free", free / buffer);
    metrics.set("af_threshold", length / buffer);
    let (free, threshold) = if point.variant == "DT" {
        let classes = [Class { alpha: alpha_af, queues: af as u32 }, Class { alpha: alpha_be, queues: be as u32 }];
        (dt::free(1.0, &classes), dt::threshold(1.0, alpha_af, &classes))
    } else {
        let free = 1.0 / (1.0 + alpha_af + alpha_be);
        (free, abm::minimum(1.0, alpha_af, &[alpha_af, alpha_be]) / af as f64)
    };
    metrics.set("free_equation", free);
    metrics.set("af_threshold_equation", threshold);
    Ok(metrics)
}

/// Figure 5: how much of a burst has come when it first loses (`volume`) and how long its queue is then (`length`), in
/// MB.
pub(super) fn burst_tolerance(point: &Point) -> Result<Metrics, String> {
    let (buffer, packet, alpha) = (point.need("buffer")?, point.need("packet")? as u32, point.need("alpha")?);
    let (rate, congested) = (point.need("rate")? * PORT, point.need("congested")? as usize);
    let (scheme, many) = point.variant.split_once(", ").ok_or("a variant is a scheme and what is congested")?;
    let (ports, per_port) = if many == "ports" { (congested, 1) } else { (1, congested) };
    let config = shared(point, scheme, (ports + 1, QUEUES), PerQueue::All(alpha))?;
    let mut fluid = Fluid::new(&config, packet)?;
    let queues: Vec<usize> = (1..=per_port).collect();
    (1..=ports).for_each(|port| fluid.overload(port, &queues));
    fluid.settle()?;
    let burst = Burst { queues: 1, omega: alpha, rate, drain: PORT };
    let setting = if scheme == "DT" { dt::burst } else { abm::burst };
    let transient = setting(buffer, alpha, ports as u32, per_port as u32, PORT, burst);
    let most = 4.0 * transient.zero_loss_time();
    let loss = fluid
        .burst_until_loss((0, BURST), rate, most, |_, _| ())?
        .ok_or("the burst lost nothing in four times the time in which it should")?;
    let mut metrics = Metrics::default();
    metrics.set("volume", abm::burst_volume(rate, loss.after) / MEGABYTE);
    metrics.set("length", loss.length / MEGABYTE);
    metrics.set("volume_exact", transient.volume() / MEGABYTE);
    metrics.set("length_exact", transient.tolerance() / MEGABYTE);
    metrics.set("tracks", f64::from(u8::from(transient.growth().1 == Regime::Tracking)));
    // As printed: equations 6 and 8 for DT, 10 and 11 for ABM, where all queues of a port are of different priorities.
    let drain = ports as f64 * PORT;
    let tracks = transient.growth().1 == Regime::Tracking;
    let held = Class { alpha, queues: (ports * per_port) as u32 };
    let printed = match (scheme, tracks) {
        ("DT", true) => dt::threshold(buffer, alpha, &[held, Class { alpha, queues: 1 }]),
        ("DT", false) => dt::burst_tolerance_lagging(buffer, &[held], drain, &burst),
        (_, true) => abm::burst_tolerance_tracking(buffer, alpha, &vec![alpha; per_port + 1]),
        (_, false) => abm::burst_tolerance_lagging(buffer, &vec![alpha; per_port], drain, &burst),
    };
    metrics.set("length_equation", printed / MEGABYTE);
    Ok(metrics)
}
