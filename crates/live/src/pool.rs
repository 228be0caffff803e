//! The memory that frames are in from when they come until they are gone: equal pieces of one region, which the kernel can share.
//!
//! Queues hold the numbers of pieces, not frames: nothing is copied on the way.

use std::io;
use std::ptr::NonNull;

/// A piece, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

/// All pieces.
#[derive(Debug)]
pub struct Pool {
    memory: NonNull<u8>,
    /// Bytes of all pieces.
    size: usize,
    /// Bytes of a piece: a power of two.
    piece: usize,
    /// Pieces that nobody has.
    free: Vec<Slot>,
    /// Whether a piece is out, to catch who gives one back twice.
    is_out: Vec<bool>,
}

// SAFETY: the region belongs to the pool alone, and moves between threads with it.
unsafe impl Send for Pool {}

impl Pool {
    /// A pool of so many pieces of so many bytes (a power of two, at least 2,048, as the kernel wants them).
    pub fn new(pieces: u32, piece: usize) -> io::Result<Self> {
        assert!(piece.is_power_of_two() && piece >= 2_048, "pieces of {piece} bytes");
        let size = pieces as usize * piece;
        // SAFETY: a new private mapping; no memory that exists is touched.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let free = (0..pieces).rev().map(Slot).collect();
        Ok(Self { memory, size, piece, free, is_out: vec![false; pieces as usize] })
    }

    /// The longest frame that fits.
    pub fn piece(&self) -> usize {
        self.piece
    }

    /// Pieces that nobody has.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// All pieces.
    pub fn pieces(&self) -> usize {
        self.is_out.len()
    }

    /// A copy of the first bytes of a piece in another one; none if all are out.
    pub fn copy(&mut self, slot: Slot, length: usize) -> Option<Slot> {
        let copy = self.take()?;
        let (from, to) = (self.checked(slot, length), self.checked(copy, length));
        // SAFETY: both are within the region, and two pieces do not overlap.
        unsafe {
            let base = self.memory.as_ptr();
            std::ptr::copy_nonoverlapping(base.add(from), base.add(to), length);
        }
        Some(copy)
    }

    /// Takes a piece; none if all are out.
    pub fn take(&mut self) -> Option<Slot> {
        let slot = self.free.pop()?;
        self.is_out[slot.0 as usize] = true;
        Some(slot)
    }

    /// Gives a piece back.
    pub fn give(&mut self, slot: Slot) {
        assert!(std::mem::replace(&mut self.is_out[slot.0 as usize], false), "piece {} is given back twice", slot.0);
        self.free.push(slot);
    }

    /// Where a piece starts within the region.
    pub fn offset(&self, slot: Slot) -> usize {
        slot.0 as usize * self.piece
    }

    /// The first bytes of a piece.
    pub fn bytes(&self, slot: Slot, length: usize) -> &[u8] {
        let offset = self.checked(slot, length);
        // SAFETY: within the region (checked above), which lives as long as the pool; whoever has the slot has the piece to himself, so nobody
        // writes to it while the pool is borrowed.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(offset), length) }
    }

    /// The first bytes of a piece, to be changed.
    pub fn bytes_mut(&mut self, slot: Slot, length: usize) -> &mut [u8] {
        let offset = self.checked(slot, length);
        // SAFETY: as in `bytes`, and the pool is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr().add(offset), length) }
    }

    fn checked(&self, slot: Slot, length: usize) -> usize {
        let offset = self.offset(slot);
        assert!(length <= self.piece && offset + length <= self.size, "{length} bytes of piece {}", slot.0);
        offset
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the region was mapped with this size, and every borrow of it has ended.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_and_go() {
        let mut pool = Pool::new(2, 2_048).unwrap();
        let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
        assert_eq!(pool.take(), None);
        pool.bytes_mut(a, 2_048).fill(1);
        pool.bytes_mut(b, 2_048).fill(2);
        assert!(pool.bytes(a, 2_048).iter().all(|byte| *byte == 1));
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
}
