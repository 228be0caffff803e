//! A replay whose queues are watched over time.
//!
//! It does what [`Driver`](forebay_tm::drive::Driver) does, in the same order, and looks at the queues at the end of every instant
//! at which one of them can have changed: arrivals, departures and expulsions. The periodic updates of a policy change thresholds
//! only; what they come to by the next look is worked out at once, however many of them there were. A policy that updates every
//! picosecond takes no longer than another.

use crate::timeline::Timeline;
use forebay_tm::admit::PolicyConfig;
use forebay_tm::drive::{EndOfTime, Observer};
use forebay_tm::{Explanation, Instant, Packet, Tm};
use std::collections::BTreeSet;

/// Somebody who watches packets and has a timeline.
pub(crate) trait Watcher: Observer {
    fn timeline(&mut self) -> Option<&mut Timeline>;
}

/// A traffic manager and its wires.
pub(crate) struct Watched {
    tm: Tm,
    /// When each port's wire is free, or its packets may leave; lowest port first at one instant.
    ends: BTreeSet<(Instant, usize)>,
    end_of: Vec<Option<Instant>>,
    busy: Vec<bool>,
    /// Whether packets leave the queues between arrivals and departures, too.
    expels: bool,
    now: Instant,
}

impl Watched {
    pub(crate) fn new(tm: Tm) -> Self {
        let ports = tm.config().rates.len();
        let expels = matches!(tm.config().policy, PolicyConfig::Occamy(_));
        let (ends, end_of, busy) = (BTreeSet::new(), vec![None; ports], vec![false; ports]);
        Self { tm, ends, end_of, busy, expels, now: Instant::ZERO }
    }

    pub(crate) fn tm(&self) -> &Tm {
        &self.tm
    }

    /// A packet arrives; if it is to be explained, with the numbers that led to the verdict.
    pub(crate) fn arrive(
        &mut self,
        now: Instant,
        packet: &Packet,
        explained: bool,
        watcher: &mut impl Watcher,
    ) -> Result<Option<Explanation>, EndOfTime> {
        while let Some((end, port)) = self.ends.first().copied().filter(|(end, _)| *end <= now) {
            self.move_to(end, watcher);
            self.start(end, port, watcher)?;
        }
        self.move_to(now, watcher);
        let (verdict, why) = if explained {
            let (verdict, why) = self.tm.arrive_explained(now, packet, &mut |lost| watcher.lost(lost));
            (verdict, Some(why))
        } else {
            (self.tm.arrive(now, packet, &mut |lost| watcher.lost(lost)), None)
        };
        watcher.arrived(now, packet, verdict);
        if !self.busy[packet.port as usize] {
            self.start(now, packet.port as usize, watcher)?;
        }
        Ok(why)
    }

    /// Lets time pass until nothing waits any more.
    pub(crate) fn finish(&mut self, watcher: &mut impl Watcher) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.ends.first().copied() {
            self.move_to(end, watcher);
            self.start(end, port, watcher)?;
        }
        self.look(self.now, watcher);
        Ok(())
    }

    /// Closes the instants before `now`.
    fn move_to(&mut self, now: Instant, watcher: &mut impl Watcher) {
        if now > self.now {
            self.look(self.now, watcher);
            loop {
                let expulsion = if self.expels { self.tm.due() } else { Instant::NEVER };
                let sample = watcher.timeline().map_or(Instant::NEVER, |timeline| timeline.next_look());
                let at = expulsion.min(sample);
                if at >= now {
                    break;
                }
                self.look(at, watcher);
            }
        }
        self.now = now;
    }

    /// Does what is due at the end of an instant, and shows what is there then.
    fn look(&mut self, at: Instant, watcher: &mut impl Watcher) {
        self.tm.settle(at, &mut |lost| watcher.lost(lost));
        if let Some(timeline) = watcher.timeline() {
            timeline.instant_over(at, &self.tm);
        }
    }

    /// Puts the next packet of an idle port on its wire.
    fn start(&mut self, now: Instant, port: usize, watcher: &mut impl Watcher) -> Result<(), EndOfTime> {
        if let Some(end) = self.end_of[port].take() {
            self.ends.remove(&(end, port));
        }
        let departure = self.tm.transmit(now, port, &mut |lost| watcher.lost(lost));
        self.busy[port] = departure.is_some();
        let free_at = match departure {
            Some(departure) => {
                let span = self.tm.rate(port).checked_serialization(u64::from(departure.bytes));
                let end = span.and_then(|span| now.checked_add(span)).filter(|end| *end < Instant::NEVER);
                let end = end.ok_or(EndOfTime { port, at: now })?;
                watcher.started(now, port, &departure, end);
                Some(end)
            }
            // Packets may wait that may leave later.
            None => self.tm.next_eligible(port).filter(|at| *at < Instant::NEVER),
        };
        self.end_of[port] = free_at;
        self.ends.extend(free_at.map(|end| (end, port)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Output;
    use forebay_settings::read_switch;
    use forebay_tm::drive::Driver;
    use forebay_tm::{Departure, Duration, Lost, PacketId, ValidConfig, Verdict};
    use std::path::Path;

    struct Watching(Option<Timeline>);

    impl Watching {
        fn new(path: &Path, switch: &ValidConfig, every: Option<Duration>) -> Self {
            let output = Output::create(Some(path)).unwrap_or_else(|_| panic!("a temporary directory can be written"));
            Self(Some(Timeline::new(output, switch, every).unwrap_or_else(|_| panic!("as above"))))
        }

        fn finish(self, path: &Path) -> String {
            assert!(self.0.is_some_and(|timeline| timeline.finish().is_ok()));
            std::fs::read_to_string(path).unwrap()
        }
    }

    impl Observer for Watching {
        fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
        fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}
        fn lost(&mut self, _: Lost) {}
        fn instant_over(&mut self, now: Instant, tm: &Tm) {
            if let Some(timeline) = &mut self.0 {
                timeline.instant_over(now, tm);
            }
        }
    }

    impl Watcher for Watching {
        fn timeline(&mut self) -> Option<&mut Timeline> {
            self.0.as_mut()
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
                let mut all = Watching::new(&path, &switch, every);
                let mut driver = Driver::watching(Tm::new(switch.clone()));
                for (now, packet) in arrivals() {
                    driver.arrive(now, &packet, &mut all).unwrap();
                }
                driver.finish(&mut all).unwrap();
                let all = all.finish(&path);
                let mut few = Watching::new(&path, &switch, every);
                let mut watched = Watched::new(Tm::new(switch.clone()));
                for (now, packet) in arrivals() {
                    watched.arrive(now, &packet, false, &mut few).unwrap();
                }
                watched.finish(&mut few).unwrap();
                assert!(all.lines().count() > 20, "{policy}: {all}");
                assert_eq!(few.finish(&path), all, "{policy} every {every:?}");
            }
        }
    }
}
