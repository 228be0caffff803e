//! The memory that frames are in from when they come until they are gone: equal pieces of one region, which the kernel can share.
//!
//! Queues hold the numbers of pieces, not frames: nothing is copied on the way.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes in front of the frame in each piece. The kernel leaves as many for XDP programs in what it receives for AF_XDP.
pub const HEADROOM: usize = 256;

/// A piece, by its number. The pool knows who has it: only what was taken and not passed on can be read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// Its number, from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Memory in huge pages starts at multiples of this.
const HUGE_PAGE: usize = 2 << 20;
const PAGE: usize = 4_096;

/// The memory itself. It goes when the last of pool and sockets that know it has gone.
#[derive(Debug)]
pub(crate) struct Region {
    memory: NonNull<u8>,
    size: usize,
    /// What was mapped: the region, and as much more as it took to begin with a huge page.
    mapped: (NonNull<u8>, usize),
}

// SAFETY: the region is plain memory. Who may touch which piece of it is settled by who has the piece's slot.
unsafe impl Send for Region {}
// SAFETY: as above; the region itself never changes.
unsafe impl Sync for Region {}

impl Region {
    /// Memory of zeros, all of it there already, in huge pages where the machine has them: fewer addresses to look up for us and the kernel.
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
        // SAFETY: less than a huge page is skipped, and there are `size` bytes behind that. Nobody else knows this memory yet.
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
    fn drop(&mut self) {
        // SAFETY: this is what was mapped, and every borrow of it has ended.
        unsafe { libc::munmap(self.mapped.0.as_ptr().cast(), self.mapped.1) };
    }
}

/// Someone outside who may have pieces, such as a socket: what it has can be had back when it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Borrower(u8);

/// Nobody has the piece.
const FREE: u8 = 0;
/// Whoever took it has it; larger numbers are borrowers'.
const OUT: u8 = 1;

/// All pieces.
#[derive(Debug)]
pub struct Pool {
    region: Arc<Region>,
    /// Bytes of a piece: a power of two.
    piece: usize,
    /// Pieces that nobody has.
    free: Vec<Slot>,
    /// Who has each piece.
    holders: Vec<u8>,
    /// Numbers of borrowers that are not in use.
    borrowers: Vec<u8>,
}

impl Pool {
    /// A pool of so many pieces of so many bytes (a power of two, at least 2,048, as the kernel wants them).
    pub fn new(pieces: u32, piece: usize) -> io::Result<Self> {
        assert!(piece.is_power_of_two() && piece >= 2_048, "pieces of {piece} bytes");
        let region = Arc::new(Region::new(pieces as usize * piece)?);
        let free = (0..pieces).rev().map(Slot).collect();
        let borrowers = (OUT + 1..=u8::MAX).rev().collect();
        Ok(Self { region, piece, free, holders: vec![FREE; pieces as usize], borrowers })
    }

    /// The longest frame that fits.
    pub fn piece(&self) -> usize {
        self.piece - HEADROOM
    }

    /// Bytes from one piece to the next.
    pub(crate) fn stride(&self) -> usize {
        self.piece
    }

    /// The memory itself.
    pub(crate) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// Pieces that nobody has.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// All pieces.
    pub fn pieces(&self) -> usize {
        self.holders.len()
    }

    /// A copy of the first bytes of a piece in another one; none if all are out.
    pub fn copy(&mut self, slot: Slot, length: usize) -> Option<Slot> {
        let from = self.checked(slot, length);
        let copy = self.take()?;
        let to = self.checked(copy, length);
        // SAFETY: both are within the region, and two pieces do not overlap.
        unsafe {
            let base = self.region.start();
            std::ptr::copy_nonoverlapping(base.add(from), base.add(to), length);
        }
        Some(copy)
    }

    /// Takes a piece; none if all are out.
    pub fn take(&mut self) -> Option<Slot> {
        self.take_as(OUT)
    }

    fn take_as(&mut self, holder: u8) -> Option<Slot> {
        let slot = self.free.pop()?;
        self.holders[slot.0 as usize] = holder;
        Some(slot)
    }

    /// Gives a piece back.
    pub fn give(&mut self, slot: Slot) {
        let before = std::mem::replace(&mut self.holders[slot.0 as usize], FREE);
        assert!(before != FREE, "piece {} is given back twice", slot.0);
        self.free.push(slot);
    }

    /// A new borrower; none if there are too many.
    pub(crate) fn borrower(&mut self) -> Option<Borrower> {
        self.borrowers.pop().map(Borrower)
    }

    /// Takes a piece for a borrower.
    pub(crate) fn take_for(&mut self, borrower: Borrower) -> Option<Slot> {
        self.take_as(borrower.0)
    }

    /// A piece that was taken goes to a borrower.
    pub(crate) fn lend(&mut self, slot: Slot, borrower: Borrower) {
        self.holders[slot.0 as usize] = borrower.0;
    }

    /// A borrower handler a piece over; false if it did not have it.
    pub(crate) fn hand_over(&mut self, slot: Slot, borrower: Borrower) -> bool {
        match self.holders.get_mut(slot.0 as usize) {
            Some(holder) if *holder == borrower.0 => {
                *holder = OUT;
                true
            }
            _ => false,
        }
    }

    /// A borrower is gone: takes back all that it had.
    pub(crate) fn reclaim(&mut self, borrower: Borrower) {
        for slot in (0..self.holders.len()).filter(|slot| self.holders[*slot] == borrower.0).collect::<Vec<_>>() {
            self.give(Slot(slot as u32));
        }
        self.borrowers.push(borrower.0);
    }

    /// How many pieces a borrower has.
    pub(crate) fn lent_to(&self, borrower: Borrower) -> u32 {
        self.holders.iter().filter(|holder| **holder == borrower.0).count() as u32
    }

    /// The same memory for another thread. Nothing is free there; it knows the pieces that the borrower has, and is given others. Only one of
    /// all views has a piece at a time: whoever passes its slot on does not touch it any more.
    pub(crate) fn view(&self, borrower: Borrower) -> Self {
        let of = |holder: &u8| if *holder == borrower.0 { borrower.0 } else { OUT };
        let holders = self.holders.iter().map(of).collect();
        Self { region: self.region.clone(), piece: self.piece, free: Vec::new(), holders, borrowers: Vec::new() }
    }

    /// Where the frame of a piece starts within the region.
    pub fn offset(&self, slot: Slot) -> usize {
        slot.0 as usize * self.piece + HEADROOM
    }

    /// The piece that has this byte of the region.
    pub(crate) fn slot_at(&self, offset: u64) -> Slot {
        Slot((offset >> self.piece.trailing_zeros()) as u32)
    }

    /// Asks for the first bytes of a frame that will be read soon.
    pub(crate) fn prefetch(&self, slot: Slot) {
        // A prefetch reads nothing and cannot fault, so the address needs no check.
        prefetch(self.region.start().wrapping_add(self.offset(slot)));
    }

    /// The first bytes of a piece.
    pub fn bytes(&self, slot: Slot, length: usize) -> &[u8] {
        let offset = self.checked(slot, length);
        // SAFETY: within the region, which lives as long as the pool, and neither free nor with the kernel or another thread (checked above): it
        // is reached through this pool alone, which is borrowed.
        unsafe { std::slice::from_raw_parts(self.region.start().add(offset), length) }
    }

    /// The first bytes of a piece, to be changed.
    pub fn bytes_mut(&mut self, slot: Slot, length: usize) -> &mut [u8] {
        let offset = self.checked(slot, length);
        // SAFETY: as in `bytes`, and the pool is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.region.start().add(offset), length) }
    }

    fn checked(&self, slot: Slot, length: usize) -> usize {
        let offset = self.offset(slot);
        assert!(length <= self.piece() && offset + length <= self.region.size(), "{length} bytes of piece {}", slot.0);
        assert!(self.holders[slot.0 as usize] == OUT, "piece {} belongs to someone else", slot.0);
        offset
    }
}

/// Asks for the cache line at an address.
pub(crate) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint; it does not fault, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_and_go() {
        let mut pool = Pool::new(2, 2_048).unwrap();
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        assert_eq!(pool.take(), None);
        let whole = pool.piece();
        pool.bytes_mut(a, whole).fill(1);
        pool.bytes_mut(b, whole).fill(2);
        assert!(pool.bytes(a, whole).iter().all(|byte| *byte == 1));
        pool.give(a);
        assert_eq!((pool.free(), pool.take()), (1, Some(a)));
    }

    #[test]
    #[should_panic(expected = "given back twice")]
    fn a_piece_cannot_be_given_back_twice() {
        let mut pool = Pool::new(2, 2_048).unwrap();
        let slot = pool.take().unwrap();
        pool.give(slot);
        pool.give(slot);
    }

    /// Memory that the kernel has is out of reach, whoever kept the number of the piece.
    #[test]
    fn what_was_passed_on_cannot_be_touched() {
        let mut pool = Pool::new(4, 2_048).unwrap();
        let socket = pool.borrower().unwrap();
        let (slot, free) = (pool.take().unwrap(), pool.take().unwrap());
        pool.give(free);
        pool.bytes_mut(slot, 10).fill(1);
        pool.lend(slot, socket);
        for slot in [slot, free] {
            let mut touch = |what: fn(&mut Pool, Slot)| {
                let touched = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| what(&mut pool, slot)));
                assert!(touched.is_err(), "{slot:?}");
            };
            touch(|pool, slot| pool.bytes_mut(slot, 10).fill(2));
            touch(|pool, slot| assert_eq!(pool.bytes(slot, 10).len(), 10));
            touch(|pool, slot| assert!(pool.copy(slot, 10).is_some()));
        }
        assert!(pool.hand_over(slot, socket));
        assert_eq!(pool.bytes(slot, 10), [1; 10]);
    }

    #[test]
    fn what_a_borrower_has_comes_back_when_it_is_gone() {
        let mut pool = Pool::new(4, 2_048).unwrap();
        let (socket, other) = (pool.borrower().unwrap(), pool.borrower().unwrap());
        let filled = pool.take_for(socket).unwrap();
        let queued = pool.take_for(socket).unwrap();
        assert!(pool.hand_over(queued, socket));
        assert!(!pool.hand_over(queued, socket) && !pool.hand_over(Slot(9), socket));
        let sent = pool.take().unwrap();
        pool.lend(sent, other);
        pool.reclaim(socket);
        assert_eq!((pool.free(), pool.take()), (2, Some(filled)));
        pool.reclaim(other);
        assert_eq!(pool.take(), Some(sent));
    }
}
