//! Arrivals through a switch, with no network and no transport, and the fates of all packets in memory.

use crate::Error;
use crate::arrivals::Arrivals;
use crate::columns::ArrivalColumns;
use crate::fate::{Fates, Row};
use forebay_tm::drive::{Driver, EndOfTime};
use forebay_tm::{Instant, Tm, ValidConfig};

/// A replay that is over.
pub struct Replayed {
    /// The switch as it is after the last packet, with its counters.
    pub tm: Tm,
    /// What became of each packet, in the order of arrival.
    pub fates: Vec<Row>,
}

/// Packets between two looks at whether to stop.
const STRIDE: u64 = 8_192;

/// Sends arrivals from columns through a switch until nothing waits. `look` is shown the number of packets so far now
/// and then, and stops the replay by returning false: then there is no result.
pub fn replay_columns(
    switch: &ValidConfig,
    columns: &ArrivalColumns,
    look: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Replayed>, Error> {
    let mut driver = Driver::new(Tm::new(switch.clone()));
    let mut fates = Fates { rows: Vec::with_capacity(columns.rows()) };
    let mut last = Instant::ZERO;
    for row in 0..columns.rows() {
        let (now, packet) = columns.arrival(row, last, switch)?;
        last = now;
        driver.arrive(now, &packet, &mut fates).map_err(too_late)?;
        if row as u64 % STRIDE == STRIDE - 1 && !look(row as u64 + 1) {
            return Ok(None);
        }
    }
    finish(driver, fates, too_late)
}

/// The same with arrivals from a file.
pub fn replay_file(
    switch: &ValidConfig,
    arrivals: &mut Arrivals<'_>,
    look: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Replayed>, Error> {
    let mut driver = Driver::new(Tm::new(switch.clone()));
    let mut fates = Fates::default();
    while let Some((now, packet)) = arrivals.read_next()? {
        driver.arrive(now, &packet, &mut fates).map_err(|error| arrivals.too_late(error))?;
        if arrivals.count() % STRIDE == 0 && !look(arrivals.count()) {
            return Ok(None);
        }
    }
    finish(driver, fates, |error| arrivals.too_late(error).into())
}

fn finish(
    mut driver: Driver,
    mut fates: Fates,
    too_late: impl FnOnce(EndOfTime) -> Error,
) -> Result<Option<Replayed>, Error> {
    driver.finish(&mut fates).map_err(too_late)?;
    Ok(Some(Replayed { tm: driver.tm().clone(), fates: fates.rows }))
}

/// The error of arrivals that take a run past the end of time.
fn too_late(error: EndOfTime) -> Error {
    Error::refused("arrivals", error.to_string(), "give earlier arrivals, shorter packets or a higher rate")
}
