//! Schedulers, marking and trimming.

use super::Importer;
use crate::config::{Colour, Wred};
use forebay_tm::described::Setting as _;
use forebay_tm::mark::Colours;
use std::fmt::Write;

impl Importer<'_> {
    pub(super) fn scheduler(&mut self) -> String {
        let config = self.device.config;
        let (mut strict, mut weighted, mut weights) = (vec![], vec![], vec![]);
        for queue in 0..self.queues {
            let scheduler = self.usual(&config.scheduling, queue, "scheduler").map(|place| &config.schedulers[place]);
            if let Some(shaped) = scheduler.filter(|of| of.pir.is_some() || of.cir.is_some()) {
                self.left_out.push(format!("the shaper {} of queue {queue}", shaped.name));
            }
            match scheduler.and_then(|of| of.kind.as_deref()) {
                Some("STRICT") => strict.push(queue),
                Some("WRR") => {
                    self.left_out.push(format!("WRR by packets at queue {queue}: it is by bytes"));
                    weighted.push(queue);
                }
                Some(_) => weighted.push(queue),
                None => {
                    self.left_out.push(format!("queue {queue} has no scheduler: its weight is 1"));
                    weighted.push(queue);
                }
            }
            weights.push(scheduler.and_then(|of| of.weight).unwrap_or(1).max(1).to_string());
        }
        let weights = weights.join(", ");
        if strict.is_empty() {
            return format!("[scheduler]\nkind = \"drr\"\nweights = [{weights}]\n");
        }
        // The highest number first.
        let mut groups: Vec<String> = strict.iter().rev().map(|queue| format!("[{queue}]")).collect();
        if !weighted.is_empty() {
            let list: Vec<String> = weighted.iter().map(u8::to_string).collect();
            groups.push(format!("[{}]", list.join(", ")));
        }
        format!("[scheduler]\nkind = \"strict-drr\"\ngroups = [{}]\nweights = [{weights}]\n", groups.join(", "))
    }

    /// `[ecn]`: the WRED profile of each queue number.
    pub(super) fn marking(&mut self) -> String {
        let config = self.device.config;
        let profiles: Vec<Option<&Wred>> = (0..self.queues)
            .map(|queue| self.usual(&config.marking, queue, "WRED profile").map(|place| &config.wred[place]))
            .collect();
        let rules: Vec<Option<Rule>> = profiles.iter().map(|wred| wred.and_then(rule)).collect();
        for (queue, wred) in profiles.iter().enumerate() {
            if let (Some(wred), None) = (wred, &rules[queue]) {
                self.left_out.push(format!("{} at queue {queue}, which has no thresholds or does nothing", wred.name));
            }
        }
        if rules.iter().all(Option::is_none) {
            return String::new();
        }
        let list = |of: &dyn Fn(&Rule) -> String, other: &str| {
            let text = |rule: &Option<Rule>| rule.as_ref().map_or(other.to_owned(), of);
            format!("[{}]", rules.iter().map(text).collect::<Vec<_>>().join(", "))
        };
        let mut toml = format!("\n[ecn]\nkind = \"wred\"\non = {}\n", list(&|_| "true".to_owned(), "false"));
        for (number, colour) in ["green", "yellow", "red"].into_iter().enumerate() {
            let _ = writeln!(toml, "{colour}_min = {}", list(&|rule| rule.colours[number].min.to_string(), "0"));
            let _ = writeln!(toml, "{colour}_max = {}", list(&|rule| rule.colours[number].max.to_string(), "0"));
            let probability = |rule: &Rule| format!("{:?}", rule.colours[number].probability as f64 / 100.0);
            let _ = writeln!(toml, "{colour}_probability = {}", list(&probability, "0.0"));
        }
        let word = |colours: Colours| forebay_settings::setting_text(&colours.value()).unwrap_or_default();
        let _ = writeln!(toml, "mark = {}", list(&|rule| word(rule.marks), "\"none\""));
        let _ = writeln!(toml, "drop = {}", list(&|rule| word(rule.drops), "\"none\""));
        toml
    }

    /// `[trim]`.
    pub(super) fn trimming(&mut self) -> String {
        let config = self.device.config;
        let trims: Vec<bool> = (0..self.queues)
            .map(|queue| self.usual(&config.queues, queue, "").is_some_and(|profile| config.profiles[profile].trims))
            .collect();
        let Some(trimming) = &config.trimming else {
            if trims.contains(&true) {
                self.left_out.push("trimming: profiles trim, but there is no SWITCH_TRIMMING".to_owned());
            }
            return String::new();
        };
        if !trims.contains(&true) {
            self.left_out.push("trimming: no profile of a queue trims".to_owned());
            return String::new();
        }
        let Some(queue) = self.trim_queue(self.ports[0]) else {
            self.left_out.push("trimming: the trim queue cannot be told from the maps".to_owned());
            return String::new();
        };
        if config.trim_exemptions > 0 {
            let what = format!("{} rules of ACL_RULE with DISABLE_TRIM: their packets are cut", config.trim_exemptions);
            self.left_out.push(what);
        }
        let others = self.ports.iter().filter(|port| self.trim_queue(**port) != Some(queue)).count();
        if others > 0 {
            self.left_out.push(format!("another trim queue, or none, by the maps of {others} ports"));
        }
        let size = trimming.size.unwrap_or(128);
        format!("\n[trim]\nkind = \"to-queue\"\nsize = {size}\nqueue = {queue}\nfrom = {trims:?}\n")
    }

    /// `queue_index`, or the queue that the new DSCP leads to at a port.
    fn trim_queue(&self, port: usize) -> Option<u64> {
        let config = self.device.config;
        let trimming = config.trimming.as_ref()?;
        let port = &config.ports[port];
        let queue = match trimming.queue.as_deref() {
            Some("dynamic") | None => {
                let class = match trimming.dscp.as_deref()? {
                    "from-tc" => trimming.tc?,
                    dscp => *self.map(port, "dscp_to_tc_map", "DSCP_TO_TC_MAP")?.get(&dscp.parse().ok()?)?,
                };
                *self.map(port, "tc_to_queue_map", "TC_TO_QUEUE_MAP")?.get(&class)?
            }
            Some(queue) => queue.parse().ok()?,
        };
        Some(queue).filter(|queue| *queue < u64::from(self.queues))
    }
}

/// What a WRED profile does to packets of each colour.
struct Rule {
    colours: [Colour; 3],
    marks: Colours,
    drops: Colours,
}

/// The rule of a profile: colours without thresholds are those of green, if it has any.
fn rule(wred: &Wred) -> Option<Rule> {
    let first = wred.colours.iter().flatten().next()?;
    let ecn = wred.ecn.as_deref().unwrap_or("ecn_none");
    let has = |number: usize| wred.colours[number].is_some_and(|colour| colour.min <= colour.max);
    let marks = |number: usize, word| has(number) && (ecn == "ecn_all" || ecn.contains(word));
    let drops = |number: usize| has(number) && wred.enabled[number].unwrap_or(false);
    let rule = Rule {
        colours: wred.colours.map(|colour| colour.filter(|colour| colour.min <= colour.max).unwrap_or(*first)),
        marks: Colours::of(marks(0, "green"), marks(1, "yellow"), marks(2, "red")),
        drops: Colours::of(drops(0), drops(1), drops(2)),
    };
    (rule.marks != Colours::None || rule.drops != Colours::None).then_some(rule)
}
