//! From a pool and a profile to cells, by the rules of a chip family. Each result says how it came about.

use crate::SonicError;
use crate::chip::{Chip, EgressMeaning, GroupMinimum, HeadroomOf, Resume, SizeMeaning, StaticUnit};
use forebay_tm::ingress::{Limit, LosslessConfig};

/// The most shared cells of a partition that make sense: four times those of the largest chip that is known.
const MAX_SHARED: u64 = 1 << 27;

/// A buffer pool, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolBytes {
    /// `size`.
    pub size: u64,
    /// `xoff`: the shared headroom pool; 0 if there is none.
    pub xoff: u64,
}

/// The limit of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// `dynamic_th`.
    Dynamic(i64),
    /// `static_th`, in bytes.
    Static(u64),
}

/// A buffer profile, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileBytes {
    /// `size`.
    pub size: u64,
    /// `dynamic_th` or `static_th`.
    pub threshold: Threshold,
    /// `xon`.
    pub xon: u64,
    /// `xoff`; a profile with one is lossless.
    pub xoff: Option<u64>,
    /// `xon_offset`.
    pub xon_offset: u64,
}

/// Cells of the whole switch that are kept for PGs and queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    /// Sizes of lossless PGs.
    pub groups: u64,
    /// Minimums of queues.
    pub queues: u64,
}

/// A number of cells, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derived {
    /// The cells.
    pub cells: u64,
    /// Step by step.
    pub steps: Vec<String>,
}

/// A PG or queue in cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupCells {
    /// What it has for itself.
    pub minimum: u64,
    /// What it may have of the shared part.
    pub limit: Limit,
    /// Of a lossless PG.
    pub lossless: Option<LosslessConfig>,
    /// What the lossless PGs of its port may have of headroom together, where that is limited.
    pub port_headroom: Option<u64>,
    /// How these came about.
    pub steps: Vec<String>,
}

impl Chip {
    /// Whole cells that bytes need.
    pub fn cells_up(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.cell))
    }

    fn cells_down(&self, bytes: u64) -> u64 {
        bytes / u64::from(self.cell)
    }

    /// Shared cells that a partition has of an ingress pool.
    ///
    /// # Errors
    /// If more is reserved than the pool has.
    pub fn ingress_shared(&self, pool: &PoolBytes, reserved: Reserved) -> Result<Derived, SonicError> {
        let mut steps =
            vec![format!("the pool has {} B = {} cells of {} B", pool.size, self.cells_down(pool.size), self.cell)];
        let mut bytes = pool.size;
        if self.size == SizeMeaning::Gross {
            let minimums = reserved.groups.saturating_add(reserved.queues).saturating_mul(u64::from(self.cell));
            let taken = pool.xoff.saturating_add(minimums);
            bytes = bytes.checked_sub(taken).ok_or_else(|| {
                let problem = format!("headroom ({} B) and minimums ({minimums} B) are more than the pool", pool.xoff);
                SonicError::new(
                    format!("ingress pool of {} B", pool.size),
                    problem,
                    "give a larger size or a smaller xoff",
                )
            })?;
            steps.push(format!(
                "less xoff {} B = {} cells, which size includes on this chip",
                pool.xoff,
                self.cells_up(pool.xoff)
            ));
            if reserved.groups > 0 {
                steps.push(format!("less {} cells of lossless PGs", reserved.groups));
            }
            if reserved.queues > 0 {
                steps.push(format!("less {} cells of queue minimums", reserved.queues));
            }
        } else if pool.xoff > 0 {
            steps.push(format!("xoff {} B comes on top on this chip", pool.xoff));
        }
        self.in_partitions(bytes, steps)
    }

    /// Shared cells that a partition has of an egress pool. `ingress` is the ingress pool, if its size is the same.
    ///
    /// # Errors
    /// If more is reserved than the pool has.
    pub fn egress_shared(
        &self,
        pool: &PoolBytes,
        ingress: Option<&PoolBytes>,
        reserved: Reserved,
    ) -> Result<Derived, SonicError> {
        let same = ingress.filter(|ingress| ingress.size == pool.size && self.egress == EgressMeaning::AsIngress);
        if let (Some(ingress), SizeMeaning::Gross) = (same, self.size) {
            let mut derived = self.ingress_shared(ingress, reserved)?;
            derived.steps.insert(
                0,
                "it has the size of the ingress pool: the same memory, and the same is taken off".to_owned(),
            );
            return Ok(derived);
        }
        let mut steps =
            vec![format!("the pool has {} B = {} cells of {} B", pool.size, self.cells_down(pool.size), self.cell)];
        let mut bytes = pool.size;
        if self.egress == EgressMeaning::LessQueues && self.size == SizeMeaning::Gross && reserved.queues > 0 {
            let queues = reserved.queues.saturating_mul(u64::from(self.cell));
            bytes = bytes.checked_sub(queues).ok_or_else(|| {
                let problem = format!("queue minimums ({queues} B) are more than the pool");
                SonicError::new(format!("egress pool of {} B", pool.size), problem, "give a larger size")
            })?;
            steps.push(format!("less {} cells of queue minimums", reserved.queues));
        }
        self.in_partitions(bytes, steps)
    }

    fn in_partitions(&self, bytes: u64, mut steps: Vec<String>) -> Result<Derived, SonicError> {
        let cells = bytes / (u64::from(self.cell) * self.partitions);
        if cells > MAX_SHARED {
            let problem = format!("{cells} cells in each partition are more than any memory has");
            return Err(SonicError::new(
                format!("pool of {bytes} B"),
                problem,
                "give a size in bytes, such as 32732160",
            ));
        }
        if self.partitions > 1 {
            steps.push(format!("divided among {} partitions", self.partitions));
        }
        steps.push(format!("S = {cells} shared cells{}", if self.partitions > 1 { " in each" } else { "" }));
        Ok(Derived { cells, steps })
    }

    /// The shared headroom pool of a partition; `None` if PGs have headroom of their own.
    pub fn headroom_pool(&self, pool: &PoolBytes) -> Option<u64> {
        (pool.xoff > 0).then(|| pool.xoff / (u64::from(self.cell) * self.partitions))
    }

    /// A limit in cells of a partition.
    pub fn limit(&self, threshold: Threshold) -> Limit {
        match threshold {
            Threshold::Dynamic(th) => Limit::Dynamic(self.alpha(th)),
            Threshold::Static(bytes) => Limit::Static(match self.static_unit {
                StaticUnit::Total => bytes / (u64::from(self.cell) * self.partitions),
                StaticUnit::Partition => self.cells_down(bytes),
            }),
        }
    }

    fn limit_step(&self, threshold: Threshold) -> String {
        match (threshold, self.limit(threshold)) {
            (Threshold::Dynamic(th), Limit::Dynamic(alpha)) if alpha.den == 1 => {
                format!("dynamic_th {th}: alpha = {}", alpha.num)
            }
            (Threshold::Dynamic(th), Limit::Dynamic(alpha)) => {
                format!("dynamic_th {th}: alpha = {}/{}", alpha.num, alpha.den)
            }
            (Threshold::Static(bytes), Limit::Static(cells)) => {
                let unit = if self.partitions == 1 {
                    ""
                } else if self.static_unit == StaticUnit::Partition {
                    ", counted for each partition"
                } else {
                    " of each partition"
                };
                format!("static_th {bytes} B = {cells} cells{unit}")
            }
            _ => String::new(),
        }
    }

    /// Whether headroom is shared by the PGs of a port.
    fn shares_headroom_of_port(&self, profile: &ProfileBytes) -> bool {
        let xoff = profile.xoff.unwrap_or(0);
        self.headroom == HeadroomOf::Port && profile.size < profile.xon.saturating_add(xoff)
    }

    /// A PG. `lossless_xoff` is the sum of xoff of all lossless PGs of its port, this one included.
    pub fn group(&self, profile: &ProfileBytes, lossless_xoff: u64) -> GroupCells {
        let Some(xoff) = profile.xoff else { return self.queue(profile) };
        let minimum = self.cells_up(match self.pg {
            GroupMinimum::Size => profile.size,
            GroupMinimum::SizeLessXoff => profile.size.saturating_sub(xoff),
            GroupMinimum::Xon => profile.xon,
        });
        let how = match self.pg {
            GroupMinimum::Size => "size",
            GroupMinimum::SizeLessXoff => "size - xoff",
            GroupMinimum::Xon => "xon",
        };
        let mut steps = vec![format!("minimum: {how} = {minimum} cells"), self.limit_step(profile.threshold)];
        let shares = self.shares_headroom_of_port(profile);
        let headroom = match self.headroom {
            HeadroomOf::Pg => self.cells_down(xoff),
            HeadroomOf::Port if shares => self.cells_down(lossless_xoff),
            HeadroomOf::Port => self.cells_down(profile.size.saturating_sub(profile.xon)).saturating_sub(self.overhead),
        };
        steps.push(match self.headroom {
            HeadroomOf::Pg => format!("headroom: xoff {xoff} B = {headroom} cells"),
            HeadroomOf::Port if shares => {
                format!("headroom: xoff of all lossless PGs of the port, {lossless_xoff} B = {headroom} cells")
            }
            HeadroomOf::Port => {
                format!("headroom: size - xon, less {} cells of overhead = {headroom} cells", self.overhead)
            }
        });
        let (xon, xon_offset) = match self.resume {
            Resume::Offset => (self.cells_up(profile.xon), self.cells_up(profile.xon_offset)),
            Resume::Xon => (0, minimum),
        };
        let lossless = Some(LosslessConfig { headroom, xon, xon_offset });
        let port_headroom = shares.then_some(headroom);
        GroupCells { minimum, limit: self.limit(profile.threshold), lossless, port_headroom, steps }
    }

    /// A lossy PG, or a queue.
    pub fn queue(&self, profile: &ProfileBytes) -> GroupCells {
        let minimum = self.cells_up(profile.size);
        let steps =
            vec![format!("minimum: size {} B = {minimum} cells", profile.size), self.limit_step(profile.threshold)];
        GroupCells { minimum, limit: self.limit(profile.threshold), lossless: None, port_headroom: None, steps }
    }
}
