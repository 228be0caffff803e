//! The live switch on real frames, in one binary.

mod backends;
mod vectors;
