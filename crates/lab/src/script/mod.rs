//! Scripts with real hosts: the kernel's TCP through a live switch that plays the script.

pub mod actors;
pub mod outcome;
pub mod page;
pub mod record;
pub mod simulate;

use crate::congestion::{Kernel, Loaded};
use crate::error::{self, Result};
use crate::layout::Layout;
use crate::network::{self, HostSettings, Lock};
use crate::program::{cannot_start, in_namespace, run};
use crate::switch_file::{self, Treatment};
use crate::switch_process::{SwitchProcess, own_program};
use forebay_script::file::{ReceiveBuffer, Script};
use forebay_script::trace::Trace;
use forebay_sim::transport::TransportConfig;
use forebay_tm::mark::{MarkAction, MarkConfig, StepConfig};
use forebay_tm::{Rate, TmConfig};
use std::cell::OnceCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What hosts are made with; the ports of the switch have the script's rate.
const CABLE: Rate = Rate::from_gbps(1);
/// Bytes that sockets have for what they send and receive: more than any script needs.
const SOCKET_MEMORY: u64 = 16 << 20;
/// What `chrt` is told.
const REAL_TIME: [&str; 2] = ["--fifo", "10"];
/// How long the switch may take to see that a script is over, beyond the script's own limit.
const PATIENCE: Duration = Duration::from_secs(5);

/// A script with where it comes from.
#[derive(Clone, Debug)]
pub struct ScriptFile {
    /// The file.
    pub path: PathBuf,
    /// Its name without directory and suffix.
    pub name: String,
    /// What it says.
    pub script: Script,
}

impl ScriptFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| error::of_file(path, "read", &error))?;
        let script = forebay_script::file::read(&path.display().to_string(), &text)?;
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self { path: path.to_owned(), name, script })
    }
}

/// Two hosts around a switch, for scripts. They are removed when this goes.
pub struct Stage {
    layout: Layout,
    held: Lock,
    /// DCTCP, if it had to be loaded.
    dctcp: OnceCell<Result<Loaded>>,
    /// Programs may run with real-time priority, so that others of the machine do not delay them.
    real_time: bool,
}

impl Stage {
    /// Makes the hosts.
    pub fn make(prefix: &str) -> Result<Self> {
        let layout = Layout::star(prefix, &[CABLE; 2])?;
        let held = network::lock(prefix)?;
        network::up(&layout, &HostSettings::default(), &held)?;
        let real_time = run("chrt", &[REAL_TIME[0], REAL_TIME[1], "true"], "").is_ok();
        Ok(Self { layout, held, dctcp: OnceCell::new(), real_time })
    }

    /// The kernel's name of a congestion control. DCTCP is loaded from `dctcp.bpf.c` in the script's directory or the
    /// one above.
    fn congestion_control(&self, file: &ScriptFile) -> Result<String> {
        let name = file.script.congestion_control.name();
        let kind = TransportConfig::named(name).ok_or_else(|| error::problem(name, "this is a fault of forebay"))?.kind;
        if name == "dctcp" && !Kernel::ask().has_dctcp() {
            let beside = file.path.parent().unwrap_or(Path::new(""));
            let places = [beside.join("dctcp.bpf.c"), beside.join("../dctcp.bpf.c")];
            let source = places.iter().find(|place| place.is_file()).unwrap_or(&places[0]);
            let directory = network::state_directory(&self.layout.prefix);
            if let Err(error) = self.dctcp.get_or_init(|| Loaded::load(source, &directory)) {
                return Err(error.clone());
            }
        }
        match Kernel::ask().choose(&kind)? {
            Some(chosen) if chosen.instead_of.is_none() => Ok(chosen.name),
            _ => Err(error::problem(format_args!("the kernel has no {name}"), "load it, or leave the script out")),
        }
    }

    /// Plays a script once. The trace says what the switch saw.
    pub fn play(&self, file: &ScriptFile) -> Result<Trace> {
        let script = &file.script;
        let control = self.congestion_control(file)?;
        let settings = HostSettings {
            // Set by each socket; a route's would be stronger, and would be there for the next script, too.
            congestion_control: None,
            ecn: script.ecn && script.congestion_control.name() != "dctcp",
            initial_window: Some(script.initial_window),
            rto_min: Some(script.rto_min),
            mss: None,
            paced: false,
            idle_restart: script.idle_restart,
            socket_memory: (script.receive_buffer != ReceiveBuffer::Auto).then_some(SOCKET_MEMORY),
            ipv6: false,
        };
        network::up(&self.layout, &settings, &self.held)?;
        let state = network::state_directory(&self.layout.prefix);
        let directory = state.join("sw");
        std::fs::create_dir_all(&directory).map_err(|error| error::of_file(&directory, "make", &error))?;
        let (switch_path, trace_path) = (state.join("sw.toml"), state.join("trace"));
        // That of the script before.
        let _ = std::fs::remove_file(&trace_path);
        let mut config = TmConfig::new(vec![script.rate; 2], script.buffer);
        let step = |threshold| MarkConfig::Step(StepConfig { threshold, action: MarkAction::default() });
        config.mark = script.mark_above.map(step);
        let treatment = Treatment { overhead: Some(0), backend: Some("packet".to_owned()), ..Treatment::default() };
        let mut layout = self.layout.clone();
        for port in &mut layout.switches[0].ports {
            port.rate = script.rate;
        }
        let text = switch_file::write(&layout, 0, &config, &treatment, &directory);
        std::fs::write(&switch_path, text).map_err(|error| error::of_file(&switch_path, "write", &error))?;
        let forebay = own_program()?;
        let path = std::path::absolute(&file.path).map_err(|error| error::of_file(&file.path, "find", &error))?;
        let arguments = ["--script".as_ref(), path.as_os_str(), "--trace".as_ref(), trace_path.as_os_str()];
        let command = self.command(&self.layout.switches[0].namespace, &forebay);
        let mut switch = SwitchProcess::start_with(command, &switch_path, &directory, &arguments)?;
        let actor = |host: usize| {
            let mut command = self.command(&self.layout.hosts[host].namespace, &forebay);
            command.args(["lab", "actor"]).arg(&path).arg(&control);
            command
        };
        let receiver = Actor::start(actor(1))?;
        let mut command = actor(0);
        command.arg(self.layout.hosts[1].address.to_string());
        let mut sender = Actor::start(command)?;
        sender.go()?;
        let longest = Duration::from_nanos(script.limit.ps() / 1_000) + PATIENCE;
        if !switch.wait(longest) {
            return Err(error::problem("the switch does not come to the end of the script", "see its log"));
        }
        receiver.check()?;
        sender.check()?;
        let text = std::fs::read_to_string(&trace_path).map_err(|error| error::of_file(&trace_path, "read", &error))?;
        let trace = Trace::parse(&text).map_err(|problem| error::problem(problem, "this is a fault of forebay"))?;
        match trace.unfinished(script) {
            None => Ok(trace),
            Some(flow) => Err(error::problem(
                format_args!("{}: flow {flow} has not come to its end within {}", file.path.display(), script.limit),
                "give the script a longer limit, or look at what it does to the flow",
            )),
        }
    }

    /// A command in a namespace.
    fn command(&self, namespace: &str, program: &str) -> Command {
        if !self.real_time {
            return in_namespace(namespace, program);
        }
        let mut command = in_namespace(namespace, "chrt");
        command.args(REAL_TIME).arg(program);
        command
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed now, `forebay lab down` removes.
        let _ = network::down(&self.layout.prefix, &self.held);
    }
}

/// A host that does its part.
struct Actor {
    child: Child,
    /// What went wrong.
    problems: Receiver<String>,
}

impl Actor {
    fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| cannot_start("ip", &error))?;
        let (tell, problems) = channel();
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            let mut lines = BufReader::new(stdout);
            // What cannot be read is not "ready".
            let _ = lines.read_line(&mut line);
            std::thread::spawn(move || {
                for line in lines.lines().map_while(std::result::Result::ok) {
                    // Nobody may be listening any more.
                    let _ = tell.send(line);
                }
            });
        }
        let mut own = Self { child, problems };
        if line.trim() != "ready" {
            own.end();
            return Err(error::problem(format_args!("a host does not begin: {}", line.trim()), "try again"));
        }
        Ok(own)
    }

    /// What went wrong so far.
    fn check(&self) -> Result<()> {
        match self.problems.try_recv() {
            Ok(problem) => Err(error::problem(format_args!("a host of the script: {problem}"), "try again")),
            Err(_) => Ok(()),
        }
    }

    /// It ends as its input does.
    fn end(&mut self) {
        drop(self.child.stdin.take());
        // It may have ended by itself.
        let _ = self.child.wait();
    }

    fn go(&mut self) -> Result<()> {
        let told = self.child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(b"go\n"));
        told.map_err(|error| error::problem(format_args!("a host is gone: {error}"), "try again"))
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.end();
    }
}
