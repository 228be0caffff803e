//! The wires behind the ports: when each is free, and what it takes next of the traffic manager.
//!
//! The order of what happens at one instant is that of [`forebay_tm::drive`], so that the same arrivals get the same verdicts. Two things are a live
//! switch's own: a frame takes its wire for as long as it really is, whatever the traffic manager has cut it to, and a rate that changes
//! changes the time that is left for the frame on the wire.

use forebay_tm::drive::{EndOfTime, Observer};
use forebay_tm::max_tree::MaxTree;
use forebay_tm::{ConfigError, Departure, Instant, Packet, Rate, Tm, TmConfig, Verdict};

/// Someone who has the frames.
pub(crate) trait Frames: Observer {
    /// Bytes of a frame that is to leave now; none if it cannot leave as it is, and was thrown away.
    fn bytes_of(&mut self, port: usize, departure: &Departure) -> Option<u32>;
}

/// A port's wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    /// Nothing is on it.
    Free,
    Busy,
}

/// A traffic manager and its wires.
#[derive(Debug)]
pub(crate) struct Wires {
    tm: Tm,
    wires: Vec<Wire>,
    /// Per port the complement of when its wire is free or its packets may leave; 0 for never. The largest is the first.
    ends: MaxTree,
    /// The same, by port.
    free_at: Vec<Option<Instant>>,
    /// Bytes that each frame takes of its wire beside its own, such as a preamble and the gap between frames.
    overhead: u64,
    now: Instant,
}

impl Wires {
    /// Free wires behind a traffic manager.
    pub(crate) fn new(tm: Tm, overhead: u32) -> Self {
        let ports = tm.config().rates.len();
        Self {
            tm,
            wires: vec![Wire::Free; ports],
            ends: MaxTree::new(ports),
            free_at: vec![None; ports],
            overhead: u64::from(overhead),
            now: Instant::ZERO,
        }
    }

    /// The traffic manager.
    pub(crate) fn tm(&self) -> &Tm {
        &self.tm
    }

    /// The time it has come to.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// When a wire is free next, or its packets may leave; none if all are idle.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.next_end().map(|(end, _)| end)
    }

    /// Changes the settings of the traffic manager. What is left of a frame on a wire takes as long as it does at the new rate.
    pub(crate) fn reconfigure(&mut self, config: TmConfig) -> Result<(), ConfigError> {
        let before: Vec<Rate> = (0..self.wires.len()).map(|port| self.tm.rate(port)).collect();
        self.tm.reconfigure(config)?;
        for (port, before) in before.into_iter().enumerate() {
            let after = self.tm.rate(port);
            if let (Wire::Busy, Some(end), true) = (self.wires[port], self.free_at[port], before != after) {
                self.set_end(port, Some(retimed(self.now, end, before, after)));
            }
        }
        Ok(())
    }

    /// A packet arrives at `now`, which is not before the last arrival.
    pub(crate) fn arrive(
        &mut self,
        now: Instant,
        packet: &Packet,
        frames: &mut impl Frames,
    ) -> Result<Verdict, EndOfTime> {
        self.advance(now, frames)?;
        let verdict = self.tm.arrive(now, packet, &mut |lost| frames.lost(lost));
        frames.arrived(now, packet, verdict);
        if self.wires[packet.port as usize] != Wire::Busy {
            self.start(now, packet.port as usize, frames)?;
        }
        Ok(verdict)
    }

    /// Lets time pass up to the arrivals of `now`.
    pub(crate) fn advance(&mut self, now: Instant, frames: &mut impl Frames) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.next_end().filter(|(end, _)| *end <= now) {
            self.now = end;
            self.start(end, port, frames)?;
        }
        self.now = now;
        Ok(())
    }

    /// Lets time pass until nothing waits any more.
    pub(crate) fn finish(&mut self, frames: &mut impl Frames) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.next_end() {
            self.now = end;
            self.start(end, port, frames)?;
        }
        Ok(())
    }

    /// The next wire that is free, and its port.
    fn next_end(&self) -> Option<(Instant, usize)> {
        match self.ends.max() {
            0 => None,
            complement => Some((Instant::from_ps(!complement), self.ends.argmax())),
        }
    }

    fn set_end(&mut self, port: usize, end: Option<Instant>) {
        self.free_at[port] = end;
        self.ends.set(port, end.map_or(0, |end| !end.ps()));
    }

    /// Puts the next frame of an idle port on its wire.
    fn start(&mut self, now: Instant, port: usize, frames: &mut impl Frames) -> Result<(), EndOfTime> {
        loop {
            let Some(departure) = self.tm.transmit(now, port, &mut |lost| frames.lost(lost)) else {
                self.wires[port] = Wire::Free;
                let later = self.tm.next_eligible(port).filter(|at| *at < Instant::NEVER);
                self.set_end(port, later);
                return Ok(());
            };
            // What was thrown away takes no time of the wire.
            let Some(bytes) = frames.bytes_of(port, &departure) else { continue };
            let end = self
                .tm
                .rate(port)
                .checked_serialization(u64::from(bytes) + self.overhead)
                .and_then(|span| now.checked_add(span))
                .filter(|end| *end < Instant::NEVER)
                .ok_or(EndOfTime { port, at: now })?;
            frames.started(now, port, &Departure { bytes, ..departure }, end);
            self.wires[port] = Wire::Busy;
            self.set_end(port, Some(end));
            return Ok(());
        }
    }
}

/// When a frame that would have left at `end` leaves at another rate.
fn retimed(now: Instant, end: Instant, before: Rate, after: Rate) -> Instant {
    let left = u128::from(end.ps().saturating_sub(now.ps())) * u128::from(before.bps());
    let left = left.div_ceil(u128::from(after.bps().max(1)));
    let last = Instant::NEVER.ps() - 1;
    Instant::from_ps(u64::try_from(left).map_or(last, |left| now.ps().saturating_add(left).min(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_frame_takes_its_time_at_the_new_rate() {
        let at = Instant::from_ps;
        let rate = Rate::from_bps;
        assert_eq!(retimed(at(100), at(300), rate(1_000), rate(2_000)), at(200));
        assert_eq!(retimed(at(100), at(300), rate(2_000), rate(1_000)), at(500));
        assert_eq!(retimed(at(100), at(300), rate(3), rate(7)), at(100 + 86), "rounded up: never early");
        assert_eq!(retimed(at(300), at(300), rate(1), rate(1_000)), at(300));
        let end = retimed(at(1), at(u64::MAX - 5), rate(u64::MAX), rate(1));
        assert_eq!(end.ps(), u64::MAX - 1, "there is no later time");
    }
}
