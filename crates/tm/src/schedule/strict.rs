//! Strict priority: the lowest queue number that waits.

#[inline]
pub(super) fn pick(waiting: u64) -> usize {
    waiting.trailing_zeros() as usize
}
