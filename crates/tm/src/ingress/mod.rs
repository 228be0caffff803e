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
use crate::verdict::Reason;
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
    /// As a reason of the ingress side.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Pool => Reason::IngressPool,
            Self::Port => Reason::IngressPort,
            Self::Group => Reason::IngressGroup,
            Self::Headroom => Reason::IngressHeadroom,
            Self::PortHeadroom => Reason::IngressPortHeadroom,
            Self::HeadroomPool => Reason::IngressHeadroomPool,
        }
    }

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
    /// What was charged since it was that of before.
    pub(crate) const fn since(self, before: Self, charged: Charged) -> Charge {
        Charge {
            minimum: self.minimum - before.minimum,
            shared: self.shared - before.shared,
            headroom: self.headroom - before.headroom,
            pause: matches!(charged, Charged::Pause),
        }
    }

    /// All its cells.
    pub const fn total(self) -> u64 {
        self.minimum + self.shared + self.headroom
    }
}

mod group;
mod view;

use group::{Group, Hot};

/// No such group.
const NOBODY: u32 = u32::MAX;

/// Bits of the [`place`](Ingress::place) of a group.
pub(crate) const PG_BITS: u32 = 16;

/// The most pools, those of all partitions counted.
pub const MAX_POOLS: usize = 64;

/// Places for pools: as many as the numbers that tell them, so that no place has to be checked.
const POOL_PLACES: usize = 1 << u8::BITS;

/// The most ports of an ingress side.
pub const MAX_PORTS: usize = (1 << PG_BITS) / GROUPS_PER_PORT;

/// The ingress side of a switch's buffer.
#[derive(Clone, Debug)]
pub struct Ingress {
    /// `floor((2^64 - 1) / cell)`: a product with it is a division by the cell.
    reciprocal: u64,
    config: IngressConfig,
    /// What every packet of a group looks at: [`GROUPS_PER_PORT`] of each port, whether they are there or not.
    hot: Vec<Hot>,
    /// What few packets look at.
    groups: Vec<Group>,
    /// Shared cells that are free: of each partition, of each pool.
    free: [u64; POOL_PLACES],
    /// Headroom that is taken: of each partition, of each pool.
    headroom: Vec<u64>,
    /// Shared cells of each port, of each pool, where the port has a limit.
    port_shared: Vec<u64>,
    /// Headroom of each port.
    port_headroom: Vec<u64>,
    /// What the group had that took headroom last.
    before: Before,
}

/// How a packet was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Charged {
    /// To the group's minimum and the shared part.
    Shared,
    /// The same, where the port has a limit or the occupancy is filtered.
    OfPort,
    /// To headroom.
    Headroom,
    /// To headroom, for which the group asks for pause.
    Pause,
}

/// What a group had before a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    over: i64,
    headroom: u64,
    paused_at: Option<u64>,
}

impl Ingress {
    /// An empty buffer.
    ///
    /// # Errors
    /// If the configuration names what is not there, or numbers that cannot be.
    pub fn new(config: IngressConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut hot = vec![Hot::missing(); config.ports.len() * GROUPS_PER_PORT];
        for (number, group) in config.groups.iter().enumerate() {
            hot[group.port * GROUPS_PER_PORT + usize::from(group.number)] = Hot::new(number, group, &config);
        }
        let pools = config.partitions * config.pools.len();
        let mut ingress = Self {
            reciprocal: u64::MAX / u64::from(config.cell),
            hot,
            groups: config.groups.iter().map(|group| Group::new(group, &config)).collect(),
            free: [0; POOL_PLACES],
            headroom: vec![0; pools],
            port_shared: vec![0; config.ports.len() * config.pools.len()],
            port_headroom: vec![0; config.ports.len()],
            before: Before::default(),
            config,
        };
        for (pg, free) in ingress.free.iter_mut().enumerate().take(pools) {
            *free = ingress.config.pools[pg % ingress.config.pools.len()].shared;
        }
        Ok(ingress)
    }

    /// The cells of a packet, which has one byte at least.
    #[inline(always)]
    pub const fn cells(&self, bytes: u32) -> u64 {
        // ceil(bytes / cell) is floor((bytes - 1) / cell) + 1. With m = floor((2^64 - 1) / cell), floor(((n + 1) * m) /
        // 2^64) is floor(n / cell) for n and cell below 2^32.
        ((bytes as u128 * self.reciprocal as u128) >> 64) as u64 + 1
    }

    /// A packet of a port's group arrives.
    ///
    /// # Panics
    /// If the port has no such group.
    pub fn admit(&mut self, port: usize, number: u8, bytes: u32) -> Admission {
        let pg = self.pg_of(port, number);
        let before = self.occupancy(port, number);
        match self.charge(pg, self.cells(bytes)) {
            Err(refusal) => Admission::Refused(refusal),
            Ok(charged) => Admission::Admitted(self.occupancy(port, number).since(before, charged)),
        }
    }

    /// A packet of a port's group has left. Whether the group asks to resume now.
    ///
    /// # Panics
    /// If the port has no such group, or the group has less than that.
    pub fn release(&mut self, port: usize, number: u8, bytes: u32) -> bool {
        let (pg, cells) = (self.pg_of(port, number), self.cells(bytes));
        let has = self.occupancy(port, number).total();
        assert!(cells <= has, "group {number} of port {port} has less than {cells} cells");
        self.give_back(pg, cells)
    }

    /// Takes cells for a packet of a group of the minimum alone, or of the shared part alone, if the limits allow it
    /// surely. Whether
    /// it did; if not, nothing has changed.
    #[inline(always)]
    pub(crate) fn charge_shared(&mut self, pg: usize, cells: u64) -> bool {
        let hot = &mut self.hot[pg];
        let over = hot.over + cells as i64;
        if hot.over < 0 {
            // A packet that is in both parts is looked at elsewhere.
            let is_minimum = over <= 0;
            hot.over = if is_minimum { over } else { hot.over };
            return is_minimum;
        }
        let free = &mut self.free[usize::from(hot.in_pool)];
        let left = free.wrapping_sub(cells);
        if over > hot.sure_own || (left as i64) < hot.sure_left {
            return false;
        }
        *free = left;
        hot.over = over;
        true
    }

    /// Undoes what [`Ingress::charge_shared`] did.
    #[inline(always)]
    pub(crate) fn undo_shared(&mut self, pg: usize, cells: u64) {
        let hot = &mut self.hot[pg];
        hot.over -= cells as i64;
        if hot.over >= 0 {
            self.free[usize::from(hot.in_pool)] += cells;
        }
    }

    /// Takes cells for a packet of a group: how, or why they are refused.
    pub(crate) fn charge(&mut self, pg: usize, cells: u64) -> Result<Charged, Refusal> {
        let hot = &mut self.hot[pg];
        let over = hot.over + cells as i64;
        // What is not of the minimum.
        if over > 0 {
            let own = over as u64;
            let rest = own.min(cells);
            let free = &mut self.free[usize::from(hot.in_pool)];
            let left = free.wrapping_sub(rest);
            if rest > *free || !hot.is_within(own, left) {
                return self.charge_checked(pg, own, rest);
            }
            *free = left;
            hot.be_sure(left);
        }
        hot.over = over;
        Ok(Charged::Shared)
    }

    /// [`Ingress::charge`] where a limit of the port counts, too, or where the shared part is refused.
    #[inline(never)]
    fn charge_checked(&mut self, pg: usize, own: u64, rest: u64) -> Result<Charged, Refusal> {
        let hot = &mut self.hot[pg];
        let number = hot.number as usize;
        let (free, port) = (self.free[usize::from(hot.in_pool)], self.port_shared[hot.in_port as usize]);
        let Some(refusal) = self.groups[number].refusal(own, rest, free, port) else {
            self.free[usize::from(hot.in_pool)] -= rest;
            self.port_shared[hot.in_port as usize] += if hot.has_port_limit { rest } else { 0 };
            hot.over = own as i64;
            return Ok(Charged::OfPort);
        };
        let group = &self.groups[number];
        let Some(lossless) = group.config.lossless else { return Err(refusal) };
        let (port, in_pool) = (group.config.port, usize::from(hot.in_pool));
        if group.headroom + rest > lossless.headroom {
            return Err(Refusal::Headroom);
        }
        if self.config.ports[port].headroom.is_some_and(|limit| self.port_headroom[port] + rest > limit) {
            return Err(Refusal::PortHeadroom);
        }
        let of_pool = self.config.pools[group.config.pool].headroom;
        if of_pool.is_some_and(|limit| self.headroom[in_pool] + rest > limit) {
            return Err(Refusal::HeadroomPool);
        }
        self.before = Before { over: hot.over, headroom: group.headroom, paused_at: group.paused_at };
        let pause = group.paused_at.is_none();
        let limit = pause.then(|| self.limit_of(pg));
        let group = &mut self.groups[number];
        group.paused_at = group.paused_at.or(limit);
        group.headroom += rest;
        self.headroom[in_pool] += rest;
        self.port_headroom[port] += rest;
        let hot = &mut self.hot[pg];
        hot.over = hot.over.max(0);
        hot.care_below = i64::MAX;
        Ok(if pause { Charged::Pause } else { Charged::Headroom })
    }

    /// Cells of a packet come back. Whether the group asks to resume now.
    #[inline(always)]
    pub(crate) fn give_back(&mut self, pg: usize, cells: u64) -> bool {
        let hot = &mut self.hot[pg];
        hot.over -= cells as i64;
        if hot.over < hot.care_below {
            let before = hot.over + cells as i64;
            if hot.care_below > 0 {
                hot.over = before;
                return self.give_back_checked(pg, cells);
            }
            // The packet was in the minimum, at least in part.
            self.free[usize::from(hot.in_pool)] += before.max(0) as u64;
            return false;
        }
        self.free[usize::from(hot.in_pool)] += cells;
        false
    }

    /// [`Ingress::give_back`] of a group that has headroom or is paused, is filtered, or whose port has a limit.
    #[inline(never)]
    fn give_back_checked(&mut self, pg: usize, cells: u64) -> bool {
        let hot = &mut self.hot[pg];
        let group = &mut self.groups[hot.number as usize];
        let in_pool = usize::from(hot.in_pool);
        let headroom = cells.min(group.headroom);
        group.headroom -= headroom;
        self.headroom[in_pool] -= headroom;
        self.port_headroom[group.config.port] -= headroom;
        let over = hot.over - (cells - headroom) as i64;
        let back = (hot.over.max(0) - over.max(0)) as u64;
        hot.over = over;
        self.free[in_pool] += back;
        if hot.has_port_limit {
            self.port_shared[hot.in_port as usize] -= back;
        }
        if let Some(filter) = group.config.filter {
            let has = (group.config.minimum as i64 + hot.over) as u64 + group.headroom;
            group.filtered.follow(has, u32::from(filter));
        }
        let is_over = self.resumes(pg);
        if is_over {
            let number = self.number(pg);
            self.groups[number].paused_at = None;
        }
        self.look_after(pg);
        is_over
    }

    /// Whether a paused group asks to resume now.
    fn resumes(&self, pg: usize) -> bool {
        let group = &self.groups[self.number(pg)];
        let (Some(paused_at), Some(lossless)) = (group.paused_at, group.config.lossless) else { return false };
        if group.headroom > 0 {
            return false;
        }
        if group.config.filter.is_some() {
            return group.filter_resumes(self.free_for(pg));
        }
        let limit = group.config.minimum + paused_at.min(self.limit_of(pg));
        let resume = lossless.xon.max(limit.saturating_sub(lossless.xon_offset));
        self.occupancy_at(pg).total() <= resume
    }

    /// Whether the group's packets have to be looked at with care when they leave.
    fn look_after(&mut self, pg: usize) {
        let hot = &mut self.hot[pg];
        let group = &self.groups[hot.number as usize];
        let is_special = hot.has_port_limit || group.config.filter.is_some();
        let needs_care = group.headroom > 0 || group.paused_at.is_some() || is_special;
        hot.care_below = if needs_care { i64::MAX } else { 0 };
    }

    /// Undoes the charge that was made last, as if the packet had never come.
    #[inline(always)]
    pub(crate) fn undo(&mut self, pg: usize, cells: u64, charged: Charged) {
        let hot = &mut self.hot[pg];
        if charged != Charged::Shared {
            return self.undo_checked(pg, cells, charged);
        }
        let over = hot.over - cells as i64;
        self.free[usize::from(hot.in_pool)] += (hot.over.max(0) - over.max(0)) as u64;
        hot.over = over;
    }

    #[inline(never)]
    fn undo_checked(&mut self, pg: usize, cells: u64, charged: Charged) {
        let hot = &mut self.hot[pg];
        let group = &mut self.groups[hot.number as usize];
        let before = match charged {
            Charged::Shared | Charged::OfPort => {
                Before { over: hot.over - cells as i64, headroom: group.headroom, paused_at: group.paused_at }
            }
            Charged::Headroom | Charged::Pause => self.before,
        };
        let back = (hot.over.max(0) - before.over.max(0)) as u64;
        let headroom = group.headroom - before.headroom;
        self.free[usize::from(hot.in_pool)] += back;
        if hot.has_port_limit {
            self.port_shared[hot.in_port as usize] -= back;
        }
        self.headroom[usize::from(hot.in_pool)] -= headroom;
        self.port_headroom[group.config.port] -= headroom;
        (hot.over, group.headroom, group.paused_at) = (before.over, before.headroom, before.paused_at);
        self.look_after(pg);
    }

    /// The most shared cells that the group could have now, beside what the others have: the least of the three limits.
    fn limit_of(&self, pg: usize) -> u64 {
        let hot = &self.hot[pg];
        let group = &self.groups[hot.number as usize];
        let (free, has) = (self.free[usize::from(hot.in_pool)], hot.over.max(0) as u64);
        let others = self.port_shared[hot.in_port as usize].saturating_sub(has);
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

    /// Where a group of a port is; it is not looked at whether there is such a group.
    #[inline(always)]
    pub(crate) fn pg(&self, port: usize, number: u8) -> usize {
        assert!(usize::from(number) < GROUPS_PER_PORT, "groups are 0 to 15");
        port * GROUPS_PER_PORT + usize::from(number)
    }

    /// Where a group that is there is.
    fn pg_of(&self, port: usize, number: u8) -> usize {
        assert!(self.has_group(port, number), "port {port} has no group {number}");
        self.pg(port, number)
    }

    /// Its number in the configuration.
    pub(crate) fn number(&self, pg: usize) -> usize {
        self.hot[pg].number as usize
    }

    /// The place of a group of the configuration.
    fn pg_at(&self, number: usize) -> usize {
        let group = &self.config.groups[number];
        group.port * GROUPS_PER_PORT + usize::from(group.number)
    }

    fn occupancy_at(&self, pg: usize) -> Occupancy {
        let (over, group) = (self.hot[pg].over, &self.groups[self.number(pg)]);
        let minimum = (group.config.minimum as i64 + over.min(0)) as u64;
        Occupancy { minimum, shared: over.max(0) as u64, headroom: group.headroom }
    }

    /// Changes limits, minimums and headroom while packets wait. All of it applies, or nothing and an error says why.
    ///
    /// The cell, the partitions, the ports and the groups with their pools stay as they are. A group that is paused or
    /// has headroom stays lossless.
    ///
    /// # Errors
    /// If the new settings are none, change what stays, or leave a pool less than is taken of it.
    pub fn reconfigure(&mut self, config: IngressConfig) -> Result<(), ConfigError> {
        let mut new = Self::new(config)?;
        let (old, config) = (&self.config, &new.config);
        let places = |config: &IngressConfig| {
            let group = |group: &GroupConfig| (group.port, group.number, group.pool);
            (
                config.groups.iter().map(group).collect::<Vec<_>>(),
                config.ports.iter().map(|port| port.partition).collect::<Vec<_>>(),
            )
        };
        let sizes = |config: &IngressConfig| (config.cell, config.partitions, config.pools.len());
        if sizes(old) != sizes(config) || places(old) != places(config) {
            let problem = "cells, partitions, pools, ports and groups cannot change while the switch runs";
            return Err(
                ConfigError::new("ingress.groups", "changed", problem).remedy("keep them, or start a new switch")
            );
        }
        for number in 0..self.groups.len() {
            let pg = self.pg_at(number);
            let (group, has) = (&self.groups[number], self.occupancy_at(pg));
            let is_busy = group.paused_at.is_some() || has.headroom > 0;
            if is_busy && new.groups[number].config.lossless.is_none() {
                let error =
                    ConfigError::new("ingress.groups.headroom", "none", "a group that is paused cannot become lossy");
                return Err(error.remedy("change it when the group has resumed"));
            }
            (new.groups[number].headroom, new.groups[number].paused_at) = (has.headroom, group.paused_at);
            new.groups[number].filtered = group.filtered;
            let hot = &mut new.hot[pg];
            hot.over = (has.minimum + has.shared) as i64 - new.groups[number].config.minimum as i64;
            let (shared, in_pool) = (hot.over.max(0) as u64, usize::from(hot.in_pool));
            new.port_shared[hot.in_port as usize] += if hot.has_port_limit { shared } else { 0 };
            new.headroom[in_pool] += has.headroom;
            new.port_headroom[group.config.port] += has.headroom;
            new.free[in_pool] = new.free[in_pool].checked_sub(shared).ok_or_else(|| {
                let shared = new.config.pools[group.config.pool].shared;
                ConfigError::new("ingress.pools.shared", shared, "more than that is taken of it")
                    .remedy("give more, or change it when packets have left")
            })?;
            new.look_after(pg);
        }
        *self = new;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
