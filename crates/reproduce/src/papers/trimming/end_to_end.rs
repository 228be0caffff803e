//! Section 6.5: what trimming does for connections, small flows and requests.

use super::measure;
use crate::figure::{Figure, Work};
use crate::measured::Measured;
use crate::panel::Panel;
use crate::stat::Stat;
use crate::table::Table;
use crate::unit::Unit;

const PLAIN: &str = "Drop tail";
const TRIMMING: &str = "Trimming";

/// Three connections over three spines.
pub(super) fn spraying() -> Figure {
    Figure {
        id: "spraying",
        number: "section 6.5",
        title: "Three connections between two racks over three spines",
        setting: "Four racks, three spines, all links at 25 Gb/s, as in the paper's testbed. ECMP: Cubic and drop-tail queues of 200 packets, a spine for each \
                  connection by a hash. Spraying: NDP and 12-packet trimming queues, a random spine for each packet. The paper states this without a figure.",
        text: include_str!("../../../../../scenarios/trimming/spraying.toml"),
        files: &[],
        work: Work::Simulate(measure::connections),
        panels: vec![
            Panel::bars("", "The slowest connection, mean over runs").y("rate.slowest", "rate", Unit::Gbps),
            Panel::bars("", "All three together, mean over runs").y("rate.all", "rate", Unit::Gbps),
        ],
        claims: spraying_claims,
    }
}

fn spraying_claims(table: &Table) -> Vec<Measured> {
    let slowest = table.at("Spraying").get("rate.slowest");
    let constant = slowest.values().iter().map(|(seed, rate)| (format!("seed {seed}"), *rate >= 0.95 * 25.0));
    vec![
        Measured::stat("ecmp-runs-connections-meet-spine", &table.at("ECMP").get("meet")),
        Measured::stat("ecmp-two-meet-get-half-link", &table.at("ECMP").get("rate.of_two")),
        Measured::stat("spraying-slowest-connection-gets", &slowest),
        Measured::points("spraying-connections-get-25-gb-every", constant.collect()),
        Measured::stat("spraying-slowest-connection-gets-ecmp", &slowest.minus(&table.at("ECMP").get("rate.slowest"))),
    ]
}

/// Figure 13.
pub(super) fn pings() -> Figure {
    Figure {
        id: "fig13",
        number: "13",
        title: "Ping times to a host, idle and while nine connections send to it",
        setting: "Four racks, three spines, 25 Gb/s; a ping every millisecond while nine connections from other machines send to the same host. Drop tail: Cubic, \
                  ECMP, 200 packets. Trimming: NDP, spraying, 12 packets. Frames have 9,000 bytes: with 1,500 bytes, also shown, a queue of 200 packets \
                  could not add the half millisecond that the paper measured.",
        text: include_str!("../../../../../scenarios/trimming/fig13.toml"),
        files: &[],
        work: Work::Simulate(measure::pings),
        panels: vec![
            Panel::curves("", "Ping times")
                .variants(&[PLAIN, TRIMMING])
                .curve("idle", "idle")
                .curve("busy", "busy")
                .x("", "ping time", Unit::Microseconds)
                .log_x()
                .y("", "share of pings", Unit::Share),
            Panel::bars("", "What the load adds to the median ping").y("added", "added", Unit::Microseconds).log_y(),
        ],
        claims: ping_claims,
    }
}

fn ping_claims(table: &Table) -> Vec<Measured> {
    let added = |variant: &str| table.at(variant).get("added");
    vec![
        Measured::stat("200-packets-drop-tail-load-adds", &added(PLAIN)),
        Measured::stat("12-packets-trimming-load-adds", &added(TRIMMING)),
        Measured::stat("trimming-adds-drop-tail", &added(TRIMMING).less_than_percent(&added(PLAIN))),
    ]
}

/// Emulated clients.
const CLIENTS: &str = "workload.0.sessions";

/// Figure 14.
pub(super) fn requests() -> Figure {
    Figure {
        id: "fig14",
        number: "14",
        title: "The time of 1,000 requests of each client, server idle and busy",
        setting: "The network of figure 13 with a server that answers 1 KB to requests of 100 bytes. Each emulated client asks again 1 ms after an answer, which \
                  stands for what the paper's hosts and memcached take (one to two seconds for 1,000 requests to an idle server). The busy server receives from \
                  nine long connections. Times are worked out from the requests answered while the server was idle and while it was busy.",
        text: include_str!("../../../../../scenarios/trimming/fig14.toml"),
        files: &[],
        work: Work::Simulate(measure::requests),
        panels: vec![
            Panel::lines("", "Idle server").x(CLIENTS, "emulated clients", Unit::None).y(
                "idle.seconds",
                "time of 1,000 requests",
                Unit::Seconds,
            ),
            Panel::lines("", "Busy server")
                .x(CLIENTS, "emulated clients", Unit::None)
                .y("busy.seconds", "time of 1,000 requests", Unit::Seconds)
                .log_y(),
        ],
        claims: request_claims,
    }
}

fn request_claims(table: &Table) -> Vec<Measured> {
    let clients = table.values(CLIENTS);
    let at = |variant: &str, clients: f64, metric: &str| table.at(variant).and(CLIENTS, clients).get(metric);
    let idle = [PLAIN, TRIMMING].into_iter().flat_map(|variant| {
        clients.iter().map(move |clients| {
            let seconds = at(variant, *clients, "idle.seconds").mean();
            (format!("{variant}, {clients} clients"), (1.0..=2.0).contains(&seconds))
        })
    });
    let longer = |variant: &str| {
        clients
            .iter()
            .map(|clients| at(variant, *clients, "times").map(|times| 100.0 * (times - 1.0)))
            .collect::<Vec<_>>()
    };
    let (plain, trimming) = (longer(PLAIN), longer(TRIMMING));
    let less = Stat::average(&trimming).less_than_percent(&Stat::average(&plain));
    vec![
        Measured::points("idle-server-one-two-seconds", idle.collect()),
        Measured::stat("busy-server-drop-tail-takes-ten", &Stat::smallest(plain)),
        Measured::stat("busy-server-trimming-increase-smaller-drop", &less),
    ]
}
