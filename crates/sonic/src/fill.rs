//! Packets sent into the core's accounting, one by one, until it pauses and drops; then taken out until it resumes.

use crate::rules::GroupCells;
use forebay_tm::ConfigError;
use forebay_tm::ingress::{Admission, GroupConfig, Ingress, IngressConfig, Limit, PoolConfig, PortConfig, Refusal};

/// The most cells that are filled.
const MAX_FILL: u64 = 1 << 28;

/// One side of the congested partition: a pool, and equal groups on ports of their own.
#[derive(Clone, Debug)]
pub struct Side {
    /// Bytes of a cell.
    pub cell: u32,
    /// The pool's cells.
    pub pool: PoolConfig,
    /// The limit of each port.
    pub port: Limit,
    /// Each group.
    pub group: GroupCells,
}

/// What a fill has shown. Packets are counted from 1, for one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// The packet that asked for pause.
    pub pause: Option<u64>,
    /// The packet that was dropped.
    pub drop: u64,
    /// Why.
    pub refusal: Option<Refusal>,
    /// The cells that the group had when it asked to resume.
    pub resume: Option<u64>,
}

impl Side {
    /// The accounting of `groups` such groups.
    ///
    /// # Errors
    /// If a number is beyond what the core takes.
    pub fn ingress(&self, groups: usize) -> Result<Ingress, ConfigError> {
        self.check_fill(groups)?;
        let port = PortConfig { partition: 0, limits: vec![self.port], headroom: self.group.port_headroom };
        let group = |port| GroupConfig {
            port,
            number: 0,
            pool: 0,
            minimum: self.group.minimum,
            limit: self.group.limit,
            lossless: self.group.lossless,
            ..GroupConfig::default()
        };
        Ingress::new(IngressConfig {
            cell: self.cell,
            partitions: 1,
            pools: vec![self.pool],
            ports: vec![port; groups],
            groups: (0..groups).map(group).collect(),
        })
    }

    /// Refuses what would be filled for ever.
    pub(crate) fn check_fill(&self, groups: usize) -> Result<(), ConfigError> {
        let headroom = self.group.lossless.map_or(0, |lossless| lossless.headroom);
        let each = self.group.minimum.saturating_add(headroom);
        let cells = each.saturating_mul(groups as u64).saturating_add(self.pool.shared);
        if cells <= MAX_FILL {
            return Ok(());
        }
        Err(ConfigError {
            field: "minimum and headroom",
            value: format!("{each} cells each"),
            problem: format!("{groups} such groups could take {cells} cells, more than any memory has"),
            remedy: "give the profile a smaller size and xoff, or ask for fewer others".to_owned(),
        })
    }

    /// Fills `groups` groups in turn with packets of a size until the first of them drops, then drains that group.
    ///
    /// # Errors
    /// As [`Side::ingress`].
    pub fn fill(&self, groups: usize, bytes: u32) -> Result<Filled, ConfigError> {
        let mut ingress = self.ingress(groups)?;
        let mut filled = Filled::default();
        let full = loop {
            filled.drop += 1;
            if let Some(full) = round(&mut ingress, groups, bytes, &mut filled) {
                break full;
            }
        };
        while ingress.is_paused(full, 0) && filled.resume.is_none() {
            let has_resumed = ingress.release(full, 0, bytes);
            filled.resume = has_resumed.then(|| ingress.occupancy(full, 0).total());
        }
        Ok(filled)
    }

    /// Fills one group until it asks for pause, then the next, and so on: the packets of the last one.
    ///
    /// # Errors
    /// As [`Side::ingress`].
    pub fn fill_one_by_one(&self, groups: usize, bytes: u32) -> Result<Option<u64>, ConfigError> {
        let mut ingress = self.ingress(groups)?;
        let mut last = None;
        for port in 0..groups {
            let mut sent = 0;
            last = loop {
                sent += 1;
                match ingress.admit(port, 0, bytes) {
                    Admission::Admitted(charge) if charge.pause => break Some(sent),
                    Admission::Admitted(_) => {}
                    Admission::Refused(_) => break None,
                }
            };
        }
        Ok(last)
    }
}

/// A packet for every group: the group that dropped it, if one did.
fn round(ingress: &mut Ingress, groups: usize, bytes: u32, filled: &mut Filled) -> Option<usize> {
    for port in 0..groups {
        match ingress.admit(port, 0, bytes) {
            Admission::Admitted(charge) if charge.pause && filled.pause.is_none() => filled.pause = Some(filled.drop),
            Admission::Admitted(_) => {}
            Admission::Refused(refusal) => {
                filled.refusal = Some(refusal);
                return Some(port);
            }
        }
    }
    None
}
