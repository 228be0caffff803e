//! A configuration as a switch file of Forebay, both sides of it, with everything that such a file cannot express.

mod cables;
mod ingress;
mod live;
mod qos;

use crate::SonicError;
use crate::chip::Chip;
use crate::config::{Config, Watchdog};
use crate::device::Device;
use forebay_tm::Rate;
use forebay_tm::ingress::Limit;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The limit of a queue without one.
const MAX_LIMIT: u64 = 1 << 43;

/// A switch file, and what it leaves out.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file, in TOML, with what it leaves out as comments.
    pub toml: String,
    /// The keys and tables of `[switch]` in a scenario that say the same, but for marking and trimming.
    pub scenario: String,
    /// The table `[ecn]`, if there is one.
    pub marking: String,
    /// What it leaves out, or has in another way.
    pub left_out: Vec<String>,
    /// The PFC watchdog of most of its ports; switch files have none, scenarios do.
    pub watchdog: Option<Watchdog>,
}

/// Writes both sides of a device. `from` names the configuration in a comment.
///
/// # Errors
/// If no port is up, no queue has a profile, or the pool cannot be what it says.
pub fn import(device: &Device<'_>, from: &str) -> Result<Imported, SonicError> {
    written(Importer::of_ports_up(device)?, from)
}

/// The same of some ports, by name and in this order.
///
/// # Errors
/// As [`import`], or if a port is not there, not up, or named twice.
pub fn import_named(device: &Device<'_>, from: &str, ports: &[String]) -> Result<Imported, SonicError> {
    written(Importer::of_ports(device, ports)?, from)
}

/// A file of a live switch, and what it leaves out.
#[derive(Clone, Debug)]
pub struct ImportedLive {
    /// The file, in TOML, with what it leaves out as comments.
    pub toml: String,
    /// What it leaves out, or has in another way.
    pub left_out: Vec<String>,
}

/// Writes the egress side of a device as the file of a live switch whose interfaces have the names of the ports: all
/// that are up, or these.
///
/// # Errors
/// As [`import_named`], or if Linux has no interfaces with such names.
pub fn import_live(device: &Device<'_>, from: &str, ports: Option<&[String]>) -> Result<ImportedLive, SonicError> {
    let mut importer = match ports {
        None => Importer::of_ports_up(device)?,
        Some(names) => Importer::of_ports(device, names)?,
    };
    let toml = importer.live(from)?;
    Ok(ImportedLive { toml, left_out: importer.left_out })
}

/// Writes both sides of a device of whose ports some are in use: those of `rates`, in this order, each the first of its
/// speed that is up and not taken. The pools are those of the whole device.
///
/// # Errors
/// As [`import`], or if it has no such ports.
pub fn import_ports(device: &Device<'_>, from: &str, rates: &[Rate]) -> Result<Imported, SonicError> {
    let ports = cables::ports_of(device.config, rates)?;
    let idle = device.config.ports.len() - ports.len();
    let left_out = if idle > 0 { vec![format!("{idle} ports without a cable")] } else { vec![] };
    written(Importer { device, ports, queues: 0, left_out }, from)
}

/// The PG of packets of a queue, by the maps of a port.
pub fn group_of_queue(device: &Device<'_>, port: usize, queue: u8) -> u8 {
    ingress::group_of(device.config, port, &device.config.ports[port], queue)
}

fn written(mut importer: Importer<'_>, from: &str) -> Result<Imported, SonicError> {
    let Written { toml, scenario, marking } = importer.switch(from)?;
    let watchdog = importer.watchdog();
    Ok(Imported { toml, scenario, marking, left_out: importer.left_out, watchdog })
}

/// What is written of a switch.
struct Written {
    toml: String,
    scenario: String,
    marking: String,
}

/// The tables of the egress side.
struct Egress {
    keys: String,
    policy: String,
    scheduler: String,
    marking: String,
    trimming: String,
}

struct Importer<'a> {
    device: &'a Device<'a>,
    ports: Vec<usize>,
    queues: u8,
    left_out: Vec<String>,
}

impl Importer<'_> {
    fn config(&self) -> &Config {
        self.device.config
    }

    fn switch(&mut self, from: &str) -> Result<Written, SonicError> {
        let Egress { keys, policy, scheduler, marking, trimming } = self.egress()?;
        if let Some(dscp) =
            self.config().trimming.as_ref().and_then(|of| of.dscp.clone()).filter(|_| !trimming.is_empty())
        {
            let what = format!("the new DSCP of trimmed packets ({dscp}): packets here have none; --live writes it");
            self.left_out.push(what);
        }
        let ingress = self.ingress()?;
        let mut toml = self.comments(from);
        let _ = write!(toml, "\n{}\n{keys}", self.rates());
        let _ = write!(toml, "\n{policy}\n{scheduler}{marking}{trimming}{ingress}");
        let scenario = format!("[switch]\n{keys}\n{policy}\n{scheduler}{ingress}");
        Ok(Written { toml, scenario, marking })
    }

    fn egress(&mut self) -> Result<Egress, SonicError> {
        let config = self.device.config;
        let numbers = config.queues.keys().chain(config.scheduling.keys()).map(|(_, queue)| *queue);
        let Some(last) = numbers.max().filter(|_| !config.queues.is_empty()) else {
            return Err(SonicError::new("BUFFER_QUEUE", "no queue has a profile", "bind profiles to queues"));
        };
        self.queues = last + 1;
        self.always_left_out(&self.device.chip);
        let (policy, scheduler) = (self.policy()?, self.scheduler());
        let (marking, trimming) = (self.marking(), self.trimming());
        let cell = self.device.chip.cell;
        let keys = format!("queues = {}\nbuffer = {}\ncell = {cell}\n", self.queues, self.memory()?);
        Ok(Egress { keys, policy, scheduler, marking, trimming })
    }

    /// What is written, and what is left out.
    fn comments(&self, from: &str) -> String {
        let mut toml = format!("# {} on {}, made by `forebay sonic import`.\n", one_line(from), self.device.chip.about);
        if !self.left_out.is_empty() {
            toml.push_str("# It leaves out, or has in another way:\n");
        }
        for left_out in &self.left_out {
            let _ = writeln!(toml, "# - {}", one_line(left_out));
        }
        toml
    }

    /// Partitions of the memory that these ports are in: as few as have room for them.
    fn partitions(&self) -> usize {
        let up = self.config().ports.iter().filter(|port| port.is_up).count().max(1);
        let all = usize::try_from(self.device.chip.partitions).unwrap_or(1);
        (self.ports.len() * all).div_ceil(up).min(self.ports.len())
    }

    /// Bytes that never run out before a pool does: all that queues may have together.
    fn memory(&self) -> Result<u64, SonicError> {
        let config = self.device.config;
        let mut pools: Vec<usize> = config.queues.values().map(|profile| config.profiles[*profile].pool).collect();
        pools.sort_unstable();
        pools.dedup();
        let mut cells = 0_u64;
        for pool in pools {
            cells = cells.saturating_add(self.device.shared(pool)?.cells.saturating_mul(self.device.chip.partitions));
        }
        let minimum = |profile: &usize| self.device.chip.queue(&config.profiles[*profile].bytes).minimum;
        let minimums = config.queues.values().map(minimum).fold(0, u64::saturating_add);
        Ok(cells.saturating_add(minimums).saturating_mul(u64::from(self.device.chip.cell)).min(MAX_LIMIT))
    }

    fn always_left_out(&mut self, chip: &Chip) {
        let parts = self.partitions();
        if parts > 1 {
            let what = format!("which port is in which of {parts} partitions: they are divided in equal blocks");
            self.left_out.insert(0, what);
            let queues = "queues count in the partition of their own port, not in that of each sender";
            self.left_out.insert(1, queues.to_owned());
        } else if chip.partitions > 1 {
            self.left_out
                .insert(0, format!("{} other partitions of the memory: the ports are in one", chip.partitions - 1));
        }
    }

    fn rate_of(&self, port: usize) -> String {
        Rate::from_bps(self.config().ports[port].speed.saturating_mul(1_000_000)).to_string()
    }

    fn rates(&self) -> String {
        let rates: Vec<String> = self.ports.iter().map(|port| self.rate_of(*port)).collect();
        if rates.iter().all(|rate| *rate == rates[0]) {
            return format!("ports = {}\nrate = \"{}\"", rates.len(), rates[0]);
        }
        let rates: Vec<String> = rates.iter().map(|rate| format!("    \"{rate}\",\n")).collect();
        format!("ports = [\n{}]", rates.concat())
    }

    /// What most ports have for a queue number. Others are among what is left out, unless that is said elsewhere
    /// (`what` is empty).
    fn usual(&mut self, of: &BTreeMap<(usize, u8), usize>, queue: u8, what: &str) -> Option<usize> {
        let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for port in &self.ports {
            *counts.entry(of.get(&(*port, queue)).copied()).or_default() += 1;
        }
        let (usual, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        if count < self.ports.len() && !what.is_empty() {
            let others = self.ports.len() - count;
            self.left_out.push(format!("another {what} of queue {queue} on {others} ports"));
        }
        usual
    }

    /// `[policy]`: the pools that queues are in.
    fn policy(&mut self) -> Result<String, SonicError> {
        let config = self.device.config;
        let cell = u64::from(self.device.chip.cell);
        let mut members: Vec<Member> = vec![];
        let mut pools: Vec<usize> = vec![];
        for queue in 0..self.queues {
            let Some(profile) = self.usual(&config.queues, queue, "buffer profile") else {
                self.left_out.push(format!("queue {queue} has no profile: it is in the first pool, with alpha 1"));
                members.push(Member { pool: 0, minimum: 0, alpha: 1.0, limit: None });
                continue;
            };
            let of = &config.profiles[profile];
            let pool = pools.iter().position(|pool| *pool == of.pool).unwrap_or_else(|| {
                pools.push(of.pool);
                pools.len() - 1
            });
            let cells = self.device.chip.queue(&of.bytes);
            let (alpha, limit) = match cells.limit {
                // A factor of nothing is a constant of nothing.
                Limit::Dynamic(alpha) | Limit::OfPort(alpha) if alpha.num == 0 => (1.0, Some(0)),
                Limit::Dynamic(alpha) | Limit::OfPort(alpha) => (alpha.num as f64 / alpha.den as f64, None),
                Limit::Static(cells) => (1.0, Some(cells.min(MAX_LIMIT / cell))),
                Limit::None => (1.0, Some(MAX_LIMIT / cell)),
            };
            members.push(Member {
                pool,
                minimum: cells.minimum.saturating_mul(cell).min(MAX_LIMIT),
                alpha,
                limit: limit.map(|cells| cells.saturating_mul(cell)),
            });
        }
        if pools.is_empty() {
            // Most ports have no profiles: there is a pool, all the same.
            pools.extend(config.queues.values().next().map(|profile| config.profiles[*profile].pool));
        }
        let mut shared = vec![];
        for (place, pool) in pools.iter().enumerate() {
            let bytes = self.device.shared(*pool)?.cells.saturating_mul(cell);
            shared.push(self.in_partitions(bytes, members.iter_mut().filter(|of| of.pool == place).collect()));
        }
        let list = |of: &dyn Fn(&Member) -> String| members.iter().map(of).collect::<Vec<_>>().join(", ");
        let names: Vec<&str> = pools.iter().map(|pool| config.pools[*pool].name.as_str()).collect();
        let mut toml = format!("# {}\n[policy]\nkind = \"pools\"\n", names.join(", "));
        let _ = writeln!(toml, "pools = {shared:?}");
        let _ = writeln!(toml, "pool = [{}]", list(&|of| of.pool.to_string()));
        let _ = writeln!(toml, "minimum = [{}]", list(&|of| of.minimum.to_string()));
        let _ = writeln!(toml, "alpha = [{}]", list(&|of| format!("{:?}", of.alpha)));
        let _ = writeln!(toml, "limit = [{}]", list(&|of| of.limit.unwrap_or(MAX_LIMIT).to_string()));
        let _ = writeln!(toml, "fixed = [{}]", list(&|of| of.limit.is_some().to_string()));
        let _ = writeln!(toml, "partitions = {}", self.partitions());
        Ok(toml)
    }
}

impl Importer<'_> {
    /// What a pool has in each partition. Packets of a queue are in the memory of the ports they came by: where no
    /// queue has a limit, the ingress side alone decides in each partition, and the pool is that of all.
    fn in_partitions(&self, bytes: u64, members: Vec<&mut Member>) -> u64 {
        let partitions = self.partitions() as u64;
        if partitions == 1 || !members.iter().all(|of| of.limit.is_some_and(|limit| limit >= bytes)) {
            return bytes;
        }
        let all = bytes.saturating_mul(partitions);
        members.into_iter().for_each(|of| of.limit = Some(all.min(MAX_LIMIT)));
        all
    }
}

/// A queue number in its pool, in bytes.
struct Member {
    pool: usize,
    minimum: u64,
    alpha: f64,
    /// A constant that counts instead of alpha.
    limit: Option<u64>,
}

/// Text for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
