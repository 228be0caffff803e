//! Workloads of other crates. A program registers them when it starts; scenarios then have them by their names.

use super::load::Offered;
use super::planner::{Draft, Planner};
use super::racks::Racks;
use super::read::Reader;
use super::{BUILT_IN, WorkloadEntry, WorkloadKind, WorkloadSettings};
use crate::transport::Common;
use forebay_settings::Registry;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Settings, whatever their type.
pub(super) trait AnyWorkload: Debug + Send + Sync {
    fn plan(&self, planner: &Planner<'_>) -> Draft;
    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64;
    fn offer(&self, offered: &mut Offered<'_>, packets: &Common) -> bool;
    fn senders(&self, racks: &Racks) -> Vec<u32>;
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &dyn AnyWorkload) -> bool;
}

impl<W: WorkloadSettings> AnyWorkload for W {
    fn plan(&self, planner: &Planner<'_>) -> Draft {
        WorkloadSettings::plan(self, planner)
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        WorkloadSettings::expected_flows(self, reader)
    }

    fn offer(&self, offered: &mut Offered<'_>, packets: &Common) -> bool {
        WorkloadSettings::offer(self, offered, packets)
    }

    fn senders(&self, racks: &Racks) -> Vec<u32> {
        WorkloadSettings::senders(self, racks)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn AnyWorkload) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }
}

/// A workload of another crate, with its settings.
#[derive(Clone, Debug)]
pub struct CustomWorkload {
    pub(super) name: &'static str,
    pub(super) settings: Arc<dyn AnyWorkload>,
}

impl PartialEq for CustomWorkload {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.settings.equals(&*other.settings)
    }
}

static REGISTERED: Registry<WorkloadEntry> = Registry::new();

/// Makes a workload of another crate known by its name in scenarios, with one line about it. False, and nothing
/// changes, if there is one of that name.
pub fn register_workload<W: WorkloadSettings>(name: &'static str, about: &'static str) -> bool {
    let read = |reader: &Reader<'_, '_>, name| {
        let settings = Arc::new(W::read(reader)?);
        Ok(WorkloadKind::Custom(CustomWorkload { name, settings }))
    };
    let built_in: Vec<&str> = BUILT_IN.iter().map(|entry| entry.name).collect();
    REGISTERED.add(WorkloadEntry { name, about, fields: W::FIELDS, read }, |entry| entry.name, &built_in)
}

/// All kinds, those of other crates included.
pub fn entries() -> Vec<WorkloadEntry> {
    BUILT_IN.iter().copied().chain(REGISTERED.all()).collect()
}
