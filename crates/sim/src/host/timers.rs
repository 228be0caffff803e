//! The timers of a host.

use super::{Host, HostContext, slot};
use crate::event_queue::NEVER;
use crate::flow::NONE;
use crate::measure::breakdown::Trigger;
use crate::nic::End;
use crate::packet::{Kind, Packet};
use crate::transport::{Receiver, Reply, Sender};
use forebay_tm::Instant;
use std::cmp::Reverse;

/// What a timer is for, in the order in which timers of one instant run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    Sender,
    /// Pacing lets a sender's next packet go.
    Pace,
    Receiver,
    Start,
    Pull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timer {
    pub(super) at: Instant,
    pub(super) purpose: Purpose,
    /// The flow's hash: what orders timers of one instant. The numbers of closed-loop clients' flows depend on which
    /// host was first.
    pub(super) hash: u32,
    pub(super) flow: u32,
}

impl Host {
    #[inline(never)]
    pub(super) fn set_timer(&mut self, timer: Timer, cx: HostContext<'_>) {
        if timer.at == Instant::NEVER {
            return;
        }
        self.timers.push(Reverse(timer));
        self.show_timers(cx);
    }

    /// Enters the earliest timer into the event_queue.
    pub(super) fn show_timers(&self, mut cx: HostContext<'_>) {
        let key = self.timers.peek().map_or(NEVER, |timer| cx.net.wires.clock.timer(timer.0.at, slot::TIMERS));
        cx.events.set(slot::TIMERS, key);
    }

    #[inline(never)]
    pub(super) fn timers_due(&mut self, now: Instant, mut cx: HostContext<'_>) {
        while let Some(Reverse(timer)) = self.timers.peek().copied() {
            if timer.at > now {
                break;
            }
            self.timers.pop();
            match timer.purpose {
                Purpose::Sender => self.sender_due(now, timer, cx.reborrow()),
                Purpose::Pace => self.pace_due(now, timer, cx.reborrow()),
                Purpose::Receiver => self.receiver_due(now, timer, cx.reborrow()),
                Purpose::Start => self.start(now, timer.flow, cx.reborrow()),
                Purpose::Pull => {
                    if self.pull_armed == timer.at {
                        self.pull_armed = Instant::NEVER;
                        self.pull(now, cx.reborrow());
                    }
                }
            }
        }
        self.show_timers(cx);
    }

    pub(super) fn sender_due(&mut self, now: Instant, timer: Timer, mut cx: HostContext<'_>) {
        let place = cx.net.flows.flows[timer.flow as usize].sender;
        if place == NONE {
            return;
        }
        let armed = cx.net.flows.senders.get_mut(place);
        if armed.armed != timer.at {
            // A timer that was set earlier than this one has taken its place.
            return;
        }
        armed.armed = Instant::NEVER;
        if armed.machine.deadline() <= now {
            if let Sender::Linux(sender) = &mut armed.machine {
                let queue = cx.net.flows.flows[timer.flow as usize].queues[End::Source as usize];
                sender.set_in_host(self.nic.waiting_in(queue) > 0);
            }
            armed.machine.on_deadline(now);
            cx.net.wires.trails.trigger = Trigger::Deadline;
            self.pump(now, timer.flow, cx.reborrow());
        } else {
            // It has moved on since the timer was set.
            let deadline = armed.machine.deadline();
            armed.armed = deadline;
            self.set_timer(Timer { at: deadline, ..timer }, cx.reborrow());
        }
    }

    pub(super) fn pace_due(&mut self, now: Instant, timer: Timer, mut cx: HostContext<'_>) {
        let place = cx.net.flows.flows[timer.flow as usize].sender;
        if place == NONE {
            return;
        }
        let armed = cx.net.flows.senders.get_mut(place);
        if armed.paced == timer.at {
            armed.paced = Instant::NEVER;
            cx.net.wires.trails.trigger = Trigger::Pace;
            self.pump(now, timer.flow, cx.reborrow());
        }
    }

    pub(super) fn receiver_due(&mut self, now: Instant, timer: Timer, mut cx: HostContext<'_>) {
        let place = cx.net.flows.flows[timer.flow as usize].receiver;
        if place == NONE {
            return;
        }
        let armed = cx.net.flows.receivers.get_mut(place);
        if armed.armed != timer.at {
            return;
        }
        armed.armed = Instant::NEVER;
        let deadline = armed.machine.deadline();
        if deadline <= now {
            let mut packet = Packet { flow: timer.flow, ..Packet::default() };
            let reply = armed.machine.on_deadline(now, &mut packet);
            let next = armed.machine.deadline();
            armed.armed = next;
            self.set_timer(Timer { at: next, ..timer }, cx.reborrow());
            if reply != Reply::Nothing {
                let slot = cx.net.wires.arena.insert(packet);
                self.reply(now, timer.flow, slot, cx.reborrow());
            }
            return;
        }
        armed.armed = deadline;
        self.set_timer(Timer { at: deadline, ..timer }, cx);
    }

    /// Sends the pulls that are due.
    #[inline(never)]
    pub(super) fn pull(&mut self, now: Instant, mut cx: HostContext<'_>) {
        while let Some(number) = self.pulls.next(now, self.pull_spacing) {
            let place = cx.net.flows.flows[number as usize].receiver;
            if place == NONE {
                continue;
            }
            let Receiver::Ndp(receiver) = &mut cx.net.flows.receivers.get_mut(place).machine else { continue };
            let packet = Packet { kind: Kind::Pull, seq: receiver.pull_sent(), flow: number, ..Packet::default() };
            if receiver.wants_pull() {
                self.pulls.request(number);
            }
            let slot = cx.net.wires.arena.insert(packet);
            self.reply(now, number, slot, cx.reborrow());
        }
        let deadline = self.pulls.deadline().max(now);
        if deadline < self.pull_armed {
            self.pull_armed = deadline;
            self.set_timer(Timer { at: deadline, purpose: Purpose::Pull, hash: 0, flow: NONE }, cx.reborrow());
        }
    }
}
