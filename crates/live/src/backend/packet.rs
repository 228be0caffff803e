//! Ports by AF_PACKET: frames come by a ring that the kernel shares (TPACKET_V2), and are sent many at a time
//! (sendmmsg).
//!
//! Two sockets, so that the two halves can be in two threads. All that is set at the interface goes with the sockets.

use super::Check;
use super::bpf::{self, Attached};
use super::interface::Interface;
use super::offload::complete_checksum;
use super::socket::{Mapping, bind, checked, option, set_option, socket};
use crate::pool::{Pool, Region, Slot, prefetch};
use crate::port::{Outside, Received};
use std::cell::Cell;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Frames that the kernel's ring has room for.
const RING: usize = 2_048;
/// Bytes of the ring that are one frame buffer of the kernel's memory.
const BLOCK: usize = 1 << 16;
/// Frames that are handed to the kernel at a time.
const BATCH: usize = 64;
/// What a VLAN tag takes.
const TAG: usize = 4;
/// Where a VLAN tag stands.
const TAG_AT: usize = 12;
const VLAN: u16 = 0x8100;
/// Frames that are asked for ahead.
const AHEAD: usize = 4;
/// What sockets may have under way; the kernel's default is a few hundred frames.
pub(super) const SEND_BUFFER: i32 = 16 << 20;

/// The receiving half.
#[derive(Debug)]
pub struct Receiver {
    fd: OwnedFd,
    ring: Mapping,
    /// Bytes of the ring for each frame.
    stride: usize,
    next: usize,
    /// The longest frame that the interface can have got from a wire.
    longest: usize,
    check: Check,
    too_long: u64,
    overruns: Cell<u64>,
    _kept_from_stack: Option<Attached>,
}

fn address(interface: &Interface, protocol: i32) -> libc::sockaddr_ll {
    // SAFETY: the structure is plain numbers.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (protocol as u16).to_be();
    address.sll_ifindex = interface.index() as i32;
    address
}

/// A socket of this family that gets nothing yet.
pub(super) fn quiet_socket() -> io::Result<OwnedFd> {
    socket(libc::AF_PACKET, libc::SOCK_RAW)
}

impl Receiver {
    /// Starts to receive.
    pub(super) fn new(interface: Interface, stride: usize) -> io::Result<Self> {
        let fd = quiet_socket()?;
        let longest = interface.longest()?;
        let set = |name: i32, value: i32| set_option(&fd, libc::SOL_PACKET, name, &value);
        set(libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as i32)?;
        set(libc::PACKET_IGNORE_OUTGOING, 1)?;
        let block = BLOCK.max(stride);
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (RING * stride / block) as u32,
            tp_frame_size: stride as u32,
            tp_frame_nr: RING as u32,
        };
        set_option(&fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let ring = Mapping::new(&fd, RING * stride, 0)?;
        interface.listen_to_all(&fd)?;
        // Kernels before 6.6 cannot do this. Then the host's own stack sees the frames, too, as with any capture.
        let kept_from_stack = bpf::keep_from_stack(interface.index()).ok();
        bind(&fd, &address(&interface, libc::ETH_P_ALL))?;
        Ok(Self {
            fd,
            ring,
            stride,
            next: 0,
            longest,
            check: Check::new(interface),
            too_long: 0,
            overruns: Cell::new(0),
            _kept_from_stack: kept_from_stack,
        })
    }

    /// Takes frames that have come in, at most so many.
    pub(super) fn receive(&mut self, pool: &mut Pool, frames: &mut Vec<Received>, most: usize) -> io::Result<()> {
        let before = frames.len();
        while frames.len() - before < most {
            let header = self.ring.at(self.next * self.stride);
            // SAFETY: the first word of a frame's place in the ring is its status, which the kernel writes, too; it is
            // only touched as an atomic.
            let status = unsafe { &*header.cast::<AtomicU32>() };
            let now = status.load(Ordering::Acquire);
            if now & libc::TP_STATUS_USER == 0 {
                break;
            }
            // Without a frame buffer the frame stays where it is, and the kernel counts what it has no room for.
            let Some(mut slot) = pool.take() else { break };
            prefetch(self.ring.at((self.next + AHEAD) % RING * self.stride));
            // SAFETY: the status says that the frame is ours until we give it back, and the kernel has put a header
            // before it.
            let head = unsafe { header.cast::<libc::tpacket2_hdr>().read() };
            match self.copy(header, &head, pool, &mut slot) {
                Some(length) => {
                    // A sender on this machine has left the checksum to its interface.
                    if now & libc::TP_STATUS_CSUMNOTREADY != 0 {
                        complete_checksum(pool.bytes_mut(&mut slot, length));
                    }
                    frames.push(Received { slot, length });
                }
                None => {
                    pool.give(slot);
                    self.too_long += 1;
                }
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % RING;
        }
        if frames.len() == before { self.check.when_idle() } else { Ok(()) }
    }

    /// Copies a frame into a frame buffer, with the tag that the kernel has taken off; none if it is too long or was
    /// cut.
    fn copy(&self, header: *const u8, head: &libc::tpacket2_hdr, pool: &mut Pool, slot: &mut Slot) -> Option<usize> {
        let captured = head.tp_snaplen as usize;
        let start = usize::from(head.tp_mac);
        if head.tp_len as usize > captured || start + captured > self.stride {
            return None;
        }
        let has_tag = head.tp_status & libc::TP_STATUS_VLAN_VALID != 0 && captured >= TAG_AT;
        let length = captured + if has_tag { TAG } else { 0 };
        if length > self.longest.min(pool.buffer_size()) {
            return None;
        }
        // SAFETY: start and length are within the frame's place in the ring (checked above), which is ours until its
        // status is set.
        let frame = unsafe { std::slice::from_raw_parts(header.add(start), captured) };
        let to = pool.bytes_mut(slot, length);
        if has_tag {
            let named = head.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
            let kind = if named { head.tp_vlan_tpid } else { VLAN };
            to[..TAG_AT].copy_from_slice(&frame[..TAG_AT]);
            to[TAG_AT..TAG_AT + 2].copy_from_slice(&kind.to_be_bytes());
            to[TAG_AT + 2..TAG_AT + TAG].copy_from_slice(&head.tp_vlan_tci.to_be_bytes());
            to[TAG_AT + TAG..].copy_from_slice(&frame[TAG_AT..]);
        } else {
            to.copy_from_slice(frame);
        }
        Some(length)
    }

    /// The descriptor that says when a frame has come.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// What was lost here so far.
    pub(super) fn outside(&self) -> Outside {
        // The kernel starts again from zero each time it is asked.
        // SAFETY: the structure is plain numbers.
        let fresh = unsafe { option::<libc::tpacket_stats>(&self.fd, libc::SOL_PACKET, libc::PACKET_STATISTICS) };
        if let Ok(fresh) = fresh {
            self.overruns.set(self.overruns.get() + u64::from(fresh.tp_drops));
        }
        Outside { receive_overruns: self.overruns.get(), too_long: self.too_long, send_failures: 0 }
    }
}

/// What sendmmsg is given: messages, each of which is pointed to its part of `parts` just before the call.
struct Batch {
    parts: Box<[libc::iovec; BATCH]>,
    messages: Box<[libc::mmsghdr; BATCH]>,
}

// SAFETY: pointers are written before each use: to the boxes themselves, and to the region, which the sender keeps.
unsafe impl Send for Batch {}

impl Batch {
    fn new() -> Self {
        // SAFETY: both structures are plain numbers and pointers that may be null.
        unsafe { Self { parts: Box::new(zeroed()), messages: Box::new(zeroed()) } }
    }
}

/// The sending half.
pub struct Sender {
    fd: OwnedFd,
    region: Arc<Region>,
    pending: Vec<(Slot, usize)>,
    batch: Batch,
    /// Whether the first of `pending` has been refused once.
    refused: bool,
    failures: u64,
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender").field("pending", &self.pending.len()).field("failures", &self.failures).finish()
    }
}

/// What becomes of a frame that was refused.
enum Refused {
    Again,
    Later,
    Lost,
    Broken(io::Error),
}

impl Sender {
    /// Gets ready to send.
    pub(super) fn new(interface: &Interface, region: &Arc<Region>) -> io::Result<Self> {
        let fd = quiet_socket()?;
        set_option(&fd, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32)?;
        // Not allowed to everyone; then the kernel's default has to do.
        let _ = set_option(&fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER);
        bind(&fd, &address(interface, 0))?;
        Ok(Self {
            fd,
            region: Arc::clone(region),
            pending: Vec::new(),
            batch: Batch::new(),
            refused: false,
            failures: 0,
        })
    }

    /// Takes a frame to be sent.
    pub(super) fn send(&mut self, slot: Slot, length: usize) {
        self.pending.push((slot, length));
    }

    /// FrameHandler what was taken to the kernel.
    pub(super) fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        let mut done = 0;
        let mut result = Ok(());
        while done < self.pending.len() {
            match self.send_some(pool, done) {
                Ok(sent) => {
                    done += sent;
                    self.refused = false;
                }
                Err(error) => match self.judge(error) {
                    Refused::Again => {}
                    Refused::Later => break,
                    Refused::Lost => {
                        self.failures += 1;
                        done += 1;
                    }
                    Refused::Broken(error) => {
                        self.failures += (self.pending.len() - done) as u64;
                        done = self.pending.len();
                        result = Err(error);
                    }
                },
            }
        }
        for (slot, _) in self.pending.drain(..done) {
            pool.give(slot);
        }
        result
    }

    /// One call for at most a batch, from `first` on; how many were sent.
    fn send_some(&mut self, pool: &Pool, first: usize) -> io::Result<usize> {
        let waiting = &self.pending[first..];
        let count = waiting.len().min(BATCH);
        for (part, (slot, length)) in self.batch.parts.iter_mut().zip(waiting) {
            part.iov_base = self.region.start().wrapping_add(pool.offset(slot)).cast();
            part.iov_len = *length;
        }
        let parts = self.batch.parts.as_mut_ptr();
        for (index, message) in self.batch.messages[..count].iter_mut().enumerate() {
            (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (parts.wrapping_add(index), 1);
        }
        let messages = self.batch.messages.as_mut_ptr();
        // SAFETY: `count` messages, each with one part within the region; frames that are to be sent belong to the
        // sender, so nobody writes to them.
        let sent = unsafe { libc::sendmmsg(self.fd.as_raw_fd(), messages, count as u32, libc::MSG_DONTWAIT) };
        Ok(checked(sent)? as usize)
    }

    fn judge(&mut self, error: io::Error) -> Refused {
        match error.raw_os_error() {
            Some(libc::EINTR) => Refused::Again,
            Some(libc::EAGAIN | libc::ENOBUFS) if !std::mem::replace(&mut self.refused, true) => Refused::Later,
            Some(libc::EAGAIN | libc::ENOBUFS) => {
                self.refused = false;
                Refused::Lost
            }
            // Too long or too short for the interface.
            Some(libc::EMSGSIZE | libc::EINVAL) => Refused::Lost,
            _ => Refused::Broken(error),
        }
    }

    /// What was lost here so far.
    pub(super) fn outside(&self) -> Outside {
        Outside { send_failures: self.failures, ..Outside::default() }
    }

    /// Gives back what was not sent: it is lost.
    pub(super) fn abandon(&mut self, pool: &mut Pool) {
        for (slot, _) in self.pending.drain(..) {
            pool.give(slot);
            self.failures += 1;
        }
    }
}
