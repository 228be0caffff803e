//! AIFO: programmable packet scheduling with a single queue.

mod fair;
mod hardware;
mod measure;
mod measure_hardware;
mod measure_log;
mod measure_sharing;
mod measure_table1;
mod measure_theorems;
mod packet_log;
mod priority;
mod published;
mod queue_length;
mod sharing;
mod table;
mod table1;
mod theorems;
mod window;

use crate::figure::Paper;

/// The paper and its figures.
pub(super) fn paper() -> Paper {
    Paper {
        id: "aifo",
        system: "AIFO",
        title: "Programmable Packet Scheduling with a Single Queue (SIGCOMM 2021)",
        about: "A leaf-spine network of 144 servers: 9 leaves, 4 spines, servers at 10 Gb/s and 40 Gb/s between \
            switches, or a tenth of that. What the paper leaves open is as in the authors' code, a version of \
            Netbench: sizes of flows, transports, buffers, and the same queueing discipline in front of the servers' \
            links. Their load labels 20 to 80% stand for offered loads of 20, 29, 38, 49, 61, 78 and 104%. The testbed of \
            figures 15 and 16 is a Tofino; there the algorithms themselves run, and what its pipelines change is measured apart.",
        figures: [
            theorems::figures(),
            priority::figures(),
            window::figures(),
            queue_length::figures(),
            packet_log::figures(),
            fair::figures(),
            sharing::figures(),
            hardware::figures(),
            table1::figures(),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}
