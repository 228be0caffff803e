//! The memory management unit of a switch: both sides of its buffer.
//!
//! A packet is charged to a priority group of the port it came by ([`Ingress`]) and to a queue of the port it leaves by
//! ([`Tm`]). [`Mmu`] owns both and has the verbs of a [`Tm`]. The ingress side is asked first; if either side refuses,
//! nothing has changed on the ingress side. What is pushed out, expelled or sent gives its cells back on both sides. A
//! switch without an ingress side is a [`Tm`], and pays nothing.
//!
//! Where chips keep queues in pools, too, the egress side has the policy `pools`: a policy like any other, so that DT,
//! FB, ABM or Occamy can stand in its place.
//!
//! What a group asks its sender for comes out as [`PauseRequest`]s.
//!
//! ```
//! use forebay_tm::ingress::{Alpha, GroupConfig, IngressConfig, Limit, LosslessConfig, PoolConfig, PortConfig};
//! use forebay_tm::{Instant, Mmu, MmuConfig, Packet, PacketId, TmConfig, Wire};
//!
//! let lossless = Some(LosslessConfig { headroom: 2, xon: 0, xon_offset: 0 });
//! let limit = Limit::Dynamic(Alpha::power_of_two(0));
//! let ingress = IngressConfig {
//!     cell: 256,
//!     partitions: 1,
//!     pools: vec![PoolConfig { shared: 6, headroom: None }],
//!     ports: vec![PortConfig::default(); 2],
//!     groups: vec![GroupConfig { port: 1, number: 3, limit, lossless, ..GroupConfig::default() }],
//! };
//! let switch = TmConfig::new(vec!["100Gbps".parse().unwrap(); 2], "1MB".parse().unwrap());
//! let mut mmu = Mmu::new(MmuConfig { switch, ingress }).unwrap();
//! for id in 0..5 {
//!     let packet = Packet { id: PacketId(id), bytes: 64, in_port: 1, group: 3, ..Packet::default() };
//!     mmu.offer(Instant::ZERO, &packet, Wire::Busy);
//! }
//! // Three of six cells are shared with one left for each; the fourth packet asks for pause.
//! let paused: Vec<String> = mmu.requests().map(|request| request.to_string()).collect();
//! assert_eq!(paused, ["XOFF port 1 group 3"]);
//! assert_eq!(mmu.dequeue(Instant::ZERO, 0).unwrap().id, PacketId(0));
//! ```

use crate::admit::PolicyConfig;
use crate::config::{ConfigError, TmConfig};
use crate::ingress::{Charged, Ingress, IngressConfig, Refusal};
use crate::packet::{Packet, PacketId};
use crate::switch::Tm;
use crate::trim::TrimConfig;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{self, Departure, Eviction, Explanation, GroupExplanation, Outcome, Verdict, Wire};
use crate::view::View as _;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Both sides of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct MmuConfig {
    /// The egress side, and all else that there is to a switch.
    pub switch: TmConfig,
    /// The ingress side. It has the ports of the switch.
    pub ingress: IngressConfig,
}

impl MmuConfig {
    /// Checks both sides, and that they belong together.
    ///
    /// # Errors
    /// If they do not.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.switch.clone().validate()?;
        self.ingress.check()?;
        let (ports, ingress) = (self.switch.rates.len(), self.ingress.ports.len());
        if ports != ingress {
            let error = ConfigError::new("ingress.ports", ingress, format!("the switch has {ports} ports"));
            return Err(error.remedy("describe as many on the ingress side"));
        }
        Ok(())
    }
}

/// What a priority group asks its sender for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseRequest {
    /// When.
    pub at: Instant,
    /// The port that packets of the group come by.
    pub port: u32,
    /// The number of the group.
    pub group: u8,
    /// Pause or resume.
    pub signal: Signal,
}

impl fmt::Display for PauseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {} group {}", self.signal.as_str(), self.port, self.group)
    }
}

/// Pause or resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Stop sending.
    Xoff,
    /// Go on.
    Xon,
}

impl Signal {
    /// Its name in messages and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Xoff => "XOFF",
            Self::Xon => "XON",
        }
    }
}

/// What has happened to a priority group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounters {
    /// Packets refused on the ingress side.
    pub refused: u64,
    /// Times that it asked for pause.
    pub pauses: u64,
    /// How long it was paused, up to the last time it asked to resume.
    pub paused: Duration,
    /// When it asked for pause, while it is paused.
    pub paused_since: Option<Instant>,
}

/// A traffic manager with both sides of the buffer.
#[derive(Clone, Debug)]
pub struct Mmu {
    tm: Tm,
    ingress: Ingress,
    counters: Vec<GroupCounters>,
    /// What trimming leaves of a packet.
    header: u32,
    /// On the egress side dynamic thresholds alone decide: nothing is due, and no packet loses its place.
    is_dt_alone: bool,
    /// The egress side has to know what is free on the ingress side (Reverie).
    tells_free: bool,
    requests: Vec<PauseRequest>,
    evictions: Vec<Eviction>,
}

impl Mmu {
    /// An empty buffer at time 0.
    ///
    /// # Errors
    /// If the two sides are not right, or do not belong together.
    pub fn new(config: MmuConfig) -> Result<Self, ConfigError> {
        config.validate()?;
        let ingress = Ingress::new(config.ingress)?;
        let groups = ingress.config().groups.len();
        let tm = Tm::new(config.switch.validate()?);
        let mut mmu = Self {
            tm,
            ingress,
            counters: vec![GroupCounters::default(); groups],
            header: 0,
            is_dt_alone: false,
            tells_free: false,
            requests: Vec::new(),
            evictions: Vec::new(),
        };
        mmu.read_settings();
        Ok(mmu)
    }

    fn read_settings(&mut self) {
        let size = self.tm.config().trim.as_ref().and_then(TrimConfig::size);
        self.header = size.map_or(u32::MAX, |size| size.get() as u32);
        self.is_dt_alone = self.tm.is_dt_alone();
        self.tells_free = matches!(self.tm.config().policy, PolicyConfig::Reverie(_));
    }

    // ---- The path of a packet
    // ----------------------------------------------------------------------------------------

    /// A packet arrives: [`Tm::offer`], if the ingress side takes it.
    ///
    /// # Panics
    /// As [`Tm::offer`]; or if its port has no such group.
    #[inline]
    pub fn offer(&mut self, now: Instant, packet: &Packet, wire: Wire) -> Outcome {
        if !self.is_dt_alone {
            return self.offer_other(now, *packet, wire);
        }
        let pg = self.place_of(packet);
        let cells = self.ingress.cells(packet.bytes);
        if !self.ingress.charge_shared(pg, cells) {
            return self.offer_charged(now, *packet, wire, pg);
        }
        let outcome = self.tm.offer_dt(now, packet, pg, wire);
        match outcome {
            Outcome::Verdict(Verdict::Queued { .. }) => {}
            Outcome::Verdict(Verdict::Dropped { .. }) => self.ingress.undo_shared(pg, cells),
            _ => self.follow(now, packet, pg, Charged::Shared, outcome),
        }
        outcome
    }

    /// [`Mmu::offer`] where not only dynamic thresholds decide on the egress side. It takes the packet by value, so
    /// that otherwise
    /// a caller can keep the packet in registers.
    #[inline(never)]
    fn offer_other(&mut self, now: Instant, packet: Packet, wire: Wire) -> Outcome {
        let pg = self.arrive(now, &packet);
        self.offer_charged(now, packet, wire, pg)
    }

    /// Charges a packet with care, and offers it to the egress side.
    #[inline(never)]
    fn offer_charged(&mut self, now: Instant, packet: Packet, wire: Wire, pg: usize) -> Outcome {
        let cells = self.ingress.cells(packet.bytes);
        match self.ingress.charge(pg, cells) {
            Err(refusal) => self.refuse(&packet, pg, refusal),
            Ok(charged) => {
                let outcome = self.tm.offer_with(now, &packet, pg, wire, &mut ());
                match outcome {
                    Outcome::Verdict(Verdict::Queued { .. }) if charged <= Charged::Headroom => {}
                    Outcome::Verdict(Verdict::Dropped { .. }) => self.ingress.undo(pg, cells, charged),
                    _ => self.follow(now, &packet, pg, charged, outcome),
                }
                outcome
            }
        }
    }

    /// [`Mmu::offer`], with the numbers that led to the outcome, of both sides.
    pub fn offer_explained(&mut self, now: Instant, packet: &Packet, wire: Wire) -> (Outcome, Explanation) {
        let pg = self.arrive(now, packet);
        let (port, group) = (packet.in_port as usize, packet.group);
        let mut met = GroupExplanation {
            port,
            group,
            cells: self.ingress.cells(packet.bytes),
            has: self.ingress.occupancy(port, group),
            minimum: self.ingress.config().groups[self.ingress.number(pg)].minimum,
            limit: self.ingress.limit(port, group),
            free: self.ingress.free_for(pg),
            charge: None,
        };
        let (outcome, mut why) = match self.ingress.charge(pg, met.cells) {
            Err(refusal) => (self.refuse(packet, pg, refusal), self.unasked(now, packet)),
            Ok(charged) => {
                let charge = self.ingress.occupancy(port, group).since(met.has, charged);
                let (outcome, why) = self.tm.offer_explained(now, packet, wire);
                if let Outcome::Verdict(Verdict::Dropped { .. } | Verdict::Returned { .. }) = outcome {
                    self.ingress.undo(pg, met.cells, charged);
                } else {
                    met.charge = Some(charge);
                    self.follow(now, packet, pg, charged, outcome);
                }
                (outcome, why)
            }
        };
        why.verdict = Some(outcome.verdict());
        why.ingress = Some(met);
        (outcome, why)
    }

    /// What is due comes first. The place of the packet's group.
    #[inline(always)]
    fn arrive(&mut self, now: Instant, packet: &Packet) -> usize {
        if self.tm.settle(now) || self.tm.has_evictions() {
            self.take_losses();
        }
        let pg = self.place_of(packet);
        if self.tells_free {
            self.tell_free(packet);
        }
        pg
    }

    /// The place of the packet's group.
    #[inline(always)]
    fn place_of(&self, packet: &Packet) -> usize {
        self.ingress.pg(packet.in_port as usize, packet.group)
    }

    /// Reverie: lossy queues share a pool with lossless groups.
    #[cold]
    fn tell_free(&mut self, packet: &Packet) {
        let (port, group) = (packet.in_port as usize, packet.group);
        if self.ingress.has_group(port, group) {
            let free = self.ingress.free_for(self.ingress.pg(port, group));
            self.tm.tell_free(free * u64::from(self.ingress.config().cell));
        }
    }

    /// The state of the egress side, which was not asked.
    fn unasked(&self, now: Instant, packet: &Packet) -> Explanation {
        let queue = self.tm.queue_index(packet.port as usize, packet.queue as usize);
        Explanation {
            at: now,
            queue,
            charge: Bytes::new(u64::from(packet.bytes)),
            length: self.tm.queue_bytes(queue),
            waiting: self.tm.queue_packets(queue),
            total: self.tm.used(),
            buffer: self.tm.config().buffer,
            ..Explanation::default()
        }
    }

    #[cold]
    fn refuse(&mut self, packet: &Packet, pg: usize, refusal: Refusal) -> Outcome {
        let reason = refusal.reason();
        self.counters[self.ingress.number(pg)].refused += 1;
        self.tm.refuse(packet, verdict::Refusal::Dropped(reason));
        Verdict::Dropped { reason }.into()
    }

    /// What follows on the ingress side for a packet that was not simply queued or dropped.
    #[inline(never)]
    fn follow(&mut self, now: Instant, packet: &Packet, pg: usize, charged: Charged, outcome: Outcome) {
        let cells = self.ingress.cells(packet.bytes);
        if let Outcome::Verdict(Verdict::Dropped { .. } | Verdict::Returned { .. }) = outcome {
            return self.ingress.undo(pg, cells, charged);
        }
        if charged == Charged::Pause {
            self.request(now, pg, Signal::Xoff);
        }
        let left = match outcome {
            Outcome::Sent => 0,
            Outcome::Verdict(Verdict::Trimmed { .. }) => self.ingress.cells(packet.bytes.min(self.header)),
            Outcome::Verdict(_) => cells,
        };
        if cells > left {
            self.give_back(now, pg, cells - left);
        }
    }

    /// Picks the next packet of an idle port: [`Tm::dequeue`].
    #[inline(always)]
    pub fn dequeue(&mut self, now: Instant, port: usize) -> Option<Departure> {
        let departure = self.tm.dequeue(now, port);
        self.leave(now, departure)
    }

    /// Picks the next packet among the queues that are not paused: [`Tm::dequeue_unpaused`].
    pub fn dequeue_unpaused(&mut self, now: Instant, port: usize, paused: u64) -> Option<Departure> {
        let departure = self.tm.dequeue_unpaused(now, port, paused);
        self.leave(now, departure)
    }

    /// A packet that was picked gives its cells back.
    #[inline(always)]
    fn leave(&mut self, now: Instant, departure: Option<Departure>) -> Option<Departure> {
        if self.tm.has_evictions() {
            self.take_losses();
        }
        let departure = departure?;
        let pg = departure.place();
        if self.ingress.give_back(pg, self.ingress.cells(departure.bytes())) {
            self.request(now, pg, Signal::Xon);
        }
        Some(departure)
    }

    #[inline]
    fn give_back(&mut self, now: Instant, pg: usize, cells: u64) {
        if self.ingress.give_back(pg, cells) {
            self.request(now, pg, Signal::Xon);
        }
    }

    #[cold]
    fn request(&mut self, at: Instant, pg: usize, signal: Signal) {
        let number = self.ingress.number(pg);
        let counters = &mut self.counters[number];
        match signal {
            Signal::Xoff => {
                counters.pauses += 1;
                counters.paused_since = Some(at);
            }
            Signal::Xon => {
                let since = counters.paused_since.take().unwrap_or(at);
                counters.paused = Duration::from_ps(counters.paused.ps() + at.since(since).ps());
            }
        }
        let group = &self.ingress.config().groups[number];
        self.requests.push(PauseRequest { at, port: group.port as u32, group: group.number, signal });
    }

    /// Packets that lost their place give their cells back. This is made up before anything else happens, and before
    /// anybody looks.
    #[inline(never)]
    fn take_losses(&mut self) {
        let lost: Vec<(Eviction, usize)> = self.tm.placed_evictions().collect();
        for (lost, pg) in lost {
            self.give_back(lost.at, pg, self.ingress.cells(lost.bytes));
            self.evictions.push(lost);
        }
    }

    /// What groups have asked for since this was last asked, in that order.
    pub fn requests(&mut self) -> impl Iterator<Item = PauseRequest> {
        self.take_losses();
        self.requests.drain(..)
    }

    /// Whether there may be any [`Mmu::requests`].
    #[inline(always)]
    pub fn has_requests(&self) -> bool {
        !self.requests.is_empty() || self.tm.has_evictions()
    }

    /// As [`Tm::drain_evictions`].
    pub fn drain_evictions(&mut self) -> impl Iterator<Item = Eviction> {
        self.take_losses();
        self.evictions.drain(..)
    }

    /// Whether there are any [`Mmu::drain_evictions`].
    #[inline(always)]
    pub fn has_evictions(&self) -> bool {
        !self.evictions.is_empty() || self.tm.has_evictions()
    }

    /// As [`Tm::advance`].
    pub fn advance(&mut self, now: Instant) {
        self.tm.advance(now);
        self.take_losses();
    }

    /// As [`Tm::due`].
    pub fn due(&self) -> Instant {
        self.tm.due()
    }

    /// As [`Tm::next_eligible`].
    pub fn next_eligible(&self, port: usize) -> Option<Instant> {
        self.tm.next_eligible(port)
    }

    /// Changes settings of both sides while packets wait; see [`Tm::reconfigure`] and [`Ingress::reconfigure`]. All of
    /// it applies at once, or none of it.
    ///
    /// # Errors
    /// If one of the sides cannot change like that.
    pub fn reconfigure(&mut self, config: MmuConfig) -> Result<(), ConfigError> {
        config.validate()?;
        self.take_losses();
        let mut ingress = self.ingress.clone();
        ingress.reconfigure(config.ingress)?;
        self.tm.reconfigure(config.switch)?;
        self.ingress = ingress;
        self.read_settings();
        Ok(())
    }

    // ---- What can be seen -------------------------------------------------------------------------------------------

    /// A packet that was picked is not sent after all: [`Tm::discard`]. Its cells are back already.
    pub fn discard(&mut self, port: usize, departure: Departure) {
        self.tm.discard(port, departure);
    }

    /// The packets of a queue, with the port and the group that they are charged to.
    pub fn waiting(&self, queue: usize) -> impl Iterator<Item = (PacketId, usize, u8)> {
        self.tm.waiting_in(queue).map(|(id, summary)| {
            let group = &self.ingress.config().groups[self.ingress.number(summary.place())];
            (id, group.port, group.number)
        })
    }

    /// The egress side.
    pub fn egress(&self) -> &Tm {
        &self.tm
    }

    /// The ingress side.
    pub fn ingress(&self) -> &Ingress {
        &self.ingress
    }

    /// What has happened to the groups, in the order of the configuration.
    pub fn group_counters(&self) -> &[GroupCounters] {
        &self.counters
    }

    /// Whether all accounts of both sides agree. Slow; for tests.
    pub fn is_consistent(&self) -> bool {
        self.tm.is_consistent() && self.ingress.is_consistent()
    }
}
