//! Packet trimming on switches that were not made for it.

mod control_loop;
mod end_to_end;
mod hardware;
mod headers;
mod measure;
mod measure_chip;

use crate::figure::Paper;

/// The paper and its figures.
pub(super) fn paper() -> Paper {
    Paper {
        id: "trimming",
        system: "Trimming",
        title: "Implementing packet trimming support in hardware (Popa, Dumitrescu, Handley, Nikolaidis, Lee, Raiciu; arXiv, 2022)",
        about: "The paper compares ways to trim packets on switches that were not made for it, above all on Tofino, with an ideal NDP switch. Here are \
                the ideal switch, cut payload, source flow control, a generic mirror on drop, and programs on models of Tofino and Tofino 2 (docs/pipelines.md). Hosts run NDP where the paper's testbed runs EQDS, \
                which pulls packets in the same way, and Cubic where it has Linux. Frames have 1,500 bytes at 100 Gb/s and 9,000 bytes in the testbed at \
                25 Gb/s: the paper does not say the latter, but its delays are those of such frames.",
        figures: vec![
            headers::arrival_times(),
            headers::extra_buffer(),
            control_loop::senders(),
            control_loop::durations(),
            control_loop::alternatives(),
            hardware::startup(),
            hardware::trims(),
            end_to_end::spraying(),
            end_to_end::pings(),
            end_to_end::requests(),
        ],
    }
}
