//! How others talk to a running switch: they look at snapshots, and ask for changes. A thread of its own (`settings
//! worker.rs`) reads and checks what is asked for; the switch makes what is left of it between two turns of its loop,
//! and waits for nobody.

use crate::snapshot::Snapshot;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What can be asked of a switch.
#[derive(Debug)]
pub enum Request {
    /// Change settings, all or none: keys with their values as after `--set`, such as `policy.alpha` and `0.5`. The
    /// answer is a sentence that says what is wrong if nothing was changed.
    Change(Vec<(String, String)>, Sender<Result<(), String>>),
    /// The file of the switch has this text now: what it says is in force, and what was changed since the start is not.
    /// The answer is as above.
    Reload(String, Sender<Result<(), String>>),
    /// The settings in force as TOML.
    Settings(Sender<String>),
    /// Come to an end.
    Stop,
}

/// Why a switch does not answer.
pub const GONE: &str = "the switch has stopped";

/// How long a switch is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
struct Shared {
    latest: Mutex<Option<Arc<Snapshot>>>,
    newer: Condvar,
}

/// One side of the talk: whoever looks and asks. Clones are other handler on the same switch.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    requests: Sender<Request>,
}

/// The other side: the switch.
#[derive(Debug)]
pub struct SwitchHandle {
    shared: Arc<Shared>,
    requests: Receiver<Request>,
}

/// Both sides.
pub fn pair() -> (Handle, SwitchHandle) {
    let (requests, heard) = channel();
    let shared = Arc::new(Shared::default());
    (Handle { shared: Arc::clone(&shared), requests }, SwitchHandle { shared, requests: heard })
}

impl Handle {
    /// The latest snapshot; none before the first.
    pub fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for a snapshot that is newer than one with this number (0 for any); none if none comes in time.
    pub fn newer_than(&self, sequence: u64, patience: Duration) -> Option<Arc<Snapshot>> {
        let end = Instant::now() + patience;
        let mut latest = self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(snapshot) = latest.as_ref().filter(|snapshot| snapshot.sequence > sequence) {
                return Some(Arc::clone(snapshot));
            }
            let left = end.checked_duration_since(Instant::now())?;
            latest = self.shared.newer.wait_timeout(latest, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Changes settings, all or none.
    pub fn change(&self, changes: Vec<(String, String)>) -> Result<(), String> {
        let (answer, heard) = channel();
        self.requests.send(Request::Change(changes, answer)).map_err(|_| GONE)?;
        heard.recv_timeout(PATIENCE).map_err(|_| GONE)?
    }

    /// Brings the text of a changed file into force, all of it or nothing.
    pub fn reload(&self, text: String) -> Result<(), String> {
        let (answer, heard) = channel();
        self.requests.send(Request::Reload(text, answer)).map_err(|_| GONE)?;
        heard.recv_timeout(PATIENCE).map_err(|_| GONE)?
    }

    /// The settings in force, as TOML.
    pub fn settings(&self) -> Result<String, String> {
        let (answer, heard) = channel();
        self.requests.send(Request::Settings(answer)).map_err(|_| GONE)?;
        Ok(heard.recv_timeout(PATIENCE).map_err(|_| GONE)?)
    }

    /// Asks the switch to stop. It may take a moment.
    pub fn stop(&self) {
        // A switch that is gone has stopped.
        let _ = self.requests.send(Request::Stop);
    }
}

impl SwitchHandle {
    /// The next request, if there is one.
    pub fn request(&self) -> Option<Request> {
        self.requests.try_recv().ok()
    }

    /// Shows a snapshot to all handler.
    pub fn show(&self, snapshot: Snapshot) {
        self.shared.show(Arc::new(snapshot));
    }

    /// Who answers requests, and who shows snapshots, apart.
    pub(crate) fn split(self) -> (Receiver<Request>, SnapshotPublisher) {
        (self.requests, SnapshotPublisher { shared: self.shared, unshown: None })
    }
}

impl Shared {
    fn show(&self, snapshot: Arc<Snapshot>) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
        self.newer.notify_all();
    }
}

/// Where a switch shows its snapshots.
#[derive(Debug)]
pub(crate) struct SnapshotPublisher {
    shared: Arc<Shared>,
    /// A snapshot that could not be shown since somebody was looking at the one before.
    unshown: Option<Arc<Snapshot>>,
}

impl SnapshotPublisher {
    /// Whether a snapshot is still to be shown.
    pub(crate) fn is_behind(&self) -> bool {
        self.unshown.is_some()
    }

    /// Takes a snapshot to be shown, and shows it unless that means to wait.
    pub(crate) fn show(&mut self, snapshot: Snapshot) {
        self.unshown = Some(Arc::new(snapshot));
        self.catch_up();
    }

    /// Shows what could not be shown before, unless that means to wait. Whoever looks may have been put to sleep in the
    /// middle of it.
    pub(crate) fn catch_up(&mut self) {
        let Ok(mut latest) = self.shared.latest.try_lock() else { return };
        if let Some(snapshot) = self.unshown.take() {
            let before = latest.replace(snapshot);
            drop(latest);
            self.shared.newer.notify_all();
            drop(before);
        }
    }

    /// Shows the last snapshot, whoever has to be waited for.
    pub(crate) fn show_last(&mut self, snapshot: Snapshot) {
        self.unshown = None;
        self.shared.show(Arc::new(snapshot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::snapshot;

    #[test]
    fn a_screen_does_not_wait_for_those_who_look() {
        let (handle, switch_side) = pair();
        let (_, mut screen) = switch_side.split();
        let looking = handle.shared.latest.lock().unwrap();
        screen.show(snapshot(1));
        assert!(screen.is_behind() && looking.is_none());
        drop(looking);
        screen.catch_up();
        assert!(!screen.is_behind());
        assert_eq!(handle.snapshot().unwrap().sequence, 1);
    }
}
