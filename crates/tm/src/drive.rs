//! Ports that take time: a [`Tm`] with the wires behind it, driven by arrivals alone.
//!
//! At one instant, in this order: transmissions that end, lowest port first, each followed at once by the pick of that
//! port's next packet; periodic updates of policies; arrivals, in the order they are given; expulsions.

use crate::config::{ConfigError, TmConfig};
use crate::ingress::Ingress;
use crate::max_tree::MaxTree;
use crate::mmu::{Mmu, MmuConfig, PauseRequest};
use crate::packet::Packet;
use crate::switch::Tm;
use crate::units::{Instant, Rate};
use crate::verdict::{Departure, Eviction, Explanation, Outcome, Verdict, Wire};
use crate::view::View as _;
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
    fn evicted(&mut self, eviction: Eviction);
    /// A priority group asks for pause or to resume.
    fn requested(&mut self, _request: PauseRequest) {}
    /// Bytes that a packet takes of its wire, if it is not as long as the traffic manager says. `None` if it cannot
    /// leave: then it is gone, and the next packet of the port leaves instead.
    fn bytes_on_wire(&mut self, _port: usize, departure: &Departure) -> Option<u32> {
        Some(departure.bytes())
    }
    /// An instant in which something happened is over. Called only by a driver that watches.
    fn instant_over(&mut self, _now: Instant, _tm: &Tm) {}
    /// The same with the ingress side, where there is one; it comes after the other.
    fn ingress_over(&mut self, _now: Instant, _ingress: &Ingress) {}
    /// The next instant whose end is to be shown even if nothing happens in it. Asked only by a driver that watches.
    fn next_look(&self) -> Instant {
        Instant::NEVER
    }
}

/// Which instants a driver shows the end of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watch {
    Nothing,
    /// Those in which a queue may have changed.
    Queues,
    /// Those of periodic updates, too.
    Everything,
}

/// An observer that looks away.
pub struct Silent;

impl Observer for Silent {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, _: Instant, _: usize, _: &Departure, _: Instant) {}
    fn evicted(&mut self, _: Eviction) {}
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

/// What a driver drives: a [`Tm`], or an [`Mmu`] with both sides.
pub trait Drivable {
    /// What it is made of.
    type Config;
    /// As [`Tm::offer`].
    fn offer(&mut self, now: Instant, packet: &Packet, wire: Wire) -> Outcome;
    /// As [`Tm::offer_explained`].
    fn offer_explained(&mut self, now: Instant, packet: &Packet, wire: Wire) -> (Outcome, Explanation);
    /// As [`Tm::dequeue`].
    fn dequeue(&mut self, now: Instant, port: usize) -> Option<Departure>;
    /// As [`Tm::advance`].
    fn advance(&mut self, now: Instant);
    /// As [`Tm::reconfigure`].
    fn reconfigure(&mut self, config: Self::Config) -> Result<(), ConfigError>;
    /// Evictions, and requests for pause, since this was last asked.
    fn tell(&mut self, observer: &mut impl Observer);
    /// The egress side.
    fn egress(&self) -> &Tm;
    /// The ingress side, if there is one.
    fn ingress(&self) -> Option<&Ingress>;
}

macro_rules! drivable {
    ($type:ident, $config:ident, $egress:expr, $ingress:expr, $tell:expr) => {
        impl Drivable for $type {
            type Config = $config;

            #[inline]
            fn offer(&mut self, now: Instant, packet: &Packet, wire: Wire) -> Outcome {
                $type::offer(self, now, packet, wire)
            }

            fn offer_explained(&mut self, now: Instant, packet: &Packet, wire: Wire) -> (Outcome, Explanation) {
                $type::offer_explained(self, now, packet, wire)
            }

            #[inline]
            fn dequeue(&mut self, now: Instant, port: usize) -> Option<Departure> {
                $type::dequeue(self, now, port)
            }

            fn advance(&mut self, now: Instant) {
                $type::advance(self, now);
            }

            fn reconfigure(&mut self, config: $config) -> Result<(), ConfigError> {
                $type::reconfigure(self, config)
            }

            fn tell(&mut self, observer: &mut impl Observer) {
                if self.has_evictions() {
                    self.drain_evictions().for_each(|eviction| observer.evicted(eviction));
                }
                $tell(self, observer);
            }

            fn egress(&self) -> &Tm {
                $egress(self)
            }

            fn ingress(&self) -> Option<&Ingress> {
                $ingress(self)
            }
        }
    };
}

drivable!(Tm, TmConfig, |tm| tm, |_| None, |_: &mut Tm, _: &mut _| {});
drivable!(Mmu, MmuConfig, Mmu::egress, |mmu| Some(Mmu::ingress(mmu)), |mmu: &mut Mmu, observer: &mut _| {
    mmu.requests().for_each(|request| Observer::requested(observer, request));
});

/// A traffic manager and its wires.
#[derive(Clone, Debug)]
pub struct Driver<T = Tm> {
    tm: T,
    wires: Vec<Wire>,
    /// Per port when its wire is free or its packets may leave.
    free_at: Vec<Option<Instant>>,
    /// The complements of these; 0 for never. The largest is the first.
    ends: MaxTree,
    watch: Watch,
    /// Bytes that each packet takes of its wire beside its own, such as a preamble and the gap between frames.
    overhead: u64,
    now: Instant,
}

impl<T: Drivable> Driver<T> {
    /// Idle wires behind a traffic manager.
    pub fn new(tm: T) -> Self {
        let ports = tm.egress().config().rates.len();
        Self {
            tm,
            wires: vec![Wire::Idle; ports],
            free_at: vec![None; ports],
            ends: MaxTree::new(ports),
            watch: Watch::Nothing,
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
    pub fn watching(tm: T) -> Self {
        Self { watch: Watch::Everything, ..Self::new(tm) }
    }

    /// The same, reporting the end of every instant in which a queue may change, and of those that the observer asks
    /// for. What periodic updates have come to by then is worked out at once, however many of them there were.
    pub fn watching_queues(tm: T) -> Self {
        Self { watch: Watch::Queues, ..Self::new(tm) }
    }

    /// The traffic manager.
    pub fn tm(&self) -> &T {
        &self.tm
    }

    /// Changes the settings of the traffic manager; see [`Tm::reconfigure`]. What is left of a packet on a wire takes
    /// as long as it does at the new rate.
    pub fn reconfigure(&mut self, config: T::Config) -> Result<(), ConfigError> {
        let before: Vec<Rate> = (0..self.wires.len()).map(|port| self.tm.egress().rate(port)).collect();
        self.tm.reconfigure(config)?;
        for (port, before) in before.into_iter().enumerate() {
            let after = self.tm.egress().rate(port);
            if let (Wire::Busy, Some(end), true) = (self.wires[port], self.free_at[port], before != after) {
                self.set_end(port, Some(retimed(self.now, end, before, after)));
            }
        }
        Ok(())
    }

    /// A packet arrives at `now`, which is not before the last arrival.
    pub fn arrive(
        &mut self,
        now: Instant,
        packet: &Packet,
        observer: &mut impl Observer,
    ) -> Result<Verdict, EndOfTime> {
        self.advance(now, observer)?;
        let wire = self.wires[packet.port as usize];
        let outcome = self.tm.offer(now, packet, wire);
        self.after_offer(now, packet, wire, outcome, observer)?;
        Ok(outcome.verdict())
    }

    /// [`Driver::arrive`], with the numbers that led to the verdict.
    pub fn arrive_explained(
        &mut self,
        now: Instant,
        packet: &Packet,
        observer: &mut impl Observer,
    ) -> Result<(Verdict, Explanation), EndOfTime> {
        self.advance(now, observer)?;
        let wire = self.wires[packet.port as usize];
        let (outcome, why) = self.tm.offer_explained(now, packet, wire);
        self.after_offer(now, packet, wire, outcome, observer)?;
        Ok((outcome.verdict(), why))
    }

    fn after_offer(
        &mut self,
        now: Instant,
        packet: &Packet,
        wire: Wire,
        outcome: Outcome,
        observer: &mut impl Observer,
    ) -> Result<(), EndOfTime> {
        self.tell_losses(observer);
        observer.arrived(now, packet, outcome.verdict());
        let port = packet.port as usize;
        if let Some(departure) = outcome.departure(packet) {
            if self.start(now, port, departure, observer)? {
                return Ok(());
            }
        }
        if wire == Wire::Idle { self.pick(now, port, observer) } else { Ok(()) }
    }

    fn tell_losses(&mut self, observer: &mut impl Observer) {
        self.tm.tell(observer);
    }

    /// Lets time pass up to the arrivals of `now`.
    pub fn advance(&mut self, now: Instant, observer: &mut impl Observer) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.next_end().filter(|(end, _)| *end <= now) {
            self.move_to(end, observer);
            self.pick(end, port, observer)?;
        }
        self.move_to(now, observer);
        Ok(())
    }

    /// Lets time pass until nothing waits any more.
    pub fn finish(&mut self, observer: &mut impl Observer) -> Result<(), EndOfTime> {
        while let Some((end, port)) = self.next_end() {
            self.move_to(end, observer);
            self.pick(end, port, observer)?;
        }
        if self.watch != Watch::Nothing {
            self.look(self.now, observer);
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
        if self.watch != Watch::Nothing && now > self.now {
            self.look(self.now, observer);
            loop {
                let looks = self.watch == Watch::Everything || self.tm.egress().expels();
                let due = if looks { self.tm.egress().due() } else { Instant::NEVER };
                let at = due.min(observer.next_look());
                if at >= now {
                    break;
                }
                self.look(at, observer);
            }
        }
        self.now = now;
    }

    /// Does what is due at the end of an instant, and shows what is there then.
    fn look(&mut self, at: Instant, observer: &mut impl Observer) {
        self.tm.advance(at);
        self.tell_losses(observer);
        observer.instant_over(at, self.tm.egress());
        if let Some(ingress) = self.tm.ingress() {
            observer.ingress_over(at, ingress);
        }
    }

    /// Puts the next packet of an idle port on its wire.
    fn pick(&mut self, now: Instant, port: usize, observer: &mut impl Observer) -> Result<(), EndOfTime> {
        loop {
            let departure = self.tm.dequeue(now, port);
            self.tell_losses(observer);
            let Some(departure) = departure else { break };
            if self.start(now, port, departure, observer)? {
                return Ok(());
            }
        }
        self.wires[port] = Wire::Idle;
        // Packets may wait that may leave later.
        let later = self.tm.egress().next_eligible(port).filter(|at| *at < Instant::NEVER);
        self.set_end(port, later);
        Ok(())
    }

    /// A port starts to send a packet. Returns whether it could.
    fn start(
        &mut self,
        now: Instant,
        port: usize,
        departure: Departure,
        observer: &mut impl Observer,
    ) -> Result<bool, EndOfTime> {
        let Some(bytes) = observer.bytes_on_wire(port, &departure) else { return Ok(false) };
        let end = self
            .tm
            .egress()
            .rate(port)
            .checked_serialization(u64::from(bytes) + self.overhead)
            .and_then(|span| now.checked_add(span))
            .filter(|end| *end < Instant::NEVER)
            .ok_or(EndOfTime { port, at: now })?;
        observer.started(now, port, &departure.with_bytes(bytes), end);
        self.wires[port] = Wire::Busy;
        self.set_end(port, Some(end));
        Ok(true)
    }

    fn set_end(&mut self, port: usize, end: Option<Instant>) {
        self.free_at[port] = end;
        self.ends.set(port, end.map_or(0, |end| !end.ps()));
    }
}

/// When a packet that would have left at `end` leaves at another rate.
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
    fn what_is_left_of_a_packet_takes_its_time_at_the_new_rate() {
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
