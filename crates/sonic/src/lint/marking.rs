//! WRED, ECN and schedulers.

use super::Linter;
use crate::config::Wred;
use crate::findings::Severity::{Error, Note, Warning};
use std::collections::BTreeSet;

/// Senders that congest a queue together.
const SENDERS: u64 = 8;

const COLOURS: [&str; 3] = ["green", "yellow", "red"];

impl Wred {
    fn marks(&self) -> bool {
        self.ecn.as_deref().is_some_and(|ecn| ecn != "ecn_none")
    }
}

impl Linter<'_> {
    pub(super) fn marking(&mut self) {
        for wred in &self.config.wred {
            let key = format!("WRED_PROFILE|{}", wred.name);
            for (colour, name) in wred.colours.iter().zip(COLOURS) {
                if let Some(colour) = colour.filter(|colour| colour.min > colour.max) {
                    let why =
                        format!("{name}_min_threshold {} is above {name}_max_threshold {}", colour.min, colour.max);
                    let effect = "the profile is not applied, and orchagent of some versions stops";
                    self.findings.add(
                        ("wred-inverted", Error),
                        &key,
                        why,
                        effect,
                        "let the minimum not be above the maximum",
                    );
                }
            }
            if wred.marks() && wred.enabled == [None; 3] {
                let why = "ecn is set, but none of wred_green_enable, wred_yellow_enable and wred_red_enable is said";
                let effect = "nothing is marked";
                self.findings.add(("ecn-not-enabled", Warning), &key, why, effect, "add wred_green_enable");
            }
            if wred.marks() && wred.colours == [None; 3] {
                let why = "ecn is set, but no colour has both thresholds";
                self.findings.add(
                    ("ecn-without-thresholds", Warning),
                    &key,
                    why,
                    "nothing is marked",
                    "add green_min_threshold and green_max_threshold",
                );
            }
        }
        // A queue of each kind of port is enough: profile by profile.
        let mut seen = BTreeSet::new();
        for (&(port, queue), &wred) in &self.config.marking {
            let profiles = (self.config.queues.get(&(port, queue)), self.config.groups.get(&(port, queue)));
            if seen.insert((wred, profiles, self.config.is_lossless_queue(port, queue))) {
                self.queue_marking(port, queue, &self.config.wred[wred]);
            }
        }
    }

    fn queue_marking(&mut self, port: usize, queue: u8, wred: &Wred) {
        let key = format!("QUEUE|{}|{queue}", self.config.ports[port].name);
        let name = &wred.name;
        let is_lossless = self.config.is_lossless_queue(port, queue);
        if is_lossless && !wred.marks() && wred.enabled.contains(&Some(true)) {
            let why = format!("{name} drops (ecn is not set), and the queue is lossless");
            let effect = "packets of a lossless class are dropped at random, before the PG can pause";
            self.findings.add(
                ("wred-drops-lossless", Warning),
                &key,
                why,
                effect,
                "set ecn to ecn_all, or remove wred_profile from the queue",
            );
        }
        let Some(green) = wred.colours[0].filter(|_| wred.marks()) else { return };
        if self.never_marks(port, queue, green.min) {
            let why = format!("marking by {name} starts at {} B, which the queue cannot reach", green.min);
            self.findings.add(
                ("ecn-never", Note),
                &key,
                why,
                "nothing is marked",
                "if it is meant to mark, give lower thresholds",
            );
            return;
        }
        let priority = self.config.ports[port]
            .pfc
            .iter()
            .find(|priority| self.config.queue_of_priority(&self.config.ports[port], **priority) == u64::from(queue));
        let Some(&priority) = priority else { return };
        let Some(pause) = self.pause_cells(port, priority) else { return };
        let (pause, cell) = (pause.saturating_mul(self.cell()), self.cell());
        if green.min >= pause {
            // With more senders, a queue has more before they pause.
            let of_several = self.pause_cells_of(SENDERS, port, priority).unwrap_or(0).saturating_mul(SENDERS * cell);
            let severity = if green.min >= of_several { Warning } else { Note };
            let why =
                format!("marking by {name} starts at {} B, beyond the {pause} B at which a lone PG pauses", green.min);
            let effect = if severity == Warning {
                "senders are paused before they are told to slow down, even when eight of them share the queue"
            } else {
                "a lone sender is paused before it is told to slow down; several that share the queue are marked first"
            };
            self.findings.add(
                ("ecn-after-pause", severity),
                &key,
                why,
                effect,
                format!("start marking well below {pause} B"),
            );
        } else if green.max > pause {
            let rate = green.probability as f64 * (pause - green.min) as f64 / (green.max - green.min) as f64;
            let why = format!("{name} marks only {rate:.2}% at the {pause} B at which a lone PG pauses");
            let effect = "with one congested PG, pause comes before marking is strong";
            self.findings.add(
                ("ecn-weak-at-pause", Note),
                &key,
                why,
                effect,
                format!("let green_max_threshold be below {pause} B"),
            );
        }
    }

    /// Whether a queue drops before it has so many bytes; of lossless queues, whether its pool is smaller.
    fn never_marks(&self, port: usize, queue: u8, bytes: u64) -> bool {
        let Some(device) = &self.device else { return false };
        let profile = self.config.queues.get(&(port, queue));
        let shared = profile.and_then(|profile| device.shared(self.config.profiles[*profile].pool).ok());
        let most = match self.config.is_lossless_queue(port, queue) {
            true => shared.map(|shared| shared.cells),
            false => self.drop_cells(port, queue),
        };
        most.is_some_and(|most| bytes >= most.saturating_mul(self.cell()))
    }

    pub(super) fn schedulers(&mut self) {
        for scheduler in &self.config.schedulers {
            let key = format!("SCHEDULER|{}", scheduler.name);
            if scheduler.pir.is_some() && scheduler.cir.is_none() {
                let why = "pir without cir";
                let effect = "newer versions refuse the shaper: the port is not limited";
                self.findings.add(
                    ("pir-without-cir", Warning),
                    &key,
                    why,
                    effect,
                    "add cir; it may be the same as pir",
                );
            }
            if scheduler.cir > scheduler.pir && scheduler.pir.is_some() {
                let why = "cir is above pir";
                self.findings.add(
                    ("cir-above-pir", Error),
                    &key,
                    why,
                    "the shaper is refused",
                    "let cir not be above pir",
                );
            }
            let is_weighted = matches!(scheduler.kind.as_deref(), Some("DWRR" | "WRR"));
            if is_weighted && scheduler.weight.is_none() {
                let why = "a weighted scheduler without weight";
                let effect = "its queues get the chip's default weight";
                self.findings.add(("weight-missing", Warning), &key, why, effect, "give weight 1 to 100");
            }
        }
        let lossless =
            self.config.scheduling.iter().filter(|((port, queue), _)| self.config.is_lossless_queue(*port, *queue));
        for ((port, queue), scheduler) in lossless {
            let scheduler = &self.config.schedulers[*scheduler];
            if scheduler.pir == Some(0) {
                let key = format!("QUEUE|{}|{queue}", self.config.ports[*port].name);
                let why = format!("{} lets nothing through (pir 0)", scheduler.name);
                self.findings.add(
                    ("shaper-zero", Error),
                    key,
                    why,
                    "a lossless class that never leaves pauses its senders for ever",
                    "give pir a rate",
                );
            }
        }
    }
}
