//! Marking rules of other crates, called through a pointer.

use super::{MarkAction, MarkingRule};
use crate::buffer::Buffer;
use crate::custom::{boxed, methods};
use crate::packet::Packet;
use crate::units::Instant;
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;

macro_rules! rule_methods {
    ($way:ident) => {
        methods! {
            $way MarkingRule
            looks {}
            changes {
                fn judge(now: Instant, queue: usize, packet: &Packet, buffer: &Buffer) -> Option<MarkAction>;
                fn emptied(now: Instant, queue: usize);
            }
        }
    };
}

trait Erased: Debug + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    fn any(&self) -> &dyn Any;
    fn inherit(&mut self, earlier: &dyn Any);
    rule_methods!(declare);
}

impl<R: MarkingRule> Erased for R {
    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn any(&self) -> &dyn Any {
        self
    }

    fn inherit(&mut self, earlier: &dyn Any) {
        if let Some(earlier) = earlier.downcast_ref() {
            MarkingRule::inherit(self, earlier);
        }
    }

    rule_methods!(scheme);
}

boxed! {
    /// A marking rule of another crate at work.
    AnyRule(Erased) of MarkingRule
}

impl MarkingRule for AnyRule {
    fn inherit(&mut self, earlier: &Self) {
        self.0.inherit(earlier.0.any());
    }

    rule_methods!(boxed);
}
