//! Ports by AF_XDP: the kernel (or the card itself, in zero-copy mode) puts frames into the pool's frame buffers and
//! takes them from there; nothing is copied in user space.
//!
//! The whole pool is the memory (UMEM) of all sockets. The first socket registers it, the others share it. Each has
//! four rings: frame buffers to be filled, frames received, frames to be sent, and frame buffers of frames that are
//! gone. A port has a socket for each receive queue of its interface, and sends by the first.

use super::bpf::{self, Attached, Sockets};
use super::interface::Interface;
use super::packet::{SEND_BUFFER, quiet_socket};
use super::socket::{Mapping, bind, checked, option, set_option, socket};
use super::spsc::{Consumer, Place, Producer};
use super::{Check, Closed};
use crate::pool::{Borrower, HEADROOM, Pool, Region, Slot};
use crate::port::{Outside, Received};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Entries of the rings of received frames and of frame buffers to be filled.
pub(super) const RECEIVE_RING: u32 = 4_096;
/// Entries of the ring of frames to be sent.
const SEND_RING: u32 = 2_048;
/// Entries of the ring of frame buffers that come back.
const COMPLETION_RING: u32 = 2 * SEND_RING;
/// Frames that the kernel sends in one call, where it can be told; otherwise 32.
const SEND_BUDGET: u32 = SEND_RING;
const XDP_MAX_TX_SKB_BUDGET: i32 = 9;
/// Calls to send that one flush makes at most.
const KICKS: usize = 64;
/// The kernel lets go of a queue some time after its socket was closed, such as that of a switch that ran before. A
/// switch that is forwarding does not wait for that.
const PATIENCE: Duration = Duration::from_secs(2);
/// The shortest frame that the kernel sends.
const SHORTEST: usize = 14;
/// The largest frame buffers that the kernel takes as memory of such sockets: a page.
pub(super) const LARGEST_BUFFER: usize = 4_096;

/// How the program and the memory are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// In the driver if it can, otherwise behind it; frames are copied.
    Driver,
    /// Behind the driver.
    Generic,
    /// In the driver, whose card reads and writes the pool's memory.
    ZeroCopy,
}

/// The memory of all sockets: whoever has registered it, and the sockets that share it.
#[derive(Debug)]
pub(super) struct Umem {
    region: Arc<Region>,
    buffer: usize,
    sockets: Vec<Weak<OwnedFd>>,
    /// Whether cards use the memory themselves: of all sockets, or of none.
    zero_copy: bool,
    /// Until then, queues that are taken are waited for.
    patient_until: Instant,
}

impl Umem {
    /// The pool's memory, to be registered with the first socket.
    pub(super) fn new(pool: &Pool) -> Self {
        let patient_until = Instant::now() + PATIENCE;
        Self {
            region: pool.region().clone(),
            buffer: pool.stride(),
            sockets: Vec::new(),
            zero_copy: false,
            patient_until,
        }
    }

    /// The memory itself.
    pub(super) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// Bytes from one frame buffer to the next.
    pub(super) fn stride(&self) -> usize {
        self.buffer
    }

    /// A socket that is bound to a queue of an interface, with its rings.
    pub(super) fn socket(&mut self, interface: &Interface, queue: u32, zero_copy: bool) -> io::Result<Rings> {
        self.sockets.retain(|socket| socket.strong_count() > 0);
        let others: Vec<_> = self.sockets.iter().filter_map(Weak::upgrade).collect();
        if !others.is_empty() && zero_copy != self.zero_copy {
            let text = "the memory of a switch is used with zero-copy by all of its AF_XDP ports, or by none: give all the same `backend`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        for other in &others {
            let rings = Rings::new(&self.region)?;
            match self.bind(&rings, interface, queue, libc::XDP_SHARED_UMEM, Some(other)) {
                Ok(()) => return Ok(self.keep(rings)),
                // Its interface is gone. Another one may still do.
                Err(error) if error.raw_os_error() == Some(libc::EBADF) => {}
                Err(error) => return Err(error),
            }
        }
        let rings = Rings::new(&self.region)?;
        let memory = libc::xdp_umem_reg {
            addr: self.region.start() as u64,
            len: self.region.size() as u64,
            chunk_size: self.buffer as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set_option(&rings.fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &memory)?;
        let flags = if zero_copy { libc::XDP_ZEROCOPY } else { libc::XDP_COPY };
        self.bind(&rings, interface, queue, flags, None).map_err(|error| match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::EINVAL) if zero_copy => no_zero_copy(interface, &error),
            _ => error,
        })?;
        self.zero_copy = zero_copy;
        Ok(self.keep(rings))
    }

    fn bind(
        &self,
        rings: &Rings,
        interface: &Interface,
        queue: u32,
        flags: u16,
        shared: Option<&OwnedFd>,
    ) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags,
            sxdp_ifindex: interface.index(),
            sxdp_queue_id: queue,
            sxdp_shared_umem_fd: shared.map_or(0, |fd| fd.as_raw_fd() as u32),
        };
        loop {
            match bind(&rings.fd, &address) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < self.patient_until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                result => return result,
            }
        }
    }

    fn keep(&mut self, rings: Rings) -> Rings {
        self.sockets.push(Arc::downgrade(&rings.fd));
        rings
    }
}

/// How long the last frames of a port that is closed may take to be sent.
const LAST_COMPLETIONS: Duration = Duration::from_secs(1);

/// A socket with its rings.
#[derive(Debug)]
pub(super) struct Rings {
    fd: Arc<OwnedFd>,
    fill: Producer<u64>,
    completion: Consumer<u64>,
    receive: Consumer<libc::xdp_desc>,
    send: Producer<libc::xdp_desc>,
}

/// What keeps a ring: the socket's mapping, and the memory that the entries are about.
struct Keeper {
    _mapping: Mapping,
    _region: Arc<Region>,
}

impl Rings {
    fn new(region: &Arc<Region>) -> io::Result<Self> {
        let fd = socket(libc::AF_XDP, libc::SOCK_RAW)?;
        for (ring, size) in [
            (libc::XDP_UMEM_FILL_RING, RECEIVE_RING),
            (libc::XDP_UMEM_COMPLETION_RING, COMPLETION_RING),
            (libc::XDP_RX_RING, RECEIVE_RING),
            (libc::XDP_TX_RING, SEND_RING),
        ] {
            set_option(&fd, libc::SOL_XDP, ring, &size)?;
        }
        // Older kernels know no budget, and not everyone may have the larger buffer.
        let _ = set_option(&fd, libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &SEND_BUDGET);
        let _ = set_option(&fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        // SAFETY: the structure is plain numbers.
        let at: libc::xdp_mmap_offsets = unsafe { option(&fd, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS) }?;
        let fill = place(&fd, region, &at.fr, libc::XDP_UMEM_PGOFF_FILL_RING as i64, RECEIVE_RING)?;
        let completion = place(&fd, region, &at.cr, libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64, COMPLETION_RING)?;
        let receive = place(&fd, region, &at.rx, libc::XDP_PGOFF_RX_RING, RECEIVE_RING)?;
        let send = place(&fd, region, &at.tx, libc::XDP_PGOFF_TX_RING, SEND_RING)?;
        // SAFETY: the kernel's rings, kept by their keepers. The kernel is the other side of each; there are no other
        // users.
        unsafe {
            Ok(Self {
                fd: Arc::new(fd),
                fill: Producer::new(fill.0, fill.1),
                completion: Consumer::new(completion.0, completion.1),
                receive: Consumer::new(receive.0, receive.1),
                send: Producer::new(send.0, send.1),
            })
        }
    }

    /// A half that only sends.
    pub(super) fn into_sender(self, pool: &mut Pool) -> io::Result<Sender> {
        Sender::new(self.fd, self.completion, self.send, pool)
    }
}

/// Maps a ring of a socket.
fn place<T>(
    fd: &OwnedFd,
    region: &Arc<Region>,
    at: &libc::xdp_ring_offset,
    offset: i64,
    size: u32,
) -> io::Result<(Place<T>, Arc<Keeper>)> {
    let bytes = at.desc as usize + size as usize * size_of::<T>();
    let mapping = Mapping::new(fd, bytes, offset)?;
    let place = Place {
        produced: mapping.at(at.producer as usize).cast(),
        consumed: mapping.at(at.consumer as usize).cast(),
        entries: mapping.at(at.desc as usize).cast(),
        size,
    };
    Ok((place, Arc::new(Keeper { _mapping: mapping, _region: region.clone() })))
}

/// An interface that is attached to, whose sockets have no frame buffers yet.
#[derive(Debug)]
pub(super) struct Opened {
    // The program goes first: then nothing more comes.
    program: Attached,
    sockets: Sockets,
    listener: OwnedFd,
    queues: Vec<ReceiveQueue>,
    fd: Arc<OwnedFd>,
    completion: Consumer<u64>,
    send: Producer<libc::xdp_desc>,
    interface: Interface,
}

/// Why an interface cannot be used without copies.
fn no_zero_copy(interface: &Interface, error: &io::Error) -> io::Error {
    let (name, driver) = (interface.name(), interface.driver().unwrap_or("unknown".to_owned()));
    let text = format!(
        "interface `{name}`: its driver ({driver}) has no zero-copy AF_XDP ({error}): set `backend` to \"xdp\" or \"auto\""
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}

/// Attaches to an interface.
pub(super) fn open(interface: Interface, umem: &mut Umem, mode: Mode) -> io::Result<Opened> {
    let count = interface.receive_queues();
    // All frames, not only those for the interface's own address.
    let listener = quiet_socket()?;
    interface.listen_to_all(&listener)?;
    let sockets = Sockets::new(count)?;
    let mut queues = Vec::new();
    let mut sender = None;
    for queue in 0..count {
        let rings = umem.socket(&interface, queue, mode == Mode::ZeroCopy)?;
        sockets.set(queue, &rings.fd)?;
        if sender.is_none() {
            sender = Some((rings.fd.clone(), rings.completion, rings.send));
        }
        queues.push(ReceiveQueue { fd: rings.fd, fill: rings.fill, filled: 0, receive: rings.receive });
    }
    let program = bpf::redirect(interface.index(), &sockets, mode != Mode::Generic)?;
    if mode == Mode::ZeroCopy && !program.in_driver {
        return Err(no_zero_copy(&interface, &io::Error::from_raw_os_error(libc::EOPNOTSUPP)));
    }
    let (fd, completion, send) = sender.ok_or(io::ErrorKind::NotFound)?;
    Ok(Opened { program, sockets, listener, queues, fd, completion, send, interface })
}

impl Opened {
    /// Whether frames are taken in the driver, before the kernel has made anything of them.
    pub(super) fn is_in_driver(&self) -> bool {
        self.program.in_driver
    }

    /// The two halves of a port, with frame buffers to receive into.
    pub(super) fn join(self, pool: &mut Pool, fill: u32) -> io::Result<(Receiver, Sender)> {
        let sender = Sender::new(self.fd, self.completion, self.send, pool)?;
        let borrower = pool.borrower().ok_or_else(too_many)?;
        let level = (fill / self.queues.len() as u32).clamp(1, RECEIVE_RING);
        let mut receiver = Receiver {
            program: self.program,
            sockets: self.sockets,
            _listener: self.listener,
            queues: self.queues,
            level,
            borrower,
            check: Check::new(self.interface),
        };
        receiver.fill(pool);
        Ok((receiver, sender))
    }
}

/// Why a port gets no number.
pub(super) fn too_many() -> io::Error {
    io::Error::other("more than 127 ports share a pool")
}

/// What a receive queue of the interface has.
#[derive(Debug)]
struct ReceiveQueue {
    fd: Arc<OwnedFd>,
    fill: Producer<u64>,
    /// Frame buffers that the kernel has for this queue, empty or with frames that we have not taken.
    filled: u32,
    receive: Consumer<libc::xdp_desc>,
}

/// The receiving half.
#[derive(Debug)]
pub struct Receiver {
    // The program goes first: then nothing more comes.
    program: Attached,
    sockets: Sockets,
    _listener: OwnedFd,
    queues: Vec<ReceiveQueue>,
    /// Frame buffers that the kernel should have for each queue.
    level: u32,
    borrower: Borrower,
    check: Check,
}

impl Receiver {
    /// The descriptors that say when a frame has come.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.queues.iter().map(|queue| queue.fd.as_fd())
    }

    /// Whether frames are taken in the driver, before the kernel has made anything of them.
    pub fn is_in_driver(&self) -> bool {
        self.program.in_driver
    }

    /// Who borrows the frame buffers that the kernel has.
    pub(super) fn borrower(&self) -> Borrower {
        self.borrower
    }

    /// Takes frames that have come in, at most so many of each queue.
    pub(super) fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        let before = frames.len();
        for queue in &mut self.queues {
            queue.take(pool, self.borrower, frames, most);
        }
        if frames.len() == before {
            // The pool may have had no frame buffer before.
            self.fill(pool);
            return self.check.when_idle();
        }
        self.fill(pool);
        Ok(())
    }

    fn fill(&mut self, pool: &mut Pool) {
        for queue in &mut self.queues {
            queue.top_up(pool, self.borrower, self.level);
        }
    }

    /// What was lost here so far.
    pub(super) fn outside(&self) -> Outside {
        let mut outside = Outside::default();
        for queue in &self.queues {
            // SAFETY: the structure is plain numbers.
            let fresh = unsafe { option::<libc::xdp_statistics>(&queue.fd, libc::SOL_XDP, libc::XDP_STATISTICS) };
            if let Ok(fresh) = fresh {
                // A frame that finds no frame buffer to be filled is among the dropped ones.
                outside.receive_overruns += fresh.rx_dropped + fresh.rx_ring_full;
            }
        }
        outside
    }

    /// Closes the sockets; the sending half must be closed before. Nothing is attached then, so the kernel writes to no
    /// frame buffer.
    pub(super) fn close(self) -> Closed {
        // A program that is being started at this moment has our descriptors for a while: then the sockets are not
        // closed with ours.
        for queue in 0..self.queues.len() {
            let _ = self.sockets.remove(queue as u32);
        }
        Closed::of(self.outside(), self.borrower, true)
    }
}

impl ReceiveQueue {
    fn take(&mut self, pool: &mut Pool, borrower: Borrower, frames: &mut Vec<Received>, most: usize) {
        let mut taken = 0;
        while (taken as usize) < most {
            let Some(frame) = self.receive.take() else { break };
            taken += 1;
            let lent = pool.lent_at(frame.addr);
            let length = frame.len as usize;
            if let Some(slot) = pool.hand_over(lent, borrower) {
                // A kernel that does otherwise has left the ground that this stands on: the frame is not used.
                let is_sane = frame.addr as usize == pool.offset(&slot) && length <= pool.buffer_size();
                debug_assert!(is_sane, "{length} bytes at {} instead of {HEADROOM}", frame.addr);
                pool.prefetch(&slot);
                frames.push(Received { slot, length: if is_sane { length } else { 0 } });
            }
        }
        if taken > 0 {
            self.receive.release();
            self.filled -= taken;
        }
    }

    fn top_up(&mut self, pool: &mut Pool, borrower: Borrower, level: u32) {
        if self.filled == level {
            return;
        }
        while self.filled < level && self.fill.room(1) > 0 {
            let Some(lent) = pool.take_for(borrower) else { break };
            self.fill.put(pool.start_of(&lent));
            self.filled += 1;
        }
        self.fill.publish();
    }
}

/// The sending half.
#[derive(Debug)]
pub struct Sender {
    fd: Arc<OwnedFd>,
    completion: Consumer<u64>,
    send: Producer<libc::xdp_desc>,
    borrower: Borrower,
    /// Whether there are frames that the kernel has not been told of.
    unpublished: bool,
    /// Frame buffers that the kernel has.
    in_flight: u32,
    failures: u64,
}

impl Sender {
    fn new(
        fd: Arc<OwnedFd>,
        completion: Consumer<u64>,
        send: Producer<libc::xdp_desc>,
        pool: &mut Pool,
    ) -> io::Result<Self> {
        let borrower = pool.borrower().ok_or_else(too_many)?;
        Ok(Self { fd, completion, send, borrower, unpublished: false, in_flight: 0, failures: 0 })
    }

    /// Who borrows the frame buffers that the kernel has.
    pub(super) fn borrower(&self) -> Borrower {
        self.borrower
    }

    /// Takes a frame to be sent.
    pub(super) fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        let frame = libc::xdp_desc { addr: pool.offset(&slot) as u64, len: length as u32, options: 0 };
        // If the ring is full, what is in it goes out first. An error shows again at the next flush.
        if length < SHORTEST || self.send.room(1) == 0 && (self.flush(pool).is_err() || self.send.room(1) == 0) {
            self.failures += 1;
            pool.give(slot);
            return;
        }
        self.send.put(frame);
        pool.lend(slot, self.borrower);
        self.in_flight += 1;
        self.unpublished = true;
    }

    /// FrameHandler what was taken to the kernel, and takes back the frame buffers of what is gone.
    pub(super) fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        if self.in_flight == 0 {
            return Ok(());
        }
        if std::mem::take(&mut self.unpublished) {
            self.send.publish();
        }
        let mut waiting = self.send.waiting();
        for _ in 0..KICKS {
            if waiting == 0 {
                break;
            }
            self.kick()?;
            let before = std::mem::replace(&mut waiting, self.send.waiting());
            self.complete(pool);
            if waiting == before {
                break;
            }
        }
        self.complete(pool);
        Ok(())
    }

    fn complete(&mut self, pool: &mut Pool) {
        let before = self.in_flight;
        while let Some(address) = self.completion.take() {
            let lent = pool.lent_at(address);
            if let Some(slot) = pool.hand_over(lent, self.borrower) {
                pool.give(slot);
                self.in_flight -= 1;
            }
        }
        if self.in_flight != before {
            self.completion.release();
        }
    }

    /// One call, which sends what is in the ring, or part of it.
    fn kick(&mut self) -> io::Result<()> {
        // SAFETY: no memory is involved: what is sent is in the ring.
        let result =
            unsafe { libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) };
        let Err(error) = checked(result as i64) else { return Ok(()) };
        match error.raw_os_error() {
            // There is more in the ring than one call takes, or no memory right now.
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => Ok(()),
            // The interface did not take a frame.
            Some(libc::EBUSY) => {
                self.failures += 1;
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// What was lost here so far.
    pub(super) fn outside(&self) -> Outside {
        Outside { send_failures: self.failures, ..Outside::default() }
    }

    /// Lets go of the socket when the kernel has no more to do with what it has taken. What it has not taken from the
    /// ring it never will, but what it has taken, some drivers (virtio-net) read after `kick` has returned: without a
    /// word that it is sent, its frame buffer cannot be used again.
    pub(super) fn close(mut self) -> Closed {
        let untaken = self.send.waiting();
        let start = Instant::now();
        loop {
            while self.completion.take().is_some() {
                self.in_flight = self.in_flight.saturating_sub(1);
            }
            if self.in_flight <= untaken || start.elapsed() > LAST_COMPLETIONS {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let send_failures = self.failures + u64::from(self.in_flight);
        let outside = Outside { send_failures, ..Outside::default() };
        Closed::of(outside, self.borrower, self.in_flight <= untaken)
    }
}
