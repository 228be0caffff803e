//! RED: marks with a probability that grows linearly from 0 at `min` to `probability` at `max`, and with certainty
//! above.
//!
//! The length is that of the queue before the packet joins, or its moving average `avg += weight * (q - avg)` taken at
//! every arrival. While a queue is empty its average decays as if packets of `mean_packet` bytes had found it empty at
//! the rate of the port, so that an idle time does not leave an old average behind.

use super::{ActiveRule, MarkAction, MarkSettings, MarkingRule};
use crate::buffer::Buffer;
use crate::config::{ConfigError, TmConfig, ValidConfig};
use crate::described::settings;
use crate::packet::Packet;
use crate::random::Random;
use crate::units::{Bytes, Duration, Instant};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

settings! {
    /// Settings of RED.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RedConfig {
        /// Below this length nothing is marked.
        pub min: Bytes = Bytes::new(30_000) => given,
        /// From this length on every packet is marked.
        pub max: Bytes = Bytes::new(90_000) => given,
        /// The probability just below `max`.
        pub probability: f64 = 1.0,
        /// The weight of a new length in the moving average; without it the current length is used.
        pub weight: Option<f64> = None,
        /// The packet size that the decay of the average assumes while the queue is empty.
        pub mean_packet: Bytes = Bytes::new(1_000),
        /// What happens to a packet that the rule selects.
        pub action: MarkAction = MarkAction::Mark,
    }
}

impl MarkSettings for RedConfig {
    fn start(&self, switch: &ValidConfig) -> ActiveRule {
        Red::new(self, switch).into()
    }

    fn validate(&self, _: &TmConfig) -> Result<(), ConfigError> {
        if self.max < self.min {
            return Err(ConfigError::new("ecn.max", self.max, format!("it is below ecn.min ({})", self.min))
                .remedy("give a max that is at least min"));
        }
        if !(0.0..=1.0).contains(&self.probability) {
            return Err(ConfigError::new("ecn.probability", self.probability, "a probability is between 0 and 1")
                .remedy("give a number such as 0.1"));
        }
        if self.weight.is_some_and(|weight| !(weight > 0.0 && weight <= 1.0)) {
            return Err(ConfigError::new("ecn.weight", self.weight.unwrap_or(0.0), "it must be above 0 and at most 1")
                .remedy("give a weight such as 0.002"));
        }
        if self.mean_packet == Bytes::ZERO {
            return Err(ConfigError::new("ecn.mean_packet", self.mean_packet, "a packet has at least one byte")
                .remedy("give a size such as \"1000B\""));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Average {
    length: f64,
    empty_since: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(crate) struct Red {
    min: f64,
    max: f64,
    probability: f64,
    weight: Option<f64>,
    /// Per queue index.
    averages: Vec<Average>,
    /// Per port: how long a mean packet takes.
    packet_time: Vec<Duration>,
    queues_per_port: usize,
    random: Random,
    action: MarkAction,
}

impl Red {
    pub(super) fn new(config: &RedConfig, switch: &ValidConfig) -> Self {
        Self {
            min: config.min.as_f64(),
            max: config.max.as_f64(),
            probability: config.probability,
            weight: config.weight,
            averages: vec![Average::default(); switch.total_queues()],
            packet_time: switch.rates.iter().map(|rate| rate.serialization(config.mean_packet.get())).collect(),
            queues_per_port: switch.queues,
            action: config.action,
            random: Random::stream(switch.seed, "red", 0),
        }
    }

    /// Whether the rule hits a packet that finds so many bytes in its queue.
    fn hits_at(&mut self, now: Instant, queue: usize, length: u64) -> bool {
        let length = match self.weight {
            None => length as f64,
            Some(weight) => self.average(now, queue, length as f64, weight),
        };
        if length < self.min {
            false
        } else if length >= self.max {
            true
        } else {
            let probability = self.probability * (length - self.min) / (self.max - self.min);
            probability > 0.0 && self.random.unit() < probability
        }
    }

    fn average(&mut self, now: Instant, queue: usize, length: f64, weight: f64) -> f64 {
        let packet_time = self.packet_time[queue / self.queues_per_port].ps();
        let average = &mut self.averages[queue];
        if let Some(since) = average.empty_since.take() {
            average.length *= power(1.0 - weight, now.since(since).ps() / packet_time);
        }
        average.length += weight * (length - average.length);
        average.length
    }
}

impl MarkingRule for Red {
    fn judge(&mut self, now: Instant, queue: usize, _: &Packet, buffer: &Buffer) -> Option<MarkAction> {
        self.hits_at(now, queue, buffer.length(queue)).then_some(self.action)
    }

    fn emptied(&mut self, now: Instant, queue: usize) {
        if self.weight.is_some() {
            self.averages[queue].empty_since = Some(now);
        }
    }

    fn inherit(&mut self, earlier: &Self) {
        self.averages.clone_from(&earlier.averages);
        self.random = earlier.random.clone();
    }
}

/// `base^exponent` by squaring.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut base, mut exponent, mut result) = (base, exponent, 1.0);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result *= base;
        }
        base *= base;
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn red(config: &RedConfig) -> Red {
        let switch = TmConfig::new(vec![Rate::from_gbps(8)], Bytes::new(1_000_000)).validate().unwrap();
        Red::new(config, &switch)
    }

    #[test]
    fn linear_between_min_and_max() {
        let mut red = red(&RedConfig { probability: 0.5, ..RedConfig::default() });
        let mut share =
            |length| (0..20_000).filter(|_| red.hits_at(Instant::ZERO, 0, length)).count() as f64 / 20_000.0;
        assert_eq!(share(29_999), 0.0);
        assert_eq!(share(30_000), 0.0);
        assert!((share(60_000) - 0.25).abs() < 0.02);
        assert!((share(89_999) - 0.5).abs() < 0.02);
        assert_eq!(share(90_000), 1.0);
    }

    #[test]
    fn the_average_follows_slowly_and_decays_when_idle() {
        let mut red = red(&RedConfig { weight: Some(0.5), ..RedConfig::default() });
        assert!(!red.hits_at(Instant::ZERO, 0, 50_000)); // average 25,000
        red.hits_at(Instant::ZERO, 0, 50_000);
        assert_eq!(red.averages[0].length, 37_500.0);
        red.emptied(Instant::from_ps(1_000_000), 0);
        // 1000 bytes at 8 Gb/s take 1 us: after 3 us the average has been halved three times, then halved again.
        red.hits_at(Instant::from_ps(4_000_000), 0, 0);
        assert_eq!(red.averages[0].length, 37_500.0 / 16.0);
    }
}
