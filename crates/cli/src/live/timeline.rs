//! TIMELINE.csv of a live switch: what each queue held and did, step by step.

use crate::Failure;
use crate::output::{Output, cannot_write};
use forebay_live::snapshot::{QueueState, Snapshot};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

const HEAD: &str = "time_us,port,queue,bytes,watermark_bytes,threshold_bytes,sent_packets,sent_bytes,dropped_packets,dropped_bytes,\
                    marked_packets,trimmed_packets,expelled_packets\n";

/// A file that grows as the switch runs: it is of use even if the machine dies.
pub(super) struct Timeline {
    name: String,
    file: BufWriter<File>,
    before: Option<Snapshot>,
    line: String,
}

impl Timeline {
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| cannot_write(&name, &error))?;
        let mut timeline = Self { name, file: BufWriter::new(file), before: None, line: String::new() };
        timeline.write(HEAD)?;
        Ok(timeline)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| cannot_write(&self.name, &error))
    }

    /// What happened since the snapshot before; queues that were empty and did nothing have no line.
    pub(super) fn add(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        for (number, port) in snapshot.ports.iter().enumerate() {
            for (queue, state) in port.queues.iter().enumerate() {
                let before = self.before.as_ref().map(|before| &before.ports[number].queues[queue]);
                row(&mut line, snapshot, &port.name, queue, state, before);
            }
        }
        let result = self.write(&line);
        self.line = line;
        self.before = Some(snapshot.clone());
        result
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.file.flush().map_err(|error| cannot_write(&self.name, &error))
    }
}

fn row(
    line: &mut String,
    snapshot: &Snapshot,
    port: &str,
    queue: usize,
    state: &QueueState,
    before: Option<&QueueState>,
) {
    let (now, then) = (&state.counters, before.map(|before| before.counters).unwrap_or_default());
    let sent = now.sent.packets + now.headers_sent.packets - then.sent.packets - then.headers_sent.packets;
    if state.watermark.get() == 0 && sent == 0 && now.offered == then.offered {
        return;
    }
    let threshold = state.threshold.map_or(String::new(), |threshold| format!("{threshold:.0}"));
    let (time, expelled) = (snapshot.at.ps() / 1_000_000, now.expelled().packets - then.expelled().packets);
    // Writing to a string does not fail.
    let _ = writeln!(
        line,
        "{time},{port},{queue},{},{},{threshold},{sent},{},{},{},{},{},{expelled}",
        state.bytes.get(),
        state.watermark.get(),
        now.sent.bytes + now.headers_sent.bytes - then.sent.bytes - then.headers_sent.bytes,
        now.dropped.packets - then.dropped.packets,
        now.dropped.bytes - then.dropped.bytes,
        now.marked.packets - then.marked.packets,
        now.trimmed.packets - then.trimmed.packets,
    );
}

/// A file that is there whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let mut output = Output::create(Some(path))?;
    output.write(text.as_bytes())?;
    output.finish()
}
