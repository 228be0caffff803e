//! The circuits, in one binary.

mod lockstep;
mod table;
