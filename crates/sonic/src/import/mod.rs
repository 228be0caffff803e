//! A configuration as a switch file of Forebay, both sides of it, with everything that such a file cannot express.

mod cables;
mod ingress;
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
    let ports: Vec<usize> = (0..device.config.ports.len()).filter(|port| device.config.ports[*port].is_up).collect();
    if ports.is_empty() {
        return Err(SonicError::new("PORT", "no port is up", "set admin_status to up"));
    }
    if let Some(port) = ports.iter().map(|port| &device.config.ports[*port]).find(|port| port.speed == 0) {
        let place = format!("PORT|{}", port.name);
        return Err(SonicError::new(place, "the port has no speed", "give the speed in Mb/s, such as 100000"));
    }
    let down = device.config.ports.len() - ports.len();
    let left_out = if down > 0 { vec![format!("{down} ports that are not up")] } else { vec![] };
    written(Importer { device, ports, queues: 0, left_out }, from)
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
        let (config, chip) = (self.device.config, &self.device.chip);
        let numbers = config.queues.keys().chain(config.scheduling.keys()).map(|(_, queue)| *queue);
        let Some(last) = numbers.max().filter(|_| !config.queues.is_empty()) else {
            return Err(SonicError::new("BUFFER_QUEUE", "no queue has a profile", "bind profiles to queues"));
        };
        self.queues = last + 1;
        self.always_left_out(chip);
        let policy = self.policy()?;
        let scheduler = self.scheduler();
        let marking = self.marking();
        let trimming = self.trimming();
        let ingress = self.ingress()?;

        let mut toml = format!("# {} on {}, made by `forebay sonic import`.\n", one_line(from), chip.about);
        toml.push_str("# It leaves out, or has in another way:\n");
        for left_out in &self.left_out {
            let _ = writeln!(toml, "# - {left_out}");
        }
        let keys = format!("queues = {}\nbuffer = {}\ncell = {}\n", self.queues, self.memory()?, chip.cell);
        let _ = write!(toml, "\n{}\n{keys}", self.rates());
        let _ = write!(toml, "\n{policy}\n{scheduler}{marking}{trimming}{ingress}");
        let scenario = format!("[switch]\n{keys}\n{policy}\n{scheduler}{ingress}");
        Ok(Written { toml, scenario, marking })
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

    fn rates(&self) -> String {
        let rate =
            |port: &usize| Rate::from_bps(self.config().ports[*port].speed.saturating_mul(1_000_000)).to_string();
        let rates: Vec<String> = self.ports.iter().map(rate).collect();
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
        let mut pools: Vec<usize> = vec![];
        let mut members: Vec<Member> = vec![];
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
