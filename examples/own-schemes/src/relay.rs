//! Relays: the data of a host goes around all others, each of which passes it on when it has all of it.

use forebay_settings::check::{flow_size, lasts};
use forebay_settings::{Diagnostic, read_settings};
use forebay_sim::flow::FlowSpec;
use forebay_sim::workload::{Draft, Planner, Reader, WorkloadSettings};
use forebay_tm::described::{Field, Kind};
use forebay_tm::{Bytes, Duration, Instant, settings};

settings! {
    /// What is relayed, and how often.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RelayKeys {
        /// What goes around.
        pub bytes: Bytes = Bytes::new(100_000); flow_size => given,
        /// A new relay starts so often.
        pub every: Duration = Duration::from_us(100); lasts,
    }
}

/// A relay from the first of some hosts to the last.
#[derive(Clone, Debug, PartialEq)]
pub struct Relay {
    keys: RelayKeys,
    /// In their order; none: all of them.
    hosts: Option<Vec<u32>>,
}

impl WorkloadSettings for Relay {
    const FIELDS: &'static [&'static [Field]] =
        &[RelayKeys::FIELDS, &[Field::optional("hosts", Kind::Special("hosts"), "Who takes part; default all.")]];

    fn read(reader: &Reader<'_, '_>) -> Result<Self, Diagnostic> {
        let mut keys = RelayKeys::default();
        read_settings(reader.table, &mut keys)?;
        Ok(Self { keys, hosts: reader.group()? })
    }

    fn plan(&self, planner: &Planner<'_>) -> Draft {
        let all = || (0..planner.racks.hosts()).collect();
        let hosts = self.hosts.clone().unwrap_or_else(all);
        let mut draft = Draft::default();
        for start in planner.rounds(Some(self.keys.every)) {
            let mut before = None;
            for pair in hosts.windows(2) {
                let flow = planner.flow(pair[0], pair[1], self.keys.bytes.get());
                // A flow that waits for another starts at once when that has arrived.
                let start = if before.is_none() { start } else { Instant::ZERO };
                let number = draft.push(FlowSpec { start, ..flow });
                if let Some(before) = before {
                    draft.wait(before, number);
                }
                before = Some(number);
            }
        }
        draft
    }

    fn expected_flows(&self, reader: &Reader<'_, '_>) -> f64 {
        reader.members(&self.hosts) * reader.rounds(Some(self.keys.every))
    }
}
