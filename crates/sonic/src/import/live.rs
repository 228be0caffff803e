//! The file of a live switch: interfaces with the names of the ports, queues by the maps of DSCPs, and what becomes of
//! trimmed packets.

use super::{Egress, Importer};
use crate::SonicError;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The longest name of an interface of Linux.
const LONGEST_NAME: usize = 15;
/// What a live switch has without keys: frame buffers, and their bytes.
const FRAMES: u64 = 16_384;
const FRAME: u64 = 2_048;
/// Bytes of all frame buffers, and what each needs beside the MTU: headers of Ethernet and a VLAN tag, and what the
/// kernel takes.
const FRAME_MEMORY: u64 = 256 << 20;
const BESIDE_MTU: u64 = 18 + 256;
const LARGEST_FRAME: u64 = 16_384;
/// A packet of the usual length.
const USUAL_PACKET: u64 = 1_500;

/// The queue of each DSCP, and that of all else.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Queues {
    of_dscp: BTreeMap<u64, u64>,
    others: u64,
}

impl Importer<'_> {
    pub(super) fn live(&mut self, from: &str) -> Result<String, SonicError> {
        self.check_names()?;
        let Egress { keys, policy, scheduler, marking, trimming } = self.egress()?;
        if !self.config().groups.is_empty() {
            let what = "the ingress side: a live switch has no PGs, pauses nobody and has no headroom";
            self.left_out.push(what.to_owned());
        }
        let dscps = if trimming.is_empty() { vec![None; self.ports.len()] } else { self.trim_dscps() };
        let usual_dscp =
            dscps.first().copied().flatten().filter(|first| dscps.iter().all(|dscp| *dscp == Some(*first)));
        let interfaces = self.interfaces(&dscps, usual_dscp.is_none());
        let classify = self.classify();
        let mut live = self.frames()?;
        live.extend(usual_dscp.map(|dscp| format!("trim_dscp = {dscp}\n")));
        if !trimming.is_empty() {
            // As the switch chips do it: lengths, and checksums over what is cut off, stay as they were.
            live.push_str("trim_lengths = \"kept\"\n");
        }
        let live = if live.is_empty() { live } else { format!("\n[live]\n{live}") };
        let rate = self.common_rate().map_or(String::new(), |rate| format!("rate = \"{rate}\"\n"));
        let head = format!("{}\n{rate}{keys}", self.comments(from));
        Ok(format!("{head}\n{policy}\n{scheduler}{marking}{trimming}{live}{interfaces}{classify}"))
    }

    fn check_names(&self) -> Result<(), SonicError> {
        if self.ports.len() < 2 {
            let problem = format!("a live switch has two ports or more, not {}", self.ports.len());
            return Err(SonicError::new("PORT", problem, "set admin_status of more ports to up, or name more ports"));
        }
        let names = self.ports.iter().map(|port| &self.config().ports[*port].name);
        let is_odd = |name: &&String| {
            name.len() > LONGEST_NAME
                || name.is_empty()
                || name.contains(|c: char| "/\"\\ ".contains(c) || c.is_control())
        };
        match names.into_iter().find(is_odd) {
            None => Ok(()),
            Some(name) => Err(SonicError::new(
                format!("PORT|{name}"),
                "no interface of Linux has such a name",
                format!("name it with up to {LONGEST_NAME} letters and digits, or choose other ports by --ports"),
            )),
        }
    }

    /// The rate of all ports, if they have one.
    fn common_rate(&self) -> Option<String> {
        let first = self.rate_of(self.ports[0]);
        self.ports.iter().all(|port| self.rate_of(*port) == first).then_some(first)
    }

    fn interfaces(&self, dscps: &[Option<u8>], own_dscps: bool) -> String {
        let own_rates = self.common_rate().is_none();
        let mut toml = String::new();
        for (&port, dscp) in self.ports.iter().zip(dscps) {
            let _ = write!(toml, "\n[[interface]]\nname = \"{}\"\n", self.config().ports[port].name);
            if own_rates {
                let _ = writeln!(toml, "rate = \"{}\"", self.rate_of(port));
            }
            if let Some(dscp) = dscp.filter(|_| own_dscps) {
                let _ = writeln!(toml, "trim_dscp = {dscp}");
            }
        }
        toml
    }

    /// The DSCP that packets get that are trimmed at each port: `dscp_value`, or with `from-tc` what the map of the port
    /// says.
    fn trim_dscps(&mut self) -> Vec<Option<u8>> {
        let config = self.device.config;
        let Some((trimming, dscp)) = config.trimming.as_ref().and_then(|of| Some((of, of.dscp.as_deref()?))) else {
            self.left_out.push("the new DSCP of trimmed packets, which is not said: it stays as it was".to_owned());
            return vec![None; self.ports.len()];
        };
        if dscp != "from-tc" {
            return vec![dscp.parse().ok(); self.ports.len()];
        }
        let of_port = |port: &usize| {
            let map = self.map(&config.ports[*port], "tc_to_dscp_map", "TC_TO_DSCP_MAP")?;
            u8::try_from(*map.get(&trimming.tc?)?).ok()
        };
        let dscps: Vec<Option<u8>> = self.ports.iter().map(of_port).collect();
        let without = dscps.iter().filter(|dscp| dscp.is_none()).count();
        if without > 0 {
            let tc = trimming.tc.map_or("the tc_value, which is not said".to_owned(), |tc| format!("TC {tc}"));
            self.left_out.push(format!(
                "the new DSCP of packets that are trimmed at {without} ports without a tc_to_dscp_map that has {tc}: it stays as it was"
            ));
        }
        dscps
    }

    /// Rules that give packets the queue of their DSCP. The maps that most ports have come last, and those of others
    /// are for what comes by these.
    fn classify(&mut self) -> String {
        let mut alike: BTreeMap<Queues, Vec<usize>> = BTreeMap::new();
        for port in self.ports.clone() {
            let queues = self.queues_of_dscps(port);
            alike.entry(queues).or_default().push(port);
        }
        let mut alike: Vec<(Queues, Vec<usize>)> = alike.into_iter().collect();
        alike.sort_by_key(|(_, ports)| ports.len());
        let Some((usual, _)) = alike.pop() else { return String::new() };
        let mut toml = String::new();
        for (queues, ports) in alike {
            for port in ports {
                let ingress = format!("ingress = \"{}\"\n", self.config().ports[port].name);
                queues.write(&mut toml, &ingress);
            }
        }
        usual.write(&mut toml, "");
        toml
    }

    /// By the maps of a port: packets without a DSCP of the map are of TC 0.
    fn queues_of_dscps(&mut self, port: usize) -> Queues {
        let known = u64::from(self.queues);
        let port = &self.device.config.ports[port];
        let (classes, queues) = (
            self.map(port, "dscp_to_tc_map", "DSCP_TO_TC_MAP").cloned(),
            self.map(port, "tc_to_queue_map", "TC_TO_QUEUE_MAP").cloned(),
        );
        if classes.is_none() || queues.is_none() {
            let what = "ports without dscp_to_tc_map or tc_to_queue_map: all that comes by them joins queue 0";
            self.say_once(what.to_owned());
        }
        let (classes, queues) = (classes.unwrap_or_default(), queues.unwrap_or_default());
        let mut queue_of = |class: u64| {
            let queue = queues.get(&class).copied().unwrap_or(0);
            if queue >= known {
                self.say_once(format!(
                    "queue {queue}, which has neither profile nor scheduler: TC {class} joins queue 0"
                ));
            }
            if queue < known { queue } else { 0 }
        };
        let of_dscp = classes.iter().map(|(dscp, class)| (*dscp, queue_of(*class))).collect();
        Queues { of_dscp, others: queue_of(0) }
    }

    fn say_once(&mut self, what: String) {
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// `frames` and `frame`: memory for frames of the longest MTU.
    fn frames(&mut self) -> Result<String, SonicError> {
        let mtu = self.ports.iter().map(|port| self.config().ports[*port].mtu).max().unwrap_or(0);
        let needed = mtu.min(1 << 32).saturating_add(BESIDE_MTU).next_power_of_two();
        let frame = needed.clamp(FRAME, LARGEST_FRAME);
        if needed > frame {
            self.left_out.push(format!("frames of more than {} bytes, which are lost: the MTU is {mtu}", frame - 256));
        }
        let buffer = self.memory()?;
        let frames = (2 * buffer / USUAL_PACKET).next_power_of_two().clamp(FRAMES, FRAME_MEMORY / frame);
        self.left_out.push(format!(
            "packets beyond the {frames} that live.frames has memory for: the buffer of {buffer} B can hold more if they are short"
        ));
        let line = |key: &str, value: u64, usual: u64| {
            if value == usual { String::new() } else { format!("{key} = {value}\n") }
        };
        Ok(line("frames", frames, FRAMES) + &line("frame", frame, FRAME))
    }
}

impl Queues {
    /// Rules; those for the queue of all else are not needed.
    fn write(&self, toml: &mut String, ingress: &str) {
        for (dscp, queue) in self.of_dscp.iter().filter(|(_, queue)| **queue != self.others) {
            let _ = write!(toml, "\n[[classify]]\n{ingress}dscp = {dscp}\nqueue = {queue}\n");
        }
        if self.others != 0 || !ingress.is_empty() {
            let _ = write!(toml, "\n[[classify]]\n{ingress}queue = {}\n", self.others);
        }
    }
}
