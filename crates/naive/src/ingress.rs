//! The ingress side as plainly as possible: a list of cells, each with the part of the buffer it is in. Every number is
//! counted anew
//! from that list when a rule asks for it.

use crate::policy::filtered;

/// What a group or port may have of a pool's shared part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedLimit {
    /// What is free.
    None,
    /// This many cells.
    Static(u64),
    /// This ratio of what is free.
    Dynamic(u64, u64),
    /// Of a group: this ratio of what its port's limit leaves.
    OfPort(u64, u64),
}

/// A pool, in each partition: shared cells, and those of a shared headroom pool.
#[derive(Clone, Copy, Debug)]
pub struct NaivePool {
    /// Shared cells.
    pub shared: u64,
    /// Cells of the shared headroom pool, if there is one.
    pub headroom: Option<u64>,
}

/// A port.
#[derive(Clone, Debug)]
pub struct NaivePort {
    /// Its partition.
    pub partition: usize,
    /// Its limit in each pool.
    pub limits: Vec<SharedLimit>,
    /// Its limit of headroom.
    pub headroom: Option<u64>,
}

/// A group.
#[derive(Clone, Copy, Debug)]
pub struct NaiveGroup {
    /// Its port.
    pub port: usize,
    /// Its pool.
    pub pool: usize,
    /// Cells of its own.
    pub minimum: u64,
    /// Its limit in the shared part.
    pub limit: SharedLimit,
    /// Headroom, xon and xon offset, if it is lossless.
    pub lossless: Option<(u64, u64, u64)>,
    /// Its limit meets a filtered occupancy, which goes `1 / 2^filter` of the way.
    pub filter: Option<u32>,
}

/// A part of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A group's minimum.
    Minimum,
    /// A pool's shared part.
    Shared,
    /// Headroom.
    Headroom,
}

/// Why a packet is refused: the core's list again, since this crate shares no code with the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NaiveRefusal {
    /// No free cells.
    Pool,
    /// The port's limit.
    Port,
    /// The group's limit.
    Group,
    /// The group's headroom.
    Headroom,
    /// The port's headroom.
    PortHeadroom,
    /// The shared headroom pool.
    HeadroomPool,
}

impl NaiveRefusal {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Pool, Self::Port, Self::Group, Self::Headroom, Self::PortHeadroom, Self::HeadroomPool];

    /// The word for it in the output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "ingress-pool",
            Self::Port => "ingress-port",
            Self::Group => "ingress-group",
            Self::Headroom => "ingress-headroom",
            Self::PortHeadroom => "ingress-port-headroom",
            Self::HeadroomPool => "ingress-headroom-pool",
        }
    }
}

/// The ingress side.
#[derive(Clone, Debug)]
pub struct NaiveIngress {
    /// Bytes of a cell.
    pub cell: u64,
    /// Pools.
    pub pools: Vec<NaivePool>,
    /// Ports.
    pub ports: Vec<NaivePort>,
    /// Groups.
    pub groups: Vec<NaiveGroup>,
    /// Every cell that is taken: its group, and the part it is in.
    pub cells: Vec<(usize, Part)>,
    /// Of every group that is paused: the limit when it asked.
    pub paused: Vec<Option<u64>>,
    /// Of every group: its filtered occupancy, in 1/65536 of a cell.
    pub filtered: Vec<u128>,
}

impl NaiveIngress {
    /// The cells of a part that belong to groups of a kind.
    pub fn count(&self, part: Part, of: impl Fn(usize, &NaiveGroup) -> bool) -> u64 {
        self.cells.iter().filter(|(group, kind)| *kind == part && of(*group, &self.groups[*group])).count() as u64
    }

    fn partition(&self, group: &NaiveGroup) -> usize {
        self.ports[group.port].partition
    }

    fn is_beside(&self, group: usize, other: &NaiveGroup) -> bool {
        let group = &self.groups[group];
        other.pool == group.pool && self.partition(other) == self.partition(group)
    }

    pub(crate) fn free(&self, group: usize) -> u64 {
        self.pools[self.groups[group].pool].shared - self.count(Part::Shared, |_, other| self.is_beside(group, other))
    }

    fn on_port(&self, group: usize) -> u64 {
        let this = self.groups[group];
        self.count(Part::Shared, |_, other| other.port == this.port && other.pool == this.pool)
    }

    /// A packet arrives: the parts that its cells are in and whether the group asks for pause, or why it is refused.
    pub fn admit(&mut self, group: usize, bytes: u64) -> Result<(Vec<Part>, bool), NaiveRefusal> {
        let this = self.groups[group];
        let before = self.cells.clone();
        let count = bytes.div_ceil(self.cell);
        let mut parts = vec![];
        while (parts.len() as u64) < count && self.count(Part::Minimum, |other, _| other == group) < this.minimum {
            self.cells.push((group, Part::Minimum));
            parts.push(Part::Minimum);
        }
        let rest = count - parts.len() as u64;
        // All limits are tested with the packet in the buffer.
        let limit = self.limit(group);
        let refusal = self.shared_refusal(group, rest);
        let (part, refusal) = match (refusal, this.lossless) {
            (None, _) => (Part::Shared, None),
            (Some(refusal), None) => (Part::Shared, Some(refusal)),
            (Some(_), Some(_)) => (Part::Headroom, self.headroom_refusal(group, rest)),
        };
        if let Some(refusal) = refusal {
            self.cells = before;
            return Err(refusal);
        }
        for _ in 0..rest {
            self.cells.push((group, part));
            parts.push(part);
        }
        let pause = rest > 0 && part == Part::Headroom && self.paused[group].is_none();
        if pause {
            self.paused[group] = Some(limit);
        }
        Ok((parts, pause))
    }

    fn shared_refusal(&self, group: usize, cells: u64) -> Option<NaiveRefusal> {
        let this = self.groups[group];
        if cells == 0 {
            return None;
        }
        if self.free(group) < cells {
            return Some(NaiveRefusal::Pool);
        }
        if let (Some(_), SharedLimit::Dynamic(num, den)) = (this.filter, this.limit) {
            let left = u128::from(self.free(group) - cells);
            let is_within = self.filtered[group] * u128::from(den) <= left * u128::from(num) * 65_536;
            let has_headroom = self.count(Part::Headroom, |other, _| other == group) > 0;
            return (has_headroom || !is_within).then_some(NaiveRefusal::Group);
        }
        let free = i128::from(self.free(group) - cells);
        let port = i128::from(self.on_port(group) + cells);
        let own = i128::from(self.count(Part::Shared, |other, _| other == group) + cells);
        let wide = |n: u64| i128::from(n);
        // What the port may have, as a ratio.
        let (port_num, port_den) = match self.ports[this.port].limits[this.pool] {
            SharedLimit::Static(limit) => (wide(limit), 1),
            SharedLimit::Dynamic(num, den) => (wide(num) * free, wide(den)),
            SharedLimit::None | SharedLimit::OfPort(..) => (i128::from(u64::MAX), 1),
        };
        if port * port_den > port_num {
            return Some(NaiveRefusal::Port);
        }
        let fits = match this.limit {
            SharedLimit::None => true,
            SharedLimit::Static(limit) => own <= wide(limit),
            SharedLimit::Dynamic(num, den) => own * wide(den) <= wide(num) * free,
            SharedLimit::OfPort(num, den) => own * wide(den) * port_den <= wide(num) * (port_num - port * port_den),
        };
        if fits { None } else { Some(NaiveRefusal::Group) }
    }

    fn headroom_refusal(&self, group: usize, cells: u64) -> Option<NaiveRefusal> {
        let this = self.groups[group];
        let (most, ..) = this.lossless.unwrap_or_default();
        if self.count(Part::Headroom, |other, _| other == group) + cells > most {
            return Some(NaiveRefusal::Headroom);
        }
        let of_port = self.count(Part::Headroom, |_, other| other.port == this.port) + cells;
        if self.ports[this.port].headroom.is_some_and(|most| of_port > most) {
            return Some(NaiveRefusal::PortHeadroom);
        }
        let of_pool = self.count(Part::Headroom, |_, other| self.is_beside(group, other)) + cells;
        let is_short = self.pools[this.pool].headroom.is_some_and(|most| of_pool > most);
        is_short.then_some(NaiveRefusal::HeadroomPool)
    }

    /// What a group could have of the shared part now.
    pub fn limit(&self, group: usize) -> u64 {
        let this = self.groups[group];
        let (free, on_port) = (self.free(group), self.on_port(group));
        let own = self.count(Part::Shared, |other, _| other == group);
        let port = match self.ports[this.port].limits[this.pool] {
            SharedLimit::Static(limit) => limit,
            SharedLimit::Dynamic(num, den) => num * free / den,
            SharedLimit::None | SharedLimit::OfPort(..) => u64::MAX,
        };
        let group = match this.limit {
            SharedLimit::None => u64::MAX,
            SharedLimit::Static(limit) => limit,
            SharedLimit::Dynamic(num, den) => num * free / den,
            SharedLimit::OfPort(num, den) => num * port.saturating_sub(on_port) / den,
        };
        [group, port.saturating_sub(on_port - own), own + free].into_iter().min().unwrap_or(0)
    }

    /// A packet of a group leaves. Whether the group asks to resume.
    pub fn release(&mut self, group: usize, bytes: u64) -> bool {
        self.release_cells(group, bytes.div_ceil(self.cell))
    }

    /// So many cells of a group come back. Whether the group asks to resume.
    pub(crate) fn release_cells(&mut self, group: usize, cells: u64) -> bool {
        for _ in 0..cells {
            let last = [Part::Headroom, Part::Shared, Part::Minimum]
                .into_iter()
                .find_map(|part| self.cells.iter().position(|cell| *cell == (group, part)));
            self.cells.remove(last.expect("a packet that leaves has its cells"));
        }
        let this = self.groups[group];
        let has = self.cells.iter().filter(|(other, _)| *other == group).count() as u64;
        let headroom = self.count(Part::Headroom, |other, _| other == group);
        if let Some(filter) = this.filter {
            self.filtered[group] = filtered(self.filtered[group], has, filter);
        }
        let (Some(paused_at), Some((_, xon, xon_offset))) = (self.paused[group], this.lossless) else { return false };
        let limit = this.minimum + paused_at.min(self.limit(group));
        let resume = match (this.filter, this.limit) {
            (Some(_), SharedLimit::Dynamic(num, den)) => {
                let most = xon.max((num * self.free(group) / den).saturating_sub(xon_offset));
                headroom == 0 && self.filtered[group] <= u128::from(most) * 65_536
            }
            _ => headroom == 0 && (has <= xon || has + xon_offset <= limit || has == 0),
        };
        if resume {
            self.paused[group] = None;
        }
        resume
    }
}
