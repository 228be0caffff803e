//! A packet-level simulator of whole datacenter networks on the traffic manager's core.

#![deny(unsafe_code)]

mod chip;
mod deadlock;
pub mod engine;
mod event_queue;
pub mod flow;
mod flows;
mod host;
pub mod ideal;
pub mod measure;
mod net;
pub mod network;
mod nic;
mod node_queue;
pub mod packet;
pub mod paths;
mod pause;
mod prefetch;
pub mod routing;
pub mod scenario;
mod switch;
pub mod topology;
pub mod trace;
mod traffic;
pub mod transport;
mod wires;
pub mod workload;
