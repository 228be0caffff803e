//! What the hosts of an experiment are to do: the flows of a plan as text, one line each, for the agents in the namespaces.

use std::fmt::Write;
use std::net::Ipv4Addr;

/// All that the agents must know. Times are nanoseconds from the start of the experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

const NOTHING: &str = "-";

fn word(text: &str) -> &str {
    if text.is_empty() { NOTHING } else { text }
}

impl Job {
    /// As text.
    pub fn to_text(&self) -> String {
        let mut out = format!("sample {}\n", self.sample);
        for host in &self.hosts {
            let _ = writeln!(out, "host {host}");
        }
        for flow in &self.flows {
            let JobFlow { start, src, dst, dscp, waits, until, .. } = flow;
            let bytes = flow.bytes.map_or_else(|| NOTHING.to_owned(), |bytes| bytes.to_string());
            let progress = u8::from(flow.progress);
            let _ = write!(out, "flow {start} {src} {dst} {bytes} {dscp} {waits} {until} {progress} ");
            let _ = match &flow.kind {
                JobKind::Tcp { congestion_control, ack_dscp, ahead } => {
                    writeln!(out, "tcp {} {ack_dscp} {}", word(congestion_control), u8::from(*ahead))
                }
                JobKind::Udp { payload, header, rate, rank } => writeln!(out, "udp {payload} {header} {rate} {rank}"),
            };
        }
        for (before, after) in &self.triggers {
            let _ = writeln!(out, "after {before} {after}");
        }
        for session in &self.sessions {
            let JobSession { client, start, until, request, dscp, congestion_control, .. } = session;
            let _ = writeln!(out, "session {client} {start} {until} {request} {dscp} {}", word(congestion_control));
            for (server, bytes, think) in &session.asks {
                let _ = writeln!(out, "ask {server} {bytes} {think}");
            }
        }
        out
    }

    /// Reads the text again; an error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut job = Self::default();
        for (number, line) in text.lines().enumerate() {
            job.line(line).ok_or_else(|| format!("line {}: cannot be read: {line}", number + 1))?;
        }
        let hosts = job.hosts.len();
        let flows = job.flows.len() as u32;
        let fits = job.flows.iter().all(|flow| flow.src < hosts && flow.dst < hosts)
            && job.triggers.iter().all(|(a, b)| *a < flows && *b < flows)
            && job.sessions.iter().all(|own| own.client < hosts && own.asks.iter().all(|(server, ..)| *server < hosts));
        if fits { Ok(job) } else { Err("a host or a flow that is named is not there".to_owned()) }
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        let mut next = || words.next();
        match next()? {
            "sample" => self.sample = next()?.parse().ok()?,
            "host" => self.hosts.push(next()?.parse().ok()?),
            "after" => self.triggers.push((next()?.parse().ok()?, next()?.parse().ok()?)),
            "ask" => {
                let ask = (next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?);
                self.sessions.last_mut()?.asks.push(ask);
            }
            "session" => self.sessions.push(JobSession {
                client: next()?.parse().ok()?,
                start: next()?.parse().ok()?,
                until: next()?.parse().ok()?,
                request: next()?.parse().ok()?,
                dscp: next()?.parse().ok()?,
                congestion_control: next()?.replace(NOTHING, ""),
                asks: Vec::new(),
            }),
            "flow" => self.flows.push(JobFlow {
                start: next()?.parse().ok()?,
                src: next()?.parse().ok()?,
                dst: next()?.parse().ok()?,
                bytes: match next()? {
                    NOTHING => None,
                    bytes => Some(bytes.parse().ok()?),
                },
                dscp: next()?.parse().ok()?,
                waits: next()?.parse().ok()?,
                until: next()?.parse().ok()?,
                progress: next()? == "1",
                kind: match next()? {
                    "tcp" => JobKind::Tcp {
                        congestion_control: next()?.replace(NOTHING, ""),
                        ack_dscp: next()?.parse().ok()?,
                        ahead: next()? == "1",
                    },
                    "udp" => JobKind::Udp {
                        payload: next()?.parse().ok()?,
                        header: next()?.parse().ok()?,
                        rate: next()?.parse().ok()?,
                        rank: next()?.parse().ok()?,
                    },
                    _ => return None,
                },
            }),
            _ => return None,
        }
        next().is_none().then_some(())
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
            ("flow 1 2".to_owned(), "line 1"),
            (good.replace("tcp", "sctp"), "line 4"),
            (good.replace("host 10.0.0.2\n", ""), "not there"),
            (format!("{good}ask 0 1\n"), "cannot be read: ask 0 1"),
            (format!("{good}host 10.0.0.3 more\n"), "more"),
        ] {
            assert!(Job::parse(&bad).unwrap_err().contains(said), "{bad}");
        }
    }
}
