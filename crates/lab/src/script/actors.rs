//! The hosts of a script: one opens its connections and writes, the other reads. They end when their input does.

use crate::clock;
use forebay_script::file::{FIRST_SENDER_PORT, Flow, MSS, RECEIVER_PORT, ReceiveBuffer, Script};
use forebay_tm::Duration;
use rustix::net::sockopt::{
    set_socket_linger, set_socket_recv_buffer_size_force, set_socket_reuseaddr, set_tcp_congestion,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept, bind, connect, listen, socket_with};
use std::io::{self, ErrorKind, Read, Write, stdin, stdout};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time;

fn nanoseconds(time: Duration) -> u64 {
    time.ps() / 1_000
}

/// A socket that leaves nothing behind when its program ends: the other side of the next run has the same ports.
fn socket(congestion_control: &str) -> io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseaddr(&socket, true)?;
    set_socket_linger(&socket, Some(time::Duration::ZERO))?;
    set_tcp_congestion(&socket, congestion_control)?;
    Ok(socket)
}

fn say(line: &str) {
    // Whoever started this may be gone.
    let _ = writeln!(stdout().lock(), "{line}");
}

fn failed(flow: usize, done: io::Result<()>) {
    if let Err(error) = done {
        say(&format!("failed flow {flow}: {error}"));
    }
}

/// Waits for the end of the input.
fn wait_for_end() {
    let mut rest = Vec::new();
    // An input that cannot be read has ended.
    let _ = stdin().lock().read_to_end(&mut rest);
}

/// Opens the connections of a script when it is told to, and writes.
pub fn send(script: &Script, to: Ipv4Addr, congestion_control: &str) -> Result<(), String> {
    say("ready");
    let mut line = String::new();
    stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    let start = clock::now();
    for (number, flow) in script.flows.iter().enumerate() {
        let (flow, control) = (flow.clone(), congestion_control.to_owned());
        thread::spawn(move || failed(number, send_flow(number, &flow, to, &control, start)));
    }
    wait_for_end();
    Ok(())
}

fn send_flow(number: usize, flow: &Flow, to: Ipv4Addr, congestion_control: &str, start: u64) -> io::Result<()> {
    let socket = socket(congestion_control)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, FIRST_SENDER_PORT + number as u16))?;
    let most = flow.writes.iter().map(|write| write.segments).max().unwrap_or(0);
    let payload = vec![0; most as usize * MSS as usize];
    clock::sleep_until(start + nanoseconds(flow.start));
    connect(&socket, &SocketAddrV4::new(to, RECEIVER_PORT))?;
    let open = clock::now();
    let mut stream = TcpStream::from(socket);
    let mut replies = vec![0; flow.reply as usize * MSS as usize];
    for write in &flow.writes {
        clock::sleep_until(open + nanoseconds(write.at));
        stream.write_all(&payload[..write.segments as usize * MSS as usize])?;
        stream.read_exact(&mut replies)?;
    }
    // The connection stays open until this program ends: a FIN would be one more segment to be lost or acknowledged.
    loop {
        thread::park();
    }
}

/// Accepts the connections of a script, and reads.
pub fn receive(script: &Script, congestion_control: &str) -> Result<(), String> {
    let listener = listener(script, congestion_control).map_err(|error| format!("port {RECEIVER_PORT}: {error}"))?;
    let flows = script.flows.clone();
    thread::spawn(move || {
        loop {
            let Ok(stream) = accept(&listener) else { continue };
            let open = clock::now();
            let stream = TcpStream::from(stream);
            let Ok(from) = stream.peer_addr() else { continue };
            let number = usize::from(from.port().wrapping_sub(FIRST_SENDER_PORT));
            let Some(flow) = flows.get(number).cloned() else { continue };
            thread::spawn(move || failed(number, receive_flow(&flow, stream, open)));
        }
    });
    say("ready");
    wait_for_end();
    Ok(())
}

fn listener(script: &Script, congestion_control: &str) -> io::Result<OwnedFd> {
    // A connection with DCTCP is only given ECN by a listener that has it, too; lingering and buffers are handed on to
    // connections.
    let listener = socket(congestion_control)?;
    if let ReceiveBuffer::Fixed(bytes) = script.receive_buffer {
        set_socket_recv_buffer_size_force(&listener, bytes.get() as usize)?;
    }
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, RECEIVER_PORT))?;
    listen(&listener, 128)?;
    Ok(listener)
}

fn receive_flow(flow: &Flow, mut stream: TcpStream, open: u64) -> io::Result<()> {
    let mut room = vec![0; 1 << 20];
    let reply = vec![0; flow.reply as usize * MSS as usize];
    let pause = flow.pause.map(|(from, until)| (open + nanoseconds(from), open + nanoseconds(until)));
    let mut read = 0;
    let mut whole = flow.writes.iter().scan(0, |sum, write| {
        *sum += write.segments as usize * MSS as usize;
        Some(*sum)
    });
    let mut next = whole.next().unwrap_or(usize::MAX);
    loop {
        let now = clock::now();
        match pause {
            Some((from, until)) if now >= from && now < until => clock::sleep_until(until),
            // A read that has begun takes what comes: it must end where the pause begins.
            Some((from, _)) if now < from => stream.set_read_timeout(Some(time::Duration::from_nanos(from - now)))?,
            _ => stream.set_read_timeout(None)?,
        }
        match stream.read(&mut room) {
            Ok(0) => return Ok(()),
            Ok(bytes) => read += bytes,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) => return Err(error),
        }
        while read >= next {
            stream.write_all(&reply)?;
            next = whole.next().unwrap_or(usize::MAX);
        }
    }
}
