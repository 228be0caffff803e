//! TIMELINE.csv of a live switch: what each queue held and did, step by step.

use super::directory::private_file;
use crate::Failure;
use crate::output::cannot_write;
use forebay_live::settings::RunConfig;
use forebay_live::snapshot::{QueueState, Snapshot};
use forebay_tm::{Bytes, Duration};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const HEAD: &str = "time_us,port,queue,bytes,watermark_bytes,threshold_bytes,sent_packets,sent_bytes,dropped_packets,dropped_bytes,\
                    marked_packets,trimmed_packets,expelled_packets\n";

/// A file that grows as the switch runs: it is of use even if the machine dies. A file never stops packets: where it
/// cannot be written, the timeline pauses and says so, and goes on when there is room.
pub(super) struct Timeline {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines in the file.
    length: u64,
    /// A file that would be longer is put aside, in place of the one that was put aside before.
    longest: u64,
    step: Duration,
    /// The last snapshot that has its lines.
    before: Option<Arc<Snapshot>>,
    /// Per port and queue, the highest watermark since then.
    watermarks: Vec<Vec<Bytes>>,
    /// When to try again, if the last try failed.
    paused: Option<Instant>,
    line: String,
}

/// What cannot be written is tried again after so long.
const RETRY: std::time::Duration = std::time::Duration::from_secs(1);

impl Timeline {
    pub(super) fn create(path: &Path, run: &RunConfig) -> Result<Self, Failure> {
        let file = private_file(path).map_err(|(path, error)| cannot_write(&path.display().to_string(), &error))?;
        let mut timeline = Self {
            path: path.to_owned(),
            file,
            length: 0,
            longest: run.timeline_size.get(),
            step: run.timeline,
            before: None,
            watermarks: Vec::new(),
            paused: None,
            line: String::new(),
        };
        timeline.write(HEAD).map_err(|error| cannot_write(&path.display().to_string(), &error))?;
        Ok(timeline)
    }

    /// Writes lines, all or none of them.
    fn write(&mut self, text: &str) -> io::Result<()> {
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // A part may be there.
            let _ = self.file.set_len(self.length);
            self.file.seek(SeekFrom::Start(self.length))?;
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }

    /// Puts a file that is long enough aside, and begins another.
    fn rotate(&mut self, coming: usize) -> io::Result<()> {
        if self.length + coming as u64 <= self.longest || self.length <= HEAD.len() as u64 {
            return Ok(());
        }
        std::fs::rename(&self.path, self.path.with_extension("1.csv"))?;
        self.file = private_file(&self.path).map_err(|(_, error)| error)?;
        self.length = 0;
        self.write(HEAD)
    }

    /// What happened since the snapshot before, once a step; queues that were empty and did nothing have no line.
    pub(super) fn add(&mut self, snapshot: &Arc<Snapshot>) {
        self.keep_watermarks(snapshot);
        let early = |before: &Arc<Snapshot>| snapshot.uptime.ps() < before.uptime.ps() + self.step.ps();
        if self.before.as_ref().is_some_and(early) || self.paused.is_some_and(|until| Instant::now() < until) {
            return;
        }
        self.add_now(snapshot);
    }

    fn keep_watermarks(&mut self, snapshot: &Snapshot) {
        self.watermarks.resize_with(snapshot.ports.len(), Vec::new);
        for (kept, port) in self.watermarks.iter_mut().zip(&snapshot.ports) {
            kept.resize(port.queues.len(), Bytes::ZERO);
            for (kept, queue) in kept.iter_mut().zip(&port.queues) {
                *kept = (*kept).max(queue.watermark);
            }
        }
    }

    fn add_now(&mut self, snapshot: &Arc<Snapshot>) {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        for (number, port) in snapshot.ports.iter().enumerate() {
            for (queue, state) in port.queues.iter().enumerate() {
                let before = self.before.as_ref().map(|before| &before.ports[number].queues[queue]);
                let state = QueueState { watermark: self.watermarks[number][queue], ..state.clone() };
                row(&mut line, snapshot, &port.name, queue, &state, before);
            }
        }
        match self.rotate(line.len()).and_then(|()| self.write(&line)) {
            Ok(()) => {
                if self.paused.take().is_some() {
                    eprintln!("{}: goes on", self.path.display());
                }
                self.before = Some(Arc::clone(snapshot));
                self.watermarks.clear();
            }
            Err(error) => {
                if self.paused.is_none() {
                    let name = self.path.display();
                    eprintln!(
                        "{name}: cannot write it: {error}; it pauses until there is room, and frames are forwarded as before"
                    );
                }
                self.paused = Some(Instant::now() + RETRY);
            }
        }
        self.line = line;
    }

    /// The last lines; whether all are there.
    pub(super) fn finish(mut self, last: &Arc<Snapshot>) -> bool {
        self.keep_watermarks(last);
        self.add_now(last);
        self.paused.is_none()
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
