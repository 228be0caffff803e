//! A switch whose packets leave when it is known on arrival that they will.
//!
//! A port that sends in order of arrival, under a policy that neither takes packets back nor looks at departures, sends
//! a packet as soon as the wire has sent those before it. So [`FifoTm::offer`] gives a packet that is admitted to the
//! caller at once, who lines it up for the wire, and there are no departures to ask for. The packet takes its place in
//! the buffer until the wire is free for it.
//!
//! Nobody looks at the books of a port before the next arrival there, so what has left it is taken off its books then.
//! Packets of the *other* ports may still be on the books although they have left: the buffer is used as much as the
//! books say, or less. Dynamic thresholds and complete sharing admit no less when less is used. So a packet that is
//! admitted by the books is rightly admitted; if one is not, all ports are brought up to date first, and then it is
//! judged.
//!
//! Verdicts, times and counters are those of a [`Tm`](crate::Tm) with the same settings.

use crate::admit::{DynamicThresholdsConfig, PolicyConfig, real};
use crate::buffer::Count;
use crate::config::ValidConfig;
use crate::counters::{Counters, MemoryReads, QueueStats, Totals};
use crate::mark::{MarkAction, MarkConfig, StepConfig};
use crate::packet::MAX_PACKET_BYTES;
use crate::units::{Bytes, Instant};
use crate::verdict::{Reason, Threshold, Verdict};
use crate::view::View;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// A packet that leaves the buffer at a known time.
#[derive(Clone, Copy, Debug, Default)]
struct Leaving {
    at: Instant,
    bytes: u32,
}

/// A port and its queue. Its size is a power of two, which makes finding it a shift. The order of the fields is fixed:
/// two counters that change together and stood side by side would be packed into a vector register, which costs more.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Port {
    /// Packets that were admitted.
    packets_in: u64,
    /// The packets that wait, in order: a ring of a power of two places.
    ring: Box<[Leaving]>,
    /// `q_i`, and the largest so far.
    bytes: u64,
    peak: u64,
    /// The factor of its threshold. Infinite under complete sharing.
    alpha: f64,
    /// How many have left, and how many have come to wait.
    head: u32,
    tail: u32,
    /// The bytes of the packets that were admitted.
    bytes_in: u64,
}

impl Port {
    fn new(alpha: f64) -> Self {
        let ring = vec![Leaving::default(); 4].into_boxed_slice();
        Self { packets_in: 0, ring, bytes: 0, peak: 0, alpha, head: 0, tail: 0, bytes_in: 0 }
    }

    /// Takes the packets that have left by now off the books. Returns their bytes.
    #[inline(always)]
    fn settle(&mut self, now: Instant) -> u64 {
        let mut left = 0;
        while self.head != self.tail {
            let Leaving { at, bytes } = self.ring[self.head as usize & (self.ring.len() - 1)];
            if at > now {
                break;
            }
            self.head = self.head.wrapping_add(1);
            left += u64::from(bytes);
        }
        self.bytes -= left;
        left
    }

    /// A packet waits until this time.
    #[inline(always)]
    fn wait(&mut self, at: Instant, bytes: u32) {
        if self.waiting() as usize == self.ring.len() {
            self.grow();
        }
        let mask = self.ring.len() - 1;
        self.ring[self.tail as usize & mask] = Leaving { at, bytes };
        self.tail = self.tail.wrapping_add(1);
        self.bytes += u64::from(bytes);
    }

    fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.ring.len();
        let mut ring = vec![Leaving::default(); 2 * old].into_boxed_slice();
        for number in 0..old as u32 {
            let number = self.head.wrapping_add(number) as usize;
            ring[number & (2 * old - 1)] = self.ring[number & (old - 1)];
        }
        self.ring = ring;
    }
}

/// The traffic manager of a switch with one queue a port, where it is known on arrival when a packet leaves.
#[derive(Clone, Debug)]
pub struct FifoTm {
    ports: Vec<Port>,
    /// `B`.
    capacity: u64,
    /// `Q` by the books, and the largest true one so far.
    used: u64,
    peak: u64,
    /// Where step marking starts.
    step: u64,
    stats: Vec<QueueStats>,
    config: ValidConfig,
}

impl FifoTm {
    /// Whether settings make it certain on arrival when a packet leaves: see [`FifoTm::new`].
    pub fn suits(config: &ValidConfig) -> bool {
        Self::rules(config).is_some()
    }

    /// A traffic manager with an empty buffer at time 0. `None` if these settings do not make it certain when a packet
    /// leaves: there has to be one queue a port, charged by the byte and in order of arrival, without a limit in
    /// packets, without trimming, under dynamic thresholds without a reserve or complete sharing, with a step above
    /// which packets are marked, if any are.
    pub fn new(config: ValidConfig) -> Option<Self> {
        let (alpha, step) = Self::rules(&config)?;
        Some(Self {
            ports: vec![Port::new(alpha); config.rates.len()],
            capacity: config.buffer.get(),
            used: 0,
            peak: 0,
            step,
            stats: vec![QueueStats::default(); config.rates.len()],
            config,
        })
    }

    /// The factor of thresholds, and where marking starts.
    fn rules(config: &ValidConfig) -> Option<(f64, u64)> {
        let alpha = match &config.policy {
            PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha, reserved: 0.0 }) => alpha.at(0),
            PolicyConfig::CompleteSharing(_) => f64::INFINITY,
            _ => return None,
        };
        let step = match &config.mark {
            None => u64::MAX,
            Some(MarkConfig::Step(StepConfig { threshold, action: MarkAction::Mark })) => threshold.get(),
            Some(_) => return None,
        };
        let in_order = config.scheduler.keeps_order() && !config.scheduler.uses_ranks();
        let by_the_byte = config.cell == Bytes::new(1) && !config.cell_pointers;
        let unlimited = config.queue_capacity.is_none() && config.trim.is_none();
        if config.queues != 1 || !in_order || !by_the_byte || !unlimited {
            return None;
        }
        Some((alpha, step))
    }

    /// A packet arrives, for a port whose wire has sent what it was given before at `free_at`. If it is queued, it
    /// leaves then, or now if the wire is idle: the caller gives it to the wire at once.
    ///
    /// # Panics
    /// If there is no such port, or the packet is empty or longer than [`MAX_PACKET_BYTES`].
    #[inline(always)]
    pub fn offer(&mut self, now: Instant, port: u32, bytes: u32, ect: bool, free_at: Instant) -> Verdict {
        let state = &mut self.ports[port as usize];
        self.used -= state.settle(now);
        let high = state.bytes + u64::from(bytes);
        let used = self.used + u64::from(bytes);
        // The peak is at most `B`: what does not exceed it fits.
        let is_admitted = real(high) <= state.alpha * real(self.capacity - self.used);
        if !is_admitted | (used > self.peak) | (bytes as i32 <= 0) {
            return self.offer_by_the_truth(now, port, bytes, ect, free_at);
        }
        let marked = ect & (state.bytes >= self.step);
        state.packets_in += 1;
        state.bytes_in += u64::from(bytes);
        if high > state.peak {
            state.peak = high;
        }
        if free_at > now {
            state.wait(free_at, bytes);
            self.used = used;
        }
        if marked {
            self.stats[port as usize].marked.add(bytes);
            return Verdict::Queued { marked: true };
        }
        Verdict::Queued { marked: false }
    }

    /// [`FifoTm::offer`] after all ports have been brought up to date.
    #[cold]
    #[inline(never)]
    fn offer_by_the_truth(&mut self, now: Instant, port: u32, bytes: u32, ect: bool, free_at: Instant) -> Verdict {
        assert!((1..=MAX_PACKET_BYTES).contains(&bytes), "the packet is not empty nor too long");
        self.advance(now);
        let (charge, remaining) = (u64::from(bytes), self.capacity - self.used);
        let state = &self.ports[port as usize];
        let reason = if charge > self.capacity {
            Reason::Oversize
        } else if charge > remaining {
            Reason::Full
        } else if real(state.bytes + charge) > state.alpha * real(remaining) {
            Reason::Threshold
        } else {
            self.peak = self.peak.max(self.used + charge);
            return self.offer(now, port, bytes, ect, free_at);
        };
        self.stats[port as usize].drop(reason, bytes);
        Verdict::Dropped { reason }
    }

    /// Ports.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// When the first packet that waits at a port leaves, by the books; [`Instant::ZERO`] if none waits.
    pub fn first_departure(&self, port: usize) -> Instant {
        let port = &self.ports[port];
        if port.head == port.tail {
            return Instant::ZERO;
        }
        port.ring[port.head as usize & (port.ring.len() - 1)].at
    }

    /// Takes the packets that have left by now off the books, so that what the switch says of itself is true.
    pub fn advance(&mut self, now: Instant) {
        if self.used == 0 {
            // Nothing waits: in a large network most switches are idle at most samples.
            return;
        }
        for port in &mut self.ports {
            self.used -= port.settle(now);
        }
    }

    /// Whether the books agree: for tests.
    pub fn is_consistent(&self) -> bool {
        let agrees = |port: &Port| {
            let places = (0..port.waiting()).map(|number| port.head.wrapping_add(number) as usize);
            places.map(|place| u64::from(port.ring[place & (port.ring.len() - 1)].bytes)).sum::<u64>() == port.bytes
        };
        let sum: u64 = self.ports.iter().map(|port| port.bytes).sum();
        self.ports.iter().all(agrees) && sum == self.used && sum <= self.capacity && self.peak <= self.capacity
    }
}

impl View for FifoTm {
    fn config(&self) -> &ValidConfig {
        &self.config
    }

    fn used(&self) -> Bytes {
        Bytes::new(self.used)
    }

    fn queue_bytes(&self, queue: usize) -> Bytes {
        Bytes::new(self.ports[queue].bytes)
    }

    fn threshold(&self, queue: usize) -> Option<Threshold> {
        let (alpha, remaining) = (self.ports[queue].alpha, self.capacity - self.used);
        alpha.is_finite().then(|| Threshold {
            value: alpha * real(remaining),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(remaining)),
            ..Threshold::default()
        })
    }

    fn queue_packets(&self, queue: usize) -> usize {
        self.ports[queue].waiting() as usize
    }

    fn queue_counters(&self, queue: usize) -> Counters {
        let port = &self.ports[queue];
        let waiting = Count { packets: u64::from(port.waiting()), bytes: port.bytes };
        let peak = Bytes::new(port.peak);
        let admitted = Count { packets: port.packets_in, bytes: port.bytes_in };
        let totals = Totals { admitted, waiting, waiting_whole: waiting, peak };
        Counters::new(&totals, &self.stats[queue])
    }

    fn port_peak(&self, port: usize) -> Bytes {
        Bytes::new(self.ports[port].peak)
    }

    fn peak(&self) -> Bytes {
        Bytes::new(self.peak)
    }

    fn dropped_packets(&self) -> u64 {
        self.stats.iter().map(|stats| stats.dropped_packets).sum()
    }

    fn memory_reads(&self) -> MemoryReads {
        MemoryReads { transmission: Bytes::new(self.pool_counters().sent.bytes), expulsion: Bytes::ZERO }
    }
}
