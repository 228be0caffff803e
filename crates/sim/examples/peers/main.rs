//! Prints what the peers measured and what we measure in the same settings, over several seeds: `peers
//! [abm|netbench|fair|htsim] [SEEDS]`.
//!
//! `docs/peers.md` explains the differences.

mod tables;

use tables::{ABM, HTSIM, NETBENCH, NETBENCH_FAIR, Peer, abm_alone, mean};

/// One line for the peer, and one for us: the mean, and the least and the most over seeds.
fn show(name: &str, theirs: &[f64], rows: &[Vec<f64>]) {
    let theirs: Vec<String> = theirs.iter().map(|value| format!("{value:>31.4}")).collect();
    println!("{name:<28} theirs {}", theirs.join(""));
    let ours = (0..rows[0].len()).map(|column| {
        let values: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{:>31}", format!("{:.4} [{least:.4} {most:.4}]", mean(&values)))
    });
    println!("{:<28} ours   {}", "", ours.collect::<String>());
}

fn table<const N: usize>(peer: &Peer<N>, seeds: u64) {
    println!("{}", peer.title);
    println!("{:<35}{}", "", peer.columns.map(|column| format!("{column:>31}")).join(""));
    for row in peer.rows {
        let rows: Vec<Vec<f64>> = (1..=seeds).map(|seed| (peer.measure)(row.name, row.sets, seed).to_vec()).collect();
        show(row.title, &row.theirs, &rows);
    }
    println!();
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let seeds = arguments.next().and_then(|seeds| seeds.parse().ok()).unwrap_or(8);
    if matches!(what.as_str(), "abm" | "") {
        println!("ns-3, incast alone: p99 9.437, p50 8.274, occupancy p99 21.95%");
        for seed in 1..=seeds {
            let row = abm_alone("dt", seed);
            assert_eq!(row.unfinished, 0);
            println!("  p99 {:.3}, p50 {:.3}, occupancy p99 {:.2}%", row.incast_p99, row.incast_p50, row.occupancy_p99);
        }
        table(&ABM, seeds);
    }
    if matches!(what.as_str(), "netbench" | "") {
        table(&NETBENCH, seeds);
    }
    if matches!(what.as_str(), "fair" | "") {
        table(&NETBENCH_FAIR, seeds);
    }
    if matches!(what.as_str(), "htsim" | "") {
        table(&HTSIM, seeds.min(4));
    }
}
