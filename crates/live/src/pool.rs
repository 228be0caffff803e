//! The memory that frames are in from when they come until they are gone: equal frame buffers of one region, which the
//! kernel can share.
//!
//! Queues hold the numbers of frame buffers, not frames: nothing is copied on the way.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes in front of the frame in each frame buffer. The kernel leaves as many for XDP programs in what it receives for
/// AF_XDP.
pub const HEADROOM: usize = 256;

/// A frame buffer that whoever has this value may read and write, through the pool that it is of. It is neither copied
/// nor made up: there is one for a frame buffer, or none while the frame buffer is free, waits, or is with a borrower.
#[derive(Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    /// Its number, from 0.
    pub fn number(&self) -> u32 {
        self.0
    }

    fn into_number(self) -> u32 {
        self.0
    }
}

/// A frame buffer that a borrower has, such as the kernel or another thread: nobody here can touch it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lent(u32);

impl Lent {
    fn into_number(self) -> u32 {
        self.0
    }
}

/// Memory in huge pages starts at multiples of this.
#[cfg(not(miri))]
const HUGE_PAGE: usize = 2 << 20;
#[cfg(not(miri))]
const PAGE: usize = 4_096;

/// The memory itself. It goes when the last of pool and sockets that know it has gone.
#[derive(Debug)]
pub(crate) struct Region {
    memory: NonNull<u8>,
    size: usize,
    /// What was mapped: the region, and as much more as it took to begin with a huge page.
    mapped: (NonNull<u8>, usize),
}

// SAFETY: the region is plain memory. Who may touch which frame buffer of it is settled by who has the frame buffer's
// slot.
unsafe impl Send for Region {}
// SAFETY: as above; the region itself never changes.
unsafe impl Sync for Region {}

impl Region {
    /// Memory of zeros, where there is no kernel to ask for it.
    #[cfg(miri)]
    fn new(size: usize) -> io::Result<Self> {
        let memory = Box::leak(vec![0_u8; size].into_boxed_slice());
        let memory = NonNull::new(memory.as_mut_ptr()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { memory, size, mapped: (memory, size) })
    }

    /// Memory of zeros, all of it there already, in huge pages where the machine has them: fewer addresses to look up
    /// for us and the kernel.
    #[cfg(not(miri))]
    fn new(size: usize) -> io::Result<Self> {
        let (length, access) = (size + HUGE_PAGE, libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new private mapping; no memory that exists is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skipped = start.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: less than a huge page is skipped, and there are `size` bytes behind that. Nobody else knows this
        // memory yet.
        let memory = unsafe {
            let memory = start.add(skipped);
            // Only a wish.
            libc::madvise(memory.as_ptr().cast(), size, libc::MADV_HUGEPAGE);
            for page in (0..size).step_by(PAGE) {
                memory.add(page).write_volatile(0);
            }
            memory
        };
        Ok(Self { memory, size, mapped: (start, length) })
    }

    /// Where it starts.
    pub(crate) fn start(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// Its bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

impl Drop for Region {
    #[cfg(miri)]
    fn drop(&mut self) {
        let memory = std::ptr::slice_from_raw_parts_mut(self.mapped.0.as_ptr(), self.mapped.1);
        // SAFETY: this is the box that was leaked, and every borrow of it has ended.
        drop(unsafe { Box::from_raw(memory) });
    }

    #[cfg(not(miri))]
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and every borrow of it has ended.
        unsafe { libc::munmap(self.mapped.0.as_ptr().cast(), self.mapped.1) };
    }
}

/// Someone outside who may have frame buffers, such as a socket: what it has can be had back when it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Borrower(u8);

/// Nobody has the frame buffer.
const FREE: u8 = 0;
/// Whoever has its slot has it.
const OUT: u8 = 1;
/// It waits, and is known by its number alone.
const WAITING: u8 = 2;
/// In a view: it is elsewhere. Larger numbers are borrowers'.
const ELSEWHERE: u8 = 3;

/// All frame buffers.
#[derive(Debug)]
pub struct Pool {
    region: Arc<Region>,
    /// Bytes of a frame buffer: a power of two.
    buffer: usize,
    /// Frame buffers that nobody has.
    free: Vec<u32>,
    /// Who has each frame buffer.
    holders: Vec<u8>,
    /// Numbers of borrowers that are not in use.
    borrowers: Vec<u8>,
}

impl Pool {
    /// A pool of so many frame buffers of so many bytes (a power of two, at least 2,048, as the kernel wants them).
    pub fn new(buffers: u32, buffer: usize) -> io::Result<Self> {
        assert!(buffer.is_power_of_two() && buffer >= 2_048, "frame buffers of {buffer} bytes");
        let region = Arc::new(Region::new(buffers as usize * buffer)?);
        let free = (0..buffers).rev().collect();
        let borrowers = (ELSEWHERE + 1..=u8::MAX).rev().collect();
        Ok(Self { region, buffer, free, holders: vec![FREE; buffers as usize], borrowers })
    }

    /// The longest frame that fits.
    pub fn buffer_size(&self) -> usize {
        self.buffer - HEADROOM
    }

    /// Bytes from one frame buffer to the next.
    pub(crate) fn stride(&self) -> usize {
        self.buffer
    }

    /// The memory itself.
    pub(crate) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// Frame buffers that nobody has.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// All frame buffers.
    pub fn buffers(&self) -> usize {
        self.holders.len()
    }

    /// A copy of the first bytes of a frame buffer in another one; none if all are out.
    pub fn copy(&mut self, slot: &Slot, length: usize) -> Option<Slot> {
        let from = self.checked(slot, length);
        let copy = self.take()?;
        let to = self.checked(&copy, length);
        // SAFETY: both are within the region, and two frame buffers do not overlap.
        unsafe {
            let base = self.region.start();
            std::ptr::copy_nonoverlapping(base.add(from), base.add(to), length);
        }
        Some(copy)
    }

    /// Takes a frame buffer; none if all are out.
    pub fn take(&mut self) -> Option<Slot> {
        self.take_as(OUT).map(Slot)
    }

    fn take_as(&mut self, holder: u8) -> Option<u32> {
        let number = self.free.pop()?;
        self.holders[number as usize] = holder;
        Some(number)
    }

    /// The frame buffer of a slot changes hands; its number.
    fn pass(&mut self, slot: Slot, to: u8) -> u32 {
        let number = slot.into_number();
        let before = std::mem::replace(&mut self.holders[number as usize], to);
        assert!(before == OUT, "frame buffer {number} is of another pool");
        number
    }

    /// A frame buffer comes back from one that has it; none if that one does not.
    fn fetch(&mut self, number: u32, from: u8) -> Option<Slot> {
        let holder = self.holders.get_mut(number as usize).filter(|holder| **holder == from)?;
        *holder = OUT;
        Some(Slot(number))
    }

    /// Gives a frame buffer back.
    pub fn give(&mut self, slot: Slot) {
        let number = self.pass(slot, FREE);
        self.free.push(number);
    }

    /// Lets a frame buffer wait, known by its number alone.
    pub fn park(&mut self, slot: Slot) -> u32 {
        self.pass(slot, WAITING)
    }

    /// A frame buffer that waits, by its number; none if it does not.
    pub fn unpark(&mut self, number: u32) -> Option<Slot> {
        self.fetch(number, WAITING)
    }

    /// A new borrower; none if there are too many.
    pub(crate) fn borrower(&mut self) -> Option<Borrower> {
        self.borrowers.pop().map(Borrower)
    }

    /// Takes a frame buffer for a borrower.
    pub(crate) fn take_for(&mut self, borrower: Borrower) -> Option<Lent> {
        self.take_as(borrower.0).map(Lent)
    }

    /// A frame buffer that was taken goes to a borrower.
    pub(crate) fn lend(&mut self, slot: Slot, borrower: Borrower) -> Lent {
        Lent(self.pass(slot, borrower.0))
    }

    /// A borrower hands a frame buffer over; none if it did not have it.
    pub(crate) fn hand_over(&mut self, lent: Lent, borrower: Borrower) -> Option<Slot> {
        self.fetch(lent.into_number(), borrower.0)
    }

    /// A borrower is gone: takes back all that it had.
    pub(crate) fn reclaim(&mut self, borrower: Borrower) {
        for (number, holder) in (0..).zip(&mut self.holders).filter(|(_, holder)| **holder == borrower.0) {
            *holder = FREE;
            self.free.push(number);
        }
        self.borrowers.push(borrower.0);
    }

    /// How many frame buffers a borrower has.
    pub(crate) fn lent_to(&self, borrower: Borrower) -> u32 {
        self.holders.iter().filter(|holder| **holder == borrower.0).count() as u32
    }

    /// The same memory for another thread. Nothing is free there; it knows the frame buffers that the borrower has, and
    /// is given others.
    pub(crate) fn view(&self, borrower: Borrower) -> Self {
        let of = |holder: &u8| if *holder == borrower.0 { borrower.0 } else { ELSEWHERE };
        let holders = self.holders.iter().map(of).collect();
        Self { region: self.region.clone(), buffer: self.buffer, free: Vec::new(), holders, borrowers: Vec::new() }
    }

    /// In a view: a frame buffer that the pool has lent is here now. None if it was here already.
    pub(crate) fn adopt(&mut self, lent: Lent) -> Option<Slot> {
        self.fetch(lent.into_number(), ELSEWHERE)
    }

    /// In a view: a frame buffer goes back to the pool that has lent it.
    pub(crate) fn part_with(&mut self, slot: Slot) -> Lent {
        Lent(self.pass(slot, ELSEWHERE))
    }

    /// Where the frame of a frame buffer starts within the region.
    pub fn offset(&self, slot: &Slot) -> usize {
        self.frame_at(slot.0)
    }

    fn frame_at(&self, number: u32) -> usize {
        number as usize * self.buffer + HEADROOM
    }

    /// Where a frame buffer that a borrower has starts within the region.
    pub(crate) fn start_of(&self, lent: &Lent) -> u64 {
        (self.frame_at(lent.0) - HEADROOM) as u64
    }

    /// The frame buffer that has this byte of the region, as the kernel says that it has it: [`Pool::hand_over`] knows
    /// better.
    pub(crate) fn lent_at(&self, offset: u64) -> Lent {
        Lent((offset >> self.buffer.trailing_zeros()) as u32)
    }

    /// Asks for the first bytes of a frame that will be read soon.
    pub(crate) fn prefetch(&self, slot: &Slot) {
        // A prefetch reads nothing and cannot fault, so the address needs no check.
        prefetch(self.region.start().wrapping_add(self.offset(slot)));
    }

    /// The first bytes of a frame buffer.
    pub fn bytes(&self, slot: &Slot, length: usize) -> &[u8] {
        let offset = self.checked(slot, length);
        // SAFETY: within the region, which lives as long as the pool. There is one slot for a frame buffer, and none
        // while the kernel or another thread has it; it is of this pool (checked above), which is borrowed.
        unsafe { std::slice::from_raw_parts(self.region.start().add(offset), length) }
    }

    /// The first bytes of a frame buffer, to be changed.
    pub fn bytes_mut(&mut self, slot: &mut Slot, length: usize) -> &mut [u8] {
        let offset = self.checked(slot, length);
        // SAFETY: as in `bytes`, and both are borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.region.start().add(offset), length) }
    }

    fn checked(&self, slot: &Slot, length: usize) -> usize {
        let offset = self.offset(slot);
        assert!(
            length <= self.buffer_size() && offset + length <= self.region.size(),
            "{length} bytes of frame buffer {}",
            slot.0
        );
        assert!(self.holders[slot.0 as usize] == OUT, "frame buffer {} is of another pool", slot.0);
        offset
    }
}

/// Asks for the cache line at an address.
pub(crate) fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch is a hint; it does not fault, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_and_go() {
        let mut pool = Pool::new(2, 2_048).unwrap();
        let (mut a, mut b) = (pool.take().unwrap(), pool.take().unwrap());
        assert_eq!(pool.take(), None);
        let whole = pool.buffer_size();
        pool.bytes_mut(&mut a, whole).fill(1);
        pool.bytes_mut(&mut b, whole).fill(2);
        assert!(pool.bytes(&a, whole).iter().all(|byte| *byte == 1));
        let number = a.number();
        pool.give(a);
        assert_eq!((pool.free(), pool.take().unwrap().number()), (1, number));
        let copy = pool.copy(&b, 10);
        assert!(copy.is_none(), "all are out");
    }

    /// A slot is of one pool; another one does not take it.
    #[test]
    fn slots_of_another_pool_are_refused() {
        let mut pools = [Pool::new(2, 2_048).unwrap(), Pool::new(2, 2_048).unwrap()];
        for touch in [
            |pool: &mut Pool, slot: Slot| pool.give(slot),
            |pool: &mut Pool, slot: Slot| assert!(pool.bytes(&slot, 10).is_empty()),
            |pool: &mut Pool, mut slot: Slot| pool.bytes_mut(&mut slot, 10).fill(0),
            |pool: &mut Pool, slot: Slot| assert_eq!(pool.park(slot), 9),
            |pool: &mut Pool, slot: Slot| assert!(pool.copy(&slot, 10).is_none()),
        ] {
            let slot = pools[0].take().unwrap();
            let number = slot.number();
            let other = &mut pools[1];
            let touched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| touch(other, slot)));
            assert!(touched.is_err());
            // The slot is gone; the frame buffer is not lost for the next try.
            pools[0].holders[number as usize] = FREE;
            pools[0].free.push(number);
            pools[1] = Pool::new(2, 2_048).unwrap();
        }
    }

    #[test]
    fn what_waits_is_known_by_its_number() {
        let mut pool = Pool::new(4, 2_048).unwrap();
        let mut slot = pool.take().unwrap();
        pool.bytes_mut(&mut slot, 10).fill(1);
        let number = pool.park(slot);
        assert_eq!(pool.unpark(number + 1), None, "it does not wait");
        assert_eq!(pool.unpark(77), None, "there is no such frame buffer");
        let slot = pool.unpark(number).unwrap();
        assert_eq!(pool.bytes(&slot, 10), [1; 10]);
        assert_eq!(pool.unpark(number), None, "it waits no more");
    }

    /// Memory that the kernel or another thread has is out of reach: there is no slot for it until it is handed over,
    /// once.
    #[test]
    fn what_was_lent_comes_back_once() {
        let mut pool = Pool::new(4, 2_048).unwrap();
        let (socket, other) = (pool.borrower().unwrap(), pool.borrower().unwrap());
        let mut slot = pool.take().unwrap();
        pool.bytes_mut(&mut slot, 10).fill(1);
        let at = pool.offset(&slot) as u64;
        let lent = pool.lend(slot, socket);
        assert_eq!(pool.hand_over(lent, other), None, "somebody else has it");
        let mut view = pool.view(other);
        let again = pool.lent_at(at);
        assert!(view.adopt(again).is_some(), "whoever lends it says so to one view alone");
        let slot = pool.lent_at(at);
        let slot = pool.hand_over(slot, socket).unwrap();
        assert_eq!(pool.bytes(&slot, 10), [1; 10]);
        let twice = pool.lent_at(at);
        assert_eq!(pool.hand_over(twice, socket), None);
    }

    #[test]
    fn what_a_borrower_has_comes_back_when_it_is_gone() {
        let mut pool = Pool::new(4, 2_048).unwrap();
        let (socket, other) = (pool.borrower().unwrap(), pool.borrower().unwrap());
        let filled = pool.take_for(socket).unwrap().0;
        let queued = pool.take_for(socket).unwrap();
        let (number, beyond) = (queued.0, Lent(9));
        let kept = pool.hand_over(queued, socket).unwrap();
        assert!(pool.hand_over(Lent(number), socket).is_none() && pool.hand_over(beyond, socket).is_none());
        let sent = pool.take().unwrap();
        let sent = pool.lend(sent, other).0;
        pool.reclaim(socket);
        assert_eq!((pool.free(), pool.take().unwrap().number()), (2, filled));
        pool.reclaim(other);
        assert_eq!((pool.take().unwrap().number(), kept.number()), (sent, number));
    }
}
