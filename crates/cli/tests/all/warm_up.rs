//! `measure.from`: what comes before it is in no summary, to the packet and to the byte.

use crate::simulation::forebay;
use forebay_results::Table;

/// Two flows at once that a small buffer cannot hold, then one alone, and a last one when the duration is nearly over.
/// Packets have 1500 bytes: a sender starts one every 2 us, a link is busy with it for 1.2 us.
const SCENARIO: &str = r#"duration = "1ms"
topology = { kind = "single", hosts = 3, rate = "10Gbps", delay = "1us" }
switch = { buffer = "6KB" }
policy = { kind = "cs" }
nic = { kind = "unlimited" }
transport.udp = { rate = "6Gbps", mss = 1436, header = 64 }
workload = [{ kind = "csv", path = "flows.csv", transport = "udp" }]
"#;
const FLOWS: &str = "start_s,src,dst,bytes\n\
    0,0,2,143600\n\
    0,1,2,143600\n\
    0.0004,0,2,143600\n\
    0.0009999,0,2,1436\n";

#[test]
fn what_is_measured_begins_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("w.toml"), SCENARIO).unwrap();
    std::fs::write(at("flows.csv"), FLOWS).unwrap();
    // Of the 200 packets at first, 30 are dropped. The third flow starts at 400 us; its first packet is at the switch
    // at 402.2 us, and counts when its transmission to host2 starts, just then. The fourth is there after the duration.
    for (from, flows, complete, offered, dropped, bytes, us) in [
        ("0s", 4, 2, 301, 30, 270 * 1500, 1000.0),
        ("400us", 2, 2, 101, 0, 100 * 1500, 600.0),
        ("400000001ps", 1, 1, 101, 0, 100 * 1500, 599.999_999),
        ("403us", 1, 1, 100, 0, 99 * 1500, 597.0),
        ("700us", 1, 1, 1, 0, 0, 300.0),
    ] {
        let output = forebay(directory.path(), &format!("run w.toml --set measure.from={from} --out {from}"));
        assert!(output.status.success(), "{output:?}");
        let summary = std::fs::read_to_string(at(from).join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let all = &summary["flows"][0];
        assert_eq!((&all["flows"], &all["complete"]), (&flows.into(), &complete.into()), "{from}");
        let number = |table: &str, column: &str, row: usize| {
            let table = Table::read_parquet(&at(from).join(format!("{table}.parquet"))).unwrap();
            let column = table.column(column).unwrap();
            column.number(row).or_else(|| column.int(row).map(|value| value as f64)).unwrap()
        };
        assert_eq!(number("buffers", "offered_packets", 0), f64::from(offered), "{from}");
        assert_eq!(number("buffers", "dropped_packets", 0), f64::from(dropped), "{from}");
        let to_host2 = (0..3).find(|row| number("ports", "port", *row) == 2.0).unwrap();
        let expected = f64::from(bytes) * 8.0 / (us * 1e-6 * 1e10);
        let utilization = number("ports", "utilization", to_host2);
        assert!((utilization - expected).abs() < 1e-12, "{from}: {utilization} and not {expected}");
    }
}
