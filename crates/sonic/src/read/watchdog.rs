//! `PFC_WD`.

use super::Reader;
use crate::config::{Watchdog, WatchdogAction};
use crate::db::Entry;
use std::collections::HashMap;

const ACTIONS: [(&str, WatchdogAction); 3] =
    [("drop", WatchdogAction::Drop), ("forward", WatchdogAction::Forward), ("alert", WatchdogAction::Alert)];

impl Reader<'_> {
    pub(super) fn watchdogs(&mut self) {
        let ports: HashMap<String, usize> =
            self.config.ports.iter().enumerate().map(|(place, port)| (port.name.clone(), place)).collect();
        for (names, entry) in self.table("PFC_WD").iter().filter(|(names, _)| !names.eq_ignore_ascii_case("global")) {
            let place = format!("PFC_WD|{names}");
            let Some(watchdog) = self.watchdog(&place, entry) else { continue };
            for name in names.split(',') {
                match ports.get(name) {
                    Some(&port) => drop(self.config.watchdogs.insert(port, watchdog)),
                    None => self.unknown_port(place.clone(), name),
                }
            }
        }
    }

    fn watchdog(&mut self, place: &str, entry: &Entry) -> Option<Watchdog> {
        if entry.get("detection_time").is_none() {
            self.invalid(place, "the watchdog has no detection_time", "give milliseconds, such as 200");
            return None;
        }
        let detection = self.number(place, entry, "detection_time")?;
        let restoration = match entry.get("restoration_time") {
            Some(_) => self.number(place, entry, "restoration_time")?,
            None => detection,
        };
        let action = entry.get("action").map_or("drop", |text| text.0.trim());
        let Some((_, action)) = ACTIONS.into_iter().find(|(word, _)| *word == action) else {
            let why = format!("\"{action}\" is not an action of the watchdog");
            self.invalid(format!("{place}.action"), why, "give drop, forward or alert");
            return None;
        };
        if detection == 0 || detection > 60_000 || restoration > 60_000 {
            let why = format!("{detection} and {restoration} ms are not times of a watchdog");
            self.invalid(place, why, "give 100 to 5000 milliseconds");
            return None;
        }
        Some(Watchdog { detection, restoration, action })
    }
}
