//! The table `[measure]`.

use super::{MeasureSetup, Scenario, read_failure};
use crate::network::NetworkPlan;
use crate::workload::WorkloadConfig;
use forebay_settings::{Diagnostic, Table, Value as FileValue, read_settings, setting_keys};
use forebay_tm::described::{Kind, Setting, Value, Wrong};
use forebay_tm::{Duration, settings};

settings! {
    /// The table as files have it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MeasureKeys {
        /// The warm-up: flows and queries that start before, and what buffers and links do before, are in no summary
        /// ([results.md](results.md)).
        pub from: Duration = Duration::ZERO,
        /// How often the occupancy of all buffers, ports and queues is sampled; at least 1 ns.
        pub sample: Duration = Duration::from_us(10); not_too_often,
        /// Where the completion time of every flow went is kept, part by part and hop by hop.
        pub breakdown: bool = false,
        /// The most drops that are kept; the counters have all.
        pub drops_limit: u32 = 500_000,
        /// Switches whose samples are kept.
        pub timeline: Chosen = Chosen::default(),
        /// Switches of which the samples of every queue are kept.
        pub queues: Chosen = Chosen::default(),
        /// Switches whose drops are kept one by one, with who held the buffer.
        pub drops: Chosen = Chosen::default(),
        /// Switches where all packets are traced.
        pub trace_switches: Chosen = Chosen::default(),
        /// Names of workloads whose flows' received bytes are sampled.
        pub progress: Chosen = Chosen::default(),
        /// Flows whose packets are traced, by their numbers in the order of their starts; not those of closed-loop
        /// clients.
        pub trace_flows: Vec<u32> = Vec::new(),
    }
}

fn not_too_often(sample: &Duration) -> Result<(), Wrong> {
    if *sample >= Duration::from_ps(1_000) {
        return Ok(());
    }
    Err(Wrong::new("this is too often", "give 1ns or more, such as \"10us\""))
}

/// Some switches or workloads by their names, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    All,
    These(Vec<String>),
}

impl Default for Chosen {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

impl Setting for Chosen {
    const KIND: Kind = Kind::Or(&<Vec<String>>::KIND, &["all"]);

    fn value(&self) -> Value {
        match self {
            Self::All => Value::Word("all"),
            Self::These(names) => names.value(),
        }
    }

    fn from_value(value: Value) -> Option<Self> {
        if value == Value::Word("all") { Some(Self::All) } else { Vec::from_value(value).map(Self::These) }
    }
}

impl Chosen {
    /// Those of some names; all, if these are all.
    fn of<'a>(chosen: &[usize], names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        if chosen.len() == names.len() {
            return Self::All;
        }
        let is_chosen = |(index, name): (usize, &str)| chosen.contains(&index).then(|| name.to_owned());
        Self::These(names.enumerate().filter_map(is_chosen).collect())
    }

    /// The indices, in order, of what a key has chosen of so many.
    fn indices(
        &self,
        table: &Table<'_>,
        key: &str,
        count: usize,
        find: impl Fn(&FileValue<'_>) -> Result<usize, Diagnostic>,
    ) -> Result<Vec<usize>, Diagnostic> {
        if *self == Self::All {
            return Ok((0..count).collect());
        }
        let names = table.get(key).and_then(|value| value.list()).unwrap_or_default();
        let mut indices: Vec<usize> = names.iter().map(find).collect::<Result<_, _>>()?;
        indices.sort_unstable();
        indices.dedup();
        Ok(indices)
    }
}

/// Reads the table. `progress` follows, when the workloads are known.
pub(super) fn read(root: &Table<'_>, plan: &NetworkPlan, duration: Duration) -> Result<MeasureSetup, Diagnostic> {
    let Some((table, keys)) = keys_of(root)? else { return Ok(MeasureSetup::default()) };
    if let Some(value) = table.get("from").filter(|_| keys.from >= duration && keys.from > Duration::ZERO) {
        return Err(value.error("nothing would be measured", format!("give less than the duration, {duration}")));
    }
    let switches = |key: &str, chosen: &Chosen| {
        chosen.indices(&table, key, plan.switches.len(), |name| read_failure::switch(plan, name))
    };
    let mut trace_flows = keys.trace_flows.clone();
    trace_flows.sort_unstable();
    trace_flows.dedup();
    Ok(MeasureSetup {
        from: keys.from,
        breakdown: keys.breakdown,
        drops: switches("drops", &keys.drops)?,
        drops_limit: keys.drops_limit,
        sample: keys.sample,
        timeline: switches("timeline", &keys.timeline)?,
        queues: switches("queues", &keys.queues)?,
        progress: Vec::new(),
        trace_flows,
        trace_switches: switches("trace_switches", &keys.trace_switches)?,
    })
}

fn keys_of<'d>(root: &Table<'d>) -> Result<Option<(Table<'d>, MeasureKeys)>, Diagnostic> {
    let Some(table) = root.table("measure")? else { return Ok(None) };
    table.allow(&setting_keys(MeasureKeys::FIELDS), |_| false, "")?;
    let mut keys = MeasureKeys::default();
    read_settings(&table, &mut keys)?;
    Ok(Some((table, keys)))
}

/// The workloads whose flows' progress is sampled.
pub(super) fn progress(root: &Table<'_>, workloads: &[WorkloadConfig]) -> Result<Vec<usize>, Diagnostic> {
    let Some((table, keys)) = keys_of(root)? else { return Ok(Vec::new()) };
    keys.progress.indices(&table, "progress", workloads.len(), |value| {
        let name = value.text()?;
        workloads.iter().position(|workload| workload.name == name).ok_or_else(|| {
            let known: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
            let problem = format!("there is no workload \"{name}\"");
            value.error(problem, format!("give one of: {}", known.join(", ")))
        })
    })
}

impl Default for MeasureSetup {
    fn default() -> Self {
        let keys = MeasureKeys::default();
        Self {
            from: keys.from,
            breakdown: keys.breakdown,
            drops: Vec::new(),
            drops_limit: keys.drops_limit,
            sample: keys.sample,
            timeline: Vec::new(),
            queues: Vec::new(),
            progress: Vec::new(),
            trace_flows: Vec::new(),
            trace_switches: Vec::new(),
        }
    }
}

impl MeasureKeys {
    /// What a scenario measures.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let setup = &scenario.measure;
        let switches =
            |chosen: &[usize]| Chosen::of(chosen, scenario.network.switches.iter().map(|switch| switch.name.as_str()));
        Self {
            from: setup.from,
            sample: setup.sample,
            breakdown: setup.breakdown,
            drops_limit: setup.drops_limit,
            timeline: switches(&setup.timeline),
            queues: switches(&setup.queues),
            drops: switches(&setup.drops),
            trace_switches: switches(&setup.trace_switches),
            progress: Chosen::of(&setup.progress, scenario.workloads.iter().map(|workload| workload.name.as_str())),
            trace_flows: setup.trace_flows.clone(),
        }
    }
}
