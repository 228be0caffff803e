//! How much a run will write, before it runs.

use crate::{Error, Prepared, WayOut};
use forebay_results::text::bytes;
use forebay_tm::{Duration, ValidConfig};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Bytes of a row before it is compressed: as Parquet keeps it, and as a line of CSV.
const TIMELINE_ROW: (u64, u64) = (64, 80);
const QUEUE_ROW: (u64, u64) = (41, 60);
const FLOW_ROW: (u64, u64) = (100, 150);
/// Samples repeat themselves: Parquet files of them have been seen to shrink to an eightieth.
const SHRINKS: u64 = 100;
/// From so many rows on, a run says beforehand what it will write.
const MANY: u64 = 1_000_000;

/// What a run will write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Rows of `timeline`, and of `queue_timeline` if all queues are used, for each sample.
    timeline: u64,
    queues: u64,
    /// Samples until the scenario's duration is over, and until the run is at the latest.
    samples: (u64, u64),
    flows: u64,
    csv: bool,
}

impl Estimate {
    /// Of a scenario, with its tables as CSV, too, or not.
    pub fn new(Prepared { scenario, plan, .. }: &Prepared, csv: bool) -> Self {
        let measure = &scenario.measure;
        let sum = |chosen: &[usize], rows: fn(&ValidConfig) -> usize| -> u64 {
            let buffers = chosen.iter().flat_map(|switch| &scenario.switches[*switch].buffers);
            buffers.map(|buffer| rows(buffer) as u64).sum()
        };
        let latest = Duration::from_ps(scenario.duration.ps().saturating_add(scenario.drain.ps()));
        Self {
            timeline: sum(&measure.timeline, |_| 1),
            queues: sum(&measure.queues, ValidConfig::total_queues),
            samples: (scenario.duration.ps() / measure.sample.ps(), latest.ps() / measure.sample.ps()),
            flows: plan.flows.len() as u64,
            csv,
        }
    }

    fn rows(&self, samples: u64) -> u64 {
        (self.timeline + self.queues).saturating_mul(samples)
    }

    /// Bytes of samples before they are compressed.
    fn sample_bytes(&self, samples: u64) -> u64 {
        let row = |(parquet, text): (u64, u64)| if self.csv { parquet + text } else { parquet };
        let each = self.timeline * row(TIMELINE_ROW) + self.queues * row(QUEUE_ROW);
        each.saturating_mul(samples)
    }

    /// Bytes that the run will write at the very least.
    pub fn least(&self) -> u64 {
        let text = |row: (u64, u64)| if self.csv { row.1 } else { 0 };
        let samples = self.timeline * text(TIMELINE_ROW) + self.queues / 8 * text(QUEUE_ROW);
        let flows = self.flows.saturating_mul(FLOW_ROW.0 / 4 + text(FLOW_ROW));
        (self.sample_bytes(self.samples.0) / SHRINKS)
            .saturating_add(samples.saturating_mul(self.samples.0))
            .saturating_add(flows)
    }

    /// In words; `None` if no samples are kept.
    pub fn tell(&self) -> Option<String> {
        let (during, latest) = self.samples;
        if self.rows(1) == 0 {
            return None;
        }
        let of = |samples| {
            let rows = self.rows(samples);
            format!("{rows} rows, {} before they are compressed", bytes(self.sample_bytes(samples) as f64))
        };
        let mut text = format!("Samples: at most {} by the end of the duration", of(during));
        if latest > during {
            let _ = write!(text, "; {} if flows take until the end of the drain", of(latest));
        }
        text.push('.');
        Some(text)
    }

    /// As JSON: rows and bytes of samples, by the end of the duration and at the latest.
    pub fn json(&self) -> Value {
        let of = |samples| json!({ "rows": self.rows(samples), "bytes": self.sample_bytes(samples) });
        json!({ "duration": of(self.samples.0), "end": of(self.samples.1) })
    }

    /// The same, if it is much.
    pub fn warning(&self) -> Option<String> {
        self.tell().filter(|_| self.rows(self.samples.0) >= MANY)
    }
}

/// Refuses to run what there is no space for.
pub fn check_space(directory: &Path, least: u64) -> Result<(), Error> {
    let Ok(there) = rustix::fs::statvfs(directory) else { return Ok(()) };
    check_free(directory, least, there.f_bavail.saturating_mul(there.f_frsize))
}

fn check_free(directory: &Path, least: u64, free: u64) -> Result<(), Error> {
    if least <= free {
        return Ok(());
    }
    let problem = format!("the results need {} at least, and {} are free", bytes(least as f64), bytes(free as f64));
    Err(Error::Directory { path: directory.to_owned(), problem, way_out: WayOut::Room })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUCH: Estimate =
        Estimate { timeline: 2, queues: 16, samples: (1_000_000, 101_000_000), flows: 10, csv: false };

    #[test]
    fn rows_and_bytes() {
        let text = MUCH.tell().unwrap();
        // 18 rows a sample; 2 * 64 + 16 * 41 = 784 bytes.
        assert!(
            text.starts_with("Samples: at most 18000000 rows, 784MB before they are compressed by the end"),
            "{text}"
        );
        assert!(text.contains("; 1818000000 rows, 79.2GB before"), "{text}");
        assert_eq!(Estimate { timeline: 0, queues: 0, ..MUCH }.tell(), None);
        assert!(Estimate { csv: true, ..MUCH }.least() > 100 * MUCH.least() / 10);
    }

    #[test]
    fn a_run_that_cannot_fit_is_refused() {
        assert!(check_free(Path::new("out"), MUCH.least(), MUCH.least()).is_ok());
        let text = check_free(Path::new("out"), MUCH.least(), MUCH.least() - 1).unwrap_err().to_string();
        assert!(text.starts_with("error: out: the results need 7.84MB at least"), "{text}");
    }
}
