//! `forebay demo`: the buffer policies on one incast burst.
//!
//! Three ports of a twenty-port switch are overloaded by long-lived low-priority traffic. Then 16 senders respond to a
//! query at the same time, at high priority, to an idle port. Whether the burst survives depends on who was given the
//! buffer before it came.

use crate::Failure;
use crate::args::DemoArgs;
use crate::chart::curve;
use crate::output::{print, print_json};
use crate::outputs::{Ours, Outputs};
use crate::replay::too_late;
use crate::table::{Table, percent};
use forebay_settings::{SwitchFile, read_policy};
use forebay_tm::View as _;
use forebay_tm::drive::{Driver, Observer};
use forebay_tm::{Departure, Eviction, Instant, Packet, PacketId, Reason, Tm, ValidConfig, Verdict};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// The switch, as a file that `forebay replay` reads.
const SWITCH: &str = include_str!("demo.toml");

const POLICIES: [(&str, &str); 9] = [
    ("cs", "complete sharing"),
    ("cp", "complete partitioning"),
    ("dt", "dynamic thresholds"),
    ("fb", "flexible buffer"),
    ("abm", "active buffer management"),
    ("fab", "flow-aware buffer"),
    ("ib", "intelligent buffer"),
    ("pushout", "longest queue gives way"),
    ("occamy:alpha=8", "expels what is over-allocated"),
];

const PACKET: u32 = 1_500;
/// Time to send a packet at the port's 10 Gb/s.
const PACKET_TIME: u64 = 1_200_000;
const BACKGROUND_PORTS: u32 = 3;
const BURST_PORT: u32 = 3;
const BURST_QUEUE: u32 = 0;
const SENDERS: u64 = 16;
const PACKETS_PER_SENDER: u64 = 5;
const BURST_AT: u64 = 300 * PACKET_TIME;
const END: u64 = 600 * PACKET_TIME;

/// All arrivals, in order of time.
fn arrivals() -> Vec<(Instant, Packet)> {
    let mut arrivals = Vec::new();
    // Background: each port is offered 1.25 times its rate, in queue 1, by a flow of its own.
    for port in 0..BACKGROUND_PORTS {
        let offset = u64::from(port) * 37_000;
        for at in (offset..END).step_by((PACKET_TIME * 4 / 5) as usize) {
            let flow = u64::from(port);
            arrivals.push((at, Packet { bytes: PACKET, port, queue: 1, class: 1, flow, ..Packet::default() }));
        }
    }
    // The incast: every sender's packets come at its own link's 10 Gb/s, all senders at once, in their first round
    // trip.
    for sender in 0..SENDERS {
        for packet in 0..PACKETS_PER_SENDER {
            let at = BURST_AT + packet * PACKET_TIME + sender * 11_000;
            let flow = 100 + sender;
            let (port, queue) = (BURST_PORT, BURST_QUEUE);
            arrivals.push((at, Packet { bytes: PACKET, port, queue, flow, unscheduled: true, ..Packet::default() }));
        }
    }
    arrivals.sort_by_key(|(at, packet)| (*at, packet.flow));
    arrivals
        .into_iter()
        .enumerate()
        .map(|(id, (at, packet))| (Instant::from_ps(at), Packet { id: PacketId(id as u64), ..packet }))
        .collect()
}

/// Queue lengths over time, and what became of the burst.
struct Watch {
    /// Samples of the burst's queue and of all others.
    burst: Vec<u64>,
    others: Vec<u64>,
    next: u64,
    last: (u64, u64),
    burst_end: Instant,
}

impl Watch {
    const SAMPLES: u64 = 72;
    const FROM: u64 = 240 * PACKET_TIME;
    const STEP: u64 = (END - Self::FROM) / Self::SAMPLES;

    fn new() -> Self {
        Self { burst: Vec::new(), others: Vec::new(), next: Self::FROM, last: (0, 0), burst_end: Instant::ZERO }
    }
}

impl Observer for Watch {
    fn arrived(&mut self, _: Instant, _: &Packet, _: Verdict) {}

    fn started(&mut self, _: Instant, port: usize, _: &Departure, end: Instant) {
        if port == BURST_PORT as usize {
            self.burst_end = self.burst_end.max(end);
        }
    }

    fn evicted(&mut self, _: Eviction) {}

    fn instant_over(&mut self, now: Instant, tm: &Tm) {
        while now.ps() > self.next && self.burst.len() < Self::SAMPLES as usize {
            self.burst.push(self.last.0);
            self.others.push(self.last.1);
            self.next += Self::STEP;
        }
        let burst = tm.queue_bytes(tm.queue_index(BURST_PORT as usize, BURST_QUEUE as usize)).get();
        self.last = (burst, tm.used().get() - burst);
    }
}

fn replay(switch: ValidConfig, arrivals: &[(Instant, Packet)]) -> Result<(Driver, Watch), Failure> {
    let mut driver = Driver::watching(Tm::new(switch));
    let mut watch = Watch::new();
    for (now, packet) in arrivals {
        driver.arrive(*now, packet, &mut watch).map_err(too_late)?;
    }
    driver.finish(&mut watch).map_err(too_late)?;
    Ok((driver, watch))
}

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let arrivals = arrivals();
    if let Some(directory) = &args.write {
        return write(directory, &arrivals, args.replace.force);
    }
    let file = SwitchFile::parse("the demo's switch", SWITCH)?;
    let switch = file.switch()?;
    let table_of_file = file.policy()?;
    let burst = SENDERS * PACKETS_PER_SENDER;
    let mut table = Table::new(
        2,
        ["policy", "", "burst lost", "", "burst done after", "others lost", "pushed out, expelled", "peak buffer"],
    );
    let (mut charts, mut rows) = (String::new(), Vec::new());
    for (policy, name) in POLICIES {
        let mut config = switch.clone().into_inner();
        config.policy = read_policy(policy, table_of_file.as_ref())?;
        let (driver, watch) = replay(file.validate(config)?, &arrivals)?;
        let tm = driver.tm();
        let (pool, of_burst) = (tm.pool_counters(), tm.port_counters(BURST_PORT as usize));
        let lost = of_burst.dropped.packets;
        let taken = pool.dropped_by(Reason::PushedOut).packets + pool.dropped_by(Reason::Expelled).packets;
        let (others_lost, others) = (pool.dropped.packets - lost, pool.offered.packets - burst);
        let burst_time = watch.burst_end.since(Instant::from_ps(BURST_AT));
        rows.push(json!({
            "policy": policy,
            "about": name,
            "burst_packets": burst,
            "burst_dropped_packets": lost,
            "burst_ps": burst_time.ps(),
            "others_packets": others,
            "others_dropped_packets": others_lost,
            "removed_packets": taken,
            "peak_bytes": pool.peak.get(),
            "buffer_bytes": switch.buffer.get(),
        }));
        table.row(vec![
            policy.to_owned(),
            name.to_owned(),
            format!("{lost} of {burst}"),
            percent(lost, burst),
            burst_time.to_string(),
            percent(others_lost, others),
            taken.to_string(),
            percent(pool.peak.get(), switch.buffer.get()),
        ]);
        let _ = writeln!(charts, "{policy}: {name}");
        for (label, values) in [("burst", &watch.burst), ("others", &watch.others)] {
            for (row, line) in curve(values, switch.buffer.get(), 2).into_iter().enumerate() {
                let label = if row == 0 { label } else { "" };
                let _ = writeln!(charts, "  {label:>6} │{line}│");
            }
        }
    }
    if args.json {
        return print_json(&rows.into());
    }
    let text = format!(
        "One incast burst: {SENDERS} senders together send {burst} packets of {PACKET} B to port {BURST_PORT}, while \
         {BACKGROUND_PORTS} other ports\nare overloaded. Buffer {}, {} ports of 10Gbps, alpha {:?} for the burst and for the others.\n\n{}\n\
         Bytes in the buffer over time, from {} to {} (each curve's full height is the whole buffer):\n\n{charts}\n\
         The same switch and arrivals as files: forebay demo --write DIR, then forebay replay DIR/switch.toml DIR/arrivals.csv\n",
        switch.buffer,
        switch.rates.len(),
        [2.0, 1.0],
        table.render(),
        Instant::from_ps(Watch::FROM),
        Instant::from_ps(END),
    );
    print(&text)
}

/// Writes the demo as files.
fn write(directory: &Path, arrivals: &[(Instant, Packet)], force: bool) -> Result<(), Failure> {
    std::fs::create_dir_all(directory)
        .map_err(|error| crate::output::cannot_write(&directory.display().to_string(), &error))?;
    let mut text = "time_ps,bytes,port,queue,flow,class,unscheduled\n".to_owned();
    for (now, packet) in arrivals {
        let Packet { bytes, port, queue, flow, class, unscheduled, .. } = packet;
        let _ = writeln!(text, "{},{bytes},{port},{queue},{flow},{class},{}", now.ps(), u8::from(*unscheduled));
    }
    let files = [(directory.join("switch.toml"), SWITCH), (directory.join("arrivals.csv"), &text)];
    let mut outputs = Outputs::new(force);
    for (path, text) in &files {
        outputs.check(path, Ours::Is(text))?;
    }
    for (path, text) in &files {
        Outputs::new(force).write_start(path, text)?;
    }
    print(&format!("wrote {0}/switch.toml and {0}/arrivals.csv\n", directory.display()))
}
