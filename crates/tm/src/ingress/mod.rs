//! The ingress side of the buffer: priority groups (PGs) of ports, pools, headroom and pause.
//!
//! A packet is charged to the group of the port it came by, and later released. A group's cells are in three parts:
//!
//! * its *minimum*, which nobody else can take, is filled first;
//! * then cells of its pool's *shared* part, as far as the limits of the group, of its port and of the pool allow;
//! * a lossless group takes what does not fit there into *headroom*, and asks for pause (XOFF). It is refused only
//!   beyond it.
//!
//! Cells are released in the opposite order: headroom, shared, minimum. A paused group asks to resume (XON) when it has
//! no headroom
//! and its occupancy is at most `max(xon, minimum + limit - xon_offset)`. The limit is the lower one of what it was
//! when the group asked for pause and what
//! it is now: the limit rises when the group itself is drained, and a group would else resume before it is `xon_offset`
//! below
//! the point of pause.
//!
//! All limits are tested with the packet in the buffer: `shared + packet <= alpha * (free - packet)`. A lone group in
//! an empty pool of
//! `S` cells so gets `floor(S * alpha / (1 + alpha))` of them, if packets have one cell.
//!
//! The same accounting serves the egress side of chips that keep queues in pools: a queue is a lossy group.
//!
//! Everything is counted in whole cells with integers. There is no clock: nothing happens between two calls, and a
//! group's pause is only
//! reconsidered when one of its own packets comes or goes.
//!
//! ```
//! use forebay_tm::ingress::{Admission, Alpha, GroupConfig, Ingress, IngressConfig, Limit};
//! use forebay_tm::ingress::{LosslessConfig, PoolConfig, PortConfig};
//!
//! let lossless = LosslessConfig { headroom: 2, xon: 0, xon_offset: 1 };
//! let limit = Limit::Dynamic(Alpha::power_of_two(0));
//! let group = GroupConfig { minimum: 1, limit, lossless: Some(lossless), ..GroupConfig::default() };
//! let pool = PoolConfig { shared: 6, headroom: None };
//! let (pools, ports, groups) = (vec![pool], vec![PortConfig::default()], vec![group]);
//! let config = IngressConfig { cell: 256, partitions: 1, pools, ports, groups };
//! let mut ingress = Ingress::new(config).unwrap();
//! // One cell of minimum, three of six shared; then pause and two of headroom; then a drop.
//! let paused: Vec<bool> = (0..6).map(|_| ingress.admit(0, 0, 64).asks_for_pause()).collect();
//! assert_eq!(paused, [false, false, false, false, true, false]);
//! assert!(matches!(ingress.admit(0, 0, 64), Admission::Refused(_)));
//! // It resumes without headroom, one cell below the limit.
//! assert_eq!([0; 3].map(|_| ingress.release(0, 0, 64)), [false, false, true]);
//! ```

mod config;

pub use config::{
    Alpha, GROUPS_PER_PORT, GroupConfig, IngressConfig, Limit, LosslessConfig, MAX_CELLS, MAX_RATIO, PoolConfig,
    PortConfig,
};

use crate::config::ConfigError;
use alloc::vec;
use alloc::vec::Vec;

/// What a packet got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is in the buffer.
    Admitted(Charge),
    /// It is not, and nothing has changed.
    Refused(Refusal),
}

impl Admission {
    /// Whether the group asks for pause because of this packet. A group that is paused does not ask again.
    pub const fn asks_for_pause(self) -> bool {
        matches!(self, Self::Admitted(Charge { pause: true, .. }))
    }
}

/// Where the cells of a packet were charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// Cells of the group's minimum.
    pub minimum: u64,
    /// Cells of the pool's shared part.
    pub shared: u64,
    /// Cells of headroom.
    pub headroom: u64,
    /// The group asks for pause now.
    pub pause: bool,
}

/// The limit that a packet met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The pool has no shared cells left for it.
    Pool,
    /// The limit of the port.
    Port,
    /// The limit of the group.
    Group,
    /// The headroom of the group.
    Headroom,
    /// The headroom of the port.
    PortHeadroom,
    /// The shared headroom pool.
    HeadroomPool,
}

impl Refusal {
    /// Its name in messages and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Port => "port",
            Self::Group => "group",
            Self::Headroom => "headroom",
            Self::PortHeadroom => "port-headroom",
            Self::HeadroomPool => "headroom-pool",
        }
    }
}

/// The cells of a group, part by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Of its minimum.
    pub minimum: u64,
    /// Of the shared part.
    pub shared: u64,
    /// Of headroom.
    pub headroom: u64,
}

impl Occupancy {
    /// All its cells.
    pub const fn total(self) -> u64 {
        self.minimum + self.shared + self.headroom
    }
}

#[derive(Clone, Debug)]
struct Group {
    has: Occupancy,
    config: GroupConfig,
    /// The limit of the shared part when the group asked for pause, while it is paused.
    paused_at: Option<u64>,
    partition: usize,
    /// Its pool, and where the pool's cells in its partition are counted.
    pool: PoolConfig,
    in_pool: usize,
    /// The limit of its port in its pool, and where the port's cells of that pool are counted.
    port_limit: Limit,
    in_port: usize,
}

/// The cells of a pool that are taken in one partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    shared: u64,
    headroom: u64,
}

/// No such group.
const NOBODY: u32 = u32::MAX;

/// The ingress side of a switch's buffer.
#[derive(Clone, Debug)]
pub struct Ingress {
    cell: u64,
    pools: Vec<PoolConfig>,
    ports: Vec<PortConfig>,
    groups: Vec<Group>,
    /// Where a port's groups are.
    index: Vec<[u32; GROUPS_PER_PORT]>,
    /// Of each partition, of each pool.
    taken: Vec<Taken>,
    /// Shared cells of each port, of each pool.
    port_shared: Vec<u64>,
    /// Headroom of each port.
    port_headroom: Vec<u64>,
    /// All cells of each partition.
    partitions: Vec<u64>,
}

impl Ingress {
    /// An empty buffer.
    ///
    /// # Errors
    /// If the configuration names what is not there, or numbers that cannot be.
    pub fn new(config: IngressConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut index = vec![[NOBODY; GROUPS_PER_PORT]; config.ports.len()];
        for (place, group) in config.groups.iter().enumerate() {
            index[group.port][usize::from(group.number)] = place as u32;
        }
        let pools = config.pools.len();
        let groups = config.groups.iter().map(|group| Group {
            has: Occupancy::default(),
            config: *group,
            paused_at: None,
            partition: config.ports[group.port].partition,
            pool: config.pools[group.pool],
            in_pool: config.ports[group.port].partition * pools + group.pool,
            port_limit: config.ports[group.port].limits.get(group.pool).copied().unwrap_or_default(),
            in_port: group.port * pools + group.pool,
        });
        Ok(Self {
            cell: u64::from(config.cell),
            groups: groups.collect(),
            index,
            taken: vec![Taken::default(); config.partitions * config.pools.len()],
            port_shared: vec![0; config.ports.len() * config.pools.len()],
            port_headroom: vec![0; config.ports.len()],
            partitions: vec![0; config.partitions],
            pools: config.pools,
            ports: config.ports,
        })
    }

    /// The cells of a packet.
    #[inline]
    pub const fn cells(&self, bytes: u32) -> u64 {
        (bytes as u64).div_ceil(self.cell)
    }

    /// A packet of a port's group arrives.
    ///
    /// # Panics
    /// If the port has no such group.
    pub fn admit(&mut self, port: usize, number: u8, bytes: u32) -> Admission {
        let place = self.place(port, number);
        let cells = self.cells(bytes);
        let group = &self.groups[place];
        let minimum = cells.min(group.config.minimum - group.has.minimum);
        let rest = cells - minimum;
        let mut charge = Charge { minimum, ..Charge::default() };
        match self.shared_refusal(group, rest) {
            None => charge.shared = rest,
            Some(refusal) if group.config.lossless.is_none() => return Admission::Refused(refusal),
            Some(_) => {
                if let Some(refusal) = self.headroom_refusal(group, rest) {
                    return Admission::Refused(refusal);
                }
                charge.headroom = rest;
                charge.pause = group.paused_at.is_none();
            }
        }
        if charge.pause {
            self.groups[place].paused_at = Some(self.limit_of(&self.groups[place]));
        }
        self.take(place, charge);
        Admission::Admitted(charge)
    }

    /// A packet of a port's group has left. Whether the group asks to resume now.
    ///
    /// # Panics
    /// If the port has no such group, or the group has less than that.
    pub fn release(&mut self, port: usize, number: u8, bytes: u32) -> bool {
        let place = self.place(port, number);
        let cells = self.cells(bytes);
        let group = &self.groups[place];
        assert!(cells <= group.has.total(), "group {number} of port {port} has less than {cells} cells");
        let headroom = cells.min(group.has.headroom);
        let shared = (cells - headroom).min(group.has.shared);
        self.give_back(place, Occupancy { minimum: cells - headroom - shared, shared, headroom });
        let group = &self.groups[place];
        let (Some(paused_at), Some(lossless)) = (group.paused_at, group.config.lossless) else { return false };
        if group.has.headroom > 0 {
            return false;
        }
        let limit = group.config.minimum + paused_at.min(self.limit_of(group));
        let resume = lossless.xon.max(limit.saturating_sub(lossless.xon_offset));
        let is_over = group.has.total() <= resume;
        if is_over {
            self.groups[place].paused_at = None;
        }
        is_over
    }

    #[inline]
    fn take(&mut self, place: usize, charge: Charge) {
        let group = &mut self.groups[place];
        group.has.minimum += charge.minimum;
        group.has.shared += charge.shared;
        self.taken[group.in_pool].shared += charge.shared;
        self.port_shared[group.in_port] += charge.shared;
        self.partitions[group.partition] += charge.minimum + charge.shared + charge.headroom;
        if charge.headroom > 0 {
            group.has.headroom += charge.headroom;
            self.taken[group.in_pool].headroom += charge.headroom;
            self.port_headroom[group.config.port] += charge.headroom;
        }
    }

    #[inline]
    fn give_back(&mut self, place: usize, cells: Occupancy) {
        let group = &mut self.groups[place];
        group.has.minimum -= cells.minimum;
        group.has.shared -= cells.shared;
        self.taken[group.in_pool].shared -= cells.shared;
        self.port_shared[group.in_port] -= cells.shared;
        self.partitions[group.partition] -= cells.total();
        if cells.headroom > 0 {
            group.has.headroom -= cells.headroom;
            self.taken[group.in_pool].headroom -= cells.headroom;
            self.port_headroom[group.config.port] -= cells.headroom;
        }
    }

    /// The limit that keeps cells of a group out of the shared part.
    #[inline]
    fn shared_refusal(&self, group: &Group, cells: u64) -> Option<Refusal> {
        if cells == 0 {
            return None;
        }
        let free = self.free(group);
        if cells > free {
            return Some(Refusal::Pool);
        }
        let left = free - cells;
        let port = self.port_has(group) + cells;
        let of_port = group.port_limit;
        let within_port = match of_port {
            Limit::None | Limit::OfPort(_) => true,
            Limit::Dynamic(alpha) => port * alpha.den <= alpha.num * left,
            Limit::Static(limit) => port <= limit,
        };
        if !within_port {
            return Some(Refusal::Port);
        }
        let shared = group.has.shared + cells;
        let within = match group.config.limit {
            Limit::None => true,
            Limit::Static(limit) => shared <= limit,
            Limit::Dynamic(alpha) => shared * alpha.den <= alpha.num * left,
            // Both sides are multiplied by the denominator of the port's alpha, so that nothing is rounded.
            Limit::OfPort(alpha) => match of_port {
                Limit::Dynamic(outer) => {
                    shared * alpha.den * outer.den <= alpha.num * (outer.num * left - port * outer.den)
                }
                Limit::Static(limit) => shared * alpha.den <= alpha.num * (limit - port),
                Limit::None | Limit::OfPort(_) => true,
            },
        };
        (!within).then_some(Refusal::Group)
    }

    fn headroom_refusal(&self, group: &Group, cells: u64) -> Option<Refusal> {
        let own = group.config.lossless.map_or(0, |lossless| lossless.headroom);
        if group.has.headroom + cells > own {
            return Some(Refusal::Headroom);
        }
        let port = group.config.port;
        if self.ports[port].headroom.is_some_and(|limit| self.port_headroom[port] + cells > limit) {
            return Some(Refusal::PortHeadroom);
        }
        let taken = self.taken[group.in_pool].headroom;
        let is_short = group.pool.headroom.is_some_and(|limit| taken + cells > limit);
        is_short.then_some(Refusal::HeadroomPool)
    }

    /// The most shared cells that the group could have now, beside what the others have: the least of the three limits.
    fn limit_of(&self, group: &Group) -> u64 {
        let (free, has) = (self.free(group), group.has.shared);
        let others = self.port_has(group) - has;
        let of_port = match group.port_limit {
            Limit::Dynamic(alpha) => Some(alpha.of(free)),
            Limit::Static(limit) => Some(limit),
            Limit::None | Limit::OfPort(_) => None,
        };
        let own = match group.config.limit {
            Limit::None => u64::MAX,
            Limit::Static(limit) => limit,
            Limit::Dynamic(alpha) => alpha.of(free),
            Limit::OfPort(alpha) => of_port.map_or(u64::MAX, |limit| alpha.of(limit.saturating_sub(others + has))),
        };
        let of_port = of_port.map_or(u64::MAX, |limit| limit.saturating_sub(others));
        own.min(of_port).min(has + free)
    }

    #[inline]
    fn free(&self, group: &Group) -> u64 {
        group.pool.shared - self.taken[group.in_pool].shared
    }

    #[inline]
    fn port_has(&self, group: &Group) -> u64 {
        self.port_shared[group.in_port]
    }

    #[inline]
    fn place(&self, port: usize, number: u8) -> usize {
        let place = self.index[port][usize::from(number)];
        assert!(place != NOBODY, "port {port} has no group {number}");
        place as usize
    }

    // ---- What can be seen -------------------------------------------------------------------------------------------

    /// Whether the port has such a group.
    pub fn has_group(&self, port: usize, number: u8) -> bool {
        self.index.get(port).and_then(|groups| groups.get(usize::from(number))).is_some_and(|place| *place != NOBODY)
    }

    /// The cells of a group.
    ///
    /// # Panics
    /// If the port has no such group; so do the next two.
    pub fn occupancy(&self, port: usize, number: u8) -> Occupancy {
        self.groups[self.place(port, number)].has
    }

    /// The most shared cells that a group could have now: the least of the limits of group, port and pool.
    pub fn limit(&self, port: usize, number: u8) -> u64 {
        self.limit_of(&self.groups[self.place(port, number)])
    }

    /// Whether a group has asked for pause, and not to resume since.
    pub fn is_paused(&self, port: usize, number: u8) -> bool {
        self.groups[self.place(port, number)].paused_at.is_some()
    }

    /// The shared cells of a pool that are taken in a partition.
    pub fn pool_shared(&self, partition: usize, pool: usize) -> u64 {
        self.taken[partition * self.pools.len() + pool].shared
    }

    /// The headroom of a pool's groups that is taken in a partition.
    pub fn pool_headroom(&self, partition: usize, pool: usize) -> u64 {
        self.taken[partition * self.pools.len() + pool].headroom
    }

    /// The shared cells of a pool that a port has.
    pub fn port_shared(&self, port: usize, pool: usize) -> u64 {
        self.port_shared[port * self.pools.len() + pool]
    }

    /// The headroom that a port has.
    pub fn port_headroom(&self, port: usize) -> u64 {
        self.port_headroom[port]
    }

    /// All cells that are taken in a partition.
    pub fn partition(&self, partition: usize) -> u64 {
        self.partitions[partition]
    }

    /// Whether every counter is the sum of what the groups have, and no pool has given more than it has.
    pub fn is_consistent(&self) -> bool {
        let pools = self.pools.len();
        let mut taken = vec![Taken::default(); self.taken.len()];
        let mut port_shared = vec![0; self.port_shared.len()];
        let mut port_headroom = vec![0; self.port_headroom.len()];
        let mut partitions = vec![0; self.partitions.len()];
        for group in &self.groups {
            let (port, pool) = (group.config.port, group.config.pool);
            taken[group.partition * pools + pool].shared += group.has.shared;
            taken[group.partition * pools + pool].headroom += group.has.headroom;
            port_shared[port * pools + pool] += group.has.shared;
            port_headroom[port] += group.has.headroom;
            partitions[group.partition] += group.has.total();
        }
        let within = |(place, taken): (usize, &Taken)| {
            let pool = self.pools[place % pools];
            taken.shared <= pool.shared && pool.headroom.is_none_or(|limit| taken.headroom <= limit)
        };
        taken == self.taken
            && port_shared == self.port_shared
            && port_headroom == self.port_headroom
            && partitions == self.partitions
            && self.taken.iter().enumerate().all(within)
            && self.groups.iter().all(|group| group.has.minimum <= group.config.minimum)
    }
}

#[cfg(test)]
mod tests;
