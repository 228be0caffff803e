//! Packets that were watched, as a capture file.

use crate::destination::CAPTURE;
use crate::{Error, cannot_write};
use forebay_capture::{Clock, Writer};
use forebay_results::directory::remove;
use forebay_sim::measure::RunResult;
use forebay_sim::measure::trace::{Place, TraceEvent, What};
use forebay_sim::scenario::Scenario;
use forebay_sim::trace::{FlowEndpoints, Frame};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the capture, if packets were watched; else removes that of an older run. There is one interface for every
/// place where something was seen.
pub(crate) fn write(directory: &Path, scenario: &Scenario, result: &RunResult) -> Result<(), Error> {
    let path = directory.join(CAPTURE);
    if scenario.measure.trace_flows.is_empty() && scenario.measure.trace_switches.is_empty() {
        return Ok(remove(&path)?);
    }
    let temporary = directory.join(format!(".forebay-{CAPTURE}"));
    let written = File::create(&temporary)
        .and_then(|file| write_to(BufWriter::new(file), scenario, result))
        .and_then(|()| std::fs::rename(&temporary, &path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        cannot_write(&path.display().to_string(), &error)
    })
}

fn write_to(writer: impl Write, scenario: &Scenario, result: &RunResult) -> io::Result<()> {
    let mut events: Vec<&TraceEvent> = result.trace.iter().collect();
    // Nodes take turns: what they saw comes in order of time only after sorting.
    events.sort_by_key(|event| (event.at, event.place));
    let mut places: Vec<Place> = events.iter().map(|event| event.place).collect();
    places.sort_unstable();
    places.dedup();
    let names: Vec<String> = places.iter().map(|place| name(scenario, *place)).collect();
    let mut capture = Writer::pcapng(writer, &names, Clock::Picoseconds)?;
    for event in events {
        let interface = places.binary_search(&event.place).unwrap_or_default() as u32;
        let spec = &result.flows[event.packet.flow as usize].spec;
        let transport = &scenario.transports[usize::from(spec.transport)].1;
        let flow = FlowEndpoints {
            src: spec.src,
            dst: spec.dst,
            bytes: spec.bytes,
            mss: transport.common.mss,
            header: transport.common.header,
            framing: (&transport.kind).into(),
        };
        capture.packet(&Frame::new(&event.packet, &flow).seen(interface, event.at), &comment(event.what))?;
    }
    capture.finish()?.flush()
}

fn name(scenario: &Scenario, place: Place) -> String {
    match place {
        Place::Host(host) => scenario.network.hosts[host as usize].clone(),
        Place::Switch(switch, port) => format!("{} port {port}", scenario.network.switches[switch as usize].name),
    }
}

fn comment(what: What) -> String {
    match what {
        What::Sent => "sent".to_owned(),
        What::Received => "received".to_owned(),
        What::Queued => "queued".to_owned(),
        What::Rejected(reason) => format!("rejected: {}", reason.as_str()),
        What::Lost(reason) => format!("lost: {}", reason.as_str()),
    }
}
