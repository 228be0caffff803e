//! One switch under traffic that is almost a fluid: small packets at constant rates, some queues overloaded for ever,
//! and then a burst.
//!
//! The core alone, with its wires: what arrives, arrives at the switch. A packet is a few thousandths of the buffer or
//! less, and that is how far a queue may be from where the fluid would be.

use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Silent};
use forebay_tm::{Bytes, Instant, Packet, PacketId, Rate, Tm, TmConfig, Verdict};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const PS_PER_SECOND: f64 = 1e12;
const BITS: f64 = 8.0;
/// The rate of every port, in bits per second.
pub(crate) const PORT: f64 = 10e9;
/// Arrivals at an overloaded port, in rates of the port.
pub(crate) const OVERLOAD: f64 = 2.0;

/// A switch with ports of [`PORT`], as the policy and the scheduler are still to be said.
pub(crate) fn switch(ports: usize, queues: usize, buffer: f64) -> TmConfig {
    TmConfig { queues, ..TmConfig::new(vec![Rate::from_bps(PORT as u64); ports], Bytes::new(buffer as u64)) }
}

/// Packets of one queue at a constant rate.
struct Source {
    port: usize,
    queue: usize,
    /// Picoseconds between two packets.
    gap: f64,
    next: f64,
    /// When it stops.
    until: f64,
    lost: u64,
}

/// The switch and its sources.
pub(crate) struct Fluid {
    driver: Driver,
    packet: u32,
    sources: Vec<Source>,
    /// The next packet of every source, by time and then by source.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// Seconds from the start.
    now: f64,
}

/// How a burst began to lose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FirstLoss {
    /// Seconds from its start.
    pub(crate) after: f64,
    /// The length of its queue in bytes.
    pub(crate) length: f64,
}

impl Fluid {
    /// An empty switch; all packets have `packet` bytes.
    pub(crate) fn new(config: &TmConfig, packet: u32) -> Result<Self, String> {
        let config = config.clone().validate().map_err(|error| error.to_string())?;
        let driver = Driver::new(Tm::new(config));
        Ok(Self { driver, packet, sources: Vec::new(), next: BinaryHeap::new(), now: 0.0 })
    }

    /// From now on, packets to a queue at `rate` bits per second. Sources do not start in step.
    fn add(&mut self, port: usize, queue: usize, rate: f64, seconds: f64) -> usize {
        let gap = f64::from(self.packet) * BITS / rate * PS_PER_SECOND;
        let index = self.sources.len();
        // Multiples of the golden section are spread evenly.
        let phase = (index as f64 * 0.618_033_988_749_895).fract();
        let start = self.now * PS_PER_SECOND;
        let source =
            Source { port, queue, gap, next: start + phase * gap, until: start + seconds * PS_PER_SECOND, lost: 0 };
        self.next.push(Reverse((source.next as u64, index)));
        self.sources.push(source);
        index
    }

    /// Overloads queues of a port from now on, all alike.
    pub(crate) fn overload(&mut self, port: usize, queues: &[usize]) {
        for queue in queues {
            self.add(port, *queue, OVERLOAD * PORT / queues.len() as f64, f64::INFINITY);
        }
    }

    /// The next packet, if it arrives before `end` (seconds): its source, and whether it was lost.
    fn arrive(&mut self, end: f64) -> Result<Option<(usize, bool)>, String> {
        let Some(Reverse((at, index))) =
            self.next.peek().copied().filter(|next| (next.0.0 as f64) < end * PS_PER_SECOND)
        else {
            self.now = end;
            return Ok(None);
        };
        self.next.pop();
        self.now = at as f64 / PS_PER_SECOND;
        let source = &mut self.sources[index];
        source.next += source.gap;
        if source.next < source.until {
            self.next.push(Reverse((source.next as u64, index)));
        }
        let packet = Packet {
            id: PacketId(index as u64),
            bytes: self.packet,
            port: source.port as u32,
            queue: source.queue as u32,
            ..Packet::default()
        };
        let verdict =
            self.driver.arrive(Instant::from_ps(at), &packet, &mut Silent).map_err(|error| error.to_string())?;
        let lost = matches!(verdict, Verdict::Dropped { .. });
        source.lost += u64::from(lost);
        Ok(Some((index, lost)))
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, seconds: f64) -> Result<(), String> {
        let end = self.now + seconds;
        while self.arrive(end)?.is_some() {}
        Ok(())
    }

    /// Lets so much time pass that overloaded queues are where they stay: a port sends the buffer in `B / PORT`, and
    /// within that time the queues of an overloaded port would have filled it; what is above its threshold is gone
    /// after as long again.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        let buffer = self.driver.tm().config().buffer.as_f64();
        self.run(2.5 * buffer * BITS / PORT)
    }

    /// A burst of `rate` bits per second to a queue, for as long as it loses nothing, but for `most` seconds at the
    /// most.
    pub(crate) fn burst_until_loss(
        &mut self,
        (port, queue): (usize, usize),
        rate: f64,
        most: f64,
        mut watch: impl FnMut(f64, &Self),
    ) -> Result<Option<FirstLoss>, String> {
        let start = self.now;
        let burst = self.add(port, queue, rate, most);
        while let Some((source, lost)) = self.arrive(start + most)? {
            if source == burst {
                watch(self.now - start, self);
                if lost {
                    return Ok(Some(FirstLoss { after: self.now - start, length: self.length(port, queue) }));
                }
            }
        }
        Ok(None)
    }

    /// A burst of `rate` bits per second to a queue for `seconds`; gives how many of its packets are lost.
    pub(crate) fn burst(&mut self, (port, queue): (usize, usize), rate: f64, seconds: f64) -> Result<u64, String> {
        let burst = self.add(port, queue, rate, seconds);
        self.run(seconds)?;
        Ok(self.sources[burst].lost)
    }

    /// The length of a queue in bytes.
    pub(crate) fn length(&self, port: usize, queue: usize) -> f64 {
        let tm = self.driver.tm();
        tm.queue_bytes(tm.queue_index(port, queue)).as_f64()
    }

    /// The threshold of a queue in bytes.
    pub(crate) fn threshold(&self, port: usize, queue: usize) -> f64 {
        let tm = self.driver.tm();
        tm.threshold(tm.queue_index(port, queue)).map_or(f64::NAN, |threshold| threshold.value)
    }

    /// Bytes of the buffer that are free.
    pub(crate) fn free(&self) -> f64 {
        self.driver.tm().config().buffer.as_f64() - self.driver.tm().used().as_f64()
    }

    /// Lets `seconds` pass and gives the mean over them of what `look` gives: the ripple of packets evens out.
    pub(crate) fn mean<const N: usize>(
        &mut self,
        seconds: f64,
        look: impl Fn(&Self) -> [f64; N],
    ) -> Result<[f64; N], String> {
        const LOOKS: u32 = 500;
        let mut sums = [0.0; N];
        for _ in 0..LOOKS {
            self.run(seconds / f64::from(LOOKS))?;
            for (sum, seen) in sums.iter_mut().zip(look(self)) {
                *sum += seen / f64::from(LOOKS);
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_analysis::dt;
    use forebay_analysis::transient;
    use forebay_tm::PerQueue;
    use forebay_tm::admit::{DynamicThresholdsConfig, PolicyConfig};
    use forebay_tm::schedule::SchedulerConfig;

    /// A megabyte that two ports hold with alpha 1, in packets of 500 bytes.
    fn held() -> Fluid {
        let mut config = switch(3, 2, 1e6);
        config.policy =
            PolicyConfig::DynamicThresholds(DynamicThresholdsConfig { alpha: PerQueue::All(1.0), reserved: 0.0 });
        config.scheduler = SchedulerConfig::RoundRobin;
        let mut fluid = Fluid::new(&config, 500).unwrap();
        fluid.overload(1, &[1]);
        fluid.overload(2, &[0, 1]);
        fluid.settle().unwrap();
        fluid
    }

    #[test]
    fn queues_settle_at_their_thresholds() {
        let [own, shared, free] =
            held().mean(20e-6, |fluid| [fluid.length(1, 1), fluid.length(2, 0), fluid.free()]).unwrap();
        for seen in [own, shared, free] {
            assert!((seen / 250e3 - 1.0).abs() < 0.01, "{seen} bytes");
        }
    }

    #[test]
    fn a_burst_loses_when_the_fluid_does() {
        let held_queues = [PORT, PORT / 2.0, PORT / 2.0].map(|drain| transient::Held::new(1.0, drain));
        let burst = transient::Burst { queues: 1, omega: 1.0, rate: 8.0 * PORT, drain: PORT };
        let theory = transient::Transient { buffer: 1e6, held: held_queues.to_vec(), burst };
        let seen = held().burst_until_loss((0, 0), burst.rate, 1e-3, |_, _| ()).unwrap().unwrap();
        assert!((seen.length / theory.tolerance() - 1.0).abs() < 0.01, "{seen:?}, not {}", theory.tolerance());
        assert!((seen.after / theory.zero_loss_time() - 1.0).abs() < 0.01);
        for (part, lossless) in [(0.97, true), (1.03, false)] {
            let lost = held().burst((0, 0), burst.rate, part * theory.zero_loss_time()).unwrap();
            assert_eq!(lost == 0, lossless, "{lost} lost");
        }
        assert!(theory.tolerance() < dt::threshold(1e6, 1.0, &[dt::Class { alpha: 1.0, queues: 4 }]));
    }
}
