//! The tables `[ingress]` and `[pfc]`: switches that pause their senders.

use super::{NicSetup, SwitchSetup};
use crate::network::NetworkPlan;
use crate::pause::CLASSES;
use crate::routing::Ports;
use forebay_settings::{Diagnostic, IngressFile, Table};
use forebay_tm::{Duration, MmuConfig, ValidConfig};

/// The ingress side of a switch, and how it pauses.
#[derive(Clone, Debug, PartialEq)]
pub struct IngressSetup {
    /// Pools, ports and groups, and the group of each queue.
    pub file: IngressFile,
    /// How it pauses, and how it is paused.
    pub pfc: PfcSetup,
}

impl IngressSetup {
    /// The classes whose packets a group counts, as bits: all if ports have one queue.
    pub(crate) fn classes_of(&self, group: u8) -> u8 {
        if self.file.of_queue.len() == 1 {
            return u8::MAX;
        }
        let classes = self.file.of_queue.iter().take(CLASSES).enumerate().filter(|(_, of)| **of == group);
        classes.fold(0, |mask, (class, _)| mask | 1 << class)
    }
}

/// Priority flow control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PfcSetup {
    /// How long a frame pauses, in quanta of 512 bit times.
    pub quanta: u16,
    /// A frame is sent again while a group stays paused, after this share of its quanta in percent.
    pub refresh: u8,
    /// From the end of a frame to what it does.
    pub response: Duration,
    /// What sees to classes that stay paused.
    pub watchdog: Option<WatchdogSetup>,
}

impl Default for PfcSetup {
    fn default() -> Self {
        Self { quanta: u16::MAX, refresh: 50, response: Duration::ZERO, watchdog: None }
    }
}

/// The PFC watchdog of a switch's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchdogSetup {
    /// A class that has packets and was paused for so long without a break is in a storm.
    pub detect: Duration,
    /// The storm is over when the class has not been paused for so long.
    pub restore: Duration,
    /// What happens to its packets meanwhile.
    pub action: WatchdogAction,
}

/// What a watchdog does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchdogAction {
    /// Packets of the class are dropped.
    Drop,
    /// Packets of the class are sent as if it were not paused.
    Forward,
    /// The storm is only told.
    Report,
}

/// The words of a watchdog's action.
pub(super) const ACTIONS: [(&str, WatchdogAction); 3] =
    [("drop", WatchdogAction::Drop), ("forward", WatchdogAction::Forward), ("report", WatchdogAction::Report)];

const KEYS: [&str; 6] = ["quanta", "refresh", "response", "detect", "restore", "action"];

/// Reads `[pfc]`.
pub(super) fn read(root: &Table<'_>) -> Result<PfcSetup, Diagnostic> {
    let mut setup = PfcSetup::default();
    let Some(table) = root.table("pfc")? else { return Ok(setup) };
    table.allow(&KEYS, |_| false, "")?;
    if let Some(value) = table.get("quanta") {
        setup.quanta = value.number()?;
        if setup.quanta == 0 {
            return Err(value.error("a frame of no quanta resumes", "give 1 to 65535"));
        }
    }
    if let Some(value) = table.get("refresh") {
        setup.refresh = value.number()?;
        if !(1..=100).contains(&setup.refresh) {
            return Err(value.error("this is no share of the quanta in percent", "give 1 to 100"));
        }
    }
    if let Some(value) = table.get("response") {
        setup.response = value.duration()?;
    }
    setup.watchdog = watchdog(&table)?;
    Ok(setup)
}

fn watchdog(table: &Table<'_>) -> Result<Option<WatchdogSetup>, Diagnostic> {
    let Some(value) = table.get("detect") else {
        let alone = ["restore", "action"].into_iter().find(|key| table.has(key));
        let problem = "the watchdog needs a time after which it sees a storm";
        return alone.map_or(Ok(None), |key| Err(table.key_error(key, problem, "add detect = \"200ms\"")));
    };
    let detect = value.duration()?;
    if detect == Duration::ZERO {
        return Err(value.error("every pause would be a storm", "give a time such as \"200ms\""));
    }
    let restore = table.get("restore").map_or(Ok(detect), |value| value.duration())?;
    let action = table.get("action").map_or(Ok(WatchdogAction::Drop), |value| value.word(&ACTIONS))?;
    Ok(Some(WatchdogSetup { detect, restore, action }))
}

/// Reads the ingress side of a switch.
pub(super) fn ingress(
    level: &Table<'_>,
    table: &Table<'_>,
    switch: &str,
    buffers: &[ValidConfig],
    pfc: &PfcSetup,
) -> Result<IngressSetup, Diagnostic> {
    let refuse = |problem: String, remedy: &str| level.locate("ingress", problem, remedy);
    let [buffer] = buffers else {
        let remedy = "remove ports_per_buffer; ingress.partitions divides the memory";
        return Err(refuse(format!("switch {switch} has several buffers"), remedy));
    };
    let file = forebay_settings::read_ingress(table, buffer)?;
    let config = MmuConfig { switch: (**buffer).clone(), ingress: file.config.clone() };
    config.validate().map_err(|error| {
        let field = error.field.strip_prefix("ingress.").unwrap_or(error.field);
        table.locate(field, format!("{}: {}", error.value, error.problem), &error.remedy)
    })?;
    checked(file, switch, buffer, pfc, refuse)
}

/// Checks that a simulated switch can have such an ingress side; `refuse` says where it is from.
pub(super) fn checked(
    file: IngressFile,
    switch: &str,
    buffer: &ValidConfig,
    pfc: &PfcSetup,
    refuse: impl Fn(String, &str) -> Diagnostic,
) -> Result<IngressSetup, Diagnostic> {
    if buffer.trim.is_some() {
        return Err(refuse(format!("switch {switch} trims packets"), "remove [trim], or give it kind = \"none\""));
    }
    for port in 0..buffer.rates.len() {
        for (queue, number) in file.of_queue.iter().enumerate() {
            let group = file.config.groups.iter().find(|group| group.port == port && group.number == *number);
            let Some(group) = group else {
                let problem =
                    format!("port {port} of switch {switch} has no group {number}, which queue {queue} is in");
                let remedy = "add it to the groups of an [[ingress.group]], or change of_queue";
                return Err(refuse(problem, remedy));
            };
            if group.lossless.is_some() && queue >= CLASSES {
                let problem = format!("queue {queue} is lossless, and frames speak of classes 0 to {}", CLASSES - 1);
                return Err(refuse(problem, "let lossless classes have low numbers"));
            }
        }
    }
    Ok(IngressSetup { file, pfc: pfc.clone() })
}

/// Whether a switch pauses at any port.
pub(super) fn pauses(setup: &SwitchSetup) -> bool {
    setup.ingress.as_ref().is_some_and(|side| side.file.config.groups.iter().any(|group| group.lossless.is_some()))
}

/// What hosts of a network that pauses have in front of their links, if it is one.
pub(super) fn nic(root: &Table<'_>, setups: &[SwitchSetup], queues: usize) -> Result<Option<NicSetup>, Diagnostic> {
    if !setups.iter().any(pauses) {
        return Ok(None);
    }
    if root.has("nic") {
        let problem = "hosts of a network that pauses have queues of their own, which can be paused";
        return Err(root.key_error("nic", problem, "remove [nic]"));
    }
    Ok(Some(NicSetup::Lossless { pfc: read(root)?, classes: queues }))
}

/// Checks that whoever is asked for pause knows what that is.
pub(super) fn check_peers(
    root: &Table<'_>,
    plan: &NetworkPlan,
    ports: &Ports,
    setups: &[SwitchSetup],
) -> Result<(), Diagnostic> {
    for (index, _) in setups.iter().enumerate().filter(|(_, setup)| pauses(setup)) {
        let peers = ports.of(plan.switch_node(index)).iter().map(|port| port.peer);
        for peer in peers.filter(|peer| !plan.is_host(*peer)) {
            if setups[peer as usize - plan.hosts.len()].ingress.is_none() {
                let (name, peer) = (&plan.switches[index].name, plan.name(peer));
                let problem = format!("switch {name} would pause switch {peer}, which has no ingress side");
                return Err(root.locate("ingress", problem, "give both [ingress]"));
            }
        }
    }
    if root.has("pfc") && !setups.iter().any(pauses) {
        let remedy = "add headroom to an [[ingress.group]], or remove [pfc]";
        return Err(root.key_error("pfc", "no switch has a lossless group", remedy));
    }
    Ok(())
}
