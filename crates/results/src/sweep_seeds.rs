//! The runs of a sweep one by one: a row for each point and seed, a column for each parameter.

use crate::sweep::{MEASURES, SweepRow};
use crate::table::Table;

/// The value of a parameter without the quotes that it has in a file.
fn plain(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// Adds the column of a parameter: numbers if all values are, else texts.
fn add_parameter(table: &mut Table, name: &str, values: &[Option<&str>]) {
    fn all<T: std::str::FromStr>(values: &[Option<&str>]) -> Option<Vec<Option<T>>> {
        values.iter().map(|value| value.map(str::parse).transpose().ok()).collect()
    }
    if let Some(numbers) = all::<i64>(values) {
        table.optional_int(name, numbers);
    } else if let Some(numbers) = all::<f64>(values) {
        table.optional_float(name, numbers);
    } else {
        table.optional_text(name, values.iter().copied());
    }
}

/// A row for each run: the label of its point (null if there is only one without), its parameters by their keys in the
/// scenario (null where a point does not set one), its seed, and the measures of the sweep.
pub fn seed_table(rows: &[SweepRow]) -> Table {
    let runs: Vec<_> = rows.iter().flat_map(|row| row.seeds.iter().map(move |run| (row, run))).collect();
    let mut table = Table::new();
    let label = |row: &SweepRow| row.settings.first().map(|(_, label)| label.clone());
    let labels: Vec<Option<String>> = runs.iter().map(|(row, _)| label(row)).collect();
    table.optional_text("point", labels.iter().map(Option::as_deref));
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in rows.iter().flat_map(|row| &row.parameters) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let is_taken = |key: &str| ["point", "seed"].contains(&key) || MEASURES.iter().any(|measure| measure.column == key);
    for key in keys {
        let value = |row: &'_ SweepRow| row.parameters.iter().rposition(|(known, _)| known == key);
        let values: Vec<Option<&str>> =
            runs.iter().map(|(row, _)| value(row).map(|place| plain(&row.parameters[place].1))).collect();
        let name = if is_taken(key) { format!("setting.{key}") } else { key.to_owned() };
        add_parameter(&mut table, &name, &values);
    }
    table.count("seed", runs.iter().map(|(_, run)| run.run.seed));
    for measure in &MEASURES {
        table.optional_float(measure.column, runs.iter().map(|(_, run)| (measure.value)(run)));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summarize;
    use crate::testing;

    #[test]
    fn a_row_for_each_seed_and_a_column_for_each_parameter() {
        let point = |label: &str, parameters: &[(&str, &str)], seeds: &[u64]| SweepRow {
            settings: vec![("point".to_owned(), label.to_owned())],
            parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            seeds: seeds
                .iter()
                .map(|seed| {
                    let (scenario, result) = testing::busy(*seed, *seed);
                    summarize(&scenario, &result)
                })
                .collect(),
        };
        let rows = [
            point("a", &[("policy.kind", "\"dt\""), ("policy.alpha", "0.5"), ("seed", "7")], &[1, 2]),
            point("b", &[("policy.kind", "\"abm\""), ("policy.alpha", "2"), ("buffer", "\"1MB\"")], &[1]),
        ];
        let table = seed_table(&rows);
        assert_eq!(table.rows(), 3);
        let column = |name: &str| table.column(name).unwrap();
        assert_eq!(column("point").text(1), Some("a"));
        assert_eq!((column("policy.kind").text(0), column("policy.kind").text(2)), (Some("dt"), Some("abm")));
        assert_eq!((column("policy.alpha").number(0), column("policy.alpha").number(2)), (Some(0.5), Some(2.0)));
        assert_eq!((column("buffer").text(0), column("buffer").text(2)), (None, Some("1MB")));
        assert_eq!((column("setting.seed").int(0), column("seed").int(1)), (Some(7), Some(2)));
        // Query completion times of 100 to 400 us times the seed.
        assert_eq!((column("qct_mean_us").number(0), column("qct_mean_us").number(1)), (Some(250.0), Some(500.0)));
    }
}
