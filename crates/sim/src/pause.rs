//! Priority flow control (IEEE 802.1Qbb): the frames that stop a class of traffic on a link, and what they do to who
//! hears them.

use crate::packet::{Hold, Kind, Metadata, Packet};
use crate::scenario::PfcSetup;
use crate::wires::Wires;
use forebay_tm::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// Classes that a frame can speak of.
pub(crate) const CLASSES: usize = 8;

/// Bytes of a frame on the wire.
pub(crate) const FRAME_BYTES: u32 = 64;

/// A frame: which classes stop, and for how many quanta of 512 bit times; none is to resume. Frames of a switch tell
/// which of its
/// requests they are for, counted from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) classes: u8,
    pub(crate) quanta: u16,
    pub(crate) request: u32,
}

impl Frame {
    /// Puts the frame into the arena. It is no packet of any flow.
    pub(crate) fn launch(self, wires: &mut Wires) -> Metadata {
        let packet = Packet {
            kind: Kind::Pause,
            seq: u32::from(self.classes),
            echo: u32::from(self.quanta),
            rank: self.request,
            bytes: FRAME_BYTES,
            ..Packet::default()
        };
        wires.frames += 1;
        let slot = wires.arena.insert(packet);
        Metadata::of(&packet, slot, FRAME_BYTES)
    }

    /// Takes a frame that has come in out of the arena. `None` if it is a packet.
    pub(crate) fn land(metadata: &Metadata, wires: &mut Wires) -> Option<Self> {
        let packet = wires.arena.get(metadata.packet);
        if packet.kind != Kind::Pause {
            return None;
        }
        let frame = Self { classes: packet.seq as u8, quanta: packet.echo as u16, request: packet.rank };
        wires.frames -= 1;
        wires.arena.remove(metadata.packet);
        Some(frame)
    }
}

/// How long so many quanta are on a link.
pub(crate) fn span(quanta: u16, rate: Rate) -> Duration {
    rate.serialization(64 * u64::from(quanta))
}

/// The classes that a port or a NIC may not send.
#[derive(Clone, Debug)]
pub(crate) struct Paused {
    rate: Rate,
    /// From the end of a frame to what it does.
    response: Duration,
    /// Frames that have come in and do nothing yet.
    heard: VecDeque<(Instant, Frame)>,
    /// Each class is paused until then, and has been without a break since.
    until: [Instant; CLASSES],
    since: [Instant; CLASSES],
    /// Time that each class was paused, up to the last time that its pause ended.
    total: [Duration; CLASSES],
    pauses: [u64; CLASSES],
    /// The request that paused each class last.
    requests: [u32; CLASSES],
}

impl Paused {
    pub(crate) fn new(rate: Rate, setup: &PfcSetup) -> Self {
        Self {
            rate,
            response: setup.response,
            heard: VecDeque::new(),
            until: [Instant::ZERO; CLASSES],
            since: [Instant::ZERO; CLASSES],
            total: [Duration::ZERO; CLASSES],
            pauses: [0; CLASSES],
            requests: [0; CLASSES],
        }
    }

    /// A frame comes in. Returns when it does what it says.
    pub(crate) fn hear(&mut self, now: Instant, frame: Frame) -> Instant {
        let at = now + self.response;
        self.heard.push_back((at, frame));
        at
    }

    /// The classes that are paused now, as bits.
    pub(crate) fn mask(&mut self, now: Instant) -> u64 {
        while let Some((at, frame)) = self.heard.front().copied().filter(|(at, _)| *at <= now) {
            self.heard.pop_front();
            self.apply(at, frame);
        }
        let paused = (0..CLASSES).filter(|class| self.until[*class] > now);
        paused.fold(0, |mask, class| mask | 1 << class)
    }

    fn apply(&mut self, at: Instant, frame: Frame) {
        let until = at + span(frame.quanta, self.rate);
        for class in (0..CLASSES).filter(|class| frame.classes >> class & 1 != 0) {
            let was_paused = self.until[class] > at;
            let ended = at.min(self.until[class]);
            if !was_paused || frame.quanta == 0 {
                let before = ended.since(self.since[class]);
                self.total[class] = Duration::from_ps(self.total[class].ps() + before.ps());
                self.since[class] = at;
            }
            self.pauses[class] += u64::from(!was_paused && frame.quanta > 0);
            self.until[class] = until;
            if frame.quanta > 0 {
                self.requests[class] = frame.request;
            }
        }
    }

    /// When [`Paused::mask`] may change next.
    pub(crate) fn next_change(&self, now: Instant) -> Instant {
        let ends = self.until.iter().copied().filter(|until| *until > now);
        self.heard.front().map(|(at, _)| *at).into_iter().chain(ends).min().unwrap_or(Instant::NEVER)
    }

    /// Since when a class that is paused has been so without a break.
    pub(crate) fn since(&self, class: usize) -> Instant {
        self.since[class]
    }

    /// Until when a class is paused, or was.
    pub(crate) fn until(&self, class: usize) -> Instant {
        self.until[class]
    }

    /// How long a class was paused up to now, of which [`Paused::mask`] was asked. Classes that no frame speaks of
    /// never are.
    pub(crate) fn time(&self, class: u8, now: Instant) -> Duration {
        let class = usize::from(class);
        if class >= CLASSES {
            return Duration::ZERO;
        }
        let last = now.min(self.until[class]).since(self.since[class]);
        Duration::from_ps(self.total[class].ps() + last.ps())
    }

    /// A packet comes to wait.
    pub(crate) fn joins(&self, class: u8, now: Instant, hold: &mut Hold) {
        hold.time = self.time(class, now);
    }

    /// A packet leaves, and says what it waited for.
    pub(crate) fn leaves(&self, class: u8, now: Instant, hold: &mut Hold) {
        hold.time = Duration::from_ps(self.time(class, now).ps() - hold.time.ps());
        hold.request = if hold.time > Duration::ZERO { self.requests[usize::from(class)] } else { 0 };
    }

    /// How often a class was paused, and for how long, up to the end of the run.
    pub(crate) fn totals(&mut self, class: usize, end: Instant) -> (u64, Duration) {
        self.mask(end);
        (self.pauses[class], self.time(class as u8, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XOFF: Frame = Frame { classes: 0b1000, quanta: 100, request: 1 };
    const XON: Frame = Frame { quanta: 0, ..XOFF };

    fn at(ns: u64) -> Instant {
        Instant::from_ps(ns * 1_000)
    }

    /// 100 quanta are 512 ns.
    fn paused(response_ns: u64) -> Paused {
        let setup = PfcSetup { response: Duration::from_ps(response_ns * 1_000), ..PfcSetup::default() };
        Paused::new(Rate::from_gbps(100), &setup)
    }

    #[test]
    fn a_pause_ends_on_its_own_or_by_a_frame() {
        let mut port = paused(0);
        port.hear(at(1_000), XOFF);
        assert_eq!((port.mask(at(1_000)), port.mask(at(1_511)), port.mask(at(1_512))), (0b1000, 0b1000, 0));
        port.hear(at(2_000), XOFF);
        port.hear(at(2_100), XON);
        assert_eq!(port.mask(at(2_100)), 0);
        assert_eq!(port.totals(3, at(9_000)), (2, Duration::from_ps(612_000)));
        assert_eq!(port.totals(2, at(9_000)), (0, Duration::ZERO));
    }

    #[test]
    fn a_refreshed_pause_goes_on_without_a_break() {
        let mut port = paused(0);
        for ns in [1_000, 1_256, 1_512] {
            port.hear(at(ns), XOFF);
            assert_eq!(port.mask(at(ns)), 0b1000);
        }
        assert_eq!((port.since(3), port.next_change(at(1_600))), (at(1_000), at(2_024)));
        assert_eq!(port.totals(3, at(9_000)), (1, Duration::from_ps(1_024_000)));
    }

    #[test]
    fn frames_do_what_they_say_after_the_response_time_in_order() {
        let mut port = paused(200);
        assert_eq!(port.hear(at(1_000), XOFF), at(1_200));
        port.hear(at(1_050), XON);
        port.hear(at(1_120), XOFF);
        assert_eq!((port.mask(at(1_199)), port.mask(at(1_200)), port.mask(at(1_250))), (0, 0b1000, 0));
        assert_eq!(port.next_change(at(1_250)), at(1_320));
        assert_eq!(port.mask(at(1_320)), 0b1000);
    }
}
