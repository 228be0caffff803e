//! What a run has measured.

pub mod breakdown;
pub mod chip;
pub(crate) mod cost;
pub mod drops;
pub mod histogram;
pub mod losses;
pub mod pauses;
pub(crate) mod progress;
pub(crate) mod sample;
pub mod trace;
mod warm_up;

use crate::flow::{FlowRecord, QuerySpec};
use forebay_tm::{Bytes, Counters, Duration, Instant, MemoryReads};
use histogram::{Occupancy, Shares};

/// What became of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryRecord {
    /// As planned.
    pub spec: QuerySpec,
    /// When its last response had arrived; [`Instant::NEVER`] if one has not.
    pub end: Instant,
    /// How long it would take on the empty network: the responses one after the other through the asking host's link.
    pub ideal: Duration,
    /// Packets of its flows that were dropped.
    pub drops: u32,
    /// Packets of its flows that were trimmed.
    pub trims: u32,
    /// Timeouts of its flows.
    pub timeouts: u32,
}

/// A queue, a port or a buffer at the end of a run.
#[derive(Clone, Debug)]
pub struct PlaceRecord {
    /// The index of the switch.
    pub switch: u32,
    /// The buffer within the switch.
    pub buffer: u32,
    /// The port within the switch; `None`: the whole buffer.
    pub port: Option<u32>,
    /// The queue number within the port; `None`: the whole port, or the whole buffer.
    pub queue: Option<u32>,
    /// What went through, by the core's own counters.
    pub counters: Counters,
    /// Bytes waiting, over time.
    pub occupancy: Occupancy,
    /// The share of the scenario's duration, or of the run if it was shorter, that the port was sending; 0 for queues
    /// and buffers.
    pub utilization: f64,
    /// For a whole buffer: its memory reads.
    pub memory: MemoryReads,
    /// For a whole buffer: the share of its memory read bandwidth that was in use when packets were dropped, over
    /// drops.
    pub memory_use_at_drops: Shares,
    /// For a whole buffer: the share of it that was in use when packets were dropped, over drops.
    pub buffer_use_at_drops: Shares,
    /// For a whole buffer: its size.
    pub size: Bytes,
}

/// A recirculation port at the end of a run (mirror on drop).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecirculationRecord {
    /// The index of the switch.
    pub switch: u32,
    /// The pipeline within the switch.
    pub pipeline: u32,
    /// Headers that were sent around.
    pub mirrored: u64,
    /// Headers that found its queue full; their packets count as dropped.
    pub full: u64,
    /// The most headers that waited in front of it.
    pub peak: u64,
}

/// One sample of a switch's buffer.
#[derive(Clone, Debug)]
pub struct TimelineSample {
    /// When.
    pub at: Instant,
    /// The index of the switch.
    pub switch: u32,
    /// The buffer within the switch.
    pub buffer: u32,
    /// Bytes in all.
    pub used: Bytes,
    /// The longest queue: its port within the switch and its queue number.
    pub longest: (u32, u32),
    /// Its length.
    pub longest_bytes: Bytes,
    /// Its threshold, if the policy has one.
    pub threshold: Option<f64>,
    /// Packets dropped in this buffer so far.
    pub drops: u64,
}

/// One sample of a queue of a chosen switch, from its first packet on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// When.
    pub at: Instant,
    /// The index of the switch.
    pub switch: u32,
    /// The port within the switch.
    pub port: u32,
    /// The queue number within the port.
    pub queue: u32,
    /// Its length.
    pub bytes: Bytes,
    /// Its threshold, if the policy has one.
    pub threshold: Option<f64>,
}

/// How far a flow of a chosen workload has come: samples from its start until it is complete, and one at the end of the
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSample {
    /// When.
    pub at: Instant,
    /// Its number in [`RunResult::flows`].
    pub flow: u32,
    /// Payload that has arrived, every byte counted once.
    pub bytes: u64,
}

/// Where samples go as a run takes them. They can be far more than fit the memory.
pub trait SampleSink {
    /// A sample of a chosen switch.
    fn timeline(&mut self, sample: TimelineSample);
    /// A sample of a chosen switch's queue.
    fn queue(&mut self, sample: QueueSample);
    /// A sample of a chosen workload's flow. Its number can change at the end: see [`SampleSink::renumber`].
    fn progress(&mut self, sample: FlowSample);
    /// The run is over, and flow number `n` is number `places[n]` in the result. Called only if some flows change their
    /// numbers.
    fn renumber(&mut self, places: &[u32]);
}

/// Samples that are kept in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptSamples {
    pub(crate) timeline: Vec<TimelineSample>,
    pub(crate) queue_timeline: Vec<QueueSample>,
    pub(crate) progress: Vec<FlowSample>,
}

impl SampleSink for KeptSamples {
    fn timeline(&mut self, sample: TimelineSample) {
        self.timeline.push(sample);
    }

    fn queue(&mut self, sample: QueueSample) {
        self.queue_timeline.push(sample);
    }

    fn progress(&mut self, sample: FlowSample) {
        self.progress.push(sample);
    }

    fn renumber(&mut self, places: &[u32]) {
        for sample in &mut self.progress {
            sample.flow = places[sample.flow as usize];
        }
    }
}

/// What the run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Events: arrivals, ends of transmissions, timers.
    pub events: u64,
    /// Packets that crossed a wire.
    pub hops: u64,
    /// CPU seconds of the run, without reading and planning.
    pub cpu_seconds: f64,
    /// The most memory that the process ever had, in bytes.
    pub peak_memory: u64,
    /// How the work was shared, if the run had several threads.
    pub parallel: Option<ParallelCost>,
}

/// How the work of a run was shared by its threads. Nothing of it depends on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParallelCost {
    /// Threads, and partitions of the network.
    pub threads: u32,
    /// How long a window is at most, in picoseconds.
    pub lookahead: u64,
    /// Windows in which anything happened.
    pub windows: u64,
    /// Events in all windows.
    pub events: u64,
    /// Events of the partition that had the most of them, window by window: what no number of cores can do at the same
    /// time.
    pub critical: u64,
    /// Packets that went from one partition to another.
    pub crossings: u64,
}

impl ParallelCost {
    /// How much faster than one core the threads can be at most, if every event costs the same and waiting costs
    /// nothing.
    pub fn most_speedup(&self) -> f64 {
        self.events as f64 / self.critical.max(1) as f64
    }

    /// A window is over.
    pub(crate) fn add(&mut self, handled: impl Iterator<Item = u64>, crossed: impl Iterator<Item = u64>) {
        let (sum, most) = handled.fold((0, 0), |(sum, most): (u64, u64), events| (sum + events, most.max(events)));
        self.windows += u64::from(sum > 0);
        self.events += sum;
        self.critical += most;
        self.crossings += crossed.sum::<u64>();
    }
}

/// Everything that a run has measured.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    /// When the run ended.
    pub end: Instant,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// In the order of the plan, then those of closed-loop sessions in order of start.
    pub flows: Vec<FlowRecord>,
    /// In the order of the plan.
    pub queries: Vec<QueryRecord>,
    /// Buffers, ports and queues of all switches.
    pub places: Vec<PlaceRecord>,
    /// Recirculation ports of all switches that mirror.
    pub recirculation: Vec<RecirculationRecord>,
    /// The programmable chips among the switches.
    pub chips: Vec<chip::ChipRecord>,
    /// Samples of the chosen switches, if they were kept in memory.
    pub timeline: Vec<TimelineSample>,
    /// Samples of the chosen switches' queues, if they were kept in memory.
    pub queue_timeline: Vec<QueueSample>,
    /// Samples of the chosen workloads' flows, if they were kept in memory.
    pub progress: Vec<FlowSample>,
    /// Where the completion times of flows went, in the order of `flows`, with `measure.breakdown`.
    pub flow_times: Vec<breakdown::FlowTimes>,
    /// Packets that switches dropped, with `measure.drops`, in order of time.
    pub drops: Vec<drops::DropRecord>,
    /// Who held the buffers then.
    pub holders: Vec<drops::HolderRecord>,
    /// Packets lost outside the buffers, with `measure.drops` or `measure.breakdown`, in order of time.
    pub losses: Vec<losses::LossRecord>,
    /// What was paused, where switches pause.
    pub pauses: pauses::PauseRecords,
    /// What happened to the packets that were watched, in the order of their places' windows.
    pub trace: Vec<trace::TraceEvent>,
    /// What the senders of traced flows knew after each response, in order of time.
    pub responses: Vec<trace::ResponseSample>,
    /// What switches that play a script have seen, switch by switch.
    pub script: Vec<forebay_script::trace::Event>,
    /// Packets that hosts sent, and that reached hosts, replies included.
    pub sent: u64,
    /// See `sent`.
    pub received: u64,
    /// Packets dropped in front of the hosts' links.
    pub nic_drops: u64,
    /// Packets that were on their way or waiting when the run ended.
    pub in_flight: u64,
    /// Packets lost outside the buffers: on failed links and switches, and without a route.
    pub lost_to_failures: u64,
    /// What the run cost.
    pub cost: Cost,
}
