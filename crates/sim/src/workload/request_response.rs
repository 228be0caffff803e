//! Closed loop: a client asks, waits for the response, thinks and asks again.

use super::WorkloadSettings;
use super::distribution::SizeDistribution;
use super::pattern::hosts_or_all;
use super::pattern::{Destinations, Pattern, Reach};
use super::planner::{Draft, Planner, span_below};
use super::read::Reader;
use crate::flow::Session;
use forebay_settings::Diagnostic;
use forebay_tm::described::{Field, Kind};
use forebay_tm::{Bytes, Duration};
use std::sync::Arc;

/// Settings of closed-loop clients.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResponseConfig {
    /// Who asks; `None` is all hosts.
    pub clients: Option<Vec<u32>>,
    /// Who is asked, each as likely as another, but never the client itself; `None` is all hosts.
    pub servers: Option<Vec<u32>>,
    /// Payload of a request.
    pub request: Bytes,
    /// Sizes of responses.
    pub response: SizeDistribution,
    /// Mean time from a response to the next request.
    pub think: Duration,
    /// The thinking time is always the same; otherwise it is exponential.
    pub think_constant: bool,
    /// Sessions of each client, one beside the other.
    pub sessions: u32,
    /// First requests start within so much time, drawn evenly.
    pub spread: Duration,
}

impl WorkloadSettings for RequestResponseConfig {
    const FIELDS: &'static [&'static [Field]] = &[&[
        Field::optional("clients", Kind::Special("hosts"), "Who asks; default all."),
        Field::optional("servers", Kind::Special("hosts"), "Who is asked; default all."),
        Field::needed("request", Kind::Bytes, "Payload of a request."),
        Field::needed("sizes", Kind::Special("size distribution"), "Sizes of the responses."),
        Field::optional(
            "interpolation",
            Kind::Special("`\"linear\"`, `\"step\"`"),
            "Between the points of a size distribution; default what its source says.",
        ),
        Field::optional("think", Kind::Duration, "Mean time from a response to the next request; default 0."),
        Field::optional(
            "think_time",
            Kind::Special("`\"exponential\"`, `\"constant\"`"),
            "How it is drawn; default `\"exponential\"`.",
        ),
        Field::optional("sessions", Kind::Count, "Sessions of each client, one beside the other; default 1."),
        Field::optional("spread", Kind::Duration, "First requests start within so much time; default 0."),
    ]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let config = Self {
            clients: reader.hosts.hosts(reader.table, "clients")?,
            servers: reader.hosts.hosts(reader.table, "servers")?,
            request: reader.need_size("request")?,
            response: reader.sizes("sizes")?,
            think: reader.duration("think", Duration::ZERO)?,
            think_constant: reader
                .optional("think_time", false, |value| value.word(&[("exponential", false), ("constant", true)]))?,
            sessions: reader.count("sessions", 1)?,
            spread: reader.duration("spread", Duration::ZERO)?,
        };
        let pattern = Pattern { from: config.clients.clone(), to: config.servers.clone(), reach: Reach::Uniform };
        let destinations = Destinations::new(&pattern, &reader.hosts.racks);
        let lonely = destinations.senders().iter().find(|host| destinations.count(&reader.hosts.racks, **host) == 0);
        match (lonely, reader.get("servers").or_else(|| reader.get("kind"))) {
            (Some(host), Some(value)) => {
                Err(value.error(format!("host {host} has no server but itself"), "give another server"))
            }
            _ => Ok(config),
        }
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let config = planner.config;
        let servers: Arc<[u32]> = hosts_or_all(self.servers.as_deref(), planner.racks).into();
        let mut draft = Draft::default();
        for client in hosts_or_all(self.clients.as_deref(), planner.racks) {
            let own = servers.iter().position(|server| *server == client);
            if servers.len() == usize::from(own.is_some()) {
                continue;
            }
            let mut spread = planner.stream("spread", client);
            for _ in 0..self.sessions {
                draft.sessions.push(Session {
                    client,
                    servers: Arc::clone(&servers),
                    own,
                    request_bytes: self.request.get(),
                    response: self.response.clone(),
                    think: self.think,
                    think_constant: self.think_constant,
                    until: config.stop,
                    class: config.class,
                    transport: config.transport,
                    workload: planner.index(),
                    start: config.start + span_below(self.spread, &mut spread),
                });
            }
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        reader.members(&self.clients) * f64::from(self.sessions)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WorkloadKind;
    use super::super::testing::{one_switch, plan_of};
    use super::*;
    use forebay_tm::Instant;

    #[test]
    fn clients_have_sessions_with_others() {
        let kind = RequestResponseConfig {
            clients: Some(vec![0, 3]),
            servers: Some(vec![2, 3]),
            request: Bytes::new(100),
            response: SizeDistribution::bundled("websearch").unwrap(),
            think: Duration::from_us(10),
            think_constant: true,
            sessions: 2,
            spread: Duration::from_us(1),
        };
        let plan = plan_of(WorkloadKind::RequestResponse(kind), 1, &one_switch(4), 1);
        assert!(plan.flows.is_empty());
        let picked = |session: &Session| [0.0, 0.4, 0.5, 0.999].map(|draw| session.server(draw));
        let of: Vec<_> = plan.sessions.iter().map(|session| (session.client, picked(session))).collect();
        assert_eq!(of, [(0, [2, 2, 3, 3]), (0, [2, 2, 3, 3]), (3, [2; 4]), (3, [2; 4])]);
        let shared = |session: &Session| Arc::ptr_eq(&session.servers, &plan.sessions[0].servers);
        assert!(plan.sessions.iter().all(shared), "one list for all");
        for session in &plan.sessions {
            assert_eq!((session.until, session.class), (Instant::from_ps(1_000_000_000), 1));
            assert!(session.start.ps() < 1_000_000);
        }
    }
}
