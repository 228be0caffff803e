//! Replays of columns and of files.

use forebay_runner::arrivals::Arrivals;
use forebay_runner::columns::{ArrivalColumns, check_packet};
use forebay_runner::replay::{replay_columns, replay_file};
use forebay_settings::read_switch;
use forebay_tm::View as _;
use forebay_tm::{Packet, ValidConfig};
use std::fmt::Write as _;
use std::io::Cursor;

fn switch() -> ValidConfig {
    let text = "ports = 2\nrate = \"10Gbps\"\nbuffer = \"20KB\"\npolicy = { kind = \"dt\", alpha = 0.5 }\n";
    read_switch("switch.toml", text).unwrap()
}

/// Columns with their names.
type Columns = Vec<(String, Vec<u64>)>;
/// The name of a column, and its value for the number of a packet.
type NamedColumn = (&'static str, fn(u64) -> u64);

/// Columns by name, each made of the number of the packet.
fn columns(of: &[NamedColumn], packets: u64) -> Columns {
    of.iter().map(|(name, value)| ((*name).to_owned(), (0..packets).map(value).collect())).collect()
}

const BUSY: [NamedColumn; 4] =
    [("time_ps", |n| n * 200_000), ("bytes", |n| 64 + n * 37 % 1_400), ("port", |n| n * n % 2), ("queue", |_| 0)];

#[test]
fn columns_and_files_meet_the_same_fates() {
    let (switch, columns) = (switch(), columns(&BUSY, 20_000));
    let mut text = "time_ps,bytes,port,queue\n".to_owned();
    for row in 0..20_000 {
        let values: Vec<String> = columns.iter().map(|(_, column)| column[row].to_string()).collect();
        writeln!(text, "{}", values.join(",")).unwrap();
    }
    let mut arrivals = Arrivals::new("a.csv", Box::new(Cursor::new(text)), None, &switch).unwrap();
    let of_file = replay_file(&switch, &mut arrivals, &mut |_| true).unwrap().unwrap();
    let columns = ArrivalColumns::new(columns).unwrap();
    let of_columns = replay_columns(&switch, &columns, &mut |_| true).unwrap().unwrap();
    assert_eq!(of_file.tm.pool_counters(), of_columns.tm.pool_counters());
    let rows = |rows: &[forebay_runner::fate::Row]| rows.iter().map(|row| row.to_bytes()).collect::<Vec<_>>();
    assert_eq!(rows(&of_file.fates), rows(&of_columns.fates));
    assert!(of_columns.tm.pool_counters().dropped.packets > 100);
    assert!(replay_columns(&switch, &columns, &mut |_| false).unwrap().is_none());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let switch = switch();
    let error = |change: &dyn Fn(&mut Columns)| {
        let mut columns = columns(&BUSY, 10);
        change(&mut columns);
        let replayed = ArrivalColumns::new(columns).and_then(|own| replay_columns(&switch, &own, &mut |_| true));
        replayed.map(drop).unwrap_err().to_string()
    };
    for (text, expected) in [
        (
            error(&|own| own[1].1[3] = 0),
            "arrivals[\"bytes\"][3]: a packet has at least one byte\n  help: give 1 or more",
        ),
        (
            error(&|own| own[2].1[9] = 2),
            "arrivals[\"port\"][9]: there is no port 2\n  help: the switch has ports 0 to 1",
        ),
        (error(&|own| own[0].1[4] = 0), "arrivals[\"time_ps\"][4]: 0 is before the arrival before it, at 600000"),
        (
            error(&|own| own[3].0 = "quue".to_owned()),
            "arrivals: there is no column \"quue\"\n  help: did you mean queue?",
        ),
        (error(&|own| own[3].0 = "port".to_owned()), "arrivals[\"port\"]: this column is there twice"),
        (error(&|own| drop(own.pop())), "arrivals[\"queue\"]: this column is missing"),
        (error(&|own| own[3].1.truncate(9)), "arrivals[\"queue\"]: it has 9 values, and the first column has 10"),
        (error(&|own| own[0].1[9] = u64::MAX - 1), "would leave after the end of time"),
    ] {
        assert!(text.contains(expected), "{text}");
    }
    let packet = Packet { bytes: 64, queue: 5, ..Packet::default() };
    let text = check_packet(&packet, &switch).unwrap_err().to_string();
    assert_eq!(text, "error: queue: there is no queue 5\n  help: a port has queues 0 to 0");
}
