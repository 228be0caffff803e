//! Settings of a running switch: a thread of its own reads, checks and builds what is asked for. Only what is sound
//! gets to the thread that handles frames, ready to be swapped in, one at a time.

use crate::backend::privileges;
use crate::classify::Classifier;
use crate::dataplane::Treatment;
use crate::handle::{GONE, Request};
use crate::settings::{self, LiveConfig};
use forebay_settings::Diagnostic;
use forebay_tm::TmConfig;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// New settings, whole and checked.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) tm: TmConfig,
    pub(crate) classifier: Classifier,
    pub(crate) treatment: Treatment,
}

/// What the settings worker asks of the switch.
#[derive(Debug)]
pub(crate) enum Order {
    /// Swap these in. The answer is what was there before, which others throw away, or why not: what waits may be in
    /// the way.
    Swap(Box<Settled>, Sender<Result<(Classifier, Treatment), String>>),
    /// Come to an end.
    Stop,
}

/// What the switch was started with, and what was changed since.
#[derive(Debug)]
pub(crate) struct SettingsWorker {
    pub(crate) file: String,
    pub(crate) text: String,
    /// What arguments change in the file.
    pub(crate) arguments: Vec<(String, String)>,
    /// What was changed since, arguments included.
    pub(crate) changes: Vec<(String, String)>,
    pub(crate) config: LiveConfig,
    /// The settings in force, as TOML.
    pub(crate) settings: String,
}

impl SettingsWorker {
    /// Lets a thread answer requests, until nobody is left who could ask.
    pub(crate) fn open(self, requests: Receiver<Request>) -> io::Result<Receiver<Order>> {
        // One order waits at most: the settings worker has its answer before it goes on.
        let (orders, heard) = sync_channel(1);
        privileges::spawn_without("settings", move || self.serve(&requests, &orders))?;
        Ok(heard)
    }

    fn serve(mut self, requests: &Receiver<Request>, orders: &SyncSender<Order>) {
        while let Ok(request) = requests.recv() {
            match request {
                // Whoever asked may have gone away.
                Request::Change(changes, answer) => drop(answer.send(self.change(&changes, orders))),
                Request::Reload(text, answer) => drop(answer.send(self.reload(text, orders))),
                Request::Settings(answer) => drop(answer.send(self.settings.clone())),
                // A switch that has stopped hears nothing more.
                Request::Stop => drop(orders.send(Order::Stop)),
            }
        }
    }

    fn change(&mut self, changes: &[(String, String)], orders: &SyncSender<Order>) -> Result<(), String> {
        let mut all = self.changes.clone();
        for (key, value) in changes {
            // A new policy does not keep the parameters that were changed for the one before.
            if let Some(table) = key.strip_suffix(".kind") {
                let table = format!("{table}.");
                all.retain(|(other, _)| !other.starts_with(&table));
            }
            all.retain(|(other, _)| other != key);
            all.push((key.clone(), value.clone()));
        }
        let text = self.text.clone();
        self.bring_into_force(text, all, orders)
    }

    /// The file as it is now, with the changes of the arguments.
    fn reload(&mut self, text: String, orders: &SyncSender<Order>) -> Result<(), String> {
        let arguments = self.arguments.clone();
        self.bring_into_force(text, arguments, orders)
    }

    /// All of it, or nothing.
    fn bring_into_force(
        &mut self,
        text: String,
        changes: Vec<(String, String)>,
        orders: &SyncSender<Order>,
    ) -> Result<(), String> {
        let (new, settings) = settings::read(&self.file, &text, &changes).map_err(|error| error.to_string())?;
        self.check_fixed(&new)?;
        let settled = Settled {
            tm: TmConfig::clone(&new.tm),
            classifier: new.classifier.clone(),
            treatment: new.treatment.clone(),
        };
        let (answer, heard) = channel();
        orders.send(Order::Swap(Box::new(settled), answer)).map_err(|_| GONE)?;
        // The switch makes it in its next turn, or has come to its end.
        drop(heard.recv().map_err(|_| GONE)??);
        (self.config, self.settings, self.changes, self.text) = (new, settings, changes, text);
        Ok(())
    }

    /// What cannot change while the switch runs.
    fn check_fixed(&self, new: &LiveConfig) -> Result<(), String> {
        let old = &self.config;
        let fixed = [
            ("interface", new.interfaces != old.interfaces),
            ("forwarding", new.forwarding != old.forwarding),
            ("live", new.run != old.run),
            ("http", new.http != old.http),
            ("queues", new.tm.queues != old.tm.queues),
            ("buffer", new.tm.buffer != old.tm.buffer),
            ("cell", new.tm.cell != old.tm.cell),
            ("cell_pointers", new.tm.cell_pointers != old.tm.cell_pointers),
        ];
        match fixed.into_iter().find(|(_, differs)| *differs) {
            None => Ok(()),
            Some((table, _)) => {
                let help = format!("change it in {}, and start the switch again", self.file);
                Err(Diagnostic::of_file(table, "it cannot change while the switch runs", help).to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    const FILE: &str = "buffer = \"64KB\"\nrate = \"100Mbps\"\n[policy]\nkind = \"dt\"\nalpha = 1.0\n\
                        [[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n";

    /// Refusals take nothing from the thread that handles frames: no order comes of them.
    #[test]
    fn what_is_refused_never_reaches_the_switch() {
        let (config, settings) = settings::read("live.toml", FILE, &[]).unwrap();
        let (file, text) = ("live.toml".to_owned(), FILE.to_owned());
        let book = SettingsWorker { file, text, arguments: Vec::new(), changes: Vec::new(), config, settings };
        let (ask, requests) = channel();
        let orders = book.open(requests).unwrap();
        let change = |changes: Vec<(String, String)>| {
            let (answer, heard) = channel();
            ask.send(Request::Change(changes, answer)).unwrap();
            heard
        };
        let wait = Duration::from_secs(10);
        let unknown: Vec<_> = (0..1_000).map(|key| (format!("key{key}"), "x".repeat(44))).collect();
        let start = Instant::now();
        for refused in [
            unknown.clone(),
            vec![("policy.alpha".to_owned(), "-1".to_owned())],
            vec![("buffer".to_owned(), "1MB".to_owned())],
            vec![("live.frames".to_owned(), "512".to_owned())],
            vec![(vec!["a"; 12_000].join("."), "1".to_owned())],
        ] {
            let error = change(refused).recv_timeout(wait).unwrap().unwrap_err();
            assert!(error.len() < 500, "{error}");
            assert!(orders.try_recv().is_err(), "{error}");
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        let heard = change(vec![("policy.alpha".to_owned(), "2".to_owned())]);
        let Order::Swap(settled, answer) = orders.recv_timeout(wait).unwrap() else { panic!("a swap") };
        assert!(heard.try_recv().is_err(), "not before the switch has it");
        answer.send(Ok((settled.classifier, settled.treatment))).unwrap();
        heard.recv_timeout(wait).unwrap().unwrap();
    }

    /// A file that is read again is in force whole, without what was changed meanwhile, or not at all.
    #[test]
    fn a_file_that_is_read_again_replaces_what_was_changed() {
        let (config, settings) = settings::read("live.toml", FILE, &[]).unwrap();
        let (file, text) = ("live.toml".to_owned(), FILE.to_owned());
        let arguments = vec![("rate".to_owned(), "50Mbps".to_owned())];
        let worker = SettingsWorker { file, text, arguments, changes: Vec::new(), config, settings };
        let (ask, requests) = channel();
        let orders = worker.open(requests).unwrap();
        let wait = Duration::from_secs(10);
        let obey = || {
            let Order::Swap(settled, answer) = orders.recv_timeout(wait).unwrap() else { panic!("a swap") };
            let tm = settled.tm.clone();
            answer.send(Ok((settled.classifier, settled.treatment))).unwrap();
            tm
        };
        let (answer, heard) = channel();
        ask.send(Request::Change(vec![("ecn".to_owned(), "{kind = \"step\", threshold = 1000}".to_owned())], answer))
            .unwrap();
        assert!(obey().mark.is_some());
        heard.recv_timeout(wait).unwrap().unwrap();
        let reload = |text: String| {
            let (answer, heard) = channel();
            ask.send(Request::Reload(text, answer)).unwrap();
            heard
        };
        let heard = reload(FILE.replace("alpha = 1.0", "alpha = 4.0"));
        let tm = obey();
        heard.recv_timeout(wait).unwrap().unwrap();
        assert!(tm.mark.is_none() && tm.rates[0].bps() == 50_000_000, "{tm:?}");
        for (wrong, why) in
            [("buffer = \"1MB\"", "cannot change while"), ("buffer = 0", "buffer"), ("bufer = 1", "bufer")]
        {
            let error = reload(FILE.replace("buffer = \"64KB\"", wrong)).recv_timeout(wait).unwrap().unwrap_err();
            assert!(error.contains(why) && orders.try_recv().is_err(), "{error}");
        }
        let (answer, heard) = channel();
        ask.send(Request::Settings(answer)).unwrap();
        let settings = heard.recv_timeout(wait).unwrap();
        assert!(settings.contains("alpha = 4.0") && !settings.contains("ecn"), "{settings}");
    }
}
