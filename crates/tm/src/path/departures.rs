//! Packets that leave: picked for transmission, or expelled.

use super::{Departures, Full, Path};
use crate::admit::{BufferPolicy, QueueId};
use crate::buffer::Taken;
use crate::schedule::Turn;
use crate::trim::{Header, HeaderTurn, TrimConfig};
use crate::units::Instant;
use crate::verdict::{Departure, Reason};

impl Path {
    /// Picks the next packet of an idle port.
    #[inline(always)]
    pub(crate) fn transmit<P: BufferPolicy, D: Departures>(
        &mut self,
        policy: &mut P,
        now: Instant,
        port: usize,
    ) -> Option<Departure> {
        if D::FAST {
            if self.ports[port].headers > 0 {
                return self.transmit_full(policy, now, port);
            }
        } else if self.header_next(now, port) {
            return self.transmit_header(policy, now, port);
        }
        let Self { ports, buffer, scheduler, sorted, round_robin, .. } = self;
        let state = &mut ports[port];
        let first_queue = state.first_queue;
        if state.nonempty == 0 {
            return None;
        }
        state.turn = HeaderTurn::default();
        let (number, taken) = if !D::FAST && *sorted {
            let slot = scheduler.take_next(now, port, &mut buffer.slots)?;
            (0, buffer.release(first_queue, slot))
        } else {
            let number = if D::ROUND_ROBIN || *round_robin {
                state.cursor.advance(state.nonempty)
            } else {
                scheduler.choose(Turn {
                    port,
                    first_queue,
                    nonempty: state.nonempty,
                    cursor: &mut state.cursor,
                    buffer,
                })
            };
            (
                number,
                if D::FAST {
                    buffer.pop_head::<true>(first_queue + number)
                } else {
                    buffer.pop_head::<false>(first_queue + number)
                },
            )
        };
        let queue = QueueId { port, index: first_queue + number };
        let Taken { id, summary, charge, rank, after } = taken;
        let (bytes, header) = (summary.bytes(), !D::FAST && summary.is_header());
        state.shrank(number, charge, after);
        if !D::FAST {
            buffer.read_beyond_sent += if header { charge } else { charge - u64::from(bytes) };
        }
        policy.dequeued(queue, after + charge, after, bytes);
        if !D::FAST {
            if after == 0 {
                self.marker.emptied(now, queue.index);
            }
            if header {
                self.stats[queue.index].headers_sent.add(bytes);
            }
            if self.ranked && !header {
                self.ranker.picked(port, rank, self.ports[port].nonempty == 0);
            }
        }
        policy.sent(now, bytes);
        self.schedule_expulsion(policy, now, false);
        Some(Departure::of_queue(id, summary, number))
    }

    /// [`Path::transmit`] with everything that there is, out of line.
    #[inline(never)]
    pub(crate) fn transmit_full<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        now: Instant,
        port: usize,
    ) -> Option<Departure> {
        self.transmit::<P, Full>(policy, now, port)
    }

    /// Whether a header leaves before the data of a port.
    fn header_next(&mut self, now: Instant, port: usize) -> bool {
        let Some(TrimConfig::Ndp(config)) = &self.config.trim else { return false };
        let state = &mut self.ports[port];
        // Data that may not leave yet does not hold up headers.
        let may_leave = self.scheduler.next_eligible(port).is_none_or(|at| at <= now);
        let (headers, data) = (state.headers > 0, state.nonempty != 0 && may_leave);
        (headers || data) && state.turn.header_next(config, headers, data)
    }

    fn transmit_header<P: BufferPolicy>(&mut self, policy: &mut P, now: Instant, port: usize) -> Option<Departure> {
        let Header { id, summary, number } = self.header_queues[port].pop_front()?;
        let (bytes, state) = (summary.bytes(), &mut self.ports[port]);
        state.headers -= 1;
        self.stats[state.first_queue + number as usize].headers_sent.add(bytes);
        policy.sent(now, bytes);
        self.schedule_expulsion(policy, now, false);
        Some(Departure::of_header(id, summary, number))
    }

    /// After a change of the buffer or of the tokens: expulsions are to be tried at the end of this instant.
    #[inline(always)]
    pub(crate) fn schedule_expulsion<P: BufferPolicy>(&mut self, policy: &P, now: Instant, filled: bool) {
        if P::EXPELS {
            let likely = filled && self.due != Instant::NEVER;
            let expulsion = policy.not_before(now, &self.buffer, likely);
            self.due = if P::UPDATES { expulsion.min(self.next_update) } else { expulsion };
        }
    }

    /// Expels all packets that can be expelled by the end of an instant. Returns when there may be more.
    pub(crate) fn expel<P: BufferPolicy>(&mut self, policy: &mut P, from: Instant, until: Option<Instant>) -> Instant {
        if !P::EXPELS {
            return Instant::NEVER;
        }
        let Some(until) = until else { return from };
        let mut at = from;
        loop {
            match self.expel_one(policy, at, until) {
                Ok(when) => at = when,
                Err(next) => return next,
            }
        }
    }

    /// Expels the next packet that can be expelled by the end of an instant. Returns when that was, or, if none can,
    /// when the next try is.
    fn expel_one<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        from: Instant,
        until: Instant,
    ) -> Result<Instant, Instant> {
        let Some(candidate) = policy.candidate(&self.buffer) else { return Err(Instant::NEVER) };
        let queue = self.queue_id(candidate.queue);
        let head =
            self.scheduler.head(queue, self.sorted, &self.buffer).expect("an over-allocated queue holds packets");
        let bytes = self.buffer.slots.bytes(head);
        let at = policy.ready(from, bytes);
        if at > until || at == Instant::NEVER {
            return Err(at);
        }
        policy.expelled(at, candidate.queue, bytes);
        let taken = self.scheduler.take_head(queue, self.sorted, &mut self.buffer);
        self.evicted(policy, at, queue, taken, Reason::Expelled, Some(candidate.threshold));
        Ok(at)
    }
}
