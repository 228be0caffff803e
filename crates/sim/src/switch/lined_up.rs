//! Switches in which it is known on arrival when a packet leaves ([`FifoTm`]): it is lined up for the wire at once, and the end
//! of its transmission is no event.

use super::Switch;
use crate::event_queue::{EventQueue, FixedEventQueue, Key, MAX_SLOTS};
use crate::net::Net;
use crate::packet::{Metadata, flag};
use forebay_tm::View as _;
use forebay_tm::{FifoTm, Instant, Tm, Verdict};

impl Switch {
    /// Lines packets up from now on, if it is known of all its buffers when their packets leave.
    pub(crate) fn line_up(&mut self) {
        let fifos = self.buffers.iter().map(|tm| FifoTm::new(Tm::config(tm).clone())).collect::<Option<Vec<_>>>();
        if let (true, Some(fifos)) = (self.is_plain, fifos) {
            self.fifos = fifos;
            self.buffers = Vec::new();
        }
    }

    /// Brings the books up to what was before an instant, if packets are lined up.
    pub(crate) fn settle_lined_up(&mut self, until: Instant) {
        let Some(last) = until.ps().checked_sub(1).map(Instant::from_ps) else { return };
        self.fifos.iter_mut().for_each(|tm| tm.advance(last));
    }

    /// Whether packets are lined up.
    #[inline(always)]
    pub(crate) fn lines_up(&self) -> bool {
        !self.fifos.is_empty()
    }

    /// [`Switch::run`] where packets are lined up.
    #[inline(never)]
    pub(crate) fn run_lined_up(&mut self, event_queue: &mut EventQueue, horizon: Key, around: &mut Net) {
        match event_queue.slots() {
            2 => self.run_arrivals::<4>(event_queue.sized(), horizon, around),
            4 => self.run_arrivals::<8>(event_queue.sized(), horizon, around),
            8 => self.run_arrivals::<16>(event_queue.sized(), horizon, around),
            16 => self.run_arrivals::<32>(event_queue.sized(), horizon, around),
            32 => self.run_arrivals::<64>(event_queue.sized(), horizon, around),
            64 => self.run_arrivals::<128>(event_queue.sized(), horizon, around),
            128 => self.run_arrivals::<256>(event_queue.sized(), horizon, around),
            256 => self.run_arrivals::<512>(event_queue.sized(), horizon, around),
            512 => self.run_arrivals::<1024>(event_queue.sized(), horizon, around),
            _ => self.run_arrivals::<{ 2 * MAX_SLOTS }>(event_queue.sized(), horizon, around),
        }
    }

    /// Arrivals are all there is.
    fn run_arrivals<const NODES: usize>(
        &mut self,
        mut event_queue: FixedEventQueue<'_, NODES>,
        horizon: Key,
        around: &mut Net,
    ) {
        loop {
            let key = event_queue.next();
            if key >= horizon {
                return;
            }
            around.events += 1;
            let now = around.wires.clock.instant(key);
            let slot = key.slot();
            let from = slot as u32 & (NODES as u32 / 4 - 1);
            let (metadata, next) = around.wires.take(self.first_incoming + from);
            event_queue.set(slot, next);
            let Some(number) = self.next_hop(metadata, around) else {
                around.wires.lose(metadata.packet);
                continue;
            };
            let port = &mut self.ports[number];
            let tm = &mut self.fifos[port.buffer as usize];
            let verdict = tm.offer(now, port.local, metadata.bytes(), metadata.ect(), port.free_at);
            if verdict != (Verdict::Queued { marked: false })
                && !self.is_lined_up(now, number, metadata, verdict, around)
            {
                continue;
            }
            let port = &mut self.ports[number];
            port.free_at = around.wires.send(port.out, metadata, now.max(port.free_at));
        }
    }

    /// Sees to a packet that was marked or dropped. Returns whether it goes to the wire.
    #[cold]
    #[inline(never)]
    fn is_lined_up(
        &mut self,
        now: Instant,
        number: usize,
        metadata: Metadata,
        verdict: Verdict,
        around: &mut Net,
    ) -> bool {
        let packet = around.wires.arena.get_mut(metadata.packet);
        let flow = packet.flow;
        if verdict == (Verdict::Queued { marked: true }) {
            packet.flags |= flag::CE;
            around.flows.marked(flow);
            return true;
        }
        around.flows.dropped(flow);
        self.note_drop(now, self.ports[number].buffer as usize);
        if let Verdict::Dropped { reason } = verdict {
            self.keep_drop(now, number, metadata.packet, reason, around);
        }
        around.wires.arena.remove(metadata.packet);
        false
    }
}
