//! A group of the accounting: what every packet looks at, and what few of them do.

use super::{GroupConfig, IngressConfig, Limit, MAX_CELLS, NOBODY, Refusal};
use crate::filter::Filtered;

/// A limit as one inequality of whole numbers, with the packet in the buffer:
/// `own * (shared cells of the group) + port * (those of its port) <= free * (cells left in the pool) + constant`.
#[derive(Clone, Copy, Debug, Default)]
struct Factors {
    own: u64,
    port: u64,
    free: u64,
    constant: u64,
}

impl Factors {
    fn new(limit: Limit, of_port: Limit) -> Self {
        match (limit, of_port) {
            (Limit::None, _) | (Limit::OfPort(_), Limit::None | Limit::OfPort(_)) => Self::default(),
            (Limit::Static(limit), _) => Self { own: 1, constant: limit, ..Self::default() },
            (Limit::Dynamic(alpha), _) => Self { own: alpha.den, free: alpha.num, ..Self::default() },
            // Both sides are multiplied by the denominators, so that nothing is rounded.
            (Limit::OfPort(alpha), Limit::Dynamic(outer)) => Self {
                own: alpha.den * outer.den,
                port: alpha.num * outer.den,
                free: alpha.num * outer.num,
                constant: 0,
            },
            (Limit::OfPort(alpha), Limit::Static(limit)) => {
                Self { own: alpha.den, port: alpha.num, free: 0, constant: alpha.num * limit }
            }
        }
    }
}

/// What every packet of a group looks at. Its size is a power of two, which makes finding it a shift.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Hot {
    /// Cells beyond the minimum; below zero: those that the minimum still has.
    pub(super) over: i64,
    /// The limit, where the port has none. Where it has one, or the occupancy is filtered, nothing is within it, and
    /// all is looked at
    /// elsewhere.
    own: u32,
    free: u32,
    constant: u64,
    /// With at most so many shared cells, while at least so many are left, it is within the limit: that is cheaper to
    /// see than the
    /// limit. A packet that does not see it looks at the limit, and sets both anew.
    pub(super) sure_own: i64,
    pub(super) sure_left: i64,
    /// Its number in the configuration.
    pub(super) number: u32,
    /// Where the port's cells of its pool are counted.
    pub(super) in_port: u32,
    /// Where the pool's cells in its partition are counted.
    pub(super) in_pool: u8,
    /// Its port has a limit in its pool.
    pub(super) has_port_limit: bool,
    /// Cells that come back need care if it has less than this afterwards: with 0, those of its minimum do; without
    /// limit, all do, since it is
    /// paused or has headroom, its port has a limit, or its occupancy is filtered.
    pub(super) care_below: i64,
}

impl Hot {
    /// A group that is not there: nothing is within its limit, and where that is looked at, nobody is found.
    pub(super) const fn missing() -> Self {
        Self {
            over: 0,
            own: 1,
            free: 0,
            constant: 0,
            sure_own: -1,
            sure_left: 0,
            number: NOBODY,
            in_port: NOBODY,
            in_pool: 0,
            has_port_limit: false,
            care_below: 0,
        }
    }

    pub(super) fn new(number: usize, group: &GroupConfig, config: &IngressConfig) -> Self {
        let (port, pools) = (&config.ports[group.port], config.pools.len());
        let has_port_limit = port.limits.get(group.pool).is_some_and(|limit| *limit != Limit::None);
        let factors = match has_port_limit || group.filter.is_some() {
            true => Factors { own: 1, ..Factors::default() },
            false => Factors::new(group.limit, Limit::None),
        };
        Self {
            over: -(group.minimum as i64),
            // Without a limit of the port these are at most MAX_RATIO.
            own: factors.own as u32,
            free: factors.free as u32,
            constant: factors.constant,
            sure_own: -1,
            sure_left: 0,
            number: number as u32,
            in_port: (group.port * pools + group.pool) as u32,
            in_pool: (port.partition * pools + group.pool) as u8,
            has_port_limit,
            care_below: if has_port_limit || group.filter.is_some() { i64::MAX } else { 0 },
        }
    }

    /// With so many cells left, what is within the limit for some time.
    pub(super) fn be_sure(&mut self, left: u64) {
        let least = left - left / 8;
        let most = least * u64::from(self.free) + self.constant;
        // Without a limit, both sides are 0 always.
        let own = if self.own == 0 { MAX_CELLS } else { (most / u64::from(self.own)).min(MAX_CELLS) };
        (self.sure_own, self.sure_left) = (own as i64, least as i64);
    }

    /// Whether the limits of group and port allow so many shared cells of the group, with so many left: surely.
    #[inline(always)]
    pub(super) fn is_within(&self, own: u64, left: u64) -> bool {
        own * u64::from(self.own) <= left * u64::from(self.free) + self.constant
    }
}

/// What few packets of a group look at.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) config: GroupConfig,
    factors: Factors,
    /// The limit of its port in its pool.
    pub(super) port_limit: Limit,
    /// Its cells of headroom.
    pub(super) headroom: u64,
    /// The limit of the shared part when the group asked for pause, while it is paused.
    pub(super) paused_at: Option<u64>,
    /// Its occupancy behind the filter, if it has one.
    pub(super) filtered: Filtered,
}

impl Group {
    pub(super) fn new(group: &GroupConfig, config: &IngressConfig) -> Self {
        let port_limit = config.ports[group.port].limits.get(group.pool).copied().unwrap_or_default();
        let factors = Factors::new(group.limit, port_limit);
        let filtered = Filtered::default();
        Self { config: *group, factors, port_limit, headroom: 0, paused_at: None, filtered }
    }

    /// Whether a filtered group that has no headroom asks to resume, with so many cells free.
    pub(super) fn filter_resumes(&self, free: u64) -> bool {
        let (Some(lossless), Limit::Dynamic(alpha)) = (self.config.lossless, self.config.limit) else { return false };
        self.filtered.is_at_most(lossless.xon.max(alpha.of(free).saturating_sub(lossless.xon_offset)))
    }

    /// The limit that keeps `rest` cells out of the shared part, of which the group would have `own` and `free` are
    /// free.
    pub(super) fn refusal(&self, own: u64, rest: u64, free: u64, port: u64) -> Option<Refusal> {
        let Some(left) = free.checked_sub(rest) else { return Some(Refusal::Pool) };
        if let (Some(_), Limit::Dynamic(alpha)) = (self.config.filter, self.config.limit) {
            // What comes while there is headroom goes there, until it is empty.
            let is_within = self.headroom == 0 && self.filtered.is_within(0, (alpha.num, alpha.den), left);
            return (!is_within).then_some(Refusal::Group);
        }
        let port = port + rest;
        let is_within_port = match self.port_limit {
            Limit::None | Limit::OfPort(_) => true,
            Limit::Dynamic(alpha) => port * alpha.den <= alpha.num * left,
            Limit::Static(limit) => port <= limit,
        };
        if !is_within_port {
            return Some(Refusal::Port);
        }
        let Factors { own: by_own, port: by_port, free: by_free, constant } = self.factors;
        (own * by_own + port * by_port > left * by_free + constant).then_some(Refusal::Group)
    }
}
