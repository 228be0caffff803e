//! Numbers of table 1: what AIFO and SP-PIFO need of a Tofino.

use crate::figure::Point;
use crate::metrics::Metrics;
use crate::papers::measure_resources::{facts, resources};
use forebay_pisa::programs::ProgramConfig;

/// The resources of a program.
pub(super) fn shares(point: &Point) -> Result<Metrics, String> {
    let name = point.text("program").unwrap_or_default();
    let program = ProgramConfig::by_name(name).ok_or_else(|| format!("program: there is no {name}"))?;
    let mut metrics = Metrics::default();
    resources(&mut metrics, &program, &facts(point)?)?;
    Ok(metrics)
}
