//! The extension module below the Python package `forebay`: what takes time or needs the simulator. The package's own
//! modules, in `lib/forebay`, make it comfortable.

mod analysis;
mod arrow;
mod control;
mod error;
mod packets;
mod policy;
mod rank;
mod replay;
mod run;
mod schemes;
mod sweep;
mod table;
mod tm;
mod watch;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _forebay {
    #[pymodule_export]
    use super::analysis::{abm, aifo, dt, fb, occamy, steady, transient};
    #[pymodule_export]
    use super::control::{Ack, FlowLimits, register_control};
    #[pymodule_export]
    use super::error::{Error, InternalError};
    #[pymodule_export]
    use super::packets::{Departure, Eviction, Explanation, Outcome};
    #[pymodule_export]
    use super::policy::{ArrivingPacket, BufferView, register_policy};
    #[pymodule_export]
    use super::rank::{RankedPacket, register_rank};
    #[pymodule_export]
    use super::replay::{Replay, check_switch, replay_columns, replay_file, replay_stream};
    #[pymodule_export]
    use super::run::{Prepared, Run, load_run, prepare};
    #[pymodule_export]
    use super::sweep::{SweepPlan, build, compare, interval, parse_seeds, plan_sweep, run_job};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tm::Tm;
    #[pymodule_export]
    use super::watch::panic_for_tests;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
