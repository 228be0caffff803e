//! For those who measure: which packets wait, and what was counted since a moment.

use crate::admit::Dispatch;
use crate::counters::{Count, Counters};
use crate::packet::PacketId;
use crate::switch::Tm;
use crate::units::Bytes;
use crate::view::View as _;

impl<P: Dispatch> Tm<P> {
    /// Shows the packets in the queues, with the bytes that they are charged; headers that wait apart from the queues
    /// are not among them. Slow: for those who look now and then.
    pub fn visit_waiting(&self, mut visit: impl FnMut(PacketId, u32)) {
        for queue in (0..self.config().total_queues()).filter(|queue| self.queue_bytes(*queue) > Bytes::ZERO) {
            self.visit_waiting_in(queue, &mut visit);
        }
    }
}

impl Counters {
    /// What was counted since an earlier moment. What waits is what waits now, and the peak is that of all time.
    pub fn since(&self, earlier: &Self) -> Self {
        let less = |now: Count, then: Count| Count {
            packets: now.packets.saturating_sub(then.packets),
            bytes: now.bytes.saturating_sub(then.bytes),
        };
        let mut since = Self::default();
        (since.waiting, since.peak) = (self.waiting, self.peak);
        since.offered = less(self.offered, earlier.offered);
        since.admitted = less(self.admitted, earlier.admitted);
        since.sent = less(self.sent, earlier.sent);
        since.marked = less(self.marked, earlier.marked);
        since.trimmed = less(self.trimmed, earlier.trimmed);
        since.headers_sent = less(self.headers_sent, earlier.headers_sent);
        since.returned = less(self.returned, earlier.returned);
        for reason in crate::verdict::Reason::ALL {
            since.count_dropped(reason, less(self.dropped_by(reason), earlier.dropped_by(reason)));
        }
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instant, Packet, Rate, TmConfig, Wire};

    #[test]
    fn what_waits_and_what_was_counted_since() {
        let config = TmConfig::new(alloc::vec![Rate::from_gbps(10); 2], Bytes::new(4_000));
        let mut tm = Tm::new(config.validate().unwrap());
        let offer = |tm: &mut Tm, id| {
            let packet = Packet { id: PacketId(id), bytes: 1_000, port: (id % 2) as u32, ..Packet::default() };
            tm.offer(Instant::ZERO, &packet, Wire::Busy);
        };
        (0..3).for_each(|id| offer(&mut tm, id));
        let earlier = tm.pool_counters();
        (3..6).for_each(|id| offer(&mut tm, id));
        tm.dequeue(Instant::ZERO, 0);
        let mut waiting = alloc::vec::Vec::new();
        tm.visit_waiting(|id, bytes| waiting.push((id, bytes)));
        let charged: u64 = waiting.iter().map(|(_, bytes)| u64::from(*bytes)).sum();
        assert_eq!(Bytes::new(charged), tm.used());
        assert!(waiting.iter().all(|(id, _)| *id != PacketId(0)));
        let since = tm.pool_counters().since(&earlier);
        assert_eq!((since.offered.packets, since.sent.packets), (3, 1));
        assert_eq!(since.dropped.packets + since.admitted.packets, 3);
        assert_eq!(since.waiting, tm.pool_counters().waiting);
    }
}
