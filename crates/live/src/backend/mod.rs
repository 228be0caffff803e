//! Ports that are interfaces of this machine.
//!
//! [`Attacher`] makes them, by AF_XDP ([`xdp`]) or AF_PACKET ([`packet`]). A port is two halves, one that receives and
//! one that sends.

pub mod interface;
pub mod packet;
pub mod privileges;
pub mod xdp;

mod bpf;
mod lock;
mod offload;
mod relay;
mod socket;
mod spsc;

use crate::pool::{Borrower, HEADROOM, Pool, Slot};
use crate::port::{Outside, Port, Received};
use interface::Interface;
use lock::Lock;
use relay::Threads;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use xdp::{LARGEST_BUFFER, Mode, RECEIVE_RING, Umem};

/// How frames get to us and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// What is fastest on the interface: AF_XDP where its driver takes the program, unless the driver is that of veth,
    /// on which [`Kind::Mixed`] forwards more; and AF_PACKET where nothing else works.
    #[default]
    Auto,
    /// AF_XDP.
    Xdp,
    /// AF_XDP without copies, where the driver has it, and on all interfaces of the switch.
    ZeroCopy,
    /// AF_XDP, but behind the driver (the kernel's generic mode) even where the driver could do it.
    XdpGeneric,
    /// AF_PACKET.
    Packet,
    /// AF_PACKET to receive, AF_XDP to send.
    Mixed,
}

/// Empty receives between two looks at whether the interface is still there.
const LOOK_EVERY: u32 = 1_024;

/// Looks at an interface now and then while nothing comes from it.
#[derive(Debug)]
struct Check {
    interface: Interface,
    idle: u32,
}

impl Check {
    fn new(interface: Interface) -> Self {
        Self { interface, idle: 0 }
    }

    /// Nothing has come: an error if that is because the interface is gone or down.
    fn when_idle(&mut self) -> io::Result<()> {
        self.idle += 1;
        if self.idle < LOOK_EVERY {
            return Ok(());
        }
        self.idle = 0;
        self.interface.check()
    }
}

/// The half of a port that receives.
#[derive(Debug)]
enum Receiver {
    Packet(packet::Receiver),
    Xdp(xdp::Receiver),
    Relay(relay::Receiver),
}

impl Receiver {
    /// Who borrows the frame buffers that the kernel has, if it has any.
    fn borrower(&self) -> Option<Borrower> {
        if let Self::Xdp(half) = self { Some(half.borrower()) } else { None }
    }

    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        match self {
            Self::Packet(half) => half.receive(pool, frames, most),
            Self::Xdp(half) => half.receive(pool, frames, most),
            Self::Relay(half) => half.receive(pool, frames, most),
        }
    }

    fn outside(&self) -> Outside {
        match self {
            Self::Packet(half) => half.outside(),
            Self::Xdp(half) => half.outside(),
            Self::Relay(half) => half.outside(),
        }
    }

    fn close(self) -> Closed {
        match self {
            Self::Packet(half) => Closed::without_buffers(half.outside()),
            Self::Xdp(half) => half.close(),
            Self::Relay(half) => half.close(),
        }
    }
}

/// The half of a port that sends.
#[derive(Debug)]
enum Sender {
    Packet(packet::Sender),
    Xdp(xdp::Sender),
    Relay(relay::Sender),
}

impl Sender {
    /// Who borrows the frame buffers that the kernel has, if it has any.
    fn borrower(&self) -> Option<Borrower> {
        if let Self::Xdp(half) = self { Some(half.borrower()) } else { None }
    }

    fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        match self {
            Self::Packet(half) => half.send(slot, length),
            Self::Xdp(half) => half.send(pool, slot, length),
            Self::Relay(half) => half.send(pool, slot, length),
        }
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        match self {
            Self::Packet(half) => half.flush(pool),
            Self::Xdp(half) => half.flush(pool),
            Self::Relay(half) => half.flush(pool),
        }
    }

    fn outside(&self) -> Outside {
        match self {
            Self::Packet(half) => half.outside(),
            Self::Xdp(half) => half.outside(),
            Self::Relay(half) => half.outside(),
        }
    }

    /// Gives back the frame buffers that only this half has.
    fn abandon(&mut self, pool: &mut Pool) {
        if let Self::Packet(half) = self {
            half.abandon(pool);
        }
    }

    fn close(self) -> Closed {
        match self {
            Self::Packet(half) => Closed::without_buffers(half.outside()),
            Self::Xdp(half) => half.close(),
            Self::Relay(half) => half.close(),
        }
    }
}

/// What is left of a port whose sockets are closed.
#[derive(Debug)]
pub struct Closed {
    outside: Outside,
    /// Who had frame buffers of the pool, and whether no device reads them any more.
    borrowers: Vec<(Borrower, bool)>,
}

impl Closed {
    fn without_buffers(outside: Outside) -> Self {
        Self { outside, borrowers: Vec::new() }
    }

    fn of(outside: Outside, borrower: Borrower, is_done: bool) -> Self {
        Self { outside, borrowers: vec![(borrower, is_done)] }
    }

    fn and(mut self, other: Self) -> Self {
        self.outside += other.outside;
        self.borrowers.extend(other.borrowers);
        self
    }

    /// What was lost, and whether no device reads any frame buffer.
    fn summary(self) -> (Outside, bool) {
        (self.outside, self.borrowers.iter().all(|(_, is_done)| *is_done))
    }

    /// Takes back the frame buffers that the port had; what was lost there in all. Frame buffers that a device may
    /// still read are used no more.
    pub fn settle(self, pool: &mut Pool) -> Outside {
        for (borrower, _) in self.borrowers.into_iter().filter(|(_, is_done)| *is_done) {
            pool.reclaim(borrower);
        }
        self.outside
    }
}

/// How frames get here and back.
fn way((receiver, sender): &(Receiver, Sender)) -> &'static str {
    match (receiver, sender) {
        (Receiver::Packet(_), Sender::Xdp(_)) => "mixed",
        (Receiver::Packet(_), _) => "packet",
        (Receiver::Xdp(half), _) if half.is_in_driver() => "xdp",
        (Receiver::Xdp(_), _) => "xdp, generic",
        (Receiver::Relay(half), _) => half.way(),
    }
}

/// A port that is an interface.
#[derive(Debug)]
pub struct Backend {
    name: String,
    state: State,
    /// That no other switch has the interface, as long as it is open.
    lock: Option<Arc<Lock>>,
}

#[derive(Debug)]
enum State {
    Open(Box<(Receiver, Sender)>),
    /// What was lost in all.
    Closed(Outside),
}

impl Backend {
    /// How frames get to us and back; none if it is closed.
    pub fn way(&self) -> Option<&'static str> {
        let State::Open(halves) = &self.state else { return None };
        Some(way(halves))
    }

    /// Closes the sockets, which may take a while: this can be done in any thread, once the port was abandoned.
    pub fn shut(self) -> Closed {
        match self.state {
            State::Open(halves) => {
                let (receiver, sender) = *halves;
                sender.close().and(receiver.close())
            }
            State::Closed(outside) => Closed::without_buffers(outside),
        }
    }
}

impl Port for Backend {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        match &mut self.state {
            State::Open(halves) => halves.0.receive(pool, frames, most),
            State::Closed(_) => Ok(()),
        }
    }

    fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        match &mut self.state {
            State::Open(halves) => halves.1.send(pool, slot, length),
            State::Closed(outside) => {
                outside.send_failures += 1;
                pool.give(slot);
            }
        }
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        match &mut self.state {
            State::Open(halves) => halves.1.flush(pool),
            State::Closed(_) => Ok(()),
        }
    }

    fn outside(&self) -> Outside {
        match &self.state {
            State::Open(halves) => {
                let mut outside = halves.0.outside();
                outside += halves.1.outside();
                outside
            }
            State::Closed(outside) => *outside,
        }
    }

    fn abandon(&mut self, pool: &mut Pool) {
        if let State::Open(halves) = &mut self.state {
            halves.1.abandon(pool);
        }
    }

    fn close(&mut self, pool: &mut Pool) {
        self.abandon(pool);
        let state = std::mem::replace(&mut self.state, State::Closed(Outside::default()));
        let closed = Self { name: String::new(), state, lock: self.lock.take() }.shut();
        self.state = State::Closed(closed.settle(pool));
    }
}

/// Waits until a frame has come at one of the ports, or the time is over.
pub fn wait_for<'p>(ports: impl Iterator<Item = &'p Backend>, time: Duration) {
    let descriptors = ports.flat_map(|port| match &port.state {
        State::Open(halves) => match &halves.0 {
            Receiver::Packet(half) => vec![half.descriptor()],
            Receiver::Xdp(half) => half.descriptors().collect(),
            // Ports in threads of their own are never waited for: the settings refuse it.
            Receiver::Relay(_) => Vec::new(),
        },
        State::Closed(_) => Vec::new(),
    });
    socket::wait_for(descriptors, time);
}

pub use socket::be_punctual;

/// Makes ports of interfaces, all with the memory of one pool.
#[derive(Debug)]
pub struct Attacher {
    umem: Umem,
    /// Frame buffers that a port has to receive into.
    fill: u32,
    /// The threads that the halves of ports are in, if they are not where the ports are.
    threads: Option<Threads>,
    /// Those of all interfaces that were attached to, by their names.
    locks: HashMap<String, Arc<Lock>>,
}

/// An interface that is attached to, and has no frame buffers of the pool yet.
#[derive(Debug)]
pub struct Opened {
    name: String,
    lock: Arc<Lock>,
    sockets: OpenSockets,
    fill: u32,
    threads: Option<Threads>,
}

#[derive(Debug)]
enum OpenSockets {
    Packet(Box<(packet::Receiver, packet::Sender)>),
    Mixed(Box<(packet::Receiver, xdp::Rings)>),
    Xdp(Box<xdp::Opened>),
}

impl Opened {
    /// The port, with frame buffers of the pool to receive into. The pool is the one that the [`Attacher`] was made
    /// for.
    pub fn join(self, pool: &mut Pool) -> io::Result<Backend> {
        let mut halves = match self.sockets {
            OpenSockets::Packet(halves) => (Receiver::Packet(halves.0), Sender::Packet(halves.1)),
            OpenSockets::Mixed(halves) => (Receiver::Packet(halves.0), Sender::Xdp(halves.1.into_sender(pool)?)),
            OpenSockets::Xdp(opened) => {
                let (receiver, sender) = opened.join(pool, self.fill)?;
                (Receiver::Xdp(receiver), Sender::Xdp(sender))
            }
        };
        if let Some(threads) = self.threads {
            let (receiver, sender) = threads.take(halves, pool, self.fill)?;
            halves = (Receiver::Relay(receiver), Sender::Relay(sender));
        }
        Ok(Backend { name: self.name, state: State::Open(Box::new(halves)), lock: Some(self.lock) })
    }
}

impl Attacher {
    /// For so many ports of this pool. Half of the frame buffers are for the kernel to receive into, the other half for
    /// frames that wait and that are being sent.
    pub fn new(pool: &Pool, ports: usize) -> Self {
        let fill = (pool.buffers() / 2 / ports.max(1)).min(RECEIVE_RING as usize) as u32;
        Self { umem: Umem::new(pool), fill, threads: None, locks: HashMap::new() }
    }

    /// From now on ports receive in one thread and send in another; whoever has them only decides.
    pub fn in_threads(mut self) -> io::Result<Self> {
        self.threads = Some(Threads::start()?);
        Ok(self)
    }

    /// Attaches to an interface. The pool is the one that this was made for.
    pub fn attach(&mut self, name: &str, kind: Kind, pool: &mut Pool) -> io::Result<Backend> {
        self.open(name, kind)?.join(pool)
    }

    /// Attaches to an interface, which may take a while: the part of it that can be done in any thread.
    pub fn open(&mut self, name: &str, kind: Kind) -> io::Result<Opened> {
        let find = || Interface::find(name).map_err(|error| explained(name, error));
        let interface = find()?;
        let lock = self.lock(&interface)?;
        ready(&interface, self.umem.stride() - HEADROOM)?;
        let sockets = match kind {
            Kind::Packet => self.packet(interface),
            Kind::Mixed => self.mixed(interface),
            Kind::Xdp => self.xdp(interface, Mode::Driver),
            Kind::XdpGeneric => self.xdp(interface, Mode::Generic),
            Kind::ZeroCopy => self.xdp(interface, Mode::ZeroCopy),
            Kind::Auto => self.fastest(interface, find),
        };
        let sockets = sockets.map_err(|error| explained(name, error))?;
        Ok(Opened { name: name.to_owned(), lock, sockets, fill: self.fill, threads: self.threads.clone() })
    }

    /// The lock of an interface, which is kept when the port is closed.
    fn lock(&mut self, interface: &Interface) -> io::Result<Arc<Lock>> {
        if let Some(lock) = self.locks.get(interface.name()) {
            // A port has it.
            let is_taken = Arc::strong_count(lock) > 1;
            return if is_taken { Err(lock::taken(interface.name())) } else { Ok(Arc::clone(lock)) };
        }
        let lock = Arc::new(Lock::take(interface)?);
        self.locks.insert(interface.name().to_owned(), Arc::clone(&lock));
        Ok(lock)
    }

    fn packet(&self, interface: Interface) -> io::Result<OpenSockets> {
        let sender = packet::Sender::new(&interface, self.umem.region())?;
        let receiver = packet::Receiver::new(interface, self.umem.stride())?;
        Ok(OpenSockets::Packet(Box::new((receiver, sender))))
    }

    fn mixed(&mut self, interface: Interface) -> io::Result<OpenSockets> {
        self.suits_xdp()?;
        let rings = self.umem.socket(&interface, 0, false)?;
        let receiver = packet::Receiver::new(interface, self.umem.stride())?;
        Ok(OpenSockets::Mixed(Box::new((receiver, rings))))
    }

    fn xdp(&mut self, interface: Interface, mode: Mode) -> io::Result<OpenSockets> {
        self.suits_xdp()?;
        Ok(OpenSockets::Xdp(Box::new(xdp::open(interface, &mut self.umem, mode)?)))
    }

    /// What was measured to be fastest (docs/forwarding.md): in the driver of a card AF_XDP; where the kernel has made
    /// its own buffer of a frame before XDP sees it, as behind a driver or in that of veth, AF_PACKET receives more.
    fn fastest(&mut self, interface: Interface, find: impl Fn() -> io::Result<Interface>) -> io::Result<OpenSockets> {
        if interface.driver().as_deref() != Some("veth") {
            match self.xdp(interface, Mode::Driver) {
                Ok(OpenSockets::Xdp(opened)) if opened.is_in_driver() => return Ok(OpenSockets::Xdp(opened)),
                // Its program is gone when this is dropped.
                Ok(_) | Err(_) => {}
            }
        }
        match self.mixed(find()?) {
            Ok(sockets) => Ok(sockets),
            Err(_) => self.packet(find()?),
        }
    }

    /// Whether AF_XDP can be used with this memory.
    fn suits_xdp(&self) -> io::Result<()> {
        let stride = self.umem.stride();
        if stride <= LARGEST_BUFFER {
            return Ok(());
        }
        let text = format!(
            "AF_XDP takes frame buffers of at most {LARGEST_BUFFER} bytes, and these have {stride}: set `frame` to {LARGEST_BUFFER} or `backend` to \"packet\""
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

/// Whether an interface can be used with frame buffers of this size.
fn ready(interface: &Interface, buffer: usize) -> io::Result<()> {
    let name = interface.name();
    if !interface.is_up()? {
        let text = format!("interface `{name}` is down: `ip link set {name} up`");
        return Err(io::Error::new(io::ErrorKind::NetworkDown, text));
    }
    let longest = interface.longest()?;
    if longest > buffer {
        let text = format!(
            "frames of interface `{name}` have up to {longest} bytes, and {buffer} fit into a buffer of memory: set `frame` to {}, or lower the \
             MTU of the interface",
            (longest + HEADROOM).next_power_of_two()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(())
}

/// What went wrong with an interface, and what can be done.
fn explained(name: &str, error: io::Error) -> io::Error {
    let remedy = match error.raw_os_error() {
        Some(libc::ENODEV | libc::ENXIO) => "there is no such interface here (`ip link` lists them)",
        Some(libc::EPERM | libc::EACCES) => {
            "this needs root, or the capabilities CAP_NET_RAW and CAP_NET_ADMIN, and with AF_XDP CAP_BPF"
        }
        Some(libc::EBUSY) => {
            "another program receives from it by XDP: stop that one (`ip link show` has `xdp` where one is attached)"
        }
        Some(libc::ENETDOWN) => "it is down: `ip link set ... up`",
        Some(libc::ENOBUFS | libc::ENOMEM) => {
            "the kernel has no memory for it: use fewer or smaller `frames`, or raise the limit of locked memory (`ulimit -l`)"
        }
        // Errors with words of their own.
        None => return error,
        Some(_) => "it cannot be attached to",
    };
    io::Error::new(error.kind(), format!("interface `{name}`: {remedy} ({error})"))
}
