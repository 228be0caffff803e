//! Trimming with meters at ingress, deflection, and a control loop between them (packet trimming, sections 4 and 5).

use super::{Facts, Image, ProgramError, checked, single_rate, within_ranges};
use crate::{MeterConfig, Target};
use forebay_tm::described::{Kind, Nanoseconds, Setting, Value, Wrong};
use forebay_tm::{Bytes, Duration, describe, words};

/// Which program does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The stand-alone router: three meters and two times for each port.
    #[default]
    Router,
    /// The form that fits a production switch: two meters, one time of 32 bits.
    Sonic,
}

/// Who is told that a port is congested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// All pipelines.
    #[default]
    All,
    /// The pipeline that saw the deflected packet.
    One,
    /// Nobody: meters and deflection only.
    Nobody,
}

words! {
    Notify { All = "all", One = "one", Nobody = "nobody" }
}

/// Settings of trimming.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimProgram {
    /// Default: the router.
    pub form: Form,
    /// How long a port is pessimistic after a notification. Default 6 us.
    pub pessimistic: Duration,
    /// How long it is half-pessimistic afterwards. Default three times as long; 0: not at all.
    pub half: Option<Duration>,
    /// Pipelines in pessimistic mode let through this share of a port's rate, in thousandths. Default: one over the
    /// number of pipelines; 0: they trim all.
    pub share: Option<u64>,
    /// Default: all.
    pub notify: Notify,
    /// Bytes that the meters let through at once. Default 15,000, ten packets, as much as the queue holds.
    pub burst: Bytes,
    /// The queue for headers. Default 0.
    pub header_queue: u64,
}

describe! {
    TrimProgram {
        /// How long a port is pessimistic after a notification.
        pessimistic: Duration as Nanoseconds,
        /// How long it is half-pessimistic afterwards; three times as long by default, `"0us"`: not at all.
        half: Option<Duration> as OptionalNanoseconds,
        /// The share of a port's rate that a pipeline lets through in pessimistic mode, in steps of a thousandth; 1
        /// over the number of pipelines by default, 0: trim all.
        share: Option<u64> as Thousandths; is_share,
        /// Who is told that a port is congested: all pipelines, the one that saw the deflected packet, or nobody, so
        /// that meters and deflection are all. `trim-sonic` knows `"all"` only.
        notify: Notify,
        /// Bytes that the meters let through at once.
        burst: Bytes,
    }
}

fn is_share(share: &Option<u64>) -> Result<(), Wrong> {
    if share.is_none_or(|share| share <= 1_000) {
        return Ok(());
    }
    Err(Wrong::new("this is no share of a port's rate", "give 0 to 1"))
}

/// A time in whole nanoseconds, or none.
#[derive(Clone, Copy, Debug)]
pub struct OptionalNanoseconds(Option<Duration>);

impl From<Option<Duration>> for OptionalNanoseconds {
    fn from(time: Option<Duration>) -> Self {
        Self(time)
    }
}

impl From<OptionalNanoseconds> for Option<Duration> {
    fn from(time: OptionalNanoseconds) -> Self {
        time.0
    }
}

impl Setting for OptionalNanoseconds {
    const KIND: Kind = Kind::Nanoseconds;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        self.0.value()
    }

    fn from_value(value: Value) -> Option<Self> {
        let time = Option::<Nanoseconds>::from_value(value)?;
        Some(Self(time.map(Duration::from)))
    }
}

/// A number of thousandths, in files a real number; what is no number of them is [`u64::MAX`], which the check refuses.
#[derive(Clone, Copy, Debug)]
pub struct Thousandths(Option<u64>);

impl From<Option<u64>> for Thousandths {
    fn from(share: Option<u64>) -> Self {
        Self(share)
    }
}

impl From<Thousandths> for Option<u64> {
    fn from(share: Thousandths) -> Self {
        share.0
    }
}

impl Setting for Thousandths {
    const KIND: Kind = Kind::Real;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        self.0.map(|share| share as f64 / 1_000.0).value()
    }

    fn from_value(value: Value) -> Option<Self> {
        let share = Option::<f64>::from_value(value)?;
        let thousandths = |share: f64| if share >= 0.0 { (share * 1_000.0).round() as u64 } else { u64::MAX };
        Some(Self(share.map(thousandths)))
    }
}

impl Default for TrimProgram {
    fn default() -> Self {
        Self {
            form: Form::Router,
            pessimistic: Duration::from_us(6),
            half: None,
            share: None,
            notify: Notify::All,
            burst: Bytes::new(15_000),
            header_queue: 0,
        }
    }
}

impl TrimProgram {
    pub(super) fn text_name(&self) -> &'static str {
        match self.form {
            Form::Router => "trim",
            Form::Sonic => "trim-sonic",
        }
    }

    /// How long a port is half-pessimistic.
    pub fn half(&self) -> Duration {
        self.half.unwrap_or(Duration::from_ps(self.pessimistic.ps().saturating_mul(3)))
    }

    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        within_ranges(self)?;
        let rate = one_rate(facts)?;
        let burst = self.burst.get();
        let response = self.pessimistic.ps().saturating_add(self.half().ps()) / 1_000;
        if response >= 1 << 31 {
            let problem = format!("{response} ns do not fit half of a 32-bit clock");
            return Err(ProgramError::Option("half", problem, "give less than 2 s in all".to_owned()));
        }
        let share = self.share.unwrap_or(1_000 / facts.pipelines as u64);
        let least = (u128::from(rate) * u128::from(share) / 1_000) as u64;
        let least = single_rate(least, if share == 0 { 0 } else { burst });
        let shared = [
            ("ports", facts.ports() as u64),
            ("pessimistic_time", self.pessimistic.ps() / 1_000),
            ("response_time", response),
            ("header_queue", self.header_queue),
        ];
        let mut program = match self.form {
            Form::Router => {
                let tell = [
                    ("tell_all", u64::from(self.notify == Notify::All)),
                    ("respond", u64::from(self.notify != Notify::Nobody)),
                ];
                checked("trim", target, &[shared.as_slice(), &tell].concat())?
            }
            Form::Sonic if self.notify == Notify::All => checked("trim-sonic", target, &shared)?,
            Form::Sonic => {
                let problem = "the form of the production switch tells all pipelines".to_owned();
                return Err(ProgramError::Option("notify", problem, "give notify = \"all\"".to_owned()));
            }
        };
        match self.form {
            Form::Router => {
                program.set_meter("full_rate", single_rate(rate, burst))?;
                program.set_meter("half_rate", single_rate(rate / 2, burst))?;
                program.set_meter("least_rate", least)?;
            }
            Form::Sonic => {
                let opti = MeterConfig { committed: rate / 2, peak: rate, committed_burst: burst, peak_burst: burst };
                program.set_meter("opti", opti)?;
                program.set_meter("pessi", least)?;
            }
        }
        Ok(Image { program, generators: Vec::new() })
    }
}

/// The rate of all ports: the meters of a program are set for all ports alike.
pub(super) fn one_rate(facts: &Facts) -> Result<u64, ProgramError> {
    let rate = facts.rates.first().copied().unwrap_or(0);
    if facts.rates.iter().all(|other| *other == rate) {
        return Ok(rate);
    }
    let problem = "its meters are set for one rate, and ports have different ones".to_owned();
    Err(ProgramError::Option("switch.program", problem, "give all cables of the switch the same rate".to_owned()))
}
