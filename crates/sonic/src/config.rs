//! What a CONFIG_DB says about buffers, queues, marking, pause and trimming.

use crate::SonicError;
use crate::chip::Chip;
use crate::db::{self, Db};
use crate::findings::Findings;
use crate::rules::{PoolBytes, ProfileBytes, Threshold};
use std::collections::BTreeMap;

/// The side of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ingress.
    Ingress,
    /// Egress.
    Egress,
    /// One pool for both sides.
    Both,
}

/// `BUFFER_POOL`.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Its side.
    pub direction: Direction,
    /// Its size and xoff.
    pub bytes: PoolBytes,
    /// Whether it says its size; with the dynamic buffer model the switch works it out.
    pub has_size: bool,
}

/// `BUFFER_PROFILE`.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: usize,
    /// Its sizes.
    pub bytes: ProfileBytes,
    /// Whether packets that do not fit are trimmed.
    pub trims: bool,
}

/// `PORT`, with the cable and the maps of the port.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Mb/s.
    pub speed: u64,
    /// Bytes.
    pub mtu: u64,
    /// Whether `admin_status` is up.
    pub is_up: bool,
    /// Metres; without this, unknown.
    pub cable: Option<u64>,
    /// `pfc_enable`.
    pub pfc: Vec<u8>,
    /// `pfcwd_sw_enable`, if it is said.
    pub watchdog: Option<Vec<u8>>,
    /// Maps by the name of their field: `dscp_to_tc_map` and so on.
    pub maps: BTreeMap<String, String>,
    /// Profiles that limit the port in ingress pools.
    pub ingress: Vec<usize>,
}

/// Thresholds of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Bytes where marking or dropping starts.
    pub min: u64,
    /// Bytes where its probability is reached.
    pub max: u64,
    /// Percent.
    pub probability: u64,
}

/// `WRED_PROFILE`.
#[derive(Clone, Debug)]
pub struct Wred {
    /// Its name.
    pub name: String,
    /// `ecn`: `ecn_none`, `ecn_green` and so on; `None` if it is not said.
    pub ecn: Option<String>,
    /// Green, yellow, red: `wred_*_enable`, if it is said.
    pub enabled: [Option<bool>; 3],
    /// Green, yellow, red: the thresholds, where they are complete.
    pub colours: [Option<Colour>; 3],
}

/// `SWITCH_TRIMMING|GLOBAL`, as it is written.
#[derive(Clone, Debug, Default)]
pub struct Trimming {
    /// Bytes that are kept.
    pub size: Option<u64>,
    /// A number, or `from-tc`.
    pub dscp: Option<String>,
    /// With `from-tc`.
    pub tc: Option<u64>,
    /// A number, or `dynamic`.
    pub queue: Option<String>,
}

/// `SCHEDULER`: what matters here.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Its name.
    pub name: String,
    /// `type`.
    pub kind: Option<String>,
    /// `weight`.
    pub weight: Option<u64>,
    /// `pir`.
    pub pir: Option<u64>,
    /// `cir`.
    pub cir: Option<u64>,
}

/// What `PFC_WD` does to packets of a class in a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WatchdogAction {
    /// They are dropped.
    Drop,
    /// They are sent.
    Forward,
    /// The storm is only told.
    Alert,
}

/// `PFC_WD` of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watchdog {
    /// `detection_time`, in milliseconds.
    pub detection: u64,
    /// `restoration_time`, in milliseconds; if it is not said, that of detection.
    pub restoration: u64,
    /// `action`; if it is not said, drop.
    pub action: WatchdogAction,
}

/// A configuration, as far as it could be read.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// `DEVICE_METADATA|localhost.hwsku`.
    pub hwsku: String,
    /// `DEVICE_METADATA|localhost.platform`.
    pub platform: String,
    /// Whether the switch works out buffers itself (`buffer_model` is `dynamic`).
    pub is_dynamic: bool,
    /// Pools.
    pub pools: Vec<Pool>,
    /// Profiles.
    pub profiles: Vec<Profile>,
    /// Ports, in the order of the file.
    pub ports: Vec<Port>,
    /// The profile of each PG of each port.
    pub groups: BTreeMap<(usize, u8), usize>,
    /// The profile of each queue of each port.
    pub queues: BTreeMap<(usize, u8), usize>,
    /// The WRED profile of each queue of each port.
    pub marking: BTreeMap<(usize, u8), usize>,
    /// The scheduler of each queue of each port.
    pub scheduling: BTreeMap<(usize, u8), usize>,
    /// WRED profiles.
    pub wred: Vec<Wred>,
    /// Schedulers.
    pub schedulers: Vec<Scheduler>,
    /// Maps: by table and name.
    pub maps: BTreeMap<(String, String), BTreeMap<u64, u64>>,
    /// Trimming, if it is set up.
    pub trimming: Option<Trimming>,
    /// Rules of `ACL_RULE` whose packets are not trimmed.
    pub trim_exemptions: usize,
    /// The PFC watchdog of each port that has one.
    pub watchdogs: BTreeMap<usize, Watchdog>,
    /// PGs that were made from speed, cable and `pfc_enable`, as buffermgrd does.
    pub made_groups: usize,
    /// What is wrong with it by itself.
    pub findings: Findings,
}

impl Config {
    /// Reads a file. What is wrong within it is among the findings.
    ///
    /// # Errors
    /// If it is not a CONFIG_DB at all.
    pub fn parse(file: &str, text: &str) -> Result<Self, SonicError> {
        Self::from_db(file, &db::parse(file, text)?)
    }

    fn from_db(file: &str, db: &Db) -> Result<Self, SonicError> {
        if db.get("BUFFER_POOL").is_none() && db.get("BUFFER_PROFILE").is_none() && db.get("PORT").is_none() {
            let problem = "it has none of the tables PORT, BUFFER_POOL and BUFFER_PROFILE";
            return Err(SonicError::new(
                file,
                problem,
                "give a CONFIG_DB, as `sonic-cfggen -d --print-data` writes it",
            ));
        }
        Ok(crate::read::read(db))
    }

    /// The chip family: the one that is asked for, else the device's.
    ///
    /// # Errors
    /// If there is no such family, or the device is not known.
    pub fn chip(&self, asked: Option<&str>) -> Result<&'static Chip, SonicError> {
        if let Some(name) = asked {
            return Chip::by_name(name);
        }
        Chip::of_device(&self.hwsku, &self.platform).ok_or_else(|| {
            let place = format!("DEVICE_METADATA|localhost: hwsku \"{}\", platform \"{}\"", self.hwsku, self.platform);
            SonicError::new(place, "the chip of this device is not known", "name the family: --chip td3")
        })
    }

    /// The sum of xoff of the lossless PGs of a port.
    pub fn lossless_xoff(&self, port: usize) -> u64 {
        let groups = self.groups.range((port, 0)..=(port, u8::MAX));
        groups.filter_map(|(_, profile)| self.profiles[*profile].bytes.xoff).fold(0, u64::saturating_add)
    }

    /// Whether a queue of a port carries a class that is paused rather than dropped.
    pub fn is_lossless_queue(&self, port: usize, queue: u8) -> bool {
        let port = &self.ports[port];
        port.pfc.iter().any(|priority| self.queue_of_priority(port, *priority) == u64::from(queue))
    }

    /// The queue that a priority is paused at: by its map, else that of the same number.
    pub fn queue_of_priority(&self, port: &Port, priority: u8) -> u64 {
        let map = port.maps.get("pfc_to_queue_map");
        let map = map.and_then(|name| self.maps.get(&("MAP_PFC_PRIORITY_TO_QUEUE".to_owned(), name.clone())));
        map.and_then(|map| map.get(&u64::from(priority))).copied().unwrap_or(u64::from(priority))
    }

    /// Profiles that are used as lossless PGs: the profile, with the ports and PGs that have it.
    pub fn users(of: &BTreeMap<(usize, u8), usize>) -> BTreeMap<usize, Vec<(usize, u8)>> {
        let mut users: BTreeMap<usize, Vec<(usize, u8)>> = BTreeMap::new();
        for (&place, &profile) in of {
            users.entry(profile).or_default().push(place);
        }
        users
    }
}

/// A threshold as it is written.
pub fn threshold_text(threshold: Threshold) -> String {
    match threshold {
        Threshold::Dynamic(th) => format!("dynamic_th {th}"),
        Threshold::Static(bytes) => format!("static_th {bytes}"),
    }
}
