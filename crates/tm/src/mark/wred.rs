//! WRED as SONiC's profiles have it: RED with thresholds of its own for each colour, each queue number with its own
//! profile.
//!
//! A packet of a colour is hit with a probability that grows linearly from 0 at the colour's `min` to its `probability`
//! just below its `max`, and with certainty from `max` on. The length is that of the queue before the packet joins. A
//! packet that is hit is marked if it is ECN-capable and its colour is among `mark`; else it is dropped if its colour
//! is among `drop`; else nothing happens to it.

use super::{ActiveRule, MarkAction, MarkSettings, MarkingRule};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig};
use crate::described::{settings, words};
use crate::packet::{Colour, Packet};
use crate::random::Random;
use crate::units::{Bytes, Instant};
use alloc::format;
use alloc::vec::Vec;

/// A set of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colours {
    /// None.
    #[default]
    None,
    /// Green.
    Green,
    /// Yellow.
    Yellow,
    /// Red.
    Red,
    /// Green and yellow.
    GreenYellow,
    /// Green and red.
    GreenRed,
    /// Yellow and red.
    YellowRed,
    /// All three.
    All,
}

words!(Colours {
    None = "none",
    Green = "green",
    Yellow = "yellow",
    Red = "red",
    GreenYellow = "green-yellow",
    GreenRed = "green-red",
    YellowRed = "yellow-red",
    All = "all",
});

impl Colours {
    /// Green, yellow, red: whether each is among them.
    pub const fn each(self) -> [bool; 3] {
        match self {
            Self::None => [false, false, false],
            Self::Green => [true, false, false],
            Self::Yellow => [false, true, false],
            Self::Red => [false, false, true],
            Self::GreenYellow => [true, true, false],
            Self::GreenRed => [true, false, true],
            Self::YellowRed => [false, true, true],
            Self::All => [true, true, true],
        }
    }

    /// Those for which the answer is yes.
    pub const fn of(green: bool, yellow: bool, red: bool) -> Self {
        match (green, yellow, red) {
            (false, false, false) => Self::None,
            (true, false, false) => Self::Green,
            (false, true, false) => Self::Yellow,
            (false, false, true) => Self::Red,
            (true, true, false) => Self::GreenYellow,
            (true, false, true) => Self::GreenRed,
            (false, true, true) => Self::YellowRed,
            (true, true, true) => Self::All,
        }
    }
}

settings! {
    /// Settings of WRED.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WredConfig {
        /// Whether the rule holds for a queue number.
        pub on: PerQueue<bool> = PerQueue::All(true),
        /// Below this length no green packet is hit.
        pub green_min: PerQueue<Bytes> = PerQueue::All(Bytes::new(30_000)) => given,
        /// From this length on every green packet is.
        pub green_max: PerQueue<Bytes> = PerQueue::All(Bytes::new(90_000)) => given,
        /// The probability of green packets just below `green_max`.
        pub green_probability: PerQueue<f64> = PerQueue::All(1.0),
        /// The same of yellow packets; without it, that of green ones.
        pub yellow_min: Option<PerQueue<Bytes>> = None,
        /// The same of yellow packets; without it, that of green ones.
        pub yellow_max: Option<PerQueue<Bytes>> = None,
        /// The same of yellow packets; without it, that of green ones.
        pub yellow_probability: Option<PerQueue<f64>> = None,
        /// The same of red packets; without it, that of green ones.
        pub red_min: Option<PerQueue<Bytes>> = None,
        /// The same of red packets; without it, that of green ones.
        pub red_max: Option<PerQueue<Bytes>> = None,
        /// The same of red packets; without it, that of green ones.
        pub red_probability: Option<PerQueue<f64>> = None,
        /// The colours whose ECN-capable packets are marked.
        pub mark: PerQueue<Colours> = PerQueue::All(Colours::All),
        /// The colours whose packets are dropped if they are not marked.
        pub drop: PerQueue<Colours> = PerQueue::All(Colours::None),
    }
}

/// The rule of one colour at one queue number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rule {
    min: f64,
    max: f64,
    probability: f64,
    marks: bool,
    drops: bool,
}

impl MarkSettings for WredConfig {
    fn start(&self, switch: &ValidConfig) -> ActiveRule {
        Wred::new(self, switch).into()
    }

    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        self.check_lengths(switch.queues)?;
        self.check_order(switch.queues)
    }
}

impl WredConfig {
    fn check_lengths(&self, queues: usize) -> Result<(), ConfigError> {
        self.on.check_len("ecn.on", queues)?;
        self.mark.check_len("ecn.mark", queues)?;
        self.drop.check_len("ecn.drop", queues)?;
        let sizes = [
            ("ecn.green_min", Some(&self.green_min)),
            ("ecn.green_max", Some(&self.green_max)),
            ("ecn.yellow_min", self.yellow_min.as_ref()),
            ("ecn.yellow_max", self.yellow_max.as_ref()),
            ("ecn.red_min", self.red_min.as_ref()),
            ("ecn.red_max", self.red_max.as_ref()),
        ];
        for (field, sizes) in sizes {
            sizes.map_or(Ok(()), |sizes| sizes.check_len(field, queues))?;
        }
        let probabilities = [
            ("ecn.green_probability", Some(&self.green_probability)),
            ("ecn.yellow_probability", self.yellow_probability.as_ref()),
            ("ecn.red_probability", self.red_probability.as_ref()),
        ];
        for (field, probabilities) in probabilities {
            let Some(probabilities) = probabilities else { continue };
            probabilities.check_len(field, queues)?;
            if let Some(wrong) = probabilities.values().iter().find(|value| !(0.0..=1.0).contains(*value)) {
                let error = ConfigError::new(field, wrong, "a probability is between 0 and 1");
                return Err(error.remedy("give a number such as 0.05"));
            }
        }
        Ok(())
    }

    fn check_order(&self, queues: usize) -> Result<(), ConfigError> {
        for number in 0..queues {
            let inverted = |colour: &Colour| self.rule(number, *colour).max < self.rule(number, *colour).min;
            if let Some(colour) = Colour::ALL.iter().find(|colour| inverted(colour)) {
                let Rule { min, max, .. } = self.rule(number, *colour);
                let field = ["ecn.green_max", "ecn.yellow_max", "ecn.red_max"][*colour as usize];
                let problem = format!("it is below the min of queue {number}, {min}");
                return Err(ConfigError::new(field, max, problem).remedy("give a max that is at least min"));
            }
        }
        Ok(())
    }

    fn rule(&self, number: usize, colour: Colour) -> Rule {
        let of = |own: &Option<PerQueue<Bytes>>, green: &PerQueue<Bytes>| own.as_ref().unwrap_or(green).at(number);
        let chance = |own: &Option<PerQueue<f64>>| own.as_ref().unwrap_or(&self.green_probability).at(number);
        let (min, max, probability) = match colour {
            Colour::Green => (self.green_min.at(number), self.green_max.at(number), self.green_probability.at(number)),
            Colour::Yellow => (
                of(&self.yellow_min, &self.green_min),
                of(&self.yellow_max, &self.green_max),
                chance(&self.yellow_probability),
            ),
            Colour::Red => {
                (of(&self.red_min, &self.green_min), of(&self.red_max, &self.green_max), chance(&self.red_probability))
            }
        };
        let is_on = self.on.at(number);
        Rule {
            min: min.as_f64(),
            max: max.as_f64(),
            probability,
            marks: is_on && self.mark.at(number).each()[colour as usize],
            drops: is_on && self.drop.at(number).each()[colour as usize],
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Wred {
    /// Per queue number: green, yellow, red.
    rules: Vec<[Rule; 3]>,
    random: Random,
}

impl Wred {
    pub(super) fn new(config: &WredConfig, switch: &ValidConfig) -> Self {
        Self {
            rules: (0..switch.queues).map(|number| Colour::ALL.map(|colour| config.rule(number, colour))).collect(),
            random: Random::stream(switch.seed, "wred", 0),
        }
    }

    /// What happens to a packet that finds so many bytes in its queue.
    fn judge_at(&mut self, queue: usize, packet: &Packet, length: u64) -> Option<MarkAction> {
        let rule = self.rules[queue % self.rules.len()][packet.colour as usize];
        let action = match (rule.marks, rule.drops) {
            (true, true) => MarkAction::MarkOrDrop,
            (false, true) => MarkAction::Drop,
            (true, false) if packet.ect => MarkAction::Mark,
            (_, false) => return None,
        };
        let length = length as f64;
        if length < rule.min {
            return None;
        }
        let probability = rule.probability * (length - rule.min) / (rule.max - rule.min);
        let is_hit = length >= rule.max || (probability > 0.0 && self.random.unit() < probability);
        is_hit.then_some(action)
    }
}

impl MarkingRule for Wred {
    fn judge(&mut self, _: Instant, queue: usize, packet: &Packet, buffer: &Buffer) -> Option<MarkAction> {
        self.judge_at(queue, packet, buffer.length(queue))
    }

    fn inherit(&mut self, earlier: &Self) {
        self.random = earlier.random.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TmConfig;
    use crate::schedule::SchedulerConfig;
    use crate::units::Rate;
    use alloc::vec;

    #[test]
    fn colours_have_thresholds_of_their_own_at_each_queue() {
        let mut switch = TmConfig::new(vec![Rate::from_gbps(8)], Bytes::new(1_000_000));
        (switch.queues, switch.scheduler) = (2, SchedulerConfig::RoundRobin);
        let config = WredConfig {
            on: PerQueue::Each(vec![true, false]),
            green_probability: PerQueue::All(0.5),
            yellow_min: Some(PerQueue::All(Bytes::new(10_000))),
            yellow_max: Some(PerQueue::All(Bytes::new(20_000))),
            red_min: Some(PerQueue::All(Bytes::ZERO)),
            red_max: Some(PerQueue::All(Bytes::ZERO)),
            mark: PerQueue::All(Colours::GreenYellow),
            drop: PerQueue::All(Colours::YellowRed),
            ..WredConfig::default()
        };
        let mut wred = Wred::new(&config, &switch.validate().unwrap());
        let judge = |wred: &mut Wred, queue, length, packet: &Packet| wred.judge_at(queue, packet, length);
        let packet = |colour, ect| Packet { colour, ect, ..Packet::default() };
        // Red packets are dropped always, ECN-capable or not; at the other queue nothing happens.
        assert_eq!(judge(&mut wred, 0, 0, &packet(Colour::Red, true)), Some(MarkAction::Drop));
        assert_eq!(judge(&mut wred, 1, 900_000, &packet(Colour::Red, true)), None);
        // Yellow ones are marked if they can be.
        for ect in [true, false] {
            let yellow = packet(Colour::Yellow, ect);
            assert_eq!(judge(&mut wred, 0, 20_000, &yellow), Some(MarkAction::MarkOrDrop));
            assert_eq!(judge(&mut wred, 0, 9_999, &yellow), None);
        }
        // Green ones are marked or left alone.
        assert_eq!(judge(&mut wred, 0, 90_000, &packet(Colour::Green, false)), None);
        let mut hits = |length| {
            let hit = |wred: &mut Wred| judge(wred, 0, length, &packet(Colour::Green, true)) == Some(MarkAction::Mark);
            (0..20_000).filter(|_| hit(&mut wred)).count() as f64 / 20_000.0
        };
        assert_eq!(hits(29_999), 0.0);
        assert!((hits(60_000) - 0.25).abs() < 0.02);
        assert_eq!(hits(90_000), 1.0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut switch = TmConfig::new(vec![Rate::from_gbps(8)], Bytes::new(1_000_000));
        let mut field = |config: WredConfig| {
            switch.mark = Some(super::super::MarkConfig::Wred(config));
            switch.clone().validate().unwrap_err().field
        };
        let three = PerQueue::Each(vec![Bytes::new(1); 3]);
        let inverted = Some(PerQueue::All(Bytes::new(1)));
        assert_eq!(field(WredConfig { green_min: three.clone(), ..WredConfig::default() }), "ecn.green_min");
        assert_eq!(field(WredConfig { red_max: Some(three), ..WredConfig::default() }), "ecn.red_max");
        assert_eq!(field(WredConfig { red_max: inverted, ..WredConfig::default() }), "ecn.red_max");
        let certain = Some(PerQueue::All(1.5));
        assert_eq!(
            field(WredConfig { yellow_probability: certain, ..WredConfig::default() }),
            "ecn.yellow_probability"
        );
    }
}
