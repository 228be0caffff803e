//! Schedulers of other crates, called through a pointer.

use super::{Discipline, Join, Lanes, Turn};
use crate::buffer::{Descriptors, Slot};
use crate::custom::{boxed, methods};
use crate::packet::Packet;
use crate::units::Instant;
use crate::verdict::{Explain, Explanation};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;

macro_rules! discipline_methods {
    ($way:ident) => {
        methods! {
            $way Discipline
            looks {
                fn lanes(port: usize) -> Option<&Lanes>;
                fn head(port: usize) -> Option<Slot>;
                fn next_eligible(port: usize) -> Option<Instant>;
                fn waiting(port: usize, slots: &Descriptors) -> Vec<Slot>;
            }
            changes {
                fn choose(turn: Turn<'_>) -> usize;
                fn emptied(port: usize, number: usize);
                fn join(packet: &Packet, rank: u64) -> Join;
                fn lanes_mut(port: usize) -> Option<&mut Lanes>;
                fn insert(packet: &Packet, slot: Slot, lane: u32, slots: &mut Descriptors);
                fn take_head(port: usize, slots: &mut Descriptors) -> Option<Slot>;
                fn take_next(now: Instant, port: usize, slots: &mut Descriptors) -> Option<Slot>;
                fn take_tail(port: usize, slots: &mut Descriptors) -> Option<Slot>;
            }
        }
    };
}

trait Erased: Debug + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    fn any(&self) -> &dyn Any;
    fn admits(&mut self, port: usize, rank: u64, packets: u32, why: Option<&mut Explanation>) -> bool;
    fn inherit(&mut self, earlier: &dyn Any);
    discipline_methods!(declare);
}

impl<D: Discipline> Erased for D {
    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn any(&self) -> &dyn Any {
        self
    }

    fn admits(&mut self, port: usize, rank: u64, packets: u32, mut why: Option<&mut Explanation>) -> bool {
        Discipline::admits(self, port, rank, packets, &mut why)
    }

    fn inherit(&mut self, earlier: &dyn Any) {
        if let Some(earlier) = earlier.downcast_ref() {
            Discipline::inherit(self, earlier);
        }
    }

    discipline_methods!(scheme);
}

boxed! {
    /// A scheduler of another crate at work.
    AnyScheduler(Erased) of Discipline
}

impl Discipline for AnyScheduler {
    fn admits(&mut self, port: usize, rank: u64, packets: u32, why: &mut impl Explain) -> bool {
        self.0.admits(port, rank, packets, why.explanation())
    }

    fn inherit(&mut self, earlier: &Self) {
        self.0.inherit(earlier.0.any());
    }

    discipline_methods!(boxed);
}
