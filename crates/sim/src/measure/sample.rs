//! Looks at all buffers at regular times.

use super::histogram::{Occupancy, Shares};
use super::warm_up::WarmUp;
use super::{PlaceRecord, QueueSample, SampleSink, TimelineSample};
use crate::scenario::{MeasureSetup, Scenario};
use crate::switch::Switch;
use crate::wires::Wires;
use forebay_tm::{Bytes, Counters, Duration, Instant, MemoryReads};

/// Occupancy of one buffer, its ports and its queues.
struct BufferSamples {
    whole: Occupancy,
    ports: Vec<Occupancy>,
    queues: Vec<Occupancy>,
}

/// Looks at all buffers at regular times.
pub(crate) struct Sampler {
    every: Duration,
    next: Instant,
    samples: u64,
    /// By switch, then by buffer.
    buffers: Vec<Vec<BufferSamples>>,
    /// Whether a switch's samples are kept.
    watched: Vec<bool>,
    /// Whether samples of a switch's queues are kept.
    queues_watched: Vec<bool>,
    /// What had been counted when the warm-up was over, if there is one.
    warm: Option<WarmUp>,
    /// Samples before this time are in no histogram.
    from: Instant,
    /// Bytes that each link had sent when the scenario's duration was over.
    sent: Option<Vec<u64>>,
}

impl Sampler {
    pub(crate) fn new(setup: &MeasureSetup, switches: &[Switch]) -> Self {
        let among = |chosen: &[usize]| (0..switches.len()).map(|switch| chosen.contains(&switch)).collect();
        let buffers = switches.iter().map(|switch| {
            let buffers = switch.views().map(|tm| BufferSamples {
                whole: Occupancy::default(),
                ports: vec![Occupancy::default(); tm.config().rates.len()],
                queues: vec![Occupancy::default(); tm.config().total_queues()],
            });
            buffers.collect()
        });
        Self {
            every: setup.sample,
            next: Instant::ZERO + setup.sample,
            samples: 0,
            buffers: buffers.collect(),
            watched: among(&setup.timeline),
            queues_watched: among(&setup.queues),
            warm: None,
            from: Instant::ZERO + setup.from,
            sent: None,
        }
    }

    /// When it wants to look next.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Looks.
    pub(crate) fn sample<'w>(
        &mut self,
        now: Instant,
        switches: impl Iterator<Item = &'w Switch>,
        sink: &mut dyn SampleSink,
    ) {
        self.next = now + self.every;
        let counts = now >= self.from;
        self.samples += u64::from(counts);
        for (number, switch) in switches.enumerate() {
            for (buffer, tm) in switch.views().enumerate() {
                let used = tm.used();
                if self.watched[number] {
                    sink.timeline(watch(now, number, buffer, switch));
                }
                if self.queues_watched[number] {
                    watch_queues(now, number, buffer, switch).for_each(|sample| sink.queue(sample));
                }
                if used == Bytes::ZERO || !counts {
                    continue;
                }
                let samples = &mut self.buffers[number][buffer];
                samples.whole.record(used.get());
                for port in 0..samples.ports.len() {
                    let mut waiting = tm.nonempty_queues(port);
                    if waiting == 0 {
                        continue;
                    }
                    samples.ports[port].record(tm.port_bytes(port).get());
                    while waiting != 0 {
                        let queue = tm.queue_index(port, waiting.trailing_zeros() as usize);
                        samples.queues[queue].record(tm.queue_bytes(queue).get());
                        waiting &= waiting - 1;
                    }
                }
            }
        }
    }

    /// Notes what every link has sent: utilization is that of the time before.
    pub(crate) fn duration_over(&mut self, sent: Vec<u64>) {
        self.sent = Some(sent);
    }

    /// Notes what has been counted so far, which is in no result: the warm-up is over.
    pub(crate) fn warmed_up<'w>(&mut self, switches: impl Iterator<Item = &'w Switch>, sent: Vec<u64>) {
        self.warm = Some(WarmUp::new(switches, sent));
    }

    /// What became of every buffer, port and queue.
    pub(crate) fn places(
        &mut self,
        end: Instant,
        scenario: &Scenario,
        switches: &[Switch],
        wires: &Wires,
    ) -> Vec<PlaceRecord> {
        let until = match self.sent {
            Some(_) => Instant::ZERO + scenario.duration,
            None => end,
        };
        let warm = self.warm.take();
        let span = until.since(if warm.is_some() { self.from.min(until) } else { Instant::ZERO });
        if self.sent.is_none() {
            self.duration_over(wires.sent_before(end).collect());
        }
        let mut sent = self.sent.take().unwrap_or_default();
        if let Some(warm) = &warm {
            sent.iter_mut().zip(&warm.sent).for_each(|(sent, before)| *sent -= before);
        }
        let mut places = Vec::new();
        for (number, switch) in switches.iter().enumerate() {
            for (buffer, mut samples) in core::mem::take(&mut self.buffers[number]).into_iter().enumerate() {
                let (tm, forwarding) = (switch.view(buffer), switch.forwarding());
                let mut place =
                    |port: Option<usize>, queue: Option<usize>, counters: Counters, mut occupancy: Occupancy| {
                        occupancy.record_zeros(self.samples - occupancy.samples());
                        let utilization = port.filter(|_| queue.is_none()).map_or(0.0, |port| {
                            let link = forwarding.outgoing(forwarding.port_number(buffer, port)) as usize;
                            let seconds = span.ps() as f64 / 1e12;
                            sent[link] as f64 * 8.0 / (wires.links[link].rate.bps() as f64 * seconds.max(1e-12))
                        });
                        let whole = port.is_none();
                        let before = warm.as_ref().map(|warm| warm.of_buffer(number, buffer));
                        let counters = before.map_or(counters, |before| counters.since(before.counters(port, queue)));
                        let memory = match before {
                            _ if !whole => MemoryReads::default(),
                            Some(before) => before.reads_since(tm.memory_reads()),
                            None => tm.memory_reads(),
                        };
                        let at_drops = &forwarding.at_drops[buffer];
                        let of_buffer = |shares: &Shares| if whole { shares.clone() } else { Shares::default() };
                        places.push(PlaceRecord {
                            switch: number as u32,
                            buffer: buffer as u32,
                            port: port.map(|port| forwarding.port_number(buffer, port) as u32),
                            queue: queue.map(|queue| queue as u32),
                            counters,
                            occupancy,
                            utilization,
                            memory,
                            memory_use_at_drops: of_buffer(&at_drops.memory),
                            buffer_use_at_drops: of_buffer(&at_drops.buffer),
                            size: if whole { tm.config().buffer } else { Bytes::ZERO },
                        });
                    };
                place(None, None, tm.pool_counters(), core::mem::take(&mut samples.whole));
                let queues = tm.config().queues;
                for port in 0..samples.ports.len() {
                    place(Some(port), None, tm.port_counters(port), core::mem::take(&mut samples.ports[port]));
                    for queue in 0..queues {
                        let index = tm.queue_index(port, queue);
                        let occupancy = core::mem::take(&mut samples.queues[index]);
                        place(Some(port), Some(queue), tm.queue_counters(index), occupancy);
                    }
                }
            }
        }
        places
    }
}

/// One sample of a buffer for the timeline.
fn watch(at: Instant, number: usize, buffer: usize, switch: &Switch) -> TimelineSample {
    let tm = switch.view(buffer);
    let queues = tm.config().queues;
    let lengths = (0..tm.config().total_queues()).map(|queue| tm.queue_bytes(queue));
    let (longest, bytes) =
        lengths.enumerate().max_by_key(|(queue, bytes)| (*bytes, core::cmp::Reverse(*queue))).unwrap_or_default();
    TimelineSample {
        at,
        switch: number as u32,
        buffer: buffer as u32,
        used: tm.used(),
        longest: (switch.forwarding().port_number(buffer, longest / queues) as u32, (longest % queues) as u32),
        longest_bytes: bytes,
        threshold: tm.threshold(longest).map(|threshold| threshold.value),
        drops: tm.dropped_packets(),
    }
}

/// One sample of each queue of a buffer that was ever offered something.
fn watch_queues(at: Instant, number: usize, buffer: usize, switch: &Switch) -> impl Iterator<Item = QueueSample> {
    let tm = switch.view(buffer);
    let queues = tm.config().queues;
    let used = (0..tm.config().total_queues()).filter(|queue| tm.queue_counters(*queue).offered.packets > 0);
    used.map(move |queue| QueueSample {
        at,
        switch: number as u32,
        port: switch.forwarding().port_number(buffer, queue / queues) as u32,
        queue: (queue % queues) as u32,
        bytes: tm.queue_bytes(queue),
        threshold: tm.threshold(queue).map(|threshold| threshold.value),
    })
}
