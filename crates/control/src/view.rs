//! A snapshot as text for a terminal.

use forebay_live::snapshot::{PortState, QueueState, Snapshot};
use forebay_tm::counters::{Count, Counters};
use forebay_tm::{Duration, Reason};

/// Parts of a cell of a bar, in eighths.
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// Where a threshold is in a bar.
const THRESHOLD: char = '┃';
/// What is free of a bar.
const FREE: char = '·';
/// The longest name of a port that is shown whole.
const NAME: usize = 15;

/// How something is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Plain,
    Strong,
    Faint,
    Fill,
    Limit,
    Bad,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "0",
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Fill => "36",
            Self::Limit => "33",
            Self::Bad => "31",
        }
    }
}

/// A line that is put together from parts, each with its look.
#[derive(Default)]
struct Row(Vec<(String, Look)>);

impl Row {
    fn add(&mut self, text: impl Into<String>, look: Look) -> &mut Self {
        self.0.push((text.into(), look));
        self
    }

    /// The parts as far as they fit.
    fn write(&self, width: usize, color: bool, out: &mut String) {
        let mut left = width;
        for (text, look) in &self.0 {
            let cut: String = text.chars().take(left).collect();
            left -= cut.chars().count();
            if cut.is_empty() {
                continue;
            }
            match color && *look != Look::Plain {
                true => out.push_str(&format!("\x1b[{}m{cut}\x1b[0m", look.code())),
                false => out.push_str(&cut),
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
}

/// A snapshot, with rates since the one before, in lines of at most `width` characters.
pub fn render(snapshot: &Snapshot, before: Option<&Snapshot>, width: usize, color: bool) -> String {
    let span = before.map_or(0.0, |before| seconds(snapshot.uptime) - seconds(before.uptime));
    let bar = (width / 4).clamp(8, 40);
    let mut rows = vec![head(snapshot, bar), health(snapshot), Row::default()];
    let names = snapshot.ports.iter().map(|port| port.name.chars().count()).max().unwrap_or(0).clamp(4, NAME);
    for (index, port) in snapshot.ports.iter().enumerate() {
        let earlier = before.and_then(|before| before.ports.get(index));
        rows.push(port_row(port, earlier, span, names));
        for (number, queue) in port.queues.iter().enumerate() {
            let earlier = earlier.and_then(|port| port.queues.get(number));
            rows.push(queue_row(number, queue, earlier, span, snapshot, bar));
        }
    }
    rows.push(Row::default());
    rows.extend(losses(snapshot));
    let mut out = String::new();
    rows.iter().for_each(|row| row.write(width, color, &mut out));
    out
}

fn head(snapshot: &Snapshot, bar: usize) -> Row {
    let mut row = Row::default();
    let (used, all) = (snapshot.used.as_f64(), snapshot.buffer.as_f64());
    row.add("forebay ", Look::Strong).add(&snapshot.policy, Look::Strong);
    row.add(format!("  {:.1}s  buffer ", seconds(snapshot.uptime)), Look::Plain);
    add_bar(&mut row, used, None, all, bar);
    row.add(format!(" {} of {} ({:.0}%)", size(used), size(all), 100.0 * used / all.max(1.0)), Look::Plain);
    row.add(format!("  peak {}", size(snapshot.total.peak.as_f64())), Look::Faint);
    row
}

/// What says whether the numbers can be trusted.
fn health(snapshot: &Snapshot) -> Row {
    let Snapshot { stalls, unforwarded, .. } = snapshot;
    let outside: u64 = snapshot
        .ports
        .iter()
        .map(|port| port.outside)
        .fold(0, |sum, of| sum + of.receive_overruns + of.too_long + of.send_failures);
    let alarm = |count: u64| if count > 0 { Look::Bad } else { Look::Faint };
    let mut row = Row::default();
    row.add(format!("stalls {}", stalls.count), alarm(stalls.count));
    if stalls.count > 0 {
        let (longest, given_up) = (span(stalls.longest), span(stalls.given_up));
        row.add(format!(" (longest {longest}, {given_up} given up)"), Look::Faint);
    }
    row.add(format!("  lost outside {outside}"), alarm(outside));
    let not = unforwarded.total();
    row.add(format!("  not forwarded {not}"), Look::Faint);
    row.add(
        format!("  frame buffers free {} of {}", snapshot.frame_buffers.free, snapshot.frame_buffers.all),
        Look::Faint,
    );
    if snapshot.changes > 0 {
        row.add(format!("  changes {}", snapshot.changes), Look::Faint);
    }
    row
}

fn port_row(port: &PortState, before: Option<&PortState>, span: f64, names: usize) -> Row {
    let mut row = Row::default();
    let name: String = port.name.chars().take(NAME).collect();
    row.add(format!("{name:names$}"), Look::Strong);
    match port.is_up {
        true => row.add("  up  ", Look::Faint),
        false => row.add("  DOWN", Look::Bad),
    };
    let sent = |port: &PortState| leaving(&port.counters);
    let going_in = before.map(|before| rate(port.received.bytes, before.received.bytes, span));
    let going_out = before.map(|before| rate(sent(port), sent(before), span));
    row.add(format!("  in {:>9}", shown(going_in)), Look::Plain);
    row.add(format!("  out {:>9} of {}", shown(going_out), bits(port.rate.bps() as f64)), Look::Plain);
    let lost = port.outside.receive_overruns + port.outside.too_long + port.outside.send_failures;
    if lost > 0 {
        row.add(format!("  lost outside {lost}"), Look::Bad);
    }
    if port.headers_waiting > 0 {
        row.add(format!("  headers waiting {}", port.headers_waiting), Look::Plain);
    }
    row
}

fn queue_row(
    number: usize,
    queue: &QueueState,
    before: Option<&QueueState>,
    span: f64,
    snapshot: &Snapshot,
    bar: usize,
) -> Row {
    let mut row = Row::default();
    let (length, threshold) = (queue.bytes.as_f64(), queue.threshold);
    let going = before.map(|before| rate(leaving(&queue.counters), leaving(&before.counters), span));
    row.add(format!("  q{number:<3}{:>9} ", shown(going)), Look::Plain);
    add_bar(&mut row, length, threshold, snapshot.buffer.as_f64(), bar);
    row.add(format!(" {:>8}", size(length)), if length > 0.0 { Look::Strong } else { Look::Plain });
    let limit = threshold.map_or("-".into(), size);
    row.add(format!(" / {limit:<8}"), Look::Plain);
    row.add(format!(" high {:<8}", size(queue.watermark.as_f64())), Look::Faint);
    let drops = reasons(&queue.counters);
    if !drops.is_empty() {
        row.add(format!(" drops: {}", drops.join(", ")), Look::Bad);
    }
    let Counters { marked, trimmed, returned, .. } = queue.counters;
    for (name, Count { packets, .. }) in [("marks", marked), ("trims", trimmed), ("back", returned)] {
        if packets > 0 {
            row.add(format!("  {name} {packets}"), Look::Plain);
        }
    }
    row
}

/// How many were dropped, by reason; expulsions are among them.
fn reasons(counters: &Counters) -> Vec<String> {
    let dropped = Reason::ALL.iter().map(|reason| (reason.as_str(), counters.dropped_by(*reason).packets));
    dropped.filter(|(_, packets)| *packets > 0).map(|(name, packets)| format!("{packets} {name}")).collect()
}

/// Drops of the whole switch.
fn losses(snapshot: &Snapshot) -> Option<Row> {
    let drops = reasons(&snapshot.total);
    let mut row = Row::default();
    row.add(format!("drops {}: {}", snapshot.total.dropped.packets, drops.join(", ")), Look::Bad);
    (!drops.is_empty()).then_some(row)
}

/// A bar of so many cells in which `full` is the whole; a threshold inside is shown, too.
fn add_bar(row: &mut Row, length: f64, threshold: Option<f64>, full: f64, cells: usize) {
    let place = |value: f64| (value / full.max(1.0)).clamp(0.0, 1.0) * cells as f64;
    let filled = (place(length) * 8.0).round() as usize;
    let limit = threshold.filter(|limit| *limit < full).map(|limit| (place(limit) as usize).min(cells - 1));
    for cell in 0..cells {
        let eighths = filled.saturating_sub(8 * cell).min(8);
        match eighths {
            _ if limit == Some(cell) => row.add(THRESHOLD, Look::Limit),
            8 => row.add('█', Look::Fill),
            0 => row.add(FREE, Look::Faint),
            _ => row.add(EIGHTHS[eighths], Look::Fill),
        };
    }
}

/// Bytes that have left.
fn leaving(counters: &Counters) -> u64 {
    counters.sent.bytes + counters.headers_sent.bytes
}

/// Bits per second between two counts of bytes.
fn rate(now: u64, before: u64, span: f64) -> f64 {
    if span > 0.0 { now.saturating_sub(before) as f64 * 8.0 / span } else { 0.0 }
}

fn seconds(time: Duration) -> f64 {
    time.ps() as f64 / 1e12
}

fn shown(rate: Option<f64>) -> String {
    rate.map_or("-".into(), bits)
}

fn bits(rate: f64) -> String {
    scaled(rate, &["bps", "Kbps", "Mbps", "Gbps", "Tbps"])
}

fn size(bytes: f64) -> String {
    scaled(bytes, &["B", "KB", "MB", "GB", "TB"])
}

fn span(time: Duration) -> String {
    scaled(time.ps() as f64, &["ps", "ns", "us", "ms", "s"])
}

/// Three digits and a unit, each a thousand of the one before.
fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{}", units[unit])
}
