//! Figures 15 and 16: four flows of different ranks that start one after the other, UDP and TCP.

use super::measure_sharing;
use crate::figure::{Figure, Work};
use crate::found::Found;
use crate::measured::Measured;
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
fn equal_shares(table: &Table, variant: &str) -> Vec<(String, Found)> {
    let mut points = Vec::new();
    for phase in 2..=4 {
        for flow in 1..=phase {
            let (share, fair) = (share(table, variant, flow, phase), 1.0 / phase as f64);
            let name = format!("flow {flow} of {phase} ({:.0}%)", 100.0 * share.mean());
            points.push((name, share.between(0.75 * fair, 1.25 * fair)));
        }
    }
    points
}

fn claims_of_udp(table: &Table) -> Vec<Measured> {
    let mut claims = vec![Measured::points("fifo-flows-converge-rate", equal_shares(table, "FIFO"))];
    let sampled = format!("{:.1}%", 100.0 * share(table, "AIFO, every packet sampled", 3, 3).mean());
    for flow in 2..=4 {
        let all = Measured::stat("aifo-flow-gets-bandwidth-when-comes", &share(table, "AIFO", flow, flow))
            .at([flow])
            .telling([&sampled]);
        claims.push(all);
    }
    for flow in 1..=3 {
        let none = Measured::stat("aifo-flow-drops-zero-when-flow", &share(table, "AIFO", flow, flow + 1))
            .at([flow, flow + 1])
            .telling([&sampled]);
        claims.push(none);
    }
    let near = |flow: usize| {
        let (aifo, sp_pifo) = (share(table, "AIFO", flow, flow), share(table, "SP-PIFO", flow, flow));
        let name = format!("flow {flow} ({:.0}% and {:.0}%)", 100.0 * aifo.mean(), 100.0 * sp_pifo.mean());
        (name, aifo.minus(&sp_pifo).between(-0.05, 0.05))
    };
    claims.push(
        Measured::points("sp-pifo-almost-identical-newest-flow", (2..=4).map(near).collect()).telling([&sampled]),
    );
    claims
}

fn claims_of_tcp(table: &Table) -> Vec<Measured> {
    let in_the_end = |variant: &str| [1, 2, 3, 4].map(|flow| goodput(table, variant, flow, 4));
    let mut claims = vec![Measured::points("fifo-flows-converge-similar-rate", equal_shares(table, "FIFO"))];
    for scheme in ["AIFO", "SP-PIFO"] {
        let ours = in_the_end(scheme);
        let named: Vec<(&str, Stat)> = ["flow 1", "flow 2", "flow 3", "flow 4"].into_iter().zip(ours).collect();
        claims.push(Measured::order("lower-ranks-get-goodputs-four-flows", &named).at([scheme.to_string()]));
    }
    claims.push(Measured::stat("aifo-flow-4-gets", &goodput(table, "AIFO", 4, 4)));
    let one = goodput(table, "AIFO", 1, 4);
    let within = vec![(format!("{:.2} Gb/s", one.mean()), one.between(0.2, 1.0))];
    claims.push(Measured::points("aifo-flow-1-gets-least", within));
    for (flow, phase) in [(1, 2), (2, 3), (3, 4)] {
        let got = goodput(table, "AIFO", flow, phase);
        let within = vec![(format!("{:.2} Gb/s", got.mean()), got.between(3.0, 5.0))];
        claims.push(Measured::points("aifo-flow-still-gets-some-when", within).at([flow, phase]));
    }
    let difference = goodput(table, "AIFO", 4, 4).ratio(&goodput(table, "SP-PIFO", 4, 4));
    claims.push(Measured::stat("sp-pifo-similar-flow-4-goodput", &difference));
    claims
}
