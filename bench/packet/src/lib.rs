//! See `benches/packet.rs`.
