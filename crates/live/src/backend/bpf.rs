//! Two small programs for the kernel, made of instructions right here, and how they are loaded and attached.
//!
//! They are attached by links, which are descriptors: when the process ends, however it ends, the interface is as it
//! was before.

use super::socket::{checked, owned};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const MAP_DELETE: i32 = 3;
const PROGRAM_LOAD: i32 = 5;
const LINK_CREATE: i32 = 28;

const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_CLASSIFIER: u32 = 3;
const PROGRAM_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const ATTACH_INGRESS: u32 = 46;

const XDP_SKB_MODE: u32 = 1 << 1;
const XDP_DRIVER_MODE: u32 = 1 << 2;
const XDP_DROP: i32 = 1;
const INGRESS_DROP: i32 = 2;
const REDIRECT_MAP: i32 = 51;
/// Where the number of the receive queue is in the context of an XDP program.
const QUEUE_AT: i16 = 16;

/// One instruction: code, the two registers, offset, constant.
const fn instruction(code: u8, to: u8, from: u8, offset: i16, constant: i32) -> u64 {
    code as u64 | (to as u64) << 8 | (from as u64) << 12 | (offset as u16 as u64) << 16 | (constant as u32 as u64) << 32
}

const fn set(register: u8, constant: i32) -> u64 {
    instruction(0xb7, register, 0, 0, constant)
}

const EXIT: u64 = instruction(0x95, 0, 0, 0, 0);

#[repr(C)]
struct MapCreate {
    kind: u32,
    key_size: u32,
    value_size: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct MapChange {
    map: u32,
    _padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramLoad {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log: [u32; 4],
    kernel: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach: u32,
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    attach: u32,
    flags: u32,
    more: [u64; 4],
}

/// Calls bpf(2).
///
/// # Safety
/// `T` must be laid out as the kernel expects for the command, and the addresses in it must be good for the call.
unsafe fn bpf<T>(command: i32, arguments: &T) -> io::Result<i64> {
    // SAFETY: the kernel reads `size` bytes of the arguments; what they point to is the caller's promise.
    checked(unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(arguments), size_of::<T>()) })
}

fn load(kind: u32, attach: u32, name: &[u8], code: &[u64]) -> io::Result<OwnedFd> {
    let mut load = ProgramLoad {
        kind,
        instructions: code.len() as u32,
        code: code.as_ptr() as u64,
        license: c"MIT".as_ptr() as u64,
        log: [0; 4],
        kernel: 0,
        flags: 0,
        name: [0; 16],
        interface: 0,
        attach,
    };
    load.name[..name.len()].copy_from_slice(name);
    // SAFETY: laid out as the kernel has it; code and license live longer than the call.
    owned(unsafe { bpf(PROGRAM_LOAD, &load) }?)
}

fn link(program: &OwnedFd, interface: u32, attach: u32, flags: u32) -> io::Result<OwnedFd> {
    let link = LinkCreate { program: program.as_raw_fd() as u32, interface, attach, flags, more: [0; 4] };
    // SAFETY: laid out as the kernel has it, without addresses.
    owned(unsafe { bpf(LINK_CREATE, &link) }?)
}

/// Sockets of family AF_XDP by the numbers of receive queues.
#[derive(Debug)]
pub(super) struct Sockets(OwnedFd);

impl Sockets {
    /// Room for the sockets of so many queues.
    pub(super) fn new(queues: u32) -> io::Result<Self> {
        let create = MapCreate { kind: MAP_OF_SOCKETS, key_size: 4, value_size: 4, entries: queues, flags: 0 };
        // SAFETY: laid out as the kernel has it, without addresses.
        Ok(Self(owned(unsafe { bpf(MAP_CREATE, &create) }?)?))
    }

    /// From now on, what a queue receives is for this socket.
    pub(super) fn set(&self, queue: u32, socket: &OwnedFd) -> io::Result<()> {
        let socket = socket.as_raw_fd() as u32;
        self.change(MAP_UPDATE, queue, std::ptr::from_ref(&socket) as u64)
    }

    /// From now on, what a queue receives is dropped.
    pub(super) fn remove(&self, queue: u32) -> io::Result<()> {
        self.change(MAP_DELETE, queue, 0)
    }

    /// `value` is the address of the new value, for commands that have one.
    fn change(&self, command: i32, queue: u32, value: u64) -> io::Result<()> {
        let key = std::ptr::from_ref(&queue) as u64;
        let change = MapChange { map: self.0.as_raw_fd() as u32, _padding: 0, key, value, flags: 0 };
        // SAFETY: laid out as the kernel has it; key and value have four bytes each, as the map does, and live longer
        // than the call.
        unsafe { bpf(command, &change) }?;
        Ok(())
    }
}

/// A program at an interface, until this is dropped.
#[derive(Debug)]
pub(super) struct Attached {
    _link: OwnedFd,
    /// Whether it runs in the driver, before the kernel has made anything of the frame.
    pub(super) in_driver: bool,
}

/// FrameHandler all frames that an interface receives to the sockets of their queues. Without a socket a frame is
/// dropped: none gets to the kernel's own network stack. In the driver if it can and if it may, otherwise behind it.
pub(super) fn redirect(interface: u32, sockets: &Sockets, may_be_in_driver: bool) -> io::Result<Attached> {
    let code = [
        // r2 = the number of the queue
        instruction(0x61, 2, 1, QUEUE_AT, 0),
        // r1 = the map, by its descriptor
        instruction(0x18, 1, 1, 0, sockets.0.as_raw_fd()),
        0,
        // r3 = what to do without a socket
        set(3, XDP_DROP),
        instruction(0x85, 0, 0, 0, REDIRECT_MAP),
        EXIT,
    ];
    let program = load(PROGRAM_XDP, ATTACH_XDP, b"forebay", &code)?;
    if may_be_in_driver {
        match link(&program, interface, ATTACH_XDP, XDP_DRIVER_MODE) {
            Ok(link) => return Ok(Attached { _link: link, in_driver: true }),
            // Another program is there: the other mode will not help.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => return Err(error),
            Err(_) => {}
        }
    }
    Ok(Attached { _link: link(&program, interface, ATTACH_XDP, XDP_SKB_MODE)?, in_driver: false })
}

/// Keeps the kernel's own network stack from what an interface receives; sockets of family AF_PACKET still get it.
pub(super) fn keep_from_stack(interface: u32) -> io::Result<Attached> {
    let program = load(PROGRAM_CLASSIFIER, ATTACH_INGRESS, b"forebay", &[set(0, INGRESS_DROP), EXIT])?;
    Ok(Attached { _link: link(&program, interface, ATTACH_INGRESS, 0)?, in_driver: false })
}
