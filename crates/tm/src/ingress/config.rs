//! The ingress side described and checked.

use super::{MAX_POOLS, MAX_PORTS};
use crate::config::ConfigError;
use crate::filter::MAX_FILTER;
use alloc::format;
use alloc::vec::Vec;

/// The most cells of a pool, a limit or a minimum: sums and products with an [`Alpha`] stay within 64 bits.
pub const MAX_CELLS: u64 = 1 << 40;

/// The largest numerator and denominator of an [`Alpha`].
pub const MAX_RATIO: u64 = 1 << 10;

/// Priority groups of a port: 0 to 15. (Ingress has 8 of them; queues, which are accounted for in the same way, can be
/// 16.)
pub const GROUPS_PER_PORT: usize = 16;

/// A factor of a dynamic limit, as a ratio of whole numbers: exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpha {
    /// The numerator.
    pub num: u64,
    /// The denominator.
    pub den: u64,
}

impl Alpha {
    /// `2^exponent`, as chips have it; exponents beyond -10 and 10 are taken as these.
    pub const fn power_of_two(exponent: i32) -> Self {
        if exponent >= 0 {
            Self { num: 1 << if exponent > 10 { 10 } else { exponent }, den: 1 }
        } else {
            Self { num: 1, den: 1 << if exponent < -10 { 10 } else { -exponent } }
        }
    }

    /// A factor as it is written, if it is one exactly: a multiple of 1/1024 up to 1024.
    pub fn exactly(factor: f64) -> Option<Self> {
        let scaled = factor * MAX_RATIO as f64;
        // Both are exact: the factor is multiplied by a power of two.
        if !(0.0..=(MAX_RATIO * MAX_RATIO) as f64).contains(&scaled) || scaled != scaled as u64 as f64 {
            return None;
        }
        let num = scaled as u64;
        let shift = num.trailing_zeros().min(MAX_RATIO.trailing_zeros());
        let alpha = Self { num: num >> shift, den: MAX_RATIO >> shift };
        alpha.is_valid().then_some(alpha)
    }

    /// `floor(alpha * cells)`.
    pub const fn of(self, cells: u64) -> u64 {
        self.num * cells / self.den
    }

    fn is_valid(self) -> bool {
        self.num <= MAX_RATIO && (1..=MAX_RATIO).contains(&self.den)
    }
}

/// How many cells of a pool's shared part a group or a port may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// As many as are free.
    #[default]
    None,
    /// A constant.
    Static(u64),
    /// `alpha * free`, free being what nobody has of the pool's shared part.
    Dynamic(Alpha),
    /// Of a group alone: `alpha * (limit of the port - what the port has)`.
    OfPort(Alpha),
}

/// A pool. It has these cells in each partition of the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolConfig {
    /// Cells that groups share, beyond all minimums and headroom.
    pub shared: u64,
    /// The shared headroom pool. Without one, each group's headroom is its own.
    pub headroom: Option<u64>,
}

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortConfig {
    /// The partition of the memory that its packets are kept in.
    pub partition: usize,
    /// What its groups may have together of each pool's shared part; pools that are not named have no such limit.
    pub limits: Vec<Limit>,
    /// What its groups may have together of headroom; without this, only their own limits hold.
    pub headroom: Option<u64>,
}

/// A priority group of a port. All sizes are in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupConfig {
    /// The port.
    pub port: usize,
    /// Its number on the port.
    pub number: u8,
    /// Its pool.
    pub pool: usize,
    /// Cells that it has for itself.
    pub minimum: u64,
    /// What it may have of the shared part.
    pub limit: Limit,
    /// A lossless group pauses its sender; without this, the group is lossy.
    pub lossless: Option<LosslessConfig>,
    /// Of a lossless group with a dynamic limit (Reverie): what its limit meets is a low-pass filter of its occupancy,
    /// which goes
    /// `1 / 2^filter` of the way when a packet leaves.
    pub filter: Option<u8>,
}

/// What a lossless group has. All sizes are in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LosslessConfig {
    /// The most headroom it may take.
    pub headroom: u64,
    /// It asks to resume at this occupancy in any case.
    pub xon: u64,
    /// It asks to resume this far below its limit.
    pub xon_offset: u64,
}

/// One side of a buffer: pools, ports and their groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngressConfig {
    /// Bytes of a cell. A packet takes whole cells.
    pub cell: u32,
    /// Parts of the memory (pipes) with pools of their own.
    pub partitions: usize,
    /// The pools.
    pub pools: Vec<PoolConfig>,
    /// The ports.
    pub ports: Vec<PortConfig>,
    /// The groups.
    pub groups: Vec<GroupConfig>,
}

impl IngressConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.cell == 0 {
            return Err(ConfigError::new("ingress.cell", 0, "a cell has bytes").remedy("give a size such as 256"));
        }
        if self.partitions == 0 {
            return Err(ConfigError::new("ingress.partitions", 0, "the memory has a part at least").remedy("give 1"));
        }
        for pool in &self.pools {
            cells("ingress.pool.shared", pool.shared)?;
            cells("ingress.pool.headroom", pool.headroom.unwrap_or(0))?;
        }
        if self.partitions.saturating_mul(self.pools.len()) > MAX_POOLS {
            let pools = self.partitions.saturating_mul(self.pools.len());
            let error = ConfigError::new("ingress.partitions", pools, "there are too many pools in all partitions");
            return Err(error.remedy(format!("give at most {MAX_POOLS}")));
        }
        if self.ports.len() > MAX_PORTS {
            let error = ConfigError::new("ports", self.ports.len(), "there are too many ports");
            return Err(error.remedy(format!("give at most {MAX_PORTS}")));
        }
        self.ports.iter().try_for_each(|port| self.check_port(port))?;
        let mut seen = alloc::vec![false; self.ports.len() * GROUPS_PER_PORT];
        for group in &self.groups {
            self.check_group(group)?;
            let pg = group.port * GROUPS_PER_PORT + usize::from(group.number);
            if core::mem::replace(&mut seen[pg], true) {
                let problem = format!("port {} has group {} already", group.port, group.number);
                let error = ConfigError::new("ingress.group.groups", group.number, problem);
                return Err(error.remedy("describe each group once"));
            }
        }
        Ok(())
    }

    fn check_port(&self, port: &PortConfig) -> Result<(), ConfigError> {
        below("ingress.port.partition", port.partition, self.partitions, "partition")?;
        if port.limits.len() > self.pools.len() {
            let problem = format!("there are {} pools", self.pools.len());
            let error = ConfigError::new("ingress.port.limit", port.limits.len(), problem);
            return Err(error.remedy("give one limit for each pool at most"));
        }
        for limit in &port.limits {
            if let Limit::OfPort(_) = limit {
                let error =
                    ConfigError::new("ingress.port.limit", "of port", "a port's limit is not a share of itself");
                return Err(error.remedy("give none, a number of cells or alpha"));
            }
            check_limit("ingress.port.limit", *limit)?;
        }
        cells("ingress.port.headroom", port.headroom.unwrap_or(0))
    }

    fn check_group(&self, group: &GroupConfig) -> Result<(), ConfigError> {
        below("ingress.group.ports", group.port, self.ports.len(), "port")?;
        below("ingress.group.groups", usize::from(group.number), GROUPS_PER_PORT, "group")?;
        below("ingress.group.pool", group.pool, self.pools.len(), "pool")?;
        cells("ingress.group.minimum", group.minimum)?;
        check_limit("ingress.group.limit", group.limit)?;
        let of_port = self.ports[group.port].limits.get(group.pool).copied().unwrap_or_default();
        if matches!(group.limit, Limit::OfPort(_)) && of_port == Limit::None {
            let error = ConfigError::new("ingress.group.limit", "of port", "its port has no limit in that pool");
            return Err(error.remedy("give the port a limit, or the group one of its own"));
        }
        self.check_filter(group, of_port)?;
        let lossless = group.lossless.unwrap_or_default();
        cells("ingress.group.headroom", lossless.headroom)?;
        cells("ingress.group.xon", lossless.xon)?;
        cells("ingress.group.xon_offset", lossless.xon_offset)
    }
}

impl IngressConfig {
    fn check_filter(&self, group: &GroupConfig, of_port: Limit) -> Result<(), ConfigError> {
        let Some(filter) = group.filter else { return Ok(()) };
        let error = |problem: &str, remedy: &str| {
            Err(ConfigError::new("ingress.groups.filter", filter, problem).remedy(remedy))
        };
        if u32::from(filter) > MAX_FILTER {
            return error("the filtered occupancy would hardly move", "give 0 to 16");
        }
        if group.lossless.is_none() {
            return error("only a group with headroom is filtered", "add headroom; queues have policy.filter");
        }
        if !matches!(group.limit, Limit::Dynamic(_)) || of_port != Limit::None {
            return error("its limit is alpha * free, and its port has none", "give it alpha, and its port no limit");
        }
        Ok(())
    }
}

fn cells(field: &'static str, cells: u64) -> Result<(), ConfigError> {
    if cells <= MAX_CELLS {
        return Ok(());
    }
    Err(ConfigError::new(field, cells, "this is more than any memory has")
        .remedy(format!("give at most {MAX_CELLS} cells")))
}

fn below(field: &'static str, index: usize, count: usize, what: &str) -> Result<(), ConfigError> {
    if index < count {
        return Ok(());
    }
    let error = ConfigError::new(field, index, format!("there is no such {what}"));
    Err(error.remedy(format!("there are {count}, counted from 0")))
}

fn check_limit(field: &'static str, limit: Limit) -> Result<(), ConfigError> {
    match limit {
        Limit::None => Ok(()),
        Limit::Static(limit) => cells(field, limit),
        Limit::Dynamic(alpha) | Limit::OfPort(alpha) if alpha.is_valid() => Ok(()),
        Limit::Dynamic(alpha) | Limit::OfPort(alpha) => {
            let error = ConfigError::new(field, format!("{}/{}", alpha.num, alpha.den), "this is not a factor");
            Err(error.remedy(format!("give a ratio of whole numbers up to {MAX_RATIO}, the lower one not 0")))
        }
    }
}
