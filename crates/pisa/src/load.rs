//! What a control plane puts into a program: table entries and meter rates.

use crate::checked::Checked;
use crate::error::{LoadError, did_you_mean};
use crate::meter::{Buckets, MeterConfig};
use crate::table::Entries;

impl Checked {
    /// Adds an entry to an exact table, or changes the results of one that is there.
    pub fn insert(&mut self, table: &str, key: &[u64], result: &[u64]) -> Result<(), LoadError> {
        let (name, entries) = self.entries(table)?;
        if entries.is_ternary() {
            return refused(&name, "it is ternary; give its keys with masks and a priority");
        }
        fits(&name, "key", key, &entries.keys)?;
        fits(&name, "result", result, &entries.results)?;
        if entries.insert(key, result) { Ok(()) } else { full(&name, entries) }
    }

    /// Adds an entry to a ternary table: values and masks, and a priority, of which the lowest number comes first.
    pub fn insert_masked(
        &mut self,
        table: &str,
        key: &[(u64, u64)],
        priority: u32,
        result: &[u64],
    ) -> Result<(), LoadError> {
        let (name, entries) = self.entries(table)?;
        if !entries.is_ternary() {
            return refused(&name, "it is exact; give its keys without masks");
        }
        for part in [|key: &(u64, u64)| key.0, |key: &(u64, u64)| key.1] {
            let part: Vec<u64> = key.iter().map(part).collect();
            fits(&name, "key", &part, &entries.keys)?;
        }
        fits(&name, "result", result, &entries.results)?;
        if entries.insert_masked(key, priority, result) { Ok(()) } else { full(&name, entries) }
    }

    /// What a table gives if no entry matches; without this, 0.
    pub fn default_result(&mut self, table: &str, result: &[u64]) -> Result<(), LoadError> {
        let (name, entries) = self.entries(table)?;
        fits(&name, "result", result, &entries.results)?;
        entries.set_default(result);
        Ok(())
    }

    /// The rates of all entries of a meter; without any, all packets are green.
    pub fn set_meter(&mut self, meter: &str, config: MeterConfig) -> Result<(), LoadError> {
        let (buckets, slots) = self.meter_entries(meter, config)?;
        slots.fill(buckets);
        Ok(())
    }

    /// The rates of one entry of a meter.
    pub fn set_meter_entry(&mut self, meter: &str, index: usize, config: MeterConfig) -> Result<(), LoadError> {
        let (buckets, slots) = self.meter_entries(meter, config)?;
        let entries = slots.len();
        match slots.get_mut(index) {
            Some(slot) => {
                *slot = buckets;
                Ok(())
            }
            None => Err(LoadError(format!("the meter {meter} has {entries} entries, not one of number {index}"))),
        }
    }

    fn entries(&mut self, table: &str) -> Result<(String, &mut Entries), LoadError> {
        let place = self.places.tables.get(table).copied();
        match place.and_then(|place| self.tables.get_mut(usize::from(place))) {
            Some(entries) => Ok((format!("the table {table} of the program {}", self.name), entries)),
            None => {
                let known = self.places.tables.keys().map(String::as_str);
                Err(LoadError(format!(
                    "the program {} has no table {table}; {}",
                    self.name,
                    did_you_mean(table, known, "see the tables in its text")
                )))
            }
        }
    }

    fn meter_entries(&mut self, meter: &str, config: MeterConfig) -> Result<(Buckets, &mut [Buckets]), LoadError> {
        if config.peak < config.committed {
            return Err(LoadError(format!(
                "the meter {meter}: its peak rate ({} bit/s) is below its committed rate ({} bit/s); raise the peak",
                config.peak, config.committed
            )));
        }
        let buckets = Buckets::new(config)
            .map_err(|(problem, remedy)| LoadError(format!("the meter {meter}: {problem}; {remedy}")))?;
        let span = self.places.meters.get(meter).copied();
        let slots = span.and_then(|span| {
            let start = span.base as usize;
            self.meters.get_mut(start..start + span.entries as usize)
        });
        slots.map(|slots| (buckets, slots)).ok_or_else(|| {
            let known = self.places.meters.keys().map(String::as_str);
            let remedy = did_you_mean(meter, known, "see the meters in its text");
            LoadError(format!("the program {} has no meter {meter}; {remedy}", self.name))
        })
    }
}

fn refused(name: &str, why: &str) -> Result<(), LoadError> {
    Err(LoadError(format!("{name}: {why}")))
}

fn full(name: &str, entries: &Entries) -> Result<(), LoadError> {
    refused(name, &format!("its {} entries are in use; raise its size, or load fewer", entries.size))
}

/// Whether there are as many values as columns, none of them too wide.
fn fits(name: &str, what: &str, values: &[u64], widths: &[u32]) -> Result<(), LoadError> {
    if values.len() != widths.len() {
        return refused(name, &format!("an entry has {} {what}s, not {}", widths.len(), values.len()));
    }
    match values.iter().zip(widths).find(|(value, bits)| **bits < 64 && **value >> **bits != 0) {
        Some((value, bits)) => refused(name, &format!("the {what} {value} does not fit into {bits} bits")),
        None => Ok(()),
    }
}
