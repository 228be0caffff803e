//! Rank functions of other crates, called through a pointer.

use super::RankFunction;
use crate::custom::{boxed, methods};
use crate::packet::Packet;
use crate::units::Instant;
use alloc::boxed::Box;
use core::fmt::Debug;

macro_rules! rank_methods {
    ($way:ident) => {
        methods! {
            $way RankFunction
            looks {
                fn rank(now: Instant, packet: &Packet) -> u64;
            }
            changes {
                fn joined(packet: &Packet, rank: u64);
                fn picked(port: usize, rank: u64, empty: bool);
            }
        }
    };
}

trait Erased: Debug + Send + Sync {
    fn copy(&self) -> Box<dyn Erased>;
    rank_methods!(declare);
}

impl<F: RankFunction> Erased for F {
    fn copy(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    rank_methods!(scheme);
}

boxed! {
    /// A rank function of another crate at work.
    AnyRank(Erased) of RankFunction
}

impl RankFunction for AnyRank {
    rank_methods!(boxed);
}
