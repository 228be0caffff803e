//! Ports that are in use: those that are up, those that are named, those of a device that the cables of a network are
//! in; and their watchdog.

use super::Importer;
use crate::SonicError;
use crate::config::{Config, Watchdog};
use crate::device::Device;
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

impl<'a> Importer<'a> {
    /// All ports that are up.
    pub(super) fn of_ports_up(device: &'a Device<'a>) -> Result<Self, SonicError> {
        let all = &device.config.ports;
        let ports: Vec<usize> = (0..all.len()).filter(|port| all[*port].is_up).collect();
        if ports.is_empty() {
            return Err(SonicError::new("PORT", "no port is up", "set admin_status to up"));
        }
        let down = all.len() - ports.len();
        let left_out = if down > 0 { vec![format!("{down} ports that are not up")] } else { vec![] };
        Self::with_speeds(device, ports, left_out)
    }

    /// Ports by their names.
    pub(super) fn of_ports(device: &'a Device<'a>, names: &[String]) -> Result<Self, SonicError> {
        let all = &device.config.ports;
        let mut ports: Vec<usize> = vec![];
        for name in names {
            let wrong = |problem: &str, help: String| SonicError::new(format!("--ports {name}"), problem, help);
            let Some(port) = all.iter().position(|port| port.name == *name) else {
                let first = all.first().map_or("no port at all".to_owned(), |port| format!("such as {}", port.name));
                return Err(wrong("PORT has no such port", format!("name ports of the configuration: it has {first}")));
            };
            if !all[port].is_up {
                return Err(wrong("the port is not up", format!("set admin_status of PORT|{name} to up")));
            }
            if ports.contains(&port) {
                return Err(wrong("the port is named twice", "name each port once".to_owned()));
            }
            ports.push(port);
        }
        let others = all.len() - ports.len();
        let left_out = if others > 0 { vec![format!("{others} ports that were not asked for")] } else { vec![] };
        Self::with_speeds(device, ports, left_out)
    }

    fn with_speeds(device: &'a Device<'a>, ports: Vec<usize>, left_out: Vec<String>) -> Result<Self, SonicError> {
        if let Some(port) = ports.iter().map(|port| &device.config.ports[*port]).find(|port| port.speed == 0) {
            let place = format!("PORT|{}", port.name);
            return Err(SonicError::new(place, "the port has no speed", "give the speed in Mb/s, such as 100000"));
        }
        Ok(Self { device, ports, queues: 0, left_out })
    }

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
