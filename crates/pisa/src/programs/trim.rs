//! Trimming with meters at ingress, deflection, and a control loop between them (packet trimming, sections 4 and 5).

use super::{Facts, Image, ProgramError, checked, single_rate};
use crate::{MeterConfig, Target};

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

/// Settings of trimming.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimProgram {
    /// Default: the router.
    pub form: Form,
    /// How long a port is pessimistic after a notification, in ns. Default 6 us.
    pub pessimistic: u64,
    /// How long it is half-pessimistic afterwards, in ns. Default three times as long, 18 us; 0: not at all.
    pub half: u64,
    /// Pipelines in pessimistic mode let through this share of a port's rate, in thousandths. Default: one over the number of
    /// pipelines; 0: they trim all.
    pub share: Option<u64>,
    /// Default: all.
    pub notify: Notify,
    /// Bytes that the meters let through at once. Default 15,000, ten packets, as much as the queue holds.
    pub burst: u64,
    /// The queue for headers. Default 0.
    pub header_queue: u64,
}

impl Default for TrimProgram {
    fn default() -> Self {
        Self {
            form: Form::Router,
            pessimistic: 6_000,
            half: 18_000,
            share: None,
            notify: Notify::All,
            burst: 15_000,
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

    pub(super) fn load(&self, target: &Target, facts: &Facts) -> Result<Image, ProgramError> {
        let rate = one_rate(facts)?;
        let response = self.pessimistic + self.half;
        if response >= 1 << 31 {
            let problem = format!("{response} ns do not fit half of a 32-bit clock");
            return Err(ProgramError::Option("program.half", problem, "give less than 2 s in all".to_owned()));
        }
        let share = self.share.unwrap_or(1_000 / facts.pipelines as u64);
        let least = (u128::from(rate) * u128::from(share) / 1_000) as u64;
        let least = single_rate(least, if share == 0 { 0 } else { self.burst });
        let shared = [
            ("ports", facts.ports() as u64),
            ("pessimistic_time", self.pessimistic),
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
                return Err(ProgramError::Option("program.notify", problem, "give notify = \"all\"".to_owned()));
            }
        };
        match self.form {
            Form::Router => {
                program.set_meter("full_rate", single_rate(rate, self.burst))?;
                program.set_meter("half_rate", single_rate(rate / 2, self.burst))?;
                program.set_meter("least_rate", least)?;
            }
            Form::Sonic => {
                let opti = MeterConfig {
                    committed: rate / 2,
                    peak: rate,
                    committed_burst: self.burst,
                    peak_burst: self.burst,
                };
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
