//! Switch files: TOML read into the traffic manager's configuration, with errors that name the file, the line, the key
//! and the remedy.
//!
//! [`read_switch`] reads a whole file; [`read_policy`] reads a policy given on a command line. Both return a
//! [`Diagnostic`] that a person can act on.

#![forbid(unsafe_code)]

pub mod check;
mod depth;
mod described;
mod diagnostic;
pub mod documentation;
mod ingress;
mod kinds;
mod policy;
pub mod random;
mod registered;
mod scheduler;
mod setting;
mod switch;
mod table;
mod write;

pub use described::{
    known_lines, read_known, read_settings, read_value as read_setting, setting_keys, setting_lines,
    text as setting_text, values as setting_values,
};
pub use diagnostic::{Diagnostic, nearest};
pub use ingress::{GroupKeys, IngressFile, IngressKeys, IngressTables, PoolKeys, PortKeys, read as read_ingress};
pub use kinds::{Kind, marking_rules, policies, rank_functions, schedulers, trimming_schemes};
pub use policy::read_policy;
pub use registered::{Registered, Registry, by_name, choices, register};
pub use setting::Settings;
pub use switch::{SwitchFile, SwitchTables, config_keys, read_config, read_switch, read_switch_tables};
pub use table::{Document, Table, Value};
pub use write::{quoted, write_switch_tables};
