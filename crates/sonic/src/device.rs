//! A configuration on a chip: the accounting of each PG and queue.

use crate::SonicError;
use crate::chip::{Chip, NamedMinimums, QueueMinimums};
use crate::config::{Config, Direction};
use crate::fill::Side;
use crate::rules::{Derived, Reserved};
use forebay_tm::ingress::{Limit, PoolConfig};

/// A configuration on a chip.
#[derive(Clone, Debug)]
pub struct Device<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The chip family.
    pub chip: Chip,
    /// What PGs and queues keep for themselves, if sizes are gross.
    pub reserved: Reserved,
    shared: Vec<Result<Derived, SonicError>>,
}

/// A PG or queue in its pool, and how its numbers came about.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its accounting.
    pub side: Side,
    /// How the pool's cells and its own came about.
    pub steps: Vec<String>,
}

impl<'a> Device<'a> {
    /// Puts a configuration on a chip.
    pub fn new(config: &'a Config, chip: &Chip) -> Self {
        let reserved = reserved(config, chip);
        let mut device = Self { config, chip: chip.clone(), reserved, shared: vec![] };
        device.shared = (0..config.pools.len()).map(|pool| device.derive(pool)).collect();
        device
    }

    fn derive(&self, place: usize) -> Result<Derived, SonicError> {
        let pool = &self.config.pools[place];
        let named =
            |error: SonicError| SonicError { place: format!("BUFFER_POOL|{}: {}", pool.name, error.place), ..error };
        if !pool.has_size {
            let remedy = "take the size from the switch: redis-cli -n 0 hgetall BUFFER_POOL_TABLE:name";
            return Err(SonicError::new(
                format!("BUFFER_POOL|{}", pool.name),
                "it has no size: the switch works it out",
                remedy,
            ));
        }
        if pool.direction != Direction::Egress {
            return self.chip.ingress_shared(&pool.bytes, self.reserved).map_err(named);
        }
        let is_same =
            |other: &&crate::config::Pool| other.direction == Direction::Ingress && other.bytes.size == pool.bytes.size;
        let ingress = self.config.pools.iter().find(is_same).map(|pool| &pool.bytes);
        self.chip.egress_shared(&pool.bytes, ingress, self.reserved).map_err(named)
    }

    /// Shared cells of a pool in a partition.
    ///
    /// # Errors
    /// If the pool cannot be what it says.
    pub fn shared(&self, pool: usize) -> Result<&Derived, SonicError> {
        self.shared[pool].as_ref().map_err(Clone::clone)
    }

    /// A PG of a port.
    ///
    /// # Errors
    /// If its pool cannot be what it says.
    pub fn group(&self, port: usize, profile: usize) -> Result<Account, SonicError> {
        let of = &self.config.profiles[profile];
        let derived = self.shared(of.pool)?;
        let mut group = self.chip.group(&of.bytes, self.config.lossless_xoff(port));
        let headroom = self.chip.headroom_pool(&self.config.pools[of.pool].bytes);
        let mut steps = derived.steps.clone();
        let outer = self.port_limit(port, of.pool);
        if let (Limit::Dynamic(outer), Limit::Dynamic(alpha)) = (outer, group.limit) {
            group.limit = Limit::OfPort(alpha);
            steps.push(format!(
                "port: alpha {}/{}; a PG gets its alpha of what the port's limit leaves",
                outer.num, outer.den
            ));
        }
        steps.extend(group.steps.iter().cloned());
        if let (Some(cells), true) = (headroom, group.lossless.is_some()) {
            steps.push(format!("shared headroom pool: {cells} cells of each partition"));
        }
        let pool = PoolConfig { shared: derived.cells, headroom };
        Ok(Account { side: Side { cell: self.chip.cell, pool, port: outer, group }, steps })
    }

    fn port_limit(&self, port: usize, pool: usize) -> Limit {
        if !self.chip.port_alpha {
            return Limit::None;
        }
        let profiles = self.config.ports[port].ingress.iter().map(|profile| &self.config.profiles[*profile]);
        let mut limits =
            profiles.filter(|profile| profile.pool == pool).map(|profile| self.chip.limit(profile.bytes.threshold));
        limits.next().unwrap_or_default()
    }

    /// A queue.
    ///
    /// # Errors
    /// If its pool cannot be what it says.
    pub fn queue(&self, profile: usize) -> Result<Account, SonicError> {
        let of = &self.config.profiles[profile];
        let derived = self.shared(of.pool)?;
        let group = self.chip.queue(&of.bytes);
        let mut steps = derived.steps.clone();
        steps.extend(group.steps.iter().cloned());
        let pool = PoolConfig { shared: derived.cells, headroom: None };
        Ok(Account { side: Side { cell: self.chip.cell, pool, port: Limit::None, group }, steps })
    }
}

/// What is kept for PGs and queues on ports that are up.
fn reserved(config: &Config, chip: &Chip) -> Reserved {
    let size = |profile: usize| chip.cells_up(config.profiles[profile].bytes.size);
    let is_up = |port: usize| config.ports[port].is_up;
    let groups = config
        .groups
        .iter()
        .filter(|((port, _), profile)| is_up(*port) && config.profiles[**profile].bytes.xoff.is_some());
    let groups = groups.map(|(_, profile)| size(*profile)).fold(0, u64::saturating_add);
    let queues = match chip.minimums {
        QueueMinimums::PerPort(cells) => cells * config.ports.iter().filter(|port| port.is_up).count() as u64,
        QueueMinimums::Named(NamedMinimums::None) => 0,
        QueueMinimums::Named(NamedMinimums::Lossy) => {
            let lossy = config
                .queues
                .iter()
                .filter(|((port, queue), _)| is_up(*port) && !config.is_lossless_queue(*port, *queue));
            lossy.map(|(_, profile)| size(*profile)).fold(0, u64::saturating_add)
        }
    };
    Reserved { groups, queues }
}
