//! The egress side of a configuration as a switch file of Forebay, with everything that such a file cannot express.

use crate::SonicError;
use crate::chip::Chip;
use crate::config::{Config, Direction, Wred};
use crate::device::Device;
use forebay_tm::Rate;
use forebay_tm::ingress::Limit;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The alpha of a queue without a limit: a lone queue gets all but a thousandth of the buffer.
const NO_LIMIT: f64 = 1024.0;

/// A switch file, and what it leaves out.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file, in TOML, with what it leaves out as comments.
    pub toml: String,
    /// What it leaves out, or has in another way.
    pub left_out: Vec<String>,
}

/// Writes the egress side of a device. `from` names the configuration in a comment.
///
/// # Errors
/// If no port is up, no queue has a profile, or the pool cannot be what it says.
pub fn import(device: &Device<'_>, from: &str) -> Result<Imported, SonicError> {
    let ports: Vec<usize> = (0..device.config.ports.len()).filter(|port| device.config.ports[*port].is_up).collect();
    if ports.is_empty() {
        return Err(SonicError::new("PORT", "no port is up", "set admin_status to up"));
    }
    let mut importer = Importer { device, ports, queues: 0, left_out: vec![] };
    let toml = importer.switch(from)?;
    Ok(Imported { toml, left_out: importer.left_out })
}

struct Importer<'a> {
    device: &'a Device<'a>,
    ports: Vec<usize>,
    queues: u8,
    left_out: Vec<String>,
}

impl Importer<'_> {
    fn config(&self) -> &Config {
        self.device.config
    }

    fn switch(&mut self, from: &str) -> Result<String, SonicError> {
        let (config, chip) = (self.device.config, &self.device.chip);
        let numbers = config.queues.keys().chain(config.scheduling.keys()).map(|(_, queue)| *queue);
        let Some(last) = numbers.max().filter(|_| !config.queues.is_empty()) else {
            return Err(SonicError::new("BUFFER_QUEUE", "no queue has a profile", "bind profiles to queues"));
        };
        self.queues = last + 1;
        let pool = self.pool();
        let shared = self.device.shared(pool)?.cells;
        self.always_left_out(chip, &config.pools[pool].name);
        let policy = self.policy(pool, shared);
        let scheduler = self.scheduler();
        let marking = self.marking();
        self.trimming();

        let mut toml =
            format!("# The egress side of {} on {}, made by `forebay sonic import`.\n", one_line(from), chip.about);
        toml.push_str("# It leaves out, or has in another way:\n");
        for left_out in &self.left_out {
            let _ = writeln!(toml, "# - {left_out}");
        }
        let _ = writeln!(toml, "\n{}", self.rates());
        let _ = writeln!(toml, "queues = {}", self.queues);
        let _ = writeln!(toml, "buffer = {}", shared * u64::from(chip.cell));
        let _ = writeln!(toml, "cell = {}", chip.cell);
        let _ = write!(toml, "\n{policy}\n{scheduler}{marking}");
        Ok(toml)
    }

    /// The pool of most lossy queues, else of most queues.
    fn pool(&self) -> usize {
        let config = self.config();
        let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (&(port, queue), &profile) in &config.queues {
            let count = counts.entry(config.profiles[profile].pool).or_default();
            count.0 += usize::from(!config.is_lossless_queue(port, queue));
            count.1 += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(pool, _)| pool)
    }

    fn always_left_out(&mut self, chip: &Chip, pool: &str) {
        let config = self.device.config;
        if !config.groups.is_empty() {
            self.left_out.push("the ingress side: PGs, headroom and pause".to_owned());
        }
        if chip.partitions > 1 {
            let parts = chip.partitions;
            self.left_out.push(format!("partitions: the buffer is that of one of {parts}, and all ports share it"));
        }
        let others = config.pools.iter().filter(|other| other.direction == Direction::Egress && other.name != pool);
        for other in others {
            self.left_out.push(format!("the pool {}: its queues share the buffer of {pool}", other.name));
        }
        if !config.maps.is_empty() {
            self.left_out.push("maps of DSCP, traffic classes and queues: a packet names its queue".to_owned());
        }
        let down = config.ports.len() - self.ports.len();
        if down > 0 {
            self.left_out.push(format!("{down} ports that are not up"));
        }
    }

    fn rates(&self) -> String {
        let rate =
            |port: &usize| Rate::from_bps(self.config().ports[*port].speed.saturating_mul(1_000_000)).to_string();
        let rates: Vec<String> = self.ports.iter().map(rate).collect();
        if rates.iter().all(|rate| *rate == rates[0]) {
            return format!("ports = {}\nrate = \"{}\"", rates.len(), rates[0]);
        }
        let rates: Vec<String> = rates.iter().map(|rate| format!("    \"{rate}\",\n")).collect();
        format!("ports = [\n{}]", rates.concat())
    }

    /// What most ports have for a queue number. Others are among what is left out.
    fn usual(&mut self, of: &BTreeMap<(usize, u8), usize>, queue: u8, what: &str) -> Option<usize> {
        let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for port in &self.ports {
            *counts.entry(of.get(&(*port, queue)).copied()).or_default() += 1;
        }
        let (usual, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        if count < self.ports.len() {
            let others = self.ports.len() - count;
            self.left_out.push(format!("another {what} of queue {queue} on {others} ports"));
        }
        usual
    }

    fn policy(&mut self, pool: usize, shared: u64) -> String {
        let config = self.device.config;
        let mut alphas = vec![];
        let mut minimums = vec![];
        for queue in 0..self.queues {
            let Some(profile) = self.usual(&config.queues, queue, "buffer profile") else {
                self.left_out.push(format!("queue {queue} has no profile: alpha is 1"));
                alphas.push(1.0);
                minimums.push(0);
                continue;
            };
            let of = &config.profiles[profile];
            let cells = self.device.chip.queue(&of.bytes);
            minimums.push(cells.minimum);
            alphas.push(self.alpha(queue, cells.limit, pool, of.pool, shared));
        }
        self.minimums(&minimums, shared);
        let alphas: Vec<String> = alphas.iter().map(|alpha| format!("{alpha:?}")).collect();
        format!("[policy]\nkind = \"dt\"\nalpha = [{}]\n", alphas.join(", "))
    }

    fn alpha(&mut self, queue: u8, limit: Limit, pool: usize, own: usize, shared: u64) -> f64 {
        let has = if own == pool { shared } else { self.device.shared(own).map_or(shared, |own| own.cells) };
        match limit {
            Limit::Dynamic(alpha) | Limit::OfPort(alpha) => alpha.num as f64 / alpha.den as f64,
            Limit::Static(cells) if cells < has.min(shared) => {
                let alpha = cells as f64 / (shared - cells) as f64;
                self.left_out.push(format!(
                    "static_th of queue {queue}, {cells} cells: alpha is what gives a lone queue as much, {alpha:?}"
                ));
                alpha
            }
            Limit::Static(_) | Limit::None => {
                self.left_out.push(format!("queue {queue} has no limit: alpha is {NO_LIMIT:?}"));
                NO_LIMIT
            }
        }
    }

    /// DT's reserve is the same for all queues; minimums of SONiC are not.
    fn minimums(&mut self, minimums: &[u64], shared: u64) {
        if minimums.iter().any(|minimum| *minimum > 0) {
            let list: Vec<String> = minimums.iter().map(u64::to_string).collect();
            let sum = minimums.iter().sum::<u64>().saturating_mul(self.ports.len() as u64);
            let list = list.join(", ");
            self.left_out
                .push(format!("minimums of queues ({list} cells): {sum} cells beside the {shared} of the buffer"));
        }
    }

    fn scheduler(&mut self) -> String {
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
            weights.push(scheduler.and_then(|of| of.weight).unwrap_or(1).to_string());
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

    /// `[ecn]` holds for all queues: it is written if they have the same rule.
    fn marking(&mut self) -> String {
        let config = self.device.config;
        let by_queue: Vec<Option<usize>> =
            (0..self.queues).map(|queue| self.usual(&config.marking, queue, "WRED profile")).collect();
        let Some(first) = by_queue.iter().flatten().next().map(|place| &config.wred[*place]) else {
            return String::new();
        };
        let rule = |wred: &Wred| (wred.colours, action(wred));
        let is_same = |place: &Option<usize>| place.is_some_and(|place| rule(&config.wred[place]) == rule(first));
        if !by_queue.iter().all(is_same) {
            for (queue, wred) in by_queue.iter().enumerate().filter_map(|(queue, wred)| Some((queue, (*wred)?))) {
                let name = &config.wred[wred].name;
                self.left_out.push(format!("marking by {name} at queue {queue}: [ecn] would hold for all queues"));
            }
            return String::new();
        }
        let (Some(green), Some(action)) = (first.colours[0].filter(|green| green.min < green.max), action(first))
        else {
            self.left_out.push(format!("{}, which has no span of green thresholds, or does nothing", first.name));
            return String::new();
        };
        if first.colours[1..].iter().flatten().any(|colour| *colour != green) {
            self.left_out.push(format!("yellow and red of {}: green holds for all packets", first.name));
        }
        let probability = green.probability as f64 / 100.0;
        format!(
            "\n[ecn]\nkind = \"red\"\nmin = {}\nmax = {}\nprobability = {probability:?}\naction = \"{action}\"\n",
            green.min, green.max
        )
    }

    fn trimming(&mut self) {
        let config = self.device.config;
        if config.trimming.is_some() || config.profiles.iter().any(|profile| profile.trims) {
            self.left_out.push("trimming: SONiC sends what is left of a packet to a queue by its number".to_owned());
        }
    }
}

/// What a WRED profile does to green packets.
fn action(wred: &Wred) -> Option<&'static str> {
    let marks = wred.ecn.as_deref().is_some_and(|ecn| ecn == "ecn_all" || ecn.contains("green"));
    match (marks, wred.enabled[0].unwrap_or(false)) {
        (true, true) => Some("mark-or-drop"),
        (true, false) => Some("mark"),
        (false, true) => Some("drop"),
        (false, false) => None,
    }
}

/// Text for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
