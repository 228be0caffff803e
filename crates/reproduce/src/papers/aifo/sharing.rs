//! Figures 15 and 16: four flows of different ranks that start one after the other, UDP and TCP.

use super::measure_sharing;
use crate::claim::{Better, Claim};
use crate::figure::{Figure, Work};
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            id: "fig15",
            number: "15",
            title: "Four UDP flows of different ranks, one after the other",
            setting: "Four servers send a UDP flow each to a fifth over 40 Gb/s; the next starts five seconds after the one before and has a lower rank. On a Tofino switch in the \
                      paper, here with the queues of its simulations (AIFO 20 packets with every 15th looked at, SP-PIFO eight of 10, FIFO 100). Every flow offers 40 Gb/s, but \
                      for differences of the clocks of up to 0.3%. Smaller scales run the five seconds faster.",
            text: include_str!("../../../../../scenarios/aifo/fig15.toml"),
            files: &[],
            work: Work::Simulate(measure_sharing::goodputs),
            panels: {
                let mut panels = panels();
                panels.push(over_time("", "AIFO that looks at every packet", &["AIFO, every packet sampled"]));
                panels
            },
            claims: claims_of_udp,
        },
        Figure {
            id: "fig16",
            number: "16",
            title: "Four Cubic flows of different ranks, one after the other",
            setting: "As figure 15, with TCP Cubic. The paper does not give the queues of its switch, nor round trips and windows; here round trips of 41 us, windows of at most 1,000 \
                      packets, and the same queues as in figure 15. A sender of the testbed reached 34 Gb/s alone, so senders have links of 35 Gb/s, headers included, and \
                      the receiver 40 Gb/s. Smaller scales run the five seconds faster, timeouts included.",
            text: include_str!("../../../../../scenarios/aifo/fig16.toml"),
            files: &[],
            work: Work::Simulate(measure_sharing::goodputs),
            panels: panels(),
            claims: claims_of_tcp,
        },
    ]
}

fn over_time(letter: &'static str, title: &'static str, variant: &'static [&'static str]) -> Panel {
    Panel::curves(letter, title)
        .variants(variant)
        .x("", "time", Unit::Milliseconds)
        .x_times(1e3)
        .y("", "goodput", Unit::Gbps)
        .curve("flow1", "flow 1")
        .curve("flow2", "flow 2")
        .curve("flow3", "flow 3")
        .curve("flow4", "flow 4")
}

fn panels() -> Vec<Panel> {
    vec![over_time("a", "FIFO", &["FIFO"]), over_time("b", "SP-PIFO", &["SP-PIFO"]), over_time("c", "AIFO", &["AIFO"])]
}

/// The share of a flow of the goodput in a phase, which starts with the flow of that number.
fn share(table: &Table, variant: &str, flow: usize, phase: usize) -> Stat {
    table.at(variant).get(&format!("share{flow}.phase{phase}"))
}

/// The goodput of a flow in a phase.
fn goodput(table: &Table, variant: &str, flow: usize, phase: usize) -> Stat {
    table.at(variant).get(&format!("flow{flow}.phase{phase}"))
}

/// Whether the flows of each phase have equal shares with a scheme, within a quarter.
fn equal_shares(table: &Table, variant: &str) -> Vec<(String, bool)> {
    let mut points = Vec::new();
    for phase in 2..=4 {
        for flow in 1..=phase {
            let (mean, fair) = (share(table, variant, flow, phase).mean(), 1.0 / phase as f64);
            if mean.is_finite() {
                let name = format!("flow {flow} of {phase} ({:.0}%)", 100.0 * mean);
                points.push((name, (mean - fair).abs() <= 0.25 * fair));
            }
        }
    }
    points
}

fn claims_of_udp(table: &Table) -> Vec<Claim> {
    let mut claims = vec![Claim::every(
        "With FIFO the flows converge to the same rate (each within a quarter of its part)",
        "same rate",
        equal_shares(table, "FIFO"),
    )];
    let why = format!(
        "AIFO looks at every 15th packet. Of three flows that send at one rate these are long all of the same flow, so that the window knows nothing of the others; \
         if every packet is looked at, flow 3 gets {:.1}%.",
        100.0 * share(table, "AIFO, every packet sampled", 3, 3).mean()
    );
    for flow in 2..=4 {
        let all = Claim::value(
            format!("With AIFO flow {flow} gets all of the bandwidth when it comes (share of all)"),
            1.0,
            Unit::Share,
            &share(table, "AIFO", flow, flow),
        );
        claims.push(all.because(why.clone()));
    }
    for flow in 1..=3 {
        let none = Claim::value(
            format!("With AIFO flow {flow} drops to zero when flow {} comes (share of all)", flow + 1),
            0.0,
            Unit::Share,
            &share(table, "AIFO", flow, flow + 1),
        );
        claims.push(none.because(why.clone()));
    }
    let near = |flow: usize| {
        let (aifo, sp_pifo) = (share(table, "AIFO", flow, flow).mean(), share(table, "SP-PIFO", flow, flow).mean());
        let name = format!("flow {flow} ({:.0}% and {:.0}%)", 100.0 * aifo, 100.0 * sp_pifo);
        (aifo - sp_pifo).is_finite().then(|| (name, (aifo - sp_pifo).abs() <= 0.05))
    };
    claims.push(
        Claim::every(
            "SP-PIFO is almost identical: the newest flow's shares differ by at most 5 points",
            "almost identical",
            (2..=4).filter_map(near).collect(),
        )
        .because(why),
    );
    claims
}

fn claims_of_tcp(table: &Table) -> Vec<Claim> {
    let in_the_end = |variant: &str| [1, 2, 3, 4].map(|flow| goodput(table, variant, flow, 4));
    let mut claims = vec![Claim::every(
        "With FIFO the flows converge to a similar rate (each within a quarter of its part)",
        "similar rate",
        equal_shares(table, "FIFO"),
    )];
    for scheme in ["AIFO", "SP-PIFO"] {
        let ours = in_the_end(scheme);
        let named: Vec<(&str, Stat)> = ["flow 1", "flow 2", "flow 3", "flow 4"].into_iter().zip(ours).collect();
        claims.push(Claim::ranking(
            format!("With {scheme} lower ranks get more: goodputs of the four flows"),
            &["flow 4", "flow 3", "flow 2", "flow 1"],
            &named,
            Better::More,
        ));
    }
    claims.push(Claim::value("With AIFO flow 4 gets", 30.0, Unit::Gbps, &goodput(table, "AIFO", 4, 4)));
    let one = goodput(table, "AIFO", 1, 4).mean();
    if one.is_finite() {
        let within = vec![(format!("{one:.2} Gb/s"), (0.2..=1.0).contains(&one))];
        claims.push(Claim::every("With AIFO flow 1 gets the least", "0.2 to 1 Gb/s", within).because(
            "The newest flow fills its own link and flow 3 takes the 5 Gb/s that are left; the others send a packet, lose it and wait for longer and longer timers. That depends on the \
             queue, which the paper does not give: flow 1 gets 0.17 Gb/s with 137 packets (a bandwidth-delay product) instead of 20, 0.06 with 500.",
        ));
    }
    for (flow, phase) in [(1, 2), (2, 3), (3, 4)] {
        let mean = goodput(table, "AIFO", flow, phase).mean();
        if mean.is_finite() {
            let within = vec![(format!("{mean:.2} Gb/s"), (3.0..=5.0).contains(&mean))];
            let words = format!("With AIFO flow {flow} still gets some when flow {phase} has come");
            claims.push(Claim::every(words, "3 to 5 Gb/s", within));
        }
    }
    let difference = goodput(table, "AIFO", 4, 4).ratio(&goodput(table, "SP-PIFO", 4, 4));
    claims.push(Claim::value(
        "SP-PIFO is similar: flow 4's goodput with AIFO over that with it",
        1.0,
        Unit::None,
        &difference,
    ));
    claims
}
