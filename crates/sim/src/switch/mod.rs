//! A switch: the traffic managers of its ports, between its links.
//!
//! [`PlainSwitch`] is that and nothing else. The others do more, by what they have around one: [`MirrorSwitch`] keeps
//! the headers of packets that were dropped, [`ChipSwitch`] runs a program, [`LosslessSwitch`] has both sides of the
//! buffer and pauses its senders, [`ScriptedSwitch`] plays a script. [`FifoSwitch`] is a plain one of FIFO queues that
//! is faster.

mod drops;
mod fifo;
mod forwarding;
mod holdings;
mod lossless;
mod lossless_timers;
mod mirror;
mod plain;
mod port;
mod scripted;
mod watchdog;

pub(crate) use forwarding::Forwarding;
pub(crate) use mirror::Mirror;
pub(crate) use plain::{PlainSwitch, Rejected};
use plain::{Specialize, traffic_managers};
pub(crate) use port::Port;
pub(crate) use scripted::HOST_RATE;

use crate::chip::ChipSwitch;
use crate::deadlock::Waits;
use crate::event_queue::{EventQueue, FixedEventQueue, Key, MAX_SLOTS};
use crate::measure::RecirculationRecord;
use crate::measure::chip::ChipRecord;
use crate::measure::pauses::PauseRecords;
use crate::net::{Context, Net};
use crate::packet::Metadata;
use crate::scenario::SwitchSetup;
use fifo::FifoSwitch;
use forebay_script::trace::Event;
use forebay_tm::admit::specialize;
use forebay_tm::{FifoTm, Instant, View};
use lossless::LosslessSwitch;
use mirror::MirrorSwitch;
use scripted::ScriptedSwitch;

/// A kind of switch: what it does with its events, and what can be seen of it.
pub(crate) trait SwitchKind: Send {
    /// Handles all events before the horizon: `runs_for_slots!`.
    fn run(&mut self, events: &mut EventQueue, horizon: Key, net: &mut Net);

    /// The slot of the arrivals at its first port. Below are those of ends of transmissions, and what else is its own.
    fn first_arrival<const NODES: usize>() -> usize
    where
        Self: Sized,
    {
        FixedEventQueue::<NODES>::ARRIVALS
    }

    fn forwarding(&self) -> &Forwarding;

    fn forwarding_mut(&mut self) -> &mut Forwarding;

    /// What can be seen of a buffer.
    fn view(&self, buffer: usize) -> &dyn View;

    /// It runs soon: looks at what its buffers have for its ports.
    fn look_ahead(&self) {}

    /// Lets the buffers do what was due before an instant. It would be done at the next arrival or departure, with the
    /// same outcome.
    fn settle_before(&mut self, until: Instant, net: &mut Net);

    /// The run ends.
    fn end(&mut self, _at: Instant) {}

    /// The event of a slot in the lower half is due: a port has sent what it sent, or, behind the ports, something of
    /// its own.
    fn due<const NODES: usize>(&mut self, _now: Instant, _slot: usize, _cx: Context<'_, NODES>)
    where
        Self: Sized,
    {
    }

    /// A packet has come in by a link: those of the ports, then those that come from the switch itself. Returns it if
    /// no queue has taken it.
    fn arrive<const NODES: usize>(
        &mut self,
        now: Instant,
        from: usize,
        metadata: Metadata,
        cx: Context<'_, NODES>,
    ) -> Option<Rejected>
    where
        Self: Sized;

    /// Sees to a packet that came in and that no queue has taken.
    fn reject<const NODES: usize>(&mut self, _: Instant, _from: usize, _: &Rejected, _: Context<'_, NODES>)
    where
        Self: Sized,
    {
    }
}

/// What a kind with a plain switch inside has from that.
macro_rules! like_its_switch {
    () => {
        fn forwarding(&self) -> &Forwarding {
            &self.switch.forwarding
        }

        fn forwarding_mut(&mut self) -> &mut Forwarding {
            &mut self.switch.forwarding
        }

        fn view(&self, buffer: usize) -> &dyn View {
            self.switch.view(buffer)
        }

        fn settle_before(&mut self, until: Instant, net: &mut Net) {
            self.switch.settle_before(until, net);
        }
    };
}
pub(crate) use like_its_switch;

/// Handles all events before the horizon.
pub(crate) fn run_sized<K: SwitchKind, const NODES: usize>(
    switch: &mut K,
    events: FixedEventQueue<'_, NODES>,
    horizon: Key,
    net: &mut Net,
) {
    let first_arrival = K::first_arrival::<NODES>();
    let mut cx = Context { events, net };
    loop {
        let key = cx.events.next();
        if key >= horizon {
            return;
        }
        cx.net.events += 1;
        let now = cx.net.wires.clock.instant(key);
        let slot = key.slot();
        if slot < first_arrival {
            switch.due(now, slot, cx.reborrow());
            continue;
        }
        let from = slot - first_arrival;
        let (metadata, next) = cx.net.wires.take(switch.forwarding().first_incoming + from as u32);
        cx.events.set(slot, next);
        if let Some(rejected) = switch.arrive(now, from, metadata, cx.reborrow()) {
            switch.reject(now, from, &rejected, cx.reborrow());
        }
    }
}

/// [`SwitchKind::run`]: the loop that was made for the slots of an event queue, one of these numbers of slots, or the
/// most that there can be.
macro_rules! runs_for_slots {
    ($($slots:literal)*) => {
        fn run(
            &mut self,
            events: &mut $crate::event_queue::EventQueue,
            horizon: $crate::event_queue::Key,
            net: &mut $crate::net::Net,
        ) {
            use $crate::event_queue::MAX_SLOTS;
            use $crate::switch::run_sized;
            match events.slots() {
                $($slots => run_sized::<_, { 2 * $slots }>(self, events.sized(), horizon, net),)*
                _ => run_sized::<_, { 2 * MAX_SLOTS }>(self, events.sized(), horizon, net),
            }
        }
    };
}
pub(crate) use runs_for_slots;

/// Slots that the event queue of a chip, or of a switch that pauses, may have, unless it needs more: each number has a
/// copy of the loop.
const CHIP_SLOTS: [usize; 2] = [32, 256];

/// Those of a plain switch. Each number has a copy of the loop for every policy.
const PLAIN_SLOTS: [usize; 3] = [16, 64, 256];

/// The slots of a node's event queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) count: usize,
    /// That of the arrivals at its first port; those of its other ports follow.
    pub(crate) first_arrival: usize,
}

/// One of the kinds.
pub(crate) enum Switch {
    Fifo(FifoSwitch),
    Plain(Box<dyn SwitchKind>),
    Mirror(MirrorSwitch),
    Scripted(ScriptedSwitch),
    Chip(Box<ChipSwitch>),
    Lossless(Box<LosslessSwitch>),
}

/// The same of every kind.
macro_rules! each_kind {
    ($switch:expr, $kind:ident => $what:expr) => {
        match $switch {
            Self::Fifo($kind) => $what,
            Self::Plain($kind) => $what,
            Self::Mirror($kind) => $what,
            Self::Scripted($kind) => $what,
            Self::Chip($kind) => $what,
            Self::Lossless($kind) => $what,
        }
    };
}

impl Switch {
    /// `out` are the links that its ports send on. Those that they receive from stand together, from `first_incoming`
    /// on; recirculation links follow. A packet may be put on the wire long before it is sent if nobody would `watch`
    /// it meanwhile.
    pub(crate) fn new(
        number: u32,
        setup: &SwitchSetup,
        (out, first_incoming): (&[u32], u32),
        seed: u64,
        watch: bool,
    ) -> Self {
        let forwarding = Forwarding::new(number, setup, out, first_incoming, seed);
        let plain = |forwarding| PlainSwitch::new(forwarding, setup, traffic_managers(setup));
        if let Some(script) = &setup.script {
            return Self::Scripted(ScriptedSwitch::new(plain(forwarding), script));
        }
        if let Some(chip) = &setup.chip {
            return Self::Chip(Box::new(ChipSwitch::new(plain(forwarding), chip, seed)));
        }
        if let Some(ingress) = &setup.ingress {
            return Self::Lossless(Box::new(LosslessSwitch::new(forwarding, setup, ingress)));
        }
        if let Some(mirror) = &setup.mirror {
            return Self::Mirror(MirrorSwitch::new(plain(forwarding), mirror));
        }
        if Self::is_fifo(setup, watch) {
            return Self::Fifo(FifoSwitch::new(forwarding, setup));
        }
        Self::Plain(specialize(traffic_managers(setup), Specialize { forwarding, setup }))
    }

    /// Whether it is known on arrival when packets leave, and nobody would `watch` them meanwhile.
    fn is_fifo(setup: &SwitchSetup, watch: bool) -> bool {
        let is_plain =
            setup.script.is_none() && setup.chip.is_none() && setup.ingress.is_none() && setup.mirror.is_none();
        is_plain && !watch && setup.buffers.iter().all(FifoTm::suits)
    }

    /// The slots of its event queue. A switch of FIFOs has arrivals only. Others have the ends of transmissions in the
    /// lower half, arrivals in the upper half; ports inside the switch come last in both. Switches that mirror or play
    /// a script have all there can be, the others one of a few numbers.
    pub(crate) fn slots(ports: usize, setup: &SwitchSetup, watch: bool) -> Slots {
        if Self::is_fifo(setup, watch) {
            return Slots { count: ports.next_power_of_two(), first_arrival: 0 };
        }
        let one_of =
            |sizes: &[usize], needed| sizes.iter().copied().find(|slots| needed <= *slots).unwrap_or(MAX_SLOTS);
        let count = if let Some(chip) = &setup.chip {
            one_of(&CHIP_SLOTS, 2 * (ports + chip.inside(ports)))
        } else if setup.ingress.is_some() {
            one_of(&CHIP_SLOTS, 2 * (ports + 1))
        } else if setup.mirror.is_some() || setup.script.is_some() {
            MAX_SLOTS
        } else {
            one_of(&PLAIN_SLOTS, 2 * ports)
        };
        Slots { count, first_arrival: count / 2 }
    }

    /// Handles all events before the horizon.
    pub(crate) fn run(&mut self, events: &mut EventQueue, horizon: Key, net: &mut Net) {
        each_kind!(self, kind => kind.run(events, horizon, net));
        if let Self::Fifo(switch) = self {
            switch.window_over(net);
        }
    }

    /// Its ports and its forwarding table.
    pub(crate) fn forwarding(&self) -> &Forwarding {
        each_kind!(self, kind => kind.forwarding())
    }

    /// Its ports and its forwarding table, to be changed.
    pub(crate) fn forwarding_mut(&mut self) -> &mut Forwarding {
        each_kind!(self, kind => kind.forwarding_mut())
    }

    /// See [`SwitchKind::look_ahead`].
    pub(crate) fn look_ahead(&self) {
        each_kind!(self, kind => kind.look_ahead());
    }

    /// What can be seen of a buffer.
    pub(crate) fn view(&self, buffer: usize) -> &dyn View {
        each_kind!(self, kind => kind.view(buffer))
    }

    /// What can be seen of all buffers.
    pub(crate) fn views(&self) -> impl Iterator<Item = &dyn View> {
        (0..self.forwarding().at_drops.len()).map(|buffer| self.view(buffer))
    }

    /// See [`SwitchKind::settle_before`].
    pub(crate) fn settle_before(&mut self, until: Instant, net: &mut Net) {
        each_kind!(self, kind => kind.settle_before(until, net));
    }

    /// See [`SwitchKind::end`].
    pub(crate) fn end(&mut self, at: Instant) {
        each_kind!(self, kind => kind.end(at));
    }

    /// What it has seen of the flows of its script, if it plays one.
    pub(crate) fn seen_of_script(&mut self) -> Vec<Event> {
        if let Self::Scripted(switch) = self { switch.seen() } else { Vec::new() }
    }

    /// What its chip has seen, if it is one.
    pub(crate) fn chip_record(&self) -> Option<ChipRecord> {
        if let Self::Chip(switch) = self { Some(switch.record()) } else { None }
    }

    /// What it has paused and what was paused, up to the end, if it pauses.
    pub(crate) fn pause_records(&mut self, end: Instant) -> Option<PauseRecords> {
        if let Self::Lossless(switch) = self { Some(switch.records(end)) } else { None }
    }

    /// What waits at it for others, and for what others wait, if it pauses.
    pub(crate) fn waits(&mut self, now: Instant) -> Option<Waits> {
        if let Self::Lossless(switch) = self { Some(switch.waits(now)) } else { None }
    }

    /// Its packet generators, if it is a chip: their slots, and when they are due first.
    pub(crate) fn generators(&self) -> Vec<(usize, Instant)> {
        if let Self::Chip(switch) = self { switch.generators().collect() } else { Vec::new() }
    }

    /// Its recirculation ports, if it mirrors.
    pub(crate) fn recirculation(&self) -> Vec<RecirculationRecord> {
        if let Self::Mirror(switch) = self { switch.records().collect() } else { Vec::new() }
    }
}
