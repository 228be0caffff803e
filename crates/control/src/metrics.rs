//! A snapshot in the text format of Prometheus, and in that of OpenMetrics, which has examples of what was counted.

use forebay_live::snapshot::{Fate, Loss, PortState, QueueState, Snapshot};
use forebay_tm::counters::{Count, Counters};
use forebay_tm::{Duration, Reason};
use std::fmt::Write;

/// A metric: its name without the prefix, and what it is. Counters are those whose names end in `_total`.
type Metric<'a> = (&'a str, &'a str);

/// A metric, and where its value stands.
type Of<T, V> = (&'static str, &'static str, fn(&T) -> V);

/// The text that is written, metric by metric.
struct Text {
    out: String,
    /// Whether it is that of OpenMetrics.
    is_open: bool,
}

impl Text {
    fn head(&mut self, (name, help): Metric<'_>) {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        // There, a family of counters has the name without the ending of its samples.
        let name = if self.is_open { name.trim_end_matches("_total") } else { name };
        let _ = writeln!(self.out, "# HELP forebay_{name} {help}\n# TYPE forebay_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Into<Number>) {
        self.sample_like(name, labels, value, None);
    }

    /// A sample, with an example of what it counts where there is one and the format has a place for it.
    fn sample_like(&mut self, name: &str, labels: &str, value: impl Into<Number>, example: Option<&Loss>) {
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = write!(self.out, "forebay_{name}{braces} {}", value.into().0);
        if let Some(example) = example.filter(|_| self.is_open) {
            let (bytes, seconds) = (example.bytes, example.at.ps() as f64 / 1e12);
            let _ = write!(self.out, " # {{bytes=\"{bytes}\",time_s=\"{seconds:.6}\"}} 1");
        }
        self.out.push('\n');
    }

    fn one(&mut self, metric: Metric<'_>, value: impl Into<Number>) {
        self.head(metric);
        self.sample(metric.0, "", value);
    }

    /// A metric with a sample for each of a few names.
    fn by(&mut self, metric: Metric<'_>, label: &str, values: &[(&str, u64)]) {
        self.head(metric);
        for (name, value) in values {
            self.sample(metric.0, &format!("{label}=\"{name}\""), *value);
        }
    }
}

/// A number as it is written.
struct Number(String);

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.to_string())
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(match value {
            value if value.is_nan() => "NaN".into(),
            f64::INFINITY => "+Inf".into(),
            f64::NEG_INFINITY => "-Inf".into(),
            value => value.to_string(),
        })
    }
}

impl From<Duration> for Number {
    fn from(time: Duration) -> Self {
        (time.ps() as f64 / 1e12).into()
    }
}

/// Text inside quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The counts of a queue that have a metric for packets and one for bytes.
const COUNTS: [Of<Counters, Count>; 7] = [
    ("offered", "arrived for the queue", |of| of.offered),
    ("admitted", "joined the queue whole", |of| of.admitted),
    ("sent", "sent whole", |of| of.sent),
    ("marked", "marked", |of| of.marked),
    ("trimmed", "cut to a header; bytes are those of the whole packets", |of| of.trimmed),
    ("headers_sent", "headers of cut packets, sent", |of| of.headers_sent),
    ("returned", "turned around to the sender", |of| of.returned),
];

/// Gauges of a queue; none where there is nothing to say.
const LEVELS: [Of<QueueState, Option<f64>>; 5] = [
    ("queue_bytes", "Bytes charged to the queue.", |queue| Some(queue.bytes.as_f64())),
    ("queue_packets", "Packets that wait in the queue.", |queue| Some(queue.packets as f64)),
    ("queue_watermark_bytes", "Most bytes charged to the queue since the snapshot before.", |queue| {
        Some(queue.watermark.as_f64())
    }),
    ("queue_peak_bytes", "Most bytes ever charged to the queue.", |queue| Some(queue.counters.peak.as_f64())),
    ("queue_threshold_bytes", "Threshold of the queue for an ordinary packet.", |queue| queue.threshold),
];

/// Values of a port.
const PORTS: [Of<PortState, u64>; 8] = [
    ("port_up", "Whether the interface is there and up.", |port| u64::from(port.is_up)),
    ("port_rate_bps", "Rate of the port in bits per second.", |port| port.rate.bps()),
    ("port_headers_waiting", "Headers of cut packets that wait.", |port| port.headers_waiting as u64),
    ("received_packets_total", "Frames that came in by the port.", |port| port.received.packets),
    ("received_bytes_total", "Bytes that came in by the port.", |port| port.received.bytes),
    ("transmitted_packets_total", "Frames put on the wire of the port.", |port| port.transmitted.packets),
    ("transmitted_bytes_total", "Bytes put on the wire of the port.", |port| port.transmitted.bytes),
    ("untrimmable_packets_total", "Frames that were to be cut and could not be.", |port| port.untrimmable),
];

fn ports(text: &mut Text, snapshot: &Snapshot, names: &[String]) {
    for (name, help, value) in PORTS {
        text.head((name, help));
        for (port, labels) in snapshot.ports.iter().zip(names) {
            text.sample(name, labels, value(port));
        }
    }
    text.head(("lost_outside_total", "Frames lost at a port outside the buffer."));
    for (port, labels) in snapshot.ports.iter().zip(names) {
        let lost = &port.outside;
        let kinds = [
            ("receive-overrun", lost.receive_overruns),
            ("too-long", lost.too_long),
            ("send-failure", lost.send_failures),
        ];
        for (reason, count) in kinds {
            text.sample("lost_outside_total", &format!("{labels},reason=\"{reason}\""), count);
        }
    }
}

/// A queue with its labels, and its place: port and queue.
type Labelled<'a> = (&'a QueueState, String, (usize, usize));

fn queues(text: &mut Text, queues: &[Labelled<'_>], drops: &[Loss]) {
    for (name, help, value) in LEVELS {
        text.head((name, help));
        for (queue, labels, _) in queues {
            if let Some(value) = value(queue) {
                text.sample(name, labels, value);
            }
        }
    }
    counts(text, queues, ("packets", drops), |count| count.packets);
    counts(text, queues, ("bytes", &[]), |count| count.bytes);
}

/// What was counted, in packets or in bytes, with examples of drops.
fn counts(text: &mut Text, queues: &[Labelled<'_>], (unit, drops): (&str, &[Loss]), value: impl Fn(Count) -> u64) {
    for (name, help, count) in COUNTS {
        let name = format!("{name}_{unit}_total");
        text.head((&name, &format!("In {unit}: {help}.")));
        for (queue, labels, _) in queues {
            text.sample(&name, labels, value(count(&queue.counters)));
        }
    }
    let name = format!("dropped_{unit}_total");
    text.head((&name, &format!("In {unit}: dropped, by reason.")));
    for (queue, labels, place) in queues {
        for reason in Reason::ALL {
            let labels = format!("{labels},reason=\"{}\"", reason.as_str());
            let is_one = |loss: &&Loss| (loss.port, loss.queue) == *place && loss.fate == Fate::Dropped(reason);
            text.sample_like(&name, &labels, value(queue.counters.dropped_by(reason)), drops.iter().find(is_one));
        }
    }
}

fn whole(text: &mut Text, snapshot: &Snapshot) {
    let Snapshot { stalls, unforwarded, books, cost, memory, .. } = snapshot;
    let policy = format!("policy=\"{}\"", escaped(&snapshot.policy));
    text.head(("policy_info", "The policy in force."));
    text.sample("policy_info", &policy, 1);
    text.one(("uptime_seconds", "Time since the switch was started."), snapshot.uptime);
    text.one(("buffer_bytes", "All of the buffer."), snapshot.buffer.get());
    text.one(("buffer_used_bytes", "What is charged of the buffer."), snapshot.used.get());
    text.one(("buffer_peak_bytes", "Most that was ever charged of it."), snapshot.total.peak.get());
    text.one(("frame_buffers", "Frame buffers of the memory for frames."), snapshot.frame_buffers.all as u64);
    text.one(("frame_buffers_free", "Frame buffers that nobody has."), snapshot.frame_buffers.free as u64);
    text.one(("changes_total", "Changes to settings."), snapshot.changes);
    text.one(("stalls_total", "How often the machine was away."), stalls.count);
    text.one(("stall_seconds_total", "How long the machine was away."), stalls.total);
    text.one(("stall_longest_seconds", "Longest stall."), stalls.longest);
    text.one(("stall_given_up_seconds_total", "Time that was not made up for."), stalls.given_up);
    text.by(
        ("memory_read_bytes_total", "Bytes read from the buffer, by purpose."),
        "purpose",
        &[("transmission", memory.transmission.get()), ("expulsion", memory.expulsion.get())],
    );
    text.by(
        ("unforwarded_total", "Frames that never reached the traffic manager."),
        "reason",
        &[
            ("runt", unforwarded.runts),
            ("back", unforwarded.back),
            ("no-route", unforwarded.no_route),
            ("no-hops", unforwarded.no_hops),
            ("storm", unforwarded.storm),
            ("no-frame buffer", unforwarded.no_buffer),
        ],
    );
    text.one(("copies_total", "Copies made of flooded frames."), books.copies);
    text.one(("unreturned_total", "Frames that could not go back to their senders."), books.unreturned);
    text.one(("missing_frames", "Frames that nobody knows of: 0, or a fault of the switch."), books.missing() as f64);
    text.one(("turns_total", "Turns of the loop."), cost.turns);
    text.one(("busy_turns_total", "Turns in which there was something to do."), cost.busy_turns);
    let nanoseconds = |ns: u64| ns as f64 / 1e9;
    text.one(("core_seconds_total", "Time in the data path."), nanoseconds(cost.core_ns));
    text.one(("io_seconds_total", "Time in receiving and sending."), nanoseconds(cost.io_ns));
}

/// A snapshot as Prometheus reads it.
pub fn text(snapshot: &Snapshot) -> String {
    write(snapshot, Text { out: String::new(), is_open: false })
}

/// A snapshot as OpenMetrics has it: for each queue and reason, counters of drops have the last one as an example (its
/// bytes, and when by the switch's time).
pub fn open_text(snapshot: &Snapshot) -> String {
    write(snapshot, Text { out: String::new(), is_open: true }) + "# EOF\n"
}

fn write(snapshot: &Snapshot, mut text: Text) -> String {
    whole(&mut text, snapshot);
    let names: Vec<String> = snapshot
        .ports
        .iter()
        .enumerate()
        .map(|(index, port)| format!("port=\"{index}\",interface=\"{}\"", escaped(&port.name)))
        .collect();
    ports(&mut text, snapshot, &names);
    let mut all: Vec<Labelled<'_>> = Vec::new();
    for (port, (state, labels)) in snapshot.ports.iter().zip(&names).enumerate() {
        let of = |(queue, own)| (own, format!("{labels},queue=\"{queue}\""), (port, queue));
        all.extend(state.queues.iter().enumerate().map(of));
    }
    queues(&mut text, &all, &snapshot.last_drops);
    text.out
}
