//! What happens when a flow has arrived: queries end, flows that waited for it start, clients ask again.

use crate::flow::{FlowRecord, FlowSpec, NONE, Session, TrafficPlan};
use crate::flows::{FlowTable, News};
use crate::measure::QueryRecord;
use crate::workload::exponential;
use forebay_tm::random::{Random, mix};
use forebay_tm::{Duration, Instant};
use std::sync::Arc;

/// A closed-loop client as it runs.
#[derive(Clone)]
struct Client {
    session: Session,
    random: Random,
    /// Requests so far.
    requests: u64,
    /// The size of the response to the request that is under way.
    response: u64,
}

/// Everything that depends on arrivals.
#[derive(Clone)]
pub(crate) struct Traffic {
    pub(crate) triggers: Arc<[(u32, u32)]>,
    clients: Vec<Client>,
    pub(crate) queries: Vec<QueryRecord>,
    /// Responses that each query still waits for.
    open: Vec<u32>,
    /// What starts next, for the host where a flow has arrived.
    next: Vec<(Instant, u32)>,
    /// Flows of the plan: those of closed-loop clients follow.
    pub(crate) planned: usize,
}

impl Traffic {
    pub(crate) fn new(plan: &TrafficPlan, seed: u64) -> Self {
        let clients = plan.sessions.iter().enumerate().map(|(number, session)| Client {
            session: session.clone(),
            random: Random::stream(seed, "session", number as u64),
            requests: 0,
            response: 0,
        });
        let queries = plan.queries.iter().map(|spec| QueryRecord {
            spec: *spec,
            end: Instant::NEVER,
            ideal: Duration::ZERO,
            drops: 0,
            trims: 0,
            timeouts: 0,
        });
        Self {
            triggers: plan.triggers.clone().into(),
            clients: clients.collect(),
            queries: queries.collect(),
            open: plan.queries.iter().map(|query| query.fan_in).collect(),
            next: Vec::new(),
            planned: plan.flows.len(),
        }
    }

    /// The first requests of all clients: flows to be planned.
    pub(crate) fn first_requests(&mut self, flows: &mut FlowTable) -> Vec<u32> {
        (0..self.clients.len())
            .map(|client| {
                let at = self.clients[client].session.start;
                self.request(client as u32, at, flows)
            })
            .collect()
    }

    /// A new request of a client.
    fn request(&mut self, number: u32, at: Instant, flows: &mut FlowTable) -> u32 {
        let client = &mut self.clients[number as usize];
        let session = &client.session;
        let server = session.server(client.random.unit());
        client.response = session.response.sample(client.random.unit());
        client.requests += 1;
        let spec = FlowSpec {
            start: at,
            src: session.client,
            dst: server,
            bytes: session.request_bytes,
            class: session.class,
            transport: session.transport,
            workload: session.workload,
            session: number,
            ..FlowSpec::default()
        };
        let name = session_name(number, client.requests, false);
        flows.add_later(spec, name, (client.requests, client.response))
    }

    /// The response to the request that has arrived.
    fn respond(&mut self, number: u32, at: Instant, request: &FlowSpec, flows: &mut FlowTable) -> u32 {
        let client = &self.clients[number as usize];
        let spec = FlowSpec {
            start: at,
            src: request.dst,
            dst: request.src,
            bytes: client.response,
            is_response: true,
            ..*request
        };
        flows.add_later(spec, session_name(number, client.requests, true), (0, 0))
    }

    /// Another partition has something to tell of a flow.
    pub(crate) fn hear(&mut self, news: News, flows: &mut FlowTable) {
        match news {
            News::Added { number, spec, name, asked } => {
                flows.put(number, spec, name);
                if !spec.is_response {
                    let client = &mut self.clients[spec.session as usize];
                    (client.requests, client.response) = asked;
                }
            }
            News::Kept(number) => flows.flows[number as usize].kept = true,
        }
    }

    /// Takes over the queries that have ended in a partition.
    pub(crate) fn join(&mut self, part: Self) {
        for (mine, theirs) in self.queries.iter_mut().zip(part.queries) {
            mine.end = mine.end.min(theirs.end);
        }
    }

    /// A flow has arrived whole. Returns the flows that start at the same host because of it, and when.
    pub(crate) fn arrived(
        &mut self,
        now: Instant,
        number: u32,
        spec: &FlowSpec,
        flows: &mut FlowTable,
    ) -> Vec<(Instant, u32)> {
        let mut next = core::mem::take(&mut self.next);
        next.clear();
        if spec.query != NONE {
            self.responded(now, spec);
        }
        let first = self.triggers.partition_point(|(done, _)| *done < number);
        for (_, waiting) in self.triggers[first..].iter().take_while(|(done, _)| *done == number) {
            let flow = &mut flows.flows[*waiting as usize];
            flow.waits_for -= 1;
            if flow.waits_for == 0 {
                // Its planned start is the time that it lets pass.
                let start = &mut flows.records[*waiting as usize].spec.start;
                *start = now + Duration::from_ps(start.ps());
                next.push((*start, *waiting));
            }
        }
        if spec.session != NONE {
            if spec.is_response {
                let client = &mut self.clients[spec.session as usize];
                let mean = client.session.think;
                let mean = mean.ps() as f64;
                let think = if client.session.think_constant { mean } else { exponential(&mut client.random, mean) };
                let at = now + Duration::from_ps(think as u64);
                if at < client.session.until {
                    next.push((at, self.request(spec.session, at, flows)));
                }
            } else {
                next.push((now, self.respond(spec.session, now, spec, flows)));
            }
        }
        next
    }

    /// Adds up what happened to the flows of every query.
    pub(crate) fn sum_up_queries(&mut self, records: &[FlowRecord]) {
        for record in records.iter().filter(|record| record.spec.query != NONE) {
            let query = &mut self.queries[record.spec.query as usize];
            query.drops += record.drops;
            query.trims += record.trims;
            query.timeouts += record.timeouts;
        }
    }

    fn responded(&mut self, now: Instant, spec: &FlowSpec) {
        // A request to a responder belongs to the query, too, but does not end it.
        let query = &mut self.queries[spec.query as usize];
        if spec.dst != query.spec.host {
            return;
        }
        let open = &mut self.open[spec.query as usize];
        *open -= 1;
        if *open == 0 {
            query.end = now;
        }
    }
}

/// What tells a flow of a session from all other flows.
fn session_name(session: u32, request: u64, is_response: bool) -> u64 {
    mix(0x5e55_1000 ^ mix(u64::from(session)) ^ mix(request * 2 + u64::from(is_response)))
}
