//! What runs in a host's namespace: it sends the host's flows and receives those for it, and says what happened, a line
//! each.
//!
//! The agent is told what to do by lines on its standard input: `connect` opens the connections that are to be open
//! beforehand, `go T` starts the experiment at T nanoseconds of the machine's clock, `stop` ends it. Its own lines
//! ([`crate::notes`]) go to standard output.

mod session;
mod tcp;
mod udp;

use crate::clock;
use crate::job::{Job, JobFlow, JobKind};
use crate::notes::Note;
use std::collections::HashMap;
use std::io::{BufRead, Write, stdin, stdout};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The port of flows over TCP.
const TCP_PORT: u16 = 7411;
/// The port of datagrams.
const UDP_PORT: u16 = 7412;
/// The port of closed-loop servers.
const SESSION_PORT: u16 = 7413;
/// Enough for threads that only read and write.
const STACK: usize = 128 << 10;

/// An agent, shared by its threads.
struct Agent {
    job: Job,
    /// The number of this host.
    me: usize,
    /// When the experiment starts, by the machine's clock; 0 before that is known.
    origin: AtomicU64,
    /// What each flow still waits for.
    waits: Vec<AtomicU16>,
    /// Connections that were opened beforehand.
    open: Mutex<HashMap<u32, TcpStream>>,
    datagrams: udp::Inbox,
}

impl Agent {
    /// The time of the experiment, in nanoseconds.
    fn time(&self) -> u64 {
        clock::now().saturating_sub(self.origin.load(Ordering::Acquire))
    }

    fn sleep_until(&self, at: u64) {
        clock::sleep_until(self.origin.load(Ordering::Acquire).saturating_add(at));
    }

    fn flow(&self, number: u32) -> Option<&JobFlow> {
        self.job.flows.get(number as usize)
    }

    /// A flow has arrived here: those that waited for it alone start.
    fn arrived(self: &Arc<Self>, number: u32, at: u64) {
        say(&Note::Ended(number, at));
        let first = self.job.triggers.partition_point(|(before, _)| *before < number);
        for (_, after) in self.job.triggers[first..].iter().take_while(|(before, _)| *before == number) {
            if self.waits[*after as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                let (agent, after) = (Arc::clone(self), *after);
                let start = at + agent.job.flows[after as usize].start;
                spawn(move || {
                    agent.sleep_until(start);
                    agent.send(after);
                });
            }
        }
    }

    /// Sends a flow, in this thread.
    fn send(self: &Arc<Self>, number: u32) {
        let Some(flow) = self.flow(number) else { return };
        let sent = match flow.kind {
            JobKind::Tcp { .. } => tcp::send(self, number, flow),
            JobKind::Udp { .. } => udp::send(self, number, flow),
        };
        if let Err(error) = sent {
            say(&Note::Failed(format!("flow {number}: {error}")));
        }
    }

    /// Starts all flows of this host that wait for nothing, each at its time.
    fn start_flows(self: &Arc<Self>) {
        let own = |flow: &JobFlow| flow.src == self.me && flow.waits == 0;
        let mut starts: Vec<(u64, u32)> = (0..)
            .zip(&self.job.flows)
            .filter(|(_, flow)| own(flow))
            .map(|(number, flow)| (flow.start, number))
            .collect();
        starts.sort_unstable();
        for (start, number) in starts {
            self.sleep_until(start);
            let agent = Arc::clone(self);
            spawn(move || agent.send(number));
        }
    }
}

/// Starts a thread; a machine that has no more threads says so.
fn spawn(work: impl FnOnce() + Send + 'static) {
    if let Err(error) = thread::Builder::new().stack_size(STACK).spawn(work) {
        say(&Note::Failed(format!("no thread: {error}")));
    }
}

/// Says a line.
fn say(note: &Note) {
    // Whoever started the agent may be gone: it ends when its input does.
    let _ = writeln!(stdout().lock(), "{note}");
}

/// Runs an agent until it is told to stop, or its input ends.
pub fn run(job: Job, me: usize) -> Result<(), String> {
    if me >= job.hosts.len() {
        return Err(format!("there is no host {me} in the job"));
    }
    let waits = job.flows.iter().map(|flow| AtomicU16::new(flow.waits)).collect();
    let datagrams = udp::Inbox::default();
    let agent = Arc::new(Agent { job, me, origin: AtomicU64::new(0), waits, open: Mutex::default(), datagrams });
    tcp::listen(&agent).map_err(|error| format!("port {TCP_PORT}: {error}"))?;
    udp::listen(&agent).map_err(|error| format!("port {UDP_PORT}: {error}"))?;
    session::listen(&agent).map_err(|error| format!("port {SESSION_PORT}: {error}"))?;
    say(&Note::Ready);
    for line in stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["connect"] => {
                tcp::open_ahead(&agent)?;
                say(&Note::Ready);
            }
            ["go", at] => {
                agent.origin.store(at.parse().map_err(|_| format!("go {at}"))?, Ordering::Release);
                let starter = Arc::clone(&agent);
                spawn(move || starter.start_flows());
                session::start_all(&agent);
            }
            ["stop"] => break,
            _ => return Err(format!("it was told \"{line}\"")),
        }
    }
    agent.datagrams.tell();
    Ok(())
}

/// What a mutex holds, whatever became of other threads.
fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
