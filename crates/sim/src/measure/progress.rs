//! Looks at regular times how far the flows of chosen workloads have come.

use super::{FlowSample, SampleSink};
use crate::engine::layout::Layout;
use crate::flow::NONE;
use crate::flows::FlowTable;
use forebay_tm::Instant;

/// The flows as every partition has them.
pub(crate) struct FlowViews<'w> {
    pub(crate) tables: Vec<&'w FlowTable>,
    pub(crate) layout: &'w Layout,
}

impl FlowViews<'_> {
    /// The table of the partition with the source of a flow.
    fn at_source(&self, number: u32) -> &FlowTable {
        let source = self.tables[0].records[number as usize].spec.src;
        self.tables[self.layout.of_node(source as usize)]
    }

    /// The same of its destination.
    fn at_destination(&self, number: u32) -> &FlowTable {
        let destination = self.tables[0].records[number as usize].spec.dst;
        self.tables[self.layout.of_node(destination as usize)]
    }
}

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
    pub(crate) fn sample_end(&mut self, end: Instant, flows: &FlowViews<'_>, sink: &mut dyn SampleSink) {
        if self.looked < Some(end) {
            self.sample(end, flows, sink);
        }
    }

    /// Looks. Flows that start at this very instant have not started yet.
    pub(crate) fn sample(&mut self, at: Instant, flows: &FlowViews<'_>, sink: &mut dyn SampleSink) {
        self.looked = Some(at);
        let records = &flows.tables[0].records;
        for (number, record) in records.iter().enumerate().skip(self.known) {
            if self.watched.get(usize::from(record.spec.workload)) == Some(&true) {
                self.open.push(number as u32);
            }
        }
        self.known = records.len();
        self.open.retain(|number| {
            let (place, sent, received) = (*number as usize, flows.at_source(*number), flows.at_destination(*number));
            if sent.flows[place].waits_for == 0 && sent.records[place].spec.start < at {
                sink.progress(FlowSample { at, flow: *number, bytes: arrived(*number, received) });
            }
            received.records[place].end == Instant::NEVER
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
