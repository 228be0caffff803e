//! What the circuits do, cycle by cycle. The models have queues of packets and lists of cells instead of memories and
//! pointers, so that a mistake of a circuit is not made a second time here.

pub mod abm;
pub mod executor;
pub mod factor;
pub mod fb;
pub mod free_list;
pub mod occamy;
pub mod selector;
