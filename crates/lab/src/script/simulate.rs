//! Scripts in the simulator: the same network, the same packets, the same list.

use super::ScriptFile;
use crate::error::{self, Result};
use forebay_script::file::{HEADER, MSS, ReceiveBuffer, Script};
use forebay_script::trace::Trace;
use forebay_sim::engine;
use forebay_sim::flow::{Application, FlowSpec, TrafficPlan};
use forebay_sim::scenario::Scenario;
use forebay_tm::{Duration, Instant};
use std::fmt::Write;
use std::sync::Arc;

/// What of a script the simulator's flows cannot do; none if they can do all of it.
pub fn missing(script: &Script) -> Option<&'static str> {
    let flows = || script.flows.iter();
    if flows().any(|flow| flow.reply > 0) {
        return Some("replies on the same connection");
    }
    None
}

/// Plays a script in the simulator.
pub fn simulate(file: &ScriptFile) -> Result<Trace> {
    let script = &file.script;
    let mut scenario = Scenario::read(&file.name, &text(script), &[])
        .map_err(|error| error::problem(format_args!("{}: {error}", file.name), "this is a fault of forebay"))?;
    scenario.switches[0].script = Some(Arc::new(script.clone()));
    let flows = script.flows.iter().map(|flow| FlowSpec {
        start: Instant::ZERO + flow.start,
        src: 0,
        dst: 1,
        bytes: u64::from(flow.segments()) * u64::from(MSS),
        ..FlowSpec::default()
    });
    let applications = script.flows.iter().map(|flow| {
        let written = flow.writes.iter().scan(0, |sum, write| {
            *sum += write.segments;
            Some((write.at, *sum))
        });
        Application { writes: written.collect(), pause: flow.pause }
    });
    let applications = (0..).zip(applications).collect();
    let plan = TrafficPlan { flows: flows.collect(), applications, ..TrafficPlan::default() };
    let result = engine::run(&scenario, &plan, &mut |_| true);
    Ok(Trace { about: Vec::new(), events: result.script })
}

/// The scenario of a script. Its workload is only there because there must be one: the plan is the script's own.
fn text(script: &Script) -> String {
    let ps = |time: Duration| format!("\"{}ps\"", time.ps());
    let name = script.congestion_control.name();
    let mut out = format!(
        "duration = {}\n\
         [topology]\nkind = \"single\"\nhosts = 2\nrate = \"{}bps\"\ndelay = \"1us\"\n\
         [switch]\nbuffer = {}\n[policy]\nkind = \"cs\"\n",
        ps(script.limit),
        script.rate.bps(),
        script.buffer.get(),
    );
    if let Some(threshold) = script.mark_above {
        let _ = write!(out, "[ecn]\nkind = \"step\"\nthreshold = {}\n", threshold.get());
    }
    // The kernel takes half of a socket's memory, which it makes twice as large as asked for, for the window.
    let fixed = |window: u64| format!("receive_window = {window}\nreceive_window_max = {}\n", window * 1_448 / 1_152);
    let windows = match script.receive_buffer {
        ReceiveBuffer::Large => fixed(8 << 20),
        ReceiveBuffer::Fixed(bytes) => fixed(bytes.get()),
        ReceiveBuffer::Auto => String::new(),
    };
    let _ = write!(
        out,
        "[nic]\nkind = \"unlimited\"\n\
         [transport.{name}]\nmss = {MSS}\nheader = {HEADER}\nack_bytes = {HEADER}\ninitial_window = {}\n\
         rto_min = {}\nhandshake = true\npacing = false\nidle_restart = {}\n\
         {windows}ecn = {}\n\
         [[workload]]\nkind = \"permutation\"\nbytes = 1000\ntransport = \"{name}\"\n\
         [measure]\nsample = \"10ms\"\n",
        script.initial_window,
        ps(script.rto_min),
        script.idle_restart,
        script.ecn,
    );
    out
}
