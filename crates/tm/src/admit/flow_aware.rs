//! FAB, the flow-aware buffer: DT with a larger alpha for flows that have sent little so far.
//!
//! Per flow a byte count, forgotten after a silence longer than the window. A packet is counted before it is judged, and
//! counts even if it is rejected.

use super::{Admission, Request, real};
use crate::buffer::Buffer;
use crate::config::{ConfigError, PerQueue, TmConfig, ValidConfig, check_alpha, check_alphas, check_span};
use crate::flow_table::FlowTable;
use crate::units::{Bytes, Duration, Instant};
use crate::verdict::{Threshold, Why};
use alloc::vec::Vec;

/// Settings of FAB.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowAwareConfig {
    /// For flows that are not short, per queue number. Default 0.5.
    pub alpha: PerQueue<f64>,
    /// For short flows. Default 1024, as ABM's authors have it.
    pub alpha_short: f64,
    /// A flow is short while its count is below this. Default 21 KB.
    pub threshold: Bytes,
    /// The silence after which a flow starts anew. Default 5 ms.
    pub window: Duration,
}

impl Default for FlowAwareConfig {
    fn default() -> Self {
        Self {
            alpha: PerQueue::All(0.5),
            alpha_short: 1024.0,
            threshold: Bytes::new(21_000),
            window: Duration::from_us(5_000),
        }
    }
}

impl FlowAwareConfig {
    pub(super) fn validate(&self, switch: &TmConfig) -> Result<(), ConfigError> {
        check_alphas(&self.alpha, switch.queues)?;
        check_alpha("policy.alpha_short", self.alpha_short)?;
        check_span("policy.window", self.window)
    }
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    bytes: u64,
    last: Instant,
}

#[derive(Clone, Debug)]
pub(crate) struct FlowAware {
    alpha: Vec<f64>,
    alpha_short: f64,
    threshold: u64,
    window: Duration,
    flows: FlowTable<Flow>,
}

impl FlowAware {
    pub(super) fn new(config: &FlowAwareConfig, switch: &ValidConfig) -> Self {
        Self {
            alpha: config.alpha.spread(switch),
            alpha_short: config.alpha_short,
            threshold: config.threshold.get(),
            window: config.window,
            flows: FlowTable::new(),
        }
    }

    #[inline]
    fn alpha_for(&self, queue: usize, count: u64) -> f64 {
        if count < self.threshold { self.alpha_short } else { self.alpha[queue] }
    }

    pub(super) fn threshold(&self, queue: usize, count: Option<u64>, buffer: &Buffer) -> Threshold {
        let alpha = count.map_or(self.alpha[queue], |count| self.alpha_for(queue, count));
        Threshold {
            value: alpha * real(buffer.remaining()),
            alpha: Some(alpha),
            remaining: Some(Bytes::new(buffer.remaining())),
            flow_bytes: count,
            ..Threshold::default()
        }
    }

    #[inline]
    pub(super) fn admit(&mut self, request: Request<'_>, buffer: &Buffer, why: &mut impl Why) -> Admission {
        let Request { now, packet, queue, charge } = request;
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
        let threshold = self.alpha_for(queue, count) * real(buffer.remaining());
        Admission::within(threshold, buffer, queue, charge)
    }

    pub(super) fn inherit(&mut self, earlier: &Self) {
        self.flows = earlier.flows.clone();
    }
}
