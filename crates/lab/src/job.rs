//! What the hosts of an experiment are to do: the flows of a plan as JSON, for the agents in the namespaces.

use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// All that the agents must know. Times are nanoseconds from the start of the experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The hosts' addresses, in the order of their numbers.
    pub hosts: Vec<Ipv4Addr>,
    /// How often progress is noted.
    pub sample: u64,
    /// The flows; their places are their numbers.
    pub flows: Vec<JobFlow>,
    /// `(a, b)`: flow `b` waits for flow `a`.
    pub triggers: Vec<(u32, u32)>,
    /// Clients that ask, wait, think and ask again.
    pub sessions: Vec<JobSession>,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFlow {
    /// When it starts; if it waits for others, how long after the last of them.
    pub start: u64,
    /// The sending host.
    pub src: usize,
    /// The receiving host.
    pub dst: usize,
    /// Payload; none: without end, until `until`.
    pub bytes: Option<u64>,
    /// The code point of its packets.
    pub dscp: u8,
    /// Flows that it waits for.
    pub waits: u16,
    /// When it stops if it has no end.
    pub until: u64,
    /// How far it has come is noted.
    pub progress: bool,
    /// TCP or UDP.
    pub kind: JobKind,
}

/// What carries a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobKind {
    /// A connection of the kernel's TCP.
    Tcp {
        /// Its congestion control; empty: the host's.
        congestion_control: String,
        /// The code point of its acknowledgements.
        ack_dscp: u8,
        /// It is opened before the experiment starts.
        ahead: bool,
    },
    /// Datagrams at a constant rate.
    Udp {
        /// Payload of each.
        payload: u32,
        /// What each has beside on the wire, for the rate.
        header: u32,
        /// Bits a second.
        rate: u64,
        /// What is written in front of each.
        rank: u32,
    },
}

/// A closed-loop client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobSession {
    /// The client's host.
    pub client: usize,
    /// The first request.
    pub start: u64,
    /// No request starts from here on.
    pub until: u64,
    /// Bytes of a request.
    pub request: u64,
    /// The code point of its packets.
    pub dscp: u8,
    /// Its congestion control; empty: the host's.
    pub congestion_control: String,
    /// What it asks for, in order: the server, the bytes of the answer, the time that it thinks afterwards.
    pub asks: Vec<(usize, u64, u64)>,
}

impl Job {
    /// As text.
    pub fn to_text(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// Reads the text again; an error says where it is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let job: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let hosts = job.hosts.len();
        let flows = job.flows.len() as u32;
        let fits = job.flows.iter().all(|flow| flow.src < hosts && flow.dst < hosts)
            && job.triggers.iter().all(|(a, b)| *a < flows && *b < flows)
            && job.sessions.iter().all(|own| own.client < hosts && own.asks.iter().all(|(server, ..)| *server < hosts));
        if fits { Ok(job) } else { Err("a host or a flow that is named is not there".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        let tcp = JobFlow {
            start: 5,
            src: 0,
            dst: 1,
            bytes: Some(10_000),
            dscp: 1,
            waits: 0,
            until: u64::MAX,
            progress: true,
            kind: JobKind::Tcp { congestion_control: "cubic".to_owned(), ack_dscp: 2, ahead: true },
        };
        let udp = JobFlow {
            bytes: None,
            src: 1,
            dst: 0,
            waits: 1,
            progress: false,
            kind: JobKind::Udp { payload: 1_400, header: 42, rate: 50_000_000, rank: 7 },
            ..tcp.clone()
        };
        let session = JobSession {
            client: 1,
            start: 0,
            until: 9,
            request: 100,
            dscp: 0,
            congestion_control: String::new(),
            asks: vec![(0, 1_000, 3), (0, 2_000, 4)],
        };
        Job {
            hosts: vec![Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)],
            sample: 1_000,
            flows: vec![tcp, udp],
            triggers: vec![(0, 1)],
            sessions: vec![session],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(Job::parse(&job().to_text()), Ok(job()));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let good = job().to_text();
        for (bad, said) in [
            (good[1..].to_owned(), "expected"),
            (good.replace("Tcp", "Sctp"), "unknown variant `Sctp`"),
            (good.replace(",\"10.0.0.2\"", ""), "not there"),
            (good.replace("[0,1000,3]", "[0,1000]"), "a tuple of size 3"),
            (good.replace("10.0.0.2", "10.0.0.2 more"), "invalid IPv4 address"),
            (good.replace("\"until\"", "\"till\""), "missing field `until`"),
        ] {
            assert!(Job::parse(&bad).unwrap_err().contains(said), "{bad}");
        }
    }
}
