//! Samples that are written as a run takes them, so that no number of them fills the memory.
//!
//! Up to `ROWS_PER_GROUP` rows of each table wait in memory; then they become a row group of its file, which is a
//! temporary one until the run is over. The files are those that the whole tables would give, byte for byte.

use crate::error::ResultError;
use crate::file::Temporary;
use crate::parquet_file::{ROWS_PER_GROUP, Writer};
use crate::table::Table;
use crate::{progress, queue_timeline, timeline};
use forebay_sim::measure::{FlowSample, QueueSample, SampleSink, TimelineSample};
use forebay_sim::scenario::Scenario;
use forebay_tm::Instant;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The names of the tables that are written here.
pub const SAMPLE_TABLES: [&str; 3] = ["timeline", "queue_timeline", "progress"];

/// A table of which a part is in files already.
struct Files {
    parquet: (Temporary, Writer<BufWriter<File>>),
    csv: Option<(Temporary, BufWriter<File>)>,
}

/// Where a table goes, and whether as CSV, too.
struct Target {
    path: PathBuf,
    csv: bool,
    files: Option<Files>,
}

impl Target {
    fn new(directory: &Path, name: &str, csv: bool) -> Self {
        Self { path: directory.join(name), csv, files: None }
    }

    fn parquet_path(&self) -> PathBuf {
        self.path.with_extension("parquet")
    }

    fn csv_path(&self) -> PathBuf {
        self.path.with_extension("csv")
    }

    /// Writes some rows.
    fn add(&mut self, table: &Table) -> Result<(), ResultError> {
        let (parquet, csv) = (self.parquet_path(), self.csv_path());
        let files = match &mut self.files {
            Some(files) => files,
            None => {
                let files = Files::new(&parquet, self.csv.then_some(csv.as_path()), table)?;
                self.files.insert(files)
            }
        };
        files.parquet.1.add(table).map_err(|error| ResultError::cannot_write(&parquet, &error))?;
        if let Some((_, writer)) = &mut files.csv {
            table.write_csv_rows(writer).map_err(|error| ResultError::cannot_write(&csv, &error))?;
        }
        Ok(())
    }

    /// Puts the files in their places; a CSV file of an older result is removed.
    fn finish(mut self) -> Result<(), ResultError> {
        let (parquet, csv) = (self.parquet_path(), self.csv_path());
        let Some(files) = self.files.take() else { return Ok(()) };
        let (temporary, writer) = files.parquet;
        let failure = |error: &dyn std::fmt::Display| ResultError::cannot_write(&parquet, error);
        let mut writer = writer.finish().map_err(|error| failure(&error))?;
        writer.flush().map_err(|error| failure(&error))?;
        drop(writer);
        temporary.rename(&parquet).map_err(|error| failure(&error))?;
        let failure = |error: &dyn std::fmt::Display| ResultError::cannot_write(&csv, error);
        match files.csv {
            Some((temporary, mut writer)) => {
                writer.flush().map_err(|error| failure(&error))?;
                drop(writer);
                temporary.rename(&csv).map_err(|error| failure(&error))
            }
            None => crate::directory::remove(&csv),
        }
    }
}

impl Files {
    fn new(parquet: &Path, csv: Option<&Path>, table: &Table) -> Result<Self, ResultError> {
        if let Some(directory) = parquet.parent() {
            fs::create_dir_all(directory).map_err(|error| ResultError::cannot_write(directory, &error))?;
        }
        let open = |path: &Path| {
            let opened =
                Temporary::beside(path).map(|(temporary, file)| (temporary, BufWriter::with_capacity(1 << 16, file)));
            opened.map_err(|error| ResultError::cannot_write(path, &error))
        };
        let (temporary, file) = open(parquet)?;
        let writer = Writer::new(table, file).map_err(|error| ResultError::cannot_write(parquet, &error))?;
        let csv = match csv {
            Some(path) => {
                let (temporary, mut file) = open(path)?;
                table.write_csv_header(&mut file).map_err(|error| ResultError::cannot_write(path, &error))?;
                Some((temporary, file))
            }
            None => None,
        };
        Ok(Self { parquet: (temporary, writer), csv })
    }
}

/// How samples become rows.
type Rows<T> = fn(&Scenario, &[T]) -> Table;

/// A table that is written part by part.
struct Stream<'s, T> {
    scenario: &'s Scenario,
    rows: Rows<T>,
    waiting: Vec<T>,
    target: Target,
    failure: Option<ResultError>,
}

impl<'s, T> Stream<'s, T> {
    fn new(scenario: &'s Scenario, rows: Rows<T>, target: Target) -> Self {
        Self { scenario, rows, waiting: Vec::new(), target, failure: None }
    }

    fn push(&mut self, sample: T) {
        // What cannot be written is not kept in memory either.
        if self.failure.is_some() {
            return;
        }
        self.waiting.push(sample);
        if self.waiting.len() == ROWS_PER_GROUP {
            self.write();
        }
    }

    fn write(&mut self) {
        let table = (self.rows)(self.scenario, &self.waiting);
        self.waiting.clear();
        if let Err(failure) = self.target.add(&table) {
            // Its part of the file makes room.
            self.target.files = None;
            self.failure.get_or_insert(failure);
        }
    }

    fn finish(mut self) -> Result<(), ResultError> {
        if self.failure.is_none() && (self.target.files.is_none() || !self.waiting.is_empty()) {
            self.write();
        }
        self.failure.map_or_else(|| self.target.finish(), Err)
    }
}

/// Samples of flows, whose numbers are known at the end: until then they are in a file of their own form.
struct Spool {
    waiting: Vec<FlowSample>,
    file: Option<(Temporary, File)>,
    in_file: u64,
    /// Where the table goes; the file is beside it.
    path: PathBuf,
    failure: Option<ResultError>,
}

impl Spool {
    /// Time, flow and bytes.
    const BYTES: usize = 8 + 4 + 8;

    fn push(&mut self, sample: FlowSample) {
        if self.failure.is_some() {
            return;
        }
        self.waiting.push(sample);
        if self.waiting.len() == ROWS_PER_GROUP {
            if let Err(error) = self.put_aside() {
                self.file = None;
                self.failure = Some(ResultError::cannot_write(&self.path, &error));
            }
        }
    }

    fn put_aside(&mut self) -> std::io::Result<()> {
        let (_, file) = match &mut self.file {
            Some(file) => file,
            None => {
                if let Some(directory) = self.path.parent() {
                    fs::create_dir_all(directory)?;
                }
                self.file.insert(Temporary::beside(&self.path)?)
            }
        };
        let mut bytes = Vec::with_capacity(self.waiting.len() * Self::BYTES);
        for sample in &self.waiting {
            bytes.extend(sample.at.ps().to_le_bytes());
            bytes.extend(sample.flow.to_le_bytes());
            bytes.extend(sample.bytes.to_le_bytes());
        }
        self.in_file += self.waiting.len() as u64;
        self.waiting.clear();
        file.write_all(&bytes)
    }

    /// Hands on all samples in their order, with the flows' new numbers.
    fn drain(mut self, places: &[u32], mut sink: impl FnMut(FlowSample)) -> Result<(), ResultError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let renumbered = |sample: FlowSample| FlowSample {
            flow: places.get(sample.flow as usize).copied().unwrap_or(sample.flow),
            ..sample
        };
        if let Some((_, file)) = &mut self.file {
            let failure = |error: std::io::Error| ResultError::cannot_read(&self.path, &error);
            file.rewind().map_err(failure)?;
            let mut reader = BufReader::with_capacity(1 << 16, file);
            for _ in 0..self.in_file {
                let mut bytes = [0; Self::BYTES];
                reader.read_exact(&mut bytes).map_err(failure)?;
                let (at, rest) = bytes.split_at(8);
                let (flow, payload) = rest.split_at(4);
                let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte));
                let at = Instant::from_ps(number(at));
                sink(renumbered(FlowSample { at, flow: number(flow) as u32, bytes: number(payload) }));
            }
        }
        self.waiting.drain(..).map(renumbered).for_each(sink);
        Ok(())
    }
}

/// The samples of a run on their way to its directory. Nothing is put in its place before [`Samples::finish`]; dropped
/// before, they leave nothing behind.
pub struct Samples<'s> {
    timeline: Stream<'s, TimelineSample>,
    queues: Stream<'s, QueueSample>,
    progress: Stream<'s, FlowSample>,
    spool: Spool,
    /// The new numbers of flows; empty if they keep theirs.
    places: Vec<u32>,
}

impl<'s> Samples<'s> {
    /// Samples for a directory, which is made when the first of them are written.
    pub fn new(directory: &Path, scenario: &'s Scenario, csv: bool) -> Self {
        let [timeline, queues, progress] = SAMPLE_TABLES.map(|name| Target::new(directory, name, csv));
        let path = progress.parquet_path();
        Self {
            timeline: Stream::new(scenario, timeline::rows, timeline),
            queues: Stream::new(scenario, queue_timeline::rows, queues),
            progress: Stream::new(scenario, progress::rows, progress),
            spool: Spool { waiting: Vec::new(), file: None, in_file: 0, path, failure: None },
            places: Vec::new(),
        }
    }

    /// Writes the rest, and puts the files in their places. Those that cannot be written do not keep the others from
    /// it; the first error is returned.
    pub fn finish(self) -> Result<(), ResultError> {
        let Self { timeline, queues, mut progress, spool, places } = self;
        let drained = spool.drain(&places, |sample| progress.push(sample));
        let progress = drained.and_then(|()| progress.finish());
        timeline.finish().and(queues.finish()).and(progress)
    }
}

impl SampleSink for Samples<'_> {
    fn timeline(&mut self, sample: TimelineSample) {
        self.timeline.push(sample);
    }

    fn queue(&mut self, sample: QueueSample) {
        self.queues.push(sample);
    }

    fn progress(&mut self, sample: FlowSample) {
        self.spool.push(sample);
    }

    fn renumber(&mut self, places: &[u32]) {
        self.places = places.to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use forebay_tm::Bytes;

    fn timeline_sample(number: u64) -> TimelineSample {
        TimelineSample {
            at: Instant::from_ps(number),
            switch: (number % 3) as u32,
            buffer: 0,
            used: Bytes::new(number % 1_000),
            longest: (1, 2),
            longest_bytes: Bytes::new(number % 77),
            threshold: (number % 5 > 0).then_some(number as f64 / 3.0),
            drops: number / 100,
        }
    }

    fn queue_sample(number: u64) -> QueueSample {
        let threshold = (number % 7 > 0).then_some(number as f64);
        let (at, bytes) = (Instant::from_ps(number), Bytes::new(number % 999));
        QueueSample { at, switch: 1, port: (number % 4) as u32, queue: 0, bytes, threshold }
    }

    /// As many rows as two groups and a bit, and all tables with the same bytes as those made at once.
    #[test]
    fn streamed_tables_are_the_whole_tables() {
        let rows = 2 * ROWS_PER_GROUP as u64 + 17;
        let scenario = testing::scenario();
        let root = tempfile::tempdir().unwrap();
        let (streamed, whole) = (root.path().join("streamed"), root.path().join("whole"));
        fs::create_dir(&whole).unwrap();
        let mut samples = Samples::new(&streamed, &scenario, true);
        let mut result = testing::result();
        let places = [2, 0, 1];
        for number in 0..rows {
            samples.timeline(timeline_sample(number));
            samples.queue(queue_sample(number));
            let sample = FlowSample { at: Instant::from_ps(number), flow: (number % 3) as u32, bytes: number * 7 };
            samples.progress(sample);
            result.timeline.push(timeline_sample(number));
            result.queue_timeline.push(queue_sample(number));
            result.progress.push(FlowSample { flow: places[sample.flow as usize], ..sample });
        }
        assert!(!streamed.join("timeline.parquet").exists(), "nothing is in its place before the end");
        samples.renumber(&places);
        samples.finish().unwrap();
        for (name, table) in SAMPLE_TABLES.into_iter().zip([
            timeline::table(&scenario, &result),
            queue_timeline::table(&scenario, &result),
            progress::table(&scenario, &result),
        ]) {
            table.write_parquet(&whole.join(format!("{name}.parquet"))).unwrap();
            table.write_csv(&whole.join(format!("{name}.csv"))).unwrap();
            for end in ["parquet", "csv"] {
                let file = format!("{name}.{end}");
                assert!(fs::read(streamed.join(&file)).unwrap() == fs::read(whole.join(&file)).unwrap(), "{file}");
            }
        }
        assert_eq!(fs::read_dir(&streamed).unwrap().count(), 6, "no temporary file is left");
    }

    #[test]
    fn tables_without_samples_are_there_and_dropped_ones_are_not() {
        let scenario = testing::scenario();
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("run");
        let mut samples = Samples::new(&directory, &scenario, false);
        (0..ROWS_PER_GROUP as u64).for_each(|number| samples.timeline(timeline_sample(number)));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        drop(samples);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        Samples::new(&directory, &scenario, false).finish().unwrap();
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
        assert_eq!(Table::read_parquet(&directory.join("timeline.parquet")).unwrap().columns().len(), 9);
    }

    /// What cannot be written takes neither memory nor the other tables with it.
    #[test]
    fn one_table_that_cannot_be_written_does_not_lose_the_others() {
        let scenario = testing::scenario();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("queue_timeline.parquet")).unwrap();
        let mut samples = Samples::new(root.path(), &scenario, false);
        samples.queue(queue_sample(1));
        samples.timeline(timeline_sample(1));
        let error = samples.finish().unwrap_err();
        assert!(error.path.ends_with("queue_timeline.parquet"), "{error}");
        assert!(root.path().join("timeline.parquet").is_file() && root.path().join("progress.parquet").is_file());
    }
}
