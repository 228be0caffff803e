//! `--timeline`: queue lengths and thresholds over time.
//!
//! One line for every queue whose length has changed by the end of an instant, or, with `--every`, at every sample time
//! for every queue that holds packets or has changed since the sample before.

use crate::Failure;
use crate::output::Output;
use forebay_tm::View as _;
use forebay_tm::{Duration, Instant, Tm, ValidConfig};
use std::fmt::Write;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct State {
    bytes: u64,
    packets: usize,
    threshold: Option<f64>,
}

/// What a file of queue lengths begins with.
pub(crate) const HEADER: &str = "time_ps,port,queue,bytes,packets,threshold\n";

pub(crate) struct Timeline {
    output: Output,
    queues_per_port: usize,
    /// As of the last instant.
    now: Vec<State>,
    /// As last written.
    written: Vec<u64>,
    every: Option<Duration>,
    next_sample: Instant,
    /// When the queues were last looked at.
    looked: Instant,
    failure: Option<Failure>,
    line: String,
}

impl Timeline {
    pub(crate) fn new(mut output: Output, switch: &ValidConfig, every: Option<Duration>) -> Result<Self, Failure> {
        if every == Some(Duration::ZERO) {
            return Err(Failure::refused("--every 0", "samples need time between them", "give a time such as 10us"));
        }
        output.write(HEADER.as_bytes())?;
        let queues = switch.total_queues();
        Ok(Self {
            output,
            queues_per_port: switch.queues,
            now: vec![State::default(); queues],
            written: vec![0; queues],
            every,
            next_sample: Instant::ZERO,
            looked: Instant::ZERO,
            failure: None,
            line: String::new(),
        })
    }

    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// When it wants to look next, even if nothing happens: at the next sample, as long as there is something to write.
    pub(crate) fn next_look(&self) -> Instant {
        let Some(every) = self.every else { return Instant::NEVER };
        let is_over = |(state, written): (&State, &u64)| state.bytes == 0 && *written == 0;
        if self.now.iter().zip(&self.written).all(is_over) {
            return Instant::NEVER;
        }
        if self.next_sample > self.looked {
            return self.next_sample;
        }
        Instant::from_ps(self.next_sample.ps().saturating_add(every.ps()))
    }

    /// Looks at the end of an instant.
    pub(crate) fn instant_over(&mut self, now: Instant, tm: &Tm) {
        self.looked = now;
        let result = match self.every {
            None => self.changes(now, tm),
            Some(every) => self.samples(now, every, tm),
        };
        if let Err(failure) = result {
            self.failure.get_or_insert(failure);
        }
    }

    fn look(&mut self, tm: &Tm) {
        for (queue, state) in self.now.iter_mut().enumerate() {
            *state = State {
                bytes: tm.queue_bytes(queue).get(),
                packets: tm.queue_packets(queue),
                threshold: tm.threshold(queue).map(|threshold| threshold.value),
            };
        }
    }

    fn changes(&mut self, now: Instant, tm: &Tm) -> Result<(), Failure> {
        self.look(tm);
        for queue in 0..self.now.len() {
            if self.now[queue].bytes != self.written[queue] {
                self.write(now, queue)?;
            }
        }
        Ok(())
    }

    /// Writes the samples before `now` from what was true then, and takes a new look.
    fn samples(&mut self, now: Instant, every: Duration, tm: &Tm) -> Result<(), Failure> {
        while self.next_sample < now {
            let mut any = false;
            for queue in 0..self.now.len() {
                if self.now[queue].bytes > 0 || self.now[queue].bytes != self.written[queue] {
                    any = true;
                    self.write(self.next_sample, queue)?;
                }
            }
            // While everything is empty there is nothing to write.
            let skipped = if any { 0 } else { (now.since(self.next_sample).ps() - 1) / every.ps() };
            self.next_sample = self.next_sample + Duration::from_ps((skipped + 1).saturating_mul(every.ps()));
        }
        self.look(tm);
        Ok(())
    }

    fn write(&mut self, time: Instant, queue: usize) -> Result<(), Failure> {
        let State { bytes, packets, threshold } = self.now[queue];
        self.written[queue] = bytes;
        self.line.clear();
        let (port, k) = (queue / self.queues_per_port, queue % self.queues_per_port);
        let _ = write!(self.line, "{},{port},{k},{bytes},{packets},", time.ps());
        if let Some(threshold) = threshold {
            let _ = write!(self.line, "{threshold}");
        }
        self.line.push('\n');
        self.output.write(self.line.as_bytes())
    }

    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.check()?;
        if self.every.is_some() {
            // The last state has not been sampled yet.
            for queue in 0..self.now.len() {
                if self.now[queue].bytes != self.written[queue] {
                    self.write(self.next_sample, queue)?;
                }
            }
        }
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_settings::read_switch;
    use forebay_tm::drive::{Driver, Observer};
    use forebay_tm::{Departure, Eviction, Packet, PacketId, Verdict};
    use std::path::Path;

    struct Watching {
        timeline: Timeline,
        asks: bool,
    }

    /// What is written of all arrivals. An observer that asks is shown the instants it asks for.
    fn written(mut driver: Driver, asks: bool, every: Option<Duration>, path: &Path) -> String {
        let output = Output::create(Some(path)).unwrap_or_else(|_| panic!("a temporary directory can be written"));
        let timeline = Timeline::new(output, driver.tm().config(), every).unwrap_or_else(|_| panic!("as above"));
        let mut watching = Watching { timeline, asks };
        for (now, packet) in arrivals() {
            driver.arrive(now, &packet, &mut watching).unwrap();
        }
        driver.finish(&mut watching).unwrap();
        assert!(watching.timeline.finish().is_ok());
        std::fs::read_to_string(path).unwrap()
    }

    impl Observer for Watching {
        fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
        fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}
        fn evicted(&mut self, _: Eviction) {}
        fn instant_over(&mut self, now: Instant, tm: &Tm) {
            self.timeline.instant_over(now, tm);
        }
        fn next_look(&self) -> Instant {
            if self.asks { self.timeline.next_look() } else { Instant::NEVER }
        }
    }

    /// Bursts with gaps, over three ports with two queues.
    fn arrivals() -> Vec<(Instant, Packet)> {
        let packet = |id: u64| {
            let mixed = forebay_tm::random::mix(id);
            let bytes = 64 + (mixed % 1_400) as u32;
            let (port, queue) = ((mixed >> 20) as u32 % 3, (mixed >> 30) as u32 % 2);
            let at = id / 40 * 60_000_000 + id % 40 * 137_000;
            (Instant::from_ps(at), Packet { id: PacketId(id), bytes, port, queue, flow: id % 7, ..Packet::default() })
        };
        (0..400).map(packet).collect()
    }

    /// What is seen at the instants at which something changes is what one sees who looks at every instant.
    #[test]
    fn nothing_is_missed_between_the_looks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("timeline.csv");
        for policy in [
            "kind = \"dt\"\nalpha = 1",
            "kind = \"abm\"\nalpha = 0.5\ninterval = \"1200ns\"",
            "kind = \"abm\"\nalpha = 0.5\ninterval = \"37ns\"",
            "kind = \"fba\"\nalpha = 1\ninterval = \"3us\"",
            "kind = \"occamy\"\nalpha = 4",
            "kind = \"pushout\"",
        ] {
            let text = format!(
                "ports = 3\nrate = \"10Gbps\"\nqueues = 2\nbuffer = \"12KB\"\n[policy]\n{policy}\n[scheduler]\nkind = \"drr\"\n"
            );
            let switch = read_switch("switch.toml", &text).unwrap();
            for every in [None, Some(Duration::from_ps(500_000)), Some(Duration::from_ps(7_000_000))] {
                let all = written(Driver::watching(Tm::new(switch.clone())), false, every, &path);
                let few = written(Driver::watching_queues(Tm::new(switch.clone())), true, every, &path);
                assert!(all.lines().count() > 20, "{policy}: {all}");
                assert_eq!(few, all, "{policy} every {every:?}");
            }
        }
    }
}
