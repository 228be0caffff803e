//! A port: the link that it sends on, and the event that wakes it when it is free.

use crate::event_queue::NEVER;
use crate::net::Context;
use crate::packet::Metadata;
use forebay_tm::{Instant, Wire};

/// One port of a switch, or a host's link behind a traffic manager.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    /// The link it sends on.
    pub(crate) out: u32,
    /// Its buffer.
    pub(crate) buffer: u32,
    /// Its number within the buffer.
    pub(crate) local: u32,
    /// When it has sent what it sends.
    pub(crate) free_at: Instant,
    /// It will be woken when it is free.
    pub(crate) armed: bool,
}

impl Port {
    pub(crate) fn new(out: u32, buffer: u32, local: u32) -> Self {
        Self { out, buffer, local, free_at: Instant::ZERO, armed: false }
    }

    #[inline(always)]
    pub(crate) fn wire(&self, now: Instant) -> Wire {
        if self.free_at > now { Wire::Busy } else { Wire::Idle }
    }

    /// Sends a packet. The port, whose event has this slot, is woken afterwards if `more` packets wait.
    #[inline(always)]
    pub(crate) fn send<const NODES: usize>(
        &mut self,
        now: Instant,
        slot: usize,
        metadata: Metadata,
        more: bool,
        cx: Context<'_, NODES>,
    ) {
        self.free_at = cx.net.wires.send(self.out, metadata, now);
        self.go_on(slot, more, cx);
    }

    /// It is busy from now on: it is woken afterwards if `more` packets wait.
    #[inline(always)]
    pub(crate) fn go_on<const NODES: usize>(&mut self, slot: usize, more: bool, mut cx: Context<'_, NODES>) {
        self.armed = more;
        let next = if more { cx.net.wires.clock.transmission(self.free_at, slot) } else { NEVER };
        cx.events.set(slot, next);
    }

    /// A packet waits: the port is woken when it is free, if it would not be anyway.
    #[inline(always)]
    pub(crate) fn wake_when_free<const NODES: usize>(&mut self, slot: usize, mut cx: Context<'_, NODES>) {
        if !self.armed {
            self.armed = true;
            cx.events.set(slot, cx.net.wires.clock.transmission(self.free_at, slot));
        }
    }

    /// It is idle although packets may wait: it is woken when one may leave, if that is known.
    pub(crate) fn wake_at<const NODES: usize>(
        &mut self,
        now: Instant,
        slot: usize,
        eligible: Option<Instant>,
        mut cx: Context<'_, NODES>,
    ) {
        let at = eligible.filter(|at| *at > now && *at < Instant::NEVER);
        self.armed = at.is_some();
        cx.events.set(slot, at.map_or(NEVER, |at| cx.net.wires.clock.transmission(at, slot)));
    }
}
