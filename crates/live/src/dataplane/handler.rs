//! The part of the path that the driver tells of verdicts, departures and losses: it marks, cuts and frees frames.

use super::{HeaderPlace, Outgoing, Treatment};
use crate::books::{Books, CutInQueue};
use crate::edit;
use crate::frame::Headers;
use crate::pool::Pool;
use forebay_tm::drive::Observer;
use forebay_tm::{Count, Departure, Eviction, Instant, Packet, PacketId, Verdict};

/// Someone who is told what becomes of frames, by the frame buffers that they are in.
pub trait FrameObserver {
    /// A frame got its verdict.
    fn judged(&mut self, _now: Instant, _packet: &Packet, _verdict: Verdict) {}
    /// A port starts to send a frame, and is busy until `end`.
    fn sent(&mut self, _now: Instant, _port: usize, _departure: &Departure, _end: Instant) {}
    /// A frame that was waiting is gone.
    fn evicted(&mut self, _eviction: &Eviction) {}
}

impl FrameObserver for () {}

/// What is known of the frame in a frame buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    pub(super) length: u32,
    pub(super) ingress: u32,
    pub(super) headers: Option<Headers>,
    /// The traffic manager has it trimmed, and it cannot be: it does not leave.
    pub(super) untrimmable: bool,
    /// It is a header that waits among packets: the queue that refused its packet.
    pub(super) cut_from: Option<u32>,
}

/// What touches frames: the part that the driver tells of departures and losses.
#[derive(Debug)]
pub(super) struct FrameHandler<W> {
    pub(super) observer: W,
    pub(super) pool: Pool,
    pub(super) known: Vec<Known>,
    pub(super) treatment: Treatment,
    pub(super) outgoing: Vec<Outgoing>,
    /// A packet that is to go back to its sender.
    pub(super) returned: Option<u32>,
    /// Per port, frames that were to be cut and could not be.
    pub(super) untrimmable: Vec<u64>,
    /// Per port, what was put on its wire, as long as it was there.
    pub(super) transmitted: Vec<Count>,
    /// All but what is known elsewhere.
    pub(super) books: Books,
    /// Per queue.
    pub(super) cut: Vec<CutInQueue>,
    /// Queues of a port.
    pub(super) queues: usize,
}

impl<W: FrameObserver> Observer for FrameHandler<W> {
    fn arrived(&mut self, now: Instant, packet: &Packet, verdict: Verdict) {
        self.observer.judged(now, packet, verdict);
        let number = number_of(packet.id);
        match verdict {
            Verdict::Queued { marked } => {
                if marked {
                    self.edit(number, edit::mark);
                }
            }
            Verdict::Trimmed { .. } => {
                let is_cut = self.trim(number, packet.port as usize);
                let first = packet.port as usize * self.queues;
                let from = first + packet.queue as usize;
                let waits_in = match self.treatment.trim_to {
                    HeaderPlace::Apart => None,
                    HeaderPlace::OwnQueue => Some(from),
                    HeaderPlace::TrimQueue(queue) => Some(first + queue),
                };
                let known = &mut self.known[number as usize];
                (known.untrimmable, known.cut_from) = (!is_cut, waits_in.map(|_| from as u32));
                if let Some(queue) = waits_in {
                    self.cut[queue].waiting += 1;
                }
            }
            Verdict::Returned { .. } => {
                if self.trim(number, packet.port as usize) {
                    self.edit(number, edit::turn_around);
                    self.returned = Some(number);
                } else {
                    self.discard(packet.port as usize, number);
                }
            }
            Verdict::Dropped { .. } => {
                self.books.dropped += 1;
                self.free(number);
            }
        }
    }

    fn started(&mut self, now: Instant, port: usize, departure: &Departure, end: Instant) {
        self.observer.sent(now, port, departure, end);
        let number = number_of(departure.id);
        let length = self.known[number as usize].length as usize;
        // The traffic manager has every packet once; a frame that did not wait would be missing from the books.
        if let Some(slot) = self.pool.unpark(number) {
            self.books.sent += 1;
            self.transmitted[port] += Count { packets: 1, bytes: length as u64 };
            self.outgoing.push(Outgoing { at: now, port, slot, length });
        }
    }

    fn evicted(&mut self, eviction: Eviction) {
        self.observer.evicted(&eviction);
        let number = number_of(eviction.id);
        if let Some(from) = self.known[number as usize].cut_from {
            self.cut[eviction.queue].waiting -= 1;
            self.cut[from as usize].lost += 1;
        }
        self.books.pushed_out += 1;
        self.free(number);
    }

    /// A frame takes its wire for as long as it really is, whatever the traffic manager has cut it to.
    fn bytes_on_wire(&mut self, port: usize, departure: &Departure) -> Option<u32> {
        let number = number_of(departure.id);
        let Known { length, untrimmable, cut_from, .. } = self.known[number as usize];
        if let Some(queue) = departure.queue().filter(|_| cut_from.is_some()) {
            self.cut[port * self.queues + usize::from(queue)].waiting -= 1;
        }
        if untrimmable {
            self.discard(port, number);
            return None;
        }
        Some(length)
    }
}

/// The frame buffer that a packet is in.
pub(super) fn number_of(id: PacketId) -> u32 {
    id.0 as u32
}

impl<W> FrameHandler<W> {
    /// A frame buffer that has waited is free again.
    pub(super) fn free(&mut self, number: u32) {
        if let Some(slot) = self.pool.unpark(number) {
            self.pool.give(slot);
        }
    }

    /// Does something to a frame that waits.
    pub(super) fn with<T>(&mut self, number: u32, what: impl FnOnce(&mut [u8], &Known) -> T) -> Option<T> {
        let mut slot = self.pool.unpark(number)?;
        let known = &self.known[number as usize];
        let result = what(self.pool.bytes_mut(&mut slot, known.length as usize), known);
        self.pool.park(slot);
        Some(result)
    }

    pub(super) fn edit(&mut self, number: u32, change: impl Fn(&mut [u8], &Headers)) {
        self.with(number, |frame, known| {
            if let Some(headers) = &known.headers {
                change(frame, headers);
            }
        });
    }

    /// Cuts a frame that was to leave by a port; false if it cannot be cut.
    pub(super) fn trim(&mut self, number: u32, port: usize) -> bool {
        let Treatment { trim_size, trim_lengths, .. } = self.treatment;
        let trim_dscp = self.treatment.trim_dscp.get(port).copied().flatten();
        let left = self.with(number, |frame, known| {
            let headers = known.headers.as_ref()?;
            let left = edit::trim(frame, headers, trim_size, trim_lengths)?;
            if let Some(dscp) = trim_dscp {
                edit::set_dscp(frame, headers, dscp);
            }
            Some(left)
        });
        let Some(left) = left.flatten() else { return false };
        self.known[number as usize].length = left as u32;
        true
    }

    /// Throws a frame away that was to be cut and cannot be.
    pub(super) fn discard(&mut self, port: usize, number: u32) {
        self.untrimmable[port] += 1;
        self.books.untrimmable += 1;
        self.free(number);
    }
}
