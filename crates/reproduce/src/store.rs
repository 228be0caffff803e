//! Finished jobs on disk: one small file each, so that work that was interrupted goes on where it stopped.

use crate::job::Job;
use crate::metrics::Metrics;
use std::io;
use std::path::{Path, PathBuf};

/// The finished jobs of one figure.
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// Below a directory of results.
    pub fn new(results: &Path, paper: &str, figure: &str) -> Self {
        Self { directory: results.join("runs").join(paper).join(figure) }
    }

    /// Where they are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, job: &Job) -> PathBuf {
        self.directory.join(format!("{:032x}.json", job.key))
    }

    /// The numbers of a job that is finished; `None` also for a file that is not whole.
    pub fn get(&self, job: &Job) -> Option<Metrics> {
        let text = std::fs::read_to_string(self.path(job)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Whether a job is finished.
    pub fn has(&self, job: &Job) -> bool {
        self.path(job).is_file()
    }

    /// Keeps the numbers of a job. The file appears whole or not at all, whoever else makes the same.
    pub fn put(&self, job: &Job, metrics: &Metrics) -> io::Result<()> {
        std::fs::create_dir_all(&self.directory)?;
        let text = serde_json::to_string(metrics)?;
        forebay_results::write_text(&self.path(job), &text).map_err(|error| io::Error::other(error.problem))
    }
}
