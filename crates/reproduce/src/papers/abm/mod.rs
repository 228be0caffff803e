//! ABM: buffer management and queue management in one threshold.

mod buffers;
mod compare;
mod intervals;
mod isolation;
mod load_and_request;
mod measure;
mod measure_surfaces;
mod queues;
mod reference;
mod surfaces;
mod transports;

use crate::figure::{Figure, Paper, Variant};

/// The paper and its figures.
pub(super) fn paper() -> Paper {
    let mut figures = surfaces::figures();
    figures.extend(load_and_request::figures());
    figures.extend([
        isolation::figure(),
        transports::figure(),
        queues::figure(),
        buffers::figure(),
        intervals::figure(),
        reference::figure(),
    ]);
    figures.extend(in_the_authors_setting());
    Paper {
        id: "abm",
        system: "ABM",
        title: "ABM: Active Buffer Management in Datacenters (SIGCOMM 2022)",
        about: "256 servers under 8 leaves and 8 spines, all links 10 Gb/s and 10 us, 9.6 KB of buffer for each port and Gb/s, alpha 0.5. As in the authors' code, where the \
                paper is silent: the servers of a leaf send web search to those of the next; every server asks twice a second, and all 32 servers of the next leaf \
                answer at once; ACKs have a queue of their own; packets of 1,400 bytes of payload. Slowdowns are theirs, too: the ideal time is 80 us and the \
                payload at 10 Gb/s, and a flow of web search opens its connection first (80 us).",
        figures,
    }
}

/// Figures 8, 10 and 12 in the setting of the authors' script.
fn in_the_authors_setting() -> [Figure; 3] {
    const SETTING: &str = "64 servers under two leaves, the buffer of 40 ports, FIFOs in front of the servers' links.";
    [
        isolation::figure().variant(&Variant {
            id: "fig8-authors",
            number: "8 in the authors' setting",
            title: "Three transport protocols in queues of their own, against the load of Cubic",
            setting: SETTING,
            text: include_str!("../../../../../scenarios/abm/fig8-authors.toml"),
        }),
        queues::figure().variant(&Variant {
            id: "fig10-authors",
            number: "10 in the authors' setting",
            title: "The same traffic over more and more queues of each port",
            setting: SETTING,
            text: include_str!("../../../../../scenarios/abm/fig10-authors.toml"),
        }),
        intervals::figure().variant(&Variant {
            id: "fig12-authors",
            number: "12 in the authors' setting",
            title: "Statistics that are brought up to date every 1 to 1,000 round trips",
            setting: SETTING,
            text: include_str!("../../../../../scenarios/abm/fig12-authors.toml"),
        }),
    ]
}
