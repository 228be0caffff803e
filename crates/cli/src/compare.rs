//! `--compare`: the same arrivals under several policies, one table.

use crate::Failure;
use crate::args::ReplayArgs;
use crate::output::{print, print_json};
use crate::progress::ReplayBar;
use crate::summary;
use crate::table::{Table, percent};
use forebay_runner::arrivals::Arrivals;
use forebay_settings::{Diagnostic, SwitchFile, read_policy};
use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::{Bytes, Departure, Eviction, Instant, Packet, Reason, Tm, ValidConfig, Verdict};

/// When the last packet had left.
#[derive(Default)]
pub(crate) struct LastEnd(pub(crate) Instant);

impl Observer for LastEnd {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}
    fn started(&mut self, _: Instant, _: usize, _: &Departure, end: Instant) {
        self.0 = self.0.max(end);
    }
    fn evicted(&mut self, _: Eviction) {}
}

/// Something that is counted.
type Counting = fn(&Tm) -> u64;

/// Splits at the commas that stand outside of brackets.
fn arguments(text: &str) -> Vec<&str> {
    let mut depth = 0;
    text.split(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

/// The switch under each of the named policies.
fn switches(
    file: &SwitchFile<'_>,
    switch: &ValidConfig,
    policies: &str,
) -> Result<Vec<(String, ValidConfig)>, Diagnostic> {
    let table = file.policy()?;
    arguments(policies)
        .into_iter()
        .map(|argument| {
            let mut config = switch.clone().into_inner();
            let name = format!("--compare \"{argument}\"");
            config.policy =
                read_policy(argument, table.as_ref()).map_err(|error| Diagnostic { file: name.clone(), ..error })?;
            let valid = config.validate().map_err(|error| {
                let problem = format!("{}: {}", error.value, error.problem);
                Diagnostic { field: error.field.to_owned(), ..Diagnostic::of_file(name, problem, error.remedy) }
            })?;
            Ok((argument.to_owned(), valid))
        })
        .collect()
}

pub(crate) fn run(
    args: &ReplayArgs,
    file: &SwitchFile<'_>,
    switch: &ValidConfig,
    policies: &str,
) -> Result<(), Failure> {
    let switches = switches(file, switch, policies)?;
    // A class must be known to every policy: the arrivals are read with the one that knows the fewest.
    let strictest =
        switches.iter().map(|(_, switch)| switch).min_by_key(|switch| switch.policy.classes().unwrap_or(usize::MAX));
    let mut arrivals = Arrivals::open(&args.arrivals, strictest.unwrap_or(switch))?;
    let mut runs: Vec<(Driver, LastEnd)> =
        switches.iter().map(|(_, switch)| (Driver::new(Tm::new(switch.clone())), LastEnd::default())).collect();
    let mut progress = ReplayBar::new(&arrivals, args.quiet);
    while let Some((now, packet)) = arrivals.read_next()? {
        for (driver, end) in &mut runs {
            driver.arrive(now, &packet, end).map_err(|error| arrivals.too_late(error))?;
        }
        progress.tick(&arrivals);
    }
    for (driver, end) in &mut runs {
        driver.finish(end).map_err(|error| arrivals.too_late(error))?;
    }
    drop(progress);
    let rows: Vec<_> = switches.iter().map(|(name, _)| name.clone()).zip(&runs).collect();
    if args.json {
        let row = |(name, (run, end)): &(String, &(Driver, LastEnd))| {
            let mut row = summary::counters(None, &run.tm().pool_counters());
            if let Some(row) = row.as_object_mut() {
                row.retain(|key, _| key != "port" && key != "queue");
                row.insert("policy".to_owned(), name.as_str().into());
                row.insert("last_bit_ps".to_owned(), end.0.ps().into());
            }
            row
        };
        return print_json(&rows.iter().map(row).collect());
    }
    print(&table(&rows))
}

fn table(rows: &[(String, &(Driver, LastEnd))]) -> String {
    let reasons: Vec<Reason> = Reason::ALL
        .into_iter()
        .filter(|reason| rows.iter().any(|(_, (run, _))| run.tm().pool_counters().dropped_by(*reason).packets > 0))
        .collect();
    let any = |count: Counting| rows.iter().any(|(_, (run, _))| count(run.tm()) > 0);
    let extra: Vec<(&str, Counting)> = [
        ("trimmed", (|tm: &Tm| tm.pool_counters().trimmed.packets) as Counting),
        ("returned", |tm: &Tm| tm.pool_counters().returned.packets),
        ("marked", |tm: &Tm| tm.pool_counters().marked.packets),
    ]
    .into_iter()
    .filter(|(_, count)| any(*count))
    .collect();
    let mut header = vec!["policy", "offered", "sent", "dropped", "loss"];
    header.extend(reasons.iter().map(|reason| reason.as_str()));
    header.extend(extra.iter().map(|(name, _)| *name));
    header.extend(["peak buffer", "worst queue", "last bit"]);
    let mut table = Table::new(1, header);
    for (name, (run, end)) in rows {
        let tm = run.tm();
        let pool = tm.pool_counters();
        let mut cells = vec![
            name.clone(),
            pool.offered.packets.to_string(),
            pool.sent.packets.to_string(),
            pool.dropped.packets.to_string(),
            percent(pool.dropped.packets, pool.offered.packets),
        ];
        cells.extend(reasons.iter().map(|reason| pool.dropped_by(*reason).packets.to_string()));
        cells.extend(extra.iter().map(|(_, count)| count(tm).to_string()));
        let peak = percent(pool.peak.get(), tm.config().buffer.get());
        cells.extend([format!("{} {peak}", Bytes::new(pool.peak.get())), worst_queue(tm), end.0.to_string()]);
        table.row(cells);
    }
    table.render()
}

/// The queue that lost the largest share of its packets.
fn worst_queue(tm: &Tm) -> String {
    let queues = tm.config().queues;
    let worst = (0..tm.config().total_queues())
        .map(|queue| (queue, tm.queue_counters(queue)))
        .filter(|(_, counters)| counters.dropped.packets > 0)
        .max_by(|(i, a), (j, b)| {
            let (left, right) = (a.dropped.packets * b.offered.packets, b.dropped.packets * a.offered.packets);
            left.cmp(&right).then(j.cmp(i))
        });
    match worst {
        None => "-".to_owned(),
        Some((queue, counters)) => format!(
            "{}.{} {}",
            queue / queues,
            queue % queues,
            percent(counters.dropped.packets, counters.offered.packets)
        ),
    }
}
