//! Ports that take time: a [`Tm`] with the wires behind it, driven by arrivals alone.
//!
//! At one instant, in this order: transmissions that end, lowest port first, each followed at once by the pick of that port's
//! next packet; periodic updates of policies; arrivals, in the order they are given; expulsions.

use crate::max_tree::MaxTree;
use crate::packet::Packet;
use crate::switch::Tm;
use crate::units::Instant;
use crate::verdict::{Departure, Explanation, Lost, Verdict};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Somebody who watches the packets.
pub trait Observer {
    /// A packet arrived and got a verdict.
    fn arrived(&mut self, now: Instant, packet: &Packet, verdict: Verdict);
    /// A port started to send a packet, and will be busy until `end`.
    fn started(&mut self, now: Instant, port: usize, departure: &Departure, end: Instant);
    /// A packet that was waiting is gone.
    fn lost(&mut self, lost: Lost);
    /// An instant in which something happened is over. Called only by a driver that watches every instant.
    fn instant_over(&mut self, _now: Instant, _tm: &Tm) {}
}

/// An observer that looks away.
pub struct Silent;

impl Observer for Silent {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}
    fn lost(&mut self, _: Lost) {}
}

/// The run went past the last instant that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfTime {
    /// The port whose transmission would end too late.
    pub port: usize,
    /// When it would start.
    pub at: Instant,
}

impl fmt::Display for EndOfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a packet that port {} starts to send at {} would leave after the end of time (2^64 ps, 213 days)",
            self.port, self.at
        )
    }
}

impl core::error::Error for EndOfTime {}

/// A port's wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Idle,
    Busy,
    /// Idle, but packets wait that may leave later (PIEO).
    Waiting,
}

/// A traffic manager and its wires.
#[derive(Clone, Debug)]
pub struct Driver {
    tm: Tm,
    wires: Vec<Wire>,
    /// Per port the complement of when its wire is free or its packets may leave; 0 for never. The largest is the first.
    ends: MaxTree,
    watch: bool,
    /// Bytes that each packet takes of its wire beside its own, such as a preamble and the gap between frames.
    overhead: u64,
    now: Instant,
}

impl Driver {
    /// Idle wires behind a traffic manager.
    pub fn new(tm: Tm) -> Self {
        let ports = tm.config().rates.len();
        Self {
            tm,
            wires: vec![Wire::Idle; ports],
            ends: MaxTree::new(ports),
            watch: false,
            overhead: 0,
            now: Instant::ZERO,
        }
    }

    /// The same with wires on which every packet takes so many bytes more than its own.
    #[must_use]
    pub fn with_overhead(self, bytes: u32) -> Self {
        Self { overhead: u64::from(bytes), ..self }
    }

    /// The same, reporting the end of every instant in which something happens, also those of periodic updates and of
    /// expulsions. Changes no verdict.
    pub fn watching(tm: Tm) -> Self {
        Self { watch: true, ..Self::new(tm) }
    }

    /// The traffic manager.
    pub fn tm(&self) -> &Tm {
        &self.tm
    }

    /// Changes the settings of the traffic manager; see [`Tm::reconfigure`].
    pub fn reconfigure(&mut self, config: crate::TmConfig) -> Result<(), crate::ConfigError> {
        self.tm.reconfigure(config)
    }

    /// A packet arrives at `now`, which is not before the last arrival.
    pub fn arrive(
        &mut self,
        now: Instant,
        packet: &Packet,
        observer: &mut impl Observer,
    ) -> Result<Verdict, EndOfTime> {
        self.advance(now, observer)?;
        let verdict = self.tm.arrive(now, packet, &mut |lost| observer.lost(lost));
        self.after_arrival(now, packet, verdict, observer)
    }

    /// [`Driver::arrive`], with the numbers that led to the verdict.
    pub fn arrive_explained(
        &mut self,
        now: Instant,
        packet: &Packet,
        observer: &mut impl Observer,
    ) -> Result<(Verdict, Explanation), EndOfTime> {
        self.advance(now, observer)?;
        let (verdict, why) = self.tm.arrive_explained(now, packet, &mut |lost| observer.lost(lost));
        self.after_arrival(now, packet, verdict, observer)?;
        Ok((verdict, why))
    }

    fn after_arrival(
        &mut self,
        now: Instant,
        packet: &Packet,
        verdict: Verdict,
        observer: &mut impl Observer,
    ) -> Result<Verdict, EndOfTime> {
        observer.arrived(now, packet, verdict);
        if self.wires[packet.port as usize] != Wire::Busy {
            self.start(now, packet.port as usize, observer)?;
        }
        Ok(verdict)
    }

    /// Lets time pass up to the arrivals of `now`.
    pub fn advance(&mut self, now: Instant, observer: &mut impl Observer) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.next_end().filter(|(end, _)| *end <= now) {
            self.move_to(end, observer);
            self.start(end, port, observer)?;
        }
        self.move_to(now, observer);
        Ok(())
    }

    /// Lets time pass until nothing waits any more.
    pub fn finish(&mut self, observer: &mut impl Observer) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.next_end() {
            self.move_to(end, observer);
            self.start(end, port, observer)?;
        }
        if self.watch {
            self.tm.settle(self.now, &mut |lost| observer.lost(lost));
            observer.instant_over(self.now, &self.tm);
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

    /// The time it has come to.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// When a wire is free next, or its packets may leave; none if all are idle.
    pub fn next(&self) -> Option<Instant> {
        self.next_end().map(|(end, _)| end)
    }

    /// Closes the instants before `now`.
    fn move_to(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.watch && now > self.now {
            self.tm.settle(self.now, &mut |lost| observer.lost(lost));
            observer.instant_over(self.now, &self.tm);
            while self.tm.due() < now {
                let at = self.tm.due();
                self.tm.settle(at, &mut |lost| observer.lost(lost));
                observer.instant_over(at, &self.tm);
            }
        }
        self.now = now;
    }

    /// Puts the next packet of an idle port on its wire.
    fn start(&mut self, now: Instant, port: usize, observer: &mut impl Observer) -> Result<(), EndOfTime> {
        let free_at = match self.tm.transmit(now, port, &mut |lost| observer.lost(lost)) {
            Some(departure) => {
                let end = self
                    .tm
                    .rate(port)
                    .checked_serialization(u64::from(departure.bytes) + self.overhead)
                    .and_then(|span| now.checked_add(span))
                    .filter(|end| *end < Instant::NEVER)
                    .ok_or(EndOfTime { port, at: now })?;
                observer.started(now, port, &departure, end);
                self.wires[port] = Wire::Busy;
                Some(end)
            }
            None => {
                let later = self.tm.next_eligible(port).filter(|at| *at < Instant::NEVER);
                self.wires[port] = if later.is_some() { Wire::Waiting } else { Wire::Idle };
                later
            }
        };
        self.ends.set(port, free_at.map_or(0, |end| !end.ps()));
        Ok(())
    }
}
