//! A live switch as a process in its namespace.

use crate::error::{self, Result};
use crate::program::{cannot_start, in_namespace};
use forebay_control::client::Client;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a switch may take to attach to its interfaces.
const START: Duration = Duration::from_secs(20);
/// How long a switch may take to stop.
const STOP: Duration = Duration::from_secs(10);

/// The path of this very program.
pub fn own_program() -> Result<String> {
    let path = std::env::current_exe().map_err(|error| {
        error::problem(format_args!("this program cannot be found: {error}"), "start it by its path")
    })?;
    Ok(path.to_string_lossy().into_owned())
}

/// A switch that runs.
#[derive(Debug)]
pub struct SwitchProcess {
    child: Child,
    directory: PathBuf,
    log: PathBuf,
}

impl SwitchProcess {
    /// Starts `forebay live` with this file in a namespace, and waits until all ports are attached. The log and the
    /// control socket are in `directory`.
    pub fn start(forebay: &str, namespace: &str, file: &Path, directory: &Path) -> Result<Self> {
        Self::start_with(in_namespace(namespace, forebay), file, directory, &[])
    }

    /// [`SwitchProcess::start`] by another command, with more arguments.
    pub fn start_with(mut command: Command, file: &Path, directory: &Path, arguments: &[&OsStr]) -> Result<Self> {
        let log = directory.join("log");
        let output = File::create(&log).map_err(|error| error::of_file(&log, "write", &error))?;
        command.arg("live").arg(file).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        let child = command.spawn().map_err(|error| cannot_start("ip", &error))?;
        let mut own = Self { child, directory: directory.to_owned(), log };
        own.wait_until_ready()?;
        Ok(own)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let end = Instant::now() + START;
        loop {
            let said = std::fs::read_to_string(&self.log).unwrap_or_default();
            if said.lines().any(|line| line.trim() == "ready") {
                return Ok(());
            }
            let ended = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
            if ended || Instant::now() > end {
                let problem = if ended { "the switch has ended" } else { "the switch is not ready in time" };
                self.kill();
                let said = said.trim();
                return Err(error::problem(
                    format_args!("{problem}; it said:\n{said}"),
                    "see its file in the lab's directory",
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A connection to its control socket.
    pub fn control(&self) -> Result<Client> {
        let socket = self.directory.join("control.sock");
        Client::connect(&socket).map_err(|error| error::of_file(&socket, "connect to", &error))
    }

    /// Lets it run on when this program ends.
    pub fn detach(self) {
        std::mem::forget(self);
    }

    /// Waits until it ends by itself, but not for ever. Returns whether it has ended.
    pub fn wait(&mut self, longest: Duration) -> bool {
        let end = Instant::now() + longest;
        while Instant::now() < end {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Stops it and waits for its last counters, as JSON.
    pub fn stop(mut self) -> Result<String> {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // One that has ended already is noticed below.
            let _ = kill_process(pid, Signal::TERM);
        }
        let end = Instant::now() + STOP;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                _ if Instant::now() > end => {
                    self.kill();
                    return Err(error::problem("the switch does not stop", "see its log in the lab's directory"));
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        if !status.success() {
            return Err(error::problem(
                format_args!("the switch failed ({status}); it said:\n{}", said.trim()),
                "see above",
            ));
        }
        let counters = self.directory.join("counters.json");
        std::fs::read_to_string(&counters).map_err(|error| error::of_file(&counters, "read", &error))
    }

    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for SwitchProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}
