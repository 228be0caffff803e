//! Switch files: TOML read into the traffic manager's configuration, with errors that name the file, the line, the key
//! and the remedy.
//!
//! [`read_switch`] reads a whole file; [`read_policy`] reads a policy given on a command line. Both return a
//! [`Diagnostic`] that a person can act on.

#![forbid(unsafe_code)]

mod depth;
mod described;
mod diagnostic;
mod kinds;
mod policy;
mod registered;
mod scheduler;
mod setting;
mod switch;
mod table;
mod write;

pub use described::{read_settings, read_value as read_setting, text as setting_text};
pub use diagnostic::{Diagnostic, nearest};
pub use kinds::{Kind, marking_rules, policies, rank_functions, schedulers, trimming_schemes};
pub use policy::read_policy;
pub use registered::{Registered, Registry, register};
pub use setting::Settings;
pub use switch::{SwitchFile, SwitchTables, config_keys, read_config, read_switch, read_switch_tables};
pub use table::{Document, Table, Value};
pub use write::{quoted, write_switch_tables};
