//! Closed loop: a client asks, waits for the answer, thinks and asks again.

use super::distribution::SizeDistribution;
use super::pattern::hosts_or_all;
use super::planner::{Draft, Planner, span_below};
use crate::flow::Session;
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
    /// Sizes of answers.
    pub response: SizeDistribution,
    /// Mean time from an answer to the next request.
    pub think: Duration,
    /// The thinking time is always the same; otherwise it is exponential.
    pub think_constant: bool,
    /// Sessions of each client, one beside the other.
    pub sessions: u32,
    /// First requests start within so much time, drawn evenly.
    pub spread: Duration,
}

impl RequestResponseConfig {
    pub(super) fn plan(&self, planner: &Planner<'_>) -> Draft {
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
