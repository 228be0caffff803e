//! FB: thresholds with burst and minimum-buffer guarantees.

mod analysis;
mod background;
mod bursts;
mod guarantees;
mod interval;
mod measure;
mod measure_analysis;
mod measure_error;
mod measure_guarantees;
mod measure_pisa_resources;
mod measure_testbed;
mod pisa;
mod resources;
mod testbed;

use crate::figure::Paper;

/// The paper and its figures.
pub(super) fn paper() -> Paper {
    let evaluation = [
        bursts::figures(),
        background::figures(),
        testbed::figures(),
        interval::figures(),
        pisa::figures(),
        resources::figures(),
    ];
    Paper {
        id: "fb",
        system: "FB",
        title: "FB: A Flexible Buffer Management Scheme for Data Center Switches (arXiv 2105.10553, 2021)",
        about: "The evaluation is a leaf-spine network: two leaves of 40 servers and two spines, four parallel links between \
                each leaf and each spine, 10 Gb/s and 25 us everywhere, 9 MB of buffer a switch. Web search flows are the background; \
                queries, one a second and server, are the bursts. The authors used ns-3. What they ran on a Tofino runs here on a model of its pipelines.",
        figures: [analysis::figures(), guarantees::figures()].into_iter().chain(evaluation).flatten().collect(),
    }
}
