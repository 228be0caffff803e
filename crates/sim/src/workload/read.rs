//! The `[[workload]]` tables of a scenario.

use super::load::{Busiest, Overload, overload, percent};
use super::pattern::Pattern;
use super::read_hosts::HostReader;
use super::read_sizes::{size, sizes};
use super::{SizeDistribution, WorkloadConfig, WorkloadContext, WorkloadEntry};
use crate::transport::Common;
use forebay_settings::{Diagnostic, Table, Value, nearest};
use forebay_tm::described::{Field, Kind};
use forebay_tm::units::PS_PER_SECOND;
use forebay_tm::{Bytes, Duration, Instant};

/// The keys that every workload has.
pub(crate) const COMMON: &[Field] = &[
    Field::needed("kind", Kind::Special("kind"), "What it does: below."),
    Field::optional(
        "name",
        Kind::Text,
        "What results call it; default the kind, with the workload's number if it is taken.",
    ),
    Field::optional("class", Kind::Count, "The class of its flows; default 0."),
    Field::optional(
        "transport",
        Kind::Text,
        "The transport of its flows; needed unless `[transport.*]` has exactly one.",
    ),
    Field::optional("start", Kind::Duration, "Flows start from here; default 0."),
    Field::optional("stop", Kind::Duration, "Flows start before this; default `duration`."),
];

/// A workload that would start more flows than this is refused: its plan alone would fill gigabytes.
const MOST_FLOWS: f64 = 5e7;

/// Reads one `[[workload]]` table.
pub fn read(table: &Table<'_>, context: &WorkloadContext<'_>) -> Result<WorkloadConfig, Diagnostic> {
    let entries = super::entries();
    let words: Vec<(&str, WorkloadEntry)> = entries.iter().map(|entry| (entry.name, *entry)).collect();
    let value = table.need("kind", "kind = \"poisson\"")?;
    let entry = value.word(&words)?;
    let elsewhere = |key: &str| entries.iter().any(|other| other.fields().any(|field| field.key == key));
    let known: Vec<&str> = COMMON.iter().chain(entry.fields()).map(|field| field.key).collect();
    table.allow(&known, elsewhere, entry.name)?;

    let mut reader = Reader { table, context, hosts: HostReader::new(context), transport: 0, span: Duration::ZERO };
    let start = Instant::ZERO + reader.duration("start", Duration::ZERO)?;
    let stop = Instant::ZERO + reader.duration("stop", context.duration)?;
    if stop <= start {
        let place = reader.first(&["stop", "start"]).unwrap_or(value);
        let problem = format!("the workload stops at {stop}, which is not after its start at {start}");
        return Err(place.error(problem, "give an earlier start, a later stop or a longer duration"));
    }
    let class = reader.class()?;
    let classes = reader.classes(class)?;
    reader.transport = reader.transport()?;
    reader.span = stop.since(start);
    let config = WorkloadConfig {
        name: table.get("name").map_or(Ok(entry.name), |value| value.text())?.to_owned(),
        class,
        classes,
        transport: reader.transport,
        start,
        stop,
        allow_overload: reader.optional("allow_overload", false, Value::boolean)?,
        kind: (entry.read)(&reader, entry.name)?,
    };
    reader.check_load(&config)?;
    reader.check_count(&config)?;
    Ok(config)
}

/// Reads the keys of one table.
pub struct Reader<'a, 'd> {
    /// The table.
    pub table: &'a Table<'d>,
    /// What is known of the scenario.
    pub context: &'a WorkloadContext<'a>,
    pub(super) hosts: HostReader<'a>,
    transport: u16,
    /// From the start of the workload until it stops.
    pub span: Duration,
}

impl<'d> Reader<'_, 'd> {
    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Value<'d>> {
        self.table.get(key)
    }

    /// A key that may be left out.
    pub fn optional<T>(
        &self,
        key: &str,
        otherwise: T,
        read: impl FnOnce(&Value<'d>) -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        self.get(key).map_or(Ok(otherwise), |value| read(&value))
    }

    /// A time that may be left out.
    pub fn duration(&self, key: &str, otherwise: Duration) -> Result<Duration, Diagnostic> {
        self.optional(key, otherwise, Value::duration)
    }

    /// A period, if it is there.
    pub fn every(&self) -> Result<Option<Duration>, Diagnostic> {
        self.optional("every", None, |value| period(value).map(Some))
    }

    /// The size of a flow, which must be there.
    pub fn need_size(&self, key: &str) -> Result<Bytes, Diagnostic> {
        size(&self.table.need(key, &format!("{key} = \"2MB\""))?)
    }

    /// A count of at least 1.
    pub fn count(&self, key: &str, otherwise: u32) -> Result<u32, Diagnostic> {
        self.optional(key, otherwise, |value| match value.number()? {
            0 => Err(value.error("0 is not enough", "give at least 1")),
            count => Ok(count),
        })
    }

    fn class(&self) -> Result<u8, Diagnostic> {
        let queues = self.context.queues;
        self.optional("class", 0, |value| match value.integer()? {
            class if class < queues.min(256) as u64 => Ok(class as u8),
            class => {
                let problem = format!("there is no class {class}: a port has {queues} queues");
                Err(value.error(problem, format!("give 0 to {}, or more queues", queues.saturating_sub(1))))
            }
        })
    }

    /// How many classes the flows are spread over, from `first` on: a number, or all of them.
    fn classes(&self, first: u8) -> Result<u8, Diagnostic> {
        let left = self.context.queues.min(256).saturating_sub(usize::from(first)).clamp(1, 255);
        self.optional("classes", 1, |value| match value.integer() {
            Err(_) => value.word(&[("all", left as u8)]),
            Ok(0) => Err(value.error("0 is not enough", "give at least 1")),
            Ok(classes) if classes <= left as u64 => Ok(classes as u8),
            Ok(classes) => {
                let problem = format!("there are no {classes} classes from {first} on");
                Err(value.error(problem, format!("give 1 to {left}, or more queues")))
            }
        })
    }

    fn transport(&self) -> Result<u16, Diagnostic> {
        let transports = self.context.transports;
        match (self.get("transport"), transports) {
            (None, [_]) => Ok(0),
            (None, _) => {
                let example = transports.first().map_or("dctcp", |(name, _)| name.as_str());
                Err(self.table.missing("transport", &format!("transport = \"{example}\"")))
            }
            (Some(value), _) => {
                let text = value.text()?;
                let names: Vec<&str> = transports.iter().map(|(name, _)| name.as_str()).collect();
                names.iter().position(|name| *name == text).map(|index| index as u16).ok_or_else(|| {
                    let remedy = match nearest(text, &names) {
                        Some(meant) => format!("did you mean \"{meant}\"?"),
                        None if names.is_empty() => "describe a transport first".to_owned(),
                        None => format!("give one of \"{}\"", names.join("\", \"")),
                    };
                    value.error(format!("there is no transport \"{text}\""), remedy)
                })
            }
        }
    }

    /// Hosts that do something together: at least two.
    pub fn group(&self) -> Result<Option<Vec<u32>>, Diagnostic> {
        let hosts = self.hosts.hosts(self.table, "hosts")?;
        let count = hosts.as_ref().map_or(self.hosts.racks.hosts() as usize, Vec::len);
        match self.get("hosts").or_else(|| self.get("kind")) {
            Some(value) if count < 2 => Err(value.error("this takes at least two hosts", "give more hosts")),
            _ => Ok(hosts),
        }
    }

    /// The value of the first of these keys that is there.
    fn first(&self, keys: &[&str]) -> Option<Value<'d>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// Refuses a load that no link can carry.
    fn check_load(&self, config: &WorkloadConfig) -> Result<(), Diagnostic> {
        let found = overload(std::slice::from_ref(config), self.context.network, self.context.transports);
        match (found, self.first(&["load", "rate", "rate_per_host", "period"])) {
            (Some(Overload { busiest: Busiest { link, load }, .. }), Some(value)) => {
                let problem = format!("{link} would have to carry {} of the rate, headers included", percent(load));
                Err(value.error(problem, "give less, or allow_overload = true"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a plan that no memory can hold.
    fn check_count(&self, config: &WorkloadConfig) -> Result<(), Diagnostic> {
        let flows = config.kind.expected_flows(self);
        match self.first(&["load", "rate", "rate_per_host", "every", "period", "count", "sessions", "kind"]) {
            Some(value) if flows.is_nan() || flows > MOST_FLOWS => {
                let remedy = format!("give a lower rate or a shorter time: at most {MOST_FLOWS:.0}");
                Err(value.error(format!("this workload would have some {flows:.0} flows"), remedy))
            }
            _ => Ok(()),
        }
    }

    /// A set of hosts, as people write them; `None`, which is all hosts, if it is not there.
    pub fn hosts(&self, key: &str) -> Result<Option<Vec<u32>>, Diagnostic> {
        self.hosts.hosts(self.table, key)
    }

    /// `pattern`, `from` and `to`: somebody must be able to send.
    pub fn pattern(&self) -> Result<Pattern, Diagnostic> {
        self.hosts.pattern(self.table)
    }

    /// A distribution of sizes, which must be there, with `interpolation` beside it.
    pub fn sizes(&self, key: &str) -> Result<SizeDistribution, Diagnostic> {
        sizes(self.table, key, self.context)
    }

    /// Seconds from the start of the workload until it stops.
    pub fn seconds(&self) -> f64 {
        self.span.ps() as f64 / PS_PER_SECOND as f64
    }

    /// How many hosts are in a set.
    pub fn members(&self, hosts: &Option<Vec<u32>>) -> f64 {
        hosts.as_ref().map_or(f64::from(self.hosts.racks.hosts()), |hosts| hosts.len() as f64)
    }

    /// How many rounds start with a period; one without.
    pub fn rounds(&self, every: Option<Duration>) -> f64 {
        every.map_or(1.0, |every| (self.span.ps() as f64 / every.ps() as f64).ceil())
    }

    /// The packets of the workload's transport.
    pub(super) fn packets(&self) -> &Common {
        &self.context.transports[usize::from(self.transport)].1.common
    }
}

/// A number above zero.
pub(super) fn positive(value: &Value<'_>) -> Result<f64, Diagnostic> {
    let number = value.real()?;
    if number > 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err(value.error(format!("{number} is not above 0"), "give a number above 0"))
    }
}

/// A time above zero.
pub(super) fn period(value: &Value<'_>) -> Result<Duration, Diagnostic> {
    let span = value.duration()?;
    if span == Duration::ZERO {
        return Err(value.error("the time between two of them is 0", "give a time such as \"1ms\""));
    }
    Ok(span)
}
