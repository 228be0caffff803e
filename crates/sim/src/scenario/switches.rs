//! The tables `[switch]`, `[tier.*]`, `[switches.*]` and `[nic]`: what buffers there are and who manages them.

use super::chip::{self, Model};
use super::nic::{self, NicSetup};
use super::sonic::{self, Source};
use super::{ChipSetup, IngressSetup, MirrorSetup, PfcSetup, SwitchSetup, mirror, pfc};
use crate::network::NetworkPlan;
use crate::routing::Ports;
use crate::topology::MAX_PORTS;
use forebay_settings::check::{at_least_one, if_set};
use forebay_settings::{
    Diagnostic, IngressTables, SwitchTables, Table, nearest, read_known, read_switch_tables, setting_keys,
};
use forebay_tm::admit::{CompleteSharingConfig, PolicyConfig};
use forebay_tm::random::Random;
use forebay_tm::rank::{RankConfig, StfqConfig};
use forebay_tm::{Bytes, ConfigError, PerQueue, Rate, TmConfig, ValidConfig, settings};
use std::collections::BTreeSet;

settings! {
    /// The keys of `[switch]`, of tiers, of single switches and of a managed `[nic]`. What is not set is inherited.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SwitchKeys {
        /// What the switch is: traffic managers between links, or a programmable chip; default `"plain"`.
        pub kind: Option<Model> = None,
        /// The program of a chip: `"trim"`, `"trim-sonic"`, `"trim-n"`, `"trim-depth"`, `"deflect"`, `"fb"`, `"aifo"`,
        /// `"sp-pifo"`, `"occamy"`, or the path of a file.
        pub program: Option<String> = None,
        /// The size of each buffer; this or the next one is needed.
        pub buffer: Option<Bytes> = None,
        /// The size of each buffer per Gb/s of each port: `"9.6KB"` with 16 ports of 25 Gb/s and 4 of 100 Gb/s is 7.68
        /// MB; a fraction of a byte is dropped.
        pub buffer_per_port_per_gbps: Option<Bytes> = None,
        /// Ports that share one buffer, in the order of the ports; the last buffer may have fewer; default all.
        pub ports_per_buffer: Option<usize> = None; if_set(at_least_one),
        /// Queues of each port, 1 to 64; default 1.
        pub queues: Option<usize> = None,
        /// Packets that may wait in one queue; default: no limit.
        pub queue_capacity: Option<usize> = None,
        /// A packet is charged in whole cells of so many bytes; default 1.
        pub cell: Option<Bytes> = None,
        /// Keep every cell on a list, as in hardware; default false.
        pub cell_pointers: Option<bool> = None,
        /// The path of a SONiC switch's CONFIG_DB, from which both sides of the buffer are made: see
        /// [below](#switches-from-a-sonic-configuration).
        pub sonic: Option<String> = None,
        /// The chip family of that switch, as `forebay sonic --chip` has it; default the one of its `hwsku`.
        pub sonic_chip: Option<String> = None,
    }
}

impl SwitchKeys {
    /// Reads what a table has of some of the keys.
    fn read(table: &Table<'_>, known: &[&str]) -> Result<Self, Diagnostic> {
        let (mut keys, per_gbps) = (Self::default(), "buffer_per_port_per_gbps");
        let unused = unused(table, "buffer", per_gbps, "the size of the buffer is there already")?;
        let known: Vec<&str> = known.iter().copied().filter(|key| *key != unused).collect();
        read_known(table, &known, &mut keys)?;
        Ok(keys)
    }

    /// How large the buffers are.
    fn buffer_size(&self) -> Option<BufferSize> {
        let per_gbps = self.buffer_per_port_per_gbps.map(BufferSize::PerPortPerGbps);
        self.buffer.map(BufferSize::Whole).or(per_gbps)
    }
}

/// Which of two keys that exclude each other is not to be read. It is refused that both are there.
pub(super) fn unused<'k>(
    table: &Table<'_>,
    one: &'k str,
    other: &'k str,
    problem: &str,
) -> Result<&'k str, Diagnostic> {
    match table.alternatives(one, other) {
        (Some(_), Some(value)) => Err(value.error(problem, "give one of the two")),
        (None, Some(_)) => Ok(one),
        (Some(_) | None, None) => Ok(other),
    }
}

/// The tables of the traffic manager.
const TABLES: [&str; 7] = ["policy", "scheduler", "ecn", "trim", "mirror", "chip", "ingress"];
/// The keys of `[nic]` that need `kind = "managed"`.
pub(super) fn managed_keys() -> Vec<&'static str> {
    let of_switches = ["kind", "program", "ports_per_buffer", "sonic", "sonic_chip"];
    setting_keys(SwitchKeys::FIELDS).into_iter().filter(|key| !of_switches.contains(key)).collect()
}

/// The tables of a managed `[nic]`.
pub(super) const MANAGED_TABLES: [&str; 3] = ["policy", "scheduler", "ecn"];

/// How large a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BufferSize {
    /// So many bytes.
    Whole(Bytes),
    /// So many bytes for each Gb/s of each of its ports.
    PerPortPerGbps(Bytes),
}

impl BufferSize {
    /// The size of a buffer for ports of these rates; a fraction of a byte is dropped.
    fn of(self, rates: &[Rate]) -> Bytes {
        match self {
            Self::Whole(bytes) => bytes,
            Self::PerPortPerGbps(bytes) => {
                let bps: u128 = rates.iter().map(|rate| u128::from(rate.bps())).sum();
                let size = u128::from(bytes.get()).saturating_mul(bps) / 1_000_000_000;
                Bytes::new(u64::try_from(size).unwrap_or(u64::MAX))
            }
        }
    }
}

/// What a level of the scenario says of its switches: all of them, those of a tier, or one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SwitchSettings {
    pub(super) keys: SwitchKeys,
    pub(super) tables: SwitchTables,
    /// `Some(None)`: `kind = "none"`.
    pub(super) mirror: Option<Option<MirrorSetup>>,
    /// `Some(None)`: `kind = "plain"`.
    pub(super) chip: Option<Option<ChipSetup>>,
    /// `[ingress]` and the tables inside it.
    pub(super) ingress: Option<IngressTables>,
}

impl SwitchSettings {
    /// Reads some of the keys of one table, and the tables inside another.
    fn read(keys: Option<&Table<'_>>, known: &[&str], tables: &Table<'_>) -> Result<Self, Diagnostic> {
        Ok(Self {
            mirror: tables.table("mirror")?.map(|table| mirror::read(&table)).transpose()?,
            tables: read_switch_tables(tables)?,
            keys: keys.map(|table| SwitchKeys::read(table, known)).transpose()?.unwrap_or_default(),
            ingress: tables.table("ingress")?.map(|table| IngressTables::read(&table)).transpose()?,
            chip: None,
        })
    }

    /// Reads what a level says of switches.
    fn of_switches(keys: Option<&Table<'_>>, tables: &Table<'_>) -> Result<Self, Diagnostic> {
        let settings = Self::read(keys, &setting_keys(SwitchKeys::FIELDS), tables)?;
        Ok(Self { chip: chip::read(settings.keys.kind, keys, tables)?, ..settings })
    }
}

/// A level, and where it stands in the file.
pub(super) struct Level<'d> {
    /// What it is for: a tier's or a switch's name, or nothing for all.
    name: &'d str,
    pub(super) settings: SwitchSettings,
    /// Where its keys are.
    pub(super) keys: Option<Table<'d>>,
    /// Where its tables are.
    pub(super) tables: Table<'d>,
    /// The configuration that its switches are made from.
    pub(super) sonic: Option<Source<'d>>,
}

impl<'d> Level<'d> {
    fn new(
        name: &'d str,
        mut settings: SwitchSettings,
        keys: Option<Table<'d>>,
        tables: Table<'d>,
    ) -> Result<Self, Diagnostic> {
        let sonic = keys.as_ref().map(|keys| sonic::read(keys, &tables)).transpose()?.flatten();
        // A result names it from wherever it is.
        settings.keys.sonic = sonic.as_ref().map(Source::absolute);
        Ok(Self { name, settings, keys, tables, sonic })
    }

    /// What is made of a configuration, as a level of its own right below this one.
    pub(super) fn below(&self, settings: SwitchSettings) -> Self {
        Self { name: self.name, settings, keys: self.keys.clone(), tables: self.tables.clone(), sonic: None }
    }

    /// Whether it gives what a configuration error speaks of.
    fn gives(&self, field: &str) -> bool {
        let top = field.split('.').next().unwrap_or_default();
        if TABLES.contains(&top) { self.tables.has(top) } else { self.keys.as_ref().is_some_and(|keys| keys.has(top)) }
    }

    fn locate(&self, field: &str, error: &ConfigError) -> Diagnostic {
        let table = if field.contains('.') { &self.tables } else { self.keys.as_ref().unwrap_or(&self.tables) };
        table.locate(field, format!("{}: {}", error.value, error.problem), &error.remedy)
    }
}

/// All that a scenario says of its switches and of the hosts' queues.
pub(super) struct Switches<'d> {
    root: Table<'d>,
    all: Level<'d>,
    tiers: Vec<Level<'d>>,
    singles: Vec<Level<'d>>,
    nic: Option<Level<'d>>,
}

impl<'d> Switches<'d> {
    /// Reads the tables.
    pub(super) fn read(root: &Table<'d>, plan: &NetworkPlan) -> Result<Self, Diagnostic> {
        let keys = root.table("switch")?;
        if let Some(keys) = &keys {
            keys.allow(&setting_keys(SwitchKeys::FIELDS), |_| false, "")?;
        }
        let settings = SwitchSettings::of_switches(keys.as_ref(), root)?;
        let tiers: Vec<&str> = plan.switches.iter().map(|switch| switch.tier.as_str()).collect();
        let names: Vec<&str> = plan.switches.iter().map(|switch| switch.name.as_str()).collect();
        Ok(Self {
            all: Level::new("", settings, keys, root.clone())?,
            tiers: levels(root, "tier", &tiers)?,
            singles: levels(root, "switches", &names)?,
            nic: managed_nic(root)?,
            root: root.clone(),
        })
    }

    /// The levels of a switch, those that take precedence first.
    fn levels(&self, name: &str, tier: &str) -> Vec<&Level<'d>> {
        let single = self.singles.iter().find(|level| level.name == name);
        let tier = self.tiers.iter().find(|level| level.name == tier);
        single.into_iter().chain(tier).chain([&self.all]).collect()
    }

    /// The switches of a plan.
    pub(super) fn setups(&self, plan: &NetworkPlan, ports: &Ports, seed: u64) -> Result<Vec<SwitchSetup>, Diagnostic> {
        let pfc = pfc::read(&self.root)?;
        let mut setups = Vec::with_capacity(plan.switches.len());
        for (index, switch) in plan.switches.iter().enumerate() {
            let mut levels = self.levels(&switch.name, &switch.tier);
            let rates: Vec<Rate> =
                ports.of(plan.switch_node(index)).iter().map(|port| plan.cables[port.link.cable].rate).collect();
            let sonic = sonic::made(&levels, &rates)?;
            if let Some(sonic) = &sonic {
                levels.truncate(sonic.place + 1);
                levels.push(&sonic.level);
            }
            let ports_per_buffer = first(&levels, |settings| settings.keys.ports_per_buffer).unwrap_or(rates.len());
            let mut buffers = Vec::new();
            for (buffer, rates) in rates.chunks(ports_per_buffer).enumerate() {
                let mut random = Random::stream(seed, "switch", (index as u64) << 32 | buffer as u64);
                let config =
                    self.config(&switch.name, &levels, rates.to_vec(), (random.unit() * 2f64.powi(53)) as u64)?;
                buffers.push(validated(config, &levels)?);
            }
            let mirror = first(&levels, |settings| settings.mirror.clone()).flatten();
            if let Some(mirror) = &mirror {
                check_mirror(mirror, &switch.name, rates.len(), &buffers, &levels)?;
            }
            let mut chip = first(&levels, |settings| settings.chip.clone()).flatten();
            if let Some(chip) = &mut chip {
                check_chip(chip, &switch.name, rates.len(), &buffers, mirror.is_some(), &levels)?;
            }
            let ingress = match &sonic {
                Some(sonic) => sonic.ingress(&switch.name, &levels, &buffers, &pfc)?,
                None => self.ingress(&switch.name, &levels, &buffers, &pfc)?,
            };
            if let Some(level) = levels.iter().find(|_| ingress.is_some() && (mirror.is_some() || chip.is_some())) {
                let problem = format!("switch {} mirrors or is a chip, and pauses", switch.name);
                return Err(level.tables.locate("ingress", problem, "remove [ingress], or [mirror] and the chip"));
            }
            let (sonic, left_out) = sonic.map(|sonic| (sonic.path, sonic.left_out)).unzip();
            let left_out = left_out.unwrap_or_default();
            setups.push(SwitchSetup {
                buffers,
                ports_per_buffer,
                mirror,
                chip,
                ingress,
                sonic,
                left_out,
                script: None,
            });
        }
        pfc::check_peers(&self.root, plan, ports, &setups)?;
        self.check_header_classes(&setups)?;
        Ok(setups)
    }

    /// The ingress side of a switch, of the first level that has one.
    fn ingress(
        &self,
        switch: &str,
        levels: &[&Level<'_>],
        buffers: &[ValidConfig],
        pfc: &PfcSetup,
    ) -> Result<Option<IngressSetup>, Diagnostic> {
        let Some(level) = levels.iter().find(|level| level.tables.has("ingress")) else { return Ok(None) };
        let Some(table) = level.tables.table("ingress")? else { return Ok(None) };
        pfc::ingress(&level.tables, &table, switch, buffers, pfc).map(Some)
    }

    /// The traffic manager of one buffer.
    fn config(&self, switch: &str, levels: &[&Level<'_>], rates: Vec<Rate>, seed: u64) -> Result<TmConfig, Diagnostic> {
        let missing = |key: &str, what: &str, remedy: &str| {
            let error = self.root.missing(key, "");
            Diagnostic { problem: format!("switch {switch} has no {what}"), remedy: remedy.to_owned(), ..error }
        };
        let buffer = first(levels, |settings| settings.keys.buffer_size()).ok_or_else(|| {
            let remedy = "add buffer = \"4MB\" or buffer_per_port_per_gbps = \"9.6KB\" to [switch]";
            missing("switch.buffer", "buffer", remedy)
        })?;
        let policy = first(levels, |settings| settings.tables.policy.clone())
            .ok_or_else(|| missing("policy", "policy", "add the lines [policy], kind = \"dt\" and alpha = 1.0"))?;
        let mut config = TmConfig::new(rates, Bytes::ZERO);
        config.buffer = buffer.of(&config.rates);
        config.policy = policy;
        config.seed = seed;
        fill(&mut config, levels);
        Ok(config)
    }

    /// Classes that mean something at every switch: a class is a queue of each port, or a packet class of its policy or
    /// of its ranks' weights. Where all classes share one queue and nothing tells them apart, there is no limit; where
    /// that is so everywhere, one class is all.
    pub(super) fn classes(setups: &[SwitchSetup]) -> usize {
        let of_rank = |buffer: &ValidConfig| match &buffer.rank {
            RankConfig::Stfq(StfqConfig { flow_weights: PerQueue::Each(weights) }) => Some(weights.len()),
            _ => None,
        };
        let limit = |buffer: &ValidConfig| match buffer.queues {
            1 => buffer.policy.classes().or_else(|| of_rank(buffer)),
            queues => Some(queues),
        };
        let of_chip = |setup: &SwitchSetup| setup.chip.as_ref().and_then(ChipSetup::packet_classes);
        let limits =
            setups.iter().flat_map(|setup| of_chip(setup).into_iter().chain(setup.buffers.iter().filter_map(limit)));
        limits.min().unwrap_or(1)
    }

    /// Headers of mirrored packets keep their class on the rest of their way.
    fn check_header_classes(&self, setups: &[SwitchSetup]) -> Result<(), Diagnostic> {
        let classes = Self::classes(setups);
        for level in core::iter::once(&self.all).chain(&self.tiers).chain(&self.singles) {
            let mirror = level.settings.mirror.iter().flatten().map(|mirror| ("mirror.class", mirror.class)).next();
            let chip = level.settings.chip.iter().flatten().filter(|chip| chip.program.trims());
            let chip = chip.map(|chip| ("chip.header_class", chip.header_class)).next();
            for (key, class) in mirror.into_iter().chain(chip) {
                if usize::from(class) >= classes {
                    let problem = format!("there are {classes} classes: a class is a queue at every port");
                    return Err(level.tables.locate(key, problem, format!("give 0 to {}", classes - 1)));
                }
            }
        }
        Ok(())
    }

    /// The fewest queues of a port that has more than one, or one.
    pub(super) fn queues(setups: &[SwitchSetup]) -> usize {
        let queues = setups.iter().flat_map(|setup| &setup.buffers).map(|buffer| buffer.queues);
        queues.filter(|queues| *queues > 1).min().unwrap_or(1)
    }

    /// What stands in front of the hosts' links, for packets of up to so many bytes. Managed queues are one for each
    /// class, or one for all. What `[nic]` does not say of them: as many as the switches' ports have, the scheduler of
    /// all switches if those are several, and complete sharing.
    pub(super) fn nic(
        &self,
        plan: &NetworkPlan,
        ports: &Ports,
        queues: usize,
        seed: u64,
        largest_packet: u64,
    ) -> Result<NicSetup, Diagnostic> {
        let Some(level) = &self.nic else { return nic::read(self.root.table("nic")?.as_ref(), largest_packet) };
        let (settings, keys) = (&level.settings, level.keys.as_ref().unwrap_or(&self.root));
        let buffer = settings.keys.buffer_size().ok_or_else(|| keys.missing("buffer", "buffer = \"4MB\""))?;
        let mut configs = Vec::with_capacity(plan.hosts.len());
        for host in 0..plan.hosts.len() as u32 {
            let rates: Vec<Rate> = ports.of(host).iter().map(|port| plan.cables[port.link.cable].rate).collect();
            let mut config = TmConfig::new(rates, Bytes::ZERO);
            config.buffer = buffer.of(&config.rates);
            config.policy =
                settings.tables.policy.clone().unwrap_or(PolicyConfig::CompleteSharing(CompleteSharingConfig {}));
            config.queues = settings.keys.queues.unwrap_or(queues);
            if let (2.., Some(scheduler)) = (config.queues, &self.all.settings.tables.scheduler) {
                (config.scheduler, config.rank) = scheduler.clone();
            }
            config.seed = (Random::stream(seed, "nic", u64::from(host)).unit() * 2f64.powi(53)) as u64;
            fill(&mut config, &[level]);
            if config.queues != 1 && config.queues < queues {
                let problem = format!("the switches have queues for {queues} classes");
                return Err(keys.locate("queues", problem, format!("give {queues}, or 1 for all classes together")));
            }
            configs.push(validated(config, &[level])?);
        }
        Ok(NicSetup::Managed(configs))
    }

    /// The levels as they were read, with the names of their tables: for [`super::describe`].
    pub(super) fn parts(&self) -> impl Iterator<Item = (Part<'_>, &SwitchSettings)> {
        let tiers = self.tiers.iter().map(|level| (Part::Tier(level.name), &level.settings));
        let singles = self.singles.iter().map(|level| (Part::Switch(level.name), &level.settings));
        let nic = self.nic.iter().map(|level| (Part::Nic, &level.settings));
        core::iter::once((Part::All, &self.all.settings)).chain(tiers).chain(singles).chain(nic)
    }
}

/// What a level is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    All,
    Tier(&'a str),
    Switch(&'a str),
    Nic,
}

/// The tables of tiers or of single switches.
fn levels<'d>(root: &Table<'d>, key: &str, known: &[&str]) -> Result<Vec<Level<'d>>, Diagnostic> {
    let Some(outer) = root.table(key)? else { return Ok(Vec::new()) };
    let allowed: Vec<&str> = setting_keys(SwitchKeys::FIELDS).into_iter().chain(TABLES).collect();
    let mut levels = Vec::new();
    for name in outer.keys() {
        if !known.contains(&name) {
            let remedy = match nearest(name, known) {
                Some(meant) => format!("did you mean {meant}?"),
                None => {
                    let names: BTreeSet<&str> = known.iter().copied().collect();
                    format!("there are {}", names.into_iter().take(8).collect::<Vec<_>>().join(", "))
                }
            };
            let what = if key == "tier" { "tier" } else { "switch" };
            return Err(outer.key_error(name, format!("the topology has no {what} \"{name}\""), remedy));
        }
        let Some(table) = outer.table(name)? else { continue };
        table.allow(&allowed, |_| false, "")?;
        let settings = SwitchSettings::of_switches(Some(&table), &table)?;
        levels.push(Level::new(name, settings, Some(table.clone()), table)?);
    }
    Ok(levels)
}

/// The `[nic]` table, if it is managed.
fn managed_nic<'d>(root: &Table<'d>) -> Result<Option<Level<'d>>, Diagnostic> {
    let Some(table) = root.table("nic")? else { return Ok(None) };
    if nic::kind(&table)? != nic::Kind::Managed {
        return Ok(None);
    }
    let settings = SwitchSettings::read(Some(&table), &managed_keys(), &table)?;
    Ok(Some(Level { name: "", settings, keys: Some(table.clone()), tables: table, sonic: None }))
}

/// The first level's that has one.
fn first<T>(levels: &[&Level<'_>], get: impl Fn(&SwitchSettings) -> Option<T>) -> Option<T> {
    levels.iter().find_map(|level| get(&level.settings))
}

/// Puts in what has a default and may be given at any level.
fn fill(config: &mut TmConfig, levels: &[&Level<'_>]) {
    config.queues = first(levels, |settings| settings.keys.queues).unwrap_or(config.queues);
    config.cell = first(levels, |settings| settings.keys.cell).unwrap_or(config.cell);
    config.cell_pointers = first(levels, |settings| settings.keys.cell_pointers).unwrap_or(config.cell_pointers);
    config.queue_capacity = first(levels, |settings| settings.keys.queue_capacity).or(config.queue_capacity);
    if let Some((scheduler, rank)) = first(levels, |settings| settings.tables.scheduler.clone()) {
        (config.scheduler, config.rank) = (scheduler, rank);
    }
    config.mark = first(levels, |settings| settings.tables.mark.clone()).flatten();
    config.trim = first(levels, |settings| settings.tables.trim.clone()).flatten();
}

/// Checks that a switch with these buffers can mirror.
fn check_mirror(
    mirror: &MirrorSetup,
    switch: &str,
    ports: usize,
    buffers: &[ValidConfig],
    levels: &[&Level<'_>],
) -> Result<(), Diagnostic> {
    let Some(level) = levels.iter().find(|level| level.tables.has("mirror")) else { return Ok(()) };
    let refuse = |key: &str, problem: String, remedy: &str| Err(level.tables.locate(key, problem, remedy));
    if buffers.iter().any(|buffer| buffer.trim.is_some()) {
        let problem = format!("switch {switch} trims packets: none are left to be mirrored");
        return refuse("mirror", problem, "remove [trim], or give it kind = \"none\"");
    }
    let queues = buffers.iter().map(|buffer| buffer.queues).min().unwrap_or(1);
    if queues == 1 {
        let problem = format!("headers need a queue of their own, and ports of switch {switch} have one queue");
        return refuse(
            "mirror",
            problem,
            "add queues = 2 to [switch], a [scheduler] such as strict, and class = 1 to workloads",
        );
    }
    if ports + mirror.pipelines(ports) > MAX_PORTS {
        let problem =
            format!("switch {switch} would have more than {MAX_PORTS} ports, those for recirculation included");
        return refuse("mirror.ports_per_pipeline", problem, "give more ports to a pipeline");
    }
    Ok(())
}

/// Checks that a switch with these buffers can be such a chip, and notes what its program needs there.
fn check_chip(
    chip: &mut ChipSetup,
    switch: &str,
    ports: usize,
    buffers: &[ValidConfig],
    is_mirroring: bool,
    levels: &[&Level<'_>],
) -> Result<(), Diagnostic> {
    let Some(level) = levels.iter().find(|level| level.settings.chip.is_some()) else { return Ok(()) };
    let keys = level.keys.as_ref().unwrap_or(&level.tables);
    let refuse = |problem: String, remedy: &str| Err(keys.locate("kind", problem, remedy));
    let [buffer] = buffers else {
        return refuse(format!("switch {switch} has several buffers"), "remove ports_per_buffer: a chip has one");
    };
    if buffer.trim.is_some() || is_mirroring {
        let problem = format!("switch {switch} trims or mirrors, which is the program's to do on a chip");
        return refuse(problem, "remove [trim] and [mirror], or give kind = \"plain\"");
    }
    if chip.program.trims() && usize::from(chip.header_class) >= buffer.queues {
        let problem =
            format!("headers need queue {}, and ports of switch {switch} have {}", chip.header_class, buffer.queues);
        return refuse(problem, "add queues = 2 to [switch], a [scheduler], and class = 1 to workloads");
    }
    if chip.program.trims() && buffer.queues == 1 {
        let problem = format!("headers need a queue of their own, and ports of switch {switch} have one queue");
        return refuse(problem, "add queues = 2 to [switch], a [scheduler] such as strict, and class = 1 to workloads");
    }
    let image = chip.load(buffer).map_err(|error| {
        let problem = format!("switch {switch} cannot run {}: {error}", chip.program.name());
        keys.locate("program", problem, "see docs/pipelines.md for what each program needs")
    })?;
    if chip.witness && chip.ideal(buffer).is_none() {
        let problem = format!("the ideal of {} cannot run on ports with {} queues", chip.program.name(), buffer.queues);
        return Err(level.tables.locate("chip.witness", problem, "set queues = 1, or witness = false"));
    }
    chip.generators = image.generators.len();
    let inside = chip.inside(ports);
    if ports + inside > MAX_PORTS {
        let problem =
            format!("switch {switch} would have more than {MAX_PORTS} ports, {inside} inside the chip included");
        return refuse(problem, "give more ports to a pipeline, or the program less to do");
    }
    Ok(())
}

/// Checks a traffic manager; an error points to the level that gave the value.
fn validated(config: TmConfig, levels: &[&Level<'_>]) -> Result<ValidConfig, Diagnostic> {
    config.validate().map_err(|error| {
        let per_gbps = "buffer_per_port_per_gbps";
        let is_per_gbps =
            matches!(first(levels, |settings| settings.keys.buffer_size()), Some(BufferSize::PerPortPerGbps(_)));
        let field = if error.field == "buffer" && is_per_gbps { per_gbps } else { error.field };
        let level = levels.iter().find(|level| level.gives(field)).or(levels.last());
        match level {
            Some(level) => level.locate(field, &error),
            None => Diagnostic { field: field.to_owned(), ..Diagnostic::of_file("", error.problem, error.remedy) },
        }
    })
}
