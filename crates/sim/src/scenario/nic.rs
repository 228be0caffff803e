//! The table `[nic]`: what stands between the transports of a host and its link. Managed queues are read with the switches.

use super::switches::{NIC_KEYS, at_least_one};
use forebay_settings::{Diagnostic, Table, Value};
use forebay_tm::{Bytes, Duration, ValidConfig};

/// What stands in front of a host's link.
#[derive(Clone, Debug, PartialEq)]
pub enum NicSetup {
    /// A FIFO without a limit; all that it is given is on its way at once.
    Unlimited,
    /// A FIFO with a limit.
    Fifo(FifoLimit, Handoff),
    /// Fair queueing.
    Fq(FqSetup, Handoff),
    /// A traffic manager with one port; hosts with different rates have different ones, in the order of the hosts.
    Managed(Vec<ValidConfig>),
}

/// What a FIFO holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FifoLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(Bytes),
}

/// Settings of fair queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqSetup {
    /// Bytes that a flow may send in its turn.
    pub quantum: u32,
    /// Bytes that a flow may send in its first turn.
    pub initial_quantum: u32,
    /// Packets of one flow.
    pub flow_limit: u32,
    /// Packets of all flows.
    pub limit: u32,
    /// An idle flow has a quantum again after this time.
    pub refill_delay: Duration,
}

/// How packets get from a transport to a queueing discipline, and from there to the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Bytes that are handed to the wire ahead of time at most.
    pub bql: Bytes,
    /// The bytes of the largest packet.
    pub largest_packet: Bytes,
    /// The time that a flow's packets may have waiting, at its rate; without it, all that its transport sends waits.
    pub small_queue: Option<Duration>,
}

impl Handoff {
    /// The wire takes another packet when it has no more bytes than these ahead: then there is room for the largest.
    pub fn ahead(&self) -> Bytes {
        Bytes::new(self.bql.get().saturating_sub(self.largest_packet.get()))
    }
}

/// The kinds of `[nic]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fq,
    Fifo,
    Unlimited,
    Managed,
}

const FQ_KEYS: [&str; 8] =
    ["kind", "quantum", "initial_quantum", "flow_limit", "limit", "refill_delay", "bql", "small_queue"];
const FIFO_KEYS: [&str; 5] = ["kind", "limit", "limit_bytes", "bql", "small_queue"];

/// Packets of one flow, of all flows, and of a FIFO, as in Linux.
const FLOW_LIMIT: u32 = 100;
const LIMIT: u32 = 10_000;
const FIFO_LIMIT: u32 = 1_000;
const REFILL_DELAY: Duration = Duration::from_us(40_000);
const SMALL_QUEUE: Duration = Duration::from_us(1_000);
/// Credits are counted in 32 bits.
const LARGEST_QUANTUM: u64 = 1 << 30;

/// The kind of a `[nic]` table; keys of other kinds are refused.
pub(super) fn kind(table: &Table<'_>) -> Result<Kind, Diagnostic> {
    let words = [("fq", Kind::Fq), ("fifo", Kind::Fifo), ("unlimited", Kind::Unlimited), ("managed", Kind::Managed)];
    let kind = table.get("kind").map_or(Ok(Kind::Fq), |kind| kind.word(&words))?;
    let elsewhere = |key: &str| [&FQ_KEYS[..], &FIFO_KEYS, &NIC_KEYS].iter().any(|keys| keys.contains(&key));
    match kind {
        Kind::Fq => table.allow(&FQ_KEYS, elsewhere, "fq")?,
        Kind::Fifo => table.allow(&FIFO_KEYS, elsewhere, "fifo")?,
        Kind::Unlimited => table.allow(&["kind"], elsewhere, "unlimited")?,
        Kind::Managed => {
            if table.has("trim") {
                let remedy = "remove it; switches trim: write [trim], or [tier.NAME.trim] for a tier";
                return Err(table.key_error("trim", "hosts do not trim packets", remedy));
            }
            let allowed: Vec<&str> = core::iter::once("kind").chain(NIC_KEYS).collect();
            table.allow(&allowed, elsewhere, "managed")?;
        }
    }
    Ok(kind)
}

/// What is not managed, for packets of up to so many bytes.
pub(super) fn read(table: Option<&Table<'_>>, largest_packet: u64) -> Result<NicSetup, Diagnostic> {
    let reader = Reader { table, largest_packet };
    match table.map_or(Ok(Kind::Fq), kind)? {
        Kind::Fq => Ok(NicSetup::Fq(reader.fq()?, reader.handoff()?)),
        Kind::Fifo => Ok(NicSetup::Fifo(reader.fifo_limit()?, reader.handoff()?)),
        Kind::Unlimited | Kind::Managed => Ok(NicSetup::Unlimited),
    }
}

struct Reader<'t, 'd> {
    table: Option<&'t Table<'d>>,
    largest_packet: u64,
}

impl<'d> Reader<'_, 'd> {
    fn get(&self, key: &str) -> Option<Value<'d>> {
        self.table.and_then(|table| table.get(key))
    }

    fn fq(&self) -> Result<FqSetup, Diagnostic> {
        let quantum = self.quantum("quantum", 2)?;
        if let (0, Some(value)) = (quantum, self.get("quantum")) {
            return Err(value.error("no flow would ever send", "give two packets, such as 3028"));
        }
        Ok(FqSetup {
            quantum,
            initial_quantum: self.quantum("initial_quantum", 10)?,
            flow_limit: self.packets("flow_limit", FLOW_LIMIT)?,
            limit: self.packets("limit", LIMIT)?,
            refill_delay: self.get("refill_delay").map_or(Ok(REFILL_DELAY), |value| value.duration())?,
        })
    }

    /// Bytes; so many of the largest packets if they are not given.
    fn quantum(&self, key: &str, packets: u64) -> Result<u32, Diagnostic> {
        let Some(value) = self.get(key) else { return Ok((packets * self.largest_packet) as u32) };
        let bytes = value.bytes()?.get();
        if bytes > LARGEST_QUANTUM {
            return Err(value.error("this is more than can be counted", "give 1 GiB or less"));
        }
        Ok(bytes as u32)
    }

    fn packets(&self, key: &str, default: u32) -> Result<u32, Diagnostic> {
        let Some(value) = self.get(key) else { return Ok(default) };
        let packets = at_least_one(&value)?;
        u32::try_from(packets)
            .ok()
            .filter(|packets| *packets < u32::MAX)
            .ok_or_else(|| value.error("this is more than can be counted", format!("give {} or less", u32::MAX - 1)))
    }

    fn fifo_limit(&self) -> Result<FifoLimit, Diagnostic> {
        let alternatives = self.table.map_or((None, None), |table| table.alternatives("limit", "limit_bytes"));
        match alternatives {
            (Some(_), Some(value)) => Err(value.error("the limit is there already", "give one of the two")),
            (None, Some(value)) => {
                let bytes = value.bytes()?;
                self.holds_a_packet(&value, bytes)?;
                Ok(FifoLimit::Bytes(bytes))
            }
            _ => Ok(FifoLimit::Packets(self.packets("limit", FIFO_LIMIT)?)),
        }
    }

    fn holds_a_packet(&self, value: &Value<'_>, bytes: Bytes) -> Result<(), Diagnostic> {
        if bytes.get() >= self.largest_packet {
            return Ok(());
        }
        let problem = format!("a packet of {} bytes would not fit", self.largest_packet);
        Err(value.error(problem, format!("give {} or more", self.largest_packet)))
    }

    fn handoff(&self) -> Result<Handoff, Diagnostic> {
        let mut bql = Bytes::new(2 * self.largest_packet);
        if let Some(value) = self.get("bql") {
            bql = value.bytes()?;
            self.holds_a_packet(&value, bql)?;
        }
        let small_queue =
            match self.get("small_queue") {
                None => Some(SMALL_QUEUE),
                Some(value) if value.is_text() && value.text()? == "off" => None,
                Some(value) => Some(value.duration().map_err(|error| Diagnostic {
                    remedy: "give a time such as \"1ms\", or \"off\"".into(),
                    ..error
                })?),
            };
        Ok(Handoff { bql, largest_packet: Bytes::new(self.largest_packet), small_queue })
    }
}
