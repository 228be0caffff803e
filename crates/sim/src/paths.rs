//! The way of a flow through the network, and what it would take if nothing else were there.

use crate::flow::FlowSpec;
use crate::flows::{Flow, FlowTable};
use crate::ideal;
use crate::measure::QueryRecord;
use crate::network::NetworkPlan;
use crate::routing::{Addresses, Alive, Ports, Routes, choose};
use crate::scenario::Scenario;
use crate::transport::{Common, FlowInfo};
use forebay_tm::random::mix;
use forebay_tm::{Duration, Rate};

/// Which links there are: constant during a run.
pub(crate) struct Fabric {
    hosts: usize,
    /// For each node, the far end of each port with the rate and delay of the link.
    ports: Vec<Vec<(u32, Rate, Duration)>>,
    routes: Routes,
    salts: Vec<u32>,
}

/// What a flow's way tells of it.
pub(crate) struct Facts {
    /// The time until its last byte has arrived, if it is alone.
    pub(crate) ideal: Duration,
    /// The time from sending a full packet until its reply is back.
    pub(crate) base_rtt: Duration,
    /// The same for a header alone.
    pub(crate) open_rtt: Duration,
    /// The rate of the sender's link.
    pub(crate) rate: Rate,
}

/// What a switch salts its choices with.
pub(crate) fn switch_salt(seed: u64, switch: u32) -> u32 {
    mix(seed ^ mix(0x5a17 + u64::from(switch))) as u32
}

/// The path from one host to another in an empty network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPath {
    /// Links on it.
    pub links: usize,
    /// The time from sending a full packet until its reply is back.
    pub base_rtt: Duration,
    /// The lowest rate on it.
    pub bottleneck: Rate,
}

/// The path from one host to another for packets of a transport.
pub fn path_between(scenario: &Scenario, from: u32, to: u32, common: &Common) -> HostPath {
    let ports = Ports::new(&scenario.network);
    let addresses = Addresses::new(&scenario.network, &ports);
    let routes = Routes::new(&scenario.network, &ports, &addresses, &Alive::all(&scenario.network));
    let fabric = Fabric::new(&scenario.network, routes, scenario.seed);
    let (forward, backward) = (fabric.path(from, to, 0), fabric.path(to, from, 0));
    HostPath {
        links: forward.len(),
        base_rtt: ideal::base_rtt(&forward, &backward, common.mss + common.header, common.ack_bytes),
        bottleneck: forward.iter().map(|(rate, _)| *rate).min().unwrap_or_default(),
    }
}

impl Fabric {
    pub(crate) fn new(plan: &NetworkPlan, routes: Routes, seed: u64) -> Self {
        let mut ports = vec![Vec::new(); plan.nodes()];
        for cable in &plan.cables {
            ports[cable.a as usize].push((cable.b, cable.rate, cable.delay));
            ports[cable.b as usize].push((cable.a, cable.rate, cable.delay));
        }
        let salts = (0..plan.switches.len() as u32).map(|switch| switch_salt(seed, switch)).collect();
        Self { hosts: plan.hosts.len(), ports, routes, salts }
    }

    /// The rate of a host's link.
    pub(crate) fn host_rate(&self, host: u32) -> Rate {
        self.ports[host as usize].first().map_or(Rate::default(), |(_, rate, _)| *rate)
    }

    /// The links from one host to another, as a packet with this hash goes while everything works.
    pub(crate) fn path(&self, from: u32, to: u32, hash: u32) -> Vec<(Rate, Duration)> {
        let (mut node, rate, delay) = self.ports[from as usize][0];
        let mut path = vec![(rate, delay)];
        while node != to {
            let switch = node as usize - self.hosts;
            let ways = self.routes.ports(switch, to);
            if ways.is_empty() {
                break;
            }
            let port = usize::from(ways[choose(hash, self.salts[switch], ways.len())]);
            let (next, rate, delay) = self.ports[node as usize][port];
            path.push((rate, delay));
            node = next;
        }
        path
    }

    /// Fills in how long each query would take on the empty network: see [`ideal::ideal_query`]. If its responses wait
    /// for requests (`(request, response)` in `triggers`), the fastest request comes before.
    pub(crate) fn ideal_queries(&self, flows: &FlowTable, triggers: &[(u32, u32)], queries: &mut [QueryRecord]) {
        let mut requests = vec![Duration::from_ps(u64::MAX); queries.len()];
        for (request, response) in triggers {
            let query = flows.records[*response as usize].spec.query;
            if let Some(first) = requests.get_mut(query as usize) {
                *first = (*first).min(flows.records[*request as usize].ideal);
            }
        }
        let mut responses: Vec<Vec<usize>> = vec![Vec::new(); queries.len()];
        for (number, record) in flows.records.iter().enumerate() {
            if let Some(responses) = responses.get_mut(record.spec.query as usize) {
                responses.push(number);
            }
        }
        for ((query, responses), request) in queries.iter_mut().zip(&responses).zip(&requests) {
            let paths: Vec<_> = responses.iter().map(|number| self.response(*number, flows)).collect();
            let responses = paths.iter().map(|(path, packets, full_bytes, last_bytes)| ideal::Response {
                path,
                packets: *packets,
                full_bytes: *full_bytes,
                last_bytes: *last_bytes,
            });
            query.ideal = ideal::ideal_query(responses);
            if request.ps() != u64::MAX {
                query.ideal = Duration::from_ps(query.ideal.ps().saturating_add(request.ps()));
            }
        }
    }

    /// The path of a flow, its packets, and the bytes of a full one and of the last.
    fn response(&self, number: usize, flows: &FlowTable) -> (Vec<(Rate, Duration)>, u32, u32, u32) {
        let (flow, spec) = (&flows.flows[number], &flows.records[number].spec);
        let common = &flows.transports[usize::from(flow.transport)].common;
        let last = last_bytes(spec.bytes, flow.packets, common);
        (self.path(spec.src, spec.dst, flow.hash), flow.packets, common.mss + common.header, last)
    }

    /// What a flow would take alone.
    pub(crate) fn facts(&self, flow: &Flow, spec: &FlowSpec, common: &Common) -> Facts {
        let forward = self.path(spec.src, spec.dst, flow.hash);
        let backward = self.path(spec.dst, spec.src, flow.ack_hash);
        let full = common.mss + common.header;
        let ideal = if spec.bytes == FlowInfo::ENDLESS {
            Duration::ZERO
        } else {
            ideal::ideal_fct(&forward, flow.packets, full, last_bytes(spec.bytes, flow.packets, common))
        };
        let base_rtt = ideal::base_rtt(&forward, &backward, full, common.ack_bytes);
        let open_rtt = ideal::base_rtt(&forward, &backward, common.header, common.ack_bytes);
        Facts { ideal, base_rtt, open_rtt, rate: forward[0].0 }
    }
}

/// The length on the wire of the last packet of a flow.
fn last_bytes(bytes: u64, packets: u32, common: &Common) -> u32 {
    (bytes - u64::from(packets - 1) * u64::from(common.mss)) as u32 + common.header
}
