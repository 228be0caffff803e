//! What can be seen of the ingress side, and whether its accounts agree.

use super::{GROUPS_PER_PORT, GroupConfig, Ingress, IngressConfig, NOBODY, Occupancy};

impl Ingress {
    /// The configuration in force.
    pub const fn config(&self) -> &IngressConfig {
        &self.config
    }

    /// Whether the port has such a group.
    pub fn has_group(&self, port: usize, number: u8) -> bool {
        let number = usize::from(number);
        let hot = self.hot.get(port * GROUPS_PER_PORT + number);
        number < GROUPS_PER_PORT && hot.is_some_and(|hot| hot.number != NOBODY)
    }

    /// The cells of a group.
    ///
    /// # Panics
    /// If the port has no such group; so do the next two.
    pub fn occupancy(&self, port: usize, number: u8) -> Occupancy {
        self.occupancy_at(self.pg_of(port, number))
    }

    /// The most shared cells that a group could have now: the least of the limits of group, port and pool.
    pub fn limit(&self, port: usize, number: u8) -> u64 {
        self.limit_of(self.pg_of(port, number))
    }

    /// Whether a group has asked for pause, and not to resume since.
    pub fn is_paused(&self, port: usize, number: u8) -> bool {
        self.groups[self.number(self.pg_of(port, number))].paused_at.is_some()
    }

    /// The most cells with which a paused group can ask to resume, whatever its limit will be. `None` if it is not
    /// paused.
    ///
    /// # Panics
    /// If the port has no such group.
    pub fn resume_point(&self, port: usize, number: u8) -> Option<u64> {
        let group = &self.groups[self.number(self.pg_of(port, number))];
        let (paused_at, lossless) = (group.paused_at?, group.config.lossless?);
        // What is filtered can be far below the occupancy.
        let paused_at = if group.config.filter.is_some() { u64::MAX } else { paused_at };
        let limit = group.config.minimum.saturating_add(paused_at);
        Some(lossless.xon.max(limit.saturating_sub(lossless.xon_offset)))
    }

    /// Shared cells that are free for a group.
    pub(crate) fn free_for(&self, pg: usize) -> u64 {
        self.free[usize::from(self.hot[pg].in_pool)]
    }

    /// The shared cells of a pool that are taken in a partition.
    pub fn pool_shared(&self, partition: usize, pool: usize) -> u64 {
        self.config.pools[pool].shared - self.free[partition * self.config.pools.len() + pool]
    }

    /// The headroom of a pool's groups that is taken in a partition.
    pub fn pool_headroom(&self, partition: usize, pool: usize) -> u64 {
        self.headroom[partition * self.config.pools.len() + pool]
    }

    /// The shared cells of a pool that a port has.
    pub fn port_shared(&self, port: usize, pool: usize) -> u64 {
        self.sum(|group| group.port == port && group.pool == pool, |has| has.shared)
    }

    /// The headroom that a port has.
    pub fn port_headroom(&self, port: usize) -> u64 {
        self.port_headroom[port]
    }

    /// All cells that are taken in a partition.
    pub fn partition(&self, partition: usize) -> u64 {
        self.sum(|group| self.config.ports[group.port].partition == partition, Occupancy::total)
    }

    /// Cells of groups, added up.
    fn sum(&self, of: impl Fn(&GroupConfig) -> bool, part: impl Fn(Occupancy) -> u64) -> u64 {
        let groups = (0..self.groups.len()).filter(|number| of(&self.groups[*number].config));
        groups.map(|number| part(self.occupancy_at(self.pg_at(number)))).sum()
    }

    /// Whether every counter is the sum of what the groups have, and no pool has given more than it has. Slow; for
    /// tests.
    pub fn is_consistent(&self) -> bool {
        let config = &self.config;
        let pool_is_right = |(partition, pool): (usize, usize)| {
            let here = |group: &GroupConfig| group.pool == pool && config.ports[group.port].partition == partition;
            let (shared, headroom) = (self.sum(here, |has| has.shared), self.sum(here, |has| has.headroom));
            let free = self.free[partition * config.pools.len() + pool];
            free.checked_add(shared) == Some(config.pools[pool].shared)
                && headroom == self.pool_headroom(partition, pool)
        };
        let pools =
            (0..config.partitions).flat_map(|partition| (0..config.pools.len()).map(move |pool| (partition, pool)));
        let group_is_right = |number: usize| {
            let (hot, group) = (&self.hot[self.pg_at(number)], &self.groups[number]);
            let is_special = hot.has_port_limit || group.config.filter.is_some();
            let needs_care = group.headroom > 0 || group.paused_at.is_some() || is_special;
            let of_port = self.port_shared(group.config.port, group.config.pool);
            let is_counted = self.port_shared[hot.in_port as usize] == if hot.has_port_limit { of_port } else { 0 };
            hot.over >= -(group.config.minimum as i64) && (hot.care_below > 0) == needs_care && is_counted
        };
        pools.into_iter().all(pool_is_right)
            && (0..self.groups.len()).all(group_is_right)
            && (0..config.ports.len())
                .all(|port| self.port_headroom[port] == self.sum(|group| group.port == port, |has| has.headroom))
    }
}
