//! Flows of datagrams at a constant rate. Each begins with its rank, the number of the flow and its own number, so that
//! the receiver can tell which arrived whole, which were cut to their headers, and which are missing.

use super::tcp::Progress;
use super::{Agent, UDP_PORT, held, say, spawn};
use crate::clock;
use crate::job::{JobFlow, JobKind};
use crate::notes::Note;
use rustix::net::sockopt::{set_ip_tos, set_socket_recv_buffer_size_force};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::{Arc, Mutex};

/// Rank, flow, number.
pub(super) const HEAD: usize = 16;
/// How far a sender that was held up may catch up.
const CATCH_UP: u64 = 10_000_000;
/// Room for what arrives while the receiver is not running.
const ROOM: usize = 8 << 20;

/// What has arrived of a flow.
#[derive(Default)]
struct Arrivals {
    /// By the number of the datagram: 1 as a header, 2 whole.
    seen: Vec<u8>,
    whole: u64,
    headers: u64,
    again: u64,
    bytes: u64,
    progress: Option<Progress>,
}

impl Arrivals {
    fn count(&mut self, number: usize, is_whole: bool) {
        if number >= self.seen.len() {
            self.seen.resize(number + 1, 0);
        }
        let (seen, bit) = (&mut self.seen[number], if is_whole { 2 } else { 1 });
        if *seen & bit != 0 {
            self.again += 1;
            return;
        }
        *seen |= bit;
        if is_whole {
            self.whole += 1;
        } else {
            self.headers += 1;
        }
    }
}

/// What has arrived of all flows.
#[derive(Default)]
pub(super) struct Inbox {
    flows: Mutex<BTreeMap<u32, Arrivals>>,
}

impl Inbox {
    /// Says what has arrived.
    pub(super) fn tell(&self) {
        for (number, arrivals) in held(&self.flows).iter() {
            say(&Note::Got(*number, arrivals.whole, arrivals.headers, arrivals.again));
        }
    }
}

/// Sends a flow at its rate.
pub(super) fn send(agent: &Agent, number: u32, flow: &JobFlow) -> io::Result<()> {
    let JobKind::Udp { payload, header, rate, rank } = flow.kind else { return Err(ErrorKind::InvalidInput.into()) };
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    set_ip_tos(&socket, flow.dscp << 2)?;
    socket.connect((agent.job.hosts[flow.dst], UDP_PORT))?;
    let mut datagram = vec![0; (payload as usize).max(HEAD)];
    datagram[..4].copy_from_slice(&rank.to_be_bytes());
    datagram[4..8].copy_from_slice(&number.to_be_bytes());
    let mut start = clock::now();
    say(&Note::Started(number, agent.time()));
    let on_wire = u128::from(payload + header) * 8 * 1_000_000_000;
    let last = flow.bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(datagram.len() as u64));
    let mut sent = 0u64;
    while sent < last && agent.time() < flow.until {
        let due = start + (on_wire * u128::from(sent) / u128::from(rate.max(1))) as u64;
        clock::sleep_until(due);
        // After a stall not everything that was missed is sent at once.
        start += clock::now().saturating_sub(due).saturating_sub(CATCH_UP);
        datagram[8..HEAD].copy_from_slice(&sent.to_be_bytes());
        match socket.send(&datagram) {
            Ok(_) => sent += 1,
            // The queue in front of the link is full, or the receiver is not there yet.
            Err(error)
                if matches!(error.raw_os_error(), Some(ENOBUFS)) || error.kind() == ErrorKind::ConnectionRefused =>
            {
                clock::sleep_until(clock::now() + 100_000);
            }
            Err(error) => return Err(error),
        }
    }
    say(&Note::Sent(number, sent));
    Ok(())
}

/// What the kernel says when a queue in front of a link is full.
const ENOBUFS: i32 = 105;

/// Receives datagrams from now on.
pub(super) fn listen(agent: &Arc<Agent>) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, UDP_PORT))?;
    set_socket_recv_buffer_size_force(&socket, ROOM)?;
    let agent = Arc::clone(agent);
    spawn(move || {
        let mut room = vec![0; 64 << 10];
        while let Ok(length) = socket.recv(&mut room) {
            receive(&agent, &room[..length]);
        }
    });
    Ok(())
}

fn receive(agent: &Arc<Agent>, datagram: &[u8]) {
    let Some((head, _)) = datagram.split_first_chunk::<HEAD>() else { return };
    let [_, _, _, _, a, b, c, d, rest @ ..] = *head;
    let (number, place) = (u32::from_be_bytes([a, b, c, d]), u64::from_be_bytes(rest));
    let Some(flow) = agent.flow(number).filter(|flow| flow.dst == agent.me) else { return };
    let JobKind::Udp { payload, .. } = flow.kind else { return };
    let Ok(place) = usize::try_from(place).and_then(|place| u32::try_from(place).map(|place| place as usize)) else {
        return;
    };
    let now = agent.time();
    let mut flows = held(&agent.datagrams.flows);
    let arrivals = flows
        .entry(number)
        .or_insert_with(|| Arrivals { progress: Progress::new(agent, number), ..Arrivals::default() });
    if let Some(progress) = &mut arrivals.progress {
        progress.note(now, arrivals.bytes);
    }
    let whole_before = arrivals.whole;
    let size = (payload as usize).max(HEAD);
    arrivals.count(place, datagram.len() >= size);
    arrivals.bytes += (arrivals.whole - whole_before) * size as u64;
    let is_new = arrivals.whole > whole_before;
    if is_new && flow.bytes.is_some_and(|bytes| arrivals.whole == bytes.div_ceil(size as u64)) {
        drop(flows);
        agent.arrived(number, now);
    }
}
