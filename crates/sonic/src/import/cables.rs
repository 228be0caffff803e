//! Ports that are in use: those of a device that the cables of a network are in, and their watchdog.

use super::Importer;
use crate::SonicError;
use crate::config::{Config, Watchdog};
use forebay_tm::Rate;
use std::collections::BTreeMap;

/// For each rate, the first port of that speed that is up and not taken.
pub(super) fn ports_of(config: &Config, rates: &[Rate]) -> Result<Vec<usize>, SonicError> {
    let rate = |port: usize| Rate::from_bps(config.ports[port].speed.saturating_mul(1_000_000));
    let mut free: BTreeMap<Rate, Vec<usize>> = BTreeMap::new();
    for port in (0..config.ports.len()).rev().filter(|port| config.ports[*port].is_up) {
        free.entry(rate(port)).or_default().push(port);
    }
    let had: Vec<String> = free.iter().map(|(rate, ports)| format!("{} of {rate}", ports.len())).collect();
    let mut chosen = vec![];
    for wanted in rates {
        let Some(port) = free.get_mut(wanted).and_then(Vec::pop) else {
            let needed = rates.iter().filter(|rate| *rate == wanted).count();
            let problem = format!("the network needs {needed} ports of {wanted}, and it has {} that are up", has(&had));
            return Err(SonicError::new(
                "PORT",
                problem,
                "give the network these rates, or change speed and admin_status",
            ));
        };
        chosen.push(port);
    }
    if chosen.is_empty() {
        return Err(SonicError::new("PORT", "no port is in use", "let cables end at the switch"));
    }
    Ok(chosen)
}

fn has(ports: &[String]) -> String {
    if ports.is_empty() { "none".to_owned() } else { ports.join(", ") }
}

impl Importer<'_> {
    /// The watchdog that most ports have.
    pub(super) fn watchdog(&mut self) -> Option<Watchdog> {
        let mut counts: BTreeMap<Option<Watchdog>, usize> = BTreeMap::new();
        for port in &self.ports {
            *counts.entry(self.device.config.watchdogs.get(port).copied()).or_default() += 1;
        }
        let (usual, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        if count < self.ports.len() {
            self.left_out.push(format!("another PFC watchdog on {} ports", self.ports.len() - count));
        }
        usual
    }
}
