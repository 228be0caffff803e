//! A switch that runs: it polls until it is told to stop, swaps in new settings between two turns, shows snapshots, and
//! takes interfaces back that went away.

mod snapshots;

use crate::attached::Attached;
use crate::backend::be_punctual;
use crate::clock::Clock;
use crate::dataplane::{Dataplane, Parts};
use crate::handle::{SnapshotPublisher, SwitchHandle};
use crate::pool::Pool;
pub use crate::port_keeper::Opener;
use crate::port_keeper::{News, PortKeeper};
use crate::settings::LiveConfig;
use crate::settings_worker::{Order, SettingsWorker};
use crate::snapshot::Cost;
use crate::switch::{Switch, Timer, Trouble};
use forebay_settings::Diagnostic;
use forebay_tm::drive::EndOfTime;
use forebay_tm::{Instant, Tm};
use snapshots::Journal;
use std::sync::mpsc::Receiver;
use std::time;

/// Looks for new settings and for ports that were opened or closed are so far apart. At most one change is made at a
/// time.
const LOOK: time::Duration = time::Duration::from_millis(1);
/// Snapshots are at most so far apart.
const SNAPSHOT: time::Duration = time::Duration::from_millis(50);
/// One busy turn of so many is timed.
const TIMED: u64 = 32;

/// Times the parts of a turn.
struct Watch {
    last: time::Instant,
    cost: Cost,
}

impl Watch {
    fn passed(&mut self) -> u64 {
        let now = time::Instant::now();
        let passed = now.duration_since(self.last).as_nanos() as u64;
        self.last = now;
        passed
    }
}

impl Timer for Watch {
    fn core(&mut self, frames: usize) {
        self.cost.core_ns += self.passed();
        self.cost.packets += frames as u64;
    }

    fn io(&mut self) {
        self.cost.io_ns += self.passed();
    }
}

/// A number that nobody can guess.
fn secret() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// How a switch came to its end.
#[derive(Debug)]
pub enum End {
    /// It was asked to.
    Asked,
    /// It ran to the end of its time, 213 days.
    Time(EndOfTime),
}

/// A switch with all that it needs to run.
#[derive(Debug)]
pub struct Runtime<O: Opener> {
    switch: Switch<Attached<O::Port>, Journal>,
    keeper: Option<PortKeeper<O>>,
    orders: Receiver<Order>,
    screen: SnapshotPublisher,
    changed: u64,
    config: LiveConfig,
    start: time::Instant,
    sequence: u64,
    turns: u64,
    busy_turns: u64,
    cost: Cost,
    wait: bool,
}

/// Where settings come from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What errors call the file.
    pub file: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What arguments change in it.
    pub changes: &'a [(String, String)],
    /// The file as changed, as TOML.
    pub settings: &'a str,
}

impl<O: Opener> Runtime<O> {
    /// Opens all ports; the error names the one that cannot be opened.
    pub fn new(
        config: LiveConfig,
        source: Source<'_>,
        mut opener: O,
        switch_side: SwitchHandle,
    ) -> Result<Self, Diagnostic> {
        let run = &config.run;
        let mut pool = Pool::new(run.frames, run.frame).map_err(|error| {
            let problem = format!("live.frames: {} frame buffers of {} bytes: {error}", run.frames, run.frame);
            Diagnostic::of_file(source.file, problem, "give fewer")
        })?;
        let no_thread = |what: &str| {
            let what = what.to_owned();
            move |error| Diagnostic::of_file("", format!("{what}: {error}"), "")
        };
        opener.prepare(&pool).map_err(no_thread("no threads for ports"))?;
        let mut ports = Vec::new();
        for (number, interface) in config.interfaces.iter().enumerate() {
            let name = interface.name(number);
            let port = opener.open(number).and_then(|opened| O::join(opened, &mut pool)).map_err(|error| {
                Diagnostic::of_file(source.file, format!("interface.{number}: {name}: {error}"), "")
            })?;
            ports.push(Attached::new(name, Some(port)));
        }
        let parts = Parts {
            pool,
            forwarding: config.forwarding.build(ports.len(), secret()),
            classifier: config.classifier.clone(),
            treatment: config.treatment.clone(),
            overhead: run.overhead,
        };
        let journal = Journal::new(ports.len() * config.tm.queues, config.tm.queues);
        let path = Dataplane::new(Tm::new(config.tm.clone()), parts, journal);
        let clock = Clock::new(run.catch_up, run.stall);
        let (requests, screen) = switch_side.split();
        let book = SettingsWorker {
            file: source.file.to_owned(),
            text: source.text.to_owned(),
            arguments: source.changes.to_vec(),
            changes: source.changes.to_vec(),
            config: config.clone(),
            settings: source.settings.to_owned(),
        };
        let orders = book.open(requests).map_err(no_thread("no thread for settings"))?;
        let keeper = PortKeeper::start(opener).map_err(no_thread("no thread for ports"))?;
        Ok(Self {
            switch: Switch::new(ports, path, clock),
            keeper: Some(keeper),
            orders,
            screen,
            changed: 0,
            start: time::Instant::now(),
            sequence: 0,
            turns: 0,
            busy_turns: 0,
            cost: Cost::default(),
            wait: run.wait,
            config,
        })
    }

    /// Runs until it is asked to stop. The last snapshot is shown before it returns.
    pub fn run(&mut self) -> End {
        let step = SNAPSHOT.min(time::Duration::from_nanos(self.config.run.timeline.ps() / 1_000));
        self.start = time::Instant::now();
        let (mut look, mut show) = (time::Duration::ZERO, time::Duration::ZERO);
        if self.wait {
            be_punctual();
        }
        let end = loop {
            let up = self.start.elapsed();
            let busy = match self.poll_once(up) {
                Ok(busy) => busy,
                Err(Trouble::Port(port, _)) => {
                    self.detach(port);
                    true
                }
                Err(Trouble::Time(end)) => break End::Time(end),
            };
            if up >= look {
                look = up + LOOK;
                if self.serve() {
                    break End::Asked;
                }
                self.follow_ports();
            }
            if up >= show {
                show = up + step;
                self.show(up);
            } else if self.screen.is_behind() {
                self.screen.catch_up();
            }
            if self.wait && !busy {
                self.rest(up, look.min(show));
            }
        };
        let last = self.snapshot(self.start.elapsed());
        self.screen.show_last(last);
        self.close_ports();
        end
    }

    /// A port has failed: it is closed elsewhere, and opened again when its interface is back.
    fn detach(&mut self, number: usize) {
        let (place, pool) = self.switch.port_and_pool(number);
        if let (Some(port), Some(keeper)) = (place.detach(pool), &mut self.keeper) {
            keeper.close(number, port);
        }
        // What was behind it may come back elsewhere.
        self.switch.path().forget(number);
    }

    /// Takes in ports that were closed or opened elsewhere.
    fn follow_ports(&mut self) {
        while let Some(news) = self.keeper.as_mut().and_then(PortKeeper::news) {
            match news {
                News::Closed(number, closed) => self.settle(number, closed),
                News::Opened(number, opened) => {
                    let (place, pool) = self.switch.port_and_pool(number);
                    // There is a number for every borrower of a port that was there before.
                    if let Ok(port) = O::join(opened, pool) {
                        place.attach(port);
                    }
                }
            }
        }
    }

    fn settle(&mut self, number: usize, closed: O::Closed) {
        let (place, pool) = self.switch.port_and_pool(number);
        place.settle(O::settle(closed, pool));
    }

    /// Closes all ports, and waits for it.
    fn close_ports(&mut self) {
        self.follow_ports();
        for number in 0..self.config.interfaces.len() {
            self.detach(number);
        }
        for (number, closed) in self.keeper.take().into_iter().flat_map(PortKeeper::finish) {
            self.settle(number, closed);
        }
    }

    fn poll_once(&mut self, up: time::Duration) -> Result<bool, Trouble> {
        let machine = Instant::from_ps((up.as_nanos() as u64).saturating_mul(1_000));
        self.turns += 1;
        let timed = self.busy_turns % TIMED == 0;
        let busy = if timed {
            let mut watch = Watch { last: self.start + up, cost: Cost::default() };
            let busy = self.switch.poll_timed(machine, &mut watch)?;
            // Turns without a frame are what waiting costs, not what packets cost.
            if busy {
                self.cost.core_ns += watch.cost.core_ns;
                self.cost.io_ns += watch.cost.io_ns;
                self.cost.packets += watch.cost.packets;
            }
            busy
        } else {
            self.switch.poll(machine)?
        };
        self.busy_turns += u64::from(busy);
        Ok(busy)
    }

    /// Nothing is to be done now: waits for a frame, the next departure or the next look.
    fn rest(&mut self, up: time::Duration, next: time::Duration) {
        let departure = self.switch.next_departure().map(|at| time::Duration::from_nanos(at.ps().div_ceil(1_000)));
        // A rest is not to be taken for a stall.
        let longest = up + time::Duration::from_nanos(self.config.run.stall.ps() / 2_000);
        let until = departure.map_or(next, |departure| departure.min(next)).min(longest);
        if let Some(left) = until.checked_sub(up).filter(|left| !left.is_zero()) {
            O::wait(self.switch.ports(), left);
        }
    }

    /// Does what the settings worker has ready; true if the switch is to stop.
    fn serve(&mut self) -> bool {
        match self.orders.try_recv() {
            Err(_) => false,
            Ok(Order::Stop) => true,
            Ok(Order::Swap(settled, answer)) => {
                let swapped = self.switch.path().reconfigure(settled.tm, settled.classifier, settled.treatment);
                self.changed += u64::from(swapped.is_ok());
                // The settings worker waits for it, or has ended with the program.
                let _ =
                    answer.send(swapped.map_err(|error| Diagnostic::of_file("", error.to_string(), "").to_string()));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
