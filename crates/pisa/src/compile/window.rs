//! Windows of recent values: several register arrays in a stage, one of which takes a value, and all of which say
//! whether theirs was below it. Programs that rank packets have them, and most of their operations are these.

use super::{Op, Span};
use crate::names::word;

/// Accesses of the form `to = array[index] { out mem < below; mem = from if position == number }` that follow each
/// other.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) index: u8,
    pub(crate) position: u8,
    pub(crate) from: u8,
    pub(crate) below: u8,
    /// Entries of each of the arrays.
    pub(crate) entries: u32,
    pub(crate) slots: Box<[Slot]>,
    /// The operation behind them.
    pub(crate) next: u16,
}

/// One array of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) base: u32,
    /// The word of its number in the window.
    pub(crate) number: u8,
    pub(crate) to: u8,
}

/// Operations of one access.
const LENGTH: usize = 4;

/// An access of this form that begins at an operation: what it has in common with the others of its window, and its own
/// part.
fn access(ops: &[Op], at: usize, arrays: &[Span]) -> Option<([u8; 4], u32, Slot)> {
    let [
        Op::Read { index, array, .. },
        Op::IfDifferent { a: position, b: number, jump },
        Op::Write { from, index: own, array: same },
        Op::SetLess { to, a: word::MEM, b: below },
    ] = *ops.get(at..at + LENGTH)?
    else {
        return None;
    };
    let Span { base, entries } = arrays[usize::from(array)];
    let is_one = usize::from(jump) == at + LENGTH - 1 && own == index && same == array;
    is_one.then_some(([index, position, from, below], entries, Slot { base, number, to }))
}

/// Puts one operation in the place of the first of each window. The others stay where they are and are passed by, so
/// that no jump has to change.
pub(super) fn fuse(ops: &mut [Op], arrays: &[Span], windows: &mut Vec<Window>) {
    let mut at = 0;
    while at < ops.len() {
        let Some((common, entries, first)) = access(ops, at, arrays) else {
            at += 1;
            continue;
        };
        let mut slots = vec![first];
        let mut next = at + LENGTH;
        while let Some((own, size, slot)) = access(ops, next, arrays) {
            // What they have in common is read once, so none of them may write it for those behind it.
            let is_written = slots.iter().any(|slot: &Slot| common.contains(&slot.to));
            if own != common || size != entries || is_written {
                break;
            }
            slots.push(slot);
            next += LENGTH;
        }
        let [index, position, from, below] = common;
        ops[at] = Op::Window { window: windows.len() as u16 };
        windows.push(Window { index, position, from, below, entries, slots: slots.into(), next: next as u16 });
        at = next;
    }
}
