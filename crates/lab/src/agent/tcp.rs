//! Flows over the kernel's TCP: a connection each, whose first four bytes are the number of the flow.

use super::{Agent, TCP_PORT, held, say, spawn};
use crate::job::{JobFlow, JobKind};
use crate::notes::Note;
use forebay_live::tcp_info::{self, Repeats};
use rustix::net::sockopt::{set_ip_tos, set_tcp_congestion};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// What is written at once.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];
/// How often a flow without end looks at the clock while it cannot write.
const LOOK: Duration = Duration::from_millis(50);

/// A connection whose packets have a code point from the first on.
pub(super) fn connection(to: Ipv4Addr, port: u16, dscp: u8, congestion_control: &str) -> io::Result<TcpStream> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_ip_tos(&socket, dscp << 2)?;
    if !congestion_control.is_empty() {
        set_tcp_congestion(&socket, congestion_control)?;
    }
    connect(&socket, &SocketAddrV4::new(to, port))?;
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn connect_flow(agent: &Agent, flow: &JobFlow) -> io::Result<TcpStream> {
    let JobKind::Tcp { congestion_control, .. } = &flow.kind else { return Err(ErrorKind::InvalidInput.into()) };
    connection(agent.job.hosts[flow.dst], TCP_PORT, flow.dscp, congestion_control)
}

/// Opens the connections of this host that are to be open beforehand.
pub(super) fn open_ahead(agent: &Agent) -> Result<(), String> {
    for (number, flow) in (0..).zip(&agent.job.flows) {
        if flow.src != agent.me || !matches!(flow.kind, JobKind::Tcp { ahead: true, .. }) {
            continue;
        }
        let stream =
            connect_flow(agent, flow).map_err(|error| format!("flow {number} to host {}: {error}", flow.dst))?;
        held(&agent.open).insert(number, stream);
    }
    Ok(())
}

/// Sends a flow and waits until its receiver has it.
pub(super) fn send(agent: &Agent, number: u32, flow: &JobFlow) -> io::Result<()> {
    let open = held(&agent.open).remove(&number);
    say(&Note::Started(number, agent.time()));
    let mut stream = match open {
        Some(stream) => stream,
        None => connect_flow(agent, flow)?,
    };
    let name = number.to_be_bytes();
    let Some(bytes) = flow.bytes else { return send_on(agent, stream, number, flow.until) };
    // The number is part of the payload.
    let mut left = bytes.saturating_sub(name.len() as u64);
    let first = left.min((ZEROS.len() - name.len()) as u64) as usize;
    stream.write_all(&[&name[..], &ZEROS[..first]].concat())?;
    left -= first as u64;
    while left > 0 {
        let part = left.min(ZEROS.len() as u64) as usize;
        stream.write_all(&ZEROS[..part])?;
        left -= part as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    // The receiver closes the connection when it has everything.
    let has_all = stream.read(&mut [0])? == 0;
    tell_repeats(number, &stream);
    if has_all {
        say(&Note::Acked(number, agent.time()));
    }
    Ok(())
}

/// Says what the kernel has sent again of a flow. One that does not tell is no reason to fail.
fn tell_repeats(number: u32, stream: &TcpStream) {
    if let Ok(Repeats { retransmissions, timeouts }) = tcp_info::repeats(stream) {
        say(&Note::Repeated(number, retransmissions, timeouts));
    }
}

/// Sends until the time is up.
fn send_on(agent: &Agent, mut stream: TcpStream, number: u32, until: u64) -> io::Result<()> {
    stream.write_all(&number.to_be_bytes())?;
    stream.set_write_timeout(Some(LOOK))?;
    while agent.time() < until {
        match stream.write(&ZEROS) {
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Err(error),
            _ => {}
        }
    }
    tell_repeats(number, &stream);
    stream.shutdown(Shutdown::Both)
}

/// Receives flows from now on, each in a thread of its own.
pub(super) fn listen(agent: &Arc<Agent>) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, TCP_PORT))?;
    // What asks for a connection with DCTCP is only given ECN by a listener that has it, too.
    let controls = agent.job.flows.iter().filter_map(|flow| match &flow.kind {
        JobKind::Tcp { congestion_control, .. } => Some(congestion_control),
        JobKind::Udp { .. } => None,
    });
    if let Some(dctcp) = controls.into_iter().find(|name| name.ends_with("dctcp")) {
        set_tcp_congestion(&listener, dctcp)?;
    }
    let agent = Arc::clone(agent);
    spawn(move || {
        for stream in listener.incoming().flatten() {
            let agent = Arc::clone(&agent);
            spawn(move || {
                // A connection that breaks is told of by its sender.
                let _ = receive(&agent, stream);
            });
        }
    });
    Ok(())
}

/// How far a flow has come, noted at regular times.
pub(super) struct Progress {
    number: u32,
    sample: u64,
    next: u64,
}

impl Progress {
    pub(super) fn new(agent: &Agent, number: u32) -> Option<Self> {
        let flow = agent.flow(number)?;
        flow.progress.then(|| Self { number, sample: agent.job.sample.max(1), next: 0 })
    }

    /// So many bytes had arrived before now.
    pub(super) fn note(&mut self, now: u64, bytes: u64) {
        if now >= self.next {
            let at = now - now % self.sample;
            say(&Note::Progress(self.number, at, bytes));
            self.next = at + self.sample;
        }
    }
}

fn receive(agent: &Arc<Agent>, mut stream: TcpStream) -> io::Result<()> {
    let mut name = [0; 4];
    stream.read_exact(&mut name)?;
    let number = u32::from_be_bytes(name);
    let Some(flow) = agent.flow(number).filter(|flow| flow.dst == agent.me) else { return Ok(()) };
    let JobKind::Tcp { ack_dscp, congestion_control, .. } = &flow.kind else { return Ok(()) };
    set_ip_tos(&stream, ack_dscp << 2)?;
    // DCTCP needs both ends.
    if !congestion_control.is_empty() {
        set_tcp_congestion(&stream, congestion_control)?;
    }
    let mut progress = Progress::new(agent, number);
    let whole = flow.bytes.map_or(u64::MAX, |bytes| bytes.max(name.len() as u64));
    let mut room = vec![0; 64 << 10];
    let mut bytes = name.len() as u64;
    while bytes < whole {
        let read = stream.read(&mut room)?;
        if let Some(progress) = &mut progress {
            progress.note(agent.time(), bytes);
        }
        if read == 0 {
            return Ok(());
        }
        bytes += read as u64;
    }
    agent.arrived(number, agent.time());
    Ok(())
}
