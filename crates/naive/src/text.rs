//! The text forms of section 10 of the specification.

use crate::config::{Policy, Scheduler, Switch, Wred};
use crate::packet::{Arrival, Outcome};
use std::fmt::Write;

/// The switch as `SWITCH.toml`. Only keys that apply to the chosen kinds are written; numbers read back exactly.
#[must_use]
pub fn to_toml(switch: &Switch) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        writeln!(text, "{key} = {value}").expect("writing to a string");
    };
    if switch.rates.iter().all(|&rate| rate == switch.rates[0]) {
        line("ports", &switch.rates.len());
        line("rate", &switch.rates[0]);
    } else {
        let rates = switch.rates.iter().map(|rate| format!("\"{rate}bps\""));
        line("ports", &list(rates));
    }
    line("queues", &switch.queues);
    line("buffer", &switch.buffer);
    line("cell", &switch.cell);
    if let Some(capacity) = switch.queue_capacity {
        line("queue_capacity", &capacity);
    }
    write_policy(&mut text, &switch.policy);
    write_scheduler(&mut text, &switch.scheduler);
    if let Some(threshold) = switch.ecn {
        text += "[ecn]\nkind = \"step\"\n";
        text += &format!("threshold = {threshold}\n");
    }
    if let Some(wred) = &switch.wred {
        write_wred(&mut text, wred);
    }
    if let Some(trim) = &switch.trim {
        text += "[trim]\n";
        text += &format!("size = {}\n", trim.size);
        text += &format!("header_capacity = {}\n", trim.header_capacity);
        if trim.strict {
            text += "header_priority = \"strict\"\n";
        } else {
            text += "header_priority = \"ratio\"\n";
        }
        text += &format!("header_ratio = {}\n", trim.header_ratio);
        text += &format!("return_to_sender = {}\n", trim.return_to_sender);
    }
    text
}

fn write_wred(text: &mut String, wred: &Wred) {
    *text += "[ecn]\nkind = \"wred\"\n";
    for (colour, name) in ["green", "yellow", "red"].into_iter().enumerate() {
        let from = list(wred.from.iter().map(|each| each[colour].to_string()));
        *text += &format!("{name}_min = {from}\n{name}_max = {from}\n");
    }
    let names = ["none", "green", "yellow", "green-yellow", "red", "green-red", "yellow-red", "all"];
    let name =
        |set: &[bool; 3]| format!("\"{}\"", names[(0..3).map(|place| usize::from(set[place]) << place).sum::<usize>()]);
    *text += &format!("mark = {}\n", list(wred.marks.iter().map(name)));
    *text += &format!("drop = {}\n", list(wred.drops.iter().map(name)));
}

fn write_policy(text: &mut String, policy: &Policy) {
    let kind = match policy {
        Policy::Cs => "cs",
        Policy::Cp => "cp",
        Policy::Dt { .. } => "dt",
        Policy::Fb { .. } => "fb",
        Policy::Fba { .. } => "fba",
        Policy::Abm { .. } => "abm",
        Policy::Fab { .. } => "fab",
        Policy::Pools { .. } => "pools",
        Policy::Reverie { .. } => "reverie",
        Policy::Pushout => "pushout",
        Policy::Occamy { .. } => "occamy",
    };
    *text += &format!("[policy]\nkind = \"{kind}\"\n");
    match policy {
        Policy::Cs | Policy::Cp | Policy::Pushout => {}
        Policy::Dt { alpha, .. }
        | Policy::Fb { alpha, .. }
        | Policy::Fba { alpha, .. }
        | Policy::Abm { alpha, .. }
        | Policy::Fab { alpha, .. }
        | Policy::Pools { alpha, .. }
        | Policy::Reverie { alpha, .. }
        | Policy::Occamy { alpha, .. } => {
            let alpha = list(alpha.iter().map(|alpha| format!("{alpha:?}")));
            *text += &format!("alpha = {alpha}\n");
        }
    }
    match policy {
        Policy::Cs | Policy::Cp | Policy::Pushout => {}
        Policy::Dt { reserved, .. } => {
            if *reserved > 0.0 {
                *text += &format!("reserved = {reserved:?}\n");
            }
        }
        Policy::Fb { groups, packet_classes, .. } => {
            write_groups(text, groups.as_deref());
            if *packet_classes {
                *text += "classes = \"packet\"\n";
            }
        }
        Policy::Fba { groups, interval, .. } => {
            write_groups(text, groups.as_deref());
            *text += &format!("interval = {interval}\n");
        }
        Policy::Abm { alpha_unscheduled, interval, congested_at, .. } => {
            if let Some(alpha) = alpha_unscheduled {
                *text += &format!("alpha_unscheduled = {alpha:?}\n");
            }
            *text += &format!("interval = {interval}\n");
            if let Some(length) = congested_at {
                *text += &format!("congested_at = {length}\n");
            }
        }
        Policy::Fab { alpha_short, threshold, window, .. } => {
            *text += &format!("alpha_short = {alpha_short:?}\n");
            *text += &format!("threshold = {threshold}\nwindow = {window}\n");
        }
        Policy::Pools { pools, pool, minimum, limit, port_limit, fixed, partitions, .. } => {
            let numbers = |numbers: &[u64]| list(numbers.iter().map(u64::to_string));
            *text += &format!("pools = {}\npool = {}\n", numbers(pools), list(pool.iter().map(usize::to_string)));
            *text += &format!("minimum = {}\nlimit = {}\n", numbers(minimum), numbers(limit));
            *text += &format!("fixed = {}\npartitions = {partitions}\n", list(fixed.iter().map(bool::to_string)));
            if let Some(limit) = port_limit {
                *text += &format!("port_limit = {limit}\n");
            }
        }
        Policy::Reverie { filter, lossless, .. } => {
            let lossless = list(lossless.iter().map(bool::to_string));
            *text += &format!("filter = {filter}\nlossless = {lossless}\n");
        }
        Policy::Occamy { token_cell, bucket, .. } => {
            *text += &format!("token_cell = {token_cell}\nbucket = {bucket}\n");
        }
    }
}

fn write_groups(text: &mut String, groups: Option<&[Vec<usize>]>) {
    if let Some(groups) = groups {
        let groups = groups.iter().map(|group| list(group.iter().map(usize::to_string)));
        *text += &format!("groups = {}\n", list(groups));
    }
}

fn write_scheduler(text: &mut String, scheduler: &Scheduler) {
    *text += "[scheduler]\n";
    *text += &match scheduler {
        Scheduler::Fifo => "kind = \"fifo\"\n".to_string(),
        Scheduler::Rr => "kind = \"rr\"\n".to_string(),
        Scheduler::Strict => "kind = \"strict\"\n".to_string(),
        Scheduler::Wrr { weights } => {
            let weights = list(weights.iter().map(u64::to_string));
            format!("kind = \"wrr\"\nweights = {weights}\n")
        }
        Scheduler::Drr { weights, quantum } => {
            let weights = list(weights.iter().map(u64::to_string));
            format!("kind = \"drr\"\nweights = {weights}\nquantum = {quantum}\n")
        }
        Scheduler::Pifo { capacity } => format!("kind = \"pifo\"\ncapacity = {capacity}\n"),
        Scheduler::SpPifo { queues, capacity } => {
            format!("kind = \"sp-pifo\"\nqueues = {queues}\ncapacity = {capacity}\n")
        }
        Scheduler::Aifo { capacity, headroom, window, sample } => format!(
            "kind = \"aifo\"\ncapacity = {capacity}\nheadroom = {headroom:?}\n\
             window = {window}\nsample = {sample}\n"
        ),
    };
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// The arrivals as `ARRIVALS.csv`, with all columns.
#[must_use]
pub fn to_csv(arrivals: &[Arrival]) -> String {
    let mut text = "time_ps,bytes,port,queue,flow,rank,class,unscheduled,ect,colour\n".to_string();
    for a in arrivals {
        text += &format!(
            "{},{},{},{},{},{},{},{},{},{}\n",
            a.time,
            a.bytes,
            a.port,
            a.queue,
            a.flow,
            a.rank,
            a.class,
            u8::from(a.unscheduled),
            u8::from(a.ect),
            a.colour
        );
    }
    text
}

/// The outcomes as `VERDICTS.csv`.
#[must_use]
pub fn verdicts_csv(outcomes: &[Outcome]) -> String {
    let time = |time: Option<u64>| time.map_or(String::new(), |time| time.to_string());
    let mut text = "packet,verdict,reason,marked,start_ps,end_ps\n".to_string();
    for (packet, outcome) in outcomes.iter().enumerate() {
        text += &format!(
            "{packet},{},{},{},{},{}\n",
            outcome.verdict.as_str(),
            outcome.reason.as_str(),
            u8::from(outcome.marked),
            time(outcome.start),
            time(outcome.end)
        );
    }
    text
}
