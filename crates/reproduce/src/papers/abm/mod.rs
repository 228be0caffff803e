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

use crate::figure::Paper;

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
