//! The table `[nic]`: what stands between the transports of a host and its link. Managed queues are read with the
//! switches.

use super::PfcSetup;
use super::switches::{MANAGED_TABLES, managed_keys, unused};
use forebay_settings::check::{at_least_one, if_set};
use forebay_settings::{Diagnostic, Table, read_known, read_settings, setting_keys};
use forebay_tm::described::{OrOff, Size, Wrong};
use forebay_tm::{Bytes, Duration, ValidConfig, describe, settings, words};

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
    /// Fair queueing for each of so many classes, which take turns and can be paused. A flow has two full packets
    /// waiting at most. No `[nic]` says so: it is what hosts of a network that pauses have.
    Lossless {
        /// How hosts are paused.
        pfc: PfcSetup,
        /// The classes.
        classes: usize,
    },
}

/// What a FIFO holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FifoLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(Bytes),
}

/// A packet of the usual size.
const USUAL_PACKET: u32 = 1_500;
/// Credits are counted in 32 bits.
const LARGEST_QUANTUM: u32 = 1 << 30;

settings! {
    /// Settings of fair queueing, as in Linux.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FqSetup {
        /// Bytes that a flow may send per round; default two of the largest packets.
        pub quantum: u32 as Size<0, LARGEST_QUANTUM> = 2 * USUAL_PACKET; sends,
        /// Bytes that a flow may send in its first round; default ten of the largest packets.
        pub initial_quantum: u32 as Size<0, LARGEST_QUANTUM> = 10 * USUAL_PACKET,
        /// Packets of one flow that may wait.
        pub flow_limit: u32 = 100; packets,
        /// Packets that may wait in total.
        pub limit: u32 = 10_000; packets,
        /// A flow that was idle for longer gets at least one quantum of credit.
        pub refill_delay: Duration = Duration::from_us(40_000),
    }
}

settings! {
    /// The limit of a FIFO, one of the two.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FifoKeys {
        /// Packets that may wait in total.
        pub limit: Option<u32> = Some(1_000); if_set(packets),
        /// Bytes that may wait in total, instead of `limit`.
        pub limit_bytes: Option<Bytes> = None,
    }
}

impl From<FifoLimit> for FifoKeys {
    fn from(limit: FifoLimit) -> Self {
        match limit {
            FifoLimit::Packets(packets) => Self { limit: Some(packets), limit_bytes: None },
            FifoLimit::Bytes(bytes) => Self { limit: None, limit_bytes: Some(bytes) },
        }
    }
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

describe! {
    Handoff {
        /// Bytes that may be queued in the wire (byte queue limits); default two of the largest packets.
        bql: Bytes,
        /// How much of a flow may wait here before its transport must stop sending, as time at its rate (TCP small
        /// queues), or `"off"`.
        small_queue: Option<Duration> as OrOff<Duration>,
    }
}

/// A quantum with which a flow sends.
fn sends(quantum: &u32) -> Result<(), Wrong> {
    if *quantum > 0 { Ok(()) } else { Err(Wrong::new("no flow would ever send", "give two packets, such as 3028")) }
}

/// A limit in packets.
fn packets(packets: &u32) -> Result<(), Wrong> {
    at_least_one(packets)?;
    if *packets < u32::MAX {
        return Ok(());
    }
    Err(Wrong::new("this is more than can be counted", format!("give {} or less", u32::MAX - 1)))
}

impl Handoff {
    /// With the defaults for packets of up to so many bytes.
    pub(super) fn of(largest_packet: u64) -> Self {
        let (bql, largest_packet) = (Bytes::new(2 * largest_packet), Bytes::new(largest_packet));
        Self { bql, largest_packet, small_queue: Some(Duration::from_us(1_000)) }
    }

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

words! {
    Kind { Fq = "fq", Fifo = "fifo", Unlimited = "unlimited", Managed = "managed" }
}

impl Kind {
    /// The keys of its table beside `kind`.
    fn keys(self) -> Vec<&'static str> {
        match self {
            Self::Fq => setting_keys(FqSetup::FIELDS).into_iter().chain(setting_keys(Handoff::FIELDS)).collect(),
            Self::Fifo => setting_keys(FifoKeys::FIELDS).into_iter().chain(setting_keys(Handoff::FIELDS)).collect(),
            Self::Unlimited => Vec::new(),
            Self::Managed => managed_keys().into_iter().chain(MANAGED_TABLES).collect(),
        }
    }
}

/// The kind of a `[nic]` table; keys of other kinds are refused.
pub(super) fn kind(table: &Table<'_>) -> Result<Kind, Diagnostic> {
    let kind = table.get("kind").map_or(Ok(Kind::Fq), |kind| kind.word(Kind::WORDS))?;
    if kind == Kind::Managed && table.has("trim") {
        let remedy = "remove it; switches trim: write [trim], or [tier.NAME.trim] for a tier";
        return Err(table.key_error("trim", "hosts do not trim packets", remedy));
    }
    let known: Vec<&str> = ["kind"].into_iter().chain(kind.keys()).collect();
    let elsewhere = |key: &str| Kind::WORDS.iter().any(|(_, kind)| kind.keys().contains(&key));
    table.allow(&known, elsewhere, kind.word())?;
    Ok(kind)
}

/// What is not managed, for packets of up to so many bytes.
pub(super) fn read(table: Option<&Table<'_>>, largest_packet: u64) -> Result<NicSetup, Diagnostic> {
    match table.map_or(Ok(Kind::Fq), kind)? {
        Kind::Fq => {
            let largest = largest_packet as u32;
            let mut fq = FqSetup { quantum: 2 * largest, initial_quantum: 10 * largest, ..FqSetup::default() };
            table.map_or(Ok(()), |table| read_settings(table, &mut fq))?;
            Ok(NicSetup::Fq(fq, handoff(table, largest_packet)?))
        }
        Kind::Fifo => Ok(NicSetup::Fifo(fifo_limit(table, largest_packet)?, handoff(table, largest_packet)?)),
        Kind::Unlimited | Kind::Managed => Ok(NicSetup::Unlimited),
    }
}

fn fifo_limit(table: Option<&Table<'_>>, largest_packet: u64) -> Result<FifoLimit, Diagnostic> {
    let mut keys = FifoKeys::default();
    if let Some(table) = table {
        let unused = unused(table, "limit", "limit_bytes", "the limit is there already")?;
        let used = if unused == "limit" { "limit_bytes" } else { "limit" };
        read_known(table, &[used], &mut keys)?;
        holds_a_packet(table, "limit_bytes", keys.limit_bytes, largest_packet)?;
    }
    let packets = FifoLimit::Packets(keys.limit.unwrap_or(u32::MAX));
    Ok(keys.limit_bytes.map_or(packets, FifoLimit::Bytes))
}

fn handoff(table: Option<&Table<'_>>, largest_packet: u64) -> Result<Handoff, Diagnostic> {
    let mut handoff = Handoff::of(largest_packet);
    if let Some(table) = table {
        read_settings(table, &mut handoff)?;
        holds_a_packet(table, "bql", Some(handoff.bql), largest_packet)?;
    }
    Ok(handoff)
}

fn holds_a_packet(table: &Table<'_>, key: &str, bytes: Option<Bytes>, largest: u64) -> Result<(), Diagnostic> {
    if bytes.is_none_or(|bytes| bytes.get() >= largest) {
        return Ok(());
    }
    let problem = format!("a packet of {largest} bytes would not fit");
    Err(table.locate(key, problem, format!("give {largest} or more")))
}
