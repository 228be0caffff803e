//! Operations of the machine.

/// One operation. Words are places in the array of words; `cut` is 64 less the width of what is
/// written; `array` is a place in the list of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub(crate) enum Op {
    Copy {
        to: u8,
        from: u8,
    },
    Add {
        to: u8,
        a: u8,
        b: u8,
        cut: u8,
    },
    Subtract {
        to: u8,
        a: u8,
        b: u8,
        cut: u8,
    },
    SubtractToZero {
        to: u8,
        a: u8,
        b: u8,
    },
    Min {
        to: u8,
        a: u8,
        b: u8,
    },
    Max {
        to: u8,
        a: u8,
        b: u8,
    },
    ShiftLeft {
        to: u8,
        a: u8,
        b: u8,
        cut: u8,
    },
    ShiftRight {
        to: u8,
        a: u8,
        b: u8,
    },
    And {
        to: u8,
        a: u8,
        b: u8,
    },
    Or {
        to: u8,
        a: u8,
        b: u8,
    },
    Xor {
        to: u8,
        a: u8,
        b: u8,
    },
    Slice {
        to: u8,
        from: u8,
        low: u8,
        cut: u8,
    },
    SetEqual {
        to: u8,
        a: u8,
        b: u8,
    },
    SetDifferent {
        to: u8,
        a: u8,
        b: u8,
    },
    SetLess {
        to: u8,
        a: u8,
        b: u8,
    },
    SetAtLeast {
        to: u8,
        a: u8,
        b: u8,
    },
    IfEqual {
        a: u8,
        b: u8,
        jump: u16,
    },
    IfDifferent {
        a: u8,
        b: u8,
        jump: u16,
    },
    IfLess {
        a: u8,
        b: u8,
        jump: u16,
    },
    IfAtLeast {
        a: u8,
        b: u8,
        jump: u16,
    },
    Jump {
        jump: u16,
    },
    /// The value of an entry into `MEM`, or the jump if there is no such entry.
    Read {
        index: u8,
        array: u8,
        jump: u16,
    },
    /// A window of recent values, instead of the operations that it is made of.
    Window {
        window: u16,
    },
    /// The two values of an entry into `MEM` and `MEM2`, or the jump.
    ReadPair {
        index: u8,
        array: u8,
        jump: u16,
    },
    /// Nothing is written where there is no such entry.
    Write {
        from: u8,
        index: u8,
        array: u8,
    },
    Meter {
        to: u8,
        index: u8,
        bytes: u8,
        array: u8,
    },
    Lookup {
        lookup: u16,
    },
    Drop,
    Trim,
    Mark,
    Recirculate,
    Mirror {
        kind: u8,
    },
    Multicast {
        kind: u8,
    },
    End,
}

impl Op {
    /// Sets where a jump goes.
    pub(crate) fn set_jump(&mut self, to: u16) {
        match self {
            Self::IfEqual { jump, .. }
            | Self::IfDifferent { jump, .. }
            | Self::IfLess { jump, .. }
            | Self::IfAtLeast { jump, .. }
            | Self::Jump { jump }
            | Self::Read { jump, .. }
            | Self::ReadPair { jump, .. } => *jump = to,
            _ => {}
        }
    }
}

/// One place where a table is asked.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    pub(crate) table: u16,
    /// Words, and how far they are shifted in the packed key.
    pub(crate) keys: Box<[(u8, u8)]>,
    pub(crate) to: Box<[u8]>,
}
