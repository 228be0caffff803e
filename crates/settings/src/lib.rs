//! Switch files: TOML read into the traffic manager's configuration, with errors that name the file, the line, the key and
//! the remedy.
//!
//! [`read_switch`] reads a whole file; [`read_policy`] reads a policy given on a command line. Both return a
//! [`Diagnostic`] that a person can act on.

#![forbid(unsafe_code)]

mod diagnostic;
mod policy;
mod scheduler;
mod switch;
mod table;

pub use diagnostic::{Diagnostic, nearest};
pub use policy::read_policy;
pub use switch::{SwitchFile, read_switch};
pub use table::{Document, Table, Value};
