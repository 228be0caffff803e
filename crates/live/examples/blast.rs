//! Sends frames into a switch as fast as it can and counts what comes out: `blast FROM TO BYTES SECONDS`.
//!
//! FROM and TO are interfaces in this network namespace, each the peer of a port of the switch. Frames are counted by
//! the kernel at TO. It prints what was sent and what came, in millions per second.

use forebay_live::backend::{Attacher, Backend, Kind};
use forebay_live::pool::{Pool, Slot};
use forebay_live::port::Port;
use std::io;
use std::time::{Duration, Instant};

/// Frames that are handed to the kernel at a time.
const BATCH: usize = 64;
/// Frame buffers of memory.
const BUFFERS: u32 = 512;
/// Flows: as many source ports.
const FLOWS: u32 = 16;
/// The switch gets ready, and the first part of a run does not count.
const WARM_UP: Duration = Duration::from_millis(500);

/// A UDP packet from host `from` to host `to`, of one of the flows, with so many bytes of frame (without the checksum
/// of Ethernet).
fn frame(from: u8, to: u8, flow: u32, bytes: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x08, 0x00];
    let mut header = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to];
    header[2..4].copy_from_slice(&((bytes - 14) as u16).to_be_bytes());
    let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    header[10..12].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
    frame.extend(header);
    frame.extend([0x10, (flow % FLOWS) as u8, 0x20, 0]);
    frame.extend(((bytes - 34) as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.resize(bytes, 0x5a);
    frame
}

/// Frames that an interface has received, by the kernel's counter.
fn received(interface: &str) -> io::Result<u64> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(interface)?.strip_prefix(':'));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    number.ok_or_else(|| io::Error::other(format!("there is no interface `{interface}` here")))
}

/// Tells the switch behind which port the receiver is.
fn introduce(interface: &str) -> io::Result<()> {
    let mut pool = Pool::new(64, 2_048)?;
    let mut port = Attacher::new(&pool, 1).attach(interface, Kind::Packet, &mut pool)?;
    let frame = frame(2, 1, 0, 64);
    let mut slot = pool.take().ok_or(io::ErrorKind::OutOfMemory)?;
    pool.bytes_mut(&mut slot, frame.len()).copy_from_slice(&frame);
    port.send(&mut pool, slot, frame.len());
    port.flush(&mut pool)
}

/// Whoever sends: all frame buffers that it will ever send have their frames before it starts.
struct Source {
    pool: Pool,
    port: Backend,
    bytes: usize,
}

impl Source {
    fn new(interface: &str, bytes: usize) -> io::Result<Self> {
        let mut pool = Pool::new(BUFFERS, 2_048)?;
        let slots: Vec<Slot> = std::iter::from_fn(|| pool.take()).collect();
        for mut slot in slots {
            let flow = slot.number();
            pool.bytes_mut(&mut slot, bytes).copy_from_slice(&frame(1, 2, flow, bytes));
            pool.give(slot);
        }
        let port = Attacher::new(&pool, 2).attach(interface, Kind::XdpGeneric, &mut pool)?;
        Ok(Self { pool, port, bytes })
    }

    /// Sends a batch; how many frames.
    fn send(&mut self) -> io::Result<u64> {
        let mut sent = 0;
        for _ in 0..BATCH {
            let Some(slot) = self.pool.take() else { break };
            self.port.send(&mut self.pool, slot, self.bytes);
            sent += 1;
        }
        self.port.flush(&mut self.pool)?;
        Ok(sent)
    }
}

fn run(arguments: &[String]) -> io::Result<()> {
    let usage = || io::Error::other("usage: blast FROM TO BYTES SECONDS");
    let [from, to, bytes, seconds] = arguments else { return Err(usage()) };
    let (bytes, seconds) = (bytes.parse::<usize>().map_err(|_| usage())?, seconds.parse::<f64>().map_err(|_| usage())?);
    if !(64..=1_514).contains(&bytes) {
        return Err(io::Error::other("frames have 64 to 1514 bytes"));
    }
    let mut source = Source::new(from, bytes)?;
    introduce(to)?;
    std::thread::sleep(WARM_UP);
    let begin = Instant::now();
    let (mut sent, mut start) = (0, None);
    let (start, before) = loop {
        let now = Instant::now();
        match start {
            None if now - begin >= WARM_UP => start = Some((now, (sent, received(to)?))),
            Some((start, before)) if (now - start).as_secs_f64() >= seconds => break (start, before),
            _ => {}
        }
        sent += source.send()?;
    };
    let (passed, after) = (start.elapsed().as_secs_f64(), received(to)?);
    let per_second = |count: u64| count as f64 / passed / 1e6;
    println!("sent {:.3} Mpps, received {:.3} Mpps", per_second(sent - before.0), per_second(after - before.1));
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&arguments) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}
