//! A switch whose ports send nothing: packets go through both sides of the core, one by one, until it pauses and drops.
//! Then one port sends again until it asks to resume.

use crate::fill::{Filled, Side};
use forebay_tm::admit::{PolicyConfig, PoolsConfig};
use forebay_tm::ingress::{GroupConfig, IngressConfig, Limit, MAX_CELLS, PoolConfig, PortConfig};
use forebay_tm::mmu::Signal;
use forebay_tm::schedule::SchedulerConfig;
use forebay_tm::{
    Bytes, ConfigError, Instant, Mmu, MmuConfig, Packet, PacketId, PerQueue, Rate, Reason, TmConfig, Verdict, Wire,
};

/// The PGs and queues of lossy and of lossless packets.
const LOSSY: u8 = 0;
const LOSSLESS: u8 = 1;

/// The limit of what has none.
const NO_LIMIT: u64 = MAX_CELLS;

/// What such a switch has: one partition of it.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Lossless PGs in their pool.
    pub lossless: Side,
    /// Lossy PGs in theirs; it may be that of the lossless ones.
    pub lossy: Side,
    /// Whether it is.
    pub in_one_pool: bool,
    /// Lossy queues in their pool; without one, nothing limits them.
    pub queue: Option<Side>,
}

/// Both sides of the core, with `senders` ports that packets come by and one, the last, that they would leave by.
pub struct Blocked {
    mmu: Mmu,
    senders: usize,
    bytes: u32,
    sent: u64,
}

/// What became of a packet.
enum Sent {
    Waits { pauses: bool },
    Dropped(Reason),
}

impl Parts {
    fn ingress(&self, senders: usize) -> IngressConfig {
        let side = &self.lossless;
        let lossy_pool = usize::from(!self.in_one_pool);
        let mut pools = vec![side.pool];
        if !self.in_one_pool {
            pools.push(PoolConfig { shared: self.lossy.pool.shared, headroom: None });
        }
        let port = PortConfig { partition: 0, limits: vec![side.port], headroom: side.group.port_headroom };
        let group = |port: usize, number: u8| {
            let (side, pool) = if number == LOSSLESS { (side, 0) } else { (&self.lossy, lossy_pool) };
            let of = &side.group;
            GroupConfig {
                port,
                number,
                pool,
                minimum: of.minimum,
                limit: of.limit,
                lossless: of.lossless,
                filter: None,
            }
        };
        let of_port = |port: usize| [LOSSY, LOSSLESS].map(|number| group(port, number));
        IngressConfig {
            cell: side.cell,
            partitions: 1,
            pools,
            ports: vec![port; senders + 1],
            groups: (0..=senders).flat_map(of_port).collect(),
        }
    }

    /// The egress side: the lossy pool, and one without limits for lossless queues, which the ingress side limits.
    fn egress(&self, senders: usize) -> TmConfig {
        let cell = u64::from(self.lossless.cell);
        let bytes = |cells: u64| Bytes::new(cells.min(NO_LIMIT / cell) * cell);
        let (shared, minimum, limit) = match &self.queue {
            Some(side) => (side.pool.shared, side.group.minimum, side.group.limit),
            None => (NO_LIMIT, 0, Limit::None),
        };
        // A factor of nothing is a constant of nothing.
        let (alpha, constant) = match limit {
            Limit::Dynamic(alpha) | Limit::OfPort(alpha) if alpha.num > 0 => {
                (alpha.num as f64 / alpha.den as f64, None)
            }
            Limit::Dynamic(_) | Limit::OfPort(_) => (1.0, Some(0)),
            Limit::Static(cells) => (1.0, Some(cells)),
            Limit::None => (1.0, Some(NO_LIMIT)),
        };
        let rates = vec![Rate::from_bps(100_000_000_000); senders + 1];
        let mut config = TmConfig::new(rates, bytes(NO_LIMIT));
        (config.queues, config.scheduler) = (2, SchedulerConfig::Strict);
        config.cell = Bytes::new(cell);
        config.policy = PolicyConfig::Pools(PoolsConfig {
            pools: PerQueue::Each(vec![bytes(shared), bytes(NO_LIMIT)]),
            pool: PerQueue::Each(vec![0, 1]),
            minimum: PerQueue::Each(vec![bytes(minimum), Bytes::ZERO]),
            alpha: PerQueue::Each(vec![alpha, 1.0]),
            limit: PerQueue::Each(vec![bytes(constant.unwrap_or(NO_LIMIT)), bytes(NO_LIMIT)]),
            fixed: PerQueue::Each(vec![constant.is_some(), true]),
            port_limit: None,
            partitions: 1,
        });
        config
    }

    /// The switch.
    ///
    /// # Errors
    /// If a number is beyond what the core takes.
    pub fn blocked(&self, senders: usize, bytes: u32) -> Result<Blocked, ConfigError> {
        self.lossless.check_fill(senders)?;
        let mmu = Mmu::new(MmuConfig { switch: self.egress(senders), ingress: self.ingress(senders) })?;
        Ok(Blocked { mmu, senders, bytes, sent: 0 })
    }
}

impl Blocked {
    fn send(&mut self, sender: usize, class: u8) -> Sent {
        let packet = Packet {
            id: PacketId(self.sent),
            bytes: self.bytes,
            port: self.senders as u32,
            queue: u32::from(class),
            in_port: sender as u32,
            group: class,
            ..Packet::default()
        };
        self.sent += 1;
        match self.mmu.offer(Instant::ZERO, &packet, Wire::Busy).verdict() {
            Verdict::Queued { .. } => {
                let pauses = self.mmu.requests().any(|request| request.signal == Signal::Xoff);
                Sent::Waits { pauses }
            }
            Verdict::Dropped { reason } | Verdict::Trimmed { reason } | Verdict::Returned { reason } => {
                Sent::Dropped(reason)
            }
        }
    }

    /// Sends lossless packets from all ports in turn until one of them is dropped. If there is one sender, its packets
    /// leave then until it asks to resume.
    pub fn fill(mut self) -> Filled {
        let mut filled = Filled::default();
        'full: loop {
            filled.drop += 1;
            for sender in 0..self.senders {
                match self.send(sender, LOSSLESS) {
                    Sent::Waits { pauses: true } => filled.pause = filled.pause.or(Some(filled.drop)),
                    Sent::Waits { pauses: false } => {}
                    Sent::Dropped(_) => break 'full,
                }
            }
        }
        if self.senders == 1 && filled.pause.is_some() {
            filled.resume = self.drain();
        }
        filled
    }

    /// The cells of the first sender's PG when it asks to resume.
    fn drain(&mut self) -> Option<u64> {
        while self.mmu.dequeue(Instant::ZERO, self.senders).is_some() {
            if self.mmu.requests().any(|request| request.signal == Signal::Xon) {
                return Some(self.mmu.ingress().occupancy(0, LOSSLESS).total());
            }
        }
        None
    }

    /// Fills the PG of one sender until it asks for pause, then the next, and so on: the packets of the last one.
    pub fn fill_one_by_one(mut self) -> Option<u64> {
        let mut last = None;
        for sender in 0..self.senders {
            let mut packets = 0;
            last = loop {
                packets += 1;
                match self.send(sender, LOSSLESS) {
                    Sent::Waits { pauses: true } => break Some(packets),
                    Sent::Waits { pauses: false } => {}
                    Sent::Dropped(_) => break None,
                }
            };
        }
        last
    }

    /// Sends lossy packets of the first port until one is dropped: its number, and the side that drops it.
    pub fn fill_lossy(mut self) -> (u64, &'static str) {
        loop {
            if let Sent::Dropped(reason) = self.send(0, LOSSY) {
                debug_assert!(self.mmu.egress().is_consistent());
                return (self.sent, reason.side().as_str());
            }
        }
    }
}
