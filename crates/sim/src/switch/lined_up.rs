//! Switches in which it is known on arrival when a packet leaves ([`FifoTm`]): it is lined up for the wire at once, and the end
//! of its transmission is no event.

use super::Switch;
use crate::agenda::{Agenda, Key, MAX_SLOTS, Sized};
use crate::net::Net;
use crate::packet::{Label, flag};
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
    pub(crate) fn run_lined_up(&mut self, agenda: &mut Agenda, horizon: Key, around: &mut Net) {
        match agenda.slots() {
            2 => self.run_arrivals::<4>(agenda.sized(), horizon, around),
            4 => self.run_arrivals::<8>(agenda.sized(), horizon, around),
            8 => self.run_arrivals::<16>(agenda.sized(), horizon, around),
            16 => self.run_arrivals::<32>(agenda.sized(), horizon, around),
            32 => self.run_arrivals::<64>(agenda.sized(), horizon, around),
            64 => self.run_arrivals::<128>(agenda.sized(), horizon, around),
            128 => self.run_arrivals::<256>(agenda.sized(), horizon, around),
            256 => self.run_arrivals::<512>(agenda.sized(), horizon, around),
            512 => self.run_arrivals::<1024>(agenda.sized(), horizon, around),
            _ => self.run_arrivals::<{ 2 * MAX_SLOTS }>(agenda.sized(), horizon, around),
        }
    }

    /// Arrivals are all there is.
    fn run_arrivals<const NODES: usize>(&mut self, mut agenda: Sized<'_, NODES>, horizon: Key, around: &mut Net) {
        loop {
            let key = agenda.next();
            if key >= horizon {
                return;
            }
            around.events += 1;
            let now = around.wires.clock.instant(key);
            let slot = key.slot();
            let from = slot as u32 & (NODES as u32 / 4 - 1);
            let (label, next) = around.wires.take(self.first_incoming + from);
            agenda.set(slot, next);
            let Some(number) = self.way(label, around) else {
                around.wires.lose(label.packet);
                continue;
            };
            let port = &mut self.ports[number];
            let tm = &mut self.fifos[port.buffer as usize];
            let verdict = tm.offer(now, port.local, label.bytes(), label.ect(), port.free_at);
            if verdict != (Verdict::Queued { marked: false }) && !self.is_lined_up(now, number, label, verdict, around)
            {
                continue;
            }
            let port = &mut self.ports[number];
            port.free_at = around.wires.send(port.out, label, now.max(port.free_at));
        }
    }

    /// Sees to a packet that was marked or dropped. Returns whether it goes to the wire.
    #[cold]
    #[inline(never)]
    fn is_lined_up(&mut self, now: Instant, number: usize, label: Label, verdict: Verdict, around: &mut Net) -> bool {
        let packet = around.wires.arena.get_mut(label.packet);
        let flow = packet.flow;
        if verdict == (Verdict::Queued { marked: true }) {
            packet.flags |= flag::CE;
            around.flows.marked(flow);
            return true;
        }
        around.flows.dropped(flow);
        self.note_drop(now, self.ports[number].buffer as usize);
        around.wires.arena.remove(label.packet);
        false
    }
}
