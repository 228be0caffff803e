//! FAB, the flow-aware buffer: DT with a larger alpha for flows that have sent little so far.
//!
//! Per flow a byte count, forgotten after a silence longer than the window. A packet is counted before it is judged,
//! and counts even if it is rejected.

use super::{ActivePolicy, Admission, Arrival, BufferPolicy, PolicySettings, QueueId, real};
use crate::buffer::{Buffer, Queue};
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, check_span};
use crate::described::settings;
use crate::flow_table::FlowTable;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Explain, Threshold};
use core::any::Any;

settings! {
    /// Settings of FAB.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowAwareConfig {
        /// For flows that are not short, per queue number.
        pub alpha: PerQueue<f64> = PerQueue::All(0.5) => needed,
        /// For short flows; 1024 in the code of ABM's authors.
        pub alpha_short: f64 = 1024.0 => needed,
        /// A flow is short while it has sent less than this.
        pub threshold: Bytes = Bytes::new(21_000) => needed,
        /// The pause after which a flow counts as new.
        pub window: Duration = Duration::from_us(5_000) => needed,
    }
}

impl PolicySettings for FlowAwareConfig {
    fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_alpha("policy.alpha_short", self.alpha_short)?;
        check_span("policy.window", self.window)
    }

    fn alpha(&self, number: usize) -> f64 {
        self.alpha.at(number)
    }

    fn start(&self, _: &ValidConfig) -> ActivePolicy {
        FlowAware::new(self).into()
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    bytes: u64,
    last: Instant,
}

#[derive(Clone, Debug)]
pub(crate) struct FlowAware {
    alpha_short: f64,
    threshold: u64,
    window: Duration,
    flows: FlowTable<Flow>,
}

impl FlowAware {
    pub(super) fn new(config: &FlowAwareConfig) -> Self {
        Self {
            alpha_short: config.alpha_short,
            threshold: config.threshold.get(),
            window: config.window,
            flows: FlowTable::new(),
        }
    }

    #[inline]
    fn alpha_for(&self, queue: &Queue, count: u64) -> f64 {
        if count < self.threshold { self.alpha_short } else { queue.alpha }
    }

    pub(super) fn threshold(&self, queue: usize, count: Option<u64>, buffer: &Buffer) -> Threshold {
        let state = &buffer.queues[queue];
        let alpha = count.map_or(state.alpha, |count| self.alpha_for(state, count));
        Threshold {
            value: alpha * real(buffer.remaining()),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            flow_bytes: count,
            ..Threshold::default()
        }
    }
}

impl BufferPolicy for FlowAware {
    const COUNTS_ARRIVALS: bool = true;

    #[inline(always)]
    fn admit(&mut self, arrival: Arrival<'_>, buffer: &Buffer, why: &mut impl Explain) -> Admission {
        let Arrival { now, packet, queue: QueueId { index: queue, .. }, charge, .. } = arrival;
        let window = self.window;
        let flow =
            self.flows.entry(packet.flow, || Flow { bytes: 0, last: now }, |flow| now.since(flow.last) <= window);
        if now.since(flow.last) > window {
            flow.bytes = 0;
        }
        flow.bytes += u64::from(packet.bytes);
        flow.last = now;
        let count = flow.bytes;
        why.note(|e| e.threshold = Some(self.threshold(queue, Some(count), buffer)));
        let state = &buffer.queues[queue];
        let threshold = self.alpha_for(state, count) * real(buffer.remaining());
        Admission::within(threshold, buffer.remaining(), state, charge)
    }

    fn threshold_of(&self, queue: QueueId, buffer: &Buffer) -> Option<Threshold> {
        Some(self.threshold(queue.index, None, buffer))
    }

    fn inherit(&mut self, earlier: &dyn Any, _: Instant) {
        if let Some(earlier) = earlier.downcast_ref::<Self>() {
            self.flows = earlier.flows.clone();
        }
    }
}
