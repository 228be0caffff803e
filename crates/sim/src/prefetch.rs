//! Asks for memory before it is needed.
//!
//! What a node touches in its window was last touched a window ago. In a large network it has left the core's caches
//! since then, and every access would wait for memory on its own. Asked for together, lines come side by side.

#![allow(unsafe_code)]

/// The bytes of a cache line.
const LINE: usize = 64;

/// Asks for a value.
#[inline(always)]
pub(crate) fn value<T>(of: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = core::ptr::from_ref(of).cast::<i8>();
        let mut line = 0;
        while line < size_of::<T>().div_ceil(LINE) {
            // SAFETY: a prefetch is a hint. It reads and writes nothing that the program can see, and it does not fault.
            // The address is that of a value or, behind its last line, one that is never read.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line * LINE)) }
            line += 1;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = of;
}

/// Asks for an element of a slice, if there is one.
#[inline(always)]
pub(crate) fn element<T>(of: &[T], index: usize) {
    if let Some(element) = of.get(index) {
        value(element);
    }
}

/// Asks for all of a slice.
#[inline(always)]
pub(crate) fn slice<T>(of: &[T]) {
    let step = (LINE / size_of::<T>().max(1)).max(1);
    of.iter().step_by(step).for_each(value);
}
