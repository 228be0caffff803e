//! `forebay live`: the traffic manager between interfaces of this machine, or between captures.

mod offline;
mod timeline;

use crate::Failure;
use crate::args::LiveArgs;
use crate::output::{Output, cannot_write, is_interrupted, print, stop_gently};
use crate::sets;
use forebay_live::backend::privileges;
use forebay_live::handle::{self, Handle};
use forebay_live::linux::Interfaces;
use forebay_live::runtime::{End, Opener, Runtime, Source};
use forebay_live::scripted::{ScriptedInterfaces, Stage};
use forebay_live::settings::{self, Interface, LiveConfig};
use forebay_live::snapshot::Snapshot;
use forebay_runner::scenario_file::read_text;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use timeline::Timeline;

/// The longest wait for a snapshot: so soon is a Ctrl-C seen.
const PATIENCE: Duration = Duration::from_millis(100);
/// The view is drawn again so often.
const DRAW: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &LiveArgs) -> Result<(), Failure> {
    let file = args.switch.display().to_string();
    let text = read_text(&args.switch)?;
    let changes = sets::settings(&args.set, None)?;
    let (config, settings) = settings::read(&file, &text, &changes)?;
    if config.interfaces.iter().all(|interface| matches!(interface, Interface::Capture { .. })) {
        return print(&offline::run(&config, &settings)?);
    }
    let (handle, ear) = handle::pair();
    let interfaces = Interfaces::new(&config);
    let source = Source { file: &file, text: &text, changes: &changes, settings: &settings };
    let Some(script) = &args.script else {
        let runtime = Runtime::new(config.clone(), source, interfaces, ear).map_err(Failure::Input)?;
        return serve(runtime, &handle, &config, &settings, args, None);
    };
    let script_text = read_text(script)?;
    let stage = Stage::new(forebay_script::file::read(&script.display().to_string(), &script_text)?);
    let interfaces = ScriptedInterfaces::new(interfaces, stage.clone());
    let runtime = Runtime::new(config.clone(), source, interfaces, ear).map_err(Failure::Input)?;
    serve(runtime, &handle, &config, &settings, args, Some(&stage))?;
    match &args.trace {
        Some(path) => timeline::write_whole(path, &stage.trace().to_string()),
        None => Ok(()),
    }
}

/// Runs a switch until it is to stop, with its socket, timeline and view.
fn serve<O: Opener + Send + 'static>(
    mut runtime: Runtime<O>,
    handle: &Handle,
    config: &LiveConfig,
    settings: &str,
    args: &LiveArgs,
    stage: Option<&Stage>,
) -> Result<(), Failure>
where
    O::Port: Send,
{
    if let Some(out) = &config.run.out {
        std::fs::create_dir_all(out).map_err(|error| cannot_write(&out.display().to_string(), &error))?;
    }
    // Whoever has the socket has the directory: the files of another switch stay as they are.
    let server = forebay_control::serve(handle.clone(), config.http.clone(), control_path(config))
        .map_err(|error| Failure::Input(format!("error: {error}")))?;
    let timeline = config.run.out.as_ref().map(|out| {
        timeline::write_whole(&out.join("switch.toml"), settings)?;
        Timeline::create(&out.join("timeline.csv"), &config.run)
    });
    let timeline = timeline.transpose()?;
    let mut watcher = Watcher {
        handle: handle.clone(),
        timeline,
        view: !args.quiet && io::stdout().is_terminal(),
        end: args.duration.map(|duration| Instant::now() + Duration::from_nanos(duration.ps() / 1_000)),
        stage: stage.cloned(),
    };
    stop_gently();
    // Whoever handles frames keeps what it takes to attach to interfaces again, and this thread nothing of what root may do. Files of root are still its own.
    let loop_thread = privileges::spawn_attacher("switch", move || runtime.run());
    let loop_thread = loop_thread.map_err(|error| Failure::Input(format!("error: {error}")))?;
    privileges::drop_all().map_err(|error| Failure::Input(format!("error: privileges cannot be given up: {error}")))?;
    if let Some(out) = &config.run.out {
        // What is to be written at the end can be written now, or never: root without privileges cannot write where only somebody else may.
        drop(Output::create(Some(&out.join("counters.json")))?);
    }
    if let Some(address) = server.http_address() {
        eprintln!("http://{address}/");
    }
    eprintln!("ready");
    watcher.watch(&loop_thread);
    handle.stop();
    let end = loop_thread.join();
    drop(server);
    let last = handle.snapshot();
    watcher.finish(last.as_ref(), config)?;
    match end {
        Ok(Some(End::Asked)) => Ok(()),
        Ok(Some(End::Time(end))) => Err(Failure::Input(format!("error: {end}\n  help: start the switch again"))),
        Ok(None) | Err(_) => Err(Failure::Input(
            "error: the switch has come to an unexpected end; this is a fault of forebay".to_owned(),
        )),
    }
}

/// The control socket: as the file says, or beside the results.
fn control_path(config: &LiveConfig) -> Option<PathBuf> {
    let beside = || config.run.out.as_ref().map(|out| out.join("control.sock"));
    config.run.control.clone().or_else(beside)
}

/// Whoever looks at the switch while it runs: for the terminal and the timeline.
struct Watcher {
    handle: Handle,
    timeline: Option<Timeline>,
    view: bool,
    end: Option<Instant>,
    /// The script that it is about, if there is one: it ends with it.
    stage: Option<Stage>,
}

impl Watcher {
    /// Watches until the switch is to stop, or has.
    fn watch<T>(&mut self, loop_thread: &thread::JoinHandle<T>) {
        let (mut sequence, mut drawn) = (0, None::<(Instant, Arc<Snapshot>)>);
        let is_over = |stage: &Option<Stage>| stage.as_ref().is_some_and(Stage::is_over);
        while !is_interrupted()
            && !loop_thread.is_finished()
            && self.end.is_none_or(|end| Instant::now() < end)
            && !is_over(&self.stage)
        {
            let Some(snapshot) = self.handle.newer_than(sequence, PATIENCE) else { continue };
            sequence = snapshot.sequence;
            if let Some(timeline) = &mut self.timeline {
                timeline.add(&snapshot);
            }
            if self.view && drawn.as_ref().is_none_or(|(at, _)| at.elapsed() >= DRAW) {
                let before = drawn.as_ref().map(|(_, before)| &**before);
                // A terminal that is gone stops no packets.
                self.view = draw(&forebay_control::view::render(&snapshot, before, terminal_width(), true)).is_ok();
                drawn = Some((Instant::now(), snapshot));
            }
        }
    }

    /// Writes what is left to write, and the sum of it all: as much of it as can be written.
    fn finish(&mut self, last: Option<&Arc<Snapshot>>, config: &LiveConfig) -> Result<(), Failure> {
        let Some(last) = last else { return Ok(()) };
        let whole = self.timeline.take().is_none_or(|timeline| timeline.finish(last));
        let counters = config.run.out.as_ref().map_or(Ok(()), |out| {
            let text = format!("{:#}\n", forebay_control::json::snapshot(last));
            timeline::write_whole(&out.join("counters.json"), &text)
        });
        print(&forebay_control::view::render(last, None, terminal_width(), false))?;
        counters?;
        match whole {
            true => Ok(()),
            false => Err(Failure::Input(
                "error: the end of timeline.csv could not be written\n  help: make room for it".to_owned(),
            )),
        }
    }
}

/// Columns of the terminal; 100 where there is none.
fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0))
}

/// Draws over what was drawn before.
fn draw(text: &str) -> io::Result<()> {
    let mut all = String::from("\x1b[H");
    for line in text.lines() {
        all.push_str(line);
        all.push_str("\x1b[K\n");
    }
    all.push_str("\x1b[J");
    let mut out = io::stdout().lock();
    out.write_all(all.as_bytes()).and_then(|()| out.flush())
}
