//! `forebay live`: the traffic manager between interfaces of this machine, or between captures.

mod directory;
mod offline;
mod service;
mod timeline;

use crate::Failure;
use crate::args::LiveArgs;
use crate::output::{cannot_write, clean_up_on_interrupt, is_interrupted, print, stop_gently};
use crate::sets;
use forebay_control::Server;
use forebay_live::backend::privileges::{self, Identity};
use forebay_live::handle::{self, Handle};
use forebay_live::linux::Interfaces;
use forebay_live::runtime::{End, Opener, Runtime, Source};
use forebay_live::scripted::{ScriptedInterfaces, Stage};
use forebay_live::settings::{self, Interface, LiveConfig};
use forebay_live::signals;
use forebay_live::snapshot::Snapshot;
use forebay_runner::scenario_file::read_text;
use service::Service;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
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
        clean_up_on_interrupt();
        return print(&offline::run(&config, &settings)?);
    }
    let identity = privileges::choose(config.run.user.as_deref()).map_err(|error| {
        Failure::refused(&file, format_args!("live.user: {error}"), "give an account of this machine")
    })?;
    clean_up_on_interrupt();
    signals::note_hangups().map_err(|error| Failure::refused("signals cannot be handled", error, ""))?;
    let (handle, switch_side) = handle::pair();
    let interfaces = Interfaces::new(&config);
    let source = Source { file: &file, text: &text, changes: &changes, settings: &settings };
    let start = Start { handle: &handle, config: &config, settings: &settings, args, identity };
    let Some(script) = &args.script else {
        let runtime = Runtime::new(config.clone(), source, interfaces, switch_side)?;
        return start.serve(runtime, None);
    };
    let script_text = read_text(script)?;
    let stage = Stage::new(forebay_script::file::read(&script.display().to_string(), &script_text)?);
    let interfaces = ScriptedInterfaces::new(interfaces, stage.clone());
    let runtime = Runtime::new(config.clone(), source, interfaces, switch_side)?;
    // It is opened now: who the switch acts as later may not write there.
    let trace = args.trace.as_ref().map(|path| Ok((path, directory::private_file(path)?)));
    let trace = trace
        .transpose()
        .map_err(|error: (PathBuf, io::Error)| cannot_write(&error.0.display().to_string(), &error.1))?;
    start.serve(runtime, Some(&stage))?;
    match trace {
        Some((path, mut file)) => file
            .write_all(stage.trace().to_string().as_bytes())
            .map_err(|error| cannot_write(&path.display().to_string(), &error)),
        None => Ok(()),
    }
}

/// What a switch is started with.
struct Start<'a> {
    handle: &'a Handle,
    config: &'a LiveConfig,
    settings: &'a str,
    args: &'a LiveArgs,
    identity: Identity,
}

impl Start<'_> {
    /// Runs a switch until it is to stop, with its socket, timeline and view.
    fn serve<O: Opener>(&self, mut runtime: Runtime<O>, stage: Option<&Stage>) -> Result<(), Failure> {
        let Self { handle, config, args, .. } = *self;
        let file = std::path::absolute(&args.switch).map_err(|error| cannot_write("the switch's file", &error))?;
        let (server, timeline) = self.open_files()?;
        let mut watcher = Watcher {
            handle: handle.clone(),
            timeline,
            view: !args.quiet && io::stdout().is_terminal(),
            end: args.duration.map(|duration| Instant::now() + Duration::from_nanos(duration.ps() / 1_000)),
            stage: stage.cloned(),
            service: Service::new(file),
        };
        stop_gently();
        // Whoever handles frames needs no more than what is open; interfaces that come back are opened by a thread that
        // the runtime has started.
        let given_up = |error| Failure::refused("privileges cannot be given up", error, "");
        let loop_thread = privileges::spawn_switch("switch", move || runtime.run()).map_err(given_up)?;
        privileges::drop_all().map_err(given_up)?;
        if config.run.out.is_some() {
            // What is to be written at the end can be written now, or never.
            directory::check_writable("counters.json")?;
        }
        if let Some(address) = server.http_address() {
            eprintln!("http://{address}/");
        }
        eprintln!("ready");
        watcher.service.is_ready();
        watcher.watch(&loop_thread);
        watcher.service.stops();
        handle.stop();
        let end = loop_thread.join();
        drop(server);
        let last = handle.snapshot();
        watcher.finish(last.as_ref(), config)?;
        match end {
            Ok(Some(End::Asked)) => Ok(()),
            Ok(Some(End::Time(end))) => Err(Failure::refused("", end, "start the switch again")),
            Ok(None) | Err(_) => {
                Err(Failure::refused("", "the switch has come to an unexpected end; this is a fault of forebay", ""))
            }
        }
    }

    /// Opens what others look at the switch by, and the files that it writes. From then on its directory is the working
    /// directory: whoever it acts as may not be able to get there by its name.
    fn open_files(&self) -> Result<(Server, Option<Timeline>), Failure> {
        let run = &self.config.run;
        let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|error| cannot_write("live.control", &error));
        let control = run.control.as_ref().map(absolute).transpose()?;
        let control = control.or_else(|| run.out.as_ref().map(|_| PathBuf::from("control.sock")));
        let place = run.out.as_ref().map_or(String::new(), |out| format!("{}: ", out.display()));
        if let Some(out) = &run.out {
            directory::enter(out)?;
        }
        // Whoever has the socket has the directory: the files of another switch stay as they are.
        let server = forebay_control::serve(self.handle.clone(), self.config.http.clone(), control)
            .map_err(|error| Failure::refused("", format_args!("{place}{error}"), ""))?;
        let Some(out) = &run.out else { return Ok((server, None)) };
        directory::give_to(out, self.identity)?;
        directory::write_whole("switch.toml", self.settings)?;
        let timeline = Timeline::create(Path::new("timeline.csv"), run)?;
        directory::give_files_to(self.identity)?;
        Ok((server, Some(timeline)))
    }
}

/// Whoever looks at the switch while it runs: for the terminal and the timeline.
struct Watcher {
    handle: Handle,
    timeline: Option<Timeline>,
    view: bool,
    end: Option<Instant>,
    /// The script that it is about, if there is one: it ends with it.
    stage: Option<Stage>,
    service: Service,
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
            if signals::take_hangup() {
                self.service.reload(&self.handle);
            }
            let Some(snapshot) = self.handle.newer_than(sequence, PATIENCE) else { continue };
            self.service.is_alive();
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
        let counters = config.run.out.as_ref().map_or(Ok(()), |_| {
            let text = format!("{:#}\n", serde_json::json!(**last));
            directory::write_whole("counters.json", &text)
        });
        print(&forebay_control::view::render(last, None, terminal_width(), false))?;
        counters?;
        match whole {
            true => Ok(()),
            false => Err(Failure::refused("", "the end of timeline.csv could not be written", "make room for it")),
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
