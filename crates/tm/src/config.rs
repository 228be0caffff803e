//! A switch as it is described ([`TmConfig`]) and as it has been checked ([`ValidConfig`]).

use crate::admit::{CompleteSharingConfig, PolicyConfig};
use crate::described::describe;
use crate::mark::MarkConfig;
use crate::rank::RankConfig;
use crate::schedule::SchedulerConfig;
use crate::trim::TrimConfig;
use crate::units::{Bytes, Rate};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Queues a port can have: one word of bits tells which of them wait.
pub const MAX_QUEUES_PER_PORT: usize = 64;
/// Queues in all.
pub const MAX_QUEUES: usize = 1 << 20;
/// The largest buffer: far above any switch, far below what a sum could overflow.
pub const MAX_BUFFER: Bytes = Bytes::new(16_000_000_000_000);

/// Everything that makes a traffic manager. Fields that have no natural default are given to [`TmConfig::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct TmConfig {
    /// The rate of each port.
    pub rates: Vec<Rate>,
    /// `K`: queues per port.
    pub queues: usize,
    /// `B`: the shared buffer.
    pub buffer: Bytes,
    /// `c`: a packet is charged in cells of so many bytes.
    pub cell: Bytes,
    /// Keep every cell as a pointer on a list, as hardware does, instead of counting cells. Changes no verdict.
    pub cell_pointers: bool,
    /// Packets that may wait in one queue.
    pub queue_capacity: Option<usize>,
    /// Who gets the buffer.
    pub policy: PolicyConfig,
    /// Who leaves next.
    pub scheduler: SchedulerConfig,
    /// Where ranks come from.
    pub rank: RankConfig,
    /// Who is marked.
    pub mark: Option<MarkConfig>,
    /// What happens to the rejected.
    pub trim: Option<TrimConfig>,
    /// Where random draws start (RED, intelligent buffer).
    pub seed: u64,
}

describe! {
    TmConfig {
        /// `K`: queues per port.
        queues: usize,
        /// `B`: the shared buffer.
        buffer: Bytes => given "\"9MB\"",
        /// `c`: a packet is charged in cells of so many bytes.
        cell: Bytes,
        /// Whether every cell is a pointer on a list, as in hardware. It changes no verdict.
        cell_pointers: bool,
        /// Packets that may wait in one queue.
        queue_capacity: Option<usize>,
        /// Where random draws start (RED, intelligent buffer).
        seed: u64,
    }
}

impl TmConfig {
    /// A switch with one FIFO queue per port and complete sharing.
    pub fn new(rates: Vec<Rate>, buffer: Bytes) -> Self {
        Self {
            rates,
            queues: 1,
            buffer,
            cell: Bytes::new(1),
            cell_pointers: false,
            queue_capacity: None,
            policy: PolicyConfig::CompleteSharing(CompleteSharingConfig {}),
            scheduler: SchedulerConfig::Fifo,
            rank: RankConfig::Given,
            mark: None,
            trim: None,
            seed: 1,
        }
    }

    /// Checks everything. What comes back need not be checked again.
    pub fn validate(self) -> Result<ValidConfig, ConfigError> {
        if self.rates.is_empty() {
            return Err(ConfigError::new("ports", "0", "a switch needs at least one port").remedy("give 1 or more"));
        }
        if let Some(port) = self.rates.iter().position(|rate| rate.bps() == 0) {
            let field = if self.rates.iter().all(|rate| rate.bps() == 0) { "rate" } else { "ports" };
            return Err(ConfigError::new(field, "0bps", format!("port {port} has no rate")).remedy(Rate::FORMS));
        }
        let total: u128 = self.rates.iter().map(|rate| u128::from(rate.bps())).sum();
        if total > 1 << 60 {
            return Err(ConfigError::new(
                "rate",
                format!("{total} bit/s"),
                "the rates of all ports add up to too much",
            )
            .remedy("keep the sum below 1,000,000Tbps"));
        }
        if !(1..=MAX_QUEUES_PER_PORT).contains(&self.queues) {
            return Err(ConfigError::new("queues", self.queues, "the number of queues per port is out of range")
                .remedy(format!("give 1 to {MAX_QUEUES_PER_PORT}")));
        }
        if self.rates.len() * self.queues > MAX_QUEUES {
            return Err(ConfigError::new("ports", self.rates.len(), "too many queues in all")
                .remedy(format!("keep ports times queues at or below {MAX_QUEUES}")));
        }
        if self.buffer == Bytes::ZERO || self.buffer > MAX_BUFFER {
            return Err(ConfigError::new("buffer", self.buffer, "the buffer is out of range")
                .remedy(format!("give 1B to {MAX_BUFFER}, such as \"9MB\"")));
        }
        if self.cell == Bytes::ZERO || self.cell.get() > 1 << 30 {
            return Err(ConfigError::new("cell", self.cell, "the cell is out of range")
                .remedy("give 1 byte to 1GiB, such as cell = 208"));
        }
        if self.cell_pointers && self.buffer.get() / self.cell.get() >= u64::from(u32::MAX) {
            return Err(ConfigError::new("cell_pointers", "true", "too many cells to keep a pointer for each")
                .remedy("give a larger cell"));
        }
        if self.queue_capacity == Some(0) {
            return Err(ConfigError::new("queue_capacity", 0, "no packet could ever wait").remedy("give 1 or more"));
        }
        self.policy.validate(&self)?;
        self.scheduler.validate(&self)?;
        self.rank.validate(&self)?;
        if let Some(mark) = &self.mark {
            mark.validate(&self)?;
        }
        if let Some(trim) = &self.trim {
            trim.validate(&self)?;
        }
        Ok(ValidConfig(self))
    }
}

/// A configuration that has passed [`TmConfig::validate`].
#[derive(Clone, Debug, PartialEq)]
pub struct ValidConfig(TmConfig);

impl ValidConfig {
    /// Queues in all, `P * K`.
    pub fn total_queues(&self) -> usize {
        self.0.rates.len() * self.0.queues
    }

    /// The configuration as it was given.
    pub fn into_inner(self) -> TmConfig {
        self.0
    }
}

impl core::ops::Deref for ValidConfig {
    type Target = TmConfig;
    fn deref(&self) -> &TmConfig {
        &self.0
    }
}

/// A value given once for all queue numbers, or once for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerQueue<T> {
    /// The same for all.
    All(T),
    /// One for each queue number (or each class).
    Each(Vec<T>),
}

impl<T: Copy> From<Vec<T>> for PerQueue<T> {
    fn from(values: Vec<T>) -> Self {
        if let [value] = *values { Self::All(value) } else { Self::Each(values) }
    }
}

impl<T> From<PerQueue<T>> for Vec<T> {
    fn from(values: PerQueue<T>) -> Self {
        match values {
            PerQueue::All(value) => alloc::vec![value],
            PerQueue::Each(values) => values,
        }
    }
}

impl<T: Copy> PerQueue<T> {
    /// The value for queue number `k`. Panics if a list is too short; [`TmConfig::validate`] sees to it that none is.
    pub fn at(&self, k: usize) -> T {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[k],
        }
    }

    /// The value for class `k`, if there is one.
    pub fn get(&self, k: usize) -> Option<T> {
        match self {
            Self::All(value) => Some(*value),
            Self::Each(values) => values.get(k).copied(),
        }
    }

    /// The values as a slice.
    pub fn values(&self) -> &[T] {
        match self {
            Self::All(value) => core::slice::from_ref(value),
            Self::Each(values) => values,
        }
    }

    /// One value for each of `ports * queues` queues.
    pub(crate) fn spread(&self, config: &TmConfig) -> Vec<T> {
        (0..config.rates.len() * config.queues).map(|i| self.at(i % config.queues)).collect()
    }

    pub(crate) fn check_len(&self, field: &'static str, queues: usize) -> Result<(), ConfigError> {
        match self {
            Self::Each(values) if values.len() != queues => Err(ConfigError::new(
                field,
                format!("a list of {}", values.len()),
                "one value is needed for each queue number",
            )
            .remedy(format!("give one value for all, or a list of {queues}"))),
            _ => Ok(()),
        }
    }
}

impl<T> From<T> for PerQueue<T> {
    fn from(value: T) -> Self {
        Self::All(value)
    }
}

/// What is wrong with a configuration, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The key, with its table: `policy.alpha`.
    pub field: &'static str,
    /// The value that was given.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
    /// What would be right.
    pub remedy: String,
}

impl ConfigError {
    /// A setting by its key in files, with its value and what is wrong with it.
    #[allow(clippy::needless_pass_by_value, reason = "callers give numbers and literals")]
    pub fn new(field: &'static str, value: impl ToString, problem: impl Into<String>) -> Self {
        Self { field, value: value.to_string(), problem: problem.into(), remedy: String::new() }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}; {}", self.field, self.value, self.problem, self.remedy)
    }
}

impl core::error::Error for ConfigError {}

/// Checks a factor of a threshold: a finite number, zero or more.
pub(crate) fn check_alpha(field: &'static str, alpha: f64) -> Result<(), ConfigError> {
    if alpha.is_finite() && alpha >= 0.0 {
        return Ok(());
    }
    let problem = if alpha.is_nan() {
        "this is not a number"
    } else if alpha < 0.0 {
        "a threshold cannot be negative"
    } else {
        "a threshold must be finite"
    };
    Err(ConfigError::new(field, alpha, problem).remedy("give a finite number, 0 or more, such as 1.0"))
}

/// Checks a list of alphas, one for all or one per queue number.
pub(crate) fn check_alphas(alpha: &PerQueue<f64>, queues: usize) -> Result<(), ConfigError> {
    alpha.check_len("policy.alpha", queues)?;
    alpha.values().iter().try_for_each(|alpha| check_alpha("policy.alpha", *alpha))
}

/// Checks that a span of time is not zero.
pub(crate) fn check_span(field: &'static str, span: crate::units::Duration) -> Result<(), ConfigError> {
    if span.ps() == 0 {
        return Err(
            ConfigError::new(field, span, "it must be longer than nothing").remedy("give a time such as \"10us\"")
        );
    }
    Ok(())
}

/// Checks a share in [0, 1).
pub(crate) fn check_share(field: &'static str, share: f64) -> Result<(), ConfigError> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    Err(ConfigError::new(field, share, "it must be at least 0 and less than 1").remedy("give a share such as 0.1"))
}

/// Priority groups of queue numbers: which group each of `queues` queue numbers is in. `None` puts each in its own.
pub(crate) fn group_of(
    field: &'static str,
    groups: Option<&Vec<Vec<usize>>>,
    queues: usize,
) -> Result<Vec<usize>, ConfigError> {
    let Some(groups) = groups else {
        return Ok((0..queues).collect());
    };
    let shown = format!("{groups:?}");
    let remedy = format!("name each of the queue numbers 0 to {} exactly once", queues - 1);
    let mut of = vec![None; queues];
    for (group, members) in groups.iter().enumerate() {
        if members.is_empty() {
            return Err(ConfigError::new(field, shown, format!("group {group} is empty")).remedy(remedy));
        }
        for &k in members {
            match of.get_mut(k) {
                None => {
                    return Err(ConfigError::new(field, shown, format!("there is no queue number {k}")).remedy(remedy));
                }
                Some(Some(_)) => {
                    return Err(
                        ConfigError::new(field, shown, format!("queue number {k} is in two places")).remedy(remedy)
                    );
                }
                Some(place) => *place = Some(group),
            }
        }
    }
    of.iter()
        .enumerate()
        .map(|(k, group)| {
            group.ok_or_else(|| {
                ConfigError::new(field, shown.clone(), format!("queue number {k} is in no group"))
                    .remedy(remedy.clone())
            })
        })
        .collect()
}
