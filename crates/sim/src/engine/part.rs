//! A partition: some nodes of a network with what they share. In a run with one thread it is the whole network.

use super::layout::Layout;
use crate::event_queue::{Key, NEVER};
use crate::flow::NONE;
use crate::host::Host;
use crate::measure::drops::Drops;
use crate::net::Net;
use crate::switch::Switch;
use crate::wires::boundary::{Leaving, Mail};
use forebay_tm::Instant;
use std::sync::Arc;

pub(super) struct Part {
    pub(super) net: Net,
    /// Hosts and switches, each in the order of their numbers.
    pub(super) hosts: Vec<Host>,
    pub(super) switches: Vec<Switch>,
    /// The least time from one node to the next.
    pub(super) lookahead: u64,
    /// Windows of nodes since somebody has last looked.
    pub(super) windows: u32,
    /// The nodes that run in a window; empty in between.
    pub(super) due: Vec<u32>,
}

impl Part {
    /// Handles the events of all nodes, window by window, up to an instant, or until `windows` of nodes have been.
    /// Returns whether nothing is left before the instant.
    pub(super) fn run_until(&mut self, until: Instant, windows: u32) -> bool {
        while self.windows < windows {
            self.net.wires.see_to_epoch();
            if !self.run_window(until) {
                return true;
            }
        }
        false
    }

    /// Handles all events before an instant, while no epoch begins.
    fn run_before(&mut self, until: Instant) {
        while self.run_window(until) {}
    }

    /// All nodes that have events in the window that begins with the earliest one handle theirs, in the order in which
    /// they stand in memory. Returns false if there is no event before the instant.
    #[inline(always)]
    fn run_window(&mut self, until: Instant) -> bool {
        let first = self.net.wires.earliest();
        if first == NEVER {
            return false;
        }
        let barrier = self.net.wires.clock.horizon(until);
        let time = first.time();
        if time >= barrier {
            return false;
        }
        let horizon = Key::first_of((time + self.lookahead).min(barrier));
        let mut due = core::mem::take(&mut self.due);
        self.net.wires.take_due(horizon, &mut due);
        self.windows += due.len() as u32;
        for (place, node) in due.iter().enumerate() {
            if self.net.is_large {
                self.look_ahead(&due, place, horizon);
            }
            self.run_node(*node as usize, horizon);
        }
        due.clear();
        self.due = due;
        true
    }

    /// One node handles its events before the horizon.
    #[inline(always)]
    fn run_node(&mut self, node: usize, horizon: Key) {
        let mut events = self.net.wires.take_events(node);
        match self.hosts.get_mut(node) {
            Some(host) => host.run(&mut events, horizon, &mut self.net),
            None => self.switches[node - self.hosts.len()].run(&mut events, horizon, &mut self.net),
        }
        self.net.wires.return_events(node, events);
    }

    /// The time of the earliest event.
    pub(super) fn now(&self) -> Instant {
        let first = self.net.wires.earliest();
        if first == NEVER { Instant::NEVER } else { self.net.wires.clock.instant(first) }
    }

    /// The time of the earliest event, or of the first start of a transmission to another partition.
    pub(super) fn first_work(&self) -> Instant {
        self.now().min(self.net.wires.first_to_leave().1)
    }

    // ---- Several partitions
    // ------------------------------------------------------------------------------------------

    /// One of several partitions handles its events up to an instant. What leaves it until then is in the mail
    /// afterwards. `first` is the time of the earliest event of the whole network, by which epochs begin.
    pub(super) fn run_window_of_all(&mut self, first: Instant, until: Instant, out: &mut [Mail]) -> Leaving {
        let wires = &mut self.net.wires;
        if first < Instant::NEVER && wires.clock.must_move(first) {
            wires.move_epoch(first);
        }
        let until = wires.clock.in_epoch(until);
        self.run_before(until);
        let news = self.net.flows.take_news();
        if !news.is_empty() {
            out.iter_mut().for_each(|mail| mail.news.extend_from_slice(&news));
        }
        self.net.wires.depart(until, out)
    }

    /// Takes what another partition has sent.
    pub(super) fn receive(&mut self, mail: &mut Mail) {
        for news in mail.news.drain(..) {
            self.net.traffic.hear(news, &mut self.net.flows);
        }
        self.net.wires.arrive(mail);
    }

    /// Cuts a network into partitions, before anything has happened.
    pub(super) fn split(self, layout: &Layout) -> Vec<Self> {
        let Self { net, hosts, switches, lookahead, .. } = self;
        let first_switch = hosts.len();
        let Net { wires, flows, traffic, fabric, tracer, paths, watched, telemetry, seed, is_large, .. } = net;
        let nets = wires.split(layout).into_iter().zip(flows.split(layout.parts())).map(|(wires, flows)| Net {
            wires,
            flows,
            traffic: traffic.clone(),
            fabric: Arc::clone(&fabric),
            tracer: tracer.clone(),
            drops: Drops::default(),
            paths,
            watched,
            telemetry,
            seed,
            is_large,
            events: 0,
        });
        let part = |net| Self { net, hosts: Vec::new(), switches: Vec::new(), lookahead, windows: 0, due: Vec::new() };
        let mut parts: Vec<Self> = nets.map(part).collect();
        for (node, host) in hosts.into_iter().enumerate() {
            parts[layout.of_node(node)].hosts.push(host);
        }
        for (number, switch) in switches.into_iter().enumerate() {
            parts[layout.of_node(first_switch + number)].switches.push(switch);
        }
        parts
    }

    /// What is known of flows at the end of the run.
    pub(super) fn end_flows(&mut self, end: Instant) {
        let flows = &mut self.net.flows;
        for (number, flow) in flows.flows.iter().enumerate() {
            let record = &mut flows.records[number];
            if flow.waits_for > 0 || record.spec.start >= end {
                record.spec.start = Instant::NEVER;
            }
            if flow.sender != NONE {
                let machine = &flows.senders.get_mut(flow.sender).machine;
                let stats = machine.stats();
                record.probes = machine.loss_probes();
                record.retransmissions = stats.retransmissions;
                record.timeouts = stats.timeouts;
            }
            if flow.receiver != NONE {
                record.received = flows.receivers.get_mut(flow.receiver).machine.received();
            }
        }
    }

    /// Makes one network of all partitions again, to be looked at: it cannot run.
    pub(super) fn join(parts: Vec<Self>, layout: &Layout) -> Self {
        let (nodes, mut parts) = (parts.iter().map(|part| part.hosts.len()).sum::<usize>(), parts.into_iter());
        let mut whole = parts.next().expect("there is a partition");
        let mut hosts = vec![core::mem::take(&mut whole.hosts).into_iter()];
        let mut switches = vec![core::mem::take(&mut whole.switches).into_iter()];
        for (number, part) in (1..).zip(parts) {
            let Net { wires, flows, traffic, tracer, events, .. } = part.net;
            whole.net.wires.join(number, wires, layout);
            whole.net.flows.join(flows, |host| layout.of_node(host as usize) == number);
            whole.net.traffic.join(traffic);
            whole.net.tracer.join(tracer);
            whole.net.events += events;
            hosts.push(part.hosts.into_iter());
            switches.push(part.switches.into_iter());
        }
        let count = nodes + switches.iter().map(ExactSizeIterator::len).sum::<usize>();
        whole.hosts = (0..nodes).filter_map(|node| hosts[layout.of_node(node)].next()).collect();
        whole.switches = (nodes..count).filter_map(|node| switches[layout.of_node(node)].next()).collect();
        whole
    }
}
