//! The ingress side: pools, limits of ports, and priority groups.

use super::Importer;
use crate::SonicError;
use crate::config::{Config, Port};
use crate::rules::GroupCells;
use forebay_tm::ingress::{Alpha, Limit, LosslessConfig};
use std::collections::BTreeMap;
use std::fmt::Write;

/// More cells than any memory has.
const MOST_CELLS: u64 = 1 << 40;

/// Groups that are the same: their settings, and for each port (counted among those that are up) their numbers.
type Alike = Vec<(String, BTreeMap<usize, Vec<u8>>)>;

impl Importer<'_> {
    /// The tables `[ingress]`; empty if there are no PGs.
    pub(super) fn ingress(&mut self) -> Result<String, SonicError> {
        let config = self.device.config;
        let mut pools: Vec<usize> = vec![];
        let mut alike: Alike = vec![];
        let mut ports: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, &port) in self.ports.clone().iter().enumerate() {
            for (&(_, group), &profile) in config.groups.range((port, 0)..=(port, u8::MAX)) {
                let account = self.device.group(port, profile)?;
                let pool = config.profiles[profile].pool;
                if !pools.contains(&pool) {
                    pools.push(pool);
                }
                let name = &config.pools[pool].name;
                let settings = group_lines(name, &account.side.group);
                match alike.iter_mut().find(|(known, _)| *known == settings) {
                    Some((_, places)) => places.entry(number).or_default().push(group),
                    None => alike.push((settings, BTreeMap::from([(number, vec![group])]))),
                }
                let limit = limit_line(account.side.port);
                let headroom = account.side.group.port_headroom;
                if !limit.is_empty() || headroom.is_some() {
                    let headroom = headroom.map_or(String::new(), |cells| format!("headroom = {cells}\n"));
                    let of = ports.entry(format!("pool = \"{name}\"\n{limit}{headroom}")).or_default();
                    if of.last() != Some(&number) {
                        of.push(number);
                    }
                }
            }
        }
        if alike.is_empty() {
            self.left_out.push("an ingress side: no PG has a profile".to_owned());
            return Ok(String::new());
        }
        let chip = &self.device.chip;
        let mut toml = format!("\n[ingress]\ncell = {}\npartitions = {}\n", chip.cell, self.partitions());
        let _ = writeln!(toml, "of_queue = {:?}", self.groups_of_queues());
        for pool in pools {
            let shared = self.device.shared(pool)?.cells;
            let _ = write!(toml, "\n[[ingress.pool]]\nname = \"{}\"\nshared = {shared}\n", config.pools[pool].name);
            if let Some(headroom) = chip.headroom_pool(&config.pools[pool].bytes) {
                let _ = writeln!(toml, "headroom = {headroom}");
            }
        }
        for (settings, of) in ports {
            let _ = write!(toml, "\n[[ingress.port]]\n{}{settings}", self.listed(&of));
        }
        for (settings, places) in alike {
            toml.push_str(&self.groups(&settings, &places));
        }
        Ok(toml)
    }

    /// Ports that have the same numbers are in one table.
    fn groups(&self, settings: &str, places: &BTreeMap<usize, Vec<u8>>) -> String {
        let mut by_numbers: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (port, numbers) in places {
            by_numbers.entry(numbers).or_default().push(*port);
        }
        let table = |(numbers, ports): (&[u8], Vec<usize>)| {
            format!("\n[[ingress.group]]\n{}groups = {numbers:?}\n{settings}", self.listed(&ports))
        };
        by_numbers.into_iter().map(table).collect()
    }

    /// `ports = [...]`, unless it is all of them.
    fn listed(&self, ports: &[usize]) -> String {
        if ports.len() == self.ports.len() { String::new() } else { format!("ports = {ports:?}\n") }
    }

    /// The PG of packets of each queue: by the maps of the first port.
    fn groups_of_queues(&mut self) -> Vec<u8> {
        let config = self.device.config;
        let first = self.ports[0];
        let port = &config.ports[first];
        let groups: Vec<u8> = (0..self.queues).map(|queue| self.group_of(first, port, queue)).collect();
        let is_other = |other: &&usize| {
            (0..self.queues)
                .any(|queue| groups[usize::from(queue)] != self.group_of(**other, &config.ports[**other], queue))
        };
        let others = self.ports.iter().filter(is_other).count();
        if others > 0 {
            self.left_out.push(format!("other maps from queues to PGs on {others} ports: arrivals can name the pg"));
        }
        groups
    }

    fn group_of(&self, index: usize, port: &Port, queue: u8) -> u8 {
        group_of(self.device.config, index, port, queue)
    }

    /// A map of a port.
    pub(super) fn map(&self, port: &Port, field: &str, table: &str) -> Option<&BTreeMap<u64, u64>> {
        map(self.device.config, port, field, table)
    }
}

pub(super) fn group_of(config: &Config, index: usize, port: &Port, queue: u8) -> u8 {
    let has = |group: u8| config.groups.contains_key(&(index, group));
    let mapped = map(config, port, "tc_to_queue_map", "TC_TO_QUEUE_MAP").and_then(|queues| {
        let groups = map(config, port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP")?;
        let class = queues.iter().find(|(_, to)| **to == u64::from(queue))?.0;
        groups.get(class).and_then(|group| u8::try_from(*group).ok())
    });
    // Packets of a PG without a profile have no buffer of their own: they are those of the first PG that has one.
    let first = config.groups.range((index, 0)..=(index, u8::MAX)).next().map_or(0, |((_, group), _)| *group);
    mapped.filter(|group| has(*group)).or(Some(queue).filter(|group| has(*group) && mapped.is_none())).unwrap_or(first)
}

fn map<'a>(config: &'a Config, port: &Port, field: &str, table: &str) -> Option<&'a BTreeMap<u64, u64>> {
    let name = port.maps.get(field)?;
    config.maps.get(&(table.to_owned(), name.clone()))
}

fn alpha_text(alpha: Alpha) -> String {
    format!("{:?}", alpha.num as f64 / alpha.den as f64)
}

fn limit_line(limit: Limit) -> String {
    match limit {
        Limit::None => String::new(),
        Limit::Static(cells) => format!("limit = {cells}\n"),
        Limit::Dynamic(alpha) | Limit::OfPort(alpha) if alpha.num == 0 => "limit = 0\n".to_owned(),
        Limit::Dynamic(alpha) => format!("alpha = {}\n", alpha_text(alpha)),
        Limit::OfPort(alpha) => format!("alpha = {}\nof_port = true\n", alpha_text(alpha)),
    }
}

fn group_lines(pool: &str, group: &GroupCells) -> String {
    let minimum = group.minimum.min(MOST_CELLS);
    let mut lines = format!("pool = \"{pool}\"\nminimum = {minimum}\n{}", limit_line(group.limit));
    if let Some(LosslessConfig { headroom, xon, xon_offset }) = group.lossless {
        let _ = write!(lines, "headroom = {headroom}\nxon = {xon}\nxon_offset = {xon_offset}\n");
    }
    lines
}
