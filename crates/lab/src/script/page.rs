//! The page about kernel and simulator: a table of all scripts.

use super::outcome::{Outcome, summary};
use std::fmt::Write;

/// The page, in Markdown.
pub fn page(outcomes: &[Outcome]) -> String {
    let mut kernels: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.kernel.says("kernel")).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let mut out = format!(
        "# The kernel's TCP and the simulator's\n\n\
         A script is a few TCP flows, and what a switch does to which of their packets ([lab.md](lab.md)). Linux plays it in network namespaces through the \
         live switch, the simulator plays it in simulated time, and both switches keep a list of the packets that came. The kernel's lists were recorded with {}; \
         `lab/scripts` has the scripts and `lab/scripts/recorded` the lists. This page is made by\n\n    \
         forebay lab script --simulate --docs docs/kernel.md lab/scripts/*.toml\n\n\
         {}\n\n\
         *Order*: whether both send the same data segments in the same order, retransmissions included. *Sent again*: retransmissions of the kernel and of the \
         simulator. *Apart*: the largest difference of times of a retransmission that both have, since the flow's first data; differences of up to 10%, or 2 ms, are \
         taken for the same. *Window*: the largest difference of segments in flight when a segment is sent for the first time, as far as its sender knows from the ACKs that have reached it; 2 are taken \
         for the same. The last column says where the two part first: what the kernel does, and what the simulator does instead.\n\n\
         | script | what happens | congestion control | order | sent again | apart | window | |\n|---|---|---|---|---|---|---|---|\n",
        if kernels.is_empty() { "an unknown kernel".to_owned() } else { kernels.join(", ") },
        summary(outcomes),
    );
    for outcome in outcomes {
        let script = &outcome.file.script;
        let order = match &outcome.simulated {
            Ok((_, own)) if own.same_order => "same",
            Ok(_) => "differs",
            Err(_) => "-",
        };
        let mut last = outcome.verdict();
        if !script.note.is_empty() {
            let _ = write!(last, "; {}", script.note);
        }
        let ecn = if script.ecn && script.congestion_control.name() != "dctcp" { " with ECN" } else { "" };
        let _ = writeln!(
            out,
            "| `{}` | {} | {}{ecn} | {order} | {} | {} | {} | {last} |",
            outcome.file.name,
            script.about,
            script.congestion_control.name(),
            outcome.retransmissions(),
            outcome.apart(),
            outcome.window(),
        );
    }
    out
}
