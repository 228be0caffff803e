//! The steady states and bursts of FB's figures 3 to 5: by the equations, and on a switch.

use crate::figure::Point;
use crate::metrics::Metrics;
use crate::papers::measure_fluid::{Fluid, PORT, switch};
use forebay_analysis::dt::{self, Class};
use forebay_analysis::transient::{Burst, Held, Transient};
use forebay_analysis::{fb, steady};
use forebay_tm::admit::{DynamicThresholdsConfig, FlexibleBufferConfig, PolicyConfig};
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{PerQueue, TmConfig};

/// The queue number of the high priority; the others are of the low one.
pub(super) const HIGH: usize = 0;
const BITS: f64 = 8.0;
const MICROSECONDS: f64 = 1e6;

/// A switch whose buffer DT or FB shares, with round robin at its ports.
pub(super) fn shared(
    scheme: &str,
    (ports, queues): (usize, usize),
    buffer: f64,
    (high, low): (f64, f64),
) -> Result<TmConfig, String> {
    let mut config = switch(ports, queues, buffer);
    let alpha = PerQueue::Each((0..queues).map(|queue| if queue == HIGH { high } else { low }).collect());
    config.policy = match scheme {
        "DT" => PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, reserved: 0.0 }),
        "FB" => {
            let groups = Some(vec![vec![HIGH], (1..queues).collect()]);
            PolicyConfig::FlexibleBuffer(FlexibleBufferConfig { alpha, groups, ..FlexibleBufferConfig::default() })
        }
        _ => return Err(format!("{scheme}: DT and FB are meant")),
    };
    config.scheduler = SchedulerConfig::RoundRobin;
    Ok(config)
}

/// What a point says of the switch.
struct Setting<'p> {
    scheme: &'p str,
    buffer: f64,
    packet: u32,
    alphas: (f64, f64),
}

impl<'p> Setting<'p> {
    fn of(point: &'p Point) -> Result<Self, String> {
        Ok(Self {
            scheme: &point.variant,
            buffer: point.need("buffer")?,
            packet: point.need("packet")? as u32,
            alphas: (point.need("alpha_high")?, point.need("alpha_low")?),
        })
    }

    fn fluid(&self, ports: usize, queues: usize) -> Result<Fluid, String> {
        Fluid::new(&shared(self.scheme, (ports, queues), self.buffer, self.alphas)?, self.packet)
    }

    /// The time in which a port sends the buffer, in seconds.
    fn buffer_time(&self) -> f64 {
        self.buffer * BITS / PORT
    }

    /// Factors of `high` queues of the high priority and `low` of the low one, each with `share` of its port.
    fn omegas(&self, high: u32, low: u32, share: f64) -> (f64, f64) {
        match self.scheme {
            "FB" => (fb::omega(self.alphas.0, high.max(1), share), fb::omega(self.alphas.1, low.max(1), share)),
            _ => self.alphas,
        }
    }
}

/// Figure 3: what the high-priority queue holds, and what all of the low priority hold, as shares of the buffer.
pub(super) fn against_many(point: &Point) -> Result<Metrics, String> {
    let setting = Setting::of(point)?;
    let queues = point.need("low_queues")? as usize;
    let mut fluid = setting.fluid(queues + 1, 2)?;
    fluid.overload(0, &[HIGH]);
    (1..=queues).for_each(|port| fluid.overload(port, &[1]));
    fluid.settle()?;
    let [high, free] = fluid.mean(0.02 * setting.buffer_time(), |fluid| [fluid.length(0, HIGH), fluid.free()])?;
    let mut metrics = Metrics::default();
    metrics.set("high", high / setting.buffer);
    metrics.set("low", 1.0 - (high + free) / setting.buffer);
    metrics.set("free", free / setting.buffer);

    let low = queues as u32;
    let (high, low_held) = if setting.scheme == "DT" {
        let classes = [Class { alpha: setting.alphas.0, queues: 1 }, Class { alpha: setting.alphas.1, queues: low }];
        (dt::threshold(1.0, setting.alphas.0, &classes), dt::held_by(1.0, classes[1], &classes))
    } else {
        let (high, each) = setting.omegas(1, low, 1.0);
        let mut all = vec![each; queues];
        all.push(high);
        (steady::threshold(1.0, high, &all), f64::from(low) * steady::threshold(1.0, each, &all))
    };
    metrics.set("high_equation", high);
    metrics.set("low_equation", low_held);
    Ok(metrics)
}

/// Figures 4 and 5: one of the three examples, in packets of the paper.
pub(super) fn example(point: &Point) -> Result<Metrics, String> {
    let setting = Setting::of(point)?;
    let packet = point.need("paper_packet")?;
    match point.text("part") {
        Some("a") => separate_ports(&setting, packet),
        Some("b") => one_port(&setting, packet),
        Some("c") => incast(&setting, packet, point.need("incast")?),
        _ => Err("part: a, b or c is meant".to_owned()),
    }
}

/// Curves over time of what is seen of a switch; each is kept as `<name>.curve`.
#[derive(Default)]
struct Curves {
    names: Vec<&'static str>,
    points: Vec<Vec<(f64, f64)>>,
}

impl Curves {
    fn new(names: &[&'static str]) -> Self {
        Self { names: names.to_vec(), points: vec![Vec::new(); names.len()] }
    }

    /// Adds a point to each, at so many seconds.
    fn add(&mut self, seconds: f64, values: &[f64]) {
        for (points, value) in self.points.iter_mut().zip(values) {
            points.push((seconds * MICROSECONDS, *value));
        }
    }

    fn keep(&self, metrics: &mut Metrics) {
        for (name, points) in self.names.iter().zip(&self.points) {
            metrics.curve(format!("{name}.curve"), points);
        }
    }
}

/// Looks at a switch so often while time passes.
const LOOKS: u32 = 250;

/// Part a: the high-priority queue at port 0 comes when the low priority, at ports 1 to 3, is settled.
fn separate_ports(setting: &Setting<'_>, packet: f64) -> Result<Metrics, String> {
    const LOW: u32 = 3;
    let mut metrics = Metrics::default();
    let mut alone = setting.fluid(4, 2)?;
    alone.overload(0, &[HIGH]);
    alone.settle()?;
    let look = |fluid: &Fluid| [fluid.length(0, HIGH) / packet];
    metrics.set("high_alone", alone.mean(0.1 * setting.buffer_time(), look)?[0]);

    let mut fluid = setting.fluid(4, 2)?;
    (1..=LOW as usize).for_each(|port| fluid.overload(port, &[1]));
    fluid.settle()?;
    fluid.overload(0, &[HIGH]);
    let look = |fluid: &Fluid| {
        let low: f64 = (1..=LOW as usize).map(|port| fluid.length(port, 1)).sum();
        [fluid.length(0, HIGH) / packet, low / packet, fluid.free() / packet]
    };
    let mut curves = Curves::new(&["high", "low", "free"]);
    let span = 1.5 * setting.buffer_time();
    for i in 0..LOOKS {
        curves.add(span * f64::from(i) / f64::from(LOOKS), &look(&fluid));
        fluid.run(span / f64::from(LOOKS))?;
    }
    curves.keep(&mut metrics);
    fluid.settle()?;
    let [high, low, free] = fluid.mean(0.1 * setting.buffer_time(), look)?;
    for (name, value) in [("high", high), ("low", low), ("low_each", low / f64::from(LOW)), ("free", free)] {
        metrics.set(name, value);
    }
    let (high, each) = setting.omegas(1, LOW, 1.0);
    let all = [high, each, each, each];
    let whole = setting.buffer / packet;
    metrics.set("high_equation", steady::threshold(whole, high, &all));
    metrics.set("low_equation", f64::from(LOW) * steady::threshold(whole, each, &all));
    metrics.set("high_alone_equation", steady::threshold(whole, high, &[high]));
    Ok(metrics)
}

/// Queues of the low priority in parts b and c, at port 1 (or, to see what gamma does, one at each of ports 1 to 5).
const LOW_QUEUES: [usize; 5] = [1, 2, 3, 4, 5];

/// Part b.
fn one_port(setting: &Setting<'_>, packet: f64) -> Result<Metrics, String> {
    let mut metrics = Metrics::default();
    let mut fluid = setting.fluid(2, 6)?;
    fluid.overload(1, &LOW_QUEUES);
    let look = |fluid: &Fluid| {
        let low: f64 = LOW_QUEUES.iter().map(|queue| fluid.length(1, *queue)).sum();
        [low / packet, low / packet / LOW_QUEUES.len() as f64, fluid.free() / packet]
    };
    let mut curves = Curves::new(&["low", "low_each", "free"]);
    let span = 1.5 * setting.buffer_time();
    for i in 0..LOOKS {
        curves.add(span * f64::from(i) / f64::from(LOOKS), &look(&fluid));
        fluid.run(span / f64::from(LOOKS))?;
    }
    curves.keep(&mut metrics);
    fluid.settle()?;
    let [low, each, free] = fluid.mean(0.1 * setting.buffer_time(), look)?;
    for (name, value) in [("low", low), ("low_each", each), ("free", free)] {
        metrics.set(name, value);
    }
    let mut apart = setting.fluid(6, 6)?;
    LOW_QUEUES.iter().for_each(|queue| apart.overload(*queue, &[*queue]));
    apart.settle()?;
    let look = |fluid: &Fluid| [fluid.length(1, 1) / packet];
    metrics.set("low_each_at_five_ports", apart.mean(0.1 * setting.buffer_time(), look)?[0]);
    let (_, each) = setting.omegas(0, 5, 0.2);
    metrics.set("low_each_equation", steady::threshold(setting.buffer / packet, each, &[each; 5]));
    Ok(metrics)
}

/// Part c: the incast, to port 0, comes when the five queues are settled.
fn incast(setting: &Setting<'_>, packet: f64, rate: f64) -> Result<Metrics, String> {
    let mut metrics = Metrics::default();
    let mut fluid = setting.fluid(2, 6)?;
    fluid.overload(1, &LOW_QUEUES);
    fluid.settle()?;
    let mut curves = Curves::new(&["high", "high_threshold", "low"]);
    let watch = |after: f64, fluid: &Fluid| {
        let low: f64 = LOW_QUEUES.iter().map(|queue| fluid.length(1, *queue)).sum();
        curves.add(after, &[fluid.length(0, HIGH) / packet, fluid.threshold(0, HIGH) / packet, low / packet]);
    };
    let most = 4.0 * setting.buffer_time();
    let loss = fluid.burst_until_loss((0, HIGH), rate * PORT, most, watch)?.ok_or("the incast never lost a packet")?;
    curves.keep(&mut metrics);
    metrics.set("high_at_loss", loss.length / packet);
    metrics.set("first_loss_us", loss.after * MICROSECONDS);
    fluid.settle()?;
    let look = |fluid: &Fluid| [fluid.length(0, HIGH) / packet];
    metrics.set("high_steady", fluid.mean(0.1 * setting.buffer_time(), look)?[0]);

    let (high, _) = setting.omegas(1, 5, 1.0);
    let (_, low) = setting.omegas(1, 5, 0.2);
    let burst = Burst { queues: 1, omega: high, rate: rate * PORT, drain: PORT };
    let held = vec![Held::new(low, PORT / LOW_QUEUES.len() as f64); LOW_QUEUES.len()];
    let transient = Transient { buffer: setting.buffer, held, burst };
    metrics.set("high_at_loss_equation", transient.tolerance() / packet);
    metrics.set("high_steady_equation", transient.fair_share() / packet);
    Ok(metrics)
}
