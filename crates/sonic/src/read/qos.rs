//! Schedulers, WRED, maps and trimming.

use super::{LAST_QUEUE, Reader};
use crate::config::{Colour, Scheduler, Trimming, Wred};
use crate::db::Entry;
use crate::findings::Severity::Error;
use crate::keys::PortNames;
use std::collections::{BTreeMap, HashMap};

/// Maps: the table, the field of PORT_QOS_MAP that names one, and the largest value.
const MAPS: [(&str, &str, u64); 6] = [
    ("DSCP_TO_TC_MAP", "dscp_to_tc_map", 15),
    ("TC_TO_QUEUE_MAP", "tc_to_queue_map", 15),
    ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", 7),
    ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", 15),
    ("TC_TO_DSCP_MAP", "tc_to_dscp_map", 63),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", 7),
];

const COLOURS: [&str; 3] = ["green", "yellow", "red"];
const ECN: [&str; 8] = [
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
];

impl Reader<'_> {
    pub(super) fn schedulers(&mut self) {
        for (name, entry) in self.table("SCHEDULER") {
            let place = format!("SCHEDULER|{name}");
            let kind = entry.get("type").map(|text| text.0.clone());
            if let Some(kind) = kind.as_deref().filter(|kind| !["DWRR", "WRR", "STRICT"].contains(kind)) {
                self.invalid(
                    format!("{place}.type"),
                    format!("\"{kind}\" is not a scheduler"),
                    "write DWRR, WRR or STRICT",
                );
            }
            let weight = self.number(&place, entry, "weight");
            if weight.is_some_and(|weight| !(1..=100).contains(&weight)) {
                self.invalid(format!("{place}.weight"), "the weight is not from 1 to 100", "give 1 to 100");
            }
            let (pir, cir) = (self.number(&place, entry, "pir"), self.number(&place, entry, "cir"));
            self.config.schedulers.push(Scheduler { name: name.clone(), kind, weight, pir, cir });
        }
    }

    pub(super) fn wred(&mut self) {
        for (name, entry) in self.table("WRED_PROFILE") {
            let place = format!("WRED_PROFILE|{name}");
            let ecn = entry.get("ecn").map(|text| text.0.clone());
            if let Some(ecn) = ecn.as_deref().filter(|ecn| !ECN.contains(ecn)) {
                self.invalid(
                    format!("{place}.ecn"),
                    format!("\"{ecn}\" is not a mode of ECN"),
                    format!("write one of {}", ECN.join(", ")),
                );
            }
            let enabled = COLOURS.map(|colour| self.truth(&place, entry, &format!("wred_{colour}_enable")));
            let colours = COLOURS.map(|colour| self.colour(&place, entry, colour));
            self.config.wred.push(Wred { name: name.clone(), ecn, enabled, colours });
        }
    }

    fn truth(&mut self, place: &str, entry: &Entry, field: &str) -> Option<bool> {
        let text = &entry.get(field)?.0;
        match text.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.invalid(
                    format!("{place}.{field}"),
                    format!("\"{text}\" is neither true nor false"),
                    "write true or false",
                );
                None
            }
        }
    }

    fn colour(&mut self, place: &str, entry: &Entry, colour: &str) -> Option<Colour> {
        let mut number = |field: &str| self.number(place, entry, &format!("{colour}_{field}"));
        let (min, max) = (number("min_threshold"), number("max_threshold"));
        let probability = number("drop_probability");
        if probability.is_some_and(|probability| probability > 100) {
            self.invalid(format!("{place}.{colour}_drop_probability"), "the probability is above 100", "give percent");
        }
        Some(Colour { min: min?, max: max?, probability: probability.unwrap_or(100).min(100) })
    }

    pub(super) fn maps(&mut self) {
        for (table, _, last) in MAPS {
            for (name, entry) in self.table(table) {
                let mut map = BTreeMap::new();
                for (from, to) in &entry.0 {
                    let read = (from.trim().parse::<u64>(), to.0.trim().parse::<u64>());
                    match read {
                        (Ok(from), Ok(to)) if from <= 63 && to <= last => drop(map.insert(from, to)),
                        _ => {
                            let why = format!("\"{from}\" to \"{}\" is not in the range of this map", to.0);
                            self.invalid(
                                format!("{table}|{name}.{from}"),
                                why,
                                format!("give whole numbers, values up to {last}"),
                            );
                        }
                    }
                }
                self.config.maps.insert((table.to_owned(), name.clone()), map);
            }
        }
    }

    pub(super) fn port_maps(&mut self) {
        let ports: HashMap<String, usize> =
            self.config.ports.iter().enumerate().map(|(place, port)| (port.name.clone(), place)).collect();
        // What is said of the whole switch is for ports that say nothing.
        let mut of_switch = BTreeMap::new();
        for (names, entry) in self.table("PORT_QOS_MAP") {
            let place = format!("PORT_QOS_MAP|{names}");
            let pfc = self.port_priorities(&place, entry, "pfc_enable").unwrap_or_default();
            let watchdog = self.port_priorities(&place, entry, "pfcwd_sw_enable");
            let maps = self.port_map_names(&place, entry);
            if names == "global" {
                of_switch = maps;
                continue;
            }
            for name in names.split(',') {
                let Some(&port) = ports.get(name) else {
                    self.unknown_port(place.clone(), name);
                    continue;
                };
                let port = &mut self.config.ports[port];
                port.pfc.clone_from(&pfc);
                port.watchdog.clone_from(&watchdog);
                port.maps.clone_from(&maps);
            }
        }
        for (field, name) in &of_switch {
            for port in &mut self.config.ports {
                port.maps.entry(field.clone()).or_insert_with(|| name.clone());
            }
        }
    }

    fn port_map_names(&mut self, place: &str, entry: &Entry) -> BTreeMap<String, String> {
        let mut maps = BTreeMap::new();
        for (table, field, _) in MAPS {
            let known: HashMap<String, usize> =
                self.config.maps.keys().filter(|(kind, _)| kind == table).map(|(_, name)| (name.clone(), 0)).collect();
            if self.named(place, entry, field, table, &known).is_empty() {
                continue;
            }
            let text = entry.get(field).map_or("", |text| text.0.as_str());
            let (names, _) = crate::keys::references(text);
            maps.insert(field.to_owned(), names.first().map_or(String::new(), |name| (*name).to_owned()));
        }
        maps
    }

    pub(super) fn queue_settings(&mut self, names: &PortNames<'_>) {
        let wred = self.config.wred.iter().enumerate().map(|(place, wred)| (wred.name.clone(), place)).collect();
        let schedulers: HashMap<String, usize> =
            self.config.schedulers.iter().enumerate().map(|(place, of)| (of.name.clone(), place)).collect();
        for (key, entry) in self.table("QUEUE") {
            let place = format!("QUEUE|{key}");
            let Some((ports, numbers)) = self.places(&place, key, LAST_QUEUE, names) else { continue };
            let marking = self.named(&place, entry, "wred_profile", "WRED_PROFILE", &wred).first().copied();
            let scheduler = self.named(&place, entry, "scheduler", "SCHEDULER", &schedulers).first().copied();
            for at in ports.iter().flat_map(|port| numbers.iter().map(move |number| (*port, *number))) {
                self.config.marking.extend(marking.map(|marking| (at, marking)));
                self.config.scheduling.extend(scheduler.map(|scheduler| (at, scheduler)));
            }
        }
    }

    pub(super) fn trimming(&mut self) {
        let exempts =
            |entry: &Entry| entry.get("PACKET_ACTION").is_some_and(|action| action.0.trim() == "DISABLE_TRIM");
        self.config.trim_exemptions = self.table("ACL_RULE").iter().filter(|(_, entry)| exempts(entry)).count();
        let table = self.table("SWITCH_TRIMMING");
        let Some((_, entry)) = table.iter().find(|(key, _)| key == "GLOBAL") else {
            if let Some((key, _)) = table.first() {
                let why = "SWITCH_TRIMMING has one entry, GLOBAL";
                let cure = "name it GLOBAL";
                self.config.findings.add(
                    ("key-invalid", Error),
                    format!("SWITCH_TRIMMING|{key}"),
                    why,
                    "nothing is trimmed",
                    cure,
                );
            }
            return;
        };
        let place = "SWITCH_TRIMMING|GLOBAL";
        let text = |field: &str| entry.get(field).map(|text| text.0.trim().to_owned());
        let (dscp, queue) = (text("dscp_value"), text("queue_index"));
        if let Some(value) = dscp.as_deref().filter(|value| *value != "from-tc") {
            if value.parse::<u64>().map_or(true, |value| value > 63) {
                self.invalid(
                    format!("{place}.dscp_value"),
                    format!("\"{value}\" is not a DSCP"),
                    "give 0 to 63, or from-tc",
                );
            }
        }
        if let Some(value) = queue.as_deref().filter(|value| *value != "dynamic") {
            if value.parse::<u8>().is_err() {
                self.invalid(
                    format!("{place}.queue_index"),
                    format!("\"{value}\" is not a queue"),
                    "give a number, or dynamic",
                );
            }
        }
        let (size, tc) = (self.number(place, entry, "size"), self.number(place, entry, "tc_value"));
        self.config.trimming = Some(Trimming { size, dscp, tc, queue });
    }
}
