//! The points that hardware tests assert.

use crate::text;
use forebay_sonic::hardware::{Compared, read_rows, within};
use forebay_sonic::predict::{agrees, formula};

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

/// Both sides of the core, the accounting of the ingress side alone, and the formulas.
#[test]
fn core_accounting_and_formulas_agree_to_the_packet() {
    for row in read_rows("hardware.csv", &text("hardware.csv")).unwrap() {
        let parts = row.parts(row.shared().unwrap()).unwrap();
        let filled = parts.blocked(1, row.packet()).unwrap().fill();
        let alone = parts.lossless.fill(1, row.packet()).unwrap();
        assert_eq!((filled.pause, filled.drop, filled.resume), (alone.pause, alone.drop, alone.resume), "{}", row.row);
        assert!(agrees(&formula(&parts.lossless, 1, row.packet()), &filled), "{}: {filled:?}", row.row);
        let Some(queue) = &parts.queue else { continue };
        let (lossy, side) = parts.blocked(1, row.packet()).unwrap().fill_lossy();
        let of_queue = formula(queue, 1, row.packet()).drop;
        let of_group = formula(&parts.lossy, 1, row.packet()).drop;
        assert_eq!(Some(lossy), of_queue.min(of_group), "{}", row.row);
        // The ingress side is asked first.
        assert_eq!(side, if of_queue < of_group { "egress" } else { "ingress" }, "{}", row.row);
    }
}

/// How a family reads sizes, as section 3 of the published facts has it, worked out beside the code: shared cells of a
/// partition, and the PG's own.
struct Reading {
    asic: &'static str,
    cell: u64,
    parts: u64,
    is_gross: bool,
    own: fn(&Imagined) -> u64,
}

/// A row that nobody has measured.
#[derive(Clone, Copy)]
struct Imagined {
    size: u64,
    xoff: u64,
    pg_size: u64,
    pg_xon: u64,
    pg_xoff: u64,
    th: i32,
    pg_res: u64,
    q_res: u64,
}

const READINGS: [Reading; 13] = [
    Reading { asic: "td2", cell: 208, parts: 1, is_gross: true, own: |row| row.pg_size - row.pg_xoff },
    Reading { asic: "th", cell: 208, parts: 4, is_gross: false, own: |row| row.pg_size },
    Reading { asic: "th2", cell: 208, parts: 4, is_gross: false, own: |row| row.pg_size },
    Reading { asic: "td3", cell: 256, parts: 1, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "th3", cell: 254, parts: 2, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "th5", cell: 254, parts: 2, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "th6", cell: 420, parts: 1, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "jr2", cell: 112, parts: 2, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "j2c+", cell: 112, parts: 2, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "q3d", cell: 112, parts: 8, is_gross: true, own: |row| row.pg_size },
    Reading { asic: "spc1", cell: 96, parts: 1, is_gross: false, own: |row| row.pg_xon },
    Reading { asic: "spc2", cell: 144, parts: 1, is_gross: false, own: |row| row.pg_xon },
    Reading { asic: "spc3", cell: 144, parts: 1, is_gross: false, own: |row| row.pg_xon },
];

/// Rows without `sem` and `parts` that hardware tests could have: other sizes, alphas, cables and reserves, for every
/// family.
#[test]
fn every_family_reads_rows_that_nobody_has_measured() {
    let header = "row,asic,device,topo,cell,pkt_bytes,ing_size,ing_xoff,egr_size,pg_size,pg_xon,pg_xoff,pg_xon_offset,pg_th,ing_lossy_th,elossy_size,\
                  elossy_th,sem,parts,pg_res,q_res,pfc,ingr,egr,n_multi,multi";
    let rows = [
        Imagined {
            size: 12_766_208,
            xoff: 0,
            pg_size: 58_240,
            pg_xon: 18_432,
            pg_xoff: 56_992,
            th: -3,
            pg_res: 9_000,
            q_res: 0,
        },
        Imagined {
            size: 33_582_016,
            xoff: 8_965_632,
            pg_size: 1_680,
            pg_xon: 1_248,
            pg_xoff: 184_800,
            th: 0,
            pg_res: 1_440,
            q_res: 1_120,
        },
        Imagined {
            size: 164_733_224,
            xoff: 29_520_896,
            pg_size: 18_796,
            pg_xon: 0,
            pg_xoff: 452_374,
            th: -2,
            pg_res: 4_352,
            q_res: 4_480,
        },
        Imagined {
            size: 51_748_864,
            xoff: 2_629_632,
            pg_size: 19_456,
            pg_xon: 19_456,
            pg_xoff: 91_136,
            th: 1,
            pg_res: 2_016,
            q_res: 980,
        },
    ];
    for reading in READINGS {
        for row in rows {
            if reading.asic == "td2" && row.pg_size < row.pg_xoff || reading.asic != "td2" && row.pg_size > 50_000 {
                continue;
            }
            let Imagined { size, xoff, pg_size, pg_xon, pg_xoff, th, pg_res, q_res } = row;
            let line = format!(
                "1,{},,,,64,{size},{xoff},,{pg_size},{pg_xon},{pg_xoff},,{th},static 1,,,,,{pg_res},{q_res},,,,,",
                reading.asic
            );
            let compared = &compared(&format!("{header}\n{line}\n"))[0];
            let taken = if reading.is_gross { xoff + (pg_res + q_res) * reading.cell } else { 0 };
            let shared = ((size - taken) / (reading.cell * reading.parts)) as f64;
            let alpha = 2f64.powi(th);
            let pause =
                (shared * alpha / (1.0 + alpha)).floor() as u64 + (reading.own)(&row).div_ceil(reading.cell) + 1;
            let simulated = compared.pause_simulated.unwrap();
            assert!(simulated.abs_diff(pause) <= 1, "{} {th}: {simulated}, not {pause}", reading.asic);
            // Headroom: of the PG, or on Spectrum of two PGs of the port where it is shared; never more than the
            // pool's.
            let pgs = if reading.asic.starts_with("spc") { 2 } else { 1 };
            let pool = if xoff > 0 { xoff / (reading.cell * reading.parts) } else { u64::MAX };
            let headroom = (pgs * pg_xoff / reading.cell).min(pool);
            let drop = compared.ingress_drop_simulated.unwrap();
            assert!(drop.abs_diff(pause + headroom) <= 1, "{} {th}: {drop}, not {pause} + {headroom}", reading.asic);
        }
    }
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
