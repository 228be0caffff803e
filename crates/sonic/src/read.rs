//! From tables to a [`Config`]. What cannot be read is left out and among the findings.

use crate::config::{Config, Direction, Pool, Port, Profile};
use crate::db::{Db, Entry, Table};
use crate::findings::Severity::{Error, Note, Warning};
use crate::keys::{PortNames, priorities, references};
use crate::rules::{PoolBytes, ProfileBytes, Threshold};
use std::collections::{BTreeMap, HashMap};

mod qos;
mod watchdog;

/// Priority groups of a port: 0 to 7. Queues: 0 to 15.
const LAST_GROUP: u8 = 7;
const LAST_QUEUE: u8 = 15;
/// MTUs of ports.
const MTU: std::ops::RangeInclusive<u64> = 68..=9216;

const NOT_APPLIED: &str = "the switch refuses this entry, or its default stays in force";

pub(crate) fn read(db: &Db) -> Config {
    let mut reader = Reader { db, config: Config::default() };
    reader.metadata();
    reader.ports();
    reader.cables();
    reader.pools();
    reader.profiles();
    reader.schedulers();
    reader.wred();
    reader.maps();
    reader.port_maps();
    reader.port_profiles();
    let names =
        PortNames::new(db.get("PORT").into_iter().flat_map(|table| table.0.iter().map(|(name, _)| name.as_str())));
    reader.config.groups = reader.bound("BUFFER_PG", LAST_GROUP, &names);
    reader.config.queues = reader.bound("BUFFER_QUEUE", LAST_QUEUE, &names);
    reader.queue_settings(&names);
    reader.trimming();
    reader.watchdogs();
    reader.make_groups();
    reader.config
}

pub(crate) struct Reader<'a> {
    db: &'a Db,
    config: Config,
}

impl<'a> Reader<'a> {
    fn table(&self, name: &str) -> &'a [(String, Entry)] {
        self.db.get(name).map_or(&[], |table: &'a Table| &table.0)
    }

    fn invalid(&mut self, key: impl Into<String>, why: impl Into<String>, cure: impl Into<String>) {
        self.config.findings.add(("value-invalid", Error), key, why, NOT_APPLIED, cure);
    }

    /// A number. Blanks around it are noted.
    fn number(&mut self, place: &str, entry: &Entry, field: &str) -> Option<u64> {
        let text = &entry.get(field)?.0;
        let key = format!("{place}.{field}");
        if text.trim() != text {
            let why = format!("\"{text}\" has blanks around the number");
            self.config.findings.add(
                ("number-blanks", Note),
                &key,
                why,
                "some versions refuse it",
                "remove the blanks",
            );
        }
        match text.trim().parse::<u64>() {
            Ok(number) => Some(number),
            Err(_) => {
                self.invalid(key, format!("\"{text}\" is not a whole number of 0 or more"), "give a whole number");
                None
            }
        }
    }

    /// The places of named things that a field names. `kind` is the table that has them.
    fn named(
        &mut self,
        place: &str,
        entry: &Entry,
        field: &str,
        kind: &str,
        known: &HashMap<String, usize>,
    ) -> Vec<usize> {
        let Some(text) = entry.get(field) else { return vec![] };
        let key = format!("{place}.{field}");
        let (names, is_old) = references(&text.0);
        if is_old {
            let why = "the reference has the old form [TABLE|name]";
            let cure = "write the name alone";
            self.config.findings.add(
                ("old-reference", Note),
                &key,
                why,
                "versions since 2021 want the name alone",
                cure,
            );
        }
        let mut found = vec![];
        for name in names {
            match known.get(name) {
                Some(place) => found.push(*place),
                None => {
                    let why = format!("{kind} has no usable \"{name}\"");
                    let effect =
                        "orchagent waits for it for ever: the entry is not applied, and its default stays in force";
                    let cure = format!("add {kind}|{name}, or name another");
                    self.config.findings.add(("reference-missing", Error), &key, why, effect, cure);
                }
            }
        }
        found
    }

    fn missing_table(&mut self, name: &str, effect: &str) {
        if self.db.get(name).is_none_or(|table| table.0.is_empty()) {
            let why = format!("there is no table {name}, or it is empty");
            self.config.findings.add(("table-missing", Error), name, why, effect, format!("add {name}"));
        }
    }

    fn metadata(&mut self) {
        let entry = self.db.get("DEVICE_METADATA").and_then(|table| table.get("localhost"));
        let field = |name: &str| entry.and_then(|entry| entry.get(name)).map_or(String::new(), |text| text.0.clone());
        self.config.hwsku = field("hwsku");
        self.config.platform = field("platform");
        let model = field("buffer_model");
        if !["", "traditional", "dynamic"].contains(&model.as_str()) {
            let (key, why) = ("DEVICE_METADATA|localhost.buffer_model", format!("\"{model}\" is not a buffer model"));
            let cure = "write traditional or dynamic";
            self.config.findings.add(("value-invalid", Warning), key, why, "it counts as traditional", cure);
        }
        self.config.is_dynamic = model == "dynamic";
    }

    fn ports(&mut self) {
        self.missing_table("PORT", "no port can be set up");
        for (name, entry) in self.table("PORT") {
            let place = format!("PORT|{name}");
            if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_./".contains(c)) {
                let cure = "name it as Ethernet0";
                let why = format!("\"{}\" is not the name of a port", name.escape_debug());
                self.config.findings.add(("key-invalid", Error), &place, why, NOT_APPLIED, cure);
            }
            let speed = self.number(&place, entry, "speed");
            if entry.get("speed").is_none() || speed == Some(0) {
                self.invalid(&place, "the port has no speed", "give the speed in Mb/s, such as 100000");
            }
            let status = entry.get("admin_status").map_or("", |text| text.0.as_str());
            if !["", "up", "down"].contains(&status) {
                self.invalid(
                    format!("{place}.admin_status"),
                    format!("\"{status}\" is not a status"),
                    "write up or down",
                );
            }
            let mtu = self.number(&place, entry, "mtu").unwrap_or(9100);
            if !MTU.contains(&mtu) {
                let why = format!("an MTU of {mtu} is not one that ports can have");
                let cure = format!("give {} to {}", MTU.start(), MTU.end());
                self.config.findings.add(("value-invalid", Warning), format!("{place}.mtu"), why, NOT_APPLIED, cure);
            }
            let (speed, is_up) = (speed.unwrap_or(0), status == "up");
            self.config.ports.push(Port { name: name.clone(), speed, mtu, is_up, ..Port::default() });
        }
    }

    fn cables(&mut self) {
        let places: HashMap<&str, usize> =
            self.table("PORT").iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
        for (list, entry) in self.table("CABLE_LENGTH") {
            for (port, length) in &entry.0 {
                let key = format!("CABLE_LENGTH|{list}.{port}");
                let metres = length.0.strip_suffix('m').and_then(|metres| metres.parse::<u64>().ok());
                let Some(metres) = metres else {
                    self.invalid(key, format!("\"{}\" is not a length", length.0), "write metres, such as 40m");
                    continue;
                };
                match places.get(port.as_str()) {
                    Some(place) => self.config.ports[*place].cable = Some(metres),
                    None => self.unknown_port(key, port),
                }
            }
        }
    }

    fn unknown_port(&mut self, key: String, port: &str) {
        let why = format!("PORT has no {port}");
        let effect = "the entry does nothing";
        self.config.findings.add(
            ("reference-missing", Error),
            key,
            why,
            effect,
            "name a port of PORT, or remove the entry",
        );
    }

    fn pools(&mut self) {
        self.missing_table("BUFFER_POOL", "no buffer is set up: the chip's defaults are in force");
        for (name, entry) in self.table("BUFFER_POOL") {
            let place = format!("BUFFER_POOL|{name}");
            let direction = match entry.get("type").map(|text| text.0.as_str()) {
                Some("ingress") => Direction::Ingress,
                Some("egress") => Direction::Egress,
                Some("both") => Direction::Both,
                other => {
                    let why = format!("\"{}\" is not a type of pool", other.unwrap_or(""));
                    self.invalid(format!("{place}.type"), why, "write ingress, egress or both");
                    continue;
                }
            };
            let mode = entry.get("mode").map_or("", |text| text.0.as_str());
            if !["static", "dynamic"].contains(&mode) {
                self.invalid(format!("{place}.mode"), format!("\"{mode}\" is not a mode"), "write dynamic or static");
            }
            let size = self.number(&place, entry, "size");
            let has_size = entry.get("size").is_some();
            if !has_size && !self.config.is_dynamic {
                let cure = "give the size in bytes, or set buffer_model to dynamic";
                self.invalid(&place, "the pool has no size, and the buffer model is not dynamic", cure);
            }
            if size == Some(0) {
                self.invalid(format!("{place}.size"), "the pool is empty", "give the size in bytes");
            }
            let xoff = self.number(&place, entry, "xoff").unwrap_or(0);
            let bytes = PoolBytes { size: size.unwrap_or(0), xoff };
            self.config.pools.push(Pool {
                name: name.clone(),
                direction,
                bytes,
                has_size: size.is_some_and(|size| size > 0),
            });
        }
    }

    fn profiles(&mut self) {
        self.missing_table("BUFFER_PROFILE", "no PG and no queue has a profile");
        let pools = self.config.pools.iter().enumerate().map(|(place, pool)| (pool.name.clone(), place)).collect();
        for (name, entry) in self.table("BUFFER_PROFILE") {
            let place = format!("BUFFER_PROFILE|{name}");
            let Some(&pool) = self.named(&place, entry, "pool", "BUFFER_POOL", &pools).first() else {
                if entry.get("pool").is_none() {
                    self.invalid(&place, "the profile names no pool", "give pool");
                }
                continue;
            };
            let Some(threshold) = self.threshold(&place, entry) else { continue };
            let size = self.number(&place, entry, "size");
            if entry.get("size").is_none() && !self.config.is_dynamic {
                self.invalid(&place, "the profile has no size", "give size; 0 reserves nothing");
            }
            let bytes = ProfileBytes {
                size: size.unwrap_or(0),
                threshold,
                xon: self.number(&place, entry, "xon").unwrap_or(0),
                xoff: self.number(&place, entry, "xoff"),
                xon_offset: self.number(&place, entry, "xon_offset").unwrap_or(0),
            };
            let action = entry.get("packet_discard_action").map_or("drop", |text| text.0.as_str());
            if !["drop", "trim"].contains(&action) {
                let key = format!("{place}.packet_discard_action");
                self.invalid(key, format!("\"{action}\" is not an action"), "write drop or trim");
            }
            self.config.profiles.push(Profile { name: name.clone(), pool, bytes, trims: action == "trim" });
        }
    }

    fn threshold(&mut self, place: &str, entry: &Entry) -> Option<Threshold> {
        match (entry.get("dynamic_th"), entry.get("static_th")) {
            (Some(_), Some(_)) => {
                self.invalid(place, "it has dynamic_th and static_th", "give one of them");
                None
            }
            (None, None) => {
                self.invalid(
                    place,
                    "it has neither dynamic_th nor static_th",
                    "give one of them, such as dynamic_th 0",
                );
                None
            }
            (None, Some(_)) => self.number(place, entry, "static_th").map(Threshold::Static),
            (Some(text), None) => {
                let th = text.0.trim().parse().ok().filter(|th| (-8..=7).contains(th));
                if th.is_none() {
                    let why = format!("\"{}\" is not the exponent of an alpha", text.0);
                    let cure = "give a whole number from -8 to 7; a size in bytes belongs to static_th";
                    self.invalid(format!("{place}.dynamic_th"), why, cure);
                }
                th.map(Threshold::Dynamic)
            }
        }
    }

    fn known_profiles(&self) -> HashMap<String, usize> {
        self.config.profiles.iter().enumerate().map(|(place, profile)| (profile.name.clone(), place)).collect()
    }

    /// The profile of each PG or queue.
    fn bound(&mut self, table: &'static str, last: u8, names: &PortNames<'_>) -> BTreeMap<(usize, u8), usize> {
        let known = self.known_profiles();
        let mut bound: BTreeMap<(usize, u8), usize> = BTreeMap::new();
        for (key, entry) in self.table(table) {
            let place = format!("{table}|{key}");
            let Some((ports, numbers)) = self.places(&place, key, last, names) else { continue };
            // In a dynamic model, "NULL" lets the switch find the profile.
            if entry.get("profile").is_some_and(|text| text.0 == "NULL") {
                continue;
            }
            let Some(&profile) = self.named(&place, entry, "profile", "BUFFER_PROFILE", &known).first() else {
                if entry.get("profile").is_none_or(|text| text.0.trim().is_empty()) {
                    self.invalid(&place, "it names no profile", "give profile");
                }
                continue;
            };
            self.check_side(table, &place, profile);
            for (port, number) in ports.iter().flat_map(|port| numbers.iter().map(move |number| (*port, *number))) {
                if bound.insert((port, number), profile).is_some_and(|before| before != profile) {
                    let name = &self.config.ports[port].name;
                    let why = format!("{name}|{number} has two different profiles in {table}");
                    let effect = "which of them is in force depends on the order in which they are applied";
                    self.config.findings.add(
                        ("defined-twice", Error),
                        &place,
                        why,
                        effect,
                        "let the ranges not overlap",
                    );
                }
            }
        }
        bound
    }

    fn check_side(&mut self, table: &str, place: &str, profile: usize) {
        let profile = &self.config.profiles[profile];
        let pool = &self.config.pools[profile.pool];
        if table == "BUFFER_PG" && pool.direction == Direction::Egress {
            let why = format!("profile {} of a PG is in the egress pool {}", profile.name, pool.name);
            let cure = "name a profile of an ingress pool";
            self.config.findings.add(("wrong-side", Error), place, why, NOT_APPLIED, cure);
        }
    }

    fn places(&mut self, place: &str, key: &str, last: u8, names: &PortNames<'_>) -> Option<(Vec<usize>, Vec<u8>)> {
        let places = match names.read(key, last) {
            Ok(places) => places,
            Err(problem) => {
                let cure = format!("write a port and a number or a range from 0 to {last}: Ethernet0|3-4");
                self.config.findings.add(("key-invalid", Error), place, problem, NOT_APPLIED, cure);
                return None;
            }
        };
        if places.is_list {
            let why = "the key has a list of numbers; orchagent reads one number or one range";
            let cure = "write an entry for each range";
            self.config.findings.add(("key-list", Warning), place, why, NOT_APPLIED, cure);
        }
        if places.is_voq && !places.unknown.is_empty() {
            let why = "keys of other line cards are not looked at";
            self.config.findings.add(
                ("other-line-card", Note),
                place,
                why,
                "none here",
                "look at the file of that line card",
            );
        } else {
            places.unknown.iter().for_each(|port| self.unknown_port(place.to_owned(), port));
        }
        Some((places.ports, places.numbers))
    }

    fn port_profiles(&mut self) {
        let known = self.known_profiles();
        for table in ["BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"] {
            let ports: HashMap<String, usize> =
                self.config.ports.iter().enumerate().map(|(place, port)| (port.name.clone(), place)).collect();
            for (names, entry) in self.table(table) {
                let place = format!("{table}|{names}");
                let profiles = self.named(&place, entry, "profile_list", "BUFFER_PROFILE", &known);
                for name in names.split(',') {
                    match ports.get(name) {
                        Some(port) if table == "BUFFER_PORT_INGRESS_PROFILE_LIST" => {
                            self.config.ports[*port].ingress.clone_from(&profiles);
                        }
                        Some(_) => {}
                        None => self.unknown_port(place.clone(), name),
                    }
                }
            }
        }
    }

    /// PGs of priorities that are paused, which have no entry: buffermgrd makes them from speed and cable.
    fn make_groups(&mut self) {
        let known = self.known_profiles();
        let is_expanded =
            self.config.groups.values().any(|profile| self.config.profiles[*profile].bytes.xoff.is_some());
        for port in 0..self.config.ports.len() {
            for priority in self.config.ports[port].pfc.clone() {
                let here = &self.config.ports[port];
                if self.config.groups.contains_key(&(port, priority)) || !here.is_up {
                    continue;
                }
                let key = format!("BUFFER_PG|{}|{priority}", here.name);
                let Some(cable) = here.cable.filter(|cable| *cable > 0) else {
                    let why =
                        "pfc_enable names the priority, but the cable has no length: buffermgrd makes no lossless PG";
                    let effect = "the class is lossy at ingress although its peer expects pause";
                    let cure = "give the length in CABLE_LENGTH, or remove the priority from pfc_enable";
                    self.config.findings.add(("lossless-profile-missing", Warning), key, why, effect, cure);
                    continue;
                };
                let name = format!("pg_lossless_{}_{cable}m_profile", here.speed);
                if let Some(profile) = known.get(&name) {
                    self.config.groups.insert((port, priority), *profile);
                    self.config.made_groups += 1;
                    continue;
                }
                let severity = if is_expanded { Warning } else { Note };
                let why = format!("pfc_enable names the priority, but there is no {name}");
                let effect = "without a row for them in pg_profile_lookup.ini the class is lossy, and nothing says so";
                let cure = format!(
                    "add a row for {} Mb/s and {cable}m to pg_profile_lookup.ini, or correct CABLE_LENGTH",
                    here.speed
                );
                self.config.findings.add(("lossless-profile-missing", severity), key, why, effect, cure);
            }
        }
    }

    fn port_priorities(&mut self, place: &str, entry: &Entry, field: &str) -> Option<Vec<u8>> {
        let text = entry.get(field)?;
        match priorities(&text.0) {
            Ok(list) => Some(list),
            Err(problem) => {
                self.invalid(format!("{place}.{field}"), problem, "write priorities with commas between them: 3,4");
                None
            }
        }
    }
}
