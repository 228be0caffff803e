//! The traffic manager on real packets.
//!
//! Frames come in by [`port::Port`]s into frame buffers of a [`pool::Pool`] and stay there. The [`dataplane`] reads
//! their headers, finds their port and queue, asks the traffic manager, and changes the frames as it says: a mark, a
//! cut, a way back. [`switch::Switch`] polls ports and path with the [`clock`]'s time.
//!
//! This is the only crate with `unsafe`; each block says why it is sound.

pub mod attached;
pub mod backend;
pub mod books;
pub mod classify;
pub mod clock;
pub mod dataplane;
pub mod edit;
pub mod frame;
pub mod handle;
pub mod linux;
pub mod mac_table;
pub mod memory;
pub mod offline;
pub mod peer;
pub mod pool;
pub mod port;
pub mod port_keeper;
pub mod remaining;
pub mod routes;
pub mod runtime;
pub mod scripted;
pub mod settings;
pub mod signals;
pub mod snapshot;
pub mod storm;
pub mod switch;
pub mod tcp_info;
#[doc(hidden)]
pub mod torture;

mod settings_worker;
#[cfg(test)]
mod testing;
