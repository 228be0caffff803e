//! Mistakes in a configuration, each with what happens to traffic and the change that cures it.
//!
//! What shipped configurations have on purpose is no finding, or a note: thresholds of the other mode than the pool's,
//! `static_th` above the pool,
//! egress profiles in ingress pools, pools that together are more than the memory, overcommitted headroom pools.

mod buffers;
mod headroom;
mod marking;
mod pause;
mod sarif;
mod trimming;

pub use sarif::sarif;

use crate::SonicError;
use crate::chip::Chip;
use crate::config::Config;
use crate::device::Device;
use crate::findings::Severity::Note;
use crate::findings::{Finding, Findings};
use crate::predict::formula;

/// Finds what is wrong with a configuration: the worst first. `chip` is the family that is asked for.
///
/// # Errors
/// If there is no such family.
pub fn lint(config: &Config, chip: Option<&str>) -> Result<Vec<Finding>, SonicError> {
    let chip = match chip {
        Some(name) => Some(Chip::by_name(name)?),
        None => Chip::of_device(&config.hwsku, &config.platform),
    };
    let mut linter =
        Linter { config, device: chip.map(|chip| Device::new(config, chip)), findings: config.findings.clone() };
    if chip.is_none() {
        let why = format!("the chip of hwsku \"{}\" is not known: what depends on it is not checked", config.hwsku);
        linter.findings.add(
            ("chip-unknown", Note),
            "DEVICE_METADATA|localhost",
            why,
            "none",
            "name the family: --chip td3",
        );
    }
    linter.pools();
    linter.profiles();
    linter.headroom();
    linter.pause();
    linter.egress();
    linter.marking();
    linter.schedulers();
    linter.trimming();
    Ok(linter.findings.sorted())
}

struct Linter<'a> {
    config: &'a Config,
    /// `None` if the chip is not known.
    device: Option<Device<'a>>,
    findings: Findings,
}

/// Packets as hardware tests have them: one cell.
const PACKET: u32 = 64;

impl Linter<'_> {
    /// The cells at which a lone PG asks for pause.
    fn pause_cells(&self, port: usize, group: u8) -> Option<u64> {
        self.pause_cells_of(1, port, group)
    }

    /// The cells at which each of several equally congested PGs asks for pause.
    fn pause_cells_of(&self, count: u64, port: usize, group: u8) -> Option<u64> {
        let profile = *self.config.groups.get(&(port, group))?;
        let account = self.device.as_ref()?.group(port, profile).ok()?;
        formula(&account.side, count, PACKET).pause
    }

    /// The cells at which a lone queue drops.
    fn drop_cells(&self, port: usize, queue: u8) -> Option<u64> {
        let profile = *self.config.queues.get(&(port, queue))?;
        let account = self.device.as_ref()?.queue(profile).ok()?;
        formula(&account.side, 1, PACKET).drop
    }

    fn cell(&self) -> u64 {
        self.device.as_ref().map_or(1, |device| u64::from(device.chip.cell))
    }
}
