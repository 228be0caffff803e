//! Sends frames into a switch at a steady rate and measures how long they take: `latency FROM TO BYTES
//! FRAMES_PER_SECOND SECONDS`.
//!
//! FROM and TO are interfaces in this network namespace, each the peer of a port of the switch (or of each other, which
//! is what everything but the switch takes). A frame says when it was sent; the kernel says when it came to TO, before
//! any program has to wake up. One frame of [`MEASURED`] is measured. It prints the median and the 99.9th percentile in
//! microseconds.

use forebay_live::backend::interface::Interface;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where a frame says that it is measured, and when it was sent.
const MARK_AT: usize = 42;
const STAMP_AT: usize = 48;
const MARK: u8 = 0xa7;
/// One frame of so many is measured at high rates.
const MEASURED: u64 = 32;
/// What does not count at the start.
const WARM_UP: Duration = Duration::from_millis(300);

fn checked(result: i64) -> io::Result<i64> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

/// A raw socket at an interface; `protocol` 0 gets nothing.
fn raw(interface: &str, protocol: i32) -> io::Result<OwnedFd> {
    let index = Interface::find(interface)?.index();
    // SAFETY: the kernel makes a new descriptor, which nobody else knows; it reads the address, which outlives the call
    // and is plain numbers.
    unsafe {
        let fd = checked(libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0).into())?;
        let fd = OwnedFd::from_raw_fd(fd as i32);
        let mut address: libc::sockaddr_ll = zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (protocol as u16).to_be();
        address.sll_ifindex = index as i32;
        let size = size_of::<libc::sockaddr_ll>() as u32;
        checked(libc::bind(fd.as_raw_fd(), (&raw const address).cast(), size).into())?;
        Ok(fd)
    }
}

fn set<T>(fd: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    let (at, size) = (std::ptr::from_ref(value).cast(), size_of::<T>() as u32);
    // SAFETY: the kernel reads `size` bytes of the value, which outlives the call.
    checked(unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, option, at, size) }.into()).map(|_| ())
}

/// Gets only frames that are measured, with the time of their arrival.
fn listener(interface: &str) -> io::Result<OwnedFd> {
    let fd = raw(interface, libc::ETH_P_ALL)?;
    let step =
        |code: u32, jump: u8, constant: u32| libc::sock_filter { code: code as u16, jt: 0, jf: jump, k: constant };
    let (load, test, back) = (
        libc::BPF_LD | libc::BPF_B | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    );
    let mut steps = [step(load, 0, MARK_AT as u32), step(test, 1, MARK.into()), step(back, 0, 128), step(back, 0, 0)];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    set(&fd, libc::SO_ATTACH_FILTER, &program)?;
    set(&fd, libc::SO_TIMESTAMPNS, &1_i32)?;
    set(&fd, libc::SO_RCVBUF, &(4 << 20))?;
    set(&fd, libc::SO_RCVTIMEO, &libc::timeval { tv_sec: 0, tv_usec: 50_000 })?;
    Ok(fd)
}

/// The next measured frame: how long it took, in nanoseconds; none if none comes.
fn next(fd: &OwnedFd) -> Option<u64> {
    let (mut frame, mut control) = ([0_u8; 128], [0_u64; 16]);
    let mut part = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: frame.len() };
    // SAFETY: the message points to the part, which points to the frame, and to room for what the kernel tells, all of
    // which outlive the call. What it tells is looked at as far as it says.
    let came = unsafe {
        let mut message: libc::msghdr = zeroed();
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control) as _);
        if libc::recvmsg(fd.as_raw_fd(), &raw mut message, 0) < (STAMP_AT + 8) as isize {
            return None;
        }
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        if head.is_null() || (*head).cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        libc::CMSG_DATA(head).cast::<libc::timespec>().read_unaligned()
    };
    let came = came.tv_sec as u64 * 1_000_000_000 + came.tv_nsec as u64;
    let sent = u64::from_be_bytes(frame[STAMP_AT..STAMP_AT + 8].try_into().ok()?);
    came.checked_sub(sent)
}

/// A UDP packet from host `from` to host `to`.
fn frame(from: u8, to: u8, bytes: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x08, 0x00];
    let length = ((bytes - 14) as u16).to_be_bytes();
    let mut header = [0x45, 0, length[0], length[1], 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, from, 10, 0, 0, to];
    let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    header[10..12].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
    frame.extend(header);
    frame.extend([0x10, 0, 0x20, 0]);
    frame.extend(((bytes - 34) as u16).to_be_bytes());
    frame.resize(bytes, 0);
    frame
}

fn send(fd: &OwnedFd, frame: &[u8]) -> bool {
    // SAFETY: the kernel reads the frame, which outlives the call.
    unsafe { libc::send(fd.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) == frame.len() as isize }
}

/// Sends for so long; how many were sent, and how many of these were measured after the warm-up.
fn generate(fd: &OwnedFd, bytes: usize, rate: f64, time: Duration) -> (u64, u64) {
    let mut frame = frame(1, 2, bytes);
    let (start, step) = (Instant::now(), Duration::from_secs_f64(1.0 / rate));
    let every = if rate > 10_000.0 { MEASURED } else { 1 };
    let (mut sent, mut measured, mut due) = (0, 0, start);
    while start.elapsed() < time {
        let left = due.saturating_duration_since(Instant::now());
        if left > Duration::from_micros(300) {
            std::thread::sleep(left - Duration::from_micros(200));
        }
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        let counts = sent % every == 0 && start.elapsed() > WARM_UP;
        frame[MARK_AT] = if counts { MARK } else { 0 };
        frame[STAMP_AT..STAMP_AT + 8].copy_from_slice(&nanoseconds().to_be_bytes());
        sent += u64::from(send(fd, &frame));
        measured += u64::from(counts);
        // What was missed is not made up for.
        due = (due + step).max(Instant::now());
    }
    (sent, measured)
}

fn run(arguments: &[String]) -> io::Result<()> {
    let usage = || io::Error::other("usage: latency FROM TO BYTES FRAMES_PER_SECOND SECONDS");
    let [from, to, bytes, rate, seconds] = arguments else { return Err(usage()) };
    let (bytes, rate) = (bytes.parse::<usize>().map_err(|_| usage())?, rate.parse::<f64>().map_err(|_| usage())?);
    let seconds = seconds.parse::<f64>().map_err(|_| usage())?;
    if !(64..=1_514).contains(&bytes) || !(1.0..=1e7).contains(&rate) || !(0.5..=3_600.0).contains(&seconds) {
        return Err(io::Error::other("frames have 64 to 1514 bytes, and runs take half a second or more"));
    }
    let (sender, teacher, receiver) = (raw(from, 0)?, raw(to, 0)?, listener(to)?);
    // The switch learns behind which port the receiver is.
    send(&teacher, &frame(2, 1, 64));
    std::thread::sleep(WARM_UP);
    let is_over = AtomicBool::new(false);
    let ((sent, measured), mut times) = std::thread::scope(|scope| {
        let receive = scope.spawn(|| {
            let mut times = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                times.extend(next(&receiver));
            }
            while let Some(time) = next(&receiver) {
                times.push(time);
            }
            times
        });
        let sent = generate(&sender, bytes, rate, WARM_UP + Duration::from_secs_f64(seconds));
        is_over.store(true, Ordering::Relaxed);
        (sent, receive.join().unwrap_or_default())
    });
    if times.is_empty() {
        return Err(io::Error::other("nothing has come"));
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1e3;
    println!(
        "median {:.1} us, p99.9 {:.1} us, {} of {measured} measured frames came, {sent} sent",
        at(0.5),
        at(0.999),
        times.len()
    );
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(error) = run(&arguments) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}
