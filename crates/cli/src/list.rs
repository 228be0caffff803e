//! `forebay list`: what can be named in a file.

use crate::Failure;
use crate::args::{ListArgs, Listed};
use crate::output::{print, print_json};
use forebay_settings::{Kind, marking_rules, policies, schedulers, trimming_schemes};
use forebay_sim::scenario::kinds::{distributions, topologies, transports, workloads};
use serde_json::json;
use std::fmt::Write;

/// Columns of a terminal.
const WIDTH: usize = 100;

pub(crate) fn run(args: &ListArgs) -> Result<(), Failure> {
    let kinds = match args.what {
        Listed::Policies => policies(),
        Listed::Schedulers => schedulers(),
        Listed::Marking => marking_rules(),
        Listed::Trimming => trimming_schemes(),
        Listed::Transports => transports(),
        Listed::Workloads => workloads(),
        Listed::Distributions => distributions(),
        Listed::Topologies => topologies(),
    };
    if args.json {
        let object = |kind: &Kind| json!({ "name": kind.name, "about": kind.about, "keys": kind.keys });
        return print_json(&kinds.iter().map(object).collect());
    }
    print(&text(&kinds))
}

/// A line for each kind, and below it its keys.
fn text(kinds: &[Kind]) -> String {
    let width = kinds.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for kind in kinds {
        let _ = writeln!(text, "{:width$}  {}", kind.name, kind.about);
        let mut line = String::new();
        for (number, key) in kind.keys.iter().enumerate() {
            let key = if number + 1 < kind.keys.len() { format!("{key}, ") } else { (*key).to_owned() };
            if width + 4 + line.len() + key.trim_end().len() > WIDTH {
                let _ = writeln!(text, "{:width$}    {}", "", line.trim_end());
                line.clear();
            }
            line.push_str(&key);
        }
        if !line.is_empty() {
            let _ = writeln!(text, "{:width$}    {line}", "");
        }
    }
    text
}
