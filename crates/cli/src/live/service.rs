//! A switch as a service of systemd: it says when it is ready, reads its file again on SIGHUP, and says that it is
//! alive.

use forebay_live::handle::Handle;
use forebay_settings::Diagnostic;
use sd_notify::NotifyState;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What the service manager is told.
pub(super) struct Service {
    /// The file that the switch was started with.
    file: PathBuf,
    /// Signs of life are so far apart, if any are wanted.
    watchdog: Option<Duration>,
    /// The last one.
    told: Instant,
}

/// Without a service manager nothing is told. One that does not listen stops no packets.
fn tell(states: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(states);
}

impl Service {
    pub(super) fn new(file: PathBuf) -> Self {
        // Half of the time after which the manager would start the switch again.
        Self { file, watchdog: sd_notify::watchdog_enabled().map(|time| time / 2), told: Instant::now() }
    }

    /// Frames are forwarded.
    pub(super) fn is_ready(&self) {
        tell(&[NotifyState::Ready]);
    }

    /// The switch has shown a snapshot: the thread that forwards is at work.
    pub(super) fn is_alive(&mut self) {
        if self.watchdog.is_some_and(|every| self.told.elapsed() >= every) {
            tell(&[NotifyState::Watchdog]);
            self.told = Instant::now();
        }
    }

    /// Reads the file again and brings it into force, all of it or nothing; says what came of it.
    pub(super) fn reload(&self, handle: &Handle) {
        if let Ok(now) = NotifyState::monotonic_usec_now() {
            tell(&[NotifyState::Reloading, now]);
        }
        let name = self.file.display();
        let read = std::fs::read_to_string(&self.file).map_err(|error| {
            let help = "let the user that the switch acts as read it";
            Diagnostic::of_file(name.to_string(), format!("cannot read it: {error}"), help).to_string()
        });
        let status = match read.and_then(|text| handle.reload(text)) {
            Ok(()) => format!("{name}: read again, and in force"),
            Err(error) => format!("{name}: read again, and nothing was changed: {error}"),
        };
        eprintln!("{status}");
        tell(&[NotifyState::Ready, NotifyState::Status(status.lines().next().unwrap_or_default())]);
    }

    /// It comes to its end.
    pub(super) fn stops(&self) {
        tell(&[NotifyState::Stopping]);
    }
}
