//! The table `[mirror]`: the headers of packets that a switch rejects are sent around to arrive again.

use super::read_topology::{delay, rate};
use forebay_settings::{Diagnostic, Table};
use forebay_tm::{Bytes, Duration, Rate};

/// Headers must come around within this time, as packets must be through a link.
const LONGEST: Duration = Duration::from_us(4_000_000);

/// Mirror on drop: what becomes of data packets that a switch's traffic managers reject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorSetup {
    /// What is left of a packet. Default 64 B.
    pub size: Bytes,
    /// The rate of a recirculation port. Default 100 Gb/s.
    pub rate: Rate,
    /// Headers that may wait in front of a recirculation port. Default 1,000.
    pub capacity: usize,
    /// From the end of a header's transmission until it arrives again. Default 1 us.
    pub delay: Duration,
    /// The queue that headers join. Default 0.
    pub class: u8,
    /// Ports of the switch that share a recirculation port. Default: all.
    pub ports_per_pipeline: usize,
}

impl Default for MirrorSetup {
    fn default() -> Self {
        Self {
            size: Bytes::new(64),
            rate: Rate::from_bps(100_000_000_000),
            capacity: 1_000,
            delay: Duration::from_us(1),
            class: 0,
            ports_per_pipeline: usize::MAX,
        }
    }
}

impl MirrorSetup {
    /// The recirculation ports of a switch with so many ports.
    pub fn pipelines(&self, ports: usize) -> usize {
        ports.div_ceil(self.ports_per_pipeline)
    }
}

/// Reads the table; `None` is `kind = "none"`.
pub(super) fn read(table: &Table<'_>) -> Result<Option<MirrorSetup>, Diagnostic> {
    const KEYS: [&str; 7] = ["kind", "size", "rate", "capacity", "delay", "class", "ports_per_pipeline"];
    let is_on = table.get("kind").map_or(Ok(true), |value| value.word(&[("generic", true), ("none", false)]))?;
    if !is_on {
        table.allow(&["kind"], |key| KEYS.contains(&key), "none")?;
        return Ok(None);
    }
    table.allow(&KEYS, |_| false, "generic")?;
    let mut setup = MirrorSetup::default();
    if let Some(value) = table.get("size") {
        setup.size = value.bytes()?;
        if setup.size == Bytes::ZERO {
            return Err(value.error("nothing would be left of a packet", "give the bytes of a header, such as 64"));
        }
    }
    if let Some(value) = table.get("rate") {
        setup.rate = rate(&value)?;
    }
    if let Some(value) = table.get("capacity") {
        setup.capacity = value.number()?;
    }
    if let Some(value) = table.get("delay") {
        setup.delay = delay(&value)?;
    }
    if let Some(value) = table.get("class") {
        setup.class = value.number()?;
    }
    if let Some(value) = table.get("ports_per_pipeline") {
        setup.ports_per_pipeline = super::switches::at_least_one(&value)?;
    }
    check_time(table, &setup)?;
    Ok(Some(setup))
}

/// Refuses a recirculation port at which a header could be for longer than clocks count ahead.
fn check_time(table: &Table<'_>, setup: &MirrorSetup) -> Result<(), Diagnostic> {
    let headers = (setup.capacity as u64).saturating_add(2);
    let waiting = setup.rate.serialization(setup.size.get().saturating_mul(headers));
    if waiting.ps().saturating_add(setup.delay.ps()) < LONGEST.ps() {
        return Ok(());
    }
    let problem = format!("a header could wait for {waiting} before it is sent around");
    let key = ["capacity", "rate", "size"].into_iter().find(|key| table.has(key)).unwrap_or("kind");
    Err(table.locate(key, problem, format!("give a shorter queue or a faster port: it must be less than {LONGEST}")))
}
