//! Figure 11: smaller buffers.

use super::compare::{Along, INCAST};
use super::measure;
use crate::claim::Claim;
use crate::figure::{Figure, Work};
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const SIZE: &str = "switch.buffer_per_port_per_gbps";

pub(super) fn figure() -> Figure {
    let panel = |letter, title, variants| {
        Panel::bars(letter, title)
            .x(SIZE, "buffer for each port and Gb/s", Unit::None)
            .y(INCAST, "99th percentile of slowdown", Unit::None)
            .variants(variants)
            .log_y()
    };
    Figure {
        id: "fig11",
        number: "11",
        title: "Buffers of 9.6 KB for each port and Gb/s, and less",
        setting: "Web search loads the uplinks to 40%; queries of 25% of a leaf's largest buffer (960 KB), with buffers from Trident 2 (9.6 KB) over Tomahawk (5.12 KB) to \
                  Tofino (3.44 KB).",
        text: include_str!("../../../../../scenarios/abm/fig11.toml"),
        files: &[],
        work: Work::Simulate(measure::evaluation),
        panels: vec![
            panel("a", "DCTCP", &["DCTCP with ABM", "DCTCP with DT", "DCTCP with IB"]),
            panel("b", "PowerTCP", &["PowerTCP with ABM", "PowerTCP with DT", "PowerTCP with IB"]),
        ],
        claims,
    }
}

fn claims(table: &Table) -> Vec<Claim> {
    let along = Along { table, key: SIZE };
    let get = |protocol: &str, policy: &str, size| along.get(&format!("{protocol} with {policy}"), size, INCAST);
    let mut claims = Vec::new();
    for protocol in ["DCTCP", "PowerTCP"] {
        let points = along.values().into_iter().filter_map(|size| {
            let ratio = get(protocol, "ABM", size).ratio(&get(protocol, "ABM", 9600.0));
            (!ratio.is_empty()).then(|| (format!("{} KB", size / 1e3), (0.5..=1.5).contains(&ratio.mean())))
        });
        let words = format!("{protocol} with ABM: slowdown within half of that with 9.6 KB, at every size");
        claims.push(Claim::every(words, "similar performance", points.collect()).because(ROBUST));
    }
    for policy in ["DT", "IB"] {
        let ratio = get("DCTCP", policy, 7000.0).ratio(&get("DCTCP", "ABM", 7000.0));
        let words = format!("DCTCP with 7 KB: slowdown with {policy}, of that with ABM");
        claims.push(Claim::value(words, 10.0, Unit::None, &ratio));
    }
    let mut hidden = Vec::new();
    for policy in ["DT", "IB"] {
        for size in along.values().into_iter().filter(|size| *size >= 6000.0) {
            let ratio = get("PowerTCP", policy, size).ratio(&get("PowerTCP", "ABM", size));
            if !ratio.is_empty() {
                hidden.push((format!("{policy} with {} KB", size / 1e3), ratio.mean() <= 1.5));
            }
        }
    }
    let words = "PowerTCP down to 6 KB: slowdown with DT and IB at most half again that with ABM";
    claims.push(Claim::every(words, "hides their inability", hidden).because(HIDDEN));
    for policy in ["DT", "IB"] {
        let less = get("PowerTCP", "ABM", 5120.0).less_than_percent(&get("PowerTCP", policy, 5120.0));
        let words = format!("PowerTCP with 5.12 KB, less slowdown than with {policy}");
        claims.push(Claim::direction(words, "cannot sustain low tails", &less, Unit::Percent));
    }
    for (protocol, paper) in [("DCTCP", 96.0), ("PowerTCP", 92.0)] {
        let less =
            ["DT", "IB"].map(|policy| get(protocol, "ABM", 3440.0).less_than_percent(&get(protocol, policy, 3440.0)));
        let words = format!("{protocol} with 3.44 KB, less slowdown than with DT and IB");
        claims.push(Claim::gain(words, paper, &Stat::average(&less)).because(ONE_TIMEOUT));
    }
    claims
}

const ROBUST: &str = "With 3.44 KB a query is 0.7 of a leaf's buffer: with one seed of three, 2 of 11 queries met a leaf that was up to 94% full, and lost packets.";
const ONE_TIMEOUT: &str = "DCTCP's slowest queries wait for one timeout with ABM, too (a slowdown of 104), and for two or three with DT and IB (210 to 295).";
const HIDDEN: &str = "Near 6 KB DT's threshold for a lone queue, a third of the buffer, is what a query needs: which queries lose packets depends on what else waits.";
