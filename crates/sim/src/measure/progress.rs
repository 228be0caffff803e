//! Looks at regular times how far the flows of chosen workloads have come.

use super::{FlowSample, SampleSink};
use crate::flow::NONE;
use crate::flows::FlowTable;
use forebay_tm::Instant;

/// Looks how far flows have come.
pub(crate) struct ProgressSampler {
    /// Whether a workload's flows are watched.
    watched: Vec<bool>,
    /// Flows that were looked at whether they are to be watched; those of closed-loop clients come as the run goes on.
    known: usize,
    /// Watched flows that are not complete.
    open: Vec<u32>,
    /// When it looked last.
    looked: Option<Instant>,
}

impl ProgressSampler {
    /// Watches the flows of these workloads, of so many.
    pub(crate) fn new(chosen: &[usize], workloads: usize) -> Self {
        let mut watched = vec![false; workloads];
        for workload in chosen {
            watched[*workload] = true;
        }
        Self { watched, known: 0, open: Vec::new(), looked: None }
    }

    /// Looks a last time, unless it has just done so.
    pub(crate) fn sample_end(&mut self, end: Instant, flows: &FlowTable, sink: &mut dyn SampleSink) {
        if self.looked < Some(end) {
            self.sample(end, flows, sink);
        }
    }

    /// Looks. Flows that start at this very instant have not started yet.
    pub(crate) fn sample(&mut self, at: Instant, flows: &FlowTable, sink: &mut dyn SampleSink) {
        self.looked = Some(at);
        for (number, record) in flows.records.iter().enumerate().skip(self.known) {
            if self.watched.get(usize::from(record.spec.workload)) == Some(&true) {
                self.open.push(number as u32);
            }
        }
        self.known = flows.records.len();
        self.open.retain(|number| {
            let (flow, record) = (&flows.flows[*number as usize], &flows.records[*number as usize]);
            if flow.waits_for == 0 && record.spec.start < at {
                sink.progress(FlowSample { at, flow: *number, bytes: arrived(*number, flows) });
            }
            record.end == Instant::NEVER
        });
    }
}

/// Payload of a flow that has arrived.
fn arrived(number: u32, flows: &FlowTable) -> u64 {
    let (flow, record) = (&flows.flows[number as usize], &flows.records[number as usize]);
    if record.end != Instant::NEVER {
        record.spec.bytes
    } else if flow.receiver == NONE {
        0
    } else {
        let mss = flows.transports[usize::from(flow.transport)].common.mss;
        flows.receivers.get(flow.receiver).machine.payload(record.spec.bytes, mss)
    }
}
