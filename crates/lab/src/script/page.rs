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
         A script has a few TCP flows, and rules for what the switch does to which of their packets ([lab.md](lab.md)). Linux plays it in network namespaces \
         through the live switch; the simulator plays it in simulated time. Both switches record the packets that arrive. The kernel's lists were recorded with {}; \
         `lab/scripts` has the scripts and `lab/scripts/recorded` the lists. This page is made by\n\n    \
         forebay lab script --simulate --docs docs/kernel.md lab/scripts/*.toml\n\n\
         {}\n\n\
         *Order*: whether both send the same data segments in the same order, including retransmissions. *Retransmissions*: those of the kernel, and those of the \
         simulator. *Time*: the largest time difference of a retransmission that both send, since the flow's first data; up to 10%, or 2 ms, counts as equal. \
         *In flight*: the largest difference of segments in flight when a segment is sent for the first time, as its sender knows from the ACKs received; up to 2 counts \
         as equal. The last column has the first difference: what the kernel does, and what the simulator does instead.\n\n\
         | script | what happens | congestion control | order | retransmissions | time | in flight | |\n|---|---|---|---|---|---|---|---|\n",
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
