//! Pools, thresholds and egress.

use super::Linter;
use crate::chip::StaticUnit;
use crate::config::{Direction, Pool, Profile};
use crate::findings::Severity::{Error, Note, Warning};
use crate::rules::Threshold;
use std::collections::BTreeMap;

/// No memory of a known chip has as much.
const IMPLAUSIBLE: u64 = 40_000_000_000;

impl Linter<'_> {
    pub(super) fn pools(&mut self) {
        for (place, pool) in self.config.pools.iter().enumerate() {
            let key = format!("BUFFER_POOL|{}", pool.name);
            if !pool.has_size {
                if self.config.is_dynamic {
                    let why =
                        "the switch works out the size (buffer_model is dynamic): what depends on it is not checked";
                    self.findings.add(("pool-size-unknown", Note), key, why, "none", "none is needed");
                }
                continue;
            }
            self.memory(&key, pool);
            if pool.bytes.xoff >= pool.bytes.size {
                let why = format!("xoff {} is not less than size {}", pool.bytes.xoff, pool.bytes.size);
                let effect =
                    "no shared buffer is left where size includes xoff: every lossless packet pauses its sender";
                self.findings.add(
                    ("xoff-exceeds-size", Error),
                    key,
                    why,
                    effect,
                    "give a smaller xoff or a larger size",
                );
                continue;
            }
            if let Some(Err(error)) = self.device.as_ref().map(|device| device.shared(place)) {
                let effect = "the SAI refuses the pool, and orchagent stops, or no shared buffer is left";
                self.findings.add(("pool-impossible", Error), key, error.problem, effect, error.remedy);
            }
        }
        let is_ingress = |pool: &Pool| pool.direction != Direction::Egress;
        if !self.config.pools.is_empty() && !self.config.pools.iter().any(is_ingress) {
            let effect = "the ingress side of the buffer stays as the chip has it by default: nothing is lossless";
            self.findings.add(("side-missing", Warning), "BUFFER_POOL", "there is no ingress pool", effect, "add one");
        }
    }

    fn memory(&mut self, key: &str, pool: &Pool) {
        let memory = self.device.as_ref().and_then(|device| device.chip.memory);
        let effect = "the SAI refuses the pool and orchagent stops, or packets are dropped before any limit is reached";
        let cure = "give a size that the chip has; is there a digit too many?";
        let size = pool.bytes.size;
        match memory {
            Some(memory) if pool.direction != Direction::Egress && size > memory => {
                let why = format!("the pool has {size} B, and the chip about {memory} B of packet memory");
                self.findings.add(("pool-exceeds-memory", Error), key, why, effect, cure);
            }
            _ if size > IMPLAUSIBLE => {
                let why = format!("the pool has {size} B, more than any chip");
                self.findings.add(("pool-exceeds-memory", Error), key, why, effect, cure);
            }
            _ => {}
        }
    }

    pub(super) fn profiles(&mut self) {
        for profile in &self.config.profiles {
            let key = format!("BUFFER_PROFILE|{}", profile.name);
            match profile.bytes.threshold {
                Threshold::Dynamic(-8) => self.least_alpha(key),
                Threshold::Dynamic(_) => {}
                Threshold::Static(bytes) => self.static_threshold(key, profile, bytes),
            }
        }
        self.minimums();
    }

    fn least_alpha(&mut self, key: String) {
        if self.device.as_ref().is_some_and(|device| !device.chip.has_zero_alpha()) {
            let why = "dynamic_th -8 means 0 on Spectrum alone; here it is 1/256, or refused";
            let effect = "the class still gets shared buffer, or the entry is not applied";
            self.findings.add(
                ("alpha-minus-8", Warning),
                key + ".dynamic_th",
                why,
                effect,
                "give -7 to 7, or static_th 0",
            );
        }
    }

    fn static_threshold(&mut self, key: String, profile: &Profile, bytes: u64) {
        let key = key + ".static_th";
        if (1..64).contains(&bytes) {
            let why = format!(
                "static_th is in bytes: {bytes} is less than a packet, and looks like the exponent of an alpha"
            );
            let effect = "nothing beyond its minimum is admitted";
            self.findings.add(
                ("static-th-tiny", Warning),
                key,
                why,
                effect,
                format!("write dynamic_th {bytes}, or bytes"),
            );
            return;
        }
        let Some(chip) = self.device.as_ref().map(|device| &device.chip).filter(|chip| chip.partitions > 1) else {
            return;
        };
        let size = self.config.pools[profile.pool].bytes.size;
        let part = size / chip.partitions;
        let (count, unit) = (chip.partitions, chip.static_unit);
        if unit == StaticUnit::Partition && bytes > part.saturating_mul(3) / 2 && bytes <= size {
            let why = format!(
                "static_th {bytes} is counted for each of {count} partitions, which have {part} B: it limits nothing"
            );
            let cure = format!("if it is meant for the switch as a whole, write {}", bytes / count);
            self.findings.add(("static-th-unit", Note), key, why, "the class may take a whole partition", cure);
        } else if unit == StaticUnit::Total && bytes.abs_diff(part) <= part / 50 {
            let why =
                format!("static_th {bytes} is one of {count} parts of the pool, but is counted for the whole switch");
            let effect = format!("the class gets a {count}th of each partition instead of all of it");
            self.findings.add(
                ("static-th-unit", Warning),
                key,
                why,
                effect,
                format!("write {}", bytes.saturating_mul(count)),
            );
        }
    }

    /// Minimums of queues, or of lossy PGs, that are more than their pool.
    fn minimums(&mut self) {
        let config = self.config;
        // What `size` means of lossless PGs depends on the chip.
        let is_lossy = |profile: &&usize| config.profiles[**profile].bytes.xoff.is_none();
        let queues = self.sums_of_sizes(config.queues.values());
        let groups = self.sums_of_sizes(config.groups.values().filter(is_lossy));
        for (what, sums) in [("queues", queues), ("lossy PGs", groups)] {
            for (pool, sum) in sums {
                let pool = &config.pools[pool];
                if pool.has_size && sum > pool.bytes.size {
                    let why = format!("{what} reserve {sum} B, more than the {} B of the pool", pool.bytes.size);
                    let effect = format!("the SAI refuses some of the {what}, or nothing is shared");
                    let key = format!("BUFFER_POOL|{}", pool.name);
                    let cure = format!("give the profiles of the {what} a smaller size");
                    self.findings.add(("minimums-exceed-pool", Error), key, why, effect, cure);
                }
            }
        }
    }

    /// The sum of `size` in each pool.
    fn sums_of_sizes<'p>(&self, profiles: impl Iterator<Item = &'p usize>) -> BTreeMap<usize, u64> {
        let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
        for profile in profiles {
            let profile = &self.config.profiles[*profile];
            let sum = sums.entry(profile.pool).or_default();
            *sum = sum.saturating_add(profile.bytes.size);
        }
        sums
    }

    /// Lossless packets that egress drops.
    pub(super) fn egress(&mut self) {
        for (port, entry) in self.config.ports.iter().enumerate().filter(|(_, port)| port.is_up) {
            for &priority in &entry.pfc {
                let queue = self.config.queue_of_priority(entry, priority) as u8;
                let key = format!("BUFFER_QUEUE|{}|{queue}", entry.name);
                let Some(&profile) = self.config.queues.get(&(port, queue)) else { continue };
                // Virtual output queues are in an ingress pool, in units of their own.
                if self.config.pools[self.config.profiles[profile].pool].direction != Direction::Egress {
                    continue;
                }
                self.egress_pool(&key, port, priority, profile);
                let (Some(pause), Some(drop)) = (self.pause_cells(port, priority), self.drop_cells(port, queue)) else {
                    continue;
                };
                if drop < pause {
                    let profile = &self.config.profiles[profile].name;
                    let why = format!(
                        "a lossless queue with {profile} drops at {drop} cells, before its PG pauses at {pause}"
                    );
                    let effect = "lossless packets are dropped at egress, and the sender is never paused";
                    let cure = "give the queue a static_th of the whole pool, or a larger dynamic_th";
                    self.findings.add(("lossless-dropped-at-egress", Warning), key, why, effect, cure);
                }
            }
        }
    }

    /// An egress pool of lossless queues that is smaller than what ingress admits.
    fn egress_pool(&mut self, key: &str, port: usize, priority: u8, profile: usize) {
        let (Some(device), Some(&group)) = (self.device.as_ref(), self.config.groups.get(&(port, priority))) else {
            return;
        };
        let (profile, group) = (&self.config.profiles[profile], &self.config.profiles[group]);
        let (pool, ingress) = (&self.config.pools[profile.pool], &self.config.pools[group.pool]);
        let Ok(shared) = device.shared(group.pool) else { return };
        let chip = &device.chip;
        let admitted = shared.cells * chip.partitions + chip.cells_up(ingress.bytes.xoff);
        let has = pool.bytes.size / u64::from(chip.cell);
        if pool.has_size && has + chip.partitions < admitted {
            let (pool, ingress) = (&pool.name, &ingress.name);
            let why = format!(
                "{pool} has {has} cells, and {ingress} admits {admitted} (shared and headroom) that may be lossless"
            );
            let effect = "lossless packets that ingress has admitted are dropped at egress when the buffer fills";
            let cure = format!("give {pool} at least {} B", admitted.saturating_mul(u64::from(chip.cell)));
            self.findings.add(("egress-pool-small", Warning), key, why, effect, cure);
        }
    }
}
