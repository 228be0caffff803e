//! The agents of all hosts: started, told when to begin, and listened to.

use crate::clock;
use crate::error::{self, Result};
use crate::job::Job;
use crate::layout::Layout;
use crate::notes::Note;
use crate::program::{cannot_start, in_namespace};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long agents may take to get ready: they open all connections.
const PATIENCE: Duration = Duration::from_secs(30);
/// From the word to go to the start, in nanoseconds.
const HEAD_START: u64 = 100_000_000;

/// What datagrams of a flow there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Sent; none if the sender did not say.
    pub sent: Option<u64>,
    /// Arrived whole.
    pub whole: u64,
    /// Arrived as headers.
    pub headers: u64,
    /// Arrived a second time.
    pub again: u64,
}

/// What the agents have told. Times are nanoseconds from the start.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// When flows started.
    pub started: BTreeMap<u32, u64>,
    /// When they had arrived.
    pub ended: BTreeMap<u32, u64>,
    /// When their senders knew it.
    pub acked: BTreeMap<u32, u64>,
    /// Segments that were sent again, and retransmission timeouts, as the senders' kernels count them.
    pub repeated: BTreeMap<u32, (u32, u32)>,
    /// How far they had come: flow, time, bytes.
    pub progress: Vec<(u32, u64, u64)>,
    /// Flows of datagrams.
    pub datagrams: BTreeMap<u32, Datagrams>,
    /// Requests of sessions: session, server, bytes, times.
    pub asked: Vec<(u32, usize, u64, [u64; 3])>,
    /// What could not be done.
    pub failures: Vec<String>,
}

impl Observed {
    /// Takes in what an agent has said.
    pub fn hear(&mut self, note: Note) {
        match note {
            Note::Ready => {}
            Note::Started(flow, at) => drop(self.started.insert(flow, at)),
            Note::Ended(flow, at) => drop(self.ended.insert(flow, at)),
            Note::Acked(flow, at) => drop(self.acked.insert(flow, at)),
            Note::Repeated(flow, again, timeouts) => drop(self.repeated.insert(flow, (again, timeouts))),
            Note::Progress(flow, at, bytes) => self.progress.push((flow, at, bytes)),
            Note::Sent(flow, packets) => self.datagrams.entry(flow).or_default().sent = Some(packets),
            Note::Got(flow, whole, headers, again) => {
                let own = self.datagrams.entry(flow).or_default();
                (own.whole, own.headers, own.again) = (whole, headers, again);
            }
            Note::Asked(session, server, bytes, times) => self.asked.push((session, server, bytes, times)),
            Note::Failed(text) => self.failures.push(text),
        }
    }
}

struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
}

/// All agents.
pub struct Fleet {
    agents: Vec<Agent>,
    heard: Receiver<Option<Note>>,
    origin: u64,
    observed: Observed,
}

impl Fleet {
    /// Starts an agent on every host, and has them open the connections that are to be open beforehand.
    pub fn start(forebay: &str, layout: &Layout, job: &Job, directory: &Path) -> Result<Self> {
        let path = directory.join("job");
        std::fs::write(&path, job.to_text()).map_err(|error| error::of_file(&path, "write", &error))?;
        let (tell, heard) = channel();
        let mut fleet = Self { agents: Vec::new(), heard, origin: 0, observed: Observed::default() };
        for (number, host) in layout.hosts.iter().take(job.hosts.len()).enumerate() {
            let mut command = in_namespace(&host.namespace, forebay);
            command.args(["lab", "agent"]).arg(&path).arg(number.to_string());
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(|error| cannot_start("ip", &error))?;
            if let Some(stdout) = child.stdout.take() {
                let tell = tell.clone();
                std::thread::spawn(move || listen(BufReader::new(stdout), number, &tell));
            }
            let stdin = child.stdin.take();
            fleet.agents.push(Agent { child, stdin });
        }
        fleet.wait_for_all("start")?;
        fleet.tell("connect\n")?;
        fleet.wait_for_all("open their connections")?;
        Ok(fleet)
    }

    fn tell(&mut self, line: &str) -> Result<()> {
        for agent in &mut self.agents {
            let told = agent.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(line.as_bytes()));
            told.map_err(|error| error::problem(format_args!("an agent is gone: {error}"), "try again"))?;
        }
        Ok(())
    }

    fn wait_for_all(&mut self, doing: &str) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        let mut ready = 0;
        while ready < self.agents.len() {
            let left = end.saturating_duration_since(Instant::now());
            match self.heard.recv_timeout(left) {
                Ok(Some(Note::Ready)) => ready += 1,
                Ok(Some(note)) => self.observed.hear(note),
                Ok(None) | Err(_) => {
                    let why = self.observed.failures.join("; ");
                    let (done, all) = (ready, self.agents.len());
                    return Err(error::problem(
                        format_args!("only {done} of {all} agents could {doing}: {why}"),
                        "see whether the switch forwards: forebay lab exec h1 ping 10.0.0.2",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Starts the experiment. Returns when it starts, by the machine's clock.
    pub fn go(&mut self) -> Result<u64> {
        self.origin = clock::now() + HEAD_START;
        let line = format!("go {}\n", self.origin);
        self.tell(&line)?;
        Ok(self.origin)
    }

    /// Listens until a time of the experiment, or until `done` says that there is nothing more to wait for.
    pub fn listen_until(&mut self, at: u64, done: &mut dyn FnMut(&Observed, u64) -> bool) {
        loop {
            let now = clock::now().saturating_sub(self.origin);
            if now >= at || done(&self.observed, now) {
                return;
            }
            let wait = Duration::from_nanos(at - now).min(Duration::from_millis(50));
            match self.heard.recv_timeout(wait) {
                Ok(Some(note)) => self.observed.hear(note),
                Ok(None) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Stops all agents and returns what they have told.
    pub fn stop(mut self) -> Observed {
        // One that is gone needs not be told.
        let _ = self.tell("stop\n");
        let end = Instant::now() + Duration::from_secs(5);
        let mut open = self.agents.len();
        while open > 0 {
            match self.heard.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Some(note)) => self.observed.hear(note),
                Ok(None) => open -= 1,
                Err(_) => break,
            }
        }
        std::mem::take(&mut self.observed)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // They may have ended by themselves.
            let _ = agent.child.kill();
            let _ = agent.child.wait();
        }
    }
}

/// Hands on what an agent says, and at the end that it has ended.
fn listen(lines: impl BufRead, number: usize, tell: &Sender<Option<Note>>) {
    for line in lines.lines() {
        let Ok(line) = line else { break };
        let note = Note::parse(&line).unwrap_or_else(|| Note::Failed(format!("agent {number} said: {line}")));
        if tell.send(Some(note)).is_err() {
            return;
        }
    }
    // Nobody may be listening any more.
    let _ = tell.send(None);
}
