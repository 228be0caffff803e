//! The intelligent buffer of Cisco's switches: DT, approximate fair dropping (AFD) for elephants and a queue for mice.
//!
//! * The *elephant trap* tells long flows from short ones: a flow is short until it has sent `short_packets` packets
//!   without a silence longer than `short_window`.
//! * *AFD*: every interval each queue's fair share moves by `-gain_now * (q - reference) + gain_before * (q_before -
//!   reference)`, within 0 and its initial value (so that an idle time does not wind it up). While a queue is longer
//!   than `afd_from`, a packet of an elephant that brought `M` bytes in the interval before is dropped with the
//!   probability `1 - min(scale*M, fair) / (scale*M)`.
//! * Short flows go to `short_queue`, if one is set, and are never dropped by AFD.
//!
//! It draws random numbers.

use super::dynamic_thresholds::threshold;
use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, MAX_BUFFER, PerQueue, TmConfig, ValidConfig, check_alphas, check_span};
use crate::described::{settings, words};
use crate::flow_table::FlowTable;
use crate::packet::Packet;
use crate::random::Random;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Reason, Threshold};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::any::Any;

/// What AFD compares with the fair share: the bytes of the flow or of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// Those of the packet's flow, as AFD has it.
    #[default]
    Flow,
    /// Those of the packet's queue, all flows together, as ABM's authors have it; then short flows are not spared.
    Queue,
}

words!(Accounting { Flow = "flow", Queue = "queue" });

settings! {
    /// Settings of the intelligent buffer. The defaults are those of ABM's authors.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IntelligentBufferConfig {
        /// DT's alpha, per queue number.
        pub alpha: PerQueue<f64> = PerQueue::All(0.5) => needed,
        /// Time between updates of the fair share.
        pub interval: Duration = Duration::from_us(50),
        /// The target queue length of AFD.
        pub reference: Bytes = Bytes::new(100_000),
        /// The initial and largest fair share.
        pub initial_fair: Bytes = Bytes::new(4_000_000),
        /// The gain of the current queue length in the update of the fair share.
        pub gain_now: f64 = 1.8,
        /// The gain of the previous queue length in that update.
        pub gain_before: f64 = 1.7,
        /// The factor of a flow's bytes in the comparison with the fair share.
        pub scale: f64 = 15.0,
        /// AFD drops only packets of queues longer than this.
        pub afd_from: Bytes = Bytes::new(150 * 1024),
        /// What AFD compares with the fair share: the bytes of the flow or of the queue.
        pub accounting: Accounting = Accounting::Flow,
        /// A flow of fewer packets is short.
        pub short_packets: u64 = 72,
        /// The pause after which a flow counts as new.
        pub short_window: Duration = Duration::from_us(5_000),
        /// The queue of short flows; without it, packets join the queue that they are sent to.
        pub short_queue: Option<usize> = None,
    }
}

impl PolicySettings for IntelligentBufferConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_span("policy.interval", self.interval)?;
        check_span("policy.short_window", self.short_window)?;
        for (field, value) in
            [("policy.gain_now", self.gain_now), ("policy.gain_before", self.gain_before), ("policy.scale", self.scale)]
        {
            if !(value > 0.0 && value <= 1e6) {
                return Err(ConfigError::new(field, value, "it must be above 0 and at most a million")
                    .remedy("give a number such as 1.8"));
            }
        }
        for (field, size) in [("policy.reference", self.reference), ("policy.initial_fair", self.initial_fair)] {
            if size > MAX_BUFFER {
                return Err(ConfigError::new(field, size, "it is larger than any buffer")
                    .remedy(format!("give at most {MAX_BUFFER}, such as \"100KB\"")));
            }
        }
        match self.short_queue {
            Some(k) if k >= switch.queues => {
                Err(ConfigError::new("policy.short_queue", k, format!("a port has {} queues", switch.queues))
                    .remedy(format!("give a queue number from 0 to {}", switch.queues - 1)))
            }
            _ => Ok(()),
        }
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, switch: &ValidConfig) -> ActivePolicy {
        IntelligentBuffer::new(self, switch).into()
    }
}

/// An entry of the elephant trap.
#[derive(Clone, Copy, Debug)]
struct Flow {
    last: Instant,
    packets: u64,
    /// The update before which `bytes` came.
    epoch: u64,
    bytes: u64,
    bytes_before: u64,
}

/// Fair shares are kept in millionths of a byte, and gains in millionths: exact, so that it does not matter in how many
/// steps time passes.
const PARTS: i128 = 1_000_000;

/// A gain in millionths.
fn parts_of(gain: f64) -> i128 {
    (gain * PARTS as f64 + 0.5) as i128
}

#[derive(Clone, Copy, Debug)]
struct FairShare {
    /// In millionths of a byte.
    fair: i128,
    length_before: u64,
    bytes: u64,
    bytes_before: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct IntelligentBuffer {
    config: IntelligentBufferConfig,
    /// Per queue index.
    shares: Vec<FairShare>,
    flows: FlowTable<Flow>,
    /// Updates so far.
    epoch: u64,
    random: Random,
}

impl IntelligentBuffer {
    pub(super) fn new(config: &IntelligentBufferConfig, switch: &ValidConfig) -> Self {
        let share = FairShare {
            fair: i128::from(config.initial_fair.get()) * PARTS,
            length_before: 0,
            bytes: 0,
            bytes_before: 0,
        };
        Self {
            shares: vec![share; switch.total_queues()],
            flows: FlowTable::new(),
            epoch: 0,
            random: Random::stream(switch.seed, "fair dropping", 0),
            config: config.clone(),
        }
    }

    /// Counts the packet in the elephant trap, and says which queue it goes to.
    fn trap(&mut self, now: Instant, packet: &Packet) -> usize {
        let (window, epoch) = (self.config.short_window, self.epoch);
        let fresh = || Flow { last: now, packets: 0, epoch, bytes: 0, bytes_before: 0 };
        let flow = self.flows.entry(packet.flow, fresh, |flow| now.since(flow.last) <= window);
        if now.since(flow.last) > window {
            *flow = fresh();
        }
        match epoch - flow.epoch {
            0 => {}
            1 => flow.bytes_before = core::mem::take(&mut flow.bytes),
            _ => (flow.bytes, flow.bytes_before) = (0, 0),
        }
        flow.epoch = epoch;
        flow.last = now;
        flow.packets += 1;
        flow.bytes += u64::from(packet.bytes);
        match self.config.short_queue {
            Some(queue) if flow.packets < self.config.short_packets => queue,
            _ => packet.queue as usize,
        }
    }

    /// The probability of a fair drop, and the bytes it follows from.
    fn drop_probability(&self, packet: &Packet, queue: usize, length: u64) -> (f64, u64) {
        let share = &self.shares[queue];
        let brought = match self.config.accounting {
            Accounting::Queue => share.bytes_before,
            Accounting::Flow => match self.flows.get(packet.flow) {
                Some(flow) if flow.packets >= self.config.short_packets => flow.bytes_before,
                _ => 0,
            },
        };
        if brought == 0 || length <= self.config.afd_from.get() {
            return (0.0, brought);
        }
        let scaled = self.config.scale * real(brought);
        let fair = share.fair as f64 / PARTS as f64;
        (1.0 - scaled.min(fair) / scaled, brought)
    }

    /// `times` updates with the buffer as it is: the first moves the shares by the change of the queues, the others,
    /// with nothing changing in between, all by the same step.
    fn move_fair_shares(&mut self, buffer: &Buffer, times: u64) {
        let (gain_now, gain_before) = (parts_of(self.config.gain_now), parts_of(self.config.gain_before));
        let reference = i128::from(self.config.reference.get());
        let ceiling = i128::from(self.config.initial_fair.get()) * PARTS;
        for (queue, share) in self.shares.iter_mut().enumerate() {
            let length = i128::from(buffer.length(queue));
            let before = i128::from(share.length_before);
            let first = -gain_now * (length - reference) + gain_before * (before - reference);
            let other = (gain_before - gain_now) * (length - reference);
            share.fair = (share.fair + first).clamp(0, ceiling);
            // Steps of one sign: bounded at the end is bounded on the way.
            share.fair = (share.fair + other.saturating_mul(i128::from(times - 1))).clamp(0, ceiling);
            share.length_before = buffer.length(queue);
            share.bytes_before = if times == 1 { share.bytes } else { 0 };
            share.bytes = 0;
        }
        self.epoch += times;
    }
}

impl BufferPolicy for IntelligentBuffer {
    const UPDATES: bool = true;
    const COUNTS_ARRIVALS: bool = true;

    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let Arrival { packet, queue: QueueId { index: queue, .. }, charge, .. } = arrival;
        self.shares[queue].bytes += u64::from(packet.bytes);
        let state = &buffer.queues[queue];
        let admission = Admission::within(state.alpha * real(buffer.remaining()), buffer.remaining(), state, charge);
        let (probability, brought) = self.drop_probability(packet, queue, buffer.length(queue));
        why.note(|e| {
            e.threshold = Some(Threshold {
                flow_bytes: Some(brought),
                drop_probability: Some(probability),
                ..threshold(queue, buffer)
            });
        });
        if admission == Admission::Admit && probability > 0.0 && self.random.unit() < probability {
            return Admission::Reject(Reason::FairDrop);
        }
        admission
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(threshold(queue.index, buffer))
    }

    fn select_queue(&mut self, now: Instant, packet: &Packet) -> usize {
        self.trap(now, packet)
    }

    fn interval(&self) -> Option<Duration> {
        Some(self.config.interval)
    }

    fn update(&mut self, buffer: &Buffer) -> bool {
        self.move_fair_shares(buffer, 1);
        true
    }

    fn repeat(&mut self, buffer: &Buffer, times: u64) -> bool {
        self.move_fair_shares(buffer, times);
        true
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.shares.clone_from(&earlier.shares);
            self.flows = earlier.flows.clone();
            self.epoch = earlier.epoch;
            self.random = earlier.random.clone();
        }
    }
}
