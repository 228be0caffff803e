//! Packet trimming: `SWITCH_TRIMMING` and profiles with `packet_discard_action` `trim`.

use super::Linter;
use crate::config::{Port, Profile, Trimming};
use crate::findings::Severity::{Error, Note, Warning};
use crate::rules::Threshold;

const GLOBAL: &str = "SWITCH_TRIMMING|GLOBAL";

/// A trim queue with less than 1/32 of what is free fills at once.
const SMALL_ALPHA: i64 = -5;

impl Linter<'_> {
    pub(super) fn trimming(&mut self) {
        self.trim_profiles();
        let trims: Vec<(usize, u8)> = self
            .config
            .queues
            .iter()
            .filter(|(_, profile)| self.config.profiles[**profile].trims)
            .map(|(at, _)| *at)
            .collect();
        let Some(trimming) = &self.config.trimming else { return };
        if trims.is_empty() {
            let why = "trimming is set up, but no queue has a profile with packet_discard_action trim";
            self.findings.add(
                ("trim-unused", Note),
                GLOBAL,
                why,
                "nothing is trimmed",
                "let profiles of lossy queues trim",
            );
        }
        for (field, is_missing) in [
            ("size", trimming.size.is_none()),
            ("dscp_value", trimming.dscp.is_none()),
            ("queue_index", trimming.queue.is_none()),
        ] {
            if is_missing {
                let why = format!("{field} is not said");
                self.findings.add(
                    ("trim-incomplete", Error),
                    GLOBAL,
                    why,
                    "orchagent does not set trimming up",
                    format!("give {field}"),
                );
            }
        }
        self.trim_size(trimming);
        self.trim_mark(trimming, &trims);
        self.trim_queue(trimming, &trims);
    }

    fn trim_profiles(&mut self) {
        for (&(port, number), &profile) in &self.config.groups {
            if self.config.profiles[profile].trims {
                let why = format!("{} trims, and is bound to a PG", self.config.profiles[profile].name);
                let key = format!("BUFFER_PG|{}|{number}", self.config.ports[port].name);
                self.findings.add(("trim-on-pg", Error), key, why, "orchagent refuses it", "trim at queues alone");
            }
        }
        for (&(port, number), &profile) in &self.config.queues {
            let profile = &self.config.profiles[profile];
            if !profile.trims {
                continue;
            }
            let key = format!("BUFFER_QUEUE|{}|{number}", self.config.ports[port].name);
            if self.config.is_lossless_queue(port, number) {
                let why = format!("{} trims, and the queue is lossless", profile.name);
                let effect = "trimming has no effect, or the class is no longer lossless";
                self.findings.add(("trim-on-lossless", Error), &key, why, effect, "trim at lossy queues alone");
            }
            if self.config.trimming.is_none() {
                let why = format!("{} trims, but there is no {GLOBAL}", profile.name);
                let effect = "packets that do not fit are dropped, not trimmed";
                self.findings.add(
                    ("trim-without-table", Error),
                    key,
                    why,
                    effect,
                    format!("add {GLOBAL} with size, dscp_value and queue_index"),
                );
            }
        }
    }

    fn trim_size(&mut self, trimming: &Trimming) {
        let Some(size) = trimming.size else { return };
        let key = format!("{GLOBAL}.size");
        let mtu = self.config.ports.iter().map(|port| port.mtu).min().unwrap_or(9100);
        if size >= mtu {
            let why = format!("packets are cut to {size} B, and the MTU is {mtu} B");
            self.findings.add(("trim-size", Warning), key, why, "no packet gets shorter", "give a size such as 256");
        } else if size < 64 {
            let why = format!("packets are cut to {size} B, less than the shortest frame");
            self.findings.add(("trim-size", Warning), key, why, "headers are cut off", "give a size such as 256");
        } else if size < 256 || size % 4 != 0 {
            let why = format!("some versions of orchagent refuse a size of {size}");
            self.findings.add(
                ("trim-size-portable", Note),
                key,
                why,
                "nothing is trimmed there",
                "give at least 256, and a multiple of 4",
            );
        }
    }

    /// How trimmed packets are told apart.
    fn trim_mark(&mut self, trimming: &Trimming, trims: &[(usize, u8)]) {
        if trimming.dscp.as_deref() != Some("from-tc") {
            return;
        }
        let Some(tc) = trimming.tc else {
            let why = "dscp_value is from-tc, but tc_value is not said";
            self.findings.add(
                ("trim-incomplete", Error),
                GLOBAL,
                why,
                "orchagent does not set trimming up",
                "give tc_value",
            );
            return;
        };
        for port in trims.iter().map(|(port, _)| &self.config.ports[*port]) {
            let map = port.maps.get("tc_to_dscp_map");
            let map = map.and_then(|name| self.config.maps.get(&("TC_TO_DSCP_MAP".to_owned(), name.clone())));
            if map.is_none_or(|map| !map.contains_key(&tc)) {
                let why = format!("dscp_value is from-tc, but the port has no tc_to_dscp_map with TC {tc}");
                let effect = "packets trimmed for this port keep a DSCP that says nothing";
                let key = format!("PORT_QOS_MAP|{}", port.name);
                let cure = format!("give the port a tc_to_dscp_map that has TC {tc}");
                self.findings.add(("trim-map-missing", Error), key, why, effect, cure);
            }
        }
    }

    fn trim_queue(&mut self, trimming: &Trimming, trims: &[(usize, u8)]) {
        let Some(queue) = trimming.queue.as_deref() else { return };
        for &(port, from) in trims {
            let here = &self.config.ports[port];
            let queue = match queue {
                "dynamic" => self.queue_of_dscp(here, trimming),
                number => number.parse::<u64>().ok(),
            };
            let Some(queue) = queue else { continue };
            let place = u8::try_from(queue).ok().map(|queue| (port, queue));
            let profile =
                place.and_then(|place| self.config.queues.get(&place)).map(|profile| &self.config.profiles[*profile]);
            let key = format!("{GLOBAL}.queue_index");
            match profile {
                None => {
                    let why = format!(
                        "trimmed packets go to queue {queue}, which ports such as {} do not have in BUFFER_QUEUE",
                        here.name
                    );
                    let effect = "trimmed packets are dropped, or in a queue with the chip's defaults";
                    self.findings.add(
                        ("trim-queue-missing", Error),
                        key,
                        why,
                        effect,
                        "name a queue that has a profile",
                    );
                    return;
                }
                Some(profile) => self.trim_target(key, profile, queue, from),
            }
        }
    }

    fn trim_target(&mut self, key: String, profile: &Profile, queue: u64, from: u8) {
        if u64::from(from) == queue {
            let why = format!("packets trimmed at queue {queue} go to queue {queue} again");
            let effect = "they meet the congestion that trimmed them, and are dropped";
            self.findings.add(("trim-back", Warning), key, why, effect, "send them to another queue");
        } else if profile.trims {
            let why = format!("the trim queue {queue} has {}, which trims itself", profile.name);
            let effect = "a trimmed packet is tried once: it is dropped there";
            self.findings.add(("trim-queue-trims", Warning), key, why, effect, "let the trim queue's profile drop");
        } else if matches!(profile.bytes.threshold, Threshold::Dynamic(th) if th <= SMALL_ALPHA) {
            let why = format!("the trim queue {queue} has {} with a tiny alpha", profile.name);
            let effect = "trimmed packets are dropped as soon as the pool fills";
            self.findings.add(("trim-queue-small", Warning), key, why, effect, "give it dynamic_th 0 or more");
        }
    }

    /// The queue of a trimmed packet by its new DSCP.
    fn queue_of_dscp(&self, port: &Port, trimming: &Trimming) -> Option<u64> {
        let map = |table: &str, field: &str| {
            let name = port.maps.get(field)?;
            self.config.maps.get(&(table.to_owned(), name.clone()))
        };
        let tc = match trimming.dscp.as_deref()? {
            "from-tc" => trimming.tc?,
            dscp => *map("DSCP_TO_TC_MAP", "dscp_to_tc_map")?.get(&dscp.parse().ok()?)?,
        };
        map("TC_TO_QUEUE_MAP", "tc_to_queue_map")?.get(&tc).copied()
    }
}
