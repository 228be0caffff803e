//! PFC: priorities, PGs, queues and the watchdog.

use super::Linter;
use crate::findings::Severity::{Error, Note, Warning};

impl Linter<'_> {
    pub(super) fn pause(&mut self) {
        for (place, port) in self.config.ports.iter().enumerate().filter(|(_, port)| port.is_up) {
            for &priority in &port.pfc {
                self.paused_priority(place, priority);
            }
            if let Some(watchdog) = &port.watchdog {
                let key = format!("PORT_QOS_MAP|{}.pfcwd_sw_enable", port.name);
                if let Some(extra) = watchdog.iter().find(|priority| !port.pfc.contains(priority)) {
                    let why = format!("the watchdog looks at priority {extra}, which pfc_enable does not have");
                    let effect = "the watchdog may act on a class that is never paused";
                    self.findings.add(
                        ("watchdog-out-of-step", Warning),
                        &key,
                        why,
                        effect,
                        "give both the same priorities",
                    );
                }
                if let Some(missing) = port.pfc.iter().find(|priority| !watchdog.contains(priority)) {
                    let why = format!("the watchdog does not look at priority {missing} of pfc_enable");
                    let effect = "a storm of pause on it is not stopped";
                    self.findings.add(
                        ("watchdog-partial", Note),
                        &key,
                        why,
                        effect,
                        "add it, unless another switch guards it",
                    );
                }
            }
        }
        self.unpaused_groups();
    }

    fn paused_priority(&mut self, place: usize, priority: u8) {
        let port = &self.config.ports[place];
        if let Some(profile) = self.config.groups.get(&(place, priority)) {
            let profile = &self.config.profiles[*profile];
            if profile.bytes.xoff.is_none() {
                let why = format!("pfc_enable names the priority, but its PG has {}, which has no xoff", profile.name);
                let effect = "the PG drops instead of pausing its sender";
                let key = format!("BUFFER_PG|{}|{priority}", port.name);
                self.findings.add(
                    ("pfc-on-lossy-pg", Error),
                    key,
                    why,
                    effect,
                    "bind a lossless profile, or remove the priority",
                );
            }
        }
        let queue = self.config.queue_of_priority(port, priority);
        let is_bound = u8::try_from(queue).is_ok_and(|queue| self.config.queues.contains_key(&(place, queue)));
        if !is_bound && !self.config.queues.is_empty() {
            let why = format!("queue {queue} of a paused priority has no buffer profile");
            let effect = "the chip's default limit may drop lossless packets at egress";
            let key = format!("BUFFER_QUEUE|{}|{queue}", port.name);
            self.findings.add(
                ("lossless-queue-unbound", Warning),
                key,
                why,
                effect,
                "bind the egress lossless profile",
            );
        }
    }

    fn unpaused_groups(&mut self) {
        for (&(place, number), &profile) in &self.config.groups {
            let (port, profile) = (&self.config.ports[place], &self.config.profiles[profile]);
            if port.is_up && profile.bytes.xoff.is_some() && !port.pfc.contains(&number) {
                let why = format!("{} is lossless, but pfc_enable does not have this priority", profile.name);
                let effect = "no pause is sent: headroom fills, and then packets are dropped";
                let key = format!("BUFFER_PG|{}|{number}", port.name);
                let cure = "add the priority to pfc_enable in PORT_QOS_MAP, or bind a lossy profile";
                self.findings.add(("lossless-without-pfc", Warning), key, why, effect, cure);
            }
        }
    }
}
