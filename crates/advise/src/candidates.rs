//! What could be changed for a goal, and what the closed forms say of it.

use crate::goal::{Goal, Traffic};
use crate::measured::Demand;
use crate::patch::Operation;
use crate::trial::{Shown, Trial};
use forebay_analysis::dt::Class;
use forebay_analysis::transient::{Burst, Held, Transient};
use forebay_sonic::SonicError;
use forebay_sonic::chip::Chip;
use forebay_sonic::config::{Config, threshold_text};
use forebay_sonic::device::Device;
use forebay_sonic::rules::Threshold;
use forebay_tm::Bytes;
use serde_json::Value;

/// A change, and whether it is worth a trial.
pub(super) struct Idea {
    pub(super) change: String,
    pub(super) patch: Vec<Operation>,
    pub(super) closed_form: String,
    pub(super) is_promising: bool,
}

/// The values of `dynamic_th` that all chips have.
pub(super) const EXPONENTS: std::ops::RangeInclusive<i64> = -7..=7;

/// Values next to the boundary that are tried, although the closed form says that they miss the goal.
const BEYOND: usize = 2;

/// What could be changed for a goal that `shown` has missed.
pub(super) fn ideas(
    file: &str,
    config: &Value,
    chip: Option<&str>,
    goal: &Goal,
    shown: &Shown,
) -> Result<Vec<Idea>, SonicError> {
    let parsed = Config::parse(file, &config.to_string())?;
    let chip: &Chip = parsed.chip(chip)?;
    let device = Device::new(&parsed, chip);
    let ports: Vec<usize> = (0..parsed.ports.len()).filter(|port| parsed.ports[*port].is_up).collect();
    let Some(&port) = ports.first() else { return Ok(vec![]) };
    let searcher = Searcher { config, parsed: &parsed, device: &device, port, ports: &ports };
    match goal {
        Goal::Burst { queue, senders, bytes, congested, with } => {
            searcher.burst(*queue, *with, *congested, (*senders, *bytes), shown)
        }
        Goal::Isolate { queue, minimum, .. } => Ok(searcher.minimum(*queue, *minimum)),
        Goal::Latency { queue, below } => searcher.latency(*queue, below.ps() as f64 / 1e12),
        Goal::Marks { queue } => Ok(searcher.marking(*queue, shown)),
        Goal::NoPause { queue, traffic, from } => searcher.no_pause(*queue, traffic, *from),
        Goal::Lossless { queue, senders, cable } => Ok(searcher.headroom(*queue, *senders, *cable)),
        Goal::Measured { queue, traffic } => {
            let trial = Trial::new(file, config, Some(&chip.name))?;
            if shown.words.starts_with("PG ") {
                return searcher.pause(*queue);
            }
            searcher.measured(*queue, &trial.demand(goal, *queue, traffic)?, shown)
        }
        Goal::Scenario { queue, .. } if shown.words.starts_with("PG ") => searcher.pause(*queue),
        Goal::Scenario { queue, .. } => Ok(searcher.share(*queue)),
    }
}

pub(super) struct Searcher<'a> {
    pub(super) config: &'a Value,
    pub(super) parsed: &'a Config,
    pub(super) device: &'a Device<'a>,
    pub(super) port: usize,
    pub(super) ports: &'a [usize],
}

impl Searcher<'_> {
    fn profile_of(&self, queue: u8) -> Option<usize> {
        self.parsed.queues.get(&(self.port, queue)).copied()
    }

    fn rate(&self) -> f64 {
        self.parsed.ports[self.port].speed as f64 * 1e6
    }

    /// The shared bytes of a profile's pool in a partition.
    pub(super) fn shared(&self, profile: usize) -> Result<f64, SonicError> {
        let cells = self.device.shared(self.parsed.profiles[profile].pool)?.cells;
        Ok(cells as f64 * f64::from(self.device.chip.cell))
    }

    pub(super) fn alpha(&self, th: i64) -> f64 {
        let alpha = self.device.chip.alpha(th);
        alpha.num as f64 / alpha.den as f64
    }

    /// Sets `dynamic_th` of a profile, in place of `static_th` if it has that.
    pub(super) fn exponent(&self, profile: usize, th: i64) -> (String, Vec<Operation>) {
        let of = &self.parsed.profiles[profile];
        let mut patch = vec![Operation::set(self.config, "BUFFER_PROFILE", &of.name, "dynamic_th", &th)];
        if let Threshold::Static(_) = of.bytes.threshold {
            patch.push(Operation::remove("BUFFER_PROFILE", &of.name, "static_th"));
        }
        (format!("{}: {} -> dynamic_th {th}", of.name, threshold_text(of.bytes.threshold)), patch)
    }

    pub(super) fn current(&self, profile: usize) -> Option<i64> {
        match self.parsed.profiles[profile].bytes.threshold {
            Threshold::Dynamic(th) => Some(th),
            Threshold::Static(_) => None,
        }
    }

    /// The alpha of the burst's profile, that of the congested one, and, if the ingress side dropped, that of the PG.
    fn burst(
        &self,
        queue: u8,
        with: u8,
        congested: usize,
        (senders, bytes): (usize, Bytes),
        shown: &Shown,
    ) -> Result<Vec<Idea>, SonicError> {
        let (Some(own), Some(other)) = (self.profile_of(queue), self.profile_of(with)) else { return Ok(vec![]) };
        let mut changed = vec![own];
        if other != own && congested > 0 {
            changed.push(other);
        }
        let needed = senders as f64 * bytes.as_f64();
        let mut ideas = vec![];
        for profile in changed {
            for th in EXPONENTS.filter(|th| Some(*th) != self.current(profile)) {
                let exponent = |of: usize| if of == profile { Some(th) } else { self.current(of) };
                let (Some(alpha), Some(held)) = (exponent(own), exponent(other)) else { continue };
                let transient = Transient {
                    buffer: self.shared(own)?,
                    held: vec![Held::new(self.alpha(held), self.rate()); congested],
                    burst: Burst {
                        queues: 1,
                        omega: self.alpha(alpha),
                        rate: senders as f64 * self.rate(),
                        drain: self.rate(),
                    },
                };
                let (change, patch) = self.exponent(profile, th);
                let volume = transient.volume() + self.parsed.profiles[own].bytes.size as f64;
                let closed_form = format!("{} of {} before the first loss (ABM eq. 8, 10)", size(volume), size(needed));
                ideas.push((Idea { change, patch, closed_form, is_promising: volume >= needed }, volume));
            }
        }
        let mut ideas = mark_nearest(ideas);
        if shown.words.contains("(ingress)") {
            ideas.extend(self.group(queue));
        }
        Ok(ideas)
    }

    /// The alpha of the queue's profile.
    fn measured(&self, queue: u8, demand: &Demand, shown: &Shown) -> Result<Vec<Idea>, SonicError> {
        let Some(profile) = self.profile_of(queue) else { return Ok(vec![]) };
        let (shared, minimum) = (self.shared(profile)?, self.parsed.profiles[profile].bytes.size as f64);
        let (needed, others) = (demand.own as f64, demand.others.len());
        let mut ideas = vec![];
        for th in EXPONENTS.filter(|th| Some(*th) != self.current(profile)) {
            let share = demand.share(shared, self.alpha(th)) + minimum;
            let (change, patch) = self.exponent(profile, th);
            let (has, of) = (size(share), size(needed));
            let closed_form = format!("{has} at least of {of}, beside {others} ports (FB eq. 1)");
            let distance = self.current(profile).map_or(0, |now| now.abs_diff(th));
            ideas.push((distance, (Idea { change, patch, closed_form, is_promising: share >= needed }, share)));
        }
        // The smallest changes are tried first.
        ideas.sort_by_key(|(distance, _)| *distance);
        let mut ideas = mark_nearest(ideas.into_iter().map(|(_, idea)| idea).collect());
        if shown.words.contains("(ingress)") {
            ideas.extend(self.group(queue));
        }
        Ok(ideas)
    }

    /// A larger alpha of the PG of a lossless queue, whatever it carries.
    fn pause(&self, queue: u8) -> Result<Vec<Idea>, SonicError> {
        self.no_pause(queue, &Traffic::Load { percent: 0, sizes: String::new() }, None)
    }

    /// Another alpha of the queue's profile, or a larger one of the lossy PG that its packets come by: the smallest
    /// changes first.
    fn share(&self, queue: u8) -> Vec<Idea> {
        let own = self.profile_of(queue).map_or(vec![], |profile| {
            let now = self.current(profile);
            let mut others: Vec<i64> = EXPONENTS.filter(|th| Some(*th) != now).collect();
            others.sort_by_key(|th| now.map_or(0, |now| now.abs_diff(*th)));
            self.alphas(profile, others, "a lone queue gets", "FB eq. 1")
        });
        let (mut own, mut group) = (own.into_iter(), self.group(queue).into_iter());
        std::iter::from_fn(|| Some([own.next(), group.next()]))
            .take_while(|both| both.iter().any(Option::is_some))
            .flatten()
            .flatten()
            .collect()
    }

    /// Alphas of a profile, all worth a trial.
    fn alphas(&self, profile: usize, exponents: impl IntoIterator<Item = i64>, gets: &str, by: &str) -> Vec<Idea> {
        let idea = |th: i64| {
            let (change, patch) = self.exponent(profile, th);
            let alpha = self.alpha(th);
            let share = self.shared(profile).map_or(0.0, |shared| shared * alpha / (1.0 + alpha));
            let closed_form = format!("{gets} {} ({by})", size(share));
            Idea { change, patch, closed_form, is_promising: true }
        };
        exponents.into_iter().map(idea).collect()
    }

    /// A larger alpha of the lossy PG that a queue's packets come by.
    fn group(&self, queue: u8) -> Vec<Idea> {
        let group = self.parsed.groups.get(&(self.port, queue)).or(self.parsed.groups.get(&(self.port, 0)));
        let Some(&profile) = group else { return vec![] };
        let larger = EXPONENTS.filter(|th| self.current(profile).is_none_or(|now| *th > now));
        self.alphas(profile, larger, "a lone PG gets", "formula 1")
    }

    /// A smaller alpha: `S * a / (1 + a)` and the minimum drain in time.
    fn latency(&self, queue: u8, seconds: f64) -> Result<Vec<Idea>, SonicError> {
        let Some(profile) = self.profile_of(queue) else { return Ok(vec![]) };
        let shared = self.shared(profile)?;
        let mut missed = BEYOND;
        let mut ideas = vec![];
        for th in EXPONENTS.rev().filter(|th| self.current(profile).is_none_or(|now| *th < now)) {
            let held =
                forebay_analysis::dt::threshold(shared, self.alpha(th), &[Class { alpha: self.alpha(th), queues: 1 }]);
            let time = 8.0 * (held + self.parsed.profiles[profile].bytes.size as f64) / self.rate();
            let (change, patch) = self.exponent(profile, th);
            let closed_form = format!("{} drain in {:.1} us (ABM theorem 3)", size(held), 1e6 * time);
            let is_near = time <= seconds || missed > 0;
            missed = if time > seconds { missed.saturating_sub(1) } else { missed };
            ideas.push(Idea { change, patch, closed_form, is_promising: is_near });
        }
        Ok(ideas)
    }

    /// A minimum of its own for each queue of the profile.
    fn minimum(&self, queue: u8, minimum: Bytes) -> Vec<Idea> {
        let Some(profile) = self.profile_of(queue) else { return vec![] };
        let of = &self.parsed.profiles[profile];
        let cell = u64::from(self.device.chip.cell);
        let users = self.parsed.queues.values().filter(|other| **other == profile).count() as u64;
        let idea = |quarters: u64| {
            let size_of = (minimum.get() * quarters).div_ceil(4).div_ceil(cell) * cell;
            let all = size_of.saturating_mul(users);
            Idea {
                change: format!("{}: size {} -> {size_of}", of.name, of.bytes.size),
                patch: vec![Operation::set(self.config, "BUFFER_PROFILE", &of.name, "size", &size_of)],
                closed_form: format!("{} for {users} queues are nobody else's", size(all as f64)),
                is_promising: true,
            }
        };
        [4, 5, 6].map(idea).into()
    }

    /// Thresholds of the queue's WRED profile below the point of pause or drop.
    fn marking(&self, queue: u8, shown: &Shown) -> Vec<Idea> {
        let Some(&place) = self.parsed.marking.get(&(self.port, queue)) else { return self.binding(queue) };
        let wred = &self.parsed.wred[place];
        // "N of M packets": M packets fit.
        let fits = shown.words.split(' ').nth(2).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) * 1_500;
        let idea = |(from, to): (u64, u64)| {
            let (min, max) = (fits / from, fits / to);
            let set =
                |field: &str, value: String| Operation::set(self.config, "WRED_PROFILE", &wred.name, field, &value);
            let mut patch = vec![
                set("green_min_threshold", min.to_string()),
                set("green_max_threshold", max.to_string()),
                set("wred_green_enable", "true".to_owned()),
            ];
            if wred.ecn.as_deref().is_none_or(|ecn| ecn != "ecn_all" && !ecn.contains("green")) {
                patch.push(set("ecn", "ecn_all".to_owned()));
            }
            if wred.colours[0].is_none_or(|colour| colour.probability == 0) {
                patch.push(set("green_drop_probability", "5".to_owned()));
            }
            let was = wred.colours[0].map_or("none".to_owned(), |colour| format!("{} to {}", colour.min, colour.max));
            Idea {
                change: format!("{}: green {was} -> {min} to {max}", wred.name),
                patch,
                closed_form: format!("it marks from 1/{from} to 1/{to} of the {} that fit", size(fits as f64)),
                is_promising: true,
            }
        };
        [(8, 2), (4, 2), (16, 4)].map(idea).into()
    }

    /// A queue without a WRED profile gets one that there is.
    fn binding(&self, queue: u8) -> Vec<Idea> {
        let entry = |port: &usize| format!("{}|{queue}", self.parsed.ports[*port].name);
        let has = |key: &String| self.config.get("QUEUE").and_then(|table| table.get(key)).is_some();
        let keys: Vec<String> = self.ports.iter().map(entry).filter(has).collect();
        let idea = |wred: &forebay_sonic::config::Wred| Idea {
            change: format!("queue {queue} of {} ports: wred_profile {}", keys.len(), wred.name),
            patch: keys
                .iter()
                .map(|key| Operation::set(self.config, "QUEUE", key, "wred_profile", &wred.name))
                .collect(),
            closed_form: "the queue has no WRED profile".to_owned(),
            is_promising: true,
        };
        if keys.is_empty() { vec![] } else { self.parsed.wred.iter().map(idea).collect() }
    }
}

/// Ideas with what the closed form gives each. The nearest that miss the goal by it are worth a trial, too: it knows
/// nothing of packets and of the other side.
pub(super) fn mark_nearest(mut ideas: Vec<(Idea, f64)>) -> Vec<Idea> {
    let mut missed: Vec<usize> = (0..ideas.len()).filter(|idea| !ideas[*idea].0.is_promising).collect();
    missed.sort_by(|one, two| ideas[*two].1.total_cmp(&ideas[*one].1));
    for idea in missed.into_iter().take(BEYOND) {
        ideas[idea].0.is_promising = true;
    }
    ideas.into_iter().map(|(idea, _)| idea).collect()
}

pub(super) fn size(bytes: f64) -> String {
    if bytes.is_finite() { crate::page::rounded(bytes.max(0.0) as u64) } else { "any amount".to_owned() }
}
