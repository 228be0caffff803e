//! Ports by AF_XDP, copy mode: the kernel puts frames into the pool's pieces and takes them from there; nothing is copied in user space.
//!
//! The whole pool is the memory (UMEM) of all sockets. The first socket registers it, the others share it. Each has four rings: pieces to be filled,
//! frames received, frames to be sent, and pieces of frames that are gone. A port has a socket for each receive queue of its interface, and
//! sends by the first.

use super::Check;
use super::bpf::{self, Attached, Sockets};
use super::interface::Interface;
use super::packet::{SEND_BUFFER, quiet_socket};
use super::socket::{Mapping, bind, checked, option, set_option, socket};
use super::spsc::{Consumer, Place, Producer};
use crate::pool::{Borrower, HEADROOM, Pool, Region, Slot};
use crate::port::{Outside, Received};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Entries of the rings of received frames and of pieces to be filled.
pub(super) const RECEIVE_RING: u32 = 4_096;
/// Entries of the ring of frames to be sent.
const SEND_RING: u32 = 2_048;
/// Entries of the ring of pieces that come back.
const COMPLETION_RING: u32 = 2 * SEND_RING;
/// Frames that the kernel sends in one call, where it can be told; otherwise 32.
const SEND_BUDGET: u32 = SEND_RING;
const XDP_MAX_TX_SKB_BUDGET: i32 = 9;
/// Calls to send that one flush makes at most.
const KICKS: usize = 64;
/// The kernel lets go of a queue some time after its socket was closed, such as that of a switch that ran before. A switch that is forwarding
/// does not wait for that.
const PATIENCE: Duration = Duration::from_secs(2);
/// The shortest frame that the kernel sends.
const SHORTEST: usize = 14;
/// The largest pieces that the kernel takes as memory of such sockets: a page.
pub(super) const LARGEST_PIECE: usize = 4_096;

/// The memory of all sockets: whoever has registered it, and the sockets that share it.
#[derive(Debug)]
pub(super) struct Umem {
    region: Arc<Region>,
    piece: usize,
    sockets: Vec<Weak<OwnedFd>>,
    /// Until then, queues that are taken are waited for.
    patient_until: Instant,
}

impl Umem {
    /// The pool's memory, to be registered with the first socket.
    pub(super) fn new(pool: &Pool) -> Self {
        let patient_until = Instant::now() + PATIENCE;
        Self { region: pool.region().clone(), piece: pool.stride(), sockets: Vec::new(), patient_until }
    }

    /// A socket that is bound to a queue of an interface, with its rings.
    pub(super) fn socket(&mut self, interface: &Interface, queue: u32) -> io::Result<Rings> {
        self.sockets.retain(|socket| socket.strong_count() > 0);
        let others: Vec<_> = self.sockets.iter().filter_map(Weak::upgrade).collect();
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
            chunk_size: self.piece as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set_option(&rings.fd, libc::SOL_XDP, libc::XDP_UMEM_REG, &memory)?;
        self.bind(&rings, interface, queue, libc::XDP_COPY, None)?;
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
const LAST_COMPLETIONS: Duration = Duration::from_millis(20);

/// A socket with its rings.
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
        // SAFETY: the kernel's rings, kept by their keepers. The kernel is the other side of each; there are no other users.
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

/// Attaches to an interface: the two halves of a port.
pub(super) fn attach(
    interface: Interface,
    umem: &mut Umem,
    pool: &mut Pool,
    fill: u32,
    in_driver: bool,
) -> io::Result<(Receiver, Sender)> {
    let queues = interface.receive_queues();
    // All frames, not only those for the interface's own address.
    let listener = quiet_socket()?;
    interface.listen_to_all(&listener)?;
    let sockets = Sockets::new(queues)?;
    let mut receivers = Vec::new();
    let mut sender = None;
    for queue in 0..queues {
        let rings = umem.socket(&interface, queue)?;
        sockets.set(queue, &rings.fd)?;
        if sender.is_none() {
            sender = Some((rings.fd.clone(), rings.completion, rings.send));
        }
        receivers.push(ReceiveQueue { fd: rings.fd, fill: rings.fill, filled: 0, receive: rings.receive });
    }
    let program = bpf::redirect(interface.index(), &sockets, in_driver)?;
    // Numbers of borrowers are taken when nothing can go wrong any more: an interface may be tried again and again.
    let (fd, completion, send) = sender.ok_or(io::ErrorKind::NotFound)?;
    let sender = Sender::new(fd, completion, send, pool)?;
    let borrower = pool.borrower().ok_or_else(too_many)?;
    let mut receiver = Receiver {
        program,
        sockets,
        _listener: listener,
        queues: receivers,
        level: (fill / queues).clamp(1, RECEIVE_RING),
        borrower,
        check: Check::new(interface),
    };
    receiver.fill(pool);
    Ok((receiver, sender))
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
    /// Pieces that the kernel has for this queue, empty or with frames that we have not taken.
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
    /// Pieces that the kernel should have for each queue.
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

    /// Who borrows the pieces that the kernel has.
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
            // The pool may have had no piece before.
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
                // A frame that finds no piece to be filled is among the dropped ones.
                outside.receive_overruns += fresh.rx_dropped + fresh.rx_ring_full;
            }
        }
        outside
    }

    /// Closes the sockets and takes back their pieces; the sending half must be closed before. What was lost here in all.
    pub(super) fn close(self, pool: &mut Pool) -> Outside {
        // A program that is being started at this moment has our descriptors for a while: then the sockets are not closed with ours.
        for queue in 0..self.queues.len() {
            let _ = self.sockets.remove(queue as u32);
        }
        let (outside, borrower) = (self.outside(), self.borrower);
        drop(self);
        // Nothing is attached any more, so the kernel writes to no piece.
        pool.reclaim(borrower);
        outside
    }
}

impl ReceiveQueue {
    fn take(&mut self, pool: &mut Pool, borrower: Borrower, frames: &mut Vec<Received>, most: usize) {
        let mut taken = 0;
        while (taken as usize) < most {
            let Some(frame) = self.receive.take() else { break };
            taken += 1;
            let slot = pool.slot_at(frame.addr);
            let length = frame.len as usize;
            // A kernel that does otherwise has left the ground that this stands on: the frame is not used.
            let is_sane = frame.addr as usize == pool.offset(slot) && length <= pool.piece();
            if pool.hand_over(slot, borrower) {
                debug_assert!(is_sane, "{length} bytes at {} instead of {HEADROOM}", frame.addr);
                pool.prefetch(slot);
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
            let Some(slot) = pool.take_for(borrower) else { break };
            self.fill.put((pool.offset(slot) - HEADROOM) as u64);
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
    /// Pieces that the kernel has.
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

    /// Who borrows the pieces that the kernel has.
    pub(super) fn borrower(&self) -> Borrower {
        self.borrower
    }

    /// Takes a frame to be sent.
    pub(super) fn send(&mut self, pool: &mut Pool, slot: Slot, length: usize) {
        let frame = libc::xdp_desc { addr: pool.offset(slot) as u64, len: length as u32, options: 0 };
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

    /// FrameHandler what was taken to the kernel, and takes back the pieces of what is gone.
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
            let slot = pool.slot_at(address);
            if pool.hand_over(slot, self.borrower) {
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

    /// Lets go of the socket and takes back its pieces; what was lost here in all.
    pub(super) fn close(mut self, pool: &mut Pool) -> Outside {
        // What the kernel has not taken from the ring it never will, but what it has taken, some drivers (virtio-net) read after `kick` has returned.
        let untaken = self.send.waiting();
        let start = Instant::now();
        self.complete(pool);
        while self.in_flight > untaken && start.elapsed() < LAST_COMPLETIONS {
            std::thread::yield_now();
            self.complete(pool);
        }
        let (borrower, are_done) = (self.borrower, self.in_flight <= untaken);
        let failures = self.failures + u64::from(self.in_flight);
        drop(self);
        if are_done {
            pool.reclaim(borrower);
        }
        // Otherwise a device may still read them: these pieces are used no more.
        Outside { send_failures: failures, ..Outside::default() }
    }
}
