//! Clients that ask, wait for the answer, think and ask again, each over connections that it keeps; and their servers.
//!
//! A request begins with its length and that of the answer; an answer begins with the time at which the request had
//! arrived.

use super::tcp::connection;
use super::{Agent, SESSION_PORT, say, spawn};
use crate::job::JobSession;
use crate::notes::Note;
use rustix::net::sockopt::set_ip_tos;
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

/// Length of the request, of the answer, and the code point of the answer.
const HEAD: usize = 17;
/// The time in front of an answer.
const STAMP: usize = 8;
/// The longest request or answer.
const MOST: u64 = 1 << 30;

/// Starts the clients of this host.
pub(super) fn start_all(agent: &Arc<Agent>) {
    for (number, session) in (0..).zip(&agent.job.sessions) {
        if session.client != agent.me {
            continue;
        }
        let (agent, session) = (Arc::clone(agent), session.clone());
        spawn(move || {
            if let Err(error) = run(&agent, number, &session) {
                say(&Note::Failed(format!("session {number}: {error}")));
            }
        });
    }
}

fn run(agent: &Agent, number: u32, session: &JobSession) -> io::Result<()> {
    let mut servers: HashMap<usize, TcpStream> = HashMap::new();
    let mut at = session.start;
    let mut room = vec![0; 64 << 10];
    for (server, bytes, think) in &session.asks {
        if at >= session.until {
            break;
        }
        agent.sleep_until(at);
        if !servers.contains_key(server) {
            let to = agent.job.hosts[*server];
            servers.insert(*server, connection(to, SESSION_PORT, session.dscp, &session.congestion_control)?);
        }
        let Some(stream) = servers.get_mut(server) else { continue };
        let start = agent.time();
        stream.write_all(&request(session.request, *bytes, session.dscp))?;
        let mut stamp = [0; STAMP];
        stream.read_exact(&mut stamp)?;
        skip(stream, bytes.saturating_sub(STAMP as u64), &mut room)?;
        let back = agent.time();
        say(&Note::Asked(number, *server, *bytes, [start, u64::from_be_bytes(stamp), back]));
        at = back + think;
    }
    Ok(())
}

fn request(length: u64, answer: u64, dscp: u8) -> Vec<u8> {
    let length = length.clamp(HEAD as u64, MOST);
    let mut request = vec![0; length as usize];
    request[..8].copy_from_slice(&length.to_be_bytes());
    request[8..16].copy_from_slice(&answer.to_be_bytes());
    request[16] = dscp;
    request
}

/// Reads so many bytes and forgets them.
fn skip(stream: &mut TcpStream, mut left: u64, room: &mut [u8]) -> io::Result<()> {
    while left > 0 {
        let part = left.min(room.len() as u64) as usize;
        match stream.read(&mut room[..part])? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => left -= read as u64,
        }
    }
    Ok(())
}

/// Answers from now on, each client in a thread of its own.
pub(super) fn listen(agent: &Arc<Agent>) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, SESSION_PORT))?;
    let agent = Arc::clone(agent);
    spawn(move || {
        for stream in listener.incoming().flatten() {
            let agent = Arc::clone(&agent);
            spawn(move || {
                // The client tells of a connection that breaks.
                let _ = answer(&agent, stream);
            });
        }
    });
    Ok(())
}

fn answer(agent: &Agent, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut room = vec![0; 64 << 10];
    loop {
        let mut head = [0; HEAD];
        stream.read_exact(&mut head)?;
        let word = |at: usize| head[at..at + 8].iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let (length, bytes) = (word(0), word(8));
        if length < HEAD as u64 || length > MOST || bytes > MOST {
            return Err(ErrorKind::InvalidData.into());
        }
        set_ip_tos(&stream, head[16] << 2)?;
        skip(&mut stream, length - HEAD as u64, &mut room)?;
        let mut answer = vec![0; (bytes as usize).max(STAMP)];
        answer[..STAMP].copy_from_slice(&agent.time().to_be_bytes());
        stream.write_all(&answer)?;
    }
}
