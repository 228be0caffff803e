//! The table `[mirror]`: the headers of packets that a switch rejects are sent around to arrive again.

use forebay_settings::check::{at_least_one, carries, delay};
use forebay_settings::{Diagnostic, Table, read_settings, setting_keys};
use forebay_tm::described::{Kind, Setting, Value, Wrong};
use forebay_tm::{Bytes, Duration, Rate, settings};

/// Headers must come around within this time, as packets must be through a link.
const LONGEST: Duration = Duration::from_us(4_000_000);

settings! {
    /// Mirror on drop: what becomes of data packets that a switch's traffic managers reject.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MirrorSetup {
        /// Bytes that are left of a packet.
        pub size: Bytes = Bytes::new(64); has_bytes,
        /// The rate of each recirculation port.
        pub rate: Rate = Rate::from_gbps(100); carries,
        /// Headers that the queue of a recirculation port holds.
        pub capacity: usize = 1_000,
        /// From the end of a header's transmission by the recirculation port to its arrival at ingress.
        pub delay: Duration = Duration::from_us(1); delay,
        /// The queue that headers join, at this switch and at all later ones.
        pub class: u8 = 0,
        /// Ports that share one recirculation port, in their order; none: all.
        pub ports_per_pipeline: usize as OrAll = usize::MAX; at_least_one,
    }
}

/// A number, or all of them, which no file needs to say.
#[derive(Clone, Copy, Debug)]
pub struct OrAll(usize);

impl From<usize> for OrAll {
    fn from(number: usize) -> Self {
        Self(number)
    }
}

impl From<OrAll> for usize {
    fn from(OrAll(number): OrAll) -> Self {
        number
    }
}

impl Setting for OrAll {
    const KIND: Kind = usize::KIND;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        if self.0 == usize::MAX { Value::Nothing } else { self.0.value() }
    }

    fn from_value(value: Value) -> Option<Self> {
        if value == Value::Nothing { Some(Self(usize::MAX)) } else { usize::from_value(value).map(Self) }
    }
}

/// Something is left of a packet.
fn has_bytes(size: &Bytes) -> Result<(), Wrong> {
    if *size > Bytes::ZERO {
        return Ok(());
    }
    Err(Wrong::new("nothing would be left of a packet", "give the bytes of a header, such as 64"))
}

impl MirrorSetup {
    /// The recirculation ports of a switch with so many ports.
    pub fn pipelines(&self, ports: usize) -> usize {
        ports.div_ceil(self.ports_per_pipeline)
    }
}

/// Reads the table; `None` is `kind = "none"`.
pub(super) fn read(table: &Table<'_>) -> Result<Option<MirrorSetup>, Diagnostic> {
    let keys = setting_keys(MirrorSetup::FIELDS);
    let is_on = table.get("kind").map_or(Ok(true), |value| value.word(&[("generic", true), ("none", false)]))?;
    if !is_on {
        table.allow(&["kind"], |key| keys.contains(&key), "none")?;
        return Ok(None);
    }
    let known: Vec<&str> = ["kind"].into_iter().chain(keys).collect();
    table.allow(&known, |_| false, "generic")?;
    let mut setup = MirrorSetup::default();
    read_settings(table, &mut setup)?;
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
