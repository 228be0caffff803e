//! The examples of the specification come out byte for byte, and what the crate writes reads back as it was.

use forebay_naive::{
    Arrival, Dice, Policy, Scheduler, Switch, Trim, Wred, random_case, run, to_csv, to_toml, verdicts_csv,
};
use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");

#[test]
fn the_examples_come_out_byte_for_byte() {
    let mut seen = 0;
    for entry in read_dir(VECTORS).expect("the folder of examples") {
        let folder = entry.expect("an entry").path();
        if !folder.is_dir() {
            continue;
        }
        let text = |name: &str| read_to_string(folder.join(name)).expect(name);
        let switch = read_switch(&text("switch.toml"));
        let arrivals = read_arrivals(&text("arrivals.csv"));
        let verdicts = verdicts_csv(&run(&switch, &arrivals));
        for (got, wanted) in verdicts.lines().zip(text("verdicts.csv").lines()) {
            assert_eq!(got, wanted, "{}", folder.display());
        }
        assert_eq!(verdicts, text("verdicts.csv"), "{}", folder.display());
        seen += 1;
    }
    assert_eq!(seen, 29);
}

#[test]
fn what_is_written_reads_back() {
    for seed in 0..500 {
        let (switch, arrivals) = random_case(&mut Dice::from_seed(seed));
        assert_eq!(read_switch(&to_toml(&switch)), switch);
        assert_eq!(read_arrivals(&to_csv(&arrivals)), arrivals);
    }
}

/// A table of TOML: what stands at its keys, as written.
type Table = BTreeMap<String, String>;

/// Reads just the TOML that these files use: one `key = value` a line, under `[table]` headings.
fn read_switch(text: &str) -> Switch {
    let mut tables: BTreeMap<String, Table> = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=') {
            let table = tables.entry(heading.clone()).or_default();
            let value = value.trim().replace('"', "");
            assert!(table.insert(key.trim().to_string(), value).is_none());
        } else {
            heading = line.trim_matches(['[', ']']).to_string();
            tables.entry(heading.clone()).or_default();
        }
    }
    let empty = Table::new();
    let top = &tables[""];
    let queues = number(top, "queues", Some(1)) as usize;
    let rates = match top.get("rate") {
        Some(rate) => vec![quantity(rate); number(top, "ports", None) as usize],
        None => list(&top["ports"]).iter().map(|r| quantity(r)).collect(),
    };
    Switch {
        rates,
        queues,
        buffer: number(top, "buffer", None),
        cell: number(top, "cell", Some(1)),
        queue_capacity: top.get("queue_capacity").map(|c| quantity(c) as usize),
        policy: read_policy(&tables["policy"], queues),
        scheduler: read_scheduler(tables.get("scheduler").unwrap_or(&empty), queues),
        ecn: tables.get("ecn").filter(|ecn| ecn["kind"] == "step").map(|ecn| number(ecn, "threshold", None)),
        wred: tables.get("ecn").filter(|ecn| ecn["kind"] == "wred").map(|ecn| read_wred(ecn, queues)),
        trim: tables.get("trim").map(|trim| Trim {
            size: number(trim, "size", Some(64)),
            header_capacity: number(trim, "header_capacity", Some(64)) as usize,
            header_ratio: number(trim, "header_ratio", Some(10)),
            strict: trim.get("header_priority").is_some_and(|p| p == "strict"),
            return_to_sender: trim.get("return_to_sender").is_some_and(|r| r == "true"),
        }),
    }
}

fn read_wred(table: &Table, queues: usize) -> Wred {
    let from = ["green", "yellow", "red"].map(|colour| list(&table[&format!("{colour}_min")]));
    let sets = |key: &str| {
        let sets = list(&table[key]);
        let is_in = |set: &str, colour: &str| set == "all" || set.split('-').any(|one| one == colour);
        (0..queues).map(|k| ["green", "yellow", "red"].map(|colour| is_in(&sets[k], colour))).collect()
    };
    Wred {
        from: (0..queues).map(|k| [0, 1, 2].map(|colour: usize| quantity(&from[colour][k]))).collect(),
        marks: sets("mark"),
        drops: sets("drop"),
    }
}

fn read_policy(table: &Table, queues: usize) -> Policy {
    let alpha = match table.get("alpha").map(String::as_str) {
        Some(many) if many.starts_with('[') => list(many).iter().map(|a| float(a)).collect(),
        Some(one) => vec![float(one); queues],
        None => Vec::new(),
    };
    let groups = table.get("groups").map(|groups| {
        groups[1..groups.len() - 1]
            .split_inclusive(']')
            .map(|group| list(group.trim_start_matches([',', ' '])))
            .map(|group| group.iter().map(|k| quantity(k) as usize).collect())
            .collect()
    });
    let optional_float = |key: &str| table.get(key).map(|value| float(value));
    match table["kind"].as_str() {
        "cs" => Policy::Cs,
        "cp" => Policy::Cp,
        "dt" => Policy::Dt { alpha, reserved: optional_float("reserved").unwrap_or(0.0) },
        "fb" => Policy::Fb { alpha, groups, packet_classes: table.get("classes").is_some_and(|c| c == "packet") },
        "fba" => Policy::Fba { alpha, groups, interval: number(table, "interval", None) },
        "abm" => Policy::Abm {
            alpha,
            alpha_unscheduled: optional_float("alpha_unscheduled"),
            interval: number(table, "interval", None),
            congested_at: table.get("congested_at").map(|length| quantity(length)),
        },
        "fab" => Policy::Fab {
            alpha,
            alpha_short: optional_float("alpha_short").expect("alpha_short"),
            threshold: number(table, "threshold", None),
            window: number(table, "window", None),
        },
        "pools" => read_pools(table, alpha),
        "reverie" => Policy::Reverie {
            alpha,
            filter: number(table, "filter", Some(10)) as u32,
            lossless: list(&table["lossless"]).iter().map(|lossless| *lossless == "true").collect(),
        },
        "pushout" => Policy::Pushout,
        "occamy" => Policy::Occamy {
            alpha,
            token_cell: number(table, "token_cell", Some(200)),
            bucket: number(table, "bucket", Some(64)),
        },
        other => panic!("policy {other}"),
    }
}

fn read_pools(table: &Table, alpha: Vec<f64>) -> Policy {
    let numbers = |key: &str| -> Vec<u64> { list(&table[key]).iter().map(|number| quantity(number)).collect() };
    Policy::Pools {
        pools: numbers("pools"),
        pool: numbers("pool").into_iter().map(|pool| pool as usize).collect(),
        minimum: numbers("minimum"),
        alpha,
        limit: numbers("limit"),
        port_limit: table.get("port_limit").map(|limit| quantity(limit)),
        fixed: list(&table["fixed"]).iter().map(|fixed| *fixed == "true").collect(),
        partitions: number(table, "partitions", None) as usize,
    }
}

fn read_scheduler(table: &Table, queues: usize) -> Scheduler {
    let weights = match table.get("weights") {
        Some(weights) => list(weights).iter().map(|w| quantity(w)).collect(),
        None => vec![1; queues],
    };
    let capacity = || number(table, "capacity", None) as usize;
    match table.get("kind").map_or("fifo", String::as_str) {
        "fifo" => Scheduler::Fifo,
        "rr" => Scheduler::Rr,
        "wrr" => Scheduler::Wrr { weights },
        "drr" => Scheduler::Drr { weights, quantum: number(table, "quantum", Some(1500)) },
        "strict" => Scheduler::Strict,
        "pifo" => Scheduler::Pifo { capacity: capacity() },
        "sp-pifo" => Scheduler::SpPifo { queues: number(table, "queues", None) as usize, capacity: capacity() },
        "aifo" => Scheduler::Aifo {
            capacity: capacity(),
            headroom: float(&table["headroom"]),
            window: number(table, "window", None) as usize,
            sample: number(table, "sample", Some(1)),
        },
        other => panic!("scheduler {other}"),
    }
}

fn list(text: &str) -> Vec<String> {
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let items = inside.expect("a list").split(',');
    items.map(|item| item.trim().to_string()).collect()
}

fn float(text: &str) -> f64 {
    text.parse().expect("a number")
}

fn number(table: &Table, key: &str, default: Option<u64>) -> u64 {
    match table.get(key) {
        Some(text) => quantity(text),
        None => default.expect(key),
    }
}

/// An integer with the units that these files use.
fn quantity(text: &str) -> u64 {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[digits.len()..] {
        "" | "B" | "bps" | "ps" => 1,
        "ns" => 1000,
        "us" => 1_000_000,
        "Gbps" => 1_000_000_000,
        other => panic!("unit {other}"),
    };
    digits.parse::<u64>().expect("an integer") * unit
}

fn read_arrivals(text: &str) -> Vec<Arrival> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    lines
        .map(|line| {
            let row: Vec<u64> = line.split(',').map(|c| c.parse().expect("int")).collect();
            let column = |name| columns.iter().position(|c| *c == name).map_or(0, |c| row[c]);
            Arrival {
                time: column("time_ps"),
                bytes: column("bytes"),
                port: column("port") as usize,
                queue: column("queue") as usize,
                flow: column("flow"),
                rank: column("rank"),
                class: column("class") as usize,
                unscheduled: column("unscheduled") == 1,
                ect: column("ect") == 1,
                colour: column("colour") as usize,
            }
        })
        .collect()
}
