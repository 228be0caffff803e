//! The points that hardware tests assert.

use crate::text;
use forebay_sonic::hardware::{Compared, read_rows, within};

fn compared(text: &str) -> Vec<Compared> {
    read_rows("hardware.csv", text).unwrap().iter().map(|row| row.compare().unwrap()).collect()
}

/// How many points are within 1%: pause, ingress drop, egress drop, and pause of several PGs.
fn shares(rows: &[Compared]) -> [(usize, usize); 4] {
    [
        within(rows.iter().map(|row| row.pause_error), 0.01),
        within(rows.iter().map(|row| row.ingress_drop_error), 0.01),
        within(rows.iter().map(|row| row.egress_drop_error), 0.01),
        within(rows.iter().map(|row| row.several_error), 0.01),
    ]
}

/// A row of a Nokia switch with TH6 keeps more than its configuration shows; the pause of 37 PGs of row 25 is that of
/// an older pool.
const EXPECTED: [(usize, usize); 4] = [(47, 48), (47, 48), (29, 29), (7, 8)];

#[test]
fn simulated_points_are_the_asserted_ones() {
    let rows = compared(&text("hardware.csv"));
    assert_eq!(shares(&rows), EXPECTED);
    let far: Vec<&str> =
        rows.iter().filter(|row| row.pause_error.unwrap().abs() > 0.01).map(|row| row.row.as_str()).collect();
    assert_eq!(far, ["45"]);
    // Most are the asserted packet, or the next.
    let near =
        rows.iter().filter(|row| row.pause_simulated.unwrap().abs_diff(row.pause_asserted.unwrap()) <= 4).count();
    assert!(near >= 38, "{near}");
}

/// Empties columns of a CSV file.
fn without(columns: &[&str], text: &str) -> String {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let mut writer = csv::Writer::from_writer(vec![]);
    writer.write_record(&headers).unwrap();
    for record in reader.records() {
        let record = record.unwrap();
        let fields =
            headers.iter().zip(&record).map(|(header, field)| if columns.contains(&header) { "" } else { field });
        writer.write_record(fields).unwrap();
    }
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn a_family_says_what_a_row_does_not() {
    let rows = compared(&without(&["sem", "parts"], &text("hardware.csv")));
    assert_eq!(shares(&rows), EXPECTED);
    let rows = compared(&without(&["sem", "parts", "cell", "note", "kind", "device"], &text("hardware.csv")));
    assert_eq!(shares(&rows)[0], EXPECTED[0]);
}

#[test]
fn bad_rows_name_the_line_and_the_column() {
    let good = text("hardware.csv");
    let (header, first) = (good.lines().next().unwrap(), good.lines().nth(1).unwrap());
    let place = |column: &str| header.split(',').position(|name| name == column).unwrap();
    let with = |column: &str, value: &str| {
        let mut fields: Vec<&str> = first.split(',').collect();
        fields[place(column)] = value;
        format!("{header}\n{}\n", fields.join(","))
    };
    let refused = [
        ("asic", "th9", "no such chip"),
        ("ing_size", "", "empty"),
        ("ing_size", "12.5", "not a number"),
        ("pg_th", "9", "-8 to 7"),
        ("ing_lossy_th", "3", "dynamic 3"),
        ("sem", "nett", "net, gross"),
        ("parts", "0", "cannot be"),
        ("pkt_bytes", "0", "size of a packet"),
        ("n_multi", "many", "number of PGs"),
        ("pfc", "x", "not a number"),
    ];
    for (column, value, expected) in refused {
        let error = read_rows("rows.csv", &with(column, value)).unwrap_err().to_string();
        assert!(error.contains(&format!("rows.csv:2: column {column}")) && error.contains(expected), "{error}");
    }
    let too_small = read_rows("rows.csv", &with("ing_size", "5000")).unwrap()[0].compare().unwrap_err().to_string();
    assert!(too_small.contains("row 1") && too_small.contains("more than the pool"), "{too_small}");
    let huge = read_rows("rows.csv", &with("ing_size", &u64::MAX.to_string())).unwrap()[0].compare().unwrap_err();
    assert!(huge.to_string().contains("more than any memory"), "{huge}");
    for (text, expected) in [
        ("", "no rows"),
        (header, "no rows"),
        ("row,asic\n1,td2\n", "no such column"),
        (&*format!("{header}\n1,2\n"), "fields"),
    ] {
        let error = read_rows("rows.csv", text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
